import HLSPlaylist
import MediaTiming
import ResourceAddressing
import StreamingEngine
import Testing

@Suite struct TimelineUpdateTests {
    @Test func segmentsKeepTheirTimesWhileTheWindowMoves() throws {
        var window = LiveWindowText(first: 100, count: 5, duration: "3.9")
        var timeline = PresentationTimeline(try window.playlist)
        var known = Dictionary(uniqueKeysWithValues: timeline.segments.map { ($0.sequence, $0.range) })
        for _ in 0..<20 {
            window.first += 2
            let update = try timeline.update(try window.playlist)
            #expect(
                update.added.count == 2 && update.removedCount == 2 && update.hasUpdates
                    && update.inconsistencies.isEmpty
            )
            for segment in timeline.segments {
                #expect(segment.range == known[segment.sequence, default: segment.range])
                known[segment.sequence] = segment.range
            }
            #expect(timeline.segments.count == 5)
        }
        let length = seconds("3.9")
        #expect(timeline.start == length * 40 && timeline.sequences == 140..<145)
    }

    @Test func aKnownSegmentKeepsItsTimeWhenTheServerCorrectsADuration() throws {
        var timeline = PresentationTimeline(try LiveWindowText(first: 0, count: 4).playlist)
        let corrected = LiveWindowText(first: 1, count: 4).text.replacing("#EXTINF:4,", with: "#EXTINF:3.5,")
        _ = try timeline.update(try media(corrected))
        #expect(timeline.segments.map(\.start) == [4, 8, 12, 16].map { MediaTime(seconds: $0) })
        #expect(timeline.segments.last?.duration == seconds("3.5"))
    }

    /// The playlist of a rendition may end before the beginning of the playlist to which it is aligned.
    @Test func aTimelineThatEndsBeforeZeroHasNoDuration() throws {
        let text = LiveWindowText(first: 0, count: 2).text + "#EXT-X-ENDLIST\n"
        var timeline = PresentationTimeline(try media(text))
        #expect(timeline.duration == MediaTime(seconds: 8))
        timeline.shift(by: MediaTime(seconds: -7))
        #expect(timeline.duration == MediaTime(seconds: 1))
        timeline.shift(by: MediaTime(seconds: -2))
        #expect(timeline.end == MediaTime(seconds: -1) && timeline.duration == .zero)
    }

    @Test func anUnchangedPlaylistIsReportedAsUnchanged() throws {
        let playlist = try LiveWindowText().playlist
        var timeline = PresentationTimeline(playlist)
        let update = try timeline.update(playlist)
        #expect(update.inconsistencies == [.unchanged] && !update.hasUpdates && update.added.isEmpty)
    }

    @Test func aNewPartIsAnUpdate() throws {
        var window = LiveWindowText(head: ["#EXT-X-PART-INF:PART-TARGET=1"])
        var timeline = PresentationTimeline(try window.playlist)
        window.tail = [#"#EXT-X-PART:DURATION=1,URI="p0.mp4""#]
        let update = try timeline.update(try window.playlist)
        #expect(update.hasUpdates && update.added.isEmpty && update.inconsistencies.isEmpty)
        #expect(timeline.edge == MediaTime(seconds: 25))
    }

    @Test func anOlderCopyIsIgnored() throws {
        var timeline = PresentationTimeline(try LiveWindowText(first: 10).playlist)
        let update = try timeline.update(try LiveWindowText(first: 9).playlist)
        #expect(update.inconsistencies == [.staleCopy] && !update.hasUpdates && timeline.sequences == 10..<16)
    }

    @Test func changedQueriesDoNotChangeTheIdentityOfSegments() throws {
        let window = LiveWindowText(first: 3)
        func signed(_ first: Int, _ signature: String) throws -> MediaPlaylist {
            let text = LiveWindowText(first: first).text
            return try media(text.replacing(".ts", with: ".ts?sig=\(signature)"))
        }
        var timeline = PresentationTimeline(try signed(window.first, "a"))
        #expect(try timeline.update(try signed(4, "b")).inconsistencies.isEmpty)
        #expect(timeline.segments.first?.address.text.hasSuffix("segment4.ts?sig=b") == true)
    }

    @Test func anEncoderRestartBeginsANewEpoch() throws {
        var timeline = PresentationTimeline(
            try LiveWindowText(first: 500, discontinuities: [502], discontinuitySequence: 7).playlist
        )
        let update = try timeline.update(try LiveWindowText(first: 0, count: 2, name: "again").playlist)
        #expect(update.inconsistencies == [.restarted(from: 506, to: 0)] && update.hasRestarted && update.hasUpdates)
        #expect(timeline.start == MediaTime(seconds: 24) && timeline.sequences == 0..<2)
        #expect(timeline.segments.first?.domain == DiscontinuityDomain(epoch: 1, sequence: 0))
        #expect(DiscontinuityDomain(sequence: 8) < DiscontinuityDomain(epoch: 1, sequence: 0))
        // The timeline continues from there.
        let next = try timeline.update(try LiveWindowText(first: 0, count: 3, name: "again").playlist)
        #expect(next.inconsistencies.isEmpty && next.added == 2..<3 && timeline.end == MediaTime(seconds: 36))
    }

    @Test func anEncoderRestartWithTheSameNamesIsDetectedByDates() throws {
        var timeline = PresentationTimeline(try LiveWindowText(first: 0, count: 6, dateOfZero: 1_000).playlist)
        let update = try timeline.update(try LiveWindowText(first: 0, count: 2, dateOfZero: 2_000).playlist)
        #expect(update.hasRestarted && timeline.start == MediaTime(seconds: 24))
        #expect(timeline.position(of: try date(2_001))?.time == MediaTime(seconds: 25))
    }

    @Test func theDurationOfMissedSegmentsFollowsFromDates() throws {
        var timeline = PresentationTimeline(try LiveWindowText(first: 0, duration: "3.9", dateOfZero: 0).playlist)
        let end = timeline.end
        let update = try timeline.update(try LiveWindowText(first: 10, duration: "3.9", dateOfZero: 0).playlist)
        // By their dates, the segment 10 begins at 40 s, and the segment 5 ends 16.1 s earlier.
        let lost = seconds("16.1")
        #expect(update.inconsistencies == [.segmentsMissed(count: 4, lost: lost, .dates)])
        #expect(timeline.start == end + lost && update.removedCount == 6)
        #expect(timeline.segment(at: end) == nil && timeline.segment(atOrAfter: end)?.sequence == 10)
    }

    @Test func theDurationOfMissedSegmentsIsEstimatedWithoutDates() throws {
        var timeline = PresentationTimeline(try LiveWindowText(first: 0, duration: "3.5").playlist)
        let update = try timeline.update(try LiveWindowText(first: 8, duration: "3.5").playlist)
        #expect(update.inconsistencies == [.segmentsMissed(count: 2, lost: MediaTime(seconds: 7), .averageDuration)])
        #expect(timeline.start == MediaTime(seconds: 28))
    }

    @Test(arguments: [86_000, 1])
    func aDateJumpIsIgnoredForMissedSegments(dateOfZero: Int) throws {
        var timeline = PresentationTimeline(try LiveWindowText(first: 0, dateOfZero: 1_000).playlist)
        let update = try timeline.update(try LiveWindowText(first: 8, dateOfZero: dateOfZero).playlist)
        #expect(update.inconsistencies == [.segmentsMissed(count: 2, lost: MediaTime(seconds: 8), .averageDuration)])
    }

    @Test func anAdjacentWindowMissesNoSegments() throws {
        var timeline = PresentationTimeline(try LiveWindowText(first: 0).playlist)
        let update = try timeline.update(try LiveWindowText(first: 6).playlist)
        #expect(update.inconsistencies.isEmpty && update.added == 6..<12 && timeline.start == MediaTime(seconds: 24))
    }

    @Test func extremeJumpsOfNumbersAreARestart() throws {
        var timeline = PresentationTimeline(try LiveWindowText(first: 0).playlist)
        let update = try timeline.update(try LiveWindowText(first: 440_000_000).playlist)
        #expect(update.hasRestarted && timeline.start == MediaTime(seconds: 24))
    }

    @Test func aReplacedSegmentIsReported() throws {
        var timeline = PresentationTimeline(try LiveWindowText(first: 0).playlist)
        let text = LiveWindowText(first: 1).text.replacing("segment5.ts", with: "replaced.ts")
        #expect(try timeline.update(try media(text)).inconsistencies == [.segmentChanged(sequence: 5)])
        #expect(timeline.segment(sequence: 5)?.address.lastPathComponent == "replaced.ts")
    }

    @Test func aChangedTargetDurationIsReported() throws {
        var timeline = PresentationTimeline(try LiveWindowText(first: 0).playlist)
        let update = try timeline.update(try LiveWindowText(first: 1, targetDuration: "6").playlist)
        #expect(
            update.inconsistencies == [.targetDurationChanged(from: MediaTime(seconds: 4), to: MediaTime(seconds: 6))]
        )
        #expect(update.hasUpdates && timeline.targetDuration == MediaTime(seconds: 6))
    }

    @Test func domainsAreKeptIfTheServerDoesNotCountDiscontinuities() throws {
        var timeline = PresentationTimeline(try LiveWindowText(first: 0, discontinuities: [2, 5]).playlist)
        #expect(timeline.segments.map(\.domain.sequence) == [0, 0, 1, 1, 1, 2])
        let update = try timeline.update(try LiveWindowText(first: 3, discontinuities: [2, 5]).playlist)
        #expect(update.inconsistencies == [.discontinuitySequenceWrong(by: 1)])
        #expect(timeline.segments.map(\.domain.sequence) == [1, 1, 2, 2, 2, 2])
        let honest = try timeline.update(
            try LiveWindowText(first: 4, discontinuities: [5], discontinuitySequence: 1).playlist
        )
        #expect(honest.inconsistencies == [.discontinuitySequenceWrong(by: -1)])
        #expect(timeline.segments.map(\.domain.sequence) == [1, 2, 2, 2, 2, 2])
    }

    @Test func anEventPlaylistKeepsItsStartAndEndsWithItsDuration() throws {
        var window = LiveWindowText(first: 0, count: 3, head: ["#EXT-X-PLAYLIST-TYPE:EVENT"])
        var timeline = PresentationTimeline(try window.playlist)
        #expect(timeline.isLive && !timeline.isSliding && timeline.duration == nil)
        window.count = 8
        _ = try timeline.update(try window.playlist)
        #expect(timeline.start == .zero && timeline.liveWindow.seekable.start == .zero)
        window.tail = ["#EXT-X-ENDLIST"]
        let update = try timeline.update(try window.playlist)
        #expect(update.hasUpdates && update.inconsistencies.isEmpty)
        #expect(!timeline.isLive && timeline.duration == MediaTime(seconds: 32))
        #expect(timeline.liveWindow.seekable == timeline.range)
    }

    @Test func aLostEndMarkerIsKept() throws {
        var timeline = PresentationTimeline(try LiveWindowText(tail: ["#EXT-X-ENDLIST"]).playlist)
        #expect(try !timeline.update(try LiveWindowText().playlist).hasUpdates)
        #expect(!timeline.isLive)
        let update = try timeline.update(try LiveWindowText(first: 1).playlist)
        #expect(update.inconsistencies == [.reopened] && timeline.isLive)
    }

    @Test func segmentsThatAnUpdateRemovesAtTheEndAreRemoved() throws {
        var timeline = PresentationTimeline(try LiveWindowText(count: 6).playlist)
        _ = try timeline.update(try LiveWindowText(count: 5, tail: ["#EXT-X-ENDLIST"]).playlist)
        #expect(timeline.duration == MediaTime(seconds: 20) && timeline.segments.count == 5)
    }

    @Test func anEmptyUpdateKeepsTheKnownSegments() throws {
        var timeline = PresentationTimeline(try LiveWindowText().playlist)
        #expect(try timeline.update(try LiveWindowText(first: 6, count: 0).playlist).inconsistencies == [.becameEmpty])
        #expect(timeline.segments.count == 6)
        #expect(try timeline.update(try LiveWindowText(first: 1).playlist).added == 6..<7)
    }

    @Test func anInitiallyEmptyPlaylistStartsWhereItWasAligned() throws {
        var timeline = PresentationTimeline(try LiveWindowText(count: 0).playlist, start: MediaTime(seconds: 9))
        #expect(try timeline.update(try LiveWindowText(count: 2).playlist).added == 0..<2)
        #expect(timeline.start == MediaTime(seconds: 9))
    }

    @Test func aWindowThatGrowsBackwardDoesNotMoveSegments() throws {
        var timeline = PresentationTimeline(try LiveWindowText(first: 10, count: 3, dateOfZero: 0).playlist)
        let update = try timeline.update(try LiveWindowText(first: 8, count: 6, dateOfZero: 0).playlist)
        #expect(update.inconsistencies == [.earlierSegments(count: 2)] && update.added == 13..<14)
        #expect(timeline.segment(sequence: 10)?.start == .zero)
        #expect(timeline.start == MediaTime(seconds: -8) && timeline.end == MediaTime(seconds: 16))
        #expect(timeline.position(of: try date(32))?.time == MediaTime(seconds: -8))
    }

    @Test func aDeltaUpdateIsCompletedFromTheFormerPlaylist() throws {
        let control = ["#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24"]
        var timeline = PresentationTimeline(try LiveWindowText(first: 0, count: 10, head: control).playlist)
        let delta = LiveWindowText(first: 8, count: 4, head: control + ["#EXT-X-SKIP:SKIPPED-SEGMENTS=6"]).text
            .replacing("#EXT-X-MEDIA-SEQUENCE:8", with: "#EXT-X-MEDIA-SEQUENCE:2")
        let update = try timeline.update(try media(delta))
        #expect(update.added == 10..<12 && update.removedCount == 2 && timeline.sequences == 2..<12)
        #expect(timeline.start == MediaTime(seconds: 8) && timeline.end == MediaTime(seconds: 48))
        #expect(timeline.segments.map(\.address.lastPathComponent) == (2..<12).map { "segment\($0).ts" })
    }

    @Test func aDeltaUpdateThatDoesNotFitChangesNothing() throws {
        var timeline = PresentationTimeline(try LiveWindowText(first: 0, count: 4).playlist)
        let delta = LiveWindowText(first: 20, count: 4, head: ["#EXT-X-SKIP:SKIPPED-SEGMENTS=6"]).text
        #expect(throws: PlaylistUpdateError.segmentsMissing(first: 20, count: 6)) {
            try timeline.update(try media(delta))
        }
        #expect(timeline.sequences == 0..<4)
    }

    @Test func aTimelineIsMovedToAgreeWithTimestamps() throws {
        var timeline = PresentationTimeline(try LiveWindowText(first: 0, dateOfZero: 0).playlist)
        timeline.shift(by: seconds("-0.25"))
        #expect(timeline.start == seconds("-0.25") && timeline.end == seconds("23.75"))
        #expect(timeline.date(at: seconds("3.75"))?.sinceEpoch == (try date(4)).sinceEpoch)
    }

    @Test func anEndedWindowIsPlayedToItsEnd() throws {
        var timeline = PresentationTimeline(try LiveWindowText(first: 0).playlist)
        _ = try timeline.update(try LiveWindowText(first: 3, tail: ["#EXT-X-ENDLIST"]).playlist)
        // Presentation time still starts at the first load, although the media before 12 s was removed.
        #expect(timeline.duration == MediaTime(seconds: 36))
        #expect(timeline.liveWindow.seekable.start == MediaTime(seconds: 12))
    }
}
