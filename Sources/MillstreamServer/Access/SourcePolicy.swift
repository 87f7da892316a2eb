public import MediaTransport
public import ResourceAddressing

/// The rules for the addresses from which the server loads sources at the request of clients.
///
/// A client can name any address, so the server must not give clients access to hosts that only this machine can reach.
/// It loads from the hosts that its owner and its catalog name, and otherwise from public addresses only.
public struct SourcePolicy: Sendable {
    /// A host, optionally limited to one port.
    private struct HostRule: Hashable {
        let host: String
        let port: Int?

        init(host: String, port: Int?) {
            // A trailing dot marks a name as fully qualified; the host is the same.
            self.host = host.hasSuffix(".") ? String(host.dropLast()) : host
            self.port = port
        }

        /// Creates a place from `HOST`, `HOST:PORT`, `[IPv6]:PORT` or an IPv6 address without brackets.
        init?(_ text: String) {
            let isBareIPv6 = text.first != "[" && text.utf8.count { $0 == UInt8(ascii: ":") } > 1
            let address = ResourceAddress(isBareIPv6 ? "http://[\(text)]/" : "http://\(text)/")
            guard address.isHTTP, address.path == "/", !text.utf8.contains(where: { "@/\\?#%*, ".utf8.contains($0) }),
                let host = address.host, let port = address.port,
                !host.contains(":") || HostAddress(numeric: host) != nil
            else { return nil }
            let colon = isBareIPv6 ? nil : text.lastIndex(of: ":")
            let hasPort = colon.map { !text[$0...].contains("]") } ?? false
            guard !hasPort || (1...65_535).contains(port) && !text.hasSuffix(":") else { return nil }
            self.init(host: host, port: hasPort ? port : nil)
        }
    }

    private let hostRules: Set<HostRule>
    /// A Boolean value that indicates whether only the hosts in `hostRules` are allowed.
    private let isExclusive: Bool
    /// A Boolean value that indicates whether a host in `hostRules` must have public addresses too.
    private var requiresPublicAddress = false
    private let isOwnAddress: @Sendable (HostAddress) -> Bool

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - allowedHosts: Hosts as `HOST` or `HOST:PORT`. With at least one, no other hosts are allowed. A text for which
    ///     ``isHost(_:)`` is `false` allows nothing.
    ///   - catalog: The addresses of the catalog, whose hosts are always allowed, with their ports.
    public init(allowedHosts: [String], catalog: [ResourceAddress]) {
        self.init(allowedHosts: allowedHosts, catalog: catalog) { MachineAddresses.shared.contains($0) }
    }

    init(
        allowedHosts: [String],
        catalog: [ResourceAddress],
        isOwnAddress: @escaping @Sendable (HostAddress) -> Bool
    ) {
        let named = allowedHosts.compactMap { HostRule($0) }
        let listed = catalog.compactMap { address -> HostRule? in
            guard address.isHTTP, let host = address.host else { return nil }
            return HostRule(host: host, port: address.port)
        }
        hostRules = Set(named + listed)
        isExclusive = !allowedHosts.isEmpty
        self.isOwnAddress = isOwnAddress
    }

    /// Returns a Boolean value that indicates whether a text names a host, with or without a port from 1 to 65535.
    public static func isHost(_ text: String) -> Bool { HostRule(text) != nil }

    /// The policy for requests from pages of other sites: the same, and every host must have public addresses only.
    public var restrictedToPublicAddresses: SourcePolicy {
        var policy = self
        policy.requiresPublicAddress = true
        return policy
    }

    /// Returns whether the server may load from an address, whose host is resolved first.
    ///
    /// - Throws: `TransportError` if there are too many look-ups at the same time.
    func allowsLoading(_ address: ResourceAddress, resolving hosts: HostCache) async throws -> Bool {
        guard let host = address.host, !host.isEmpty else { return false }
        do {
            return allowsLoading(address, resolvedTo: try await hosts.resolve(host).addresses)
        } catch let error as TransportError where error.code != .tooManyLookups {
            return allowsLoading(address, resolvedTo: [])
        }
    }

    /// Returns whether the server may load from an address.
    ///
    /// - Parameters:
    ///   - address: The address of the resource.
    ///   - hosts: The resolved addresses of its host; empty behind a proxy, which resolves names itself.
    /// - Returns: `true` if it may.
    public func allowsLoading(_ address: ResourceAddress, resolvedTo hosts: [HostAddress]) -> Bool {
        guard address.isHTTP, Self.isPlain(address), let host = address.host else { return false }
        let isNamed =
            hostRules.contains(HostRule(host: host, port: nil))
            || hostRules.contains(HostRule(host: host, port: address.port))
        if isNamed, !requiresPublicAddress { return true }
        guard isNamed || !isExclusive else { return false }
        // A name that has no addresses here can have some for a client or a proxy that resolves it differently.
        let addresses = hosts.isEmpty ? HostAddress(numeric: host).map { [$0] } ?? [] : hosts
        return !addresses.isEmpty
            && addresses.allSatisfy { AddressRegistry.isPublic($0.octets) && !isOwnAddress($0) }
    }

    /// Returns whether all clients interpret the host of an address in the same way.
    ///
    /// Clients differ in how they interpret percent signs, visually similar letters, backslashes and user names before
    /// the host. The host that is checked must be the host that is contacted.
    private static func isPlain(_ address: ResourceAddress) -> Bool {
        guard let authority = address.authority, !address.text.utf8.contains(UInt8(ascii: "\\")) else { return false }
        return authority.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
                true
            default: false
            }
        }
    }
}
