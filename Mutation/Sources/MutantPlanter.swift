/// Inserts mutations into the text of a source file, each controlled by a switch.
struct MutantPlanter {
    /// The name of the function that returns whether a mutation is active.
    static let switchName = "isMutantActive"

    private let bytes: [UInt8]
    private let mutants: [Mutant]
    /// The numbers of lines that were added, each with the line of the original source at which they were added, in
    /// order.
    private var addedLines: [(line: Int, count: Int)] = []

    /// Creates a planter for one file.
    ///
    /// - Parameters:
    ///   - source: The text of the file.
    ///   - mutants: The mutations to insert, in any order; any two of their ranges are either nested or disjoint.
    init(source: String, mutants: [Mutant]) {
        bytes = Array(source.utf8)
        // Outer ranges precede inner ones, so that a single pass nests them.
        self.mutants = mutants.sorted {
            ($0.range.lowerBound, -$0.range.upperBound, $0.id) < ($1.range.lowerBound, -$1.range.upperBound, $1.id)
        }
    }

    /// Returns the text with all mutations.
    mutating func planted() -> String {
        var position = 0
        addedLines = []
        return text(0..<bytes.count, &position)
    }

    /// Returns the line of the original source from which a line of the mutated text originates.
    func sourceLine(ofPlanted line: Int) -> Int {
        var added = 0
        for step in addedLines {
            if line <= step.line + added { break }
            if line <= step.line + added + step.count { return step.line }
            added += step.count
        }
        return line - added
    }

    private mutating func text(_ range: Range<Int>, _ next: inout Int) -> String {
        var result = ""
        var offset = range.lowerBound
        while next < mutants.count, mutants[next].range.lowerBound < range.upperBound {
            let place = mutants[next].range
            var group: [Mutant] = []
            while next < mutants.count, mutants[next].range == place {
                group.append(mutants[next])
                next += 1
            }
            result += String(decoding: bytes[offset..<place.lowerBound], as: UTF8.self)
            for mutant in group.reversed() {
                guard case .expression(let alternative) = mutant.form else { continue }
                let count = alternative.utf8.count { $0 == UInt8(ascii: "\n") }
                if count > 0 { addedLines.append((mutant.line, count)) }
            }
            result += wrapped(text(place, &next), group)
            offset = place.upperBound
        }
        return result + String(decoding: bytes[offset..<range.upperBound], as: UTF8.self)
    }

    private func wrapped(_ original: String, _ group: [Mutant]) -> String {
        var result = original
        for mutant in group {
            let active = "\(Self.switchName)(\(mutant.id))"
            switch mutant.form {
            case .expression(let alternative):
                result = "(\(active) ? (\(alternative)) : (\(result)))"
            case .omission: result = "if !\(active) { \(result) }"
            }
        }
        return result
    }
}
