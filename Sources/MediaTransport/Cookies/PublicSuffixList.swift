package import ResourceAddressing

#if os(Linux) || os(macOS)
import CPSL
#endif

/// The Public Suffix List: domains below which anyone can register a name, such as `co.uk` and `cloudfront.net`
/// (publicsuffix.org).
///
/// The newest list of the system is read with libpsl. On systems without libpsl there is no list: cookies are limited
/// to the host that set them, and different hosts are different sites.
enum PublicSuffixList {
    #if os(Linux) || os(macOS)
    // Safe: the list is neither changed nor freed after it is loaded.
    private nonisolated(unsafe) static let list: OpaquePointer? = psl_latest(nil) ?? psl_builtin()

    /// A Boolean value that indicates whether a list is available.
    static var isAvailable: Bool { list != nil }

    /// Returns a Boolean value that indicates whether a name is a public suffix, as every unlisted top-level domain is.
    ///
    /// - Parameter domain: A lowercase ASCII name without a trailing dot.
    /// - Returns: `true` if there is no list.
    static func contains(_ domain: String) -> Bool {
        guard let list else { return true }
        return psl_is_public_suffix2(list, domain, PSL_TYPE_ICANN | PSL_TYPE_PRIVATE) == 1
    }

    /// Returns the registrable domain of a host: a public suffix and the label before it.
    ///
    /// - Parameter host: A lowercase ASCII name without a trailing dot.
    /// - Returns: `nil` if the name is a public suffix or there is no list.
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
    /// Returns a Boolean value that indicates whether two URLs belong to the same site: the same host, or hosts with
    /// the same registrable domain.
    ///
    /// Names below a public suffix are different sites, for example `d1.cloudfront.net` and `d2.cloudfront.net`.
    /// Numeric addresses and names in an ambiguous form are the same site only if they are equal. Schemes and ports are
    /// ignored.
    package func isSameSite(as other: ResourceAddress) -> Bool {
        guard let host = asciiHost, let otherHost = other.asciiHost, !host.isEmpty else { return false }
        if host == otherHost { return true }
        guard let domain = Self.registrableDomain(of: host) else { return false }
        return domain == Self.registrableDomain(of: otherHost)
    }

    private static func registrableDomain(of host: String) -> String? {
        guard CookieDomain.isUnambiguous(host), !CookieDomain.isNumeric(host), host.utf8.last != UInt8(ascii: ".")
        else {
            return nil
        }
        return PublicSuffixList.registrableDomain(of: host)
    }
}
