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
        var periodic = PeriodicSchedule(every: second, from: motion(at: 1, rate: 1), at: .zero)
        let other = periodic.step(none, at: .seconds(5))
        #expect(other == .wait(until: nil))
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
