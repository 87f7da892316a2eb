import ResourceAddressing

/// What of an address decides about cookies.
struct CookieOrigin {
    /// The host in lower case.
    let host: String
    /// The path, at least a slash.
    let path: String
    /// Whether cookies marked Secure may go there: over `https` only.
    ///
    /// A local server over `http` gets none: a jar does not know who else listens there.
    let isSecure: Bool

    /// Takes what matters; `nil` for what is not HTTP, or for a host that can be misread.
    init?(_ address: ResourceAddress) {
        guard address.isHTTP, let host = address.asciiHost, CookieDomain.isPlain(host) else { return nil }
        self.host = host
        let path = address.path
        self.path = path.utf8.first == UInt8(ascii: "/") ? path : "/"
        isSecure = address.normalizedScheme == "https"
    }
}
