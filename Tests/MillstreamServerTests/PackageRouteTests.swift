import AssetStorage
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import NIOCore
import NIOEmbedded
import NetworkConditioning
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests that the playlists of packages are edited within the capacity of the server.
@Suite(.timeLimit(.minutes(10))) struct PackageRouteTests {
    /// A router with a downloaded asset, and one thread that edits playlists.
    private final class Stage: Sendable {
        let asset: StoredAsset
        let library: AssetLibrary
        let capacity: ServerCapacity
        let workers: EditWorkers
        private let responder: RouterResponder<ServerRequestContext>

        /// The address of the media playlist.
        var playlist: String { "/offline/\(asset.id)/media/media.m3u8" }
        /// The file of the media playlist.
        var file: URL { library.packageDirectory(asset.id).appendingPathComponent("media/media.m3u8") }

        init(_ asset: StoredAsset, in library: AssetLibrary, _ limits: ServerLimits) {
            self.asset = asset
            self.library = library
            let capacity = ServerCapacity(limits)
            let workers = EditWorkers(threads: 1)
            self.capacity = capacity
            self.workers = workers
            let policy = SourcePolicy(allowedHosts: [], catalog: []) { _ in false }
            let access: SourceAccess.Access = (ResourceLoader(ScriptedTransport()), policy, HostCache())
            let environment = PlaybackEnvironment(
                sources: SourceAccess(trusted: access, foreign: access),
                signer: SegmentSigner(ServerSecret(bytes: [UInt8](repeating: 1, count: 32))),
                capacity: capacity,
                workers: workers
            )
            let router = Router(context: ServerRequestContext.self)
            MediaRoutes(environment, library: library, links: LinkRegistry(shared: .off), faults: FaultSettings([]))
                .add(to: router)
            responder = router.buildResponder()
        }

        func ask(_ target: String) async throws -> Response {
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            var context = ServerRequestContext(
                source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: logger)
            )
            context.initiator = .player
            return try await responder.respond(to: .get(target), context: context)
        }

        /// Occupies the thread until the task is canceled.
        func occupyThread() async -> Task<Void, any Error> {
            let (steps, step) = AsyncStream<Void>.makeStream()
            let work = Task { [workers] in
                try await workers.run { check in
                    step.yield()
                    while true { try check() }
                }
            }
            for await _ in steps { break }
            return work
        }
    }

    private func onStage(
        _ limits: ServerLimits = ServerLimits(pendingEdits: 1),
        _ test: (Stage) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = try AssetLibrary(directory: folder)
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n"
        let transport = ScriptedTransport(texts: [
            "https://h/a.m3u8": media, "https://h/0.ts": "media", "https://h/1.ts": "media",
        ])
        let download = AssetDownload(
            ResourceAddress("https://h/a.m3u8"),
            into: library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        )
        let stage = Stage(try await download.run(), in: library, limits)
        do {
            try await test(stage)
        } catch {
            try await stage.workers.shutdown()
            throw error
        }
        try await stage.workers.shutdown()
    }

    /// Waits until a number of requests is admitted.
    private func wait(for stage: Stage, toAdmit count: Int) async throws {
        while stage.capacity.pendingRequests != count { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test func playlistIsEditedByTheWorkersOfTheServer() async throws {
        try await onStage { stage in
            let work = await stage.occupyThread()
            let first = Task { try await stage.ask("\(stage.playlist)?absolute") }
            try await wait(for: stage, toAdmit: 1)
            let refused = try await stage.ask("\(stage.playlist)?absolute=1")
            #expect(refused.status == .serviceUnavailable && refused.headers[.retryAfter] == "1")
            // A playlist that is sent as it is stored needs no capacity.
            #expect(try await stage.ask(stage.playlist).status == .ok)
            work.cancel()
            let playlist = try await first.value.body.recorded().text
            #expect(playlist.contains("\nhttp://127.0.0.1/offline/\(stage.asset.id)/media/000000.ts\n"), "\(playlist)")
            try await wait(for: stage, toAdmit: 0)
        }
    }

    @Test func cancelledRequestForAnEditedPlaylistEnds() async throws {
        try await onStage { stage in
            let work = await stage.occupyThread()
            let request = Task { try await stage.ask("\(stage.playlist)?absolute") }
            try await wait(for: stage, toAdmit: 1)
            request.cancel()
            work.cancel()
            await #expect(throws: CancellationError.self) { try await request.value }
            try await wait(for: stage, toAdmit: 0)
        }
    }

    @Test func playlistOfThePlayerOfTheConsoleIsParsedByTheWorkers() async throws {
        try await onStage { stage in
            let address = "/api/playback/playlist?address=\(stage.playlist)"
            let work = await stage.occupyThread()
            let first = Task { try await stage.ask(address) }
            try await wait(for: stage, toAdmit: 1)
            #expect(try await stage.ask(address).status == .serviceUnavailable)
            work.cancel()
            let report = try await first.value.body.recorded().text
            #expect(report.hasPrefix(#"{"type":"media","ended":true"#), "\(report)")
        }
    }

    @Test func editedPlaylistIsUsedAgainUntilItsFileChanges() async throws {
        try await onStage { stage in
            let address = "\(stage.playlist)?absolute"
            let first = try await stage.ask(address).body.recorded().text
            try await wait(for: stage, toAdmit: 0)
            let other = try stage.capacity.admit()
            defer { withExtendedLifetime(other) {} }
            // Without capacity to edit, only a known playlist is sent.
            #expect(try await stage.ask(address).body.recorded().text == first)
            try Data("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-ENDLIST\n".utf8).write(to: stage.file)
            #expect(try await stage.ask(address).status == .serviceUnavailable)
        }
    }

    @Test(arguments: [
        EditLimits(entries: 1), EditLimits(loadedBytes: ByteCount(40)), EditLimits(resultBytes: ByteCount(100)),
    ])
    func largePlaylistIsSentOnlyAsItIsStored(limits: EditLimits) async throws {
        try await onStage(ServerLimits(editing: limits)) { (stage: Stage) async throws in
            #expect(try await stage.ask("\(stage.playlist)?absolute").status == .contentTooLarge)
            #expect(try await stage.ask(stage.playlist).status == .ok)
        }
    }
}
