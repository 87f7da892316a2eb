/// Where a cue is shown: a box of text that hangs at a point of the picture.
public struct SubtitlePlacement: Sendable, Hashable {
    /// Which way text runs.
    public enum Writing: Sendable, Hashable {
        /// In lines, from left to right or right to left as its letters want.
        case horizontal
        /// In columns, further ones to the left.
        case verticalGrowingLeft
        /// In columns, further ones to the right.
        case verticalGrowingRight
    }

    /// Which part of the box, from left to right, stands at the point.
    public enum HorizontalAnchor: Sendable, Hashable {
        /// Its left side.
        case left
        /// Its middle.
        case center
        /// Its right side.
        case right
    }

    /// Which part of the box, from top to bottom, stands at the point.
    public enum VerticalAnchor: Sendable, Hashable {
        /// Its top.
        case top
        /// Its middle.
        case middle
        /// Its bottom.
        case bottom
    }

    /// What becomes of a cue where others stand.
    public enum Stacking: Sendable, Hashable {
        /// It stays where it is.
        case none
        /// It moves up or down to where nothing stands.
        case avoids
        /// It lies in one block with all cues of a region, in the order they were given.
        case flows(region: String)
    }

    /// Which way text runs; horizontal by default.
    public var writing = Writing.horizontal
    /// The point from the left, in percent of the picture's width; 50 by default.
    public var horizontalPosition: Double = 50
    /// The point from the top, in percent of the picture's height; 95 by default, the lower edge of what every set shows.
    public var verticalPosition: Double = 95
    /// Which part of the box stands at the point; the middle by default.
    public var horizontalAnchor = HorizontalAnchor.center
    /// Which part of the box stands at the point; the bottom by default.
    public var verticalAnchor = VerticalAnchor.bottom
    /// At which side of the box its lines stand; in the middle by default.
    public var alignment = HorizontalAnchor.center
    /// How wide the box is, or how high for vertical writing, in percent of the picture; 90 by default.
    public var regionWidth: Double = 90
    /// Whether lines that are longer than the box are broken; they are by default.
    public var wrapsLines = true
    /// What becomes of it where others stand; it avoids them by default.
    public var stacking = Stacking.avoids

    /// Makes the placement of subtitles that do not say where they stand: below, in the middle.
    public init() {}

    /// The left side of the box, in percent of the picture's width.
    public var left: Double {
        switch horizontalAnchor {
        case .left: horizontalPosition
        case .center: horizontalPosition - regionWidth / 2
        case .right: horizontalPosition - regionWidth
        }
    }
}
