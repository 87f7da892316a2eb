import HTTPTypes
import MediaTransport
import ResourceAddressing

/// The kind of client that sent a request, as far as its header fields show.
///
/// Browsers add `Origin`, `Sec-Fetch-Site` and `Referer` by themselves, and no script of a page can change them. A page can
/// leave `Referer` out, and browsers send `Sec-Fetch-Site` only to loopback addresses and over HTTPS; what remains is told from
/// a player by `User-Agent`.
enum RequestInitiator: Sendable, Hashable {
    /// A client that shows no page: AVPlayer, mpv, VLC, curl; or an address that a person typed.
    case player
    /// A page of this server.
    case ownPage
    /// A page of another site, or one whose site is unknown.
    case foreignPage
    /// A page that reached this server under a name that is not its own: DNS rebinding.
    case foreignHost

    /// A Boolean value that indicates whether the owner's header fields, cookies and private hosts are out of reach.
    var isForeign: Bool { self == .foreignPage || self == .foreignHost }

    /// Classifies a request.
    ///
    /// - Parameters:
    ///   - head: The head of the request.
    ///   - names: The names of this server.
    ///   - isForwarded: Whether a trusted proxy forwarded it, which may have ended TLS.
    init(_ head: HTTPRequest, names: ServerNames, isForwarded: Bool) {
        let fields = head.headerFields
        let host = head.authority ?? ""
        // A request without a name comes from no browser; routes that need a name check for it themselves.
        if !host.isEmpty, !names.contains(authority: host) {
            self = .foreignHost
            return
        }
        let schemes = isForwarded ? ["http", "https"] : ["http"]
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
            // A browser that says nothing about the page, as one without a referrer does over plain HTTP.
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
    /// The header field `Host`, where a request has more than one.
    static let host = parsed("Host")

    private static func parsed(_ name: String) -> HTTPField.Name {
        guard let parsed = HTTPField.Name(name) else { preconditionFailure("\(name) is not a field name") }
        return parsed
    }
}

/// The names under which this server may be reached.
///
/// A page of another site can give its own name the address of this machine. The browser then takes this server for a part of
/// that site, and only the name in `Host` shows it.
struct ServerNames: Sendable {
    private let names: Set<String>

    /// Creates the set of names; `localhost` and numeric addresses always belong to it.
    init(_ names: [String]) { self.names = Set(names.map(Self.normalized)) }

    /// Returns whether an authority (`HOST` or `HOST:PORT`) is one of this server.
    func contains(authority: String) -> Bool {
        guard !authority.contains("@"), let written = ResourceAddress("http://\(authority)/").host else { return false }
        let name = Self.normalized(written)
        // Numbers are resolved by no name server.
        return name == "localhost" || names.contains(name) || HostAddress(numeric: name) != nil
    }

    private static func normalized(_ name: String) -> String {
        let lowercased = name.lowercased()
        return lowercased.hasSuffix(".") ? String(lowercased.dropLast()) : lowercased
    }
}
