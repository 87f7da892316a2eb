import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing

/// The files that a media playlist needs, and what each is called inside the package.
struct PackagePlan {
    /// One file.
    struct Resource {
        let kind: StoredResource.Kind
        /// The segment's position; -1 for what belongs to several.
        let position: Int
        let address: ResourceAddress
        let byteRange: ByteRange?
        let path: String
        let timeRange: MediaTimeRange
    }

    let folder: String
    let role: StoredRendition.Role
    let playlist: MediaPlaylist

    init(folder: String, role: StoredRendition.Role, playlist: MediaPlaylist) {
        self.folder = folder
        self.role = role
        self.playlist = playlist
    }

    /// Every file once, in the order in which a player would want them.
    var resources: [Resource] {
        var result: [Resource] = []
        var seen: Set<String> = []
        func add(_ resource: Resource) {
            if seen.insert(resource.path).inserted { result.append(resource) }
        }
        for segment in playlist.segments where !segment.isGap {
            let start = MediaTimeRange(start: segment.start, duration: .zero)
            for key in segment.keys + (segment.map?.keys ?? []) {
                guard let address = key.address, let path = path(of: key) else { continue }
                add(Resource(kind: .key, position: -1, address: address, byteRange: nil, path: path, timeRange: start))
            }
            if let map = segment.map {
                add(
                    Resource(
                        kind: .initialization,
                        position: -1,
                        address: map.address,
                        byteRange: map.byteRange,
                        path: path(of: map),
                        timeRange: start
                    )
                )
            }
            add(
                Resource(
                    kind: role == .subtitles ? .subtitle : .segment,
                    position: segment.position,
                    address: segment.address,
                    byteRange: segment.byteRange,
                    path: path(of: segment),
                    timeRange: segment.timeRange
                )
            )
        }
        return result
    }

    /// The playlist as it lies in the package, addresses relative to its own folder.
    var localPlaylist: MediaPlaylist {
        get throws {
            let prefix = folder.count + 1
            return try playlist.relocated(
                MediaPlaylist.Relocation(
                    segment: { String(path(of: playlist.segments[$0]).dropFirst(prefix)) },
                    map: { String(path(of: $0).dropFirst(prefix)) },
                    key: { key in path(of: key).map { String($0.dropFirst(prefix)) } ?? key.uri ?? "" }
                )
            )
        }
    }

    private func path(of segment: MediaSegment) -> String {
        let number = String(segment.position)
        let padded = String(repeating: "0", count: max(0, 6 - number.count)) + number
        // Players look at the ending: one that is missing or strange becomes that of the usual container.
        let usual = role == .subtitles ? ".vtt" : segment.map == nil ? ".ts" : ".m4s"
        return "\(folder)/\(padded)\(fileExtension(of: segment.address, fallback: usual))"
    }

    private func path(of map: MediaInitialization) -> String {
        let range = map.byteRange.map { "-\($0.start)-\($0.length)" } ?? ""
        let name = stableName(map.address.resolving("").path + (map.address.query ?? "") + range)
        return "\(folder)/init-\(name)\(fileExtension(of: map.address, fallback: ".mp4"))"
    }

    /// Only keys of 16 plain octets are files; others belong to systems that we do not serve.
    private func path(of key: EncryptionKey) -> String? {
        guard key.isIdentity, let address = key.address else { return nil }
        return "\(folder)/key-\(stableName(address.path + (address.query ?? ""))).key"
    }

    /// The extension as the source has it, where it is one of media: players look at it.
    private func fileExtension(of address: ResourceAddress, fallback: String) -> String {
        let name = address.lastPathComponent
        guard let dot = name.lastIndex(of: ".") else { return fallback }
        let text = name[name.index(after: dot)...].lowercased()
        return Self.mediaExtensions.contains(text) ? "." + text : fallback
    }

    /// Endings that mean media to a player; others might mean something to a browser.
    private static let mediaExtensions: Set<String> = [
        "ts", "m2ts", "mp4", "m4s", "m4v", "m4a", "m4f", "cmfv", "cmfa", "cmft", "mov", "aac", "ac3", "ec3", "mp3",
        "flac",
        "vtt", "webvtt",
    ]

    /// Returns a short name that is the same for the same text in every process.
    private func stableName(_ text: String) -> String { String(StableHash(text).value, radix: 36) }
}
