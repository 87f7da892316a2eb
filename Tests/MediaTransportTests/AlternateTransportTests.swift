import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

/// A clock that is set by hand.
private final class SetTime: TimeSource {
    private let time = Mutex(Duration.zero)

    var now: Duration { time.withLock { $0 } }

    func advance(by duration: Duration) { time.withLock { $0 += duration } }

    func sleep(for duration: Duration) async throws {}
}

/// A transport whose responses have a body with an announced length, and an error after it.
private struct BodyTransport: Transport {
    private let body: TransportBody
    private let announced: Int64?

    init(_ bytes: [UInt8], announced: Int64?, failure: (any Error)? = nil) {
        self.announced = announced
        body = TransportBody(
            AsyncThrowingStream<ByteBuffer, any Error> { continuation in
                continuation.yield(ByteBuffer(bytes: bytes))
                continuation.finish(throwing: failure)
            }
        )
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        TransportResponse(to: request, expectedLength: announced, body: body)
    }
}

/// Tests of origins that replace others that fail.
@Suite(.timeLimit(.minutes(10))) struct AlternateTransportTests {
    private static let main = ResourceAddress("https://a/live/main.m3u8")
    private static let groups = [
        [main, ResourceAddress("https://b/copy/main.m3u8?x=1"), ResourceAddress("https://c/live/")]
    ]

    private static func failure(_ code: TransportError.Code, status: Int? = nil) -> ScriptedTransport.Response {
        .failure(TransportError(code, "no", status: status))
    }

    private func send(
        _ transport: AlternateTransport,
        _ address: String,
        headers: [HeaderField] = []
    ) async throws -> TransportResponse {
        try await transport.send(TransportRequest(ResourceAddress(address), kind: .playlist, headers: headers))
    }

    @Test(arguments: [
        Self.failure(.cannotConnect), Self.failure(.timedOut), Self.failure(.status, status: 503),
        Self.failure(.status, status: 404),
    ])
    func failedRequestsAreSentToTheNextOrigin(response: ScriptedTransport.Response) async throws {
        let script = ScriptedTransport([
            "https://a/live/v/1.m3u8?q=1": [response], "https://b/copy/v/1.m3u8?q=1": [.text("b")],
        ])
        let transport = AlternateTransport(script, groups: Self.groups, time: SetTime())
        let headers = [HeaderField("Authorization", "secret"), HeaderField("Range", "bytes=0-1")]
        let received = try await send(transport, "https://a/live/v/1.m3u8?q=1", headers: headers)
        // Names remain those of the first origin, so that reloads are sent to it again once it responds.
        #expect(received.address.text == "https://a/live/v/1.m3u8?q=1")
        #expect(script.requestedAddresses == ["https://a/live/v/1.m3u8?q=1", "https://b/copy/v/1.m3u8?q=1"])
        #expect(script.requests.last?.headers == [HeaderField("Range", "bytes=0-1")])
    }

    @Test(arguments: [Self.failure(.status, status: 403), Self.failure(.addressRefused), Self.failure(.insecure)])
    func otherFailuresAreReported(response: ScriptedTransport.Response) async throws {
        let script = ScriptedTransport(["https://a/live/x": [response], "https://b/copy/x": [.text("b")]])
        let transport = AlternateTransport(script, groups: Self.groups, time: SetTime())
        await #expect(throws: TransportError.self) { _ = try await send(transport, "https://a/live/x") }
        #expect(script.requests.count == 1)
    }

    @Test func originIsTriedLastForHalfAMinute() async throws {
        let time = SetTime()
        let script = ScriptedTransport([
            "https://a/live/x": [Self.failure(.cannotConnect), .text("a")], "https://b/copy/x": [.text("b")],
        ])
        let transport = AlternateTransport(script, groups: Self.groups, time: time)
        _ = try await send(transport, "https://a/live/x")
        #expect(transport.preferredAddress(for: ResourceAddress("https://a/live/s.ts")).text == "https://b/copy/s.ts")
        time.advance(by: .seconds(29))
        _ = try await send(transport, "https://a/live/x")
        time.advance(by: .seconds(1))
        _ = try await send(transport, "https://a/live/x")
        #expect(script.requestedAddresses.map { $0.dropFirst(8).first } == ["a", "b", "b", "a"])
        #expect(transport.preferredAddress(for: ResourceAddress("https://a/live/s.ts")).text == "https://a/live/s.ts")
    }

    @Test func firstErrorIsReportedIfAllOriginsFail() async throws {
        let script = ScriptedTransport([
            "https://a/live/x": [Self.failure(.status, status: 503)],
            "https://b/copy/x": [Self.failure(.cannotConnect)],
        ])
        let transport = AlternateTransport(script, groups: Self.groups, time: SetTime())
        let error = await #expect(throws: TransportError.self) { _ = try await send(transport, "https://a/live/x") }
        #expect(error?.status == 503 && script.requests.count == 3)
    }

    @Test func otherFoldersAreNotAffected() async throws {
        let script = ScriptedTransport(["https://a/vod/x": [Self.failure(.cannotConnect)]])
        let transport = AlternateTransport(script, groups: Self.groups, time: SetTime())
        await #expect(throws: TransportError.self) { _ = try await send(transport, "https://a/vod/x") }
        #expect(script.requests.count == 1)
        #expect(transport.preferredAddress(for: ResourceAddress("https://a/vod/x")).text == "https://a/vod/x")
    }

    @Test func originWhoseBodyEndsEarlyIsTriedLast() async throws {
        let script = ScriptedTransport([
            "https://a/live/x": [.truncated([1, 2], announced: 4)], "https://b/copy/x": [.text("b")],
        ])
        let loader = ResourceLoader(
            AlternateTransport(script, groups: Self.groups),
            policy: RecoveryPolicy(retries: 1)
        )
        let loaded = try await loader.load(TransportRequest(ResourceAddress("https://a/live/x"), kind: .playlist))
        #expect(loaded.bytes == Array("b".utf8))
    }

    /// The origin of a body that fails in the middle is tried last, and that of a complete one is not.
    @Test(
        arguments: [
            (4, 4, false), (4, 3, false), (4, 5, true), (0, 1, true), (0, 0, false), (4, nil, false),
        ] as [(Int, Int64?, Bool)]
    )
    func lengthOfABodyDecidesOnItsOrigin(count: Int, announced: Int64?, isFailed: Bool) async throws {
        let base = BodyTransport([UInt8](repeating: 1, count: count), announced: announced)
        let transport = AlternateTransport(base, groups: Self.groups, time: SetTime())
        let response = try await send(transport, "https://a/live/x")
        for try await _ in response.body {}
        let next = transport.preferredAddress(for: ResourceAddress("https://a/live/x")).text
        #expect(next == (isFailed ? "https://b/copy/x" : "https://a/live/x"))
    }

    @Test(arguments: [true, false]) func errorOfABodyDecidesOnItsOrigin(isOfTransport: Bool) async throws {
        let failure: any Error = isOfTransport ? TransportError(.connectionLost, "no") : CancellationError()
        let base = BodyTransport([1, 2], announced: nil, failure: failure)
        let transport = AlternateTransport(base, groups: Self.groups, time: SetTime())
        let response = try await send(transport, "https://a/live/x")
        await #expect(throws: (any Error).self) { for try await _ in response.body {} }
        let next = transport.preferredAddress(for: ResourceAddress("https://a/live/x")).text
        #expect(next == (isOfTransport ? "https://b/copy/x" : "https://a/live/x"))
    }

    @Test func originsThatFailedAreTriedInTheOrderOfTheirFailures() async throws {
        let time = SetTime()
        let script = ScriptedTransport([
            "https://a/live/x": [Self.failure(.cannotConnect)],
            "https://b/copy/x": [.text("b"), Self.failure(.cannotConnect)],
            "https://c/live/x": [.text("c"), Self.failure(.cannotConnect)],
        ])
        let transport = AlternateTransport(script, groups: Self.groups, time: time)
        _ = try await send(transport, "https://a/live/x")
        time.advance(by: .seconds(10))
        _ = try await send(transport, "https://a/live/x")
        time.advance(by: .seconds(1))
        await #expect(throws: TransportError.self) { _ = try await send(transport, "https://a/live/x") }
        #expect(script.requestedAddresses.map { $0.dropFirst(8).first } == ["a", "b", "b", "c", "c", "a", "b"])
        time.advance(by: .seconds(30))
        #expect(transport.preferredAddress(for: ResourceAddress("https://c/live/x")).text == "https://a/live/x")
    }

    @Test func missingResourceDoesNotExcludeItsOrigin() async throws {
        let script = ScriptedTransport([
            "https://a/live/x": [Self.failure(.status, status: 404)], "https://b/copy/x": [.text("b")],
        ])
        let transport = AlternateTransport(script, groups: Self.groups, time: SetTime())
        _ = try await send(transport, "https://a/live/x")
        #expect(transport.preferredAddress(for: ResourceAddress("https://a/live/y")).text == "https://a/live/y")
    }

    @Test func originsWithoutAPathAreDistinguished() async throws {
        let script = ScriptedTransport(["https://a/x": [Self.failure(.cannotConnect)], "http://b/x": [.text("b")]])
        let groups = [[ResourceAddress("https://a"), ResourceAddress("http://b")]]
        let transport = AlternateTransport(script, groups: groups, time: SetTime())
        #expect(try await send(transport, "https://a/x").address.text == "https://a/x")
        await #expect(throws: TransportError.self) { _ = try await send(transport, "https://other/x") }
        #expect(script.requestedAddresses == ["https://a/x", "http://b/x", "https://other/x"])
    }

    @Test func temporaryErrorIsReportedRatherThanAMissingResource() async throws {
        let script = ScriptedTransport([
            "https://a/live/x": [Self.failure(.status, status: 404)],
            "https://b/copy/x": [Self.failure(.status, status: 503)],
            "https://c/live/x": [Self.failure(.status, status: 404)],
        ])
        let transport = AlternateTransport(script, groups: Self.groups, time: SetTime())
        let error = await #expect(throws: TransportError.self) { _ = try await send(transport, "https://a/live/x") }
        #expect(error?.status == 503)
    }
}
