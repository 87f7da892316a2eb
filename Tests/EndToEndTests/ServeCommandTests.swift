import AsyncHTTPClient
import Foundation
import MillstreamTesting
import NIOCore
import NIOHTTP1
import Testing

/// Tests the options of `millstream serve` that control access.
@Suite(.tags(.endToEnd), .timeLimit(.minutes(10))) struct ServeCommandTests {
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("serve-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private func secret(_ length: Int, mode: mode_t, in folder: URL) throws -> String {
        let file = folder.appendingPathComponent("secret-\(length)-\(mode)")
        try Data(repeating: 7, count: length).write(to: file)
        try #require(chmod(file.path, mode) == 0)
        return file.path
    }

    private func ask(_ address: String, headers: [String: String] = [:]) async throws -> (status: Int, body: String) {
        let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
        var request = HTTPClientRequest(url: address)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        do {
            let response = try await client.execute(request, timeout: .seconds(30))
            let body = try await response.body.collect(upTo: 1 << 20)
            try await client.shutdown()
            return (Int(response.status.code), String(buffer: body))
        } catch {
            try await client.shutdown()
            throw error
        }
    }

    @Test func unusableOptionsAreErrors() async throws {
        try await withFolder { folder in
            let short = try secret(15, mode: 0o600, in: folder)
            let library = folder.appendingPathComponent("library").path
            for (options, status, text) in [
                (["--secret", short], 1, "15 bytes; at least 16 are needed (invalid-secret)"),
                (["--secret", folder.path], 1, "is not a regular file (invalid-secret)"),
                (["--secret", folder.path + "/missing"], 1, "(invalid-secret)"),
                (["--trusted-proxy", "proxy.example"], 64, "--trusted-proxy must be an address or a network"),
                (["--trusted-proxy", "10.0.0.0/33"], 64, "--trusted-proxy must be"),
                (["--max-connections", "0"], 64, "--max-connections must be between"),
                (["--max-connections-per-client", "0"], 64, "--max-connections-per-client must be between"),
                (["--allow-host", "10.0.0.1:x"], 64, "--allow-host must be HOST or HOST:PORT"),
                (["--server-name", "name:80"], 64, "--server-name must be a host name"),
            ] {
                let program = try RunningProgram(["serve", "--port", "0", "--library", library] + options)
                #expect(try await program.finish() == Int32(status), "\(options)")
                #expect(program.standardError.contains(text), "\(options): \(program.standardError)")
            }
        }
    }

    /// The proxy of the environment is not used for streams, as the help says, and the server says so when it starts.
    @Test func proxyOfTheEnvironmentIsNotUsedForStreams() async throws {
        let help = try RunningProgram(["serve", "--help"])
        #expect(try await help.finish() == 0)
        let text = help.standardOutput.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(text.contains("The command millstream serve uses the default only to load its catalog."), "\(text)")
        try await withFolder { folder in
            for (options, isNoted) in [([], true), (["--proxy", "127.0.0.1:1"], false)] {
                let program = try RunningProgram(
                    ["serve", "--port", "0", "--library", folder.path] + options,
                    environment: ["https_proxy": "http://proxy.invalid:3128"]
                )
                _ = try await program.match("(http://[0-9.:]+)/")
                let note = "note: streams are loaded without the proxy of https_proxy"
                #expect(program.standardError.contains(note) == isNoted, "\(program.standardError)")
                program.send(SIGTERM)
                #expect(try await program.finish() == 0)
            }
        }
    }

    /// Servers with the same secret accept each other's addresses; a server with a different secret does not.
    @Test func secretIsIndependentOfTheLibrary() async throws {
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n"
        try await withFolder { folder in
            let (own, open) = (try secret(16, mode: 0o600, in: folder), try secret(32, mode: 0o644, in: folder))
            try await MisbehavingServer.withServer(["/a.m3u8": .text(playlist)]) { origin in
                var segment = ""
                for (number, file, expected) in [(1, own, 0), (2, own, 302), (3, open, 403)] {
                    let program = try RunningProgram([
                        "serve", "--port", "0", "--library", folder.appendingPathComponent("library-\(number)").path,
                        "--allow-host", "127.0.0.1", "--secret", file, "--server-name", "media.example",
                    ])
                    let server = try await program.match("(http://[0-9.:]+)/")
                    if segment.isEmpty {
                        let plain = server + "/play.m3u8?url=" + origin.address("/a.m3u8")
                        #expect(try await ask(plain).status == 403)
                        let signing = try RunningProgram(["sign", plain, "--secret", file, "--expires", "1:00:00"])
                        #expect(try await signing.finish() == 0)
                        let text = try await ask(signing.standardOutput.trimmingCharacters(in: .newlines)).body
                        segment = String(try #require(text.split(separator: "\n").first { !$0.hasPrefix("#") }))
                    } else {
                        #expect(try await ask(server + segment).status == expected)
                    }
                    #expect(
                        program.standardError.contains("warning: other users can read the secret") == (file == open)
                    )
                    #expect(try await ask(server + "/api/library", headers: ["Host": "media.example"]).status == 200)
                    #expect(try await ask(server + "/api/library", headers: ["Host": "other.example"]).status == 403)
                    program.send(SIGTERM)
                    #expect(try await program.finish() == 0)
                }
            }
        }
    }

    /// Each response has a line, also one that is sent again without the router; without the option, there is none.
    @Test func answeredRequestsArePrinted() async throws {
        var playlist = MisbehavingServer.Resource.text(
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n"
        )
        playlist.fields.append(MisbehavingServer.Field("Cache-Control", "max-age=600"))
        try await withFolder { [playlist] folder in
            try await MisbehavingServer.withServer(["/a.m3u8": playlist]) { origin in
                for options in [["--verbose"], []] {
                    let program = try RunningProgram(
                        ["serve", "--port", "0", "--library", folder.path, "--allow-host", "127.0.0.1"] + options
                    )
                    let server = try await program.match("(http://[0-9.:]+)/")
                    let target = server + "/play.m3u8?url=" + origin.address("/a.m3u8")
                    for _ in 0..<2 { #expect(try await ask(target).status == 200) }
                    program.send(SIGTERM)
                    #expect(try await program.finish() == 0)
                    let lines = program.standardError.split(separator: "\n").filter { $0.contains("/play.m3u8") }
                    #expect(lines.count == (options.isEmpty ? 0 : 2), "\(program.standardError)")
                    for (line, cache) in zip(lines, ["edited", "fresh"]) {
                        #expect(line.contains(" info millstream: bytes="), "\(line)")
                        #expect(line.contains(" cache=\(cache) method=GET "), "\(line)")
                        #expect(line.hasSuffix(" status=200 request") && !line.contains("a.m3u8"), "\(line)")
                    }
                }
            }
        }
    }

    /// A refused address whose time is over is named as expired, with the time.
    @Test func expiredAddressIsNamedByADownload() async throws {
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n"
        try await withFolder { folder in
            let secret = try secret(16, mode: 0o600, in: folder)
            try await MisbehavingServer.withServer(["/a.m3u8": .text(playlist)]) { origin in
                let program = try RunningProgram([
                    "serve", "--port", "0", "--library", folder.appendingPathComponent("served").path,
                    "--allow-host", "127.0.0.1", "--secret", secret,
                ])
                let server = try await program.match("(http://[0-9.:]+)/")
                let plain = server + "/play.m3u8?url=" + origin.address("/a.m3u8")
                let hint = "hint: the address expired at 2001-09-09T01:46:40Z; ask for a new one from where it came"
                for (expiry, isNamed) in [("1000000000", true), ("99999999999", false)] {
                    let download = try RunningProgram([
                        "download", plain + "&expires=\(expiry)&signature=none", "--library",
                        folder.appendingPathComponent("library").path,
                    ])
                    #expect(try await download.finish() == 1)
                    #expect(download.standardError.contains("403"), "\(download.standardError)")
                    #expect(download.standardError.contains(hint) == isNamed, "\(download.standardError)")
                }
                program.send(SIGTERM)
                #expect(try await program.finish() == 0)
            }
        }
    }

    @Test func originRejectsAmbiguousPaths() async throws {
        try await withFolder { folder in
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("a b"),
                withIntermediateDirectories: true
            )
            try Data("media".utf8).write(to: folder.appendingPathComponent("a b/x.ts"))
            try Data("hidden".utf8).write(to: folder.appendingPathComponent(".hidden"))
            let origin = try await RecordingOrigin(folder)
            let found = try await ask(origin.address("a%20b/x.ts"))
            #expect(found.status == 200 && found.body == "media")
            for path in [
                "/a%20b/x.ts", "a%20b//x.ts", "a%20b/x.ts/", "./a%20b/x.ts", "a%20b/%2e%2e/a%20b/x.ts", "a%20b%2fx.ts",
                ".hidden",
                "%2ehidden", "a%20b%5cx.ts",
            ] {
                #expect(try await ask(origin.address(path)).status == 404, "\(path)")
            }
            await origin.stop()
        }
    }

    /// A program of the owner signs what the server loads and what players are redirected to, at whichever origin responds.
    @Test func tokensAndAlternateOriginsOfACatalog() async throws {
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n"
        try await withFolder { folder in
            try await MisbehavingServer.withServer([:]) { first in
                try await MisbehavingServer.withServer([
                    "/copy/main.m3u8": .text(playlist), "/copy/a.ts": .text("media"),
                ]) { second in
                    first.behave("*", [.status(503)])
                    let main = first.address("/film/main.m3u8")
                    let catalog = folder.appendingPathComponent("streams.json")
                    let entry = """
                        [{"name": "Film", "url": "\(main)", "alternates": ["\(second.address("/copy/main.m3u8"))"],
                          "tokenProgram": ["printf", "%s?token=1"]}]
                        """
                    try Data(entry.utf8).write(to: catalog)
                    let program = try RunningProgram([
                        "serve", "--port", "0", "--library", folder.appendingPathComponent("library").path,
                        "--catalog", catalog.path,
                    ])
                    let server = try await program.match("(http://[0-9.:]+)/")
                    let response = try await ask("\(server)/play.m3u8?url=\(main)")
                    #expect(response.status == 200 && !response.body.contains("token=1"), "\(response.body)")
                    let segment = String(
                        try #require(response.body.split(separator: "\n").first { $0.hasPrefix("/segment") })
                    )
                    let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
                    let redirect = try await client.execute(
                        HTTPClientRequest(url: server + segment),
                        timeout: .seconds(30)
                    )
                    try await client.shutdown()
                    #expect(redirect.status == .found)
                    #expect(redirect.headers.first(name: "Location") == second.address("/copy/a.ts?token=1"))
                    let proxied = try await ask("\(server)/play.m3u8?url=\(main)&segments=proxy").body
                    let path = String(try #require(proxied.split(separator: "\n").first { $0.hasPrefix("/segment") }))
                    #expect(try await ask(server + path).body == "media")
                    let targets = first.requests.map { String(decoding: $0.targetBytes, as: UTF8.self) }
                    #expect(targets.first == "/film/main.m3u8?token=1")
                    let others = second.requests.map { String(decoding: $0.targetBytes, as: UTF8.self) }
                    #expect(Set(others) == ["/copy/main.m3u8?token=1", "/copy/a.ts?token=1"])
                    program.send(SIGTERM)
                    #expect(try await program.finish() == 0)
                }
            }
        }
    }

    @Test func catalogFromElsewhereStartsNoProgram() async throws {
        let entry = #"[{"name": "Film", "url": "/a.m3u8", "tokenProgram": ["touch", "/tmp/started"]}]"#
        try await withFolder { folder in
            try await MisbehavingServer.withServer(["/streams.json": .text(entry)]) { origin in
                let program = try RunningProgram([
                    "serve", "--port", "0", "--library", folder.path, "--catalog", origin.address("/streams.json"),
                ])
                #expect(try await program.finish() == 2)
                #expect(program.standardError.contains("tokenProgram, which requires a catalog in a file"))
            }
        }
    }

    @Test func catalogHasALimitedSize() async throws {
        let entries = "[" + String(repeating: " ", count: 4 << 20) + "]"
        try await withFolder { folder in
            try await MisbehavingServer.withServer(["/streams.json": .text(entries)]) { origin in
                let program = try RunningProgram([
                    "serve", "--port", "0", "--library", folder.path, "--catalog", origin.address("/streams.json"),
                ])
                #expect(try await program.finish() == 1)
                #expect(program.standardError.contains("(too-large)"), "\(program.standardError)")
            }
        }
    }

    /// Subtitles in one file, with an advertisement in the middle: each part has its own cues.
    @Test func subtitlesBehindAnAdvertisementHaveTheirOwnCues() async throws {
        func media(_ durations: [Int], _ name: String) -> String {
            "#EXTM3U\n#EXT-X-TARGETDURATION:60\n"
                + durations.enumerated().map { "#EXTINF:\($0.element),\n\(name)\($0.offset).ts\n" }.joined()
                + "#EXT-X-ENDLIST\n"
        }
        let film = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",LANGUAGE="en",URI="en.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=640x360,CODECS="avc1.64001e",SUBTITLES="s"
            video.m3u8

            """
        let subtitles = "WEBVTT\n\n00:05.000 --> 00:08.000\nbefore\n\n00:35.000 --> 00:38.000\nbehind\n"
        try await withFolder { folder in
            try await MisbehavingServer.withServer([
                "/film.m3u8": .text(film), "/video.m3u8": .text(media([10, 10, 10, 10, 10, 10], "v")),
                "/en.m3u8": .text("#EXTM3U\n#EXT-X-TARGETDURATION:60\n#EXTINF:60,\nen.vtt\n#EXT-X-ENDLIST\n"),
                "/en.vtt": .text(subtitles), "/ad.m3u8": .text(media([5], "ad")),
            ]) { origin in
                let program = try RunningProgram([
                    "serve", "--port", "0", "--library", folder.path, "--allow-host", "127.0.0.1",
                ])
                let server = try await program.match("(http://[0-9.:]+)/")
                let edits = "insert=\(origin.address("/ad.m3u8"))@30"
                let main = try await ask("\(server)/play.m3u8?url=\(origin.address("/film.m3u8"))&\(edits)").body
                let line = try #require(main.split(separator: "\n").first { $0.contains("TYPE=SUBTITLES") })
                let path = try #require(line.firstMatch(of: /URI="([^"]+)"/)?.1)
                let playlist = try await ask(server + path).body
                let segments = playlist.split(separator: "\n").filter { $0.hasPrefix("/segment/en.vtt") }
                #expect(segments.count == 2 && playlist.contains("#EXT-X-GAP"), "\(playlist)")
                let first = try await ask(server + (segments.first ?? "")).body
                let second = try await ask(server + (segments.last ?? "")).body
                #expect(first.contains("before") && !first.contains("behind"))
                #expect(second.contains("00:35.000 --> 00:38.000\nbehind") && !second.contains("before"))

                let output = folder.appendingPathComponent("edited")
                let edit = try RunningProgram([
                    "edit", origin.address("/film.m3u8"), "--insert", "\(origin.address("/ad.m3u8"))@30", "-o",
                    output.path,
                ])
                #expect(try await edit.finish() == 0)
                let written = try String(contentsOf: output.appendingPathComponent("en.m3u8"), encoding: .utf8)
                #expect(
                    written.contains("\nsubtitles-0.vtt\n") && written.contains("\nsubtitles-1.vtt\n"),
                    "\(written)"
                )
                let file = try String(contentsOf: output.appendingPathComponent("subtitles-1.vtt"), encoding: .utf8)
                #expect(file == second)
                program.send(SIGTERM)
                #expect(try await program.finish() == 0)
            }
        }
    }
}
