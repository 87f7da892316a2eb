import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the limits at which a reloaded playlist is no longer a continuation, and a position no longer plausible.
@Suite struct TimelineLimitTests {
    private func inconsistencies(_ then: LiveWindowText, _ now: LiveWindowText) throws -> [TimelineInconsistency] {
        var timeline = PresentationTimeline(try then.playlist)
        return try timeline.update(try now.playlist).inconsistencies
    }

    // MARK: Updates

    /// Segments of 4 s were missed for 30 days.
    @Test func segmentsAreMissedForThirtyDaysAtMost() throws {
        let lost = TimelineInconsistency.segmentsMissed(
            count: 648_000,
            lost: MediaTime(seconds: 2_592_000),
            .averageDuration
        )
        #expect(try inconsistencies(LiveWindowText(), LiveWindowText(first: 648_006)) == [lost])
        let restarted = TimelineInconsistency.restarted(from: 6, to: 648_007)
        #expect(try inconsistencies(LiveWindowText(), LiveWindowText(first: 648_007)) == [restarted])
    }

    @Test func anOlderWindowWithoutCommonSegmentsIsRecognizedByItsDates() throws {
        let known = LiveWindowText(first: 100, dateOfZero: 1_000)
        let restarted = TimelineInconsistency.restarted(from: 106, to: 50)
        #expect(try inconsistencies(known, LiveWindowText(first: 50, dateOfZero: 1_000)) == [.staleCopy])
        // The last segment has the date of the first known one.
        #expect(try inconsistencies(known, LiveWindowText(first: 50, dateOfZero: 1_180)) == [restarted])
        #expect(try inconsistencies(known, LiveWindowText(first: 50, dateOfZero: 1_179)) == [.staleCopy])
        #expect(try inconsistencies(known, LiveWindowText(first: 50)) == [restarted])
        #expect(try inconsistencies(LiveWindowText(first: 100), LiveWindowText(first: 50)) == [restarted])
    }

    @Test func theLastSixteenCommonSegmentsAreCompared() throws {
        let known = LiveWindowText(count: 20)
        func changing(_ number: Int) throws -> [TimelineInconsistency] {
            var timeline = PresentationTimeline(try known.playlist)
            let text = known.text.replacing("\nsegment\(number).ts", with: "\nother.ts")
            return try timeline.update(try media(text)).inconsistencies
        }
        #expect(try changing(3) == [.unchanged])
        #expect(try changing(4) == [.segmentChanged(sequence: 4)])
        #expect(try changing(19) == [.segmentChanged(sequence: 19)])
    }

    @Test(arguments: [(1_004, true), (1_005, false), (996, true), (995, false)])
    func aDateMayDifferByTheTargetDuration(dateOfZero: Int, isSame: Bool) throws {
        let found = try inconsistencies(LiveWindowText(dateOfZero: 1_000), LiveWindowText(dateOfZero: dateOfZero))
        #expect(found == [isSame ? .unchanged : .segmentChanged(sequence: 0)])
    }

    @Test func aSegmentIsTheSameOnAnotherHostButNotInAnotherByteRange() throws {
        func text(_ host: String, _ range: String) -> String {
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-BYTERANGE:\(range)\n#EXTINF:4,\nhttps://\(host)/a/file.ts\n"
        }
        var timeline = PresentationTimeline(try media(text("a.example", "100@0")))
        #expect(try timeline.update(try media(text("b.example", "100@0"))).inconsistencies == [.unchanged])
        let changed = try timeline.update(try media(text("b.example", "101@0")))
        #expect(changed.inconsistencies == [.segmentChanged(sequence: 0)])
    }

    @Test func otherSegmentsWithEarlierNumbersAreARestart() throws {
        let known = LiveWindowText(first: 5, count: 4)
        let restarted = TimelineInconsistency.restarted(from: 9, to: 3)
        #expect(try inconsistencies(known, LiveWindowText(first: 3, count: 8, name: "other")) == [restarted])
        let replaced = try inconsistencies(known, LiveWindowText(first: 5, count: 8, name: "other"))
        #expect(replaced == [.segmentChanged(sequence: 5)])
    }

    @Test func anEndedPlaylistWithFewerSegmentsIsAnOlderCopyOfOneThatHadEnded() throws {
        let end = ["#EXT-X-ENDLIST"]
        var timeline = PresentationTimeline(try LiveWindowText(tail: end).playlist)
        let update = try timeline.update(try LiveWindowText(count: 5, tail: end).playlist)
        #expect(update.inconsistencies == [.staleCopy] && timeline.segments.count == 6)
    }

    /// Two segments of at most 4.5 s were missed, and the date may be off by another 4 s.
    @Test(arguments: [(1_005, 13, true), (1_006, 8, false), (992, 0, true), (991, 8, false)])
    func theDateTellsTheDurationOfMissedSegments(dateOfZero: Int, lost: Int64, isDated: Bool) throws {
        let found = try inconsistencies(
            LiveWindowText(dateOfZero: 1_000),
            LiveWindowText(first: 8, dateOfZero: dateOfZero)
        )
        let lost = MediaTime(seconds: lost)
        #expect(found == [.segmentsMissed(count: 2, lost: lost, isDated ? .dates : .averageDuration)])
    }

    @Test func progressIsOrderedByNumbersThenByTheEndThenByParts() throws {
        func progress(_ window: LiveWindowText) throws -> PlaylistProgress { PlaylistProgress(try window.playlist) }
        let part = ["#EXT-X-PART:DURATION=1,URI=\"p\""]
        let head = ["#EXT-X-PART-INF:PART-TARGET=1"]
        let bare = try progress(LiveWindowText(head: head))
        let withPart = try progress(LiveWindowText(head: head, tail: part))
        let ended = try progress(LiveWindowText(head: head, tail: ["#EXT-X-ENDLIST"]))
        let later = try progress(LiveWindowText(first: 1, head: head))
        #expect(bare < withPart && withPart < ended && ended < later)
        #expect(!(withPart < bare) && !(ended < withPart) && !(later < ended) && !(bare < bare))
    }

    @Test func domainsAreOrderedByTheirEpochFirst() {
        let domains = [(0, 3), (0, 4), (1, 0), (1, 1)].map { DiscontinuityDomain(epoch: $0.0, sequence: $0.1) }
        #expect(domains.reversed().sorted() == domains)
        #expect(domains.map(\.description) == ["3", "4", "1/0", "1/1"])
    }

    // MARK: Alignment

    @Test(arguments: [(5, 1_002, "0", true), (5, 1_003, "3", false), (1, 1_003, "0", true), (2, 1_003, "3", false)])
    func playlistsThatHaveEndedMayBeginAtDifferentDates(
        first: Int,
        dateOfZero: Int,
        start: String,
        isCommon: Bool
    ) throws {
        let end = ["#EXT-X-ENDLIST"]
        let reference = PresentationTimeline(
            try LiveWindowText(first: first, dateOfZero: 1_000, tail: end).playlist
        )
        let other = try LiveWindowText(first: first, dateOfZero: dateOfZero, tail: end).playlist
        let alignment = TimelineAlignment(of: other, to: reference)
        #expect(alignment.start == seconds(start))
        #expect(alignment.method == (isCommon ? .commonStart : .datesInDomain))
    }

    /// The other playlist has 20 s of media; three target durations apart, its dates are still plausible.
    @Test(arguments: [(1_424, "36", true), (1_425, "4", false), (1_356, "-32", true), (1_355, "4", false)])
    func aPositionByDatesIsNearTheReference(dateOfZero: Int, start: String, isByDates: Bool) throws {
        let reference = PresentationTimeline(try LiveWindowText(first: 100, dateOfZero: 1_000).playlist)
        let other = try LiveWindowText(first: 3, count: 5, dateOfZero: dateOfZero).playlist
        let alignment = TimelineAlignment(of: other, to: reference)
        #expect(alignment.start == seconds(start))
        #expect(alignment.method == (isByDates ? .datesInDomain : .liveEdge))
    }

    @Test(arguments: [(0, "0"), (8, "8"), (-5, "0")])
    func theLiveEdgeOfAnOldReferenceIsLater(age: Int, start: String) throws {
        let reference = PresentationTimeline(try LiveWindowText(first: 100).playlist)
        let other = try LiveWindowText(first: 7, targetDuration: "3").playlist
        let alignment = TimelineAlignment(of: other, to: reference, age: .seconds(age))
        #expect(alignment.method == .liveEdge && alignment.start == seconds(start))
    }

    /// By its numbers, the playlist begins at 4 s; by the live edges, as much earlier as its last segment is longer.
    @Test(arguments: [("6", "4", true), ("6.001", "-2.001", false)])
    func numbersMayDifferFromTheLiveEdgesByOneAndAHalfTargetDurations(
        last: String,
        start: String,
        isByNumbers: Bool
    ) throws {
        let reference = PresentationTimeline(try LiveWindowText(first: 100).playlist)
        let text = LiveWindowText(first: 101).text
            .replacing("#EXTINF:4,\nsegment106.ts", with: "#EXTINF:\(last),\nsegment106.ts")
        let alignment = TimelineAlignment(of: try media(text), to: reference)
        #expect(alignment.start == seconds(start))
        #expect(alignment.method == (isByNumbers ? .mediaSequence : .liveEdge))
    }

    // MARK: Dates

    private static let second: Int64 = 1_000_000_000

    @Test func aDateUpToAMillisecondOffContinuesTheFormerOne() throws {
        func anchors(_ fraction: String) throws -> Int {
            var anchors = DateAnchors()
            anchors.append(try #require(ProgramDateTime("2026-03-01T00:00:00Z")), at: 0)
            let date = try #require(ProgramDateTime("2026-03-01T00:00:10.\(fraction)Z"))
            anchors.append(date, at: 10 * Self.second)
            return anchors.anchors.count
        }
        #expect(try anchors("000") == 1)
        #expect(try anchors("001") == 1)
        #expect(try anchors("002") == 2)
    }

    @Test func aDateReplacesTheFormerOneOfTheSamePosition() throws {
        var anchors = DateAnchors()
        anchors.append(try date(0), at: 0)
        anchors.append(try date(5), at: 0)
        #expect(anchors.anchors.count == 1)
        #expect(anchors.anchor(at: 0)?.date.sinceEpoch == (try date(5)).sinceEpoch)
    }

    @Test(arguments: [(9, 3), (10, 2), (15, 2), (20, 1), (99, 1), (-1, 3)] as [(Int64, Int)])
    func theDateThatAppliesAtAPositionIsKept(second: Int64, count: Int) throws {
        var anchors = DateAnchors()
        for (position, dated) in [(Int64(0), 0), (10, 60), (20, 120)] {
            anchors.append(try date(dated), at: position * Self.second)
        }
        anchors.removeAnchors(before: second * Self.second)
        #expect(anchors.anchors.count == count)
    }

    private func dateRanges(_ lines: String) throws -> [TimedDateRange] {
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-PROGRAM-DATE-TIME:\(LiveWindowText.date(0))\n\(lines)\n#EXTINF:4,\na\n"
        return TimedDateRange.ranges(of: PresentationTimeline(try media(text)))
    }

    private static func dateRange(_ id: String, _ second: Int, _ more: String) -> String {
        "#EXT-X-DATERANGE:ID=\"\(id)\",START-DATE=\"\(LiveWindowText.date(second))\"\(more)"
    }

    @Test func theEndOfADateRangeIsTheDeclaredOneThenThatOfItsDuration() throws {
        let next = ",CLASS=\"c\",END-ON-NEXT=YES"
        let found = try dateRanges(
            [
                Self.dateRange("a", 0, ",END-DATE=\"\(LiveWindowText.date(2))\",DURATION=3"),
                Self.dateRange("b", 0, ",DURATION=3"),
                Self.dateRange("c", 10, next), Self.dateRange("d", 10, next), Self.dateRange("e", 20, next),
            ].joined(separator: "\n")
        )
        let ends = found.map { $0.endDate?.sinceEpoch }
        let expected = try [2, 3, 20, 20].map { try date($0).sinceEpoch } as [MediaTime?]
        #expect(ends == expected + [nil])
    }

    @Test func dateRangesDifferIfAnAttributeDiffers() throws {
        let first = try dateRanges(Self.dateRange("a", 0, ",X-A=\"1\",X-B=\"2\""))
        #expect(first == (try dateRanges(Self.dateRange("a", 0, ",X-A=\"1\",X-B=\"2\""))))
        for other in [
            Self.dateRange("b", 0, ",X-A=\"1\",X-B=\"2\""), Self.dateRange("a", 1, ",X-A=\"1\",X-B=\"2\""),
            Self.dateRange("a", 0, ",X-A=\"1\",X-B=\"3\""), Self.dateRange("a", 0, ",X-A=\"1\",X-C=\"2\""),
            Self.dateRange("a", 0, ",X-A=\"1\""), Self.dateRange("a", 0, ",DURATION=1,X-A=\"1\",X-B=\"2\""),
        ] {
            #expect(first != (try dateRanges(other)), "\(other)")
        }
    }

    // MARK: Windows

    @Test(arguments: [
        ("1", "86400", "600"), ("0.01", "", "0.15"), ("60", "", "30"), ("60", "1", "20"), ("1", "600", "600"),
    ])
    func theHoldBackForPartsIsLimited(target: String, declared: String, holdBack: String) throws {
        let control = declared.isEmpty ? [] : ["#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=\(declared)"]
        let head = ["#EXT-X-PART-INF:PART-TARGET=\(target)"] + control
        let timeline = PresentationTimeline(try LiveWindowText(head: head).playlist)
        #expect(LiveWindow(timeline, isLowLatency: true).holdBack == seconds(holdBack))
    }

    @Test func withoutATargetDurationTheLongestOfTheLastEightSegmentsIsUsed() throws {
        func target(_ long: Int) throws -> MediaTime {
            let text = LiveWindowText(count: 10, targetDuration: nil).text
                .replacing("#EXTINF:4,\nsegment\(long).ts", with: "#EXTINF:9.4,\nsegment\(long).ts")
            return PresentationTimeline(try media(text)).targetDuration
        }
        #expect(try target(1) == MediaTime(seconds: 4))
        #expect(try target(2) == MediaTime(seconds: 9))
        #expect(PresentationTimeline(try media("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:1\n")).targetDuration == seconds("6"))
    }

    private static let parts = [
        #"#EXT-X-PART:DURATION=1,URI="p0",INDEPENDENT=YES"#, #"#EXT-X-PART:DURATION=1,URI="p1",INDEPENDENT=YES"#,
        #"#EXT-X-PART:DURATION=1,URI="p2""#,
    ]

    @Test func aNegativeStartCountsFromTheEndOfTheLastSegment() throws {
        let head = ["#EXT-X-PART-INF:PART-TARGET=1", "#EXT-X-START:TIME-OFFSET=-2"]
        let timeline = PresentationTimeline(try LiveWindowText(head: head, tail: Self.parts).playlist)
        #expect(StartPosition(in: timeline, isLowLatency: true).time == MediaTime(seconds: 20))
    }

    /// The parts begin at 24 s, 25 s and 26 s.
    @Test(arguments: [("3", "24"), ("2", "25"), ("2.001", "24"), ("27", "0")])
    func playbackStartsAtTheLastIndependentPart(offset: String, time: String) throws {
        let head = ["#EXT-X-PART-INF:PART-TARGET=1", "#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=2"]
        let timeline = PresentationTimeline(try LiveWindowText(head: head, tail: Self.parts).playlist)
        let start = StartPosition(in: timeline, liveOffset: seconds(offset), isLowLatency: true)
        #expect(start.time == seconds(time))
    }

    @Test func aPlaylistThatHasEndedHasNoPendingSegmentAndNoPreloads() throws {
        let head = ["#EXT-X-PART-INF:PART-TARGET=1"]
        let hint = ["#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"p3\""]
        let live = PresentationTimeline(try LiveWindowText(head: head, tail: Self.parts + hint).playlist)
        #expect(live.pendingSegment?.parts.count == 3 && live.preloads.count == 1)
        let ended = PresentationTimeline(
            try LiveWindowText(head: head, tail: Self.parts + hint + ["#EXT-X-ENDLIST"]).playlist
        )
        #expect(ended.pendingSegment == nil && ended.preloads.isEmpty && ended.edge == ended.end)
    }

    @Test(arguments: [
        ("20@4", ByteRange(start: 4, length: 20)), ("20", ByteRange(start: 0, length: 20)), ("x@4", nil),
        ("20@x", nil), ("20@4@1", nil),
    ])
    func theByteRangeOfAMapAfterTheLastSegmentIsRead(written: String, range: ByteRange?) throws {
        let map = "#EXT-X-MAP:URI=\"init2.mp4\",BYTERANGE=\"\(written)\""
        let head = ["#EXT-X-PART-INF:PART-TARGET=1", "#EXT-X-MAP:URI=\"init.mp4\""]
        let pending = PresentationTimeline(try LiveWindowText(head: head, tail: [map] + Self.parts).playlist)
            .pendingSegment
        #expect(pending?.initialization?.address.lastPathComponent == "init2.mp4")
        #expect(pending?.initialization?.byteRange == range)
        let former = PresentationTimeline(try LiveWindowText(head: head, tail: Self.parts).playlist).pendingSegment
        #expect(former?.initialization?.address.lastPathComponent == "init.mp4")
    }
}
