import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

@testable import AssetStorage
@testable import MillstreamDownloads

/// A clock that is set by a test.
private final class SetClock: TimeSource {
    private let state = Mutex(Duration.seconds(100))

    var now: Duration { state.withLock { $0 } }

    func set(_ time: Duration) { state.withLock { $0 = time } }

    func sleep(for duration: Duration) async throws {
        while true { try await SystemTimeSource().sleep(for: .seconds(1)) }
    }
}

/// A transport that sends one segment with a validator, in buffers of one size, each of which arrives at a given time.
private final class TimedTransport: Transport {
    private let playlist: String
    private let clock: SetClock
    private let size: Int
    private let milliseconds: [Int64]

    /// Creates a transport; the times of the buffers are those after the beginning, in milliseconds.
    init(_ playlist: String, _ clock: SetClock, size: Int, _ milliseconds: [Int64]) {
        self.playlist = playlist
        self.clock = clock
        self.size = size
        self.milliseconds = milliseconds
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard request.kind == .segment else {
            let bytes = Array(playlist.utf8)
            return TransportResponse(to: request, expectedLength: Int64(bytes.count), body: TransportBody(bytes))
        }
        let (size, clock) = (size, clock)
        let rest = Mutex(milliseconds)
        let body = AsyncStream<ByteBuffer> {
            let next: Int64? = rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            guard let next else { return nil }
            clock.set(.seconds(100) + .milliseconds(next))
            return ByteBuffer(repeating: 0x47, count: size)
        }
        return TransportResponse(
            status: 200,
            headers: [HeaderField("ETag", "\"1\"")],
            address: request.address,
            expectedLength: Int64(milliseconds.count * size),
            body: TransportBody(body)
        )
    }
}

/// A transport that calls a function before each request of a segment.
private struct NotingTransport: Transport {
    let base: ScriptedTransport
    let note: @Sendable () -> Void

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        if request.kind == .segment { note() }
        return try await base.send(request)
    }
}

/// Tests when files are requested and stored, when a transfer can be continued, and which files are copied.
@Suite(.timeLimit(.minutes(5))) struct FileTransferCaseTests {
    private static let base = "https://films.example/"
    private static let source = ResourceAddress(base + "film.m3u8")
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private static func playlist(_ count: Int, tags: String = "") -> String {
        let segments = (0..<count).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
        return "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(tags)\(segments)#EXT-X-ENDLIST\n"
    }

    private static func origin(_ count: Int, tags: String = "") -> ScriptedTransport {
        var texts = [source.text: playlist(count, tags: tags), base + "i.mp4": "initialization"]
        for number in 0..<count { texts[base + "\(number).ts"] = "segment \(number)" }
        return ScriptedTransport(texts: texts)
    }

    private static func download(
        _ transport: any Transport,
        into library: AssetLibrary,
        time: any TimeSource = SystemTimeSource(),
        records: Bool = false
    ) -> AssetDownload {
        var configuration = DownloadConfiguration(selection: DownloadSelection(), maximumConcurrentFetches: 1)
        if records { configuration.recording = RecordingOptions() }
        return AssetDownload(
            source,
            into: library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: configuration,
            time: time
        )
    }

    // MARK: Order

    /// A download with one fetch at a time has one file that is being stored, and requests no other one meanwhile.
    @Test func fileIsRequestedAfterTheOneBeforeWasStored() async throws {
        let library = library
        let counts = Mutex<[Int]>([])
        let transport = NotingTransport(base: Self.origin(6)) {
            guard let id = try? library.assets().first?.id, let count = try? library.missingCount(id) else { return }
            counts.withLock { $0.append(count) }
        }
        let asset = try await Self.download(transport, into: library).run()
        #expect(asset.state == .complete)
        #expect(counts.withLock { $0 } == [6, 5, 4, 3, 2, 1])
    }

    /// The local playlist of a recording has a segment when its own file is stored, not when its initialization section is.
    @Test func recordedPlaylistHasOnlyStoredSegments() async throws {
        let library = library
        let counts = Mutex<[Int]>([])
        let transport = NotingTransport(base: Self.origin(3, tags: "#EXT-X-MAP:URI=\"i.mp4\"\n")) {
            guard let id = try? library.assets().first?.id else { return }
            let file = library.packageDirectory(id).appendingPathComponent("media/media.m3u8")
            let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
            counts.withLock { $0.append(text.split(separator: "\n").count { $0.hasPrefix("#EXTINF") }) }
        }
        let clock = FollowingClock()
        let asset = try await Self.download(transport, into: library, time: clock, records: true).run()
        #expect(asset.state == .complete && asset.duration == MediaTime(seconds: 12))
        #expect(counts.withLock { $0 } == [0, 1, 2])
    }

    // MARK: Notes

    /// Bytes are written in blocks of 256 KiB, or every half second.
    ///
    /// It is noted that a transfer can be continued after it has lasted for a second, and then every half second.
    @Test(
        arguments: [
            (262_144, [900, 1_000, 1_300, 1_500, 2_100], [1, 1, 0, 1, 1, 0, 1, 0]),
            (10, [499, 500, 999, 1_000, 1_499, 1_500], [2, 2, 0, 2, 0]), (10, [600, 1_200, 1_300, 1_699], [1, 1, 0]),
        ] as [(Int, [Int64], [Int])]
    )
    func longTransferIsNoted(size: Int, milliseconds: [Int64], expected: [Int]) async throws {
        let clock = SetClock()
        let files = RecordingFiles(temporary.directory)
        let library = try AssetLibrary(directory: temporary.directory, files: files)
        let transport = TimedTransport(Self.playlist(1), clock, size: size, milliseconds)
        let asset = try await Self.download(transport, into: library, time: clock).run()
        #expect(asset.state == .complete && asset.bytes == ByteCount(Int64(milliseconds.count * size)))
        let created = files.operations.compactMap { operation -> Int? in
            guard case .createFile(let path, let file) = operation, path.hasSuffix(".ts.part") else { return nil }
            return file
        }
        let file = try #require(created.first)
        // The number of buffers of each write; 0 for a note.
        let steps = files.operations.compactMap { operation -> Int? in
            if case .write(let bytes, file) = operation { return bytes.count / size }
            if case .rename(_, let path) = operation, path.hasSuffix(".resume") { return 0 }
            return nil
        }
        // The rest is written at the end.
        let rest = milliseconds.count - expected.reduce(0, +)
        #expect(steps == expected + [rest])
    }

    // MARK: Transfers

    /// Plans an asset with one segment, which is not stored.
    private func plannedSegment() throws -> StoredResource {
        let playlist = try MediaPlaylist(
            parsing: Array(Self.playlist(1).utf8),
            context: PlaylistContext(address: Self.source)
        )
        let id = try temporary.plan(playlist, at: Self.source)
        return try #require(try library.missingResources(id).first)
    }

    /// A transfer that waits for a player which receives the file ends when it is canceled.
    @Test func waitForAnotherReceptionCanBeCanceled() async throws {
        let resource = try plannedSegment()
        let transport = Self.origin(1)
        let (_, isOwner) = library.reception(of: resource, resource.assetID)
        #expect(isOwner)
        let transfer = try temporary.transfer(resource, transport)
        let running = Task { try await transfer.run() }
        running.cancel()
        let hasEnded = Mutex(false)
        let waiting = Task {
            _ = await running.result
            hasEnded.withLock { $0 = true }
        }
        for _ in 0..<1_000 {
            if hasEnded.withLock({ $0 }) { break }
            try await SystemTimeSource().sleep(for: .milliseconds(5))
        }
        let isCanceled = hasEnded.withLock { $0 }
        #expect(isCanceled)
        library.endReception(of: resource, resource.assetID, length: nil)
        await waiting.value
        let result = await running.result
        #expect(throws: CancellationError.self) { try result.get() }
        #expect(transport.requests.isEmpty)
    }

    /// A part of a stored file is copied unless it is larger than 256 MiB; one that is too large for the asset is not requested.
    @Test(arguments: [(0, 0), (1, 1)] as [(Int64, Int)])
    func copiedFileCountsForTheLimit(excess: Int64, requestCount: Int) async throws {
        let segment = try plannedSegment()
        try temporary.store(Array("zero".utf8), as: segment, of: segment.assetID)
        let part = StoredResource(
            id: segment.id,
            assetID: segment.assetID,
            kind: .segment,
            address: segment.address,
            byteRange: ByteRange(start: 0, length: (256 << 20) + excess),
            path: "\(segment.folder)/part.ts",
            folder: segment.folder,
            timeRange: segment.timeRange,
            order: StoredResource.order(startingAt: .zero, isDeferred: true)
        )
        let transport = ScriptedTransport()
        let transfer = try temporary.transfer(part, transport, limits: DownloadLimits(assetSize: ByteCount(100)))
        let error = await #expect(throws: (any Error).self) { try await transfer.run() }
        #expect(((error as? DownloadError)?.code == .tooLarge) == (requestCount == 0))
        #expect(transport.requests.count == requestCount)
    }
}
