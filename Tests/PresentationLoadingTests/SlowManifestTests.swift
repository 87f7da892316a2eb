import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import PresentationLoading
import ResourceAddressing
import Testing

/// Tests playlists and manifests whose first bytes arrive slowly, or not at all.
@Suite struct SlowManifestTests {
    /// A transport whose bodies have a buffer for each second, without an end.
    private struct DrippingTransport: Transport {
        let time: TestClock
        /// The bytes of each buffer.
        let bytes: [UInt8]

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            let (time, bytes) = (time, bytes)
            let body = AsyncThrowingStream<ByteBuffer, any Error> {
                time.advance(by: .seconds(1))
                return ByteBuffer(bytes: bytes)
            }
            return TransportResponse(to: request, body: TransportBody(body))
        }
    }

    @Test(
        arguments: [
            // Nothing, spaces before a root element, and a manifest that never ends.
            ("", 0), (" ", 20), ("<MPD ", 100),
        ]
    )
    func documentThatArrivesTooSlowlyTimesOut(text: String, count: Int) async throws {
        let clock = TestClock(isMovedBySleeping: true)
        let loader = ResourceLoader(
            DrippingTransport(time: clock, bytes: Array(text.utf8)),
            policy: RecoveryPolicy(retries: 0),
            time: clock
        )
        .translatingPresentations(in: PresentationStore(options: PresentationOptions(time: clock)))
        let error = await #expect(throws: TransportError.self) {
            _ = try await loader.load(TransportRequest(ResourceAddress(TestOrigin.address), kind: .playlist))
        }
        #expect(error?.code == .timedOut)
        #expect(error?.message == "only \(count) bytes were received in 20 seconds")
        #expect(clock.now == .seconds(20))
    }

    /// The request is not repeated, because another attempt would take as long.
    @Test(arguments: [" ", "<MPD "])
    func documentJustAboveTheMinimumThroughputTimesOutOnce(beginning: String) async throws {
        let clock = TestClock(isMovedBySleeping: true)
        let bytes = Array(beginning.utf8) + [UInt8](repeating: 0x20, count: 1_200 - beginning.utf8.count)
        let loader = ResourceLoader(
            DrippingTransport(time: clock, bytes: bytes),
            policy: RecoveryPolicy(retries: 10),
            time: clock
        )
        .translatingPresentations(in: PresentationStore(options: PresentationOptions(time: clock)))
        let error = await #expect(throws: TransportError.self) {
            _ = try await loader.load(TransportRequest(ResourceAddress(TestOrigin.address), kind: .playlist))
        }
        #expect(error?.code == .timedOut && error?.exceedsDocumentTime == true)
        #expect(clock.now == .seconds(65))
    }
}
