import Foundation
import Testing

/// The cost of operations on hostile input, in instructions.
///
/// `MILLSTREAM_COSTS` is `all` for every operation, or part of a name; without it a sample is taken, which
/// `MILLSTREAM_SEED` chooses. `Scripts/costs` sets them.
@Suite(.enabled(if: CostProbe.canCount, "valgrind is not installed"), .timeLimit(.minutes(30)))
struct CostTests {
    @Test(arguments: try CostProbe.chosenOperations())
    func costGrowsInProportionToTheInput(operation: String) async throws {
        let cost = try await CostProbe.cost(of: operation)
        #expect(cost.large > cost.small, "the larger input must cost more, or nothing was counted")
        #expect(cost.large <= 6 * cost.small, "\(cost)")
    }

    @Test func aSampleHasOperationsOfEveryKind() throws {
        let kinds = Set(try CostProbe.operations().map { $0.split(separator: "/").first.map(String.init) })
        #expect(kinds.isSuperset(of: ["read", "rules", "report", "canonical", "addresses", "edit", "presentation"]))
    }
}

/// Runs `cost-probe` under a tool that counts instructions.
enum CostProbe {
    /// The instructions of an operation on an input, and on one of four times its size.
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

    static var canCount: Bool { valgrind != nil }

    private static let valgrind = ["/usr/bin/valgrind", "/usr/local/bin/valgrind"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// The program, which the build puts beside the tests.
    private static func program() throws -> String {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        var folder = URL(fileURLWithPath: bundle).deletingLastPathComponent()
        while folder.path != "/" {
            let path = folder.appendingPathComponent("cost-probe").path
            if FileManager.default.isExecutableFile(atPath: path) { return path }
            folder.deleteLastPathComponent()
        }
        throw Failure(description: "cost-probe was not built")
    }

    /// The names of all operations.
    static func operations() throws -> [String] {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: try program())
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The operations that this run counts.
    static func chosenOperations() throws -> [String] {
        guard canCount else { return [] }
        let all = try operations()
        let environment = ProcessInfo.processInfo.environment
        if let wanted = environment["MILLSTREAM_COSTS"] { return all.filter { wanted == "all" || $0.contains(wanted) } }
        var random = SampleGenerator(state: environment["MILLSTREAM_SEED"].flatMap { UInt64($0) } ?? 1)
        // One of each kind, and some more.
        let kinds = Dictionary(grouping: all.shuffled(using: &random)) { $0.prefix { $0 != "/" } }
        return kinds.sorted { $0.key < $1.key }.flatMap { $0.value.prefix(3) }
    }

    /// Counts the instructions of an operation.
    static func cost(of operation: String) async throws -> Cost {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("costs-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: valgrind ?? "")
        process.arguments = [
            "--tool=callgrind", "--callgrind-out-file=\(folder.path)/out", "--log-file=\(folder.path)/log",
            "--toggle-collect=millstream_counted_operation", "--dump-after=millstream_counted_operation",
            try program(), operation,
        ]
        let status = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Int32, any Error>) in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        guard status == 0 else {
            let log = (try? String(contentsOf: folder.appendingPathComponent("log"), encoding: .utf8)) ?? ""
            throw Failure(description: "\(operation) ended with status \(status): \(log.suffix(2_000))")
        }
        return Cost(
            small: try total(folder.appendingPathComponent("out.1")),
            large: try total(folder.appendingPathComponent("out.2"))
        )
    }

    /// The instructions in one of callgrind's files.
    private static func total(_ file: URL) throws -> Int {
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n").reversed() {
            for name in ["totals:", "summary:"] where line.hasPrefix(name) {
                if let count = Int(line.dropFirst(name.count).trimmingCharacters(in: .whitespaces)) { return count }
            }
        }
        throw Failure(description: "\(file.path) holds no total")
    }
}

/// A generator that gives the same sample for the same seed (SplitMix64).
private struct SampleGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
