import MediaTiming
import ResourceAddressing

/// A line with a tag that the standard defines, or with a URI.
struct InspectedLine {
    private let lineNumber: UInt32
    private let textStart: UInt32
    private let textEnd: UInt32
    private let valueStart: UInt32
    /// The tag, or `nil` for a URI.
    let tag: TagName?
    /// A Boolean value that indicates whether the value is malformed, so that rules about its contents are not checked.
    var isMalformed = false

    init(_ number: Int, _ tag: TagName?, text: Range<Int>, value: Int?) {
        // Bounded: a playlist has fewer bytes than 2^32 (PlaylistLimits).
        lineNumber = UInt32(number)
        // Bounded: a playlist has fewer bytes than 2^32 (PlaylistLimits).
        textStart = UInt32(text.lowerBound)
        // Bounded: a playlist has fewer bytes than 2^32 (PlaylistLimits).
        textEnd = UInt32(text.upperBound)
        // Bounded: a playlist has fewer bytes than 2^32 (PlaylistLimits).
        valueStart = UInt32(value ?? text.upperBound)
        self.tag = tag
    }

    /// The number of the line, from 1.
    var number: Int { Int(lineNumber) }
    /// The range of the text, without leading and trailing white space.
    var text: Range<Int> { Int(textStart)..<Int(textEnd) }
    /// The range after the colon; empty if there is nothing.
    var value: Range<Int> { Int(valueStart)..<Int(textEnd) }
}

/// The state of the validation of a playlist: its lines, its definitions, and the violations found.
///
/// The rules are in extensions, grouped by topic; they read lines and attributes from this class.
final class PlaylistInspection {
    let bytes: [UInt8]
    let kind: Playlist.Kind
    let context: PlaylistContext
    /// The variables that a media playlist can import, or `nil` if the multivariant playlist is not available.
    let imports: [String: String?]?

    /// The lines with standard tags and URIs, in order.
    private(set) var lines: [InspectedLine] = []
    /// The first line with each tag, stored because rules need it for each segment or rendition.
    private var firstLines = [InspectedLine?](repeating: nil, count: TagName.allCases.count)
    /// The lines with tags that the standard does not define.
    private(set) var unknownTags: [(line: Int, name: String)] = []
    /// The variables defined so far, each with the line of its definition.
    private var definitions: [String: (value: String?, line: Int)] = [:]
    private(set) var findings: [Finding] = []
    private var counts: [Rule: Int] = [:]
    /// The results of the rules for one media playlist, which the rules for several playlists use.
    var segments: [InspectedSegment] = []
    /// The sets of keys to which the segments refer; the first is empty.
    var keySets: [[InspectedKey]] = [[]]
    var trailingParts: [InspectedLine] = []
    /// The maximum number of bytes by which the attributes of one tag may grow when variables are replaced.
    let growthLimit: Int
    /// The number of segments that the parser found, for the sizes of arrays.
    let expectedSegmentCount: Int
    /// The query parameters in the URL of the playlist, or `nil` if it has no HTTP or file URL.
    ///
    /// The URL of a local file can have parameters too, such as `file:///main.m3u8?token=1`.
    private(set) lazy var queryParameters: [String: String?]? = context.address.flatMap { address in
        address.isHTTP || address.filePath != nil ? PlaylistVariables.queryParameters(of: address) : nil
    }

    /// A violation of a rule.
    struct Finding {
        let line: Int?
        let rule: Rule
        let detail: String?
    }

    /// The maximum number of violations recorded for each rule.
    ///
    /// The limit bounds the memory, and it is per rule so that one frequent mistake does not hide others.
    private static let maximumFindingCount = 1_000

    init(_ playlist: Playlist, imports: [String: String?]? = nil) {
        bytes = playlist.bytes
        kind = playlist.kind
        context = playlist.context
        let given = playlist.context.importableVariables
        let isUnknown = given.isEmpty && !playlist.context.declaresAllImports
        self.imports = imports ?? (isUnknown ? nil : given.mapValues { $0 })
        growthLimit = PlaylistVariables.maximumGrowth(byteCount: playlist.bytes.count, entryCount: playlist.entryCount)
        expectedSegmentCount =
            switch playlist {
            case .media(let playlist): playlist.segments.count
            case .multivariant: 0
            }
    }

    /// Records a violation of a rule.
    ///
    /// - Parameters:
    ///   - rule: The rule that the playlist violates.
    ///   - line: The number of the line, or `nil` for the whole playlist.
    ///   - detail: Additional information for the message, in parentheses.
    func note(_ rule: Rule, line: Int?, _ detail: String? = nil) {
        counts[rule, default: 0] += 1
        guard counts[rule, default: 0] <= Self.maximumFindingCount else { return }
        findings.append(Finding(line: line, rule: rule, detail: detail.map(Self.shortened)))
    }

    /// The maximum number of bytes of a detail, so that a long line is not repeated in the message of each violation.
    private static let maximumDetailLength = 512

    private static func shortened(_ detail: String) -> String {
        guard detail.utf8.count > maximumDetailLength else { return detail }
        return String(detail.unicodeScalars.prefix(maximumDetailLength / 4)) + "…)"
    }

    func note(_ rule: Rule, _ line: InspectedLine?, _ detail: String? = nil) {
        note(rule, line: line?.number, detail)
    }

    /// Returns the violations of the rules in the given sets, in the order of the lines.
    func diagnostics(of sets: Set<RuleSet>) -> [Diagnostic] {
        findings.compactMap { finding in
            let rule = finding.rule.definition
            guard sets.contains(rule.ruleSet) else { return nil }
            return Diagnostic(
                line: finding.line,
                severity: rule.severity,
                code: rule.id,
                message: finding.detail.map { "\(rule.statement.dropLast()) \($0)." } ?? rule.statement,
                section: rule.section
            )
        }.sorted { ($0.line ?? 0) < ($1.line ?? 0) } + omissionNotes(of: sets)
    }

    /// Returns a note with the number of omitted violations for each rule that exceeds the maximum.
    private func omissionNotes(of sets: Set<RuleSet>) -> [Diagnostic] {
        counts.sorted { $0.key.rawValue < $1.key.rawValue }.compactMap { violated, count in
            let rule = violated.definition
            guard count > Self.maximumFindingCount, sets.contains(rule.ruleSet) else { return nil }
            return Diagnostic(
                line: nil,
                severity: .note,
                code: rule.id,
                message: "\(count - Self.maximumFindingCount) more lines violate this rule.",
                section: rule.section
            )
        }
    }

    // MARK: Queries for rules

    func text(_ range: Range<Int>) -> String { bytes.text(range) }

    /// Stores the lines of the playlist, and the first line with each tag.
    func store(_ lines: [InspectedLine]) {
        var firstLines = firstLines
        for line in lines {
            if let tag = line.tag, firstLines[Int(tag.rawValue)] == nil { firstLines[Int(tag.rawValue)] = line }
        }
        self.firstLines = firstLines
        self.lines = lines
    }

    /// Returns the lines with one tag, in order.
    func all(_ tag: TagName) -> [InspectedLine] { has(tag) ? lines.filter { $0.tag == tag } : [] }

    func first(_ tag: TagName) -> InspectedLine? { firstLines[Int(tag.rawValue)] }

    func has(_ tag: TagName) -> Bool { first(tag) != nil }

    /// Returns the integer value of a tag, or `nil` if it is missing or invalid.
    func integer(_ tag: TagName) -> Int64? { first(tag).flatMap { integer($0) } }

    func integer(_ line: InspectedLine) -> Int64? {
        let value = text(line.value)
        return Grammar.isDigits(value) ? Int64(value) : nil
    }

    /// The variables by name; the value is `nil` if it is not known.
    var variables: [String: String?] { definitions.mapValues(\.value) }

    /// Defines a variable.
    ///
    /// - Returns: A Boolean value that indicates whether the name was not defined before.
    func define(_ name: String, as value: String?, line: Int) -> Bool {
        guard definitions[name] == nil else { return false }
        if definitions.count < 1_000 { definitions[name] = (value, line) }
        return true
    }

    func noteUnknown(_ name: String, line: Int) {
        if unknownTags.count < Self.maximumFindingCount { unknownTags.append((line, name)) }
    }

    /// Returns the URI in a line with variables replaced, or `nil` if it contains a variable whose value is not known.
    func address(_ line: InspectedLine) -> String? {
        let (address, isOpaque) = substitute(text(line.text), line: line.number, notes: false)
        return isOpaque ? nil : address
    }

    /// Replaces variables in a text.
    ///
    /// - Parameters:
    ///   - text: The text, which may contain variable references.
    ///   - line: The number of the line with the text; only variables that are defined up to this line are replaced.
    ///   - notes: Whether to report undefined variables.
    ///   - growth: The maximum number of bytes by which the text may grow, or `nil` for ``growthLimit``.
    /// - Returns: The text, and whether it contains a variable whose value is not known.
    func substitute(
        _ text: String,
        line: Int,
        notes: Bool,
        growth: Int? = nil
    ) -> (text: String, isOpaque: Bool) {
        let growth = growth ?? growthLimit
        let source = Array(text.utf8)
        guard source.contains(UInt8(ascii: "{")) else { return (text, false) }
        var (result, position, isOpaque): ([UInt8], Int, Bool) = ([], 0, false)
        while position < source.count {
            guard let name = Self.reference(in: source, at: position) else {
                result.append(source[position])
                position += 1
                continue
            }
            let variable = source.text(name)
            if let definition = definitions[variable], definition.line <= line {
                if let value = definition.value { result += value.utf8 } else { isOpaque = true }
            } else {
                isOpaque = true
                if notes { note(.undefinedVariable, line: line, "(\(variable))") }
            }
            guard result.count <= source.count + growth else { return (text, true) }
            position = name.upperBound + 1
        }
        return (String(decoding: result, as: UTF8.self), isOpaque)
    }

    /// Returns the range of the name of the variable reference that begins at an offset, or `nil` if none begins there.
    private static func reference(in bytes: [UInt8], at position: Int) -> Range<Int>? {
        guard bytes[position...].starts(with: "{$".utf8) else { return nil }
        var end = position + 2
        while end < bytes.count, Grammar.isVariableByte(bytes[end]) { end += 1 }
        guard end > position + 2, end < bytes.count, bytes[end] == UInt8(ascii: "}") else { return nil }
        return (position + 2)..<end
    }
}
