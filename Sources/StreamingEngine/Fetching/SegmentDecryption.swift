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
    static func decrypt(_ bytes: [UInt8], _ key: KeyReference, octets: [UInt8]) throws -> [UInt8] {
        switch key.method {
        case .aes256GCM: try openGCM(bytes, octets)
        default: try openCBC(bytes, octets, key.vector ?? [])
        }
    }

    private static func openCBC(_ bytes: [UInt8], _ octets: [UInt8], _ vector: [UInt8]) throws -> [UInt8] {
        guard octets.count == 16 else { throw Failure(message: "a key has 16 octets, and this one \(octets.count)") }
        guard bytes.count.isMultiple(of: 16), !bytes.isEmpty else {
            throw Failure(message: "\(bytes.count) octets are no whole number of blocks of 16")
        }
        do {
            let iv = try AES._CBC.IV(ivBytes: vector)
            return Array(try AES._CBC.decrypt(bytes, using: SymmetricKey(data: octets), iv: iv))
        } catch {
            throw Failure(message: "the key does not fit: what it gives has no valid padding")
        }
    }

    /// Decrypts AES-256-GCM; the first 16 bytes are the initialization vector, the last 16 the authentication tag.
    private static func openGCM(_ bytes: [UInt8], _ octets: [UInt8]) throws -> [UInt8] {
        guard octets.count == 32 else { throw Failure(message: "a key has 32 octets, and this one \(octets.count)") }
        guard bytes.count >= 32 else { throw Failure(message: "\(bytes.count) octets hold no vector and no tag") }
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: bytes[..<16]),
                ciphertext: bytes[16..<(bytes.count - 16)],
                tag: bytes[(bytes.count - 16)...]
            )
            return Array(try AES.GCM.open(box, using: SymmetricKey(data: octets)))
        } catch {
            throw Failure(message: "the key does not fit: the tag is another")
        }
    }
}
