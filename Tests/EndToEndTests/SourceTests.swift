import Foundation
import MillstreamTesting
import TestSamples
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests the forms of sources: addresses without a scheme, and standard input.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct SourceTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sources-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func run(
        _ arguments: [String],
        input: Data? = nil
    ) async throws -> (status: Int32, output: String, errors: String) {
        guard let input else {
            return try await RunningProgram(arguments).result()
        }
        let file = folder.appendingPathComponent("input")
        try input.write(to: file)
        let command = "\"$0\" \"$@\" < '\(file.path)'"
        let program = try RunningProgram(
            ["sh", "-c", command, RunningProgram.executable.path] + arguments,
            of: URL(fileURLWithPath: "/usr/bin/env")
        )
        let status = try await program.finish(within: .seconds(60))
        return (status, program.standardOutput, program.standardError)
    }

    private static let media = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\na.ts\n#EXT-X-ENDLIST\n"

    /// Without a scheme, http is used only if https cannot connect, and never with header fields of the user.
    @Test(.timeLimit(.minutes(10))) func addressWithoutSchemeIsLoaded() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await MisbehavingServer.withServer(["/a.m3u8": .init(Array(Self.media.utf8))]) { server in
            let source = "127.0.0.1:\(server.port)/a.m3u8"
            let result = try await run(["inspect", source, "--retries", "0"])
            #expect(result.status == 0 && result.output.contains("http://\(source)"), "\(result)")
            #expect(result.errors.contains("http is used instead of https"), "\(result.errors)")
            let count = server.requests.count
            for secret in [["--header", "X-Token: a"], ["--cookie-jar", folder.appendingPathComponent("jar").path]] {
                try Data().write(to: folder.appendingPathComponent("jar"))
                let refused = try await run(["inspect", source, "--retries", "0"] + secret)
                #expect(refused.status == 1 && refused.errors.contains("(cannot-connect)"), "\(refused)")
            }
            let password = try await run(["inspect", "a:b@" + source, "--retries", "0"])
            #expect(password.status == 1, "\(password)")
            #expect(server.requests.count == count)
        }
    }

    @Test(.timeLimit(.minutes(10))) func fileHasPrecedenceOverAddress() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let site = folder.appendingPathComponent("media.example")
        try FileManager.default.createDirectory(at: site, withIntermediateDirectories: true)
        try Data(Self.media.utf8).write(to: site.appendingPathComponent("a.m3u8"))
        let program = try RunningProgram(["inspect", "media.example/a.m3u8"], directory: folder)
        #expect(try await program.finish() == 0, "\(program.standardError)")
        let missing = try await run(["inspect", "missing.m3u8"])
        #expect(missing.status == 1 && missing.errors.contains("file-not-found"), "\(missing.errors)")
    }

    /// A pipe that no program writes to would be waited for without end.
    @Test(.timeLimit(.minutes(10))) func namedPipeIsRefusedAtOnce() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("pipe").path
        #expect(mkfifo(path, 0o600) == 0)
        for command in ["inspect", "play"] {
            let program = try RunningProgram([command, path])
            #expect(try await program.finish(within: .seconds(20)) == 1)
            let message = "\(path) is not a regular file; use - to read from a pipe"
            #expect(program.standardError.contains(message), "\(program.standardError)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func standardInputIsPlayed() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let samples = try #require(Samples.directory)
        let playlist = samples.appendingPathComponent("fmp4/360p/media.m3u8")
        let options = ["--headless", "--speed", "max", "--until", "2"]
        let refused = try await run(["play", "-"] + options, input: try Data(contentsOf: playlist))
        #expect(refused.status == 1 && refused.errors.contains("hint: give their base with --base-url URL"))
        let based = try await run(
            ["play", "-", "--base-url", "file://\(playlist.path)"] + options,
            input: try Data(contentsOf: playlist)
        )
        #expect(based.status == 0 && based.output.contains("Watched: 2.0 s"), "\(based)")
        let movie = try await run(
            ["play", "-"] + options,
            input: try Data(contentsOf: samples.appendingPathComponent("movie.mp4"))
        )
        #expect(movie.status == 0 && movie.output.contains("Watched: 2.0 s"), "\(movie)")
    }

    @Test(.timeLimit(.minutes(10))) func relativeAddressesOfStandardInputHintAtTheBaseURL() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = Data("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nnowhere/v.m3u8\n".utf8)
        for command in ["inspect", "validate"] {
            let result = try await run([command, "-", "--follow"], input: text)
            #expect(result.status == 1 && result.errors.contains("require --base-url URL"), "\(result.errors)")
        }
    }

    /// The folder is listed, a single file is served alone, and requests are logged.
    @Test(.timeLimit(.minutes(10)), arguments: [true, false]) func originServesAFolderOrAFile(
        isFolder: Bool
    ) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("one".utf8).write(to: folder.appendingPathComponent("a <b>.txt"))
        try Data("two".utf8).write(to: folder.appendingPathComponent("other.txt"))
        let source = isFolder ? folder.path : folder.appendingPathComponent("a <b>.txt").path
        let program = try RunningProgram(["origin", source, "--port", "0", "--verbose"])
        try await eventually("it listens") { program.standardOutput.contains("http://") }
        let words = program.standardOutput.split(whereSeparator: \.isWhitespace)
        let address = try #require(words.last.flatMap { URL(string: String($0)) })
        let root = try #require(URL(string: "/", relativeTo: address))
        let (page, _) = try await URLSession.shared.data(from: root)
        let text = String(decoding: page, as: UTF8.self)
        #expect(text.contains("href=\"/a%20%3Cb%3E.txt\">a &lt;b&gt;.txt</a>") == isFolder, "\(text)")
        let file = try #require(URL(string: "/a%20%3Cb%3E.txt", relativeTo: address))
        #expect(try await URLSession.shared.data(from: file).0 == Data("one".utf8))
        let other = try #require(URL(string: "/other.txt", relativeTo: address))
        let (_, response) = try await URLSession.shared.data(from: other)
        #expect((response as? HTTPURLResponse)?.statusCode == (isFolder ? 200 : 404))
        try await eventually("requests are logged") { program.standardError.contains("200 GET /a%20%3Cb%3E.txt") }
        program.send(SIGTERM)
        _ = try await program.finish()
    }

    @Test(.timeLimit(.minutes(10))) func editOfStandardInputAsksForTheBaseOfRelativeURLs() async throws {
        let text = Data("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=2\nw.m3u8\n".utf8)
        let edited = try await run(["edit", "-", "--bandwidth", "...1"], input: text)
        #expect(edited.status == 0 && edited.output.hasSuffix("BANDWIDTH=1\nv.m3u8\n"), "\(edited)")
        #expect(edited.errors.contains("--base-url URL"), "\(edited.errors)")
        let based = try await run(
            ["edit", "-", "--bandwidth", "...1", "--base-url", "https://example.com/a/main.m3u8"],
            input: text
        )
        #expect(based.output.contains("https://example.com/a/v.m3u8") && based.errors == "", "\(based)")
    }

    /// A key is that of the segments, so all media playlists are written.
    @Test(.timeLimit(.minutes(10))) func keyIsSetInTheMediaPlaylistsOfAPresentation() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let main = folder.appendingPathComponent("main.m3u8")
        try Data("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n".utf8).write(to: main)
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXTINF:4,\na.ts\n"
        try Data("\(media)#EXT-X-ENDLIST\n".utf8).write(to: folder.appendingPathComponent("v.m3u8"))
        let edit = ["edit", main.path, "--key", "00112233445566778899aabbccddeeff"]
        let refused = try await run(edit)
        #expect(refused.status == 64 && refused.errors.contains("use -o FOLDER"), "\(refused)")
        let output = folder.appendingPathComponent("set")
        let edited = try await run(edit + ["-o", output.path])
        #expect(edited.status == 0, "\(edited)")
        let written = try String(contentsOf: output.appendingPathComponent("v.m3u8"), encoding: .utf8)
        #expect(written.contains("base64,ABEiM0RVZneImaq7zN3u/w==\""), "\(written)")
    }
}
