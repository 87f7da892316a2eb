import HLSPlaylist
import MediaTiming

/// The breaks of a live playlist by the clock, whose number before any date is known without the earlier versions of the playlist.
///
/// Each break replaces the same number of segments by the same number of others. The numbers of segments in the edited playlist then
/// follow from their dates and from their numbers in the source.
struct BreakClock {
    /// The time between two breaks in microseconds: the interval of the rule, or the smallest multiple of it in which a break and a
    /// segment after it have room.
    let interval: Int64
    /// The number of segments of the source that a break replaces.
    let replacedCount: Int
    /// The number of segments that are played in a break.
    private let playedCount: Int
    /// The number of discontinuities that a break adds.
    private let discontinuityCount: Int64
    /// The target duration of the source in microseconds, for which each replaced segment counts.
    private let slot: Int64
    /// The duration in microseconds of what is played in a break.
    private let played: Int64

    /// The dates up to which numbers of segments remain positive where a break has fewer segments than it replaces: those until 2106.
    private static let lastDate: Int64 = 4_294_967_295_000_000

    /// Creates the clock of an edit.
    ///
    /// - Parameters:
    ///   - interval: The interval of the rule.
    ///   - advertisement: The playlist that is played in breaks.
    ///   - playlist: The source. Its target duration must not change (RFC 8216bis §4.4.3.1), unlike the average of its segments.
    init(_ interval: MediaTime, playing advertisement: Advertisement, in playlist: MediaPlaylist) {
        let slot = max(1, playlist.targetDuration?.roundedUpSeconds ?? 1) *| 1_000_000
        self.slot = slot
        played = advertisement.duration
        let time = max(0, played -| Advertisement.maximumOverlap)
        let count = Int(clamping: max(1, time.dividedRoundingUp(by: slot)))
        let replacedCount = min(count, BreakTimeline.maximumReplacedCount)
        self.replacedCount = replacedCount
        playedCount = advertisement.count
        let discontinuityCount = 2 +| advertisement.discontinuityCount(before: advertisement.count)
        self.discontinuityCount = discontinuityCount
        // The duration of a segment is at most half a second more than the target duration (§4.4.3.1).
        let room = (Int64(replacedCount) +| 1) *| (slot +| 500_000)
        let step = max(1, interval.microseconds)
        self.interval = step.multipliedSaturated(by: max(1, room.dividedRoundingUp(by: step)))
    }

    /// Returns a Boolean value that indicates whether the numbers of a playlist can be computed.
    ///
    /// It is then live and has dates, and its segments have about the target duration. Otherwise, the same number of segments would have
    /// very different durations.
    static func determinesBreaks(in playlist: MediaPlaylist) -> Bool {
        guard !playlist.timesRemain, playlist.segments.first?.programDateTime != nil,
            let target = playlist.targetDuration?.roundedUpSeconds
        else { return false }
        let durations = playlist.segments.map(\.duration.microseconds).sorted()
        return durations[durations.count / 2] >= target *| 850_000
    }

    /// Returns the number of breaks since 1970 that start with a segment or before it.
    ///
    /// - Parameter middle: The date of the middle of the segment, in microseconds since 1970: a break starts at the boundary of segments
    ///   that is nearest to its date.
    /// - Returns: The number.
    func number(at middle: Int64) -> Int64 { max(0, middle -| 1) / interval }

    /// Returns the differences between the numbers of segments in the edited playlist and in the source after a number of breaks.
    func shifts(after number: Int64) -> (media: Int64, discontinuity: Int64) {
        let added = Int64(playedCount) -| Int64(replacedCount)
        let offset = added < 0 ? added *| (Self.lastDate / interval) : 0
        return (added *| number -| offset, discontinuityCount *| number)
    }

    /// The break in which a playlist begins.
    struct FirstBreak {
        /// The number of the break.
        let number: Int64
        /// The number of replaced segments before the playlist.
        let missingCount: Int
        /// The average duration of the segments of the playlist, which those before it are assumed to have.
        let average: Int64
    }

    /// Returns the last break that started at or before the first segment of a playlist.
    ///
    /// - Parameters:
    ///   - playlist: The playlist.
    ///   - clock: The dates of its segments.
    /// - Returns: The break.
    func firstBreak(of playlist: MediaPlaylist, _ clock: SegmentClock) -> FirstBreak {
        let average = playlist.averageDuration
        let number = number(at: clock.middle(of: 0))
        // A segment before the playlist is in the break, or after it, if its middle is after the date of the break.
        let time = clock.date(of: 0) -| number *| interval +| average / 2
        return FirstBreak(
            number: number,
            missingCount: Int(clamping: max(0, time -| 1) / average),
            average: average
        )
    }

    /// Returns the segments that a break replaces.
    ///
    /// - Parameter average: The average duration of the segments of the source, in microseconds.
    /// - Returns: The segments.
    func slots(lasting average: Int64) -> BreakSlots {
        let isLonger = played > Int64(replacedCount) *| average +| Advertisement.maximumOverlap
        return BreakSlots(count: replacedCount, duration: slot, average: isLonger ? min(slot, average) : slot)
    }
}

/// The segments that a break replaces, if their number does not depend on their durations.
struct BreakSlots: Sendable, Hashable, Codable {
    /// The number of the segments.
    let count: Int
    /// The time in microseconds for which each of them counts.
    let duration: Int64
    /// Their average duration in microseconds if the advertisement is longer than all of them by so much that the dates of its
    /// segments have to be closer together, because dates must not overlap by a second (§6.2.1).
    let average: Int64

    /// A Boolean value that indicates whether each segment of the advertisement has a date of its own.
    var areShorter: Bool { average < duration }

    /// Returns the time between the dates of the first segment of the advertisement and of the one that starts after a time.
    func dateOffset(of start: Int64) -> Int64 {
        areShorter ? Int64(clamping: Int128(start) * Int128(average) / Int128(max(1, duration))) : start
    }
}

extension BreakCues {
    /// Creates the breaks that start in a playlist.
    ///
    /// - Parameters:
    ///   - breaks: The breaks by the clock.
    ///   - clock: The dates of the segments.
    ///   - position: The first segment that was not edited yet.
    ///   - number: The number of the last break before this segment.
    init(_ breaks: BreakClock, _ clock: SegmentClock, from position: Int, after number: Int64) {
        self.init()
        var number = number
        for position in clock.positions.dropFirst(position) {
            let next = breaks.number(at: clock.middle(of: position))
            if next > number { add(Start(id: "every-\(next)", position: position)) }
            number = next
        }
    }
}

extension MediaPlaylist {
    /// The average duration of the segments in microseconds, at least 1.
    var averageDuration: Int64 {
        max(1, duration.microseconds.dividedSaturated(by: Int64(max(1, segments.count))))
    }
}

extension Int64 {
    /// Returns the quotient of the division of a number that is not negative by a positive one, rounded up.
    fileprivate func dividedRoundingUp(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder > 0 ? quotient +| 1 : quotient
    }
}
