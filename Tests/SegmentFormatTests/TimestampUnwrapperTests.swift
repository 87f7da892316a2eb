import MediaTiming
import SeededRandomness
import SegmentFormat
import Testing

@Suite struct TimestampUnwrapperTests {
    static let period = TimestampUnwrapper.period

    @Test func timestampsContinueAcrossWraparound() {
        var wrap = TimestampUnwrapper()
        #expect(wrap.unwrap(UInt64(Self.period - 90_000)) == Self.period - 90_000)
        #expect(wrap.unwrap(0) == Self.period)
        #expect(wrap.unwrap(90_000) == Self.period + 90_000)
    }

    @Test func backwardStepsAreNotWraparounds() {
        var wrap = TimestampUnwrapper(near: Self.period + 10)
        #expect(wrap.unwrap(UInt64(Self.period - 5)) == Self.period - 5)
    }

    static let nearest: [(Int64, Int64, Int64)] = [
        (0, 0, 0), (5, -3, 5), (5, period * 7 + 1, period * 7 + 5), (period - 1, 0, -1), (period / 2, 0, period / 2),
        (period | 7, 0, 7),
    ]

    @Test(arguments: nearest)
    func valueNearestToReferenceIsUsed(_ timestamp: Int64, _ reference: Int64, _ expected: Int64) {
        #expect(TimestampUnwrapper.unwrap(UInt64(timestamp), near: reference) == expected)
    }

    @Test func unrolledValueKeepsLowBitsAndIsNearReference() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<10_000 {
            let timestamp = UInt64.random(in: 0..<1 << 33, using: &random)
            let reference = Int64.random(in: -(1 << 60)...(1 << 60), using: &random)
            let value = TimestampUnwrapper.unwrap(timestamp, near: reference)
            #expect(UInt64(bitPattern: value) & 0x1_FFFF_FFFF == timestamp)
            #expect(abs(value - reference) <= Self.period / 2)
        }
    }

    @Test(arguments: [Int64.min, .max, .min + 1, .max - 1, 0])
    func extremeReferencesDoNotTrap(_ reference: Int64) {
        for timestamp: UInt64 in [0, 1, 1 << 32, 1 << 33 - 1, .max] {
            let value = TimestampUnwrapper.unwrap(timestamp, near: reference)
            #expect(UInt64(bitPattern: value) & 0x1_FFFF_FFFF == timestamp & 0x1_FFFF_FFFF)
        }
    }
}
