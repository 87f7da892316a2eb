import ResourceAddressing

/// The parts of a URL that determine which cookies are set and sent.
struct CookieOrigin {
    /// The host in lower case.
    let host: String
    /// The path; `/` if the URL has no path.
    let path: String
    /// A Boolean value that indicates whether cookies with the `Secure` attribute are sent: over `https` only.
    ///
    /// A local server over `http` does not receive them, because the process that listens there is unknown.
    let isSecure: Bool

    /// Creates an origin from a URL; `nil` if it is not an HTTP URL or if its host has an ambiguous form.
    init?(_ address: ResourceAddress) {
        guard address.isHTTP, let host = address.asciiHost, CookieDomain.isUnambiguous(host) else { return nil }
        self.host = host
        let path = address.path
        self.path = path.utf8.first == UInt8(ascii: "/") ? path : "/"
        isSecure = address.normalizedScheme == "https"
    }
}
