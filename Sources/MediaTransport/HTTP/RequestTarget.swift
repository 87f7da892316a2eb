import Foundation
import MediaTiming
import ResourceAddressing

/// What of an address stands in the request itself.
struct RequestTarget {
    /// The host as name servers and certificates know it.
    let host: String
    /// `http` or `https` with host and port, for the client to connect to.
    let site: String
    /// The value of `Host`.
    let hostField: String
    /// The path and the query, byte for byte as they were given; only what cannot stand in a request line is encoded.
    let text: String
    /// `Authorization` for a name and a password in the address (RFC 7617).
    let authorization: String?

    init?(_ address: ResourceAddress) {
        guard let scheme = address.normalizedScheme, let written = address.host, !written.isEmpty,
            let host = Self.asciiHost(written, address), let port = address.port, (1...65_535).contains(port)
        else { return nil }
        self.host = host
        let bracketed = host.contains(":") ? "[\(host)]" : host
        let isDefaultPort = port == (scheme == "https" ? 443 : 80)
        hostField = isDefaultPort ? bracketed : "\(bracketed):\(port)"
        site = "\(scheme)://\(bracketed):\(port)/"
        let path = address.path.isEmpty ? "/" : address.path
        text = Self.sendable(path + (address.query.map { "?" + $0 } ?? ""))
        authorization = Self.credentials(in: address.authority ?? "").map { credentials in
            "Basic " + Data(credentials.utf8).base64EncodedString()
        }
    }

    /// A name in other letters than those of ASCII is encoded as name servers want it (RFC 5891).
    private static func asciiHost(_ host: String, _ address: ResourceAddress) -> String? {
        let isPlain = host.utf8.allSatisfy {
            $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
        }
        if isPlain { return host }
        let encoded = URL(string: "http://\(host)/")?.host
        return encoded.flatMap { name in name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? name : nil }
    }

    private static func sendable(_ text: String) -> String {
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

    private static func credentials(in authority: String) -> String? {
        guard let at = authority.lastIndex(of: "@") else { return nil }
        let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let decoded = parts.map { PercentEncoding.decode(String($0)) ?? String($0) }
        guard let name = decoded.first, !name.isEmpty else { return nil }
        return "\(name):\(decoded.count > 1 ? decoded[1] : "")"
    }
}
