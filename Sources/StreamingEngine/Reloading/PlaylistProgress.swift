import HLSPlaylist

/// How far a media playlist has come: what a newer one has more of.
struct PlaylistProgress: Sendable, Hashable, Comparable {
    /// The number that the next segment will have.
    let nextSequence: Int64
    /// How many parts of it are there.
    let partCount: Int
    /// Whether nothing will be added.
    let hasEnded: Bool

    /// Reads a playlist or a delta update, which count alike.
    init(_ playlist: MediaPlaylist) {
        nextSequence = playlist.segmentSequences.upperBound
        partCount = playlist.trailingParts.count
        hasEnded = !playlist.isLive
    }

    /// Whether the left value has less than the right one.
    static func < (left: PlaylistProgress, right: PlaylistProgress) -> Bool {
        if left.nextSequence != right.nextSequence { return left.nextSequence < right.nextSequence }
        if left.hasEnded != right.hasEnded { return right.hasEnded }
        return left.partCount < right.partCount
    }
}
