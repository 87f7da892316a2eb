import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import NetworkConditioning
import PlaybackReporting
import StreamingEngine
import Synchronization
import Testing

/// Tests of seeks before the playlist is loaded, and of seeks that are canceled.
@Suite struct EarlySeekTests {
    private func seekEvents(_ events: EventRecord) -> [String] {
        events.all.compactMap { event in
            switch event.kind {
            case .seekStarted(let target): "to \(target.seconds)"
            case .seekEnded(let outcome): outcome.landed.map { "at \($0.seconds)" } ?? "given up"
            default: nil
            }
        }
    }

    @Test func aSeekBeforeTheItemIsReadyIsReportedAndPlaybackIsCounted() async throws {
        let stream = TextStreamPlayback(SampleStream.film())
        try await stream.run { engine in
            let result = await engine.seek(to: MediaTime(seconds: 30), tolerance: .exact)
            #expect(result == SeekResult(isFinished: true, position: MediaTime(seconds: 30)))
            await engine.setRate(1)
            try await stream.expect(\.hasPlayedToEnd)
        }
        #expect(seekEvents(stream.events) == ["to 30.0", "at 30.0"])
        var recorder = PlaybackMetricsRecorder(creation: .zero)
        var access = AccessLogRecorder(session: PlaybackSession(id: "s", start: .zero, startDate: .zero))
        for event in stream.events.all {
            recorder.add(event)
            _ = access.add(event)
        }
        #expect(recorder.metrics.watchedDuration == .seconds(30))
        #expect(access.log.events.map(\.playbackStartOffset) == [.seconds(30)])
        #expect(access.log.totals.durationWatched == .seconds(30))
    }

    @Test func theSecondOfTwoEarlySeeksReplacesTheFirst() async throws {
        let stream = TextStreamPlayback(SampleStream.film())
        try await stream.run { engine in
            async let first = engine.seek(to: MediaTime(seconds: 10))
            async let second = engine.seek(to: MediaTime(seconds: 20), tolerance: .exact)
            let results = await [first, second]
            #expect(results.count(where: \.isFinished) == 1)
        }
        let told = seekEvents(stream.events)
        #expect(told.count == 4 && told.count { $0 == "given up" } == 1)
    }

    @Test func afterACancelledEarlySeekPlaybackStartsAtTheDefaultPosition() async throws {
        let stream = OriginPlayback(link: LinkProfile.presets.first { $0.name == "3G" }) {
            StreamShape.muxed.resource($0, $1)
        }
        try await stream.run { [engine = stream.engine] in
            async let sought = engine.seek(to: MediaTime(seconds: 30))
            try await stream.simulation.sleep(for: .milliseconds(10))
            await engine.cancelPendingSeeks()
            #expect(await sought.isFinished == false)
            try await stream.simulation.sleep(for: .seconds(20))
            #expect(engine.snapshot.status == .readyToPlay && engine.snapshot.position == .zero)
        }
        #expect(seekEvents(stream.events) == ["to 30.0", "given up"])
    }

    @Test func watchedTimeIsCountedAfterACancelledSeek() async throws {
        let events = [
            PlaybackEvent(
                time: .zero,
                mediaTime: .zero,
                kind: .rateChanged(RateChange(rate: 1, previousRate: 0, reason: .setRateCalled))
            ),
            PlaybackEvent(
                time: .seconds(5),
                mediaTime: MediaTime(seconds: 5),
                kind: .seekStarted(to: MediaTime(seconds: 50))
            ),
            PlaybackEvent(
                time: .seconds(6),
                mediaTime: MediaTime(seconds: 5),
                kind: .seekEnded(SeekRecord(target: MediaTime(seconds: 50), landed: nil, didSeekInBuffer: false))
            ),
            PlaybackEvent(time: .seconds(10), mediaTime: MediaTime(seconds: 9), kind: .playedToEnd),
        ]
        var recorder = PlaybackMetricsRecorder(creation: .zero)
        for event in events { recorder.add(event) }
        #expect(recorder.metrics.watchedDuration == .seconds(9))
    }

    @Test func anEarlySeekToADateMovesToItsPosition() async throws {
        let text = LiveText(window: 20, head: 20, endsAt: .zero, hasDates: true)
        let stream = OriginPlayback { path, now in
            path == "main.m3u8" ? .text(text.text(at: now)) : text.resource(path, now)
        }
        try await stream.run { [engine = stream.engine] in
            let date = try #require(ProgramDateTime("2026-01-01T00:00:42Z"))
            let result = await engine.seek(to: date, tolerance: .exact)
            #expect(result.isFinished && result.position == MediaTime(seconds: 42))
            #expect(engine.snapshot.programDate == date)
        }
        // No media of the default start position was fetched.
        #expect(
            !stream.events.all.contains { event in
                guard case .segmentLoaded(let segment) = event.kind else { return false }
                return segment.address.hasSuffix("v0.ts")
            }
        )
    }

    @Test func aSeekToADateIsRefusedWithoutDates() async throws {
        let stream = TextStreamPlayback(SampleStream.film())
        try await stream.run { engine in
            let date = try #require(ProgramDateTime("2026-01-01T00:00:42Z"))
            #expect(await engine.seek(to: date).isFinished == false)
            try await stream.expect { $0.status == .readyToPlay }
        }
    }

    @Test func anEarlySeekBeyondTheWindowIsClamped() async throws {
        let text = LiveText(window: 20, head: 20)
        let stream = OriginPlayback { path, now in
            path == "main.m3u8" ? .text(text.text(at: now)) : text.resource(path, now)
        }
        try await stream.run { [engine = stream.engine] in
            let result = await engine.seek(to: MediaTime(seconds: 1_000_000))
            #expect(result.isFinished)
            let window = try #require(engine.snapshot.seekableTimeRange)
            #expect(result.position >= window.start && result.position <= window.end)
        }
        #expect(stream.simulation.now < .seconds(10))
    }
}
