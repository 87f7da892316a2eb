public import Foundation
public import MediaTiming
import NIOCore
import NIOPosix
import ResourceAddressing

/// Another transport with a cache on disk in front of it, as RFC 9111 wants one that belongs to a single user.
///
/// An entry answers one address, byte for byte, and one byte range of it; a stored whole answers all its ranges. A body is
/// kept while it is read, and only where it is read to its end and has the length that was announced. What goes wrong on
/// the disk costs a hit, never a response: a full or missing folder keeps nothing, a damaged entry counts as absent.
/// Where the damage shows only behind the first 64 KiB, reading fails with ``TransportError/Code/connectionLost``, and the
/// entry is gone when somebody asks again; no wrong byte is handed out.
///
/// The transport below follows redirects, so an entry lives as long as the last response says, whatever led there.
///
/// These go straight through: resumptions, requests with a condition or a `Range` of their own, addresses that are not
/// HTTP, and requests with secrets (`Authorization`, `Cookie`, a password in the address). RFC 9111 §3.5 would let a
/// private cache keep answers to `Authorization`, but the key would have to hold the secret to tell two users apart.
///
/// Only one cache may use a folder at a time. Signed addresses are written to it as they are; only its owner can read it.
public final class CachedTransport: Transport {
    private let base: any Transport
    private let folder: EntryFolder
    private let rules: CacheRules
    private let time: any TimeSource
    private let now: @Sendable () -> UnixSeconds

    /// Opens a cache, and finds what it held before.
    ///
    /// This blocks while the folder is read.
    ///
    /// - Parameters:
    ///   - base: Where bytes come from that are not in the cache.
    ///   - directory: The folder of the cache; it is made where it is not there. Files in it that are not ours stay.
    ///   - options: How much is kept, and of what.
    ///   - time: The clock that responses are measured by.
    ///   - now: The clock that ages are counted by; defaults to that of the system.
    /// - Throws: ``TransportError/Code/fileFailed`` where there is no such folder and none can be made.
    public convenience init(
        _ base: any Transport,
        directory: URL,
        options: Options = Options(),
        time: any TimeSource = SystemTimeSource(),
        now: @escaping @Sendable () -> UnixSeconds = { UnixSeconds(Int64(saturating: Date().timeIntervalSince1970)) }
    ) throws {
        try self.init(base, directory: directory, options: options, time: time, now: now, pool: .singleton)
    }

    /// Makes a cache whose disk a test holds in its hand.
    init(
        _ base: any Transport,
        directory: URL,
        options: Options,
        time: any TimeSource,
        now: @escaping @Sendable () -> UnixSeconds,
        pool: NIOThreadPool,
        write: @escaping DiskFile.Write = DiskFile.systemWrite
    ) throws {
        self.base = base
        self.time = time
        self.now = now
        rules = CacheRules(kinds: options.kinds, largestEntry: options.largestEntry.bytes)
        folder = try EntryFolder(
            directory.path,
            capacity: options.capacity.bytes,
            largestEntry: options.largestEntry.bytes,
            now: now,
            pool: pool,
            write: write
        )
    }

    /// How much room the entries take on the disk, in whole blocks of 4 KiB.
    public var byteCount: ByteCount { ByteCount(folder.byteCount) }
    /// How many entries there are.
    public var entryCount: Int { folder.count }

    /// Removes all entries; bodies that are being read now will be none either.
    public func removeAll() async { await folder.perform { [folder] in folder.dropAll() } }

    /// Asks for a resource; see ``Transport/send(_:)``.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard rules.concern(request) else { return try await base.send(request) }
        let begun = time.now
        let (folder, rules, moment) = (folder, rules, now())
        let found = await folder.perform { folder.candidate(for: request, rules: rules, now: moment) } ?? nil
        if let found, found.isUsable { return served(found, request, begun) }
        guard !CacheControl(request: request.allHeaders).has("only-if-cached") else {
            throw TransportError(
                .status,
                "the cache does not hold this, and nothing else may be asked (504)",
                address: request.address,
                status: 504
            )
        }
        return try await asked(request, found, begun)
    }
}

// MARK: Asking

extension CachedTransport {
    private func asked(
        _ request: TransportRequest,
        _ found: CacheCandidate?,
        _ begun: Duration
    ) async throws -> TransportResponse {
        var question = request
        question.headers += found?.entry.metadata.validationFields ?? []
        let requested = now()
        let response: TransportResponse
        do {
            response = try await base.send(question)
        } catch let error as TransportError {
            return try await standIn(for: error, request, found, begun)
        }
        guard question.isConditional, let found else { return await storing(response, request, requested) }
        guard response.status == 304 else {
            // What was stored is known to be outdated now, even if the new body never comes to its end.
            await drop(found.entry.file)
            return await storing(response, request, requested)
        }
        await drain(response.body)
        guard found.entry.metadata.isConfirmed(by: response.headers) else {
            await drop(found.entry.file)
            return try await asked(request, nil, begun)
        }
        return await confirmed(found, by: response, request, requested, begun)
    }

    /// What is stored, where the server is out of order and that may be used.
    private func standIn(
        for error: TransportError,
        _ request: TransportRequest,
        _ found: CacheCandidate?,
        _ begun: Duration
    ) async throws -> TransportResponse {
        if let found, found.mayStandIn(for: error) {
            await folder.perform { [folder] in folder.noteUse(found.entry) }
            return served(found, request, begun)
        }
        if error.status == 404 || error.status == 410 {
            let keys = [request.byteRange, nil].map { EntryKey(address: request.address, byteRange: $0) }
            await folder.perform { [folder] in
                for key in keys { folder.drop(key) }
            }
        }
        throw error
    }

    /// The response, which becomes an entry while it is read, if it may.
    private func storing(
        _ response: TransportResponse,
        _ request: TransportRequest,
        _ requested: UnixSeconds
    ) async -> TransportResponse {
        let metadata = EntryMetadata(
            key: EntryKey(address: request.address, byteRange: request.byteRange),
            status: response.status,
            address: response.address,
            requested: requested,
            received: now(),
            headers: rules.kept(response.headers)
        )
        guard rules.mayKeep(metadata, length: response.expectedLength, of: request) else {
            // It is newer than what is stored, which nobody should get any more who asks in the same way.
            if rules.matches(metadata, request) { await folder.perform { [folder] in folder.drop(metadata.key) } }
            return response
        }
        let buffers = StoringBuffers(
            body: response.body,
            metadata: metadata,
            announcedLength: response.expectedLength,
            folder: folder
        )
        return TransportResponse(
            status: response.status,
            headers: response.headers,
            address: response.address,
            expectedLength: response.expectedLength,
            body: TransportBody(buffers),
            record: response.record
        )
    }

    /// Reads the body of a 304, which has no bytes, so that its connection can be used again.
    private func drain(_ body: TransportBody) async {
        var iterator = body.makeAsyncIterator()
        while let buffer = try? await iterator.next(), buffer.readableBytes == 0 {}
    }

    private func drop(_ file: EntryFile) async { await folder.perform { [folder] in folder.drop(file) } }
}

// MARK: Answering

extension CachedTransport {
    /// What is stored, after the server said that it is still good.
    private func confirmed(
        _ found: CacheCandidate,
        by response: TransportResponse,
        _ request: TransportRequest,
        _ requested: UnixSeconds,
        _ begun: Duration
    ) async -> TransportResponse {
        var found = found
        found.entry.tail.metadata.update(with: rules.kept(response.headers))
        found.entry.tail.metadata.requested = requested
        found.entry.tail.metadata.received = now()
        let (entry, folder) = (found.entry, folder)
        let mayStay = rules.mayKeep(entry.metadata, length: entry.tail.bodyLength, of: request)
        await folder.perform { mayStay ? folder.rewrite(entry) : folder.drop(entry.file) }
        var measurement = response.record.measurement
        measurement.firstByte = measurement.firstByte ?? time.now - begun
        return answer(found, request, measurement)
    }

    private func served(
        _ found: CacheCandidate,
        _ request: TransportRequest,
        _ begun: Duration
    ) -> TransportResponse {
        var measurement = TransferMeasurement(sent: begun)
        measurement.firstByte = time.now - begun
        return answer(found, request, measurement)
    }

    private func answer(
        _ found: CacheCandidate,
        _ request: TransportRequest,
        _ measurement: TransferMeasurement
    ) -> TransportResponse {
        var measurement = measurement
        measurement.isFromCache = true
        measurement.bytes = .zero
        measurement.lastByte = nil
        let record = TransferRecord(measurement)
        let metadata = found.entry.metadata
        let isCut = metadata.key.byteRange != request.byteRange
        let buffers = StoredBuffers(entry: found.entry, range: found.range, first: found.first, folder: folder)
        return TransportResponse(
            status: isCut ? 206 : metadata.status,
            headers: headers(of: found, request, isCut: isCut),
            address: metadata.address,
            expectedLength: found.range.length,
            body: TransportBody(buffers).measured(by: record, time),
            record: record
        )
    }

    /// The stored fields, with the age of the response, and with the place of a range that is cut out of a whole.
    private func headers(of found: CacheCandidate, _ request: TransportRequest, isCut: Bool) -> [HeaderField] {
        let metadata = found.entry.metadata
        let replaced: Set<String> = isCut ? ["age", "content-length", "content-range"] : ["age"]
        var headers = metadata.headers.filter { !replaced.contains($0.name.lowercased()) }
        if isCut {
            let range = found.range
            let place = "bytes \(range.start)-\(range.end -| 1)/\(found.entry.tail.bodyLength)"
            headers += [HeaderField("Content-Range", place), HeaderField("Content-Length", "\(range.length)")]
        }
        let age = Freshness(metadata, kind: request.kind, now: now()).age
        return headers + [HeaderField("Age", "\(age)")]
    }
}
