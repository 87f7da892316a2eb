import MediaTiming
import Testing

@testable import StreamingEngine

@Suite struct TimebaseTests {
    private let timebase = Timebase(mediaTime: MediaTime(seconds: 10), time: .seconds(100), rate: 2)

    @Test(arguments: [(99, "10"), (100, "10"), (101, "12"), (103, "16")])
    func theMediaTimeAdvancesWithTheRateAfterTheAnchor(now: Int, time: String) {
        #expect(timebase.mediaTime(at: .seconds(now)) == seconds(time))
    }

    @Test func aPausedTimebaseKeepsItsMediaTimeAndReachesNoOther() {
        let paused = timebase.continued(at: .seconds(103), rate: 0)
        #expect(paused == Timebase(mediaTime: MediaTime(seconds: 16), time: .seconds(103), rate: 0))
        #expect(paused.mediaTime(at: .seconds(200)) == MediaTime(seconds: 16))
        #expect(paused.time(reaching: MediaTime(seconds: 16)) == .seconds(103))
        #expect(paused.time(reaching: MediaTime(seconds: 17)) == nil)
        #expect(paused.time(reaching: MediaTime(seconds: 15)) == nil)
    }

    @Test(
        arguments: [
            (.milliseconds(1_500), 1, "1.5"), (.milliseconds(-1_500), 1, "-1.5"), (.nanoseconds(3), 1, "0.000000003"),
            (.seconds(3), 0.5, "1.5"), (.seconds(3), -2, "-6"), (.milliseconds(250), 4, "1"),
        ] as [(Duration, Double, String)]
    )
    func aDurationIsConvertedToMediaTime(duration: Duration, rate: Double, time: String) {
        #expect(MediaTime(duration, scaledBy: rate) == seconds(time))
        if rate == 1 { #expect(MediaTime(duration) == seconds(time)) }
    }

    @Test func aToleranceIncludesItsLimits() {
        let tolerance = SeekTolerance(before: MediaTime(seconds: 2), after: MediaTime(seconds: 1))
        let target = MediaTime(seconds: 10)
        #expect(tolerance.permits(seconds("8"), for: target) && !tolerance.permits(seconds("7.999"), for: target))
        #expect(tolerance.permits(seconds("11"), for: target) && !tolerance.permits(seconds("11.001"), for: target))
        #expect(SeekTolerance.any.permits(.zero, for: target) && SeekTolerance.any.permits(seconds("99"), for: target))
    }

    @Test func negativeTolerancesCountAsZero() {
        let tolerance = SeekTolerance(before: MediaTime(seconds: -1), after: MediaTime(seconds: -1))
        #expect(tolerance == .exact && tolerance.permits(MediaTime(seconds: 10), for: MediaTime(seconds: 10)))
    }

    @Test(
        arguments: [
            (1, 3, 333_333_333), (2, 3, 666_666_667), (-2, 3, -666_666_667), (1, 2_000_000_000, 1),
            (-1, 2_000_000_000, -1), (1, 2_000_000_001, 0), (5, 1, 5_000_000_000),
        ] as [(Int64, Int64, Int64)]
    )
    func nanosecondsAreRoundedToTheNearest(value: Int64, timescale: Int64, nanoseconds: Int64) {
        #expect(MediaTime(value: value, timescale: timescale).nanoseconds == nanoseconds)
    }
}
