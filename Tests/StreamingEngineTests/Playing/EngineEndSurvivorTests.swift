import MediaTiming
import MillstreamTesting
import NetworkConditioning
import PlaybackReporting
import StreamingEngine
import Synchronization
import Testing

/// Tests of the end of an engine, and of the start of playback with little media.
@Suite struct EngineEndSurvivorTests {
    /// A pipeline that counts the calls that close it.
    private final class ClosingPipeline: MediaPipeline {
        private let base: NonDecodingPipeline
        private let count = Mutex(0)

        init(time: any TimeSource) { base = NonDecodingPipeline(time: time) }

        /// The number of calls that closed the pipeline.
        var closeCount: Int { count.withLock { $0 } }
        var frameCounts: FrameCounts { base.frameCounts }
        var timebase: Timebase { base.timebase }
        var events: AsyncStream<MediaPipelineEvent> { base.events }

        func canDecode(_ codecs: [String]) -> Bool { true }

        func append(_ segment: PipelineSegment) async throws -> MediaTimeRange { try await base.append(segment) }

        func discard(_ type: MediaType, in range: MediaTimeRange) async { await base.discard(type, in: range) }

        func seek(to target: MediaTime, tolerance: SeekTolerance) async throws -> MediaTime {
            try await base.seek(to: target, tolerance: tolerance)
        }

        func setRate(_ rate: Double, at start: Duration?) async { await base.setRate(rate, at: start) }

        func close() async {
            count.withLock { $0 += 1 }
            await base.close()
        }
    }

    /// The second stream is played, and canceled after 30 s.
    @Test(arguments: [false, true])
    func anEngineClosesItsPipelineAfterAFailureAndAfterItsCancellation(isPlayable: Bool) async throws {
        let simulation = Simulation()
        let pipeline = ClosingPipeline(time: simulation)
        let texts = isPlayable ? SampleStream.film() : [:]
        let stream = TextStreamPlayback(texts, simulation: simulation, pipeline: pipeline)
        let engine = stream.engine
        let endsByItself = try await simulation.run {
            await withTaskGroup(of: Bool.self) { group in
                group.addTask {
                    await engine.run()
                    return true
                }
                group.addTask {
                    await engine.setRate(1)
                    try? await simulation.sleep(for: .seconds(30))
                    return false
                }
                let first = await group.next()
                group.cancelAll()
                return first == true
            }
        }
        #expect(endsByItself == !isPlayable && pipeline.closeCount == 1)
        #expect(engine.snapshot.status == (isPlayable ? .readyToPlay : .failed))
        #expect(pipeline.timebase.rate == 0)
    }

    /// The network has half of the bit rate of the lowest variant, so that a segment of 6 s is not enough.
    @Test func playbackStartsWithWhateverIsLoadedOnlyIfItIsAskedTo() async throws {
        func segmentsBeforeTheStart(_ start: @Sendable (PlaybackEngine) async -> Void) async throws -> Int {
            let link = LinkProfile(
                name: "slow",
                down: LinkProfile.DirectionConditions(bandwidth: BitRate(bitsPerSecond: 150_000))
            )
            let stream = OriginPlayback(link: link) { path, now in StreamShape.muxed.resource(path, now) }
            try await stream.run {
                await start(stream.engine)
                try await stream.simulation.sleep(for: .seconds(120))
            }
            let before = stream.events.all.prefix { event in
                if case .rateChanged(let change) = event.kind { change.rate == 0 } else { true }
            }
            #expect(before.count < stream.events.all.count)
            return before.count { if case .segmentLoaded = $0.kind { true } else { false } }
        }
        let atOnce = try await segmentsBeforeTheStart { await $0.setRate(1, atOnce: true) }
        let usual = try await segmentsBeforeTheStart { await $0.setRate(1) }
        #expect(atOnce == 1 && usual > 1)
    }
}
