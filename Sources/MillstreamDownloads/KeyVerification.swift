import AssetStorage
import Crypto
import CryptoExtras
import Foundation
import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// The check that the keys of a download decrypt its segments, so that it does not complete with media that cannot be played.
///
/// A segment that is encrypted with `AES-128` ends with padding (RFC 8216bis §4.4.4.4). It is in the last block, which is
/// decrypted with the block before it only, so that the check of a large segment takes no longer than that of a small one.
struct KeyVerification: Sendable {
    /// The media playlists whose segments are checked.
    private let playlists: [MediaPlaylist]
    private let assetID: String
    private let library: AssetLibrary

    /// The size of a block of AES in bytes.
    private static let blockSize = 16
    /// The number of stored segments that are checked for each key: with a wrong key, the padding of 1 of 256 segments is
    /// valid by chance.
    private static let checksPerKey = 4
    /// The maximum number of keys for which stored segments are checked.
    private static let maximumKeyCount = 100

    /// Creates the check of an asset.
    ///
    /// - Parameters:
    ///   - renditions: The media playlists. The parts of segments in I-frame playlists have no padding of their own.
    ///   - assetID: The identifier of the asset.
    ///   - library: The library.
    init(_ renditions: [PlannedRendition], of assetID: String, in library: AssetLibrary) {
        playlists = renditions.filter { $0.role != .subtitles && $0.role != .iFrames }.map(\.playlist)
        self.assetID = assetID
        self.library = library
    }

    /// Checks a received segment before it is stored, if its key is stored already.
    ///
    /// - Throws: ``DownloadError`` if the key does not match.
    func check(_ file: PackageFile, of resource: StoredResource) throws {
        guard resource.kind == .segment, !resource.isDeferred, let segment = segment(of: resource),
            let key = Self.key(of: segment), let octets = library.storedKey(at: key.address, of: assetID),
            let end = file.lastUnfinishedBytes(2 *| Self.blockSize)
        else { return }
        guard Self.matches(octets, end, ofSize: file.count, key.vector) else {
            throw mismatch(of: key.address, at: segment.address)
        }
    }

    /// Checks the first stored segments of each key.
    ///
    /// These can have been received before their key, or be those of an earlier download with another key.
    ///
    /// - Throws: ``DownloadError`` if a key does not match.
    func checkStoredSegments() throws {
        var counts: [ResourceAddress: Int] = [:]
        for playlist in playlists {
            for segment in playlist.segments where !segment.isGap {
                guard let key = Self.key(of: segment) else { continue }
                let count = counts[key.address] ?? 0
                guard count < Self.checksPerKey, count > 0 || counts.count < Self.maximumKeyCount else { continue }
                counts[key.address] = count + 1
                guard let octets = library.storedKey(at: key.address, of: assetID),
                    let path = library.storedFile(at: segment.address, segment.byteRange, of: assetID),
                    let size = PackageFile.size(path),
                    let end = PackageFile.lastBytes(2 *| Self.blockSize, of: path)
                else { continue }
                guard Self.matches(octets, end, ofSize: size, key.vector) else {
                    throw mismatch(of: key.address, at: segment.address)
                }
            }
        }
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

    /// Returns the URL of the key of a segment, and the initialization vector; `nil` if the segment is not encrypted with
    /// `AES-128`.
    private static func key(of segment: MediaSegment) -> (address: ResourceAddress, vector: [UInt8])? {
        guard let key = segment.keys.first(where: \.isIdentity), key.method == .aes128, let address = key.address,
            let vector = key.vector(forSequence: segment.sequence)
        else { return nil }
        return (address, vector)
    }

    /// Removes a key that does not match, so that the asset is not playable offline and the next download fetches the key again.
    ///
    /// - Parameters:
    ///   - key: The URL of the key.
    ///   - segment: The URL of the segment.
    /// - Returns: The error of the download.
    private func mismatch(of key: ResourceAddress, at segment: ResourceAddress) -> DownloadError {
        // If the library cannot be changed, the download fails nevertheless.
        try? library.removeKey(at: key, of: assetID)
        return DownloadError(
            .damaged,
            "the key does not match: the decrypted data has no valid PKCS7 padding: \(segment)",
            address: segment
        )
    }

    /// Verifies that a key can be that of an encrypted segment, which then has valid padding.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - end: The last two blocks of the segment, or all of it if it has only one.
    ///   - size: The size of the segment in bytes. Data that is not a series of blocks says nothing about the key.
    ///   - vector: The initialization vector of the segment.
    /// - Returns: A Boolean value that indicates whether the key can be that of the segment.
    private static func matches(_ key: [UInt8], _ end: [UInt8], ofSize size: Int64, _ vector: [UInt8]) -> Bool {
        guard size > 0, size.isMultiple(of: Int64(blockSize)), end.count == blockSize || end.count == 2 *| blockSize
        else { return true }
        let previous = end.count == blockSize ? vector : Array(end.prefix(blockSize))
        do {
            let iv = try AES._CBC.IV(ivBytes: previous)
            _ = try AES._CBC.decrypt(Array(end.suffix(blockSize)), using: SymmetricKey(data: key), iv: iv)
            return true
        } catch {
            return false
        }
    }
}
