import Foundation
import MediaTiming
import MediaTransport
import Synchronization

/// The addresses of the network interfaces of this machine.
///
/// A server that loads from its own machine reaches services that trust local connections, also at a global address.
/// The list is refreshed after 5 seconds, since interfaces can change.
final class MachineAddresses: Sendable {
    private struct State {
        var addresses: Set<HostAddress> = []
        var expiration: Duration?
    }

    /// The list of addresses that is shared by the process.
    static let shared = MachineAddresses()

    /// The time between two readings of the interfaces.
    private static let lifetime = Duration.seconds(5)

    private let state = Mutex(State())
    private let time: any TimeSource
    private let read: @Sendable () -> Set<HostAddress>

    /// Creates a list.
    ///
    /// - Parameters:
    ///   - time: The clock that determines when the list is refreshed.
    ///   - read: Reads the addresses of the interfaces.
    init(
        time: any TimeSource = SystemTimeSource(),
        read: @escaping @Sendable () -> Set<HostAddress> = MachineAddresses.readInterfaces
    ) {
        self.time = time
        self.read = read
    }

    /// Returns whether an interface of this machine has the address, or the IPv4 address mapped into it.
    func contains(_ address: HostAddress) -> Bool {
        let now = time.now
        let addresses = state.withLock { state in
            if state.expiration.map({ $0 <= now }) ?? true {
                state.addresses = read()
                state.expiration = now + Self.lifetime
            }
            return state.addresses
        }
        return addresses.contains(address.unmapped)
    }

    /// Reads the addresses of all interfaces.
    static func readInterfaces() -> Set<HostAddress> {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var addresses: Set<HostAddress> = []
        var next = list
        while let interface = next {
            defer { next = interface.pointee.ifa_next }
            guard let socketAddress = interface.pointee.ifa_addr else { continue }
            switch CInt(socketAddress.pointee.sa_family) {
            case AF_INET:
                let octets = socketAddress.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                    withUnsafeBytes(of: address.pointee.sin_addr) { Array($0) }
                }
                if let address = HostAddress(octets) { addresses.insert(address) }
            case AF_INET6:
                let octets = socketAddress.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                    withUnsafeBytes(of: address.pointee.sin6_addr) { Array($0) }
                }
                if let address = HostAddress(octets) { addresses.insert(address.unmapped) }
            default: continue
            }
        }
        return addresses
    }
}

extension HostAddress {
    /// The IPv4 address of a mapped IPv6 address (RFC 4291 §2.5.5.2); any other address itself.
    var unmapped: HostAddress {
        guard octets.count == 16, octets[..<10].allSatisfy({ $0 == 0 }), octets[10] == 0xFF, octets[11] == 0xFF else {
            return self
        }
        return HostAddress(Array(octets[12...])) ?? self
    }
}
