import MediaTiming
import Testing

@testable import Millstream

/// Tests the selection of due interstitials as the playhead moves and jumps.
@Suite struct InterstitialScheduleTests {
    private typealias Break = InterstitialSchedule.Break

    private static func event(
        _ id: String,
        at seconds: Int64 = 0,
        _ change: (inout InterstitialEvent) -> Void = { _ in }
    ) -> InterstitialEvent {
        var event = InterstitialEvent(id: id, at: MediaTime(seconds: seconds), .assets([]))
        change(&event)
        return event
    }

    private static func schedule(_ events: InterstitialEvent..., from start: Int64 = 0) -> InterstitialSchedule {
        var schedule = InterstitialSchedule()
        schedule.update(events) { $0.time }
        _ = schedule.begin(at: MediaTime(seconds: start), isLive: false)
        return schedule
    }

    private static func seconds(_ seconds: Double) -> MediaTime { MediaTime(approximating: seconds) ?? .zero }

    @Test func eventIsDueWhenItsPositionIsReached() {
        var schedule = Self.schedule(Self.event("a", at: 10))
        #expect(schedule.nextStart == MediaTime(seconds: 10))
        #expect(schedule.move(to: Self.seconds(9.999)) == nil)
        let due = schedule.move(to: Self.seconds(10.002))
        #expect(due?.events.map(\.id) == ["a"] && due?.resumption == .offset(from: MediaTime(seconds: 10)))
        schedule.resumed(at: MediaTime(seconds: 10))
        #expect(schedule.move(to: MediaTime(seconds: 30)) == nil && schedule.nextStart == nil)
    }

    @Test func eventAtTheStartIsPlayed() {
        var schedule = Self.schedule(Self.event("a"))
        #expect(schedule.move(to: .zero)?.events.map(\.id) == ["a"])
        #expect(schedule.move(to: .zero) == nil)
    }

    @Test func eventsAtOnePositionPlayInOrderAndTheirOffsetsAddUp() {
        let events = [
            Self.event("b", at: 10) { $0.resumptionOffset = MediaTime(seconds: 4) },
            Self.event("a", at: 10), Self.event("c", at: 20),
        ]
        var schedule = InterstitialSchedule()
        schedule.update(events) { $0.time }
        _ = schedule.begin(at: .zero, isLive: false)
        let due = schedule.move(to: MediaTime(seconds: 10))
        #expect(due?.events.map(\.id) == ["b", "a"])
        let target = InterstitialSchedule.target(
            .offset(from: MediaTime(seconds: 10)),
            [(events[0], MediaTime(seconds: 4)), (events[1], MediaTime(seconds: 15))]
        )
        #expect(target == MediaTime(seconds: 29))
        // Events within the duration that these replace are skipped.
        schedule.resumed(at: target)
        #expect(schedule.move(to: MediaTime(seconds: 60)) == nil)
    }

    @Test func eventThatResumesBeforeItsPositionRepeatsOnlyAfterABackwardSeek() {
        var schedule = Self.schedule(Self.event("a", at: 10) { $0.resumptionOffset = MediaTime(seconds: -5) })
        #expect(schedule.move(to: MediaTime(seconds: 10)) != nil)
        let target = InterstitialSchedule.target(
            .offset(from: MediaTime(seconds: 10)),
            [(Self.event("a"), MediaTime(seconds: -5))]
        )
        #expect(target == MediaTime(seconds: 5))
        schedule.resumed(at: target)
        #expect(schedule.move(to: MediaTime(seconds: 12)) == nil)
        #expect(schedule.jump(from: MediaTime(seconds: 12), to: MediaTime(seconds: 2)) == nil)
        #expect(schedule.move(to: MediaTime(seconds: 10)) != nil)
        #expect(InterstitialSchedule.target(.offset(from: .zero), [(Self.event("a"), MediaTime(seconds: -5))]) == .zero)
    }

    @Test func eventThatPlaysOnceDoesNotRepeat() {
        let event = Self.event("a", at: 10) { $0.willPlayOnce = true }
        var schedule = Self.schedule(event)
        #expect(schedule.move(to: MediaTime(seconds: 10)) != nil)
        // A due event does not count as played until it is noted as such.
        _ = schedule.jump(from: MediaTime(seconds: 10), to: .zero)
        #expect(schedule.move(to: MediaTime(seconds: 10)) != nil)
        schedule.recordPlayed(event, offset: .zero, wasPlayed: true)
        _ = schedule.jump(from: MediaTime(seconds: 20), to: .zero)
        #expect(schedule.move(to: MediaTime(seconds: 30)) == nil)
    }

    @Test func requiredEventThatWasLeftIsDueAgain() {
        let barrier = Self.event("b", at: 20) { $0.restrictions = .constrainsSeekingForwardInPrimaryContent }
        var schedule = Self.schedule(barrier)
        #expect(schedule.move(to: MediaTime(seconds: 20)) != nil)
        schedule.left(barrier)
        #expect(schedule.jump(from: MediaTime(seconds: 20), to: MediaTime(seconds: 50))?.events.map(\.id) == ["b"])
        schedule.resumed(at: MediaTime(seconds: 50))
        #expect(schedule.jump(from: MediaTime(seconds: 50), to: MediaTime(seconds: 55)) == nil)
    }

    @Test func eventShorterThanPlannedReplacesLess() {
        let event = Self.event("a", at: 10) { $0.plannedDuration = MediaTime(seconds: 30) }
        var schedule = Self.schedule(event)
        #expect(schedule.move(to: MediaTime(seconds: 10)) != nil)
        schedule.recordPlayed(event, offset: MediaTime(seconds: 15), wasPlayed: true)
        schedule.resumed(at: MediaTime(seconds: 25))
        #expect(schedule.jump(from: MediaTime(seconds: 25), to: MediaTime(seconds: 30)) == nil)
        #expect(schedule.jump(from: MediaTime(seconds: 30), to: MediaTime(seconds: 20)) != nil)
    }

    @Test func seekPastAnEventPlaysItOnlyIfRequired() {
        let free = Self.event("a", at: 10)
        let barrier = Self.event("b", at: 20) { $0.restrictions = .constrainsSeekingForwardInPrimaryContent }
        var schedule = Self.schedule(free)
        #expect(schedule.jump(from: .zero, to: MediaTime(seconds: 30)) == nil)
        schedule = Self.schedule(free, barrier)
        let due = schedule.jump(from: .zero, to: MediaTime(seconds: 30))
        // Playback resumes at the position that the viewer requested.
        #expect(due?.events.map(\.id) == ["b"] && due?.resumption == .at(MediaTime(seconds: 30)))
        schedule.resumed(at: MediaTime(seconds: 30))
        // A seek that starts before the event requires it again although it was played; one that starts at it does not.
        #expect(schedule.jump(from: MediaTime(seconds: 30), to: MediaTime(seconds: 5)) == nil)
        #expect(schedule.jump(from: MediaTime(seconds: 5), to: MediaTime(seconds: 40))?.events.map(\.id) == ["b"])
        schedule.resumed(at: MediaTime(seconds: 40))
        #expect(schedule.jump(from: MediaTime(seconds: 20), to: MediaTime(seconds: 40)) == nil)
    }

    @Test func secondSeekDoesNotBypassARequiredEvent() {
        let barrier = Self.event("b", at: 20) { $0.restrictions = .constrainsSeekingForwardInPrimaryContent }
        let free = Self.event("a", at: 50) { $0.resumptionOffset = MediaTime(seconds: 20) }
        var schedule = Self.schedule(barrier, free)
        #expect(schedule.jump(from: MediaTime(seconds: 2), to: MediaTime(seconds: 30)) != nil)
        // A second seek before or during the event requires it again.
        let again = schedule.jump(from: MediaTime(seconds: 30), to: MediaTime(seconds: 40))
        #expect(again?.events.map(\.id) == ["b"] && again?.resumption == .at(MediaTime(seconds: 40)))
        // A seek into the duration that another event replaces: that event is played afterwards.
        let both = schedule.jump(from: MediaTime(seconds: 40), to: MediaTime(seconds: 60))
        #expect(both?.events.map(\.id) == ["b"] && both?.resumption == .at(MediaTime(seconds: 50)))
        schedule.resumed(at: MediaTime(seconds: 50))
        #expect(schedule.move(to: MediaTime(seconds: 50))?.events.map(\.id) == ["a"])
        schedule.resumed(at: MediaTime(seconds: 70))
        #expect(schedule.jump(from: MediaTime(seconds: 70), to: MediaTime(seconds: 75)) == nil)
    }

    @Test func eventRepeatsAfterRewinding() {
        var schedule = Self.schedule(Self.event("a", at: 10))
        #expect(schedule.move(to: MediaTime(seconds: 10)) != nil)
        schedule.resumed(at: MediaTime(seconds: 10))
        #expect(schedule.move(to: MediaTime(seconds: 30)) == nil)
        schedule.rewind(to: MediaTime(seconds: 5))
        #expect(schedule.move(to: MediaTime(seconds: 12)) != nil)
    }

    @Test func unplayableEventReplacesNoDuration() {
        let event = Self.event("a", at: 10) { $0.plannedDuration = MediaTime(seconds: 30) }
        var schedule = Self.schedule(event)
        #expect(schedule.jump(from: .zero, to: MediaTime(seconds: 25))?.requestedPosition == MediaTime(seconds: 25))
        schedule.recordPlayed(event, offset: .zero, wasPlayed: false)
        #expect(schedule.jump(from: .zero, to: MediaTime(seconds: 25)) == nil)
        // The event is retried when its position is reached.
        _ = schedule.jump(from: MediaTime(seconds: 25), to: .zero)
        #expect(schedule.move(to: MediaTime(seconds: 10)) != nil)
        schedule.recordPlayed(event, offset: MediaTime(seconds: 30), wasPlayed: true)
        #expect(schedule.jump(from: .zero, to: MediaTime(seconds: 25)) != nil)
    }

    @Test func numberOfEventsAtOnePositionIsLimited() {
        var schedule = InterstitialSchedule()
        schedule.update((0..<2000).map { Self.event("\($0)", at: 10) }) { $0.time }
        _ = schedule.begin(at: .zero, isLive: false)
        #expect(schedule.move(to: MediaTime(seconds: 10)).map { $0.events.count <= 50 } == true)
    }

    @Test func seekIntoTheReplacedDurationPlaysTheEventFromItsStart() {
        var schedule = Self.schedule(Self.event("a", at: 10) { $0.resumptionOffset = MediaTime(seconds: 15) })
        let due = schedule.jump(from: .zero, to: MediaTime(seconds: 24))
        #expect(due?.events.map(\.id) == ["a"] && due?.resumption == .offset(from: MediaTime(seconds: 10)))
        schedule.resumed(at: MediaTime(seconds: 25))
        #expect(schedule.jump(from: MediaTime(seconds: 30), to: MediaTime(seconds: 25)) == nil)
        // Without a resumption offset, the planned duration counts, up to the playout limit.
        schedule = Self.schedule(
            Self.event("a", at: 10) { $0.plannedDuration = MediaTime(seconds: 30) },
            Self.event("b", at: 50) {
                $0.plannedDuration = MediaTime(seconds: 30)
                $0.playoutLimit = MediaTime(seconds: 10)
            }
        )
        #expect(schedule.jump(from: .zero, to: MediaTime(seconds: 39)) != nil)
        #expect(schedule.jump(from: .zero, to: MediaTime(seconds: 59)) != nil)
        #expect(schedule.jump(from: .zero, to: MediaTime(seconds: 61)) == nil)
    }

    @Test func joiningALiveStreamWithinAnEventPlaysItsRemainder() {
        var schedule = InterstitialSchedule()
        schedule.update([Self.event("a", at: 100) { $0.plannedDuration = MediaTime(seconds: 30) }]) { $0.time }
        let due = schedule.begin(at: MediaTime(seconds: 112), isLive: true)
        #expect(due?.startOffset == MediaTime(seconds: 12))
        #expect(due?.resumption == .offset(from: MediaTime(seconds: 112)))
        // An explicit resumption offset counts from the start of the event.
        schedule = InterstitialSchedule()
        schedule.update([Self.event("a", at: 100) { $0.resumptionOffset = MediaTime(seconds: 30) }]) { $0.time }
        let written = schedule.begin(at: MediaTime(seconds: 112), isLive: true)
        #expect(
            written?.resumption == .offset(from: MediaTime(seconds: 100)) && written?.startOffset == due?.startOffset
        )
    }

    @Test func preRollsAndPostRollsAreDueAtTheStartAndEndOfTheItem() {
        var schedule = Self.schedule(
            Self.event("post") { $0.cue = .leavePrimary },
            Self.event("pre") { $0.cue = .joinPrimary },
            Self.event("last", at: 60)
        )
        #expect(schedule.awaitsStart && schedule.awaitsEnd(at: MediaTime(seconds: 60)))
        #expect(schedule.join(at: .zero)?.events.map(\.id) == ["pre"])
        #expect(schedule.join(at: .zero) == nil && !schedule.awaitsStart)
        #expect(schedule.move(to: MediaTime(seconds: 59)) == nil)
        #expect(schedule.end(at: MediaTime(seconds: 60))?.events.map(\.id) == ["last"])
        #expect(schedule.end(at: MediaTime(seconds: 60))?.events.map(\.id) == ["post"])
        #expect(schedule.end(at: MediaTime(seconds: 60)) == nil && !schedule.awaitsEnd(at: MediaTime(seconds: 60)))
        // After a seek back, playing to the end plays them again.
        _ = schedule.jump(from: MediaTime(seconds: 60), to: MediaTime(seconds: 50))
        #expect(schedule.awaitsEnd(at: MediaTime(seconds: 60)))
    }

    @Test func rescheduledEventCountsAsPlayed() {
        let (a, b) = (Self.event("a", at: 10), Self.event("b", at: 10))
        var schedule = Self.schedule(a)
        #expect(schedule.move(to: MediaTime(seconds: 10)) != nil)
        schedule.resumed(at: MediaTime(seconds: 10))
        schedule.update([a, b]) { $0.time }
        #expect(schedule.move(to: Self.seconds(10.01))?.events.map(\.id) == ["b"])
        // An event that is scheduled after its position has passed is not played.
        schedule.update([a, b, Self.event("c", at: 5)]) { $0.time }
        #expect(schedule.move(to: MediaTime(seconds: 60)) == nil)
    }
}
