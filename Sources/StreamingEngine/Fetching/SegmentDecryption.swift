import Crypto
import CryptoExtras
import Foundation
import HLSPlaylist

/// Decryption of entirely encrypted resources (RFC 8216bis §4.4.4.4).
enum SegmentDecryption {
    /// An error that occurs if a resource cannot be decrypted.
    struct Failure: Error {
        let message: String
    }

    /// Decrypts a resource.
    ///
    /// - Throws: ``Failure`` if the key or the initialization vector has the wrong size, or the key does not match.
    static func decrypt(_ bytes: [UInt8], key: KeyReference, keyBytes: [UInt8]) throws -> [UInt8] {
        switch key.method {
        case .aes256GCM: try decryptGCM(bytes, key: keyBytes)
        default: try decryptCBC(bytes, key: keyBytes, initializationVector: key.initializationVector ?? [])
        }
    }

    private static func decryptCBC(
        _ bytes: [UInt8],
        key octets: [UInt8],
        initializationVector vector: [UInt8]
    ) throws -> [UInt8] {
        guard octets.count == 16 else {
            throw Failure(message: "the AES-128 key must have 16 bytes, but has \(octets.count)")
        }
        guard bytes.count.isMultiple(of: 16), !bytes.isEmpty else {
            throw Failure(message: "the size of the encrypted data, \(bytes.count) bytes, is not a multiple of 16")
        }
        do {
            let iv = try AES._CBC.IV(ivBytes: vector)
            return Array(try AES._CBC.decrypt(bytes, using: SymmetricKey(data: octets), iv: iv))
        } catch {
            throw Failure(message: "the key does not match: the decrypted data has no valid PKCS7 padding")
        }
    }

    /// Decrypts AES-256-GCM; the first 16 bytes are the initialization vector, the last 16 the authentication tag.
    private static func decryptGCM(_ bytes: [UInt8], key octets: [UInt8]) throws -> [UInt8] {
        guard octets.count == 32 else {
            throw Failure(message: "the AES-256 key must have 32 bytes, but has \(octets.count)")
        }
        guard bytes.count >= 32 else {
            throw Failure(
                message: "\(bytes.count) bytes are too few for an initialization vector and an authentication tag"
            )
        }
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: bytes[..<16]),
                ciphertext: bytes[16..<(bytes.count - 16)],
                tag: bytes[(bytes.count - 16)...]
            )
            return Array(try AES.GCM.open(box, using: SymmetricKey(data: octets)))
        } catch {
            throw Failure(message: "the key does not match: the authentication tag is invalid")
        }
    }
}
