// Reports conversions and arithmetic in Sources that can trap, unless their line says why they cannot.
//
// Usage: number-check INDEX_STORE ROOT [FOLDER …]
//
// The declarations that a line calls are read from the index store that a debug build writes, so the answer has the compiler's types:
// `Int(x)` of a floating-point number is found however `x` is spelled, and `Int(x)` of a byte is not reported.
//
// A comment `// Bounded: REASON` at the end of a line, or alone on the line before it, explains that line. Before a line
// that opens a block, it explains the whole block. A reason must follow, and a comment that explains nothing is an error.

import Foundation

// MARK: Rules

/// A declaration that can trap, and what to use instead.
struct Rule {
    /// The text of the report.
    let message: String
    /// Patterns of the declarations' USRs.
    let patterns: [Regex<AnyRegexOutput>]
    /// A closure that returns whether an occurrence is reported.
    let condition: (Place) -> Bool

    init(
        _ message: String,
        _ patterns: [String],
        where condition: @escaping (Place) -> Bool = { _ in true }
    ) throws {
        self.message = message
        self.patterns = try patterns.map { try Regex($0) }
        self.condition = condition
    }
}

/// The mangled names of the integer types other than `Int`.
let fixedWidth = "(Su|s(4Int8|5Int16|5Int32|5Int64|6Int128|5UInt8|6UInt16|6UInt32|6UInt64|7UInt128)V)"
let anyInteger = "(Si|Su|s(4Int8|5Int16|5Int32|5Int64|6Int128|5UInt8|6UInt16|6UInt32|6UInt64|7UInt128)V)"

/// An occurrence of a declaration, with the text of its line around it.
struct Place {
    let source: Source
    let before: Substring
    /// The text from the operator or name on.
    let after: Substring

    /// A Boolean value that indicates whether both operands are literals, whose result the compiler checks.
    var isConstant: Bool {
        after.prefixMatch(of: #/[-+*]=?\s*[0-9]/#) != nil
            && before.firstMatch(of: #/(^|[=(:,\[<>?]|return)\s*([0-9][0-9_]*\s*[-+*]\s*)*[0-9][0-9_]*\s*$/#) != nil
    }

    /// A Boolean value that indicates whether the divisor cannot be zero: a literal, a static property, or a maximum.
    var hasSafeDivisor: Bool {
        after.prefixMatch(of: #/[/%]=?\s*(\w+\()?(0*[1-9]|[A-Z]\w*\.[a-z]\w*(?![\w(])|max\(1,|\(\d+ << \d+\))/#) != nil
    }
}

/// The folders in which also products of `Int` are reported: those that read the bytes of strangers.
let readerFolders = [
    "DASHManifest", "DASHTranslation", "HLSPlaylist", "PlaylistEditing", "SegmentFormat", "XMLReading", "ReportFormat",
    "NetworkConditioning", "MediaTransport", "AssetStorage", "MillstreamDownloads", "MillstreamServer",
    "StreamingEngine", "millstream-cli",
]

let rules: [Rule] = try [
    Rule(
        "a floating-point number becomes an integer: use init(saturating:)",
        [
            // Int.init(_: Double), and Float, Float16, Float80.
            "^s:\(anyInteger)y.*(Sd|Sf|s7Float16V|s7Float80V)cfc$",
            // Any integer from any floating-point number.
            "^s:Szyxqd__cSBRd__lufc$", "^s:\(anyInteger)yABxcSBRzlufc$", "^s:Si.*SBRz", "^s:S[ZU]ss17FixedWidth.*SBRd__",
        ]
    ),
    Rule(
        "an integer becomes one of a type that lacks some of its values: use init(clamping:)",
        ["11MediaTimingE.*Exceeds"],
        // The file that declares these conversions refers to itself.
        where: { !$0.source.path.hasSuffix("/TrappingConversions.swift") }
    ),
    Rule(
        "an integer becomes one of a generic type: use init(clamping:)",
        ["^s:Szyxqd__cSzRd__lufc$"]
    ),
    Rule(
        "an integer is converted: import MediaTiming, so that the check can tell whether this may trap",
        [
            "^s:S[ZU]ss17FixedWidthIntegerRzrlEyxqd__cSzRd__lufc$", "^s:s(6Int128|7UInt128)VyABxcSzRzlufc$",
        ],
        where: { !$0.source.importsMediaTiming }
    ),
    Rule(
        "arithmetic with durations traps here: import MediaTiming, whose operators saturate",
        [
            "^s:s8DurationV(1poi|1soi|1moi|1doi|2peoi|2seoi|2meoi|2deoi)", "^s:s8DurationV10components",
            "^s:s8DurationV(7seconds|12milliseconds|12microseconds|11nanoseconds)yABSdFZ$",
        ],
        where: { !$0.source.importsMediaTiming }
    ),
    Rule(
        "a sum, a difference or a product may not fit: use +|, -| or *|",
        [
            "^s:\(fixedWidth)(1poi|1soi|1moi|2peoi|2seoi|2meoi)",
            "^s:(Sz|s7NumericP)(1poi|1soi|1moi|2peoi|2seoi|2meoi)",
        ],
        where: { !$0.isConstant }
    ),
    Rule(
        "a negated integer may not fit: use negatedSaturated()",
        ["^s:s13SignedNumericP1sopyxxFZ$", "^s:s13SignedNumericPsE6negate"]
    ),
    Rule(
        "a product may not fit: use *|",
        ["^s:Si(1moi|2meoi)"],
        where: { readerFolders.contains($0.source.folder) && !$0.isConstant }
    ),
    Rule(
        "a divisor may be zero: use dividedSaturated(by:)",
        ["^s:(\(anyInteger)|Sz)(1doi|1roi|2deoi|2reoi)"],
        where: { !$0.hasSafeDivisor }
    ),
]

// MARK: Sources

/// A source file, with its explained lines.
struct Source {
    let path: String
    /// The folder of the target.
    let folder: String
    let lines: [Substring]
    let importsMediaTiming: Bool
    /// The lines that are explained, each with the line of its comment.
    private(set) var explained: [Int: Int] = [:]
    /// Comments that cannot be used, and why.
    private(set) var faults: [(line: Int, message: String)] = []
    private(set) var markers: Set<Int> = []

    private static let marker = "// Bounded:"

    init(path: String, folder: String) throws {
        self.path = path
        self.folder = folder
        lines = try String(contentsOfFile: path, encoding: .utf8).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        importsMediaTiming =
            folder == "MediaTiming"
            || lines.contains { $0.hasSuffix("import MediaTiming") && !$0.hasPrefix("//") }
        for (index, line) in lines.enumerated() {
            guard let place = line.range(of: Self.marker) else {
                if line.range(of: "// *bounded *:?", options: [.regularExpression, .caseInsensitive]) != nil,
                    line.drop(while: \.isWhitespace).hasPrefix("// Bounded") || line.contains("// bounded")
                {
                    faults.append((index + 1, "write the comment as \(Self.marker) REASON"))
                }
                continue
            }
            guard line[place.upperBound...].contains(where: \.isLetter) else {
                faults.append((index + 1, "a reason must follow \(Self.marker)"))
                continue
            }
            markers.insert(index + 1)
            let isAlone = line[..<place.lowerBound].allSatisfy(\.isWhitespace)
            for covered in isAlone ? block(after: index) : index...index { explained[covered + 1] = index + 1 }
        }
    }

    /// The lines that a comment of its own line explains: the next line of code, or the block that it opens.
    private func block(after comment: Int) -> ClosedRange<Int> {
        var first = comment + 1
        // Further lines of the comment.
        while first < lines.count, lines[first].drop(while: \.isWhitespace).hasPrefix("//") { first += 1 }
        guard first < lines.count else { return comment...comment }
        guard lines[first].hasSuffix("{") else { return first...first }
        // The format is checked before: a block ends where the indentation of its first line returns.
        let indentation = lines[first].prefix(while: \.isWhitespace)
        let end = lines[(first + 1)...].firstIndex { line in
            line.hasPrefix(indentation) && line.dropFirst(indentation.count).hasPrefix("}")
        }
        return first...(end ?? first)
    }

    func fails(_ line: Int) -> Bool { explained[line] == nil }
}

// MARK: The index

func text(_ reference: indexstore_string_ref_t) -> String {
    String(decoding: UnsafeRawBufferPointer(start: reference.data, count: reference.length), as: UTF8.self)
}

/// Collects what a function of the C interface passes to its callback.
final class Collector<Element> {
    var elements: [Element] = []
    static func of(_ context: UnsafeMutableRawPointer?) -> Collector {
        guard let context else { fail("the index passed no context") }
        return Unmanaged<Collector>.fromOpaque(context).takeUnretainedValue()
    }
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
}

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("number-check: error: \(message)\n".utf8))
    exit(2)
}

struct Occurrence {
    let line: Int
    let column: Int
    let usr: String
}

struct Unit {
    let name: String
    let modified: Double
}

struct Index {
    private let store: indexstore_t
    /// The newest unit of each source file.
    private(set) var units: [String: Unit] = [:]

    init(path: String) {
        var error: indexstore_error_t?
        guard let store = indexstore_store_create(path, &error) else { fail("there is no index at \(path)") }
        self.store = store
        let names = Collector<String>()
        _ = indexstore_store_units_apply_f(store, 0, names.context) { context, name in
            Collector<String>.of(context).elements.append(text(name))
            return true
        }
        for name in names.elements {
            guard let reader = indexstore_unit_reader_create(store, name, &error) else { continue }
            defer { indexstore_unit_reader_dispose(reader) }
            let file = text(indexstore_unit_reader_get_main_file(reader))
            guard file.hasSuffix(".swift") else { continue }
            var (seconds, nanoseconds): (Int64, Int64) = (0, 0)
            indexstore_unit_reader_get_modification_time(reader, &seconds, &nanoseconds)
            let unit = Unit(name: name, modified: Double(seconds) + Double(nanoseconds) / 1e9)
            if unit.modified >= units[file]?.modified ?? 0 { units[file] = unit }
        }
    }

    func occurrences(in unit: Unit, of file: String) -> [Occurrence] {
        var error: indexstore_error_t?
        guard let reader = indexstore_unit_reader_create(store, unit.name, &error) else { return [] }
        defer { indexstore_unit_reader_dispose(reader) }
        let records = Collector<(name: String, path: String)>()
        _ = indexstore_unit_reader_dependencies_apply_f(reader, records.context) { context, dependency in
            // 2 is a record: the occurrences in one file.
            if indexstore_unit_dependency_get_kind(dependency) == 2 {
                Collector<(name: String, path: String)>.of(context).elements.append(
                    (
                        text(indexstore_unit_dependency_get_name(dependency)),
                        text(indexstore_unit_dependency_get_filepath(dependency))
                    )
                )
            }
            return true
        }
        let found = Collector<Occurrence>()
        for record in records.elements where record.path == file {
            guard let reader = indexstore_record_reader_create(store, record.name, &error) else {
                fail("the record of \(file) cannot be read: build again")
            }
            defer { indexstore_record_reader_dispose(reader) }
            _ = indexstore_record_reader_occurrences_apply_f(reader, found.context) { context, occurrence in
                var (line, column): (UInt32, UInt32) = (0, 0)
                indexstore_occurrence_get_line_col(occurrence, &line, &column)
                let usr = text(indexstore_symbol_get_usr(indexstore_occurrence_get_symbol(occurrence)))
                Collector<Occurrence>.of(context).elements.append(
                    Occurrence(line: Int(line), column: Int(column), usr: usr)
                )
                return true
            }
        }
        return found.elements
    }
}

// MARK: The check

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { fail("usage: number-check INDEX_STORE ROOT [FOLDER …]") }
let root = URL(fileURLWithPath: arguments[2]).standardizedFileURL.path
let folders = arguments.count > 3 ? Array(arguments[3...]) : ["Sources"]
let index = Index(path: arguments[1])

var paths: [String] = []
for folder in folders {
    guard let files = FileManager.default.enumerator(atPath: root + "/" + folder) else { fail("\(folder) is missing") }
    for case let file as String in files where file.hasSuffix(".swift") { paths.append(folder + "/" + file) }
}
paths.sort()

var findings: [String] = []
var verdicts: [String: [Int]] = [:]
var (checked, occurrenceCount, explainedCount) = (0, 0, 0)
for path in paths {
    let full = root + "/" + path
    let components = path.split(separator: "/")
    let source = try Source(path: full, folder: components.count > 2 ? String(components[1]) : "")
    guard let unit = index.units[full] else { fail("\(path) is not in the index: build for debugging first") }
    let modified = try FileManager.default.attributesOfItem(atPath: full)[.modificationDate] as? Date
    if let modified, modified.timeIntervalSince1970 > unit.modified { fail("\(path) is newer than its index: build first") }
    checked += 1
    var used: Set<Int> = []
    var reported: Set<String> = []
    for occurrence in index.occurrences(in: unit, of: full) {
        occurrenceCount += 1
        let matching: [Int]
        if let known = verdicts[occurrence.usr] {
            matching = known
        } else {
            matching = rules.indices.filter { rule in
                rules[rule].patterns.contains { occurrence.usr.firstMatch(of: $0) != nil }
            }
            verdicts[occurrence.usr] = matching
        }
        guard !matching.isEmpty, occurrence.line <= source.lines.count else { continue }
        let line = source.lines[occurrence.line - 1]
        let place = Place(
            source: source,
            before: Substring(String(decoding: line.utf8.prefix(occurrence.column - 1), as: UTF8.self)),
            after: Substring(String(decoding: line.utf8.dropFirst(occurrence.column - 1), as: UTF8.self))
        )
        for rule in matching where rules[rule].condition(place) {
            if let marker = source.explained[occurrence.line] {
                if used.insert(marker).inserted { explainedCount += 1 }
            } else {
                let finding = "\(path):\(occurrence.line):\(occurrence.column): error: \(rules[rule].message)"
                if reported.insert(finding).inserted { findings.append(finding) }
            }
        }
    }
    for fault in source.faults { findings.append("\(path):\(fault.line): error: \(fault.message)") }
    for marker in source.markers.subtracting(used).sorted() {
        findings.append("\(path):\(marker): error: there is nothing here that this comment would have to explain")
    }
}

guard checked > 0, occurrenceCount > checked else { fail("the index is empty: build for debugging first") }
for finding in findings { print(finding) }
let summary =
    "number-check: \(checked) files, \(occurrenceCount) occurrences, \(explainedCount) explained, "
    + "\(findings.count) findings\n"
FileHandle.standardError.write(Data(summary.utf8))
exit(findings.isEmpty ? 0 : 1)
