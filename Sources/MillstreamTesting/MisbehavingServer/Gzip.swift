import MediaTiming

/// A writer of gzip streams (RFC 1952) without a compressor.
enum Gzip {
    private static let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]

    /// Returns a stream with the bytes in stored blocks (RFC 1951 §3.2.4).
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var stream = head
        var start = 0
        repeat {
            let block = bytes[start..<min(bytes.count, start + 65_535)]
            start = block.endIndex
            let length = UInt16(clamping: block.count)
            stream.append(start == bytes.count ? 1 : 0)
            stream += littleEndian(length) + littleEndian(~length) + block
        } while start < bytes.count
        return stream + littleEndian(CRC32.of(bytes)) + littleEndian(UInt32(truncatingIfNeeded: bytes.count))
    }

    /// Returns a stream that expands to the given number of spaces: a literal, then matches of 258 bytes with 2 bits
    /// each, which is about a thousandth of the size.
    ///
    /// Fixed Huffman codes would need 13 bits for each match, so the stream has its own code table.
    static func bomb(expandedTo size: Int) -> [UInt8] {
        let size = max(0, size)
        var bits = BitWriter(head)
        writeTable(&bits)
        if size > 0 {
            let (matches, literals) = (size - 1).quotientAndRemainder(dividingBy: 258)
            bits.code("10")
            // Each match is a 0 bit for its length and a 0 bit for its distance.
            bits.zeros(matches * 2)
            for _ in 0..<literals { bits.code("10") }
        }
        bits.code("11")
        let checksum = CRC32.of(0x20, repeated: size)
        return bits.bytes + littleEndian(checksum) + littleEndian(UInt32(truncatingIfNeeded: size))
    }

    /// Writes the header of a last block with these codes (RFC 1951 §3.2.7): length 258 is `0`, a space is `10`, the
    /// end of the block is `11`; distance 1 is `0`.
    private static func writeTable(_ bits: inout BitWriter) {
        bits.number(1, width: 1)
        bits.number(2, width: 2)
        bits.number(286 - 257, width: 5)
        bits.number(1 - 1, width: 5)
        // The lengths of the code length codes, in the order of the RFC: only 18 (a run of zeros), 2 and 1 are used,
        // with the codes `0`, `11` and `10`.
        let lengths = [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2]
        bits.number(lengths.count - 4, width: 4)
        for length in lengths { bits.number(length, width: 3) }
        func unused(_ count: Int) {
            bits.code("0")
            bits.number(count - 11, width: 7)
        }
        unused(32)
        bits.code("11")  // The code of a space has 2 bits.
        unused(138)
        unused(85)
        bits.code("11")  // The code of the end of the block has 2 bits.
        unused(28)
        bits.code("10")  // The code of length 258 has 1 bit.
        bits.code("10")  // The code of distance 1 has 1 bit.
    }

    private static func littleEndian(_ value: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
        (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}

/// A writer that packs bits as deflate requires, beginning with the least significant bit of each byte.
private struct BitWriter {
    private(set) var bytes: [UInt8]
    private var free = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Writes a number, least significant bit first.
    mutating func number(_ value: Int, width: Int) {
        for index in 0..<width { bit(value >> index & 1 == 1) }
    }

    /// Writes a Huffman code that is given as text, first bit first.
    mutating func code(_ text: StaticString) {
        text.withUTF8Buffer { for digit in $0 { bit(digit == UInt8(ascii: "1")) } }
    }

    /// Writes zeros, of which there can be millions.
    mutating func zeros(_ count: Int) {
        let within = min(free, count)
        free -= within
        let (whole, rest) = (count - within).quotientAndRemainder(dividingBy: 8)
        bytes += [UInt8](repeating: 0, count: whole)
        for _ in 0..<rest { bit(false) }
    }

    private mutating func bit(_ isSet: Bool) {
        if free == 0 {
            bytes.append(0)
            free = 8
        }
        if isSet { bytes[bytes.count - 1] |= 1 << (8 - free) }
        free -= 1
    }
}
