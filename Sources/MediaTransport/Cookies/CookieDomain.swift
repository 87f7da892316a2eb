/// Which hosts a cookie belongs to (RFC 6265 §5.1.3, §5.3).
///
/// Hosts are plain names in lower case here: letters, digits, hyphens, underscores and dots, or a numeric address. Any
/// other spelling has no cookies at all, since what connects may read it differently: `evil.example%00.bank.example`.
/// A name in other letters is converted to its `xn--` form, as it is for the connection.
enum CookieDomain {
    /// The longest name that DNS knows (RFC 1035 §2.3.4).
    private static let longestName = 255

    /// Whether a host, in lower case, is spelled in a way that nobody can misread.
    static func isPlain(_ host: String) -> Bool {
        let bytes = host.utf8
        guard !bytes.isEmpty, bytes.count <= longestName, bytes.first != UInt8(ascii: ".") else { return false }
        return bytes.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":"): true
            default: false
            }
        }
    }

    /// Whether a host is a domain or lies below it (RFC 6265 §5.1.3).
    static func matches(host: String, domain: String) -> Bool {
        if host == domain { return true }
        return host.hasSuffix("." + domain) && !isNumeric(host)
    }

    /// Whether a host is an address of IPv4 or IPv6: such a one has no domain above it.
    ///
    /// No top-level domain begins with a digit, so a last label that does makes an IPv4 address, also in the spellings
    /// `127.1` and `0x7f.0x1`.
    static func isNumeric(_ host: String) -> Bool {
        if host.utf8.contains(UInt8(ascii: ":")) { return true }
        let last = host.utf8.split(separator: UInt8(ascii: ".")).last
        return last?.first?.isASCIIDigit ?? false
    }

    /// The domain of a cookie of a host, and whether it is for that host only.
    ///
    /// - Parameters:
    ///   - attribute: The `Domain` attribute without its leading dot, in lower case; `nil` where there is none.
    ///   - host: Who sets the cookie.
    /// - Returns: `nil` where the cookie is to be refused.
    static func scope(of attribute: String?, for host: String) -> (domain: String, isHostOnly: Bool)? {
        guard let attribute else { return (host, true) }
        guard isPlain(attribute), matches(host: host, domain: attribute) else { return nil }
        // A registry may have a site of its own, but it shares no cookies with those below it (RFC 6265 §5.3, step 5).
        if attribute == host, isRegistry(attribute) || isNumeric(attribute) { return (host, true) }
        // Without the list every domain may be a registry: the cookie is for the host that set it.
        guard PublicSuffixList.isAvailable else { return (host, true) }
        guard !isRegistry(attribute), !isNumeric(attribute) else { return nil }
        return (attribute, false)
    }

    /// The host and every domain that it lies below.
    static func candidates(for host: String) -> [String] {
        guard !isNumeric(host) else { return [host] }
        var result = [host]
        var rest = host[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            result.append(String(rest))
        }
        return result
    }

    /// Returns a Boolean value that indicates whether the names below a domain belong to different owners: for a single label, a
    /// name with an empty label, and the names of the Public Suffix List.
    static func isRegistry(_ domain: String) -> Bool {
        let labels = domain.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.count < 2 || labels.contains { $0.isEmpty } || PublicSuffixList.contains(domain)
    }
}
