import MediaTiming
package import MediaTransport
package import PlaylistEditing
package import ResourceAddressing
import SegmentFormat

extension SubtitleClip {
    /// The maximum size of a WebVTT file.
    private static let maximumSize = ByteCount(16 << 20)

    /// Loads a WebVTT file.
    ///
    /// - Parameters:
    ///   - address: The URL; its fragment is not sent.
    ///   - loader: The loader.
    /// - Returns: The bytes of the file.
    /// - Throws: `TransportError`, also for a file of more than 16 MiB.
    package func loadSubtitles(at address: ResourceAddress, _ loader: ResourceLoader) async throws -> [UInt8] {
        let file = ResourceAddress(String(address.text.prefix { $0 != "#" }))
        return try await loader.load(TransportRequest(file, kind: .subtitle), limit: Self.maximumSize).bytes
    }

    /// Returns the bytes of a WebVTT file without the cues outside the clip.
    package func clipped(_ bytes: [UInt8]) -> [UInt8] { WebVTTDocument.clipping(bytes, to: range) }
}
