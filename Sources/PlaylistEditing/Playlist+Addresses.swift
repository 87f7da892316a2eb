public import HLSPlaylist
import ResourceAddressing

extension Playlist {
    /// The playlist with other addresses.
    ///
    /// - Parameter rewrite: The new address for one that stands there; `nil` leaves it as it is.
    /// - Returns: The playlist in which nothing else differs.
    public func rewritingAddresses(_ rewrite: (PlaylistAddress) -> String?) -> Playlist {
        var patch = PlaylistPatch()
        for address in addresses {
            let written = String(decoding: bytes[address.range], as: UTF8.self)
            guard let text = rewrite(address), text != written else { continue }
            patch.replace(address.range, with: address.needsQuotes ? "\"\(text)\"" : text)
        }
        guard !patch.isEmpty, let playlist = try? Playlist.parse(patch.applied(to: bytes), context: context) else {
            return self
        }
        return playlist
    }

    /// The playlist with every address absolute, so that it means the same wherever it is read.
    ///
    /// Where the playlist's own address is not known, nothing changes.
    public func withAbsoluteAddresses() -> Playlist {
        rewritingAddresses { $0.address.isAbsolute ? $0.address.text : nil }
    }
}

extension MediaPlaylist {
    /// The playlist with every address absolute; see ``Playlist/withAbsoluteAddresses()``.
    public func withAbsoluteAddresses() -> MediaPlaylist {
        guard case .media(let playlist) = Playlist.media(self).withAbsoluteAddresses() else { return self }
        return playlist
    }
}
