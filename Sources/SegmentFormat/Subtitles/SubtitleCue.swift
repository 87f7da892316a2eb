public import MediaTiming

/// A subtitle text that is shown during a time range, independent of its source format.
public struct SubtitleCue: Sendable, Hashable {
    /// The identifier in the source document; empty if there is none.
    public var id: String
    /// The time range during which the cue is shown.
    public var timeRange: MediaTimeRange
    /// The lines from top to bottom; for vertical writing, the columns in reading order.
    public var lines: [SubtitleLine]
    /// The position and layout of the cue.
    public var placement: SubtitlePlacement
    /// The layer; the cue is drawn over cues of lower layers; 0 by default.
    public var layer: Int
    /// A Boolean value that indicates whether the cue is shown even if subtitles are disabled.
    ///
    /// Used for dialogue in a foreign language (`itts:forcedDisplay`, IMSC 1.1 §8.4.4).
    public var isForced: Bool

    /// Creates a cue with the given properties.
    public init(
        id: String = "",
        timeRange: MediaTimeRange,
        lines: [SubtitleLine],
        placement: SubtitlePlacement = .init(),
        layer: Int = 0,
        isForced: Bool = false
    ) {
        self.id = id
        self.timeRange = timeRange
        self.lines = lines
        self.placement = placement
        self.layer = layer
        self.isForced = isForced
    }

    /// The text without styles, with lines separated by line feeds.
    public var plainText: String { lines.map(\.plainText).joined(separator: "\n") }

    /// Returns a copy of the cue whose time range is shifted by the given offset.
    public func shifted(by offset: MediaTime) -> SubtitleCue {
        var cue = self
        cue.timeRange = MediaTimeRange(start: timeRange.start + offset, duration: timeRange.duration)
        return cue
    }

    /// Returns whether both cues have the same appearance, regardless of their times and identifiers.
    public func hasSameAppearance(as other: SubtitleCue) -> Bool {
        lines == other.lines && placement == other.placement && layer == other.layer && isForced == other.isForced
    }
}

/// A line of a cue.
public struct SubtitleLine: Sendable, Hashable {
    /// The spans of the line, in text order.
    public var spans: [SubtitleSpan]

    /// Creates a line with the given spans.
    public init(_ spans: [SubtitleSpan]) {
        self.spans = spans
    }

    /// The text without styles.
    public var plainText: String { spans.map(\.text).joined() }
}

/// A part of a line with a uniform style.
public struct SubtitleSpan: Sendable, Hashable {
    /// The text, without line breaks.
    public var text: String
    /// The style of the text.
    public var style: SubtitleStyle

    /// Creates a span with the given text and style.
    public init(_ text: String, style: SubtitleStyle = .init()) {
        self.text = text
        self.style = style
    }
}
