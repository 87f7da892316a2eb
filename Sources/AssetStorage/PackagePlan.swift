import Crypto
import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing

/// The files that a media playlist needs, and the name of each inside the package.
///
/// Names come from the whole address of a file, with its host and query, and its byte range: two files never share one.
struct PackagePlan {
    /// A file of the package.
    struct Resource {
        let kind: StoredResource.Kind
        /// The segment's position; -1 for what belongs to several.
        let position: Int
        let address: ResourceAddress
        let byteRange: ByteRange?
        let path: String
        let timeRange: MediaTimeRange

        var identity: Identity { Identity(kind, position, address.text, byteRange) }
    }

    /// The identity of a file of one playlist: the position of a segment, the address of any other file.
    struct Identity: Hashable {
        private let kind: StoredResource.Kind
        private let position: Int
        private let address: String?
        private let byteRange: ByteRange?

        fileprivate init(_ kind: StoredResource.Kind, _ position: Int, _ address: String, _ byteRange: ByteRange?) {
            self.kind = kind
            self.position = position
            self.address = position < 0 ? address : nil
            self.byteRange = position < 0 ? byteRange : nil
        }

        init(_ record: ResourceRecord) {
            let range = record.rangeStart.flatMap { start in
                record.rangeLength.flatMap { ByteRange(start: start, length: $0) }
            }
            self.init(record.kind, record.position, record.address, range)
        }
    }

    let folder: String
    let role: StoredRendition.Role
    let playlist: MediaPlaylist
    /// The names of files that have one already, which may be those of an earlier version.
    private let paths: [Identity: String]

    init(
        folder: String,
        role: StoredRendition.Role,
        playlist: MediaPlaylist,
        paths: [Identity: String] = [:]
    ) {
        self.folder = folder
        self.role = role
        self.playlist = playlist
        self.paths = paths
    }

    /// Calls a function with every file once, in the order in which a player needs them.
    ///
    /// - Complexity: O(*n*) in the bytes of the playlist.
    func forEachResource(_ body: (Resource) throws -> Void) rethrows {
        var seen: Set<Identity> = []
        // Tags hold for many segments: what the segment before has is not looked at again.
        var (lastKeys, lastMap): ([EncryptionKey], MediaInitialization?) = ([], nil)
        func add(_ resource: Resource) throws {
            if seen.insert(resource.identity).inserted { try body(resource) }
        }
        func add(_ keys: [EncryptionKey], at start: MediaTimeRange) throws {
            for key in keys {
                guard let address = key.address, let path = path(of: key) else { continue }
                try add(
                    Resource(kind: .key, position: -1, address: address, byteRange: nil, path: path, timeRange: start)
                )
            }
        }
        for segment in playlist.segments where !segment.isGap {
            let range = segment.timeRange
            let start = MediaTimeRange(start: range.start, duration: .zero)
            let keys = segment.keys
            if keys != lastKeys { try add(keys, at: start) }
            lastKeys = keys
            if let map = segment.map, map != lastMap {
                try add(map.keys, at: start)
                try add(
                    Resource(
                        kind: .initialization,
                        position: -1,
                        address: map.address,
                        byteRange: map.byteRange,
                        path: path(of: map),
                        timeRange: start
                    )
                )
                lastMap = map
            }
            try body(
                Resource(
                    kind: segmentKind,
                    position: segment.position,
                    address: segment.address,
                    byteRange: segment.byteRange,
                    path: path(of: segment),
                    timeRange: range
                )
            )
        }
    }

    private var segmentKind: StoredResource.Kind { role == .subtitles ? .subtitle : .segment }

    /// The playlist as it is in the package, addresses relative to its own folder.
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
        let address = segment.address
        if let known = paths[Identity(segmentKind, segment.position, address.text, nil)] { return known }
        let number = String(segment.position)
        let padded = String(repeating: "0", count: max(0, 6 - number.count)) + number
        // Players look at the ending: one that is missing or strange becomes that of the usual container.
        let usual = role == .subtitles ? ".vtt" : segment.map == nil ? ".ts" : ".m4s"
        return "\(folder)/\(padded)\(fileExtension(of: address, fallback: usual))"
    }

    private func path(of map: MediaInitialization) -> String {
        if let known = paths[Identity(.initialization, -1, map.address.text, map.byteRange)] { return known }
        let name = Self.stableName(map.address, map.byteRange)
        return "\(folder)/init-\(name)\(fileExtension(of: map.address, fallback: ".mp4"))"
    }

    /// Only keys of 16 plain octets are files; others belong to systems that are not supported.
    private func path(of key: EncryptionKey) -> String? {
        guard key.isIdentity, let address = key.address else { return nil }
        return paths[Identity(.key, -1, address.text, nil)] ?? "\(folder)/key-\(Self.stableName(address, nil)).key"
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

    /// The number of bytes of a digest that a name has: 128 bits, so that two addresses cannot be made to share one.
    private static let nameLength = 16

    /// Returns a name that is the same for the same address and range in every process.
    private static func stableName(_ address: ResourceAddress, _ byteRange: ByteRange?) -> String {
        let text = address.text + "\n" + (byteRange?.description ?? "")
        return SHA256.hash(data: Array(text.utf8)).prefix(nameLength).map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0" + digits : digits
        }.joined()
    }
}
