import MediaTiming
import SegmentFormat

/// Which bytes of a sample are encrypted, and with which vector (ISO/IEC 23001-7 §7).
struct SampleEncryption {
    /// Clear bytes, then encrypted ones; none of these mean that the whole sample is encrypted.
    struct Subsample {
        let clear: Int
        let encrypted: Int
    }

    /// 8 or 16 octets; empty where all samples share one.
    let vector: [UInt8]
    let subsamples: [Subsample]
}

/// Decrypts the samples of one track of an ISO base media file.
struct CommonDecryption {
    private let scheme: FourCharacterCode
    private let pattern: (encrypted: Int, clear: Int)?
    private let constantVector: [UInt8]
    private let cipher: BlockCipher

    /// Makes a decryption; throws where the scheme is not known.
    init(_ protection: SampleProtection, key: SampleKey) throws(DecodingError) {
        scheme = protection.scheme ?? "cenc"
        guard ["cenc", "cens", "cbc1", "cbcs"].contains(scheme) else {
            throw DecodingError(.unsupported, "samples are encrypted by \(scheme), which is not known")
        }
        let usesPattern = scheme == "cbcs" || scheme == "cens"
        pattern =
            usesPattern
            ? protection.pattern.map { (Int($0.encryptedBlocks), Int($0.clearBlocks)) }.flatMap { $0.0 > 0 ? $0 : nil }
            : nil
        constantVector = protection.constantVector.isEmpty ? key.initializationVector ?? [] : protection.constantVector
        cipher = try BlockCipher(key: key.key)
    }

    /// Decrypts a sample in place; `false` where what is said about it does not fit its length.
    func decrypt(_ sample: UnsafeMutableRawBufferPointer, _ encryption: SampleEncryption) -> Bool {
        let own = encryption.vector.isEmpty ? constantVector : encryption.vector
        guard !own.isEmpty else { return false }
        let vector = Array((own + [UInt8](repeating: 0, count: 16)).prefix(16))
        let isCounter = scheme == "cenc" || scheme == "cens"
        var stream = CounterStream(vector: vector)
        var chain = vector
        var offset = 0
        let parts =
            encryption.subsamples.isEmpty
            ? [SampleEncryption.Subsample(clear: 0, encrypted: sample.count)] : encryption.subsamples
        for part in parts {
            guard part.clear <= sample.count - offset else { return false }
            offset += part.clear
            guard part.encrypted <= sample.count - offset else { return false }
            let range = unsafe UnsafeMutableRawBufferPointer(rebasing: sample[offset..<offset + part.encrypted])
            offset += part.encrypted
            // With `cbcs` each part begins with the vector again (ISO/IEC 23001-7 §10.4.1).
            if scheme == "cbcs" { chain = vector }
            if isCounter {
                unsafe forEncryptedBytes(range) { unsafe stream.apply(to: $0, with: cipher) }
            } else {
                unsafe forEncryptedBytes(range) { unsafe cipher.decryptChained($0, vector: &chain) }
            }
        }
        return true
    }

    private func forEncryptedBytes(
        _ range: UnsafeMutableRawBufferPointer,
        _ body: (UnsafeMutableRawBufferPointer) -> Void
    ) {
        let block = BlockCipher.blockLength
        guard let pattern else {
            unsafe body(range)
            return
        }
        var offset = 0
        // A part of a block at the end stays clear (§9.6.1).
        while range.count - offset >= block {
            // Bounded: a block of a cipher has 16 bytes.
            let length = min(pattern.encrypted * block, (range.count - offset) / block * block)
            unsafe body(UnsafeMutableRawBufferPointer(rebasing: range[offset..<offset + length]))
            offset += length + pattern.clear * block
        }
    }
}
