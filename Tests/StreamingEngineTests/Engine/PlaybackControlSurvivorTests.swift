import HLSPlaylist
import MediaTiming
import PlaybackReporting
import Testing

@testable import MediaTransport
@testable import StreamingEngine

/// Tests of the effects of rates and steps on the tracks and on the state of the buffer.
@Suite struct PlaybackControlSurvivorTests {
    /// Returns a control with the given rate, of a pipeline that may support reverse playback.
    private static func control(rate: Double = 0, supportsReversePlayback: Bool = true) -> PlaybackControl {
        var control = PlaybackControl(options: StreamingOptions(), at: .zero)
        control.playhead.observation.abilities = MediaPipelineCapabilities(
            supportsReversePlayback: supportsReversePlayback
        )
        control.setRate(rate, .setRateCalled, atOnce: false)
        return control
    }

    // MARK: Rates

    @Test(
        arguments: [
            (0, 1, true), (0, 0.5, true), (0, 2, true), (0, -1, true), (0, 0, false), (1, 0, false), (1, 1, false),
            (1, 0.5, false), (0.5, 2, false), (0.5, -0.5, true), (-1, 1, true), (-0.5, 0.5, true), (-2, -0.5, false),
            (-1, 0, false),
        ] as [(Double, Double, Bool)]
    )
    func failedTracksAreTriedAgainWhenPlaybackBeginsOrTurns(former: Double, rate: Double, isRetried: Bool) {
        var control = Self.control(rate: former)
        control.plan.tracks.main.failures.terminalError = StreamingError(.damaged, "no")
        control.setRate(rate, .setRateCalled, atOnce: false)
        #expect((control.plan.tracks.main.failures.terminalError == nil) == isRetried)
        #expect(control.playhead.machine.desiredRate == rate)
    }

    @Test(
        arguments: [
            (-1, true, -1), (-1, false, 2), (0, false, 0), (0.5, false, 0.5), (.nan, true, 2), (.infinity, true, 2),
        ] as [(Double, Bool, Double)]
    )
    func aRateThatThePipelineDoesNotSupportIsIgnored(rate: Double, isReversible: Bool, desired: Double) {
        var control = Self.control(rate: 2, supportsReversePlayback: isReversible)
        control.setRate(rate, .setRateCalled, atOnce: false)
        #expect(control.playhead.machine.desiredRate == desired)
    }

    // MARK: Steps

    /// The playlist ends at 24 s, of which 8 s are loaded.
    private static func positioned(at position: String, isPositioned: Bool = true) throws -> PlaybackControl {
        var control = control()
        let presentation = Presentation(try multivariant("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"))
        let variant = try #require(presentation.variants.first)
        let source = StreamSource(variant, location: 0, address: variant.address)
        control.plan.tracks.main.source = source
        control.plan.tracks.main.playlist = LoadedPlaylist(
            source: source,
            timeline: PresentationTimeline(try LiveWindowText(tail: ["#EXT-X-ENDLIST"]).playlist),
            requestStart: .zero,
            lastUpdate: .zero
        )
        control.plan.tracks.main.buffer.insert(
            StreamBuffer.Entry(
                range: MediaTimeRange(start: .zero, end: seconds("8")),
                type: .video,
                byteCount: 1,
                variant: nil
            )
        )
        control.playhead.observation.timebase = Timebase(mediaTime: seconds(position))
        if isPositioned { control.playhead.land() }
        _ = control.playhead.machine.becomeReady(at: .zero)
        return control
    }

    /// Returns the results of the callers that were resumed, as text.
    private func results(_ control: inout PlaybackControl) -> [String] {
        control.sink.takeEffects(with: nil).compactMap { effect in
            guard case .resume(let waiter, let result) = effect else { return nil }
            return "\(waiter) \(result.isFinished) \(result.position.seconds)"
        }
    }

    @Test func aStepChangesTheStateOfTheBuffer() throws {
        var control = try Self.positioned(at: "5")
        _ = (control.sink.takeEffects(with: nil), control.sink.takeChange())
        #expect(control.playhead.machine.bufferState.bufferedDuration == .zero)
        control.stepped(seconds("5"), 3)
        #expect(control.playhead.machine.bufferState.bufferedDuration == .seconds(3))
        let (isChanged, isSnapshotRequested) = (control.sink.takeChange(), control.sink.isSnapshotRequested)
        let resumed = results(&control)
        #expect(isChanged && isSnapshotRequested && resumed == ["3 true 5.0"])
    }

    @Test func aStepWithoutAFrameChangesNothing() throws {
        var control = try Self.positioned(at: "5")
        _ = control.sink.takeEffects(with: nil)
        control.stepped(nil, 4)
        #expect(control.playhead.machine.bufferState.bufferedDuration == .zero && !control.sink.isSnapshotRequested)
        let resumed = results(&control)
        #expect(resumed == ["4 false 5.0"])
    }

    @Test(arguments: [("23.96", true), ("24", false)])
    func onlyAStepBeforeTheEndLeavesTheEnd(landed: String, leaves: Bool) throws {
        var control = try Self.positioned(at: "24")
        _ = control.playhead.machine.reachedEnd(pausing: true, at: .zero)
        control.playhead.reachEnd(seconds("24"))
        control.stepped(seconds(landed), 5)
        #expect((control.playhead.end == nil) == leaves && control.playhead.machine.hasEnded == !leaves)
    }

    // MARK: Seeks

    private static let item = ItemFacts(playbackType: .vod, isFile: false, hasMedia: true)

    /// Begins a seek for the caller with the number 3, and forgets earlier effects.
    private func seek(_ control: inout PlaybackControl, to target: Int64) {
        _ = control.sink.takeEffects(with: nil)
        control.beginSeek(to: MediaTime(seconds: target), tolerance: .exact, origin: .command(waiter: 3))
    }

    @Test(arguments: [(2, 2, true), (99, 24, false), (-5, 0, true), (10, 10, false)] as [(Int64, Int64, Bool)])
    func aSeekGoesToTheNearestPosition(asked: Int64, target: Int64, isInBuffer: Bool) throws {
        var control = try Self.positioned(at: "5")
        seek(&control, to: asked)
        let pending = try #require(control.seek.pending)
        #expect(pending.target == MediaTime(seconds: target) && pending.isInBuffer == isInBuffer && !pending.isStart)
        var early = try Self.positioned(at: "0", isPositioned: false)
        seek(&early, to: asked)
        let start = try #require(early.seek.pending)
        #expect(start.target == MediaTime(seconds: target) && !start.isInBuffer && start.isStart)
    }

    @Test func aLaterSeekReplacesAnEarlierOne() throws {
        var control = try Self.positioned(at: "5")
        seek(&control, to: 10)
        control.beginSeek(to: seconds("12"), tolerance: .exact, origin: .command(waiter: 4))
        let resumed = results(&control)
        #expect(resumed == ["3 false 5.0"] && control.seek.pending?.target == seconds("12"))
        control.endSeeks()
        let ended = results(&control)
        #expect(ended == ["4 false 5.0"] && control.seek.pending?.id == nil)
    }

    @Test func onlySeeksOfTheApplicationAreCanceled() throws {
        var control = try Self.positioned(at: "5")
        _ = control.sink.takeChange()
        control.cancelPendingSeeks()
        let isChanged = control.sink.takeChange()
        #expect(!isChanged)
        control.beginSeek(to: seconds("10"), tolerance: .exact, origin: .refresh)
        control.cancelPendingSeeks()
        #expect(control.seek.pending?.target == seconds("10"))
        seek(&control, to: 12)
        control.cancelPendingSeeks()
        let resumed = results(&control)
        #expect(resumed == ["3 false 5.0"] && control.seek.pending?.id == nil)
        #expect(control.playhead.machine.bufferState.bufferedDuration == .seconds(3))
    }

    @Test func aSeekIsAbandonedOnlyIfThePlayheadHasAPosition() throws {
        var control = try Self.positioned(at: "5")
        seek(&control, to: 10)
        control.abandonSeek()
        let resumed = results(&control)
        #expect(resumed == ["3 false 5.0"] && control.seek.pending?.id == nil)
        #expect(control.playhead.machine.bufferState.bufferedDuration == .seconds(3))
        var early = try Self.positioned(at: "0", isPositioned: false)
        seek(&early, to: 10)
        early.abandonSeek()
        let none = results(&early)
        #expect(none == [] && early.seek.pending?.target == seconds("10"))
    }

    @Test func thePlayheadMovesOnceTheTargetIsLoaded() throws {
        var control = try Self.positioned(at: "5")
        seek(&control, to: 10)
        let early = control.seekCommand(Self.item)
        #expect(early == nil)
        seek(&control, to: 2)
        let id = try #require(control.seek.pending?.id)
        let command = control.seekCommand(Self.item)
        #expect(command == .seek(id, to: seconds("2"), .exact))
        control.playhead.observation.timebase = Timebase(mediaTime: seconds("2"))
        _ = control.sink.takeEffects(with: nil)
        _ = control.sought(id + 1, .success(seconds("2")))
        #expect(control.seek.pending?.id == id)
        _ = control.sought(id, .success(seconds("2")))
        let resumed = results(&control)
        #expect(resumed == ["3 true 2.0"] && control.seek.pending?.id == nil)
        #expect(control.playhead.machine.bufferState.bufferedDuration == .seconds(6))
    }

    @Test func theFirstPositionNeedsMedia() throws {
        var control = try Self.positioned(at: "0", isPositioned: false)
        seek(&control, to: 2)
        let none = control.seekCommand(ItemFacts(playbackType: .vod, isFile: false, hasMedia: false))
        let command = control.seekCommand(Self.item)
        #expect(none == nil && command != nil)
    }

    @Test(arguments: [(MediaPipelineError.Code.noMedia, false), (.deviceLost, true)])
    func aSeekThatFailsEndsPlaybackOnlyIfThePipelineIsLost(code: MediaPipelineError.Code, isLost: Bool) throws {
        var control = try Self.positioned(at: "5")
        seek(&control, to: 2)
        let id = try #require(control.seek.pending?.id)
        _ = control.seekCommand(Self.item)
        let consequence = control.sought(id, .failure(MediaPipelineError(code, "nothing")))
        var failure: StreamingError?
        if case .fail(let error)? = consequence { failure = error }
        #expect(failure?.code == (isLost ? .pipelineLost : nil))
        let resumed = results(&control)
        #expect(resumed == (isLost ? [] : ["3 false 5.0"]))
    }

    // MARK: Start and end

    @Test func playbackStartsAtTheRequestedTime() throws {
        for (asked, target, tolerance) in [(nil, "0", .any), (seconds("6"), "6", .exact)]
            as [(MediaTime?, String, SeekTolerance)]
        {
            var control = try Self.positioned(at: "0", isPositioned: false)
            var options = StreamingOptions()
            options.startTime = asked
            control.update(options)
            control.placePlayhead()
            let pending = try #require(control.seek.pending)
            #expect(pending.target == seconds(target) && pending.isStart && pending.origin == .start)
            #expect(pending.tolerance == tolerance)
        }
        var control = try Self.positioned(at: "5")
        control.placePlayhead()
        #expect(control.seek.pending?.id == nil)
    }

    @Test(
        arguments: [(0, nil, 0), (20, nil, 20), (-5, nil, 0), (0, 3, 3), (20, 3, 20), (-5, 3, 3)]
            as [(Int64, Int64?, Int64)]
    )
    func reversePlaybackEndsAtTheStartOfTheItem(start: Int64, asked: Int64?, end: Int64) throws {
        var control = try Self.positioned(at: "0")
        let source = try #require(control.plan.tracks.main.source)
        control.plan.tracks.main.playlist = LoadedPlaylist(
            source: source,
            timeline: PresentationTimeline(
                try LiveWindowText(tail: ["#EXT-X-ENDLIST"]).playlist,
                start: MediaTime(seconds: start)
            ),
            requestStart: .zero,
            lastUpdate: .zero
        )
        var options = StreamingOptions()
        options.reversePlaybackEndTime = asked.map { MediaTime(seconds: $0) }
        options.waitsToMinimizeStalls = false
        _ = control.sink.takeChange()
        control.update(options)
        let isChanged = control.sink.takeChange()
        #expect(control.startOfPlayback == MediaTime(seconds: end) && isChanged)
        #expect(!control.playhead.machine.waitsToMinimizeStalls)
    }

    // MARK: Failures

    @Test func anAcceptedSegmentEndsASequenceOfFailures() throws {
        let presentation = Presentation(try multivariant("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"))
        let variant = try #require(presentation.variants.first)
        let source = StreamSource(variant, location: 0, address: variant.address)
        var failures = TrackFailures()
        failures.history.attempts = 2
        failures.history.skips = 1
        failures.tried = [source]
        failures.retryTime = .seconds(3)
        failures.terminalError = StreamingError(.damaged, "no")
        var (succeeded, reset, sought) = (failures, failures, failures)
        succeeded.succeeded()
        #expect(succeeded.history == RecoveryPolicy.History() && succeeded.tried.isEmpty)
        #expect(succeeded.retryTime == .seconds(3) && succeeded.terminalError != nil)
        reset.reset()
        #expect(reset.history == RecoveryPolicy.History() && reset.tried == [source])
        #expect(reset.retryTime == nil && reset.terminalError == nil)
        sought.resetForSeek()
        #expect(sought.history == RecoveryPolicy.History() && sought.tried.isEmpty)
        #expect(sought.retryTime == nil && sought.terminalError == nil)
    }
}
