import HLSPlaylist
import MediaTiming
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

/// Tests the options, tracks and updates of an item that no other suite reaches.
@Suite struct ItemOptionFaultTests {
    private func makeItem() -> PlayerItem { PlayerItem(ResourceAddress("a"), environment: World().environment) }

    // MARK: Options

    @Test func optionsOfTheNetworkAndOfVariantsAreSet() {
        let item = makeItem()
        #expect(item.preferredPeakBitRate == nil && item.preferredMaximumResolution == nil)
        #expect(item.preferredPeakBitRateForExpensiveNetworks == nil && item.variantPreferences.isEmpty)
        let (rate, low) = (BitRate(bitsPerSecond: 5), BitRate(bitsPerSecond: 3))
        let (size, small) = (Resolution(width: 4, height: 3), Resolution(width: 2, height: 1))
        item.preferredPeakBitRate = rate
        item.preferredPeakBitRateForExpensiveNetworks = low
        item.preferredMaximumResolution = size
        item.preferredMaximumResolutionForExpensiveNetworks = small
        item.variantPreferences = .scalabilityToLosslessAudio
        item.initialThroughput = rate
        item.startsOnFirstEligibleVariant = true
        item.viewSize = size
        let options = item.state.configuration.options
        #expect(options.preferredPeakBitRate == rate && options.preferredPeakBitRateForExpensiveNetworks == low)
        #expect(options.preferredMaximumResolution == size && options.viewSize == size)
        #expect(options.preferredMaximumResolutionForExpensiveNetworks == small)
        #expect(options.variantPreferences == .scalabilityToLosslessAudio && options.initialThroughput == rate)
        #expect(options.startsOnFirstEligibleVariant && item.startsOnFirstEligibleVariant && item.viewSize == size)
        #expect(item.preferredPeakBitRate == rate && item.preferredPeakBitRateForExpensiveNetworks == low)
        #expect(item.preferredMaximumResolution == size && item.variantPreferences == .scalabilityToLosslessAudio)
        #expect(item.preferredMaximumResolutionForExpensiveNetworks == small && item.initialThroughput == rate)
    }

    @Test func optionsOfPlaybackAreSet() {
        let item = makeItem()
        #expect(item.automaticallyHandlesInterstitialEvents && item.canUseNetworkResourcesForLiveStreamingWhilePaused)
        #expect(!item.automaticallyPreservesTimeOffsetFromLive && item.preferredForwardBufferDuration == .zero)
        item.automaticallyHandlesInterstitialEvents = false
        item.canUseNetworkResourcesForLiveStreamingWhilePaused = false
        item.automaticallyPreservesTimeOffsetFromLive = true
        item.configuredTimeOffsetFromLive = MediaTime(seconds: 6)
        item.forwardPlaybackEndTime = MediaTime(seconds: 8)
        item.reversePlaybackEndTime = MediaTime(seconds: 2)
        item.preferredForwardBufferDuration = .seconds(3)
        item.audioTimePitchAlgorithm = .varispeed
        item.mediaSelectionRules.audioLanguages = ["ko"]
        let configuration = item.state.configuration
        let options = configuration.options
        #expect(!configuration.automaticallyHandlesInterstitialEvents && !options.usesNetworkWhilePaused)
        #expect(options.preservesTimeOffsetFromLive && options.timeOffsetFromLive == MediaTime(seconds: 6))
        #expect(options.forwardPlaybackEndTime == MediaTime(seconds: 8))
        #expect(options.reversePlaybackEndTime == MediaTime(seconds: 2))
        #expect(options.preferredForwardBufferDuration == .seconds(3))
        #expect(options.audioSettings.pitchAlgorithm == .varispeed && options.selectionRules.audioLanguages == ["ko"])
        #expect(!item.automaticallyHandlesInterstitialEvents && item.audioTimePitchAlgorithm == .varispeed)
        #expect(!item.canUseNetworkResourcesForLiveStreamingWhilePaused)
        #expect(item.automaticallyPreservesTimeOffsetFromLive)
        #expect(item.configuredTimeOffsetFromLive == MediaTime(seconds: 6))
        #expect(item.forwardPlaybackEndTime == MediaTime(seconds: 8))
        #expect(item.reversePlaybackEndTime == MediaTime(seconds: 2))
        #expect(item.preferredForwardBufferDuration == .seconds(3))
        item.preferredForwardBufferDuration = .seconds(-1)
        #expect(item.preferredForwardBufferDuration == .zero)
    }

    @Test func theAudioMixIsSet() {
        let item = makeItem()
        var mix = AudioMix()
        mix.setVolume(0.5, at: .zero)
        #expect(item.audioMix.isEmpty && !mix.isEmpty)
        item.audioMix = mix
        #expect(item.audioMix == mix && item.state.configuration.options.audioSettings.mix == mix)
    }

    @Test(arguments: [(-1.5, true), (-1.001, true), (-0.999, true), (0.001, true), (31.999, true), (33, false)])
    func ratesBetweenTheLimitsArePermitted(rate: Double, isPermitted: Bool) {
        var snapshot = PlaybackSnapshot()
        snapshot.status = .readyToPlay
        #expect(PlaybackAbilities(snapshot).permits(rate) == (isPermitted && rate > 0))
        snapshot.abilities.supportsReversePlayback = true
        #expect(PlaybackAbilities(snapshot).permits(rate) == isPermitted)
    }

    @Test func aVariantIsPinnedWithTheModeOfTheSwitch() {
        let item = makeItem()
        #expect(item.pinnedVariant == nil)
        item.pinVariant("v", switching: .atOnce)
        #expect(item.pinnedVariant == "v" && item.state.configuration.options.pinning == .atOnce)
        item.pinVariant(nil)
        #expect(item.pinnedVariant == nil && item.state.configuration.options.pinning == .nextSegment)
    }

    // MARK: Selection

    @Test func aSelectionBeforePlaybackIsSentOnce() async throws {
        try await simulated { world in
            let item = world.item("film", Script(presentation: .film))
            let audio = try #require(Presentation.film.group(.audio))
            item.select(audio.options[1], in: audio)
            let player = try Player(playerItem: item)
            player.play()
            try await world.sleep(.seconds(5))
            #expect(world.engine(0)?.log == ["0: rate 1.0", "1: select Deutsch AUDIO"])
        }
    }

    @Test func aSelectionEnablesTheTrackAgain() async throws {
        try await simulated { world in
            let item = world.item("film", Script(presentation: .film))
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            let audio = try #require(item.mediaSelectionGroup(for: .audible))
            let engine = try #require(world.engine(0))
            await engine.updateSnapshot { playback in
                playback.tracks = [PlaybackTrack(id: 1, mediaType: .video), PlaybackTrack(id: 2, mediaType: .audio)]
                playback.selection[.audio] = audio.options[0]
            }
            #expect(item.setEnabled(false, item.tracks[1]) && item.currentMediaSelection[.audio] == nil)
            // Other rules do not enable it.
            item.mediaSelectionRules.audioLanguages = ["de"]
            item.select(audio.options[1], in: audio)
            #expect(item.currentMediaSelection[.audio]?.name == "Deutsch")
            try await world.sleep(.seconds(1))
            #expect(engine.log == ["2: select nothing AUDIO", "2: update any", "2: select Deutsch AUDIO"])
            #expect(item.tracks.map(\.isEnabled) == [true, true] && player.rate == 0)
        }
    }

    @Test func rulesThatSelectTheSameChangeNothing() async throws {
        try await simulated { world in
            let item = world.item("film", Script(presentation: .film))
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            let engine = try #require(world.engine(0))
            let audio = try #require(item.mediaSelectionGroup(for: .audible))
            await engine.updateSnapshot { $0.selection[.audio] = audio.options[0] }
            item.mediaSelectionRules.audioLanguages = ["en"]
            try await world.sleep(.seconds(1))
            #expect(engine.log == ["2: update any"])
            item.mediaSelectionRules.audioLanguages = ["de"]
            try await world.sleep(.seconds(1))
            #expect(engine.log.last == "3: select Deutsch AUDIO" && player.rate == 0)
        }
    }

    // MARK: Tracks

    @Test func tracksThatShareTheirSegmentsAreNotRendered() async throws {
        try await simulated { world in
            let item = world.item("film")
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            let engine = try #require(world.engine(0))
            await engine.updateSnapshot { playback in
                playback.tracks = [PlaybackTrack(id: 1, mediaType: .video), PlaybackTrack(id: 2, mediaType: .audio)]
            }
            let fixed = item.tracks
            #expect(fixed.map(\.canBeDisabled) == [false, false])
            #expect(item.setEnabled(true, fixed[0]))
            #expect(!item.setEnabled(false, fixed[1]))
            await engine.updateSnapshot { $0.abilities.supportsDisablingTracks = true }
            let tracks = item.tracks
            #expect(tracks.map(\.canBeDisabled) == [true, true])
            for track in tracks { #expect(item.setEnabled(false, track)) }
            #expect(item.tracks.map(\.isEnabled) == [false, false])
            #expect(item.state.configuration.disabledMediaTypes == [.video, .audio])
            #expect(item.setEnabled(true, tracks[0]) && item.tracks.map(\.isEnabled) == [true, false])
            try await world.sleep(.seconds(1))
            #expect(engine.log == ["2: video off", "2: audio off", "2: video on"])
            // A track that the item no longer has is not enabled.
            await engine.updateSnapshot { $0.tracks.removeLast() }
            #expect(!item.setEnabled(true, tracks[1]) && player.rate == 0)
        }
    }

    @Test func aTrackThatIsNotRenderedIsEnabledAgainAfterASelection() async throws {
        try await simulated { world in
            let item = world.item("film", Script(presentation: .film))
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            let engine = try #require(world.engine(0))
            let audio = try #require(item.mediaSelectionGroup(for: .audible))
            await engine.updateSnapshot { playback in
                playback.tracks = [PlaybackTrack(id: 1, mediaType: .video), PlaybackTrack(id: 2, mediaType: .audio)]
                playback.abilities.supportsDisablingTracks = true
            }
            #expect(item.setEnabled(false, item.tracks[1]) && item.tracks.map(\.isEnabled) == [true, false])
            // Now the audio has segments of its own.
            await engine.updateSnapshot { $0.selection[.audio] = audio.options[0] }
            #expect(item.setEnabled(true, item.tracks[1]) && item.tracks.map(\.isEnabled) == [true, true])
            try await world.sleep(.seconds(1))
            #expect(engine.log == ["2: audio off", "2: audio on"] && player.rate == 0)
        }
    }

    // MARK: Sessions

    private static let session = PlaybackSession(id: "s", start: .zero, startDate: .zero)

    @Test func anEndedSessionIsNotAttached() {
        let (ended, running) = (ItemSession(), ItemSession())
        ended.end(at: .zero)
        var core = ItemCore(time: SystemTimeSource())
        core.attach(ended, time: SystemTimeSource(), Self.session)
        #expect(core.session == nil && core.recorder == nil)
        core.state.configuration.options.startTime = MediaTime(seconds: 4)
        core.attach(running, time: SystemTimeSource(), Self.session)
        #expect(core.session === running && core.position == MediaTime(seconds: 4))
    }

    @Test func reportsOfAnotherSessionChangeNothing() {
        let (own, other) = (ItemSession(), ItemSession())
        var core = ItemCore(time: SystemTimeSource())
        core.attach(own, time: SystemTimeSource(), Self.session)
        var snapshot = PlaybackSnapshot()
        snapshot.status = .readyToPlay
        let event = PlaybackEvent(time: .zero, mediaTime: nil, kind: .stalled)
        var events: [ItemCore.EventRecord] = []
        for output in [PlaybackEngineOutput.snapshot(snapshot), .event(event)] {
            let hasCommands = core.process(output, from: other, events: &events)
            #expect(!hasCommands)
        }
        #expect(core.state.status == .unknown && events.isEmpty)
        let hasCommands = core.process(.event(event), from: own, events: &events)
        #expect(!hasCommands && !events.isEmpty)
    }

    @Test func sequencesOfAnItemEndWithIt() async throws {
        var item: PlayerItem? = makeItem()
        let notifications = try #require(item?.notifications)
        item = nil
        var count = 0
        for await _ in notifications { count += 1 }
        #expect(count == 0)
    }

    // MARK: Notifications

    @Test func aChangeOfTheRecommendedOffsetIsPostedOnce() async throws {
        try await simulated { world in
            let item = world.item("live", Script(duration: nil))
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            let engine = try #require(world.engine(0))
            let notifications = try await listening(to: item.notifications) { _ in
                for seconds in [18, 18, 12] as [Int64] {
                    await engine.updateSnapshot { $0.recommendedTimeOffsetFromLive = MediaTime(seconds: seconds) }
                }
                try await world.sleep(.milliseconds(1))
            }
            #expect(notifications.count { $0 == .recommendedTimeOffsetFromLiveDidChange } == 2 && player.rate == 0)
        }
    }

    @Test func aStepByNoFramesIsNoStepForward() async throws {
        try await simulated { world in
            let item = world.item("a")
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            await world.engine(0)?.updateSnapshot { $0.abilities.supportsStepping = true }
            item.modify { $0.state.configuration.requiresLinearPlayback = true }
            item.step(byCount: 0)
            item.step(byCount: -1)
            try await world.sleep(.seconds(1))
            #expect(world.engine(0)?.log == ["2: step -1"] && player.rate == 0)
        }
    }

    @Test func measurementsAtOneDateStayInTheOrderOfTheirItems() async {
        let hubs = [Hub<Int, MetricEvent>(0), Hub<Int, MetricEvent>(0)]
        let sources = hubs.map { EventUpdates<MetricEvent>($0, dropped: { _ in nil }, { $0 }) }
        let merged = sources[0].chronologicalMerge(with: sources[1])
        let session = PlaybackSession(id: "s", start: .zero, startDate: .seconds(1_000))
        for number in [0, 1] {
            let target = MediaTime(seconds: Int64(number))
            let event = PlaybackEvent(time: .seconds(1), mediaTime: target, kind: .seekStarted(to: target))
            let summary = ItemEventRecorder(session).summary(at: .zero, nil)
            guard let metric = MetricEvent(event, session: session, summary: summary) else { continue }
            hubs[number].update { _, events in events.append(metric) }
        }
        for hub in hubs { hub.finish() }
        var targets: [MediaTime?] = []
        for await event in merged { targets.append(event.mediaTime) }
        #expect(targets == [.zero, MediaTime(seconds: 1)])
    }
}
