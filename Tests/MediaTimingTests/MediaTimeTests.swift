import MediaTiming
import Testing

@Suite struct MediaTimeTests {
    @Test func decimalDigitsAreExact() throws {
        let time = try #require(MediaTime(decimal: "9.97667"))
        #expect(time.value == 997_667 && time.timescale == 100_000)
        #expect((0..<11).reduce(MediaTime.zero) { sum, _ in sum + time }.description == "109.74337")
    }

    @Test(arguments: [
        ("10", "10"), ("10.0", "10"), ("0.000001", "0.000001"), ("-3.5", "-3.5"), ("+2", "2"), (".5", "0.5"),
        ("1.12345678901234567", "1.12345678901234567"), ("4.", "4"),
        ("123456789012345678.9", "123456789012345678"), ("12345678901234567.89", "12345678901234567.8"),
    ])
    func decimalsRoundTrip(text: String, expected: String) throws {
        #expect(try #require(MediaTime(decimal: text)).description == expected)
    }

    @Test(arguments: ["", ".", "-", "1e3", "NaN", "0x10", "1.2.3", "99999999999999999999", "1 2", "٣"])
    func invalidDecimalIsRejected(text: String) {
        #expect(MediaTime(decimal: text) == nil)
    }

    @Test func equalTimesOfDifferentScalesAreEqual() {
        #expect(MediaTime(value: 900_000, timescale: 90_000) == MediaTime(seconds: 10))
        #expect(MediaTime(value: 1, timescale: 3) < MediaTime(value: 34, timescale: 100))
        #expect(MediaTime(value: -1, timescale: 3) > MediaTime(value: -34, timescale: 100))
    }

    @Test func arithmeticNeverTraps() {
        let large = MediaTime(value: .max, timescale: 1)
        #expect(large + large == MediaTime(value: .max, timescale: 1))
        let odd = MediaTime(value: 1, timescale: .max) + MediaTime(value: 1, timescale: .max - 1)
        #expect(odd >= .zero && odd < MediaTime(value: 1, timescale: 1_000_000))
        #expect(MediaTime(value: .min, timescale: 7) - MediaTime(value: .max, timescale: 3) < .zero)
    }

    @Test func descriptionIsRoundedToNanoseconds() {
        #expect(MediaTime(value: 1, timescale: 3).description == "0.333333333")
        #expect(MediaTime(value: 1001, timescale: 30_000).description == "0.033366667")
    }

    @Test func targetDurationsRoundHalvesUp() throws {
        #expect(try #require(MediaTime(decimal: "9.5")).roundedSeconds == 10)
        #expect(try #require(MediaTime(decimal: "9.49999")).roundedSeconds == 9)
    }
}

@Suite struct MediaTimeRangeSetTests {
    private func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: MediaTime(seconds: start), end: MediaTime(seconds: end))
    }

    @Test func adjacentRangesAreMerged() {
        var set = MediaTimeRangeSet([range(0, 2), range(4, 6), range(8, 9)])
        set.insert(range(2, 4))
        #expect(set.ranges == [range(0, 6), range(8, 9)])
        set.insert(range(1, 20))
        #expect(set.ranges == [range(0, 20)])
    }

    @Test func overlappingRangesCountOnce() {
        let set = MediaTimeRangeSet([range(0, 10), range(5, 12), range(20, 21)])
        #expect(set.totalDuration == MediaTime(seconds: 13))
    }

    @Test func setDoesNotDependOnInsertionOrder() {
        let pieces = [range(0, 1), range(1, 2), range(5, 7), range(6, 9), range(12, 13), range(3, 3)]
        let expected = MediaTimeRangeSet(pieces)
        for _ in 0..<50 { #expect(MediaTimeRangeSet(pieces.shuffled()) == expected) }
        #expect(expected.ranges == [range(0, 2), range(5, 9), range(12, 13)])
    }

    @Test func intersectionContainsTimesOfBothSets() {
        let first = MediaTimeRangeSet([range(0, 10), range(20, 30)])
        let second = MediaTimeRangeSet([range(5, 25), range(29, 40)])
        #expect(first.intersection(second).ranges == [range(5, 10), range(20, 25), range(29, 30)])
        #expect(first.contains(MediaTime(seconds: 0)) && !first.contains(MediaTime(seconds: 10)))
    }
}

@Suite struct QuantityTests {
    @Test(arguments: [("900k", 900_000), ("4M", 4_000_000), ("1.5M", 1_500_000), ("232370", 232_370), ("0", 0)])
    func bitRatesAcceptUnitSuffixes(text: String, expected: Int) throws {
        #expect(try #require(BitRate(text)).bitsPerSecond == Int64(expected))
    }

    @Test(arguments: ["", "k", "fast", "-1", "1e6", "9999999999999999999G"])
    func invalidBitRateIsRejected(text: String) {
        #expect(BitRate(text) == nil)
    }

    @Test(arguments: [0, 7, 9, 10, 99, 100, 1_234_567_890, .max] as [UInt64], [0, 1, 2, 5, 24])
    func numbersOfALineHaveZerosInFrontAndAreReplaced(number: UInt64, count: Int) {
        func text(_ number: UInt64) -> String {
            let digits = String(number)
            return "a" + String(repeating: "0", count: max(0, count - digits.count)) + digits + "b7"
        }
        var line = NumberedLine()
        line.append(Array("a".utf8))
        line.append(number, minimumDigitCount: count)
        line.append(Array("b".utf8))
        line.append(7)
        #expect(String(decoding: line.bytes, as: UTF8.self) == text(number))
        for other in [0, 5, 12, 99, 4_321, 9_876_543_210, .max] as [UInt64] {
            var changed = line
            let isReplaced = changed.replaceNumber(at: 0, with: other)
            #expect(isReplaced == (text(other).utf8.count == text(number).utf8.count))
            if isReplaced { #expect(String(decoding: changed.bytes, as: UTF8.self) == text(other)) }
        }
    }

    @Test func byteRangesNeverOverflow() {
        #expect(ByteRange(start: .max, length: 1) == nil)
        #expect(ByteRange(start: 10, length: 5)?.end == 15)
    }

    @Test(arguments: [(512, "512 bytes"), (18_300, "18.3 kB"), (2_070_000_000, "2.07 GB"), (123_456, "123 kB")])
    func byteCountsHaveUnitsInDescription(bytes: Int, expected: String) {
        #expect(ByteCount(Int64(bytes)).description == expected)
    }
}
