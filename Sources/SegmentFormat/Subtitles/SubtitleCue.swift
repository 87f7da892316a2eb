public import MediaTiming

/// A text that is shown over the picture for a time, whatever format it came in.
public struct SubtitleCue: Sendable, Hashable {
    /// Its name in the document it came from; empty where it has none.
    public var id: String
    /// When it is shown.
    public var timeRange: MediaTimeRange
    /// Its lines, from the top; for vertical writing, its columns in reading order.
    public var lines: [SubtitleLine]
    /// Where it is shown.
    public var placement: SubtitlePlacement
    /// Which cues it covers: those of lower layers; 0 by default.
    public var layer: Int
    /// Whether it is shown even where subtitles are turned off, as for a foreign language in the film
    /// (`itts:forcedDisplay`, IMSC 1.1 §8.4.4).
    public var isForced: Bool

    /// Makes a cue.
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

    /// Its text without styles, lines separated by line feeds.
    public var plainText: String { lines.map(\.plainText).joined(separator: "\n") }

    /// The cue at another place of the timeline.
    public func moved(by offset: MediaTime) -> SubtitleCue {
        var cue = self
        cue.timeRange = MediaTimeRange(start: timeRange.start + offset, duration: timeRange.duration)
        return cue
    }

    /// Whether a viewer sees the same in both, whenever it is and however they are named.
    public func looksLike(_ other: SubtitleCue) -> Bool {
        lines == other.lines && placement == other.placement && layer == other.layer && isForced == other.isForced
    }
}

/// A line of a cue.
public struct SubtitleLine: Sendable, Hashable {
    /// Its parts, in the order of the text.
    public var spans: [SubtitleSpan]

    /// Makes a line.
    public init(_ spans: [SubtitleSpan]) {
        self.spans = spans
    }

    /// Its text without styles.
    public var plainText: String { spans.map(\.text).joined() }
}

/// A stretch of text of one style.
public struct SubtitleSpan: Sendable, Hashable {
    /// The text; it has no line ends.
    public var text: String
    /// What it looks like.
    public var style: SubtitleStyle

    /// Makes a span.
    public init(_ text: String, style: SubtitleStyle = .init()) {
        self.text = text
        self.style = style
    }
}
