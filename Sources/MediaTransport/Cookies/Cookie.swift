/// A stored cookie (RFC 6265 §5.3).
///
/// Names, values, and paths are compared byte by byte: Swift treats a precomposed and a decomposed `é` as equal,
/// servers do not.
struct Cookie: Sendable {
    /// The name; may be empty.
    var name: String
    /// The value; may be empty if the name is not.
    var value: String
    /// The host name or the domain, in lower case.
    var domain: String
    /// A Boolean value that indicates whether subdomains of ``domain`` do not receive the cookie.
    var isHostOnly: Bool
    /// The path; the cookie is sent for this path and paths below it.
    var path: String
    /// The expiration time; `nil` for a session cookie.
    var expiry: UnixSeconds?
    /// A Boolean value that indicates whether the cookie is sent over `https` only.
    var isSecure: Bool
    /// A Boolean value that indicates whether scripts must not access the cookie; stored for other programs that read
    /// the file.
    var isHTTPOnly: Bool

    /// The creation order among all cookies; it is kept when the value changes (RFC 6265 §5.3, step 11).
    var creation: UInt64 = 0
    /// The order among all cookies of the last time that they were set or sent.
    var lastUse: UInt64 = 0

    /// Returns a Boolean value that indicates whether the cookie is expired at the given time.
    func isExpired(_ now: UnixSeconds) -> Bool { expiry.map { $0 <= now } ?? false }

    /// Returns a Boolean value that indicates whether one of two cookies replaces the other (RFC 6265bis §5.7).
    func hasSameIdentity(as other: Cookie) -> Bool {
        isHostOnly == other.isHostOnly && domain == other.domain
            && name.utf8.elementsEqual(other.name.utf8) && path.utf8.elementsEqual(other.path.utf8)
    }

    /// Returns a Boolean value that indicates whether the cookie is sent with a request (RFC 6265 §5.4).
    func isSent(to origin: CookieOrigin) -> Bool {
        let belongs = isHostOnly ? origin.host == domain : CookieDomain.matches(host: origin.host, domain: domain)
        return belongs && (origin.isSecure || !isSecure) && CookiePath.matches(requested: origin.path, cookie: path)
    }

    /// The cookie as text for a `Cookie` header field: `name=value`, or the value alone if the name is empty.
    var pair: String { name.isEmpty ? value : name + "=" + value }

    /// A Boolean value that indicates whether the cookie meets the requirements of its name prefix (RFC 6265bis
    /// §4.1.3).
    ///
    /// A cookie without a name must not have a value that starts with such a prefix, because it would look like a
    /// cookie with it.
    var satisfiesNamePrefix: Bool {
        if name.isEmpty { return !Self.hasPrefix("__secure-", value) && !Self.hasPrefix("__host-", value) }
        if Self.hasPrefix("__host-", name) { return isSecure && isHostOnly && path == "/" }
        return isSecure || !Self.hasPrefix("__secure-", name)
    }

    /// Returns a Boolean value that indicates whether a text starts with a lowercase prefix, ignoring the case of the
    /// text.
    static func hasPrefix(_ prefix: String, _ text: String) -> Bool {
        prefix.utf8.elementsEqual(text.utf8.prefix(prefix.utf8.count).map(\.asciiLowercased))
    }
}
