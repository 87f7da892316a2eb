import HLSPlaylist
import MediaTiming
import StreamingEngine
import Testing

@Suite struct TimelineAlignmentTests {
    /// Returns a reference timeline whose window has moved: it begins at 40 s, with the segment 110.
    private func movedReference(_ window: LiveWindowText = LiveWindowText()) throws -> PresentationTimeline {
        var window = window
        window.first = 100
        window.count = 11
        var timeline = PresentationTimeline(try window.playlist)
        window.first = 110
        window.count = 6
        _ = try timeline.update(try window.playlist)
        try #require(timeline.start == MediaTime(seconds: 40))
        return timeline
    }

    @Test func playlistsOnDemandAreAlignedAtTheirStart() throws {
        let end = ["#EXT-X-ENDLIST"]
        let video = PresentationTimeline(try LiveWindowText(first: 5, discontinuities: [8], tail: end).playlist)
        let audio = try LiveWindowText(first: 900, count: 12, duration: "1.9", discontinuities: [906], tail: end)
            .playlist
        let alignment = TimelineAlignment(of: audio, to: video)
        #expect(alignment.method == .commonStart && alignment.start == .zero && alignment.uncertainty == .zero)
        let placed = PresentationTimeline(audio, alignment: alignment)
        // The discontinuity is at 12 s in the video and at 11.4 s in the audio.
        #expect(video.domains.last?.range.start == MediaTime(seconds: 12))
        #expect(placed.domains.last?.range.start == seconds("11.4"))
        #expect(placed.domains.last?.domain == video.domains.last?.domain)
    }

    @Test func datesAlignPlaylistsWithDifferentNumbers() throws {
        let reference = try movedReference(LiveWindowText(dateOfZero: 1_000))
        // The segment 110 has the date 1440 s; the other playlist begins one segment later, and its numbers begin at 3.
        let other = try LiveWindowText(first: 3, count: 5, dateOfZero: 1_444 - 12).playlist
        let alignment = TimelineAlignment(of: other, to: reference)
        #expect(alignment.method == .datesInDomain && alignment.start == MediaTime(seconds: 44))
        #expect(alignment.uncertainty <= seconds("0.001"))
    }

    @Test func datesOfTheSameDomainTakePrecedence() throws {
        // The dates jump back at the discontinuity: 1448 s occurs twice, in the domains 0 and 1.
        let jump = LiveWindowText(first: 0, dateOfZero: 1_440, discontinuities: [3]).text
        let jumped = jump.replacing(LiveWindowText.date(1_452), with: LiveWindowText.date(1_444))
            .replacing(LiveWindowText.date(1_456), with: LiveWindowText.date(1_448))
            .replacing(LiveWindowText.date(1_460), with: LiveWindowText.date(1_452))
        let reference = PresentationTimeline(try media(jumped))
        let other = try LiveWindowText(first: 70, count: 2, dateOfZero: 1_448 - 280, discontinuitySequence: 1).playlist
        let alignment = TimelineAlignment(of: other, to: reference)
        #expect(alignment.method == .datesInDomain && alignment.start == MediaTime(seconds: 16))
        let first = try LiveWindowText(first: 70, count: 1, dateOfZero: 1_448 - 280, discontinuitySequence: 0).playlist
        #expect(TimelineAlignment(of: first, to: reference).start == MediaTime(seconds: 8))
    }

    @Test func datesAlignPlaylistsWithoutACommonDomain() throws {
        let reference = try movedReference(LiveWindowText(dateOfZero: 1_000))
        let other = try LiveWindowText(first: 3, dateOfZero: 1_444 - 12, discontinuitySequence: 9).playlist
        let alignment = TimelineAlignment(of: other, to: reference)
        #expect(alignment.method == .dates && alignment.start == MediaTime(seconds: 44))
    }

    @Test func aPlaylistThatIsAheadIsAlignedByExtrapolatedDates() throws {
        let reference = try movedReference(LiveWindowText(dateOfZero: 1_000))
        let other = try LiveWindowText(first: 116, count: 2, dateOfZero: 1_000, discontinuitySequence: 9).playlist
        let alignment = TimelineAlignment(of: other, to: reference)
        #expect(alignment.method == .dates && alignment.start == MediaTime(seconds: 64))
        #expect(alignment.uncertainty > .zero)
    }

    @Test func aWrongClockIsIgnored() throws {
        let reference = try movedReference(LiveWindowText(dateOfZero: 1_000))
        let other = try LiveWindowText(first: 3, targetDuration: "5", dateOfZero: 9_000).playlist
        let alignment = TimelineAlignment(of: other, to: reference)
        #expect(alignment.method == .liveEdge && alignment.start == MediaTime(seconds: 40))
    }

    @Test func aCommonDiscontinuityAlignsWithoutDates() throws {
        var reference = PresentationTimeline(
            try LiveWindowText(first: 100, discontinuities: [103], discontinuitySequence: 4).playlist
        )
        _ = try reference.update(
            try LiveWindowText(first: 101, discontinuities: [103], discontinuitySequence: 4).playlist
        )
        // The boundary of the domain 5 is at 12 s; in the audio it is 2 s after its beginning.
        let audio = try LiveWindowText(
            first: 7,
            count: 12,
            duration: "2",
            targetDuration: "2",
            discontinuities: [8],
            discontinuitySequence: 4
        ).playlist
        let alignment = TimelineAlignment(of: audio, to: reference)
        #expect(alignment.method == .discontinuity && alignment.start == MediaTime(seconds: 10))
        #expect(alignment.uncertainty == seconds("0.5"))
    }

    @Test func aDomainWithoutItsBoundaryDoesNotAlign() throws {
        let reference = PresentationTimeline(try LiveWindowText(first: 100, discontinuitySequence: 4).playlist)
        let other = try LiveWindowText(first: 7, targetDuration: "3", discontinuitySequence: 4).playlist
        #expect(TimelineAlignment(of: other, to: reference).method == .liveEdge)
    }

    @Test func numbersAlignOnlyIfTheyAgreeWithTheEdges() throws {
        let reference = try movedReference()
        // The playlist was loaded a segment later, with the same target duration.
        let later = TimelineAlignment(of: try LiveWindowText(first: 112, count: 5).playlist, to: reference)
        #expect(later.method == .mediaSequence && later.start == MediaTime(seconds: 48))
        #expect(later.uncertainty == MediaTime(seconds: 2))
        // By its numbers, the playlist is four segments behind.
        let behind = TimelineAlignment(of: try LiveWindowText(first: 110, count: 2).playlist, to: reference)
        #expect(behind.method == .liveEdge && behind.start == MediaTime(seconds: 56))
        // The target duration and the numbers differ.
        let other = TimelineAlignment(
            of: try LiveWindowText(first: 112, count: 5, targetDuration: "5").playlist,
            to: reference
        )
        #expect(other.method == .liveEdge && other.start == MediaTime(seconds: 44))
        #expect(other.uncertainty == MediaTime(seconds: 5))
    }

    @Test func anEventPlaylistIsAlignedAtItsStart() throws {
        let head = ["#EXT-X-PLAYLIST-TYPE:EVENT"]
        let reference = PresentationTimeline(try LiveWindowText(first: 3, count: 9, head: head).playlist)
        let other = try LiveWindowText(first: 0, count: 4, head: head).playlist
        let alignment = TimelineAlignment(of: other, to: reference)
        #expect(alignment.method == .commonStart && alignment.start == .zero)
    }

    @Test func aPlaylistWithoutSegmentsIsAlignedAtTheEnd() throws {
        let reference = try movedReference()
        let alignment = TimelineAlignment(of: try LiveWindowText(count: 0).playlist, to: reference)
        #expect(alignment.method == .none && alignment.start == MediaTime(seconds: 64))
    }

    @Test func domainsOfALaterPlaylistHaveTheSameNumbers() throws {
        var reference = PresentationTimeline(try LiveWindowText(first: 500).playlist)
        _ = try reference.update(try LiveWindowText(first: 0, name: "again").playlist)
        let other = try LiveWindowText(first: 0, name: "sound").playlist
        let placed = PresentationTimeline(other, alignment: TimelineAlignment(of: other, to: reference))
        #expect(placed.domains.map(\.domain) == reference.domains.map(\.domain))
        #expect(placed.domains.first?.domain.epoch == 1)
    }

    @Test func aligningInOneStepGivesTheSameTimeline() throws {
        let reference = try movedReference(LiveWindowText(dateOfZero: 1_000))
        let other = try LiveWindowText(first: 3, count: 5, dateOfZero: 1_444 - 12).playlist
        let placed = PresentationTimeline.aligned(other, to: reference)
        let separately = PresentationTimeline(other, alignment: placed.alignment)
        #expect(placed.alignment == TimelineAlignment(of: other, to: reference))
        #expect(placed.timeline.segments.map(\.self) == separately.segments.map(\.self))
        #expect(placed.timeline.end == separately.end && placed.timeline.start == MediaTime(seconds: 44))
    }

    @Test func theLastCommonDiscontinuityAligns() throws {
        // Both playlists list the boundaries of the domains 1 and 2, 8.5 s apart in the audio, and 8 s in the video.
        let reference = PresentationTimeline(try LiveWindowText(first: 0, discontinuities: [1, 3]).playlist)
        let text = LiveWindowText(first: 50, targetDuration: "5", discontinuities: [51, 53]).text
        let audio = text.replacing("#EXTINF:4,\nsegment51.ts", with: "#EXTINF:4.5,\nsegment51.ts")
        let alignment = TimelineAlignment(of: try media(audio), to: reference)
        #expect(alignment.method == .discontinuity && alignment.start == seconds("-0.5"))
    }
}
