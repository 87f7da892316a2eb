import HLSPlaylist
import MediaTiming
import MediaTransport
import NIOCore
import PlaybackReporting
import ResourceAddressing

/// Determines whether a URL refers to a playlist or a media file, and loads its beginning.
///
/// The decision is based on the first bytes, not on file name extensions or media types. Of a media file, only the
/// beginning is loaded.
struct SourceOpener: Sendable {
    /// The expected kind of resource.
    enum Kind: Sendable {
        case playlist, file

        /// Creates the kind for a media type (RFC 8216bis §4, RFC 3003).
        init(mimeType: String) {
            let essence = mimeType.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
            let playlists: Set = [
                "application/vnd.apple.mpegurl", "application/x-mpegurl", "audio/mpegurl", "audio/x-mpegurl",
                // A manifest is translated before it is opened, or refused.
                "application/dash+xml",
            ]
            self = playlists.contains(essence) ? .playlist : .file
        }
    }

    /// The opened resource.
    enum Opened: Sendable {
        /// A playlist, with the URL from which it was loaded.
        case playlist(Playlist, ResourceAddress)
        /// Another resource: its beginning, the URL from which it was loaded, and its size in bytes if it is known.
        case file(head: [UInt8], ResourceAddress, length: Int64?)
    }

    let fetch: ResourceFetcher
    /// The expected kind of resource, or `nil` to determine it from the first bytes.
    var kind: Kind?
    /// The variables that a playlist may import (`EXT-X-DEFINE` with `IMPORT`).
    var variables: [String: String] = [:]

    /// A Boolean value that indicates whether a cache must not answer without asking the server.
    var bypassesCache = false

    /// The maximum size of a resource that is read as a whole; that of documents by default.
    var maximumSize = ResourceLoader.defaultSizeLimit

    /// The number of bytes of a file that are loaded to determine its kind, 64 KiB.
    private static let headSize = 64 << 10

    /// Returns whether bytes are the beginning of a media file.
    static func isMedia(_ bytes: [UInt8]) -> Bool {
        let content = UnexpectedContent(bytes)
        return content == .mp4 || content == .transportStream || OtherMediaFormat(bytes) != nil
    }

    /// Returns whether the beginning of a media file suffices to open it.
    ///
    /// The index of some formats is found, or the duration estimated, with the size of the file, so that a file whose size the
    /// server does not announce is loaded as a whole.
    static func hasMediaIndex(_ bytes: [UInt8], _ response: TransportResponse) -> Bool {
        isMedia(bytes) && (OtherMediaFormat(bytes) == nil || response.expectedLength != nil)
    }

    /// Loads a resource, or only its beginning.
    ///
    /// - Parameters:
    ///   - address: The address of the resource.
    ///   - began: The time at which the request begins; changed to the start of the last attempt, also if it failed.
    ///   - suffices: Returns whether the beginning suffices; it has at least 64 KiB.
    /// - Returns: The request, the bytes, the response, and whether the bytes are the whole resource.
    /// - Throws: `TransportError`, `CancellationError`.
    func load(
        _ address: ResourceAddress,
        _ began: inout Duration,
        until suffices: @Sendable ([UInt8], TransportResponse) -> Bool
    ) async throws -> (TransportRequest, [UInt8], TransportResponse, isWhole: Bool) {
        let headers = bypassesCache ? [HeaderField("Cache-Control", "no-cache")] : []
        let request = TransportRequest(address, kind: .playlist, headers: headers)
        let (bytes, response, isWhole) = try await fetch.retrying(request, &began) { response, _ in
            var bytes: [UInt8] = []
            var isRecognized = false
            for try await buffer in response.body {
                bytes.append(contentsOf: buffer.readableBytesView)
                guard Int64(bytes.count) <= maximumSize.bytes else {
                    throw TransportError(.tooLarge, "the playlist exceeds the maximum size", address: response.address)
                }
                if bytes.count >= Self.headSize, suffices(bytes, response) { return (bytes, response, false) }
                if bytes.count >= Self.headSize, !isRecognized {
                    isRecognized = true
                    // A media file that is loaded as a whole takes as long as its segments would.
                    if Self.isMedia(bytes) { response.endDocumentTimeLimit() }
                }
            }
            return (bytes, response, true)
        }
        return (request, bytes, response, isWhole)
    }

    /// Opens a URL.
    ///
    /// - Throws: ``StreamingError`` if the resource is an invalid playlist, a DASH manifest, or neither a playlist nor
    ///   a media file; `TransportError`, `CancellationError`.
    func open(_ address: ResourceAddress) async throws -> (opened: Opened, request: ResourceRequest) {
        var began = fetch.time.now
        return try await open(address, &began)
    }

    /// Opens a URL.
    ///
    /// - Parameters:
    ///   - address: The URL.
    ///   - began: The time at which the request begins; changed to the start of the last attempt, also if it failed.
    /// - Returns: The resource, and the report of its request.
    /// - Throws: ``StreamingError`` if the resource is an invalid playlist, a DASH manifest, or neither a playlist nor
    ///   a media file; `TransportError`, `CancellationError`.
    func open(
        _ address: ResourceAddress,
        _ began: inout Duration
    ) async throws -> (opened: Opened, request: ResourceRequest) {
        let (request, bytes, response, isWhole) = try await load(address, &began) { bytes, response in
            kind == .file || kind == nil && (UnexpectedContent(bytes) != nil || Self.hasMediaIndex(bytes, response))
        }
        let fetched = FetchedResource(
            bytes: ByteBuffer(bytes: bytes),
            address: response.address,
            contentType: response.header("Content-Type"),
            measurement: response.record.measurement,
            startTime: began,
            endTime: fetch.time.now,
            status: response.status
        )
        var report = ResourceRequest(.mediaPlaylist, request, fetched)
        let length = isWhole ? Int64(bytes.count) : response.expectedLength
        if kind == .file {
            report.describeFile(at: response.address)
            return (.file(head: bytes, response.address, length: length), report)
        }
        var context = PlaylistContext(address: response.address, importableVariables: variables)
        context.mayNameFiles = response.mayNameFiles
        let parsed = try Playlist.parseUnlessCanceled(bytes, context: context)
        do {
            let playlist = try parsed.get()
            try playlist.checkHeader()
            switch playlist {
            case .multivariant(let multivariant):
                report.kind = .multivariantPlaylist
                // A stored playlist needs no parameters of the URL from which it was downloaded.
                if !response.mayNameFiles { try multivariant.checkParameters() }
            case .media(let media): try media.checkImports()
            }
            return (.playlist(playlist, response.address), report)
        } catch {
            report.describeFile(at: response.address)
            guard case .notAPlaylist(let content) = error, kind == nil || content == .dashManifest else {
                throw StreamingError(.unreadablePlaylist, "\(error)", address: address, cause: error)
            }
            if content == .dashManifest {
                throw StreamingError(
                    .needsTranslation,
                    "this is a DASH manifest, and the DASH bridge, which translates manifests, is turned off",
                    address: address
                )
            }
            guard Self.isMedia(bytes) else {
                let what = content.map { "this is \($0.rawValue), which" } ?? "this"
                throw StreamingError(
                    .notRecognized,
                    "\(what) is neither a playlist (it does not begin with #EXTM3U) nor a media file in a known format",
                    address: address,
                    cause: error
                )
            }
            return (.file(head: bytes, response.address, length: length), report)
        }
    }
}

extension ResourceRequest {
    /// Sets the properties of a request that opened a media file.
    ///
    /// The beginning of a local file is read again with its segments, and counts only then, so that the bytes of all requests
    /// are not more than the file has. That of a remote file is transferred twice, unless it is the whole file; see
    /// ``SegmentLoader/keepFile(_:at:)``.
    fileprivate mutating func describeFile(at address: ResourceAddress) {
        kind = .other
        if address.filePath != nil { bytes = .zero }
    }
}

/// Media file formats that do not occur as segments of a stream or have no container.
private enum OtherMediaFormat {
    case recognized

    init?(_ bytes: [UInt8]) {
        guard bytes.count > 4 else { return nil }
        let isID3 = bytes.starts(with: "ID3".utf8)
        let isFrame = bytes[0] == 0xFF && bytes[1] & 0xE0 == 0xE0
        let isDolby = bytes[0] == 0x0B && bytes[1] == 0x77
        let isNamed = ["fLaC", "OggS", "RIFF"].contains { bytes.starts(with: $0.utf8) }
        let isMatroska = bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3])
        guard isID3 || isFrame || isDolby || isNamed || isMatroska else { return nil }
        self = .recognized
    }
}
