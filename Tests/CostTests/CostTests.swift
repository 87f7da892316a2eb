import Foundation
import FuzzTargets
import PlaylistEditing
import SeededRandomness
import StreamFuzzTargets
import Testing

#if Playback
import DecodingFuzzTargets
#endif

/// Tests of the cost of operations on hostile input, in instructions.
///
/// `MILLSTREAM_COSTS` is `all` for every operation, or a part of an operation name; without it, a sample is selected
/// with the seed `MILLSTREAM_SEED`. `Scripts/costs` sets `MILLSTREAM_COSTS`.
@Suite(.enabled(if: CostProbe.canCount, "valgrind or strip is not installed"), .timeLimit(.minutes(30)))
struct CostTests {
    @Test(arguments: try CostProbe.chosenOperations())
    func costIsLinearInInputSize(operation: CostProbe.Operation) async throws {
        let cost = try await CostProbe.cost(of: operation)
        // A parser that stops at a limit or at the first error may have the same cost for both inputs.
        #expect(cost.small > 1_000, "nothing was counted")
        #expect(cost.large <= 6 * cost.small, "\(cost)")
    }

    @Test func everyKindOfOperationIsMeasured() throws {
        let kinds = Set(try CostProbe.operations().map(\.kind))
        var expected = [
            "read", "rules", "report", "canonical", "addresses", "relocation", "edit", "presentation", "media",
            "subtitles", "texts", "cues", "network", "timeline", "model", "engine", "downloads", "edited", "followed",
            "manifests",
        ]
        #if Playback
        expected.append("packets")
        #endif
        #expect(kinds == Set(expected))
    }

    /// Every fuzz target must have operations; those that generate presentations from a grammar have separate ones.
    @Test(arguments: (FuzzTarget.formats + FuzzTarget.streams).map(\.name))
    func everyFuzzTargetHasCostOperations(reader: String) throws {
        let names = try CostProbe.operations().map(\.name)
        let topic = Self.topicsOfReaders[reader]
        #expect(names.contains { $0.hasPrefix(topic ?? "media/\(reader)/") || $0.contains("/\(reader)/") }, "\(reader)")
    }

    #if Playback
    /// Every fuzz target of the demultiplexers must have operations.
    @Test(arguments: FuzzTarget.decoding.map(\.name))
    func everyFuzzTargetOfTheDemultiplexersHasCostOperations(reader: String) throws {
        let names = try CostProbe.operations().map(\.name)
        #expect(names.contains { $0.hasPrefix("packets/\(reader)/") }, "\(reader)")
    }
    #endif

    /// Every edit must have an operation that changes a playlist; an operation with another effect names it after the
    /// edit.
    @Test(arguments: PlaylistEdit.names) func everyEditChangesAPlaylist(edit: String) throws {
        let names = try CostProbe.operations().map { $0.name.split(separator: "/").map(String.init) }
        let changing = names.filter { $0.count == 3 && ["edit", "edited"].contains($0[0]) && $0[1] == edit }
        #expect(!changing.isEmpty, "\(edit)")
    }

    /// The operations of edits verify their effects; those that are not in the sample are run without being counted.
    @Test(arguments: [(CostProbe.Program.formats, "edit/"), (CostProbe.Program.streams, "edited/")])
    func operationsOfEditsHaveTheirEffects(program: CostProbe.Program, kind: String) throws {
        let result = try CostProbe.runOperations(of: program, named: kind)
        #expect(result.status == 0, "\(result.last) has failed")
        #expect(result.last.hasPrefix(kind), "there is no operation")
    }

    /// The operations of fuzz targets that have no input shapes.
    private static let topicsOfReaders = [
        "playlists": "read/", "presentations": "presentation/", "reports": "report/", "substation": "cues/as-a-script/",
        "playback": "engine/", "file-playback": "media/mp4/", "downloads": "downloads/",
    ]
}

/// A runner of the programs with operations under a tool that counts instructions.
enum CostProbe {
    /// An operation of one of the programs.
    struct Operation: Sendable, CustomTestStringConvertible {
        let program: Program
        let name: String

        /// The part of the name before the first slash.
        var kind: String { String(name.prefix { $0 != "/" }) }
        var testDescription: String { name }
    }

    /// A program with operations.
    enum Program: String, CaseIterable, Sendable {
        case formats = "cost-probe"
        case streams = "stream-cost-probe"
        #if Playback
        case decoding = "decoding-cost-probe"
        #endif

        /// The options that restrict the counts to the operation.
        ///
        /// Callgrind toggles the collection for one thread only; the operations of streams run on several threads.
        var options: [String] {
            let function = "millstream_counted_operation"
            switch self {
            case .formats: return ["--toggle-collect=\(function)", "--dump-after=\(function)"]
            #if Playback
            case .decoding: return ["--toggle-collect=\(function)", "--dump-after=\(function)"]
            #endif
            case .streams: return ["--dump-before=\(function)", "--dump-after=\(function)"]
            }
        }

        /// The numbers of the dumps with the counts of the smaller and the larger input.
        var dumps: (small: Int, large: Int) {
            switch self {
            case .formats: return (1, 2)
            #if Playback
            case .decoding: return (1, 2)
            #endif
            case .streams: return (2, 4)
            }
        }
    }

    /// The number of instructions of an operation on an input, and on an input of four times its size.
    struct Cost: CustomStringConvertible {
        let small: Int
        let large: Int

        var description: String {
            "\(small) instructions became \(large), \(Double(large) / Double(max(1, small))) times"
        }
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static var canCount: Bool { valgrind != nil && strip != nil }

    private static let valgrind = tool("valgrind")
    private static let strip = tool("strip")

    private static func tool(_ name: String) -> String? {
        ["/usr/bin/\(name)", "/usr/local/bin/\(name)"].first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Returns the path of a program, which the build writes next to the test bundle or to one of its parent folders.
    private static func path(of program: Program) throws -> String {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        var folder = URL(fileURLWithPath: bundle).deletingLastPathComponent()
        while folder.path != "/" {
            let path = folder.appendingPathComponent(program.rawValue).path
            if FileManager.default.isExecutableFile(atPath: path) { return path }
            folder.deleteLastPathComponent()
        }
        throw Failure(description: "\(program.rawValue) was not built")
    }

    /// The copies of the programs without debug information, some forms of which valgrind cannot parse.
    ///
    /// Each is written once, beside the program, and used until the program is built again.
    private actor StrippedCopies {
        private var copies: [Program: Task<String, any Error>] = [:]

        /// Returns the path of the copy of a program.
        func path(of program: Program) async throws -> String {
            if let copy = copies[program] { return try await copy.value }
            let copy = Task { try await CostProbe.strippedCopy(of: program) }
            copies[program] = copy
            return try await copy.value
        }
    }

    private static let strippedCopies = StrippedCopies()

    /// Returns the path of the copy of a program, which is written if there is none of the last build.
    private static func strippedCopy(of program: Program) async throws -> String {
        let original = try path(of: program)
        let copy = original + ".stripped"
        if let written = modificationDate(of: copy), let built = modificationDate(of: original), written > built {
            return copy
        }
        // Another process never reads a part of the copy.
        let temporary = "\(copy)-\(UUID())"
        let status = try await run(strip ?? "", ["--strip-debug", "-o", temporary, original])
        guard status == 0 else { throw Failure(description: "strip ended with status \(status)") }
        let moved = try await run("/bin/mv", ["-f", temporary, copy])
        guard moved == 0 else { throw Failure(description: "\(copy) cannot be written") }
        return copy
    }

    /// Returns the time of the last change of a file.
    private static func modificationDate(of path: String) -> Date? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
    }

    /// Runs a program and returns its status.
    private static func run(_ program: String, _ arguments: [String]) async throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        return try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int32, any Error>) in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
    }

    /// Returns all operations.
    static func operations() throws -> [Operation] { try listedOperations.get() }

    /// All operations, as the programs list them, or the error of a program.
    private static let listedOperations = Result<[Operation], any Error> {
        try Program.allCases.flatMap { try operations(of: $0) }
    }

    /// Returns the operations of a program.
    private static func operations(of program: Program) throws -> [Operation] {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: try path(of: program))
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map {
            Operation(program: program, name: String($0))
        }
    }

    /// Runs the operations of a program whose names begin with a text, without counting.
    ///
    /// - Parameters:
    ///   - program: The program.
    ///   - start: The text.
    /// - Returns: The status of the program and the name of the last operation, which is the one that has failed.
    /// - Throws: The error of a program that cannot be run.
    static func runOperations(of program: Program, named start: String) throws -> (status: Int32, last: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: try path(of: program))
        process.arguments = ["--run", start]
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
        return (process.terminationStatus, lines.last.map(String.init) ?? "")
    }

    /// Returns the operations to measure in this run.
    static func chosenOperations() throws -> [Operation] {
        guard canCount else { return [] }
        let all = try operations()
        let environment = ProcessInfo.processInfo.environment
        if let wanted = environment["MILLSTREAM_COSTS"] {
            return all.filter { wanted == "all" || $0.name.contains(wanted) }
        }
        var random = SeededGenerator(seed: environment["MILLSTREAM_SEED"].flatMap { UInt64($0) } ?? 1)
        // The sample has one operation of each kind.
        let kinds = Dictionary(grouping: all.shuffled(using: &random), by: \.kind)
        return kinds.sorted { $0.key < $1.key }.flatMap { $0.value.prefix(1) }
    }

    /// Counts the instructions of an operation.
    static func cost(of operation: Operation) async throws -> Cost {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("costs-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = try await strippedCopies.path(of: operation.program)
        let options = ["--tool=callgrind", "--callgrind-out-file=\(folder.path)/out", "--log-file=\(folder.path)/log"]
        let status = try await run(valgrind ?? "", options + operation.program.options + [program, operation.name])
        guard status == 0 else {
            let log = (try? String(contentsOf: folder.appendingPathComponent("log"), encoding: .utf8)) ?? ""
            throw Failure(description: "\(operation.name) ended with status \(status): \(log.suffix(2_000))")
        }
        return Cost(
            small: try total(folder.appendingPathComponent("out.\(operation.program.dumps.small)")),
            large: try total(folder.appendingPathComponent("out.\(operation.program.dumps.large)"))
        )
    }

    /// Returns the number of instructions in a file written by callgrind.
    private static func total(_ file: URL) throws -> Int {
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n").reversed() {
            for name in ["totals:", "summary:"] where line.hasPrefix(name) {
                if let count = Int(line.dropFirst(name.count).trimmingCharacters(in: .whitespaces)) { return count }
            }
        }
        throw Failure(description: "\(file.path) holds no total")
    }
}
