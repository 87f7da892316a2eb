import HLSPlaylist
import MediaTiming
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the small state machines for the playhead, and of the values on which the tracks depend.
@Suite struct PlaybackMomentTests {
    // MARK: Moments

    private func moment(
        _ desiredRate: Double,
        isPositioned: Bool = true,
        isPausedAtStart: Bool = false,
        isSeeking: Bool = false,
        at now: Duration = .zero,
        rate: Double = 0
    ) -> PlaybackMoment {
        PlaybackMoment(
            now: now,
            position: .zero,
            isPositioned: isPositioned,
            seek: isSeeking ? PlaybackMoment.Seek(target: .zero, isStart: false) : nil,
            desiredRate: desiredRate,
            isPausedAtStart: isPausedAtStart,
            rate: rate,
            timebase: Timebase(mediaTime: .zero, time: .zero, rate: rate),
            limits: PlaybackMoment.Limits(StreamingOptions())
        )
    }

    @Test func mediaIsFetchedInReverseOrderExceptDuringASeek() {
        #expect(moment(-1).isBackward)
        #expect(!moment(0).isBackward && !moment(1).isBackward)
        #expect(moment(0, isPausedAtStart: true).isBackward)
        #expect(!moment(-1, isSeeking: true).isBackward)
        #expect(!moment(0, isPausedAtStart: true, isSeeking: true).isBackward)
    }

    @Test func aMomentIsSettledWithAPositionAndWithoutASeek() {
        #expect(moment(1).isSettled)
        #expect(!moment(1, isPositioned: false).isSettled && !moment(1, isSeeking: true).isSettled)
    }

    @Test func anotherRateEndsThePauseAtTheStart() {
        let forward = moment(0, isPausedAtStart: true).requesting(rate: 1)
        #expect(forward.desiredRate == 1 && !forward.isPausedAtStart && !forward.isBackward)
        #expect(moment(0).requesting(rate: -1).isBackward)
    }

    @Test func timesThatArePassedAreAMillisecondAhead() {
        let moving = moment(1, at: .seconds(5), rate: 1)
        #expect(moving.time(reaching: MediaTime(seconds: 8)) == .seconds(8))
        #expect(moving.time(reaching: MediaTime(seconds: 5)) == .milliseconds(5_001))
        #expect(moving.time(reaching: MediaTime(seconds: 2)) == .milliseconds(5_001))
        #expect(moment(1, at: .seconds(5)).time(reaching: MediaTime(seconds: 8)) == nil)
    }

    @Test func theLastFrameIsShownAtTheEnd() throws {
        let finished = PresentationTimeline(try LiveWindowText(tail: ["#EXT-X-ENDLIST"]).playlist)
        #expect(PlaybackMoment.mediaTime(shownAt: MediaTime(seconds: 30), in: finished) == seconds("23.95"))
        #expect(PlaybackMoment.mediaTime(shownAt: seconds("23.96"), in: finished) == seconds("23.95"))
        #expect(PlaybackMoment.mediaTime(shownAt: seconds("23.9"), in: finished) == seconds("23.9"))
        let live = PresentationTimeline(try LiveWindowText().playlist)
        #expect(PlaybackMoment.mediaTime(shownAt: MediaTime(seconds: 30), in: live) == MediaTime(seconds: 30))
    }

    @Test func thirtySecondsAreBufferedUnlessTheApplicationAsksForOtherwise() {
        var options = StreamingOptions()
        #expect(PlaybackMoment.Limits(options).bufferDuration == MediaTime(seconds: 30))
        options.preferredForwardBufferDuration = .seconds(-1)
        #expect(PlaybackMoment.Limits(options).bufferDuration == MediaTime(seconds: 30))
        options.preferredForwardBufferDuration = .milliseconds(1)
        #expect(PlaybackMoment.Limits(options).bufferDuration == seconds("0.001"))
    }

    @Test(arguments: [(0, true), (19, true), (20, false), (21, false)])
    func lessThanTwentyMillisecondsAreAnEmptyBuffer(milliseconds: Int, isEmpty: Bool) {
        var state = BufferState()
        state.bufferedDuration = .milliseconds(milliseconds)
        #expect(state.isEmpty == isEmpty)
        state.reachesEnd = true
        #expect(!state.isEmpty)
    }

    // MARK: Waits

    @Test func aWaitIsDescribedInWholeSeconds() {
        let response = PlaybackWait.response(ResourceAddress("https://example.com/a/2.ts"), began: .seconds(10))
        #expect(response.text(at: .milliseconds(22_900)) == "12 s for 2.ts")
        #expect(response.text(at: .seconds(5)) == "0 s for 2.ts")
        #expect(response.lastingText(at: .milliseconds(10_999)) == nil)
        #expect(response.lastingText(at: .seconds(11)) == "1 s for 2.ts")
        let retry = PlaybackWait.retry(at: .seconds(5))
        #expect(retry.text(at: .milliseconds(2_500)) == "next try in 3 s")
        #expect(retry.text(at: .seconds(2)) == "next try in 3 s")
        #expect(retry.text(at: .seconds(5)) == "next try in 1 s")
        #expect(retry.text(at: .seconds(9)) == "next try in 1 s")
        #expect(retry.lastingText(at: .seconds(5)) == "next try in 1 s")
        let address = ResourceAddress("https://example.com/a/live.m3u8")
        let update = PlaybackWait.update(address, since: .seconds(5), failure: nil)
        #expect(update.text(at: .seconds(12)) == "7 s for new segments in live.m3u8")
        #expect(update.lastingText(at: .seconds(12)) == update.text(at: .seconds(12)))
        let failing = PlaybackWait.update(address, since: .seconds(5), failure: "the server responded with 503")
        #expect(failing.text(at: .seconds(4)) == "0 s for new segments in live.m3u8 (the server responded with 503)")
    }

    // MARK: Playhead

    @Test func thePlayheadStaysAtTheEndUntilItLeavesIt() {
        var playhead = Playhead(start: .zero, waitsToMinimizeStalls: true)
        #expect(!playhead.isPositioned)
        playhead.leaveEnd()
        #expect(!playhead.isPositioned)
        playhead.observation.timebase = Timebase(mediaTime: MediaTime(seconds: 3), time: .zero, rate: -1)
        playhead.land()
        #expect(playhead.isPositioned && playhead.end == nil)
        #expect(playhead.position(at: .seconds(1)) == MediaTime(seconds: 2))
        #expect(playhead.position(at: .seconds(9)) == .zero)
        playhead.reachEnd(MediaTime(seconds: 10))
        #expect(playhead.end == MediaTime(seconds: 10))
        #expect(playhead.isPositioned && playhead.position(at: .seconds(1)) == MediaTime(seconds: 10))
        playhead.leaveEnd()
        #expect(playhead.isPositioned && playhead.end == nil)
    }

    @Test func aScheduledStartIsAnnouncedUntilTheAnnouncementIsWithdrawn() {
        let time = Duration.seconds(4)
        for start in [ScheduledStart.requested(time, isAnnounced: true), .given(time, isAnnounced: true)] {
            #expect(start.announcedTime == time)
            var withdrawn = start
            withdrawn.withdrawAnnouncement()
            #expect(withdrawn.announcedTime == nil && withdrawn != start && withdrawn != ScheduledStart.none)
        }
        var none = ScheduledStart.none
        none.withdrawAnnouncement()
        #expect(none == ScheduledStart.none && none.announcedTime == nil)
    }

    // MARK: Seeks

    private static func seek(_ id: Int, _ origin: PendingSeek.Origin = .command(waiter: 1)) -> PendingSeek {
        PendingSeek(
            id: id,
            target: MediaTime(seconds: 5),
            tolerance: .exact,
            origin: origin,
            isInBuffer: false,
            isStart: false
        )
    }

    @Test func aSeekMovesThePlayheadOnce() {
        var state = SeekState()
        #expect(state.moveCommand() == nil && state.pending == nil)
        let id = state.nextID()
        state.begin(Self.seek(id))
        #expect(state.pending?.id == id && state.moved(id) == nil)
        state.move(to: MediaTime(seconds: 6))
        #expect(state.moveCommand() == .seek(id, to: MediaTime(seconds: 6), .exact))
        #expect(state.moveCommand() == nil)
        // The pipeline already performs it.
        state.move(to: MediaTime(seconds: 7))
        #expect(state.pending?.target == MediaTime(seconds: 6))
        #expect(state.moved(id)?.id == id && state.moved(id + 1) == nil)
        let later = state.nextID()
        #expect(later != id)
        state.begin(Self.seek(later))
        #expect(state.moved(id) == nil)
        state.end()
        #expect(state.pending == nil && state.moveCommand() == nil)
    }

    @Test(
        arguments: [
            (.start, false), (.refresh, false), (.jump, true), (.command(waiter: 1), true), (.synchronizedStart, true),
        ] as [(PendingSeek.Origin, Bool)]
    )
    func seeksOfTheEngineItselfAreNotReported(origin: PendingSeek.Origin, isReported: Bool) {
        #expect(Self.seek(1, origin).isReported == isReported)
    }

    @Test func aSynchronizedStartToleratesLessThanTwentyMilliseconds() {
        let request = SynchronizedStart.Request(rate: 2, target: MediaTime(seconds: 10), time: .seconds(5), waiter: 3)
        var start = SynchronizedStart.idle
        #expect(start.begin(request, at: .seconds(1)) == .seek(to: MediaTime(seconds: 10)))
        #expect(start.request == request)
        #expect(start.seekFinished(at: .milliseconds(5_019)) == .start(request))
        #expect(start.seekFinished(at: .milliseconds(5_019)) == nil)
        _ = start.begin(request, at: .seconds(1))
        #expect(start.seekFinished(at: .milliseconds(5_020)) == .seek(to: seconds("10.04")))
        #expect(start.seekFinished(at: .milliseconds(5_039)) == .start(request))
        _ = start.begin(request, at: .seconds(1))
        #expect(start.cancel() == 3)
        #expect(start.cancel() == nil && start == .idle)
    }

    // MARK: Variants

    /// The switches that were reported: `begin`, `true` or `false`, the bit rates, the cause and the buffer level.
    private func switches(_ sink: inout EffectSink) -> [String] {
        func text(_ word: String, _ change: VariantSwitch) -> String {
            let from = change.from.map { "\($0.peakBitRate.bitsPerSecond)" } ?? "-"
            let level = change.evidence.bufferLevel.components.seconds
            return "\(word) \(from) \(change.to.peakBitRate.bitsPerSecond) \(change.cause) \(level)"
        }
        return sink.takeEffects(with: nil)
            .compactMap { effect in
                guard case .report(let event) = effect else { return nil }
                switch event.kind {
                case .variantSwitchStarted(let change): return text("begin", change)
                case .variantSwitched(let change, let succeeded): return text("\(succeeded)", change)
                default: return nil
                }
            }
    }

    @Test func aSwitchEndsWhenItsVariantIsPlayedOrFails() throws {
        let lines = (1...3).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0)\nv\($0).m3u8" }.joined(separator: "\n")
        let variants = Presentation(try multivariant("#EXTM3U\n\(lines)\n")).variants
        try #require(variants.count == 3)
        var switches = VariantSwitches()
        var sink = EffectSink(now: .zero)
        func evidence(_ second: Int) -> VariantSwitch.Evidence {
            VariantSwitch.Evidence(throughput: nil, bufferLevel: .seconds(second))
        }
        func begin(_ index: Int, _ cause: String, _ second: Int) {
            switches.begin(
                to: variants[index],
                cause: cause,
                evidence: evidence(second),
                loaded: [],
                renditions: [:],
                &sink
            )
        }
        func play(_ index: Int) {
            let variant = VariantDescription(variants[index])
            switches.play(variant, evidence: evidence(9), loaded: [], renditions: nil, &sink)
        }
        func fail(_ index: Int) {
            let source = StreamSource(variants[index], location: 0, address: variants[index].address)
            switches.fail(to: source, &sink)
        }
        play(0)
        #expect(self.switches(&sink) == ["true - 1 start 9"])
        begin(1, "a", 1)
        begin(2, "b", 2)
        #expect(self.switches(&sink) == ["begin 1 2 a 1", "begin 2 3 b 2"])
        // The earlier switch was replaced before its variant was played.
        play(1)
        #expect(self.switches(&sink) == ["true 1 2 played 9"])
        play(2)
        #expect(self.switches(&sink) == ["true 2 3 b 2"])
        #expect(switches.playedVariant == VariantDescription(variants[2]))
        fail(2)
        #expect(self.switches(&sink) == [])
        begin(0, "c", 3)
        fail(1)
        fail(0)
        fail(0)
        #expect(self.switches(&sink) == ["begin 3 1 c 3", "false 3 1 c 3"])
    }

    // MARK: Output

    @Test func onlySettingsThatChangedAreSentToThePipeline() {
        var output = OutputSettings()
        var options = StreamingOptions()
        var selection = MediaSelection()
        #expect(output.changes(options, selection) == [.setAudioSettings(AudioSettings())])
        #expect(output.changes(options, selection) == [])
        options.audioSettings.isMuted = true
        #expect(output.changes(options, selection) == [.setAudioSettings(options.audioSettings)])
        func option(_ track: Int, _ type: Rendition.MediaType) -> MediaSelectionOption {
            MediaSelectionOption(.id(track), type: type, name: "\(track)", language: nil, isDefault: false)
        }
        selection[.audio] = option(2, .audio)
        selection[.subtitles] = option(3, .subtitles)
        #expect(
            output.changes(options, selection) == [.selectTrack(.audio, .id(2)), .selectTrack(.subtitles, .id(3))]
        )
        selection[.subtitles] = nil
        #expect(output.changes(options, selection) == [.selectTrack(.subtitles, nil)])
        #expect(output.changes(options, selection) == [])
    }
}
