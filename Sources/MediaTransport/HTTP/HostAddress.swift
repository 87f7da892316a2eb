import Foundation
import MediaTiming

/// A numeric IPv4 or IPv6 address of a host.
public struct HostAddress: Sendable, Hashable, CustomStringConvertible {
    /// The bytes in network order: 4 for IPv4, 16 for IPv6.
    public let octets: [UInt8]
    /// The textual form of the address, without brackets.
    public let description: String

    /// Creates an address from 4 bytes (IPv4) or 16 bytes (IPv6); `nil` for any other number of bytes.
    public init?(_ octets: [UInt8]) {
        guard octets.count == 4 || octets.count == 16 else { return nil }
        self.octets = octets
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(octets.count == 4 ? AF_INET : AF_INET6, octets, &text, socklen_t(clamping: text.count)) != nil
        else {
            return nil
        }
        description = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Creates an address from its standard textual form, such as `192.0.2.1` or `2001:db8::1`; `nil` for other texts,
    /// including `127.1`.
    public init?(numeric text: String) {
        guard text.utf8.count < INET6_ADDRSTRLEN, !text.utf8.contains(0) else { return nil }
        var octets = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &octets) == 1 {
            self.init(Array(octets[..<4]))
        } else if inet_pton(AF_INET6, text, &octets) == 1 {
            self.init(octets)
        } else {
            return nil
        }
    }

    /// Resolves a host with the system resolver and returns its addresses in the order in which to try them.
    ///
    /// Numeric forms such as `127.1` and `2130706433` are resolved too. The number of concurrent lookups is limited,
    /// and a lookup fails after 15 seconds.
    ///
    /// - Throws: ``TransportError`` if the host has no address, if the resolver does not respond, or if there are too
    ///   many lookups.
    public static func resolve(_ host: String) async throws -> [HostAddress] {
        try await HostLookupQueue.shared.resolve(host)
    }

    /// Resolves a host and blocks the thread meanwhile; the result is empty for an unknown host.
    package static func lookUp(_ host: String) -> [HostAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = CInt(clamping: SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [[UInt8]] = []
        var next = list
        while let entry = next {
            found.append(octets(of: entry.pointee))
            next = entry.pointee.ai_next
        }
        return addresses(found)
    }

    /// Returns the addresses with the given bytes, each once; bytes that are no address are skipped.
    ///
    /// The system resolver returns an address several times if a file of hosts contains it several times.
    static func addresses(_ octets: [[UInt8]]) -> [HostAddress] {
        var result: [HostAddress] = []
        for address in octets.compactMap({ HostAddress($0) }) where !result.contains(address) {
            result.append(address)
        }
        return result
    }

    private static func octets(of entry: addrinfo) -> [UInt8] {
        switch entry.ai_family {
        case AF_INET:
            entry.ai_addr.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) }
            }
        case AF_INET6:
            entry.ai_addr.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) }
            }
        default: []
        }
    }
}
