import AssetStorage
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import NIOEmbedded
import NetworkConditioning
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests how often the sources of playlists are requested, and how this is reported.
@Suite(.timeLimit(.minutes(2))) struct PlaylistRouteFaultTests {
    private static let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"

    private func count(_ stage: ServerStage, _ path: String) -> Int { stage.requests.count { $0.path.hasSuffix(path) } }

    /// A client opens a connection for each request, and receives no response that was sent before.
    @Test(arguments: [(nil, "validated"), ("max-age=600", "fresh")] as [(String?, String)])
    func stateOfTheSourcesIsReported(freshness: String?, state: String) async throws {
        let lines = RecordingLogHandler.Lines()
        let logger = Logger(label: "requests") { _ in RecordingLogHandler(lines) }
        try await ServerStage.run(configure: { options, _ in options.requestLogger = logger }) {
            (stage: ServerStage) async throws in
            var source = MisbehavingServer.Resource.text(
                Self.playlist,
                contentType: "application/vnd.apple.mpegurl"
            )
            if let freshness { source.fields.append(MisbehavingServer.Field("Cache-Control", freshness)) }
            stage.origin.set("/private.m3u8", source)
            let address = "/play.m3u8?url=\(stage.privateSource)&duration=4"
            for _ in 0..<3 { #expect(try await stage.ask(address).status == 200) }
            let metrics = try await stage.ask("/metrics").body
            #expect(metrics.contains("millstream_edited_playlists_total{sources=\"edited\"} 1\n"), "\(metrics)")
            #expect(metrics.contains("millstream_edited_playlists_total{sources=\"\(state)\"} 2\n"), "\(metrics)")
            #expect(count(stage, "/private.m3u8") == (freshness == nil ? 3 : 1))
            let states = lines.all.compactMap { $0.firstMatch(of: /cache=([a-z]+)/).map { String($0.output.1) } }
            #expect(states == ["edited", state, state], "\(lines.all)")
        }
    }

    /// If a source has the name of a media file, its bytes are examined once.
    @Test func knownPlaylistWithTheNameOfAMediaFileIsOnlyValidated() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.origin.set("/list.mp4", .init(Array(Self.playlist.utf8), contentType: "video/mp4"))
            stage.origin.behave("/list.mp4", .proper)
            let address = "/play.m3u8?url=\(stage.origin.address("/list.mp4"))"
            #expect(try await stage.ask(address).status == 200)
            let first = count(stage, "/list.mp4")
            #expect(try await stage.ask(address).status == 200)
            #expect(count(stage, "/list.mp4") == first + 1)
        }
    }

    /// If a source does not have the name of a media file, its bytes are examined only if it is not a playlist.
    @Test(arguments: [("/page.mp4", 2), ("/page", 2), ("/page.m3u8", 1)])
    func pageIsNotLookedAtAgain(path: String, requests: Int) async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.origin.set(path, .init(Array("<!DOCTYPE html><html></html>".utf8), contentType: "text/html"))
            stage.origin.behave(path, .proper)
            let response = try await stage.ask("/play.m3u8?url=\(stage.origin.address(path))")
            #expect(response.status == 502 && response.errorCode == "not-a-playlist", "\(response.body)")
            #expect(count(stage, path) == requests)
        }
    }
}

/// Tests the memory that the playlists of packages use, and the addresses of other files.
@Suite(.timeLimit(.minutes(2))) struct PackageFileFaultTests {
    private func withAsset(_ body: (AssetLibrary, StoredAsset) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = try AssetLibrary(directory: folder)
        let transport = ScriptedTransport(texts: [
            "https://h/a.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n",
            "https://h/0.ts": "media",
        ])
        let download = AssetDownload(
            ResourceAddress("https://h/a.m3u8"),
            into: library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        )
        try await body(library, try await download.run())
    }

    private func responder(
        _ library: AssetLibrary,
        _ capacity: ServerCapacity,
        _ workers: EditWorkers = .callingTask
    ) -> RouterResponder<ServerRequestContext> {
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
        return router.buildResponder()
    }

    private func ask(_ target: String, _ responder: RouterResponder<ServerRequestContext>) async throws -> Response {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var context = ServerRequestContext(
            source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: logger)
        )
        context.initiator = .player
        return try await responder.respond(to: .get(target), context: context)
    }

    private func ask(
        _ target: String,
        _ library: AssetLibrary,
        _ limits: ServerLimits = ServerLimits()
    ) async throws -> Response {
        try await ask(target, responder(library, ServerCapacity(limits)))
    }

    /// The stored playlist and its edited form are in memory at the same time.
    @Test func editedPlaylistOfAPackageIsReservedWithTheStoredOne() async throws {
        try await withAsset { library, asset in
            let target = "/offline/\(asset.id)/media/media.m3u8?absolute"
            let edited = try await ask(target, library).body.recorded().bytes.count
            let file = library.packageDirectory(asset.id).appendingPathComponent("media/media.m3u8")
            let total = try Data(contentsOf: file).count + edited
            for (bytes, status) in [(total, .ok), (total - 1, .serviceUnavailable)] as [(Int, HTTPResponse.Status)] {
                let response = try await ask(target, library, ServerLimits(pendingBytes: ByteCount(Int64(bytes))))
                #expect(response.status == status, "\(bytes)")
            }
        }
    }

    /// Only playlists contain addresses.
    @Test func segmentOfAPackageIsNotEdited() async throws {
        try await withAsset { library, asset in
            for query in ["", "?absolute"] {
                let response = try await ask("/offline/\(asset.id)/media/000000.ts\(query)", library)
                #expect(response.status == .ok && response.headers[.cacheControl] == "private, max-age=3600")
                #expect(try await response.body.recorded().text == "media", "\(query)")
            }
        }
    }

    /// The requests for two playlists wait for the same thread, and each of them is edited.
    @Test func differentPlaylistsAreEditedAtTheSameTime() async throws {
        try await withAsset { library, asset in
            let (capacity, workers) = (ServerCapacity(ServerLimits()), EditWorkers(threads: 1))
            let (steps, step) = AsyncStream<Void>.makeStream()
            let occupation = Task {
                try await workers.run { check in
                    step.yield()
                    while true { try check() }
                }
            }
            for await _ in steps { break }
            let responder = responder(library, capacity, workers)
            let requests = ["multivariant.m3u8", "media/media.m3u8"].map { name in
                Task { try await ask("/offline/\(asset.id)/\(name)?absolute", responder).status }
            }
            for _ in 0..<500 where capacity.pendingRequests < 2 { try await Task.sleep(for: .milliseconds(10)) }
            occupation.cancel()
            for request in requests {
                let status = try await request.value
                #expect(status == .ok)
            }
            try await workers.shutdown()
        }
    }
}
