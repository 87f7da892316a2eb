import Dispatch
import Foundation

/// A numeric address of a host.
public struct HostAddress: Sendable, Hashable, CustomStringConvertible {
    /// Its bytes in network order: 4 of them, or 16.
    public let octets: [UInt8]
    /// As people write it, without brackets.
    public let description: String

    /// Makes an address of four bytes (IPv4) or sixteen (IPv6); `nil` for any other number.
    public init?(_ octets: [UInt8]) {
        guard octets.count == 4 || octets.count == 16 else { return nil }
        self.octets = octets
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(octets.count == 4 ? AF_INET : AF_INET6, octets, &text, socklen_t(text.count)) != nil else {
            return nil
        }
        description = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The addresses of a host in the order in which they should be tried, as the system resolves it: numeric ones too, also
    /// `127.1` and `2130706433`.
    ///
    /// - Throws: ``TransportError`` where there is none.
    public static func resolve(_ host: String) async throws -> [HostAddress] {
        try await withCheckedThrowingContinuation { continuation in
            // It may take many seconds; the threads for files are too few for that.
            DispatchQueue.global().async {
                let addresses = lookUp(host)
                if addresses.isEmpty {
                    continuation.resume(
                        throwing: TransportError(.unknownHost, "the host name \(host) cannot be resolved")
                    )
                } else {
                    continuation.resume(returning: addresses)
                }
            }
        }
    }

    private static func lookUp(_ host: String) -> [HostAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var result: [HostAddress] = []
        var next = list
        while let entry = next {
            if let address = HostAddress(octets(of: entry.pointee)), !result.contains(address) {
                result.append(address)
            }
            next = entry.pointee.ai_next
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
