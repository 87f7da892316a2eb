import HLSPlaylist
import MediaTiming
import MediaTransport
import NIOCore
import PlaybackReporting
import ResourceAddressing

/// Loads segments with their initialization sections and keys, which are cached because many segments share them.
actor SegmentLoader {
    /// A loaded segment.
    struct Loaded: Sendable {
        let content: PipelineSegment.Content
        let protection: PipelineSegment.SampleProtection?
        let fetched: FetchedResource
    }

    /// The reason for which a segment could not be loaded.
    enum Failure: Error {
        /// The segment, its initialization section or its key could not be loaded.
        case transport(TransportError, ResourceRequest.Kind)
        /// The segment or its initialization section could not be decrypted.
        case decryption(String, ResourceAddress)
        /// The segment is protected by a DRM system that is not supported.
        case unsupportedProtection(Protection.UnsupportedReason)
    }

    private struct ResourceKey: Hashable {
        let address: ResourceAddress
        let range: ByteRange?
    }

    /// The maximum number of cached initialization sections and keys; if a stream has more, some are loaded again.
    static let maximumCacheCount = 256
    /// The maximum size of the cached initialization sections and keys, in bytes.
    static let maximumCacheSize = 96 << 20
    /// The maximum length of an initialization section, which allows the `moov` box of a file of several hours.
    static let maximumInitializationSize = ByteCount(64 << 20)
    /// The maximum length of a key response, which has 16 or 32 bytes.
    ///
    /// It allows an error page that is sent instead, so that the actual length can be reported.
    static let maximumKeySize = ByteCount(64 << 10)

    private let fetch: ResourceFetcher
    private let report: @Sendable (ResourceRequest) -> Void
    private var limits: SegmentSizeLimits
    /// The budget of all segments and initialization sections in progress; `nil` for no common limit.
    let budget: TransferBudget?
    private var cache = BoundedCache<ResourceKey, [UInt8]>(limit: maximumCacheSize, mostValues: maximumCacheCount)
    private var pendingLoads: [ResourceKey: Broadcast] = [:]
    /// The media file that was transferred as a whole when it was opened; `nil` for a stream, and for other files.
    private var openedFile: (address: ResourceAddress, bytes: ByteBuffer)?
    /// The maximum size of a media file whose bytes are stored when it is opened, 1 MiB.
    static let maximumOpenedFileSize = 1 << 20

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - fetch: The loader of the resources.
    ///   - limits: The sizes of segments beyond which they are refused.
    ///   - budget: The budget against which the bytes of segments and initialization sections count while they are
    ///     loaded; `nil` for none. Its limit for segments must be at least the total of `limits`.
    ///   - report: A closure that receives the requests for keys and initialization sections.
    init(
        _ fetch: ResourceFetcher,
        limits: SegmentSizeLimits = SegmentSizeLimits(),
        budget: TransferBudget? = nil,
        report: @escaping @Sendable (ResourceRequest) -> Void
    ) {
        self.fetch = fetch
        self.limits = limits
        self.budget = budget
        self.report = report
    }

    /// Applies the limits of a media file to the segments that are loaded from now on.
    func limitSegments(ofFileAt address: ResourceAddress) { limits = .segments(ofFileAt: address) }

    /// Stores the bytes of a media file that was transferred as a whole when it was opened, so that its segments are
    /// not requested.
    ///
    /// A file that is larger than ``maximumOpenedFileSize`` is not stored.
    func keepFile(_ bytes: [UInt8], at address: ResourceAddress) {
        guard bytes.count <= Self.maximumOpenedFileSize else { return }
        openedFile = (address, ByteBuffer(bytes: bytes))
    }

    /// Returns a part of the media file that was transferred when it was opened; `nil` for any other resource.
    private func openedPart(_ range: ByteRange?, of address: ResourceAddress) -> FetchedResource? {
        guard let openedFile, openedFile.address == address, let range,
            let bytes = openedFile.bytes.getSlice(at: Int(clamping: range.start), length: Int(clamping: range.length))
        else { return nil }
        let now = fetch.time.now
        return FetchedResource(
            bytes: bytes,
            address: address,
            contentType: nil,
            measurement: TransferMeasurement(requestStart: now, isFromCache: true),
            startTime: now,
            endTime: now,
            status: 206
        )
    }

    /// Loads a segment concurrently with its initialization section and key.
    ///
    /// - Parameters:
    ///   - segment: The segment.
    ///   - track: The track that the segment is for, on which its maximum size depends.
    ///   - monitor: The observer of the transfer.
    /// - Returns: The segment without the encryption of the whole resource.
    /// - Throws: ``Failure``, `CancellationError`.
    func load(_ segment: SegmentReference, for track: TrackKind, monitor: TransferMonitor) async throws -> Loaded {
        if let refusal = segment.protection.unsupportedReason ?? segment.initialization?.protection.unsupportedReason {
            throw Failure.unsupportedProtection(refusal)
        }
        if segment.initialization == nil, segment.protection.key == nil {
            let fetched = try await loadMedia(of: segment, for: track, monitor)
            return Loaded(content: .media(fetched.bytes, initialization: nil), protection: nil, fetched: fetched)
        }
        async let initialization = loadInitialization(segment.initialization)
        async let key = loadKey(segment.protection.key)
        let fetched = try await loadMedia(of: segment, for: track, monitor)
        var bytes = fetched.bytes
        var sampleProtection: PipelineSegment.SampleProtection?
        if let octets = try await key {
            switch segment.protection {
            case .wholeResource(let reference):
                let encrypted = Array(bytes.readableBytesView)
                bytes = ByteBuffer(
                    bytes: try decrypt(encrypted, key: reference, keyBytes: octets, address: segment.address)
                )
            case .samples(let reference):
                sampleProtection = PipelineSegment.SampleProtection(
                    method: reference.method.rawValue,
                    key: octets,
                    initializationVector: reference.isInitializationVectorExplicit
                        ? reference.initializationVector : nil
                )
            case .none, .unsupported: break
            }
        }
        return Loaded(
            content: .media(bytes, initialization: try await initialization),
            protection: sampleProtection,
            fetched: fetched
        )
    }

    private func loadMedia(
        of segment: SegmentReference,
        for track: TrackKind,
        _ monitor: TransferMonitor
    ) async throws -> FetchedResource {
        if let part = openedPart(segment.byteRange, of: segment.address) { return part }
        let kind: TransportRequest.Kind = track == .subtitles ? .subtitle : .segment
        let request = TransportRequest(segment.address, kind: kind, byteRange: segment.byteRange)
        do {
            return try await fetch.load(request, limit: limits[track], monitor: monitor, budget: budget)
        } catch let error as TransportError where error.code == .tooLarge {
            let message = "segment \(segment.sequence) is too large: \(error.message)"
            let named = TransportError(.tooLarge, message, address: segment.address, status: error.status, cause: error)
            throw Failure.transport(named, .mediaSegment)
        } catch let error as TransportError {
            throw Failure.transport(error, .mediaSegment)
        }
    }

    private func loadInitialization(
        _ reference: InitializationReference?
    ) async throws -> PipelineSegment.Initialization? {
        guard let reference else { return nil }
        let position = ResourceKey(address: reference.address, range: reference.byteRange)
        let bytes = try await loadShared(position, kind: .initialization, reportedKind: .initialization) { bytes in
            guard case .wholeResource(let key) = reference.protection, let octets = try await self.loadKey(key) else {
                return bytes
            }
            return try self.decrypt(bytes, key: key, keyBytes: octets, address: reference.address)
        }
        let range = reference.byteRange.map { " \($0)" } ?? ""
        return PipelineSegment.Initialization(id: reference.address.text + range, bytes: bytes)
    }

    private func loadKey(_ reference: KeyReference?) async throws -> [UInt8]? {
        guard let reference else { return nil }
        let size = reference.method == .aes256GCM ? 32 : 16
        return try await loadShared(
            ResourceKey(address: reference.address, range: nil),
            kind: .key,
            reportedKind: .contentKey
        ) { bytes in
            guard bytes.count == size else {
                throw Failure.decryption(
                    "the key must have \(size) bytes, but \(bytes.count) were received",
                    reference.address
                )
            }
            return bytes
        }
    }

    /// Returns a cached resource, or loads it once for all concurrent callers.
    private func loadShared(
        _ position: ResourceKey,
        kind: TransportRequest.Kind,
        reportedKind reported: ResourceRequest.Kind,
        prepare: ([UInt8]) async throws -> [UInt8]
    ) async throws -> [UInt8] {
        while true {
            if let bytes = cache.value(for: position) { return bytes }
            guard let signal = pendingLoads[position] else { break }
            await signal.wait(after: 0)
            try Task.checkCancellation()
        }
        let signal = Broadcast()
        pendingLoads[position] = signal
        defer {
            pendingLoads[position] = nil
            signal.notify()
        }
        let request = TransportRequest(position.address, kind: kind, byteRange: position.range)
        var began = fetch.time.now
        do {
            let limit = kind == .key ? Self.maximumKeySize : Self.maximumInitializationSize
            let fetched: FetchedResource
            if let part = openedPart(position.range, of: position.address) {
                fetched = part
            } else {
                fetched = try await fetch.load(request, &began, limit: limit, budget: kind == .key ? nil : budget)
            }
            report(ResourceRequest(reported, request, fetched))
            let bytes = try await prepare(Array(fetched.bytes.readableBytesView))
            cache.insert(bytes, for: position, cost: bytes.count)
            return bytes
        } catch let error as TransportError {
            report(ResourceRequest(reported, request, began: began, now: fetch.time.now, error))
            throw Failure.transport(error, reported)
        }
    }

    private func decrypt(
        _ bytes: [UInt8],
        key: KeyReference,
        keyBytes octets: [UInt8],
        address: ResourceAddress
    ) throws -> [UInt8] {
        do {
            return try SegmentDecryption.decrypt(bytes, key: key, keyBytes: octets)
        } catch let failure as SegmentDecryption.Failure {
            throw Failure.decryption(failure.message, address)
        }
    }
}
