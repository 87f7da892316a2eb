import Foundation
import MediaTiming
import NIOCore
import NIOPosix
import ResourceAddressing
import Synchronization
import Testing

@testable import MediaTransport

/// A response of a scripted server to one request.
struct OriginResponse: Sendable {
    var status = 200
    var headers: [HeaderField] = []
    var chunks: [[UInt8]] = []
    /// The announced length of the body, in bytes.
    ///
    /// The default is the total length of the chunks.
    var announced: Int64?? = .none
    /// The final address after redirects.
    ///
    /// The default is the address of the request.
    var address: ResourceAddress?
    /// The error that ends the body, or that is thrown instead of a response if there are no chunks.
    var failure: TransportError?

    static func text(_ text: String, _ headers: String...) -> OriginResponse {
        bytes(Array(text.utf8), headers)
    }

    static func bytes(_ bytes: [UInt8], _ headers: [String]) -> OriginResponse {
        OriginResponse(headers: headers.compactMap { HeaderField(line: $0) }, chunks: bytes.isEmpty ? [] : [bytes])
    }

    static func notModified(_ headers: String...) -> OriginResponse {
        OriginResponse(status: 304, headers: headers.compactMap { HeaderField(line: $0) })
    }

    static func failing(_ code: TransportError.Code, status: Int? = nil) -> OriginResponse {
        OriginResponse(failure: TransportError(code, "as the script says", status: status))
    }
}

/// A server that answers as scripted: each request consumes the next response, and the last one is repeated.
final class CacheOrigin: Transport {
    private let state = Mutex<(responses: [OriginResponse], requests: [TransportRequest])>(([], []))

    var requests: [TransportRequest] { state.withLock { $0.requests } }
    var requestCount: Int { requests.count }

    func respond(with responses: OriginResponse...) { state.withLock { $0.responses = responses } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let response: OriginResponse? = state.withLock { state in
            state.requests.append(request)
            return state.responses.count > 1 ? state.responses.removeFirst() : state.responses.first
        }
        guard let response else { throw TransportError(.status, "no response is scripted", status: 404) }
        if let failure = response.failure, response.chunks.isEmpty { throw failure }
        var measurement = TransferMeasurement(requestStart: .seconds(7))
        measurement.timeToFirstByte = .milliseconds(30)
        measurement.connectDuration = .milliseconds(11)
        measurement.bytes = ByteCount(9)
        return TransportResponse(
            status: response.status,
            headers: response.headers,
            address: response.address ?? request.address,
            expectedLength: response.announced ?? Int64(response.chunks.reduce(0) { $0 + $1.count }),
            body: TransportBody(OriginChunks(chunks: response.chunks, failure: response.failure)),
            record: TransferRecord(measurement)
        )
    }
}

private struct OriginChunks: AsyncSequence, Sendable {
    let chunks: [[UInt8]]
    let failure: TransportError?

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<[UInt8]>
        let failure: TransportError?

        mutating func next() async throws -> ByteBuffer? {
            try Task.checkCancellation()
            if let chunk = rest.popFirst() { return ByteBuffer(bytes: chunk) }
            if let failure { throw failure }
            return nil
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: chunks[...], failure: failure) }
}

/// A clock that advances only when a test sets it.
final class CacheClock: TimeSource {
    private let state = Mutex(Duration.zero)

    var now: Duration { state.withLock { $0 } }
    func sleep(for duration: Duration) async throws { advance(by: duration) }
    func advance(by duration: Duration) { state.withLock { $0 += duration } }
}

/// Returns whether no process holds a lock of a file, or the file does not exist.
private func isUnlocked(_ path: String) -> Bool {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return true }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0
}

/// A cache in a temporary directory in front of a scripted server, with a clock that the test controls.
final class CacheBench: Sendable {
    /// A pool of one thread, so that work is executed in the order of submission.
    static let pool = {
        let pool = NIOThreadPool(numberOfThreads: 1)
        pool.start()
        return pool
    }()

    let server = CacheOrigin()
    let clock = CacheClock()
    let directory: URL
    private let moment = Mutex<Int64>(1_700_000_000)
    private let room = Mutex<Int64>(.max)

    init() {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("cache-\(UUID().uuidString)")
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func open(_ options: DiskCache.Options = DiskCache.Options()) throws -> CachedTransport {
        try CachedTransport(server, cache: openCache(options), time: clock)
    }

    func openCache(_ options: DiskCache.Options = DiskCache.Options()) throws -> DiskCache {
        try DiskCache(
            directory: directory,
            options: options,
            now: { [weak self] in UnixSeconds(self?.seconds ?? 0) },
            pool: Self.pool,
            write: { [weak self] descriptor, bytes, offset in
                guard let self, let count = self.takeDiskSpace(bytes.count) else { return -1 }
                return DiskFile.systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: bytes[..<count]), offset)
            }
        )
    }

    // MARK: Time

    var seconds: Int64 { moment.withLock { $0 } }
    func advance(by seconds: Int64) { moment.withLock { $0 += seconds } }

    /// Returns an HTTP date that is the given number of seconds after the start time of the bench.
    static func date(_ seconds: Int64) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date(timeIntervalSince1970: TimeInterval(1_700_000_000 + seconds)))
    }

    // MARK: Disk

    /// Creates an empty file that does not belong to the cache.
    func disk() throws -> DiskFile {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return try DiskFile(file("disk").path, flags: O_RDWR | O_CREAT, pool: Self.pool)
    }

    /// Limits the number of bytes that can still be written to the disk.
    func limitDiskSpace(to byteCount: Int64) { room.withLock { $0 = byteCount } }

    private func takeDiskSpace(_ wanted: Int) -> Int? {
        room.withLock { room in
            let count = min(Int64(wanted), room)
            room -= count
            return count > 0 ? Int(count) : nil
        }
    }

    /// The names of the files in the directory, except that of the lock.
    var fileNames: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? [])
            .filter { $0 != EntryFolderLock.fileName }.sorted()
    }

    func file(_ name: String) -> URL { directory.appendingPathComponent(name) }

    /// Returns the only file in the directory, and fails if there is not exactly one.
    func onlyFile() throws -> URL {
        try #require(fileNames.count == 1)
        return file(fileNames[0])
    }

    /// Waits until no cache has the directory open; its last work on the pool can outlive the last reference of a test.
    func waitUntilClosed() async {
        while !isUnlocked(file(EntryFolderLock.fileName).path) { await Task.yield() }
    }

    /// Waits until all work that was submitted to the pool is done.
    ///
    /// Waits twice: the thread may be the last owner of a writer, whose deallocation then submits the removal of its
    /// file.
    func settle() async throws { for _ in 0..<2 { try await Self.pool.runIfActive {} } }
}

extension TransportRequest {
    static func ofSegment(_ path: String = "a", _ headers: String...) -> TransportRequest {
        TransportRequest(
            ResourceAddress("http://media.test/\(path)"),
            kind: .segment,
            headers: headers.compactMap { HeaderField(line: $0) }
        )
    }

    static func ofPlaylist(_ path: String = "list") -> TransportRequest {
        TransportRequest(ResourceAddress("http://media.test/\(path)"), kind: .playlist)
    }

    static func ofRange(_ start: Int64, _ length: Int64, of path: String = "a") -> TransportRequest {
        var request = ofSegment(path)
        request.byteRange = ByteRange(start: start, length: length)
        return request
    }
}

extension TransportResponse {
    func wholeBody() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await buffer in body { bytes += buffer.readableBytesView }
        return bytes
    }
}

extension CachedTransport {
    var entryCount: Int { folder.count }
    var byteCount: ByteCount { ByteCount(folder.byteCount) }
    func removeAll() async { await folder.perform { [folder] in folder.dropAll() } }

    /// Sends a request and returns the whole body as text.
    @discardableResult
    func text(_ request: TransportRequest) async throws -> String {
        String(decoding: try await send(request).wholeBody(), as: UTF8.self)
    }
}

/// Returns pseudorandom bytes that are determined by the seed.
func cacheNoise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed
    return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 33)
    }
}
