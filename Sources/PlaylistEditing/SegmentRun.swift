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

    init(_ playlist: MediaPlaylist, _ positions: Range<Int>, isPrimary: Bool) {
        self.playlist = playlist
        self.positions = positions
        self.isPrimary = isPrimary
    }
}
