import AssetStorage
import Crypto
import CryptoExtras
import Foundation
import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// An encrypted segment (RFC 8216bis §4.4.4.4) with the values that are needed to check a key.
///
/// With `AES-128`, a segment ends with padding. Only the last block and the block before it are needed to check the
/// padding, so the check of a large segment takes no longer than that of a small one. With `AES-256-GCM`, the
/// authentication tag of all bytes is verified. A key that the user gives becomes part of the playlist. With such a
/// key, the first decrypted block must be the beginning of media. With `SAMPLE-AES`, only such a key is checked, and
/// the check uses the audio of the segment (``SampleKeyCheck``).
struct EncryptedSegment: Sendable {
    private enum Method: Sendable {
        case aes128(vector: [UInt8])
        case aes256GCM
        case sampleAES(vector: [UInt8], isExplicit: Bool)
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
    /// The URL and the byte range of the initialization section; `nil` if the segment needs none.
    private let initialization: (address: ResourceAddress, range: ByteRange?)?

    /// The size of a block of AES in bytes, which is that of an authentication tag and of an initialization vector as well.
    private static let blockSize = 16
    /// The maximum size of a segment that is decrypted entirely, in bytes: it is in memory twice.
    private static let maximumEntireSize = 8 << 20

    /// Creates the description of a segment; `nil` if its key cannot be checked.
    init?(_ segment: MediaSegment) {
        guard let key = segment.keys.first(where: \.isIdentity), let keyAddress = key.address else { return nil }
        let hasInlineKey = keyAddress.normalizedScheme == "data"
        if key.method == .aes128, let vector = key.vector(forSequence: segment.sequence) {
            method = .aes128(vector: vector)
        } else if key.method == .aes256GCM {
            method = .aes256GCM
        } else if key.method == .sampleAES, hasInlineKey, let vector = key.vector(forSequence: segment.sequence) {
            method = .sampleAES(vector: vector, isExplicit: key.initializationVector != nil)
        } else {
            return nil
        }
        self.key = keyAddress
        self.hasInlineKey = hasInlineKey
        address = segment.address
        initialization = segment.map.map { (address: $0.address, range: $0.byteRange) }
    }

    /// The kind of the file of the key.
    var keyKind: StoredResource.Kind {
        switch method {
        case .aes128, .sampleAES: .key
        case .aes256GCM: .longKey
        }
    }

    /// A Boolean value that indicates whether the check needs all bytes of the segment.
    var isCheckedEntirely: Bool {
        switch method {
        case .aes128, .sampleAES: false
        case .aes256GCM: true
        }
    }

    /// A Boolean value that indicates whether only audio can show that a key matches.
    ///
    /// Segments of each media playlist are then checked.
    var isCheckedWithAudio: Bool {
        switch method {
        case .aes128, .aes256GCM: false
        case .sampleAES: true
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
        case .sampleAES:
            // The samples have no padding.
            return nil
        }
    }

    /// Checks whether a key that is part of the playlist decrypts the first block, or the samples, of the segment to
    /// media.
    ///
    /// With a wrong key, the padding of 1 of 256 segments is valid by chance.
    ///
    /// - Parameters:
    ///   - octets: The key.
    ///   - firstBytes: A function that returns the first bytes of the segment, or `nil` if they cannot be read.
    ///   - header: A function that returns the initialization section, or `nil` if it is not stored.
    /// - Returns: Whether the decrypted bytes are the beginning of media; `nil` if the key is not part of the playlist,
    ///   or if the bytes allow no decision.
    func beginsWithMedia(
        _ octets: [UInt8],
        _ firstBytes: (_ count: Int) -> [UInt8]?,
        initialization header: () -> [UInt8]? = { nil }
    ) -> Bool? {
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
        case .sampleAES(let vector, let isExplicit):
            guard let start = firstBytes(SampleKeyCheck.maximumSize) else { return nil }
            guard initialization != nil else { return SampleKeyCheck.matches(octets, vector: vector, start) }
            guard let section = header() else { return nil }
            return SampleKeyCheck.matches(
                octets,
                explicitVector: isExplicit ? vector : nil,
                start,
                initialization: section
            )
        }
    }

    /// Returns the stored initialization section of the segment; `nil` if it is not stored, or not needed for the check.
    ///
    /// - Parameters:
    ///   - assetID: The identifier of the asset.
    ///   - library: The library.
    /// - Returns: The section.
    func storedInitialization(of assetID: String, in library: AssetLibrary) -> [UInt8]? {
        guard isCheckedWithAudio, let initialization,
            let path = library.storedFile(at: initialization.address, initialization.range, of: assetID)
        else { return nil }
        return FileInspection.firstBytes(ProtectedMedia.maximumInitializationSize, of: path)
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
            case .sampleAES: "the decrypted audio is not valid"
            }
        return makeError(reason)
    }

    /// The error of a download whose decrypted bytes are not valid media.
    var unknownMedia: DownloadError {
        isCheckedWithAudio ? mismatch : makeError("the decrypted data does not begin like media of a known format")
    }

    /// Returns the error of a download whose key does not match for a reason.
    private func makeError(_ reason: String) -> DownloadError {
        DownloadError(.damaged, "the key does not match: \(reason): \(address)", address: address)
    }
}
