public import MediaTiming

/// A rule that determines where the breaks of a playlist are.
public indirect enum BreakRule: Sendable, Hashable {
    /// Breaks are announced by `EXT-X-CUE-OUT` and `EXT-X-CUE-IN`, by date ranges with SCTE 35 commands (RFC 8216bis
    /// §4.4.5.1.1), and by tags that contain such commands in base64.
    case cues
    /// Each date range of the class is a break.
    case dateRanges(classIdentifier: String)
    /// A break starts whenever the seconds since 1970-01-01T00:00:00Z are a multiple of the interval; in a complete playlist
    /// without dates, whenever the time since its start is one.
    ///
    /// The interval is 1 second to 1 day; a shorter one counts as 1 second.
    case every(MediaTime)
    /// The breaks of another rule are at known times of a complete playlist: those of another track of the same presentation.
    ///
    /// The boundaries nearest to the ends of the ranges are those of the breaks. All of the other playlist is inserted at a range without
    /// a duration.
    case located(at: [MediaTimeRange], of: BreakRule)

    /// The permitted intervals.
    static let intervals = MediaTime(seconds: 1)...MediaTime(seconds: 86_400)

    /// The maximum number of known breaks, which are in the URLs of tracks.
    static let maximumLocationCount = 256

    /// The rule by which the breaks are announced.
    var announced: BreakRule {
        if case .located(_, let rule) = self { rule.announced } else { self }
    }

    /// The times of the breaks if they are known.
    var locations: [MediaTimeRange] {
        if case .located(let ranges, _) = self { ranges } else { [] }
    }
}

extension BreakRule: LosslessStringConvertible {
    /// The form of the rule in URLs and on the command line, such as `every=60`.
    public var description: String {
        switch self {
        case .cues: "cues"
        case .dateRanges(let name): "class=\(name)"
        case .every(let interval): "every=\(interval)"
        case .located(let ranges, let rule):
            (ranges.isEmpty ? ["none"] : ranges.map(\.editText)).joined(separator: ",") + ",\(rule)"
        }
    }

    /// Creates a rule from text of the form `cues`, `class=NAME` or `every=SECONDS`, after `START...END,` for each known break, or
    /// `none,`.
    ///
    /// - Returns: `nil` for any other text.
    public init?(_ text: String) {
        guard let rule = Self.located(text) ?? Self.announced(text[...]) else { return nil }
        self = rule
    }

    /// Returns the rule for a text without known breaks.
    private static func announced(_ text: Substring) -> BreakRule? {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        switch (parts.first, parts.dropFirst().first) {
        case ("cues", nil): return .cues
        case ("class", let name?) where !name.isEmpty && name.utf8.count <= 255:
            return .dateRanges(classIdentifier: String(name))
        case ("every", let value?):
            guard let interval = ClockTime.parse(value), intervals.contains(interval) else { return nil }
            return .every(interval)
        default: return nil
        }
    }

    /// Returns the rule for a text that begins with known breaks.
    private static func located(_ text: String) -> BreakRule? {
        var rest = text[...]
        var ranges: [MediaTimeRange] = []
        while ranges.count <= maximumLocationCount, let comma = rest.firstIndex(of: ","),
            let range = MediaTimeRange(partial: String(rest[..<comma]))
        {
            ranges.append(range)
            rest = rest[rest.index(after: comma)...]
        }
        if ranges.isEmpty {
            guard rest.hasPrefix("none,") else { return nil }
            rest = rest.dropFirst("none,".count)
        }
        guard ranges.count <= maximumLocationCount, let rule = announced(rest) else { return nil }
        return .located(at: ranges, of: rule)
    }
}

/// The source of another playlist and the rule that determines where it is played.
struct SourceAtBreaks: Sendable {
    var source: String
    let rule: BreakRule
}

extension EditValueType where Value == SourceAtBreaks {
    /// A source that is stitched into the playlist, and a rule, separated by the last `@` after which there is a rule.
    static var sourceAtBreaks: EditValueType {
        var type = addressAtBreaks
        type.source = { $0.source }
        type.replacingSource = { SourceAtBreaks(source: $1, rule: $0.rule) }
        return type
    }

    /// An address that the edited playlist refers to, which is not loaded, and a rule, separated by the last `@` after which there is
    /// a rule; see ``SourceAtPlace``.
    static var addressAtBreaks: EditValueType {
        EditValueType(
            parameter: EditParameter(
                .sourceAtBreaks,
                placeholder: "SOURCE@RULE",
                form: "SOURCE@cues, SOURCE@class=NAME or SOURCE@every=SECONDS"
            ),
            parse: { text in
                // The name of a class can contain an `@`.
                for parts in SourceAtPlace.parts(of: text) {
                    guard let rule = BreakRule(String(parts.place)) else { continue }
                    return SourceAtBreaks(source: String(parts.source), rule: rule)
                }
                return nil
            },
            format: { SourceAtPlace.text($0.source, $0.rule.description) }
        )
    }
}
