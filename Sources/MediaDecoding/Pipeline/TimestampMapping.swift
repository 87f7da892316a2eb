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
    struct Stretch: Sendable {
        let domain: MediaPiece.Domain
        /// The earliest presentation time in the segment, in container time.
        let firstTimestamp: MediaTime
        /// The time range of the segment according to the playlist.
        let range: MediaTimeRange
        /// A Boolean value that indicates whether the segment contains video, which determines the offset.
        let hasPictures: Bool
        /// The period after which the timestamps wrap around; `nil` if they do not.
        let wrap: MediaTime?
        /// A Boolean value that indicates whether parts of the segment could not be read.
        var isDamaged = false
        /// The offset that the file determines; `nil` if it is not known in advance.
        var known: MediaTime?
    }

    /// The offsets by discontinuity sequence number.
    private var shared: [Int64: (offset: MediaTime, isByPictures: Bool)] = [:]
    /// The offsets of playlists that deviate from the shared offset.
    private var own: [MediaPiece.Domain: MediaTime] = [:]

    /// The maximum number of offsets of each kind; the table is cleared when it is full.
    private static let capacity = 4096

    /// Returns the offset to add to the timestamps of a segment.
    mutating func offset(of stretch: Stretch) -> MediaTime {
        let natural = stretch.range.start - stretch.firstTimestamp
        if let known = stretch.known {
            let offset = Self.turned(known, natural, stretch.wrap)
            shared[stretch.domain.sequence] = (offset, true)
            return offset
        }
        let sequence = stretch.domain.sequence
        guard let known = shared[sequence] else {
            guard !stretch.isDamaged else { return natural }
            if shared.count >= Self.capacity { shared = [:] }
            shared[sequence] = (natural, stretch.hasPictures)
            return natural
        }
        if stretch.hasPictures, !known.isByPictures, !stretch.isDamaged {
            // Audio was appended first, but is less reliable.
            shared[sequence] = (natural, true)
            return natural
        }
        if let fitting = Self.fitting(known.offset, natural, stretch) { return fitting }
        if let known = own[stretch.domain], let fitting = Self.fitting(known, natural, stretch) { return fitting }
        // A damaged segment may lack its start, so the previous offset is more reliable.
        guard !stretch.isDamaged else { return Self.turned(known.offset, natural, stretch.wrap) }
        if own.count >= Self.capacity { own = [:] }
        own[stretch.domain] = natural
        return natural
    }

    /// Returns the offset of a discontinuity sequence number, which applies to any rendition; `nil` before media of it
    /// was appended.
    func offset(ofSequence sequence: Int64) -> MediaTime? { shared[sequence]?.offset }

    /// Returns a known offset, corrected by wraparounds, if it is close to the one that results from the segment
    /// itself.
    ///
    /// The permitted deviation is a quarter of the duration of the segment, but at least 0.5 s and at most 2 s.
    private static func fitting(_ known: MediaTime, _ natural: MediaTime, _ stretch: Stretch) -> MediaTime? {
        let limit = min(
            max(
                MediaTime(value: 1, timescale: 2),
                MediaTime(value: stretch.range.duration.value, timescale: stretch.range.duration.timescale *| 4)
            ),
            MediaTime(seconds: 2)
        )
        let offset = turned(known, natural, stretch.wrap)
        let deviation = offset - natural
        return max(deviation, .zero - deviation) <= limit ? offset : nil
    }

    /// Returns an offset plus the number of wraparound periods that brings it closest to another offset.
    private static func turned(_ offset: MediaTime, _ natural: MediaTime, _ wrap: MediaTime?) -> MediaTime {
        guard let wrap, wrap > .zero else { return offset }
        let turns = ((natural - offset).seconds / wrap.seconds).rounded()
        return turns != 0 && abs(turns) < 1_000_000 ? offset + wrap * Int64(saturating: turns) : offset
    }
}
