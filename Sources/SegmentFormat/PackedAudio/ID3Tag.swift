import MediaTiming

/// An ID3 tag of version 2.2 to 2.4, as used before packed audio and in timed metadata (id3.org).
package struct ID3Tag: Sendable, Hashable {
    /// The major version: 2, 3 or 4.
    package let majorVersion: UInt8
    /// The length of the tag in bytes, including its header and footer.
    package let byteCount: Int
    /// The frames, in order; at most ``maximumFrameCount``.
    package let frames: [Frame]

    /// The maximum number of frames that are read.
    package static let maximumFrameCount = 10_000

    /// A frame of an ID3 tag.
    package struct Frame: Sendable, Hashable {
        /// The frame ID of three or four characters, such as `TXXX`.
        package let id: String
        /// The content of the frame; data are copied.
        package let value: Value
    }

    /// The content of a frame.
    package enum Value: Sendable, Hashable {
        /// A text information frame with one or more strings.
        case text([String])
        /// `TXXX`: user-defined text with a description.
        case userText(description: String, values: [String])
        /// A URL link frame.
        case url(String)
        /// `WXXX`: a user-defined URL with a description.
        case userURL(description: String, url: String)
        /// `COMM` or `USLT`: a comment or unsynchronized lyrics.
        case comment(language: String, description: String, text: String)
        /// `PRIV`: private data of the given owner.
        case privateData(owner: String, data: [UInt8])
        /// `GEOB`: an encapsulated file.
        case object(mimeType: String, fileName: String, description: String, data: [UInt8])
        /// `APIC` or `PIC`: an image; the kind is the ID3 picture type, such as 3 for the front cover.
        case attachedImage(mimeType: String, pictureType: UInt8, description: String, data: [UInt8])
        /// The bytes of any other frame, and of compressed or encrypted frames.
        case other([UInt8])
    }

    /// The timestamp of the first sample after the tag, a 33-bit value at 90 kHz (RFC 8216bis §3.1.4).
    ///
    /// It is `nil` without the `PRIV` frame of owner `com.apple.streaming.transportStreamTimestamp`.
    package var transportTimestamp: UInt64? {
        for frame in frames {
            if case .privateData(Self.timestampOwner, let data) = frame.value, data.count == 8 {
                return data.reduce(0) { $0 << 8 | UInt64($1) } & 0x1_FFFF_FFFF
            }
        }
        return nil
    }

    /// The owner of the frame with the timestamp of the first sample.
    private static let timestampOwner = "com.apple.streaming.transportStreamTimestamp"

    /// Returns a tag with the timestamp of the first sample after it (RFC 8216bis §3.1.4).
    ///
    /// - Parameter timestamp: A timestamp at 90 kHz, of which the lower 33 bits are written.
    /// - Returns: The bytes of the tag.
    static func bytes(withTransportTimestamp timestamp: UInt64) -> [UInt8] {
        let value = timestamp & 0x1_FFFF_FFFF
        let data =
            Array(timestampOwner.utf8) + [0]
            + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
        // Both sizes are less than 128, so that their other bytes are zero.
        let frame = Array("PRIV".utf8) + [0, 0, 0, UInt8(clamping: data.count), 0, 0] + data
        return Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(clamping: frame.count)] + frame
    }

    /// Returns the offset after the ID3 tags at the start: 0 without a tag, possibly beyond the end of the bytes.
    ///
    /// At most 16 consecutive tags are skipped.
    static func endOffset(in bytes: Span<UInt8>) -> Int {
        var offset = 0
        for _ in 0..<16 {
            guard let header = Header(bytes, at: offset) else { break }
            offset += header.byteCount
        }
        return offset
    }

    /// Creates a tag from the bytes at `offset`, or `nil` if they are not a complete tag.
    package init?(_ bytes: Span<UInt8>, at offset: Int = 0) {
        guard let header = Header(bytes, at: offset), header.byteCount <= bytes.count - offset else { return nil }
        majorVersion = header.version
        byteCount = header.byteCount
        let body = offset + 10..<offset + 10 + header.bodyLength
        if header.flags & 0x80 != 0, header.version < 4 {
            let plain = Self.removingUnsynchronization(bytes, body)
            frames = Frame.all(in: 0..<plain.count, header, plain.span)
        } else {
            frames = Frame.all(in: body, header, bytes)
        }
    }

    /// Returns the bytes without the zero bytes that prevent audio decoders from mistaking parts of a tag for a frame.
    static func removingUnsynchronization(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(range.count)
        var last: UInt8 = 0
        for index in range {
            let byte = bytes[index]
            if !(last == 0xFF && byte == 0) { plain.append(byte) }
            last = byte
        }
        return plain
    }

    struct Header {
        let version: UInt8
        let flags: UInt8
        let bodyLength: Int
        var byteCount: Int { bodyLength + (version == 4 && flags & 0x10 != 0 ? 20 : 10) }

        init?(_ bytes: Span<UInt8>, at offset: Int) {
            guard bytes.hasBytes("ID3", at: offset), bytes.count - offset >= 10 else { return nil }
            version = bytes[offset + 3]
            flags = bytes[offset + 5]
            guard (2...4).contains(version), let length = Self.syncSafe(bytes, at: offset + 6) else { return nil }
            bodyLength = length
        }

        /// Returns a sync-safe integer of four bytes with seven bits each, or `nil` if a most significant bit is set.
        static func syncSafe(_ bytes: Span<UInt8>, at offset: Int) -> Int? {
            let packed = bytes.uint32(at: offset)
            guard packed & 0x8080_8080 == 0 else { return nil }
            return Int(packed >> 24 & 0x7F) << 21 | Int(packed >> 16 & 0x7F) << 14 | Int(packed >> 8 & 0x7F) << 7
                | Int(packed & 0x7F)
        }
    }
}
