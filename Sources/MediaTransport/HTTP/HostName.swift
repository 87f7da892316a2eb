import Foundation
package import ResourceAddressing

/// The canonical form of host names for connections, cookies, and header fields.
package enum HostName {
    /// Returns a host name as DNS knows it: internationalized names are encoded in ASCII (RFC 5891).
    ///
    /// - Parameter host: A lowercase name, or a numeric address without brackets.
    /// - Returns: `nil` for a name that cannot be resolved.
    static func ascii(_ host: String) -> String? {
        // The name is encoded as a part of a URL, in which a slash would end it.
        let isName = host.utf8.allSatisfy {
            $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
        }
        guard isName else { return nil }
        if host.utf8.allSatisfy({ $0 < 0x7F }) { return host }
        let encoded = URL(string: "http://\(host)/")?.host
        return encoded.flatMap { name in name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? name.lowercased() : nil }
    }

    /// Returns a Boolean value that indicates whether a host is always the local system.
    ///
    /// These are `localhost` and its subdomains (RFC 6761 §6.3), 127.0.0.0/8, and `::1`.
    package static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { $0.utf8.count <= 3 && $0.utf8.allSatisfy(\.isASCIIDigit) && UInt8($0) != nil }
    }
}

extension ResourceAddress {
    /// The host name as DNS knows it; `nil` if there is no host or it is not valid.
    package var asciiHost: String? { host.flatMap { HostName.ascii($0) } }
}
