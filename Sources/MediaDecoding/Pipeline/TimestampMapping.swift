import MediaTiming
import StreamingEngine

/// The mapping of media timestamps to the timeline of the player item.
///
/// Timestamps are continuous between two discontinuities, and equal in all renditions (RFC 8216bis §4.4.4.3, §6.2.4).
/// Therefore one offset per discontinuity sequence number suffices: the difference between the playlist time of a
/// segment and its first timestamp. Video determines it, because playlists declare the durations of video. A playlist
/// whose timestamps deviate too much from this offset gets a separate offset.
struct TimestampMapping: Sendable {
    /// The timing information of the segment to map.
    struct Input: Sendable {
        let domain: PipelineSegment.Domain
        /// The earliest presentation time in the segment, in container time.
        let firstTimestamp: MediaTime
        /// The time range of the segment according to the playlist.
        var range: MediaTimeRange
        /// A Boolean value that indicates whether the segment contains video, which determines the offset.
        let hasVideo: Bool
        /// The period after which the timestamps wrap around; `nil` if they do not.
        let timestampPeriod: MediaTime?
        /// A Boolean value that indicates whether parts of the segment could not be read.
        var isDamaged = false
        /// The offset that the file determines; `nil` if it is not known in advance.
        var fileOffset: MediaTime?

        /// Returns the timing information for a playlist that begins later on the timeline.
        ///
        /// - Parameter delay: The time at which the playlist begins; negative if it begins earlier than the timeline.
        /// - Returns: The timing information.
        func delayed(by delay: MediaTime) -> Input {
            var input = self
            input.range = MediaTimeRange(start: range.start + delay, duration: range.duration)
            return input
        }
    }

    /// The offsets by discontinuity sequence number.
    private var sharedOffsets: [Int64: (offset: MediaTime, isFromVideo: Bool)] = [:]
    /// The offsets of playlists that deviate from the shared offset.
    private var deviatingOffsets: [PipelineSegment.Domain: MediaTime] = [:]

    /// The maximum number of offsets of each kind; the table is cleared when it is full.
    private static let capacity = 4096

    /// Returns the offset to add to the timestamps of a segment.
    mutating func offset(of stretch: Input) -> MediaTime {
        let natural = stretch.range.start - stretch.firstTimestamp
        if let known = stretch.fileOffset {
            let offset = Self.unwrapped(known, near: natural, period: stretch.timestampPeriod)
            sharedOffsets[stretch.domain.sequence] = (offset, true)
            return offset
        }
        let sequence = stretch.domain.sequence
        guard let known = sharedOffsets[sequence] else {
            guard !stretch.isDamaged else { return natural }
            if sharedOffsets.count >= Self.capacity { sharedOffsets = [:] }
            sharedOffsets[sequence] = (natural, stretch.hasVideo)
            return natural
        }
        if stretch.hasVideo, !known.isFromVideo, !stretch.isDamaged {
            // Audio was appended first, but is less reliable.
            sharedOffsets[sequence] = (natural, true)
            return natural
        }
        if let fitting = Self.acceptableOffset(known.offset, natural: natural, input: stretch) { return fitting }
        if let known = deviatingOffsets[stretch.domain],
            let fitting = Self.acceptableOffset(known, natural: natural, input: stretch)
        {
            return fitting
        }
        // A damaged segment may lack its start, so the previous offset is more reliable.
        guard !stretch.isDamaged else {
            return Self.unwrapped(known.offset, near: natural, period: stretch.timestampPeriod)
        }
        if deviatingOffsets.count >= Self.capacity { deviatingOffsets = [:] }
        deviatingOffsets[stretch.domain] = natural
        return natural
    }

    /// Returns the offset of a discontinuity sequence number, which applies to any rendition; `nil` before media of it
    /// was appended.
    func offset(ofSequence sequence: Int64) -> MediaTime? { sharedOffsets[sequence]?.offset }

    /// Returns a Boolean value that indicates whether the offset of its discontinuity sequence number applies to a segment.
    func isSharedOffsetAcceptable(for input: Input) -> Bool {
        guard let known = sharedOffsets[input.domain.sequence] else { return false }
        let natural = input.range.start - input.firstTimestamp
        return Self.acceptableOffset(known.offset, natural: natural, input: input) != nil
    }

    /// Returns the time by which a playlist begins after the one that determined the offsets.
    ///
    /// A playlist of a recording can begin a segment earlier or later than the others. Its dates tell this, and are used only if
    /// the timestamps of the media agree.
    ///
    /// - Parameters:
    ///   - input: The timing information of the first segment, on the timeline of its playlist.
    ///   - start: The start of the playlist by its dates; `nil` if it is unknown.
    /// - Returns: The time, negative if the playlist begins earlier; zero if the playlists begin together, or if the dates and the
    ///   timestamps disagree.
    func delay(of input: Input, startByDates start: MediaTime?) -> MediaTime {
        guard let start, !isSharedOffsetAcceptable(for: input),
            isSharedOffsetAcceptable(for: input.delayed(by: start))
        else { return .zero }
        return start
    }

    /// Returns a known offset, corrected by wraparounds, if it is close to the one that results from the segment
    /// itself.
    ///
    /// The permitted deviation is a quarter of the duration of the segment, but at least 0.5 s and at most 2 s.
    private static func acceptableOffset(_ known: MediaTime, natural: MediaTime, input stretch: Input) -> MediaTime? {
        let limit = min(
            max(
                MediaTime(value: 1, timescale: 2),
                MediaTime(value: stretch.range.duration.value, timescale: stretch.range.duration.timescale *| 4)
            ),
            MediaTime(seconds: 2)
        )
        let offset = unwrapped(known, near: natural, period: stretch.timestampPeriod)
        let deviation = offset - natural
        return max(deviation, .zero - deviation) <= limit ? offset : nil
    }

    /// Returns an offset plus the number of wraparound periods that brings it closest to another offset.
    private static func unwrapped(_ offset: MediaTime, near natural: MediaTime, period wrap: MediaTime?) -> MediaTime {
        guard let wrap, wrap > .zero else { return offset }
        let turns = ((natural - offset).seconds / wrap.seconds).rounded()
        return turns != 0 && abs(turns) < 1_000_000 ? offset + wrap * Int64(saturating: turns) : offset
    }
}
