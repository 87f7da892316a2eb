import AssetStorage
import MediaTransport

extension ResourceLoader {
    /// Returns the loaders for an asset that is downloaded and played at the same time.
    ///
    /// If this loader belongs to an asset that may already be played, its players share the download too. The package is marked as
    /// being played when a player requests something: the lock of the download protects it before, and a task that nothing plays must
    /// not keep it in use after its end.
    ///
    /// - Returns: The loader for players, and the loader for the download.
    func sharing(_ id: String, in library: AssetLibrary) -> (player: ResourceLoader, origin: ResourceLoader) {
        guard let overlaid = transport as? OverlaidTransport else {
            let player = wrappingTransport {
                AssetTransport(library, id: id, origin: $0, marksAtFirstRequest: true)
            }
            return (player, self)
        }
        overlaid.setOverlay(AssetTransport(library, id: id, origin: overlaid.base, marksAtFirstRequest: true))
        return (self, wrappingTransport { _ in overlaid.base })
    }
}
