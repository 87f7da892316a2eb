import Foundation
import HLSPlaylist
import PlaylistEditing

extension AssetLibrary {
    /// Returns the multivariant playlist of a package without incomplete variants and renditions, which cannot be played without
    /// the origin.
    ///
    /// - Parameter id: The identifier of the asset.
    /// - Returns: The playlist; `nil` if the stored playlist is to be used unchanged: the asset is complete, cannot be played
    ///   offline, or is still being recorded, or it has no playlist file.
    /// - Throws: ``StorageError``.
    package func playlistOfCompleteRenditions(of id: String) throws -> [UInt8]? {
        guard try outline(of: id).state == .partial, let url = file(Self.multivariantName, of: id) else { return nil }
        let asset = try asset(id)
        guard asset.isPlayableOffline, try !isRecording(id) else { return nil }
        let playlist = try MultivariantPlaylist(parsing: [UInt8](Data(contentsOf: url)))
        let complete = Set(asset.renditions.filter(\.isComplete).map { "\($0.folder)/\(Self.mediaName)" })
        func retained(_ uri: String?) -> String? { uri.flatMap { complete.contains($0) ? $0 : nil } }
        return try playlist.relocated(
            variant: { retained(playlist.variants[$0].uri) },
            rendition: { retained(playlist.renditions[$0].uri) },
            iFrameVariant: { retained(playlist.iFrameVariants[$0].uri) },
            sessionKey: { $0.uri }
        ).bytes
    }
}
