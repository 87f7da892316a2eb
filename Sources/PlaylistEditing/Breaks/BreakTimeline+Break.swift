import HLSPlaylist
import MediaTiming

extension BreakTimeline {
    /// A break that was replaced or is being replaced.
    struct Break: Sendable, Hashable, Codable {
        /// The identifier of the cue, as ``BreakCues/identifier(_:)`` returns it.
        private(set) var id: String
        /// The sequence number of the first replaced segment in the source.
        let start: Int64
        /// The date of the break in microseconds since 1970, or `nil` if the source has no dates.
        let date: Int64?
        /// The duration to replace, in microseconds.
        var target: Int64
        /// The durations of the replaced segments, in microseconds.
        private(set) var replaced: [Int64] = []
        /// The sum of these durations.
        private(set) var elapsed: Int64 = 0
        /// The time in microseconds for which the advertisement is played, if that is the time of another track and not of the
        /// replaced segments.
        let played: Int64?
        /// The index of the advertisement.
        var advertisement: Int
        /// The discontinuity sequence number of the first segment of the advertisement.
        private(set) var discontinuity: Int64
        /// The difference of the discontinuity sequence numbers after the break, if it is that of another track.
        let knownShift: Int64?
        /// A Boolean value that indicates whether a discontinuity precedes this segment.
        let hasDiscontinuity: Bool
        /// The end, or `nil` while the break lasts.
        private(set) var end: End?

        /// The maximum number of segments that a break replaces.
        private static let maximumReplacedCount = 10_000

        /// The end of a break.
        struct End: Sendable, Hashable, Codable {
            /// The number of segments of the advertisement that were played.
            let count: Int
            /// The difference between the discontinuity sequence numbers in the edited playlist and in the source after the
            /// break.
            let discontinuityShift: Int64
        }

        /// The sequence number after the last replaced segment in the source.
        var sourceEnd: Int64 { start +| Int64(replaced.count) }

        /// A Boolean value that indicates whether the parts of a stored break fit together.
        var isConsistent: Bool {
            start >= 0 && end?.count ?? 0 >= 0 && replaced.count <= Self.maximumReplacedCount
                && replaced.allSatisfy { $0 >= 0 }
        }

        /// The approximate size in memory, in bytes.
        var size: Int { replaced.count *| 8 +| id.utf8.count +| 160 }

        /// Returns a Boolean value that indicates whether the break ends before a segment of a duration.
        func isOver(before duration: Int64) -> Bool {
            let tolerance = min(duration / 2, Advertisement.maximumOverlap)
            return !replaced.isEmpty
                && (target -| elapsed <= tolerance || replaced.count >= Self.maximumReplacedCount)
        }

        /// Returns the time for which the advertisement is played once segments of a total duration are replaced.
        func playedTime(replacing elapsed: Int64) -> Int64 { played ?? elapsed }

        /// Replaces the next segment of the source, which has a duration in microseconds.
        mutating func replace(_ duration: Int64) {
            replaced.append(duration)
            elapsed +|= duration
        }

        /// Returns the time from the start of the break to a segment of the source.
        func elapsed(at sequence: Int64) -> Int64 {
            replaced.prefix(Int(clamping: max(0, sequence -| start))).reduce(0, +|)
        }

        /// Ends the break before a segment of the source.
        ///
        /// - Parameters:
        ///   - segment: The first segment of the source after the break.
        ///   - advertisement: The advertisement of the break.
        ///   - isFirstPlaylist: A Boolean value that indicates whether the break is in the first playlist of the track.
        mutating func finish(before segment: MediaSegment, _ advertisement: Advertisement, isFirstPlaylist: Bool) {
            let time = playedTime(replacing: elapsed)
            let count = replaced.isEmpty ? advertisement.count : advertisement.count(playableIn: time)
            // Without a segment of the advertisement, one discontinuity remains.
            let added = count > 0 ? advertisement.discontinuityCount(before: count) +| 1 : 0
            var shift = discontinuity +| added -| segment.discontinuitySequence
            if let knownShift, isFirstPlaylist {
                // If the first playlist of a track begins within a break of another track, the numbers of that track apply
                // after the break.
                shift = knownShift
                discontinuity = max(0, shift +| segment.discontinuitySequence -| added)
            }
            end = End(count: count, discontinuityShift: shift)
        }

        /// Replaces a long identifier that an earlier version of this program has stored.
        mutating func boundIdentifier() { id = BreakCues.identifier(id) }
    }
}
