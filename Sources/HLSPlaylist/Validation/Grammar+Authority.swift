/// A fault in the host or the port of a URI (RFC 3986 §3.2).
enum AuthorityFault: String {
    /// The URL of a scheme that requires a host has none.
    case missingHost = "there is no host"
    /// The host has characters that a host cannot contain, or the brackets of an IP address are wrong.
    case invalidHost = "the host is invalid"
    /// The port is not a decimal number of at most 65535.
    case invalidPort = "the port is invalid"
}

/// The syntax of hosts and ports in URIs (RFC 3986 §3.2, RFC 9110 §4.2).
extension Grammar {
    /// Returns the fault in the host or the port of a URI or relative reference, or `nil` if there is none.
    static func authorityFault(_ address: String) -> AuthorityFault? {
        let bytes = Array(address.utf8)
        return authorityFault(bytes.span, in: 0..<bytes.count)
    }

    /// Returns the fault in the host or the port of a URI or relative reference, or `nil` if there is none.
    ///
    /// Only HTTP URLs and references that begin with two slashes are examined, because with other schemes the text in this
    /// place can be any name, such as that of a key.
    static func authorityFault(_ bytes: Span<UInt8>, in range: Range<Int>) -> AuthorityFault? {
        // Almost every URI in a playlist is a relative reference to a path.
        guard !range.isEmpty else { return nil }
        let first = bytes[range.lowerBound]
        guard first == UInt8(ascii: "/") || first | 0x20 == UInt8(ascii: "h") else { return nil }
        let scheme = endOfHTTPScheme(bytes, in: range)
        let (isHTTP, index) = (scheme != nil, scheme ?? range.lowerBound)
        guard bytes.hasPrefix("//", at: index, before: range.upperBound) else { return isHTTP ? .missingHost : nil }
        let authority = hostAndPort(bytes, in: (index + 2)..<range.upperBound)
        guard !authority.isEmpty else { return isHTTP ? .missingHost : nil }
        guard let end = endOfHost(bytes, in: authority) else { return .invalidHost }
        if end == authority.lowerBound { return .missingHost }
        guard end < authority.upperBound else { return nil }
        return isPort(bytes, in: (end + 1)..<authority.upperBound) ? nil : .invalidPort
    }

    /// Returns the offset after the colon of the scheme `http` or `https`, or `nil` if a text has another scheme or none.
    private static func endOfHTTPScheme(_ bytes: Span<UInt8>, in range: Range<Int>) -> Int? {
        var index = range.lowerBound
        for letter in "http".utf8 {
            guard index < range.upperBound, bytes[index] | 0x20 == letter else { return nil }
            index += 1
        }
        if index < range.upperBound, bytes[index] | 0x20 == UInt8(ascii: "s") { index += 1 }
        guard index < range.upperBound, bytes[index] == UInt8(ascii: ":") else { return nil }
        return index + 1
    }

    /// Returns the range of the host and the port in the text after the two slashes.
    private static func hostAndPort(_ bytes: Span<UInt8>, in range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.lowerBound)
        while end < range.upperBound, bytes[end] != UInt8(ascii: "/"), bytes[end] != UInt8(ascii: "?"),
            bytes[end] != UInt8(ascii: "#")
        {
            // User information ends with the last at sign.
            if bytes[end] == UInt8(ascii: "@") { start = end + 1 }
            end += 1
        }
        return start..<end
    }

    /// Returns the offset after the host, which is that of the colon before the port or the end of the range, or `nil` if
    /// the host is invalid.
    private static func endOfHost(_ bytes: Span<UInt8>, in range: Range<Int>) -> Int? {
        guard bytes[range.lowerBound] == UInt8(ascii: "[") else {
            var index = range.lowerBound
            while index < range.upperBound, bytes[index] != UInt8(ascii: ":") {
                guard isHostByte(bytes[index]) else { return nil }
                index += 1
            }
            return index
        }
        guard let close = bytes.firstIndex(of: UInt8(ascii: "]"), in: range) else { return nil }
        var hasColon = false
        for index in (range.lowerBound + 1)..<close {
            let isColon = bytes[index] == UInt8(ascii: ":")
            guard isColon || isHostByte(bytes[index]) else { return nil }
            hasColon = hasColon || isColon
        }
        let end = close + 1
        guard hasColon, end == range.upperBound || bytes[end] == UInt8(ascii: ":") else { return nil }
        return end
    }

    /// Returns a Boolean value that indicates whether the name of a host can contain a byte.
    ///
    /// Bytes beyond ASCII are those of internationalized names, which players convert.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        byte >= 0x80 || isVariableByte(byte) || "%.~!$&'()*+,;=".utf8.contains(byte)
    }

    /// Returns a Boolean value that indicates whether a range is a port, which may be empty.
    private static func isPort(_ bytes: Span<UInt8>, in range: Range<Int>) -> Bool {
        guard !range.isEmpty else { return true }
        var index = range.lowerBound
        guard let port = bytes.unsignedInteger(&index, before: range.upperBound) else { return false }
        return index == range.upperBound && port <= 65_535
    }
}
