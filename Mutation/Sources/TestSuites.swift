import Foundation

/// The suites of a test program, with the time that each takes and the faults that each reaches.
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

    /// Runs every suite of some test targets without a fault.
    ///
    /// - Returns: The suites that failed, which are left out.
    mutating func measure(_ targets: [String], mutantCount: Int, jobs: Int) throws -> [String] {
        let list = scratch.appending(path: "tests.txt")
        _ = try Command(bundle.path, "--testing-library", "swift-testing", "--list-tests").run(
            output: list,
            timeLimit: 300
        )
        let lines = try String(contentsOf: list, encoding: .utf8).split(separator: "\n")
        // `Target.Suite/test(…)`, where a suite may be nested: the outermost is run as one.
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

    /// Runs the suites that reach a fault, the quickest first, until one sees it.
    ///
    /// - Returns: The suite that failed or did not end; `nil` where all passed.
    func suite(thatSees mutant: Int32, targets: [String]) throws -> String? {
        for target in targets {
            let reaching = suites.filter { $0.name.hasPrefix(target + ".") && $0.reached.contains(mutant) }
            // Quick suites share one process: starting it takes longer than most of them.
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
