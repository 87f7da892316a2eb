import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

/// A source that responds with one query, and can be made to wait.
private final class QuerySource: AccessTokenSource {
    private let query: String
    private let isHeld: Bool
    private let release = Broadcast()
    private let asked = Mutex<[String]>([])

    init(_ query: String, isHeld: Bool = false) {
        self.query = query
        self.isHeld = isHeld
    }

    var addresses: [String] { asked.withLock { $0 } }

    func respond() { release.notify() }

    func token(for address: ResourceAddress) async throws -> AccessToken {
        asked.withLock { $0.append(address.text) }
        if isHeld { await release.wait(after: 0) }
        return AccessToken(.query(query))
    }
}

/// Tests how many tokens a transport has and requests, and what they change.
@Suite(.timeLimit(.minutes(10))) struct TokenReuseTests {
    private func transport(
        _ sources: [(host: String, source: QuerySource)],
        _ base: any Transport = ScriptedTransport(),
        time: any TimeSource = SystemTimeSource()
    ) throws -> TokenTransport {
        var scoped: [ScopedTokenSource] = []
        for (host, source) in sources {
            let scope = try #require(HeaderFieldScope(host))
            scoped.append(ScopedTokenSource(source, for: scope))
        }
        return TokenTransport(base, sources: scoped, time: time) { UnixSeconds(1_000) }
    }

    @Test(arguments: [
        ("https://h/a", "https://h/a?t=2"), ("https://h/a?b=1", "https://h/a?b=1&t=2"),
        ("https://h/a?b=1#c?d", "https://h/a?b=1&t=2#c?d"), ("https://h/a#c", "https://h/a?t=2#c"),
        ("https://h/a#", "https://h/a?t=2#"), ("https://other/a", "https://other/a"),
    ])
    func queryIsAddedBeforeTheFragment(address: String, signed: String) async throws {
        let transport = try transport([("h", QuerySource("t=2"))])
        #expect(try await transport.signed(ResourceAddress(address)).text == signed)
    }

    @Test func firstSourceForAHostIsAsked() async throws {
        let (first, second) = (QuerySource("t=1"), QuerySource("t=2"))
        let transport = try transport([("h", first), ("*", second)])
        #expect(try await transport.signed(ResourceAddress("https://h/a")).text == "https://h/a?t=1")
        #expect(try await transport.signed(ResourceAddress("https://i/a")).text == "https://i/a?t=2")
        #expect(first.addresses == ["https://h/a"] && second.addresses == ["https://i/a"])
    }

    @Test func tokensOfTheLast256URLsAreUsedAgain() async throws {
        let source = QuerySource("t=1")
        let transport = try transport([("h", source)])
        func ask(_ number: Int) async throws -> Int {
            _ = try await transport.signed(ResourceAddress("https://h/\(number)"))
            return source.addresses.count
        }
        for number in 0..<256 { #expect(try await ask(number) == number + 1) }
        #expect(try await ask(0) == 256)
        #expect(try await ask(256) == 257)
        #expect(try await ask(1) == 257)
        #expect(try await ask(0) == 258, "the first one was removed")
    }

    @Test func sourceIsAskedForFourFoldersAtOnce() async throws {
        let time = Simulation()
        let source = QuerySource("t=1", isHeld: true)
        let transport = try transport([("h", source)], time: time)
        try await time.run {
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<6 {
                    for name in ["a", "b"] {
                        let address = ResourceAddress("https://h/\(number)/\(name)")
                        group.addTask { try await transport.signed(address).text }
                    }
                }
                // Time passes when all of them wait.
                try await time.sleep(for: .seconds(1))
                #expect(source.addresses.count == 4)
                source.respond()
                for try await text in group { #expect(text.hasSuffix("?t=1")) }
            }
        }
        #expect(Set(source.addresses).count == 12 && source.addresses.count == 12)
    }

    private static func failure(_ address: String) -> ScriptedTransport.Response {
        .failure(TransportError(.cannotConnect, "no", address: ResourceAddress(address)))
    }

    @Test func urlOfTheRequestReplacesTheSignedOneOnly() async throws {
        let script = ScriptedTransport([
            "https://h/a?t=1": [.text("media")],
            "https://h/b?t=1": [.redirected(to: ResourceAddress("https://cdn/b"), [1])],
            "https://h/c?t=1": [Self.failure("https://cdn/c")], "https://h/d?t=1": [Self.failure("https://h/d?t=1")],
        ])
        let transport = try transport([("h", QuerySource("t=1"))], script)
        func request(_ name: String) -> TransportRequest {
            TransportRequest(ResourceAddress("https://h/\(name)"), kind: .segment)
        }
        #expect(try await transport.send(request("a")).address.text == "https://h/a")
        #expect(try await transport.send(request("b")).address.text == "https://cdn/b")
        for (name, address) in [("c", "https://cdn/c"), ("d", "https://h/d")] {
            let error = await #expect(throws: TransportError.self) { try await transport.send(request(name)) }
            #expect(error?.address?.text == address)
        }
    }
}
