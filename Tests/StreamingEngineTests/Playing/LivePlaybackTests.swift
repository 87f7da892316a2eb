import Adaptation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Synchronization
import Testing

@Suite struct LivePlaybackTests {
    static let multivariant = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=200000
        a.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=800000
        b.m3u8
        """

    private func channel(_ text: LiveText, options: StreamingOptions = StreamingOptions()) -> OriginPlayback {
        OriginPlayback(options: options) { path, now in
            path == "main.m3u8" ? .text(text.text(at: now)) : text.resource(path, now)
        }
    }

    @Test func aLiveStreamIsPlayedThreeTargetDurationsBehindItsEdgeAndWithinItsWindow() async throws {
        let stream = channel(LiveText())
        let offsets = Mutex<[MediaTime]>([])
        let ended = try await stream.playOut(within: .seconds(600)) { snapshot, now in
            guard snapshot.status == .readyToPlay, let window = snapshot.seekableTimeRange else { return }
            let position = snapshot.timebase.mediaTime(at: now)
            #expect(window.start <= position && position <= window.end + MediaTime(seconds: 6))
            if let edge = snapshot.liveEdge { offsets.withLock { $0.append(edge.mediaTime(at: now) - position) } }
        }
        #expect(!ended)
        #expect(stream.engine.snapshot.playbackType == .live && stream.engine.snapshot.duration == nil)
        #expect(!stream.events.all.contains { $0.kind == .stalled })
        #expect(stream.position > MediaTime(seconds: 590))
        let seen = offsets.withLock { $0 }
        #expect(seen.count > 1000 && seen.allSatisfy { $0 >= MediaTime(seconds: 12) && $0 <= MediaTime(seconds: 26) })
    }

    @Test func aLiveStreamThatEndsIsPlayedToItsEnd() async throws {
        let stream = channel(LiveText(endsAt: .seconds(60)))
        #expect(try await stream.playOut(within: .seconds(300)))
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        #expect(stream.engine.snapshot.duration != nil)
    }

    @Test func aStuckLiveStreamFailsWithTheErrorStuck() async throws {
        let stream = channel(LiveText(stuckAt: .seconds(30)))
        #expect(try await stream.playOut(within: .seconds(600)))
        #expect(stream.engine.snapshot.error?.code == .stuck)
    }

    /// It would be received up to its limit at each reload.
    @Test func aLivePlaylistThatIsTooLargeIsNotLoadedAgain() async throws {
        let text = LiveText()
        let refusals = Mutex(0)
        let stream = OriginPlayback { path, now in
            guard path == "main.m3u8" else { return text.resource(path, now) }
            guard now >= .seconds(30) else { return .text(text.text(at: now)) }
            refusals.withLock { $0 += 1 }
            return .failure(TransportError(.tooLarge, "the playlist is too large"))
        }
        #expect(try await stream.playOut(within: .seconds(60)))
        #expect(stream.engine.snapshot.error?.code == .notLoaded)
        #expect(refusals.withLock { $0 } == 1)
    }

    @Test func anotherVariantIsPlayedIfThePlaylistIsStuck() async throws {
        let (a, b) = (LiveText(prefix: "a", stuckAt: .seconds(60)), LiveText(prefix: "b"))
        var options = StreamingOptions()
        options.variantSelection = VariantSelection(.fixedLowest)
        let stream = OriginPlayback(options: options) { path, now in
            path == "main.m3u8" ? .text(Self.multivariant) : a.resource(path, now) ?? b.resource(path, now)
        }
        #expect(try await stream.playOut(within: .seconds(300)) == false)
        #expect(stream.engine.snapshot.playedVariant?.peakBitRate.bitsPerSecond == 800_000)
        #expect(stream.position > MediaTime(seconds: 240))
    }

    private static let keepingThirtySeconds: StreamingOptions = {
        var options = StreamingOptions()
        options.timeOffsetFromLive = MediaTime(seconds: 30)
        options.preservesTimeOffsetFromLive = true
        return options
    }()

    private static let distant = LiveText(window: 20, head: 20)

    /// Returns the distance from the live edge, in seconds.
    private static func offset(_ stream: OriginPlayback) throws -> Double {
        let edge = try #require(stream.engine.snapshot.liveEdge)
        return (edge.mediaTime(at: stream.simulation.now) - stream.position).seconds
    }

    /// Plays for 20 s, pauses for 3 s, and plays again, after which the playhead is 3 s too late.
    private static func playWithALateStart(_ stream: OriginPlayback) async throws {
        await stream.engine.setRate(1)
        try await stream.simulation.sleep(for: .seconds(20))
        await stream.engine.setRate(0)
        try await stream.simulation.sleep(for: .seconds(3))
        await stream.engine.setRate(1)
        try await stream.simulation.sleep(for: .seconds(2))
    }

    @Test(arguments: [true, false])
    func theConfiguredLiveOffsetIsRestoredByTheRateIfEnabled(isPreserved: Bool) async throws {
        var options = Self.keepingThirtySeconds
        options.preservesTimeOffsetFromLive = isPreserved
        let stream = channel(Self.distant, options: options)
        let offsets = try await stream.run {
            try await Self.playWithALateStart(stream)
            let late = try Self.offset(stream)
            try await stream.simulation.sleep(for: .seconds(200))
            return (late, try Self.offset(stream))
        }
        #expect(offsets.0 > 31, "\(offsets)")
        if isPreserved {
            #expect(abs(offsets.1 - 30) < 0.5, "\(offsets)")
        } else {
            #expect(abs(offsets.1 - offsets.0) < 0.1, "\(offsets)")
        }
        #expect(stream.engine.snapshot.timebase.rate == 1)
        let reasons = Set(stream.rateChanges.map(\.reason))
        #expect(reasons.contains(.liveOffsetCorrection) == isPreserved)
    }

    @Test func anotherRateEndsALiveCorrection() async throws {
        let stream = channel(Self.distant, options: Self.keepingThirtySeconds)
        try await stream.run {
            try await Self.playWithALateStart(stream)
            #expect(stream.engine.snapshot.timebase.rate == 1.05)
            await stream.engine.setRate(0.5)
            try await stream.simulation.sleep(for: .seconds(2))
            #expect(stream.engine.snapshot.timebase.rate == 0.5)
            await stream.engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(2))
            #expect(stream.engine.snapshot.timebase.rate == 1.05)
        }
        #expect(stream.rateChanges.allSatisfy { [0, 0.5, 1, 1.05, 0.95].contains($0.rate) }, "\(stream.rateChanges)")
    }

    @Test func aLiveCorrectionEndsWhenItIsDisabled() async throws {
        let stream = channel(Self.distant, options: Self.keepingThirtySeconds)
        try await stream.run {
            try await Self.playWithALateStart(stream)
            #expect(stream.engine.snapshot.timebase.rate == 1.05)
            await stream.engine.update { $0.preservesTimeOffsetFromLive = false }
            try await stream.simulation.sleep(for: .seconds(2))
            #expect(stream.engine.snapshot.timebase.rate == 1)
        }
    }

    @Test func aLiveCorrectionEndsWithTheStream() async throws {
        let stream = channel(LiveText(window: 20, head: 20, endsAt: .seconds(27)), options: Self.keepingThirtySeconds)
        try await stream.run {
            try await Self.playWithALateStart(stream)
            #expect(stream.engine.snapshot.timebase.rate == 1.05)
            try await stream.simulation.sleep(for: .seconds(15))
            #expect(stream.engine.snapshot.liveEdge == nil)
            #expect(stream.engine.snapshot.timebase.rate == 1)
        }
    }

    @Test func playbackResumesAtTheLiveEdgeIfThePauseOutlastsTheWindow() async throws {
        let stream = channel(LiveText())
        try await stream.run {
            let (engine, time) = (stream.engine, stream.simulation)
            await engine.setRate(1)
            try await time.sleep(for: .seconds(20))
            await engine.setRate(0)
            try await time.sleep(for: .seconds(300))
            await engine.setRate(1)
            try await time.sleep(for: .seconds(30))
        }
        let window = try #require(stream.engine.snapshot.seekableTimeRange)
        #expect(stream.position >= window.start)
        #expect(stream.events.names.contains("timeJump"))
        #expect(stream.engine.snapshot.timeControl == .playing)
    }

    @Test func seeksOfALiveStreamLandInItsWindow() async throws {
        let stream = channel(LiveText(window: 20, head: 20))
        let landed = try await stream.run {
            let engine = stream.engine
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(10))
            let before = await engine.seek(to: .zero, tolerance: .exact)
            let window = engine.snapshot.seekableTimeRange
            let behind = await engine.seek(to: MediaTime(seconds: 100_000), tolerance: .exact)
            return (before, behind, window)
        }
        let window = try #require(landed.2)
        #expect(
            landed.0.isFinished && landed.0.position >= window.start
                && landed.0.position < window.start + MediaTime(seconds: 7)
        )
        #expect(landed.1.isFinished && landed.1.position <= window.end + MediaTime(seconds: 6))
    }

    @Test func aSeekToADateOfALiveStreamReachesIt() async throws {
        let stream = channel(LiveText(window: 20, head: 20, hasDates: true))
        let result = try await stream.run {
            await stream.engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(10))
            await stream.engine.setRate(0)
            try await stream.simulation.sleep(for: .seconds(1))
            let snapshot = stream.engine.snapshot
            guard let date = snapshot.programDate else { return nil as (SeekResult, MediaTime)? }
            let before = stream.position
            return (await stream.engine.seek(to: date.advanced(by: MediaTime(seconds: -20)), tolerance: .exact), before)
        }
        let (landing, before) = try #require(result)
        #expect(landing.isFinished)
        #expect(abs((before - landing.position).seconds - 20) < 0.01)
    }

    /// Plays one day of a live stream, in which the size of the engine's state must not grow.
    @Test func aDayOfALiveStreamIsPlayedWithoutStallsInConstantMemory() async throws {
        let day = Duration.seconds(86_400)
        // Only stalls are recorded: the record of all events of a day would grow itself.
        let stream = OriginPlayback(keeping: { $0.kind == .stalled }) { path, now in
            let text = LiveText(segmentDuration: 10)
            return path == "main.m3u8" ? .text(text.text(at: now)) : text.resource(path, now)
        }
        let longest = Mutex(MediaTime.zero)
        let counts = Mutex(0)
        _ = try await stream.run {
            await stream.engine.setRate(1)
            while stream.simulation.now < day {
                let loaded = stream.engine.snapshot.loadedTimeRanges
                longest.withLock { $0 = max($0, loaded.totalDuration) }
                counts.withLock { $0 = max($0, loaded.ranges.count) }
                try await stream.simulation.sleep(for: .seconds(60))
            }
        }
        #expect(stream.position > MediaTime(seconds: 86_300))
        #expect(!stream.events.all.contains { $0.kind == .stalled })
        #expect(longest.withLock { $0 } < MediaTime(seconds: 120))
        #expect(counts.withLock { $0 } <= 2)
    }

    @Test func fastPlaybackContinuesAtNormalRateAtTheLiveEdge() async throws {
        let stream = channel(LiveText(window: 20, head: 20))
        try await stream.run { [engine = stream.engine] in
            _ = await engine.seek(to: .zero)
            await engine.setRate(2)
            try await stream.simulation.sleep(for: .seconds(300))
            #expect(engine.snapshot.desiredRate == 1 && engine.snapshot.timeControl == .playing)
        }
        let reasons = stream.events.all.compactMap { event -> RateChange.Reason? in
            if case .rateChanged(let change) = event.kind, change.rate == 1 { change.reason } else { nil }
        }
        #expect(reasons == [.playheadReachedLiveEdge])
        #expect(!stream.events.all.contains { $0.kind == .stalled })
    }

    /// Returns a stream of video that continues, with audio in a separate playlist.
    private static func pictures(with audio: LiveText) -> OriginPlayback {
        let pictures = LiveText(prefix: "a")
        let multivariant = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="en",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=300000,CODECS="avc1.4d401e,mp4a.40.2",AUDIO="g"
            a.m3u8
            """
        return OriginPlayback { path, now in
            path == "main.m3u8" ? .text(multivariant) : pictures.resource(path, now) ?? audio.resource(path, now)
        }
    }

    @Test func audioThatEndsBeforeVideoDoesNotStopPlayback() async throws {
        let stream = Self.pictures(with: LiveText(prefix: "s", endsAt: .seconds(12)))
        #expect(try await !stream.playOut(within: .seconds(200)))
        #expect(stream.position > MediaTime(seconds: 180))
        #expect(!stream.events.all.contains { $0.kind == .stalled })
    }

    @Test func aStuckAudioTrackIsDisabledBeforeVideoStalls() async throws {
        let stream = Self.pictures(with: LiveText(prefix: "s", stuckAt: .seconds(12)))
        #expect(try await !stream.playOut(within: .seconds(200)))
        #expect(stream.engine.snapshot.selection[.audio] == nil)
        var recorder = PlaybackMetricsRecorder(creation: .zero)
        for event in stream.events.all { recorder.add(event) }
        #expect(recorder.metrics.stallDuration < .seconds(6), "\(recorder.metrics.stallDuration)")
    }

    @Test func anotherVariantContinuesWithTheNextSegmentAfterAStuckPlaylist() async throws {
        let (a, b) = (LiveText(prefix: "a", stuckAt: .seconds(60)), LiveText(prefix: "b"))
        var options = StreamingOptions()
        options.variantSelection = VariantSelection(.fixedLowest)
        let stream = OriginPlayback(options: options) { path, now in
            path == "main.m3u8" ? .text(Self.multivariant) : a.resource(path, now) ?? b.resource(path, now)
        }
        #expect(try await !stream.playOut(within: .seconds(200)))
        let numbers = stream.events.all.compactMap { event -> Int? in
            guard case .segmentLoaded(let segment) = event.kind else { return nil }
            return Int(segment.address.split(separator: "/").last?.dropFirst().dropLast(3) ?? "")
        }
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 }, "\(numbers)")
    }

    /// The media sequence number increases by many segments that were never listed and are not available.
    @Test func theBufferBeforeAGapIsPlayedBeforeTheGapIsSkipped() async throws {
        let (before, behind) = (LiveText(window: 4, head: 8), LiveText(window: 4, head: 18))
        let stream = OriginPlayback { path, now in
            let text = now < .seconds(20) ? before : behind
            return path == "main.m3u8" ? .text(text.text(at: now)) : text.resource(path, now)
        }
        #expect(try await !stream.playOut(within: .seconds(150)))
        let jumps = stream.events.all.compactMap { event -> (from: MediaTime, to: MediaTime)? in
            if case .timeJumped(let from?, let to) = event.kind { (from, to) } else { nil }
        }
        #expect(jumps.count == 1)
        let jump = try #require(jumps.first)
        let loaded = stream.events.all.prefix { if case .timeJumped(_?, _) = $0.kind { false } else { true } }
            .compactMap { event -> MediaTime? in
                if case .segmentLoaded(let segment) = event.kind { segment.range.end } else { nil }
            }
        // The buffer is played to the end of its last segment, within 0.5 s.
        let end = try #require(loaded.filter { $0 <= jump.to }.max())
        #expect(jump.from >= end - MediaTime(value: 1, timescale: 2) && jump.from <= end, "\(jump) \(end)")
        #expect(jump.to > jump.from + MediaTime(seconds: 6))
        #expect(stream.position > jump.to + MediaTime(seconds: 60))
    }
}
