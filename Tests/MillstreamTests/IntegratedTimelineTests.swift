import MediaTiming
import Testing

@testable import Millstream

/// Tests of the timeline of an item together with its interstitials.
@Suite struct IntegratedTimelineTests {
    private static func event(_ id: String, _ change: (inout InterstitialEvent) -> Void = { _ in }) -> InterstitialEvent
    {
        var event = InterstitialEvent(id: id, at: .zero, .assets([]))
        change(&event)
        return event
    }

    /// Returns an event that fills its planned duration on the timeline, in seconds.
    private static func filling(_ id: String, _ duration: Int64, resumptionOffset: Int64? = nil) -> InterstitialEvent {
        event(id) {
            $0.timelineOccupancy = .fill
            $0.plannedDuration = MediaTime(seconds: duration)
            $0.resumptionOffset = resumptionOffset.map { MediaTime(seconds: $0) }
        }
    }

    private static func timeline(
        _ entries: [(InterstitialEvent, Int64)],
        joining: [InterstitialEvent] = [],
        leaving: [InterstitialEvent] = [],
        duration: Int64 = 60
    ) -> IntegratedTimeline {
        IntegratedTimeline(
            duration: MediaTime(seconds: duration),
            entries: entries.map { InterstitialSchedule.Entry(event: $0.0, start: MediaTime(seconds: $0.1)) },
            joining: joining,
            leaving: leaving
        )
    }

    private static func shape(_ timeline: IntegratedTimeline) -> [String] {
        timeline.segments.map { segment in
            let name = segment.event?.id ?? "\(segment.source.start.seconds)-\(segment.source.end.seconds)"
            return "\(name) \(segment.target.start.seconds)-\(segment.target.end.seconds)"
        }
    }

    /// A pre-roll of 10 s, an interstitial of 12 s at 20 s, and a post-roll of 6 s.
    private static let film = timeline(
        [(filling("a", 12), 20)],
        joining: [filling("pre", 10, resumptionOffset: 0)],
        leaving: [filling("post", 6)]
    )

    @Test func interstitialsBeforeWithinAndAfterTheItemHaveTheirDurations() {
        #expect(
            Self.shape(Self.film) == [
                "pre 0.0-10.0", "0.0-20.0 10.0-30.0", "a 30.0-42.0", "32.0-60.0 42.0-70.0", "post 70.0-76.0",
            ]
        )
        #expect(Self.film.duration == MediaTime(seconds: 76))
    }

    @Test func interstitialsWithinAReplacedRangeOrAfterTheItemAreLeftOut() {
        func point(_ id: String, _ offset: Int64) -> InterstitialEvent {
            Self.event(id) { $0.resumptionOffset = MediaTime(seconds: offset) }
        }
        let timeline = Self.timeline([
            (point("a", 5), 20), (point("b", 10), 20), (point("c", 0), 30), (point("d", 0), 35), (point("e", 0), 60),
            (point("f", 0), 61),
        ])
        #expect(
            Self.shape(timeline) == [
                "0.0-20.0 0.0-20.0", "a 20.0-20.0", "b 20.0-20.0", "d 20.0-20.0", "35.0-60.0 20.0-45.0", "e 45.0-45.0",
            ]
        )
    }

    @Test func aNegativeOffsetRepeatsTheItemFromItsStartAtTheEarliest() {
        let timeline = Self.timeline([(Self.event("a") { $0.resumptionOffset = MediaTime(seconds: -10) }, 5)])
        #expect(Self.shape(timeline) == ["0.0-5.0 0.0-5.0", "a 5.0-5.0", "0.0-60.0 5.0-65.0"])
        let before = Self.timeline([], joining: [Self.event("p") { $0.resumptionOffset = MediaTime(seconds: -3) }])
        #expect(Self.shape(before) == ["p 0.0-0.0", "0.0-60.0 0.0-60.0"])
    }

    @Test(
        arguments: [(30, 10, "10.0"), (10, 30, "10.0"), (nil, 10, "10.0"), (10, nil, "10.0"), (nil, nil, "0.0")]
            as [(Int64?, Int64?, String)]
    )
    func theLengthIsThePlannedDurationUpToTheLimit(planned: Int64?, limit: Int64?, length: String) {
        let event = Self.event("a") {
            $0.timelineOccupancy = .fill
            $0.plannedDuration = planned.map { MediaTime(seconds: $0) }
            $0.playoutLimit = limit.map { MediaTime(seconds: $0) }
        }
        #expect(Self.shape(Self.timeline([(event, 0)])).first == "a 0.0-\(length)")
    }

    @Test func aPositionOfTheItemHasATime() {
        let film = Self.film
        #expect(film.time(at: .zero) == MediaTime(seconds: 10))
        #expect(film.time(at: MediaTime(seconds: 19)) == MediaTime(seconds: 29))
        // The interstitial replaces the range from 20 s to 32 s.
        #expect(film.time(at: MediaTime(seconds: 25)) == MediaTime(seconds: 30))
        #expect(film.time(at: MediaTime(seconds: 32)) == MediaTime(seconds: 42))
        #expect(film.time(at: MediaTime(seconds: 99)) == MediaTime(seconds: 70))
        #expect(film.time(at: MediaTime(seconds: -1)) == MediaTime(seconds: 10))
    }

    @Test(arguments: [(5, 35), (12, 42), (20, 42), (-3, 30)] as [(Int64, Int64)])
    func thePlayedAmountOfAnInterstitialHasATime(elapsed: Int64, time: Int64) {
        let found = Self.film.time(at: MediaTime(seconds: 20), in: "a", elapsed: MediaTime(seconds: elapsed))
        #expect(found == MediaTime(seconds: time))
        // An interstitial that is not on the timeline is left out.
        let unknown = Self.film.time(at: MediaTime(seconds: 19), in: "x", elapsed: MediaTime(seconds: elapsed))
        #expect(unknown == MediaTime(seconds: 29))
    }

    @Test(
        arguments: [
            (0, "pre", 0), (9, "pre", 0), (10, nil, 0), (29, nil, 19), (30, "a", 20), (41, "a", 20), (42, nil, 32),
            (69, nil, 59), (70, "post", 60), (76, "post", 60), (500, "post", 60),
        ] as [(Int64, String?, Int64)]
    )
    func aTimeHasASegmentAndAPosition(time: Int64, event: String?, position: Int64) {
        let found = Self.film.segment(at: MediaTime(seconds: time))
        #expect(found?.segment.event?.id == event && found?.position == MediaTime(seconds: position))
    }

    @Test func nothingIsBeforeTheStartOrOnAnEmptyTimeline() {
        #expect(Self.film.segment(at: MediaTime(seconds: -1))?.position == nil)
        let empty = Self.timeline([], duration: 0)
        #expect(empty.segments.isEmpty && empty.duration == .zero && empty.time(at: MediaTime(seconds: 4)) == .zero)
        #expect(empty.segment(at: .zero)?.position == nil)
    }
}
