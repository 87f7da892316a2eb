import HLSPlaylist

/// Segments of one playlist that follow each other in the edited one.
struct SegmentRun {
    let playlist: MediaPlaylist
    let positions: Range<Int>
    /// Whether these are segments of the playlist whose header the edited one keeps.
    let isHost: Bool
    /// Whether each segment's initialization vector has to be written, since its number changes.
    var needsOwnVectors = false

    init(_ playlist: MediaPlaylist, _ positions: Range<Int>, isHost: Bool) {
        self.playlist = playlist
        self.positions = positions
        self.isHost = isHost
    }
}
