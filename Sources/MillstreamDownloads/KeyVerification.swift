import AssetStorage
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Synchronization

/// The check that the keys of a download decrypt its segments, so that it does not complete with media that cannot be played.
///
/// See ``EncryptedSegment`` for what is checked. A segment that is encrypted with `AES-256-GCM` is decrypted entirely, so that only
/// one is checked for each key. Of encrypted samples, only audio tells whether a key that the user has given is right.
struct KeyVerification: Sendable {
    /// The media playlists whose segments are checked, which are those with encrypted segments.
    private let playlists: [MediaPlaylist]
    private let assetID: String
    private let library: AssetLibrary
    private let verifiedKeys = VerifiedKeys()
    private let verifiedStarts = VerifiedKeys()
    /// The keys that the user has given and that decrypt samples instead of entire segments.
    private let sampleKeys: Set<ResourceAddress>

    /// The maximum number of keys for which stored segments are checked.
    private static let maximumKeyCount = 100
    /// The maximum number of those keys that need the decryption of an entire segment.
    private static let maximumEntireCount = 16

    /// Creates the check of an asset.
    ///
    /// - Parameters:
    ///   - renditions: The media playlists. The parts of segments in I-frame playlists have no padding of their own.
    ///   - assetID: The identifier of the asset.
    ///   - library: The library.
    ///   - selection: The selection of the download, which can have a key of the user. This key is part of the playlists.
    init(
        _ renditions: [PlannedRendition],
        of assetID: String,
        in library: AssetLibrary,
        _ selection: DownloadSelection = DownloadSelection()
    ) {
        let all = renditions.filter { $0.role != .subtitles && $0.role != .iFrames }.map(\.playlist)
        playlists = all.filter { playlist in playlist.segments.contains { EncryptedSegment($0) != nil } }
        // All segments of a playlist have the same key.
        let keys = selection.replacesKeys ? all.compactMap { Self.sampleKey(of: $0) } : []
        sampleKeys = Set(keys)
        self.assetID = assetID
        self.library = library
    }

    /// Returns the URL of the key of the samples of a playlist; `nil` if there is none, or if it is not part of the playlist.
    private static func sampleKey(of playlist: MediaPlaylist) -> ResourceAddress? {
        for segment in playlist.segments where !segment.isGap {
            guard let key = segment.keys.first(where: \.isIdentity), let address = key.address,
                key.method == .sampleAES || key.method == .sampleAESCTR, address.normalizedScheme == "data"
            else { continue }
            return address
        }
        return nil
    }

    /// A Boolean value that indicates whether a key that the user has given decrypts samples, but no segment that was checked
    /// tells whether it is right.
    ///
    /// This is known after ``checkStoredSegments()``.
    var hasUnverifiedKey: Bool { sampleKeys.contains { !verifiedStarts.contains($0) } }

    /// Checks a received segment before it is stored, if its key is stored already.
    ///
    /// - Throws: ``DownloadError`` if the key does not match.
    func check(_ file: PackageFile, of resource: StoredResource) throws {
        guard resource.kind == .segment, !resource.isDeferred,
            let segment = segment(of: resource).flatMap({ EncryptedSegment($0) }),
            let octets = library.storedKey(at: segment.key, segment.keyKind, of: assetID)
        else { return }
        if segment.isCheckedEntirely {
            guard verifiedKeys.beginCheck(segment.key) else { return }
        }
        let isMatch = segment.matches(octets, ofSize: file.count) { file.lastUnfinishedBytes($0) }
        if segment.isCheckedEntirely { verifiedKeys.endCheck(segment.key, isVerified: isMatch == true) }
        guard isMatch ?? true else { throw segment.mismatch(removingKeyOf: assetID, in: library) }
        let isMedia = verifiedStarts.isMedia(
            segment,
            octets,
            { file.unfinishedBytes(upTo: $0) },
            initialization: { segment.storedInitialization(of: assetID, in: library) }
        )
        guard isMedia else { throw segment.mismatch(removingKeyOf: assetID, in: library, isUnknownMedia: true) }
    }

    /// Checks the first stored segments of each key.
    ///
    /// These can have been received before their key, or be those of an earlier download with another key.
    ///
    /// - Throws: ``DownloadError`` if a key does not match.
    func checkStoredSegments() throws {
        guard let found = firstMismatch() else { return }
        throw found.segment.mismatch(removingKeyOf: assetID, in: library, isUnknownMedia: found.isUnknownMedia)
    }

    /// A stored segment that its stored key does not match.
    struct Mismatch {
        /// The segment.
        let segment: EncryptedSegment
        /// A Boolean value that indicates whether the decrypted bytes are not the beginning of media, although they have the right
        /// padding.
        let isUnknownMedia: Bool

        /// The error of the download.
        var error: DownloadError { isUnknownMedia ? segment.unknownMedia : segment.mismatch }
    }

    /// Checks the first stored segments of each key, and changes nothing.
    ///
    /// - Parameter onlyInlineKeys: A Boolean value that indicates whether only keys that are part of the playlists are checked.
    /// - Returns: The first segment that its key does not match; `nil` if there is none.
    func firstMismatch(onlyInlineKeys: Bool = false) -> Mismatch? {
        var counts: [CheckedKey: Int] = [:]
        var entireCount = 0
        for (position, playlist) in playlists.enumerated() {
            for segment in playlist.segments where !segment.isGap {
                guard let encrypted = EncryptedSegment(segment), encrypted.hasInlineKey || !onlyInlineKeys
                else { continue }
                // Segments without audio allow no decision, so segments of each playlist are checked.
                let key = CheckedKey(address: encrypted.key, position: encrypted.isCheckedWithAudio ? position : nil)
                let count = counts[key] ?? 0
                guard count < encrypted.checksPerKey, count > 0 || counts.count < Self.maximumKeyCount else { continue }
                if encrypted.isCheckedEntirely {
                    guard entireCount < Self.maximumEntireCount else { continue }
                    entireCount += 1
                }
                counts[key] = count + 1
                guard let octets = library.storedKey(at: encrypted.key, encrypted.keyKind, of: assetID),
                    let path = library.storedFile(at: segment.address, segment.byteRange, of: assetID)
                else { continue }
                guard encrypted.matches(octets, fileAt: path) ?? true else {
                    return Mismatch(segment: encrypted, isUnknownMedia: false)
                }
                let isMedia = verifiedStarts.isMedia(
                    encrypted,
                    octets,
                    { FileInspection.firstBytes($0, of: path) },
                    initialization: { encrypted.storedInitialization(of: assetID, in: library) }
                )
                guard isMedia else { return Mismatch(segment: encrypted, isUnknownMedia: true) }
            }
        }
        return nil
    }

    /// A key that is checked with some of its segments.
    private struct CheckedKey: Hashable {
        let address: ResourceAddress
        /// The position of the media playlist if segments of each media playlist are checked; otherwise `nil`.
        let position: Int?
    }

    /// Returns the segment whose file is a resource of the asset; `nil` if no playlist has it.
    private func segment(of resource: StoredResource) -> MediaSegment? {
        for playlist in playlists {
            let segments = playlist.segments
            guard let position = segments.position(at: resource.timeRange.start) else { continue }
            // The catalog has the start as a decimal number, which can be just before that of the segment.
            for candidate in [position, position + 1] where segments.indices.contains(candidate) {
                let segment = segments[candidate]
                if segment.address == resource.address, segment.byteRange == resource.byteRange { return segment }
            }
        }
        return nil
    }
}

/// The keys that are known to decrypt a segment, or are being checked.
final class VerifiedKeys: Sendable {
    private let keys = Mutex<Set<ResourceAddress>>([])

    /// Begins the check of a key; returns `false` if the key is verified, or being checked with another segment.
    func beginCheck(_ key: ResourceAddress) -> Bool { keys.withLock { $0.insert(key).inserted } }

    /// Ends the check of a key, which is repeated with the next segment if this one did not verify it.
    func endCheck(_ key: ResourceAddress, isVerified: Bool) {
        if !isVerified { keys.withLock { _ = $0.remove(key) } }
    }

    /// Returns a Boolean value that indicates whether a key is verified, or being checked.
    func contains(_ key: ResourceAddress) -> Bool { keys.withLock { $0.contains(key) } }

    /// Returns a Boolean value that indicates whether a decrypted segment can be media; it is not checked again after a segment of the
    /// same key was.
    ///
    /// - Parameters:
    ///   - segment: The segment.
    ///   - octets: The key.
    ///   - firstBytes: A function that returns the first bytes of the segment, or `nil` if they cannot be read.
    ///   - header: A function that returns the initialization section of the segment, or `nil` if it is not stored.
    /// - Returns: The value; true if the bytes do not tell.
    func isMedia(
        _ segment: EncryptedSegment,
        _ octets: [UInt8],
        _ firstBytes: (_ count: Int) -> [UInt8]?,
        initialization header: () -> [UInt8]? = { nil }
    ) -> Bool {
        guard segment.hasInlineKey, beginCheck(segment.key) else { return true }
        let isMedia = segment.beginsWithMedia(octets, firstBytes, initialization: header)
        endCheck(segment.key, isVerified: isMedia == true)
        return isMedia ?? true
    }
}
