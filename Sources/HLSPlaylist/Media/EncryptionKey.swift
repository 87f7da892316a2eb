import MediaTiming
public import ResourceAddressing

/// The encryption of segments: `EXT-X-KEY` and `EXT-X-SESSION-KEY` (RFC 8216bis §4.4.4.4, §4.4.6.5).
public struct EncryptionKey: Sendable, Hashable {
    /// An encryption method; the set is open, because the standard may add methods.
    public struct Method: RawRepresentable, Sendable, Hashable {
        /// The value of the `METHOD` attribute.
        public let rawValue: String

        /// Creates a method from the value of the `METHOD` attribute.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// AES-128 in CBC mode for entire segments.
        public static let aes128 = Method(rawValue: "AES-128")
        /// AES-128 in CBC mode for media samples within segments.
        public static let sampleAES = Method(rawValue: "SAMPLE-AES")
        /// AES-128 in counter mode for media samples within fMP4 segments (the `cenc` scheme).
        public static let sampleAESCTR = Method(rawValue: "SAMPLE-AES-CTR")
        /// AES-256 in Galois/Counter Mode for entire segments.
        public static let aes256GCM = Method(rawValue: "AES-256-GCM")
    }

    /// The encryption method; never `NONE`.
    public let method: Method
    /// The URI of the key as written, with variables replaced.
    public let uri: String?
    /// The URL of the key, absolute if the URL of the playlist is known.
    public let address: ResourceAddress?
    /// The initialization vector as a hexadecimal number, or `nil` if the media sequence number is used (§5.2).
    public let initializationVector: String?
    /// The representation of the key in the resource; `identity` by default.
    public let keyFormat: String
    /// The versions of the key format; 1 by default.
    public let keyFormatVersions: [Int64]

    /// A Boolean value that indicates whether the key is delivered as plain octets.
    public var isIdentity: Bool { keyFormat == Self.identityFormat }
    static let identityFormat = "identity"

    /// Creates a key from the attributes of a tag.
    ///
    /// - Returns: `nil` for `METHOD=NONE` and for a tag without a method.
    init?(_ attributes: AttributeList, context: PlaylistContext) {
        guard let method = attributes["METHOD"], !method.isEmpty, method != "NONE" else { return nil }
        self.method = Method(rawValue: method)
        uri = attributes["URI"]
        address = uri.map(context.resolve)
        initializationVector = attributes["IV"]
        keyFormat = attributes["KEYFORMAT"].flatMap { $0.isEmpty ? nil : $0 } ?? Self.identityFormat
        let versions = attributes.list("KEYFORMATVERSIONS", separator: "/").compactMap { Int64($0) }
        keyFormatVersions = versions.isEmpty ? [1] : versions
    }

    /// Returns the 16 octets of the initialization vector of a segment (§5.2).
    ///
    /// - Parameter sequence: The media sequence number of the segment, which is used if the key has no explicit vector.
    /// - Returns: The vector, or `nil` if the explicit vector is not a hexadecimal number of at most 128 bits.
    public func vector(forSequence sequence: Int64) -> [UInt8]? {
        var octets = [UInt8](repeating: 0, count: 16)
        guard let initializationVector else {
            // Bounded: the index is 0 to 7.
            for position in 0..<8 {
                octets[15 - position] = UInt8(truncatingIfNeeded: sequence >> (8 * Int64(position)))
            }
            return octets
        }
        guard let written = HexadecimalSequence.octets(initializationVector), written.count <= 16 else { return nil }
        octets.replaceSubrange((16 - written.count)..., with: written)
        return octets
    }
}

/// A hexadecimal sequence: `0x` followed by digits (RFC 8216bis §4.2).
enum HexadecimalSequence {
    /// Returns the octets of the sequence, or `nil` if it is invalid.
    ///
    /// With an odd number of digits, the first digit is the lower half of the first octet.
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
        // Bounded: each case compares the byte with both ends of its range.
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
