import MediaTiming

extension Cookie {
    /// The maximum lifetime of a cookie in seconds: 400 days (RFC 6265bis §5.5).
    static let maximumLifetime: Int64 = 400 * 86_400

    /// Creates the cookie that a host sets; `nil` if the host must not set it (RFC 6265bis §5.7).
    init?(_ field: SetCookieField, from origin: CookieOrigin, now: UnixSeconds) {
        guard let scope = CookieDomain.scope(of: field.domain, for: origin.host) else { return nil }
        guard origin.isSecure || !field.isSecure else { return nil }
        name = field.name
        value = field.value
        (domain, isHostOnly) = scope
        path = field.path ?? CookiePath.defaultPath(for: origin.path)
        isSecure = field.isSecure
        isHTTPOnly = field.isHTTPOnly
        let latest = now.adding(seconds: Self.maximumLifetime)
        if let maxAge = field.maxAge {
            expiry = maxAge > 0 ? min(now.adding(seconds: maxAge), latest) : UnixSeconds(.min)
        } else {
            expiry = field.expires.map { min($0, latest) }
        }
        guard satisfiesNamePrefix else { return nil }
        // `__Host-` requires an explicit `Path` attribute and no `Domain` attribute; matching default values do not
        // suffice.
        let isBoundToHost = field.domain == nil && field.path != nil
        guard isBoundToHost || !Self.hasPrefix("__host-", name) else { return nil }
    }
}
