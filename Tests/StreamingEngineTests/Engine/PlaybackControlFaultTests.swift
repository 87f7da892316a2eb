import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import Testing

@testable import StreamingEngine

/// Tests of changes of the rate, of seeks, and of the reports of a control whose playhead is at 5 s.
///
/// The playlist ends at 24 s.
@Suite struct PlaybackControlFaultTests {
    private static func control(
        _ position: String = "5",
        loaded: ClosedRange<Int64> = 3...24,
        isPositioned: Bool = true
    ) throws -> PlaybackControl {
        var control = PlaybackControl(options: StreamingOptions(), at: .zero)
        let presentation = Presentation(try multivariant("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=500000\nlow.m3u8\n"))
        let variant = try #require(presentation.variants.first)
        control.plan.catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
        let source = control.plan.catalog.source(for: variant, at: .zero)
        control.plan.tracks.main.source = source
        control.plan.tracks.main.playlist = LoadedPlaylist(
            source: source,
            timeline: PresentationTimeline(try LiveWindowText(tail: ["#EXT-X-ENDLIST"]).playlist),
            requestStart: .zero,
            lastUpdate: .zero
        )
        control.plan.tracks.main.buffer.insert(
            StreamBuffer.Entry(
                range: MediaTimeRange(
                    start: MediaTime(seconds: loaded.lowerBound),
                    end: MediaTime(seconds: loaded.upperBound)
                ),
                type: .muxed,
                byteCount: 1,
                variant: nil
            )
        )
        control.playhead.observation.abilities = MediaPipelineCapabilities(supportsReversePlayback: true)
        control.playhead.observation.timebase = Timebase(mediaTime: seconds(position))
        if isPositioned { control.playhead.land() }
        _ = control.playhead.machine.becomeReady(at: .zero)
        return control
    }

    /// Removes the effects; returns the names of the reports, the results of callers, and the commands.
    private static func effects(_ control: inout PlaybackControl) -> [String] {
        control.sink.takeEffects(with: nil).compactMap { effect in
            switch effect {
            case .report(let event): event.kind.name
            case .resume(let waiter, let result): "\(waiter) \(result.isFinished)"
            case .begin(.pipeline(.setRate(let rate, _))): "rate \(rate)"
            default: nil
            }
        }
    }

    // MARK: Rates

    @Test func theBufferIsThatOfTheNewDirection() throws {
        var control = try Self.control()
        control.setRate(1, .setRateCalled, atOnce: true)
        #expect(control.playhead.machine.bufferState.bufferedDuration == .zero)
        control.setRate(-1, .setRateCalled, atOnce: true)
        #expect(control.playhead.machine.bufferState.bufferedDuration == .seconds(2))
        control.setRate(0, .setRateCalled, atOnce: true)
        #expect(control.playhead.machine.bufferState.bufferedDuration == .seconds(2))
        control.setRate(-1, .setRateCalled, atOnce: true)
        control.setRate(1, .setRateCalled, atOnce: true)
        #expect(control.playhead.machine.bufferState.bufferedDuration == .seconds(19))
    }

    /// At the end, the media of the last tenth of a second must be loaded.
    @Test(
        arguments: [(24, -1, true, false), (23, -1, false, true), (24, 1, false, false)]
            as [(Int64, Double, Bool, Bool)]
    )
    func reversePlaybackLeavesTheEnd(loaded: Int64, rate: Double, leaves: Bool, seeks: Bool) throws {
        var control = try Self.control("24", loaded: 3...loaded)
        _ = control.playhead.machine.reachedEnd(pausing: true, at: .zero)
        control.playhead.reachEnd(seconds("24"))
        _ = control.sink.takeChange()
        control.setRate(rate, .setRateCalled, atOnce: true)
        let isChanged = control.sink.takeChange()
        #expect((control.playhead.end == nil) == (leaves || seeks) && isChanged)
        #expect(control.seek.pending?.target == (seeks ? seconds("24") : nil))
        #expect(control.seek.pending?.origin == (seeks ? .refresh : nil))
    }

    @Test func aNewRateReplacesAScheduledStart() throws {
        var control = try Self.control()
        control.playhead.rate.start = .given(.seconds(9), isAnnounced: true)
        control.setRate(1, .setRateCalled, atOnce: true)
        #expect(control.playhead.rate.start == ScheduledStart.none)
    }

    @Test func aSynchronizedStartIsScheduled() throws {
        var control = try Self.control()
        control.plan.tracks.main.failures.terminalError = StreamingError(.damaged, "no")
        _ = (control.sink.takeChange(), Self.effects(&control))
        control.startSynchronized(
            SynchronizedStart.Request(rate: -1, target: nil, time: .seconds(9), waiter: 3)
        )
        let isChanged = control.sink.takeChange()
        let effects = Self.effects(&control)
        #expect(isChanged && effects.contains("3 true"))
        #expect(control.playhead.rate.start == .requested(.seconds(9), isAnnounced: true))
        #expect(control.playhead.machine.desiredRate == -1 && control.plan.tracks.terminalError == nil)
        #expect(control.playhead.machine.bufferState.bufferedDuration == .seconds(2))
        // A seek of the application ends the announcement.
        control.beginSeek(to: seconds("9"), tolerance: .exact, origin: .command(waiter: 4))
        #expect(control.playhead.rate.start == .requested(.seconds(9), isAnnounced: false))
    }

    @Test(arguments: [(0, true), (.infinity, true), (1, false)] as [(Double, Bool)])
    func aSynchronizedStartIsRefused(rate: Double, isPositioned: Bool) throws {
        var control = try Self.control(isPositioned: isPositioned)
        control.playhead.rate.start = .given(.seconds(7), isAnnounced: true)
        _ = Self.effects(&control)
        control.startSynchronized(
            SynchronizedStart.Request(rate: rate, target: nil, time: .seconds(9), waiter: 3)
        )
        let effects = Self.effects(&control)
        #expect(effects == ["3 false"] && control.playhead.machine.desiredRate == 0)
        #expect(control.playhead.rate.start == .given(.seconds(7), isAnnounced: true))
    }

    @Test func aSynchronizedStartEndsWithTheFailureOfItsSeek() throws {
        var control = try Self.control()
        control.startSynchronized(
            SynchronizedStart.Request(rate: 1, target: seconds("9"), time: .seconds(9), waiter: 3)
        )
        let pending = try #require(control.seek.pending)
        #expect(pending.target == seconds("9") && pending.origin == .synchronizedStart)
        _ = control.seekCommand(ItemFacts(playbackType: .vod, isFile: false, hasMedia: true))
        _ = (control.sink.takeChange(), Self.effects(&control))
        _ = control.sought(pending.id, .failure(MediaPipelineError(.noMedia, "nothing")))
        let isChanged = control.sink.takeChange()
        let effects = Self.effects(&control)
        #expect(isChanged && effects.starts(with: ["3 false", "seekEnd", "error"]))
        #expect(control.playhead.machine.desiredRate == 0 && control.seek.pending == nil)
    }

    @Test(arguments: [(1, true), (0, false)] as [(Double, Bool)])
    func aPipelineThatPlaysIsStopped(rate: Double, isStopped: Bool) throws {
        var control = try Self.control()
        control.playhead.observation.timebase = Timebase(mediaTime: seconds("5"), rate: rate)
        control.sink.command(.step(count: 1, waiter: 1))
        let stops = control.stopPipeline()
        let effects = Self.effects(&control)
        #expect(stops == isStopped && effects == (isStopped ? ["rate 0.0"] : []))
    }

    // MARK: Seeks

    @Test(
        arguments: [(.command(waiter: 1), true), (.jump, true), (.synchronizedStart, true), (.refresh, false)]
            as [(PendingSeek.Origin, Bool)]
    )
    func onlyTheSeeksOfTheApplicationAndJumpsAreReported(origin: PendingSeek.Origin, isReported: Bool) throws {
        var control = try Self.control()
        control.plan.tracks.audio.failures.terminalError = StreamingError(.damaged, "no")
        _ = (control.sink.takeChange(), Self.effects(&control))
        control.beginSeek(to: seconds("9"), tolerance: .exact, origin: origin)
        let isChanged = control.sink.takeChange()
        let began = Self.effects(&control).contains("seek")
        let pending = try #require(control.seek.pending)
        #expect(isChanged && began == isReported && !pending.isStart && pending.isInBuffer)
        #expect(control.plan.tracks.audio.failures.terminalError == nil)
        _ = control.seekCommand(ItemFacts(playbackType: .vod, isFile: false, hasMedia: true))
        _ = control.sought(pending.id, .success(seconds("9")))
        let reports = Self.effects(&control)
        #expect(reports.contains("seekEnd") == isReported && reports.contains("timeJump") == (origin != .refresh))
        #expect(!reports.contains("status"))
    }

    @Test func theFirstPositionIsReported() throws {
        var control = try Self.control(isPositioned: false)
        control.beginSeek(to: seconds("9"), tolerance: .exact, origin: .start)
        let pending = try #require(control.seek.pending)
        _ = control.seekCommand(ItemFacts(playbackType: .vod, isFile: false, hasMedia: true))
        _ = Self.effects(&control)
        _ = control.sought(pending.id, .success(seconds("9")))
        let reports = Self.effects(&control)
        #expect(pending.isStart && reports.starts(with: ["status", "timeJump"]) && !reports.contains("seekEnd"))
        #expect(control.playhead.isPositioned && control.seek.pending == nil)
    }

    @Test func aSeekToADateNeedsAPlaylistWithDates() throws {
        var control = try Self.control()
        let (asked, source) = (try date(8), control.plan.tracks.main.source)
        _ = Self.effects(&control)
        control.beginSeek(to: asked, .exact, 1)
        let undated = Self.effects(&control)
        #expect(undated == ["1 false"] && control.seek.pending == nil && control.seek.pendingDate == nil)
        // Before the first playlist, the seek waits.
        control.plan.tracks.main.playlist = nil
        control.beginSeek(to: asked, .exact, 2)
        let waiting = Self.effects(&control)
        _ = control.sink.takeChange()
        control.cancelPendingSeeks()
        let isChanged = control.sink.takeChange()
        let cancelled = Self.effects(&control)
        #expect(waiting.isEmpty && isChanged && cancelled == ["2 false"] && control.seek.pendingDate == nil)
        control.beginSeek(to: asked, .exact, 3)
        control.beginSeek(to: asked, .exact, 4)
        let replaced = Self.effects(&control)
        control.plan.tracks.main.playlist = LoadedPlaylist(
            source: try #require(source),
            timeline: PresentationTimeline(
                try LiveWindowText(dateOfZero: 0, tail: ["#EXT-X-ENDLIST"]).playlist
            ),
            requestStart: .zero,
            lastUpdate: .zero
        )
        control.placePlayhead()
        let pending = try #require(control.seek.pending)
        #expect(replaced == ["3 false"] && pending.target == seconds("8") && pending.origin == .command(waiter: 4))
    }

    @Test func anAbandonedSeekIsReported() throws {
        var control = try Self.control()
        control.beginSeek(to: seconds("1"), tolerance: .exact, origin: .command(waiter: 2))
        _ = (control.sink.takeChange(), Self.effects(&control))
        control.abandonSeek()
        let isChanged = control.sink.takeChange()
        let effects = Self.effects(&control)
        #expect(isChanged && effects.starts(with: ["seekEnd", "2 false", "error"]))
    }

    // MARK: Reports

    @Test func theTimeOfTheItemIsKnownOnceThePlayheadHasAPosition() throws {
        var early = try Self.control(isPositioned: false)
        early.stampReports()
        var control = try Self.control()
        control.stampReports()
        #expect(early.sink.mediaTime == nil && control.sink.mediaTime == seconds("5"))
    }

    @Test func aReportOfTheRateHasAVariant() throws {
        var control = try Self.control()
        let other = VariantDescription(
            id: "other",
            address: "other.m3u8",
            peakBitRate: BitRate(bitsPerSecond: 1),
            averageBitRate: nil,
            width: nil,
            height: nil
        )
        _ = (control.sink.takeChange(), Self.effects(&control))
        control.perform([])
        let isUnchanged = !control.sink.takeChange()
        for variant in [nil, other] {
            let change = RateChange(rate: 2, previousRate: 1, reason: .buffering, variant: variant)
            control.perform([.report(.rateChanged(change))])
        }
        let isChanged = control.sink.takeChange()
        let changes = control.sink.takeEffects(with: nil).compactMap { effect -> RateChange? in
            guard case .report(let event) = effect, case .rateChanged(let change) = event.kind else { return nil }
            return change
        }
        let fetched = control.plan.fetchedVariant?.id.text
        let variants = changes.map { $0.variant?.id }
        #expect(isUnchanged && isChanged && fetched != nil && variants == [fetched, "other"])
        #expect(changes.map(\.rate) == [2, 2] && changes.map(\.previousRate) == [1, 1])
        #expect(changes.map(\.reason) == [.buffering, .buffering])
    }

    @Test(arguments: [(true, 1), (false, 0)]) func onlyTheFirstReportHasTheRequestsOfTheStart(
        isInitial: Bool,
        count: Int
    ) throws {
        var control = try Self.control()
        control.sink.report(
            .resourceRequest(
                ResourceRequest(
                    kind: .mediaPlaylist,
                    address: "low.m3u8",
                    requestStart: .zero,
                    responseStart: nil,
                    responseEnd: .zero,
                    bytes: .zero
                )
            )
        )
        _ = Self.effects(&control)
        let report = LikelyToKeepUpReport(
            isInitial: isInitial,
            variant: nil,
            timeTaken: .seconds(2),
            loadedTimeRanges: []
        )
        control.perform([.report(.likelyToKeepUp(report))])
        guard case .report(let event) = control.sink.takeEffects(with: nil).first,
            case .likelyToKeepUp(let completed) = event.kind
        else {
            Issue.record("no report")
            return
        }
        #expect(completed.isInitial == isInitial && completed.requests.count == count)
        #expect(completed.timeTaken == .seconds(2) && completed.variant?.id == control.plan.fetchedVariant?.id.text)
        #expect(completed.loadedTimeRanges == [MediaTimeRange(start: seconds("3"), end: seconds("24"))])
    }
}
