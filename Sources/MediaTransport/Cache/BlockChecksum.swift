import MediaTiming

/// A checksum of 64 bits: it notices what a disk or a crash did to bytes, and keeps nobody out who means harm.
///
/// Each step can be undone, so contents of one length that differ in a single word never share a checksum.
struct BlockChecksum {
    /// What begins a checksum where nothing else is said.
    static let seed: UInt64 = 0xCBF2_9CE4_8422_2325
    private static let multiplier: UInt64 = 0x0000_0100_0000_01B3
    private static let secondMultiplier: UInt64 = 0x9E37_79B9_7F4A_7C15

    private var state: UInt64

    /// The checksum of bytes; with another seed it is another one.
    static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = seed) -> UInt64 {
        var checksum = BlockChecksum(state: seed)
        let wordSize = MemoryLayout<UInt64>.size
        // Bounded: a word has eight bytes.
        let wholeWords = bytes.count / wordSize
        for index in 0..<wholeWords {
            let word = bytes.loadUnaligned(fromByteOffset: index *| wordSize, as: UInt64.self)
            checksum.combine(UInt64(littleEndian: word))
        }
        var rest: UInt64 = 0
        for byte in bytes[(wholeWords *| wordSize)...].reversed() { rest = rest << 8 | UInt64(byte) }
        checksum.combine(rest)
        checksum.combine(UInt64(clamping: bytes.count))
        return checksum.state
    }

    private mutating func combine(_ word: UInt64) {
        state = (state ^ word) &* Self.multiplier
        // Multiplying carries only upwards; without the rest, flips of high bits of two words would cancel out.
        state = (state ^ state >> 32) &* Self.secondMultiplier
    }
}
