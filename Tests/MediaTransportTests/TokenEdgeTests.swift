import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MediaTransport

/// Tests the limits of tokens: their numbers, times and texts.
@Suite(.timeLimit(.minutes(10))) struct TokenEdgeTests {
    private static let address = ResourceAddress("https://h/film/a.ts")

    /// A clock in whole seconds that a test sets.
    private final class Seconds: Sendable {
        private let value = Mutex<Int64>(1_000)

        var now: UnixSeconds { UnixSeconds(value.withLock { $0 }) }

        func set(_ second: Int64) { value.withLock { $0 = second } }
    }

    /// A source that calls a closure with the number of the call, from 1 on.
    private final class Source: AccessTokenSource {
        private let calls = Mutex(0)
        private let answer: @Sendable (Int) throws -> AccessToken

        init(_ answer: @escaping @Sendable (Int) throws -> AccessToken) { self.answer = answer }

        var callCount: Int { calls.withLock { $0 } }

        func token(for address: ResourceAddress) async throws -> AccessToken {
            let number = calls.withLock { calls in
                calls += 1
                return calls
            }
            return try answer(number)
        }
    }

    /// A source that has no token.
    private static func failingSource() -> Source {
        Source { _ in throw TransportError(.tokenUnavailable, "no") }
    }

    private func transport(
        _ base: any Transport,
        _ source: Source,
        _ seconds: Seconds = Seconds()
    ) throws -> TokenTransport {
        let scope = try #require(HeaderFieldScope("h"))
        return TokenTransport(base, sources: [ScopedTokenSource(source, for: scope)]) { seconds.now }
    }

    // MARK: Times

    /// A transport that sets a clock and refuses all requests.
    private struct Refusing: Transport {
        let seconds: Seconds
        let end: Int64

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            seconds.set(end)
            throw TransportError(.status, "no", address: request.address, status: 403)
        }
    }

    @Test(arguments: [(1_000, 1), (1_001, 1), (1_002, 2)] as [(Int64, Int)])
    func refusedTokenIsReplacedAfterASecond(end: Int64, callCount: Int) async throws {
        let seconds = Seconds()
        let source = Source { AccessToken(.query("t=\($0)")) }
        let transport = try transport(Refusing(seconds: seconds, end: end), source, seconds)
        let error = await #expect(throws: TransportError.self) {
            try await transport.send(TransportRequest(Self.address, kind: .segment))
        }
        #expect(error?.status == 403 && source.callCount == callCount)
    }

    // MARK: Failures

    /// A source that returns only when it is canceled.
    private struct SilentSource: AccessTokenSource {
        let time: Simulation

        func token(for address: ResourceAddress) async throws -> AccessToken {
            try await time.sleep(for: .seconds(86_400))
            return AccessToken(nil)
        }
    }

    @Test func sourceThatDoesNotReturnTimesOutAfterAMinute() async throws {
        let time = Simulation()
        let scope = try #require(HeaderFieldScope("h"))
        let sources = [ScopedTokenSource(SilentSource(time: time), for: scope)]
        let transport = TokenTransport(ScriptedTransport(time: time), sources: sources, time: time) {
            UnixSeconds(1_000)
        }
        try await time.run {
            let error = await #expect(throws: TransportError.self) { try await transport.signed(Self.address) }
            #expect(error?.code == .timedOut && error?.address == Self.address)
            #expect(error?.message == "the application has not supplied a token within 60.0 seconds")
            #expect(time.now == .seconds(60))
        }
    }

    @Test func failuresOf256FoldersAreKept() async throws {
        let source = Self.failingSource()
        let transport = try transport(ScriptedTransport(), source)
        func callCount(afterAskingFor folder: Int) async -> Int {
            _ = try? await transport.signed(ResourceAddress("https://h/\(folder)/a"))
            return source.callCount
        }
        for number in 1...256 {
            let count = await callCount(afterAskingFor: number)
            #expect(count == number)
        }
        let known = await callCount(afterAskingFor: 1)
        #expect(known == 256)
        // One more failure removes all others.
        let last = await callCount(afterAskingFor: 257)
        let forgotten = await callCount(afterAskingFor: 1)
        #expect(last == 257 && forgotten == 258)
    }

    @Test(arguments: [
        ("https://h/film/b.ts", 1), ("https://h/film/b.ts?x=/y/z", 1), ("https://h/film/b.ts#/y", 1),
        ("https://h/films/b.ts", 2), ("https://h/b.ts", 2),
    ])
    func failureIsThatOfTheFolder(other: String, callCount: Int) async throws {
        let source = Self.failingSource()
        let transport = try transport(ScriptedTransport(), source)
        for address in [Self.address, ResourceAddress(other)] {
            let error = await #expect(throws: TransportError.self) { try await transport.signed(address) }
            #expect(error?.code == .tokenUnavailable)
        }
        #expect(source.callCount == callCount)
    }

    @Test func canceledRequestForATokenIsNoFailure() async throws {
        let source = Source { number in
            if number == 1 { throw CancellationError() }
            return AccessToken(.query("t=\(number)"))
        }
        let transport = try transport(ScriptedTransport(), source)
        await #expect(throws: CancellationError.self) { try await transport.signed(Self.address) }
        let signed = try await transport.signed(Self.address)
        #expect(signed.text == "https://h/film/a.ts?t=2")
    }

    // MARK: Redirects

    @Test func redirectThatWasUsedLeastRecentlyIsRemovedAbove256() {
        var redirects = TokenRedirects()
        func address(_ number: Int) -> ResourceAddress { ResourceAddress("https://cdn/\(number)") }
        func target(_ number: Int) -> ResourceAddress { ResourceAddress("https://cdn/\(number)?token=S") }
        for number in 0..<256 { redirects.store(target(number), for: address(number)) }
        let first = redirects.target(of: address(0))
        #expect(first == target(0))
        // The first one was used now, so that the second one is removed.
        redirects.store(target(256), for: address(256))
        let kept = redirects.target(of: address(0))
        let removed = redirects.target(of: address(1))
        let next = redirects.target(of: address(2))
        #expect(kept == target(0) && removed == nil && next == target(2))
    }

    /// A transport whose responses have a status and the header field `Location`.
    private struct Locating: Transport {
        let status: Int
        let location: String

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            TransportResponse(
                status: status,
                headers: [HeaderField("location", location), HeaderField("X-Other", "1")],
                address: request.address,
                expectedLength: 1,
                body: TransportBody([0x78] as [UInt8])
            )
        }
    }

    @Test(
        arguments: [
            (200, "/m?a=1&token=S", nil), (299, "/m?a=1&token=S", nil), (300, "/m?a=1&token=S", "https://h/m?a=1"),
            (302, "/m?a=1&token=S", "https://h/m?a=1"), (399, "/m?a=1&token=S", "https://h/m?a=1"),
            (400, "/m?a=1&token=S", nil), (302, "/m?a=1", nil),
        ] as [(Int, String, String?)]
    )
    func onlyRedirectsAreReturnedWithoutTheirToken(status: Int, location: String, changed: String?) async throws {
        let source = Source { _ in AccessToken(.query("token=S")) }
        let transport = try transport(Locating(status: status, location: location), source)
        let response = try await transport.send(TransportRequest(Self.address, kind: .playlist))
        #expect(response.header("Location") == changed ?? location && response.header("X-Other") == "1")
        #expect(response.headers.count == 2 && response.status == status && response.expectedLength == 1)
        #expect(response.address == Self.address)
    }

    // MARK: Texts

    @Test(
        arguments: [
            ("t=!~", "t=!~"), (#"{"query":"a!"}"#, "a!"), (#"{"query":"?b"}"#, "b"), (#"{"query":""}"#, nil),
            ("{}", nil),
        ] as [(String, String?)]
    )
    func queryIsReadFromAResponse(text: String, query: String?) throws {
        let token = try AccessToken(response: Array(text.utf8), for: Self.address)
        #expect(token.signature == query.map { AccessToken.Signature.query($0) })
    }

    @Test(arguments: [
        "t=\u{7F}", #"{"query":"a\u007f"}"#, #"{"url":"https://h/a b"}"#, #"{"headers":{"A:B":"x"}}"#,
        "t=1#a", #"{"query":"t=1#a"}"#, "t=1#\u{301}a", "{\"query\":\"t=1#\u{301}a\"}",
    ])
    func otherCharactersAreRefused(text: String) {
        let error = #expect(throws: TransportError.self) {
            try AccessToken(response: Array(text.utf8), for: Self.address)
        }
        #expect(error?.code == .tokenUnavailable && error?.address == Self.address)
    }

    @Test func fragmentMayContainNumberSigns() {
        let signed = AccessToken(.query("t=1")).signed(ResourceAddress("https://h/a#b#c"))
        #expect(signed.text == "https://h/a?t=1#b#c")
    }

    @Test func unusableResponseOfAServerIsReportedAsItIs() async throws {
        let script = ScriptedTransport(texts: ["https://t/sign?url=https%3A%2F%2Fh%2Ffilm%2Fa.ts": "a b"])
        let loader = ResourceLoader(script, policy: RecoveryPolicy(retries: 0))
        let source = ServerTokenSource(ResourceAddress("https://t/sign"), loader: loader)
        let error = await #expect(throws: TransportError.self) { try await source.token(for: Self.address) }
        #expect(error?.message == "the response with the token is neither one line nor a JSON object")
        #expect(error?.cause == nil)
    }
}
