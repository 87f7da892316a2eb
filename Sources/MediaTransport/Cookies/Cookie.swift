/// One cookie as it is kept (RFC 6265 §5.3).
///
/// Its texts are compared byte for byte: Swift takes an `é` of one character and one of two for the same, servers do
/// not.
struct Cookie: Sendable {
    /// The name; may be empty.
    var name: String
    /// The value; may be empty where there is a name.
    var value: String
    /// The host, or the domain that it lies below, in lower case.
    var domain: String
    /// Whether hosts below ``domain`` do not get it.
    var isHostOnly: Bool
    /// The path at or below which it is sent.
    var path: String
    /// When it ends; `nil` for a session cookie.
    var expiry: UnixSeconds?
    /// Whether it is sent over `https` only.
    var isSecure: Bool
    /// Whether scripts may not see it; kept for those who read the file.
    var isHTTPOnly: Bool

    /// Its place among all cookies by creation; it stays when the value changes (RFC 6265 §5.3, step 11).
    var creation: UInt64 = 0
    /// Its place among all cookies by the last time it was set or sent.
    var lastUse: UInt64 = 0

    /// Whether it is over.
    func isExpired(_ now: UnixSeconds) -> Bool { expiry.map { $0 <= now } ?? false }

    /// Whether one of the two replaces the other (RFC 6265bis §5.7).
    func hasSameIdentity(as other: Cookie) -> Bool {
        isHostOnly == other.isHostOnly && domain == other.domain
            && name.utf8.elementsEqual(other.name.utf8) && path.utf8.elementsEqual(other.path.utf8)
    }

    /// Whether it is sent with a request (RFC 6265 §5.4).
    func isSent(to origin: CookieOrigin) -> Bool {
        let belongs = isHostOnly ? origin.host == domain : CookieDomain.matches(host: origin.host, domain: domain)
        return belongs && (origin.isSecure || !isSecure) && CookiePath.matches(requested: origin.path, cookie: path)
    }

    /// What stands for it in a `Cookie` field.
    var pair: String { name.isEmpty ? value : name + "=" + value }

    /// Whether it keeps the promise that the prefix of its name makes (RFC 6265bis §4.1.3).
    ///
    /// Without a name, a value with a prefix would look like a cookie with one.
    var keepsPromiseOfName: Bool {
        if name.isEmpty { return !Self.hasPrefix("__secure-", value) && !Self.hasPrefix("__host-", value) }
        if Self.hasPrefix("__host-", name) { return isSecure && isHostOnly && path == "/" }
        return isSecure || !Self.hasPrefix("__secure-", name)
    }

    /// Whether a text begins with a prefix, itself in lower case, in any case.
    static func hasPrefix(_ prefix: String, _ text: String) -> Bool {
        prefix.utf8.elementsEqual(text.utf8.prefix(prefix.utf8.count).map(\.asciiLowercased))
    }
}
