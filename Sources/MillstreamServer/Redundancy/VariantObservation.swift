import HLSPlaylist
import MediaTiming
import PlaylistEditing

/// The results of the loads of the media playlist of a redundant variant over time.
struct VariantObservation: Sendable {
    /// The result of a load.
    enum Outcome: Sendable, Hashable {
        /// The playlist could not be loaded or parsed.
        case failed
        /// The playlist was not loaded in time.
        case timedOut
        /// The playlist is complete.
        case complete(targetDuration: MediaTime)
        /// The playlist is live, and has this end.
        case live(End, targetDuration: MediaTime)
    }

    /// The end of a live playlist.
    struct End: Sendable, Hashable {
        /// The media sequence number after that of the last segment.
        var sequence: Int64
        /// The number of partial segments after it.
        var partCount = 0
        /// The end of the last segment, as the time since 1970; `nil` if the playlist has no dates.
        var date: MediaTime?
        /// The number of segments in the time by which the playlist may be behind.
        var toleratedSegmentCount = RedundantVariants.toleratedTargetDurations

        /// Returns a Boolean value that indicates whether two ends of a playlist are at the same media.
        ///
        /// The tolerance is not compared. It also changes when old segments are removed, although no segments are
        /// added.
        func isSamePosition(as other: End) -> Bool {
            sequence == other.sequence && partCount == other.partCount && date == other.date
        }
    }

    /// The last result other than a first time-out; `nil` before there is one.
    private var outcome: Outcome?
    /// The time of the last load.
    private var lastLoad: Duration?
    /// The time of the last load with the result ``outcome``.
    private var confirmation = Duration.zero
    /// The end of the playlist when it was last live, and the time at which it was first seen.
    private var end: (value: End, firstSeen: Duration)?
    private var hasChanged = false
    private var timeOutCount = 0
    private var targetDuration: MediaTime?

    /// The number of successive time-outs that count as a failure; after fewer of them, the last known state is used.
    private static let maximumTimeOutCount = 2
    /// The time for which a result is used if no target duration is known.
    private static let defaultLifetime = Duration.seconds(4)
    /// The bounds of the time for which a result is used, which limit the effect of extreme target durations.
    private static let lifetimes = Duration.seconds(1)...Duration.seconds(10)

    /// Returns a Boolean value that indicates whether the last result is used without another load: for a target duration, from 1 to
    /// 10 seconds.
    ///
    /// - Parameter now: The current time.
    /// - Returns: `true` if no load is due.
    func isFresh(at now: Duration) -> Bool {
        guard let lastLoad else { return false }
        let lifetime = targetDuration?.duration ?? Self.defaultLifetime
        return now - lastLoad < min(max(lifetime, Self.lifetimes.lowerBound), Self.lifetimes.upperBound)
    }

    /// Adds the result of a load.
    ///
    /// - Parameters:
    ///   - result: The result.
    ///   - now: The current time.
    mutating func record(_ result: Outcome, at now: Duration) {
        lastLoad = now
        switch result {
        case .timedOut:
            timeOutCount +|= 1
            if timeOutCount >= Self.maximumTimeOutCount { outcome = .failed }
            return
        case .failed: break
        case .complete(let target): targetDuration = target
        case .live(let position, let target):
            targetDuration = target
            if let end, position.isSamePosition(as: end.value) { break }
            // The first end is not a change, because its age is unknown.
            hasChanged = end != nil
            end = (position, now)
        }
        timeOutCount = 0
        outcome = result
        confirmation = now
    }

    /// Returns the availability of the variant for the decision which variants remain.
    ///
    /// - Parameter now: The current time.
    /// - Returns: The availability; unknown if the last known state of a live playlist is too old.
    func availability(at now: Duration) -> VariantAvailability {
        guard let outcome else { return .unknown }
        switch outcome {
        case .timedOut: return .unknown
        case .failed: return .failed
        case .complete: return .complete
        case .live(let position, let target):
            let variant = LiveVariant(
                targetDuration: target,
                endSequence: position.sequence,
                endDate: position.date,
                unchangedTime: confirmation - (end?.firstSeen ?? confirmation),
                hasChanged: hasChanged,
                toleratedSegmentCount: position.toleratedSegmentCount
            )
            return now - confirmation > variant.tolerance.duration ? .unknown : .live(variant)
        }
    }
}

extension VariantObservation.Outcome {
    /// The target duration of a playlist without a valid one.
    private static let defaultTargetDuration = MediaTime(seconds: 10)
    private static let minimumTargetDuration = MediaTime(seconds: 1)

    /// Creates the result of a load that received a playlist, which must be a media playlist.
    ///
    /// - Parameter playlist: The playlist.
    init(_ playlist: Playlist) {
        switch playlist {
        case .multivariant: self = .failed
        case .media(let media):
            let target = max(media.targetDuration ?? Self.defaultTargetDuration, Self.minimumTargetDuration)
            guard media.isLive else {
                self = .complete(targetDuration: target)
                return
            }
            let last = media.segments.last
            let end = VariantObservation.End(
                sequence: last.map { $0.sequence +| 1 } ?? media.mediaSequence,
                partCount: media.trailingParts.count,
                date: last.flatMap { segment in segment.programDateTime.map { $0.sinceEpoch + segment.duration } },
                toleratedSegmentCount: Self.toleratedSegmentCount(of: media, target)
            )
            self = .live(end, targetDuration: target)
        }
    }

    /// Returns the number of segments by which a live playlist may be behind.
    ///
    /// The I-frames of an I-frame playlist can be much shorter than the target duration; there, it is the number of those in the last
    /// target durations.
    private static func toleratedSegmentCount(of media: MediaPlaylist, _ target: MediaTime) -> Int64 {
        let count = RedundantVariants.toleratedTargetDurations
        guard media.isIFramesOnly else { return count }
        let first = media.segments.position(at: max(media.duration - target * count, .zero)) ?? 0
        return max(count, Int64(media.segments.count - first))
    }
}
