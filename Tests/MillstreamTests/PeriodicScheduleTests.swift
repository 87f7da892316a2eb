import MediaTiming
import StreamingEngine
import Testing

@testable import Millstream

/// A play head that moves as a test says.
private struct Playhead {
    private final class Name {}
    private let name = Name()
    var motion = Motion()

    init(at second: Double = 0, rate: Double = 0, since time: Duration = .zero) {
        motion.item = ObjectIdentifier(name)
        set(second, rate, time)
    }

    mutating func set(_ second: Double, _ rate: Double, _ time: Duration) {
        motion.timebase = Timebase(mediaTime: MediaTime(approximating: second) ?? .zero, time: time, rate: rate)
    }
}

extension TimeSchedule {
    /// What an observer hears up to a time, and when.
    fileprivate mutating func heard(_ motion: Motion, from start: Duration, until end: Duration) -> [String] {
        var heard: [String] = []
        var now = start
        while now <= end {
            switch step(motion, at: now) {
            case .fire(let time):
                heard.append(
                    "\(time) at \(now.components.seconds * 1_000 + now.components.attoseconds / 1_000_000_000_000_000)"
                )
            case .wait(let until):
                guard let until else { return heard }
                now = max(until, now)
            }
        }
        return heard
    }
}

@Suite struct PeriodicScheduleTests {
    private let second = MediaTime(seconds: 1)

    @Test func standingStillNothingIsHeard() {
        let (head, other) = (Playhead(at: 3), Playhead(at: 3))
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        #expect(schedule.step(head.motion, at: .seconds(9)) == .wait(until: nil))
        #expect(schedule.step(other.motion, at: .seconds(9)) == .fire(MediaTime(seconds: 3)), "another item is a jump")
        #expect(schedule.step(Motion(), at: .seconds(9)) == .wait(until: nil))
    }

    @Test func eachIntervalOfMediaTimeIsHeard() {
        let head = Playhead(at: 0.25, rate: 1)
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        #expect(
            schedule.heard(head.motion, from: .zero, until: .seconds(3)) == ["1 at 750", "2 at 1750", "3 at 2750"]
        )
    }

    @Test func atTwiceTheSpeedTwiceAsManyAreHeard() {
        let head = Playhead(rate: 2)
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        #expect(
            schedule.heard(head.motion, from: .zero, until: .seconds(2))
                == ["1 at 500", "2 at 1000", "3 at 1500", "4 at 2000"]
        )
    }

    @Test func backwardsTheTimesComeInReverse() {
        let head = Playhead(at: 2.5, rate: -1)
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        #expect(schedule.heard(head.motion, from: .zero, until: .seconds(2)) == ["2 at 500", "1 at 1500"])
    }

    @Test func startAndStopAreHeard() {
        var head = Playhead(at: 4.2)
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        head.set(4.2, 1, .seconds(1))
        #expect(schedule.heard(head.motion, from: .seconds(1), until: .seconds(2)) == ["4.2 at 1000", "5 at 1800"])
        head.set(5.3, 0, .milliseconds(2_100))
        #expect(schedule.heard(head.motion, from: .milliseconds(2_100), until: .seconds(9)) == ["5.3 at 2100"])
    }

    @Test func aJumpIsHeardAndCountsFromWhereItLanded() {
        var head = Playhead(rate: 1)
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        head.set(7.5, 1, .milliseconds(300))
        #expect(
            schedule.heard(head.motion, from: .milliseconds(300), until: .seconds(1)) == ["7.5 at 300", "8 at 800"]
        )
        // Also one that is smaller than an interval, where it stands still.
        head.set(8.2, 0, .seconds(1))
        #expect(schedule.heard(head.motion, from: .seconds(1), until: .seconds(2)) == ["8.2 at 1000"])
        head.set(8.21, 0, .seconds(3))
        #expect(schedule.heard(head.motion, from: .seconds(3), until: .seconds(4)) == ["8.21 at 3000"])
    }

    @Test func twoClocksThatDifferALittleAreNoJump() {
        var head = Playhead(rate: 1)
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        head.set(0.52, 1, .milliseconds(500))
        #expect(schedule.heard(head.motion, from: .milliseconds(500), until: .seconds(1)) == ["1 at 980"])
        // It does not hear the same time twice when the clock is set back a little.
        head.set(0.99, 1, .milliseconds(1_000))
        #expect(schedule.heard(head.motion, from: .seconds(1), until: .milliseconds(1_900)) == [])
    }

    @Test func whatBecameDueMeanwhileIsDroppedNotQueued() {
        let head = Playhead(rate: 1)
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        #expect(schedule.heard(head.motion, from: .zero, until: .seconds(1)) == ["1 at 1000"])
        schedule.drop(head.motion, at: .milliseconds(3_500))
        #expect(
            schedule.heard(head.motion, from: .milliseconds(3_500), until: .seconds(5)) == ["4 at 4000", "5 at 5000"]
        )
    }

    @Test func aChangeMeanwhileIsHeardOnce() {
        var head = Playhead(rate: 1)
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        head.set(2.5, 0, .milliseconds(2_500))
        schedule.drop(head.motion, at: .seconds(4))
        #expect(schedule.heard(head.motion, from: .seconds(4), until: .seconds(9)) == ["2.5 at 4000"])
    }

    @Test(arguments: [MediaTime(value: 1, timescale: 3), MediaTime(value: 1001, timescale: 30_000)])
    func noTimeIsHeardTwiceWhereRealTimeIsRounded(interval: MediaTime) {
        for rate in [0.7, 1, 1.3] {
            let head = Playhead(rate: rate)
            var schedule = PeriodicSchedule(every: interval, from: head.motion, at: .zero)
            let heard = schedule.heard(head.motion, from: .zero, until: .seconds(20))
            let expected = Int(20 * rate / interval.seconds)
            #expect(abs(heard.count - expected) <= 1)
            #expect(Set(heard.map { $0.prefix { $0 != " " } }).count == heard.count)
        }
    }

    @Test func aTinyIntervalIsHeardAThousandTimesASecondAtMost() {
        let head = Playhead(rate: 1)
        var schedule = PeriodicSchedule(every: MediaTime(value: 1, timescale: .max), from: head.motion, at: .zero)
        #expect(schedule.heard(head.motion, from: .zero, until: .milliseconds(100)).count <= 101)
    }

    @Test(arguments: [
        (MediaTime(value: .max, timescale: 1), 1.0), (MediaTime(value: .min, timescale: 1), -32.0),
        (MediaTime(value: 1, timescale: .max), 32.0),
    ])
    func extremeTimesDoNoHarm(time: MediaTime, rate: Double) {
        var head = Playhead()
        head.motion.timebase = Timebase(mediaTime: time, time: .zero, rate: rate)
        for interval in [MediaTime(value: .max, timescale: 1), MediaTime(value: 1, timescale: .max)] {
            var schedule = PeriodicSchedule(every: interval, from: Motion(), at: .zero)
            for second in 0..<4 {
                // What it waits for is never over already.
                guard case .wait(let until?) = schedule.step(head.motion, at: .seconds(second)) else { continue }
                #expect(until > .seconds(second))
            }
            schedule.drop(head.motion, at: .seconds(9))
        }
    }

    @Test func anIntervalOfNothingIsAProgrammersError() async {
        await #expect(processExitsWith: .failure) {
            _ = PeriodicSchedule(every: .zero, from: Motion(), at: .zero)
        }
    }
}

@Suite struct BoundaryScheduleTests {
    private let times = [6, 2, 4, 4].map { MediaTime(seconds: $0) }

    @Test func eachTimeIsHeardWhenPlayPassesIt() {
        let head = Playhead(rate: 2)
        var schedule = BoundarySchedule(times, from: head.motion, at: .zero)
        #expect(
            schedule.heard(head.motion, from: .zero, until: .seconds(9)) == ["2 at 1000", "4 at 2000", "6 at 3000"]
        )
    }

    @Test func aSeekPassesNone() {
        var head = Playhead(rate: 1)
        var schedule = BoundarySchedule(times, from: head.motion, at: .zero)
        head.set(5, 1, .seconds(1))
        #expect(schedule.heard(head.motion, from: .seconds(1), until: .seconds(9)) == ["6 at 2000"])
        // And back again: what is passed again is heard again.
        head.set(1, 1, .seconds(9))
        #expect(
            schedule.heard(head.motion, from: .seconds(9), until: .seconds(20))
                == ["2 at 10000", "4 at 12000", "6 at 14000"]
        )
    }

    @Test func aSeekOntoATimeDoesNotCount() {
        var head = Playhead()
        var schedule = BoundarySchedule(times, from: head.motion, at: .zero)
        head.set(4, 0, .seconds(1))
        #expect(schedule.step(head.motion, at: .seconds(1)) == .wait(until: nil))
        head.set(4, 1, .seconds(2))
        #expect(schedule.heard(head.motion, from: .seconds(2), until: .seconds(9)) == ["6 at 4000"])
    }

    @Test func aTimeThatWasPassedJustBeforeTheStopIsHeard() {
        var head = Playhead(rate: 1)
        var schedule = BoundarySchedule(times, from: head.motion, at: .zero)
        head.set(2.1, 0, .milliseconds(2_100))
        #expect(schedule.step(head.motion, at: .milliseconds(2_200)) == .fire(MediaTime(seconds: 2)))
        #expect(schedule.step(head.motion, at: .milliseconds(2_200)) == .wait(until: nil))
    }

    @Test func aPauseLosesNone() {
        var head = Playhead(rate: 1)
        var schedule = BoundarySchedule(times, from: head.motion, at: .zero)
        #expect(schedule.heard(head.motion, from: .zero, until: .seconds(2)) == ["2 at 2000"])
        head.set(3, 0, .seconds(3))
        schedule.drop(head.motion, at: .seconds(50))
        #expect(schedule.heard(head.motion, from: .seconds(50), until: .seconds(60)) == [])
        head.set(3, 1, .seconds(60))
        #expect(schedule.heard(head.motion, from: .seconds(60), until: .seconds(62)) == ["4 at 61000"])
    }

    @Test func backwardsTimesArePassedToo() {
        let head = Playhead(at: 5, rate: -1)
        var schedule = BoundarySchedule(times, from: head.motion, at: .zero)
        #expect(schedule.heard(head.motion, from: .zero, until: .seconds(9)) == ["4 at 1000", "2 at 3000"])
    }

    @Test func whatBecameDueMeanwhileIsDropped() {
        let head = Playhead(rate: 1)
        var schedule = BoundarySchedule(times, from: head.motion, at: .zero)
        schedule.drop(head.motion, at: .seconds(5))
        #expect(schedule.heard(head.motion, from: .seconds(5), until: .seconds(9)) == ["6 at 6000"])
    }
}
