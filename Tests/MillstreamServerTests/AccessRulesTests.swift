import HTTPTypes
import Hummingbird
import Logging
import MediaTiming
import MediaTransport
import NIOCore
import NIOEmbedded
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests the decisions of the source policy for each form of an address.
@Suite struct SourceRulesTests {
    private let global: HostAddress
    private let loopback: HostAddress

    init() throws {
        global = try #require(HostAddress([8, 8, 8, 8]))
        loopback = try #require(HostAddress([127, 0, 0, 1]))
    }

    private func policy(_ allowed: [String] = [], catalog: [String] = []) -> SourcePolicy {
        SourcePolicy(allowedHosts: allowed, catalog: catalog.map { ResourceAddress($0) }) { _ in false }
    }

    /// Other characters are rejected, since HTTP clients interpret them differently.
    @Test func hostsMayContainOnlyUnambiguousCharacters() {
        let policy = policy()
        for byte in UInt8(0x21)...0x7E {
            let character = Character(UnicodeScalar(byte))
            let isPlain = character.isLetter || character.isNumber || ".-_".contains(character)
            // These characters end the host or begin another part of the URL.
            guard !"/?#:[]".contains(character) else { continue }
            let address = ResourceAddress("http://a\(character)b.example/x")
            #expect(policy.allowsLoading(address, resolvedTo: [global]) == isPlain, "\(character)")
        }
        #expect(policy.allowsLoading(ResourceAddress("https://a.example:8443/"), resolvedTo: [global]))
        #expect(policy.allowsLoading(ResourceAddress("https://[2606:4700::1111]:8443/"), resolvedTo: []))
        #expect(!policy.allowsLoading(ResourceAddress("http://a.example/\\x"), resolvedTo: [global]))
        #expect(!policy.allowsLoading(ResourceAddress("ftp://a.example/"), resolvedTo: [global]))
    }

    @Test(arguments: [
        ("nas.example", "http://nas.example/a", true), ("nas.example", "https://NAS.example.:8443/a", true),
        ("nas.example", "http://other.example/", false), ("nas.example:80", "http://nas.example/", true),
        ("nas.example:80", "https://nas.example/", false), ("nas.example:80", "http://nas.example:81/", false),
        ("nas.example:8080", "http://nas.example:8080/", true), ("[fd00::1]", "http://[fd00::1]:99/", true),
        ("[fd00::1]:80", "http://[fd00::1]/", true), ("[fd00::1]:80", "http://[fd00::1]:81/", false),
        ("10.0.0.1", "http://10.0.0.1:1234/", true),
    ])
    func allowedHostMatchesItsPortIfItHasOne(allowed: String, address: String, expected: Bool) throws {
        let policy = policy([allowed])
        #expect(policy.allowsLoading(ResourceAddress(address), resolvedTo: [loopback]) == expected)
        // If hosts are named, public hosts are rejected too.
        #expect(!policy.allowsLoading(ResourceAddress("http://8.8.8.8/"), resolvedTo: [global]))
    }

    @Test func hostsOfACatalogAreAllowedWithTheirPorts() {
        let policy = policy(catalog: ["https://nas.example/a", "http://nas.example:9000/b", "relative"])
        for (address, expected) in [
            ("https://nas.example/x", true), ("http://nas.example:443/x", true), ("http://nas.example:9000/x", true),
            ("http://nas.example/x", false), ("http://other.example/", false),
        ] {
            #expect(policy.allowsLoading(ResourceAddress(address), resolvedTo: [loopback]) == expected, "\(address)")
        }
        #expect(policy.allowsLoading(ResourceAddress("http://other.example/"), resolvedTo: [global]))
    }

    @Test func allAddressesOfAHostMustBePublic() {
        let (policy, address) = (policy(), ResourceAddress("http://a.example/"))
        #expect(
            policy.allowsLoading(address, resolvedTo: [global])
                && policy.allowsLoading(address, resolvedTo: [global, global])
        )
        #expect(
            !policy.allowsLoading(address, resolvedTo: [loopback])
                && !policy.allowsLoading(address, resolvedTo: [global, loopback])
        )
        #expect(
            !policy.allowsLoading(address, resolvedTo: [loopback, global])
                && !policy.allowsLoading(address, resolvedTo: [])
        )
    }

    @Test func namesAreResolvedBeforeTheDecision() async throws {
        let cache = HostCache(HostLookupQueue())
        #expect(try await !policy().allowsLoading(ResourceAddress("http:///x"), resolving: cache))
        #expect(try await !policy().allowsLoading(ResourceAddress("http://no-such-host.invalid/"), resolving: cache))
        // An explicitly allowed name may be known only to a proxy.
        let named = policy(["no-such-host.invalid"])
        #expect(try await named.allowsLoading(ResourceAddress("http://no-such-host.invalid/"), resolving: cache))
        #expect(try await !policy().allowsLoading(ResourceAddress("http://localhost/"), resolving: cache))
        #expect(try await policy().allowsLoading(ResourceAddress("http://8.8.8.8/"), resolving: cache))
    }

    @Test func tooManyLookupsAreAnError() async {
        let cache = HostCache(HostLookupQueue(.init(concurrentLookups: 0, pendingNames: 0)))
        let error = await #expect(throws: TransportError.self) {
            try await policy().allowsLoading(ResourceAddress("http://name.example/"), resolving: cache)
        }
        #expect(error?.code == .tooManyLookups)
    }
}

@Suite struct UnmappedAddressTests {
    /// Returns the IPv6 address that maps 1.2.3.4, with one byte changed.
    private static func mapped(_ index: Int? = nil, _ byte: UInt8 = 0) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 1, 2, 3, 4]
        if let index { octets[index] = byte }
        return octets
    }

    @Test func mappedAddressesAreUnmapped() throws {
        #expect(try #require(HostAddress(Self.mapped())).unmapped.octets == [1, 2, 3, 4])
        #expect(try #require(HostAddress([1, 2, 3, 4])).unmapped.octets == [1, 2, 3, 4])
    }

    @Test(arguments: [(0, 1), (9, 1), (10, 0xFE), (11, 0xFE), (10, 0), (11, 0)] as [(Int, UInt8)])
    func otherAddressesAreNotUnmapped(index: Int, byte: UInt8) throws {
        let octets = Self.mapped(index, byte)
        #expect(try #require(HostAddress(octets)).unmapped.octets == octets)
    }

    @Test(
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:db8::1", "2001:db8::1"),
        ]
    )
    func addressOfASocketIsUnmapped(text: String, expected: String) throws {
        #expect(try SocketAddress(ipAddress: text, port: 80).hostAddress == HostAddress(numeric: expected))
    }

    @Test func unixDomainSocketHasNoHostAddress() throws {
        #expect(try SocketAddress(unixDomainSocketPath: "/tmp/x").hostAddress == nil)
    }

    @Test func requestIsForeignUntilItIsClassified() throws {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "::ffff:192.0.2.1", port: 80)).wait()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let context = ServerRequestContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
        #expect(context.initiator == .foreignPage && context.initiator.isForeign)
        #expect(context.peer?.description == "192.0.2.1")
        #expect(RequestInitiator.foreignHost.isForeign)
        #expect(!RequestInitiator.player.isForeign && !RequestInitiator.ownPage.isForeign)
    }

    @Test func interfacesAreReadAgainAfterFiveSeconds() throws {
        let time = ManualTime()
        let reads = Mutex(0)
        let address = try #require(HostAddress([192, 0, 2, 1]))
        let addresses = MachineAddresses(time: time) {
            reads.withLock { $0 += 1 }
            return [address]
        }
        let mapped = try #require(HostAddress(numeric: "::ffff:192.0.2.1"))
        #expect(addresses.contains(address) && addresses.contains(mapped))
        #expect(try !addresses.contains(#require(HostAddress([192, 0, 2, 2]))))
        time.advance(by: .milliseconds(4_999))
        #expect(addresses.contains(address) && reads.withLock { $0 } == 1)
        time.advance(by: .milliseconds(1))
        #expect(addresses.contains(address) && reads.withLock { $0 } == 2)
    }
}

@Suite struct ForwardedNodeTests {
    private func client(_ forwardedFor: String?, _ forwarded: String? = nil) throws -> String? {
        [try #require(TrustedProxy("10.0.0.0/8"))].client(forwardedFor: forwardedFor, forwarded: forwarded)?.description
    }

    @Test(
        arguments: [
            (" \t192.0.2.1\t ", "192.0.2.1"), ("\"192.0.2.1\"", "192.0.2.1"), ("\"[2001:db8::1]:80\"", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"), ("192.0.2.1:80", "192.0.2.1"), ("\"", nil), ("\"192.0.2.1", nil),
            ("192.0.2.1\"", nil), ("[2001:db8::1", nil), ("192.0.2.1:80:90", nil), ("", nil), (" ", nil),
            ("\"\"", nil), ("_hidden:80", nil),
        ] as [(String, String?)]
    )
    func forwardedNodesAreParsedInAllForms(text: String, expected: String?) throws {
        #expect(try client(text) == expected)
        #expect(try client(nil, "for=" + text) == expected)
        #expect(try client(nil, "by=10.0.0.1; FOR=\(text); proto=http") == expected)
    }

    @Test(
        arguments: [
            (nil, "for", nil), (nil, "fork=192.0.2.1", nil), (nil, "for=192.0.2.1;for=192.0.2.1", nil),
            (nil, "for=192.0.2.1,", nil), (nil, "for=192.0.2.1, by=10.0.0.1", nil),
            (nil, "for=192.0.2.1=80", nil), ("192.0.2.1", "for=192.0.2.1", "192.0.2.1"),
            ("192.0.2.1", "for=192.0.2.2", nil), ("192.0.2.1", "for=unknown", nil), ("unknown", "for=192.0.2.1", nil),
            ("192.0.2.1,10.0.0.2,10.0.0.3", nil, "192.0.2.1"), ("192.0.2.1,unknown,10.0.0.3", nil, nil),
        ] as [(String?, String?, String?)]
    )
    func contradictoryFieldsYieldNoClient(forwardedFor: String?, forwarded: String?, expected: String?) throws {
        #expect(try client(forwardedFor, forwarded) == expected)
    }

    @Test(
        arguments: [
            ("10.0.0.0/0", true), ("10.0.0.0/32", true), ("10.0.0.0/33", false), ("10.0.0.0/", false),
            ("10.0.0.0/8/8", false), ("10.0.0.0/ 8", false), ("10.0.0.0/8x", false), ("/8", false), ("::/0", true),
            ("::/128", true), ("::/129", false), ("name/8", false), ("10.0.0.0/:", false), ("10.0.0.0//", false),
        ]
    )
    func networkPrefixMustBeWithinTheAddressLength(text: String, isProxy: Bool) {
        #expect((TrustedProxy(text) != nil) == isProxy)
    }
}

@Suite struct RegistryCountTests {
    private func lease(_ admission: ConnectionRegistry.Admission) -> ConnectionRegistry.Lease? {
        guard case .admitted(let lease) = admission else { return nil }
        return lease
    }

    /// Each released slot can be used exactly once.
    @Test func slotsOfAClientAreReleasedOneByOne() throws {
        let registry = ConnectionRegistry(ConnectionLimits(maximumConnections: 9, maximumConnectionsPerClient: 3))
        let address = try #require(HostAddress([192, 0, 2, 1]))
        var leases = (0..<3).map { _ in lease(registry.admitConnection(from: address)) }
        #expect(leases.allSatisfy { $0 != nil } && lease(registry.admitConnection(from: address)) == nil)
        #expect(lease(registry.admitForwardedRequest(of: address)) == nil)
        leases.removeLast(2)
        leases += (0..<2).map { _ in lease(registry.admitForwardedRequest(of: address)) }
        #expect(leases.allSatisfy { $0 != nil } && registry.connectionCount == 1)
        #expect(lease(registry.admitForwardedRequest(of: address)) == nil)
        leases.removeAll()
        #expect(registry.connectionCount == 0)
        leases = (0..<3).map { _ in lease(registry.admitConnection(from: address)) }
        #expect(leases.allSatisfy { $0 != nil } && lease(registry.admitConnection(from: address)) == nil)
    }

    @Test func connectionsWithoutAnAddressCountOnlyTowardsTheTotal() {
        let registry = ConnectionRegistry(ConnectionLimits(maximumConnections: 2, maximumConnectionsPerClient: 1))
        var leases = (0..<2).map { _ in lease(registry.admitConnection(from: nil)) }
        #expect(leases.allSatisfy { $0 != nil } && registry.connectionCount == 2)
        guard case .serverIsFull = registry.admitConnection(from: nil) else {
            Issue.record("a third connection was admitted")
            return
        }
        leases.removeAll()
        #expect(registry.connectionCount == 0)
    }

    @Test func ipv6ClientsAreDistinguishedByTheirFirst64Bits() throws {
        let registry = ConnectionRegistry(ConnectionLimits(maximumConnectionsPerClient: 1))
        var leases: [ConnectionRegistry.Lease?] = []
        for (last, other) in [(7, true), (8, false), (15, false), (0, true)] {
            leases = []
            var octets = [UInt8](repeating: 0, count: 16)
            octets[1] = 1
            leases.append(lease(registry.admitForwardedRequest(of: try #require(HostAddress(octets)))))
            octets[last] = 9
            leases.append(lease(registry.admitForwardedRequest(of: try #require(HostAddress(octets)))))
            #expect(leases[0] != nil && (leases[1] != nil) == other, "byte \(last)")
        }
    }

    private func context(_ address: String) throws -> ServerRequestContext {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: address, port: 80)).wait()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return ServerRequestContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
    }

    @Test func responseOccupiesTheSlotOfItsForwardedRequest() async throws {
        let proxy = try #require(TrustedProxy("192.0.2.1"))
        let registry = ConnectionRegistry(ConnectionLimits(maximumConnectionsPerClient: 1, trustedProxies: [proxy]))
        let limit = ForwardedRequestLimit(registry: registry)
        let (proxied, direct) = (try context("192.0.2.1"), try context("192.0.2.2"))
        func ask(_ client: String, _ context: ServerRequestContext) async throws -> Response {
            try await limit.handle(.get("/", fields: [(.forwardedFor, client)]), context: context) { _, _ in
                Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "text")))
            }
        }
        var responses = [try await ask("6.6.6.6", proxied)]
        let error = await #expect(throws: ServerError.self) { try await ask("6.6.6.6", proxied) }
        #expect(error?.status == .serviceUnavailable && error?.code == "too-many-connections")
        responses.append(try await ask("6.6.6.7", proxied))
        // Requests from unknown clients count as requests from the proxy.
        responses.append(try await ask("unknown", proxied))
        await #expect(throws: ServerError.self) { try await ask("", proxied) }
        // The forwarded client is ignored if the peer is not a trusted proxy.
        for _ in 0..<3 { responses.append(try await ask("6.6.6.6", direct)) }
        #expect(responses[0].body.contentLength == 4)
        #expect(try await responses[0].body.recorded().text == "text")
        responses = []
        _ = try await ask("6.6.6.6", proxied)
    }
}

/// Tests deadlines at their boundaries.
@Suite struct DeadlineBoundaryTests {
    @Test func responseWithoutARequestChangesNothing() {
        var state = ConnectionDeadlines(ConnectionLimits(), at: .seconds(1))
        state.finishResponse(at: .seconds(9))
        #expect(state.pendingResponseCount == 0 && state.phase == .idle && state.deadline == .seconds(76))
        state.receiveEnd(at: .seconds(10))
        #expect(state.phase == .idle && state.deadline == .seconds(85))
    }

    @Test func responsesAreCounted() {
        var state = ConnectionDeadlines(ConnectionLimits(), at: .zero)
        for _ in 0..<2 {
            state.receiveBytes(at: .zero)
            state.receiveHead(at: .zero)
            state.receiveEnd(at: .zero)
        }
        #expect(state.pendingResponseCount == 2 && state.phase == .response)
        state.finishResponse(at: .seconds(1))
        #expect(state.pendingResponseCount == 1 && state.phase == .response && state.deadline == nil)
        state.finishResponse(at: .seconds(2))
        #expect(state.pendingResponseCount == 0 && state.phase == .idle && state.deadline == .seconds(77))
    }

    @Test func bytesOfABodyDoNotRestartTheDeadline() {
        var state = ConnectionDeadlines(ConnectionLimits(), at: .zero)
        state.receiveHead(at: .seconds(1))
        state.receiveBytes(at: .seconds(5))
        #expect(state.phase == .body && state.deadline == .seconds(31))
    }

    /// Returns the decisions at several times, given the numbers of sent and buffered bytes.
    private func decisions(
        _ limits: ConnectionLimits,
        _ looks: [(sent: Int, buffered: Int, time: Duration)],
        noteEmptyBufferBefore note: Int? = nil
    ) -> [Bool] {
        var state = ConnectionDeadlines(limits, at: .zero)
        return looks.enumerated().map { index, look in
            if index == note { state.recordEmptyBuffer() }
            return state.isReaderTooSlow(sent: look.sent, buffered: look.buffered, at: look.time)
        }
    }

    /// The minimum increases with the time limit, up to 64 KiB.
    @Test(arguments: [(1, 512), (127, 65_024), (128, 65_536), (129, 65_536), (3_600, 65_536)])
    func readerMustReadAMinimumNumberOfBytes(seconds: Int, minimum: Int) {
        let (limits, limit) = (ConnectionLimits(writeTimeout: .seconds(seconds)), Duration.seconds(seconds))
        for (sent, isTooSlow) in [(minimum, false), (minimum - 1, true)] {
            let looks = [(0, 1, Duration.zero), (0, 1, limit - .nanoseconds(1)), (sent, 1, limit)]
            #expect(decisions(limits, looks) == [false, false, isTooSlow])
        }
    }

    @Test func emptyBufferResetsTheTimeLimit() {
        let limits = ConnectionLimits(writeTimeout: .seconds(4))
        let looks = { (seconds: [Int]) in seconds.map { (0, 1, Duration.seconds($0)) } }
        #expect(decisions(limits, looks([0, 4])) == [false, true])
        #expect(decisions(limits, looks([0, 4, 7, 8]), noteEmptyBufferBefore: 1) == [false, false, false, true])
        let empty = [(0, 0, Duration.seconds(3))]
        #expect(
            decisions(limits, looks([0]) + empty + looks([4, 7, 8])) == [false, false, false, false, true]
        )
    }
}
