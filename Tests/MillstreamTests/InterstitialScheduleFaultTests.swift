import MediaTiming
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

/// Tests boundaries and states of the schedule of interstitials that no other suite reaches.
@Suite struct InterstitialScheduleFaultTests {
    private static func event(
        _ id: String,
        at seconds: Double = 0,
        _ change: (inout InterstitialEvent) -> Void = { _ in }
    ) -> InterstitialEvent {
        var event = InterstitialEvent(id: id, at: time(seconds), .assets([]))
        change(&event)
        return event
    }

    private static func time(_ seconds: Double) -> MediaTime { MediaTime(approximating: seconds) ?? .zero }

    private static func barrier(
        _ id: String,
        at seconds: Double,
        _ change: (inout InterstitialEvent) -> Void = { _ in }
    ) -> InterstitialEvent {
        event(id, at: seconds) {
            $0.restrictions = .constrainsSeekingForwardInPrimaryContent
            change(&$0)
        }
    }

    /// Returns a schedule of an item that begins at its start.
    private static func schedule(_ events: InterstitialEvent...) -> InterstitialSchedule {
        var schedule = InterstitialSchedule()
        schedule.update(events) { $0.time }
        _ = schedule.begin(at: .zero, isLive: false)
        return schedule
    }

    private func ids(_ due: InterstitialSchedule.Break?) -> [String]? { due?.events.map(\.id) }

    // MARK: Updates

    @Test func theFirstEventsAtAPositionArePlayed() {
        var schedule = InterstitialSchedule()
        schedule.update((0..<60).map { Self.event("\($0)", at: 10) }) { $0.time }
        _ = schedule.begin(at: .zero, isLive: false)
        #expect(ids(schedule.move(to: Self.time(10))) == (0..<50).map { "\($0)" })
    }

    @Test func anEventThatIsScheduledAgainIsForgotten() {
        let event = Self.event("a", at: 10) { $0.plannedDuration = Self.time(30) }
        var schedule = Self.schedule(event)
        #expect(schedule.move(to: Self.time(10)) != nil)
        schedule.recordPlayed(event, offset: Self.time(15), wasPlayed: true)
        schedule.update([]) { $0.time }
        schedule.update([event]) { $0.time }
        // It is neither played nor known to be shorter than planned.
        #expect(ids(schedule.move(to: Self.time(10))) == ["a"])
        #expect(ids(schedule.jump(from: Self.time(12), to: Self.time(30))) == ["a"])
    }

    @Test func anEventBeforeThePlayheadIsNotPlayed() {
        var schedule = Self.schedule()
        #expect(schedule.move(to: Self.time(20)) == nil)
        schedule.update([Self.event("a", at: 10)]) { $0.time }
        #expect(schedule.nextStart == nil && schedule.move(to: Self.time(25)) == nil)
        // The position of an event that is due counts as reached.
        schedule = Self.schedule(Self.event("a", at: 10))
        #expect(schedule.move(to: Self.time(10)) != nil)
        schedule.update([Self.event("a", at: 10), Self.event("b", at: 5)]) { $0.time }
        #expect(schedule.move(to: Self.time(12)) == nil)
    }

    @Test(arguments: [(59.95, true), (59.949, false), (60, true)])
    func anEventAtTheEndIsAwaited(start: Double, isAwaited: Bool) {
        let schedule = Self.schedule(Self.event("a", at: start))
        #expect(schedule.awaitsEnd(at: Self.time(60)) == isAwaited)
        #expect(!schedule.awaitsEnd(at: nil) && !schedule.awaitsStart)
    }

    // MARK: The start

    @Test func anEventBeforeTheFirstPositionIsNotNext() {
        var schedule = InterstitialSchedule()
        schedule.update([Self.event("a", at: 10)]) { $0.time }
        #expect(schedule.nextStart == Self.time(10))
        #expect(schedule.begin(at: Self.time(30), isLive: false) == nil)
        #expect(schedule.nextStart == nil)
    }

    @Test func anItemThatBeginsWithinAnEventPlaysIt() {
        var schedule = InterstitialSchedule()
        schedule.update([Self.event("a", at: 100) { $0.plannedDuration = Self.time(30) }]) { $0.time }
        let due = schedule.begin(at: Self.time(112), isLive: false)
        #expect(ids(due) == ["a"] && due?.resumption == .offset(from: Self.time(100)))
        #expect(due?.requestedPosition == Self.time(112) && due?.startOffset == nil)
        var live = InterstitialSchedule()
        live.update([Self.event("a", at: 100) { $0.plannedDuration = Self.time(30) }]) { $0.time }
        #expect(live.begin(at: Self.time(112), isLive: true)?.requestedPosition == Self.time(112))
        // At the start of an event, the event is due as usual.
        var exact = InterstitialSchedule()
        exact.update([Self.event("a", at: 100) { $0.plannedDuration = Self.time(30) }]) { $0.time }
        #expect(exact.begin(at: Self.time(100), isLive: false) == nil)
        #expect(ids(exact.move(to: Self.time(100))) == ["a"])
    }

    // MARK: Seeks

    @Test func aSeekToTheStartOfAnEventPlaysItWithoutAJump() {
        for event in [Self.event("a", at: 20) { $0.resumptionOffset = Self.time(15) }, Self.barrier("a", at: 20)] {
            var schedule = Self.schedule(event)
            #expect(schedule.jump(from: .zero, to: Self.time(20)) == nil)
            #expect(ids(schedule.move(to: Self.time(20))) == ["a"])
            schedule.resumed(at: Self.time(40))
            // A seek back to its start repeats it.
            #expect(schedule.jump(from: Self.time(40), to: Self.time(20)) == nil)
            #expect(ids(schedule.move(to: Self.time(20))) == ["a"])
        }
    }

    @Test func rewindingToTheStartOfAnEventRepeatsIt() {
        var schedule = Self.schedule(Self.event("a", at: 10))
        #expect(schedule.move(to: Self.time(10)) != nil)
        schedule.rewind(to: Self.time(10))
        #expect(schedule.move(to: Self.time(10)) != nil)
    }

    @Test func aSeekIntoARequiredEventResumesAfterIt() {
        var schedule = Self.schedule(Self.barrier("a", at: 20) { $0.resumptionOffset = Self.time(15) })
        let due = schedule.jump(from: .zero, to: Self.time(25))
        #expect(ids(due) == ["a"] && due?.resumption == .offset(from: Self.time(20)))
        #expect(due?.requestedPosition == Self.time(25))
    }

    @Test func aSecondSeekDoesNotLeaveARequiredEvent() {
        var schedule = Self.schedule(Self.barrier("a", at: 50) { $0.resumptionOffset = Self.time(20) })
        #expect(ids(schedule.jump(from: Self.time(2), to: Self.time(60))) == ["a"])
        #expect(ids(schedule.jump(from: Self.time(60), to: Self.time(80))) == ["a"])
    }

    @Test func aRequiredEventThatPlaysOnceIsRequiredOnce() {
        let event = Self.barrier("a", at: 20) { $0.willPlayOnce = true }
        var schedule = Self.schedule(event)
        #expect(schedule.jump(from: .zero, to: Self.time(30)) != nil)
        schedule.recordPlayed(event, offset: .zero, wasPlayed: true)
        schedule.resumed(at: Self.time(30))
        #expect(schedule.jump(from: .zero, to: Self.time(30)) == nil)
    }

    @Test func anEventAfterARequiredOneIsDueAgain() {
        let free = Self.event("a", at: 50) { $0.resumptionOffset = Self.time(20) }
        var schedule = Self.schedule(free)
        #expect(ids(schedule.jump(from: .zero, to: Self.time(60))) == ["a"])
        schedule.update([Self.barrier("b", at: 20), free]) { $0.time }
        let due = schedule.jump(from: Self.time(60), to: Self.time(65))
        #expect(ids(due) == ["b"] && due?.resumption == .at(Self.time(50)))
        schedule.resumed(at: Self.time(50))
        #expect(ids(schedule.move(to: Self.time(50))) == ["a"])
    }

    @Test func onlyARequiredEventThatWasLeftIsRequiredAgain() {
        let free = Self.event("a", at: 20)
        var schedule = Self.schedule(free, Self.barrier("b", at: 25))
        #expect(schedule.move(to: Self.time(20)) != nil)
        schedule.left(free)
        #expect(schedule.jump(from: Self.time(30), to: Self.time(50)) == nil)
        // The seek during an event begins where the seek before it began.
        let late = Self.barrier("d", at: 10)
        schedule = Self.schedule(Self.barrier("c", at: 5), late)
        #expect(ids(schedule.jump(from: Self.time(2), to: Self.time(12))) == ["d"])
        schedule.left(late)
        #expect(ids(schedule.jump(from: Self.time(12), to: Self.time(8))) == ["c"])
    }

    @Test func anEventThatWasNotPlayedMayRepeat() {
        let event = Self.event("a", at: 10) { $0.willPlayOnce = true }
        var schedule = Self.schedule(event)
        #expect(schedule.move(to: Self.time(10)) != nil)
        schedule.recordPlayed(event, offset: .zero, wasPlayed: false)
        _ = schedule.jump(from: Self.time(10), to: .zero)
        #expect(schedule.move(to: Self.time(10)) != nil)
    }

    // MARK: The integrated timeline

    private static func timeline(
        _ entries: [InterstitialSchedule.Entry] = [],
        joining: [InterstitialEvent] = [],
        leaving: [InterstitialEvent] = []
    ) -> IntegratedTimeline {
        IntegratedTimeline(duration: time(60), entries: entries, joining: joining, leaving: leaving)
    }

    @Test func interstitialsBeforeTheItemReplaceItsStart() {
        let timeline = Self.timeline(joining: [Self.event("p") { $0.resumptionOffset = Self.time(5) }])
        #expect(timeline.segments.map(\.source.start) == [.zero, Self.time(5)])
        #expect(timeline.duration == Self.time(55) && timeline.time(at: Self.time(15)) == Self.time(10))
    }

    @Test func theEndOfATimelineIsInItsLastSegment() {
        let timeline = Self.timeline(leaving: [Self.event("p")])
        #expect(timeline.segment(at: Self.time(60))?.segment.event?.id == "p")
        #expect(timeline.segment(at: Self.time(59))?.segment.event == nil)
    }

    // MARK: Events

    @Test func anEventOfAnApplicationHasTheDefaults() {
        let event = InterstitialEvent(id: "a", .leavePrimary, .assets([]))
        #expect(event.id == "a" && event.cue == .leavePrimary && event.time == nil && event.date == nil)
        #expect(event.restrictions.isEmpty && event.resumptionOffset == nil && event.playoutLimit == nil)
        #expect(!event.willPlayOnce && event.contentMayVary && !event.supplementsPrimaryContent)
        #expect(!event.alignsStartWithPrimarySegmentBoundary && !event.alignsResumptionWithPrimarySegmentBoundary)
        #expect(event.timelineOccupancy == .singlePoint && event.skipControl == nil)
        let timed = InterstitialEvent(id: "b", at: Self.time(3), .assets([]))
        #expect(timed.time == Self.time(3) && timed.cue == .none)
    }

    @Test func restrictionsHaveTheValuesOfAVFoundation() {
        #expect(InterstitialEvent.Restrictions.constrainsSeekingForwardInPrimaryContent.rawValue == 1)
        #expect(InterstitialEvent.Restrictions.requiresPlaybackAtPreferredRateForAdvancement.rawValue == 4)
    }

    // MARK: Tolerances

    @Test(arguments: [(10.25, false), (10.251, true), (9.75, false), (9.749, true)])
    func anItemThatHasStoppedHasATolerance(position: Double, isMove: Bool) {
        var primary = InterstitialObservation.Primary()
        primary.playback.timebase = Timebase(mediaTime: Self.time(position))
        var suspended = SuspendedPosition.stopped(at: Self.time(10))
        let hasMoved = suspended.hasMoved(primary)
        #expect(hasMoved == isMove && suspended == .stopped(at: Self.time(10)))
    }

    @Test(arguments: [(1.05, true), (1.051, false), (0.95, true), (0.949, false)])
    func positionsAreNearWithinTheTolerance(position: Double, isNear: Bool) {
        #expect(Self.time(position).isNear(Self.time(1), within: .interstitialTolerance) == isNear)
    }

    // MARK: Playouts

    @Test func aSkippedInterstitialReplacesItsKnownOrPlannedDuration() {
        typealias Queue = InterstitialObservation.Queue
        func replaced(known: Int64?, planned: Int64?, limit: Int64?) -> MediaTime {
            let event = Self.event("a") {
                $0.plannedDuration = planned.map { MediaTime(seconds: $0) }
                $0.playoutLimit = limit.map { MediaTime(seconds: $0) }
            }
            let source = InterstitialItem.Source.address(.init("https://example.com/a.m3u8"))
            let items = [InterstitialItem(number: 1, source: source, forbidsAdvancing: false)]
            var queue = Queue()
            queue.current = 1
            queue.items[1] = InterstitialObservation.Item()
            queue.items[1]?.duration = known.map { MediaTime(seconds: $0) }
            queue.items[1]?.timebase = Timebase(mediaTime: Self.time(5))
            var playout = InterstitialPlayout(event, skipControl: nil, items)
            playout.end(.skipped, queue, at: .zero)
            return playout.outcome(of: .skipped, queue).offset
        }
        #expect(replaced(known: 12, planned: 30, limit: nil) == Self.time(12))
        #expect(replaced(known: 12, planned: 30, limit: 8) == Self.time(8))
        #expect(replaced(known: 12, planned: 30, limit: 20) == Self.time(12))
        #expect(replaced(known: nil, planned: 30, limit: nil) == Self.time(30))
        #expect(replaced(known: nil, planned: nil, limit: nil) == Self.time(5))
    }
}
