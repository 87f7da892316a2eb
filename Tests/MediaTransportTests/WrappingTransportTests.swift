import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

/// Tests transports that pass requests on to others.
@Suite struct WrappingTransportTests {
    private static let request = TransportRequest(ResourceAddress("http://h/a"), kind: .segment)

    @Test func overlayReceivesAllRequestsUntilItIsRemoved() async throws {
        let base = ScriptedTransport(texts: ["http://h/a": "base"])
        let overlay = ScriptedTransport(texts: ["http://h/a": "overlay"])
        let transport = OverlaidTransport(base)
        _ = try await transport.send(Self.request)
        transport.setOverlay(overlay)
        for _ in 0..<2 { _ = try await transport.send(Self.request) }
        transport.setOverlay(nil)
        _ = try await transport.send(Self.request)
        #expect(base.requests.count == 2 && overlay.requests.count == 2)
    }

    @Test func buffersAreReportedBeforeTheyAreDelivered() async throws {
        struct Exceeded: Error {}
        let received = Mutex<[Int]>([])
        let transport = MeteredTransport(ScriptedTransport(texts: ["http://h/a": "media"])) { count in
            let total = received.withLock { received in
                received.append(count)
                return received.reduce(0, +)
            }
            if total > 5 { throw Exceeded() }
        }
        let bytes = try await transport.send(Self.request).wholeBody()
        #expect(bytes == Array("media".utf8) && received.withLock { $0 } == [5])
        let second = try await transport.send(Self.request)
        #expect(second.expectedLength == 5)
        await #expect(throws: Exceeded.self) { try await second.wholeBody() }
        #expect(received.withLock { $0 } == [5, 5])
    }
}
