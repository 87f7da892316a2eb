import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Testing

/// Tests that a player of one process and a download of another request each file once; another library object on the same
/// directory represents another process.
@Suite(.timeLimit(.minutes(5))) struct ProcessSharingTests {
    private let temporary: TemporaryLibrary
    private static let base = "https://origin.example/"
    private static let source = ResourceAddress(base + "media.m3u8")

    init() throws { temporary = try TemporaryLibrary() }

    private let origin = ScriptedTransport(texts: [
        source.text: """
        #EXTM3U
        #EXT-X-TARGETDURATION:4
        #EXTINF:4,
        0.ts
        #EXTINF:4,
        1.ts
        #EXTINF:4,
        2.ts
        #EXT-X-ENDLIST

        """,
        base + "0.ts": "zero", base + "1.ts": "one", base + "2.ts": "two",
    ])

    /// A transport whose responses begin when it is released.
    private final class SilentTransport: Transport {
        private let base: ScriptedTransport
        private let gate = AsyncStream<Void>.makeStream()

        init(_ base: ScriptedTransport) { self.base = base }

        func release() { gate.continuation.finish() }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            let response = try await base.send(request)
            for await _ in gate.stream {}
            try Task.checkCancellation()
            return response
        }
    }

    private func another() throws -> AssetLibrary { try AssetLibrary(directory: temporary.directory) }

    private static func download(_ transport: any Transport, into library: AssetLibrary) -> AssetDownload {
        AssetDownload(
            source,
            into: library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: DownloadConfiguration(maximumConcurrentFetches: 1)
        )
    }

    private static func begin(_ transport: any Transport, into library: AssetLibrary) -> Task<StoredAsset, any Error> {
        Task { try await download(transport, into: library).run() }
    }

    private static func text(_ name: String, _ transport: any Transport) async throws -> String {
        let address = ResourceAddress(base + name)
        var text = ""
        for try await buffer in try await transport.send(TransportRequest(address, kind: .segment)).body {
            text += String(buffer: buffer)
        }
        return text
    }

    /// The names of the requested segments, in order.
    private var segments: [String] {
        origin.requests.map(\.address.lastPathComponent).filter { $0.hasSuffix(".ts") }
    }

    /// Waits until the origin has had a number of requests for segments.
    private func wait(forRequests count: Int) async throws {
        while segments.count < count { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// Downloads nothing yet, so that the asset has its playlists only.
    private func plannedAsset() async throws -> String {
        let stopping = BlockingTransport(origin, blocking: Self.base + "0.ts")
        let task = Self.begin(stopping, into: temporary.library)
        try await wait(forRequests: 1)
        task.cancel()
        _ = await task.result
        stopping.release()
        return try #require(try temporary.library.assets().first?.id)
    }

    /// A download and a player of another process that need the same segment.
    private struct Sharing {
        let blocked: BlockingTransport
        /// The library of the player.
        let library: AssetLibrary
        let id: String
        let player: AssetTransport
        /// The number of requests for segments before either began.
        var before = 0
        let task: Task<StoredAsset, any Error>
        /// The text of the segment that the player reads.
        let playing: Task<String, any Error>
    }

    /// Begins a download that waits for the second segment, and then a player that reads it.
    private func beginBeforePlayer() async throws -> Sharing {
        let blocked = BlockingTransport(origin, blocking: Self.base + "1.ts")
        let task = Self.begin(blocked, into: temporary.library)
        try await wait(forRequests: 2)
        let library = try another()
        let id = try #require(try library.assets().first?.id)
        let player = AssetTransport(library, id: id, origin: origin)
        let playing = Task { try await Self.text("1.ts", player) }
        try await Task.sleep(for: .milliseconds(200))
        return Sharing(blocked: blocked, library: library, id: id, player: player, task: task, playing: playing)
    }

    /// Begins a player that waits for the first segment, and then a download.
    private func beginAfterPlayer() async throws -> Sharing {
        let id = try await plannedAsset()
        let before = segments.count
        let library = try another()
        let blocked = BlockingTransport(origin, blocking: Self.base + "0.ts")
        let player = AssetTransport(library, id: id, origin: blocked)
        let playing = Task { try await Self.text("0.ts", player) }
        try await wait(forRequests: before + 1)
        let task = Self.begin(origin, into: temporary.library)
        // The download waits for the first segment.
        try await Task.sleep(for: .milliseconds(200))
        return Sharing(
            blocked: blocked,
            library: library,
            id: id,
            player: player,
            before: before,
            task: task,
            playing: playing
        )
    }

    @Test func playerReadsWhatAnotherProcessReceives() async throws {
        let shared = try await beginBeforePlayer()
        let (library, id) = (shared.library, shared.id)
        shared.blocked.release()
        #expect(try await shared.playing.value == "one")
        #expect(try await Self.text("0.ts", shared.player) == "zero")
        #expect(try await shared.task.value.state == .complete)
        #expect(try await Self.text("2.ts", shared.player) == "two")
        #expect(segments == ["0.ts", "1.ts", "2.ts"])
        #expect(try library.verify(id).damaged.isEmpty)
    }

    @Test func downloadLeavesOutWhatAPlayerOfAnotherProcessReceives() async throws {
        let shared = try await beginAfterPlayer()
        #expect(segments.dropFirst(shared.before) == ["0.ts"])
        shared.blocked.release()
        #expect(try await shared.playing.value == "zero")
        #expect(try await shared.task.value.state == .complete)
        #expect(segments.dropFirst(shared.before) == ["0.ts", "1.ts", "2.ts"])
        #expect(try temporary.library.verify(shared.id).damaged.isEmpty)
    }

    @Test(arguments: [false, true])
    func downloadWaitsWhileAPlayerOfAnotherProcessWaits(isCanceled: Bool) async throws {
        let id = try await plannedAsset()
        let before = segments.count
        let library = try another()
        let silent = SilentTransport(origin)
        let player = AssetTransport(library, id: id, origin: silent)
        let playing = Task { try await Self.text("1.ts", player) }
        try await wait(forRequests: before + 1)
        let task = Self.begin(origin, into: temporary.library)
        try await Task.sleep(for: .milliseconds(500))
        #expect(segments.dropFirst(before) == ["1.ts"])
        if isCanceled { playing.cancel() } else { silent.release() }
        _ = await playing.result
        #expect(try await task.value.state == .complete)
        let expected = isCanceled ? ["1.ts", "0.ts", "1.ts", "2.ts"] : ["1.ts", "0.ts", "2.ts"]
        #expect(Array(segments.dropFirst(before)) == expected)
        #expect(try temporary.library.verify(id).damaged.isEmpty)
    }

    @Test func playerReceivesWhatAnotherProcessLeaves() async throws {
        let shared = try await beginBeforePlayer()
        let (library, id) = (shared.library, shared.id)
        shared.task.cancel()
        shared.blocked.release()
        await #expect(throws: TransportError.self) { try await shared.playing.value }
        _ = await shared.task.result
        // The player repeats its request.
        #expect(try await Self.text("1.ts", shared.player) == "one")
        #expect(segments == ["0.ts", "1.ts", "1.ts"])
        #expect(try library.missingCount(id) == 1)
    }

    @Test func downloadReceivesWhatAPlayerOfAnotherProcessLeaves() async throws {
        let shared = try await beginAfterPlayer()
        shared.playing.cancel()
        shared.blocked.release()
        _ = await shared.playing.result
        #expect(try await shared.task.value.state == .complete)
        #expect(segments.count { $0 == "1.ts" } == 1 && segments.count { $0 == "2.ts" } == 1)
        #expect(try temporary.library.verify(shared.id).damaged.isEmpty)
    }

    /// The bytes that a killed process left are not those that another one receives.
    @Test func bytesOfAnEarlierTransferAreNotRead() async throws {
        let id = try await plannedAsset()
        let before = segments.count
        let path = try #require(try temporary.library.resources(id).first?.path)
        let stale = temporary.library.packageDirectory(id).appendingPathComponent(path + ".part")
        try Data("stale".utf8).write(to: stale)
        let blocked = BlockingTransport(origin, blocking: Self.base + "0.ts")
        let task = Self.begin(blocked, into: temporary.library)
        try await wait(forRequests: before + 1)
        let player = AssetTransport(try another(), id: id, origin: origin)
        let playing = Task { try await Self.text("0.ts", player) }
        try await Task.sleep(for: .milliseconds(300))
        blocked.release()
        #expect(try await playing.value == "zero")
        #expect(try await task.value.state == .complete)
        #expect(segments.dropFirst(before) == ["0.ts", "1.ts", "2.ts"])
    }

    /// A library that is open for reading only stores nothing, and uses what another process receives.
    @Test func readOnlyLibraryFollowsAnotherProcess() async throws {
        let blocked = BlockingTransport(origin, blocking: Self.base + "1.ts")
        let task = Self.begin(blocked, into: temporary.library)
        try await wait(forRequests: 2)
        let library = try AssetLibrary(reading: temporary.directory)
        let id = try #require(try library.assets().first?.id)
        let player = AssetTransport(library, id: id, origin: origin)
        let playing = Task { try await Self.text("1.ts", player) }
        try await Task.sleep(for: .milliseconds(200))
        blocked.release()
        #expect(try await playing.value == "one")
        #expect(try await task.value.state == .complete)
        #expect(segments == ["0.ts", "1.ts", "2.ts"])
    }

    /// The packages of assets that are being played can be deleted by the user.
    @Test func assetThatAPlayerStoresIsDeleted() async throws {
        let id = try await plannedAsset()
        let before = segments.count
        let blocked = BlockingTransport(origin, blocking: Self.base + "1.ts")
        let player = AssetTransport(try another(), id: id, origin: blocked)
        let playing = Task { try await Self.text("1.ts", player) }
        try await wait(forRequests: before + 1)
        try temporary.library.delete(id)
        blocked.release()
        #expect(try await playing.value == "one")
        #expect(!FileManager.default.fileExists(atPath: temporary.library.packageDirectory(id).path))
        #expect(try temporary.library.assets().isEmpty)
    }
}
