import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

/// Tests of tokens for requests.
@Suite(.timeLimit(.minutes(10))) struct TokenTransportTests {
    private static let address = ResourceAddress("https://h/film/a.ts")

    /// A source that answers with predefined texts, the last one repeatedly.
    private final class Source: AccessTokenSource {
        private let responses: [String]
        private let asked = Mutex<[String]>([])

        init(_ responses: String...) { self.responses = responses }

        var addresses: [String] { asked.withLock { $0 } }

        func token(for address: ResourceAddress) async throws -> AccessToken {
            let index = asked.withLock { asked in
                asked.append(address.text)
                return asked.count - 1
            }
            await Task.yield()
            return try AccessToken(response: Array(responses[min(index, responses.count - 1)].utf8), for: address)
        }
    }

    private func transport(
        _ base: any Transport,
        _ source: any AccessTokenSource,
        host: String = "h",
        now: @escaping @Sendable () -> UnixSeconds = { UnixSeconds(1_000) }
    ) throws -> TokenTransport {
        TokenTransport(base, sources: [ScopedTokenSource(source, for: try #require(HeaderFieldScope(host)))], now: now)
    }

    private func send(
        _ transport: any Transport,
        _ address: ResourceAddress = address
    ) async throws -> TransportResponse {
        try await transport.send(TransportRequest(address, kind: .segment))
    }

    @Test(arguments: [
        ("token=1", "https://h/film/a.ts?token=1"), ("?token=1\n", "https://h/film/a.ts?token=1"),
        (#"{"query":"t=1&u=2"}"#, "https://h/film/a.ts?t=1&u=2"), ("https://cdn/x?s=3\n", "https://cdn/x?s=3"),
        (#"{"url":"/b?s=4","headers":{"X-Key":"5"}}"#, "https://h/b?s=4"),
        (#"{"headers":{"X-Key":"5"}}"#, "https://h/film/a.ts"),
    ])
    func responsesChangeTheRequest(text: String, expected: String) async throws {
        let script = ScriptedTransport([expected: [.text("media")]])
        let response = try await send(try transport(script, Source(text)))
        #expect(script.requestedAddresses == [expected] && response.address == Self.address)
        let fields = script.requests.first?.allHeaders ?? []
        #expect(fields == (text.contains("X-Key") ? [HeaderField("X-Key", "5")] : []))
    }

    @Test func queryIsAddedToAnExistingOneBeforeTheFragment() throws {
        let script = ScriptedTransport()
        let address = ResourceAddress("https://h/a?b=1#c")
        let token = try AccessToken(response: Array("t=2".utf8), for: address)
        #expect(token.signature == .query("t=2") && script.requests.isEmpty)
    }

    @Test func headerFieldsOfATokenAreSorted() throws {
        let text = #"{"headers":{"X-D":"4","X-B":"2","X-A":"1","X-C":"3","X-E":"5"}}"#
        let token = try AccessToken(response: Array(text.utf8), for: Self.address)
        #expect(token.headers.map(\.name) == ["X-A", "X-B", "X-C", "X-D", "X-E"])
        #expect(token.headers.map(\.value) == ["1", "2", "3", "4", "5"])
        #expect(token.signature == nil && token.prefix == nil && token.expiry == nil)
    }

    @Test func tokenForOneURLHasNoPrefix() throws {
        let shared = try AccessToken(response: Array(#"{"query":"?t=1","prefix":"."}"#.utf8), for: Self.address)
        #expect(shared.signature == .query("t=1") && shared.prefix == "https://h/film/")
        let signed = try AccessToken(
            response: Array(#"{"url":"b?s=1","prefix":".","expires":1e300}"#.utf8),
            for: Self.address
        )
        #expect(signed.signature == .url(ResourceAddress("https://h/film/b?s=1")) && signed.prefix == nil)
        #expect(signed.expiry == UnixSeconds(.max))
    }

    @Test(arguments: [
        "", " \n", "{", #"{"url":5}"#, #"{"url":"ftp://a"}"#, #"{"query":"a b"}"#, #"{"query":"a#b"}"#, "a b", "a\nb",
        #"{"headers":{"Bad Name":"x"}}"#, #"{"headers":{"A":"x\r\nB: y"}}"#, "[1]x y",
    ])
    func invalidResponsesAreReported(text: String) {
        let error = #expect(throws: TransportError.self) {
            try AccessToken(response: Array(text.utf8), for: Self.address)
        }
        #expect(error?.code == .tokenUnavailable)
    }

    @Test func otherHostsReceiveNoToken() async throws {
        let script = ScriptedTransport(texts: ["https://other/a": "x", "http://h/a": "x"])
        let source = Source("t=1")
        let transport = try transport(script, source)
        _ = try await send(transport, ResourceAddress("https://other/a"))
        // Tokens are not sent unencrypted.
        _ = try await send(transport, ResourceAddress("http://h/a"))
        #expect(source.addresses.isEmpty && script.requestedAddresses == ["https://other/a", "http://h/a"])
    }

    @Test func tokensWithAPrefixAreShared() async throws {
        let source = Source(#"{"query":"t=1","prefix":"https://h/film/","expires":2000}"#)
        let script = ScriptedTransport(
            texts: ["https://h/film/a.ts?t=1": "a", "https://h/film/b.ts?t=1": "b", "https://h/other?t=1": "c"]
        )
        let transport = try transport(script, source)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in ["a.ts", "b.ts", "a.ts"] {
                group.addTask { _ = try await send(transport, ResourceAddress("https://h/film/\(name)")) }
            }
            try await group.waitForAll()
        }
        #expect(source.addresses.count == 1)
        _ = try await send(transport, ResourceAddress("https://h/other"))
        #expect(source.addresses.last == "https://h/other" && source.addresses.count == 2)
    }

    @Test func tokensAreRenewedBeforeTheyExpire() async throws {
        let source = Source(#"{"query":"t=1","expires":1100}"#, #"{"query":"t=2"}"#, #"{"query":"t=3"}"#)
        let script = ScriptedTransport(
            texts: ["https://h/film/a.ts?t=1": "1", "https://h/film/a.ts?t=2": "2", "https://h/film/a.ts?t=3": "3"]
        )
        let time = Mutex<Int64>(1_000)
        let transport = try transport(script, source, now: { UnixSeconds(time.withLock { $0 }) })
        for second in [1_000, 1_090, 1_091, 1_151, 1_152] as [Int64] {
            time.withLock { $0 = second }
            _ = try await send(transport)
        }
        let suffixes = script.requestedAddresses.compactMap(\.last)
        #expect(String(suffixes) == "11223")
    }

    @Test(arguments: [(401, true), (403, true), (410, true), (404, false), (500, false)])
    func refusedTokensAreRenewedOnce(status: Int, isRenewed: Bool) async throws {
        let refusal = TransportError(.status, "no", address: ResourceAddress("https://h/film/a.ts?t=1"), status: status)
        let script = ScriptedTransport([
            "https://h/film/a.ts?t=1": [.failure(refusal)], "https://h/film/a.ts?t=2": [.text("media")],
        ])
        let source = Source("t=1", "t=2")
        let transport = try transport(script, source, now: Self.advancingTime())
        if isRenewed {
            #expect(try await send(transport).status == 200)
        } else {
            let error = await #expect(throws: TransportError.self) { _ = try await send(transport) }
            // The error does not reveal the token.
            #expect(error?.status == status && error?.address == Self.address)
        }
        #expect(source.addresses.count == (isRenewed ? 2 : 1))
    }

    @Test func sameTokenIsNotSentTwice() async throws {
        let refusal = TransportError(.status, "no", address: nil, status: 403)
        let script = ScriptedTransport(["https://h/film/a.ts?t=1": [.failure(refusal)]])
        let transport = try transport(script, Source("t=1"), now: Self.advancingTime())
        let error = await #expect(throws: TransportError.self) { _ = try await send(transport) }
        #expect(error?.status == 403 && script.requests.count == 1)
    }

    /// Returns a clock that advances by two seconds at each call.
    private static func advancingTime() -> @Sendable () -> UnixSeconds {
        let time = Mutex<Int64>(1_000)
        return {
            time.withLock { time in
                time += 2
                return UnixSeconds(time)
            }
        }
    }

    @Test func newTokenIsNotReplacedAtOnce() async throws {
        let refusal = TransportError(.status, "no", address: nil, status: 403)
        let script = ScriptedTransport(["https://h/film/a.ts?t=1": [.failure(refusal)]])
        let source = Source("t=1", "t=2")
        let transport = try transport(script, source)
        let error = await #expect(throws: TransportError.self) { _ = try await send(transport) }
        #expect(error?.status == 403 && source.addresses.count == 1 && script.requests.count == 1)
    }

    @Test func failureIsTheResponseToOthersForAMoment() async throws {
        struct Failing: AccessTokenSource {
            let count = Counter()

            func token(for address: ResourceAddress) async throws -> AccessToken {
                count.value.withLock { $0 += 1 }
                throw TransportError(.tokenUnavailable, "no", address: address)
            }
        }
        final class Counter: Sendable { let value = Mutex(0) }
        let source = Failing()
        let time = Mutex<Int64>(1_000)
        let transport = try transport(ScriptedTransport(), source, now: { UnixSeconds(time.withLock { $0 }) })
        for second in [1_000, 1_001, 1_002] as [Int64] {
            time.withLock { $0 = second }
            for name in ["a.ts", "b.ts"] {
                await #expect(throws: TransportError.self) {
                    _ = try await send(transport, ResourceAddress("https://h/film/\(name)"))
                }
            }
        }
        #expect(source.count.value.withLock { $0 } == 2)
    }

    @Test func serversAreAskedWithTheURL() async throws {
        let script = ScriptedTransport(texts: [
            "https://t/sign?key=1&url=https%3A%2F%2Fh%2Ffilm%2Fa.ts": #"{"query":"t=1"}"#,
            "https://h/film/a.ts?t=1": "media",
        ])
        let loader = ResourceLoader(script, policy: RecoveryPolicy(retries: 0))
        let source = ServerTokenSource(ResourceAddress("https://t/sign?key=1"), loader: loader)
        #expect(try await send(try transport(script, source)).status == 200)
        let missing = ServerTokenSource(ResourceAddress("https://t/other"), loader: loader)
        let error = await #expect(throws: TransportError.self) {
            _ = try await send(try transport(script, missing))
        }
        #expect(error?.code == .tokenUnavailable && error?.address == Self.address)
    }

    #if os(Linux) || os(macOS)
    @Test func programsAreStartedWithTheURL() async throws {
        let token = try await ProgramTokenSource(["printf", "%s?t=1"]).token(for: Self.address)
        #expect(token.signature == .url(ResourceAddress("https://h/film/a.ts?t=1")))
    }

    @Test(arguments: [
        ["false"], ["millstream-missing-program"], ["true"], ["cat", "/dev/zero"], ["sh", "-c", "kill -9 $$"],
    ])
    func programsThatFailAreReported(command: [String]) async throws {
        let error = await #expect(throws: TransportError.self) {
            _ = try await ProgramTokenSource(command).token(for: Self.address)
        }
        #expect(error?.code == .tokenUnavailable)
    }

    @Test(arguments: [(65_536, true), (65_537, false)])
    func programsWriteUpTo64KiB(count: Int, isAccepted: Bool) async throws {
        let command = "head -c \(count) /dev/zero | tr '\\0' a"
        let source = ProgramTokenSource(["sh", "-c", command], timeLimit: .seconds(1_000))
        if isAccepted {
            let token = try await source.token(for: Self.address)
            #expect(token.signature == .query(String(repeating: "a", count: count)))
        } else {
            let error = await #expect(throws: TransportError.self) { _ = try await source.token(for: Self.address) }
            #expect(error?.message.hasSuffix("writes more than 64 KiB") == true)
        }
    }

    @Test func programsThatDoNotEndAreEnded() async throws {
        let source = ProgramTokenSource(["sh", "-c", "exec sleep 1000"], timeLimit: .milliseconds(200))
        let error = await #expect(throws: TransportError.self) { _ = try await source.token(for: Self.address) }
        #expect(error?.code == .tokenUnavailable)
        // A program that it has started keeps the output open.
        let leaving = ProgramTokenSource(["sh", "-c", "sleep 1000 & echo t=1"], timeLimit: .seconds(1_000))
        #expect(try await leaving.token(for: Self.address).signature == .query("t=1"))
        let waiting = ProgramTokenSource(["sh", "-c", "sleep 1000; echo t=1"], timeLimit: .milliseconds(200))
        await #expect(throws: TransportError.self) { _ = try await waiting.token(for: Self.address) }
        let talking = ProgramTokenSource(
            ["sh", "-c", "while echo; do sleep 0.01; done"],
            timeLimit: .milliseconds(200)
        )
        await #expect(throws: TransportError.self) { _ = try await talking.token(for: Self.address) }
        let patient = ProgramTokenSource(["sh", "-c", "exec sleep 1000"], timeLimit: .seconds(1_000))
        let task = Task { try await patient.token(for: Self.address) }
        try await Task.sleep(for: .milliseconds(100))
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
    }
    #endif
}
