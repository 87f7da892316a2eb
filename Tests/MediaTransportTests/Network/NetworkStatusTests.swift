import Foundation
import MediaTiming
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MediaTransport

@Suite struct NetworkStatusTests {
    private static let heading = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"

    @Test(arguments: [
        // The lowest metric counts, not the order; routes that are down and routes that are not default routes are
        // ignored.
        (
            "eth0\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
                + "wwan0\t00000000\t0100000A\t0003\t0\t0\t50\t00000000\t0\t0\t0\n",
            "wwan0"
        ),
        (
            "eth1\t00000000\t0100A8C0\t0002\t0\t0\t1\t00000000\t0\t0\t0\n"
                + "eth0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
                + "eth0\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n",
            "eth0"
        ),
        ("eth0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n", nil), ("eth0 00000000\n", nil), ("", nil),
        ("eth0\t0000000G\t0100A8C0\t0003\t0\t0\t100\t00000000\n", nil),
    ])
    func interfaceIsThatOfTheDefaultRouteWithTheLowestMetric(lines: String, expected: String?) {
        #expect(DefaultRoute.interface(routes: Self.heading + lines) == expected)
    }

    @Test func interfaceIsFoundInTheIPv6Routes() {
        let (none, gateway) = (String(repeating: "0", count: 32), "fe80" + String(repeating: "0", count: 27) + "1")
        let text = """
            \(none) 00 \(none) 00 \(none) ffffffff 00000001 00000000 00200200 lo
            \(none) 00 \(none) 00 \(gateway) 00000400 00000002 00000000 00000003 wlan0
            """
        #expect(DefaultRoute.interface(routes6: text) == "wlan0")
        #expect(DefaultRoute.interface(routes6: "") == nil)
    }

    @Test func modemIsCellularAndExpensive() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "routes-\(UUID())")
        defer { try? FileManager.default.removeItem(at: root) }
        func write(_ text: String, to path: String) throws {
            let file = root.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }
        let route = DefaultRoute(root: root.path)
        #expect(route.cost == nil)
        try write(Self.heading + "enx1\t00000000\t0100A8C0\t0003\t0\t0\t1\t00000000\t0\t0\t0\n", to: "proc/net/route")
        #expect(route.cost == [])
        try write("DEVTYPE=wwan\nINTERFACE=enx1\n", to: "sys/class/net/enx1/uevent")
        #expect(route.cost == [.cellular, .expensive])
        try write(Self.heading + "../x\t00000000\t0100A8C0\t0003\t0\t0\t1\t00000000\t0\t0\t0\n", to: "proc/net/route")
        #expect(route.cost == [])
    }

    @Test func costSetByTheApplicationTakesPrecedence() {
        let status = NetworkStatus(readingCost: { [.cellular] })
        #expect(status.cost == .cellular)
        status.cost = [.constrained]
        #expect(status.cost == .constrained)
        status.cost = nil
        #expect(status.cost == .cellular)
        #expect(NetworkStatus().cost == nil)
    }

    @Test func noRequestIsSentOverANetworkThatMayNotBeUsed() async throws {
        let address = ResourceAddress("https://origin.example/a.ts")
        let transport = ScriptedTransport(texts: [address.text: "media"])
        let network = NetworkStatus(cost: [.cellular, .expensive])
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 5))
            .limited(to: network, accepting: [.expensive, .constrained])
        let request = TransportRequest(address, kind: .segment)
        let error = await #expect(throws: TransportError.self) { try await loader.load(request) }
        #expect(error?.code == .networkRefused)
        #expect(error?.message.contains("cellular") == true && error?.message.contains("expensive") == false)
        #expect(transport.requestedAddresses.isEmpty)
        network.cost = [.expensive]
        #expect(try await loader.load(request).bytes == Array("media".utf8))
        // An unknown cost is permitted.
        network.cost = nil
        #expect(try await loader.load(request).bytes == Array("media".utf8))
    }

    @Test(
        arguments: [
            ([], "free", 0), (.expensive, "expensive", 1), (.constrained, "constrained", 2), (.cellular, "cellular", 4),
            ([.expensive, .constrained, .cellular], "cellular, expensive, constrained", 7),
        ] as [(NetworkCost, String, Int)]
    )
    func costHasADescription(cost: NetworkCost, text: String, bits: Int) {
        #expect(cost.description == text && cost.rawValue == bits)
    }

    @Test(
        arguments: [
            // The interface, its flags and its metric.
            (["a 0003 5", "b 0003 4"], "b"), (["a 0003 4", "b 0003 4"], "a"), (["a 0203 1", "b 0003 4"], "b"),
            (["a 0002 1", "b 0001 4"], "b"), (["lo 0003 1", "b 0003 4"], "b"), (["a x 1", "b 0003 4"], "b"),
            (["a 0003 x", "b 0003 4"], "b"), (["a 0003 x"], "a"), (["a 0203 1"], nil), (["lo 0003 1"], nil),
        ] as [([String], String?)]
    )
    func bestRouteIsUpAndHasTheLowestMetric(routes: [String], name: String?) {
        let none = String(repeating: "0", count: 32)
        var (four, six) = (Self.heading, "")
        for route in routes {
            let parts = route.split(separator: " ")
            four += "\(parts[0])\t00000000\t0100A8C0\t\(parts[1])\t0\t0\t\(parts[2])\t00000000\n"
            six += "\(none) 00 \(none) 00 \(none) \(parts[2]) 1 0 \(parts[1]) \(parts[0])\n"
        }
        #expect(DefaultRoute.interface(routes: four) == name)
        #expect(DefaultRoute.interface(routes6: six) == name)
    }

    @Test(arguments: [
        "\(String(repeating: "0", count: 31))1 00 x 00 x 1 1 0 0003 a",
        "\(String(repeating: "0", count: 32)) 40 x 00 x 1 1 0 0003 a",
        "\(String(repeating: "0", count: 32)) 00 x 00 x 1 1 0 0003", "a",
    ])
    func routeToASingleNetworkIsNotADefaultRoute(line: String) {
        #expect(DefaultRoute.interface(routes6: line + "\n") == nil)
    }

    @Test func ipv4RouteTakesPrecedenceOverIPv6Route() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "routes-\(UUID())")
        defer { try? FileManager.default.removeItem(at: root) }
        let folder = root.appending(path: "proc/net")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let none = String(repeating: "0", count: 32)
        try Data("\(none) 00 \(none) 00 \(none) 1 1 0 0003 rmnet0\n".utf8).write(
            to: folder.appending(path: "ipv6_route")
        )
        let route = DefaultRoute(root: root.path)
        #expect(route.interface == "rmnet0" && route.cost == [.cellular, .expensive])
        for (name, cost) in [("wwan0", [.cellular, .expensive]), ("xwwan0", []), ("eth0", []), (".x", [])]
            as [(String, NetworkCost)]
        {
            let line = "\(name)\t00000000\t0100A8C0\t0003\t0\t0\t1\t00000000\n"
            try Data((Self.heading + line).utf8).write(to: folder.appending(path: "route"))
            #expect(route.interface == name && route.cost == cost, "\(name)")
        }
    }

    @Test func networkIsIdentifiedByTheGatewayOfItsDefaultRoute() {
        let lines = [
            "a\t00000001\t0101A8C0\t3\t0\t0\t0\t00000000", "b\t00000000\t0101A8C0\t3\t0\t0\t0\t00000001",
            "c\t00000000\t0101A8C0\t3\t0\t0\t0", "d\t00000000\tx\t3\t0\t0\t0\t00000000",
            "e\t00000000\t0403020A\t3\t0\t0\t0\t00000000", "f\t00000000\t0101A8C0\t3\t0\t0\t0\t00000000",
        ]
        let routes = Self.heading + lines.joined(separator: "\n")
        let neighbors =
            "IP address HW\n10.2.3.4 0x1 0x2\n10.2.3.5 0x1 0x2 aa\n10.2.3.4 0x1 0x2 bb * e\n10.2.3.4 0x1 0x2 cc\n"
        #expect(NetworkIdentity.name(routes: routes, neighbors: neighbors) == "e 10.2.3.4 bb")
        #expect(NetworkIdentity.name(routes: routes, neighbors: "") == "e 10.2.3.4")
        #expect(NetworkIdentity.name(routes: lines[4], neighbors: "") == nil, "the first line is the heading")
    }

    @Test(
        arguments: [
            ([], [.expensive], false), ([.expensive], [.expensive], true), ([.expensive], [.cellular], false),
            ([.expensive, .constrained, .cellular], [.expensive, .constrained, .cellular], true),
            ([.expensive], [], true),
        ] as [(NetworkCost, NetworkCost, Bool)]
    )
    func networkMayBeUsedIfItsCostIsAccepted(accepted: NetworkCost, cost: NetworkCost, mayBeUsed: Bool) async throws {
        let texts = ["https://h/a": "a", "file:///a": "a"]
        let network = NetworkStatus(cost: cost)
        let transport = ScriptedTransport(texts: texts)
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)).limited(
            to: network,
            accepting: accepted
        )
        #expect(loader.network === network)
        #expect((loader.transport is CostLimitedTransport) == (accepted.rawValue != 7))
        let request = TransportRequest(ResourceAddress("https://h/a"), kind: .segment)
        if mayBeUsed {
            #expect(try await loader.load(request).bytes == Array("a".utf8))
        } else {
            let error = await #expect(throws: TransportError.self) { _ = try await loader.load(request) }
            #expect(error?.code == .networkRefused && error?.address == request.address)
            #expect(error?.message == "the network is \(cost), which is not allowed for this request")
        }
        let local = TransportRequest(ResourceAddress("file:///a"), kind: .segment)
        #expect(try await loader.load(local).bytes == Array("a".utf8))
        #expect(ResourceLoader(transport).limited(to: network).transport is ScriptedTransport)
    }
}
