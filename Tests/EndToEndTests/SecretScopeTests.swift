import Foundation
import MillstreamTesting
import Testing

/// Tests which servers receive header fields and tokens from the command line and from catalogs.
@Suite(.serialized, .tags(.endToEnd))
struct SecretScopeTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("scope-\(UUID())")

    private func run(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        try await RunningProgram(arguments).result()
    }

    /// The playlist server and the media server, which are local servers with different origins.
    private struct Stage {
        let origin: MisbehavingServer
        let media: MisbehavingServer

        var source: String { origin.address("/main.m3u8") }
        var mediaHost: String { "localhost:\(media.port)" }

        /// Returns the values of a header field in the requests to the media server, by path.
        func fields(_ name: String) -> [String: String] {
            Dictionary(media.requests.map { ($0.path, $0.header(name) ?? "none") }) { first, _ in first }
        }
    }

    private func onStage(_ body: (Stage) async throws -> Void) async throws {
        try await MisbehavingServer.withServer([
            "/0.ts": .init([UInt8](repeating: 0x47, count: 188), contentType: "video/mp2t"),
            "/1.ts": .init([UInt8](repeating: 0x47, count: 188), contentType: "video/mp2t"),
            "/key": .init([UInt8](repeating: 7, count: 16)),
        ]) { media in
            let base = "http://localhost:\(media.port)"
            let playlist = """
                #EXTM3U
                #EXT-X-VERSION:3
                #EXT-X-TARGETDURATION:1
                #EXTINF:1,
                own.ts
                #EXT-X-KEY:METHOD=AES-128,URI="\(base)/key"
                #EXTINF:1,
                \(base)/0.ts
                #EXTINF:1,
                moved.ts
                #EXT-X-ENDLIST

                """
            try await MisbehavingServer.withServer([
                "/main.m3u8": .init(Array(playlist.utf8), contentType: "application/vnd.apple.mpegurl"),
                "/own.ts": .init([UInt8](repeating: 0x47, count: 188), contentType: "video/mp2t"),
            ]) { origin in
                origin.behave("/moved.ts", .redirect(to: base + "/1.ts", status: 302))
                try await body(Stage(origin: origin, media: media))
            }
        }
        try? FileManager.default.removeItem(at: folder)
    }

    /// A server may set a cookie with the playlist, and refuse segments without it.
    @Test(.timeLimit(.minutes(10))) func cookiesAreSentBackWithoutAFile() async throws {
        try await onStage { stage in
            stage.origin.behave("/main.m3u8", .status(302, headers: ["Location": "/set", "Set-Cookie": "s=1; Path=/"]))
            stage.origin.behave("/set", .redirect(to: "/moved.m3u8", status: 302))
            let result = try await run([
                "download", stage.source, "--library", folder.path, "--quiet", "--retries", "0",
            ])
            // The playlist does not exist; what counts is the field of the second request.
            #expect(result.status != 0)
            let second = try #require(stage.origin.requests.first { $0.path == "/set" })
            #expect(second.header("Cookie") == "s=1")
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["none", "host", "port", "all", "other"])
    func downloadSendsHeaderFieldsOnlyToTheirScope(scope: String) async throws {
        try await onStage { stage in
            var arguments = [
                "download", stage.source, "--library", folder.path, "--quiet", "--retries", "0", "--header",
                "X-Token: secret",
            ]
            switch scope {
            case "host": arguments += ["--header-for", "localhost X-Token: media"]
            case "port": arguments += ["--header-for", "\(stage.mediaHost) X-Token: media"]
            case "all": arguments += ["--header-for", "* X-Token: media"]
            case "other": arguments += ["--header-for", "localhost:1 X-Token: media"]
            default: break
            }
            let result = try await run(arguments)
            #expect(result.status == 0, "\(result.errors)")
            #expect(stage.origin.requests.count >= 3)
            #expect(stage.origin.requests.allSatisfy { $0.header("X-Token") == "secret" })
            let expected = ["none", "other"].contains(scope) ? "none" : "media"
            #expect(stage.fields("X-Token") == ["/0.ts": expected, "/1.ts": expected, "/key": expected])
        }
    }

    @Test(.timeLimit(.minutes(10))) func playbackSendsHeaderFieldsOnlyToTheirScope() async throws {
        try await onStage { stage in
            _ = try await run([
                "play", stage.source, "--no-decode", "--speed", "max", "--quiet", "--header", "Authorization: secret",
                "--header", "Cookie: s=1",
            ])
            #expect(
                stage.origin.requests.allSatisfy {
                    $0.header("Authorization") == "secret" && $0.header("Cookie") == "s=1"
                }
            )
            #expect(!stage.media.requests.isEmpty)
            for name in ["Authorization", "Cookie"] { #expect(Set(stage.fields(name).values) == ["none"]) }
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [301, 302, 303, 307, 308])
    func redirectOfTheSourceDoesNotForwardHeaderFields(status: Int) async throws {
        try await onStage { stage in
            let target = "http://localhost:\(stage.origin.port)/main.m3u8"
            stage.media.behave("/start.m3u8", .redirect(to: target, status: status))
            let source = stage.media.address("/start.m3u8")
            let result = try await run([
                "inspect", source, "--header", "X-Token: secret", "--header", "Authorization: a",
            ])
            #expect(result.status == 0)
            #expect(stage.media.requests.map { $0.header("X-Token") } == ["secret"])
            #expect(stage.origin.requests.map { $0.header("X-Token") } == [nil])
            #expect(stage.origin.requests.map { $0.header("Authorization") } == [nil])
        }
    }

    @Test(.timeLimit(.minutes(10))) func tokenForOneCDNCustomerIsNotSentToAnother() async throws {
        let top = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttp://d2.cloudfront.net/v.m3u8\n"
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\na.ts\n#EXT-X-ENDLIST\n"
        try await MisbehavingServer.withServer([
            "/main.m3u8": .init(Array(top.utf8)), "/v.m3u8": .init(Array(media.utf8)),
        ]) { proxy in
            // The proxy accepts every CONNECT, and responds for all hosts itself.
            proxy.behave("*", .status(200))
            for path in ["/main.m3u8", "/v.m3u8"] { proxy.behave(path, .proper) }
            let result = try await run([
                "inspect", "http://d1.cloudfront.net/main.m3u8", "--follow", "--proxy", "127.0.0.1:\(proxy.port)",
                "--header", "X-Token: secret", "--header-for", "d2.cloudfront.net X-CDN: c",
            ])
            #expect(result.status == 0, "\(result.errors)")
            let asked = proxy.requests.filter { $0.method == "GET" }
            #expect(asked.map { $0.header("Host") } == ["d1.cloudfront.net", "d2.cloudfront.net"])
            #expect(asked.map { $0.header("X-Token") } == ["secret", nil])
            #expect(asked.map { $0.header("X-CDN") } == [nil, "c"])
        }
    }

    @Test(.timeLimit(.minutes(10))) func appendedContentReceivesNoHeaderFieldsOfTheSource() async throws {
        try await onStage { stage in
            let other = "http://localhost:\(stage.origin.port)/main.m3u8"
            for arguments in [
                ["edit", stage.source, "--append", other],
                ["play", stage.source, "--no-decode", "--speed", "max", "--edit", "append=\(other)"],
            ] {
                let before = stage.origin.requests.count
                _ = try await run(arguments + ["--header", "X-Token: secret"])
                let asked = stage.origin.requests.dropFirst(before).filter { $0.path == "/main.m3u8" }
                #expect(
                    Set(asked.map { "\($0.header("Host") ?? "") \($0.header("X-Token") ?? "none")" }) == [
                        "127.0.0.1:\(stage.origin.port) secret", "localhost:\(stage.origin.port) none",
                    ]
                )
            }
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["download", "play", "inspect", "download of segments"])
    func authorizationErrorHintNamesTheOption(command: String) async throws {
        try await onStage { stage in
            for path in ["/0.ts", "/1.ts", "/key"] { stage.media.behave(path, .status(403)) }
            stage.media.behave("/variant.m3u8", .status(401))
            let top = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttp://\(stage.mediaHost)/variant.m3u8\n"
            stage.origin.set("/top.m3u8", .init(Array(top.utf8), contentType: "application/vnd.apple.mpegurl"))
            let presentation = stage.origin.address("/top.m3u8")
            let arguments =
                switch command {
                case "play": ["play", presentation, "--no-decode", "--speed", "max", "--quiet"]
                case "inspect": ["inspect", presentation, "--follow"]
                case "download": ["download", presentation, "--library", folder.path, "--quiet"]
                default: ["download", stage.source, "--library", folder.path, "--quiet"]
                }
            let withheld = try await run(arguments + ["--retries", "0", "--header", "X-Token: secret"])
            #expect(withheld.status == 1)
            #expect(
                withheld.errors.contains("--header-for 'http://\(stage.mediaHost) Name: value'"),
                "\(withheld.errors)"
            )
            // Without withheld header fields there is no hint.
            let plain = try await run(arguments + ["--retries", "0"])
            #expect(plain.status == 1 && !plain.errors.contains("--header-for"), "\(plain.errors)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func headerFieldWithoutAHostIsAUsageError() async throws {
        for line in ["X-Token: secret", "a/b X: c", "* X", "*.example X: y"] {
            let result = try await run(["inspect", "/dev/null", "--header-for", line])
            #expect(result.status == 64 && result.errors.contains("--header-for must be"))
        }
    }

    // MARK: Server

    @Test(.timeLimit(.minutes(10))) func serverSendsHeaderFieldsToTheOriginsOfItsCatalog() async throws {
        try await onStage { stage in
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let catalog = folder.appendingPathComponent("catalog.json")
            let jar = folder.appendingPathComponent("cookies.txt")
            let text = """
                [{"name": "a", "url": "\(stage.source)", "headers": {"X-Catalog": "own"},
                  "headersFor": {"\(stage.mediaHost)": {"X-CDN": "c"}}}]
                """
            try Data(text.utf8).write(to: catalog)
            let cookies = ["127.0.0.1", "localhost"].map { "\($0)\tFALSE\t/\tFALSE\t0\ts\t1\n" }.joined()
            try Data(("# Netscape HTTP Cookie File\n" + cookies).utf8).write(to: jar)
            stage.origin.set("/moved.ts", .init([UInt8](repeating: 0x47, count: 188), contentType: "video/mp2t"))
            stage.origin.behave("/moved.ts", .redirect(to: "http://localhost:\(stage.media.port)/1.ts", status: 302))
            let server = try RunningProgram([
                "serve", "--port", "0", "--library", folder.path + "/library", "--catalog", catalog.path,
                "--header", "X-Token: secret", "--cookie-jar", jar.path, "--header-for", "localhost:1 X-Token: other",
            ])
            let address = try await server.match("(http://[0-9.:]+/)")
            func curl(_ path: String) async throws -> String {
                let program = try RunningProgram(["-s", address + path], of: URL(fileURLWithPath: "/usr/bin/curl"))
                #expect(try await program.finish() == 0)
                return program.standardOutput
            }
            let playlist = try await curl("play.m3u8?segments=proxy&url=\(stage.source)")
            let segments = playlist.split(separator: "\n").filter { $0.hasPrefix("/segment/") }
            #expect(segments.count == 3)
            for segment in segments where segment.hasPrefix("/segment/own.ts") || segment.hasPrefix("/segment/moved.ts")
            {
                _ = try await curl(String(segment.dropFirst()))
            }
            let asked = stage.origin.requests
            #expect(asked.map(\.path) == ["/main.m3u8", "/own.ts", "/moved.ts"])
            for request in asked {
                #expect(request.header("X-Token") == "secret" && request.header("X-Catalog") == "own")
                #expect(request.header("X-CDN") == nil && request.header("Cookie") == "s=1")
            }
            // The redirect leads to a host that is not a source, which the server may not access.
            #expect(stage.media.requests.isEmpty)
            server.send(SIGTERM)
            #expect(try await server.finish() == 0)
        }
    }

    // MARK: Messages and files

    @Test(.timeLimit(.minutes(10))) func messagesDoNotContainTokensOfAddresses() async throws {
        try await onStage { stage in
            let secret = "topsecretvalue0123456789"
            let source = "http://me:\(secret)@127.0.0.1:\(stage.origin.port)/none.m3u8?token=\(secret)"
            for arguments in [
                ["inspect", source], ["validate", source], ["edit", source], ["play", source, "--no-decode"],
                ["download", source, "--library", folder.path],
                ["download", source, "--library", folder.path, "--json"],
            ] {
                let result = try await run(arguments + ["--retries", "0"])
                #expect(result.status == 1, "\(arguments[0])")
                for text in [result.output, result.errors] {
                    #expect(!text.contains(secret), "\(arguments[0]): \(text)")
                }
                #expect((result.errors + result.output).contains("127.0.0.1:\(stage.origin.port)/none.m3u8"))
            }
            let kept = "http://127.0.0.1:\(stage.origin.port)/main.m3u8?token=\(secret)"
            let done = try await run(["download", kept, "--library", folder.path])
            #expect(done.status == 0 && !done.output.contains(secret) && !done.errors.contains(secret))
            let id = try #require(done.output.split(separator: " ").first.map(String.init))
            let shown = try await run(["library", "show", id, "--library", folder.path])
            #expect(!shown.output.contains(secret) && shown.output.contains("main.m3u8?token=tops…"))
            let listed = try await run(["library", "list", "--library", folder.path])
            #expect(!listed.output.contains(secret))
            #expect(try await run(["library", "list", "--json", "--library", folder.path]).output.contains(secret))
        }
    }

    @Test(.timeLimit(.minutes(10))) func logsAndEventsHaveShortenedTokens() async throws {
        try await onStage { stage in
            let secret = "topsecretvalue0123456789"
            let segments = ["own.ts", "gone.ts", "own.ts"].map { "#EXTINF:1,\n\($0)?token=\(secret)\n" }.joined()
            let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n\(segments)#EXT-X-ENDLIST\n"
            stage.origin.set("/tokens.m3u8", .text(playlist, contentType: "application/vnd.apple.mpegurl"))
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let files = ["events", "access", "errors"].map { folder.appendingPathComponent($0).path }
            let played = try await run([
                "play", stage.origin.address("/tokens.m3u8?token=\(secret)"), "--no-decode", "--speed", "max",
                "--quiet",
                "--retries", "0", "--events", files[0], "--access-log", files[1], "--error-log", files[2],
            ])
            for (file, name) in zip(files, ["own.ts", "tokens.m3u8", "gone.ts"]) {
                let text = try String(contentsOfFile: file, encoding: .utf8)
                #expect(text.contains("/\(name)?token=tops…"), "\(text) \(played.errors)")
                #expect(!text.contains(secret), "\(text)")
            }
            // The requests have the whole tokens.
            let media = stage.origin.requests.filter { $0.path.hasSuffix(".ts") }
            #expect(!media.isEmpty && media.allSatisfy { $0.query == "token=\(secret)" })
        }
    }

    @Test(.timeLimit(.minutes(10))) func writtenFilesAreForTheOwnerOnly() async throws {
        try await onStage { stage in
            let files = ["events", "access", "errors", "metrics"].map { folder.appendingPathComponent($0).path }
            let library = folder.appendingPathComponent("deep/library").path
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("old".utf8).write(to: URL(fileURLWithPath: files[0]))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: files[0])
            _ = try await run([
                "play", stage.source, "--no-decode", "--speed", "max", "--quiet", "--events", files[0], "--access-log",
                files[1],
                "--error-log", files[2], "--metrics", files[3],
            ])
            for path in files { #expect(try mode(path) == 0o600) }
            let done = try await run(["download", stage.source, "--library", library])
            let id = try #require(done.output.split(separator: " ").first.map(String.init))
            let paths = try FileManager.default.subpathsOfDirectory(atPath: library)
            #expect(paths.contains { $0.hasSuffix(".key") } && paths.contains { $0.hasSuffix(".m3u8") })
            for path in [library] + paths.map({ library + "/" + $0 }) {
                #expect(try mode(path) & 0o077 == 0, "\(path)")
            }
            // An exported asset is readable by others, except for its keys.
            let export = folder.appendingPathComponent("export").path
            #expect(try await run(["library", "export", id, export, "--library", library]).status == 0)
            let plain = folder.appendingPathComponent("plain")
            try FileManager.default.createDirectory(at: plain, withIntermediateDirectories: false)
            let folderMode = try mode(plain.path)
            #expect(try mode(export) == folderMode)
            for path in try FileManager.default.subpathsOfDirectory(atPath: export) {
                var isFolder: ObjCBool = false
                _ = FileManager.default.fileExists(atPath: export + "/" + path, isDirectory: &isFolder)
                let expected = isFolder.boolValue ? folderMode : path.hasSuffix(".key") ? 0o600 : folderMode & 0o666
                #expect(try mode(export + "/" + path) == expected, "\(path)")
            }
        }
    }

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }
}
