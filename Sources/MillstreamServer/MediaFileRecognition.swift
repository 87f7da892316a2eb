import MediaTransport
import NIOCore
import ResourceAddressing
import SegmentFormat

extension ResourceLoader {
    /// The number of bytes that suffice to recognize a media file, 64 KiB.
    private static let headSize = 64 << 10
    /// The extensions of playlists and manifests, whose beginning is not loaded separately.
    private static let documentExtensions = [".m3u8", ".m3u", ".mpd"]

    /// Returns a Boolean value that indicates whether a resource is a media file, by its extension or its first bytes.
    ///
    /// Only the beginning of the resource is loaded.
    ///
    /// - Parameter address: The URL of the resource.
    /// - Returns: `false` for a playlist or manifest.
    /// - Throws: `TransportError` if the resource cannot be loaded; `CancellationError`.
    func isMediaFile(at address: ResourceAddress) async throws -> Bool {
        let path = address.path.lowercased()
        guard !Self.documentExtensions.contains(where: { path.hasSuffix($0) }) else { return false }
        let head = try await send(TransportRequest(address, kind: .other)) { response in
            var bytes: [UInt8] = []
            for try await buffer in response.body {
                bytes.append(contentsOf: buffer.readableBytesView)
                if bytes.count >= Self.headSize { break }
            }
            return bytes
        }
        return StreamCatalog.Stream.isMediaFile(address) || MediaContainer(head.span)?.isMediaFile == true
    }
}
