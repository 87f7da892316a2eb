import MediaTiming
import Testing

@Suite struct ClockTextTests {
    @Test(
        arguments: [
            (0, "00:00"), (59_990, "00:59"), (35_500, "00:35"), (605_000, "10:05"), (3_661_000, "1:01:01"),
            (-32_000, "-00:32"), (1_000_000_000_000, "99:59:59"),
        ] as [(Int64, String)]
    )
    func timesAreRoundedDown(milliseconds: Int64, text: String) {
        #expect(ClockText.string(MediaTime(value: milliseconds, timescale: 1000)) == text)
    }

    /// Times that were computed have more digits than people need.
    @Test(
        arguments: [
            (6_006, 1_000, "6.006 s"), (134, 15, "8.933 s"), (6, 1, "6 s"), (-1_500, 1_000, "-1.5 s"),
            (1, 3_000, "0 s"),
            (19_999_999, 1_000_000, "20 s"), (10_010, 1_000, "10.01 s"),
        ] as [(Int64, Int64, String)]
    )
    func secondsHaveThreeDecimalDigits(value: Int64, timescale: Int64, text: String) {
        #expect(ClockText.seconds(MediaTime(value: value, timescale: timescale)) == text)
    }

    @Test func rangesHaveOneUnit() throws {
        let end = try #require(MediaTime(approximating: 8.933333333333332))
        #expect(ClockText.seconds(MediaTimeRange(start: MediaTime(seconds: 4), end: end)) == "4 to 8.933 s")
    }

    @Test(
        arguments: [
            (35_500, 1_200_000, "00:35 of 20:00"), (0, 19_977, "00:00 of 00:20"), (19_977, 19_977, "00:19 of 00:20"),
            (83_000, 3_599_600, "0:01:23 of 1:00:00"), (3_900, nil, "00:03"),
        ] as [(Int64, Int64?, String)]
    )
    func theDurationIsRoundedToTheNearestSecond(position: Int64, duration: Int64?, text: String) {
        let clock = ClockText.string(
            position: MediaTime(value: position, timescale: 1000),
            duration: duration.map { MediaTime(value: $0, timescale: 1000) },
            separator: " of "
        )
        #expect(clock == text)
    }
}
