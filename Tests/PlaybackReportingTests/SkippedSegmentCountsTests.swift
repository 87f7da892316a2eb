import MediaTiming
import PlaybackReporting
import Testing

/// Tests of the numbers of skipped segments, which the summary of a playback has.
@Suite struct SkippedSegmentCountsTests {
    private func segment(_ reason: SkippedSegment.Reason) -> SkippedSegment {
        SkippedSegment(
            address: "https://example.com/1.ts",
            mediaType: .muxed,
            range: MediaTimeRange(start: .zero, end: MediaTime(seconds: 6)),
            reason: reason
        )
    }

    @Test func eachReasonHasItsNumber() {
        var counts = SkippedSegmentCounts()
        #expect(counts.text == nil)
        for reason in [.notDecodable, .notLoaded, .notLoaded] as [SkippedSegment.Reason] { counts.add(segment(reason)) }
        #expect(counts.text == "2 not loaded, 1 not decodable")
        for reason in [.gap, .outOfWindow] as [SkippedSegment.Reason] { counts.add(segment(reason)) }
        #expect(counts.text == "1 marked as missing, 2 not loaded, 1 not decodable, 1 no longer available")
    }
}
