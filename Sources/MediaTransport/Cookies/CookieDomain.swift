/// The rules for the hosts that a cookie is sent to (RFC 6265 §5.1.3, §5.3).
///
/// A host is a lowercase name of letters, digits, hyphens, underscores, and dots, or a numeric address. Hosts in any
/// other form have no cookies, because the connection may interpret them differently, for example
/// `evil.example%00.bank.example`. Internationalized names are converted to their `xn--` form, as for connections.
enum CookieDomain {
    /// The maximum length of a DNS name in bytes (RFC 1035 §2.3.4).
    private static let maximumNameLength = 255

    /// Returns a Boolean value that indicates whether a lowercase host has an unambiguous form.
    static func isUnambiguous(_ host: String) -> Bool {
        let bytes = host.utf8
        guard !bytes.isEmpty, bytes.count <= maximumNameLength, bytes.first != UInt8(ascii: ".") else { return false }
        return bytes.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":"): true
            default: false
            }
        }
    }

    /// Returns a Boolean value that indicates whether a host is a domain or a subdomain of it (RFC 6265 §5.1.3).
    static func matches(host: String, domain: String) -> Bool {
        if host == domain { return true }
        return host.hasSuffix("." + domain) && !isNumeric(host)
    }

    /// Returns a Boolean value that indicates whether a host is an IPv4 or IPv6 address, which has no parent domain.
    ///
    /// No top-level domain starts with a digit. A last label that does is therefore part of an IPv4 address, also in
    /// forms such as `127.1` and `0x7f.0x1`.
    static func isNumeric(_ host: String) -> Bool {
        if host.utf8.contains(UInt8(ascii: ":")) { return true }
        let last = host.utf8.split(separator: UInt8(ascii: ".")).last
        return last?.first?.isASCIIDigit ?? false
    }

    /// Returns the domain of a cookie, and whether the cookie is limited to the host that sets it.
    ///
    /// - Parameters:
    ///   - attribute: The `Domain` attribute in lower case without its leading dot; `nil` if it is absent.
    ///   - host: The host that sets the cookie.
    /// - Returns: `nil` if the cookie must be rejected.
    static func scope(of attribute: String?, for host: String) -> (domain: String, isHostOnly: Bool)? {
        guard let attribute else { return (host, true) }
        guard isUnambiguous(attribute), matches(host: host, domain: attribute) else { return nil }
        // A public suffix may be a host itself, but shares no cookies with its subdomains (RFC 6265 §5.3, step 5).
        if attribute == host, isPublicSuffix(attribute) || isNumeric(attribute) { return (host, true) }
        // Without the list, every domain may be a public suffix, so the cookie is limited to its host.
        guard PublicSuffixList.isAvailable else { return (host, true) }
        guard !isPublicSuffix(attribute), !isNumeric(attribute) else { return nil }
        return (attribute, false)
    }

    /// Returns the host and all its parent domains.
    static func domains(matching host: String) -> [String] {
        guard !isNumeric(host) else { return [host] }
        var result = [host]
        var rest = host[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            result.append(String(rest))
        }
        return result
    }

    /// Returns a Boolean value that indicates whether the subdomains of a domain have different owners.
    ///
    /// This applies to a single label, a name with an empty label, and the names of the Public Suffix List.
    static func isPublicSuffix(_ domain: String) -> Bool {
        let labels = domain.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.count < 2 || labels.contains { $0.isEmpty } || PublicSuffixList.contains(domain)
    }
}
