public import MediaTiming

/// A cue of WebVTT: a text and when it is shown (W3C WebVTT §3.1).
public struct WebVTTCue: Sendable, Hashable {
    /// Its identifier; empty where it has none.
    public let id: String
    /// When it is shown; empty where it ends before it begins.
    public let timeRange: MediaTimeRange
    /// Where it is shown.
    public let settings: WebVTTCueSettings
    /// Its text with tags and entities, as it stands in the document; lines end in a line feed.
    public let text: String

    /// Its text as a tree.
    ///
    /// - Complexity: O(*n*) in the text's bytes, at each call.
    public var nodes: [WebVTTNode] { WebVTTNode.nodes(text) }

    /// Makes a cue.
    public init(id: String = "", timeRange: MediaTimeRange, settings: WebVTTCueSettings = .init(), text: String) {
        self.id = id
        self.timeRange = timeRange
        self.settings = settings
        self.text = text
    }

    /// The cue at another place of the timeline.
    public func moved(by offset: MediaTime) -> WebVTTCue {
        WebVTTCue(
            id: id,
            timeRange: MediaTimeRange(start: timeRange.start + offset, duration: timeRange.duration),
            settings: settings,
            text: text
        )
    }
}

/// Where a cue is shown (W3C WebVTT §3.1 and §6.3).
public struct WebVTTCueSettings: Sendable, Hashable {
    /// Which way lines of text run.
    public enum Direction: String, Sendable, Hashable {
        /// From left to right, or right to left.
        case horizontal = ""
        /// Downwards, further lines to the left.
        case growingLeft = "rl"
        /// Downwards, further lines to the right.
        case growingRight = "lr"
    }

    /// Which place of the picture the box of a cue stands at.
    public enum Line: Sendable, Hashable {
        /// Below the other cues.
        case automatic
        /// A line, counted from 0 at the top, or from -1 at the bottom.
        case number(Double)
        /// A distance from the top, in percent of the picture.
        case percentage(Double)
    }

    /// Which part of a box stands at a place.
    public enum LineAlignment: String, Sendable, Hashable {
        /// Its beginning.
        case start
        /// Its middle.
        case center
        /// Its end.
        case end
    }

    /// Which part of a box stands at a position.
    public enum PositionAlignment: String, Sendable, Hashable {
        /// As the text is aligned.
        case automatic = ""
        /// Its left end.
        case lineLeft = "line-left"
        /// Its middle.
        case center
        /// Its right end.
        case lineRight = "line-right"
    }

    /// How text is aligned inside of the box.
    public enum Alignment: String, Sendable, Hashable {
        /// At the side its writing begins.
        case start
        /// In the middle.
        case center
        /// At the side its writing ends.
        case end
        /// On the left.
        case left
        /// On the right.
        case right
    }

    /// Which way lines run; horizontal by default.
    public var direction = Direction.horizontal
    /// Where the box stands; automatic by default.
    public var line = Line.automatic
    /// Which part of the box stands there; its beginning by default.
    public var lineAlignment = LineAlignment.start
    /// Where the box stands along its lines, in percent; `nil` for automatic, the default.
    public var position: Double?
    /// Which part of the box stands there; automatic by default.
    public var positionAlignment = PositionAlignment.automatic
    /// How long the box is along its lines, in percent; 100 by default.
    public var size: Double = 100
    /// How text is aligned; in the middle by default.
    public var alignment = Alignment.center
    /// The name of the region it is shown in; `nil` by default.
    public var regionID: String?

    /// Makes settings that are all as by default.
    public init() {}
}

/// A part of the picture that cues are shown in (W3C WebVTT §3.3).
public struct WebVTTRegion: Sendable, Hashable {
    /// A place, in percent of a width and a height.
    public struct Anchor: Sendable, Hashable {
        /// From the left.
        public var x: Double
        /// From the top.
        public var y: Double
    }

    /// Its name; empty where it has none.
    public var id = ""
    /// Its width, in percent of the picture; 100 by default.
    public var width: Double = 100
    /// How many lines it has; 3 by default.
    public var lines = 3
    /// Which place of the region stands at ``viewportAnchor``; its lower left corner by default.
    public var anchor = Anchor(x: 0, y: 100)
    /// Where in the picture it stands; in its lower left corner by default.
    public var viewportAnchor = Anchor(x: 0, y: 100)
    /// Whether cues move upwards as further ones come.
    public var scrollsUp = false
}
