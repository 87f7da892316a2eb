import HTTPTypes
import MediaTransport
import ResourceAddressing

/// The kind of client that sent a request, as far as its header fields reveal it.
///
/// Browsers add `Origin`, `Sec-Fetch-Site` and `Referer` themselves, and scripts of a page cannot change them. A page
/// can suppress `Referer`, and browsers send `Sec-Fetch-Site` only to loopback addresses and over HTTPS; in the
/// remaining cases, a page is distinguished from a player by `User-Agent`.
enum RequestInitiator: Sendable, Hashable {
    /// A client without a page: a player such as AVPlayer, mpv or VLC, a tool such as curl, or an address typed into a
    /// browser.
    case player
    /// A page of this server.
    case ownPage
    /// A page of another site, or one whose site is unknown.
    case foreignPage
    /// A page that reached this server under a name that does not belong to it, as in DNS rebinding.
    case foreignHost

    /// A Boolean value that indicates whether the client has no access to the owner's header fields, cookies and
    /// private hosts.
    var isForeign: Bool { self == .foreignPage || self == .foreignHost }

    /// Creates the initiator of a request.
    ///
    /// - Parameters:
    ///   - head: The head of the request.
    ///   - names: The names of this server.
    ///   - scheme: The scheme with which this server is reached.
    ///   - isForwarded: A Boolean value that indicates whether a trusted proxy forwarded the request, so that the
    ///     client may have used another scheme.
    init(_ head: HTTPRequest, names: ServerNames, scheme: String = "http", isForwarded: Bool) {
        let fields = head.headerFields
        let host = head.authority ?? ""
        // A request without a host name does not come from a browser; routes that require the name check it themselves.
        if !host.isEmpty, !names.contains(authority: host) {
            self = .foreignHost
            return
        }
        let schemes = isForwarded ? ["http", "https"] : [scheme]
        func isOwn(_ page: String) -> Bool {
            let page = ResourceAddress(page)
            guard let scheme = page.normalizedScheme, schemes.contains(scheme), let pageHost = page.host, !host.isEmpty
            else { return false }
            let own = ResourceAddress("\(scheme)://\(host)/")
            return pageHost == own.host && page.port != nil && page.port == own.port
        }
        let origin = fields[.origin].map(isOwn)
        let fetchSite = fields[.secFetchSite].map { $0.lowercased() }
        let referrer = fields[.referer].flatMap { $0.isEmpty ? nil : isOwn($0) }
        let isKnownSite = fetchSite.map { ["same-origin", "none"].contains($0) } ?? true
        guard origin ?? true, isKnownSite, origin != nil || fetchSite != nil || referrer ?? true else {
            self = .foreignPage
            return
        }
        if origin != nil || fetchSite == "same-origin" || referrer == true && fetchSite == nil {
            self = .ownPage
        } else if fetchSite == nil, fields[.userAgent]?.hasPrefix("Mozilla/") == true {
            // A browser that reveals nothing about the page, for example without a referrer over plain HTTP.
            self = .foreignPage
        } else {
            self = .player
        }
    }
}

extension HTTPField.Name {
    /// The header field `Sec-Fetch-Site` (W3C Fetch Metadata Request Headers).
    static let secFetchSite = parsed("Sec-Fetch-Site")
    /// The header field `Sec-Fetch-Dest` (W3C Fetch Metadata Request Headers).
    static let secFetchDestination = parsed("Sec-Fetch-Dest")
    /// The header field `Cross-Origin-Resource-Policy` (WHATWG Fetch §3.7).
    static let crossOriginResourcePolicy = parsed("Cross-Origin-Resource-Policy")
    /// The header field `Referrer-Policy` (W3C Referrer Policy §4.1).
    static let referrerPolicy = parsed("Referrer-Policy")
    /// The header field `X-Forwarded-For`.
    static let forwardedFor = parsed("X-Forwarded-For")
    /// The header field `Forwarded` (RFC 7239).
    static let forwarded = parsed("Forwarded")
    /// The header field `Host`, present among the fields only if the request has more than one of them.
    static let host = parsed("Host")

    /// Returns the name of a header field; `name` must be a valid one.
    static func parsed(_ name: String) -> HTTPField.Name {
        guard let parsed = HTTPField.Name(name) else { preconditionFailure("\(name) is not a field name") }
        return parsed
    }
}

/// The names under which this server may be reached.
///
/// A page of another site can resolve its own host name to the address of this machine (DNS rebinding). The browser
/// then treats this server as part of that site, and only the `Host` header field reveals it.
struct ServerNames: Sendable {
    private let names: Set<String>

    /// Creates the set of names; `localhost` and numeric addresses always belong to it.
    init(_ names: [String]) { self.names = Set(names.map(Self.normalized)) }

    /// Returns whether an authority (`HOST` or `HOST:PORT`) names this server.
    func contains(authority: String) -> Bool {
        guard !authority.contains("@"), let written = ResourceAddress("http://\(authority)/").host else { return false }
        let name = Self.normalized(written)
        // Numeric addresses are not resolved by DNS, so they cannot be rebound.
        return name == "localhost" || names.contains(name) || HostAddress(numeric: name) != nil
    }

    private static func normalized(_ name: String) -> String {
        let lowercased = name.lowercased()
        return lowercased.hasSuffix(".") ? String(lowercased.dropLast()) : lowercased
    }
}
