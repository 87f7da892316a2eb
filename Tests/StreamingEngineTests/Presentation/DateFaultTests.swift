import HLSPlaylist
import MediaTiming
import Testing

@testable import StreamingEngine

/// Tests of the positions of dates that jump, and of the date ranges of playlists.
@Suite struct DateFaultTests {
    private static let second: Int64 = 1_000_000_000

    // MARK: Positions

    typealias Case = (dated: Int, place: Int64, relation: DateRelation)

    /// Verifies the positions of dates in seconds, in a linear search and with an index.
    private static func check(_ anchored: [(position: Int64, dated: Int)], to end: Int64, _ cases: [Case]) throws {
        var anchors = DateAnchors()
        for (position, dated) in anchored { anchors.append(try date(dated), at: position * second) }
        let index = DateIndex(anchors, from: 0, to: end * second)
        for (dated, place, relation) in cases {
            let found = anchors.position(of: try date(dated), from: 0, to: end * second)
            let indexed = index.position(of: try date(dated))
            #expect(found?.place == place * second && found?.relation == relation, "\(dated)")
            #expect(indexed?.place == place * second && indexed?.relation == relation, "\(dated)")
        }
    }

    @Test func earliestDateMayBelongToLaterMedia() throws {
        try Self.check(
            [(0, 100), (10, 50)],
            to: 20,
            [
                (49, 0, .beforeStart), (50, 10, .inside), (59, 19, .inside), (60, 20, .afterEnd), (99, 20, .afterEnd),
                (100, 0, .inside), (109, 9, .inside), (110, 20, .afterEnd),
            ]
        )
    }

    @Test func dateWithoutMediaAfterItIsAfterTheEnd() throws {
        try Self.check(
            [(0, 0), (10, 60), (20, 120)],
            to: 20,
            [
                (9, 9, .inside), (10, 10, .skipped), (59, 10, .skipped), (69, 19, .inside), (70, 20, .skipped),
                (119, 20, .skipped), (120, 20, .afterEnd),
            ]
        )
    }

    @Test func firstMediaOfADateIsItsPosition() throws {
        try Self.check(
            [(0, 0), (10, 5)],
            to: 30,
            [
                (4, 4, .inside), (5, 5, .inside), (9, 9, .inside), (10, 15, .inside), (24, 29, .inside),
                (25, 30, .afterEnd),
            ]
        )
    }

    @Test func timelineHasDatesOnlyIfItsLastSegmentHasOne() throws {
        func timeline(unreadable count: Int) throws -> PresentationTimeline {
            let head = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-PROGRAM-DATE-TIME:\(LiveWindowText.date(100))\n"
            let rest = String(repeating: "#EXT-X-PROGRAM-DATE-TIME:x\n#EXTINF:4,\nb\n", count: count)
            return PresentationTimeline(try media(head + "#EXTINF:4,\na\n" + rest))
        }
        let dated = try timeline(unreadable: 1)
        #expect(dated.segments.first?.programDate?.sinceEpoch == (try date(100)).sinceEpoch)
        // The search for a readable date ends after a number of unreadable ones.
        let undated = try timeline(unreadable: 40)
        #expect(undated.segments.first?.programDate == nil && undated.date(at: .zero) == nil)
    }

    // MARK: Date ranges

    private static func dateRange(_ second: Int, _ more: String = "") -> String {
        "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"\(LiveWindowText.date(second))\"\(more)\n"
    }

    @Test(arguments: [(99, nil), (100, 0), (150, nil), (203, 9), (206, 12), (207, nil)] as [(Int, Int64?)])
    func dateRangeOutsideOfTheMediaHasNoPosition(dated: Int, start: Int64?) throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            \(Self.dateRange(dated))#EXT-X-PROGRAM-DATE-TIME:\(LiveWindowText.date(100))
            #EXTINF:6,
            a
            #EXT-X-PROGRAM-DATE-TIME:\(LiveWindowText.date(200))
            #EXTINF:6,
            b
            #EXT-X-ENDLIST
            """
        let ranges = TimedDateRange.ranges(of: PresentationTimeline(try media(text)))
        #expect(ranges.map(\.start) == [start.map { MediaTime(seconds: $0) }])
    }

    @Test func hashOfADateRangeHasItsTimes() throws {
        func range(_ line: String) throws -> TimedDateRange {
            let head = "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXT-X-PROGRAM-DATE-TIME:\(LiveWindowText.date(0))\n"
            let timeline = PresentationTimeline(try media(head + line + "#EXTINF:9,\na\n"))
            return try #require(TimedDateRange.ranges(of: timeline).first)
        }
        let first = try range(Self.dateRange(1))
        let later = try range(Self.dateRange(2))
        let longer = try range(Self.dateRange(1, ",DURATION=3"))
        #expect(first.start == MediaTime(seconds: 1) && later.start == MediaTime(seconds: 2))
        #expect(first.hashValue != later.hashValue && first.hashValue != longer.hashValue)
        let end = try date(4)
        #expect(first.endDate == nil && longer.endDate?.sinceEpoch == end.sinceEpoch)
    }

    @Test func equalDateRangesHaveTheSameTimes() throws {
        func range(date first: Int = 0, follower: Int = 20) throws -> TimedDateRange {
            let attributes = ",CLASS=\"c\",END-ON-NEXT=YES"
            let lines =
                Self.dateRange(10, attributes)
                + Self.dateRange(follower, attributes).replacing("ID=\"a\"", with: "ID=\"b\"")
            let head = "#EXTM3U\n#EXT-X-TARGETDURATION:60\n#EXT-X-PROGRAM-DATE-TIME:\(LiveWindowText.date(first))\n"
            let timeline = PresentationTimeline(try media(head + lines + "#EXTINF:60,\na\n"))
            return try #require(TimedDateRange.ranges(of: timeline).first { $0.id == "a" })
        }
        let one = try range()
        let same = try range()
        let earlier = try range(date: 5)
        let longer = try range(follower: 21)
        #expect(one == same && one != earlier && one != longer)
        #expect(one.start == MediaTime(seconds: 10) && earlier.start == MediaTime(seconds: 5))
    }

    // MARK: Starts

    @Test(arguments: [false, true]) func offsetOfZeroIsTheBeginning(hasEnded: Bool) throws {
        let head = ["#EXT-X-START:TIME-OFFSET=0"]
        let tail = hasEnded ? ["#EXT-X-ENDLIST"] : []
        let start = StartPosition(in: PresentationTimeline(try LiveWindowText(head: head, tail: tail).playlist))
        #expect(start.time == .zero && start.reason == .playlist && !start.isPrecise)
    }

    @Test func beginningIsNoPreciseStart() throws {
        let start = StartPosition(in: PresentationTimeline(try LiveWindowText(tail: ["#EXT-X-ENDLIST"]).playlist))
        #expect(start.time == .zero && start.reason == .beginning && !start.isPrecise)
    }
}
