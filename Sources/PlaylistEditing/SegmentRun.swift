import HLSPlaylist

/// Consecutive segments of one playlist that are copied to an edited playlist.
struct SegmentRun {
    let playlist: MediaPlaylist
    let positions: Range<Int>
    /// A Boolean value that indicates whether the segments belong to the host, whose header the edited playlist has.
    let isPrimary: Bool
    /// A Boolean value that indicates whether keys need explicit initialization vectors, because sequence numbers
    /// change.
    var needsExplicitVectors = false
    /// The date of the first segment, which replaces the dates of the playlist; `nil` to preserve them.
    var date: ProgramDateTime?
    /// A Boolean value that indicates whether a discontinuity precedes the run, even if it is the first one; `nil` if one
    /// precedes every run but the first, and those that begin with a discontinuity of their own.
    var beginsWithDiscontinuity: Bool?

    /// A Boolean value that indicates whether the bit rates of the segments are left out, because they would apply to the segments
    /// of a later run as well.
    var omitsBitRates = false

    init(_ playlist: MediaPlaylist, _ positions: Range<Int>, isPrimary: Bool) {
        self.playlist = playlist
        self.positions = positions
        self.isPrimary = isPrimary
    }
}
