import Foundation
import Testing

@testable import MediaTransport

/// Tests unusual lines of the tables of routes, and the names of costs.
@Suite struct NetworkEdgeTests {
    private static let none = String(repeating: "0", count: 32)
    private static let heading = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"

    /// Flags are hexadecimal numbers.
    @Test(
        arguments: [
            ("0003", "a"), ("0013", "a"), ("00010003", "a"), ("0010", nil), ("0213", nil), ("0000", nil),
        ] as [(String, String?)]
    )
    func flagsOfARouteAreHexadecimal(flags: String, name: String?) {
        let four = "a\t00000000\t0100A8C0\t\(flags)\t0\t0\t5\t00000000\n"
        let six = "\(Self.none) 00 \(Self.none) 00 \(Self.none) 5 1 0 \(flags) a\n"
        #expect(DefaultRoute.interface(routes: Self.heading + four) == name)
        #expect(DefaultRoute.interface(routes6: six) == name)
    }

    @Test func routeWithoutAMaskIsNotADefaultRoute() {
        #expect(DefaultRoute.interface(routes: Self.heading + "a\t00000000\t0100A8C0\t0003\t0\t0\t5\n") == nil)
        #expect(DefaultRoute.interface(routes: Self.heading + "a\t00000000\t0100A8C0\t0003\t0\t0\t5\t00000000") == "a")
    }

    @Test func routeOfIPv4HasPriority() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "routes-\(UUID())")
        defer { try? FileManager.default.removeItem(at: root) }
        for folder in ["proc/net", "sys/class/net/.x", "sys/class/net/y"] {
            try FileManager.default.createDirectory(
                at: root.appending(path: folder),
                withIntermediateDirectories: true
            )
        }
        func write(_ text: String, to path: String) throws { try Data(text.utf8).write(to: root.appending(path: path)) }
        for name in [".x", "y"] { try write("INTERFACE=z\nDEVTYPE=wwan\n", to: "sys/class/net/\(name)/uevent") }
        try write("\(Self.none) 00 \(Self.none) 00 \(Self.none) 1 1 0 0003 y\n", to: "proc/net/ipv6_route")
        let route = DefaultRoute(root: root.path)
        #expect(route.interface == "y" && route.cost == [.cellular, .expensive])
        // A name that could be a path is not looked up.
        try write(Self.heading + ".x\t00000000\t0100A8C0\t0003\t0\t0\t9\t00000000\n", to: "proc/net/route")
        #expect(route.interface == ".x" && route.cost == [])
    }

    @Test(
        arguments: [
            ("expensive", .expensive), ("constrained", .constrained), ("cellular", .cellular), ("free", nil),
            ("Cellular", nil), ("", nil),
        ] as [(String, NetworkCost?)]
    )
    func costIsFoundByItsName(name: String, cost: NetworkCost?) {
        #expect(NetworkCost(kind: name) == cost)
    }
}
