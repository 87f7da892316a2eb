import ResourceAddressing

/// The parts of a URL that an HTTP request contains.
struct RequestTarget {
    /// The server of the request.
    let endpoint: RequestEndpoint
    /// The path and query, byte by byte as given, except that bytes which are not allowed in a request line are
    /// percent-encoded.
    let text: String

    /// Creates a request target from a URL; `nil` if it is not an HTTP URL with a host.
    init?(_ address: ResourceAddress, _ sites: RequestEndpointCache) {
        let bytes = address.text.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return nil
        }
        let rest = bytes[colon...].dropFirst(3)
        let start = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        let target = bytes[(start ?? bytes.endIndex)...].prefix { $0 != UInt8(ascii: "#") }
        guard let site = sites.endpoint(forPrefix: String(address.text[..<target.startIndex])) else { return nil }
        self.endpoint = site
        let text = Self.percentEncoded(String(Substring(target)))
        self.text = text.utf8.first == UInt8(ascii: "/") ? text : "/" + text
    }

    private static func percentEncoded(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F }) else { return text }
        var result = ""
        for byte in text.utf8 {
            if byte <= 0x20 || byte >= 0x7F {
                result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            } else {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return result
    }
}
