import Foundation

/// The suites of a test bundle, with the duration of each and the mutants that each executes.
struct TestSuites {
    struct Suite {
        /// The name of the suite, as `Target.Suite`.
        let name: String
        let seconds: Double
        let reached: Set<Int32>
    }

    private let bundle: URL
    private let scratch: URL
    private(set) var suites: [Suite] = []

    init(bundle: URL, scratch: URL) {
        self.bundle = bundle
        self.scratch = scratch
    }

    private func command(_ names: [String], _ environment: [String: String]) -> Command {
        var arguments = [bundle.path, "--testing-library", "swift-testing"]
        for name in names { arguments += ["--filter", "^" + NSRegularExpression.escapedPattern(for: name) + "/"] }
        return Command(
            arguments: arguments,
            environment: environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        )
    }

    /// Runs every suite of the given test targets without an active mutant.
    ///
    /// - Returns: The names of the suites that fail, which are excluded.
    mutating func measure(_ targets: [String], mutantCount: Int, jobs: Int) throws -> [String] {
        let list = scratch.appending(path: "tests.txt")
        _ = try Command(bundle.path, "--testing-library", "swift-testing", "--list-tests").run(
            output: list,
            timeLimit: 300
        )
        let lines = try String(contentsOf: list, encoding: .utf8).split(separator: "\n")
        // Each line is `Target.Suite/test(…)`; nested suites run as part of the outermost.
        var names: [String] = []
        for line in lines {
            guard let end = line.firstIndex(of: "/"), targets.contains(where: { line.hasPrefix($0 + ".") }) else {
                continue
            }
            let name = String(line[..<end])
            if !names.contains(name) { names.append(name) }
        }
        let measured = Locked<[Int: Suite?]>([:])
        let todo = names
        let this = self
        try inParallel(todo.count, jobs: jobs) { index in
            measured.with { $0[index] = .some(nil) }
            let file = this.scratch.appending(path: "reached-\(index)")
            try Data(count: mutantCount).write(to: file)
            let start = Date()
            let result = try this.command([todo[index]], ["MUTANTS_REACHED": file.path])
                .run(output: this.scratch.appending(path: "suite-\(index).log"), timeLimit: 1_200)
            guard result == .succeeded else { return }
            let bytes = try Data(contentsOf: file)
            let reached = Set(bytes.enumerated().compactMap { $0.element == 0 ? nil : Int32($0.offset) })
            let suite = Suite(name: todo[index], seconds: -start.timeIntervalSinceNow, reached: reached)
            measured.with { $0[index] = suite }
        }
        let all = measured.with { $0 }
        suites = all.sorted { $0.key < $1.key }.compactMap { $0.value }
        return all.filter { $0.value == nil }.map { todo[$0.key] }.sorted()
    }

    /// Runs the suites that execute a mutant, the fastest first, until one fails.
    ///
    /// - Returns: The suites that failed or exceeded the time limit; `nil` if all passed.
    func suite(thatKills mutant: Int32, targets: [String]) throws -> String? {
        for target in targets {
            let reaching = suites.filter { $0.name.hasPrefix(target + ".") && $0.reached.contains(mutant) }
            // Fast suites share one process, because starting a process takes longer than most of them.
            let quick = reaching.filter { $0.seconds < 3 }
            var groups = stride(from: 0, to: quick.count, by: 8).map { Array(quick[$0..<min($0 + 8, quick.count)]) }
            groups += reaching.filter { $0.seconds >= 3 }.sorted { $0.seconds < $1.seconds }.map { [$0] }
            for group in groups {
                let limit = 20 + 6 * group.map(\.seconds).reduce(0, +)
                let result = try command(group.map(\.name), ["MUTANT": "\(mutant)"]).run(timeLimit: limit)
                switch result {
                case .succeeded: continue
                case .failed: return group.map(\.name).joined(separator: ", ")
                case .timedOut: return group.map(\.name).joined(separator: ", ") + " (time limit)"
                }
            }
        }
        return nil
    }
}
