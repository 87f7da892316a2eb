import Foundation
import MillstreamTesting
import TestSamples
import Testing

/// Tests outputs that cannot be written: closed pipes, full disks, closed descriptors, and readers that do not read.
@Suite(.serialized, .tags(.endToEnd))
struct ClosedOutputTests {
    /// The exit status of a program whose reader closed the pipe: 128 plus the number of SIGPIPE.
    private static let closed: Int32 = 141

    private let folder: URL
    private let environment: [String: String]

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("closed-output-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        environment = ["MILLSTREAM_LIBRARY": folder.appendingPathComponent("library").path]
        try Data(Self.media.utf8).write(to: folder.appendingPathComponent("media.m3u8"))
        try Data(Self.ladder.utf8).write(to: folder.appendingPathComponent("ladder.json"))
    }

    /// A playlist that is much larger than the buffer of a pipe.
    private static let media =
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n"
        + (0..<20_000).map { "#EXTINF:4,\nsegment-\($0).ts\n" }.joined() + "#EXT-X-ENDLIST\n"

    private static let ladder: String = {
        let sizes = Array(repeating: "[900000,1800000,3600000]", count: 600).joined(separator: ",")
        return #"{"segment_duration_ms":3000,"bitrates_kbps":[300,600,1200],"segment_sizes_bits":["# + sizes + "]}"
    }()

    private func run(_ arguments: [String], shell redirection: String) async throws -> (status: Int32, errors: String) {
        let shell = URL(fileURLWithPath: "/bin/sh")
        let program = try RunningProgram(
            ["-c", #"exec "$0" "$@" "# + redirection, RunningProgram.executable.path] + substituted(arguments),
            of: shell,
            environment: environment
        )
        return (try await program.finish(), program.standardError)
    }

    /// Returns the arguments with `FOLDER` and `SAMPLES` replaced by the test directory and the directory of the
    /// samples.
    private func substituted(_ arguments: [String]) -> [String] {
        arguments.map {
            $0.replacing("FOLDER", with: folder.path).replacing("SAMPLES", with: Samples.directory?.path ?? "SAMPLES")
        }
    }

    /// The commands that write results, with enough input to write some output.
    static let commands: [[String]] = [
        ["--help"], ["--version"], ["help", "edit"], ["edit", "--help"], ["edits"],
        ["edits", "--json"], ["--generate-completion-script", "zsh"],
        ["inspect", "FOLDER/media.m3u8"], ["inspect", "FOLDER/media.m3u8", "--json"],
        ["validate", "FOLDER/media.m3u8"], ["validate", "FOLDER/media.m3u8", "--format", "json"],
        ["validate", "FOLDER/media.m3u8", "--format", "sarif"],
        ["edit", "FOLDER/media.m3u8"], ["edit", "FOLDER/media.m3u8", "--duration", "9000"],
        ["conditions"], ["conditions", "list", "--json"], ["conditions", "show", "3G"],
        ["conditions", "show", "3G", "--json"], ["library", "list", "--json"], ["library", "path"],
        ["library", "verify", "--json"], ["serve", "--port", "0"], ["origin", "FOLDER", "--port", "0"],
        ["simulate", "--trace", "3G", "--ladder", "FOLDER/ladder.json"],
        ["simulate", "--trace", "3G", "--ladder", "FOLDER/ladder.json", "--selector", "all", "--json"],
        ["simulate", "--trace", "3G", "--ladder", "FOLDER/ladder.json", "--events", "-"],
    ]

    static let samplesCommands: [[String]] = [
        ["inspect", "SAMPLES/ts/multivariant.m3u8", "--follow"],
        ["inspect", "SAMPLES/ts/multivariant.m3u8", "--follow", "--json"],
        ["validate", "SAMPLES/ts/multivariant.m3u8", "--follow"],
        ["play", "SAMPLES/ts/multivariant.m3u8", "--no-decode", "--speed", "max", "--quiet"],
        ["play", "SAMPLES/ts/multivariant.m3u8", "--no-decode", "--speed", "max", "--quiet", "--metrics", "-"],
        ["play", "SAMPLES/ts/multivariant.m3u8", "--no-decode", "--speed", "max", "--quiet", "--access-log", "-"],
        ["play", "SAMPLES/ts/multivariant.m3u8", "--no-decode", "--quiet", "--events", "-"],
        ["play", "SAMPLES/ts/multivariant.m3u8", "--no-decode", "--quiet", "--events", "/dev/stdout"],
        ["play", "SAMPLES/ts/multivariant.m3u8", "--headless", "--quiet", "--events", "-"],
    ]

    /// Expects that a command ends, without a message, because its reader has closed the pipe.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the command.
    ///   - showsProgress: A Boolean value that indicates whether the command writes progress to standard error.
    /// - Throws: An error if the command cannot be run.
    private func expectSilentExit(_ arguments: [String], showsProgress: Bool = false) async throws {
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let program = try RunningProgram(
            substituted(arguments),
            environment: environment,
            replacedOutput: pipe.fileHandleForWriting
        )
        try pipe.fileHandleForWriting.close()
        #expect(try await program.finish() == Self.closed, "\(arguments)")
        let errors = program.standardError
        #expect(showsProgress ? !errors.contains("millstream: ") : errors.isEmpty, "\(arguments): \(errors)")
    }

    @Test(.timeLimit(.minutes(10)), arguments: commands)
    func commandExitsSilentlyWhenItsReaderHasClosedThePipe(arguments: [String]) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await expectSilentExit(arguments)
    }

    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples"),
        arguments: samplesCommands
    )
    func mediaCommandExitsSilentlyWhenItsReaderHasClosedThePipe(arguments: [String]) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await expectSilentExit(arguments)
    }

    /// The playlists come from a server, and are larger than the buffer of a pipe.
    @Test(.timeLimit(.minutes(10))) func commandWithAURLExitsSilentlyWhenItsReaderHasClosedThePipe() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await MisbehavingServer.withServer([
            "/top.m3u8": .text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nmedia.m3u8\n"),
            "/media.m3u8": .text(Self.media),
        ]) { server in
            let (top, media) = (server.address("/top.m3u8"), server.address("/media.m3u8"))
            for arguments in [
                ["inspect", top, "--follow"], ["inspect", top, "--follow", "--json"], ["validate", top, "--follow"],
                ["edit", media, "--absolute"],
            ] {
                try await expectSilentExit(arguments)
            }
            let script = #""$0" inspect "$1" --follow 2>errors | head -n 1; wait"#
            let program = try RunningProgram(
                ["-c", "cd '\(folder.path)' && \(script)", RunningProgram.executable.path, top],
                of: URL(fileURLWithPath: "/bin/sh")
            )
            #expect(try await program.finish() == 0)
            #expect(program.standardOutput == top + "\n")
            #expect(try Data(contentsOf: folder.appendingPathComponent("errors")).isEmpty)
        }
    }

    private static let manifest = """
        <?xml version="1.0" encoding="UTF-8"?>
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT8S" minBufferTime="PT2S"
            profiles="urn:mpeg:dash:profile:isoff-live:2011">
          <Period id="1"><AdaptationSet contentType="video" mimeType="video/mp4">
            <Representation id="v" bandwidth="500000" codecs="avc1.42c01e" width="640" height="360">
              <SegmentTemplate media="$Number$.m4s" initialization="i.mp4" duration="4" startNumber="1"/>
            </Representation></AdaptationSet></Period>
        </MPD>
        """

    @Test(.timeLimit(.minutes(10))) func commandOfTheLibraryExitsSilentlyWhenItsReaderHasClosedThePipe() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["one", "none"] {
            let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(name).ts\n#EXT-X-ENDLIST\n"
            try Data(media.utf8).write(to: folder.appendingPathComponent("\(name).m3u8"))
        }
        try Data(repeating: 0x47, count: 188).write(to: folder.appendingPathComponent("one.ts"))
        try Data(Self.manifest.utf8).write(to: folder.appendingPathComponent("manifest.mpd"))
        // A stored asset, and a download that has failed.
        let stored = try RunningProgram(substituted(["download", "FOLDER/one.m3u8"]), environment: environment)
        #expect(try await stored.finish() == 0, "\(stored.standardError)")
        let id = try #require(stored.standardOutput.split(separator: " ").first.map(String.init))
        let failed = try RunningProgram(
            substituted(["download", "FOLDER/none.m3u8", "--retries", "0"]),
            environment: environment
        )
        #expect(try await failed.finish() == 1, "\(failed.standardError)")
        for arguments in [
            ["downloads"], ["downloads", "list"], ["downloads", "list", "--json"], ["library", "list"],
            ["library", "show", id], ["library", "show", id, "--json"], ["library", "verify", id],
            ["library", "path", id], ["library", "export", id, "FOLDER/exported"],
            ["library", "export", id, "FOLDER/exported-json", "--json"],
        ] {
            try await expectSilentExit(arguments)
        }
        for arguments in [
            ["translate", "FOLDER/manifest.mpd", "-o", "FOLDER/translated", "--json"],
            ["record", "FOLDER/one.m3u8", "--start-over", "--library", "FOLDER/first"],
            ["record", "FOLDER/one.m3u8", "--start-over", "--library", "FOLDER/second", "--json"],
            ["download", "FOLDER/one.m3u8", "--library", "FOLDER/third"],
        ] {
            try await expectSilentExit(arguments, showsProgress: true)
        }
        // What was done before the reader left stays.
        for path in ["exported/multivariant.m3u8", "translated/multivariant.m3u8"] {
            #expect(FileManager.default.fileExists(atPath: folder.appendingPathComponent(path).path), "\(path)")
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: commands)
    func fullDiskIsAnOutputError(arguments: [String]) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try await run(arguments, shell: ">/dev/full")
        #expect(result.status == 1)
        #expect(
            result.errors
                == "millstream: error: standard output cannot be written: No space left on device (output-failed)\n"
        )
    }

    @Test(.timeLimit(.minutes(10)), arguments: commands)
    func closedDescriptorIsAnOutputError(arguments: [String]) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try await run(arguments, shell: ">&-")
        #expect(result.status == 1)
        #expect(
            result.errors
                == "millstream: error: standard output cannot be written: Bad file descriptor (output-failed)\n"
        )
    }

    @Test(.timeLimit(.minutes(10))) func exitStatusIsCorrectWithoutStandardError() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for (arguments, status) in [
            (["inspect", "/no/such/file"], 1), (["nonsense"], 64), (["inspect", "/dev/null"], 2),
        ] {
            for redirection in ["2>&-", "2>&- >&- <&-", "2>/dev/full"] {
                let result = try await run(arguments, shell: redirection)
                #expect(result.status == Int32(status) && result.errors.isEmpty, "\(arguments) \(redirection)")
            }
            let pipe = Pipe()
            try pipe.fileHandleForReading.close()
            let program = try RunningProgram(arguments, replacedErrors: pipe.fileHandleForWriting)
            try pipe.fileHandleForWriting.close()
            #expect(try await program.finish() == Int32(status) && program.standardOutput.isEmpty, "\(arguments)")
        }
    }

    /// A file or socket that is opened later must not receive the descriptor number of standard output.
    @Test(.timeLimit(.minutes(10))) func resultsAreNotWrittenToAnotherFileIfStandardOutputIsClosed() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let listing = ["library", "list", "--json"]
        let source = folder.appendingPathComponent("media.m3u8")
        try "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\none.ts\n#EXT-X-ENDLIST\n"
            .write(to: source, atomically: true, encoding: .utf8)
        try Data(repeating: 0x47, count: 188).write(to: folder.appendingPathComponent("one.ts"))
        let download = try RunningProgram(["download", source.path], environment: environment)
        #expect(try await download.finish() == 0, "\(download.standardError)")
        let before = try RunningProgram(listing, environment: environment)
        #expect(try await before.finish() == 0)
        let result = try await run(listing, shell: ">&-")
        #expect(result.status == 1 && result.errors.contains("(output-failed)"))
        let library = folder.appendingPathComponent("library")
        let names = try #require(FileManager.default.enumerator(atPath: library.path)).allObjects
        let files = names.compactMap { $0 as? String }.map { library.appendingPathComponent($0) }
            .filter { (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true }
        #expect(files.count >= 2)
        for file in files {
            #expect(try Data(contentsOf: file).range(of: Data(library.path.utf8)) == nil, "\(file.path)")
        }
        let after = try RunningProgram(listing, environment: environment)
        #expect(try await after.finish() == 0 && after.standardOutput == before.standardOutput)
    }

    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples"),
        arguments: [true, false]
    )
    func downloadStoresFetchedFilesWhenItsReaderClosesThePipe(readsStandardOutput: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        origin.delay = .milliseconds(40)
        let pipe = Pipe()
        let arguments = ["download", origin.address("fmp4/multivariant.m3u8"), "--jobs", "1"]
        let program = try RunningProgram(
            arguments + (readsStandardOutput ? ["--json"] : []),
            environment: environment,
            replacedOutput: readsStandardOutput ? pipe.fileHandleForWriting : nil,
            replacedErrors: readsStandardOutput ? nil : pipe.fileHandleForWriting
        )
        try pipe.fileHandleForWriting.close()
        // The reader closes the pipe after some media has been fetched.
        try await eventually("segments are fetched") { origin.paths.count { $0.hasSuffix(".m4s") } >= 4 }
        try pipe.fileHandleForReading.close()
        #expect(try await program.finish() == Self.closed)
        #expect(program.standardError == "" && program.standardOutput == "")
        let asked = origin.paths.count
        let list = try RunningProgram(["library", "list", "--json"], environment: environment)
        #expect(try await list.finish() == 0)
        let assets = try #require(
            JSONSerialization.jsonObject(with: Data(list.standardOutput.utf8)) as? [[String: Any]]
        )
        #expect(assets.first?["state"] as? String == "partial")
        #expect((assets.first?["loadedTimeRanges"] as? [Any])?.isEmpty == false)
        // The program has ended, so there are no more requests. The next run resumes the download.
        #expect(origin.paths.count == asked)
        let first = Set(origin.paths.filter { $0.hasSuffix(".m4s") })
        origin.clearPaths()
        origin.delay = .zero
        let again = try RunningProgram(arguments + ["--quiet"], environment: environment)
        #expect(try await again.finish() == 0)
        let second = origin.paths.filter { $0.hasSuffix(".m4s") }
        #expect(second.count { first.contains($0) } <= 1 && !second.isEmpty)
        await origin.stop()
    }

    /// The events of a simulation do not depend on the speed of the reader.
    @Test(.timeLimit(.minutes(10)), arguments: [true, false])
    func slowReaderReceivesAllBytes(isNonBlocking: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let arguments = substituted(["simulate", "--trace", "3G", "--ladder", "FOLDER/ladder.json", "--events", "-"])
        let whole = try RunningProgram(arguments)
        #expect(try await whole.finish() == 0)
        let expected = Data(whole.standardOutput.utf8)
        #expect(expected.count > 200_000)

        let pipe = Pipe()
        if isNonBlocking { _ = fcntl(pipe.fileHandleForWriting.fileDescriptor, F_SETFL, O_NONBLOCK) }
        let program = try RunningProgram(arguments, replacedOutput: pipe.fileHandleForWriting)
        try pipe.fileHandleForWriting.close()
        try await Self.waitUntilFull(pipe)
        #expect(program.isRunning)
        var received = Data()
        while let data = try pipe.fileHandleForReading.read(upToCount: 1_000), !data.isEmpty { received += data }
        #expect(try await program.finish() == 0)
        #expect(received == expected && program.standardError == "")
    }

    /// Waits until no more bytes are written to a pipe that is not read.
    private static func waitUntilFull(_ pipe: Pipe) async throws {
        var last: Int32 = 0
        try await eventually("the pipe is full") {
            let count = waiting(in: pipe)
            defer { last = count }
            // Writes are aligned to the pages of the 64 KiB pipe buffer, so that the buffer may not be filled
            // completely.
            return count > 50_000 && count == last
        }
    }

    /// Returns the number of bytes that can be read.
    private static func waiting(in pipe: Pipe) -> Int32 {
        var count: Int32 = 0
        _ = ioctl(pipe.fileHandleForReading.fileDescriptor, UInt(FIONREAD), &count)
        return count
    }

    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
    )
    func interruptEndsACommandWhoseReaderDoesNotRead() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let pipe = Pipe()
        let program = try RunningProgram(
            substituted([
                "play", "SAMPLES/ts/multivariant.m3u8", "--no-decode", "--speed", "max", "--loop", "--quiet",
                "--events", "-",
            ]),
            replacedOutput: pipe.fileHandleForWriting
        )
        try pipe.fileHandleForWriting.close()
        try await Self.waitUntilFull(pipe)
        program.send(SIGINT)
        #expect(try await program.finish() == 130)
        #expect(program.standardError.isEmpty, "\(program.standardError)")
        try pipe.fileHandleForReading.close()
    }

    /// The reader receives the first lines, and then closes the pipe.
    @Test(.timeLimit(.minutes(10))) func headReadsTheFirstLines() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let script = #""$0" edit "$1" 2>errors | head -n 3; wait"#
        let program = try RunningProgram(
            ["-c", "cd '\(folder.path)' && \(script)", RunningProgram.executable.path, folder.path + "/media.m3u8"],
            of: URL(fileURLWithPath: "/bin/sh")
        )
        #expect(try await program.finish() == 0)
        #expect(program.standardOutput == "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n")
        #expect(try Data(contentsOf: folder.appendingPathComponent("errors")).isEmpty)
    }
}
