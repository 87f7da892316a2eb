import MediaTiming

extension CaptionTriplet {
    /// A video codec whose bitstream can carry captions.
    package enum VideoCodec: Sendable, Hashable {
        /// H.264: SEI messages in NAL units of type 6.
        case avc
        /// H.265: SEI messages in NAL units of types 39 and 40.
        case hevc
    }

    /// Returns the captions of a NAL unit, from SEI messages with ATSC user data registered by ITU-T T.35.
    ///
    /// Sources: ATSC A/53 part 4 §6.2.3; ITU-T H.264 §D.1.6.
    ///
    /// - Parameters:
    ///   - bytes: The NAL unit including its header, without a start code or length.
    ///   - codec: The video codec.
    /// - Returns: The triplets, in order; empty for other NAL units.
    package static func triplets(inNALUnit bytes: Span<UInt8>, codec: VideoCodec) -> [CaptionTriplet] {
        guard bytes.count > 2 else { return [] }
        switch codec {
        case .avc:
            guard bytes[0] & 0x1F == 6 else { return [] }
            return triplets(inMessages: removingEmulationPrevention(bytes, from: 1))
        case .hevc:
            let type = bytes[0] >> 1 & 0x3F
            guard type == 39 || type == 40 else { return [] }
            return triplets(inMessages: removingEmulationPrevention(bytes, from: 2))
        }
    }

    /// Returns the captions of a sample of an ISO base media file, in which each NAL unit is preceded by its length.
    ///
    /// - Parameters:
    ///   - bytes: The sample data.
    ///   - lengthSize: The size of the length fields in bytes: 1, 2 or 4 according to the decoder configuration; 4 by
    ///     default.
    ///   - coding: The video codec.
    /// - Returns: The triplets, in order.
    package static func triplets(
        inSample bytes: Span<UInt8>,
        lengthSize: Int = 4,
        coding: VideoCodec
    ) -> [CaptionTriplet] {
        var cursor = ByteCursor(0..<bytes.count, in: bytes)
        var list: [CaptionTriplet] = []
        while cursor.remaining > 0, list.count < maximumCount {
            let length = Int(clamping: cursor.readUnsigned(min(max(lengthSize, 1), 4), bytes))
            guard !cursor.isPastEnd, length <= cursor.remaining else { break }
            list += triplets(inNALUnit: bytes.extracting(cursor.offset..<cursor.offset + length), codec: coding)
            cursor.skip(length)
        }
        return list
    }

    /// Returns the captions of a frame in byte stream format, with start codes before NAL units (ITU-T H.264 Annex B).
    package static func triplets(inByteStream bytes: Span<UInt8>, codec: VideoCodec) -> [CaptionTriplet] {
        var list: [CaptionTriplet] = []
        var start: Int?
        var index = 0
        while index < bytes.count, list.count < maximumCount {
            guard bytes.hasBytes("\u{0}\u{0}\u{1}", at: index) else {
                index += 1
                continue
            }
            if let start { list += triplets(inNALUnit: bytes.extracting(start..<index), codec: codec) }
            index += 3
            start = index
        }
        if let start { list += triplets(inNALUnit: bytes.extracting(start..<bytes.count), codec: codec) }
        return list
    }

    /// Returns the payload of a NAL unit without emulation prevention bytes.
    private static func removingEmulationPrevention(_ bytes: Span<UInt8>, from start: Int) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var zeros = 0
        for index in start..<bytes.count {
            let byte = bytes[index]
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            plain.append(byte)
        }
        return plain
    }

    private static func triplets(inMessages payload: [UInt8]) -> [CaptionTriplet] {
        let bytes = payload.span
        var cursor = ByteCursor(0..<bytes.count, in: bytes)
        var list: [CaptionTriplet] = []
        while cursor.remaining > 2, list.count < maximumCount {
            guard let type = number(&cursor, bytes), let size = number(&cursor, bytes), size <= cursor.remaining else {
                break
            }
            if type == 4 { list += triplets(inUserData: bytes.extracting(cursor.offset..<cursor.offset + size)) }
            cursor.skip(size)
        }
        return list
    }

    /// Reads a number that is encoded as bytes of 255 and a last byte less than 255, which are added.
    private static func number(_ cursor: inout ByteCursor, _ bytes: Span<UInt8>) -> Int? {
        var value = 0
        while cursor.remaining > 0 {
            let byte = cursor.readUInt8(bytes)
            value += Int(byte)
            if byte != 255 { return value }
        }
        return nil
    }

    /// Returns the captions of a message with the country code, provider code, identifier and type of ATSC captions.
    static func triplets(inUserData bytes: Span<UInt8>) -> [CaptionTriplet] {
        var cursor = ByteCursor(0..<bytes.count, in: bytes)
        let (country, provider) = (cursor.readUInt8(bytes), cursor.readUInt16(bytes))
        let identifier = cursor.readFourCharacterCode(bytes)
        let type = cursor.readUInt8(bytes)
        let flags = cursor.readUInt8(bytes)
        cursor.skip(1)
        guard !cursor.isPastEnd, country == 0xB5, provider == 0x31, identifier == "GA94", type == 3, flags & 0x40 != 0
        else { return [] }
        return triplets(&cursor, count: Int(flags & 0x1F), bytes)
    }
}
