import MediaTiming
import StreamingEngine
import Testing

@testable import Millstream

/// A playhead whose motion is set by a test.
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
    /// Returns the times that are reported to an observer, each with its clock time in milliseconds.
    fileprivate mutating func reported(_ motion: Motion, from start: Duration, until end: Duration) -> [String] {
        var reported: [String] = []
        var now = start
        while now <= end {
            switch step(motion, at: now) {
            case .fire(let time):
                reported.append(
                    "\(time) at \(now.components.seconds * 1_000 + now.components.attoseconds / 1_000_000_000_000_000)"
                )
            case .wait(let until):
                guard let until else { return reported }
                now = max(until, now)
            }
        }
        return reported
    }
}

@Suite struct PeriodicScheduleTests {
    private let second = MediaTime(seconds: 1)

    @Test func nothingIsReportedWhilePaused() {
        let (head, other) = (Playhead(at: 3), Playhead(at: 3))
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        #expect(schedule.step(head.motion, at: .seconds(9)) == .wait(until: nil))
        #expect(schedule.step(other.motion, at: .seconds(9)) == .fire(MediaTime(seconds: 3)), "another item is a jump")
        #expect(schedule.step(Motion(), at: .seconds(9)) == .wait(until: nil))
    }

    @Test func eachIntervalOfMediaTimeIsReported() {
        let head = Playhead(at: 0.25, rate: 1)
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        #expect(
            schedule.reported(head.motion, from: .zero, until: .seconds(3)) == ["1 at 750", "2 at 1750", "3 at 2750"]
        )
    }

    @Test func doubledRateReportsTwiceAsManyTimes() {
        let head = Playhead(rate: 2)
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        #expect(
            schedule.reported(head.motion, from: .zero, until: .seconds(2))
                == ["1 at 500", "2 at 1000", "3 at 1500", "4 at 2000"]
        )
    }

    @Test func reversePlaybackReportsTimesInReverseOrder() {
        let head = Playhead(at: 2.5, rate: -1)
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        #expect(schedule.reported(head.motion, from: .zero, until: .seconds(2)) == ["2 at 500", "1 at 1500"])
    }

    @Test func aTurnWithoutAJumpReportsTheTimesBeforeThePlayhead() {
        var head = Playhead(rate: 1)
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        #expect(
            schedule.reported(head.motion, from: .zero, until: .milliseconds(2_400)) == ["1 at 1000", "2 at 2000"]
        )
        head.set(2.5, -1, .milliseconds(2_500))
        #expect(
            schedule.reported(head.motion, from: .milliseconds(2_500), until: .milliseconds(4_400)) == [
                "2 at 3000", "1 at 4000",
            ]
        )
        head.set(0.5, 1, .milliseconds(4_500))
        #expect(
            schedule.reported(head.motion, from: .milliseconds(4_500), until: .seconds(5)) == ["1 at 5000"]
        )
        // A time at which the playhead turns is not reported again.
        head.set(1, -1, .seconds(5))
        #expect(schedule.reported(head.motion, from: .seconds(5), until: .milliseconds(6_500)) == ["0 at 6000"])
    }

    @Test(
        arguments: [
            (-0.5, 1, ["0 at 500", "1 at 1500"]), (-1, 1, ["0 at 1000"]), (-0.5, -1, ["-1 at 500", "-2 at 1500"]),
            (-1, -1, ["-2 at 1000"]), (0.5, -1, ["0 at 500", "-1 at 1500"]),
        ] as [(Double, Double, [String])]
    )
    func timesBeforeZeroAreReported(start: Double, rate: Double, expected: [String]) {
        let head = Playhead(at: start, rate: rate)
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        #expect(schedule.reported(head.motion, from: .zero, until: .milliseconds(1_900)) == expected)
    }

    @Test func startAndStopAreReported() {
        var head = Playhead(at: 4.2)
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        head.set(4.2, 1, .seconds(1))
        #expect(schedule.reported(head.motion, from: .seconds(1), until: .seconds(2)) == ["4.2 at 1000", "5 at 1800"])
        head.set(5.3, 0, .milliseconds(2_100))
        #expect(schedule.reported(head.motion, from: .milliseconds(2_100), until: .seconds(9)) == ["5.3 at 2100"])
    }

    @Test func jumpIsReportedAndIntervalsContinueFromItsTarget() {
        var head = Playhead(rate: 1)
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        head.set(7.5, 1, .milliseconds(300))
        #expect(
            schedule.reported(head.motion, from: .milliseconds(300), until: .seconds(1)) == ["7.5 at 300", "8 at 800"]
        )
        // A jump shorter than an interval is also reported while the playhead is paused.
        head.set(8.2, 0, .seconds(1))
        #expect(schedule.reported(head.motion, from: .seconds(1), until: .seconds(2)) == ["8.2 at 1000"])
        head.set(8.21, 0, .seconds(3))
        #expect(schedule.reported(head.motion, from: .seconds(3), until: .seconds(4)) == ["8.21 at 3000"])
    }

    @Test func slightClockDifferenceIsNotAJump() {
        var head = Playhead(rate: 1)
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        head.set(0.52, 1, .milliseconds(500))
        #expect(schedule.reported(head.motion, from: .milliseconds(500), until: .seconds(1)) == ["1 at 980"])
        // The same time is not reported twice if the clock is set back slightly.
        head.set(0.99, 1, .milliseconds(1_000))
        #expect(schedule.reported(head.motion, from: .seconds(1), until: .milliseconds(1_900)) == [])
    }

    @Test func missedTimesAreDropped() {
        let head = Playhead(rate: 1)
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        #expect(schedule.reported(head.motion, from: .zero, until: .seconds(1)) == ["1 at 1000"])
        schedule.skipElapsed(head.motion, at: .milliseconds(3_500))
        #expect(
            schedule.reported(head.motion, from: .milliseconds(3_500), until: .seconds(5)) == [
                "4 at 4000", "5 at 5000",
            ]
        )
    }

    @Test func missedChangeIsReportedOnce() {
        var head = Playhead(rate: 1)
        var schedule = PeriodicSchedule(every: second, from: head.motion, at: .zero)
        head.set(2.5, 0, .milliseconds(2_500))
        schedule.skipElapsed(head.motion, at: .seconds(4))
        #expect(schedule.reported(head.motion, from: .seconds(4), until: .seconds(9)) == ["2.5 at 4000"])
    }

    @Test(arguments: [MediaTime(value: 1, timescale: 3), MediaTime(value: 1001, timescale: 30_000)])
    func noTimeIsReportedTwiceDespiteRounding(interval: MediaTime) {
        for rate in [0.7, 1, 1.3] {
            let head = Playhead(rate: rate)
            var schedule = PeriodicSchedule(every: interval, from: head.motion, at: .zero)
            let reported = schedule.reported(head.motion, from: .zero, until: .seconds(20))
            let expected = Int(20 * rate / interval.seconds)
            #expect(abs(reported.count - expected) <= 1)
            #expect(Set(reported.map { $0.prefix { $0 != " " } }).count == reported.count)
        }
    }

    @Test func tinyIntervalIsReportedAtMostAThousandTimesPerSecond() {
        let head = Playhead(rate: 1)
        var schedule = PeriodicSchedule(every: MediaTime(value: 1, timescale: .max), from: head.motion, at: .zero)
        #expect(schedule.reported(head.motion, from: .zero, until: .milliseconds(100)).count <= 101)
    }

    @Test(arguments: [
        (MediaTime(value: .max, timescale: 1), 1.0), (MediaTime(value: .min, timescale: 1), -32.0),
        (MediaTime(value: 1, timescale: .max), 32.0),
    ])
    func extremeTimesAreHandled(time: MediaTime, rate: Double) {
        var head = Playhead()
        head.motion.timebase = Timebase(mediaTime: time, time: .zero, rate: rate)
        for interval in [MediaTime(value: .max, timescale: 1), MediaTime(value: 1, timescale: .max)] {
            var schedule = PeriodicSchedule(every: interval, from: Motion(), at: .zero)
            for second in 0..<4 {
                // The time to wait for is never in the past.
                guard case .wait(let until?) = schedule.step(head.motion, at: .seconds(second)) else { continue }
                #expect(until > .seconds(second))
            }
            schedule.skipElapsed(head.motion, at: .seconds(9))
        }
    }

    @Test func zeroIntervalIsAPreconditionFailure() async {
        await #expect(processExitsWith: .failure) {
            _ = PeriodicSchedule(every: .zero, from: Motion(), at: .zero)
        }
    }
}

@Suite struct BoundaryScheduleTests {
    private let times = [6, 2, 4, 4].map { MediaTime(seconds: $0) }

    @Test func boundaryIsReportedWhenPlaybackPassesIt() {
        let head = Playhead(rate: 2)
        var schedule = BoundarySchedule(times, from: head.motion, at: .zero)
        #expect(
            schedule.reported(head.motion, from: .zero, until: .seconds(9)) == ["2 at 1000", "4 at 2000", "6 at 3000"]
        )
    }

    @Test func seekPassesNoBoundaries() {
        var head = Playhead(rate: 1)
        var schedule = BoundarySchedule(times, from: head.motion, at: .zero)
        head.set(5, 1, .seconds(1))
        #expect(schedule.reported(head.motion, from: .seconds(1), until: .seconds(9)) == ["6 at 2000"])
        // After a seek back, boundaries that are passed again are reported again.
        head.set(1, 1, .seconds(9))
        #expect(
            schedule.reported(head.motion, from: .seconds(9), until: .seconds(20))
                == ["2 at 10000", "4 at 12000", "6 at 14000"]
        )
    }

    @Test func seekOntoABoundaryDoesNotReportIt() {
        var head = Playhead()
        var schedule = BoundarySchedule(times, from: head.motion, at: .zero)
        head.set(4, 0, .seconds(1))
        #expect(schedule.step(head.motion, at: .seconds(1)) == .wait(until: nil))
        head.set(4, 1, .seconds(2))
        #expect(schedule.reported(head.motion, from: .seconds(2), until: .seconds(9)) == ["6 at 4000"])
    }

    @Test func boundaryPassedJustBeforeAStopIsReported() {
        var head = Playhead(rate: 1)
        var schedule = BoundarySchedule(times, from: head.motion, at: .zero)
        head.set(2.1, 0, .milliseconds(2_100))
        #expect(schedule.step(head.motion, at: .milliseconds(2_200)) == .fire(MediaTime(seconds: 2)))
        #expect(schedule.step(head.motion, at: .milliseconds(2_200)) == .wait(until: nil))
    }

    @Test func pauseLosesNoBoundaries() {
        var head = Playhead(rate: 1)
        var schedule = BoundarySchedule(times, from: head.motion, at: .zero)
        #expect(schedule.reported(head.motion, from: .zero, until: .seconds(2)) == ["2 at 2000"])
        head.set(3, 0, .seconds(3))
        schedule.skipElapsed(head.motion, at: .seconds(50))
        #expect(schedule.reported(head.motion, from: .seconds(50), until: .seconds(60)) == [])
        head.set(3, 1, .seconds(60))
        #expect(schedule.reported(head.motion, from: .seconds(60), until: .seconds(62)) == ["4 at 61000"])
    }

    @Test func reversePlaybackReportsBoundaries() {
        let head = Playhead(at: 5, rate: -1)
        var schedule = BoundarySchedule(times, from: head.motion, at: .zero)
        #expect(schedule.reported(head.motion, from: .zero, until: .seconds(9)) == ["4 at 1000", "2 at 3000"])
    }

    @Test func boundariesAreReportedAgainAfterATurn() {
        var head = Playhead(rate: 1)
        var schedule = BoundarySchedule(times, from: head.motion, at: .zero)
        #expect(
            schedule.reported(head.motion, from: .zero, until: .milliseconds(4_400)) == ["2 at 2000", "4 at 4000"]
        )
        head.set(4.5, -1, .milliseconds(4_500))
        #expect(
            schedule.reported(head.motion, from: .milliseconds(4_500), until: .seconds(8)) == [
                "4 at 5000", "2 at 7000",
            ]
        )
    }

    @Test func boundariesMissedInReverseAreDropped() {
        let head = Playhead(at: 5, rate: -1)
        var schedule = BoundarySchedule(times, from: head.motion, at: .zero)
        schedule.skipElapsed(head.motion, at: .seconds(2))
        #expect(schedule.reported(head.motion, from: .seconds(2), until: .seconds(9)) == ["2 at 3000"])
    }

    @Test func missedBoundariesAreDropped() {
        let head = Playhead(rate: 1)
        var schedule = BoundarySchedule(times, from: head.motion, at: .zero)
        schedule.skipElapsed(head.motion, at: .seconds(5))
        #expect(schedule.reported(head.motion, from: .seconds(5), until: .seconds(9)) == ["6 at 6000"])
    }
}
