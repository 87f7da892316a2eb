import MediaTiming

/// The header of a frame in a FLAC stream (RFC 9639 §9.1).
struct FLACFrameHeader {
    /// The number of the first sample in the stream, per channel.
    let firstSample: Int64
    /// The number of samples per channel.
    let sampleCount: Int64

    /// The number of the sample after the frame.
    var endSample: Int64 { firstSample +| sampleCount }

    /// Creates a header, or `nil` if there is none at the offset, or its checksum differs.
    ///
    /// - Parameters:
    ///   - bytes: Bytes of the stream.
    ///   - offset: The offset of the header.
    ///   - blockSize: The number of samples of each frame but the last in a stream with a fixed block size.
    init?(_ bytes: Span<UInt8>, at offset: Int, blockSize: Int) {
        var cursor = ByteCursor(offset..<bytes.count, in: bytes)
        let sync = cursor.readUInt16(bytes)
        let codes = cursor.readUInt8(bytes)
        let layout = cursor.readUInt8(bytes)
        // The codes that are reserved or forbidden are in no header.
        guard sync & 0xFFFE == 0xFFF8, codes >> 4 != 0, codes & 0xF != 0xF, layout >> 4 <= 10, layout & 1 == 0,
            let number = Self.codedNumber(&cursor, bytes)
        else { return nil }
        sampleCount = Self.sampleCount(codes >> 4, &cursor, bytes)
        cursor.skip([12: 1, 13: 2, 14: 2][codes & 0xF] ?? 0)
        let checksum = Self.checksum(offset..<cursor.offset, in: bytes)
        guard cursor.readUInt8(bytes) == checksum, !cursor.isPastEnd else { return nil }
        firstSample = sync & 1 == 0 ? number *| Int64(blockSize) : number
    }

    /// Reads a number that is coded as a character in UTF-8, with up to 36 bits.
    private static func codedNumber(_ cursor: inout ByteCursor, _ bytes: Span<UInt8>) -> Int64? {
        let first = cursor.readUInt8(bytes)
        let ones = (~first).leadingZeroBitCount
        guard ones != 0 else { return Int64(first) }
        guard (2...7).contains(ones) else { return nil }
        // Bounded: the shift is 3 to 8.
        var number = Int64(UInt16(first) & (0xFF >> UInt16(ones +| 1)))
        for _ in 1..<ones {
            let next = cursor.readUInt8(bytes)
            guard next & 0xC0 == 0x80 else { return nil }
            number = number << 6 | Int64(next & 0x3F)
        }
        return number
    }

    private static func sampleCount(_ code: UInt8, _ cursor: inout ByteCursor, _ bytes: Span<UInt8>) -> Int64 {
        switch code {
        case 1: 192
        case 2...5: 144 << Int64(code)
        case 6: Int64(cursor.readUInt8(bytes)) +| 1
        case 7: Int64(cursor.readUInt16(bytes)) +| 1
        default: 256 << Int64(code & 7)
        }
    }

    /// Returns the checksum of a header: a CRC with the polynomial x⁸ + x² + x + 1.
    private static func checksum(_ range: Range<Int>, in bytes: Span<UInt8>) -> UInt8 {
        var value: UInt8 = 0
        for index in range where index < bytes.count {
            value ^= bytes[index]
            for _ in 0..<8 { value = value & 0x80 == 0 ? value << 1 : value << 1 ^ 0x07 }
        }
        return value
    }
}

extension FLACFrameHeader {
    /// The last frame in a part of a stream.
    struct LastFrame {
        /// The number of the sample after the frame.
        let endSample: Int64
        /// A Boolean value that indicates whether the part ends with the end of the frame.
        let isWhole: Bool
    }

    /// Returns the last frame in a part of a stream; `nil` without two consecutive frames, because the bytes of samples can look
    /// like a header.
    static func lastFrame(in bytes: Span<UInt8>, _ range: Range<Int>, blockSize: Int) -> LastFrame? {
        var ends: Set<Int64> = []
        var last: (offset: Int, endSample: Int64)?
        for offset in range.lowerBound..<max(range.lowerBound, range.upperBound -| 5) where bytes[offset] == 0xFF {
            guard let header = FLACFrameHeader(bytes, at: offset, blockSize: blockSize) else { continue }
            if ends.contains(header.firstSample) { last = (offset, header.endSample) }
            ends.insert(header.endSample)
        }
        return last.map { last in
            LastFrame(endSample: last.endSample, isWhole: isWhole(last.offset..<range.upperBound, in: bytes))
        }
    }

    /// Returns the frame with which a part of a stream begins, if no other frame follows.
    ///
    /// - Parameters:
    ///   - bytes: Bytes of the stream.
    ///   - range: The part of the stream.
    ///   - blockSize: The number of samples of each frame but the last in a stream with a fixed block size.
    /// - Returns: The frame; `nil` if the part does not begin with the header of a frame, or has several headers.
    static func onlyFrame(in bytes: Span<UInt8>, _ range: Range<Int>, blockSize: Int) -> LastFrame? {
        guard let header = FLACFrameHeader(bytes, at: range.lowerBound, blockSize: blockSize) else { return nil }
        for offset in range.dropFirst() where bytes[offset] == 0xFF {
            guard FLACFrameHeader(bytes, at: offset, blockSize: blockSize) == nil else { return nil }
        }
        return LastFrame(endSample: header.endSample, isWhole: isWhole(range, in: bytes))
    }

    /// Returns a Boolean value that indicates whether bytes are a whole frame: they end with a CRC of the others with the polynomial
    /// x¹⁶ + x¹⁵ + x² + 1 (RFC 9639 §9.3).
    private static func isWhole(_ range: Range<Int>, in bytes: Span<UInt8>) -> Bool {
        var value: UInt16 = 0
        for index in range {
            value ^= UInt16(bytes[index]) << 8
            for _ in 0..<8 { value = value & 0x8000 == 0 ? value << 1 : value << 1 ^ 0x8005 }
        }
        return value == 0
    }
}
