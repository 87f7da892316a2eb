import CFFmpeg
import Testing

@testable import MediaDecoding

/// Tests the recognition of a constant frame rate from timestamps.
@Suite struct ConstantFrameRateTests {
    /// Returns the numerator and the denominator of the rate.
    private func rate(_ timestamps: [Int64], _ units: Int32 = 90_000) -> [Int32]? {
        ConstantFrameRate.rate(of: timestamps, in: AVRational(num: 1, den: units)).map { [$0.num, $0.den] }
    }

    /// Returns the rounded timestamps of frames.
    private func timestamps(_ rate: Double, count: Int, _ units: Double = 90_000) -> [Int64] {
        (0..<count).map { 7 + Int64((Double($0) / rate * units).rounded()) }
    }

    @Test(arguments: [
        (24_000, 1_001), (24, 1), (25, 1), (30_000, 1_001), (30, 1), (50, 1), (60_000, 1_001), (60, 1), (25, 2),
    ])
    func rateIsThatOfTheRoundedTimestamps(numerator: Int, denominator: Int) {
        let expected = [Int32(clamping: numerator), Int32(clamping: denominator)]
        let times = timestamps(Double(numerator) / Double(denominator), count: 60)
        #expect(rate(times) == expected)
        // Frames in decoding order.
        #expect(rate(times.reversed()) == expected)
    }

    @Test func millisecondsAreEnoughForTheRate() {
        #expect(rate(timestamps(30, count: 120, 1_000), 1_000) == [30, 1])
    }

    @Test func differentIntervalsHaveNoRate() {
        #expect(rate([0, 3_000, 6_000, 12_000, 15_000]) == nil)
        #expect(rate([0, 3_000, 6_000, 6_000, 9_000]) == nil)
    }

    @Test func fewOrDamagedTimestampsHaveNoRate() {
        #expect(rate([]) == nil)
        #expect(rate([0, 3_000]) == nil)
        #expect(rate([5, 5, 5]) == nil)
        #expect(rate([.min, 0, .max]) == nil)
        #expect(rate([0, 1, 2]) == nil)
    }
}
