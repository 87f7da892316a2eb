import MediaTiming
import Testing

@Suite struct MediaTimeSumTests {
    @Test(arguments: [
        ["5.99099", "5.99199", "6.006", "0.5", "7"], ["0.5", "0.25", "0.1", "0.0001"], ["3", "-4.5", "1.5"], [],
        // The sum of the numerators exceeds 64 bits.
        ["12345678901234567.8", "99999999999999999.9", "0.00000000000000001"],
        ["999999999999999999", "999999999999999999", "0.1", "999999999999999999"],
    ])
    func sumEqualsRepeatedAddition(of texts: [String]) throws {
        let times = try texts.map { try #require(MediaTime(decimal: $0)) }
        var sum = MediaTimeSum(MediaTime(value: 1, timescale: 3))
        for time in times { sum += time }
        #expect(sum.time == times.reduce(MediaTime(value: 1, timescale: 3), +))
        #expect(MediaTimeSum().time == .zero)
    }

    @Test func timesAtTheLimitsOfTheirRangeAreAdded() {
        let largest = MediaTime(value: .max, timescale: 1)
        let smallest = MediaTime(value: .min, timescale: 1)
        #expect(largest + largest == largest && smallest + smallest == smallest)
        #expect(largest + smallest == MediaTime(seconds: -1) && smallest < largest)
        var sum = MediaTimeSum(largest)
        sum += largest
        #expect(sum.time == largest)
    }

    @Test func timesOfEqualTimescaleAreReducedToLowestTerms() {
        let sum = MediaTime(value: 1, timescale: 90_000) + MediaTime(value: 89_999, timescale: 90_000)
        #expect(sum.value == 1 && sum.timescale == 1)
        let difference = MediaTime(value: 7, timescale: 10) - MediaTime(value: 3, timescale: 10)
        #expect(difference.value == 2 && difference.timescale == 5)
    }
}
