import HLSPlaylist
import MediaTransport
import ResourceAddressing

/// A playlist for the player of the console, and how its media is loaded.
struct LoadedPlaylist {
    /// A package of the library, whose playlists and segments are files.
    struct Package {
        let id: String
        /// The URL of the folder of the package.
        let folder: ResourceAddress
    }

    let playlist: Playlist
    /// The loader of the media.
    let loader: ResourceLoader
    /// The package of the playlist; `nil` for a playlist from an origin.
    let package: Package?

    /// Returns the path with which other players request a resource of the playlist, with which the patterns of simulated faults
    /// are compared.
    func requestPath(of address: ResourceAddress) -> String {
        guard let package, let folder = package.folder.filePath, let path = address.filePath, path.hasPrefix(folder)
        else {
            return address.path
        }
        return "/offline/\(package.id)/\(path.dropFirst(folder.count))"
    }
}
