import MediaTiming

extension Cookie {
    /// How long a cookie may live, in seconds: 400 days (RFC 6265bis §5.5).
    static let longestLife: Int64 = 400 * 86_400

    /// Makes the cookie that a host sets; `nil` where it may not (RFC 6265bis §5.7).
    init?(_ field: SetCookieField, from origin: CookieOrigin, now: UnixSeconds) {
        guard let scope = CookieDomain.scope(of: field.domain, for: origin.host) else { return nil }
        guard origin.isSecure || !field.isSecure else { return nil }
        name = field.name
        value = field.value
        (domain, isHostOnly) = scope
        path = field.path ?? CookiePath.folder(of: origin.path)
        isSecure = field.isSecure
        isHTTPOnly = field.isHTTPOnly
        let latest = now.adding(seconds: Self.longestLife)
        if let maxAge = field.maxAge {
            expiry = maxAge > 0 ? min(now.adding(seconds: maxAge), latest) : UnixSeconds(.min)
        } else {
            expiry = field.expires.map { min($0, latest) }
        }
        guard keepsPromiseOfName else { return nil }
        // `__Host-` asks for the attributes themselves: a fitting default is not enough.
        let isBoundToHost = field.domain == nil && field.path != nil
        guard isBoundToHost || !Self.hasPrefix("__host-", name) else { return nil }
    }
}
