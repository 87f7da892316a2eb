import HLSPlaylist
import MediaTiming
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

/// Tests of the values that are derived from the state of an item.
@Suite struct ItemValueTests {
    private static func snapshot(_ change: (inout PlaybackSnapshot) -> Void = { _ in }) -> PlaybackSnapshot {
        var snapshot = PlaybackSnapshot()
        snapshot.status = .readyToPlay
        change(&snapshot)
        return snapshot
    }

    private static func state(_ change: (inout PlaybackSnapshot) -> Void = { _ in }) -> PlayerItem.State {
        var state = PlayerItem.State()
        state.playback = snapshot(change)
        return state
    }

    private static func time(_ seconds: Double) -> MediaTime { MediaTime(approximating: seconds) ?? .zero }

    private static func range(_ start: Double, _ end: Double) -> MediaTimeRange {
        MediaTimeRange(start: time(start), end: time(end))
    }

    // MARK: Abilities

    @Test(
        arguments: [
            (0, true, true), (1, true, true), (32, true, true), (32.001, false, false), (-1, true, false),
            (-0.5, true, false), (-32, true, false), (-32.001, false, false), (.nan, false, false),
            (-.infinity, false, false),
        ] as [(Double, Bool, Bool)]
    )
    func ratesArePermittedByTheAbilities(rate: Double, inReverse: Bool, forward: Bool) {
        let both = Self.snapshot { $0.abilities.supportsReversePlayback = true }
        #expect(PlaybackAbilities(both).permits(rate) == inReverse)
        #expect(PlaybackAbilities(Self.snapshot()).permits(rate) == forward)
    }

    @Test func anItemHasAbilitiesOnlyWhenItIsReady() {
        let all = MediaPipelineCapabilities(supportsReversePlayback: true, supportsStepping: true)
        let ready = PlaybackAbilities(Self.snapshot { $0.abilities = all })
        #expect(ready.canPlayReverse && ready.canPlayFastReverse && ready.canPlaySlowReverse)
        #expect(ready.canPlayFastForward && ready.canPlaySlowForward && ready.canStepForward && ready.canStepBackward)
        let unknown = PlaybackAbilities(
            Self.snapshot {
                $0.abilities = all
                $0.status = .unknown
            }
        )
        #expect(!unknown.canPlayReverse && !unknown.canPlayFastForward && !unknown.canPlaySlowForward)
        #expect(!unknown.canStepForward && !unknown.canStepBackward && unknown.permits(2) && !unknown.permits(-1))
        let plain = PlaybackAbilities(Self.snapshot())
        #expect(plain.canPlayFastForward && !plain.canStepForward && !plain.canPlayReverse)
    }

    // MARK: Buffer

    private func isLoadedToEnd(
        _ loaded: [MediaTimeRange],
        leftOut: [MediaTimeRange] = [],
        _ change: (inout PlaybackSnapshot) -> Void = { _ in }
    ) -> Bool {
        let snapshot = Self.snapshot {
            $0.duration = MediaTime(seconds: 10)
            for range in loaded { $0.loadedTimeRanges.insert(range) }
            for range in leftOut { $0.leftOutTimeRanges.insert(range) }
            change(&$0)
        }
        return snapshot.isLoadedToEnd
    }

    @Test func anItemIsLoadedUpToASecondBeforeItsEnd() {
        #expect(isLoadedToEnd([Self.range(0, 9)]) && !isLoadedToEnd([Self.range(0, 8.99)]))
        #expect(isLoadedToEnd([Self.range(1, 10)]) && !isLoadedToEnd([Self.range(1.01, 10)]))
        #expect(!isLoadedToEnd([]) && isLoadedToEnd([]) { $0.hasPlayedToEnd = true })
        #expect(!isLoadedToEnd([Self.range(0, 10)]) { $0.status = .unknown })
        #expect(!isLoadedToEnd([Self.range(0, 10)]) { $0.playbackType = .live })
        #expect(!isLoadedToEnd([Self.range(0, 10)]) { $0.duration = nil })
    }

    @Test func whatIsLeftOutNeedsNotBeLoaded() {
        #expect(!isLoadedToEnd([Self.range(0, 4), Self.range(6, 10)]))
        #expect(isLoadedToEnd([Self.range(0, 4), Self.range(6, 10)], leftOut: [Self.range(4, 6)]))
    }

    @Test func mediaBeforeThePlayheadNeedsNotBeLoaded() {
        #expect(!isLoadedToEnd([Self.range(5, 10)]))
        #expect(isLoadedToEnd([Self.range(5, 10)]) { $0.position = Self.time(5) })
        #expect(isLoadedToEnd([Self.range(5.5, 10)]) { $0.position = Self.time(5) })
        #expect(isLoadedToEnd([Self.range(5, 10)]) { $0.timebase = Timebase(mediaTime: Self.time(6)) })
        #expect(!isLoadedToEnd([Self.range(0, 4), Self.range(7, 10)]) { $0.position = Self.time(5) })
    }

    // MARK: Live edge

    @Test func theDistanceFromTheLiveEdgeIsNotNegative() {
        let live = Self.state {
            $0.playbackType = .live
            $0.liveEdge = Timebase(mediaTime: Self.time(24), rate: 1)
            $0.timebase = Timebase(mediaTime: Self.time(10), rate: 2)
        }
        #expect(live.timeOffsetFromLive(at: .zero) == Self.time(14))
        #expect(live.timeOffsetFromLive(at: .seconds(4)) == Self.time(10))
        #expect(live.timeOffsetFromLive(at: .seconds(20)) == .zero)
        let film = Self.state {
            $0.playbackType = .vod
            $0.liveEdge = Timebase(mediaTime: Self.time(24), rate: 1)
        }
        #expect(film.timeOffsetFromLive(at: .zero) == nil)
        #expect(Self.state { $0.playbackType = .live }.timeOffsetFromLive(at: .zero) == nil)
    }

    // MARK: Quality

    private static func variant(_ bitRate: Int64, width: Int? = nil, height: Int? = nil) -> VariantDescription {
        VariantDescription(
            id: "v",
            address: "v",
            peakBitRate: BitRate(bitsPerSecond: bitRate),
            width: width,
            height: height
        )
    }

    @Test func theSizeIsThatOfTheFramesOrOfTheVariant() {
        let declared = Self.state { $0.playedVariant = Self.variant(1, width: 640, height: 360) }
        #expect(declared.presentationSize == Resolution(width: 640, height: 360))
        let decoded = Self.state {
            $0.playedVariant = Self.variant(1, width: 640, height: 360)
            $0.videoSize = VideoSize(width: 720, height: 576)
        }
        #expect(decoded.presentationSize == Resolution(width: 720, height: 576))
        #expect(Self.state { $0.playedVariant = Self.variant(1, width: 640) }.presentationSize == nil)
        #expect(Self.state { $0.playedVariant = Self.variant(1, height: 360) }.presentationSize == nil)
        #expect(Self.state().presentationSize == nil)
    }

    @Test func theBitRateIsMeasuredIfNoneIsDeclared() {
        let measured = BitRate(bitsPerSecond: 700_000)
        func quality(_ declared: Int64?) -> PlayedQuality {
            PlayedQuality(
                Self.state {
                    $0.playedVariant = declared.map { Self.variant($0, width: 640, height: 360) }
                    $0.bufferedBitRate = measured
                }
            )
        }
        let declared = quality(1)
        #expect(!declared.isMeasured && declared.bitRate == BitRate(bitsPerSecond: 1))
        #expect(declared.parts == ["640x360", "\(BitRate(bitsPerSecond: 1))"])
        #expect(quality(0).isMeasured && quality(0).bitRate == measured)
        #expect(quality(nil).parts == ["\(measured) measured"])
    }

    @Test func mediaWithoutVideoIsAudioOnly() {
        func isAudioOnly(_ types: [MediaType], size: VideoSize? = nil) -> Bool {
            Self.state {
                $0.tracks = types.enumerated().map { PlaybackTrack(id: $0, mediaType: $1) }
                $0.videoSize = size
            }.isAudioOnly
        }
        #expect(isAudioOnly([.audio]) && isAudioOnly([.audio, .subtitles]))
        #expect(!isAudioOnly([]) && !isAudioOnly([.subtitles]))
        #expect(!isAudioOnly([.audio, .video]) && !isAudioOnly([.muxed, .audio]))
        #expect(!isAudioOnly([.audio], size: VideoSize(width: 1, height: 1)))
    }

    // MARK: Selection

    @Test func choicesThatTheEngineHasNotAppliedAreSelected() throws {
        let film = Presentation.film
        let options = try #require(film.group(.audio)?.options)
        var configuration = ItemConfiguration()
        var playback = PlaybackSnapshot()
        playback.selection[.audio] = options[0]
        configuration.choices[.audio] = .option(options[1])
        // Before the presentation is known, any option may be one of it.
        #expect(configuration.selection(over: playback)[.audio] == options[1])
        playback.presentation = film
        #expect(configuration.selection(over: playback)[.audio] == options[1])
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"
        playback.presentation = Presentation(
            try MultivariantPlaylist(parsing: Array(text.utf8), context: PlaylistContext(address: nil))
        )
        #expect(configuration.selection(over: playback)[.audio] == options[0])
        configuration.choices[.audio] = ItemConfiguration.Choice.none
        #expect(configuration.selection(over: playback)[.audio] == nil)
    }

    @Test func aNewEngineReceivesChoicesAndDisabledTracks() throws {
        let film = Presentation.film
        let audio = try #require(film.group(.audio)?.options.last)
        let subtitles = try #require(film.group(.subtitles)?.options.first)
        var configuration = ItemConfiguration()
        #expect(configuration.commands.isEmpty)
        configuration.choices = [.audio: .option(audio), .subtitles: .option(subtitles)]
        configuration.disabledMediaTypes = [.video]
        configuration.disabledTracks[.audio] = .init(track: PlaybackTrack(id: 2, mediaType: .audio), option: audio)
        let commands = configuration.commands.map { command in
            switch command {
            case .select(let option, let type): "\(type.rawValue) \(option?.name ?? "-")"
            case .setEnabled(let type, let isEnabled): "\(type) \(isEnabled)"
            case .setRate, .seek, .step, .cancelSeeks, .update: "another command"
            }
        }
        #expect(commands == ["AUDIO -", "SUBTITLES \(subtitles.name)", "video false"])
        #expect(configuration.selection(over: PlaybackSnapshot())[.audio] == nil)
    }

    // MARK: Linear playback

    @Test func stepsForwardAreRefusedWhileThePlayheadMayNotBeMovedForward() async throws {
        try await simulated { world in
            let item = world.item("a")
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            let engine = try #require(world.engine(0))
            item.step(byCount: 1)
            item.step(byCount: -1)
            await engine.updateSnapshot { $0.abilities.supportsStepping = true }
            item.step(byCount: 2)
            item.step(byCount: -2)
            item.modify { $0.state.configuration.requiresLinearPlayback = true }
            item.step(byCount: 3)
            item.step(byCount: -3)
            try await world.sleep(.seconds(1))
            #expect(engine.log == ["2: step 2", "2: step -2", "2: step -3"])
            #expect(player.rate == 0)
        }
    }

    @Test func seeksForwardAreRefusedWhileThePlayheadMayNotBeMovedForward() async throws {
        try await simulated { world in
            let item = world.item("a")
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            await player.seek(to: MediaTime(seconds: 5))
            item.modify { $0.state.configuration.requiresLinearPlayback = true }
            let forward = await player.seek(to: MediaTime(seconds: 6))
            #expect(forward == SeekResult(isFinished: false, position: MediaTime(seconds: 5)))
            let date = try #require(ProgramDateTime("2026-01-01T00:00:00Z"))
            #expect(!(await player.seek(to: date)).isFinished)
            #expect((await player.seek(to: MediaTime(seconds: 5))).isFinished)
            #expect((await player.seek(to: MediaTime(seconds: 1))).isFinished)
            #expect(world.engine(0)?.log == ["2: seek 5", "2: seek 5", "2: seek 1"])
        }
    }

    @Test func aSeekToADateBeforePlaybackSetsTheStart() async throws {
        try await simulated { world in
            let item = world.item("a")
            let date = try #require(ProgramDateTime("2026-01-01T00:00:00Z"))
            #expect((await item.seek(to: MediaTime(seconds: -3))).position == .zero)
            #expect(!(await item.seek(to: date)).isFinished)
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(1))
            let options = try #require(world.engine(0)?.request.options)
            #expect(options.startDate == date && options.startTime == nil)
            #expect(player.rate == 0)
        }
    }

    // MARK: Observers

    @Test func observersReceiveEventsUntilTheyAreRemoved() async throws {
        try await simulated { world in
            let item = world.item("a")
            let (first, second) = (Collected<String>(), Collected<String>())
            let observer = item.addEventObserver { event, session in first.add("\(event.kind.name) \(session.id)") }
            item.addEventObserver { event, _ in second.add(event.kind.name) }
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            let engine = try #require(world.engine(0))
            await engine.emit(.stalled)
            item.removeEventObserver(observer)
            await engine.emit(.stalled)
            let name = PlaybackEvent.Kind.stalled.name
            #expect(first.all.count { $0 == "\(name) session 0" } == 1)
            #expect(second.all.count { $0 == name } == 2)
            #expect(player.rate == 0)
        }
    }
}
