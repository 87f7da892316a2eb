import MediaTransport
import ResourceAddressing
import Testing

@testable import MillstreamServer

@Suite struct SourcePolicyTests {
    private func allowsLoading(_ text: String, allowed: [String] = [], catalog: [String] = []) async throws -> Bool {
        try await SourcePolicy(allowedHosts: allowed, catalog: catalog.map { ResourceAddress($0) })
            .allowsLoading(ResourceAddress(text), resolving: HostCache())
    }

    @Test(arguments: [
        "http://127.0.0.1/x", "http://localhost:8080/", "http://[::1]/", "http://10.1.2.3/", "http://192.168.0.1/",
        "http://169.254.169.254/latest/meta-data", "http://172.20.0.1/", "http://0.0.0.0/",
        "http://[::ffff:127.0.0.1]/", "http://[fe80::1]/", "http://[fc00::1]/", "http://100.64.0.1/",
        "file:///etc/passwd", "ftp://example.com/", "http://user@127.0.0.1/", "http://8.8.8.8@127.0.0.1/",
        "http://[64:ff9b::7f00:1]/", "http://127.0.0.1\\@8.8.8.8/", "http://8.8.8.8\\@127.0.0.1/",
        "http://%31%32%37.0.0.1/", "http://\u{2460}27.0.0.1/", "http://no-such-host.invalid/", "http://8.8.8.8%2f@x/",
        // Other spellings of the same hosts: a single number, two numbers, octal, hexadecimal, mixed, a trailing dot,
        // upper case.
        "http://2130706433/", "http://127.1/", "http://0x7f000001/", "http://0177.0.0.1/", "http://0x7F.0.0.0x1/",
        "http://017700000001/", "http://127.0.0.1./", "http://LOCALHOST/", "http://localhost./",
        "http://LocalHost.:80/",
        "http://0xA9FEA9FE/", "http://0/", "http://[::]/", "http://[0:0:0:0:0:0:0:1]/", "http://[2002:7f00:1::1]/",
    ])
    func privateHostsAreRejected(text: String) async throws {
        #expect(try await !allowsLoading(text))
    }

    @Test func publicAddressesAreAllowed() async throws {
        #expect(try await allowsLoading("http://8.8.8.8/a.m3u8"))
        #expect(try await allowsLoading("https://[2606:4700::1111]/a.m3u8"))
    }

    @Test func onlyNamedHostsAreAllowedIfThereAreAny() async throws {
        #expect(try await allowsLoading("http://127.0.0.1:9000/x", catalog: ["http://127.0.0.1:9000/list.m3u8"]))
        #expect(try await !allowsLoading("http://127.0.0.1:9001/x", catalog: ["http://127.0.0.1:9000/list.m3u8"]))
        #expect(try await allowsLoading("http://localhost:1/x", allowed: ["localhost"]))
        #expect(try await allowsLoading("http://LOCALHOST.:1/x", allowed: ["localhost"]))
        #expect(try await allowsLoading("http://localhost:1/x", allowed: ["localhost:1"]))
        #expect(try await !allowsLoading("http://localhost:2/x", allowed: ["localhost:1"]))
        #expect(try await !allowsLoading("http://8.8.8.8/x", allowed: ["localhost"]))
    }

    @Test(arguments: [
        ("localhost", true), ("nas.example.", true), ("10.0.0.1", true), ("10.0.0.1:80", true), ("name:65535", true),
        ("::1", true), ("[::1]", true), ("[::1]:8080", true), ("fe80::1", true),
        ("", false), (":80", false), ("name:", false), ("name:0", false), ("name:65536", false), ("name:x", false),
        ("name:+80", false), ("name:99999999999999999999", false), ("[::1]x", false), ("[::1]:", false),
        ("1:2:3", false),
        ("http://name", false), ("name/", false), ("user@name", false), ("*", false), ("*.example", false),
        ("a,b", false),
        ("a b", false), ("name?x", false), ("name#x", false), ("na%6de", false),
    ])
    func allowedHostMayHaveAPort(_ text: String, isHost: Bool) async throws {
        #expect(SourcePolicy.isHost(text) == isHost)
        // An invalid host allows no address, and the list still excludes all other hosts.
        guard !isHost else { return }
        #expect(try await !allowsLoading("http://name:80/x", allowed: [text]))
        #expect(try await !allowsLoading("http://8.8.8.8/x", allowed: [text]))
        #expect(try await !allowsLoading("http://[::1]/x", allowed: [text]))
    }

    @Test func addressesOfAllowedIPv6HostsAreAllowed() async throws {
        for allowed in ["::1", "[::1]", "[::1]:8080"] {
            #expect(try await allowsLoading("http://[::1]:8080/x", allowed: [allowed]))
            #expect(try await allowsLoading("http://[::1]:8081/x", allowed: [allowed]) == (allowed != "[::1]:8080"))
        }
    }

    @Test func addressWithAnInvalidPortIsRejected() async throws {
        #expect(try await !allowsLoading("http://127.0.0.1:x/x", allowed: ["127.0.0.1"]))
        #expect(try await !allowsLoading("http://127.0.0.1:80/x", catalog: ["http://127.0.0.1:x/list.m3u8"]))
    }

    /// A global address of this machine gives access to services that trust local connections.
    @Test func addressesOfThisMachineAreRejected() throws {
        let own = try #require(HostAddress(numeric: "2606:4700::1"))
        let policy = SourcePolicy(allowedHosts: [], catalog: []) { $0 == own }
        let other = try #require(HostAddress(numeric: "2606:4700::2"))
        #expect(!policy.allowsLoading(ResourceAddress("http://[2606:4700::1]/"), resolvedTo: [own]))
        #expect(!policy.allowsLoading(ResourceAddress("http://name.example/"), resolvedTo: [other, own]))
        #expect(policy.allowsLoading(ResourceAddress("http://name.example/"), resolvedTo: [other]))
        let named = SourcePolicy(allowedHosts: ["name.example"], catalog: []) { $0 == own }
        #expect(named.allowsLoading(ResourceAddress("http://name.example/"), resolvedTo: [own]))
        #expect(
            !named.restrictedToPublicAddresses.allowsLoading(ResourceAddress("http://name.example/"), resolvedTo: [own])
        )
    }

    /// Hosts in the options and the catalog are available to players and own pages, but not to pages of other sites.
    @Test func otherSitesReachOnlyPublicAddresses() throws {
        let (loopback, global) = (try #require(HostAddress([127, 0, 0, 1])), try #require(HostAddress([8, 8, 8, 8])))
        let policy = SourcePolicy(allowedHosts: [], catalog: [ResourceAddress("http://nas.example/a.m3u8")]) { _ in
            false
        }
        let restricted = policy.restrictedToPublicAddresses
        let address = ResourceAddress("http://nas.example/b.m3u8")
        #expect(
            policy.allowsLoading(address, resolvedTo: [loopback])
                && !restricted.allowsLoading(address, resolvedTo: [loopback])
        )
        #expect(
            restricted.allowsLoading(address, resolvedTo: [global])
                && !restricted.allowsLoading(address, resolvedTo: [global, loopback])
        )
        #expect(policy.allowsLoading(address, resolvedTo: []) && !restricted.allowsLoading(address, resolvedTo: []))
        // With a proxy, host names are not resolved; numeric addresses are still checked.
        #expect(restricted.allowsLoading(ResourceAddress("http://8.8.8.8/"), resolvedTo: []))
        #expect(!restricted.allowsLoading(ResourceAddress("http://10.0.0.1/"), resolvedTo: []))
        let exclusive = SourcePolicy(allowedHosts: ["nas.example"], catalog: []) { _ in false }
            .restrictedToPublicAddresses
        #expect(exclusive.allowsLoading(address, resolvedTo: [global]))
        #expect(!exclusive.allowsLoading(ResourceAddress("http://other.example/"), resolvedTo: [global]))
    }
}
