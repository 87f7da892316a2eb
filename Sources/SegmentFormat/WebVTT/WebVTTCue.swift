package import MediaTiming

/// A WebVTT cue: a text and the time range during which it is shown (W3C WebVTT §3.1).
package struct WebVTTCue: Sendable, Hashable {
    /// The cue identifier; empty if the cue has none.
    package let id: String
    /// The time range during which the cue is shown; empty if its end is before its start.
    package let timeRange: MediaTimeRange
    /// The position and layout of the cue.
    package let settings: WebVTTCueSettings
    /// The cue text with tags and entities, as in the document; lines are separated by line feeds.
    package let text: String

    /// The cue text as a tree of nodes.
    ///
    /// - Complexity: O(*n*) in the bytes of the text, at each access.
    package var nodes: [WebVTTNode] { WebVTTNode.nodes(text) }

    /// Creates a cue with the given properties.
    package init(id: String = "", timeRange: MediaTimeRange, settings: WebVTTCueSettings = .init(), text: String) {
        self.id = id
        self.timeRange = timeRange
        self.settings = settings
        self.text = text
    }

    /// Returns a copy of the cue whose time range is shifted by the given offset.
    package func shifted(by offset: MediaTime) -> WebVTTCue {
        WebVTTCue(
            id: id,
            timeRange: MediaTimeRange(start: timeRange.start + offset, duration: timeRange.duration),
            settings: settings,
            text: text
        )
    }
}

/// The position and layout settings of a cue (W3C WebVTT §3.1 and §6.3).
package struct WebVTTCueSettings: Sendable, Hashable {
    /// A writing direction of text lines.
    package enum Direction: String, Sendable, Hashable {
        /// Horizontal lines.
        case horizontal = ""
        /// Vertical lines, each further one to the left of the previous one.
        case growingLeft = "rl"
        /// Vertical lines, each further one to the right of the previous one.
        case growingRight = "lr"
    }

    /// The position of the cue box across the lines: vertical for horizontal text, horizontal for vertical text.
    package enum Line: Sendable, Hashable {
        /// The lowest position that does not overlap other cues.
        case automatic
        /// A line number, counted from 0 at the top or from -1 at the bottom.
        case number(Double)
        /// A distance from the top, or from the left for vertical text, in percent of the video viewport.
        case percentage(Double)
    }

    /// The part of the cue box that is placed at the line position.
    package enum LineAlignment: String, Sendable, Hashable {
        /// The start of the box.
        case start
        /// The center of the box.
        case center
        /// The end of the box.
        case end
    }

    /// The part of the cue box that is placed at the position along the line.
    package enum PositionAlignment: String, Sendable, Hashable {
        /// Derived from the text alignment.
        case automatic = ""
        /// The left end of the box.
        case lineLeft = "line-left"
        /// The center of the box.
        case center
        /// The right end of the box.
        case lineRight = "line-right"
    }

    /// An alignment of the text inside the cue box.
    package enum Alignment: String, Sendable, Hashable {
        /// Aligned to the side at which the text starts in its base direction.
        case start
        /// Centered.
        case center
        /// Aligned to the side at which the text ends in its base direction.
        case end
        /// Aligned to the left.
        case left
        /// Aligned to the right.
        case right
    }

    /// The writing direction; horizontal by default.
    package var direction = Direction.horizontal
    /// The position of the box across the lines; automatic by default.
    package var line = Line.automatic
    /// The part of the box that is placed at ``line``; its start by default.
    package var lineAlignment = LineAlignment.start
    /// The position of the box along the lines, in percent; `nil` for automatic, the default.
    package var position: Double?
    /// The part of the box that is placed at ``position``; automatic by default.
    package var positionAlignment = PositionAlignment.automatic
    /// The size of the box along the lines, in percent; 100 by default.
    package var size: Double = 100
    /// The alignment of the text in the box; centered by default.
    package var alignment = Alignment.center
    /// The identifier of the region in which the cue is shown; `nil` by default.
    package var regionID: String?

    /// Creates settings with default values.
    package init() {}
}

/// A part of the video viewport in which cues are shown (W3C WebVTT §3.3).
package struct WebVTTRegion: Sendable, Hashable {
    /// A point, in percent of a width and a height.
    package struct Anchor: Sendable, Hashable {
        /// The distance from the left.
        package var x: Double
        /// The distance from the top.
        package var y: Double
    }

    /// The region identifier; empty if the region has none.
    package var id = ""
    /// The width, in percent of the video viewport; 100 by default.
    package var width: Double = 100
    /// The number of lines; 3 by default.
    package var lines = 3
    /// The point of the region that is placed at ``viewportAnchor``; the lower left corner by default.
    package var anchor = Anchor(x: 0, y: 100)
    /// The point of the video viewport at which the region is placed; the lower left corner by default.
    package var viewportAnchor = Anchor(x: 0, y: 100)
    /// A Boolean value that indicates whether existing cues scroll up when further ones are added.
    package var scrollsUp = false
}
