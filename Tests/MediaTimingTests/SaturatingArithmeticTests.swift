import MediaTiming
import Testing

/// Boundary values of conversions and arithmetic, and random numbers between them.
enum ExtremeNumbers {
    static let integers: [Int64] = {
        var numbers: [Int64] = [0, 1, -1, 2, -2, 3, 7, 10, 1_000_000_000, 1_000_000_000_000_000_000]
        for power in [7, 8, 15, 16, 31, 32, 53, 62] as [Int64] {
            numbers += [-1, 0, 1].flatMap { [(1 << power) + $0, -(1 << power) + $0] }
        }
        return numbers + [.max, .max - 1, .min, .min + 1]
    }()

    static let doubles: [Double] = [
        0, -0.0, 0.5, -0.5, 0.999_999_999, 1, -1, 127.9, 128, -128.9, -129, 255.5, 256, 0x1p31, -0x1p31, 0x1p32, 0x1p53,
        0x1p63, -0x1p63, 0x1p64, 0x1p127, -0x1p127, 1e18, 1e300, -1e300, .nan, -.nan, .signalingNaN, .infinity,
        -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0x1.fffffffffffffp62, 0x1.fffffffffffffp63,
    ]

    /// A pseudorandom sequence that is the same in every run.
    struct Generator: RandomNumberGenerator {
        private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    /// Returns integers of every magnitude, the boundary values first.
    static func integers(count: Int) -> [Int64] {
        var generator = Generator()
        return integers
            + (0..<count).map { _ in Int64(truncatingIfNeeded: generator.next()) >> Int64(generator.next() % 64) }
    }
}

@Suite struct SaturatingArithmeticTests {
    /// Compares every operation with the same operation on 128-bit integers.
    private func check<Number: FixedWidthInteger>(_ type: Number.Type) {
        let numbers = ExtremeNumbers.integers(count: 60).map { Number(truncatingIfNeeded: $0) } + [.min, .max]
        for left in numbers {
            let wide = Int128(left)
            #expect(left.negatedSaturated() == Number(clamping: -wide))
            for right in numbers {
                let other = Int128(right)
                let sum = left.addingSaturated(right)
                let difference = left.subtractingSaturated(right)
                let product = left.multipliedSaturated(by: right)
                let quotient = left.dividedSaturated(by: right)
                var (accumulated, reduced) = (left, left)
                accumulated +|= right
                reduced -|= right
                var scaled = left
                scaled *|= right
                let expectedQuotient = other == 0 ? wide.signum() * Int128.max : wide / other
                let (wideProduct, overflow) = wide.multipliedReportingOverflow(by: other)
                let expectedProduct = overflow ? (wide.signum() * other.signum() > 0 ? Int128.max : .min) : wideProduct
                // A single expectation for all results, because many thousands of expectations are slow.
                let isExpected =
                    sum == Number(clamping: wide + other) && difference == Number(clamping: wide - other)
                    && product == Number(clamping: expectedProduct) && quotient == Number(clamping: expectedQuotient)
                    && accumulated == sum && reduced == difference && left +| right == sum
                    && left -| right == difference && left *| right == product && scaled == product
                if !isExpected {
                    Issue.record("\(type): \(left), \(right): \(sum), \(difference), \(product), \(quotient)")
                }
            }
        }
    }

    @Test func operationsEqualClamped128BitOperations() {
        check(Int8.self)
        check(Int16.self)
        check(Int32.self)
        check(Int64.self)
        check(Int.self)
        check(UInt8.self)
        check(UInt16.self)
        check(UInt32.self)
        check(UInt64.self)
        check(UInt.self)
    }

    @Test func absoluteValueOfEveryIntegerIsDefined() {
        #expect(abs(Int8.min) == 127 && abs(Int.min) == .max && abs(Int64.min + 1) == .max && abs(-5 as Int32) == 5)
        #expect(abs(-2.5) == 2.5)
    }

    @Test func operationsOf128BitsSaturateAtTheirBounds() {
        #expect(Int128.max.addingSaturated(1) == .max && Int128.min.addingSaturated(-1) == .min)
        #expect(Int128.min.subtractingSaturated(1) == .min && Int128(0).subtractingSaturated(.min) == .max)
        #expect(Int128.max.multipliedSaturated(by: -2) == .min && Int128.min.multipliedSaturated(by: -1) == .max)
        #expect(Int128.min.dividedSaturated(by: -1) == .max && Int128.min.negatedSaturated() == .max)
        #expect(UInt128(1).subtractingSaturated(2) == 0 && UInt128.max.multipliedSaturated(by: 2) == .max)
    }

    private func checkConversions<Number: FixedWidthInteger>(_ type: Number.Type) {
        var generator = ExtremeNumbers.Generator()
        let random = (0..<2_000).map { _ in Double(bitPattern: generator.next()) }
        for value in ExtremeNumbers.doubles + random {
            let expected: Number =
                value.isNaN
                ? 0
                : value <= Double(Number.min) ? .min : value >= Double(Number.max) ? .max : Number(value)
            if Number(saturating: value) != expected {
                Issue.record("\(type)(saturating: \(value)) is \(Number(saturating: value)), not \(expected)")
            }
        }
    }

    @Test func floatingPointConversionsSaturate() {
        checkConversions(Int8.self)
        checkConversions(Int16.self)
        checkConversions(Int32.self)
        checkConversions(Int64.self)
        checkConversions(Int.self)
        checkConversions(Int128.self)
        checkConversions(UInt8.self)
        checkConversions(UInt16.self)
        checkConversions(UInt32.self)
        checkConversions(UInt64.self)
        checkConversions(UInt.self)
        checkConversions(UInt128.self)
        #expect(Int64(saturating: .nan) == 0 && UInt8(saturating: .nan) == 0)
        #expect(Int64(saturating: -2.9) == -2 && UInt64(saturating: -2.9) == 0)
    }

    @Test func narrowingConversionsWithinTheRangeKeepTheValue() {
        #expect(Int32(Int64(-5)) == -5 && UInt8(Int(255)) == 255 && Int64(UInt64(7)) == 7 && Int8(UInt64(127)) == 127)
        #expect(UInt64(Int64.max) == 0x7FFF_FFFF_FFFF_FFFF && Int(UInt128(9)) == 9 && Int128(UInt128(9)) == 9)
    }

    @Test func narrowingConversionsBeyondTheRangeTrap() async {
        await #expect(processExitsWith: .failure) { _ = Int32(Int64.max) }
        await #expect(processExitsWith: .failure) { _ = UInt64(-1 as Int) }
    }
}

@Suite struct SaturatingDurationTests {
    private static let durations: [Duration] = {
        var generator = ExtremeNumbers.Generator()
        let high: [Int64] = [.min, .min + 1, -1, 0, 1, .max, .max - 1, 1 << 40]
        let extreme = high.flatMap { seconds in
            [0, 1, 999_999_999_999_999_999, -1].map { Duration(secondsComponent: seconds, attosecondsComponent: $0) }
        }
        let random = (0..<40).map { _ in
            Duration(attoseconds: Int128(truncatingIfNeeded: generator.next()) << Int128(generator.next() % 63))
        }
        return extreme + random + [Duration(attoseconds: .max), Duration(attoseconds: .min)]
    }()

    private static let bound = Int128(Int64.max) * 1_000_000_000_000_000_000

    private func limited(_ value: Int128) -> Int128 { min(max(value, -Self.bound), Self.bound) }

    @Test func sumsAndDifferencesStayWithinTheBounds() {
        for left in Self.durations {
            for right in Self.durations {
                let (sum, overflow) = left.attoseconds.addingReportingOverflow(right.attoseconds)
                let expectedSum = overflow ? (right < .zero ? -Self.bound : Self.bound) : limited(sum)
                let (difference, underflow) = left.attoseconds.subtractingReportingOverflow(right.attoseconds)
                let expected = underflow ? (right < .zero ? Self.bound : -Self.bound) : limited(difference)
                var (added, subtracted) = (left, left)
                added += right
                subtracted -= right
                let isExpected =
                    (left + right).attoseconds == expectedSum && (left - right).attoseconds == expected
                    && added == left + right && subtracted == left - right
                if !isExpected { Issue.record("\(left.attoseconds) and \(right.attoseconds)") }
            }
        }
        #expect(Duration.maximum + .seconds(1) == .maximum)
    }

    @Test func productsAndQuotientsStayWithinTheBounds() {
        for duration in Self.durations {
            for factor in ExtremeNumbers.integers {
                let (product, overflow) = duration.attoseconds.multipliedReportingOverflow(by: Int128(factor))
                let isPositive = (duration < .zero) == (factor < 0)
                let expected = overflow ? (isPositive ? Self.bound : -Self.bound) : limited(product)
                let quotient =
                    factor == 0
                    ? Int128(duration.attoseconds.signum()) * Self.bound
                    : factor == -1 && duration.attoseconds == .min
                        ? Self.bound : limited(duration.attoseconds / Int128(factor))
                var (multiplied, divided) = (duration, duration)
                multiplied *= factor
                divided /= factor
                let isExpected =
                    (duration * factor).attoseconds == expected && (duration / factor).attoseconds == quotient
                    && multiplied == duration * factor && divided == duration / factor
                if !isExpected { Issue.record("\(duration.attoseconds) and \(factor)") }
            }
            for factor in ExtremeNumbers.doubles {
                let results = [duration * factor, duration / factor]
                if results.contains(where: { $0 > .maximum || $0.attoseconds < -Self.bound }) {
                    Issue.record("\(duration.attoseconds) and \(factor): \(results)")
                }
            }
        }
        #expect(Duration.seconds(3) * 1.5 == .milliseconds(4_500) && Duration.seconds(3) / 1.5 == .seconds(2))
        #expect(Duration.seconds(3) * Double.nan == .zero && Duration.seconds(3) * Double.infinity == .maximum)
        #expect(Duration.seconds(3) / Duration.seconds(2) == 1.5)
        #expect(Duration.seconds(1) * UInt64.max == .maximum)
    }

    @Test func durationsFromFloatingPointSaturate() {
        for value in ExtremeNumbers.doubles {
            let results = [
                Duration.seconds(value), .milliseconds(value), .microseconds(value), .nanoseconds(value),
            ]
            for result in results {
                let isExpected = value.isNaN ? result == .zero : value < 0 ? result <= .zero : result >= .zero
                if !isExpected || result > .maximum { Issue.record("\(value): \(result.attoseconds)") }
            }
        }
        #expect(Duration.seconds(0.1) == .milliseconds(100) && Duration.seconds(-2.25) == .milliseconds(-2_250))
        #expect(Duration.milliseconds(1.5) == .microseconds(1_500) && Duration.microseconds(0.5) == .nanoseconds(500))
        #expect(Duration.nanoseconds(0.5) == Duration(attoseconds: 500_000_000))
        #expect(Duration.seconds(Double.infinity) == .maximum && Duration.seconds(-1e300) == .zero - .maximum)
    }

    @Test func componentsOfEveryDurationAreDefined() {
        for duration in Self.durations {
            let (seconds, rest) = duration.components
            let whole = duration.attoseconds / 1_000_000_000_000_000_000
            #expect(
                seconds == Int64(clamping: whole) && Int128(rest) == duration.attoseconds % 1_000_000_000_000_000_000
            )
            #expect(duration.saturatingNanoseconds == Int64(clamping: duration.attoseconds / 1_000_000_000))
            #expect(duration.saturated.attoseconds == limited(duration.attoseconds))
        }
        #expect(Duration.milliseconds(1_250).inSeconds == 1.25)
    }

    @Test(.timeLimit(.minutes(10))) func longestSleepWaitsUntilCancellation() async {
        let task = Task { try await SystemTimeSource().sleep(for: .maximum) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

@Suite struct ExtremeMediaTimeTests {
    private static let times: [MediaTime] = {
        let values: [Int64] = [0, 1, -1, 1 << 31, 1 << 53, 1_000_000_000_000_000_000, .max, .max - 1, .min, .min + 1]
        let timescales: [Int64] = [1, 2, 3, 1_000, 90_000, 1_000_000_000, 1 << 32, .max, .max - 1]
        return values.flatMap { value in timescales.map { MediaTime(value: value, timescale: $0) } }
    }()

    @Test func arithmeticOfExtremeTimesSaturates() {
        for left in Self.times {
            for right in Self.times {
                let sum = left + right
                let difference = left - right
                let product = left * right.value
                let scaled = left.scaled(by: right)
                let range = MediaTimeRange(start: left, end: right)
                // Rounding may be off by some units in the last place, but the order must be correct.
                let tolerance = 1e-9 + 1e-12 * (abs(left.seconds) + abs(right.seconds))
                let expectedSum = min(max(left.seconds + right.seconds, -0x1p63), 0x1p63)
                let expectedDifference = min(max(left.seconds - right.seconds, -0x1p63), 0x1p63)
                let isExpected =
                    abs(sum.seconds - expectedSum) <= tolerance
                    && abs(difference.seconds - expectedDifference) <= tolerance
                    && product.timescale > 0 && scaled.timescale > 0 && range.duration >= .zero
                    && (left < right ? !(right < left) : right <= left)
                if !isExpected { Issue.record("\(left) and \(right): \(sum), \(difference)") }
                var set = MediaTimeRangeSet([range, MediaTimeRange(start: right, end: left)])
                set.remove(MediaTimeRange(start: .zero, duration: left))
                _ = (set.totalDuration, set.intersection(set), range.intersection(range), range.contains(left))
                _ = (range.description, range.end, Set([left, right, sum]))
            }
        }
    }

    @Test func everyConversionOfAnExtremeTimeIsDefined() throws {
        for time in Self.times {
            #expect(abs(time.duration.inSeconds - time.seconds) <= 1e-9 + abs(time.seconds) * 1e-12)
            #expect(abs(Double(time.roundedSeconds) - time.seconds) <= 0.5 + abs(time.seconds) * 1e-12)
            #expect(time.description.contains { $0.isNumber })
        }
        for seconds in ExtremeNumbers.doubles {
            let time = MediaTime(approximating: seconds)
            #expect((time != nil) == (seconds.isFinite && abs(seconds) < 9_000_000_000))
        }
    }

    @Test func addingFractionToGreatestTimeSaturates() {
        let greatest = MediaTime(seconds: .max)
        #expect(greatest + MediaTime(value: 1, timescale: 3) == greatest)
        #expect(greatest + MediaTime(value: 2, timescale: 3) == greatest)
        #expect(MediaTime(value: .min, timescale: 1) - MediaTime(value: 1, timescale: 3) <= MediaTime(seconds: -.max))
        let year2300 = MediaTime(seconds: 10_413_792_000)
        #expect((year2300 + MediaTime(value: 1, timescale: .max)).roundedSeconds == 10_413_792_000)
    }

    @Test func timescaleBelowOneCountsAsOne() {
        for timescale in [0, -1, .min] as [Int64] {
            #expect(MediaTime(value: 5, timescale: timescale) == MediaTime(seconds: 5))
        }
    }

    @Test func bitRatesAndByteCountsOfAnySizeHaveDescription() {
        for number in ExtremeNumbers.integers {
            #expect(BitRate(bitsPerSecond: number).description.hasSuffix("bit/s"))
            let count = ByteCount(number)
            #expect(!count.description.isEmpty && count + count >= count && count - ByteCount(.max) == .zero)
            #expect(ByteCount.zero - count <= .zero)
            for other in ExtremeNumbers.integers {
                if let range = ByteRange(start: number, length: other) { #expect(range.end >= range.start) }
            }
        }
        #expect(BitRate(bitsPerSecond: .max).description == "9223372036.9 Gbit/s")
        for (rate, text) in [
            (999, "999 bit/s"), (999_499, "999 kbit/s"), (999_500, "1 Mbit/s"), (2_000_000, "2 Mbit/s"),
            (999_940_000, "999.9 Mbit/s"), (999_950_000, "1 Gbit/s"), (1_250_000_000, "1.3 Gbit/s"),
        ] as [(Int64, String)] { #expect(BitRate(bitsPerSecond: rate).description == text) }
        #expect(BitRate(saturating: 1e300) == BitRate(bitsPerSecond: .max))
        #expect(BitRate(saturating: .nan) == BitRate(bitsPerSecond: 0))
    }

    @Test func stableHashEqualsFNV1a() {
        #expect(StableHash("").value == 0xCBF2_9CE4_8422_2325)
        #expect(StableHash("a").value == 0xAF63_DC4C_8601_EC8C)
        #expect(StableHash("foobar").value == 0x8594_4171_F739_67E8)
        #expect(StableHash(Array("foobar".utf8)) == StableHash("foobar"))
    }
}
