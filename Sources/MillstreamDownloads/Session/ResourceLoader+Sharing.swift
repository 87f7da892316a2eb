import AssetStorage
import MediaTransport

extension ResourceLoader {
    /// Returns the loaders for an asset that is downloaded and played at the same time.
    ///
    /// If this loader belongs to an asset that may already be played, its players share the download too.
    ///
    /// - Returns: The loader for players, and the loader for the download.
    func sharing(_ id: String, in library: AssetLibrary) -> (player: ResourceLoader, origin: ResourceLoader) {
        guard let overlaid = transport as? OverlaidTransport else {
            return (wrappingTransport { AssetTransport(library, id: id, origin: $0) }, self)
        }
        overlaid.setOverlay(AssetTransport(library, id: id, origin: overlaid.base))
        return (self, wrappingTransport { _ in overlaid.base })
    }
}
