import MediaTiming
import ResourceAddressing
import Testing

@testable import Millstream
@testable import StreamingEngine

/// Tests the progress of breaks, and the decisions between them, that no other suite reaches.
@Suite struct InterstitialProgressFaultTests {
    typealias Transcript = InterstitialTranscript
    typealias Scheduling = InterstitialStateMachineTests
    typealias Decisions = InterstitialDecisionFaultTests

    private static func empty(_ id: String, at seconds: Double) -> InterstitialEvent {
        Decisions.event(id, at: seconds) { $0.content = .assets([]) }
    }

    private static func required(_ id: String, at seconds: Double) -> InterstitialEvent {
        Decisions.event(id, at: seconds) { $0.restrictions = .constrainsSeekingForwardInPrimaryContent }
    }

    private static func listed(resumptionOffset: MediaTime? = nil) -> Transcript {
        Scheduling.scheduled(
            Decisions.event("a") {
                $0.content = .list(Decisions.list)
                $0.resumptionOffset = resumptionOffset
            }
        )
    }

    /// Ends the seek to the position where the item resumes.
    private func land(_ transcript: inout Transcript, request: Int, at seconds: Int64) -> [String] {
        let landing = SeekResult(isFinished: true, position: MediaTime(seconds: seconds))
        return transcript.handle(.seekEnded(request: request, landing))
    }

    // MARK: Observations

    @Test func playersThatAreNotObservedYetAreAtRest() {
        let (primary, queue) = (InterstitialObservation().primary, InterstitialObservation().queue)
        #expect(primary.item == nil && primary.rate == 0 && !primary.isSuspended && !primary.suspendsAtEnd)
        #expect(primary.volume == 1 && !primary.isMuted && primary.handlesStreamEvents)
        #expect(!queue.hasFailed && queue.rate == 0 && queue.volume == 1 && !queue.isMuted)
        #expect(queue.advancesAtItemEnd && queue.current == nil && queue.items.isEmpty)
        let item = InterstitialObservation.Item()
        #expect(item.status == .unknown && !item.hasPlayedToEnd && item.playedTime(at: .seconds(9)) == .zero)
    }

    // MARK: Playout

    @Test func anInterstitialMayLastLongerThanTheTimeLimit() {
        var transcript = Scheduling.scheduled(Decisions.event("a"))
        _ = transcript.observe(at: 20)
        for second in [60.0, 110, 169] { #expect(transcript.observe(at: second) == []) }
        // The time limit begins when the media stops.
        transcript.stallItem()
        #expect(transcript.observe(at: 228.9) == [] && transcript.deadline == 229)
        let lines = transcript.observe(at: 229)
        #expect(lines.contains("ended a after 149.0") && lines.last == "seek #2 to 60.0")
    }

    @Test func anItemAtItsEndIsRemovedByTheQueue() {
        var transcript = Scheduling.scheduled(Decisions.event("a"))
        _ = transcript.observe(at: 20)
        let lines = transcript.observe(at: 32) {
            $0.players.queue.items[1]?.hasPlayedToEnd = true
            $0.stallItem()
        }
        #expect(lines == [] && transcript.deadline == 80)
    }

    @Test func anInterstitialWithoutMediaIsPlayed() {
        var transcript = Scheduling.scheduled(Decisions.event("a"))
        _ = transcript.observe(at: 20)
        let lines = transcript.observe(at: 21) { $0.endItem(after: 0) }
        #expect(lines.contains("finished a after 0.0") && lines.last == "resume")
    }

    @Test func anItemThatFailsLaterCountsAsPlayed() {
        var transcript = Scheduling.scheduled(Decisions.event("a"))
        _ = transcript.observe(at: 20)
        let lines = transcript.observe(at: 25) {
            $0.stallItem()
            $0.players.queue.items[1]?.status = .failed
        }
        #expect(lines == ["remove 1"])
        let ended = transcript.observe()
        #expect(ended.contains("ended a after 5.0") && ended.last == "seek #2 to 25.0")
    }

    @Test func theLastItemCountsWhenTheInterstitialIsLeft() throws {
        var transcript = Self.listed()
        _ = transcript.observe(at: 15)
        _ = transcript.handle(.listLoaded(request: 1, try Decisions.loaded(Decisions.two)))
        _ = transcript.observe(at: 20)
        _ = transcript.observe(at: 21)
        transcript.wait(until: 26)
        transcript.endItem(after: 6)
        let lines = transcript.observe(at: 28) { $0.movePrimary(to: 50) }
        #expect(lines.contains("ended a after 8.0"))
    }

    /// Tests which item is the current one after another was rejected.
    @Test(arguments: [(1, 3), (3, 2)]) func theCurrentItemFollowsARejection(rejected: Int, current: Int) {
        let items = (1...3).map { number in
            let address = ResourceAddress("https://example.com/\(number).m3u8")
            return InterstitialItem(number: number, source: .address(address), forbidsAdvancing: false)
        }
        var observation = InterstitialObservation()
        observation.primary.rate = 1
        observation.queue.rate = 1
        observation.queue.current = current
        for item in items where item.number != rejected {
            observation.queue.items[item.number] = InterstitialObservation.Item()
        }
        // One item was played, which is before the current one.
        let played = current - 1
        observation.queue.items[played]?.hasPlayedToEnd = true
        observation.queue.items[played]?.duration = MediaTime(seconds: 4)
        var playout = InterstitialPlayout(Decisions.event("a"), skipControl: nil, items)
        var timeoutTime = Duration.seconds(60)
        if rejected > current { _ = playout.step(observation, timeoutTime: &timeoutTime, at: .zero) }
        playout.reject(rejected)
        let step = playout.step(observation, timeoutTime: &timeoutTime, at: .zero)
        #expect(step == .wait && playout.playedBefore == MediaTime(seconds: 4))
        #expect(playout.items.map(\.number) == [1, 2, 3].filter { $0 != rejected })
    }

    // MARK: Rejections

    @Test(arguments: [true, false]) func theRejectionOfAnotherItemChangesNothing(isPrepared: Bool) {
        var transcript = Scheduling.scheduled(Decisions.event("a"))
        _ = transcript.observe(at: 16)
        if !isPrepared { _ = transcript.observe(at: 20) }
        #expect(transcript.handle(.itemRejected(9, Decisions.rejection)) == [])
        let lines = transcript.observe(at: isPrepared ? 20 : 21)
        #expect(lines == (isPrepared ? ["suspend", "current a", "rate 1.0"] : []))
    }

    @Test func theNextInterstitialFollowsARejectionBeforeTheNextObservation() {
        let events = [Decisions.event("a"), Decisions.event("b")]
        var transcript = Scheduling.scheduled(events[0], events[1])
        _ = transcript.observe(at: 20)
        (transcript.players.queue.current, transcript.players.queue.items) = (nil, [:])
        #expect(
            transcript.handle(.itemRejected(1, Decisions.rejection)) == [
                "rate 0.0", "unscheduled a: a file", "current b", "enqueue 2 b.m3u8", "rate 1.0",
            ]
        )
        #expect(transcript.handle(.scheduled(events)) == [])
    }

    // MARK: Resumption

    @Test func onlyAnInterstitialThatWasPlayedMovesTheItemToABoundary() throws {
        var transcript = try Scheduling.streamed(
            Transcript.range("a", at: 20, "\(Scheduling.asset),X-SNAP=\"IN\""),
            Transcript.range("b", at: 20, Scheduling.asset)
        )
        _ = transcript.observe(at: 20)
        (transcript.players.queue.current, transcript.players.queue.items) = (nil, [:])
        #expect(transcript.handle(.itemRejected(1, Decisions.rejection)).contains("current b"))
        #expect(transcript.observe(at: 32) { $0.endItem(after: 12) }.last == "seek #3 to 32.0")
    }

    @Test func aBreakBeginsAtTheFirstAndEndsAtTheLastOfTheNearestBoundaries() throws {
        let timelines = [try Transcript.timeline(), try Transcript.timeline(segmentDuration: 4)]
        let boundaries = SegmentBoundaries(timelines)
        let event = Decisions.event("a", at: 22) {
            $0.alignsStartWithPrimarySegmentBoundary = true
            $0.alignsResumptionWithPrimarySegmentBoundary = true
        }
        // The boundaries that are nearest to 22 s are those at 24 s and at 20 s.
        #expect(ScheduledInterstitials.position(of: event, boundaries) == MediaTime(seconds: 20))
        let due = InterstitialSchedule.Break(events: [event], resumption: .offset(from: MediaTime(seconds: 20)))
        var current = InterstitialBreak(due, of: 1, at: MediaTime(seconds: 20), timeoutTime: .seconds(60))
        current.finishEvent(offset: MediaTime(seconds: 2), wasPlayed: true)
        #expect(current.resumptionTime(boundaries) == MediaTime(seconds: 24))
    }

    @Test func theResumptionIsNoJumpOfTheViewer() {
        var transcript = Scheduling.scheduled(Decisions.event("a"), Self.required("b", at: 25))
        _ = transcript.observe(at: 20)
        #expect(transcript.observe(at: 24) { $0.endItem(after: 12) }.last == "seek #2 to 32.0")
        #expect(land(&transcript, request: 2, at: 32) == ["resume"])
        // The engine reports the new position after the end of its seek.
        #expect(transcript.observe(at: 24.5) { $0.movePrimary(to: 32) } == [])
        #expect(transcript.observe(at: 26) == [])
    }

    @Test func aSeekToThePositionOfAResumptionIsAJump() {
        var transcript = Scheduling.scheduled(Self.empty("a", at: 21))
        #expect(
            transcript.observe(at: 21) == ["suspend", "current a", "finished a after 0.0", "current -", "resume"]
        )
        #expect(transcript.observe(at: 22) == [])
        #expect(transcript.observe(at: 23) { $0.movePrimary(to: 20.5) } == [])
        #expect(transcript.observe(at: 23.5).contains("current a"))
    }

    @Test func theNextBreakFollowsAResumption() {
        var transcript = Scheduling.scheduled(Decisions.event("a"), Decisions.event("b", at: 40))
        _ = transcript.observe(at: 20)
        #expect(transcript.observe(at: 32) { $0.endItem(after: 12) }.last == "seek #2 to 32.0")
        transcript.movePrimary(to: 32)
        #expect(land(&transcript, request: 2, at: 32) == ["resume"])
        #expect(transcript.observe() == [] && transcript.deadline == 35)
        #expect(transcript.observe(at: 40).contains("current b"))
    }

    // MARK: Items

    @Test func aNewItemIsNotMovedByTheInterstitialOfTheFormerItem() {
        var transcript = Scheduling.scheduled(
            Decisions.event("a", at: 0) { $0.resumptionOffset = MediaTime(seconds: 4) }
        )
        _ = transcript.observe(at: 1)
        let lines = transcript.observe(at: 2) { $0.replacePrimaryItem(2) }
        #expect(lines.contains("ended a after 2.0") && !lines.contains { $0.hasPrefix("seek") })
        #expect(lines.suffix(4) == ["suspend", "current a", "enqueue 2 a.m3u8", "rate 1.0"])
    }

    @Test func theListOfTheFormerItemIsNotAwaited() {
        var transcript = Self.listed()
        #expect(transcript.observe(at: 15) == ["load #1 list.json"])
        #expect(transcript.observe(at: 16) { $0.replacePrimaryItem(2) } == ["cancel #1", "events", "events"])
    }

    @Test func anEmptyQueueIsNotClearedForANewItem() {
        var transcript = Scheduling.scheduled(Self.empty("a", at: 20))
        #expect(transcript.observe(at: 16) == [])
        #expect(transcript.observe(at: 17) { $0.replacePrimaryItem(2) } == ["events", "events"])
    }

    @Test func theFirstPositionIsThatOfAnItemThatIsReady() {
        var transcript = Transcript()
        transcript.players.primary.playback.status = .unknown
        _ = transcript.handle(.scheduled([Self.required("a", at: 10)]))
        #expect(transcript.observe() == ["events"])
        let lines = transcript.observe(at: 1) {
            $0.players.primary.playback.status = .readyToPlay
            $0.movePrimary(to: 30)
        }
        #expect(lines == [] && transcript.observe(at: 2) == [])
    }

    @Test func anItemThatFailsDoesNotAwaitThePreRoll() throws {
        var transcript = Transcript(rate: 0)
        try transcript.setStream([Transcript.range("a", at: 30, "\(Scheduling.asset),CUE=\"PRE\"")])
        #expect(transcript.observe() == ["events", "suspend"])
        #expect(transcript.observe(at: 1) { $0.players.primary.playback.status = .failed } == ["resume"])
        #expect(transcript.observe(at: 2) == [])
    }

    @Test func anItemThatFailsAtAnInterstitialHasNoDeadline() {
        var transcript = Scheduling.scheduled(Decisions.event("a"))
        _ = transcript.observe(at: 2) { $0.setPrimaryRate(0) }
        #expect(transcript.observe(at: 3) { $0.movePrimary(to: 20) } == ["enqueue 1 a.m3u8"])
        _ = transcript.observe(at: 4) {
            $0.players.primary.playback.status = .failed
            $0.players.primary.rate = 1
        }
        #expect(transcript.deadline == nil)
    }

    // MARK: Scheduled events

    @Test func anEarlierInterstitialReplacesTheOneThatIsPrepared() {
        let event = Decisions.event("a")
        var transcript = Scheduling.scheduled(event)
        #expect(transcript.observe(at: 16) == ["enqueue 1 a.m3u8"])
        #expect(
            transcript.handle(.scheduled([event, Decisions.event("b", at: 18)])) == [
                "events", "clear queue", "enqueue 2 b.m3u8",
            ]
        )
        #expect(transcript.observe(at: 18) == ["suspend", "current b", "rate 1.0"])
    }

    @Test func theApplicationMayHandleTheEventsLater() throws {
        var transcript = try Scheduling.streamed(Transcript.range("a", at: 20, Scheduling.asset))
        #expect(transcript.deadline == 15)
        for handles in [false, true] {
            #expect(transcript.observe(at: 5) { $0.players.primary.handlesStreamEvents = handles } == [])
            #expect(transcript.deadline == (handles ? 15 : nil))
            #expect(transcript.machine.state.events.count == 1)
            #expect(transcript.machine.state.entries.count == (handles ? 1 : 0))
        }
    }

    @Test func anEqualScheduleIsNotPublished() throws {
        let range = Transcript.range("a", at: 20, "\(Scheduling.asset),X-SNAP=\"OUT\"")
        var transcript = try Scheduling.streamed(range)
        try transcript.setStream([range], revision: 2)
        var machine = transcript.machine
        let effects = machine.handle(.observed(transcript.players), at: .zero)
        #expect(effects.isEmpty)
    }

    /// Tests the list of a break that waits for playback while its event is no longer scheduled.
    @Test func theListOfABreakThatWaitsIsLoadedOnce() throws {
        var transcript = Self.listed(resumptionOffset: MediaTime(seconds: 15))
        _ = transcript.observe(at: 1) { $0.setPrimaryRate(0) }
        #expect(transcript.observe(at: 2) { $0.movePrimary(to: 30) } == ["suspend", "load #1 list.json"])
        #expect(transcript.handle(.scheduled([])) == ["cancel #1", "events", "load #2 list.json"])
        #expect(transcript.observe() == [])
        try transcript.setStream([], revision: 5)
        #expect(transcript.observe() == [])
    }
}
