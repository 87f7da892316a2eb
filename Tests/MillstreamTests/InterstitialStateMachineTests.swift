import MediaTiming
import ResourceAddressing
import Testing

@testable import Millstream

/// Tests the scheduling of interstitials by transcripts: which are played, when, and where the item resumes.
@Suite struct InterstitialStateMachineTests {
    typealias Transcript = InterstitialTranscript

    static func event(
        _ id: String,
        at seconds: Double,
        _ change: (inout InterstitialEvent) -> Void = { _ in }
    ) -> InterstitialEvent {
        let content = InterstitialEvent.Content.address(ResourceAddress("https://example.com/\(id).m3u8"))
        var event = InterstitialEvent(id: id, at: Transcript.time(seconds), content)
        change(&event)
        return event
    }

    /// Returns a transcript in which the given events are scheduled for an item that plays from its start.
    static func scheduled(_ events: InterstitialEvent...) -> Transcript {
        var transcript = Transcript()
        _ = transcript.handle(.scheduled(events))
        _ = transcript.observe()
        return transcript
    }

    /// Returns a transcript in which a stream with the given date ranges plays from its start.
    static func streamed(_ ranges: String...) throws -> Transcript {
        var transcript = Transcript()
        try transcript.setStream(ranges)
        _ = transcript.observe()
        return transcript
    }

    static let asset = "X-ASSET-URI=\"https://example.com/a.m3u8\""

    // MARK: One interstitial

    @Test func interstitialIsPreparedAndPlayedAndReplacesItsDuration() throws {
        var transcript = Transcript()
        try transcript.setStream([Transcript.range("a", at: 20, Self.asset)])
        #expect(transcript.observe() == ["events"])
        #expect(transcript.deadline == 15)
        #expect(transcript.observe(at: 15) == ["enqueue 1 a.m3u8"])
        #expect(transcript.deadline == 20)
        #expect(transcript.observe(at: 20) == ["suspend", "current a", "rate 1.0"])
        #expect(transcript.observe() == [])
        #expect(
            transcript.observe(at: 32) { $0.endItem(after: 12) } == [
                "rate 0.0", "clear queue", "finished a after 12.0", "current -", "seek #2 to 32.0",
            ]
        )
        #expect(transcript.observe() == [])
        transcript.movePrimary(to: 32)
        let completion = SeekResult(isFinished: true, position: MediaTime(seconds: 32))
        #expect(transcript.handle(.seekEnded(request: 2, completion)) == ["resume"])
        #expect(transcript.observe() == [] && transcript.deadline == nil)
        #expect(transcript.observe(at: 60) == [])
    }

    @Test func interstitialIsPreparedWhenTheItemIsLoadedUpToIt() {
        var transcript = Self.scheduled(Self.event("a", at: 40))
        let lines = transcript.observe(at: 2) {
            $0.players.primary.playback.loadedTimeRanges.insert(
                MediaTimeRange(start: .zero, end: MediaTime(seconds: 40))
            )
        }
        #expect(lines == ["enqueue 1 a.m3u8"])
    }

    @Test(arguments: [
        ("0", "resume"), ("10", "seek #2 to 30.0"), ("-6", "seek #2 to 14.0"), ("300", "seek #2 to 60.0"),
    ])
    func itemResumesAtTheResumptionOffset(offset: String, effect: String) throws {
        var transcript = try Self.streamed(Transcript.range("a", at: 20, "\(Self.asset),X-RESUME-OFFSET=\(offset)"))
        _ = transcript.observe(at: 20)
        #expect(transcript.observe(at: 32) { $0.endItem(after: 12) }.last == effect)
    }

    @Test func snappedInterstitialStartsAndResumesAtSegmentBoundaries() throws {
        let snap = "X-SNAP=\"OUT,IN\",X-RESUME-OFFSET=10"
        var transcript = try Self.streamed(Transcript.range("a", at: 20, "\(Self.asset),\(snap)"))
        #expect(transcript.observe(at: 17.9) == ["enqueue 1 a.m3u8"])
        #expect(transcript.deadline == 18)
        #expect(transcript.observe(at: 18) == ["suspend", "current a", "rate 1.0"])
        // The segment boundary that is nearest to 28 s.
        #expect(transcript.observe(at: 30) { $0.endItem(after: 12) }.last == "seek #2 to 30.0")
    }

    @Test func playoutLimitEndsTheInterstitial() throws {
        var transcript = try Self.streamed(Transcript.range("a", at: 20, "\(Self.asset),X-PLAYOUT-LIMIT=5"))
        _ = transcript.observe(at: 20)
        _ = transcript.observe()
        #expect(transcript.deadline == 25)
        #expect(transcript.observe(at: 24.9) == [])
        #expect(
            transcript.observe(at: 25) == [
                "rate 0.0", "clear queue", "ended a after 5.0", "current -", "seek #2 to 25.0",
            ]
        )
    }

    // MARK: Cues

    @Test func preRollSuspendsTheItemBeforeItPlays() throws {
        var transcript = Transcript(rate: 0)
        try transcript.setStream([Transcript.range("a", at: 30, "\(Self.asset),CUE=\"PRE\",X-RESUME-OFFSET=0")])
        #expect(transcript.observe() == ["events", "suspend"])
        #expect(transcript.observe(at: 8) { $0.setPrimaryRate(1) } == ["current a", "enqueue 1 a.m3u8", "rate 1.0"])
        #expect(
            transcript.observe(at: 20) { $0.endItem(after: 12) } == [
                "rate 0.0", "clear queue", "finished a after 12.0", "current -", "resume",
            ]
        )
        // A pre-roll is played only once.
        #expect(transcript.observe(at: 60) { $0.movePrimary(to: 0) } == [])
    }

    @Test func postRollFollowsTheEndOfTheItem() throws {
        var transcript = Transcript()
        try transcript.setStream([Transcript.range("a", at: 0, "\(Self.asset),CUE=\"POST\"")])
        #expect(transcript.observe() == ["events", "suspend at end"])
        let atEnd = transcript.observe(at: 60) {
            $0.players.primary.isSuspended = true
            $0.players.primary.playback.hasPlayedToEnd = true
            $0.movePrimary(to: 60)
        }
        #expect(atEnd == ["current a", "enqueue 1 a.m3u8", "rate 1.0"])
        // The item has no position at which to resume; it ends.
        #expect(
            transcript.observe(at: 72) { $0.endItem(after: 12) } == [
                "rate 0.0", "clear queue", "finished a after 12.0", "current -",
            ]
        )
        #expect(transcript.observe() == ["resume"])
        #expect(transcript.observe() == [])
    }

    @Test func interstitialWithTheOnceCueDoesNotRepeat() throws {
        let attributes = "\(Self.asset),CUE=\"ONCE\",X-RESUME-OFFSET=0"
        for (cue, isRepeated) in [(attributes, false), (attributes.replacing("CUE=\"ONCE\",", with: ""), true)] {
            var transcript = try Self.streamed(Transcript.range("a", at: 20, cue))
            _ = transcript.observe(at: 20)
            _ = transcript.observe(at: 32) { $0.endItem(after: 12) }
            _ = transcript.observe(at: 40) { $0.movePrimary(to: 10) }
            #expect(transcript.observe(at: 50).contains("current a") == isRepeated)
        }
    }

    // MARK: Several interstitials

    @Test func interstitialsAtOnePositionFormOneBreak() {
        var transcript = Self.scheduled(
            Self.event("a", at: 20) { $0.resumptionOffset = .zero },
            Self.event("b", at: 20) { $0.resumptionOffset = MediaTime(seconds: 2) }
        )
        #expect(transcript.observe(at: 20) == ["suspend", "current a", "enqueue 1 a.m3u8", "rate 1.0"])
        #expect(
            transcript.observe(at: 32) { $0.endItem(after: 12) } == [
                "rate 0.0", "clear queue", "finished a after 12.0", "current b", "enqueue 2 b.m3u8", "rate 1.0",
            ]
        )
        #expect(
            transcript.observe(at: 38) { $0.endItem(after: 6) } == [
                "rate 0.0", "clear queue", "finished b after 6.0", "current -", "seek #3 to 22.0",
            ]
        )
    }

    @Test func interstitialWithinAReplacedDurationIsSkipped() {
        var transcript = Self.scheduled(Self.event("a", at: 20), Self.event("b", at: 25))
        _ = transcript.observe(at: 20)
        _ = transcript.observe(at: 32) { $0.endItem(after: 12) }
        transcript.movePrimary(to: 32)
        let completion = SeekResult(isFinished: true, position: MediaTime(seconds: 32))
        _ = transcript.handle(.seekEnded(request: 2, completion))
        #expect(transcript.observe() == [] && transcript.deadline == nil)
        #expect(transcript.observe(at: 60) == [])
    }

    @Test func removedInterstitialIsNotPlayed() throws {
        var transcript = try Self.streamed(Transcript.range("a", at: 20, Self.asset))
        #expect(transcript.observe(at: 16) == ["enqueue 1 a.m3u8"])
        try transcript.setStream([], revision: 2)
        #expect(transcript.observe(at: 17) == ["clear queue", "events"])
        #expect(transcript.observe(at: 20) == [] && transcript.deadline == nil)
    }

    @Test func interstitialRemovedDuringPlaybackPlaysToItsEnd() throws {
        var transcript = try Self.streamed(Transcript.range("a", at: 20, "\(Self.asset),X-RESUME-OFFSET=0"))
        _ = transcript.observe(at: 20)
        try transcript.setStream([], revision: 2)
        #expect(transcript.observe(at: 25) == [])
        #expect(transcript.observe(at: 32) { $0.endItem(after: 12) }.contains("finished a after 12.0"))
        #expect(transcript.observe() == ["events"])
    }

    @Test func applicationEventsReplaceStreamEvents() throws {
        var transcript = try Self.streamed(Transcript.range("a", at: 20, Self.asset))
        #expect(transcript.handle(.scheduled([Self.event("own", at: 30)])) == ["events"])
        #expect(transcript.machine.state.events.map(\.id) == ["own"])
        #expect(transcript.observe(at: 25) == ["enqueue 1 own.m3u8"])
        #expect(transcript.handle(.scheduled(nil)) == ["clear queue", "events"])
        #expect(transcript.machine.state.events.map(\.id) == ["a"])
    }

    @Test func streamEventsAreReportedButNotPlayedIfTheApplicationHandlesThem() throws {
        var transcript = Transcript()
        transcript.players.primary.handlesStreamEvents = false
        try transcript.setStream([Transcript.range("a", at: 20, Self.asset)])
        #expect(transcript.observe() == ["events"] && transcript.deadline == nil)
        #expect(transcript.observe(at: 20) == [])
    }

    // MARK: Seeks

    @Test func seekPastAnInterstitialPlaysItOnlyIfRequired() {
        for restrictions in [InterstitialEvent.Restrictions(), .constrainsSeekingForwardInPrimaryContent] {
            var transcript = Self.scheduled(Self.event("a", at: 20) { $0.restrictions = restrictions })
            let lines = transcript.observe(at: 5) { $0.movePrimary(to: 50) }
            guard !restrictions.isEmpty else {
                #expect(lines == [])
                continue
            }
            #expect(lines == ["suspend", "current a", "enqueue 1 a.m3u8", "rate 1.0"])
            // Playback resumes at the position that the viewer chose.
            #expect(transcript.observe(at: 17) { $0.endItem(after: 12) }.suffix(2) == ["current -", "resume"])
        }
    }

    @Test func seekIntoTheReplacedDurationPlaysTheInterstitialFirst() {
        var transcript = Self.scheduled(Self.event("a", at: 20) { $0.resumptionOffset = MediaTime(seconds: 15) })
        #expect(
            transcript.observe(at: 2) { $0.movePrimary(to: 30) } == [
                "suspend", "current a", "enqueue 1 a.m3u8", "rate 1.0",
            ]
        )
        #expect(transcript.observe(at: 14) { $0.endItem(after: 12) }.last == "seek #2 to 35.0")
    }

    @Test func seekDuringAnInterstitialEndsIt() {
        var transcript = Self.scheduled(Self.event("a", at: 20))
        _ = transcript.observe(at: 20)
        _ = transcript.observe(at: 21)
        #expect(transcript.observe(at: 24) { $0.players.primary.playback.isSeeking = true } == [])
        let lines = transcript.observe(at: 25) {
            $0.players.primary.playback.isSeeking = false
            $0.movePrimary(to: 50)
        }
        #expect(lines == ["rate 0.0", "clear queue", "ended a after 5.0", "current -"])
        #expect(transcript.observe() == ["resume"])
        #expect(transcript.observe() == [])
    }

    @Test func seekOutOfAnInterstitialDoesNotBypassARequiredOne() {
        var transcript = Self.scheduled(
            Self.event("a", at: 10),
            Self.event("b", at: 30) { $0.restrictions = .constrainsSeekingForwardInPrimaryContent }
        )
        _ = transcript.observe(at: 10)
        _ = transcript.observe(at: 11)
        #expect(transcript.observe(at: 15) { $0.movePrimary(to: 50) }.last == "current -")
        #expect(transcript.observe() == ["current b", "enqueue 2 b.m3u8", "rate 1.0"])
    }

    @Test func viewerSeekTakesPrecedenceOverTheResumptionSeek() {
        var transcript = Self.scheduled(
            Self.event("a", at: 10),
            Self.event("b", at: 30) { $0.restrictions = .constrainsSeekingForwardInPrimaryContent }
        )
        _ = transcript.observe(at: 10)
        #expect(transcript.observe(at: 22) { $0.endItem(after: 12) }.last == "seek #2 to 22.0")
        let completion = SeekResult(isFinished: false, position: MediaTime(seconds: 50))
        transcript.movePrimary(to: 50)
        #expect(transcript.handle(.seekEnded(request: 2, completion)) == [])
        // The jump counts from the position at which the item was suspended.
        #expect(transcript.observe() == ["current b", "enqueue 3 b.m3u8", "rate 1.0"])
    }

    @Test func noInterstitialStartsWhileTheItemSeeks() {
        var transcript = Self.scheduled(Self.event("a", at: 20))
        let seeking = transcript.observe(at: 19) { $0.players.primary.playback.isSeeking = true }
        #expect(seeking == [] && transcript.deadline == nil)
        #expect(transcript.observe(at: 25) == [])
        let landed = transcript.observe(at: 26) {
            $0.players.primary.playback.isSeeking = false
            $0.movePrimary(to: 40)
        }
        #expect(landed == [])
    }

    @Test func reversePlaybackStartsNoInterstitialsAndAllowsRepeats() {
        var transcript = Self.scheduled(Self.event("a", at: 20) { $0.resumptionOffset = .zero })
        _ = transcript.observe(at: 20)
        _ = transcript.observe(at: 32) { $0.endItem(after: 12) }
        _ = transcript.observe(at: 42)
        #expect(transcript.observe(at: 42) { $0.setPrimaryRate(-2) } == [])
        #expect(transcript.observe(at: 50) == [])
        _ = transcript.observe(at: 50) { $0.setPrimaryRate(1) }
        #expect(transcript.observe(at: 56).contains("current a"))
    }

    // MARK: Items

    @Test func replacingTheItemEndsItsInterstitial() {
        var transcript = Self.scheduled(
            Self.event("a", at: 20) { $0.restrictions = .requiresPlaybackAtPreferredRateForAdvancement }
        )
        _ = transcript.observe(at: 20)
        _ = transcript.observe(at: 20)
        #expect(
            transcript.observe(at: 24) { $0.replacePrimaryItem(2) } == [
                "rate 0.0", "clear queue", "ended a after 4.0", "allow advancing", "current -", "events", "events",
            ]
        )
        // The application's events are scheduled for each item.
        #expect(transcript.observe(at: 44).contains("current a"))
        #expect(transcript.observe(at: 45) { $0.replacePrimaryItem(nil) }.last == "events")
        #expect(transcript.machine.state.events.isEmpty)
    }

    @Test func replacingTheItemCancelsTheResumptionSeek() {
        var transcript = Self.scheduled(Self.event("a", at: 20))
        _ = transcript.observe(at: 20)
        #expect(transcript.observe(at: 32) { $0.endItem(after: 12) }.last == "seek #2 to 32.0")
        #expect(transcript.observe(at: 32) { $0.replacePrimaryItem(2) }.first == "cancel #2")
        let completion = SeekResult(isFinished: true, position: MediaTime(seconds: 32))
        #expect(transcript.handle(.seekEnded(request: 2, completion)) == [])
    }

    @Test func failedItemIsNotSuspended() throws {
        var transcript = try Self.streamed(Transcript.range("a", at: 20, Self.asset))
        _ = transcript.observe(at: 20)
        #expect(
            transcript.observe(at: 25) { $0.players.primary.playback.status = .failed } == [
                "rate 0.0", "clear queue", "ended a after 5.0", "current -",
            ]
        )
        #expect(transcript.observe() == ["resume"])
        #expect(transcript.observe() == [])
    }
}
