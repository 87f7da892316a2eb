import MediaTransport
import NIOCore
import ResourceAddressing
import SegmentFormat

extension ResourceLoader {
    /// The number of bytes that suffice to recognize a media file, 64 KiB.
    private static let headSize = 64 << 10
    /// The extensions of playlists and manifests, whose beginning is not loaded separately.
    private static let documentExtensions = [".m3u8", ".m3u", ".mpd"]

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
        let path = address.path.lowercased()
        guard !Self.documentExtensions.contains(where: { path.hasSuffix($0) }) else { return false }
        let isNamedFile = StreamCatalog.Stream.isMediaFile(address)
        do {
            let head = try await head(of: address)
            return MediaContainer(head.span)?.isMediaFile ?? isNamedFile
        } catch let error as TransportError where isNamedFile && error.code != .addressRefused {
            return true
        }
    }

    /// Loads the beginning of a resource.
    private func head(of address: ResourceAddress) async throws -> [UInt8] {
        try await send(TransportRequest(address, kind: .other)) { response in
            var bytes: [UInt8] = []
            for try await buffer in response.body {
                bytes.append(contentsOf: buffer.readableBytesView)
                if bytes.count >= Self.headSize { break }
            }
            return bytes
        }
    }
}
