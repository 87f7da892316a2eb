import MediaTiming
import MillstreamTesting
import NetworkConditioning
import PlaybackReporting
import StreamingEngine
import Synchronization
import Testing

/// Tests every kind of stream over every network: playback never stops, stays in the seekable window, and is reported
/// correctly.
@Suite struct PlaybackMatrixTests {
    /// Networks with steps, waves and outages, each from a different seed.
    static let traces: [LinkProfile] = (0..<20).compactMap { seed in
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
        let periods = (0..<30).map { _ in
            let isOut = next() % 12 == 0
            return LinkTrace.Period(
                duration: .milliseconds(Int64(500 + next() % 8_000)),
                bandwidth: BitRate(bitsPerSecond: isOut ? 0 : Int64(250_000 << (next() % 6))),
                latency: .milliseconds(Int64(next() % 200))
            )
        }
        return LinkTrace(periods).map { LinkProfile(name: "trace \(seed)", trace: $0) }
    }

    @Test func allTracesAreUsed() {
        #expect(Self.traces.count == 20)
    }

    @Test(arguments: StreamShape.allCases, LinkProfile.presets + traces)
    func everyKindOfStreamIsPlayedOverEveryNetwork(shape: StreamShape, link: LinkProfile) async throws {
        let stream = OriginPlayback(link: link) { path, now in shape.resource(path, now) }
        let isHopeless = link.name == "100% Loss"
        let limit = Duration.seconds(shape.isLive && !isHopeless ? 120 : 2_400)
        let ended = try await stream.playOut(within: limit) { snapshot, now in
            let position = snapshot.timebase.mediaTime(at: now)
            guard snapshot.status == .readyToPlay, let window = snapshot.seekableTimeRange else { return }
            // A paused playhead may fall behind a live window; it is moved into it when playback begins.
            if !shape.isLive { #expect(position >= window.start && position <= window.end) }
            #expect(snapshot.loadedTimeRanges.totalDuration <= MediaTime(seconds: 130))
            if snapshot.timeControl == .playing {
                let near = position - MediaTime(value: 1, timescale: 4)
                #expect(
                    snapshot.loadedTimeRanges.contains(position) || snapshot.loadedTimeRanges.contains(near),
                    "it plays at \(position) what is not loaded: \(snapshot.loadedTimeRanges.ranges)"
                )
            }
        }
        let snapshot = stream.engine.snapshot
        if isHopeless {
            #expect(ended && snapshot.status == .failed && snapshot.error != nil)
            #expect(!stream.events.all.contains { $0.kind == .statusChanged(.readyToPlay) })
        } else if shape.isLive {
            #expect(!ended && snapshot.status == .readyToPlay, "\(snapshot.error?.message ?? "it is never ready")")
            #expect(stream.rateChanges.contains { $0.rate == 1 }, "it never begins to play")
        } else {
            #expect(
                ended && snapshot.hasPlayedToEnd,
                "\(snapshot.error?.message ?? "it is stuck at \(stream.position)")"
            )
            #expect(stream.position == MediaTime(seconds: 60))
        }
        check(stream)
    }

    /// Checks that the logs agree with the events from which they were made.
    private func check(_ stream: OriginPlayback) {
        var log = AccessLogRecorder(session: stream.session)
        var metrics = PlaybackMetricsRecorder(creation: stream.session.start)
        let events = stream.events.all
        var stalls = 0
        var isStalled = false
        for event in events {
            _ = log.add(event)
            metrics.add(event)
            switch event.kind {
            case .stalled:
                #expect(!isStalled)
                isStalled = true
                stalls += 1
            case .stallEnded: isStalled = false
            default: break
            }
        }
        #expect(zip(events, events.dropFirst()).allSatisfy { $0.time <= $1.time })
        let totals = log.log.totals
        let end = events.last?.time ?? .zero
        #expect(metrics.metrics(at: end).stallCount == stalls)
        let watched = metrics.metrics(at: end).watchedDuration
        #expect(watched <= end - stream.session.start + .milliseconds(1))
        #expect(abs((totals.durationWatched - watched) / .seconds(1)) < 0.01)
    }

    @Test(arguments: StreamShape.allCases.filter { !$0.isLive }, [1, 2, 3])
    func seeksReachPositionsWithinTheWindow(shape: StreamShape, seed: UInt64) async throws {
        let stream = OriginPlayback(link: LinkProfile(preset: "LTE")) { path, now in shape.resource(path, now) }
        try await stream.run {
            let engine = stream.engine
            await engine.setRate(1)
            var state = seed
            for round in 0..<12 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let target = MediaTime(value: Int64(state >> 33) % 59_000, timescale: 1_000)
                let tolerance = round.isMultiple(of: 2) ? SeekTolerance.exact : .any
                let result = await engine.seek(to: target, tolerance: tolerance)
                #expect(result.isFinished)
                if round.isMultiple(of: 2) { #expect(result.position == target) }
                try await stream.simulation.sleep(for: .milliseconds(Int64(state % 3_000)))
            }
        }
        #expect(stream.engine.snapshot.status == .readyToPlay)
    }
}
