import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the times, dates and limits of timelines at their boundaries.
@Suite struct TimelineFaultTests {
    private static let second: Int64 = 1_000_000_000

    // MARK: Durations

    @Test(arguments: [("0", "1"), ("1", "1"), ("2", "2"), ("120", "120"), ("121", "120")])
    func targetDurationIsOneSecondToTwoMinutes(declared: String, used: String) throws {
        let timeline = PresentationTimeline(try LiveWindowText(targetDuration: declared).playlist)
        #expect(timeline.targetDuration == seconds(used))
    }

    @Test(
        arguments: [("0", nil), ("-1", nil), ("0.049", "0.05"), ("0.05", "0.05"), ("10", "10"), ("10.1", "10")]
            as [(String, String?)]
    )
    func partTargetDurationIsFiftyMillisecondsToTenSeconds(declared: String, used: String?) throws {
        let playlist = try LiveWindowText(head: ["#EXT-X-PART-INF:PART-TARGET=\(declared)"]).playlist
        #expect(playlist.effectivePartTarget == used.map { seconds($0) })
    }

    /// Without a part target, partial segments do not count.
    @Test func windowEndsWithPartsOnlyIfTheyAreLoaded() throws {
        let part = ["#EXT-X-PART:DURATION=1,URI=\"p\""]
        let timeline = PresentationTimeline(try LiveWindowText(tail: part).playlist)
        #expect(LiveWindow(timeline, isLowLatency: true).edge == MediaTime(seconds: 24))
        #expect(LiveWindow(timeline, isLowLatency: true).holdBack == MediaTime(seconds: 12))
        let head = ["#EXT-X-PART-INF:PART-TARGET=1"]
        let ended = PresentationTimeline(try LiveWindowText(head: head, tail: part + ["#EXT-X-ENDLIST"]).playlist)
        let window = LiveWindow(ended, isLowLatency: true)
        #expect(window.holdBack == .zero && window.seekable == ended.range && window.range == ended.range)
    }

    @Test(arguments: [("20", "4"), ("20.001", "0"), ("12.001", "8"), ("12", "12"), ("11.9", "12"), ("24", "0")])
    func configuredOffsetIsAtLeastTheHoldBack(offset: String, time: String) throws {
        let start = StartPosition(in: PresentationTimeline(try LiveWindowText().playlist), liveOffset: seconds(offset))
        #expect(start.time == seconds(time) && !start.isPrecise)
    }

    @Test func timelineIsSlidingWhileItIsLiveAndHasNoType() throws {
        #expect(PresentationTimeline(try LiveWindowText().playlist).isSliding)
        #expect(!PresentationTimeline(try LiveWindowText(tail: ["#EXT-X-ENDLIST"]).playlist).isSliding)
        let event = PresentationTimeline(try LiveWindowText(head: ["#EXT-X-PLAYLIST-TYPE:EVENT"]).playlist)
        #expect(!event.isSliding && event.isLive && !event.startedAsWindow && !event.isIFramesOnly)
        #expect(PresentationTimeline(try LiveWindowText().playlist).startedAsWindow)
        let film = PresentationTimeline(try LiveWindowText(head: ["#EXT-X-PLAYLIST-TYPE:VOD"]).playlist)
        #expect(!film.isLive && !film.startedAsWindow && film.duration == MediaTime(seconds: 24))
    }

    // MARK: Segments

    @Test(
        arguments: [("0", 0, 0), ("3.999", 0, 0), ("4", 1, 1), ("23.999", 5, 5), ("24", nil, nil), ("-1", nil, 0)]
            as [(String, Int?, Int?)]
    )
    func positionOfATimeIsThatOfItsSegment(time: String, at: Int?, after: Int?) throws {
        let timeline = PresentationTimeline(try LiveWindowText(first: 9).playlist)
        #expect(timeline.position(at: seconds(time)) == at && timeline.position(atOrAfter: seconds(time)) == after)
        #expect(timeline.segment(at: seconds(time))?.sequence == at.map { Int64($0 + 9) })
        #expect(timeline.segment(atOrAfter: seconds(time))?.sequence == after.map { Int64($0 + 9) })
    }

    @Test(arguments: [(8, nil), (9, 0), (14, 5), (15, nil)] as [(Int64, Int?)])
    func positionOfANumberIsThatOfItsSegment(sequence: Int64, position: Int?) throws {
        let timeline = PresentationTimeline(try LiveWindowText(first: 9).playlist)
        #expect(timeline.position(sequence: sequence) == position)
        #expect(timeline.segment(sequence: sequence)?.start == position.map { MediaTime(seconds: Int64($0 * 4)) })
    }

    @Test func segmentHasThePropertiesOfItsLines() throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-PART-INF:PART-TARGET=2
            #EXT-X-BITRATE:500
            #EXT-X-PART:DURATION=2,URI="a0",INDEPENDENT=YES
            #EXT-X-PART:DURATION=2,URI="a1",GAP=YES,BYTERANGE="7@3"
            #EXTINF:4,
            a.ts
            #EXT-X-DISCONTINUITY
            #EXT-X-GAP
            #EXTINF:4,
            b.ts
            """
        let segments = Array(PresentationTimeline(try media(text), start: MediaTime(seconds: 10)).segments)
        #expect(segments.map(\.bitRate) == [BitRate(bitsPerSecond: 500_000), BitRate(bitsPerSecond: 500_000)])
        #expect(segments.map(\.isGap) == [false, true] && segments.map(\.beginsDomain) == [false, true])
        #expect(segments.map(\.duration) == [MediaTime(seconds: 4), MediaTime(seconds: 4)])
        #expect(segments.map(\.end) == [MediaTime(seconds: 14), MediaTime(seconds: 18)])
        let parts = segments[0].parts
        #expect(parts.map(\.range.start) == [MediaTime(seconds: 10), MediaTime(seconds: 12)])
        #expect(parts.map(\.isGap) == [false, true] && parts.map(\.isIndependent) == [true, false])
        #expect(parts.map(\.index) == [0, 1] && parts.map(\.sequence) == [0, 0])
        #expect(parts.map(\.byteRange) == [nil, ByteRange(start: 3, length: 7)] && segments[1].parts.isEmpty)
        #expect(segments.allSatisfy { $0.initialization == nil && $0.protection == .none && $0.programDate == nil })
    }

    @Test func pendingSegmentIsInTheDomainAfterItsDiscontinuities() throws {
        let part = "#EXT-X-PART:DURATION=1,URI=\"p\""
        func pending(_ window: LiveWindowText) throws -> PendingSegment? {
            var window = window
            window.head.append("#EXT-X-PART-INF:PART-TARGET=1")
            return PresentationTimeline(try window.playlist).pendingSegment
        }
        let cut = "#EXT-X-DISCONTINUITY"
        let empty = LiveWindowText(first: 3, count: 0, discontinuitySequence: 4, tail: [cut, part])
        #expect(try pending(empty)?.domain == DiscontinuityDomain(sequence: 5))
        #expect(try pending(empty)?.sequence == 3 && pending(empty)?.start == .zero)
        #expect(try pending(empty)?.initialization == nil)
        let window = LiveWindowText(discontinuities: [2], discontinuitySequence: 4, tail: [cut, cut, part])
        let found = try #require(try pending(window))
        #expect(found.domain == DiscontinuityDomain(sequence: 7) && found.sequence == 6)
        #expect(found.start == MediaTime(seconds: 24) && found.end == MediaTime(seconds: 25))
        #expect(found.protection == .none && found.initialization == nil)
        #expect(try pending(LiveWindowText(discontinuitySequence: 4, tail: [part]))?.domain.sequence == 4)
        let unnamed = LiveWindowText(head: ["#EXT-X-MAP:URI=\"i\""], tail: ["#EXT-X-MAP:BYTERANGE=\"3@0\"", part])
        #expect(try pending(unnamed)?.initialization == nil)
        #expect(try pending(LiveWindowText(tail: [cut])) == nil)
    }

    @Test func preloadHintIsReadAsItIsWritten() throws {
        let hints = [
            "#EXT-X-PRELOAD-HINT:TYPE=MAP,URI=\"i\",BYTERANGE-START=3,BYTERANGE-LENGTH=5",
            "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"p\"", "#EXT-X-PRELOAD-HINT:TYPE=OTHER,URI=\"o\"",
        ]
        let preloads = PresentationTimeline(try LiveWindowText(tail: hints).playlist).preloads
        #expect(preloads.map(\.kind) == [.map, .part] && preloads.map(\.byteRangeStart) == [3, 0])
        #expect(preloads.map(\.byteRangeLength) == [5, nil])
        #expect(preloads.map(\.address.lastPathComponent) == ["i", "p"])
    }

    // MARK: Updates

    @Test func progressOfAnUnchangedListIsAnUpdateOnlyOnce() throws {
        var timeline = PresentationTimeline(try LiveWindowText().playlist)
        let ended = try LiveWindowText(tail: ["#EXT-X-ENDLIST"]).playlist
        let first = try timeline.update(ended)
        #expect(first.hasUpdates && first.inconsistencies.isEmpty && first.added.isEmpty && first.removedCount == 0)
        let second = try timeline.update(ended)
        #expect(!second.hasUpdates && second.inconsistencies == [.unchanged] && !second.hasRestarted)
        #expect(TimelineUpdate() == TimelineUpdate() && !TimelineUpdate().hasUpdates)
    }

    @Test func restartEndsTheCorrectionOfDomains() throws {
        var timeline = PresentationTimeline(try LiveWindowText(discontinuities: [2, 5]).playlist)
        _ = try timeline.update(try LiveWindowText(first: 3, discontinuities: [2, 5]).playlist)
        #expect(timeline.domainShift == 1 && timeline.epoch == 0)
        let restarted = try timeline.update(try LiveWindowText(first: 0, count: 1, name: "again").playlist)
        #expect(restarted.hasRestarted && restarted.removedCount == 6 && restarted.added == 0..<1)
        #expect(timeline.domainShift == 0 && timeline.epoch == 1 && timeline.segments.count == 1)
    }

    @Test func datesOfRemovedSegmentsAreForgotten() throws {
        func dates(_ first: Int) -> LiveWindowText { LiveWindowText(first: first, dateOfZero: first * 100) }
        var timeline = PresentationTimeline(try dates(0).playlist)
        #expect(timeline.anchors.anchors.count == 1)
        // Segments were missed, and the dates jump.
        _ = try timeline.update(try dates(50).playlist)
        #expect(timeline.anchors.anchors.count == 1)
        #expect(timeline.date(at: timeline.start)?.sinceEpoch == (try date(5_200)).sinceEpoch)
    }

    @Test func datesBeforeAMovedWindowAreForgotten() throws {
        let text = LiveWindowText(dateOfZero: 1_000).text
            .replacing(LiveWindowText.date(1_012), with: LiveWindowText.date(1_112))
            .replacing(LiveWindowText.date(1_016), with: LiveWindowText.date(1_116))
            .replacing(LiveWindowText.date(1_020), with: LiveWindowText.date(1_120))
        var timeline = PresentationTimeline(try media(text))
        #expect(timeline.anchors.anchors.map(\.position) == [0, 12 * Self.second])
        let update = try timeline.update(try LiveWindowText(first: 4, dateOfZero: 1_100).playlist)
        #expect(update.inconsistencies.isEmpty && update.removedCount == 4 && update.added == 6..<10)
        #expect(timeline.anchors.anchors.map(\.position) == [12 * Self.second])
    }

    @Test func endOfAPlaylistWithFewerSegmentsIsAnUpdate() throws {
        var timeline = PresentationTimeline(try LiveWindowText().playlist)
        let update = try timeline.update(try LiveWindowText(count: 5, tail: ["#EXT-X-ENDLIST"]).playlist)
        #expect(update.hasUpdates && update.added.isEmpty && update.inconsistencies.isEmpty && !timeline.isLive)
    }

    @Test func averageDurationIsThatOfTheSegments() throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:4,\na\n#EXTINF:6,\nb\n"
        #expect(PresentationTimeline(try media(text)).averageDuration == 5 * Self.second)
        let empty = PresentationTimeline(try media("#EXTM3U\n#EXT-X-TARGETDURATION:9\n"))
        #expect(empty.averageDuration == 9 * Self.second)
        let zero = PresentationTimeline(try media("#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:0,\na\n"))
        #expect(zero.averageDuration == 9 * Self.second)
    }

    @Test func relationOfAPlaylistFollowsFromItsNumbers() throws {
        func relation(_ then: LiveWindowText, _ now: LiveWindowText) throws -> PresentationTimeline.PlaylistRelation {
            PresentationTimeline(try then.playlist).succession(of: try now.playlist)
        }
        let known = LiveWindowText(first: 10)
        let none = LiveWindowText(first: 10, count: 0)
        #expect(try relation(none, known) == .first)
        #expect(try relation(none, none) == .first)
        #expect(try relation(known, none) == .emptied)
        #expect(try relation(known, LiveWindowText(first: 16)) == .afterGap(missed: 0))
        #expect(try relation(known, LiveWindowText(first: 17)) == .afterGap(missed: 1))
        #expect(try relation(known, known) == .continued(changed: nil))
        #expect(try relation(known, LiveWindowText(first: 10, count: 5)) == .stale)
        let end = ["#EXT-X-ENDLIST"]
        #expect(try relation(known, LiveWindowText(first: 10, count: 5, tail: end)) == .continued(changed: nil))
        #expect(try relation(known, LiveWindowText(first: 10, count: 5, name: "other")) == .restarted)
        #expect(try relation(known, LiveWindowText(first: 9, count: 7, name: "other")) == .restarted)
        #expect(try relation(known, LiveWindowText(first: 10, count: 6, name: "other")) == .continued(changed: 10))
        #expect(try relation(known, LiveWindowText(first: 4)) == .restarted)
    }

    // MARK: Dates

    private static func anchors() throws -> DateAnchors {
        var anchors = DateAnchors()
        for (position, dated) in [(Int64(0), 0), (10, 60), (20, 120)] {
            anchors.append(try date(dated), at: position * second)
        }
        return anchors
    }

    @Test(
        arguments: [(10, 20, [10]), (9, 21, [0, 10, 20]), (15, 16, [10]), (-5, 0, [0]), (-5, 1, [0]), (20, 20, [20])]
            as [(Int64, Int64, [Int64])]
    )
    func anchorsOfARangeApplyInIt(start: Int64, end: Int64, positions: [Int64]) throws {
        let found = try Self.anchors().anchors(from: start * Self.second, to: end * Self.second)
        #expect(found.map(\.position) == positions.map { $0 * Self.second })
        #expect(DateAnchors().anchors(from: 0, to: 9).isEmpty && DateAnchors().isEmpty)
    }

    @Test(arguments: [(-1, 0), (0, 0), (9, 0), (10, 10), (19, 10), (20, 20), (99, 20)] as [(Int64, Int64)])
    func anchorAppliesUntilTheNextOne(second: Int64, position: Int64) throws {
        #expect(try Self.anchors().anchor(at: second * Self.second)?.position == position * Self.second)
        #expect(DateAnchors().anchor(at: 0) == nil)
    }

    @Test func datesMoveWithTheTimes() throws {
        var anchors = try Self.anchors()
        anchors.shift(by: -3 * Self.second)
        #expect(anchors.anchors.map(\.position) == [-3, 7, 17].map { $0 * Self.second })
        let anchor = try #require(anchors.anchor(at: 8 * Self.second))
        #expect(anchor.date(at: 9 * Self.second).sinceEpoch == (try date(62)).sinceEpoch)
        #expect(anchor.nanoseconds(at: 5 * Self.second) == (try date(58)).sinceEpoch.nanoseconds)
    }

    /// The dates 0 s to 9 s, 60 s to 69 s and 120 s to 124 s have media.
    @Test(
        arguments: [
            (0, 0, .inside), (9, 9, .inside), (10, 10, .skipped), (59, 10, .skipped), (60, 10, .inside),
            (69, 19, .inside), (70, 20, .skipped), (119, 20, .skipped), (120, 20, .inside), (124, 24, .inside),
            (125, 25, .afterEnd),
        ] as [(Int, Int64, DateRelation)]
    )
    func positionOfADateIsThatOfItsMedia(dated: Int, second: Int64, relation: DateRelation) throws {
        let anchors = try Self.anchors()
        let index = DateIndex(anchors, from: 0, to: 25 * Self.second)
        let found = [
            anchors.position(of: try date(dated), from: 0, to: 25 * Self.second), index.position(of: try date(dated)),
        ]
        for position in found {
            #expect(position?.place == second * Self.second && position?.relation == relation)
        }
    }

    @Test func dateBeforeTheFirstMediaIsAtTheStart() throws {
        var anchors = DateAnchors()
        anchors.append(try date(100), at: 5 * Self.second)
        let (start, end) = (2 * Self.second, 9 * Self.second)
        let cases: [(dated: Int, place: Int64, relation: DateRelation)] = [
            (96, 2, .beforeStart), (97, 2, .inside), (103, 8, .inside), (104, 9, .afterEnd),
        ]
        for (dated, place, relation) in cases {
            let found = anchors.position(of: try date(dated), from: start, to: end)
            let indexed = DateIndex(anchors, from: start, to: end).position(of: try date(dated))
            #expect(found?.place == place * Self.second && found?.relation == relation)
            #expect(indexed?.place == place * Self.second && indexed?.relation == relation)
        }
        #expect(DateIndex(DateAnchors(), from: 0, to: 9).position(of: try date(1)) == nil)
    }

    @Test func boundaryIsKnownWithAPlaylist() throws {
        #expect(SegmentBoundaries().revision == 0)
        let timeline = PresentationTimeline(try LiveWindowText(dateOfZero: 100).playlist)
        let boundaries = SegmentBoundaries([timeline], revision: 7)
        let (start, before) = (try date(100), try date(99))
        #expect(boundaries.revision == 7 && boundaries.time(of: start) == .zero)
        #expect(boundaries.time(of: before) == nil && SegmentBoundaries().time(of: start) == nil)
        let empty = PresentationTimeline(try LiveWindowText(count: 0).playlist)
        #expect(SegmentBoundaries([empty]).nearest(to: .zero, latest: true) == nil)
    }

    // MARK: Date ranges

    private static func dateRanges(_ seconds: [Int]) throws -> [String] {
        let lines = seconds.enumerated().map { number, second in
            "#EXT-X-DATERANGE:ID=\"\(number)\",START-DATE=\"\(LiveWindowText.date(second))\"\n"
        }
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(lines.joined())#EXTINF:4,\na\n"
        return TimedDateRange.ranges(of: PresentationTimeline(try media(text))).map(\.id)
    }

    @Test func dateRangesWithTheLatestStartsAreUsed() throws {
        let count = TimedDateRange.maximumCount
        #expect(count == 2_000)
        #expect(try Self.dateRanges(Array(0..<count)).count == count)
        #expect(try Self.dateRanges(Array(0...count)) == (1...count).map { "\($0)" })
        #expect(try Self.dateRanges((0...count).reversed()) == (0..<count).map { "\($0)" })
        #expect(try Self.dateRanges([Int](repeating: 5, count: count + 1)) == (1...count).map { "\($0)" })
    }

    @Test(arguments: [("12.1", true), ("12.101", false)])
    func dateRangeAtTheEndToleratesATenthOfASecond(second: String, isThere: Bool) throws {
        let head = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n"
        let range = "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-01-01T00:00:\(second)Z\"\n"
        let text = head + range + "#EXTINF:6,\na\n#EXTINF:6,\nb\n#EXT-X-ENDLIST\n"
        let found = TimedDateRange.ranges(of: PresentationTimeline(try media(text)))
        #expect(found.map(\.start) == [isThere ? MediaTime(seconds: 12) : nil])
    }

    @Test func dateRangeHasItsAttributes() throws {
        let lines = "#EXT-X-DATERANGE:ID=\"a\",CLASS=\"c\",START-DATE=\"\(LiveWindowText.date(1))\",X-A=\"1\"\n"
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-PROGRAM-DATE-TIME:\(LiveWindowText.date(0))\n"
        let ranges = TimedDateRange.ranges(of: PresentationTimeline(try media(text + lines + "#EXTINF:4,\na\n")))
        let range = try #require(ranges.first)
        #expect(range.id == "a" && range.classIdentifier == "c" && range.start == MediaTime(seconds: 1))
        #expect(range.attributes["X-A"] == "1" && range.attributes["CLASS"] == "c" && range.attributes.count == 4)
        #expect(range.hasAttribute(in: ["X-B", "X-A"]) && !range.hasAttribute(in: ["X-B"]) && range.endDate == nil)
        let later = text + lines.replacing("ID=\"a\"", with: "ID=\"b\"") + "#EXTINF:4,\na\n"
        let other = try #require(TimedDateRange.ranges(of: PresentationTimeline(try media(later))).first)
        #expect(range.hashValue != other.hashValue && Set([range, other, range]).count == 2)
    }

    // MARK: Alignment

    /// The dates are four seconds apart, and the durations of the segments differ from that.
    @Test(arguments: [("3.9", "0.5"), ("4", "0"), ("4.1", "-0.5")])
    func driftOfDatesIsUncertain(duration: String, start: String) throws {
        let reference = PresentationTimeline(try LiveWindowText(dateOfZero: 1_000).playlist)
        let other = try LiveWindowText(duration: duration, targetDuration: "5", dateOfZero: 1_000).playlist
        let alignment = TimelineAlignment(of: other, to: reference)
        #expect(alignment.method == .datesInDomain && alignment.start == seconds(start))
        #expect(alignment.uncertainty == (start == "0" ? seconds("0.001") : seconds("0.501")))
    }

    @Test func datesOutsideOfTheReferenceAreUncertain() throws {
        let reference = PresentationTimeline(try LiveWindowText(first: 10, dateOfZero: 1_000).playlist)
        func alignment(_ window: LiveWindowText) throws -> TimelineAlignment {
            var window = window
            window.discontinuitySequence = 9
            return TimelineAlignment(of: try window.playlist, to: reference)
        }
        // The reference begins with the date 1040 s and ends with 1064 s.
        let before = try alignment(LiveWindowText(first: 7, count: 2, dateOfZero: 1_000))
        #expect(before.method == .dates && before.start == MediaTime(seconds: -12))
        #expect(before.uncertainty == MediaTime(seconds: 2))
        let after = try alignment(LiveWindowText(first: 17, count: 2, dateOfZero: 1_000))
        #expect(after.method == .dates && after.start == MediaTime(seconds: 28))
        #expect(after.uncertainty == MediaTime(seconds: 2))
        let inside = try alignment(LiveWindowText(first: 11, count: 2, dateOfZero: 1_000))
        #expect(inside.method == .dates && inside.start == MediaTime(seconds: 4))
        #expect(inside.uncertainty == seconds("0.001"))
    }

    @Test func dateThatTheReferenceSkipsIsUncertain() throws {
        let text = LiveWindowText(dateOfZero: 1_000).text
            .replacing(LiveWindowText.date(1_012), with: LiveWindowText.date(1_112))
            .replacing(LiveWindowText.date(1_016), with: LiveWindowText.date(1_116))
            .replacing(LiveWindowText.date(1_020), with: LiveWindowText.date(1_120))
        let other = try LiveWindowText(count: 1, dateOfZero: 1_050, discontinuitySequence: 9).playlist
        let alignment = TimelineAlignment(of: other, to: PresentationTimeline(try media(text)))
        #expect(alignment.method == .dates && alignment.start == MediaTime(seconds: 12))
        #expect(alignment.uncertainty == MediaTime(seconds: 4))
    }

    @Test func onlyPlaylistsThatBeginTogetherHaveACommonStart() throws {
        let end = ["#EXT-X-ENDLIST"]
        func alignment(_ other: LiveWindowText, to reference: LiveWindowText) throws -> TimelineAlignment {
            TimelineAlignment(of: try other.playlist, to: PresentationTimeline(try reference.playlist))
        }
        let later = try alignment(LiveWindowText(first: 1), to: LiveWindowText(tail: end))
        #expect(later.method == .mediaSequence && later.start == MediaTime(seconds: 4))
        let earlier = try alignment(LiveWindowText(tail: end), to: LiveWindowText(first: 1))
        #expect(earlier.method == .mediaSequence && earlier.start == MediaTime(seconds: -4))
        let both = try alignment(LiveWindowText(tail: end), to: LiveWindowText(first: 1, tail: end))
        #expect(both.method == .commonStart && both.start == .zero && both.uncertainty == .zero)
        let none = try alignment(LiveWindowText(), to: LiveWindowText(count: 0))
        #expect(none.method == .none && none.start == .zero && none.uncertainty == MediaTime(seconds: 4))
    }

    @Test func discontinuityIsUncertainByHalfASecond() throws {
        let reference = PresentationTimeline(try LiveWindowText(targetDuration: "1", discontinuities: [2]).playlist)
        let other = try LiveWindowText(first: 50, targetDuration: "1", discontinuities: [52]).playlist
        let alignment = TimelineAlignment(of: other, to: reference)
        #expect(alignment.method == .discontinuity && alignment.start == .zero)
        #expect(alignment.uncertainty == seconds("0.5"))
    }
}
