import Foundation
import MediaTiming
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MediaTransport

@Suite struct NetworkStatusTests {
    private static let heading = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"

    @Test(arguments: [
        // The lowest metric counts, not the order; routes that are down or no default do not.
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
    func theDefaultRouteIsTheOneThatIsUsed(lines: String, expected: String?) {
        #expect(DefaultRoute.interface(routes: Self.heading + lines) == expected)
    }

    @Test func withoutIPv4TheOtherProtocolTells() {
        let (none, gateway) = (String(repeating: "0", count: 32), "fe80" + String(repeating: "0", count: 27) + "1")
        let text = """
            \(none) 00 \(none) 00 \(none) ffffffff 00000001 00000000 00200200 lo
            \(none) 00 \(none) 00 \(gateway) 00000400 00000002 00000000 00000003 wlan0
            """
        #expect(DefaultRoute.interface(routes6: text) == "wlan0")
        #expect(DefaultRoute.interface(routes6: "") == nil)
    }

    @Test func aModemIsCellularAndPaidFor() throws {
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

    @Test func whatAnApplicationSaysCounts() {
        let status = NetworkStatus(reading: { [.cellular] })
        #expect(status.cost == .cellular)
        status.cost = [.constrained]
        #expect(status.cost == .constrained)
        status.cost = nil
        #expect(status.cost == .cellular)
        #expect(NetworkStatus().cost == nil)
    }

    @Test func nothingIsAskedForOverANetworkThatMayNotBeUsed() async throws {
        let address = ResourceAddress("https://origin.example/a.ts")
        let transport = ScriptedTransport(texts: [address.text: "media"])
        let network = NetworkStatus(cost: [.cellular, .expensive])
        let loading = ResourceLoading(transport, policy: LoadErrorPolicy(retries: 5))
            .over(network, accepting: [.expensive, .constrained])
        let request = TransportRequest(address, kind: .segment)
        let error = await #expect(throws: TransportError.self) { try await loading.load(request) }
        #expect(error?.code == .networkRefused)
        #expect(error?.message.contains("cellular") == true && error?.message.contains("expensive") == false)
        #expect(transport.requestedAddresses.isEmpty)
        network.cost = [.expensive]
        #expect(try await loading.load(request).bytes == Array("media".utf8))
        // Nobody knows: then it is not forbidden.
        network.cost = nil
        #expect(try await loading.load(request).bytes == Array("media".utf8))
    }
}
