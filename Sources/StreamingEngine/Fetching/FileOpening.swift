import HLSPlaylist
import ResourceAddressing

/// Reads what a media file holds, as the playlist of one rendition.
struct FileOpening: Sendable {
    let fetch: ResourceFetch

    /// Makes the playlist of a file.
    func open(_ head: [UInt8], at address: ResourceAddress, length: Int64?) async throws -> MediaPlaylist {
        throw StreamingError(.notRecognized, "files are not read yet", address: address)
    }
}
