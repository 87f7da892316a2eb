/// The position and layout of a cue: a text box that is anchored at a point of the video.
public struct SubtitlePlacement: Sendable, Hashable {
    /// A writing direction of text.
    public enum WritingDirection: Sendable, Hashable {
        /// Horizontal lines, from left to right or right to left according to the script.
        case horizontal
        /// Vertical columns, each further one to the left of the previous one.
        case verticalGrowingLeft
        /// Vertical columns, each further one to the right of the previous one.
        case verticalGrowingRight
    }

    /// The horizontal part of the box that is placed at the anchor point.
    public enum HorizontalAnchor: Sendable, Hashable {
        /// The left edge.
        case left
        /// The center.
        case center
        /// The right edge.
        case right
    }

    /// The vertical part of the box that is placed at the anchor point.
    public enum VerticalAnchor: Sendable, Hashable {
        /// The top edge.
        case top
        /// The center.
        case middle
        /// The bottom edge.
        case bottom
    }

    /// The treatment of a cue that overlaps other cues.
    public enum OverlapHandling: Sendable, Hashable {
        /// The cue keeps its position.
        case fixed
        /// The cue moves up or down to a position without overlap.
        case avoidOverlap
        /// The cue is part of a block with all cues of the region, in their given order.
        case stackInRegion(region: String)
    }

    /// The writing direction; horizontal by default.
    public var writingDirection = WritingDirection.horizontal
    /// The distance of the anchor point from the left, in percent of the video width; 50 by default.
    public var horizontalPosition: Double = 50
    /// The distance of the anchor point from the top, in percent of the video height.
    ///
    /// The default is 95, the lower edge of ``SubtitleLayout/safeArea``.
    public var verticalPosition: Double = 95
    /// The horizontal part of the box that is placed at the anchor point; the center by default.
    public var horizontalAnchor = HorizontalAnchor.center
    /// The vertical part of the box that is placed at the anchor point; the bottom by default.
    public var verticalAnchor = VerticalAnchor.bottom
    /// The alignment of the lines in the box; centered by default.
    public var alignment = HorizontalAnchor.center
    /// The width of the box, or its height for vertical writing, in percent of the video; 90 by default.
    public var boxSize: Double = 90
    /// A Boolean value that indicates whether lines longer than the box are wrapped; `true` by default.
    public var wrapsLines = true
    /// The treatment of overlaps with other cues; the cue avoids them by default.
    public var overlapHandling = OverlapHandling.avoidOverlap

    /// Creates the placement of cues without position settings: at the bottom center.
    public init() {}

    /// The position of the left edge of the box, in percent of the video width.
    public var left: Double {
        switch horizontalAnchor {
        case .left: horizontalPosition
        case .center: horizontalPosition - boxSize / 2
        case .right: horizontalPosition - boxSize
        }
    }
}
