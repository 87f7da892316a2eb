import HLSPlaylist
import HTTPTypes
import MediaTiming
import MediaTransport
import NIOCore
import ResourceAddressing
import SegmentFormat

extension ResourceLoader {
    /// The number of bytes that suffice to recognize a media file, 64 KiB.
    private static let headSize = 64 << 10
    /// The extensions of playlists and manifests, whose beginning is not loaded separately.
    private static let documentExtensions = [".m3u8", ".m3u", ".mpd"]

    private static func isNamedDocument(_ address: ResourceAddress) -> Bool {
        let path = address.path.lowercased()
        return documentExtensions.contains { path.hasSuffix($0) }
    }

    /// Returns a Boolean value that indicates whether a resource is a media file, by its first bytes or its extension.
    ///
    /// Only the beginning of the resource is loaded. A browser might be able to load a file with a known extension that this server
    /// cannot load.
    ///
    /// - Parameter address: The URL of the resource.
    /// - Returns: `false` for a playlist or manifest, and for other documents.
    /// - Throws: `TransportError` if the resource must not be loaded, or has no known extension and cannot be loaded;
    ///   `CancellationError`.
    func isMediaFile(at address: ResourceAddress) async throws -> Bool {
        guard !Self.isNamedDocument(address) else { return false }
        guard !StreamCatalog.Stream.isMediaFile(address) else { return try await isProbableMediaFile(at: address) }
        let head = try await head(of: address)
        return MediaContainer(head.span)?.isMediaFile ?? false
    }

    /// Returns a Boolean value that indicates whether a resource is a media file, by the first bytes if the server sends them
    /// promptly, otherwise by its extension.
    ///
    /// The beginning of the resource is requested once.
    ///
    /// - Parameters:
    ///   - address: The URL of the resource.
    ///   - timeLimit: The time after which the extension decides.
    /// - Returns: `false` for a playlist or manifest, and for other documents.
    /// - Throws: `TransportError` if the resource must not be loaded; `CancellationError`.
    func isProbableMediaFile(
        at address: ResourceAddress,
        within timeLimit: Duration = .seconds(5)
    ) async throws -> Bool {
        guard !Self.isNamedDocument(address) else { return false }
        let isNamedFile = StreamCatalog.Stream.isMediaFile(address)
        do {
            guard let head = try await promptHead(of: address, within: timeLimit) else { return isNamedFile }
            return MediaContainer(head.span)?.isMediaFile ?? isNamedFile
        } catch let error as TransportError where error.code != .addressRefused {
            return isNamedFile
        }
    }

    /// Requests the beginning of a resource once.
    ///
    /// - Returns: The first bytes; `nil` if they do not arrive in time.
    private func promptHead(of address: ResourceAddress, within timeLimit: Duration) async throws -> [UInt8]? {
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        let range = HeaderField("Range", "bytes=0-\(Self.headSize - 1)")
        return try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            group.addTask { try await loader.head(of: address, headers: [range]) }
            group.addTask {
                try await SystemTimeSource().sleep(for: timeLimit)
                return nil
            }
            defer { group.cancelAll() }
            guard let head = try await group.next() else { throw CancellationError() }
            return head
        }
    }

    /// Loads the beginning of a resource.
    private func head(of address: ResourceAddress, headers: [HeaderField] = []) async throws -> [UInt8] {
        try await send(TransportRequest(address, kind: .other, headers: headers)) { response in
            var bytes: [UInt8] = []
            for try await buffer in response.body {
                bytes.append(contentsOf: buffer.readableBytesView)
                if bytes.count >= Self.headSize { break }
            }
            return bytes
        }
    }
}

/// A transport that ends the body of a requested playlist once its first bytes are those of a media file, which can be larger
/// than any playlist, or have no end.
///
/// Bodies of less than 4 KiB are delivered as they are.
struct DocumentTransport: Transport {
    private let base: any Transport

    /// Creates a transport.
    ///
    /// - Parameter base: The transport that sends the requests.
    init(_ base: any Transport) { self.base = base }

    /// The executor of the underlying transport; see `Transport/executor`.
    var executor: (any TaskExecutor)? { base.executor }

    /// Sends a request; see `Transport`.
    ///
    /// The body of the response throws ``ServerError`` if it is a media file.
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let response = try await base.send(request)
        guard request.kind == .playlist, request.byteRange == nil, request.resumption == nil else { return response }
        let buffers = DocumentBuffers(body: response.body, address: response.address)
        return response.replacingBody(with: TransportBody(buffers))
    }
}

/// The buffers of a body whose first bytes are examined as they arrive.
private struct DocumentBuffers: AsyncSequence, Sendable {
    let body: TransportBody
    let address: ResourceAddress

    struct AsyncIterator: AsyncIteratorProtocol {
        /// The number of bytes that are examined.
        private static let headSize = 4096

        private var iterator: TransportBody.AsyncIterator
        private let address: ResourceAddress
        /// The bytes that arrived until now; `nil` once they were examined.
        private var head: [UInt8]? = []

        init(_ iterator: TransportBody.AsyncIterator, _ address: ResourceAddress) {
            self.iterator = iterator
            self.address = address
        }

        mutating func next() async throws -> ByteBuffer? {
            guard let buffer = try await iterator.next() else { return nil }
            guard var bytes = head else { return buffer }
            bytes.append(contentsOf: buffer.readableBytesView.prefix(Self.headSize))
            guard bytes.count >= Self.headSize else {
                head = bytes
                return buffer
            }
            head = nil
            if let container = MediaContainer(bytes.span), container.isMediaFile {
                throw ServerError(
                    .unsupportedMediaType,
                    PlaylistParsingError.Code.notAPlaylist.rawValue,
                    "\(address): \(container.nameWithArticle), not an HLS playlist"
                )
            }
            return buffer
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body.makeAsyncIterator(), address) }
}
