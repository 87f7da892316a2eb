import HLSPlaylist
import ResourceAddressing

/// The identity of the key of an `EXT-X-KEY` or `EXT-X-SESSION-KEY` tag.
struct SessionKey: Sendable, Hashable {
    private let method: EncryptionKey.Method
    private let address: String?
    private let format: String

    init(_ key: EncryptionKey) {
        method = key.method
        address = key.address?.text
        format = key.keyFormat
    }
}

extension MultivariantPlaylist {
    /// Returns the playlist without the session keys that its media playlists do not use.
    ///
    /// - Parameter keys: The keys in use; if they are unknown, all session keys remain.
    /// - Returns: The playlist, in which nothing else differs.
    /// - Throws: ``PlaylistEditError`` if the result cannot be parsed.
    func withoutSessionKeys(except keys: Set<SessionKey>?) throws(PlaylistEditError) -> MultivariantPlaylist {
        guard let keys else { return self }
        var patch = PlaylistPatch()
        for (key, line, _) in sessionKeyLines where !keys.contains(SessionKey(key)) { patch.remove(line) }
        return patch.isEmpty ? self : try patched(patch)
    }
}

extension PresentationEditor {
    /// The maximum number of media playlists that are loaded to find the keys that a presentation uses.
    private static var maximumPlaylistCount: Int { 200 }

    /// Returns the keys that the media playlists of a presentation use; `nil` if one of them cannot be loaded, or there are more
    /// than 200.
    func keys(of playlist: MultivariantPlaylist) async throws -> Set<SessionKey>? {
        guard !playlist.sessionKeys.isEmpty else { return [] }
        let variants = (playlist.variants + playlist.iFrameVariants).map(\.address)
        var known: Set<String> = []
        let addresses = (variants + playlist.renditions.compactMap(\.address)).filter { known.insert($0.text).inserted }
        guard addresses.count <= Self.maximumPlaylistCount else { return nil }
        var keys: Set<SessionKey> = []
        for address in addresses {
            do {
                guard case .media(let media) = try await load(address, of: playlist) else { return nil }
                keys.formUnion(media.keys.map { SessionKey($0) })
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                return nil
            }
        }
        return keys
    }
}
