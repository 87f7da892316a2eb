import MediaTiming

/// The orientation in which the pictures of a video track are shown: a rotation by a multiple of 90 degrees, and possibly
/// a reflection.
///
/// Cameras store the pictures as their sensor sees them, and the orientation as a matrix in the track header of a movie
/// (ISO/IEC 14496-12 §8.3.2) or as a projection in Matroska (RFC 9559 §5.1.4.1.28.41).
package struct VideoOrientation: Sendable, Hashable {
    /// A Boolean value that indicates whether rows and columns are exchanged, before the picture is mirrored.
    package let isTransposed: Bool
    /// A Boolean value that indicates whether left and right are exchanged.
    package let isMirroredHorizontally: Bool
    /// A Boolean value that indicates whether top and bottom are exchanged.
    package let isMirroredVertically: Bool

    /// The orientation of pictures that are shown as they are stored.
    package static let upright = VideoOrientation(
        isTransposed: false,
        isMirroredHorizontally: false,
        isMirroredVertically: false
    )

    /// The multiple by which the larger numbers of a matrix must exceed the smaller ones, which is that of an angle of
    /// less than one degree.
    private static let precision: Int64 = 64

    private init(isTransposed: Bool, isMirroredHorizontally: Bool, isMirroredVertically: Bool) {
        self.isTransposed = isTransposed
        self.isMirroredHorizontally = isMirroredHorizontally
        self.isMirroredVertically = isMirroredVertically
    }

    /// Creates the orientation of a transformation matrix; its scale and translation are ignored, and it counts as upright
    /// if its angle is not a multiple of 90 degrees.
    ///
    /// - Parameters:
    ///   - a: The contribution of the stored horizontal position to the shown horizontal position.
    ///   - b: The contribution of the stored horizontal position to the shown vertical position.
    ///   - c: The contribution of the stored vertical position to the shown horizontal position.
    ///   - d: The contribution of the stored vertical position to the shown vertical position.
    package init(a: Int32, b: Int32, c: Int32, d: Int32) {
        let (straight, crossed) = ([abs(Int64(a)), abs(Int64(d))], [abs(Int64(b)), abs(Int64(c))])
        func exceeds(_ large: [Int64], _ small: [Int64]) -> Bool {
            let (least, most) = (large.min() ?? 0, small.max() ?? 0)
            return least > 0 && most <= least / Self.precision
        }
        if exceeds(crossed, straight) {
            self.init(isTransposed: true, isMirroredHorizontally: c < 0, isMirroredVertically: b < 0)
        } else if exceeds(straight, crossed) {
            self.init(isTransposed: false, isMirroredHorizontally: a < 0, isMirroredVertically: d < 0)
        } else {
            self = .upright
        }
    }

    /// Creates the orientation of a rectangular projection in Matroska, whose angles are in degrees; returns `nil` if the
    /// pictures are not shown flat, or not at a multiple of 90 degrees.
    package init?(yaw: Double, pitch: Double, roll: Double) {
        let shown = Self.all.first { orientation in
            let (otherYaw, otherRoll) = (Double(orientation.projection.yaw), Double(orientation.projection.roll))
            return abs(yaw) == otherYaw && (roll == otherRoll || otherRoll == 180 && roll == -180)
        }
        guard pitch == 0, let shown else { return nil }
        self = shown
    }

    /// All orientations.
    package static let all: [VideoOrientation] = [false, true].flatMap { isTransposed in
        [false, true].flatMap { isMirroredHorizontally in
            [false, true].map { isMirroredVertically in
                VideoOrientation(
                    isTransposed: isTransposed,
                    isMirroredHorizontally: isMirroredHorizontally,
                    isMirroredVertically: isMirroredVertically
                )
            }
        }
    }

    /// The transformation matrix with the numbers -1, 0 and 1.
    package var matrix: (a: Int32, b: Int32, c: Int32, d: Int32) {
        let (horizontal, vertical): (Int32, Int32) = (isMirroredHorizontally ? -1 : 1, isMirroredVertically ? -1 : 1)
        return isTransposed ? (0, vertical, horizontal, 0) : (horizontal, 0, 0, vertical)
    }

    /// The clockwise rotation in degrees: 0, 90, 180 or 270.
    package var rotation: Int { (isTransposed ? 90 : 0) + (isMirroredVertically ? 180 : 0) }

    /// A Boolean value that indicates whether left and right are exchanged after the rotation.
    package var isMirrored: Bool { (isMirroredHorizontally != isMirroredVertically) != isTransposed }

    /// The angles of a rectangular projection in Matroska, in degrees.
    package var projection: (yaw: Int32, roll: Int32) {
        let roll: Int32 =
            switch (rotation, isMirrored) {
            case (90, false), (270, true): -90
            case (90, true), (270, false): 90
            case (180, _): 180
            default: 0
            }
        return (isMirrored ? 180 : 0, roll)
    }

    /// The orientation in words, such as `rotated by 90°`; `nil` if it is upright.
    package var text: String? {
        switch (rotation, isMirrored) {
        case (0, false): nil
        case (0, true): "mirrored"
        case (let angle, false): "rotated by \(angle)°"
        case (let angle, true): "rotated by \(angle)° and mirrored"
        }
    }
}
