import MediaTiming

/// A 64-bit checksum of the files of a package, which detects accidental damage; it does not detect deliberate changes.
///
/// Blocks of 32 bytes are divided among four sums whose steps do not wait for each other, so that a processor computes them at
/// the same time. Each step is reversible in its sum and in its word, so contents of the same length that differ in a single
/// 8-byte word never have the same checksum.
struct FileChecksum: Sendable {
    private static let multiplier: UInt64 = 0x0000_0100_0000_01B3
    private static let secondMultiplier: UInt64 = 0x9E37_79B9_7F4A_7C15
    private static let wordSize = MemoryLayout<UInt64>.size
    private static let blockSize = 4 *| wordSize

    private var sums: (UInt64, UInt64, UInt64, UInt64) = (
        0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344, 0xA409_3822_299F_31D0, 0x082E_FA98_EC4E_6C89
    )
    /// The bytes that do not fill a block yet.
    private var pending: [UInt8] = []
    private var count: UInt64 = 0

    /// Appends bytes; the result does not depend on how the content is divided into calls.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        count &+= UInt64(clamping: bytes.count)
        var rest = bytes
        if !pending.isEmpty {
            let missing = min(Self.blockSize - pending.count, rest.count)
            pending.append(contentsOf: rest[..<missing])
            rest = UnsafeRawBufferPointer(rebasing: rest[missing...])
            guard pending.count == Self.blockSize else { return }
            pending.withUnsafeBytes { addBlocks($0) }
            pending = []
        }
        let whole = rest.count - rest.count % Self.blockSize
        addBlocks(UnsafeRawBufferPointer(rebasing: rest[..<whole]))
        pending.append(contentsOf: rest[whole...])
    }

    /// The checksum of all bytes that were appended.
    var value: UInt64 {
        var copy = self
        if !pending.isEmpty {
            let padded = pending + [UInt8](repeating: 0, count: Self.blockSize - pending.count)
            padded.withUnsafeBytes { copy.addBlocks($0) }
        }
        let words = [copy.sums.1, copy.sums.2, copy.sums.3, count]
        return words.reduce(copy.sums.0) { Self.combined($0, $1) }
    }

    /// Appends blocks of 32 bytes.
    private mutating func addBlocks(_ bytes: UnsafeRawBufferPointer) {
        var (first, second, third, fourth) = sums
        for block in 0..<bytes.count / Self.blockSize {
            let offset = block &* Self.blockSize
            func word(_ index: Int) -> UInt64 {
                UInt64(
                    littleEndian: bytes.loadUnaligned(
                        fromByteOffset: offset &+ index &* Self.wordSize,
                        as: UInt64.self
                    )
                )
            }
            first = Self.combined(first, word(0))
            second = Self.combined(second, word(1))
            third = Self.combined(third, word(2))
            fourth = Self.combined(fourth, word(3))
        }
        sums = (first, second, third, fourth)
    }

    private static func combined(_ sum: UInt64, _ word: UInt64) -> UInt64 {
        let product = (sum ^ word) &* multiplier
        // A multiplication propagates bits upward only; without this shift, changes of high bits in two words could
        // cancel each other.
        return (product ^ product >> 32) &* secondMultiplier
    }
}
