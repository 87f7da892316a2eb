import MediaTiming
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MediaTransport

/// Tests of the URLs of responses after redirects that keep the token of the request.
@Suite struct TokenRedirectTests {
    private struct Source: AccessTokenSource {
        let token: AccessToken

        func token(for address: ResourceAddress) async throws -> AccessToken { token }
    }

    /// A transport that returns redirects instead of following them.
    private final class Redirecting: Transport {
        private let locations: [String: String]
        private let asked = Mutex<[String]>([])

        init(_ locations: [String: String]) { self.locations = locations }

        var addresses: [String] { asked.withLock { $0 } }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            asked.withLock { $0.append(request.address.text) }
            let location = locations[request.address.text]
            return TransportResponse(
                status: location == nil ? 200 : 302,
                headers: location.map { [HeaderField("location", $0), HeaderField("X-Other", "1")] } ?? [],
                address: request.address,
                expectedLength: 1,
                body: TransportBody([0x78] as [UInt8])
            )
        }
    }

    private func transport(_ base: any Transport, _ signature: AccessToken.Signature) throws -> TokenTransport {
        let scope = try #require(HeaderFieldScope("h"))
        let source = ScopedTokenSource(Source(token: AccessToken(signature)), for: scope)
        return TokenTransport(base, sources: [source]) { UnixSeconds(1_000) }
    }

    private func address(
        of address: String,
        query: String,
        signed: String,
        redirectedTo target: String
    ) async throws -> ResourceAddress {
        let script = ScriptedTransport([signed: [.redirected(to: ResourceAddress(target), [0x78])]])
        let request = TransportRequest(ResourceAddress(address), kind: .playlist)
        return try await transport(script, .query(query)).send(request).address
    }

    @Test(arguments: [
        ("https://h/m?token=S", "https://h/m"), ("https://h/m?a=1&token=S&b=2", "https://h/m?a=1&b=2"),
        ("https://h/m?token=S&a=1&token=S", "https://h/m?a=1"), ("https://h/m?token=S#x?y", "https://h/m#x?y"),
        ("https://h/m?a=1&token=S#x", "https://h/m?a=1#x"), ("https://h/m?token=%53&a", "https://h/m?a"),
        ("https://h/m?token=other", "https://h/m?token=other"), ("https://h/m?tokens=S", "https://h/m?tokens=S"),
        ("https://h/m?&a=1&&b=2", "https://h/m?&a=1&&b=2"), ("https://h/m#token=S", "https://h/m#token=S"),
        ("https://i/m?token=S&b=2", "https://i/m?b=2"), ("https://h/m", "https://h/m"),
    ])
    func tokenIsRemovedAfterARedirect(target: String, expected: String) async throws {
        let result = try await address(
            of: "https://h/l",
            query: "token=S",
            signed: "https://h/l?token=S",
            redirectedTo: target
        )
        #expect(result.text == expected)
    }

    @Test func relativeAddressesResolveWithoutTheToken() async throws {
        let result = try await address(
            of: "https://h/l",
            query: "token=S&expires=9",
            signed: "https://h/l?token=S&expires=9",
            redirectedTo: "https://h/m.m3u8?expires=9&token=S"
        )
        #expect(result.resolving("#k").text == "https://h/m.m3u8#k")
        #expect(result.resolving("?seg=1").text == "https://h/m.m3u8?seg=1")
    }

    @Test func parametersOfTheRequestStay() async throws {
        let result = try await address(
            of: "https://h/l?v=1&a=2",
            query: "token=S&v=1",
            signed: "https://h/l?v=1&a=2&token=S&v=1",
            redirectedTo: "https://h/m?v=1&a=2&token=S&v=1"
        )
        #expect(result.text == "https://h/m?v=1&a=2&v=1")
    }

    @Test func parametersOfASignedURLAreRemoved() async throws {
        let script = ScriptedTransport([
            "https://cdn/x?s=3": [.redirected(to: ResourceAddress("https://cdn/y?s=3&q=1"), [0x78])]
        ])
        let transport = try transport(script, .url(ResourceAddress("https://cdn/x?s=3")))
        let response = try await transport.send(TransportRequest(ResourceAddress("https://h/l"), kind: .segment))
        #expect(response.address.text == "https://cdn/y?q=1")
    }

    @Test func errorsAfterARedirectHaveNoToken() async throws {
        let missing = TransportError(.status, "no", address: ResourceAddress("https://h/m?token=S&a=1"), status: 404)
        let script = ScriptedTransport(["https://h/l?token=S": [.failure(missing)]])
        let transport = try transport(script, .query("token=S"))
        let error = await #expect(throws: TransportError.self) {
            _ = try await transport.send(TransportRequest(ResourceAddress("https://h/l"), kind: .segment))
        }
        #expect(error?.address?.text == "https://h/m?a=1" && error?.status == 404)
    }

    /// No token is requested for the other host, so that the URL of the redirect is needed for the next part of a file.
    @Test func otherHostsReceiveTheURLOfTheRedirectAgain() async throws {
        let script = ScriptedTransport([
            "https://h/f.mp4?token=S": [.redirected(to: ResourceAddress("https://cdn/f.mp4?token=S"), [0x78])],
            "https://cdn/f.mp4?token=S": [.text("media")], "https://cdn/g.mp4": [.text("media")],
        ])
        let transport = try transport(script, .query("token=S"))
        let first = try await transport.send(TransportRequest(ResourceAddress("https://h/f.mp4"), kind: .segment))
        #expect(first.address.text == "https://cdn/f.mp4")
        let second = try await transport.send(TransportRequest(first.address, kind: .segment))
        #expect(second.address.text == "https://cdn/f.mp4")
        _ = try await transport.send(TransportRequest(ResourceAddress("https://cdn/g.mp4"), kind: .segment))
        #expect(
            script.requestedAddresses == [
                "https://h/f.mp4?token=S", "https://cdn/f.mp4?token=S", "https://cdn/g.mp4",
            ]
        )
    }

    /// A blocking reload has other directives than the request that was redirected.
    @Test func reloadsAtOtherHostsHaveTheirDirectivesAndTheToken() async throws {
        let script = ScriptedTransport([
            "https://h/live.m3u8?token=S": [
                .redirected(to: ResourceAddress("https://cdn/live.m3u8?a=1&token=S"), [0x78])
            ],
            "https://cdn/live.m3u8?a=1&token=S&_HLS_msn=7&_HLS_part=1": [.text("#EXTM3U")],
        ])
        let transport = try transport(script, .query("token=S"))
        let first = try await transport.send(TransportRequest(ResourceAddress("https://h/live.m3u8"), kind: .playlist))
        #expect(first.address.text == "https://cdn/live.m3u8?a=1")
        let reload = ResourceAddress("https://cdn/live.m3u8?a=1&_HLS_msn=7&_HLS_part=1")
        let second = try await transport.send(TransportRequest(reload, kind: .playlist))
        #expect(second.address == reload)
    }

    /// Many redirected segments do not remove the redirect of a playlist that is reloaded.
    @Test func redirectsThatAreUsedAreKept() {
        var redirects = TokenRedirects()
        let playlist = ResourceAddress("https://cdn/live.m3u8")
        redirects.store(ResourceAddress("https://cdn/live.m3u8?token=S"), for: playlist)
        for number in 0..<(2 * TokenRedirects.maximumCount) {
            let segment = "https://cdn/\(number).ts"
            redirects.store(ResourceAddress(segment + "?token=S"), for: ResourceAddress(segment))
            #expect(redirects.target(of: playlist)?.text == "https://cdn/live.m3u8?token=S")
        }
        #expect(redirects.target(of: ResourceAddress("https://cdn/0.ts")) == nil)
    }

    @Test func redirectsThatTheClientFollowsHaveNoToken() async throws {
        let base = Redirecting(["https://h/l?token=S": "/m?a=1&token=S"])
        let loader = ResourceLoader(try transport(base, .query("token=S")), policy: RecoveryPolicy(retries: 0))
        let loaded = try await loader.load(TransportRequest(ResourceAddress("https://h/l"), kind: .playlist))
        #expect(loaded.address.text == "https://h/m?a=1")
        #expect(base.addresses == ["https://h/l?token=S", "https://h/m?a=1&token=S"])
    }

    // MARK: Signatures of applications

    @Test(arguments: [
        ("https://h/l?sig=S", "https://h/l"), ("https://h/m?a=1&sig=S", "https://h/m?a=1"),
        // No signature is known for other hosts.
        ("https://cdn/m?sig=S", "https://cdn/m?sig=S"),
    ])
    func signatureOfAnApplicationIsRemoved(target: String, expected: String) async throws {
        let script = ScriptedTransport([
            "https://h/l?sig=S": [.redirected(to: ResourceAddress(target), [0x78])]
        ])
        let authorization = RequestAuthorization(
            trustedAddresses: [],
            sign: { request in
                var request = request
                request.address = ResourceAddress(request.address.text + "?sig=S")
                return request
            }
        )
        let transport = AuthorizedTransport(script, authorization: authorization)
        let response = try await transport.send(TransportRequest(ResourceAddress("https://h/l"), kind: .playlist))
        #expect(response.address.text == expected)
    }

    @Test func urlThatAnApplicationReplacedStays() async throws {
        let script = ScriptedTransport(["https://cdn/l?sig=S": [.text("media")]])
        let authorization = RequestAuthorization(
            trustedAddresses: [],
            sign: { request in
                var request = request
                request.address = ResourceAddress("https://cdn/l?sig=S")
                return request
            }
        )
        let transport = AuthorizedTransport(script, authorization: authorization)
        let response = try await transport.send(TransportRequest(ResourceAddress("https://h/l"), kind: .playlist))
        #expect(response.address.text == "https://cdn/l?sig=S")
    }
}
