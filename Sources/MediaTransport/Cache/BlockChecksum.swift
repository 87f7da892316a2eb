import MediaTiming

/// A 64-bit checksum that detects accidental damage by a disk or a crash; it does not detect deliberate changes.
///
/// Each step is reversible, so contents of the same length that differ in a single 8-byte word never have the same
/// checksum.
package struct BlockChecksum: Sendable {
    /// The default initial state.
    package static let seed: UInt64 = 0xCBF2_9CE4_8422_2325
    private static let multiplier: UInt64 = 0x0000_0100_0000_01B3
    private static let secondMultiplier: UInt64 = 0x9E37_79B9_7F4A_7C15
    private static let wordSize = MemoryLayout<UInt64>.size

    private var state: UInt64
    /// The bytes that do not fill a word yet, the first byte in the least significant bits.
    private var pending: UInt64 = 0
    private var pendingCount = 0
    private var count: UInt64 = 0

    /// Creates the checksum of an empty content.
    package init(seed: UInt64 = seed) { state = seed }

    /// Returns the checksum of the given bytes; a different seed gives an independent checksum.
    package static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = seed) -> UInt64 {
        var checksum = BlockChecksum(seed: seed)
        checksum.update(bytes)
        return checksum.value
    }

    /// Appends bytes; the result does not depend on how the content is divided into calls.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        count &+= UInt64(clamping: bytes.count)
        var rest = bytes[...]
        while pendingCount > 0, let byte = rest.popFirst() { append(byte) }
        let wholeWords = rest.count / Self.wordSize
        let words = UnsafeRawBufferPointer(rebasing: rest)
        for index in 0..<wholeWords {
            let word = words.loadUnaligned(fromByteOffset: index *| Self.wordSize, as: UInt64.self)
            combine(UInt64(littleEndian: word))
        }
        for byte in words[(wholeWords *| Self.wordSize)...] { append(byte) }
    }

    /// The checksum of all bytes that were appended.
    package var value: UInt64 {
        var copy = self
        copy.combine(pending)
        copy.combine(count)
        return copy.state
    }

    private mutating func append(_ byte: UInt8) {
        pending |= UInt64(byte) << UInt64(clamping: 8 *| pendingCount)
        pendingCount += 1
        guard pendingCount == Self.wordSize else { return }
        combine(pending)
        (pending, pendingCount) = (0, 0)
    }

    private mutating func combine(_ word: UInt64) {
        state = (state ^ word) &* Self.multiplier
        // A multiplication propagates bits upward only; without this shift, changes of high bits in two words could
        // cancel each other.
        state = (state ^ state >> 32) &* Self.secondMultiplier
    }
}
