import CFFmpeg

/// An AES-128 block cipher (FIPS 197), implemented by FFmpeg.
@safe final class BlockCipher {
    static let blockLength = 16

    private let decrypting: OpaquePointer
    private let encrypting: OpaquePointer

    init(key: [UInt8]) throws(DecodingError) {
        guard key.count == Self.blockLength else {
            throw DecodingError(status: .encrypted, operation: "a key must have 16 octets")
        }
        guard let decrypting = unsafe av_aes_alloc() else { throw .outOfMemory }
        guard let encrypting = unsafe av_aes_alloc() else {
            unsafe av_free(UnsafeMutableRawPointer(decrypting))
            throw .outOfMemory
        }
        unsafe av_aes_init(decrypting, key, 128, 1)
        unsafe av_aes_init(encrypting, key, 128, 0)
        unsafe self.decrypting = unsafe decrypting
        unsafe self.encrypting = unsafe encrypting
    }

    deinit {
        unsafe av_free(UnsafeMutableRawPointer(decrypting))
        unsafe av_free(UnsafeMutableRawPointer(encrypting))
    }

    /// Decrypts complete blocks in place with cipher block chaining and sets `vector` to the vector for the next block.
    func decryptCBC(_ bytes: UnsafeMutableRawBufferPointer, vector: inout [UInt8]) {
        let blocks = bytes.count / Self.blockLength
        guard blocks > 0, let base = unsafe bytes.bindMemory(to: UInt8.self).baseAddress else { return }
        unsafe vector.withUnsafeMutableBufferPointer { vector in
            guard vector.count == Self.blockLength else { return }
            unsafe av_aes_crypt(decrypting, base, base, Int32(clamping: blocks), vector.baseAddress, 1)
        }
    }

    /// Encrypts complete blocks in place with cipher block chaining and sets `vector` to the vector for the next block.
    func encryptCBC(_ bytes: UnsafeMutableRawBufferPointer, vector: inout [UInt8]) {
        let blocks = bytes.count / Self.blockLength
        guard blocks > 0, let base = unsafe bytes.bindMemory(to: UInt8.self).baseAddress else { return }
        unsafe vector.withUnsafeMutableBufferPointer { vector in
            guard vector.count == Self.blockLength else { return }
            unsafe av_aes_crypt(encrypting, base, base, Int32(clamping: blocks), vector.baseAddress, 0)
        }
    }

    /// Returns one block of a key stream: the encrypted counter.
    func keyStreamBlock(for counter: [UInt8]) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: Self.blockLength)
        guard counter.count == Self.blockLength else { return block }
        unsafe av_aes_crypt(encrypting, &block, counter, 1, nil, 0)
        return block
    }
}

/// A counter-mode key stream that continues across all encrypted bytes of a sample.
struct CounterModeStream {
    private var counter: [UInt8]
    private var block: [UInt8] = []
    private var used = BlockCipher.blockLength

    /// Creates a key stream from an initialization vector of 16 octets, or of 8 octets followed by a block counter of
    /// zero.
    init(vector: [UInt8]) {
        counter = Array((vector + [UInt8](repeating: 0, count: 16)).prefix(16))
    }

    mutating func apply(to bytes: UnsafeMutableRawBufferPointer, with cipher: BlockCipher) {
        for index in bytes.indices {
            if used == BlockCipher.blockLength {
                block = cipher.keyStreamBlock(for: counter)
                used = 0
                // Only the lower 64 bits are incremented (ISO/IEC 23001-7 §9.2).
                for position in stride(from: 15, through: 8, by: -1) {
                    counter[position] &+= 1
                    if counter[position] != 0 { break }
                }
            }
            unsafe bytes[index] ^= block[used]
            used += 1
        }
    }
}
