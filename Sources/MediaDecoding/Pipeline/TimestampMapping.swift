import MediaTiming
import StreamingEngine

/// Tells where on the timeline of the item the timestamps of media lie.
///
/// Timestamps go on between two discontinuities, in all renditions alike (RFC 8216bis §4.4.4.3, §6.2.4), so one number
/// suffices for a discontinuity sequence: the difference between the playlist's time of a segment and its first timestamp.
/// Pictures decide on it, since playlists are made by their lengths. Streams that do not keep to that get a number of their
/// own where they would be too far off.
struct TimestampMapping: Sendable {
    /// What is to be mapped.
    struct Stretch: Sendable {
        let domain: MediaPiece.Domain
        /// The first timestamp in it that is shown.
        let firstTimestamp: MediaTime
        /// Where the playlist has it.
        let range: MediaTimeRange
        /// Whether it has pictures, which decide.
        let hasPictures: Bool
        /// After how much time timestamps begin anew; `nil` where they never do.
        let wrap: MediaTime?
        /// Whether not all of it could be read.
        var isDamaged = false
        /// What is to be added, where a file says so.
        var known: MediaTime?
    }

    /// By discontinuity sequence.
    private var shared: [Int64: (offset: MediaTime, isByPictures: Bool)] = [:]
    /// Of those that do not keep to it.
    private var own: [MediaPiece.Domain: MediaTime] = [:]

    /// More than so many discontinuities are not remembered.
    private static let capacity = 4096

    /// What is to be added to the timestamps of a stretch.
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
            // Sound was there first, and knew no better.
            shared[sequence] = (natural, true)
            return natural
        }
        if let fitting = Self.fitting(known.offset, natural, stretch) { return fitting }
        if let known = own[stretch.domain], let fitting = Self.fitting(known, natural, stretch) { return fitting }
        // What is damaged may lack its beginning: it is believed less than what came before.
        guard !stretch.isDamaged else { return Self.turned(known.offset, natural, stretch.wrap) }
        if own.count >= Self.capacity { own = [:] }
        own[stretch.domain] = natural
        return natural
    }

    /// What is to be added to timestamps of a discontinuity sequence in any rendition; `nil` before there was media of it.
    func offset(ofSequence sequence: Int64) -> MediaTime? { shared[sequence]?.offset }

    /// An offset that was found elsewhere, as far as it suits; whole turns of a clock that begins anew do not count.
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

    /// An offset with as many turns of a clock that begins anew as bring it near another.
    private static func turned(_ offset: MediaTime, _ natural: MediaTime, _ wrap: MediaTime?) -> MediaTime {
        guard let wrap, wrap > .zero else { return offset }
        let turns = ((natural - offset).seconds / wrap.seconds).rounded()
        return turns != 0 && abs(turns) < 1_000_000 ? offset + wrap * Int64(saturating: turns) : offset
    }
}
