package import ResourceAddressing

#if os(Linux) || os(macOS)
import CPSL
#endif

/// The domains below which anyone can register a name, such as `co.uk` and `cloudfront.net` (publicsuffix.org).
///
/// The list is the newest one that the system has, which libpsl reads. It is missing on systems without libpsl; there no cookie
/// has a domain, and no two hosts are one site.
enum PublicSuffixList {
    #if os(Linux) || os(macOS)
    // Safe: the list is never changed after it was loaded, nor freed.
    private nonisolated(unsafe) static let list: OpaquePointer? = psl_latest(nil) ?? psl_builtin()

    /// A Boolean value that indicates whether there is a list.
    static var isAvailable: Bool { list != nil }

    /// Returns a Boolean value that indicates whether a name is a public suffix; top-level domains that are not listed are.
    ///
    /// - Parameter domain: A name in lower case, in ASCII, without a dot at its end.
    /// - Returns: `true` also where there is no list.
    static func contains(_ domain: String) -> Bool {
        guard let list else { return true }
        return psl_is_public_suffix2(list, domain, PSL_TYPE_ICANN | PSL_TYPE_PRIVATE) == 1
    }

    /// Returns the domain that a host's owner registered: a public suffix and one label before it.
    ///
    /// - Parameter host: A name in lower case, in ASCII, without a dot at its end.
    /// - Returns: `nil` for public suffixes.
    static func registrableDomain(of host: String) -> String? {
        guard let list else { return nil }
        return host.withCString { psl_registrable_domain(list, $0).map { String(cString: $0) } }
    }
    #else
    static var isAvailable: Bool { false }

    static func contains(_ domain: String) -> Bool { true }

    static func registrableDomain(of host: String) -> String? { nil }
    #endif
}

extension ResourceAddress {
    /// Returns a Boolean value that indicates whether two addresses are of one site: of one host, or of hosts below one
    /// registrable domain.
    ///
    /// Hosts below a public suffix are different sites: `d1.cloudfront.net` and `d2.cloudfront.net`. Numeric addresses, and names
    /// that can be misread, are of one site only if they are equal. Schemes and ports do not count.
    package func isSameSite(as other: ResourceAddress) -> Bool {
        guard let host = asciiHost, let otherHost = other.asciiHost, !host.isEmpty else { return false }
        if host == otherHost { return true }
        guard let domain = Self.registrableDomain(of: host) else { return false }
        return domain == Self.registrableDomain(of: otherHost)
    }

    private static func registrableDomain(of host: String) -> String? {
        guard CookieDomain.isPlain(host), !CookieDomain.isNumeric(host), host.utf8.last != UInt8(ascii: ".") else {
            return nil
        }
        return PublicSuffixList.registrableDomain(of: host)
    }
}
