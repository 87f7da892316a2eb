import Foundation
import FuzzTargets
import StreamFuzzTargets
import Testing

#if Playback
import DecodingFuzzTargets
#endif

/// Runs the seeds and seeded mutations of all parsers without side effects, which must not trap, hang or use excessive
/// memory.
///
/// The suites run in parallel; the targets of each suite run one after another.
@Suite(.serialized) struct FormatReplayTests {
    @Test(arguments: FuzzTarget.formats.map(\.name))
    func replayHasNoFindings(_ target: String) async throws {
        let replay = try await ReplayProcess.run([target])
        #expect(replay.status == 0, "\(replay.finding)")
        #expect(replay.output.hasPrefix("\(target): "))
    }

    @Test func trapIsReportedWithItsInput() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("trap-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("trap".utf8).write(to: file)
        let replay = try await ReplayProcess.run(["trap", file.path])
        #expect(replay.status != 0)
        #expect(replay.input == Data("trap".utf8))
        try Data("no trap".utf8).write(to: file)
        #expect(try await ReplayProcess.run(["trap", file.path]).status == 0)
    }

    @Test func targetsHaveSeedsAndUniqueNames() throws {
        let files = FuzzFiles(folder: ReplayProcess.folder)
        var targets = FuzzTarget.formats + FuzzTarget.streams
        #if Playback
        targets += FuzzTarget.decoding
        #endif
        #expect(Set(targets.map(\.name)).count == targets.count)
        for target in targets {
            #expect(try !files.seeds(of: target).isEmpty, "\(target.name)")
            for seed in try files.seeds(of: target) { #expect(seed.count <= 64 << 10, "\(target.name)") }
        }
        #expect(try files.tokens(of: #require(targets.first)).contains(Array("#EXTINF:".utf8)))
    }

    @Test func mutatorIsDeterministic() {
        func inputs(_ number: UInt64) -> [[UInt8]] {
            var mutator = InputMutator(seeds: [[1, 2, 3]], tokens: [[9]], maximumLength: 8, number: number)
            return (0..<50).map { _ in mutator.next() }
        }
        #expect(inputs(1) == inputs(1))
        #expect(inputs(1) != inputs(2))
        #expect(inputs(1).allSatisfy { $0.count <= 8 })
        #expect(Set(inputs(1)).count > 25)
    }
}

/// Runs the seeds and seeded mutations of the targets that use transports, storage, the server and the playback engine.
@Suite(.serialized) struct StreamReplayTests {
    @Test(arguments: FuzzTarget.streams.map(\.name))
    func replayHasNoFindings(_ target: String) async throws {
        let replay = try await ReplayProcess.run([target])
        #expect(replay.status == 0, "\(replay.finding)")
        #expect(replay.output.hasPrefix("\(target): "))
    }
}

#if Playback
/// Runs the seeds and seeded mutations of the demultiplexers and of the decryption of samples.
@Suite(.serialized) struct DecodingReplayTests {
    @Test(arguments: FuzzTarget.decoding.map(\.name))
    func replayHasNoFindings(_ target: String) async throws {
        let replay = try await ReplayProcess.run([target])
        #expect(replay.status == 0, "\(replay.finding)")
        #expect(replay.output.hasPrefix("\(target): "))
    }

    @Test(arguments: FuzzTarget.decoding.map(\.name))
    func seedsOfTheTargetHaveSamples(_ target: String) throws {
        let files = FuzzFiles(folder: ReplayProcess.folder)
        let folder = ReplayProcess.folder.appendingPathComponent("Seeds/\(target)")
        let count = try FileManager.default.contentsOfDirectory(atPath: folder.path).count
        let found = try #require(FuzzTarget.decoding.first { $0.name == target })
        // The seeds of the target itself precede those of other targets.
        for seed in try files.seeds(of: found).prefix(count) {
            #expect(SeedReading.sampleCount(of: seed) > 0, "\(seed.count) bytes")
        }
    }
}
#endif

/// A run of `fuzz-replay` in a separate process, because findings are traps.
struct ReplayProcess {
    let status: Int32
    let output: String
    /// The last input that was executed, or empty data if no input was executed.
    let input: Data

    /// The directory `Fuzzing`.
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fuzzing")

    /// The end of the output, the exit status, and the last executed input as Base64.
    var finding: String { "\(output.suffix(2_000))\nstatus \(status), input \(input.base64EncodedString())" }

    static func run(_ arguments: [String]) async throws -> ReplayProcess {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("replay-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let log = folder.appendingPathComponent("log")
        let input = folder.appendingPathComponent("input")
        try Data().write(to: log)
        let handle = try FileHandle(forWritingTo: log)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        var environment = ProcessInfo.processInfo.environment
        environment["MILLSTREAM_FUZZ_INPUT"] = input.path
        environment["TMPDIR"] = folder.path
        // A backtrace takes longer than the replay.
        environment["SWIFT_BACKTRACE"] = "enable=no"
        process.environment = environment
        process.standardOutput = handle
        process.standardError = handle
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in end.finish() }
        try process.run()
        for await _ in ends {}
        return ReplayProcess(
            status: process.terminationStatus,
            output: String(decoding: try Data(contentsOf: log), as: UTF8.self),
            input: (try? Data(contentsOf: input)) ?? Data()
        )
    }

    /// The path of the program, which is in the directory of the test bundle.
    private static var program: String {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        var folder = URL(fileURLWithPath: bundle).deletingLastPathComponent()
        while folder.path != "/" {
            let path = folder.appendingPathComponent("fuzz-replay").path
            if FileManager.default.isExecutableFile(atPath: path) { return path }
            folder.deleteLastPathComponent()
        }
        return "fuzz-replay"
    }
}
