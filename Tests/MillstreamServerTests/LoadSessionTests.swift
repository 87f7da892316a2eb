import HTTPTypes
import MediaTransport
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests the time for which a request waits for a playlist.
@Suite struct LoadSessionTests {
    /// An origin that does not answer until the request is canceled.
    private struct StalledTransport: Transport {
        func send(_ request: TransportRequest) async throws -> TransportResponse {
            while true { try await Task.sleep(for: .seconds(3_600)) }
        }
    }

    @Test(.timeLimit(.minutes(2))) func playlistThatIsNotSentInTimeIsATimeout() async throws {
        let capacity = ServerCapacity(ServerLimits())
        let session = LoadSession(
            memory: ResourceMemory(ResourceMemory.Options { UnixSeconds(0) }),
            loader: ResourceLoader(StalledTransport(), policy: RecoveryPolicy(retries: 0)),
            capacity: capacity,
            // Its time passes without waiting.
            time: ManualTime()
        )
        let error = await #expect(throws: ServerError.self) {
            _ = try await session.resource(at: ResourceAddress("http://origin.test/a.m3u8"), nil)
        }
        #expect(error?.status == .gatewayTimeout && error?.code == TransportError.Code.timedOut.rawValue)
        #expect(capacity.pendingBytes == 0)
    }
}
