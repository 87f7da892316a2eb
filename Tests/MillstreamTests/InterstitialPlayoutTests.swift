import MediaTiming
import ResourceAddressing
import Testing

@testable import Millstream

/// Tests the loading and playback of interstitials by transcripts: asset lists, controls, rates, pauses and failures.
@Suite struct InterstitialPlayoutTests {
    typealias Transcript = InterstitialTranscript
    typealias Scheduling = InterstitialStateMachineTests

    private static let list = ResourceAddress("https://example.com/list.json")

    private static func listed(_ change: (inout InterstitialEvent) -> Void = { _ in }) -> Transcript {
        Scheduling.scheduled(
            Scheduling.event("a", at: 20) {
                $0.content = .list(list)
                change(&$0)
            }
        )
    }

    private static func listResult(_ json: String) throws -> Result<InterstitialAssetList, PlayerError> {
        .success(try InterstitialAssetList(Array(json.utf8), at: list))
    }

    private static let failure = Result<InterstitialAssetList, PlayerError>.failure(PlayerError(.notLoaded, "no list"))
    private static let two = """
        {"ASSETS": [{"URI": "b.m3u8", "DURATION": 6}, {"URI": "c.m3u8", "DURATION": 12}]}
        """

    // MARK: Asset lists

    @Test func assetListIsPreloadedAndPlayedInOrder() throws {
        var transcript = Self.listed()
        #expect(transcript.observe(at: 15) == ["load #1 list.json"])
        #expect(
            transcript.handle(.listLoaded(request: 1, try Self.listResult(Self.two))) == [
                "list of a available", "enqueue 2 b.m3u8, 3 c.m3u8",
            ]
        )
        #expect(transcript.observe(at: 20) == ["suspend", "current a", "rate 1.0"])
        #expect(transcript.observe(at: 26) { $0.endItem(after: 6) } == [])
        #expect(transcript.machine.state.playedBefore == MediaTime(seconds: 6))
        #expect(
            transcript.observe(at: 38) { $0.endItem(after: 12) } == [
                "rate 0.0", "clear queue", "list of a cleared", "finished a after 18.0", "current -", "seek #4 to 38.0",
            ]
        )
    }

    @Test func itemWaitsForALateAssetList() throws {
        var transcript = Self.listed()
        _ = transcript.observe(at: 15)
        #expect(transcript.observe(at: 20) == ["suspend", "current a"])
        #expect(transcript.deadline == 80)
        #expect(transcript.observe(at: 60) == [])
        #expect(
            transcript.handle(.listLoaded(request: 1, try Self.listResult(Self.two))) == [
                "list of a available", "enqueue 2 b.m3u8, 3 c.m3u8", "rate 1.0",
            ]
        )
    }

    @Test func assetListTimesOutAfterAMinute() {
        var transcript = Self.listed { $0.resumptionOffset = MediaTime(seconds: 10) }
        _ = transcript.observe(at: 15)
        _ = transcript.observe(at: 20)
        #expect(transcript.observe(at: 79.9) == [])
        #expect(
            transcript.observe(at: 80) == [
                "cancel #1", "unscheduled a: The asset list of an interstitial did not load in time.", "current -",
                "resume",
            ]
        )
        // The response arrives too late.
        #expect(transcript.handle(.listLoaded(request: 1, Self.failure)) == [])
    }

    @Test func failedAssetListPreloadIsRetriedAtTheStart() throws {
        var transcript = Self.listed()
        _ = transcript.observe(at: 15)
        #expect(transcript.handle(.listLoaded(request: 1, Self.failure)) == ["list of a unavailable"])
        #expect(transcript.observe(at: 16) == [])
        #expect(
            transcript.observe(at: 20) == ["suspend", "current a", "list of a cleared", "load #2 list.json"]
        )
        #expect(
            transcript.handle(.listLoaded(request: 2, Self.failure)) == [
                "list of a unavailable", "list of a cleared", "unscheduled a: no list", "current -", "resume",
            ]
        )
    }

    @Test(arguments: [(nil, "resume"), (MediaTime(seconds: 10), "seek #2 to 30.0")])
    func emptyAssetListResumesAtTheResumptionOffset(offset: MediaTime?, effect: String) throws {
        var transcript = Self.listed { $0.resumptionOffset = offset }
        _ = transcript.observe(at: 15)
        _ = transcript.handle(.listLoaded(request: 1, try Self.listResult("{\"ASSETS\": []}")))
        #expect(
            transcript.observe(at: 20) == [
                "suspend", "current a", "list of a cleared", "finished a after 0.0", "current -", effect,
            ]
        )
    }

    @Test func rejectedAssetOfAListIsSkipped() throws {
        var transcript = Self.listed()
        _ = transcript.observe(at: 15)
        _ = transcript.handle(.listLoaded(request: 1, try Self.listResult(Self.two)))
        transcript.players.queue.items[2] = nil
        transcript.players.queue.current = 3
        #expect(transcript.handle(.itemRejected(2, PlayerError(.notLoaded, "a file"))) == [])
        _ = transcript.observe(at: 20)
        #expect(transcript.observe(at: 32) { $0.endItem(after: 12) }.contains("finished a after 12.0"))
    }

    @Test(arguments: [true, false]) func interstitialWithARejectedAddressIsUnscheduled(isPrepared: Bool) {
        var transcript = Scheduling.scheduled(Scheduling.event("a", at: 20))
        let error = PlayerError(.notLoaded, "a file")
        if isPrepared {
            #expect(transcript.observe(at: 16) == ["enqueue 1 a.m3u8"])
            (transcript.players.queue.current, transcript.players.queue.items) = (nil, [:])
            #expect(transcript.handle(.itemRejected(1, error)) == [])
            #expect(transcript.observe(at: 17) == [])
            #expect(
                transcript.observe(at: 20) == ["suspend", "current a", "unscheduled a: a file", "current -", "resume"]
            )
        } else {
            _ = transcript.observe(at: 20)
            (transcript.players.queue.current, transcript.players.queue.items) = (nil, [:])
            #expect(
                transcript.handle(.itemRejected(1, error)) == [
                    "rate 0.0", "unscheduled a: a file", "current -", "resume",
                ]
            )
        }
    }

    @Test func joiningALiveInterstitialPlaysItsRemainder() throws {
        var transcript = Transcript()
        transcript.players.primary.playback.playbackType = .live
        transcript.players.primary.playback.duration = nil
        transcript.movePrimary(to: 30)
        let list = "X-ASSET-LIST=\"https://example.com/list.json\",DURATION=30"
        try transcript.setStream([Transcript.range("a", at: 20, list)])
        #expect(transcript.observe() == ["events", "suspend", "current a", "load #1 list.json from 10.0"])
        _ = transcript.handle(.listLoaded(request: 1, try Self.listResult(Self.two)))
        _ = transcript.observe(at: 6) { $0.endItem(after: 6) }
        // The distance from the live edge is preserved.
        #expect(transcript.observe(at: 18) { $0.endItem(after: 12) }.last == "seek #4 to 48.0")
    }

    @Test func assetListIsLoadedWithinItsPreloadWindow() throws {
        var transcript = Transcript()
        transcript.players.primary.playback.playbackType = .live
        transcript.players.primary.playback.duration = nil
        let preload =
            "ID=\"p\",CLASS=\"com.apple.hls.preload\",START-DATE=\"2026-01-01T00:00:10Z\",DURATION=8,"
            + "X-URI=\"https://example.com/list.json\",X-TARGET-ID=\"a\","
            + "X-TARGET-CLASS=\"com.apple.hls.interstitial\""
        let event = Transcript.range("a", at: 50, "X-ASSET-LIST=\"https://example.com/list.json\"")
        try transcript.setStream([preload, event])
        #expect(transcript.observe() == ["events"])
        #expect(transcript.observe(at: 9) == [])
        // Half of the preload duration of 8 s after its start at 10 s, because the preload fraction is 0.5.
        #expect(transcript.deadline == 14)
        #expect(transcript.observe(at: 14) == ["load #1 list.json"])
        try transcript.setStream([])
        #expect(transcript.observe(at: 15) == ["cancel #1", "events"])
    }

    // MARK: Controls

    @Test func skipControlAppearsAndDisappears() {
        var transcript = Scheduling.scheduled(
            Scheduling.event("a", at: 20) {
                $0.skipControl = .init(offset: MediaTime(seconds: 5), duration: MediaTime(seconds: 4))
            }
        )
        _ = transcript.observe(at: 20)
        #expect(transcript.observe(at: 20) == ["notYetEligible"] && transcript.deadline == 25)
        #expect(transcript.handle(.skip("a")) == [])
        #expect(transcript.observe(at: 25) == ["eligible"] && transcript.deadline == 29)
        #expect(transcript.handle(.skip("b")) == [])
        #expect(transcript.observe(at: 29) == ["noLongerEligible"])
        #expect(transcript.handle(.skip("a")) == [])
    }

    @Test func skippedInterstitialReplacesItsWholeDuration() throws {
        var transcript = Self.listed()
        _ = transcript.observe(at: 15)
        let json = Self.two.dropLast() + ", \"SKIP-CONTROL\": {\"OFFSET\": 7}}"
        _ = transcript.handle(.listLoaded(request: 1, try Self.listResult(String(json))))
        _ = transcript.observe(at: 20)
        for (number, seconds) in [(2, 6), (3, 12)] {
            transcript.players.queue.items[number]?.duration = MediaTime(seconds: Int64(seconds))
        }
        #expect(transcript.observe(at: 20) == ["notYetEligible"])
        _ = transcript.observe(at: 26) { $0.endItem(after: 6) }
        #expect(transcript.observe(at: 28) == ["eligible"])
        #expect(
            transcript.handle(.skip("a")) == [
                "rate 0.0", "clear queue", "list of a cleared", "skipped a", "ended a after 8.0", "current -",
                "seek #4 to 38.0",
            ]
        )
    }

    @Test func cancelingAnInterstitialEndsItsBreak() {
        var transcript = Scheduling.scheduled(Scheduling.event("a", at: 20), Scheduling.event("b", at: 20))
        _ = transcript.observe(at: 20)
        _ = transcript.observe(at: 23)
        #expect(transcript.handle(.cancel("b", resumptionOffset: nil)) == [])
        #expect(
            transcript.handle(.cancel("a", resumptionOffset: MediaTime(seconds: 10))) == [
                "rate 0.0", "clear queue", "ended a after 3.0", "current -", "seek #2 to 30.0",
            ]
        )
        #expect(transcript.handle(.cancel("a", resumptionOffset: nil)) == [])
    }

    @Test func interstitialIsCanceledWhileItsAssetListLoads() {
        var transcript = Self.listed()
        _ = transcript.observe(at: 15)
        _ = transcript.observe(at: 20)
        #expect(
            transcript.handle(.cancel("a", resumptionOffset: nil)) == [
                "cancel #1", "ended a after 0.0", "current -", "resume",
            ]
        )
    }

    @Test func restrictionsApplyFromStartToEndOfTheInterstitial() {
        var transcript = Scheduling.scheduled(
            Scheduling.event("a", at: 20) { $0.restrictions = .requiresPlaybackAtPreferredRateForAdvancement }
        )
        _ = transcript.observe { $0.setPrimaryRate(2) }
        #expect(transcript.observe(at: 9) == ["enqueue 1 a.m3u8 (no advancing)"])
        #expect(transcript.observe(at: 10) == ["suspend", "current a", "forbid advancing", "rate 1.0"])
        #expect(transcript.observe(at: 11) { $0.setPrimaryRate(0) } == ["rate 0.0"])
        #expect(
            transcript.observe(at: 20) { $0.endItem(after: 12) } == [
                "rate 0.0", "clear queue", "finished a after 12.0", "allow advancing", "current -", "seek #2 to 32.0",
            ]
        )
    }

    // MARK: Rates, pauses and volume

    @Test func interstitialFollowsTheRateOfThePlayer() {
        var transcript = Scheduling.scheduled(Scheduling.event("a", at: 20))
        _ = transcript.observe(at: 20)
        #expect(transcript.observe(at: 21) { $0.setPrimaryRate(2) } == ["rate 2.0"])
        #expect(transcript.observe(at: 22) { $0.setPrimaryRate(0) } == ["rate 0.0"])
        #expect(transcript.deadline == nil)
        #expect(transcript.observe(at: 23) { $0.setPrimaryRate(-1) } == ["rate 0.0"])
        #expect(transcript.observe(at: 24) { $0.setPrimaryRate(1) } == ["rate 1.0"])
    }

    @Test func interstitialDoesNotStartWhileThePlayerIsPaused() {
        var transcript = Scheduling.scheduled(Scheduling.event("a", at: 20))
        _ = transcript.observe(at: 19) { $0.setPrimaryRate(0) }
        #expect(transcript.deadline == nil)
        #expect(transcript.observe(at: 400) == [])
        #expect(transcript.observe(at: 401) { $0.setPrimaryRate(1) } == [])
        #expect(transcript.deadline == 402)
        #expect(transcript.observe(at: 402).contains("current a"))
    }

    @Test(arguments: [true, false]) func longPauseDoesNotEndTheInterstitial(isOfPrimary: Bool) {
        var transcript = Scheduling.scheduled(Scheduling.event("a", at: 20))
        func setRate(_ rate: Double) -> (inout Transcript) -> Void {
            { transcript in
                if isOfPrimary {
                    transcript.setPrimaryRate(rate)
                } else {
                    transcript.players.queue.rate = rate
                }
                transcript.stallItem()
            }
        }
        _ = transcript.observe(at: 20)
        _ = transcript.observe(at: 21, setRate(0))
        #expect(transcript.deadline == nil)
        // The engine needs a moment to resume playback.
        let resumed = transcript.observe(at: 600) {
            setRate(1)(&$0)
        }
        #expect(resumed == (isOfPrimary ? ["rate 1.0"] : []))
        transcript.stallItem()
        #expect(transcript.observe(at: 601) == [] && transcript.deadline == 660)
        transcript.moveItem(atRate: 1)
        #expect(transcript.observe(at: 602) == [])
    }

    @Test func interstitialWithoutMediaTimesOutAfterAMinute() {
        var transcript = Scheduling.scheduled(Scheduling.event("a", at: 20))
        _ = transcript.observe(at: 20)
        transcript.stallItem()
        #expect(transcript.observe(at: 21) == [] && transcript.deadline == 80)
        #expect(
            transcript.observe(at: 80) == [
                "rate 0.0", "clear queue", "unscheduled a: The interstitial did not load within 60.0 seconds.",
                "current -", "resume",
            ]
        )
    }

    @Test func rejectedRateIsNotAPause() {
        var transcript = Scheduling.scheduled(Scheduling.event("a", at: 20))
        transcript.acceptsRates = false
        _ = transcript.observe(at: 20)
        #expect(transcript.observe(at: 21) == [] && transcript.deadline == 80)
        transcript.acceptsRates = true
        #expect(transcript.observe(at: 22) { $0.setPrimaryRate(2) } == ["rate 2.0"])
    }

    @Test func interstitialFollowsTheVolumeOfThePlayer() {
        var transcript = Scheduling.scheduled(Scheduling.event("a", at: 20))
        transcript.players.primary.volume = 0.5
        #expect(transcript.observe(at: 16) == ["volume 0.5", "enqueue 1 a.m3u8"])
        _ = transcript.observe(at: 20)
        #expect(transcript.observe(at: 21) { $0.players.primary.isMuted = true } == ["volume 0.5 muted"])
    }

    // MARK: Failures

    @Test func failedItemIsRemovedFromTheQueue() throws {
        var transcript = Self.listed()
        _ = transcript.observe(at: 15)
        _ = transcript.handle(.listLoaded(request: 1, try Self.listResult(Self.two)))
        _ = transcript.observe(at: 20)
        #expect(transcript.observe(at: 21) { $0.failItem() } == [])
        #expect(transcript.observe(at: 24) { $0.failItem() } == ["remove 3"])
        #expect(
            transcript.observe(at: 24) == [
                "rate 0.0", "clear queue", "list of a cleared",
                "unscheduled a: No part of the interstitial can be played: no media", "current -", "resume",
            ]
        )
    }

    @Test func itemsThatStartAndEndBetweenObservationsCountAsPlayed() throws {
        var transcript = Self.listed()
        _ = transcript.observe(at: 15)
        _ = transcript.handle(.listLoaded(request: 1, try Self.listResult(Self.two)))
        _ = transcript.observe(at: 20)
        let lines = transcript.observe(at: 38) {
            $0.endItem(after: 6)
            $0.endItem(after: 12)
        }
        #expect(lines.contains("finished a after 18.0"))
    }

    @Test func partlyFailedInterstitialReplacesItsPlayedDuration() throws {
        var transcript = Self.listed()
        _ = transcript.observe(at: 15)
        _ = transcript.handle(.listLoaded(request: 1, try Self.listResult(Self.two)))
        _ = transcript.observe(at: 20)
        _ = transcript.observe(at: 20) { $0.failItem() }
        #expect(
            transcript.observe(at: 32) { $0.endItem(after: 12) }.suffix(3) == [
                "ended a after 12.0", "current -", "seek #4 to 32.0",
            ]
        )
    }

    @Test func failedInterstitialPlayerEndsTheInterstitial() {
        var transcript = Scheduling.scheduled(Scheduling.event("a", at: 20) { $0.resumptionOffset = .zero })
        _ = transcript.observe(at: 20)
        let lines = transcript.observe(at: 20) {
            $0.players.queue.hasFailed = true
            $0.players.queue.error = PlayerError(.mediaServicesLost, "no decoder")
            $0.stallItem()
        }
        #expect(
            lines == [
                "rate 0.0", "clear queue", "unscheduled a: No part of the interstitial can be played: no decoder",
                "current -", "resume",
            ]
        )
    }

    @Test func itemPausedAtItsEndByTheApplicationIsRemovedFromTheQueue() {
        var transcript = Scheduling.scheduled(Scheduling.event("a", at: 20))
        _ = transcript.observe(at: 20)
        let lines = transcript.observe(at: 32) {
            $0.players.queue.advancesAtItemEnd = false
            $0.players.queue.items[1]?.hasPlayedToEnd = true
            $0.players.queue.items[1]?.duration = MediaTime(seconds: 12)
            $0.stallItem()
        }
        #expect(lines == ["remove 1"])
        #expect(transcript.observe().contains("finished a after 12.0"))
    }
}
