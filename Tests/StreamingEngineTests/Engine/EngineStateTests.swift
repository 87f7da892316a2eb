import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the state of the engine: events in, effects out.
@Suite struct EngineStateTests {
    /// Returns an engine that plays a stream on demand of ten segments, of which the first is buffered and the second
    /// is being transferred.
    private func playing() throws -> EngineTranscript {
        var engine = EngineTranscript()
        #expect(engine.deliver(.started, at: 0) == ["open"])
        #expect(engine.command(.setRate(1, reason: .setRateCalled, atOnce: false), at: 0) == [])
        #expect(try engine.open(count: 10, at: 1) == ["fetch 1 v0.ts", "audio settings"])
        #expect(engine.deliver(.pipelineFinished(.done), at: 1) == [])
        #expect(try engine.receive(1, at: 2) == ["append 1"])
        #expect(try engine.accept(1, at: 2) == ["fetch 2 v1.ts", "seek 0.0"])
        #expect(try engine.land(0, seek: 1, at: 2) == ["rate 1.0"])
        #expect(engine.take(rate: 1, at: 2) == [])
        return engine
    }

    @Test func playbackStartsWithTheFirstSegment() throws {
        let engine = try playing()
        #expect(engine.reports.contains("status") && engine.state.control.playhead.isPositioned)
        #expect(engine.state.control.playhead.machine.timeControl == .playing)
    }

    @Test func aPausedEngineFillsItsBufferWithoutMovingThePlayhead() throws {
        var engine = EngineTranscript()
        _ = engine.deliver(.started, at: 0)
        _ = try engine.open(count: 10, at: 0)
        _ = engine.deliver(.pipelineFinished(.done), at: 0)
        #expect(try engine.complete(1, at: 1) == ["fetch 2 v1.ts", "seek 0.0"])
        #expect(try engine.land(0, seek: 1, at: 1) == [])
        #expect(try engine.complete(2, at: 2) == ["fetch 3 v2.ts"])
        #expect(try engine.complete(3, at: 3) == ["fetch 4 v3.ts"])
        #expect(try engine.complete(4, at: 4) == ["fetch 5 v4.ts"])
        // The buffer of 30 s is full.
        #expect(try engine.complete(5, at: 5) == [])
        #expect(engine.state.nextDeadline == nil)
    }

    @Test func aFullBufferIsRefilledAsItIsPlayed() throws {
        var engine = try playing()
        for request in 2...5 { _ = try engine.complete(request, at: 2) }
        // 30 s are loaded. The next segment of 6 s fits into the buffer when the playhead is at 6 s, 6 s later.
        let deadline = try #require(engine.state.nextDeadline)
        #expect(deadline == .seconds(8))
        #expect(engine.deliver(.timerFired, at: 8).first == "fetch 6 v5.ts")
    }

    @Test func aSeekCancelsTheTransferAndFetchesItsTarget() throws {
        var engine = try playing()
        let seek = EngineCommand.seek(to: MediaTime(seconds: 45), .exact, waiter: 7)
        #expect(engine.command(seek, at: 3) == ["cancel 2", "rate 0.0"])
        let progress = TransferProgress(measurement: nil, expectedBytes: nil)
        #expect(engine.deliver(.transferCancelled(request: 2, progress), at: 3) == ["fetch 3 v7.ts"])
        #expect(engine.take(rate: 0, at: 3) == [])
        // The response to the canceled request arrives too late and changes nothing.
        #expect(try engine.receive(2, at: 3) == [])
        #expect(try engine.complete(3, at: 4) == ["fetch 4 v8.ts", "seek 45.0"])
        #expect(try engine.land(45, seek: 2, at: 4) == ["answer 7: finished at 45.0", "rate 1.0"])
    }

    @Test func aSeekInTheBufferKeepsTheTransfer() throws {
        var engine = try playing()
        let seek = EngineCommand.seek(to: MediaTime(seconds: 5), .exact, waiter: 1)
        #expect(engine.command(seek, at: 3) == ["seek 5.0"])
        #expect(try engine.land(5, seek: 2, at: 3).first == "answer 1: finished at 5.0")
    }

    @Test func aLaterSeekEndsAnEarlierOneThatThePipelinePerforms() throws {
        var engine = try playing()
        _ = engine.command(.seek(to: MediaTime(seconds: 5), .exact, waiter: 1), at: 3)
        // The pipeline receives the second command after it has performed the first.
        let second = engine.command(.seek(to: MediaTime(seconds: 3), .exact, waiter: 2), at: 3)
        #expect(second == ["answer 1: not finished at 1.0"])
        #expect(try engine.land(5, seek: 2, at: 3) == ["seek 3.0"])
        #expect(try engine.land(3, seek: 3, at: 3).first == "answer 2: finished at 3.0")
    }

    @Test func theResultOfACancelledSeekIsReturnedOnce() throws {
        var engine = try playing()
        _ = engine.command(.seek(to: MediaTime(seconds: 45), .exact, waiter: 1), at: 3)
        #expect(engine.command(.cancelPendingSeeks, at: 3).first == "answer 1: not finished at 1.0")
        #expect(engine.command(.cancelPendingSeeks, at: 3) == [])
    }

    @Test func aSynchronizedStartSeeksBeforePlayback() throws {
        var engine = try playing()
        let start = EngineCommand.setRateSynchronized(1, from: MediaTime(seconds: 4), at: .seconds(10), waiter: 9)
        #expect(engine.command(start, at: 3) == ["seek 4.0"])
        let landed = try engine.land(4, seek: 2, at: 3)
        #expect(landed == ["answer 9: finished at 4.0", "rate 1.0 at 10.0 seconds"])
    }

    @Test func aPauseCancelsASynchronizedStart() throws {
        var engine = try playing()
        let start = EngineCommand.setRateSynchronized(1, from: MediaTime(seconds: 4), at: .seconds(10), waiter: 9)
        _ = engine.command(start, at: 3)
        let pause = engine.command(.setRate(0, reason: .setRateCalled, atOnce: false), at: 3)
        #expect(pause.first == "answer 9: not finished at 1.0")
    }

    @Test func aMissingSegmentBecomesAGap() throws {
        var engine = try playing()
        #expect(try engine.fail(2, status: 404, at: 3) == ["append 3"])
        #expect(try engine.accept(3, at: 3) == ["fetch 4 v2.ts"])
        #expect(engine.reports.contains("segmentSkipped"))
    }

    @Test func aRequestToABusyServerIsRepeatedAfterADelay() throws {
        var engine = try playing()
        #expect(try engine.fail(2, status: 503, at: 3) == [])
        #expect(engine.state.nextDeadline == .seconds(4))
        #expect(engine.deliver(.timerFired, at: 4) == ["fetch 3 v1.ts"])
    }

    @Test func aLivePlaylistIsReloadedAfterItsTargetDuration() throws {
        var engine = EngineTranscript()
        _ = engine.deliver(.started, at: 0)
        _ = try engine.open(count: 4, isLive: true, at: 0)
        #expect(engine.state.nextDeadline == .seconds(6))
        #expect(engine.deliver(.timerFired, at: 6) == ["load 2 media.m3u8"])
        // Without new segments, the next reload is due half a target duration after the start of this one.
        _ = try engine.receivePlaylist(2, count: 4, at: 6.5)
        #expect(engine.state.nextDeadline == .seconds(9))
    }

    @Test func aSeekToADateBeforeTheFirstPlaylistWaitsForIt() throws {
        var engine = EngineTranscript()
        let date = try #require(ProgramDateTime("2026-01-01T00:00:42Z"))
        #expect(engine.command(.seekToDate(date, .exact, waiter: 3), at: 0) == [])
        _ = engine.deliver(.started, at: 0)
        // The playlist has no dates.
        let opened = try engine.open(count: 4, at: 1)
        #expect(opened.contains("answer 3: not finished at 0.0") && opened.contains("fetch 1 v0.ts"))
    }

    @Test func anItemThatCannotBeOpenedFailsAndIsClosed() {
        var engine = EngineTranscript()
        _ = engine.deliver(.started, at: 0)
        _ = engine.command(.seek(to: MediaTime(seconds: 5), .exact, waiter: 1), at: 0)
        let failed = engine.deliver(.openingFailed(StreamingError(.notLoaded, "gone"), nil), at: 1)
        #expect(failed == ["answer 1: not finished at 0.0", "finish"])
        #expect(engine.deliver(.stopped, at: 1) == ["close"])
        #expect(engine.reports.last == "sessionEnd")
        // No work is begun after the failure.
        let late = engine.command(.seek(to: MediaTime(seconds: 5), .exact, waiter: 2), at: 2)
        #expect(late == ["answer 2: not finished at 0.0"])
        #expect(engine.state.nextDeadline == nil)
    }

    /// Four segments of 6 s are skipped at most.
    @Test func videoThatCannotBeDecodedForTooLongEndsPlayback() throws {
        var engine = try playing()
        func refuse(_ range: ClosedRange<Int64>, _ type: MediaType = .video) -> [String] {
            let start = MediaTime(seconds: range.lowerBound)
            let range = MediaTimeRange(start: start, end: MediaTime(seconds: range.upperBound))
            return engine.deliver(.pipelineReported(.unplayable(type, range)), at: 3)
        }
        for second in Int64(0)..<24 { #expect(refuse(second...(second + 1)).isEmpty) }
        #expect(refuse(0...100, .audio).isEmpty)
        // What was decoded in between, or a seek, begins another run.
        #expect(refuse(26...48).isEmpty)
        #expect(engine.state.failure == nil)
        _ = refuse(48...51)
        #expect(engine.state.failure?.code == .damaged)
        #expect(engine.reports.last == "status")
    }

    /// The pipeline reports the damage of a segment before or after it has accepted it.
    @Test(arguments: [false, true]) func damageIsReportedAfterItsSegmentIsLoaded(isEarly: Bool) throws {
        var engine = try playing()
        let range = MediaTimeRange(start: MediaTime(seconds: 8), end: MediaTime(seconds: 12))
        let damage = EngineEvent.pipelineReported(.unplayable(.video, range))
        #expect(try engine.receive(2, at: 3) == ["append 2"])
        if isEarly {
            _ = engine.deliver(damage, at: 3)
            #expect(!engine.reports.contains("segmentSkipped"))
        }
        _ = try engine.accept(2, at: 3)
        if !isEarly { _ = engine.deliver(damage, at: 3) }
        let reports = engine.reports.filter { ["segmentLoaded", "error", "segmentSkipped"].contains($0) }
        #expect(reports.suffix(3) == ["segmentLoaded", "error", "segmentSkipped"])
    }

    @Test func thePipelineIsPausedBeforeItIsClosed() throws {
        var engine = try playing()
        #expect(engine.deliver(.stopped, at: 3) == ["rate 0.0"])
        #expect(engine.take(rate: 0, at: 3) == ["close"])
    }

    @Test func equalEventsLeadToEqualEffects() throws {
        func reports() throws -> [String] {
            var engine = try playing()
            for request in 2...4 { _ = try engine.complete(request, at: Double(request)) }
            return engine.reports
        }
        let first = try reports()
        #expect(try first == reports() && first.count > 10)
    }
}
