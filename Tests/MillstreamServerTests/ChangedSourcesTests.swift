import HLSPlaylist
import MediaTransport
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests that clients which waited for the same changed sources have one edited playlist.
@Suite struct ChangedSourcesTests {
    private static func sources() -> ChangedSources {
        let loader = ResourceLoader(NoTransport(), policy: RecoveryPolicy(retries: 0))
        return ChangedSources(
            LoadSession(
                memory: ResourceMemory(ResourceMemory.Options { UnixSeconds(0) }),
                loader: loader,
                capacity: ServerCapacity(ServerLimits())
            )
        )
    }

    private static func edited(_ text: String) -> ChangedSources.Edited {
        (EditedPlaylistCache.Entry(Array(text.utf8), versions: [:], second: nil), true)
    }

    @Test func clientThatComesAfterTheWorkHasItsResult() async throws {
        let (sources, clients) = (Self.sources(), SharedWork<ObjectIdentifier, ChangedSources.Edited>(maximumCount: 4))
        let first = try await sources.playlist(clients) { Self.edited("first") }
        let second = try await sources.playlist(clients) {
            Issue.record("the playlist was edited twice")
            return Self.edited("second")
        }
        #expect(first.entry.tag == second.entry.tag && second.isStored)
        // The sources of another request are edited for it.
        let other = try await Self.sources().playlist(clients) { Self.edited("other") }
        #expect(other.entry.tag != first.entry.tag)
    }

    @Test func failureIsNotKept() async throws {
        let (sources, clients) = (Self.sources(), SharedWork<ObjectIdentifier, ChangedSources.Edited>(maximumCount: 4))
        await #expect(throws: TransportError.self) {
            _ = try await sources.playlist(clients) { throw TransportError(.connectionLost, "the network is down") }
        }
        let next = try await sources.playlist(clients) { Self.edited("next") }
        #expect(next.entry.tag == Self.edited("next").entry.tag)
    }
}

private struct NoTransport: Transport {
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        throw TransportError(.connectionLost, "there is no network")
    }
}
