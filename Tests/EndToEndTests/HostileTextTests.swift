import AsyncHTTPClient
import Foundation
import MillstreamTesting
import NIOCore
import NIOHTTP1
import Testing

/// Tests that untrusted text with terminal control characters is escaped by all commands that display text.
@Suite(.serialized, .tags(.endToEnd))
struct HostileTextTests {
    let folder: URL
    let environment: [String: String]

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("hostile-text-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        environment = ["MILLSTREAM_LIBRARY": folder.appendingPathComponent("library").path]
        for (name, text) in Self.files { try Data(text).write(to: folder.appendingPathComponent(name)) }
    }

    /// One character of each kind that must not reach a terminal; none of them ends a line of a playlist.
    static let hostile =
        "\u{1B}]0;t\u{7}\u{1B}[2J\u{8}\u{B}\u{C}\u{7F}\u{80}\u{90}\u{9B}31m\u{9D}\u{85}\u{AD}\u{61C}\u{200B}\u{200D}"
        + "\u{200E}\u{200F}\u{2028}\u{2029}\u{202A}\u{202E}\u{2060}\u{2066}\u{2069}\u{FEFF}\u{E0041}\ti"
    /// The same characters for an argument, with line endings.
    static let hostileArgument = hostile + "\ninjected\rinjected\r\ninjected"

    private static let files: [(String, [UInt8])] = [
        (
            "multivariant.m3u8",
            Array(
                """
                #EXTM3U
                #EXT-X-\(hostile):1
                #EXT-X-DEFINE:NAME="a",VALUE="\(hostile)"
                #EXT-X-CONTENT-STEERING:SERVER-URI="\(hostile)",PATHWAY-ID="\(hostile)"
                #EXT-X-SESSION-DATA:DATA-ID="\(hostile)",VALUE="\(hostile)"
                #EXT-X-SESSION-KEY:METHOD=AES-128,URI="\(hostile)"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="\(hostile)",NAME="\(hostile)",LANGUAGE="\(hostile)",URI="\(hostile)"
                #EXT-X-STREAM-INF:BANDWIDTH=1000000,CODECS="\(hostile)",AUDIO="\(hostile)",NAME="\(hostile)"
                \(hostile)
                #EXT-X-STREAM-INF:BANDWIDTH=\(hostile),RESOLUTION=\(hostile),AUDIO="x\(hostile)"
                variant\(hostile).m3u8
                #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,URI="\(hostile)"

                """.utf8
            )
        ),
        (
            "media.m3u8",
            Array(
                """
                #EXTM3U
                #EXT-X-TARGETDURATION:4
                #EXT-X-\(hostile):1
                #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=\(hostile)
                #EXT-X-DATERANGE:ID="\(hostile)",CLASS="\(hostile)",START-DATE="2026-01-01T00:00:00Z",X-A="\(hostile)"
                #EXT-X-KEY:METHOD=\(hostile),URI="\(hostile)"
                #EXT-X-MAP:URI="\(hostile)"
                #EXTINF:\(hostile),\(hostile)
                \(hostile)
                #EXTINF:4,\(hostile)
                segment\(hostile).ts
                #EXT-X-ENDLIST

                """.utf8
            )
        ),
        // C1 control characters as single bytes, which terminals with 8-bit character sets interpret.
        (
            "invalid.m3u8",
            Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nsegment".utf8) + [0x9B, 0x33, 0x31, 0x6D, 0xC2]
        ),
        (
            "playable.m3u8",
            Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nmissing\(hostile).ts\n#EXT-X-ENDLIST\n".utf8)
        ),
        ("conditions.json", Array(#"{"name":"\u001b[31m\u009b\u202e\ninjected","down":{"bandwidth":1000000}}"#.utf8)),
        ("bad.json", Array(#"{"down":{"\u001b[31m":1,"loss":"\u009b"}}"#.utf8)),
        (
            "ladder.json",
            Array(#"{"segment_duration_ms":3000,"bitrates_kbps":[300],"segment_sizes_bits":[[900000],[900000]]}"#.utf8)
        ),
    ]

    /// The forms of an escaped escape character: in text, in JSON and in a URL.
    static let spellings = [#"\u{1B}"#, #"\u001b"#, "%1B"]

    /// Expects that the bytes contain only visible characters and line feeds.
    func expectHarmless(
        _ bytes: Data,
        isTerminal: Bool = false,
        _ comment: Comment,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        // Decoding with repair would hide single bytes of the C1 set.
        guard var text = String(validating: bytes, as: UTF8.self) else {
            Issue.record("\(comment): invalid UTF-8", sourceLocation: sourceLocation)
            return
        }
        // Remove the output of the program itself on a terminal: line endings, and the sequence that clears a line.
        if isTerminal { text = text.replacing("\r\n", with: "\n").replacing("\r\u{1B}[K", with: "") }
        let forbidden = text.unicodeScalars.filter { scalar in
            switch scalar.value {
            case 0x0A: false
            case ..<0x20, 0x7F...0x9F, 0xAD, 0x61C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF,
                0xE0000...0xE0FFF:
                true
            default: false
            }
        }
        let names = forbidden.map { String($0.value, radix: 16) }
        #expect(names.isEmpty, comment, sourceLocation: sourceLocation)
        let lines = text.split(separator: "\n")
        #expect(!lines.contains { $0.hasPrefix("injected") }, comment, sourceLocation: sourceLocation)
    }

    func run(_ arguments: [String]) async throws -> (status: Int32, output: Data, errors: Data) {
        let program = try RunningProgram(
            arguments.map { $0.replacing("FOLDER", with: folder.path) },
            environment: environment
        )
        let status = try await program.finish()
        return (status, program.outputData, program.errorData)
    }

    /// Expects that a command shows untrusted text, and escapes it.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the command.
    ///   - showsText: A Boolean value that indicates whether the command shows the text.
    ///   - spellings: The forms of which the text must have one.
    /// - Throws: An error if the command cannot be run.
    func expectEscaped(
        _ arguments: [String],
        showsText: Bool = true,
        as spellings: [String] = Self.spellings
    ) async throws {
        let result = try await run(arguments)
        let comment: Comment = "\(arguments.map { $0.debugDescription }), status \(result.status)"
        expectHarmless(result.output, comment)
        expectHarmless(result.errors, comment)
        let all = String(decoding: result.output + result.errors, as: UTF8.self)
        if showsText { #expect(spellings.contains { all.contains($0) }, comment) }
    }

    static let commands: [[String]] = [
        ["inspect", "FOLDER/multivariant.m3u8"], ["inspect", "FOLDER/multivariant.m3u8", "--json"],
        ["inspect", "FOLDER/multivariant.m3u8", "--follow"], ["inspect", "FOLDER/media.m3u8"],
        ["inspect", "FOLDER/media.m3u8", "--json"],
        ["validate", "FOLDER/multivariant.m3u8", "--rules", "rfc,apple"],
        ["validate", "FOLDER/multivariant.m3u8", "--rules", "rfc,apple", "--format", "json"],
        ["validate", "FOLDER/multivariant.m3u8", "--rules", "rfc,apple", "--format", "sarif"],
        ["validate", "FOLDER/media.m3u8"], ["validate", "FOLDER/media.m3u8", "--format", "json"],
        ["validate", "FOLDER/media.m3u8", "--format", "sarif"],
        ["edit", "FOLDER/multivariant.m3u8", "--duration", "4", "-o", "FOLDER/set"],
        ["download", "FOLDER/playable.m3u8", "--retries", "0"],
        ["download", "FOLDER/playable.m3u8", "--retries", "0", "--json"],
        ["play", "FOLDER/playable.m3u8", "--no-decode", "--retries", "0", "--speed", "max", "--events", "-"],
        ["play", "FOLDER/playable.m3u8", "--no-decode", "--retries", "0", "--speed", "max", "--error-log", "-"],
        ["conditions", "show", "FOLDER/conditions.json"], ["conditions", "show", "FOLDER/conditions.json", "--json"],
        ["simulate", "--trace", "FOLDER/conditions.json", "--ladder", "FOLDER/ladder.json"],
        ["simulate", "--trace", "FOLDER/conditions.json", "--ladder", "FOLDER/ladder.json", "--json"],
        [hostileArgument], ["--\(hostileArgument)"], ["inspect", "x", "--\(hostileArgument)"],
        ["inspect", "FOLDER/\(hostileArgument)"], ["inspect", "\(hostileArgument)://x/"],
        ["inspect", "http://127.0.0.1:1/\(hostileArgument)", "--retries", "0"],
        ["inspect", "-", "--base-url", hostileArgument], ["inspect", "x", "--header", hostileArgument],
        ["inspect", "x", "--timeout", hostileArgument], ["inspect", "x", "--conditions", hostileArgument],
        ["inspect", "FOLDER/media.m3u8", "--cookie-jar", "FOLDER/\(hostile)/jar"],
        ["validate", "x", "--rules", hostileArgument], ["validate", "x", "--format", hostileArgument],
        ["validate", "FOLDER/\(hostile).m3u8"],
        ["edit", "FOLDER/media.m3u8", "--duration", hostileArgument],
        ["edit", "FOLDER/media.m3u8", "--append", "FOLDER/\(hostileArgument)"],
        ["edit", "FOLDER/media.m3u8", "-o", "FOLDER/\(hostile)/x"],
        ["translate", "FOLDER/\(hostileArgument)"], ["record", "FOLDER/\(hostileArgument)"],
        ["library", "show", "x", "--library", "/dev/null/\(hostileArgument)"],
        ["library", "verify", "x", "--library", "/dev/null/\(hostileArgument)"],
        ["serve", "--port", "0", "--host", hostile], ["serve", "--catalog", "FOLDER/\(hostile)"],
        ["origin", "FOLDER/\(hostile)"], ["simulate", "--trace", hostileArgument, "--ladder", "FOLDER/ladder.json"],
        ["simulate", "--trace", "3G", "--ladder", "FOLDER/\(hostile)"],
        ["simulate", "--trace", "3G", "--ladder", "FOLDER/ladder.json", "--selector", hostileArgument],
        ["play", "x", "--edit", hostileArgument],
        ["play", "FOLDER/playable.m3u8", "--no-decode", "--events", "FOLDER/\(hostile)/x"],
        ["help", hostileArgument],
    ]

    @Test(.timeLimit(.minutes(10)), arguments: commands)
    func commandOutputIsEscaped(arguments: [String]) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        // The argument parser does not repeat the argument of the command "help".
        try await expectEscaped(arguments, showsText: arguments.first != "help")
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["inspect", "validate"])
    func singleC1ControlBytesDoNotReachTheOutput(command: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for arguments in [[command, "FOLDER/invalid.m3u8"], ["validate", "FOLDER/invalid.m3u8", "--format", "json"]] {
            let result = try await run(arguments)
            #expect(!(result.output + result.errors).isEmpty)
            expectHarmless(result.output, "\(arguments)")
            expectHarmless(result.errors, "\(arguments)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func titlesInTheLibraryAreEscaped() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["a.ts", "b.ts"] {
            try Data(repeating: 0x47, count: 188).write(to: folder.appendingPathComponent(name))
        }
        try Data("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXTINF:4,\nb.ts\n#EXT-X-ENDLIST\n".utf8)
            .write(to: folder.appendingPathComponent("small.m3u8"))
        let download = ["download", "FOLDER/small.m3u8", "--title", Self.hostileArgument]
        try await expectEscaped(download)
        let list = try await run(["library", "list", "--json"])
        let assets = try #require(try JSONSerialization.jsonObject(with: list.output) as? [[String: Any]])
        // JSON preserves the title.
        #expect(assets.first?["title"] as? String == Self.hostileArgument)
        let id = try #require(assets.first?["id"] as? String)
        for arguments in [["list"], ["list", "--json"], ["show", id], ["show", id, "--json"]] {
            try await expectEscaped(["library"] + arguments)
        }
    }

    @Test(.timeLimit(.minutes(10))) func serverResponsesAreEscaped() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let heads = [
            "HTTP/1.1 404 \(Self.hostile)\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 404 \u{1B}[31m\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 302 Found\r\nLocation: \(Self.hostile)\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 302 Found\r\nLocation: ftp://\u{1B}[31m/\u{9B}\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Type: text/\u{1B}[31m\u{9B}\r\nContent-Length: 3\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nContent-Encoding: \u{1B}[31m\u{9B}\r\nContent-Length: 3\r\n\r\nabc",
            "\u{1B}[31m\u{9B}\r\n\r\n",
        ]
        try await MisbehavingServer.withServer(["/x.m3u8": .init(Array("#EXTM3U\n".utf8))]) { server in
            for head in heads {
                server.behave("/x.m3u8", .garbage(Array(head.utf8)))
                let result = try await run(["inspect", server.address("/x.m3u8"), "--retries", "0"])
                #expect(result.status != 0 && !result.errors.isEmpty, "\(head.debugDescription)")
                expectHarmless(result.output, "\(head.debugDescription)")
                expectHarmless(result.errors, "\(head.debugDescription)")
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func serverLogIsEscaped() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = try RunningProgram(["origin", folder.path, "--port", "0"], environment: environment)
        let address = try await program.match("(http://[0-9.:]+/)")
        for path in ["%1B%5B31m", "%C2%9B31m", "%E2%80%AE", "..%2F%1B", "%0Ainjected"] {
            let response = try await HTTPClient.shared.get(url: address + path).get()
            #expect(response.status == .notFound)
        }
        program.send(SIGTERM)
        _ = try await program.finish()
        expectHarmless(program.outputData, "origin")
        expectHarmless(program.errorData, "origin")
    }

    /// An edited playlist is written byte for byte to a pipe or a file, but is escaped on a terminal.
    @Test(.timeLimit(.minutes(10)), .enabled(if: Terminal.isAvailable, "there is no /dev/ptmx"))
    func editedPlaylistIsUnchangedInAPipeAndEscapedOnATerminal() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("media.m3u8")
        let result = try await run(["edit", file.path])
        #expect(try result.output == Data(contentsOf: file))

        for arguments in [["edit", file.path], ["inspect", file.path], ["download", "FOLDER/playable.m3u8"]] {
            let terminal = try Terminal()
            let program = try RunningProgram(
                arguments.map { $0.replacing("FOLDER", with: folder.path) },
                environment: environment,
                replacedOutput: terminal.device,
                replacedErrors: terminal.device
            )
            let shown = try await terminal.output(of: program)
            expectHarmless(shown, isTerminal: true, "\(arguments)")
            #expect(Self.spellings.contains { String(decoding: shown, as: UTF8.self).contains($0) }, "\(arguments)")
        }
    }
}

/// A pseudo-terminal, whose output can be read by the test.
private struct Terminal {
    static let isAvailable = FileManager.default.fileExists(atPath: "/dev/ptmx")

    let device: FileHandle
    private let control: FileHandle

    /// Opens the pseudo-terminal multiplexer of Linux, which creates a new device.
    init() throws {
        let multiplexer = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(multiplexer >= 0)
        control = FileHandle(fileDescriptor: multiplexer, closeOnDealloc: true)
        var (lock, number): (Int32, Int32) = (0, 0)
        // TIOCSPTLCK and TIOCGPTN, which the module map of the C library does not contain.
        try #require(ioctl(multiplexer, 0x4004_5431, &lock) == 0 && ioctl(multiplexer, 0x8004_5430, &number) == 0)
        device = try #require(FileHandle(forUpdatingAtPath: "/dev/pts/\(number)"))
    }

    /// Reads until the program has ended, and closes the device.
    func output(of program: RunningProgram) async throws -> Data {
        _ = fcntl(control.fileDescriptor, F_SETFL, O_NONBLOCK)
        var result = Data()
        func drain() {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while case let count = read(control.fileDescriptor, &buffer, buffer.count), count > 0 {
                result += buffer[..<count]
            }
        }
        try await eventually("the program ends") {
            drain()
            return !program.isRunning
        }
        drain()
        try device.close()
        return result
    }
}
