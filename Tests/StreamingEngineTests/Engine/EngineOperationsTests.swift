import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

/// Tests of the asynchronous work of an engine, which must always end with an event.
@Suite struct EngineOperationsTests {
    /// A transport that throws a `CancellationError` for addresses with a given suffix, although no task was canceled.
    private struct CancellingTransport: Transport {
        let suffix: String
        let base: any Transport

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            if request.address.text.hasSuffix(suffix) { throw CancellationError() }
            return try await base.send(request)
        }
    }

    @Test(arguments: ["main.m3u8", "low.m3u8"])
    func aCancellationByTheTransportIsAFailure(_ suffix: String) async throws {
        let simulation = Simulation()
        let texts = TextStreamPlayback.texts("#EXT-X-STREAM-INF:BANDWIDTH=500000\nlow.m3u8\n", ["low"])
        let base = ScriptedTransport(texts.mapValues { [.text($0)] }, time: simulation)
        let engine = PlaybackEngine(
            source: ResourceAddress(TextStreamPlayback.address),
            loading: ResourceLoader(CancellingTransport(suffix: suffix, base: base), time: simulation, jitter: { 0 }),
            pipeline: NonDecodingPipeline(time: simulation),
            time: simulation,
            session: PlaybackSession(id: "test", start: .zero, startDate: .zero)
        ) { _ in }
        let status = try await simulation.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await engine.run() }
                try await simulation.sleep(for: .seconds(60))
                group.cancelAll()
                return engine.snapshot.status
            }
        }
        #expect(status == .failed)
    }
}
