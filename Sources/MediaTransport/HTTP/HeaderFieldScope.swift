public import ResourceAddressing

/// The hosts that header fields are sent to.
///
/// Header fields may contain secrets, and a playlist or a redirect can name any host. A field is therefore sent only to
/// hosts in its scope, which is checked again for every redirect.
public struct HeaderFieldScope: Sendable, Hashable {
    /// The scheme, `http` or `https`; `nil` for `https`, and for `http` if ``allowsHTTP`` is set or the host is a
    /// loopback host.
    private let scheme: String?
    /// The host in ASCII; `nil` for all hosts.
    private let host: String?
    /// The port; `nil` for all ports.
    private let port: Int?
    private let allowsHTTP: Bool

    private init(scheme: String?, host: String?, port: Int?, allowsHTTP: Bool) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.allowsHTTP = allowsHTTP
    }

    /// Creates the scope of a single origin: the scheme, host, and port of a URL (RFC 6454 §4).
    ///
    /// - Parameter address: An `http` or `https` URL; the initializer returns `nil` for any other URL.
    public init?(originOf address: ResourceAddress) {
        guard address.isHTTP, let scheme = address.normalizedScheme, let host = address.asciiHost,
            let port = address.port
        else { return nil }
        self.init(scheme: scheme, host: host, port: port, allowsHTTP: false)
    }

    /// Creates a scope from its text representation; `nil` if the text is not valid.
    ///
    /// The text is `HOST` for all ports of a host, `HOST:PORT` for one port, or `http://HOST[:PORT]` or
    /// `https://HOST[:PORT]` for a single origin. `*` instead of `HOST` means all hosts. An IPv6 address is enclosed in
    /// brackets if a port follows.
    ///
    /// Without a scheme, fields are sent over `https`. They are sent over `http` only to loopback hosts (`localhost`,
    /// 127.0.0.0/8, `::1`), or if `allowsHTTP` is set, so that secrets for `https` are not sent unencrypted.
    ///
    /// - Parameters:
    ///   - text: The text representation.
    ///   - allowsHTTP: A Boolean value that indicates whether a text without a scheme includes `http`.
    public init?(_ text: String, allowsHTTP: Bool = false) {
        var rest = Substring(text)
        var scheme: String?
        for known in ["http", "https"] where text.lowercased().hasPrefix(known + "://") {
            scheme = known
            rest = rest.dropFirst(known.count + 3)
        }
        guard rest.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !"/\\@?#%,".utf8.contains($0) }) else { return nil }
        // An IPv6 address without brackets has no port.
        let isBare = rest.first != "[" && rest.utf8.filter { $0 == UInt8(ascii: ":") }.count > 1
        var name = rest
        var port: Int?
        if isBare {
            name = "[" + rest + "]"
        } else if let colon = rest.lastIndex(of: ":"), rest[colon...].firstIndex(of: "]") == nil {
            let digits = rest[rest.index(after: colon)...]
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits),
                (1...65_535).contains(number)
            else { return nil }
            port = number
            name = rest[..<colon]
        }
        guard name != "*" else {
            self.init(scheme: scheme, host: nil, port: port, allowsHTTP: allowsHTTP)
            return
        }
        let address = ResourceAddress("\(scheme ?? "https")://\(name)")
        guard !name.isEmpty, !name.contains("*"), let host = address.asciiHost,
            name.first != "[" || host.utf8.contains(UInt8(ascii: ":"))
        else { return nil }
        self.init(
            scheme: scheme,
            host: host,
            port: port ?? (scheme == nil ? nil : address.port),
            allowsHTTP: allowsHTTP
        )
    }

    /// Returns a Boolean value that indicates whether header fields of this scope are sent to a URL.
    public func contains(_ address: ResourceAddress) -> Bool {
        guard address.isHTTP, let scheme = address.normalizedScheme, let host = address.asciiHost else { return false }
        if let own = self.host, own != host { return false }
        if let port, port != address.port { return false }
        if let own = self.scheme { return own == scheme }
        return scheme == "https" || allowsHTTP || HostName.isLoopback(host)
    }

    /// A Boolean value that indicates whether the scope includes all hosts.
    var isEveryHost: Bool { host == nil }
}

extension HeaderFieldScope: CustomStringConvertible {
    /// The text representation that ``init(_:allowsHTTP:)`` parses.
    public var description: String {
        let name = host.map { $0.contains(":") ? "[\($0)]" : $0 } ?? "*"
        return (scheme.map { $0 + "://" } ?? "") + name + (port.map { ":\($0)" } ?? "")
    }
}

/// A header field with the hosts that it is sent to.
public struct ScopedHeaderField: Sendable, Hashable {
    /// The header field.
    public var field: HeaderField
    /// The hosts that the field is sent to.
    public var scope: HeaderFieldScope

    /// Creates a scoped header field.
    public init(_ field: HeaderField, for scope: HeaderFieldScope) {
        self.field = field
        self.scope = scope
    }

    /// Creates the `Authorization` field for the user name and password of a URL (RFC 7617), for the origin of the URL.
    ///
    /// - Parameter address: A URL; the initializer returns `nil` for any other than an HTTP URL with a user name.
    public init?(userInformationOf address: ResourceAddress) {
        guard let scope = HeaderFieldScope(originOf: address),
            let value = RequestEndpoint.authorization(for: address)
        else { return nil }
        self.init(HeaderField("Authorization", value), for: scope)
    }

    /// Creates a field from `HOST Name: value`, with `HOST` as in ``HeaderFieldScope/init(_:allowsHTTP:)``.
    ///
    /// - Returns: `nil` if the text contains no valid scope or no valid header field.
    public init?(line: String, allowsHTTP: Bool = false) {
        let text = line.drop { $0 == " " }
        guard let space = text.firstIndex(of: " "),
            let scope = HeaderFieldScope(String(text[..<space]), allowsHTTP: allowsHTTP),
            let field = HeaderField(line: String(text[space...].drop { $0 == " " }))
        else { return nil }
        self.init(field, for: scope)
    }
}

extension Sequence where Element == ScopedHeaderField {
    /// Returns the fields that are sent to a URL, in increasing precedence: of several with the same name, the last one
    /// is sent.
    ///
    /// Fields for all hosts come first, so that a field for a specific host replaces them.
    public func fields(for address: ResourceAddress) -> [HeaderField] {
        let fitting = filter { $0.scope.contains(address) }
        return (fitting.filter(\.scope.isEveryHost) + fitting.filter { !$0.scope.isEveryHost }).map(\.field)
    }
}

extension Array where Element == ScopedHeaderField {
    /// Creates scoped fields: each field for the origin of each URL.
    ///
    /// - Parameters:
    ///   - fields: The header fields.
    ///   - addresses: The URLs; those that are not HTTP URLs are ignored.
    public init(_ fields: [HeaderField], forOriginsOf addresses: some Sequence<ResourceAddress>) {
        let scopes = addresses.compactMap { HeaderFieldScope(originOf: $0) }
        self = scopes.flatMap { scope in fields.map { ScopedHeaderField($0, for: scope) } }
    }
}
