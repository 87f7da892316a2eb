import Foundation

/// A run of mutation testing: mutants are selected, inserted, built and tested one after the other.
struct Campaign {
    struct Options {
        var targets: [MutationTarget] = []
        /// The number of mutants per target; 0 selects all.
        var sample = 200
        var seed: UInt64 = 1
        var jobs = 2
        /// The maximum share of mutants of a target that may survive without an explanation, from 0 to 1.
        var maximumSurvivorShare = 0.1
        /// The text that the path of a file must contain for its mutants to be selected; empty selects all files.
        var fileFilter = ""
        /// A Boolean value that indicates whether the mutants are built but not tried.
        var onlyBuilds = false
        /// The root folder of the package.
        var package = URL(filePath: ".")
        /// The folder for the copy of the package and its build products.
        var folder = URL(filePath: ".build-mutants")
    }

    private let options: Options
    private let workspace: Workspace
    private var mutants: [String: [Mutant]] = [:]

    init(_ options: Options) throws {
        self.options = options
        try FileManager.default.createDirectory(at: options.folder, withIntermediateDirectories: true)
        workspace = try Workspace(
            copying: options.package,
            to: options.folder,
            mutated: options.targets.map(\.name),
            tests: options.targets.flatMap(\.tests).sorted()
        )
    }

    // MARK: Selection and insertion

    private mutating func choose() throws {
        var generator = SeededGenerator(seed: options.seed)
        var nextID: Int32 = 0
        for target in options.targets {
            var found: [Mutant] = []
            for file in try workspace.sources(of: target.name)
            where options.fileFilter.isEmpty || file.contains(options.fileFilter) {
                found += MutantFinder(file: file, source: try workspace.source(file)).mutants
            }
            let count = found.count
            found.shuffle(using: &generator)
            // Some mutants do not compile; 40 % more than requested are selected to replace them.
            if options.sample > 0 { found = Array(found.prefix(options.sample + options.sample * 2 / 5)) }
            for index in found.indices {
                found[index].id = nextID
                nextID += 1
            }
            mutants[target.name] = found
            say("\(target.name): \(count) possible faults, \(found.count) chosen with seed \(options.seed)")
        }
    }

    /// Inserts the selected mutants and builds; mutants that do not compile are removed until the build succeeds.
    ///
    /// Those that an earlier build of the same mutants removed are not tried again.
    private mutating func plantAndBuild() throws {
        let known = options.folder.appending(path: "uncompilable.txt")
        let refused = Set(
            (try? String(contentsOf: known, encoding: .utf8))?.split(separator: "\n").map(String.init) ?? []
        )
        let chosen = mutants.values.joined().map(\.identity)
        for target in options.targets {
            try workspace.copyOtherFiles(of: target.name, sources: Set(try workspace.sources(of: target.name)))
            mutants[target.name]?.removeAll { refused.contains($0.identity) }
        }
        for attempt in 1...40 {
            var planters: [String: MutantPlanter] = [:]
            let total = mutants.values.joined().map(\.id).max().map { Int($0) + 1 } ?? 0
            for target in options.targets {
                let byFile = Dictionary(grouping: mutants[target.name] ?? [], by: \.file)
                for file in try workspace.sources(of: target.name) {
                    var planter = MutantPlanter(source: try workspace.source(file), mutants: byFile[file] ?? [])
                    try workspace.write(planter.planted(), file: file)
                    planters[file] = planter
                }
                try workspace.write(
                    Workspace.switchSource(mutantCount: max(total, 1)),
                    file: "Sources/\(target.name)/\(Workspace.switchName)"
                )
            }
            say("building, attempt \(attempt)")
            let build = try workspace.build()
            if build.succeeded {
                let left = Set(mutants.values.joined().map(\.identity))
                let removed = chosen.filter { !left.contains($0) }
                return try removed.joined(separator: "\n").write(to: known, atomically: true, encoding: .utf8)
            }
            let removed = try removeUncompilable(build.log, planters)
            guard removed > 0 else {
                throw Failure("the build fails for another reason; see \(options.folder.path)/build.log")
            }
            say("\(removed) faults do not compile")
        }
        throw Failure("the build still fails after 40 attempts")
    }

    private mutating func removeUncompilable(_ log: String, _ planters: [String: MutantPlanter]) throws -> Int {
        var broken: [String: Set<Int>] = [:]
        for line in log.split(separator: "\n") {
            guard let range = line.range(of: ": error: ") else { continue }
            let parts = line[..<range.lowerBound].split(separator: ":")
            guard parts.count == 3, let number = Int(parts[1]),
                let start = parts[0].range(of: "/package/Sources/")
            else { continue }
            let file = "Sources/" + String(parts[0][start.upperBound...])
            guard let planter = planters[file] else { continue }
            broken[file, default: []].insert(planter.sourceLine(ofPlanted: number))
        }
        var removed = 0
        for (target, all) in mutants {
            var left = all
            for (file, lines) in broken { removed += remove(brokenLines: lines, of: file, from: &left) }
            mutants[target] = left
        }
        return removed
    }

    /// Removes the mutants that cause the compiler errors of one file.
    ///
    /// A mutant that does not compile often causes errors on other lines. As long as there are errors on lines with
    /// mutants, the other errors are ignored: the next build repeats those that remain. An error on a line without
    /// mutants removes the omissions in its function, otherwise all mutants in its function. If no function with an
    /// error has mutants, all in the file are removed.
    ///
    /// - Returns: The number of removed mutants.
    private func remove(brokenLines lines: Set<Int>, of file: String, from mutants: inout [Mutant]) -> Int {
        let before = mutants.count
        let isBroken: (Mutant) -> Bool = { mutant in
            let last = mutant.line + mutant.original.utf8.count { $0 == UInt8(ascii: "\n") }
            return mutant.file == file && lines.contains { (mutant.line...last).contains($0) }
        }
        if mutants.contains(where: isBroken) {
            mutants.removeAll(where: isBroken)
            return before - mutants.count
        }
        // Each function loses faults once in each round: one fault often causes errors on several lines of it.
        var treated: [ClosedRange<Int>] = []
        for line in lines.sorted() where !treated.contains(where: { $0.contains(line) }) {
            let inFunction: (Mutant) -> Bool = { $0.file == file && $0.functionLines.contains(line) }
            let isOmission: (Mutant) -> Bool = { if case .omission = $0.form { true } else { false } }
            guard let function = mutants.first(where: inFunction)?.functionLines else { continue }
            treated.append(function)
            if mutants.contains(where: { inFunction($0) && isOmission($0) }) {
                mutants.removeAll { inFunction($0) && isOmission($0) }
            } else {
                mutants.removeAll(where: inFunction)
            }
        }
        if treated.isEmpty, let line = lines.min(), mutants.contains(where: { $0.file == file }) {
            mutants.removeAll { $0.file == file }
            say("\(file): all faults are left out, because of line \(line)")
        }
        return before - mutants.count
    }

    // MARK: Execution

    /// Runs the campaign and prints a report.
    ///
    /// - Returns: A Boolean value that indicates whether the share of unexplained survivors of each target is within
    ///   the limit.
    mutating func run(equivalents: Equivalents, report: URL) throws -> Bool {
        try choose()
        try plantAndBuild()
        if options.onlyBuilds { return true }
        let total = mutants.values.joined().map(\.id).max().map { Int($0) + 1 } ?? 1
        var tests = TestSuites(bundle: workspace.testBundle, scratch: options.folder)
        say("running the tests without faults")
        let failing = try tests.measure(
            Array(Set(options.targets.flatMap(\.tests))),
            mutantCount: total,
            jobs: options.jobs
        )
        for name in failing { say("left out, since it fails without a fault: \(name)") }
        guard !tests.suites.isEmpty else { throw Failure("no suite passes without a fault") }
        var isGood = true
        var reportText = ""
        for target in options.targets {
            let chosen = Array(mutants[target.name, default: []].prefix(options.sample > 0 ? options.sample : .max))
            let outcome = Locked<[Int32: String]>([:])
            let done = Locked(0)
            let suites = tests
            let start = Date()
            try inParallel(chosen.count, jobs: options.jobs) { index in
                let mutant = chosen[index]
                if let seenBy = try suites.suite(thatKills: mutant.id, targets: target.tests) {
                    outcome.with { $0[mutant.id] = seenBy }
                }
                let count = done.with { value in
                    value += 1
                    return value
                }
                if count.isMultiple(of: 50) { say("\(target.name): \(count) of \(chosen.count) faults tried") }
            }
            let seen = outcome.with { $0 }
            let survivors = chosen.filter { seen[$0.id] == nil }.sorted { ($0.file, $0.line) < ($1.file, $1.line) }
            let unexplained = survivors.filter { equivalents.reason(for: $0) == nil }
            let reached = Set(tests.suites.flatMap(\.reached))
            let share = chosen.isEmpty ? 1 : Double(unexplained.count) / Double(chosen.count)
            isGood = isGood && share <= options.maximumSurvivorShare
            var text = "\(target.name): \(chosen.count) faults, \(seen.count) seen"
            text +=
                " (\(seen.values.count { $0.hasSuffix("(time limit)") }) by the time limit), \(survivors.count) survive"
            text += ", \(survivors.count - unexplained.count) of them explained: "
            text += "\((share * 1_000).rounded() / 10) % survive unexplained; \(Int(-start.timeIntervalSinceNow)) s\n"
            for mutant in survivors {
                let place = "\(mutant.file):\(mutant.line)"
                let mark =
                    equivalents.reason(for: mutant).map { "explained: \($0)" }
                    ?? (reached.contains(mutant.id) ? "survives" : "not reached")
                text += "  \(place) [\(mutant.kind.rawValue)] \(mark)\n    \(mutant.signature)\n"
            }
            // The report of each target is written when its mutants are tried, since a campaign takes hours.
            FileHandle.standardOutput.write(Data(text.utf8))
            reportText += text
            try reportText.write(to: report, atomically: true, encoding: .utf8)
        }
        return isGood
    }
}

/// An error that ends the run.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

func say(_ text: String) { FileHandle.standardError.write(Data("==> \(text)\n".utf8)) }
