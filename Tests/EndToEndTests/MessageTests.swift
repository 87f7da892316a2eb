import Foundation
import MillstreamTesting
import Testing

/// Tests what messages and reports say: words for people, without passwords and internal names.
@Suite(.serialized, .tags(.endToEnd))
struct MessageTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("messages-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func run(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        try await RunningProgram(arguments).result()
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let url = folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: url)
        return url.path
    }

    private static let multivariant = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=320x180
        v.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,RESOLUTION=640x360
        w.m3u8

        """
    private static let media = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\na.ts\n#EXT-X-ENDLIST\n"

    private func onServer(_ body: (MisbehavingServer) async throws -> Void) async throws {
        let segment = [UInt8](repeating: 0x47, count: 188)
        try await MisbehavingServer.withServer([
            "/main.m3u8": .init(Array(Self.multivariant.utf8)), "/v.m3u8": .init(Array(Self.media.utf8)),
            "/w.m3u8": .init(Array(Self.media.utf8)), "/a.ts": .init(segment, contentType: "video/mp2t"),
        ]) { try await body($0) }
        try? FileManager.default.removeItem(at: folder)
    }

    /// The password of an address is sent to its origin, for all resources there, and is not in any output.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            ["inspect"], ["inspect", "--follow", "--json"], ["validate", "--follow"],
            ["validate", "--follow", "--format", "json"], ["validate", "--follow", "--format", "sarif"],
            ["edit", "--max-height", "180"], ["edit", "--absolute"],
            ["play", "--no-decode", "--speed", "max", "--events", "-"],
            ["download", "--json"],
        ]
    )
    func passwordsOfAddressesAreNotPrinted(arguments: [String]) async throws {
        try await onServer { server in
            let source = "http://reader:hidden@127.0.0.1:\(server.port)/main.m3u8"
            var arguments = arguments
            arguments.insert(source, at: 1)
            var files: [String] = []
            switch arguments[0] {
            case "play":
                files = ["access", "errors"].map { folder.appendingPathComponent($0).path }
                arguments += ["--access-log", files[0], "--error-log", files[1]]
            case "download": arguments += ["--library", folder.path]
            default: break
            }
            let result = try await run(arguments)
            var texts = [result.output, result.errors]
            texts += try files.map { try String(contentsOfFile: $0, encoding: .utf8) }
            if arguments[0] == "download" {
                for list in [["list"], ["list", "--json"]] {
                    texts.append(try await run(["library"] + list + ["--library", folder.path]).output)
                }
            }
            #expect(texts.allSatisfy { !$0.contains("hidden") && !$0.contains("reader") }, "\(texts)")
            #expect(!result.output.isEmpty)
            let expected = "Basic " + Data("reader:hidden".utf8).base64EncodedString()
            #expect(!server.requests.isEmpty)
            #expect(server.requests.allSatisfy { $0.header("Authorization") == expected })
        }
    }

    @Test(.timeLimit(.minutes(10))) func passwordsOfAddressesAreNotInErrors() async throws {
        try await onServer { server in
            for command in ["inspect", "validate", "edit", "play", "download"] {
                let source = "http://reader:hidden@127.0.0.1:\(server.port)/missing.m3u8"
                let result = try await run([command, source, "--retries", "0"])
                #expect(result.status == 1, "\(result.errors)")
                #expect(!result.errors.contains("hidden") && !result.errors.contains("reader"), "\(result.errors)")
                #expect(result.errors.contains("/missing.m3u8"))
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func unreachableProxyIsNamed() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for source in ["http://example.com/a.m3u8", "https://example.com/a.m3u8"] {
            let result = try await run(["inspect", source, "--proxy", "127.0.0.1:1", "--retries", "0"])
            #expect(result.status == 1)
            #expect(result.errors.contains("the proxy 127.0.0.1:1 could not be reached"), "\(result.errors)")
        }
    }

    /// A request that cannot succeed is refused before anything is loaded, and the message says what to do.
    @Test(.timeLimit(.minutes(10))) func impossibleRequestsAreRefusedAtOnce() async throws {
        try await onServer { server in
            let source = server.address("/v.m3u8")
            let library = folder.appendingPathComponent("library").path
            let existing = try file("a.mp4", "kept")
            let absent = folder.appendingPathComponent("new").path + "/"
            let broken = try file("catalog.json", "{\"a\" 1}")
            for (arguments, status, message) in [
                (["library", "add", source, "--library", library], 64, "millstream download URL"),
                (
                    ["download", source, "--library", library, "-o", existing], 1,
                    "a.mp4 already exists (already-exists)\n"
                ),
                (["play", "abc123", "--library", library], 1, "no asset with this identifier in \(library)"),
                (["play", source, "--headless", "--until", "1", "--screenshot", "2=b.png"], 64, "is after --until"),
                (
                    ["play", source, "--headless", "--start", "30", "--screenshot", "5=a.png"], 64,
                    "--screenshot 5=a.png is before --start"
                ),
                (
                    ["play", source, "--headless", "--rate=-1", "--start", "30", "--screenshot", "31=a.png"], 64,
                    "--screenshot 31=a.png is after --start"
                ),
                (["play", source, "--headless", "--muted", "--wave", "a.wav"], 64, "--wave cannot be combined with"),
                (
                    ["play", source, "--headless", "--audio", "none", "--wave", "a.wav"], 64,
                    "--wave cannot be combined with --muted or --audio none"
                ),
                (["inspect", source, "--segments", "3"], 64, "--segments requires --media"),
                (["play", source, "--headless", "--screenshot", "0=\(absent)a.png"], 1, "new does not exist"),
                (["play", source, "--headless", "--screenshot", "0=a.jpg"], 64, "whose names end in .png: a.jpg"),
                (["play", source, "--headless", "--screenshot", "0=frame"], 64, "whose names end in .png: frame"),
                (["play", source, "--loop", "--keep-open"], 64, "--keep-open cannot be combined with --loop (usage)"),
                (["play", source, "--headless", "--full-screen"], 64, "--full-screen requires --window (usage)"),
                (["play", source, "--volume", "101"], 64, "--volume must be between 0 and 100 percent (usage)"),
                (["edit", source, "--filter-audio", "codecs(mp4a),channels(two)"], 64, "channels, not \"two\""),
                (["library", "policy", "a", "--pin", "--no-pin", "--library", library], 64, "--no-pin"),
                (
                    ["serve", "--library", library, "--limit-rate", "1"], 64,
                    "--limit-rate must be a bit rate of at least 8k"
                ),
                (["serve", "--catalog", broken, "--library", library, "--port", "0"], 2, "(bad-catalog)"),
                (
                    ["serve", "--catalog", broken, "--library", library, "--port", "0"], 2,
                    "is not a list of streams in JSON (Invalid value around character"
                ),
            ] as [([String], Int32, String)] {
                let result = try await run(arguments)
                #expect(result.status == status && result.errors.contains(message), "\(arguments): \(result.errors)")
                #expect(!result.errors.contains("CommandError"), "\(arguments): \(result.errors)")
                #expect(server.requests.isEmpty && !FileManager.default.fileExists(atPath: library), "\(arguments)")
            }
            #expect(try String(contentsOfFile: existing, encoding: .utf8) == "kept")
        }
    }

    /// A library that can be written, but fails, is not served for reading.
    @Test(.timeLimit(.minutes(10))) func damagedLibraryIsNotServed() async throws {
        try await onServer { server in
            let library = folder.appendingPathComponent("library").path
            _ = try await run(["download", server.address("/v.m3u8"), "--library", library])
            try FileManager.default.removeItem(atPath: library + "/packages")
            _ = try file("library/packages", "")
            let result = try await run(["serve", "--library", library, "--port", "0"])
            #expect(result.status == 1 && result.errors.contains("(library-failed)"), "\(result.errors)")
            #expect(!result.errors.contains("downloads are refused"), "\(result.errors)")
        }
    }

    /// Without retries, a segment is requested once, also if the server is busy.
    @Test(.timeLimit(.minutes(10)), arguments: [404, 503]) func segmentsAreNotRequestedAgain(status: Int) async throws {
        try await onServer { server in
            server.behave("/a.ts", .status(status))
            let result = try await run([
                "play", server.address("/v.m3u8"), "--no-decode", "--retries", "0", "--timeout", "5",
            ])
            #expect(result.status == 1, "\(result.errors)")
            #expect(server.requests.count { $0.path == "/a.ts" } == 1, "\(result.errors)")
        }
    }

    /// A failure has the same code, whatever command meets it.
    @Test(.timeLimit(.minutes(10))) func commandsHaveTheSameCodesForResourcesThatAreNotLoaded() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = folder.appendingPathComponent("library").path
        for (source, code) in [
            (folder.appendingPathComponent("missing.m3u8").path, "file-not-found"),
            ("http://127.0.0.1:1/a.m3u8", "cannot-connect"), ("http://host.invalid/a.m3u8", "unknown-host"),
        ] {
            for command in [
                ["inspect"], ["validate"], ["edit"], ["play", "--no-decode"], ["download", "--library", library],
            ] {
                let result = try await run(command + [source, "--retries", "0"])
                #expect(result.status == 1 && result.errors.contains("(\(code))"), "\(command): \(result.errors)")
            }
        }
    }

    /// A file in an unknown format has one message and one code, with the name that the user gave.
    @Test(.timeLimit(.minutes(10)), arguments: [Data("text".utf8), Data([0x8F, 0x01, 0xC3, 0x0A, 0xE2, 0x90, 0x77])])
    func commandsHaveTheSameMessageForAFileThatIsNoPlaylist(bytes: Data) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try bytes.write(to: folder.appendingPathComponent("a b.txt"))
        for command in [
            ["inspect"], ["validate"], ["edit"], ["translate", "-o", "out"], ["play", "--no-decode"],
            ["download", "--library", "library"],
        ] {
            let program = try RunningProgram(command + ["a b.txt"], directory: folder)
            #expect(try await program.finish() == 2, "\(command): \(program.standardError)")
            let lines = program.standardError.split(separator: "\n").filter { $0.hasPrefix("millstream: error: ") }
            #expect(
                lines == [
                    "millstream: error: a b.txt: neither a playlist (it does not begin with #EXTM3U), nor a DASH manifest, nor a media file in a known format (not-a-playlist)"
                ],
                "\(command): \(program.standardError)"
            )
        }
    }

    /// The URL of a file is in no message: the source has the name that the user gave, and other files have their paths.
    @Test(.timeLimit(.minutes(10))) func messagesNameFilesAsGiven() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try file("v w.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nno segment.ts\n#EXT-X-ENDLIST\n")
        _ = try file("empty.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-ENDLIST\n")
        _ = try file("a.mpd", "<MPD")
        _ = try file("page.html", "<!DOCTYPE html><html></html>")
        for (command, message) in [
            (["play", "v w.m3u8", "--no-decode"], "no segment.ts"),
            (["play", "page.html", "--no-decode"], "error: page.html: a web page, not an HLS playlist ("),
            (["play", "a.mpd", "--no-decode"], "a.mpd"), (["play", "empty.m3u8", "--no-decode"], "error: "),
            (["download", "v w.m3u8", "--library", "library"], "no segment.ts"),
            (["download", "page.html", "--library", "library"], "error: page.html: a web page, not an HLS playlist ("),
            (["download", "a.mpd", "--library", "library"], "a.mpd"), (["translate", "a.mpd", "-o", "out"], "a.mpd"),
        ] {
            let program = try RunningProgram(command, directory: folder)
            #expect(try await program.finish() != 0, "\(command)")
            #expect(program.standardError.contains(message), "\(command): \(program.standardError)")
            #expect(!program.standardError.contains("file://"), "\(command): \(program.standardError)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func explanationOfTheServerIsReported() async throws {
        try await onServer { server in
            let body = Array(#"{"error":{"code":"invalid-value","message":"start must be\u001b[2J a time"}}"#.utf8)
            let refusal = MisbehavingServer.Behavior.status(
                400,
                headers: ["Content-Type": "application/json; charset=utf-8"],
                body: body
            )
            let source = server.address("/play.m3u8?start=x")
            for command in [
                ["inspect"], ["play", "--no-decode"], ["download", "--library", folder.path + "/library"],
            ] {
                server.behave("/play.m3u8", refusal, refusal, refusal)
                let result = try await run(command + [source])
                #expect(result.status == 1, "\(command): \(result.errors)")
                #expect(result.errors.contains("400 Bad Request"), "\(command): \(result.errors)")
                #expect(result.errors.contains("; the server says: start must be"), "\(command): \(result.errors)")
                #expect(!result.errors.contains("\u{1B}"), "\(command): \(result.errors)")
            }
        }
    }

    /// An edit that does not fit its source has one code, whatever command applies it, and is not tried again.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            ("v.m3u8", "bandwidth=1M...", "wrong-kind", 1), ("v.m3u8", "start=99", "time-outside", 1),
            ("a.ts", "duration=4", "not-a-playlist", 2), ("page.html", "duration=4", "not-a-playlist", 2),
            ("empty.txt", "duration=4", "not-a-playlist", 2),
        ] as [(String, String, String, Int32)]
    )
    func editThatDoesNotFitIsReportedAtOnce(source: String, edit: String, code: String, status: Int32) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try file("v.m3u8", Self.media)
        _ = try file("page.html", "<!DOCTYPE html><html></html>")
        _ = try file("empty.txt", "")
        let packets = [UInt8](repeating: 0x47, count: 188 * 8)
        try Data(packets).write(to: folder.appendingPathComponent("a.ts"))
        let path = folder.appendingPathComponent(source).path
        let parts = edit.split(separator: "=", maxSplits: 1).map(String.init)
        for command in [["edit", path, "--\(parts[0])", parts[1]], ["play", path, "--no-decode", "--edit", edit]] {
            let result = try await run(command)
            #expect(result.status == status && result.errors.contains("(\(code))"), "\(command): \(result.errors)")
            #expect(!result.errors.contains("attempts"), "\(command): \(result.errors)")
            #expect(result.errors.components(separatedBy: source).count <= 2, "\(command): \(result.errors)")
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["inspect", "validate", "edit", "play", "download", "translate"])
    func emptySourceIsWrongUsage(command: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = command == "download" ? ["--library", folder.appendingPathComponent("library").path] : []
        let result = try await run([command, ""] + library)
        #expect(result.status == 64 && result.errors.contains("the source is empty (usage)"), "\(result.errors)")
    }

    @Test(.timeLimit(.minutes(10))) func translationNamesWhatIsNoManifest() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for (text, content) in [
            ("", "empty"), ("<!DOCTYPE html><html></html>", "a web page"),
            ("\u{0}\u{0}\u{0}\u{10}ftypisom\u{0}\u{0}\u{0}\u{0}", "an MP4 file"),
        ] {
            let result = try await run(["translate", try file("a.mpd", text), "-o", folder.path + "/out"])
            let message = "a.mpd: \(content), not a DASH manifest (invalid-manifest)"
            #expect(result.status == 2 && result.errors.contains(message), "\(result.errors)")
        }
    }

    /// A message about standard input does not name the file in which it is stored.
    @Test(.timeLimit(.minutes(10)), arguments: ["play - --no-decode", "inspect -"])
    func messagesNameStandardInput(command: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        // A box of a media file whose index is missing.
        let part = try file("part.mp4", "\u{0}\u{0}\u{0}\u{10}ftypisom\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{1}\u{0}moov")
        let program = "'\(RunningProgram.executable.path)' \(command)"
        for (input, status, message) in [
            ("/dev/null", 2, command.hasPrefix("play") ? "standard input is empty" : "standard input: empty"),
            (part, 1, "standard input"),
        ] as [(String, Int32, String)] {
            let shell = try RunningProgram(
                ["sh", "-c", "\(program) < '\(input)'"],
                of: URL(fileURLWithPath: "/usr/bin/env")
            )
            #expect(try await shell.finish() == status, "\(shell.standardError)")
            #expect(shell.standardError.contains(message), "\(shell.standardError)")
            #expect(!shell.standardError.contains("millstream-"), "\(shell.standardError)")
        }
    }

    /// Segments that cannot be read are a failure of `inspect --media`.
    @Test(.timeLimit(.minutes(10))) func unreadSegmentsAreAnError() async throws {
        try await onServer { server in
            server.behave("/a.ts", .status(404))
            let result = try await run(["inspect", server.address("/v.m3u8"), "--media", "--retries", "0"])
            #expect(result.status == 1 && result.errors.contains("1 segment could not be read"), "\(result.errors)")
            #expect(result.output.contains("404"))
        }
    }

    /// Each command reports a damaged manifest with the same code and status.
    @Test(.timeLimit(.minutes(10))) func damagedManifestHasOneCode() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let manifest = try file("a.mpd", "<?xml version=\"1.0\"?><MPD type=\"static\"><Period>")
        let library = folder.appendingPathComponent("library").path
        for arguments in [
            ["inspect", manifest], ["validate", manifest], ["translate", manifest, "-o", library],
            ["edit", manifest, "--max-height", "1"], ["play", manifest, "--no-decode"],
            ["download", manifest, "--library", library],
        ] {
            let result = try await run(arguments)
            #expect(result.status == 2, "\(arguments): \(result.errors)")
            #expect(result.errors.contains("(invalid-manifest)"), "\(arguments): \(result.errors)")
        }
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            ("#EXT-X-KEY:METHOD=AES-128\n#EXTINF:1,\na.ts\n", "its key has no URI"),
            ("#EXTINF:1,\nplaylist.m3u8\n", "the segment is an HLS playlist, not media"),
        ]
    )
    func reasonWhyASegmentIsNotPlayedIsInWords(segments: String, reason: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let playlist = try file("playlist.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n\(segments)#EXT-X-ENDLIST\n")
        let result = try await run(["play", playlist, "--headless", "--speed", "max"])
        #expect(result.status == 1 && result.errors.contains(reason), "\(result.errors)")
    }

    @Test(.timeLimit(.minutes(10))) func fileThatCannotBeWrittenIsReportedInWords() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let playlist = try file("multivariant.m3u8", Self.multivariant)
        _ = try file("v.m3u8", Self.media)
        _ = try file("w.m3u8", Self.media)
        let blocked = try file("blocked", "")
        let result = try await run(["edit", playlist, "--duration", "1", "-o", blocked])
        #expect(result.status == 1 && result.errors.contains("(disk-failed)"), "\(result.errors)")
        #expect(!result.errors.contains("Cocoa") && !result.errors.contains("NSPOSIX"), "\(result.errors)")
    }

    /// It is no live stream that begins later, for which a player would wait.
    @Test(.timeLimit(.minutes(10))) func playlistWithoutAnythingIsReportedAtOnce() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let playlist = try file("nothing.m3u8", "#EXTM3U\n#EXT-X-INDEPENDENT-SEGMENTS\n")
        let played = try await run(["play", playlist, "--no-decode"])
        let message = "the playlist lists neither variants nor segments, and has no EXT-X-TARGETDURATION"
        #expect(played.status == 2 && played.errors.contains(message), "\(played)")
        #expect(played.errors.contains("nothing.m3u8 (unreadable-playlist)"), "\(played)")
        let validated = try await run(["validate", playlist])
        let missing = "must have EXT-X-TARGETDURATION (and a multivariant playlist EXT-X-STREAM-INF). [missing-target-"
        #expect(validated.status == 2 && validated.output.contains(missing), "\(validated)")
    }

    @Test(.timeLimit(.minutes(10))) func countsAndDurationsAreWrittenAlike() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let playlist = try file(
            "one.m3u8",
            "#EXTM3U\n#EXT-X-TARGETDURATION:61\n#EXTINF:60.010667,\na.ts\n#EXT-X-ENDLIST\n"
        )
        let inspected = try await run(["inspect", playlist])
        #expect(inspected.output.contains("1 segment, 01:00.011, target 61 s"), "\(inspected.output)")
        let played = try await run(["play", playlist, "--no-decode", "--speed", "max", "--start", "70"])
        #expect(played.errors.contains("the duration is 01:00.011"), "\(played.errors)")
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            (["play", "a.m3u8", "--headless", "--window"], "--headless and --window cannot be combined"),
            (["inspect", "--foo", "a"], "Unknown option '--foo' (usage)\nhint: see millstream inspect --help"),
            (["inspect", "--jsno", "a"], "Unknown option '--jsno' (usage)\nhint: did you mean --json?"),
            (["--versio"], "Unknown option '--versio' (usage)\nhint: did you mean --version?"),
            (["play", "--nope"], "Unknown option '--nope' (usage)\n"),
            (["play", "--headles"], "Unknown option '--headles' (usage)\nhint: did you mean --headless?"),
            (["play", "--headless"], "Missing expected argument '<source>' (usage)"),
            (["download", "--nope"], "Unknown option '--nope' (usage)"),
            (["sign", "--nope"], "Unknown option '--nope' (usage)\nhint: see millstream sign --help"),
            (["sign", "--secrte", "f", "http://a"], "Unknown option '--secrte' (usage)\nhint: did you mean --secret?"),
            (["sign", "a"], "Missing expected argument '--secret <FILE>' (usage)"),
            (["simulate", "--nope"], "Unknown option '--nope' (usage)"),
            (["edit", "--filter-video", "height<=360", "a"], "list of conditions such as max-height(720), "),
            (["library", "--hlep"], "Unknown option '--hlep' (usage)\nhint: did you mean --help?"),
            (["play", "a.m3u8", "--rate", "-1"], "hint: write a value that begins with a hyphen as --rate=-1"),
            (["download", "a.m3u8", "--range", "20...10"], "the start of --range 20...10 is after its end"),
            (["inspect", "http://127.0.0.1:99999/a.m3u8"], "the port of a URL must be between 1 and 65535, not 99999"),
            (["play", "localhost:65536/a.m3u8"], "the port of a URL must be between 1 and 65535, not 65536"),
            (["download", "http://127.0.0.1:0/a.m3u8"], "the port of a URL must be between 1 and 65535, not 0"),
        ] as [([String], String)]
    )
    func wrongUsageIsReportedWithWhatToWrite(arguments: [String], message: String) async throws {
        let result = try await run(arguments)
        #expect(result.status == 64 && result.errors.contains(message), "\(result.errors)")
    }

    /// The value `-` of these options is standard output.
    @Test(.timeLimit(.minutes(10)), arguments: ["--events", "--metrics", "--access-log", "--error-log"])
    func adviceAboutStandardInputIsNotGivenForStandardOutput(option: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = try file("media.m3u8", Self.media)
        let played = try await run(["play", source, "--no-decode", "--retries", "0", "--speed", "max", option, "-"])
        #expect(played.status == 1 && played.errors.contains("(file-not-found)"), "\(played.errors)")
        #expect(!played.errors.contains("standard input"), "\(played.errors)")
    }

    /// `--retries` is the bound of the attempts at a segment, whose number the message has.
    @Test(.timeLimit(.minutes(10)), arguments: [503, 429]) func busyServerIsAskedAsOftenAsRequested(
        status: Int
    ) async throws {
        try await onServer { server in
            for path in ["/a.ts", "/busy.m3u8"] {
                server.behave(path, .status(status), .status(status), .status(status), .status(status), .status(status))
            }
            let played = try await run(["play", server.address("/v.m3u8"), "--no-decode", "--retries", "1"])
            #expect(played.status == 1 && played.errors.contains(", after 2 attempts"), "\(played.errors)")
            #expect(server.requests.count { $0.path == "/a.ts" } == 2)
            let downloaded = try await run([
                "download", server.address("/busy.m3u8"), "--library", folder.path, "--retries", "2",
            ])
            #expect(downloaded.status == 1 && downloaded.errors.contains(", after 3 attempts"), "\(downloaded.errors)")
            #expect(server.requests.count { $0.path == "/busy.m3u8" } == 3)
        }
    }
}
