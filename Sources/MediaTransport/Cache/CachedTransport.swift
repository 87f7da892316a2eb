public import MediaTiming
import NIOCore
import ResourceAddressing

/// A transport with a private on-disk cache in front of another transport (RFC 9111).
///
/// An entry answers requests for one URL, compared byte by byte, and one byte range of it; the entry of a complete
/// resource also answers requests for its byte ranges. A body is stored while it is read, and only if it is read to the
/// end and has the announced length. An error on the disk never makes a request fail: with a full or missing directory
/// nothing is stored, and a damaged entry is treated as absent. If the damage is found after the first 64 KiB, reading
/// fails with ``TransportError/Code/connectionLost`` and the entry is removed, so that the next request loads the
/// resource again. Bytes with a wrong checksum are never returned.
///
/// The underlying transport follows redirects, so the lifetime of an entry depends on the last response only.
///
/// The following requests bypass the cache: resumptions, requests with a condition or a `Range` field, URLs that are
/// not HTTP, and requests with credentials: header fields that are given for a host, `Authorization`, `Cookie`, or a
/// password in the URL. A response is not stored if a redirect led to a host that received credentials. RFC 9111 §3.5
/// permits a private cache to store such responses, but the cache key would have to contain the secret to distinguish
/// two users.
public final class CachedTransport: Transport {
    private let base: any Transport
    private let carriesCredentials: @Sendable (TransportRequest) -> Bool
    let folder: EntryFolder
    private let rules: CacheRules
    private let time: any TimeSource
    private let now: @Sendable () -> UnixSeconds

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - base: The transport that loads resources that are not in the cache.
    ///   - cache: The cache.
    ///   - time: The clock for transfer measurements.
    ///   - carriesCredentials: Returns a Boolean value that indicates whether `base` adds credentials to a request, such
    ///     as ``HTTPTransport/carriesCredentials(_:)``; by default it adds none.
    public init(
        _ base: any Transport,
        cache: DiskCache,
        time: any TimeSource = SystemTimeSource(),
        carriesCredentials: @escaping @Sendable (TransportRequest) -> Bool = { _ in false }
    ) {
        self.base = base
        self.time = time
        self.carriesCredentials = carriesCredentials
        (folder, rules, now) = (cache.folder, cache.rules, cache.now)
    }

    /// The executor of the underlying transport; see ``Transport/executor``.
    public var executor: (any TaskExecutor)? { base.executor }

    /// Sends a request; see ``Transport/send(_:)``.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard rules.handles(request), !carriesCredentials(request) else { return try await base.send(request) }
        let start = time.now
        let (folder, rules, moment) = (folder, rules, now())
        let found = await folder.perform { folder.candidate(for: request, rules: rules, now: moment) } ?? nil
        if let found, found.isUsable { return cachedResponse(found, request: request, start: start) }
        guard !CacheControl(request: request.allHeaders).contains("only-if-cached") else {
            throw TransportError(
                .status,
                "the resource is not in the cache, and the request allows only cached responses (504)",
                address: request.address,
                status: 504
            )
        }
        return try await load(request, candidate: found, start: start)
    }
}

// MARK: Loading

extension CachedTransport {
    private func load(
        _ request: TransportRequest,
        candidate found: CacheCandidate?,
        start: Duration
    ) async throws -> TransportResponse {
        var outgoing = request
        outgoing.headers += found?.entry.metadata.validationFields ?? []
        let requested = now()
        let response: TransportResponse
        do {
            response = try await base.send(outgoing)
        } catch let error as TransportError {
            return try await staleResponse(after: error, request: request, candidate: found, start: start)
        }
        guard outgoing.isConditional, let found else {
            return await storing(response, request: request, requested: requested)
        }
        guard response.status == 304 else {
            // The stored response is known to be outdated, even if the new body is never received completely.
            await drop(found.entry.file)
            return await storing(response, request: request, requested: requested)
        }
        await drain(response.body)
        guard found.entry.metadata.isConfirmed(by: response.headers) else {
            await drop(found.entry.file)
            return try await load(request, candidate: nil, start: start)
        }
        return await validated(found, by: response, request: request, requested: requested, start: start)
    }

    /// Returns the stored response if the server is unavailable and a stale response is allowed; otherwise throws the
    /// error.
    private func staleResponse(
        after error: TransportError,
        request: TransportRequest,
        candidate found: CacheCandidate?,
        start: Duration
    ) async throws -> TransportResponse {
        if let found, found.isUsable(after: error) {
            await folder.perform { [folder] in folder.markUsed(found.entry) }
            return cachedResponse(found, request: request, start: start)
        }
        if error.status == 404 || error.status == 410 {
            let keys = [request.byteRange, nil].map { EntryKey(address: request.address, byteRange: $0) }
            await folder.perform { [folder] in
                for key in keys { folder.drop(key) }
            }
        }
        throw error
    }

    /// Returns the response, with a body that is stored as an entry while it is read if the rules permit it.
    private func storing(
        _ response: TransportResponse,
        request: TransportRequest,
        requested: UnixSeconds
    ) async -> TransportResponse {
        let metadata = EntryMetadata(
            key: EntryKey(address: request.address, byteRange: request.byteRange),
            status: response.status,
            address: response.address,
            requested: requested,
            received: now(),
            headers: rules.storedFields(of: response.headers)
        )
        guard !response.record.measurement.carriedCredentials,
            rules.allowsStoring(metadata, length: response.expectedLength, of: request)
        else {
            // The new response is newer than the entry, which must not answer matching requests any longer.
            if rules.matches(metadata, request) { await folder.perform { [folder] in folder.drop(metadata.key) } }
            return response
        }
        let buffers = StoringBuffers(
            body: response.body,
            metadata: metadata,
            announcedLength: response.expectedLength,
            folder: folder
        )
        return response.replacingBody(with: TransportBody(buffers))
    }

    /// Reads the empty body of a 304 response to its end, so that the connection can be reused.
    private func drain(_ body: TransportBody) async {
        var iterator = body.makeAsyncIterator()
        while let buffer = try? await iterator.next(), buffer.readableBytes == 0 {}
    }

    private func drop(_ file: EntryFile) async { await folder.perform { [folder] in folder.drop(file) } }
}

// MARK: Responding

extension CachedTransport {
    /// Returns the stored response after the server confirmed that it is still valid.
    private func validated(
        _ found: CacheCandidate,
        by response: TransportResponse,
        request: TransportRequest,
        requested: UnixSeconds,
        start: Duration
    ) async -> TransportResponse {
        var found = found
        found.entry.tail.metadata.update(with: rules.storedFields(of: response.headers))
        found.entry.tail.metadata.requested = requested
        found.entry.tail.metadata.received = now()
        let (entry, folder) = (found.entry, folder)
        let mayStay = rules.allowsStoring(entry.metadata, length: entry.tail.bodyLength, of: request)
        await folder.perform { mayStay ? folder.rewrite(entry) : folder.drop(entry.file) }
        var measurement = response.record.measurement
        measurement.timeToFirstByte = measurement.timeToFirstByte ?? time.now - start
        return makeResponse(found, request: request, measurement: measurement)
    }

    private func cachedResponse(
        _ found: CacheCandidate,
        request: TransportRequest,
        start: Duration
    ) -> TransportResponse {
        var measurement = TransferMeasurement(requestStart: start)
        measurement.timeToFirstByte = time.now - start
        return makeResponse(found, request: request, measurement: measurement)
    }

    private func makeResponse(
        _ found: CacheCandidate,
        request: TransportRequest,
        measurement: TransferMeasurement
    ) -> TransportResponse {
        var measurement = measurement
        measurement.isFromCache = true
        measurement.bytes = .zero
        measurement.timeToLastByte = nil
        let record = TransferRecord(measurement)
        let metadata = found.entry.metadata
        let isRangeOfWhole = metadata.key.byteRange != request.byteRange
        let buffers = StoredBuffers(
            entry: found.entry,
            range: found.range,
            firstBytes: found.firstBytes,
            folder: folder
        )
        return TransportResponse(
            status: isRangeOfWhole ? 206 : metadata.status,
            headers: headers(of: found, request, isRangeOfWhole: isRangeOfWhole),
            address: metadata.address,
            expectedLength: found.range.length,
            body: TransportBody(buffers).measured(by: record, time),
            record: record
        )
    }

    /// Returns the stored header fields with the current `Age` and, for a range of a complete resource,
    /// `Content-Range`.
    private func headers(of found: CacheCandidate, _ request: TransportRequest, isRangeOfWhole: Bool) -> [HeaderField] {
        let metadata = found.entry.metadata
        let replaced: Set<String> = isRangeOfWhole ? ["age", "content-length", "content-range"] : ["age"]
        var headers = metadata.headers.filter { !replaced.contains($0.name.lowercased()) }
        if isRangeOfWhole {
            let range = found.range
            let position = "bytes \(range.start)-\(range.end -| 1)/\(found.entry.tail.bodyLength)"
            headers += [HeaderField("Content-Range", position), HeaderField("Content-Length", "\(range.length)")]
        }
        let age = Freshness(metadata, kind: request.kind, now: now()).age
        return headers + [HeaderField("Age", "\(age)")]
    }
}
