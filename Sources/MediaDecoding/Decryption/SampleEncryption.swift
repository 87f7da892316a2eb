import MediaTiming
import SegmentFormat

/// The encrypted byte ranges of a sample and its initialization vector (ISO/IEC 23001-7 §7).
struct SampleEncryption {
    /// A number of clear bytes followed by a number of encrypted bytes.
    ///
    /// A sample without subsamples is encrypted as a whole.
    struct Subsample {
        let clear: Int
        let encrypted: Int
    }

    /// The initialization vector, 8 or 16 bytes; empty if all samples of the track share one.
    let vector: [UInt8]
    let subsamples: [Subsample]
}

/// A decryptor for the samples of one track of an ISO base media file (ISO/IEC 23001-7).
struct CommonEncryptionDecryptor {
    private let scheme: FourCharacterCode
    private let pattern: (encrypted: Int, clear: Int)?
    private let constantVector: [UInt8]
    private let cipher: BlockCipher

    /// Creates a decryptor.
    ///
    /// - Parameters:
    ///   - protection: The protection scheme and its parameters, from the sample entry.
    ///   - key: The key; its initialization vector is used if the sample entry has no constant one.
    /// - Throws: ``DecodingError`` if the scheme is unknown.
    init(_ protection: SampleProtection, key: SampleKey) throws(DecodingError) {
        scheme = protection.scheme ?? "cenc"
        guard ["cenc", "cens", "cbc1", "cbcs"].contains(scheme) else {
            throw DecodingError(status: .unsupported, operation: "the protection scheme \(scheme) is unknown")
        }
        let usesPattern = scheme == "cbcs" || scheme == "cens"
        pattern =
            usesPattern
            ? protection.pattern.map { (Int($0.encryptedBlockCount), Int($0.skippedBlockCount)) }.flatMap {
                $0.0 > 0 ? $0 : nil
            }
            : nil
        constantVector =
            protection.constantInitializationVector.isEmpty
            ? key.initializationVector ?? [] : protection.constantInitializationVector
        cipher = try BlockCipher(key: key.key)
    }

    /// Decrypts a sample in place.
    ///
    /// - Returns: `false` if there is no initialization vector, or if the subsamples exceed the length of the sample.
    func decrypt(_ sample: UnsafeMutableRawBufferPointer, _ encryption: SampleEncryption) -> Bool {
        let explicitVector = encryption.vector.isEmpty ? constantVector : encryption.vector
        guard !explicitVector.isEmpty else { return false }
        let vector = Array((explicitVector + [UInt8](repeating: 0, count: 16)).prefix(16))
        let isCounter = scheme == "cenc" || scheme == "cens"
        var stream = CounterModeStream(vector: vector)
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
            // With `cbcs`, each subsample starts with the initialization vector again (ISO/IEC 23001-7 §10.4.1).
            if scheme == "cbcs" { chain = vector }
            if isCounter {
                unsafe forEachEncryptedRange(in: range) { unsafe stream.apply(to: $0, with: cipher) }
            } else {
                unsafe forEachEncryptedRange(in: range) { unsafe cipher.decryptCBC($0, vector: &chain) }
            }
        }
        return true
    }

    private func forEachEncryptedRange(
        in range: UnsafeMutableRawBufferPointer,
        _ body: (UnsafeMutableRawBufferPointer) -> Void
    ) {
        let block = BlockCipher.blockLength
        guard let pattern else {
            unsafe body(range)
            return
        }
        var offset = 0
        // A partial block at the end is not encrypted (§9.6.1).
        while range.count - offset >= block {
            // Bounded: a cipher block has 16 bytes.
            let length = min(pattern.encrypted * block, (range.count - offset) / block * block)
            unsafe body(UnsafeMutableRawBufferPointer(rebasing: range[offset..<offset + length]))
            offset += length + pattern.clear * block
        }
    }
}
