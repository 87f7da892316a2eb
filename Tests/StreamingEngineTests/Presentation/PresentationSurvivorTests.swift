import HLSPlaylist
import MediaTiming
import Testing

@testable import StreamingEngine

/// Tests of the order of domains, and of updates and alignments by numbers and dates.
@Suite struct PresentationSurvivorTests {
    @Test(arguments: [(0, 3), (1, 3), (1, 0)] as [(Int, Int64)])
    func domainDoesNotPrecedeItself(epoch: Int, sequence: Int64) {
        let domain = DiscontinuityDomain(epoch: epoch, sequence: sequence)
        let next = DiscontinuityDomain(epoch: epoch, sequence: sequence + 1)
        let isBefore = (domain < domain, domain < next, next < domain)
        #expect(!isBefore.0 && isBefore.1 && !isBefore.2)
    }

    /// The number of the next segment is lower than that of the empty playlist.
    @Test func firstSegmentsAreAnUpdateWithAnyNumber() throws {
        var timeline = PresentationTimeline(try LiveWindowText(first: 10, count: 0).playlist)
        let update = try timeline.update(try LiveWindowText(first: 0, count: 2).playlist)
        #expect(update.hasUpdates && update.added == 0..<2 && update.inconsistencies.isEmpty && !update.hasRestarted)
        #expect(timeline.range == MediaTimeRange(start: .zero, end: MediaTime(seconds: 8)))
    }

    /// The last two common segments are not equally far from each other in both playlists.
    @Test func numbersAlignTheLastCommonSegment() throws {
        let reference = PresentationTimeline(try LiveWindowText(first: 100).playlist)
        let text = LiveWindowText(first: 101).text
            .replacing("#EXTINF:4,\nsegment104.ts", with: "#EXTINF:4.5,\nsegment104.ts")
        let alignment = TimelineAlignment(of: try media(text), to: reference)
        #expect(alignment.method == .mediaSequence && alignment.start == seconds("3.5"))
        #expect(alignment.uncertainty == MediaTime(seconds: 2))
    }

    /// The dates of the reference jump from 1012 s to 1112 s at the time 12 s, within its only domain.
    @Test(arguments: [(0, "0"), (28, "12")]) func datesOnBothSidesOfAJumpAlign(first: Int, start: String) throws {
        let text = LiveWindowText(dateOfZero: 1_000).text
            .replacing(LiveWindowText.date(1_012), with: LiveWindowText.date(1_112))
            .replacing(LiveWindowText.date(1_016), with: LiveWindowText.date(1_116))
            .replacing(LiveWindowText.date(1_020), with: LiveWindowText.date(1_120))
        let other = try LiveWindowText(first: first, count: 2, dateOfZero: 1_000).playlist
        let alignment = TimelineAlignment(of: other, to: PresentationTimeline(try media(text)))
        #expect(alignment.method == .datesInDomain && alignment.start == seconds(start))
        #expect(alignment.uncertainty == seconds("0.001"))
    }

    /// The date at the end follows from the last date, not from the first one.
    @Test func dateRangeAtTheEndFollowsFromTheLastDate() throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-DATERANGE:ID="a",START-DATE="\(LiveWindowText.date(3_606))"
            #EXT-X-PROGRAM-DATE-TIME:\(LiveWindowText.date(0))
            #EXTINF:6,
            a
            #EXT-X-PROGRAM-DATE-TIME:\(LiveWindowText.date(3_600))
            #EXTINF:6,
            b
            #EXT-X-ENDLIST

            """
        let ranges = TimedDateRange.ranges(of: PresentationTimeline(try media(text)))
        #expect(ranges.map(\.start) == [MediaTime(seconds: 12)])
    }

    @Test(arguments: [0, 6]) func sizeOfATimelineIsThatOfItsTextAndItsSegments(count: Int) throws {
        let playlist = try LiveWindowText(count: count).playlist
        #expect(PresentationTimeline(playlist).byteCount == playlist.bytes.count + count * 64)
    }
}
