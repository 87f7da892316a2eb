import Foundation
package import ResourceAddressing

/// The spelling of hosts that connections, cookies, and header fields are judged by.
enum HostName {
    /// Returns a name as name servers know it: names in other letters than those of ASCII are encoded (RFC 5891).
    ///
    /// - Parameter host: A name in lower case, or a numeric address without brackets.
    /// - Returns: `nil` for a name that cannot be asked for.
    static func ascii(_ host: String) -> String? {
        // A URL would end the name at a slash.
        let isName = host.utf8.allSatisfy {
            $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
        }
        guard isName else { return nil }
        if host.utf8.allSatisfy({ $0 < 0x7F }) { return host }
        let encoded = URL(string: "http://\(host)/")?.host
        return encoded.flatMap { name in name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? name.lowercased() : nil }
    }

    /// Returns a Boolean value that indicates whether a host is this machine by definition: `localhost` (RFC 6761 §6.3), an
    /// address of 127.0.0.0/8, or `::1`.
    static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { $0.utf8.count <= 3 && $0.utf8.allSatisfy(\.isASCIIDigit) && UInt8($0) != nil }
    }
}

extension ResourceAddress {
    /// The host as name servers know it; `nil` where there is none that can be asked for.
    package var asciiHost: String? { host.flatMap { HostName.ascii($0) } }
}
