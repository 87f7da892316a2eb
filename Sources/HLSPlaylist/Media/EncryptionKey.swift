import MediaTiming
public import ResourceAddressing

/// How segments are encrypted: `EXT-X-KEY` and `EXT-X-SESSION-KEY` (RFC 8216bis §4.4.4.4, §4.4.6.5).
public struct EncryptionKey: Sendable, Hashable {
    /// A way to encrypt; the standard may add some.
    public struct Method: RawRepresentable, Sendable, Hashable {
        /// The value as written.
        public let rawValue: String

        /// Makes a method of its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Whole segments with AES in CBC mode and a key of 128 bits.
        public static let aes128 = Method(rawValue: "AES-128")
        /// Samples inside the segments, with AES in CBC mode.
        public static let sampleAES = Method(rawValue: "SAMPLE-AES")
        /// Samples inside fMP4 segments, with AES in counter mode (the `cenc` scheme).
        public static let sampleAESCTR = Method(rawValue: "SAMPLE-AES-CTR")
        /// Whole segments with AES in Galois counter mode and a key of 256 bits.
        public static let aes256GCM = Method(rawValue: "AES-256-GCM")
    }

    /// How; never `NONE`.
    public let method: Method
    /// Where the key is, as written, with variables replaced.
    public let uri: String?
    /// Where the key is, absolute where the playlist's address is known.
    public let address: ResourceAddress?
    /// The initialization vector as written, a hexadecimal number; `nil` where the sequence number serves (§5.2).
    public let initializationVector: String?
    /// How the key is represented; `identity` where the playlist does not say.
    public let keyFormat: String
    /// The versions of the format, 1 where the playlist does not say.
    public let keyFormatVersions: [Int64]

    /// Whether the key is plain octets.
    public var isIdentity: Bool { keyFormat == "identity" }

    /// - Returns: `nil` for `METHOD=NONE` and for a tag without a method.
    init?(_ attributes: AttributeList, context: PlaylistContext) {
        guard let method = attributes["METHOD"], !method.isEmpty, method != "NONE" else { return nil }
        self.method = Method(rawValue: method)
        uri = attributes["URI"]
        address = uri.map(context.resolve)
        initializationVector = attributes["IV"]
        keyFormat = attributes["KEYFORMAT"].flatMap { $0.isEmpty ? nil : $0 } ?? "identity"
        let versions = attributes.list("KEYFORMATVERSIONS", separator: "/").compactMap { Int64($0) }
        keyFormatVersions = versions.isEmpty ? [1] : versions
    }

    /// The 16 octets of the initialization vector of a segment (§5.2).
    ///
    /// - Parameter sequence: The segment's media sequence number, which serves where no vector is written.
    /// - Returns: `nil` where the vector is written and is no hexadecimal number of at most 128 bits.
    public func vector(forSequence sequence: Int64) -> [UInt8]? {
        var octets = [UInt8](repeating: 0, count: 16)
        guard let initializationVector else {
            // Bounded: the place is 0 to 7.
            for place in 0..<8 { octets[15 - place] = UInt8(truncatingIfNeeded: sequence >> (8 * Int64(place))) }
            return octets
        }
        guard let written = HexadecimalSequence.octets(initializationVector), written.count <= 16 else { return nil }
        octets.replaceSubrange((16 - written.count)..., with: written)
        return octets
    }
}

/// A hexadecimal number or sequence: `0x` and digits (RFC 8216bis §4.2).
enum HexadecimalSequence {
    /// Its octets; a digit that stands alone is taken as the lower half of the first one.
    static func octets(_ text: String) -> [UInt8]? {
        let bytes = Array(text.utf8)
        guard bytes.count > 2, bytes[0] == UInt8(ascii: "0"), bytes[1] | 0x20 == UInt8(ascii: "x") else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count / 2)
        var high: UInt8? = bytes.count.isMultiple(of: 2) ? nil : 0
        for byte in bytes.dropFirst(2) {
            guard let digit = digit(byte) else { return nil }
            if let first = high {
                result.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return result
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        // Bounded: each case has compared the byte with both ends.
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
