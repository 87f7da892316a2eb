import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamDownloads
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

/// A server that sends the first response for a segment byte by byte, and all others at once.
private final class SlowTransport: Transport {
    private struct State {
        var isSlow = true
        var requests: [String] = []
        var closedCount = 0
    }

    private let texts: [String: String]
    private let continuesTransfers: Bool
    private let state = Mutex(State())

    init(_ texts: [String: String], continuesTransfers: Bool) {
        self.texts = texts
        self.continuesTransfers = continuesTransfers
    }

    /// The requests for segments, as the last part of the URL and the offset.
    var requests: [String] { state.withLock { $0.requests.filter { $0.contains(".ts") } } }
    /// The number of responses that the client has not received completely.
    var closedCount: Int { state.withLock { $0.closedCount } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let offset = Int(request.resumption?.offset ?? 0)
        let name = request.address.lastPathComponent
        let isSlow = state.withLock { state in
            state.requests.append("\(name) \(offset)")
            defer { if name.hasSuffix(".ts") { state.isSlow = false } }
            return state.isSlow && name.hasSuffix(".ts")
        }
        guard let text = texts[request.address.text] else {
            throw TransportError(.status, "not found", address: request.address, status: 404)
        }
        guard offset == 0 || continuesTransfers else {
            throw TransportError(.contentChanged, "changed", address: request.address)
        }
        let bytes = Array(text.utf8.dropFirst(offset))
        return TransportResponse(
            status: offset > 0 ? 206 : 200,
            headers: [HeaderField("ETag", "\"1\"")],
            address: request.address,
            expectedLength: Int64(bytes.count),
            body: TransportBody(buffers(bytes, isSlow: isSlow))
        )
    }

    private func buffers(_ bytes: [UInt8], isSlow: Bool) -> AsyncStream<ByteBuffer> {
        let (buffers, continuation) = AsyncStream<ByteBuffer>.makeStream()
        guard isSlow else {
            continuation.yield(ByteBuffer(bytes: bytes))
            continuation.finish()
            return buffers
        }
        let sending = Task {
            for byte in bytes {
                continuation.yield(ByteBuffer(bytes: [byte]))
                try await Task.sleep(for: .milliseconds(10))
            }
            continuation.finish()
        }
        continuation.onTermination = { [weak self] termination in
            sending.cancel()
            guard case .cancelled = termination else { return }
            self?.state.withLock { $0.closedCount += 1 }
        }
        return buffers
    }
}

/// A server that does not respond.
private struct SilentTransport: Transport {
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        try await Task.sleep(for: .seconds(3_600))
        throw CancellationError()
    }
}

/// Tests that transfers of downloads end while players wait for other media, and are continued afterward.
@Suite(.timeLimit(.minutes(5))) struct PlaybackInterruptionTests {
    private let temporary: TemporaryLibrary
    private static let base = "https://origin.example/"
    private static let source = ResourceAddress(base + "media.m3u8")
    /// A segment that is sent for 40 s, byte by byte.
    private static let segment = (0..<4_000).map { String($0 % 10) }.joined()

    init() throws { temporary = try TemporaryLibrary() }

    private static func origin(continuesTransfers: Bool) -> SlowTransport {
        SlowTransport(
            [
                source.text: "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n",
                base + "0.ts": segment,
            ],
            continuesTransfers: continuesTransfers
        )
    }

    private func wait(until condition: () throws -> Bool) async throws {
        while try !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test(arguments: [false, true], [false, true])
    func transferEndsForAPlayerAndIsContinued(isOtherProcess: Bool, continuesTransfers: Bool) async throws {
        let (library, origin) = (temporary.library, Self.origin(continuesTransfers: continuesTransfers))
        let session = try DownloadSession(
            identifier: "films",
            library: library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0))
        )
        let task = try await session.makeTask(
            Self.source,
            configuration: DownloadConfiguration(maximumConcurrentFetches: 1)
        )
        task.resume()
        try await wait { task.progress.bytes.bytes > 5 }
        let id = task.assetID
        let player = AssetTransport(
            isOtherProcess ? try AssetLibrary(directory: temporary.directory) : library,
            id: id,
            origin: SilentTransport()
        )
        let request = TransportRequest(ResourceAddress(Self.base + "other.ts"), kind: .segment)
        let playing = Task { try await player.send(request) }
        try await wait { origin.closedCount == 1 }
        // The bytes that were received are kept, and nothing is requested while the player waits.
        try await wait { try library.unfinishedFiles(of: library.asset(id)).values.contains { $0 > 5 } }
        try await wait { task.progress.isWaitingForPlayback }
        #expect(task.progress.bytes.bytes > 5)
        #expect(origin.requests == ["0.ts 0"])
        playing.cancel()
        _ = await playing.result
        try await task.value()
        let offset = try #require(origin.requests.dropFirst().first?.split(separator: " ").last.flatMap { Int($0) })
        #expect(offset > 5)
        #expect(origin.requests == ["0.ts 0", "0.ts \(offset)"] + (continuesTransfers ? [] : ["0.ts 0"]))
        let resource = try #require(try library.resources(id).first)
        let file = library.packageDirectory(id).appendingPathComponent(resource.path)
        #expect(try String(contentsOf: file, encoding: .utf8) == Self.segment)
        #expect(try library.verify(id).damaged.isEmpty)
        await session.invalidate()
    }
}
