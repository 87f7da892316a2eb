import HLSPlaylist
import MediaTiming
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Synchronization
import Testing

/// Tests of a device that is too slow for video of high resolution, which limits the variant by dropped frames.
struct SlowDeviceTests {
    private static let fastNetwork: StreamingOptions = {
        var options = StreamingOptions()
        options.initialThroughput = BitRate(bitsPerSecond: 50_000_000)
        return options
    }()

    @Test func variantsWithManyDroppedFramesAreAvoided() async throws {
        let simulation = Simulation()
        let stream = TextStreamPlayback(
            SampleStream.film(count: 40),
            simulation: simulation,
            options: Self.fastNetwork,
            pipeline: SlowPipeline(time: simulation, maximumHeight: 360)
        )
        try await stream.run { engine in
            await engine.setRate(1)
            try await simulation.sleep(for: .seconds(200))
        }
        let loaded = stream.events.all.compactMap { event -> LoadedSegment? in
            guard case .segmentLoaded(let segment) = event.kind, segment.mediaType != .audio else { return nil }
            return segment
        }
        let heights = loaded.map { $0.variant?.height ?? 0 }
        // The network allows every variant: the high resolution is fetched first, then the low one for a while, and
        // then the high one again.
        let first = try #require(heights.firstIndex(of: 360))
        #expect(heights.prefix(first).contains(720))
        let again = heights[first...].firstIndex(of: 720) ?? heights.endIndex
        #expect(again - first >= 3)
        #expect(heights[first...].count { $0 == 360 } > heights[first...].count { $0 == 720 })
    }

    @Test func aFastDeviceFetchesTheHighestVariant() async throws {
        let simulation = Simulation()
        let stream = TextStreamPlayback(
            SampleStream.film(),
            simulation: simulation,
            options: Self.fastNetwork,
            pipeline: SlowPipeline(time: simulation, maximumHeight: 1080)
        )
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.expect { $0.hasPlayedToEnd }
        }
        let last = stream.events.all.last {
            if case .segmentLoaded(let segment) = $0.kind { segment.mediaType != .audio } else { false }
        }
        guard case .segmentLoaded(let segment) = last?.kind else {
            Issue.record("nothing was loaded")
            return
        }
        #expect(segment.variant?.height == 720)
    }
}

/// A pipeline that shows 25 frames a second, and drops half of those that are too large.
private final class SlowPipeline: MediaPipeline {
    private struct Piece {
        let range: MediaTimeRange
        let height: Int
    }

    private let base: NonDecodingPipeline
    private let time: any TimeSource
    private let maximumHeight: Int
    private let state = Mutex<(pieces: [Piece], counts: FrameCounts)>(([], FrameCounts()))

    init(time: any TimeSource, maximumHeight: Int) {
        base = NonDecodingPipeline(time: time)
        self.time = time
        self.maximumHeight = maximumHeight
    }

    var frameCounts: FrameCounts { state.withLock { $0.counts } }
    var timebase: Timebase { base.timebase }
    var events: AsyncStream<MediaPipelineEvent> { base.events }

    func canDecode(_ codecs: [String]) -> Bool { true }

    func append(_ segment: PipelineSegment) async throws -> MediaTimeRange {
        if let height = segment.variant?.height, segment.type != .audio {
            state.withLock { $0.pieces.append(Piece(range: segment.range, height: height)) }
        }
        return try await base.append(segment)
    }

    func discard(_ type: MediaType, in range: MediaTimeRange) async { await base.discard(type, in: range) }

    func seek(to target: MediaTime, tolerance: SeekTolerance) async throws -> MediaTime {
        try await base.seek(to: target, tolerance: tolerance)
    }

    func setRate(_ rate: Double, at start: Duration?) async { await base.setRate(rate, at: start) }

    func run() async {
        while !Task.isCancelled {
            try? await time.sleep(for: .milliseconds(200))
            let timebase = base.timebase
            guard timebase.rate != 0 else { continue }
            let position = timebase.mediaTime(at: time.now)
            state.withLock { state in
                let height = state.pieces.last { $0.range.contains(position) }?.height ?? 0
                state.counts.decoded += 5
                if height > maximumHeight { state.counts.dropped += 3 }
            }
        }
    }

    func close() async { await base.close() }
}
