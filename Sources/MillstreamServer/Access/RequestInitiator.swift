import HTTPTypes
import MediaTransport
import ResourceAddressing

/// The parts of a request that reveal the kind of its client.
package struct InitiatorFields: Sendable, Hashable {
    /// The host that the request names, with a port if it has one; empty if there is none.
    package var host = ""
    /// The value of `Origin`; `nil` if the request has no such field.
    package var origin: String?
    /// The value of `Sec-Fetch-Site`; `nil` if the request has no such field.
    package var fetchSite: String?
    /// The value of `Referer`; `nil` if the request has no such field.
    package var referrer: String?
    /// The value of `User-Agent`; `nil` if the request has no such field.
    package var userAgent: String?

    /// Creates the parts of a request that has none of them.
    package init() {}

    /// Creates the parts of a request.
    init(_ head: HTTPRequest) {
        host = head.authority ?? ""
        origin = head.headerFields[.origin]
        fetchSite = head.headerFields[.secFetchSite]
        referrer = head.headerFields[.referer]
        userAgent = head.headerFields[.userAgent]
    }
}

/// The kind of client that sent a request, as far as its header fields reveal it.
///
/// Browsers add `Origin`, `Sec-Fetch-Site` and `Referer` themselves, and scripts of a page cannot change them. A page
/// can suppress `Referer`, and browsers send `Sec-Fetch-Site` only to loopback addresses and over HTTPS; in the
/// remaining cases, a page is distinguished from a player by `User-Agent`.
package enum RequestInitiator: Sendable, Hashable {
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
    package var isForeign: Bool { self == .foreignPage || self == .foreignHost }

    /// Creates the initiator of a request.
    ///
    /// - Parameters:
    ///   - head: The head of the request.
    ///   - names: The names of this server.
    ///   - scheme: The scheme with which this server is reached.
    ///   - isForwarded: A Boolean value that indicates whether a trusted proxy forwarded the request, so that the
    ///     client may have used another scheme.
    init(_ head: HTTPRequest, names: ServerNames, scheme: String = "http", isForwarded: Bool) {
        self.init(InitiatorFields(head), names: names, scheme: scheme, isForwarded: isForwarded)
    }

    /// Creates the initiator of a request.
    ///
    /// - Parameters:
    ///   - fields: The parts of the request.
    ///   - names: The names of this server.
    ///   - scheme: The scheme with which this server is reached.
    ///   - isForwarded: A Boolean value that indicates whether a trusted proxy forwarded the request, so that the
    ///     client may have used another scheme.
    package init(_ fields: InitiatorFields, names: ServerNames, scheme: String = "http", isForwarded: Bool) {
        let host = fields.host
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
        let origin = fields.origin.map(isOwn)
        let fetchSite = fields.fetchSite.map { $0.lowercased() }
        let referrer = fields.referrer.flatMap { $0.isEmpty ? nil : isOwn($0) }
        let isKnownSite = fetchSite.map { ["same-origin", "none"].contains($0) } ?? true
        guard origin ?? true, isKnownSite, origin != nil || fetchSite != nil || referrer ?? true else {
            self = .foreignPage
            return
        }
        if origin != nil || fetchSite == "same-origin" || referrer == true && fetchSite == nil {
            self = .ownPage
        } else if fetchSite == nil, fields.userAgent?.hasPrefix("Mozilla/") == true {
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
package struct ServerNames: Sendable {
    private let names: Set<String>

    /// Creates the set of names; `localhost` and numeric addresses always belong to it.
    package init(_ names: [String]) { self.names = Set(names.map(Self.normalized)) }

    /// Returns whether an authority (`HOST` or `HOST:PORT`) names this server.
    package func contains(authority: String) -> Bool {
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
