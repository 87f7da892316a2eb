import MediaTransport
import MillstreamTesting
import Synchronization
import Testing

@testable import MillstreamServer

@Suite struct AddressRegistryTests {
    private func isPublic(_ text: String) throws -> Bool {
        AddressRegistry.isPublic(try #require(HostAddress(numeric: text)).octets)
    }

    /// The first and the last address of each block.
    @Test(arguments: [
        ("0.0.0.0", "0.255.255.255"), ("10.0.0.0", "10.255.255.255"), ("100.64.0.0", "100.127.255.255"),
        ("127.0.0.0", "127.255.255.255"), ("168.63.129.16", "168.63.129.16"), ("169.254.0.0", "169.254.255.255"),
        ("172.16.0.0", "172.31.255.255"), ("192.0.0.0", "192.0.0.255"), ("192.0.2.0", "192.0.2.255"),
        ("192.31.196.0", "192.31.196.255"), ("192.52.193.0", "192.52.193.255"), ("192.88.99.0", "192.88.99.255"),
        ("192.168.0.0", "192.168.255.255"), ("192.175.48.0", "192.175.48.255"), ("198.18.0.0", "198.19.255.255"),
        ("198.51.100.0", "198.51.100.255"), ("203.0.113.0", "203.0.113.255"), ("224.0.0.0", "239.255.255.255"),
        ("240.0.0.0", "255.255.255.255"),
        // IPv6: unspecified, loopback, IPv4-compatible, IPv4-translated, local NAT64, discard-only, segment routing.
        ("::", "::ffff"), ("::1", "::7f00:1"), ("::808:808", "::8.8.4.4"), ("::ffff:0:808:808", "::ffff:0:7f00:1"),
        ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"), ("64:ff9b::1:808:808", "64:ff9b:0:1::808:808"),
        ("100::", "100::ffff:ffff:ffff:ffff"), ("100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff"),
        ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), ("1fff:ffff::1", "4000::1"),
        // Teredo, benchmarking, ORCHID, drone remote identification.
        ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"), ("2001::808:808", "2001:0:4136:e378:8000:63bf:3fff:fdd2"),
        ("2001:2::1", "2001:10::1"), ("2001:20::1", "2001:30::1"),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"), ("2620:4f:8000::", "2620:4f:8000:ffff::1"),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"), ("fc00::1", "fdff:ffff::1"), ("fd00:ec2::254", "fe00::1"),
        ("fe80::1", "febf::1"), ("fec0::1", "ff02::1"), ("::fffe:808:808", "::7fff:808:808"),
    ])
    func specialAddressesAreNotPublic(first: String, last: String) throws {
        #expect(try !isPublic(first), "\(first)")
        #expect(try !isPublic(last), "\(last)")
    }

    /// The addresses next to the blocks, which must remain accessible.
    @Test(arguments: [
        "1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0", "192.0.3.0", "192.0.66.2", "192.31.195.255", "192.31.197.0", "192.52.192.255", "192.52.194.0",
        "192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0", "192.175.47.255", "192.175.49.0",
        "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0",
        "223.255.255.255",
        "2001:200::1", "2001:db7:ffff::1", "2001:db9::1", "2606:4700::1111", "2620:4f:7fff::1", "2620:4f:8001::1",
        "3ffe::1", "3fff:1000::1", "2000::1",
        // The neighbors of prefixes with an IPv4 address.
        "2003:7f00:1::1", "2606:4700::100:5efe:127.0.0.1", "2606:4700::8000:5efe:127.0.0.1",
        "2606:4700::5eff:127.0.0.1",
    ])
    func otherAddressesArePublic(text: String) throws {
        #expect(try isPublic(text))
    }

    @Test(arguments: [
        "::ffff:%", "64:ff9b::%", "2606:4700::5efe:%", "2606:4700::200:5efe:%",
    ])
    func embeddedIPv4AddressesAreChecked(pattern: String) throws {
        for (inner, expected) in [
            ("127.0.0.1", false), ("10.1.2.3", false), ("169.254.169.254", false), ("192.0.2.1", false),
            ("8.8.8.8", true),
        ] {
            #expect(try isPublic(pattern.replacing("%", with: inner)) == expected, "\(pattern) \(inner)")
        }
    }

    @Test(arguments: [
        ("2002:7f00:1::1", false), ("2002:a01:203::1", false), ("2002:a9fe:a9fe::1", false), ("2002:c0a8:1::", false),
        ("2002:6440:1::1", false), ("2002:e000:1::1", false), ("2002:808:808::1", true),
        ("2002:808:808::5efe:127.0.0.1", false),
    ])
    func embeddedAddressesOf6to4AreChecked(text: String, expected: Bool) throws {
        #expect(try isPublic(text) == expected)
    }

    @Test func addressesOfOtherLengthsAreNotPublic() {
        #expect(!AddressRegistry.isPublic([]) && !AddressRegistry.isPublic([8, 8, 8]))
        #expect(!AddressRegistry.isPublic([UInt8](repeating: 8, count: 15)))
    }
}

@Suite struct MachineAddressesTests {
    @Test func interfacesOfThisMachineAreFound() throws {
        let loopback = try #require(HostAddress([127, 0, 0, 1]))
        #expect(MachineAddresses.readInterfaces().contains(loopback))
        let mapped = try #require(HostAddress(numeric: "::ffff:127.0.0.1"))
        #expect(MachineAddresses.shared.contains(mapped))
    }

    @Test func interfacesAreReadAgain() async throws {
        let simulation = Simulation()
        let current = Mutex<Set<HostAddress>>([])
        let addresses = MachineAddresses(time: simulation) { current.withLock { $0 } }
        let address = try #require(HostAddress(numeric: "2606:4700::1"))
        #expect(!addresses.contains(address))
        current.withLock { $0 = [address] }
        #expect(!addresses.contains(address))
        try await simulation.run { try await simulation.sleep(for: .seconds(5)) }
        #expect(addresses.contains(address))
    }
}
