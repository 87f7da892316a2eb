import MediaTiming
import Testing

@testable import StreamingEngine

/// Tests of the duration of consecutive media that cannot be decoded, after which playback ends.
@Suite struct UndecodableRunTests {
    /// Returns whether the last of some ranges exceeds the limit, with four segments that may be skipped.
    private func isOverLimit(_ ranges: [(String, String)], targetDuration: Int64 = 2) -> Bool {
        var run = UndecodableRun()
        var result = false
        for (start, end) in ranges {
            result = run.isOverLimit(
                adding: MediaTimeRange(start: seconds(start), end: seconds(end)),
                targetDuration: MediaTime(seconds: targetDuration),
                skippedSegments: 4
            )
        }
        return result
    }

    @Test func theLimitIsTenSecondsOrTheSegmentsThatMayBeSkipped() {
        #expect(!isOverLimit([("0", "10")]) && isOverLimit([("0", "10.001")]))
        #expect(!isOverLimit([("0", "24")], targetDuration: 6) && isOverLimit([("0", "24.001")], targetDuration: 6))
    }

    @Test func rangesUpToHalfASecondApartBelongTogether() {
        #expect(isOverLimit([("0", "8"), ("8.5", "11")]))
        #expect(!isOverLimit([("0", "8"), ("8.501", "17")]))
        #expect(isOverLimit([("20", "28"), ("11.5", "19.5")]))
        #expect(!isOverLimit([("20", "28"), ("11.5", "19.499")]))
    }

    @Test func aRangeWithinTheRunDoesNotShortenIt() {
        #expect(isOverLimit([("0", "8"), ("2", "4"), ("8", "10.5")]))
        #expect(!isOverLimit([("4", "8"), ("2", "10"), ("0", "2")]))
        #expect(isOverLimit([("4", "8"), ("2", "10"), ("10", "12.5")]))
    }
}
