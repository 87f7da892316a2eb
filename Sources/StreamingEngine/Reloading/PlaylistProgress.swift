import HLSPlaylist

/// The position of the end of a media playlist, by which newer versions are recognized.
struct PlaylistProgress: Sendable, Hashable, Comparable {
    /// The media sequence number of the next segment.
    let nextSequence: Int64
    /// The number of partial segments of the next segment that are already available.
    let partCount: Int
    /// A Boolean value that indicates whether no segments will be added.
    let hasEnded: Bool

    /// Creates the position for a playlist or a delta update.
    init(_ playlist: MediaPlaylist) {
        nextSequence = playlist.segmentSequences.upperBound
        partCount = playlist.trailingParts.count
        hasEnded = !playlist.isLive
    }

    /// Returns whether the left playlist is older than the right one.
    static func < (left: PlaylistProgress, right: PlaylistProgress) -> Bool {
        if left.nextSequence != right.nextSequence { return left.nextSequence < right.nextSequence }
        if left.hasEnded != right.hasEnded { return right.hasEnded }
        return left.partCount < right.partCount
    }
}
