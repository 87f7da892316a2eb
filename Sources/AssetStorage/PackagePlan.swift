import Crypto
import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing

/// The files that a media playlist needs, and the path of each file in the package.
///
/// The path of a segment is derived from its position. The path of a key or an initialization section is derived from
/// the complete URL, with host and query, and the byte range. Therefore, two files never have the same path.
struct PackagePlan {
    /// A file of the package.
    struct Resource {
        let kind: StoredResource.Kind
        /// The zero-based index of the segment in its playlist; -1 for a file that several segments may share.
        let position: Int
        let address: ResourceAddress
        let byteRange: ByteRange?
        let path: String
        let timeRange: MediaTimeRange

        var identity: Identity { Identity(kind, position, address.text, byteRange) }
    }

    /// The identity of a file of one playlist: the position for a segment, the URL and byte range for any other file.
    struct Identity: Hashable {
        private let kind: StoredResource.Kind
        private let position: Int
        private let address: String?
        private let byteRange: ByteRange?

        fileprivate init(_ kind: StoredResource.Kind, _ position: Int, _ address: String, _ byteRange: ByteRange?) {
            self.kind = kind
            self.position = position
            // Recordings store the URL in this form.
            self.address = position < 0 ? WrittenText.uri(address) : nil
            self.byteRange = position < 0 ? byteRange : nil
        }

        /// Creates the identity of the segment at a position.
        init(segmentAt position: Int, _ kind: StoredResource.Kind) { self.init(kind, position, "", nil) }

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
    /// The number of segments before the first one of the playlist, which is added to the numbers in the names of
    /// segments.
    let firstPosition: Int
    /// The extension of segments whose URLs have none, such as `.mp4`; `nil` for that of the usual container.
    private let segmentExtension: String?
    /// The paths of files that already have one, possibly from an earlier version.
    private let paths: [Identity: String]

    init(
        folder: String,
        role: StoredRendition.Role,
        playlist: MediaPlaylist,
        firstPosition: Int = 0,
        segmentExtension: String? = nil,
        paths: [Identity: String] = [:]
    ) {
        self.segmentExtension = segmentExtension
        self.folder = folder
        self.role = role
        self.playlist = playlist
        self.firstPosition = firstPosition
        self.paths = paths
    }

    /// Returns the plan with the paths of files that do not have the usual path.
    func with(_ paths: [Identity: String]) -> PackagePlan {
        PackagePlan(
            folder: folder,
            role: role,
            playlist: playlist,
            firstPosition: firstPosition,
            segmentExtension: segmentExtension,
            paths: paths
        )
    }

    /// Returns whether a stored segment has the path that a plan without known paths gives it.
    func usesUsualPath(_ record: ResourceRecord) -> Bool {
        // A file that several segments share has no position.
        guard playlist.segments.indices.contains(record.position) else { return false }
        return path(of: playlist.segments[record.position]) == record.path
    }

    /// Calls a closure with each file once, in the order in which a player needs them.
    ///
    /// - Parameters:
    ///   - positions: The segments whose files are wanted; `nil` for all.
    ///   - body: The closure.
    /// - Complexity: O(*n*) in the bytes of the playlist.
    func forEachResource(in positions: Range<Int>? = nil, _ body: (Resource) throws -> Void) rethrows {
        // A tag applies to many segments; its file is reported only at the first of them.
        var seen: Set<Identity> = []
        func addKeys(_ keys: [EncryptionKey], at start: MediaTimeRange) throws {
            for key in keys {
                guard key.isIdentity, let address = key.address else { continue }
                let kind = Self.kind(of: key)
                try add(kind, address, nil, at: start) { path(of: kind, at: address) }
            }
        }
        func add(
            _ kind: StoredResource.Kind,
            _ address: ResourceAddress,
            _ byteRange: ByteRange?,
            at start: MediaTimeRange,
            path: () -> String
        ) throws {
            let identity = Identity(kind, Self.sharedPosition, address.text, byteRange)
            guard seen.insert(identity).inserted else { return }
            try body(
                Resource(
                    kind: kind,
                    position: Self.sharedPosition,
                    address: address,
                    byteRange: byteRange,
                    path: path(),
                    timeRange: start
                )
            )
        }
        for position in positions ?? 0..<playlist.segments.count {
            let segment = playlist.segments[position]
            guard !segment.isGap else { continue }
            let start = MediaTimeRange(start: segment.timeRange.start, duration: .zero)
            try addKeys(segment.keys, at: start)
            if let map = segment.map {
                try addKeys(map.keys, at: start)
                try add(.initialization, map.address, map.byteRange, at: start) { path(of: map) }
            }
            try body(
                Resource(
                    kind: segmentKind,
                    position: segment.position,
                    address: segment.address,
                    byteRange: segment.byteRange,
                    path: path(of: segment),
                    timeRange: segment.timeRange
                )
            )
        }
    }

    /// Returns, for each key and initialization section of a new playlist, the identity of the same file in an old one.
    ///
    /// Two files are the same if the same segment needs them, and the paths of their URLs are equal. Queries are
    /// ignored, because they can be signatures that change. Paths can contain a session; therefore, two files of a
    /// segment are also the same if the last components of their paths are equal, and no other file of the segment has
    /// this component.
    ///
    /// - Parameters:
    ///   - new: The new playlist.
    ///   - old: The old playlist.
    ///   - former: The positions in the old playlist of segments of the new one (``SegmentMatching``).
    /// - Returns: The identities in the old playlist by those in the new one.
    /// - Complexity: O(*n*) in the bytes of the playlists.
    static func formerSharedFiles(
        of new: MediaPlaylist,
        in old: MediaPlaylist,
        _ former: [Int: Int]
    ) -> [Identity: Identity] {
        var identities: [Identity: Identity] = [:]
        for position in new.segments.indices {
            guard let formerPosition = former[position] else { continue }
            let candidates = sharedFiles(of: old.segments[formerPosition])
            for file in sharedFiles(of: new.segments[position]) where identities[file.identity] == nil {
                let similar = candidates.filter { $0.lastName == file.lastName }
                let match = candidates.first { $0.name == file.name } ?? (similar.count == 1 ? similar.first : nil)
                identities[file.identity] = match?.identity
            }
        }
        return identities
    }

    /// A key or an initialization section of a segment, with its names without queries.
    private struct SharedFile {
        let identity: Identity
        /// The name with the path of the URL.
        let name: String
        /// The name with the last component of the path only.
        let lastName: String

        init(_ kind: StoredResource.Kind, _ address: ResourceAddress, _ range: ByteRange?) {
            identity = Identity(kind, sharedPosition, address.text, range)
            name = "\(kind.rawValue)\n\(SegmentMatching.name(of: address, range))"
            lastName = "\(kind.rawValue)\n\(range?.description ?? "")\n\(address.lastPathComponent)"
        }
    }

    /// Returns the keys and the initialization section of a segment.
    private static func sharedFiles(of segment: MediaSegment) -> [SharedFile] {
        let keys = segment.keys + (segment.map?.keys ?? [])
        let files = keys.compactMap { key in
            key.isIdentity ? key.address.map { SharedFile(kind(of: key), $0, nil) } : nil
        }
        return files + (segment.map.map { [SharedFile(.initialization, $0.address, $0.byteRange)] } ?? [])
    }

    /// The position of a file that several segments may share.
    private static let sharedPosition = -1

    private var segmentKind: StoredResource.Kind { role == .subtitles ? .subtitle : .segment }

    /// The bytes of the playlist of the package, with URIs relative to its own directory.
    var localPlaylist: [UInt8] {
        playlist.relocatedBytes(
            MediaPlaylist.Relocation(
                segment: { localName(path(of: playlist.segments[$0])) },
                map: { localName(path(of: $0)) },
                key: { key in path(of: key).map { localName($0) } ?? WrittenText.uri(key.uri ?? "") }
            )
        )
    }

    /// Returns the path of a file relative to the directory of the playlist.
    func localName(_ path: String) -> String { String(path.dropFirst(folder.count + 1)) }

    func path(of segment: MediaSegment) -> String {
        if !paths.isEmpty, let known = paths[Identity(segmentAt: segment.position, segmentKind)] { return known }
        let address = segment.address
        // Players check the extension; a missing or unknown one is replaced by that of the usual container.
        let usual = segmentExtension ?? (role == .subtitles ? ".vtt" : segment.map == nil ? ".ts" : ".m4s")
        return
            "\(folder)/\(Self.number(segment.position + firstPosition))\(fileExtension(of: address, fallback: usual))"
    }

    /// Returns a position with at least six digits, so that the names of the first million segments sort in playback
    /// order.
    static func number(_ position: Int) -> String {
        let digits = String(position)
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }

    func path(of map: MediaInitialization) -> String {
        if let known = paths[Identity(.initialization, Self.sharedPosition, map.address.text, map.byteRange)] {
            return known
        }
        let name = Self.stableName(map.address, map.byteRange)
        return "\(folder)/init-\(name)\(fileExtension(of: map.address, fallback: ".mp4"))"
    }

    /// Returns the path of an identity key of 16 bytes; `nil` for other key systems, which are not supported.
    func path(of key: EncryptionKey) -> String? {
        key.isIdentity ? key.address.map { path(of: Self.kind(of: key), at: $0) } : nil
    }

    /// A URL can return keys of different sizes, so the path depends on the size.
    private func path(of kind: StoredResource.Kind, at address: ResourceAddress) -> String {
        paths[Identity(kind, Self.sharedPosition, address.text, nil)]
            ?? "\(folder)/key-\(Self.stableName(address, nil))\(kind == .longKey ? "-256" : "").key"
    }

    private static func kind(of key: EncryptionKey) -> StoredResource.Kind {
        key.method == .aes256GCM ? .longKey : .key
    }

    /// Returns the extension of the source if it is a media extension, because players check it.
    private func fileExtension(of address: ResourceAddress, fallback: String) -> String {
        let name = address.lastPathComponent
        guard let dot = name.lastIndex(of: ".") else { return fallback }
        let text = name[name.index(after: dot)...].lowercased()
        return Self.mediaExtensions.contains(text) ? "." + text : fallback
    }

    /// The media extensions that file names may have; a browser could interpret other extensions.
    private static let mediaExtensions: Set<String> = [
        "ts", "m2ts", "mp4", "m4s", "m4v", "m4a", "m4f", "cmfv", "cmfa", "cmft", "mov", "aac", "ac3", "ec3", "mp3",
        "flac", "ogg", "wav", "mkv", "mka", "webm", "vtt", "webvtt",
    ]

    /// The number of digest bytes in a name: 128 bits, so that it is infeasible to craft two URLs with one name.
    private static let nameLength = 16

    /// Returns a name that is the same for the same URL and byte range in every process.
    private static func stableName(_ address: ResourceAddress, _ byteRange: ByteRange?) -> String {
        let text = WrittenText.uri(address.text) + "\n" + (byteRange?.description ?? "")
        return SHA256.hash(data: Array(text.utf8)).prefix(nameLength).map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0" + digits : digits
        }.joined()
    }
}
