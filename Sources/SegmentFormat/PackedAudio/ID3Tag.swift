import MediaTiming

/// An ID3 tag of version 2.2 to 2.4, as it stands before packed audio and in timed metadata (id3.org).
public struct ID3Tag: Sendable, Hashable {
    /// The version: 2, 3 or 4.
    public let majorVersion: UInt8
    /// How many bytes the whole tag has, with its header and footer.
    public let byteCount: Int
    /// The frames, in order; at most ``mostFrames``.
    public let frames: [Frame]

    /// Further frames are not read.
    public static let mostFrames = 10_000

    /// A frame of a tag.
    public struct Frame: Sendable, Hashable {
        /// Its three or four letters, such as `TXXX`.
        public let id: String
        /// What it says; data are copies.
        public let value: Value
    }

    /// What a frame says.
    public enum Value: Sendable, Hashable {
        /// A text frame: one text or several.
        case text([String])
        /// `TXXX`: texts by a name of the writer's choice.
        case userText(description: String, values: [String])
        /// A link frame.
        case url(String)
        /// `WXXX`: a link by a name of the writer's choice.
        case userURL(description: String, url: String)
        /// `COMM` and `USLT`.
        case comment(language: String, description: String, text: String)
        /// `PRIV`: data of an owner's own format.
        case privateData(owner: String, data: [UInt8])
        /// `GEOB`: a file.
        case object(mimeType: String, fileName: String, description: String, data: [UInt8])
        /// `APIC`: a picture; the kind is 3 for a front cover.
        case picture(mimeType: String, kind: UInt8, description: String, data: [UInt8])
        /// Any other frame, and frames that are compressed or encrypted, as they are.
        case other([UInt8])
    }

    /// The timestamp of the first sample behind the tag: 33 bits of 90 kHz (RFC 8216bis §3.1.4).
    ///
    /// `nil` without the frame of Apple's that says it.
    public var transportTimestamp: UInt64? {
        for frame in frames {
            if case .privateData("com.apple.streaming.transportStreamTimestamp", let data) = frame.value,
                data.count == 8
            {
                return data.reduce(0) { $0 << 8 | UInt64($1) } & 0x1_FFFF_FFFF
            }
        }
        return nil
    }

    /// Where the audio behind the tags at the beginning starts: 0 without a tag, perhaps behind the end of the bytes.
    ///
    /// At most 16 tags in a row are passed over.
    static func end(_ bytes: Span<UInt8>) -> Int {
        var offset = 0
        for _ in 0..<16 {
            guard let header = Header(bytes, at: offset) else { break }
            offset += header.byteCount
        }
        return offset
    }

    /// Reads the tag at a place; `nil` where none stands there or it is not whole.
    public init?(_ bytes: Span<UInt8>, at offset: Int = 0) {
        guard let header = Header(bytes, at: offset), header.byteCount <= bytes.count - offset else { return nil }
        majorVersion = header.version
        byteCount = header.byteCount
        let body = offset + 10..<offset + 10 + header.bodyLength
        if header.flags & 0x80 != 0, header.version < 4 {
            let plain = Self.withoutUnsynchronisation(bytes, body)
            frames = Frame.all(in: 0..<plain.count, header, plain.span)
        } else {
            frames = Frame.all(in: body, header, bytes)
        }
    }

    /// Removes the zero bytes that keep audio decoders from taking a tag for a frame.
    static func withoutUnsynchronisation(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
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

        /// Four bytes of seven bits each; `nil` where a highest bit is set.
        static func syncSafe(_ bytes: Span<UInt8>, at offset: Int) -> Int? {
            let packed = bytes.uint32(at: offset)
            guard packed & 0x8080_8080 == 0 else { return nil }
            return Int(packed >> 24 & 0x7F) << 21 | Int(packed >> 16 & 0x7F) << 14 | Int(packed >> 8 & 0x7F) << 7
                | Int(packed & 0x7F)
        }
    }
}
