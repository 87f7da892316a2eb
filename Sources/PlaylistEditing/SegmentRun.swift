import HLSPlaylist

/// Consecutive segments of one playlist that are copied to an edited playlist.
struct SegmentRun {
    let playlist: MediaPlaylist
    let positions: Range<Int>
    /// A Boolean value that indicates whether the segments belong to the host, whose header the edited playlist has.
    let isHost: Bool
    /// A Boolean value that indicates whether keys need explicit initialization vectors, because sequence numbers
    /// change.
    var needsOwnVectors = false

    init(_ playlist: MediaPlaylist, _ positions: Range<Int>, isHost: Bool) {
        self.playlist = playlist
        self.positions = positions
        self.isHost = isHost
    }
}
