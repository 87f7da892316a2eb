import MediaTiming
import ResourceAddressing

/// A line that holds a tag of the standard or an address.
struct InspectedLine {
    private let lineNumber: UInt32
    private let textStart: UInt32
    private let textEnd: UInt32
    private let valueStart: UInt32
    /// `nil` for an address.
    let tag: TagName?
    /// Whether its value cannot be read, so that rules about what it says would only confuse.
    var isBroken = false

    init(_ number: Int, _ tag: TagName?, text: Range<Int>, value: Int?) {
        // Bounded: a playlist has fewer bytes than 2^32 (PlaylistLimits).
        lineNumber = UInt32(number)
        // Bounded: a playlist has fewer bytes than 2^32 (PlaylistLimits).
        textStart = UInt32(text.lowerBound)
        // Bounded: a playlist has fewer bytes than 2^32 (PlaylistLimits).
        textEnd = UInt32(text.upperBound)
        // Bounded: a playlist has fewer bytes than 2^32 (PlaylistLimits).
        valueStart = UInt32(value ?? 0)
        self.tag = tag
    }

    /// Counted from 1.
    var number: Int { Int(lineNumber) }
    /// Its text without white space at either side.
    var text: Range<Int> { Int(textStart)..<Int(textEnd) }
    /// What stands behind the colon; empty where that is nothing.
    var value: Range<Int> { valueStart == 0 ? text.upperBound..<text.upperBound : Int(valueStart)..<Int(textEnd) }
}

/// A playlist held against rules: its lines, what they define, and what was found.
///
/// The rules stand in extensions, by what they are about; each group reads lines and attributes from here.
final class PlaylistInspection {
    let bytes: [UInt8]
    let kind: Playlist.Kind
    let context: PlaylistContext
    /// What a media playlist can import; `nil` where the multivariant playlist is not at hand.
    let imports: [String: String?]?

    /// The lines with tags of the standard and addresses, in their order.
    private(set) var lines: [InspectedLine] = []
    /// The lines with tags that the standard does not know.
    private(set) var unknownTags: [(line: Int, name: String)] = []
    /// The variables defined so far, with the lines that define them.
    private var definitions: [String: (value: String?, line: Int)] = [:]
    private(set) var findings: [Finding] = []
    private var counts: [String: Int] = [:]
    /// Whether an `EXT-X-STREAM-INF` waits for its address, and which tag of the other kind does.
    private var hasVariant = false
    private var foreignTag: TagName?
    /// What rules about the whole media playlist found out; read by those about sets of playlists.
    var segments: [InspectedSegment] = []
    var trailingParts: [InspectedLine] = []

    /// A rule that is broken, and where.
    struct Finding {
        let line: Int?
        let rule: String
        let detail: String?
    }

    /// More of one mistake is no help to anybody; the list must not exhaust memory, nor one mistake hide another.
    private static let mostFindings = 1_000

    init(_ playlist: Playlist, imports: [String: String?]? = nil) {
        bytes = playlist.bytes
        kind = playlist.kind
        context = playlist.context
        let given = playlist.context.importableVariables
        self.imports = imports ?? (given.isEmpty ? nil : given.mapValues { $0 })
    }

    /// Notes that a rule is broken.
    ///
    /// - Parameters:
    ///   - rule: The rule's ``ValidationRule/id``.
    ///   - line: The line, `nil` for the whole playlist.
    ///   - detail: What the rule's own statement does not say.
    func note(_ rule: String, line: Int?, _ detail: String? = nil) {
        counts[rule, default: 0] += 1
        guard counts[rule, default: 0] <= Self.mostFindings else { return }
        findings.append(Finding(line: line, rule: rule, detail: detail))
    }

    func note(_ rule: String, _ line: InspectedLine?, _ detail: String? = nil) {
        note(rule, line: line?.number, detail)
    }

    /// What was found in one set of rules, in the order of the lines.
    func diagnostics(of sets: Set<RuleSet>) -> [Diagnostic] {
        findings.compactMap { finding in
            guard let rule = ValidationRule.byID[finding.rule], sets.contains(rule.ruleSet) else { return nil }
            return Diagnostic(
                line: finding.line,
                severity: rule.severity,
                code: rule.id,
                message: finding.detail.map { "\(rule.statement.dropLast()) \($0)." } ?? rule.statement,
                section: rule.section
            )
        }.sorted { ($0.line ?? 0) < ($1.line ?? 0) } + leftOut(of: sets)
    }

    /// Says how many findings are left out, rule by rule.
    private func leftOut(of sets: Set<RuleSet>) -> [Diagnostic] {
        counts.sorted { $0.key < $1.key }.compactMap { id, count in
            guard count > Self.mostFindings, let rule = ValidationRule.byID[id], sets.contains(rule.ruleSet) else {
                return nil
            }
            return Diagnostic(
                line: nil,
                severity: .note,
                code: id,
                message: "\(count - Self.mostFindings) more lines break this rule.",
                section: rule.section
            )
        }
    }

    // MARK: What rules ask

    func text(_ range: Range<Int>) -> String { bytes.text(range) }

    /// The lines with one tag, in their order.
    func all(_ tag: TagName) -> [InspectedLine] { lines.filter { $0.tag == tag } }

    func first(_ tag: TagName) -> InspectedLine? { lines.first { $0.tag == tag } }

    func has(_ tag: TagName) -> Bool { first(tag) != nil }

    /// The integer that a tag holds; `nil` where it is missing or none.
    func integer(_ tag: TagName) -> Int64? { first(tag).flatMap { integer($0) } }

    func integer(_ line: InspectedLine) -> Int64? {
        let value = text(line.value)
        return Grammar.isDigits(value) ? Int64(value) : nil
    }

    func append(_ line: InspectedLine) {
        if line.tag == .variant { hasVariant = true }
        if line.tag == .segmentInformation { foreignTag = nil }
        lines.append(line)
    }

    /// Notes that the next address may belong to a tag of the other kind of playlist.
    func announce(foreign tag: TagName) {
        if tag == .variant || tag == .segmentInformation { foreignTag = tag }
    }

    /// Ends what was announced for the next address.
    ///
    /// - Returns: Whether the address is the playlist's own: a variant's tag takes it before a segment's.
    func takeAnnouncement() -> Bool {
        defer { (hasVariant, foreignTag) = (false, foreignTag == .segmentInformation && hasVariant ? foreignTag : nil) }
        return foreignTag == nil || kind == .multivariant && hasVariant
    }

    /// The variables by their names; `nil` for one whose value is not known here.
    var variables: [String: String?] { definitions.mapValues(\.value) }

    /// Defines a variable.
    ///
    /// - Returns: Whether it is new.
    func define(_ name: String, as value: String?, line: Int) -> Bool {
        guard definitions[name] == nil else { return false }
        if definitions.count < 1_000 { definitions[name] = (value, line) }
        return true
    }

    func noteUnknown(_ name: String, line: Int) {
        if unknownTags.count < Self.mostFindings { unknownTags.append((line, name)) }
    }

    /// The address in a line, with its variables replaced; `nil` where one of them is not known.
    func address(_ line: InspectedLine) -> String? {
        let (address, isOpaque) = substitute(text(line.text), line: line.number, notes: false)
        return isOpaque ? nil : address
    }

    /// Replaces variables.
    ///
    /// - Parameters:
    ///   - text: What may hold them.
    ///   - line: Where it stands: only what is defined above counts.
    ///   - notes: Whether to note those that are not defined.
    /// - Returns: The text, and whether the value of one of its variables is not known.
    func substitute(_ text: String, line: Int, notes: Bool) -> (text: String, isOpaque: Bool) {
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
                if notes { note("undefined-variable", line: line, "(\(variable))") }
            }
            guard result.count <= source.count + PlaylistVariables.longestGrowth else { return (text, true) }
            position = name.upperBound + 1
        }
        return (String(decoding: result, as: UTF8.self), isOpaque)
    }

    /// Where the name of a variable reference that begins at a place stands; `nil` where none begins there.
    private static func reference(in bytes: [UInt8], at position: Int) -> Range<Int>? {
        guard bytes[position] == UInt8(ascii: "{"), position + 2 < bytes.count, bytes[position + 1] == UInt8(ascii: "$")
        else { return nil }
        var end = position + 2
        while end < bytes.count, Grammar.isVariableByte(bytes[end]) { end += 1 }
        guard end > position + 2, end < bytes.count, bytes[end] == UInt8(ascii: "}") else { return nil }
        return (position + 2)..<end
    }
}
