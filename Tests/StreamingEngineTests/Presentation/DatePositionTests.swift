import HLSPlaylist
import MediaTiming
import StreamingEngine
import Testing

@Suite struct DatePositionTests {
    /// Five segments of 10 s: the dates are continuous at first, then jump ahead by an hour, and then return.
    private static let jumps = """
        #EXTM3U
        #EXT-X-TARGETDURATION:10
        #EXTINF:10,
        0.ts
        #EXT-X-PROGRAM-DATE-TIME:2026-03-01T00:01:00Z
        #EXTINF:10,
        1.ts
        #EXT-X-PROGRAM-DATE-TIME:2026-03-01T00:01:10.0005Z
        #EXTINF:10,
        2.ts
        #EXT-X-DISCONTINUITY
        #EXT-X-PROGRAM-DATE-TIME:2026-03-01T01:00:00Z
        #EXTINF:10,
        3.ts
        #EXT-X-DISCONTINUITY
        #EXT-X-PROGRAM-DATE-TIME:2026-03-01T00:01:15Z
        #EXTINF:10,
        4.ts
        #EXT-X-ENDLIST
        """

    @Test(arguments: [
        (60, "10", DateRelation.inside),
        (55, "5", .inside),
        (50, "0", .inside),
        (49, "0", .beforeStart),
        (72, "22", .inside),
        (3_605, "35", .inside),
        (100, "30", .skipped),
        (3_599, "30", .skipped),
        (4_000, "50", .afterEnd),
    ])
    func aDateIsAtThePositionOfItsMedia(second: Int, time: String, relation: DateRelation) throws {
        let timeline = PresentationTimeline(try media(Self.jumps))
        let position = try #require(timeline.position(of: try date(second)))
        #expect(position.time == (seconds(time)) && position.relation == relation)
    }

    @Test func theFirstOfSeveralPositionsOfADateIsReturned() throws {
        let timeline = PresentationTimeline(try media(Self.jumps))
        // 00:01:17 is in the segments 2 and 4.
        #expect(timeline.position(of: try date(77))?.time == MediaTime(seconds: 27))
        // 00:01:22 is in the last segment only.
        #expect(timeline.position(of: try date(82))?.time == MediaTime(seconds: 47))
    }

    @Test func datesDoNotShiftMediaTime() throws {
        let starts = PresentationTimeline(try media(Self.jumps)).segments.map(\.start)
        #expect(starts == (0..<5).map { MediaTime(seconds: $0 * 10) })
    }

    @Test(arguments: [("0", 50), ("5", 55), ("25", 75), ("35", 3_605), ("49", 84)])
    func datesAreInterpolatedWithinSegments(time: String, second: Int) throws {
        let timeline = PresentationTimeline(try media(Self.jumps))
        #expect(timeline.date(at: seconds(time))?.sinceEpoch == (try date(second)).sinceEpoch)
    }

    @Test func segmentsBeforeTheFirstDateHaveDates() throws {
        let segments = PresentationTimeline(try media(Self.jumps)).segments
        #expect(segments.first?.programDate?.sinceEpoch == (try date(50)).sinceEpoch)
        #expect(segments.last?.programDate?.sinceEpoch == (try date(75)).sinceEpoch)
    }

    @Test func noDateIsFoundWithoutDates() throws {
        let timeline = PresentationTimeline(try LiveWindowText().playlist)
        #expect(timeline.position(of: try date(0)) == nil && timeline.date(at: .zero) == nil)
        #expect(timeline.segments.first?.programDate == nil)
    }

    @Test func aDateThatLeftTheWindowIsStillUsed() throws {
        var text = LiveWindowText(first: 0, count: 4)
        let dated = text.text.replacing(
            "#EXTINF:4,\nsegment0.ts",
            with: "#EXT-X-PROGRAM-DATE-TIME:\(LiveWindowText.date(1_000))\n#EXTINF:4,\nsegment0.ts"
        )
        var timeline = PresentationTimeline(try media(dated))
        text.first = 2
        _ = try timeline.update(try text.playlist)
        #expect(timeline.date(at: MediaTime(seconds: 20))?.sinceEpoch == (try date(1_020)).sinceEpoch)
        #expect(timeline.segments.first?.programDate?.sinceEpoch == (try date(1_008)).sinceEpoch)
        #expect(timeline.position(of: try date(1_012))?.time == MediaTime(seconds: 12))
    }
}
