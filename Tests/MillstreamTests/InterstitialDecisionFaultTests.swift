import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import Millstream
@testable import StreamingEngine

/// Tests decisions of the state machine of interstitials that no other suite reaches.
@Suite struct InterstitialDecisionFaultTests {
    typealias Transcript = InterstitialTranscript
    typealias Scheduling = InterstitialStateMachineTests

    static let list = ResourceAddress("https://example.com/list.json")
    static let rejection = PlayerError(.notLoaded, "a file")

    private static func time(_ seconds: Double) -> MediaTime { MediaTime(approximating: seconds) ?? .zero }

    static func event(
        _ id: String,
        at seconds: Double = 20,
        _ change: (inout InterstitialEvent) -> Void = { _ in }
    ) -> InterstitialEvent { Scheduling.event(id, at: seconds, change) }

    static func loaded(_ json: String) throws -> Result<InterstitialAssetList, PlayerError> {
        .success(try InterstitialAssetList(Array(json.utf8), at: list))
    }

    static let two = "{\"ASSETS\": [{\"URI\": \"b.m3u8\"}, {\"URI\": \"c.m3u8\"}]}"

    // MARK: Before the next observation

    @Test func aBreakContinuesBeforeItsEffectsAreObserved() {
        let events = [
            Self.event("a") { $0.playoutLimit = MediaTime(seconds: 5) }, Self.event("b"),
        ]
        var transcript = Transcript()
        _ = transcript.handle(.scheduled(events))
        _ = transcript.observe { $0.players.primary.volume = 0.5 }
        #expect(
            transcript.observe(at: 20) == ["suspend", "current a", "volume 0.5", "enqueue 1 a.m3u8", "rate 1.0"]
        )
        #expect(transcript.handle(.scheduled(events)) == [])
        _ = transcript.observe()
        #expect(
            transcript.observe(at: 25) == [
                "rate 0.0", "clear queue", "ended a after 5.0", "current b", "enqueue 2 b.m3u8", "rate 1.0",
            ]
        )
        #expect(transcript.handle(.scheduled(events)) == [])
    }

    @Test func aResumedItemIsNotResumedAgain() {
        let event = Self.event("a")
        var transcript = Scheduling.scheduled(event)
        _ = transcript.observe(at: 20)
        _ = transcript.observe(at: 32) { $0.endItem(after: 12) }
        transcript.movePrimary(to: 32)
        let completion = SeekResult(isFinished: true, position: MediaTime(seconds: 32))
        #expect(transcript.handle(.seekEnded(request: 2, completion)) == ["resume"])
        #expect(transcript.handle(.scheduled([event])) == [])
    }

    @Test func theSuspensionAtTheEndIsRequestedOnce() throws {
        var transcript = Transcript()
        try transcript.setStream([Transcript.range("a", at: 0, "\(Scheduling.asset),CUE=\"POST\"")])
        #expect(transcript.observe() == ["events", "suspend at end"])
        #expect(transcript.handle(.scheduled(nil)) == [])
    }

    // MARK: Preparation

    @Test func theInterstitialThatIsDueReplacesAnotherThatIsPrepared() {
        for isEmpty in [false, true] {
            let prepared = Self.event("a") { if isEmpty { $0.content = .assets([]) } }
            var transcript = Scheduling.scheduled(prepared)
            #expect(transcript.observe(at: 16) == (isEmpty ? [] : ["enqueue 1 a.m3u8"]))
            transcript.wait(until: 20)
            let lines = transcript.handle(.scheduled([Self.event("b"), prepared]))
            // A queue without items is not cleared.
            #expect(
                lines == ["events", "suspend", "current b"] + (isEmpty ? [] : ["clear queue"]) + [
                    "enqueue \(isEmpty ? 1 : 2) b.m3u8", "rate 1.0",
                ]
            )
        }
    }

    @Test func aSeekDiscardsThePreparedInterstitial() {
        for isEmpty in [false, true] {
            var transcript = Scheduling.scheduled(Self.event("a") { if isEmpty { $0.content = .assets([]) } })
            _ = transcript.observe(at: 16)
            #expect(transcript.observe(at: 17) { $0.movePrimary(to: 2) } == (isEmpty ? [] : ["clear queue"]))
            #expect(transcript.observe(at: 29) == [])
            #expect(transcript.observe(at: 30) == (isEmpty ? [] : ["enqueue 2 a.m3u8"]))
        }
    }

    @Test func aNewEventDoesNotDiscardThePreparedInterstitial() {
        let event = Self.event("a")
        var transcript = Scheduling.scheduled(event)
        #expect(transcript.observe(at: 16) == ["enqueue 1 a.m3u8"])
        #expect(transcript.handle(.scheduled([event, Self.event("b", at: 40)])) == ["events"])
    }

    @Test(arguments: [(39.95, true), (39.94, false)])
    func anInterstitialIsPreparedWhenTheMediaBeforeItIsLoaded(end: Double, isPrepared: Bool) {
        var transcript = Scheduling.scheduled(Self.event("a", at: 40))
        let lines = transcript.observe(at: 2) {
            let range = MediaTimeRange(start: .zero, end: Self.time(end))
            $0.players.primary.playback.loadedTimeRanges.insert(range)
        }
        #expect(lines == (isPrepared ? ["enqueue 1 a.m3u8"] : []))
    }

    @Test func anInterstitialAfterTheItemIsPreparedWhenTheItemIsLoaded() throws {
        var transcript = try Scheduling.streamed(Transcript.range("a", at: 0, "\(Scheduling.asset),CUE=\"POST\""))
        let lines = transcript.observe(at: 2) {
            let range = MediaTimeRange(start: .zero, end: MediaTime(seconds: 60))
            $0.players.primary.playback.loadedTimeRanges.insert(range)
        }
        #expect(lines == ["enqueue 1 a.m3u8"])
    }

    @Test func onlyLiveStreamsPreloadAssetLists() throws {
        let preload =
            "ID=\"p\",CLASS=\"com.apple.hls.preload\",START-DATE=\"2026-01-01T00:00:10Z\",DURATION=8,"
            + "X-URI=\"https://example.com/list.json\",X-TARGET-ID=\"a\","
            + "X-TARGET-CLASS=\"com.apple.hls.interstitial\""
        let event = Transcript.range("a", at: 50, "X-ASSET-LIST=\"https://example.com/list.json\"")
        var transcript = try Scheduling.streamed(preload, event)
        #expect(transcript.observe(at: 14) == [] && transcript.observe(at: 17) == [])
        #expect(transcript.observe(at: 45) == ["load #1 list.json"])
    }

    // MARK: Seeks

    @Test func aPausedItemAwaitsTheInterstitialOfItsPosition() {
        var transcript = Scheduling.scheduled(Self.event("a") { $0.resumptionOffset = MediaTime(seconds: 15) })
        _ = transcript.observe(at: 1) { $0.setPrimaryRate(0) }
        let landed = transcript.observe(at: 2) { $0.movePrimary(to: 30) }
        #expect(landed == ["suspend", "enqueue 1 a.m3u8"])
        // While another seek is in progress, the interstitial does not begin.
        let seeking = transcript.observe(at: 3) {
            $0.setPrimaryRate(1)
            $0.players.primary.playback.isSeeking = true
        }
        #expect(seeking == [])
        let lines = transcript.observe(at: 4) { $0.players.primary.playback.isSeeking = false }
        #expect(lines == ["current a", "rate 1.0"])
    }

    @Test func reversePlaybackForgetsTheInterstitialOfItsPosition() {
        var transcript = Scheduling.scheduled(Self.event("a") { $0.resumptionOffset = MediaTime(seconds: 15) })
        _ = transcript.observe(at: 1) { $0.setPrimaryRate(0) }
        #expect(transcript.observe(at: 2) { $0.movePrimary(to: 30) }.contains("suspend"))
        #expect(transcript.observe(at: 3) { $0.setPrimaryRate(-1) }.contains("resume"))
        _ = transcript.observe()
        let lines = transcript.observe(at: 4) { $0.setPrimaryRate(1) }
        #expect(!lines.contains("current a") && !lines.contains("suspend"))
    }

    @Test func aRequiredInterstitialThatASeekEndsIsPlayedAgain() {
        var transcript = Scheduling.scheduled(
            Self.event("a") { $0.restrictions = .constrainsSeekingForwardInPrimaryContent }
        )
        _ = transcript.observe(at: 20)
        _ = transcript.observe(at: 21)
        let ended = transcript.observe(at: 25) { $0.movePrimary(to: 50) }
        #expect(ended == ["rate 0.0", "clear queue", "ended a after 5.0", "current -"])
        #expect(transcript.observe() == ["current a", "enqueue 2 a.m3u8", "rate 1.0"])
    }

    @Test func anInterstitialThatEndsDuringASeekIsNotResumedFrom() {
        var transcript = Scheduling.scheduled(Self.event("a"))
        _ = transcript.observe(at: 20)
        #expect(transcript.observe(at: 30) { $0.players.primary.playback.isSeeking = true } == [])
        let lines = transcript.observe(at: 32) { $0.endItem(after: 12) }
        #expect(lines == ["rate 0.0", "clear queue", "finished a after 12.0", "current -"])
    }

    @Test func aSeekEndsAnInterstitialWhoseAssetListIsLoading() throws {
        var transcript = Scheduling.scheduled(Self.event("a") { $0.content = .list(Self.list) })
        #expect(transcript.observe(at: 15) == ["load #1 list.json"])
        #expect(transcript.observe(at: 20) == ["suspend", "current a"])
        #expect(transcript.observe(at: 22) == [] && transcript.deadline == 80)
        let lines = transcript.observe(at: 25) { $0.movePrimary(to: 50) }
        #expect(lines == ["cancel #1", "ended a after 0.0", "current -"])
        #expect(transcript.handle(.listLoaded(request: 1, try Self.loaded(Self.two))) == ["resume"])
        #expect(transcript.observe() == [])
    }

    @Test func anItemThatIsResumedByOthersEndsItsInterstitial() {
        var transcript = Scheduling.scheduled(Self.event("a"))
        _ = transcript.observe(at: 20)
        let lines = transcript.observe(at: 25) { $0.players.primary.isSuspended = false }
        #expect(lines == ["rate 0.0", "clear queue", "ended a after 5.0", "current -", "seek #2 to 25.0"])
    }

    // MARK: Interstitials that cannot be played

    @Test func theRequestedPositionIsPlayedIfItsInterstitialCannotBe() {
        var transcript = Scheduling.scheduled(Self.event("a") { $0.resumptionOffset = MediaTime(seconds: 15) })
        _ = transcript.observe(at: 2) { $0.movePrimary(to: 30) }
        (transcript.players.queue.current, transcript.players.queue.items) = (nil, [:])
        #expect(
            transcript.handle(.itemRejected(1, Self.rejection)) == [
                "rate 0.0", "unscheduled a: a file", "current -", "resume",
            ]
        )
        // It replaces nothing when the viewer seeks there again.
        _ = transcript.observe(at: 3) { $0.movePrimary(to: 5) }
        #expect(transcript.observe(at: 4) { $0.movePrimary(to: 30) } == [])
    }

    @Test func anItemIsNotMovedToABoundaryForAnInterstitialThatWasNotPlayed() throws {
        var transcript = try Scheduling.streamed(Transcript.range("a", at: 20, "\(Scheduling.asset),X-SNAP=\"IN\""))
        _ = transcript.observe(at: 20)
        (transcript.players.queue.current, transcript.players.queue.items) = (nil, [:])
        #expect(transcript.handle(.itemRejected(1, Self.rejection)).suffix(2) == ["current -", "resume"])
    }

    @Test func anInterstitialThatPlaysOnceIsTriedAgainIfItWasRejected() {
        var transcript = Scheduling.scheduled(Self.event("a") { $0.willPlayOnce = true })
        _ = transcript.observe(at: 20)
        (transcript.players.queue.current, transcript.players.queue.items) = (nil, [:])
        _ = transcript.handle(.itemRejected(1, Self.rejection))
        _ = transcript.observe(at: 21) { $0.movePrimary(to: 15) }
        #expect(transcript.observe(at: 26).contains("current a"))
    }

    @Test func aCanceledInterstitialThatPlaysOnceDoesNotRepeat() {
        var transcript = Scheduling.scheduled(Self.event("a") { $0.willPlayOnce = true })
        _ = transcript.observe(at: 20)
        _ = transcript.observe(at: 23)
        let lines = transcript.handle(.cancel("a", resumptionOffset: .zero))
        #expect(lines.last == "resume")
        _ = transcript.observe(at: 24) { $0.movePrimary(to: 15) }
        #expect(!transcript.observe(at: 30).contains("current a"))
    }

    @Test(arguments: [true, false]) func aRejectedAssetOfAListDoesNotCount(isPrepared: Bool) throws {
        var transcript = Scheduling.scheduled(Self.event("a") { $0.content = .list(Self.list) })
        _ = transcript.observe(at: 15)
        _ = transcript.handle(.listLoaded(request: 1, try Self.loaded(Self.two)))
        if !isPrepared { _ = transcript.observe(at: 20) }
        transcript.players.queue.items[2] = nil
        transcript.players.queue.current = 3
        #expect(transcript.handle(.itemRejected(2, Self.rejection)) == [])
        if isPrepared { _ = transcript.observe(at: 20) }
        // Except for the rejected one, all of them failed.
        #expect(transcript.observe(at: 21) { $0.failItem() } == ["remove 3"])
        #expect(transcript.observe(at: 22).contains { $0.hasPrefix("unscheduled a: No part") })
    }

    // MARK: Playout

    @Test func anInterstitialThatIsShorterThanItsLimitReplacesItsDuration() {
        var transcript = Scheduling.scheduled(Self.event("a") { $0.playoutLimit = MediaTime(seconds: 30) })
        _ = transcript.observe(at: 20)
        let lines = transcript.observe(at: 32) { $0.endItem(after: 12) }
        #expect(lines.contains("finished a after 12.0") && lines.last == "seek #2 to 32.0")
    }

    @Test func theLimitIsNotExceededByALateObservation() {
        var transcript = Scheduling.scheduled(Self.event("a") { $0.playoutLimit = MediaTime(seconds: 5) })
        _ = transcript.observe(at: 20)
        let lines = transcript.observe(at: 25.4)
        #expect(lines.contains("ended a after 5.0") && lines.last == "seek #2 to 25.0")
    }

    @Test func theTimeOfTheLimitDependsOnTheRate() {
        var transcript = Scheduling.scheduled(Self.event("a") { $0.playoutLimit = MediaTime(seconds: 10) })
        _ = transcript.observe(at: 20)
        _ = transcript.observe(at: 20) { $0.setPrimaryRate(2) }
        #expect(transcript.observe(at: 21) == [] && transcript.deadline == 25)
        transcript.stallItem()
        #expect(transcript.observe(at: 22) == [] && transcript.deadline == 81)
    }

    @Test func thePlayedTimeIsPublishedWithTheEnd() {
        var transcript = Scheduling.scheduled(Self.event("a"))
        _ = transcript.observe(at: 20)
        transcript.wait(until: 32)
        transcript.endItem(after: 12)
        var machine = transcript.machine
        let effects = machine.handle(.observed(transcript.players), at: .seconds(32))
        let published = effects.compactMap { effect -> MediaTime? in
            guard case .publish(let state, let told) = effect else { return nil }
            return told.map { Transcript.describe($0) } == ["finished a after 12.0"] ? state.playedBefore : nil
        }
        #expect(published == [MediaTime(seconds: 12)] && machine.state.playedBefore == .zero)
    }

    // MARK: Items and deadlines

    @Test func anItemWithoutEventsIsReplacedSilently() {
        var transcript = Transcript()
        #expect(transcript.observe() == [])
        #expect(transcript.observe(at: 3) { $0.replacePrimaryItem(2) } == [])
    }

    @Test func thePreparedInterstitialIsDiscardedWithItsItem() {
        var transcript = Scheduling.scheduled(Self.event("a"))
        #expect(transcript.observe(at: 16) == ["enqueue 1 a.m3u8"])
        #expect(transcript.observe(at: 17) { $0.replacePrimaryItem(2) }.first == "clear queue")
    }

    @Test func eachItemLoadsItsAssetLists() throws {
        var transcript = Scheduling.scheduled(Self.event("a") { $0.content = .list(Self.list) })
        #expect(transcript.observe(at: 15) == ["load #1 list.json"])
        _ = transcript.handle(.listLoaded(request: 1, try Self.loaded(Self.two)))
        _ = transcript.observe(at: 17) { $0.replacePrimaryItem(2) }
        #expect(transcript.observe(at: 32) == ["load #4 list.json"])
    }

    @Test func aPausedItemHasNoDeadline() {
        var transcript = Scheduling.scheduled(Self.event("a"))
        #expect(transcript.deadline == 15)
        // The engine has not executed the request yet.
        _ = transcript.observe(at: 3) { $0.players.primary.rate = 0 }
        #expect(transcript.deadline == nil)
    }

    // MARK: Positions

    @Test func positionsFollowTheSegmentBoundaries() throws {
        var transcript = try Scheduling.streamed(Transcript.range("a", at: 20, "\(Scheduling.asset),X-SNAP=\"OUT\""))
        #expect(transcript.machine.state.entries.map(\.start) == [MediaTime(seconds: 18)])
        transcript.players.primary.playback.segmentBorders = SegmentBoundaries([], revision: 2)
        #expect(transcript.observe(at: 1) == [])
        #expect(transcript.machine.state.entries.map(\.start) == [MediaTime(seconds: 20)])
    }

    @Test func anEventAtADateIsScheduledWhenTheDatesAreKnown() throws {
        let date = try #require(ProgramDateTime("2026-01-01T00:00:20Z"))
        let content = InterstitialEvent.Content.address(ResourceAddress("https://example.com/a.m3u8"))
        var transcript = Scheduling.scheduled(InterstitialEvent(id: "a", at: date, content))
        #expect(transcript.machine.state.entries.isEmpty && transcript.machine.state.events.count == 1)
        try transcript.setStream([])
        #expect(transcript.observe() == [])
        #expect(transcript.machine.state.entries.map(\.start) == [MediaTime(seconds: 20)])
    }

    @Test(arguments: [("DURATION=0,PLANNED-DURATION=9", 0.0), ("PLANNED-DURATION=9,X-RESUME-OFFSET=-4", 9)])
    func aDurationOfZeroIsADuration(attributes: String, duration: Double) throws {
        let transcript = try Scheduling.streamed(Transcript.range("a", at: 20, "\(Scheduling.asset),\(attributes)"))
        let event = try #require(transcript.machine.state.events.first)
        #expect(event.plannedDuration == Self.time(duration))
        #expect(event.plannedReplacedDuration == .zero)
    }
}
