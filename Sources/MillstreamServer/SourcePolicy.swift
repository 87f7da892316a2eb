public import MediaTransport
public import ResourceAddressing

/// Which addresses the server loads for others.
///
/// Whoever can reach the server can make it fetch: it must not become a way to what only this machine can reach. So it
/// loads from the hosts that its catalogue and its owner name, and otherwise only from public addresses.
public struct SourcePolicy: Sendable {
    /// A host, with a port where only that one is meant.
    private struct Place: Hashable {
        let host: String
        let port: Int?
    }

    private let places: Set<Place>
    /// Whether only the named hosts count.
    private let isExclusive: Bool

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - allowedHosts: Hosts as `HOST` or `HOST:PORT`. Where any is given, no other host is loaded from.
    ///   - catalogue: The addresses of the catalogue, whose hosts are always allowed, with their ports.
    public init(allowedHosts: [String], catalogue: [ResourceAddress]) {
        let named = allowedHosts.map { text in
            let address = ResourceAddress("http://\(text)/")
            let hasPort = text.hasSuffix(":\(address.port ?? 0)")
            return Place(host: address.host ?? text, port: hasPort ? address.port : nil)
        }
        let listed = catalogue.compactMap { address in address.host.map { Place(host: $0, port: address.port) } }
        places = Set(named + listed)
        isExclusive = !allowedHosts.isEmpty
    }

    /// Whether the server may load from an address, whose host is resolved first.
    func mayVisit(_ address: ResourceAddress) async -> Bool {
        guard let host = address.host, !host.isEmpty else { return false }
        return mayVisit(address, at: (try? await HostAddress.resolve(host)) ?? [])
    }

    /// Whether the server may load from an address at these hosts.
    public func mayVisit(_ address: ResourceAddress, at hosts: [HostAddress]) -> Bool {
        guard address.isHTTP, Self.isPlain(address), let host = address.host else { return false }
        if places.contains(Place(host: host, port: nil)) || places.contains(Place(host: host, port: address.port)) {
            return true
        }
        // A name that cannot be resolved here might be resolved by somebody who reads it differently.
        guard !isExclusive, !hosts.isEmpty else { return false }
        return hosts.allSatisfy { Self.isPublic($0.octets) }
    }

    /// Whether everybody reads the same host from an address.
    ///
    /// Clients differ in what they make of percent signs, letters that look like others, backslashes and names of users
    /// before the host; what is judged here has to be what is asked there.
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

    /// Whether an address is one of the public Internet (RFC 6890 lists those that are not).
    static func isPublic(_ bytes: [UInt8]) -> Bool {
        if bytes.count == 4 {
            switch (bytes[0], bytes[1]) {
            case (0, _), (10, _), (127, _), (169, 254), (192, 168), (224..., _): return false
            case (100, 64...127), (172, 16...31), (198, 18...19), (192, 0): return false
            default: return true
            }
        }
        guard bytes.count == 16 else { return false }
        // An IPv4 address inside an IPv6 one is judged as what it is: mapped, compatible, or behind NAT64.
        let isMapped =
            bytes[..<10].allSatisfy { $0 == 0 }
            && (bytes[10...11].allSatisfy { $0 == 0xFF } || bytes[10...11].allSatisfy { $0 == 0 })
        let isTranslated = Array(bytes[..<12]) == [0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]
        if isMapped || isTranslated { return isPublic(Array(bytes[12...])) }
        // Only 2000::/3 is given out; 2002::/16 carries IPv4 addresses.
        guard bytes[0] & 0xE0 == 0x20 else { return false }
        if bytes[0] == 0x20, bytes[1] == 0x02 { return isPublic(Array(bytes[2..<6])) }
        return true
    }
}
