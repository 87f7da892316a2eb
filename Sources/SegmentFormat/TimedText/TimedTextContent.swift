import MediaTiming

/// The content of a paragraph, parts of which may be shown at different times.
struct TimedTextContent {
    private enum Part {
        case text(String, SubtitleStyle, preservesSpace: Bool, isForced: Bool)
        case lineBreak
    }

    private struct TimedPart {
        let part: Part
        let interval: TimedTextInterval
    }

    /// The maximum number of distinct times in a paragraph; further timed parts use the interval of their parent.
    private static let maximumTimeCount = 64

    /// The maximum number of text parts of a paragraph; further text is omitted.
    private static let maximumPartCount = 4_096

    private let tree: TimedTextTree
    private let references: TimedTextStyleResolver
    private let preservesSpace: Bool
    private let selection: RegionSelection?
    private var parts: [TimedPart] = []
    private var times: Set<MediaTime> = []

    /// The part of a paragraph that is shown in one region, if its spans name regions.
    struct RegionSelection {
        /// The regions that spans of the paragraph name.
        let regions: [String]
        /// The region whose text is added; `nil` for the text outside of ``regions``.
        let selected: String?
    }

    /// Creates content without text.
    ///
    /// - Parameters:
    ///   - tree: The elements of the document.
    ///   - references: The styles of the document.
    ///   - preservesSpace: A Boolean value that indicates whether white space is preserved.
    ///   - selection: The part of the paragraph that is added; `nil` for the whole text.
    init(
        _ tree: TimedTextTree,
        _ references: TimedTextStyleResolver,
        preservesSpace: Bool,
        selection: RegionSelection? = nil
    ) {
        self.tree = tree
        self.references = references
        self.preservesSpace = preservesSpace
        self.selection = selection
    }

    mutating func addChildren(of index: Int, _ style: TimedTextStyle, _ interval: TimedTextInterval) {
        addChildren(of: index, style, interval, preservesSpace: preservesSpace, region: nil)
    }

    private mutating func addChildren(
        of index: Int,
        _ style: TimedTextStyle,
        _ interval: TimedTextInterval,
        preservesSpace: Bool,
        region: String?
    ) {
        let node = tree.nodes[index]
        var next = interval.begin
        for child in node.children where parts.count < Self.maximumPartCount {
            let attributes = tree.nodes[child].attributes
            switch tree.nodes[child].kind {
            case .text(let text):
                guard style.isVisible, selection == nil || selection?.selected == region else { continue }
                let part = Part.text(text, style.span, preservesSpace: preservesSpace, isForced: style.isForced)
                parts.append(TimedPart(part: part, interval: interval))
            case .lineBreak:
                parts.append(TimedPart(part: .lineBreak, interval: interval))
            case .span:
                var inner = style.inherited()
                inner.apply(references.styles(of: attributes))
                let reference = node.attributes.isSequence ? next : interval.begin
                var own = tree.interval(attributes, interval, reference: reference)
                if node.attributes.isSequence {
                    next = own.isExplicit(attributes) ? own.end ?? next : tree.implicitEnd(child, after: next)
                    own.end = own.end.map { min($0, next) } ?? next
                }
                if times.count >= Self.maximumTimeCount { own = interval }
                recordTimes(of: own)
                guard inner.isDisplayed, inner.ruby != "delimiter" else { continue }
                // The region of an element is that of the closest element that names one (TTML2 §11.3.1.3).
                let named = tree.region(ofNode: child).flatMap { selection?.regions.contains($0) == true ? $0 : nil }
                let innerRegion = named ?? region
                let isRubyText = inner.ruby == "text" && (selection == nil || selection?.selected == innerRegion)
                if isRubyText { addBracket("(", inner, own) }
                addChildren(
                    of: child,
                    inner,
                    own,
                    preservesSpace: attributes.preservesSpace ?? preservesSpace,
                    region: innerRegion
                )
                if isRubyText { addBracket(")", inner, own) }
            case .body, .division, .paragraph: break
            }
        }
    }

    /// Adds a parenthesis before or after a ruby annotation, because there is no space for it above the line.
    private mutating func addBracket(
        _ bracket: String,
        _ style: TimedTextStyle,
        _ interval: TimedTextInterval
    ) {
        let part = Part.text(bracket, style.span, preservesSpace: true, isForced: style.isForced)
        parts.append(TimedPart(part: part, interval: interval))
    }

    private mutating func recordTimes(of interval: TimedTextInterval) {
        times.insert(interval.begin)
        if let end = interval.end { times.insert(end) }
    }

    /// Returns the time ranges during which the content of the paragraph does not change.
    func stateTimeRanges(in interval: TimedTextInterval) -> [MediaTimeRange] {
        let whole = MediaTimeRange(start: interval.begin, end: interval.end ?? TimedTextDocument.latestEnd)
        guard !whole.isEmpty else { return [] }
        let boundaries = times.filter { $0 > whole.start && $0 < whole.end }.sorted()
        return zip([whole.start] + boundaries, boundaries + [whole.end]).map { MediaTimeRange(start: $0, end: $1) }
    }

    /// Returns the lines shown at the given time, and whether they are forced.
    func lines(at time: MediaTime) -> (lines: [SubtitleLine], isForced: Bool) {
        var text = SubtitleTextBuilder()
        var spaces = TimedTextWhiteSpace()
        var isForced = false
        for segment in parts {
            guard segment.interval.begin <= time, segment.interval.end.map({ time < $0 }) ?? true else { continue }
            switch segment.part {
            case .lineBreak:
                text.endLine()
                spaces.endLine()
            case .text(let part, let style, let preservesSpace, let isPartForced):
                let kept = preservesSpace ? spaces.preserved(part) : spaces.collapsed(part)
                text.append(kept, style)
                if isPartForced, !kept.isEmpty { isForced = true }
            }
        }
        return (text.finish().map(Self.withoutTrailingSpace), isForced)
    }

    private static func withoutTrailingSpace(_ line: SubtitleLine) -> SubtitleLine {
        var line = line
        while let last = line.spans.indices.last {
            while line.spans[last].text.hasSuffix(" ") { line.spans[last].text.removeLast() }
            guard line.spans[last].text.isEmpty else { break }
            line.spans.removeLast()
        }
        return line
    }
}

/// The state of white space handling in a line (TTML2 §8.2.10 and `xml:space`).
///
/// Unless white space is preserved, a sequence of white-space characters becomes one space, and is removed at the start
/// of a line.
struct TimedTextWhiteSpace {
    private var isStartOrSpace = true

    mutating func endLine() { isStartOrSpace = true }

    mutating func preserved(_ text: String) -> String {
        if let last = text.last { isStartOrSpace = last == "\n" }
        return String(text.map { $0.isNewline ? "\n" : $0 })
    }

    mutating func collapsed(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == " " || scalar == "\n" || scalar == "\t" || scalar == "\r" {
                if !isStartOrSpace { result.append(" ") }
                isStartOrSpace = true
            } else {
                result.append(scalar)
                isStartOrSpace = false
            }
        }
        return String(result)
    }
}
