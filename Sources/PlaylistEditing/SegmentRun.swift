import HLSPlaylist
import MediaTiming

/// Consecutive segments of one playlist that are copied to an edited playlist.
struct SegmentRun {
    /// The discontinuities before the first segment of a run.
    struct Discontinuities {
        /// The number of discontinuity tags, including those that the segment has in its playlist.
        let count: Int
        /// The discontinuity sequence number before the tags.
        let preceding: Int64
    }

    let playlist: MediaPlaylist
    let positions: Range<Int>
    /// A Boolean value that indicates whether the segments belong to the host, whose header the edited playlist has.
    let isPrimary: Bool
    /// A Boolean value that indicates whether keys need explicit initialization vectors, because sequence numbers
    /// change.
    var needsExplicitVectors = false
    /// The date of the first segment, which replaces the dates of the playlist; `nil` to preserve them.
    var date: ProgramDateTime?
    /// A Boolean value that indicates whether a discontinuity precedes the run, even if it is the first run.
    ///
    /// The default is `nil`: a discontinuity precedes every run except the first. None is added to a run that begins
    /// with a discontinuity of its own.
    var beginsWithDiscontinuity: Bool?

    /// The discontinuities before the first segment, if their number follows from another track.
    ///
    /// If the value is `nil`, the discontinuities follow from ``beginsWithDiscontinuity``.
    var discontinuities: Discontinuities?

    /// A Boolean value that indicates whether the bit rates of the segments are left out, because they would apply to the segments
    /// of a later run as well.
    var omitsBitRates = false

    init(_ playlist: MediaPlaylist, _ positions: Range<Int>, isPrimary: Bool) {
        self.playlist = playlist
        self.positions = positions
        self.isPrimary = isPrimary
    }

    /// Returns the runs of an edited playlist with the properties that follow from their positions in it.
    ///
    /// - Parameters:
    ///   - runs: The runs, none of which is empty.
    ///   - firstSequence: The media sequence number of the first segment of the edited playlist.
    ///   - isHostLive: Whether the host is live, so that later runs must not change segments that are published already.
    /// - Returns: The runs, in the same order.
    static func prepared(_ runs: [SegmentRun], firstSequence: Int64, isHostLive: Bool) -> [SegmentRun] {
        var prepared = runs
        var sequence = firstSequence
        for index in prepared.indices {
            prepared[index].needsExplicitVectors = prepared[index].losesImplicitVectors(newSequence: sequence)
            sequence +|= Int64(prepared[index].positions.count)
        }
        // A bit rate applies to all segments up to the next one (§4.4.4.8), and no tag ends it.
        // In a live playlist, later runs would change segments that are already published (§6.2.1).
        var omitsBitRates = isHostLive
        for index in prepared.indices.reversed() {
            prepared[index].omitsBitRates = omitsBitRates
            let first = prepared[index].positions.lowerBound
            omitsBitRates = omitsBitRates || prepared[index].playlist.bitRateLine(for: first) == nil
        }
        return prepared
    }

    /// Returns a Boolean value that indicates whether keys of the run derive initialization vectors from sequence
    /// numbers that change (§5.2).
    private func losesImplicitVectors(newSequence: Int64) -> Bool {
        guard playlist.segments[positions.lowerBound].sequence != newSequence else { return false }
        return positions.contains { position in
            playlist.keys(for: position).contains { $0.isIdentity && $0.initializationVector == nil }
        }
    }
}
