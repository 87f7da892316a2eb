import AssetStorage
import Crypto
import CryptoExtras
import Foundation
import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// A segment that is encrypted entirely (RFC 8216bis §4.4.4.4), with what is needed to check whether a key is its key.
///
/// With `AES-128`, a segment ends with padding. It is in the last block, which is decrypted with the block before it only, so that
/// the check of a large segment takes no longer than that of a small one. With `AES-256-GCM`, the authentication tag of all bytes
/// is verified. The first block of a segment whose key is part of the playlist, as one that the user has given is, must be the
/// beginning of media.
struct EncryptedSegment: Sendable {
    private enum Method: Sendable {
        case aes128(vector: [UInt8])
        case aes256GCM
    }

    /// The URL of the segment.
    let address: ResourceAddress
    /// The URL of the key.
    let key: ResourceAddress
    /// A Boolean value that indicates whether the key is part of the playlist, as a key that the user has given is.
    ///
    /// A wrong key of this kind can be found only by the media that it decrypts, so the first decrypted bytes are checked too.
    let hasInlineKey: Bool
    private let method: Method

    /// The size of a block of AES in bytes, which is that of an authentication tag and of an initialization vector as well.
    private static let blockSize = 16
    /// The maximum size of a segment that is decrypted entirely, in bytes: it is in memory twice.
    private static let maximumEntireSize = 8 << 20

    /// Creates the description of a segment; `nil` if it is not encrypted with one of the two methods.
    init?(_ segment: MediaSegment) {
        guard let key = segment.keys.first(where: \.isIdentity), let keyAddress = key.address else { return nil }
        if key.method == .aes128, let vector = key.vector(forSequence: segment.sequence) {
            method = .aes128(vector: vector)
        } else if key.method == .aes256GCM {
            method = .aes256GCM
        } else {
            return nil
        }
        self.key = keyAddress
        hasInlineKey = keyAddress.normalizedScheme == "data"
        address = segment.address
    }

    /// The kind of the file of the key.
    var keyKind: StoredResource.Kind {
        switch method {
        case .aes128: .key
        case .aes256GCM: .longKey
        }
    }

    /// A Boolean value that indicates whether the check needs all bytes of the segment.
    var isCheckedEntirely: Bool {
        switch method {
        case .aes128: false
        case .aes256GCM: true
        }
    }

    /// The number of segments to check for one key: with a wrong key, the padding of 1 of 256 segments is valid by chance.
    var checksPerKey: Int { isCheckedEntirely ? 1 : 4 }

    /// Checks a key with the stored file of the segment.
    ///
    /// - Parameters:
    ///   - octets: The key.
    ///   - path: The path of the file.
    /// - Returns: Whether the key can be that of the segment; `nil` if the file does not tell, or cannot be read.
    func matches(_ octets: [UInt8], fileAt path: String) -> Bool? {
        FileInspection.size(path).flatMap { size in
            matches(octets, ofSize: size) { FileInspection.lastBytes($0, of: path) }
        }
    }

    /// Checks a key with the bytes of the segment.
    ///
    /// - Parameters:
    ///   - octets: The key.
    ///   - size: The size of the segment in bytes.
    ///   - lastBytes: A function that returns the last bytes of the segment, or `nil` if they cannot be read.
    /// - Returns: Whether the key can be that of the segment; `nil` if the bytes do not tell.
    func matches(_ octets: [UInt8], ofSize size: Int64, _ lastBytes: (_ count: Int) -> [UInt8]?) -> Bool? {
        switch method {
        case .aes128(let vector):
            // Data that is not a series of blocks is not encrypted, which says nothing about the key of a server.
            if hasInlineKey, !size.isMultiple(of: Int64(Self.blockSize)) { return false }
            guard size > 0, size.isMultiple(of: Int64(Self.blockSize)), let end = lastBytes(2 *| Self.blockSize),
                end.count == Self.blockSize || end.count == 2 *| Self.blockSize
            else { return nil }
            let previous = end.count == Self.blockSize ? vector : Array(end.prefix(Self.blockSize))
            do {
                let iv = try AES._CBC.IV(ivBytes: previous)
                _ = try AES._CBC.decrypt(Array(end.suffix(Self.blockSize)), using: SymmetricKey(data: octets), iv: iv)
                return true
            } catch {
                return false
            }
        case .aes256GCM:
            guard size >= Int64(2 *| Self.blockSize), size <= Int64(Self.maximumEntireSize),
                let bytes = lastBytes(Int(clamping: size)), Int64(bytes.count) == size
            else { return nil }
            do {
                let box = try AES.GCM.SealedBox(
                    nonce: AES.GCM.Nonce(data: bytes.prefix(Self.blockSize)),
                    ciphertext: bytes.dropFirst(Self.blockSize).dropLast(Self.blockSize),
                    tag: bytes.suffix(Self.blockSize)
                )
                _ = try AES.GCM.open(box, using: SymmetricKey(data: octets))
                return true
            } catch {
                return false
            }
        }
    }

    /// Checks with the first block of the segment whether a key that is part of the playlist decrypts media.
    ///
    /// With a wrong key, the padding of 1 of 256 segments is valid by chance.
    ///
    /// - Parameters:
    ///   - octets: The key.
    ///   - firstBytes: A function that returns the first bytes of the segment, or `nil` if they cannot be read.
    /// - Returns: Whether the decrypted bytes are the beginning of media; `nil` if the key is not part of the playlist, or if the bytes
    ///   do not tell.
    func beginsWithMedia(_ octets: [UInt8], _ firstBytes: (_ count: Int) -> [UInt8]?) -> Bool? {
        switch method {
        case .aes128(let vector):
            guard hasInlineKey, let start = firstBytes(Self.blockSize), start.count == Self.blockSize,
                let iv = try? AES._CBC.IV(ivBytes: vector),
                let block = try? AES._CBC.decrypt(start, using: SymmetricKey(data: octets), iv: iv, noPadding: true)
            else { return nil }
            return MediaSignature.isPresent(in: Array(block))
        case .aes256GCM:
            // The authentication tag verifies all of the segment.
            return nil
        }
    }

    /// Removes a key that does not match, so that the asset is not playable offline and the next download fetches the key again.
    ///
    /// - Parameters:
    ///   - assetID: The identifier of the asset.
    ///   - library: The library.
    ///   - isUnknownMedia: A Boolean value that indicates whether the decrypted bytes are not the beginning of media, although they
    ///     have the right padding.
    /// - Returns: The error of the download.
    func mismatch(
        removingKeyOf assetID: String,
        in library: AssetLibrary,
        isUnknownMedia: Bool = false
    ) -> DownloadError {
        // If the library cannot be changed, the download fails nevertheless.
        try? library.removeKey(at: key, of: assetID)
        return isUnknownMedia ? unknownMedia : mismatch
    }

    /// The error of a download whose key does not match.
    var mismatch: DownloadError {
        let reason =
            switch method {
            case .aes128: "the decrypted data has no valid PKCS7 padding"
            case .aes256GCM: "the authentication tag is invalid"
            }
        return makeError(reason)
    }

    /// The error of a download whose decrypted media does not begin as media does.
    var unknownMedia: DownloadError { makeError("the decrypted data does not begin like media of a known format") }

    /// Returns the error of a download whose key does not match for a reason.
    private func makeError(_ reason: String) -> DownloadError {
        DownloadError(.damaged, "the key does not match: \(reason): \(address)", address: address)
    }
}
