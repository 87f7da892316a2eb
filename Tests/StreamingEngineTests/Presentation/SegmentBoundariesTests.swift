import HLSPlaylist
import MediaTiming
import Testing

@testable import StreamingEngine

/// Tests of the segment boundaries to which interstitials snap.
@Suite struct SegmentBoundariesTests {
    private static func timeline(_ durations: [Int], date: String? = nil) throws -> PresentationTimeline {
        let dates = date.map { "#EXT-X-PROGRAM-DATE-TIME:\($0)\n" } ?? ""
        let segments = durations.map { "#EXTINF:\($0),\ns.ts\n" }.joined()
        return PresentationTimeline(
            try media("#EXTM3U\n#EXT-X-TARGETDURATION:10\n\(dates)\(segments)#EXT-X-ENDLIST\n")
        )
    }

    @Test(arguments: [
        (0, 0), (2, 0), (3, 0), (4, 6), (9, 6), (10, 12), (12, 12), (17, 18), (18, 18), (400, 18), (-5, 0),
    ])
    func theNearestBoundaryOfOneTimelineIsFound(time: Int64, boundary: Int64) throws {
        let boundaries = SegmentBoundaries([try Self.timeline([6, 6, 6])])
        #expect(boundaries.nearest(to: MediaTime(seconds: time), latest: false) == MediaTime(seconds: boundary))
    }

    @Test func theEarliestAndLatestBoundariesOfTwoTimelinesAreFound() throws {
        let boundaries = SegmentBoundaries([try Self.timeline([6, 6, 6]), try Self.timeline([5, 5, 5, 3])])
        #expect(boundaries.nearest(to: MediaTime(seconds: 11), latest: false) == MediaTime(seconds: 10))
        #expect(boundaries.nearest(to: MediaTime(seconds: 11), latest: true) == MediaTime(seconds: 12))
        #expect(SegmentBoundaries().nearest(to: .zero, latest: true) == nil)
    }

    @Test func datesAreResolvedWithTheFirstTimeline() throws {
        let boundaries = SegmentBoundaries([try Self.timeline([6, 6], date: "2026-01-01T00:00:00Z")])
        #expect(try boundaries.time(of: #require(ProgramDateTime("2026-01-01T00:00:07Z"))) == MediaTime(seconds: 7))
        #expect(try boundaries.time(of: #require(ProgramDateTime("2026-01-01T00:00:17Z"))) == nil)
    }

    /// The sum of rounded durations need not agree with a date.
    @Test(arguments: [("12.000", true), ("12.09", true), ("12.2", false), ("11.5", true)])
    func aDateRangeAtTheEndHasAPositionOnlyIfTheStreamHasEnded(second: String, isThere: Bool) throws {
        let date = "2026-01-01T00:00:\(second)Z"
        let tags = "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"\(date)\"\n"
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(tags)#EXTINF:6,\na\n#EXTINF:6,\nb\n"
        let ended = TimedDateRange.ranges(of: PresentationTimeline(try media(text + "#EXT-X-ENDLIST\n")))
        #expect((ended.first?.start != nil) == isThere)
        #expect((ended.first?.start).map { $0 <= MediaTime(seconds: 12) } ?? true)
        // The date may belong to a segment that the live playlist does not list yet.
        let live = TimedDateRange.ranges(of: PresentationTimeline(try media(text)))
        #expect((live.first?.start != nil) == (second == "11.5"))
    }
}
