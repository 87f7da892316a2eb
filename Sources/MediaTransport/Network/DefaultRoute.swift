import Foundation

/// The way by which this machine reaches the rest of the world, as the kernel of Linux tells it.
///
/// It is read anew each time: two short files that no disk is asked for (`proc(5)`, `sysfs(5)`).
struct DefaultRoute {
    /// What stands for the root of the file system.
    var root = ""

    /// What speaks against using it; `nil` where there is no such route, or nobody who knows.
    var cost: NetworkCost? {
        guard let name = interface else { return nil }
        return isCellular(name) ? [.cellular, .expensive] : []
    }

    /// The interface of the default route: that of IPv4 before that of IPv6, and the one with the lowest metric.
    var interface: String? {
        Self.interface(routes: text("/proc/net/route")) ?? Self.interface(routes6: text("/proc/net/ipv6_route"))
    }

    /// Flag of a route that is in use (RTF_UP), and of one that only refuses (RTF_REJECT).
    private static let (isUp, isRefusal): (UInt32, UInt32) = (0x1, 0x200)

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

    /// Columns: destination, its length, source, its length, next hop, metric, references, uses, flags, interface.
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
            return flags & isUp != 0 && flags & isRefusal == 0
        }.min { ($0.metric ?? .max) < ($1.metric ?? .max) }?.name
    }

    /// Whether an interface is a modem: drivers of those say `DEVTYPE=wwan`.
    private func isCellular(_ name: String) -> Bool {
        guard !name.contains("/"), !name.hasPrefix(".") else { return false }
        return text("/sys/class/net/\(name)/uevent").split(separator: "\n").contains("DEVTYPE=wwan")
            || name.hasPrefix("wwan") || name.hasPrefix("rmnet")
    }

    private func text(_ path: String) -> String {
        (try? String(contentsOfFile: root + path, encoding: .utf8)) ?? ""
    }
}
