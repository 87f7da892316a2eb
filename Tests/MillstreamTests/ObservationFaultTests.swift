import MediaTiming
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Testing

@testable import Millstream

/// Tests boundaries of the schedules of observers, and the end of observation.
@Suite struct ObservationFaultTests {
    private final class Name: Sendable {}

    private let name = Name()
    private let second = MediaTime(seconds: 1)
    private let boundaries = [MediaTime(seconds: 2), MediaTime(seconds: 4)]

    private static func time(_ seconds: Double) -> MediaTime { MediaTime(approximating: seconds) ?? .zero }

    private func motion(at position: Double, rate: Double, since time: Duration = .zero) -> Motion {
        Motion(
            item: ObjectIdentifier(name),
            timebase: Timebase(mediaTime: Self.time(position), time: time, rate: rate)
        )
    }

    // MARK: Schedules

    @Test func aTimeThatIsDueIsNotSkipped() {
        let moving = motion(at: 0, rate: 1)
        var schedule = PeriodicSchedule(every: second, from: moving, at: .zero)
        schedule.skipElapsed(moving, at: .seconds(1))
        let due = schedule.step(moving, at: .seconds(1))
        #expect(due == .fire(second))
        schedule.skipElapsed(moving, at: .milliseconds(2_001))
        let next = schedule.step(moving, at: .milliseconds(2_001))
        #expect(next == .wait(until: .seconds(3)))
    }

    @Test func tinyIntervalsAreReportedEachMillisecond() {
        let moving = motion(at: 0, rate: 1)
        var schedule = PeriodicSchedule(every: MediaTime(value: 1, timescale: 1_000_000), from: moving, at: .zero)
        var (count, now) = (0, Duration.zero)
        while now < .milliseconds(100), count < 1_000 {
            switch schedule.step(moving, at: now) {
            case .fire: count += 1
            case .wait(let until): now = until ?? .seconds(1)
            }
        }
        #expect((99...101).contains(count), "\(count)")
    }

    @Test func aBoundaryThatIsPassedAtTheStartIsReported() {
        let moving = motion(at: 1.9, rate: 1, since: .seconds(2))
        var schedule = BoundarySchedule(boundaries, from: motion(at: 1.9, rate: 0), at: .zero)
        let passed = schedule.step(moving, at: .milliseconds(2_500))
        #expect(passed == .fire(MediaTime(seconds: 2)))
        let next = schedule.step(moving, at: .milliseconds(2_500))
        #expect(next == .wait(until: .milliseconds(4_100)))
    }

    @Test func aBoundaryThatIsReachedExactlyIsReported() {
        for (start, rate) in [(1.0, 1.0), (3.0, -1.0)] {
            let moving = motion(at: start, rate: rate)
            var schedule = BoundarySchedule(boundaries, from: moving, at: .zero)
            let early = schedule.step(moving, at: .milliseconds(999))
            let due = schedule.step(moving, at: .seconds(1))
            #expect(early == .wait(until: .seconds(1)) && due == .fire(MediaTime(seconds: 2)))
            // After the last one, there is nothing to wait for.
            schedule.skipElapsed(moving, at: .seconds(20))
            let last = schedule.step(moving, at: .seconds(20))
            #expect(last == .wait(until: nil))
        }
    }

    @Test func allBoundariesBeforeAStopAreReported() {
        let times = [2, 2.05].map { Self.time($0) }
        var schedule = BoundarySchedule(times, from: motion(at: 0, rate: 1), at: .zero)
        let stopped = motion(at: 2.1, rate: 0, since: .milliseconds(2_100))
        let steps = (0..<3).map { _ in schedule.step(stopped, at: .milliseconds(2_200)) }
        #expect(steps == [.fire(times[0]), .fire(times[1]), .wait(until: nil)])
    }

    @Test func aStopInReverseReportsTheBoundariesBeforeIt() {
        let times = [4, 4.5].map { Self.time($0) }
        var schedule = BoundarySchedule(times, from: motion(at: 5, rate: -1), at: .zero)
        let stopped = motion(at: 3, rate: 0, since: .seconds(2))
        let steps = (0..<3).map { _ in schedule.step(stopped, at: .milliseconds(2_100)) }
        #expect(steps == [.fire(times[1]), .fire(times[0]), .wait(until: nil)])
        // Playback passes them again, forward.
        let next = schedule.step(motion(at: 3, rate: 1, since: .seconds(3)), at: .seconds(3))
        #expect(next == .wait(until: .seconds(4)))
    }

    @Test(arguments: [1.0, -1]) func aBoundaryAtWhichThePlayheadWaitsIsReported(rate: Double) {
        let times = [MediaTime(seconds: 2)]
        var schedule = BoundarySchedule(times, from: motion(at: 2 - 2 * rate, rate: rate), at: .zero)
        // The playhead continues a second later.
        let step = schedule.step(motion(at: 2, rate: rate, since: .seconds(3)), at: .seconds(2))
        #expect(step == .fire(MediaTime(seconds: 2)))
    }

    @Test func playbackThatStartsInReverseReachesTheBoundaryBefore() {
        var schedule = BoundarySchedule(boundaries, from: motion(at: 5, rate: 0), at: .zero)
        let step = schedule.step(motion(at: 5, rate: -1, since: .seconds(1)), at: .seconds(1))
        #expect(step == .wait(until: .seconds(2)))
    }

    @Test func aBoundaryThatIsPassedAfterAStartIsSkipped() {
        let moving = motion(at: 1, rate: 1)
        var schedule = BoundarySchedule(boundaries, from: motion(at: 1, rate: 0), at: .zero)
        schedule.skipElapsed(moving, at: .seconds(2))
        let step = schedule.step(moving, at: .seconds(2))
        #expect(step == .wait(until: .seconds(3)))
    }

    @Test func aTurnDuringARunningBlockLosesNoTime() {
        let forward = motion(at: 0, rate: 1)
        var schedule = PeriodicSchedule(every: second, from: forward, at: .zero)
        let first = schedule.step(forward, at: .seconds(2))
        let reverse = motion(at: 2.5, rate: -1, since: .milliseconds(2_500))
        schedule.skipElapsed(reverse, at: .milliseconds(2_600))
        let next = schedule.step(reverse, at: .milliseconds(2_600))
        #expect(first == .fire(MediaTime(seconds: 2)) && next == .wait(until: .seconds(3)))
    }

    @Test(
        arguments: [(3.04, .none), (2.96, .none), (3.0405, .jumped), (2.9595, .jumped)] as [(Double, Motion.Change)]
    )
    func aJumpIsLongerThanTheDriftOfClocks(position: Double, expected: Motion.Change) {
        let moved = motion(at: position, rate: 1, since: .seconds(3))
        #expect(moved.change(from: motion(at: 1, rate: 1, since: .seconds(1)), at: .seconds(3)) == expected)
    }

    @Test func aStartOrAStopIsNoJump() {
        let (paused, moving) = (motion(at: 4.2, rate: 0), motion(at: 4.22, rate: 1, since: .seconds(1)))
        #expect(moving.change(from: paused, at: .seconds(1)) == .startedOrStopped)
        let stopped = motion(at: 5.21, rate: 0, since: .seconds(2))
        #expect(stopped.change(from: moving, at: .seconds(2)) == .startedOrStopped)
        let moved = motion(at: 4.22, rate: 0, since: .seconds(1))
        #expect(moved.change(from: paused, at: .seconds(1)) == .jumped)
        // The positions are compared where the motion changed.
        let faster = motion(at: 1, rate: 2, since: .seconds(1))
        #expect(faster.change(from: motion(at: 0, rate: 1), at: .seconds(3)) == .none)
        var none = paused
        none.item = nil
        #expect(none.change(from: paused, at: .seconds(1)) == .startedOrStopped)
        #expect(paused.change(from: none, at: .seconds(1)) == .jumped)
    }

    @Test func theBoundariesOfAnotherItemAreReported() {
        let other = Name()
        var schedule = BoundarySchedule(boundaries, from: motion(at: 5, rate: 1), at: .zero)
        var next = motion(at: 1, rate: 1, since: .seconds(1))
        next.item = ObjectIdentifier(other)
        let step = schedule.step(next, at: .seconds(1))
        #expect(step == .wait(until: .seconds(2)))
        withExtendedLifetime(other) {}
    }

    @Test func observersWithoutAnItemWait() {
        let none = Motion()
        var boundary = BoundarySchedule(boundaries, from: motion(at: 1, rate: 1), at: .zero)
        let first = boundary.step(none, at: .seconds(5))
        #expect(first == .wait(until: nil))
        var gone = motion(at: 5, rate: 0)
        gone.item = nil
        var other = BoundarySchedule(boundaries, from: motion(at: 1, rate: 1), at: .zero)
        let passed = other.step(gone, at: .seconds(5))
        #expect(passed == .wait(until: nil))
        let reverse = motion(at: 5, rate: -1)
        var unchanged = BoundarySchedule(boundaries, from: reverse, at: .zero)
        unchanged.skipElapsed(none, at: .seconds(1))
        let due = unchanged.step(reverse, at: .seconds(1))
        #expect(due == .fire(MediaTime(seconds: 4)))
        var periodic = PeriodicSchedule(every: second, from: motion(at: 1, rate: 1), at: .zero)
        let step = periodic.step(none, at: .seconds(5))
        #expect(step == .wait(until: nil))
    }

    @Test(arguments: [(1.0, 3.0), (-1.0, 7.0)]) func aMotionReachesOnlyTimesAhead(rate: Double, target: Double) {
        let moving = motion(at: 5, rate: rate, since: .seconds(10))
        #expect(moving.time(reaching: Self.time(target)) == nil)
        #expect(moving.time(reaching: Self.time(5 + 2 * rate)) == .seconds(12))
    }

    // MARK: Sequences

    @Test func timesBeforeTheFirstElementAreReported() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            player.play()
            try await world.sleep(.milliseconds(1_250))
            var iterator = player.periodicTimes(every: MediaTime(seconds: 1)).makeAsyncIterator()
            try await world.sleep(.milliseconds(2_500))
            #expect(await iterator.next() == MediaTime(seconds: 2))
            #expect(world.now == .milliseconds(3_750))
            // The times that elapse afterwards are dropped.
            try await world.sleep(.seconds(3))
            #expect(await iterator.next() == MediaTime(seconds: 6))
            #expect(world.now == .seconds(7))
        }
    }

    @Test(arguments: [true, false]) func aRunningBlockIsCanceledWithItsObserver(isRemoved: Bool) async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let reported = Collected<String>()
            var observer: TimeObserver? = player.addPeriodicTimeObserver(
                forInterval: MediaTime(seconds: 1),
                performing: { _ in
                    reported.add("begin")
                    do { try await world.sleep(.seconds(100)) } catch { reported.add("canceled") }
                }
            )
            player.play()
            try await world.sleep(.seconds(2))
            #expect(reported.all == ["begin"])
            if isRemoved, let observer { player.removeTimeObserver(observer) }
            observer = nil
            try await world.sleep(.seconds(1))
            #expect(reported.all == ["begin", "canceled"])
        }
    }

    @Test func thePermitOfAnObserverEndsWithIt() async throws {
        try await simulated { world in
            let player = try Player(playerItem: world.item("a"))
            let permits = Collected<TimeObserver.Permit>()
            let times = player.periodicTimes(every: MediaTime(seconds: 1))
            var observer: TimeObserver? = TimeObserver(times, owner: player.id) { _, permit in permits.add(permit) }
            player.play()
            try await world.sleep(.milliseconds(1_500))
            let permit = try #require(permits.all.first)
            #expect(observer != nil)
            #expect(permit.isValid)
            observer = nil
            #expect(!permit.isValid)
        }
    }

    @Test func nothingIsBufferedForASequenceThatIsGone() {
        let hub = Hub<Int, Int>(0)
        let listener = hub.addListener { _ in true } + 1
        var updates: EventUpdates<Int>? = EventUpdates<Int>(hub, dropped: { -$0 }, { $0 })
        hub.update { _, published in published.append(1) }
        #expect(updates != nil)
        #expect(hub.takeEvents(of: listener).events == [1])
        updates = nil
        hub.update { _, published in published.append(2) }
        let taken = hub.takeEvents(of: listener)
        #expect(taken.events == [] && taken.dropped == 0)
    }

    @Test func aMergedSequenceWaitsForOneOfItsSources() async throws {
        try await simulated { world in
            let hubs = [Hub<Int, Int>(0), Hub<Int, Int>(0)]
            let sources = hubs.map { EventUpdates<Int>($0, dropped: { -$0 }, { $0 }) }
            let merged = EventUpdates<Int>(merging: sources) { $0 < $1 }
            let events = try await listening(to: merged) { received in
                for number in 0..<4 {
                    try await world.sleep(.seconds(1))
                    hubs[number % 2].update { _, published in published.append(number) }
                    try await world.sleep(.seconds(1))
                    #expect(received.all.count == number + 1)
                }
            }
            #expect(events == [0, 1, 2, 3])
        }
    }

    @Test func sequencesOfAPlayerEndWithIt() async throws {
        try await simulated { world in
            var player: Player? = try Player(playerItem: world.item("a"))
            let times = try #require(player).periodicTimes(every: MediaTime(seconds: 1))
            let states = try #require(player).interstitialController.states
            try await world.sleep(.seconds(1))
            player = nil
            for await _ in times {}
            for await _ in states {}
            #expect(world.now == .seconds(1))
        }
    }

    // MARK: The model

    @Test @MainActor func theModelOfAFailedItemHasFailed() async throws {
        let world = World()
        let player = try Player(playerItem: world.item("a", Script(failure: StreamingError(.damaged, "no"))))
        let before = PlayerModel(player)
        #expect(!before.hasFailed && !before.isPlaying && before.duration == nil && before.currentTime == .zero)
        try await world.simulation.run {
            player.play()
            try await world.sleep(.seconds(2))
        }
        let model = PlayerModel(player)
        #expect(model.hasFailed && !model.isPlaying && !model.canPlay && model.reasonForWaitingToPlay == nil)
        let waiting = Player(environment: world.environment)
        waiting.play()
        let other = PlayerModel(waiting)
        #expect(other.isPlaying && other.reasonForWaitingToPlay == .noItemToPlay && !other.hasFailed)
    }
}
