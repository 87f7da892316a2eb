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
        let content: MediaPiece.Content
        let protection: MediaPiece.SampleProtection?
        let fetched: FetchedResource
    }

    /// The reason for which a segment could not be loaded.
    enum Failure: Error {
        /// The segment, its initialization section or its key could not be loaded.
        case transport(TransportError, ResourceRequest.Kind)
        /// The segment or its initialization section could not be decrypted.
        case decryption(String, ResourceAddress)
        /// The segment is protected by a DRM system that is not supported.
        case refused(Protection.Refusal)
    }

    private struct Place: Hashable {
        let address: ResourceAddress
        let range: ByteRange?
    }

    /// The maximum number of cached initialization sections and keys; a stream with more loads some again.
    private static let mostKept = 256
    /// The maximum size of the cached initialization sections and keys, in bytes.
    static let mostKeptBytes = 96 << 20
    /// The maximum length of an initialization section, which allows the `moov` box of a file of several hours.
    static let longestInitialization = ByteCount(64 << 20)
    /// The maximum length of a key response, which has 16 or 32 bytes.
    ///
    /// It allows an error page that is sent instead, so that the actual length can be reported.
    static let longestKey = ByteCount(64 << 10)

    private let fetch: ResourceFetch
    private let report: @Sendable (ResourceRequest) -> Void
    private var kept = BoundedCache<Place, [UInt8]>(limit: mostKeptBytes, mostValues: mostKept)
    private var underWay: [Place: Signal] = [:]

    init(_ fetch: ResourceFetch, report: @escaping @Sendable (ResourceRequest) -> Void) {
        self.fetch = fetch
        self.report = report
    }

    /// Loads a segment concurrently with its initialization section and key.
    ///
    /// - Throws: ``Failure``, `CancellationError`.
    func load(_ segment: SegmentReference, kind: TransportRequest.Kind, watch: TransferWatch) async throws -> Loaded {
        if let refusal = segment.protection.refusal ?? segment.initialization?.protection.refusal {
            throw Failure.refused(refusal)
        }
        let request = TransportRequest(segment.address, kind: kind, byteRange: segment.byteRange)
        if segment.initialization == nil, segment.protection.key == nil {
            let fetched = try await load(request, watch)
            return Loaded(content: .media(fetched.bytes, initialization: nil), protection: nil, fetched: fetched)
        }
        async let initialization = initialization(segment.initialization)
        async let key = octets(segment.protection.key)
        let fetched = try await load(request, watch)
        var bytes = fetched.bytes
        var sampleProtection: MediaPiece.SampleProtection?
        if let octets = try await key {
            switch segment.protection {
            case .wholeResource(let reference):
                let encrypted = Array(bytes.readableBytesView)
                bytes = ByteBuffer(bytes: try decrypt(encrypted, reference, octets, segment.address))
            case .samples(let reference):
                sampleProtection = MediaPiece.SampleProtection(
                    method: reference.method.rawValue,
                    key: octets,
                    initializationVector: reference.isVectorWritten ? reference.vector : nil
                )
            case .none, .refused: break
            }
        }
        return Loaded(
            content: .media(bytes, initialization: try await initialization),
            protection: sampleProtection,
            fetched: fetched
        )
    }

    private func load(_ request: TransportRequest, _ watch: TransferWatch) async throws -> FetchedResource {
        do {
            return try await fetch.load(request, watch: watch)
        } catch let error as TransportError {
            throw Failure.transport(error, .mediaSegment)
        }
    }

    private func initialization(_ reference: InitializationReference?) async throws -> MediaPiece.Initialization? {
        guard let reference else { return nil }
        let place = Place(address: reference.address, range: reference.byteRange)
        let bytes = try await shared(place, .initialization, .initialization) { bytes in
            guard case .wholeResource(let key) = reference.protection, let octets = try await self.octets(key) else {
                return bytes
            }
            return try self.decrypt(bytes, key, octets, reference.address)
        }
        let range = reference.byteRange.map { " \($0)" } ?? ""
        return MediaPiece.Initialization(id: reference.address.text + range, bytes: bytes)
    }

    private func octets(_ reference: KeyReference?) async throws -> [UInt8]? {
        guard let reference else { return nil }
        let size = reference.method == .aes256GCM ? 32 : 16
        return try await shared(Place(address: reference.address, range: nil), .key, .contentKey) { bytes in
            guard bytes.count == size else {
                throw Failure.decryption("a key has \(size) octets, and \(bytes.count) came", reference.address)
            }
            return bytes
        }
    }

    /// Returns a cached resource, or loads it once for all concurrent callers.
    private func shared(
        _ place: Place,
        _ kind: TransportRequest.Kind,
        _ reported: ResourceRequest.Kind,
        _ prepare: ([UInt8]) async throws -> [UInt8]
    ) async throws -> [UInt8] {
        while true {
            if let bytes = kept.value(for: place) { return bytes }
            guard let signal = underWay[place] else { break }
            await signal.wait(after: 0)
            try Task.checkCancellation()
        }
        let signal = Signal()
        underWay[place] = signal
        defer {
            underWay[place] = nil
            signal.notify()
        }
        let request = TransportRequest(place.address, kind: kind, byteRange: place.range)
        let began = fetch.time.now
        do {
            let limit = kind == .key ? Self.longestKey : Self.longestInitialization
            let fetched = try await fetch.load(request, limit: limit)
            report(ResourceRequest(reported, request, fetched))
            let bytes = try await prepare(Array(fetched.bytes.readableBytesView))
            kept.insert(bytes, for: place, cost: bytes.count)
            return bytes
        } catch let error as TransportError {
            report(ResourceRequest(reported, request, began: began, now: fetch.time.now, error))
            throw Failure.transport(error, reported)
        }
    }

    private func decrypt(
        _ bytes: [UInt8],
        _ key: KeyReference,
        _ octets: [UInt8],
        _ address: ResourceAddress
    ) throws -> [UInt8] {
        do {
            return try SegmentDecryption.decrypt(bytes, key, octets: octets)
        } catch let failure as SegmentDecryption.Failure {
            throw Failure.decryption(failure.message, address)
        }
    }
}
