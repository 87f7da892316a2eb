import AssetStorage
import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaylistEditing
import ResourceAddressing
import Synchronization

/// A key that playlists name for stored segments of an asset, and that is not stored itself.
struct UnstoredKey: Sendable {
    /// The URL of the key.
    let address: ResourceAddress
    /// The kind of the file of the key.
    let kind: StoredResource.Kind
    /// The first stored segments that can be checked with the key.
    fileprivate(set) var segments: [(segment: EncryptedSegment, path: String)] = []

    /// Returns the error for a key of another size.
    func hasSize(_ count: Int, insteadOf size: Int64) -> TransportError {
        TransportError(.wrongContent, "the key has \(count) bytes instead of \(size)", address: address)
    }
}

extension AssetLibrary {
    /// The maximum number of keys that are considered before the files of an asset are planned.
    private static let maximumUnstoredKeyCount = 100
    /// The number of segments that are considered for each of them: those at the beginning of the playlist.
    private static let segmentsPerUnstoredKey = 4

    /// Returns the keys without which an asset that can be played offline could not be played any more if playlists replaced its
    /// own ones.
    ///
    /// - Parameters:
    ///   - renditions: The media playlists to plan.
    ///   - id: The identifier of the asset.
    /// - Returns: The keys in the order of the playlists; none if the asset cannot be played offline now.
    /// - Throws: `StorageError`.
    func unstoredKeys(of renditions: [PlannedRendition], _ id: String) throws -> [UnstoredKey] {
        guard renditions.contains(where: { $0.playlist.hasKeys }), try asset(id).isPlayableOffline else { return [] }
        var keys: [UnstoredKey] = []
        var positions: [ResourceAddress: Int] = [:]
        var counts: [ResourceAddress: Int] = [:]
        for rendition in renditions where rendition.role != .subtitles && rendition.role != .iFrames {
            for segment in rendition.playlist.segments where !segment.isGap {
                guard let key = segment.keys.first(where: \.isIdentity), let address = key.address else { continue }
                let count = counts[address, default: 0]
                guard count < Self.segmentsPerUnstoredKey, count > 0 || counts.count < Self.maximumUnstoredKeyCount
                else { continue }
                counts[address] = count + 1
                let kind: StoredResource.Kind = key.method == .aes256GCM ? .longKey : .key
                guard let path = storedFile(at: segment.address, segment.byteRange, of: id),
                    storedKey(at: address, kind, of: id) == nil
                else { continue }
                let position = positions[address] ?? keys.count
                if positions.updateValue(position, forKey: address) == nil {
                    keys.append(UnstoredKey(address: address, kind: kind))
                }
                if let encrypted = EncryptedSegment(segment) { keys[position].segments.append((encrypted, path)) }
            }
        }
        return keys
    }

    /// Returns the error of a download whose playlists contain a stored key that does not decrypt what is stored of an asset that can
    /// be played offline, such as the key of the user with another initialization vector.
    ///
    /// - Parameters:
    ///   - renditions: The media playlists to plan.
    ///   - id: The identifier of the asset.
    /// - Returns: The error; `nil` if no such key is found.
    /// - Throws: `StorageError`.
    func inlineKeyMismatch(of renditions: [PlannedRendition], _ id: String) throws -> DownloadError? {
        guard renditions.contains(where: { $0.playlist.hasKeys }), try asset(id).isPlayableOffline else { return nil }
        return KeyVerification(renditions, of: id, in: self).firstMismatch(onlyInlineKeys: true)?.error
    }
}

extension MediaPlaylist {
    /// A Boolean value that indicates whether a segment is encrypted.
    fileprivate var hasKeys: Bool { segments.contains { !$0.keys.isEmpty } }
}

/// A transport that answers requests for keys that were received before the files of an asset were planned.
final class ReceivedKeys: Transport {
    private let base: any Transport
    private let keys = Mutex<[ResourceAddress: [UInt8]]>([:])

    /// Creates a transport.
    ///
    /// - Parameter base: The transport that loads everything else.
    init(base: any Transport) { self.base = base }

    /// The executor of the transport that loads everything else.
    var executor: (any TaskExecutor)? { base.executor }

    /// Adds a key.
    func add(_ octets: [UInt8], at address: ResourceAddress) { keys.withLock { $0[address] = octets } }

    /// Sends a request; see `Transport`.
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        // Each key is answered once: if it is requested again, it was not stored.
        guard request.kind == .key, let octets = keys.withLock({ $0.removeValue(forKey: request.address) }) else {
            return try await base.send(request)
        }
        return TransportResponse(
            status: 200,
            headers: [],
            address: request.address,
            expectedLength: Int64(clamping: octets.count),
            body: TransportBody(octets)
        )
    }
}

extension AssetDownload {
    /// The maximum size of the response to a request for a key.
    private static let maximumKeySize = ByteCount(4_096)

    /// Receives the keys that replace those of an asset that can be played, so that it stays playable if they are not available,
    /// or do not match its segments; stored keys of the playlists are checked too, since their vectors can be others.
    ///
    /// - Throws: `TransportError` if a key cannot be received; ``DownloadError`` if it does not match.
    func receiveKeys(of resolution: DownloadResolver.Resolution, for id: String) async throws {
        let missing = try await BlockingOperation.run { [library] in
            if let error = try library.inlineKeyMismatch(of: resolution.renditions, id) { throw error }
            return try library.unstoredKeys(of: resolution.renditions, id)
        }
        for key in missing {
            let request = TransportRequest(key.address, kind: .key)
            let octets = try await loader.load(request, limit: Self.maximumKeySize).bytes
            if let size = key.kind.keySize, Int64(octets.count) != size {
                throw key.hasSize(octets.count, insteadOf: size)
            }
            try await BlockingOperation.run {
                for (segment, path) in key.segments where segment.matches(octets, fileAt: path) == false {
                    throw segment.mismatch
                }
                guard let (first, path) = key.segments.first else { return }
                let isMedia = first.beginsWithMedia(octets) { FileInspection.firstBytes($0, of: path) }
                guard isMedia ?? true else { throw first.unknownMedia }
            }
            receivedKeys.add(octets, at: key.address)
        }
    }

    /// Returns the asset if it has everything that the download selects, with keys from elsewhere; `nil` otherwise.
    func completeAsset(_ id: String) throws -> StoredAsset? {
        let asset = try library.asset(id)
        guard asset.state == .complete, let stored = DownloadSelection(asset.selection),
            stored.withoutKeys == configuration.selection.withoutKeys
        else { return nil }
        return asset
    }
}

extension DownloadSelection {
    /// The selection without the edits that replace keys, which do not change what is stored otherwise.
    var withoutKeys: DownloadSelection {
        var selection = self
        selection.edits = EditPlan(edits.edits.filter { !$0.replacesKeys })
        return selection
    }

    /// A Boolean value that indicates whether an edit replaces the keys that the playlists name.
    var replacesKeys: Bool { edits.edits.contains(where: \.replacesKeys) }
}

extension PlaylistEdit {
    /// A Boolean value that indicates whether the edit replaces the keys that playlists name.
    fileprivate var replacesKeys: Bool { definition.name == "key" }
}
