import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests the parsing of playlists of an origin for which no client waits anymore.
@Suite struct PlaylistCancellationTests {
    @Test func parsingEndsWhenTheClientLeaves() async throws {
        let segments = String(repeating: "#EXTINF:4,\na.ts\n", count: 5_000)
        let transport = ScriptedTransport(texts: ["https://h/a": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + segments])
        let loader = OriginPlaylistLoader(loader: ResourceLoader(transport), workers: .callingTask)
        let budget = try ServerCapacity(ServerLimits()).admit()
        let address = ResourceAddress("https://h/a")
        let loaded = try await loader.bytes(at: address, budget: budget.editing)
        await #expect(throws: CancellationError.self) {
            try await withThrowingTaskGroup(of: Void.self) { [editing = budget.editing] group in
                group.addTask {
                    withUnsafeCurrentTask { $0?.cancel() }
                    _ = try await loader.parse(loaded, from: address, variables: [:], budget: editing)
                }
                try await group.waitForAll()
            }
        }
    }
}
