public import ResourceAddressing

/// The hosts that header fields are sent to.
///
/// Header fields may be secrets, and a playlist or a redirect can name any host. A field is therefore sent only where its scope
/// says so, and this is asked again for every redirect.
public struct HeaderFieldScope: Sendable, Hashable {
    /// `http` or `https`; `nil` for `https`, and `http` where ``allowsHTTP`` or a loopback host permits it.
    private let scheme: String?
    /// The host in ASCII; `nil` for every host.
    private let host: String?
    /// The port; `nil` for every port.
    private let port: Int?
    private let allowsHTTP: Bool

    private init(scheme: String?, host: String?, port: Int?, allowsHTTP: Bool) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.allowsHTTP = allowsHTTP
    }

    /// Creates the scope of exactly one origin: the scheme, the host, and the port of an address (RFC 6454 §4).
    ///
    /// - Parameter address: An `http` or `https` address; for any other the result is `nil`.
    public init?(originOf address: ResourceAddress) {
        guard address.isHTTP, let scheme = address.normalizedScheme, let host = address.asciiHost,
            let port = address.port
        else { return nil }
        self.init(scheme: scheme, host: host, port: port, allowsHTTP: false)
    }

    /// Creates the scope that a text names; `nil` where it names no host.
    ///
    /// The text is `HOST` for every port of a host, `HOST:PORT` for one port, `http://HOST[:PORT]` or `https://HOST[:PORT]` for
    /// exactly one origin, and `*` in the place of `HOST` for every host. An IPv6 address is in brackets where a port follows.
    ///
    /// Without a scheme, fields are sent over `https`. They are sent over `http` only to this machine (`localhost`, 127.0.0.0/8,
    /// `::1`), and where `allowsHTTP` says so: what was given for `https` is never sent in the clear.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - allowsHTTP: Whether a text without a scheme includes `http`.
    public init?(_ text: String, allowsHTTP: Bool = false) {
        var rest = Substring(text)
        var scheme: String?
        for known in ["http", "https"] where text.lowercased().hasPrefix(known + "://") {
            scheme = known
            rest = rest.dropFirst(known.count + 3)
        }
        guard !rest.isEmpty, rest.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !"/\\@?#%,".utf8.contains($0) }) else {
            return nil
        }
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
        guard !name.isEmpty, !name.contains("*"), let host = address.asciiHost, !host.isEmpty,
            name.first != "[" || host.utf8.contains(UInt8(ascii: ":"))
        else { return nil }
        self.init(
            scheme: scheme,
            host: host,
            port: port ?? (scheme == nil ? nil : address.port),
            allowsHTTP: allowsHTTP
        )
    }

    /// Returns a Boolean value that indicates whether header fields of this scope are sent to an address.
    public func contains(_ address: ResourceAddress) -> Bool {
        guard address.isHTTP, let scheme = address.normalizedScheme, let host = address.asciiHost else { return false }
        if let own = self.host, own != host { return false }
        if let port, port != address.port { return false }
        if let own = self.scheme { return own == scheme }
        return scheme == "https" || allowsHTTP || HostName.isLoopback(host)
    }

    /// A Boolean value that indicates whether the scope is every host.
    var isEveryHost: Bool { host == nil }
}

extension HeaderFieldScope: CustomStringConvertible {
    /// The scope as ``init(_:allowsHTTP:)`` reads it.
    public var description: String {
        let name = host.map { $0.contains(":") ? "[\($0)]" : $0 } ?? "*"
        return (scheme.map { $0 + "://" } ?? "") + name + (port.map { ":\($0)" } ?? "")
    }
}

/// A header field, and the hosts that it is sent to.
public struct ScopedHeaderField: Sendable, Hashable {
    /// The field.
    public var field: HeaderField
    /// The hosts that it is sent to.
    public var scope: HeaderFieldScope

    /// Creates a field for the hosts of a scope.
    public init(_ field: HeaderField, for scope: HeaderFieldScope) {
        self.field = field
        self.scope = scope
    }

    /// Reads `HOST Name: value`, with `HOST` as ``HeaderFieldScope/init(_:allowsHTTP:)`` reads it.
    ///
    /// - Returns: `nil` where the text names no host or no header field.
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
    /// Returns the fields that are sent to an address; where several have one name, the last one counts.
    ///
    /// Fields for every host come first, so that a field for one host replaces them.
    public func fields(for address: ResourceAddress) -> [HeaderField] {
        let fitting = filter { $0.scope.contains(address) }
        return (fitting.filter(\.scope.isEveryHost) + fitting.filter { !$0.scope.isEveryHost }).map(\.field)
    }
}

extension Array where Element == ScopedHeaderField {
    /// Creates scoped fields: each field for the origin of each address.
    ///
    /// - Parameters:
    ///   - fields: The fields.
    ///   - addresses: The addresses; those that are not HTTP are left out.
    public init(_ fields: [HeaderField], forOriginsOf addresses: some Sequence<ResourceAddress>) {
        let scopes = addresses.compactMap { HeaderFieldScope(originOf: $0) }
        self = scopes.flatMap { scope in fields.map { ScopedHeaderField($0, for: scope) } }
    }
}
