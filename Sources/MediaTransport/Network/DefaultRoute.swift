import Foundation

/// The default route of the system, as reported by the Linux kernel.
///
/// The files of `proc(5)` and `sysfs(5)` are read again each time, which involves no disk access.
struct DefaultRoute {
    /// The path of the root directory, so that tests can replace the files.
    var root = ""

    /// The cost of the route; `nil` if there is no default route, or if the route is unknown.
    var cost: NetworkCost? {
        guard let name = interface else { return nil }
        return isCellular(name) ? [.cellular, .expensive] : []
    }

    /// The interface of the default route, IPv4 before IPv6, with the lowest metric.
    var interface: String? {
        Self.interface(routes: text("/proc/net/route")) ?? Self.interface(routes6: text("/proc/net/ipv6_route"))
    }

    /// The flags of a route that is in use (RTF_UP) and of one that rejects packets (RTF_REJECT).
    private static let (isUp, isReject): (UInt32, UInt32) = (0x1, 0x200)

    /// Returns the interface of the best default route in `/proc/net/route`.
    ///
    /// Columns: interface, destination, gateway, flags, references, uses, metric, mask.
    static func interface(routes: String) -> String? {
        best(
            routes.split(separator: "\n").dropFirst().compactMap { line in
                let fields = line.split(whereSeparator: \.isWhitespace)
                guard fields.count > 7, UInt32(fields[1], radix: 16) == 0, UInt32(fields[7], radix: 16) == 0 else {
                    return nil
                }
                return (String(fields[0]), UInt32(fields[3], radix: 16), UInt32(fields[6]))
            }
        )
    }

    /// Returns the interface of the best default route in `/proc/net/ipv6_route`.
    ///
    /// Columns: destination, prefix length, source, prefix length, next hop, metric, references, uses, flags,
    /// interface.
    static func interface(routes6: String) -> String? {
        best(
            routes6.split(separator: "\n").compactMap { line in
                let fields = line.split(whereSeparator: \.isWhitespace)
                guard fields.count > 9, fields[0].allSatisfy({ $0 == "0" }), UInt32(fields[1], radix: 16) == 0 else {
                    return nil
                }
                return (String(fields[9]), UInt32(fields[8], radix: 16), UInt32(fields[5], radix: 16))
            }
        )
    }

    private static func best(_ routes: [(name: String, flags: UInt32?, metric: UInt32?)]) -> String? {
        routes.filter { route in
            guard let flags = route.flags, route.name != "lo" else { return false }
            return flags & isUp != 0 && flags & isReject == 0
        }.min { ($0.metric ?? .max) < ($1.metric ?? .max) }?.name
    }

    /// Returns a Boolean value that indicates whether an interface is a modem, for which drivers report `DEVTYPE=wwan`.
    private func isCellular(_ name: String) -> Bool {
        guard !name.contains("/"), !name.hasPrefix(".") else { return false }
        return text("/sys/class/net/\(name)/uevent").split(separator: "\n").contains("DEVTYPE=wwan")
            || name.hasPrefix("wwan") || name.hasPrefix("rmnet")
    }

    private func text(_ path: String) -> String {
        (try? String(contentsOfFile: root + path, encoding: .utf8)) ?? ""
    }
}
