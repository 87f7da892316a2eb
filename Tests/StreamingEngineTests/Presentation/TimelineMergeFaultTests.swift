import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of updates that change little, and of the alignment of playlists by what both of them list.
@Suite struct TimelineMergeFaultTests {
    private static let second: Int64 = 1_000_000_000
    private static let end = ["#EXT-X-ENDLIST"]

    // MARK: Updates

    @Test func segmentWithTheSameURIIsTheSameAtAnotherAddress() throws {
        let text = LiveWindowText().text
        var timeline = PresentationTimeline(try media(text))
        let update = try timeline.update(try media(text, at: "https://example.com/other/video.m3u8"))
        #expect(update.inconsistencies == [.unchanged] && !update.hasUpdates)
        #expect(timeline.segments.first?.address.text == "https://example.com/other/segment0.ts")
    }

    @Test func listThatHasEndedMayGrowWithoutBeingReopened() throws {
        var timeline = PresentationTimeline(try LiveWindowText(tail: Self.end).playlist)
        let update = try timeline.update(try LiveWindowText(count: 8, tail: Self.end).playlist)
        #expect(update.inconsistencies.isEmpty && update.hasUpdates && update.added == 6..<8)
        #expect(!timeline.isLive && timeline.duration == MediaTime(seconds: 32))
    }

    @Test func lostEndMarkerIsNoChange() throws {
        var timeline = PresentationTimeline(try LiveWindowText(tail: Self.end).playlist)
        let update = try timeline.update(try LiveWindowText().playlist)
        #expect(update.inconsistencies == [.unchanged] && !update.hasUpdates && !timeline.isLive)
    }

    @Test func emptyListAddsAndRemovesNothing() throws {
        var timeline = PresentationTimeline(try LiveWindowText().playlist)
        let update = try timeline.update(try LiveWindowText(first: 6, count: 0).playlist)
        #expect(update.inconsistencies == [.becameEmpty] && !update.hasUpdates)
        #expect(update.added.isEmpty && update.removedCount == 0 && timeline.isLive)
    }

    @Test func datesOfEarlierSegmentsAreInTheirOrder() throws {
        func list(_ first: Int, _ segments: String) throws -> MediaPlaylist {
            try media("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:\(first)\n" + segments)
        }
        func dated(_ second: Int) -> String { "#EXT-X-PROGRAM-DATE-TIME:\(LiveWindowText.date(second))\n" }
        let known = "#EXTINF:4,\n10.ts\n"
        var timeline = PresentationTimeline(try list(10, dated(40) + known))
        let earlier = dated(0) + "#EXTINF:4,\n8.ts\n" + dated(36) + "#EXTINF:4,\n9.ts\n"
        let update = try timeline.update(try list(8, earlier + known))
        #expect(update.inconsistencies == [.earlierSegments(count: 2)] && update.added.isEmpty)
        #expect(timeline.anchors.anchors.map(\.position) == [-8 * Self.second, -4 * Self.second])
        let expected = try [0, 36, 40].map { try date($0).sinceEpoch } as [MediaTime?]
        #expect(timeline.segments.map { $0.programDate?.sinceEpoch } == expected)
    }

    // MARK: Alignment

    /// Returns the alignment of a playlist with a discontinuity before its second segment to a reference.
    private static func alignment(
        _ reference: PresentationTimeline,
        discontinuitySequence: Int
    ) throws -> TimelineAlignment {
        let other = LiveWindowText(
            first: 50,
            targetDuration: "5",
            discontinuities: [51],
            discontinuitySequence: discontinuitySequence
        )
        return TimelineAlignment(of: try other.playlist, to: reference)
    }

    @Test func discontinuitiesThatTheServerDoesNotCountDoNotAlign() throws {
        var counted = PresentationTimeline(try LiveWindowText(discontinuities: [2, 5]).playlist)
        var uncounted = counted
        let honest = LiveWindowText(first: 3, discontinuities: [5], discontinuitySequence: 1)
        _ = try counted.update(try honest.playlist)
        _ = try uncounted.update(try LiveWindowText(first: 3, discontinuities: [5]).playlist)
        #expect(counted.domainShift == 0 && uncounted.domainShift == 1)
        let byDiscontinuity = try Self.alignment(counted, discontinuitySequence: 1)
        #expect(byDiscontinuity.method == .discontinuity && byDiscontinuity.start == MediaTime(seconds: 16))
        let byEdge = try Self.alignment(uncounted, discontinuitySequence: 0)
        #expect(byEdge.method == .liveEdge && byEdge.start == MediaTime(seconds: 12))
    }

    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
    func bothPlaylistsListTheDiscontinuityThatAlignsThem(isInReference: Bool, isInOther: Bool) throws {
        func window(_ first: Int, _ hasTag: Bool) -> LiveWindowText {
            LiveWindowText(
                first: first,
                targetDuration: first == 7 ? "3" : "4",
                discontinuities: hasTag ? [first] : [],
                discontinuitySequence: hasTag ? 3 : 4
            )
        }
        let reference = PresentationTimeline(try window(100, isInReference).playlist)
        let alignment = TimelineAlignment(of: try window(7, isInOther).playlist, to: reference)
        #expect(alignment.method == (isInReference && isInOther ? .discontinuity : .liveEdge))
        #expect(alignment.start == .zero)
    }

    @Test(arguments: [(5, 1), (1, 5)]) func eitherPlaylistMayHaveLostItsBeginning(first: Int, other: Int) throws {
        let reference = LiveWindowText(first: first, dateOfZero: 1_000 - first * 4, tail: Self.end)
        // The first segment has a date of 8 s after that of the reference.
        let later = LiveWindowText(first: other, dateOfZero: 1_008 - other * 4, tail: Self.end)
        let alignment = TimelineAlignment(of: try later.playlist, to: PresentationTimeline(try reference.playlist))
        #expect(alignment.method == .datesInDomain && alignment.start == MediaTime(seconds: 8))
    }

    // MARK: Initialization sections

    @Test(arguments: ["20@", "@4", "@", ""]) func incompleteByteRangeIsNone(written: String) throws {
        let map = "#EXT-X-MAP:URI=\"later.mp4\",BYTERANGE=\"\(written)\""
        let head = ["#EXT-X-PART-INF:PART-TARGET=1", "#EXT-X-MAP:URI=\"first.mp4\""]
        let tail = [map, "#EXT-X-PART:DURATION=1,URI=\"p0\""]
        let pending = PresentationTimeline(try LiveWindowText(head: head, tail: tail).playlist).pendingSegment
        #expect(pending?.initialization?.address.lastPathComponent == "later.mp4")
        #expect(pending?.initialization?.byteRange == nil)
    }
}
