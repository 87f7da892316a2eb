import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PresentationLoading
import Testing

/// The memory that presentations take, and the end of their work when the client leaves.
struct PresentationMemoryTests {
    private static let other = "https://example.test/b/manifest"
    private static let media = TestOrigin.address + "#millstream-playlist=video-v1.m3u8"
    /// Elements whose estimated size in memory is several megabytes.
    private static let extensions = String(repeating: "<x/>", count: 20_000)

    private func origin(_ first: String, _ second: String) -> TestOrigin {
        TestOrigin([TestOrigin.address: first, Self.other: second]) { $0.memorySize = ByteCount(1 << 20) }
    }

    @Test func elementsOfAManifestCountAgainstTheMemory() async throws {
        let origin = origin(TestOrigin.liveManifest(Self.extensions), TestOrigin.liveManifest())
        _ = try await origin.multivariant()
        _ = try await origin.media(Self.media)
        #expect(origin.requestCount() == 1)
        _ = try await origin.multivariant(Self.other)
        _ = try await origin.media(Self.media)
        #expect(origin.requestCount() == 2)
    }

    @Test func elementsOfAStaticManifestAreRemovedAfterItsTranslation() async throws {
        let origin = origin(TestOrigin.staticManifest(Self.extensions), TestOrigin.staticManifest())
        _ = try await origin.multivariant()
        _ = try await origin.multivariant(Self.other)
        #expect(try await origin.media(Self.media).segments.count == 5)
        #expect(origin.requestCount() == 1)
    }

    @Test func manifestThatCannotBeTranslatedIsRemovedAndLoadedAgainWhenItsUpdateIsDue() async throws {
        let empty = TestOrigin.manifest(
            #"<Period start="PT0S"/>"#,
            attributes: #"type="dynamic" availabilityStartTime="2024-01-01T00:00:00Z" minimumUpdatePeriod="PT8S""#
        )
        let origin = TestOrigin([TestOrigin.address: empty])
        for _ in 0..<3 {
            let error = await #expect(throws: TransportError.self) { try await origin.playlist() }
            #expect(error?.code == .untranslatable)
        }
        #expect(origin.requestCount() == 1)
        origin.transport.setResponses(for: TestOrigin.address, .text(TestOrigin.liveManifest()))
        origin.clock.advance(by: .seconds(8))
        #expect(try await origin.multivariant().variants.count == 2)
        #expect(origin.requestCount() == 2)
    }

    @Test func staticManifestThatCannotBeTranslatedIsLoadedByTheNextRequest() async throws {
        let empty = TestOrigin.manifest("<Period/>", attributes: #"type="static" mediaPresentationDuration="PT20S""#)
        let origin = TestOrigin([TestOrigin.address: empty])
        let error = await #expect(throws: TransportError.self) { try await origin.media(Self.media) }
        #expect(error?.code == .untranslatable)
        origin.transport.setResponses(for: TestOrigin.address, .text(TestOrigin.staticManifest()))
        #expect(try await origin.media(Self.media).segments.count == 5)
    }

    /// Workers whose client left before the work began.
    private struct AbandonedWorkers: TranslationWorkers {
        func perform<Result: Sendable>(
            _ work: @escaping @Sendable (_ check: () throws -> Void) throws -> Result
        ) async throws -> Result {
            try work { throw CancellationError() }
        }
    }

    @Test func workEndsWhenTheClientLeaves() async throws {
        let origin = TestOrigin([TestOrigin.address: TestOrigin.staticManifest()]) { $0.workers = AbandonedWorkers() }
        await #expect(throws: CancellationError.self) { try await origin.playlist() }
        #expect(origin.requestCount() == 1)
    }
}
