import DASHManifest
import DASHTranslation
import HLSPlaylist
import MediaTiming
package import MediaTransport
import NIOCore
import PlaylistEditing
package import ResourceAddressing

/// A transport that answers requests for DASH manifests with HLS playlists.
///
/// The content of a response decides: a manifest is answered with the multivariant playlist of its translation, and
/// anything else is passed on as it arrives. The media playlists have the URL of the manifest with a fragment
/// (``DerivedAddress``). Media is loaded from the origin of the presentation.
package struct PresentationTransport: Transport {
    private let base: any Transport
    private let store: PresentationStore
    private let loader: ResourceLoader
    private let policy: RecoveryPolicy

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - base: The transport that sends all requests.
    ///   - store: The presentations in memory.
    ///   - policy: The policy with the minimum throughput and the time limit of playlists and manifests, whose bytes
    ///     are awaited before a response is returned. No request is repeated.
    package init(
        _ base: any Transport,
        store: PresentationStore,
        policy: RecoveryPolicy = RecoveryPolicy()
    ) {
        self.base = base
        self.store = store
        self.policy = policy
        // The caller repeats the request for a playlist after a failure.
        var singleAttempt = RecoveryPolicy(retries: 0)
        singleAttempt.minimumThroughput = policy.minimumThroughput
        singleAttempt.documentTimeLimit = policy.documentTimeLimit
        loader = ResourceLoader(base, policy: singleAttempt, time: store.options.time)
    }

    /// The executor of the underlying transport.
    package var executor: (any TaskExecutor)? { base.executor }

    /// Sends a request; see `Transport`.
    ///
    /// - Throws: `TransportError`, also for a manifest that cannot be read or translated.
    package func send(_ request: TransportRequest) async throws -> TransportResponse {
        if let derived = DerivedAddress(request.address) { return try await mediaPlaylist(derived, request) }
        guard request.kind == .playlist, request.byteRange == nil, request.resumption == nil else {
            return try await base.send(request)
        }
        let loader = loader(for: request)
        if let session = store.existingSession(for: request.address),
            let result = try await session.currentDynamicResult(using: loader)
        {
            return try response(result, result.translation.multivariantBytes(at: session.address), request)
        }
        return try await recognizing(try await base.send(request), request, loader)
    }

    /// Returns the response, or the translation of the manifest that it contains.
    private func recognizing(
        _ response: TransportResponse,
        _ request: TransportRequest,
        _ loader: ResourceLoader
    ) async throws -> TransportResponse {
        guard response.status == 200 else { return response }
        var buffers: [ByteBuffer] = []
        var head: [UInt8] = []
        let timed = response.requiringThroughput(of: policy, for: request, store.options.time)
        var iterator = timed.body.makeAsyncIterator()
        var recognition = ManifestRecognition.undecided
        // The bytes are examined again after each doubling, so that the cost does not depend on the sizes of the buffers.
        var nextExamination = 1
        while recognition == .undecided {
            guard let buffer = try await iterator.next() else {
                recognition = ManifestRecognition(head, isComplete: true)
                break
            }
            buffers.append(buffer)
            let remaining = max(0, ManifestRecognition.maximumPrologSize - head.count)
            head.append(contentsOf: buffer.readableBytesView.prefix(remaining))
            guard head.count >= min(nextExamination, ManifestRecognition.maximumPrologSize) else { continue }
            nextExamination = head.count * 2
            recognition = ManifestRecognition(head, isComplete: false)
        }
        guard recognition == .manifest else {
            let whole = ResumedBody(first: buffers, rest: .init(iterator: iterator))
            return timed.replacingBody(with: TransportBody(whole))
        }
        let bytes = try await ManifestBody.bytes(
            of: response,
            after: buffers.flatMap { Array($0.readableBytesView) },
            iterator,
            limit: ByteCount(Int64(clamping: store.options.manifest.byteCount))
        )
        let session = store.session(for: request.address)
        let manifest = PresentationSession.LoadedManifest(bytes, address: response.address, record: response.record)
        let result = try await session.adopt(manifest, using: loader)
        store.removeExcess()
        return try self.response(result, result.translation.multivariantBytes(at: session.address), request)
    }

    private func mediaPlaylist(
        _ derived: DerivedAddress,
        _ request: TransportRequest
    ) async throws -> TransportResponse {
        let session = store.session(for: derived.manifest)
        let result = try await session.result(using: loader(for: request))
        store.removeExcess()
        guard let entry = result.translation.playlists.first(where: { $0.fileName == derived.fileName }) else {
            throw TransportError(
                .status,
                "the presentation has no playlist named \(derived.fileName)",
                address: request.address,
                status: 404
            )
        }
        return try response(result, entry.bytes, request)
    }

    /// Returns the loader of the resources that a request needs, with the header fields of the request.
    private func loader(for request: TransportRequest) -> ResourceLoader {
        guard !request.scopedHeaders.isEmpty else { return loader }
        let headers = request.scopedHeaders
        return loader.wrappingTransport { HeaderTransport(base: $0, scopedHeaders: headers) }
    }

    private func response(
        _ result: PresentationSession.Result,
        _ bytes: [UInt8],
        _ request: TransportRequest
    ) throws -> TransportResponse {
        let time = store.options.time
        let record = result.record ?? TransferRecord(TransferMeasurement(requestStart: time.now, isFromCache: true))
        if result.record == nil { record.update { $0.timeToFirstByte = .zero } }
        let body = TransportBody(bytes)
        return TransportResponse(
            status: 200,
            headers: [HeaderField("Content-Type", "application/vnd.apple.mpegurl")],
            address: result.baseAddress ?? request.address,
            expectedLength: Int64(bytes.count),
            body: result.record == nil ? body.measured(by: record, time) : body,
            record: record
        )
    }
}

/// A transport that adds to each request the header fields for its host.
private struct HeaderTransport: Transport {
    let base: any Transport
    let scopedHeaders: [ScopedHeaderField]

    var executor: (any TaskExecutor)? { base.executor }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        var request = request
        request.scopedHeaders += scopedHeaders
        return try await base.send(request)
    }
}

extension TranslatedPresentation {
    /// Returns the multivariant playlist, which refers to the media playlists by their derived addresses.
    fileprivate func multivariantBytes(at manifest: ResourceAddress) throws -> [UInt8] {
        try Playlist.multivariant(multivariant).bytes(rewritingAddressesUpTo: Int.max) { address in
            switch address.role {
            case .variant, .iFrameVariant, .rendition:
                DerivedAddress(manifest: manifest, fileName: address.uri).address.text
            case .segment, .part, .initialization, .key, .renditionReport, .session, .interstitial: nil
            }
        }
    }
}

extension PresentationStore {
    /// Returns the multivariant playlist of a manifest that was not loaded by this transport.
    ///
    /// A loader with this store answers the requests for the media playlists. The manifest must be static.
    ///
    /// - Parameters:
    ///   - bytes: The manifest.
    ///   - address: The address under which the presentation is stored.
    ///   - baseAddress: The base of relative references; `nil` leaves them relative.
    ///   - loader: The loader of segment indexes.
    /// - Returns: The playlist.
    /// - Throws: `TransportError`, `CancellationError`.
    package func multivariantPlaylist(
        of bytes: [UInt8],
        at address: ResourceAddress,
        baseAddress: ResourceAddress?,
        using loader: ResourceLoader
    ) async throws -> [UInt8] {
        let session = session(for: address)
        let manifest = PresentationSession.LoadedManifest(bytes, address: baseAddress)
        return try await session.adopt(manifest, using: loader).translation.multivariantBytes(at: session.address)
    }
}

extension ResourceLoader {
    /// Returns a loader that loads DASH presentations as HLS streams.
    ///
    /// - Parameter store: The presentations in memory.
    /// - Returns: The loader, whose playlist requests are answered with playlists only.
    package func translatingPresentations(in store: PresentationStore) -> ResourceLoader {
        wrappingTransport { PresentationTransport($0, store: store, policy: policy) }
    }
}
