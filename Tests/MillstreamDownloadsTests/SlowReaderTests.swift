import AssetStorage
import Foundation
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

/// Tests that a file which a player receives is stored at the pace of the network, and not at that of the player.
@Suite(.timeLimit(.minutes(5))) struct SlowReaderTests {
    private static let base = "https://origin.example/"
    private static let source = ResourceAddress(base + "media.m3u8")
    /// A segment that is larger than what is kept in memory for a player.
    private static let media = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 11 ^ $0 >> 8) }

    private let temporary: TemporaryLibrary
    private let files: RecordingFiles
    private let library: AssetLibrary
    private let origin = PacedTransport([
        source.text: Array(
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n".utf8
        ),
        base + "0.ts": Array("zero".utf8), base + "1.ts": media,
    ])

    init() throws {
        temporary = try TemporaryLibrary()
        files = RecordingFiles(temporary.directory)
        library = try AssetLibrary(directory: temporary.directory, files: files)
    }

    private static func download(_ origin: PacedTransport, into library: AssetLibrary) async throws -> StoredAsset {
        let loader = ResourceLoader(origin, policy: RecoveryPolicy(retries: 0))
        return try await AssetDownload(source, into: library, loader: loader).run()
    }

    /// Plans the asset, and stores its first segment only.
    private func plannedAsset() async throws -> String {
        origin.setFailing(Self.base + "1.ts", true)
        await #expect(throws: DownloadError.self) { _ = try await Self.download(origin, into: library) }
        origin.setFailing(Self.base + "1.ts", false)
        return try #require(try library.assets().first?.id)
    }

    private func player(_ id: String) async throws -> TransportBody.AsyncIterator {
        let transport = AssetTransport(library, id: id, origin: origin)
        let response = try await transport.send(TransportRequest(ResourceAddress(Self.base + "1.ts"), kind: .segment))
        #expect(response.status == 200)
        return response.body.makeAsyncIterator()
    }

    private static func rest(_ iterator: inout TransportBody.AsyncIterator) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let buffer = try await iterator.next() { bytes += buffer.readableBytesView }
        return bytes
    }

    @Test func downloadDoesNotWaitForAPlayerThatStopsReading() async throws {
        let id = try await plannedAsset()
        let before = origin.requests
        var body = try await player(id)
        let first = try #require(try await body.next())
        let asset = try await Self.download(origin, into: library)
        #expect(asset.state == .complete && origin.requests - before == 2)
        // The stored file may be removed while the player still reads it.
        try FileManager.default.removeItem(at: library.packageDirectory(id))
        #expect(try await Array(first.readableBytesView) + Self.rest(&body) == Self.media)
    }

    @Test func transferGoesOnForAnotherReader() async throws {
        let id = try await plannedAsset()
        origin.pause(after: 500_000)
        let before = origin.requests
        var first: TransportBody.AsyncIterator? = try await player(id)
        _ = try await first?.next()
        var second = try await player(id)
        _ = try await second.next()
        first = nil
        origin.resume()
        #expect(try await Self.rest(&second).count > 2_400_000)
        #expect(origin.requests - before == 1)
        #expect(try library.missingCount(id) == 0)
    }

    @Test func transferEndsWithItsLastReader() async throws {
        let id = try await plannedAsset()
        origin.pause(after: 500_000)
        var body: TransportBody.AsyncIterator? = try await player(id)
        _ = try await body?.next()
        body = nil
        // The claim is free, although the origin sends nothing.
        while origin.pausedCount > 0 { try await Task.sleep(for: .milliseconds(5)) }
        origin.resume()
        #expect(try await Self.download(origin, into: library).state == .complete)
        #expect(try library.verify(id).damaged.isEmpty)
    }

    @Test(arguments: [0, 3, 20]) func fileIsPlayedAtTheReadersPaceIfTheDiskFails(_ call: Int) async throws {
        let id = try await plannedAsset()
        files.fail(call, with: ENOSPC)
        var body = try await player(id)
        let first = try #require(try await body.next())
        try await Task.sleep(for: .milliseconds(50))
        #expect(try await Array(first.readableBytesView) + Self.rest(&body) == Self.media)
        #expect(files.failed != nil)
        #expect(try library.missingCount(id) == 1)
    }
}

/// A transport with predefined bodies that arrive in pieces, and that can pause.
private final class PacedTransport: Transport {
    private struct State {
        var requests = 0
        var failing: Set<String> = []
        var limit = Int.max
        var paused: [AsyncStream<Void>.Continuation] = []
        var pausedCount = 0
    }

    private let bodies: [String: [UInt8]]
    private let state = Mutex(State())

    init(_ bodies: [String: [UInt8]]) { self.bodies = bodies }

    var requests: Int { state.withLock { $0.requests } }
    /// The number of bodies that are paused and wanted.
    var pausedCount: Int { state.withLock { $0.pausedCount } }

    func setFailing(_ address: String, _ isFailing: Bool) {
        state.withLock { state in
            if isFailing { state.failing.insert(address) } else { state.failing.remove(address) }
        }
    }

    /// Pauses the bodies that begin from now on after a number of bytes.
    func pause(after count: Int) { state.withLock { $0.limit = count } }

    func resume() {
        let paused = state.withLock { state in
            state.limit = .max
            defer { state.paused = [] }
            return state.paused
        }
        for continuation in paused { continuation.finish() }
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let isFailing = state.withLock { state in
            state.requests += 1
            return state.failing.contains(request.address.text)
        }
        guard let bytes = bodies[request.address.text], !isFailing else {
            throw TransportError(.status, "the server answered 404 Not Found", address: request.address, status: 404)
        }
        return TransportResponse(
            to: request,
            expectedLength: Int64(bytes.count),
            body: TransportBody(Pieces(bytes: bytes, transport: self))
        )
    }

    /// Waits while the transport is paused at a position.
    private func wait(at position: Int) async throws {
        let (waits, continuation) = AsyncStream<Void>.makeStream()
        state.withLock { state in
            guard position >= state.limit else { return continuation.finish() }
            state.paused.append(continuation)
            state.pausedCount += 1
        }
        for await _ in waits {}
        state.withLock { state in
            if position >= state.limit || Task.isCancelled { state.pausedCount -= 1 }
        }
        try Task.checkCancellation()
    }

    private struct Pieces: AsyncSequence, Sendable {
        let bytes: [UInt8]
        let transport: PacedTransport

        struct AsyncIterator: AsyncIteratorProtocol {
            let pieces: Pieces
            var position = 0

            mutating func next() async throws -> ByteBuffer? {
                guard position < pieces.bytes.count else { return nil }
                try await pieces.transport.wait(at: position)
                let end = Swift.min(pieces.bytes.count, position + 100_000)
                defer { position = end }
                return ByteBuffer(bytes: pieces.bytes[position..<end])
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: self) }
    }
}
