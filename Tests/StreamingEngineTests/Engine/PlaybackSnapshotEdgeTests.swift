import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import SegmentFormat
import Testing

@testable import StreamingEngine

/// Tests of the properties of snapshots that transcripts do not show, and of refused commands.
@Suite struct PlaybackSnapshotEdgeTests {
    private static func address(_ name: String) -> ResourceAddress { ResourceAddress(EngineSession.root + name) }

    // MARK: Snapshots

    @Test func aPlayingItemHasAPosition() throws {
        var session = EngineSession()
        session.observation.frameCounts = FrameCounts(decoded: 7, dropped: 1, discarded: 2)
        session.observation.videoSize = VideoSize(width: 640, height: 360)
        session.playVOD(until: 8)
        let shot = PlaybackSnapshot(session.state)
        #expect(shot.status == .readyToPlay && shot.playbackType == .vod && shot.error == nil)
        #expect(shot.timeControl == .playing && shot.desiredRate == 1 && shot.timebase.rate == 1)
        #expect(shot.position > .zero && shot.duration == seconds("36") && !shot.isSeeking)
        #expect(shot.presentation?.variants.count == 1 && shot.tracks.map(\.id) == [1, 2])
        #expect(shot.frameCounts == session.observation.frameCounts && shot.videoSize == session.observation.videoSize)
        #expect(shot.abilities == session.observation.abilities)
        #expect(shot.bufferedBitRate == BitRate(bitsPerSecond: 1_333_333) && shot.throughput != nil)
        #expect(shot.wait == nil && shot.programDate == nil && shot.metadata == MediaFileMetadata())
        #expect(shot.playedVariant != nil && shot.playedVariant == shot.fetchedVariant)
    }

    @Test func anItemThatWaitsHasTheResponseThatItWaitsFor() throws {
        var session = EngineSession()
        session.transferTimes["v0"] = 30
        session.playVOD(until: 5)
        let shot = PlaybackSnapshot(session.state)
        #expect(shot.status == .unknown && shot.duration == nil && !shot.isSeeking && shot.isPlaybackBufferEmpty)
        #expect(shot.timeControl == .waiting(.evaluatingBufferingRate) && shot.bufferedBitRate == nil)
        #expect(shot.wait == .response(Self.address("v0.ts"), began: .seconds(1)))
        session.setRate(0)
        let paused = PlaybackSnapshot(session.state)
        #expect(paused.wait == nil && paused.timeControl == .paused && paused.desiredRate == 0)
    }

    @Test func aSeekOfTheApplicationIsShown() {
        var session = EngineSession()
        session.playVOD(14, until: 8)
        session.seek(to: 80)
        let shot = PlaybackSnapshot(session.state)
        #expect(shot.isSeeking && shot.status == .readyToPlay && shot.timeControl != .playing)
        session.command(.cancelPendingSeeks)
        #expect(!PlaybackSnapshot(session.state).isSeeking && session.waiters.isEmpty)
    }

    @Test func atTheEndThePositionIsTheEnd() {
        var session = EngineSession()
        session.playVOD(2, until: 30)
        let shot = PlaybackSnapshot(session.state)
        #expect(shot.hasPlayedToEnd && shot.position == seconds("12") && shot.timeControl == .paused)
        #expect(shot.timebase.mediaTime == seconds("12") && shot.timebase.rate == 0 && shot.desiredRate == 0)
    }

    @Test func anItemThatFailedHasItsError() {
        var session = EngineSession()
        session.outcomes["v.m3u8"] = [.status(404)]
        session.playVOD(until: 4)
        let shot = PlaybackSnapshot(session.state)
        #expect(shot.status == .failed && shot.error?.status == 404 && shot.playbackType == nil)
    }

    @Test func aStreamWithDatesHasTheDateOfThePlayhead() throws {
        func shot(_ transferTime: Double) -> PlaybackSnapshot {
            var session = EngineSession()
            session.transferTimes["v0"] = transferTime
            session.playlists["v.m3u8"] = [EngineSession.live("v", 0, 6, dated: true, ended: true)]
            session.start("v.m3u8")
            session.run(until: 4)
            return PlaybackSnapshot(session.state)
        }
        let expected = try date(0)
        #expect(shot(1).programDate?.sinceEpoch == expected.sinceEpoch && shot(1).position == .zero)
        #expect(shot(30).programDate == nil)
    }

    // MARK: Commands

    /// The answers to commands, in order.
    private func answers(_ session: EngineSession) -> [String] {
        session.lines.compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            return words.count > 2 && words[0] == "answer" ? "\(words[1]) \(words[2])" : nil
        }
    }

    @Test func framesAreSteppedOnlyWhilePaused() {
        var session = EngineSession()
        session.playVOD(until: 8)
        session.command(.step(count: 1, waiter: 5))
        session.setRate(0)
        session.run(until: 9)
        session.command(.step(count: 0, waiter: 6))
        session.observation.abilities.supportsStepping = false
        session.command(.step(count: 1, waiter: 7))
        session.observation.abilities.supportsStepping = true
        session.command(.step(count: -1, waiter: 8))
        session.run(until: 10)
        #expect(answers(session) == ["5 unfinished", "6 unfinished", "7 unfinished", "8 finished"])
    }

    @Test func duringASeekNoFrameIsStepped() {
        var session = EngineSession()
        session.playVOD(14, until: 8)
        session.setRate(0)
        session.run(until: 8.5)
        session.seek(to: 80)
        session.command(.step(count: 1, waiter: 2))
        #expect(answers(session) == ["2 unfinished"])
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity]) func aRateThatIsNotFiniteIsIgnored(rate: Double) {
        var session = EngineSession()
        session.playVOD(until: 8)
        session.setRate(rate)
        #expect(session.state.control.playhead.machine.desiredRate == 1)
        session.command(.setRateSynchronized(rate, from: nil, at: .seconds(9), waiter: 4))
        #expect(answers(session) == ["4 unfinished"] && session.state.control.playhead.machine.desiredRate == 1)
    }

    @Test func aSynchronizedStartNeedsARateAndAPosition() {
        var session = EngineSession()
        session.command(.setRateSynchronized(1, from: nil, at: .seconds(9), waiter: 1))
        session.playVOD(until: 8)
        session.command(.setRateSynchronized(0, from: nil, at: .seconds(9), waiter: 2))
        session.command(.setRateSynchronized(1, from: nil, at: .seconds(9), waiter: 3))
        #expect(answers(session) == ["1 unfinished", "2 unfinished", "3 finished"])
    }

    @Test func eventsOfThePipelineCountOnlyDuringPlayback() {
        var session = EngineSession()
        session.playlists["v.m3u8"] = [EngineSession.vod("v")]
        session.start("v.m3u8")
        session.report(.failed("gone"))
        #expect(session.state.failure == nil && !session.isFinished)
        session.run(until: 3)
        session.report(.failed("gone"))
        #expect(session.state.failure?.code == .pipelineLost && session.isFinished)
    }

    @Test(arguments: [(false, false, false), (true, false, true), (false, true, true)])
    func aPausedLiveStreamIsReloadedIfItMayUseTheNetwork(usesNetwork: Bool, isHeld: Bool, isReloaded: Bool) {
        var options = StreamingOptions()
        options.usesNetworkWhilePaused = usesNetwork
        options.isHeld = isHeld
        var session = EngineSession(options)
        session.transferTimes["v"] = 0.5
        session.playlists["v.m3u8"] = (0..<20).map { EngineSession.live("v", $0) }
        session.start("v.m3u8")
        session.setRate(1)
        session.run(until: 20)
        session.setRate(0)
        session.run(until: 21)
        func loadCount() -> Int { session.lines.count { $0.hasPrefix("    load ") } }
        let former = loadCount()
        session.run(until: 60)
        #expect((loadCount() > former) == isReloaded)
    }

    @Test func changedOptionsApplyAtOnce() {
        var session = EngineSession()
        session.playVOD(until: 8)
        session.update {
            $0.waitsToMinimizeStalls = false
            $0.patience = .seconds(5)
            $0.preferredPeakBitRate = BitRate(bitsPerSecond: 7)
        }
        let control = session.state.control
        #expect(!control.playhead.machine.waitsToMinimizeStalls && control.options.patience == .seconds(5))
        #expect(control.moment.limits.patience == .seconds(5))
        #expect(control.plan.catalog.chooser.options.preferredPeakBitRate == BitRate(bitsPerSecond: 7))
    }

    // MARK: Files

    private func file(shortfall: OpenedFile.Shortfall?) throws -> OpenedFile {
        OpenedFile(
            playlist: try media(EngineSession.vod("v"), at: EngineSession.root + "v.mp4"),
            container: .isoBaseMedia,
            firstTimestamp: .zero,
            beginsWithinFrames: false,
            tracks: [MediaTrack(id: 4, mediaType: .video, codec: "hvc1")],
            metadata: MediaFileMetadata(),
            shortfall: shortfall,
            problem: nil
        )
    }

    @Test(arguments: [false, true]) func aFileIsIndexedAndPlayed(isShort: Bool) throws {
        var state = EngineState(options: StreamingOptions(), at: .zero)
        let address = Self.address("v.mp4")
        _ = state.handle(.started, at: .seconds(3))
        let request = ResourceRequest(.other, TransportRequest(address, kind: .playlist), began: .zero, now: .zero, nil)
        let opened = state.handle(.opened(.file(head: [1, 2], address, length: 9), request), at: .seconds(4))
        let indexed = opened.compactMap { effect -> String? in
            guard case .begin(.indexFile(let head, let address, let length, let began)) = effect else { return nil }
            return "\(head) \(address.lastPathComponent) \(length ?? 0) \(began)"
        }
        #expect(indexed == ["[1, 2] v.mp4 9 3.0 seconds"])
        let shortfall = OpenedFile.Shortfall(
            length: 10,
            accuracy: .minimum,
            availableDuration: seconds("4"),
            declaredDuration: seconds("6")
        )
        let file = try file(shortfall: isShort ? shortfall : nil)
        let effects = state.handle(.fileIndexed(file, Presentation(file), address), at: .seconds(5))
        let errors = effects.compactMap { effect -> Bool? in
            guard case .report(let event) = effect, case .error(let record) = event.kind else { return nil }
            return record.didRecover
        }
        #expect(errors == (isShort ? [true] : []))
        let shot = PlaybackSnapshot(state)
        #expect(shot.playbackType == .file && shot.tracks.map(\.codec) == ["hvc1"])
        // A file cannot be indexed twice.
        let again = state.handle(.fileIndexed(file, Presentation(file), address), at: .seconds(5))
        let reports = again.filter { if case .report = $0 { true } else { false } }
        #expect(reports.isEmpty)
    }
}
