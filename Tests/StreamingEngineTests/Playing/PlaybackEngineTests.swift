import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@Suite struct PlaybackEngineTests {
    @Test func aStreamOnDemandIsPlayedInItsDuration() async throws {
        let stream = TextStreamPlayback(SampleStream.film())
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.expect(\.hasPlayedToEnd)
        }
        #expect(stream.events.all.contains { $0.kind == .playedToEnd && $0.time == .seconds(60) })
        #expect(stream.engine.snapshot.timebase.mediaTime == MediaTime(seconds: 60))
        #expect(!stream.events.all.contains { $0.kind == .stalled })
    }

    @Test func aStallNamesTheRequestThatPlaybackWaitsFor() async throws {
        let stream = TextStreamPlayback(
            TextStreamPlayback.texts("#EXT-X-STREAM-INF:BANDWIDTH=800000\nv.m3u8\n", ["v"]),
            slow: (suffix: "4.ts", delay: .seconds(90))
        )
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.expect { $0.timeControl == .playing }
            #expect(engine.snapshot.wait == nil)
            try await stream.expect { snapshot in
                if case .waiting = snapshot.timeControl { snapshot.position > .zero } else { false }
            }
            let wait = try #require(engine.snapshot.wait)
            guard case .response(let address, let began) = wait else { return #expect(Bool(false), "\(wait)") }
            #expect(address.lastPathComponent.hasSuffix("4.ts") && began < stream.simulation.now)
            let text = engine.snapshot.wait?.text(at: began + .seconds(12))
            #expect(text == "12 s for \(address.lastPathComponent)")
            try await stream.expect { $0.timeControl == .playing }
            #expect(engine.snapshot.wait == nil)
        }
        #expect(PlaybackWait.retry(at: .seconds(5)).text(at: .seconds(2)) == "next try in 3 s")
    }

    @Test func segmentsAreRequestedOnceAndWhenTheyAreNeeded() async throws {
        let stream = TextStreamPlayback(SampleStream.film())
        try await stream.run { engine in
            await engine.setRate(1)
            _ = try await stream.wait(\.hasPlayedToEnd)
        }
        let asked = stream.transport.requestedAddresses
        #expect(Set(asked).count == asked.count)
        let first = asked.firstIndex { $0.hasSuffix(".ts") }
        // The multivariant playlist, and the playlists of video and audio.
        #expect(first.map { $0 <= 3 } == true)
    }

    @Test func anItemIsReadyAndPausedUntilItIsPlayed() async throws {
        let stream = TextStreamPlayback(SampleStream.film())
        try await stream.run { _ in
            try await stream.expect { $0.status == .readyToPlay }
            try await stream.simulation.sleep(for: .seconds(100))
        }
        #expect(stream.engine.snapshot.timebase.mediaTime == .zero)
        #expect(stream.engine.snapshot.duration == MediaTime(seconds: 60))
        // The buffer is full, but does not exceed its duration.
        let loaded = stream.engine.snapshot.loadedTimeRanges.totalDuration
        #expect(loaded >= MediaTime(seconds: 24) && loaded <= MediaTime(seconds: 30))
    }

    @Test(arguments: [0.5, 2.0])
    func mediaTimeMovesAtTheRate(rate: Double) async throws {
        let stream = TextStreamPlayback(SampleStream.film(count: 20))
        let moved = try await stream.run { engine in
            await engine.setRate(rate)
            _ = try await stream.wait { $0.timeControl == .playing }
            let before = engine.snapshot.timebase.mediaTime(at: stream.simulation.now)
            try await stream.simulation.sleep(for: .seconds(20))
            return engine.snapshot.timebase.mediaTime(at: stream.simulation.now) - before
        }
        #expect(moved == MediaTime(seconds: Int64(20 * rate)))
    }

    @Test(arguments: zip(VariantSwitchMode.allCases, [30, 6, 3] as [Double]))
    func aPinnedVariantIsPlayedAsItsModeDetermines(mode: VariantSwitchMode, at expected: Double) async throws {
        let stream = TextStreamPlayback(SampleStream.film(count: 20))
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.expect { $0.timeControl == .playing && $0.isPlaybackBufferFull }
            try await stream.simulation.sleep(for: .seconds(3) - stream.simulation.now)
            let variants = engine.snapshot.presentation?.variants ?? []
            let high = try #require(variants.first { $0.resolution?.height == 720 })
            #expect(engine.snapshot.playedVariant?.height == 360)
            await engine.update {
                $0.pinning = mode
                $0.pinnedVariant = high.id.text
            }
            try await stream.expect { $0.playedVariant?.height == 720 }
            let position = engine.snapshot.timebase.mediaTime(at: stream.simulation.now)
            #expect(position.seconds >= expected - 0.01 && position.seconds < expected + 0.3, "\(position)")
            // The pinned variant is fetched regardless of the throughput, until it is unpinned.
            try await stream.simulation.sleep(for: .seconds(30))
            #expect(engine.snapshot.fetchedVariant?.height == 720)
            await engine.update { $0.pinnedVariant = "no such variant" }
            try await stream.expect(\.hasPlayedToEnd)
        }
        #expect(!stream.events.all.contains { $0.kind == .stalled })
        let causes = stream.events.all.compactMap { event -> String? in
            guard case .variantSwitchStarted(let change) = event.kind else { return nil }
            return change.cause
        }
        #expect(causes.first { $0 != "start" } == "pinned")
    }

    @Test func aHigherRateMovesTheNextRequestForward() async throws {
        let stream = TextStreamPlayback(SampleStream.film(count: 20))
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(3))
            await engine.setRate(2)
            try await stream.simulation.sleep(for: .seconds(2))
        }
        let times = stream.events.all.compactMap { event -> Duration? in
            guard case .segmentLoaded = event.kind, event.time > .zero else { return nil }
            return event.time
        }
        // The sixth segment fits into the buffer when the playhead is at 6 s, after 4.5 s.
        #expect(times.first == .milliseconds(4_500))
    }

    @Test func anExactSeekReachesItsTarget() async throws {
        let stream = TextStreamPlayback(SampleStream.film())
        let target = try #require(MediaTime(decimal: "41.7"))
        let result = try await stream.run { engine in
            _ = try await stream.wait { $0.status == .readyToPlay }
            return await engine.seek(to: target, tolerance: .exact)
        }
        #expect(result == SeekResult(isFinished: true, position: target))
        #expect(stream.transport.requestedAddresses.contains { $0.hasSuffix("6.ts") })
    }

    @Test func aLaterSeekEndsAnEarlierOne() async throws {
        let stream = TextStreamPlayback(SampleStream.film())
        let results = try await stream.run { engine in
            _ = try await stream.wait { $0.status == .readyToPlay }
            async let first = engine.seek(to: MediaTime(seconds: 50), tolerance: .exact)
            async let second = engine.seek(to: MediaTime(seconds: 20), tolerance: .exact)
            return await [first, second]
        }
        #expect(results.count { $0.isFinished } == 1)
    }

    @Test func aMissingStreamFailsWithTheStatus() async throws {
        let stream = TextStreamPlayback([:])
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.expect { $0.status == .failed }
        }
        #expect(stream.engine.snapshot.error?.status == 404)
        #expect(stream.engine.snapshot.error?.code == .notLoaded)
    }

    @Test func anotherLanguageIsFetchedFromThePlayhead() async throws {
        let stream = TextStreamPlayback(SampleStream.film(count: 20))
        try await stream.run { engine in
            await engine.setRate(1)
            _ = try await stream.wait { $0.timebase.mediaTime(at: stream.simulation.now) > MediaTime(seconds: 10) }
            let korean = engine.snapshot.presentation?.group(.audio)?.options.first { $0.language == "ko" }
            await engine.select(korean, for: .audio)
            try await stream.expect(\.hasPlayedToEnd)
        }
        let korean = stream.transport.requestedAddresses.filter { $0.contains("/ko") && $0.hasSuffix(".ts") }
        #expect(korean.first == "https://origin.example/ko1.ts" && korean.count == 19)
        #expect(!stream.events.all.contains { $0.kind == .stalled })
    }

    @Test func aMissingSegmentIsSkippedAndTheOthersArePlayed() async throws {
        var texts = SampleStream.film()
        texts["https://origin.example/low3.ts"] = nil
        texts["https://origin.example/high3.ts"] = nil
        let stream = TextStreamPlayback(texts)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.expect(\.hasPlayedToEnd)
        }
        let skipped = stream.events.all.compactMap { event -> SkippedSegment? in
            guard case .segmentSkipped(let segment) = event.kind else { return nil }
            return segment
        }
        #expect(skipped.map(\.range) == [MediaTimeRange(start: MediaTime(seconds: 18), end: MediaTime(seconds: 24))])
        #expect(skipped.map(\.reason) == [.notLoaded])
        // The segment is requested once from each variant.
        #expect(stream.transport.requestedAddresses.count { $0.hasSuffix("w3.ts") || $0.hasSuffix("h3.ts") } == 2)
    }

    @Test func playbackIsDeterministic() async throws {
        func events() async throws -> [PlaybackEvent] {
            let stream = TextStreamPlayback(SampleStream.film())
            try await stream.run { engine in
                await engine.setRate(1)
                _ = try await stream.wait(\.hasPlayedToEnd)
            }
            return stream.events.all
        }
        let (first, second) = (try await events(), try await events())
        #expect(first == second && first.count > 20)
    }
}
