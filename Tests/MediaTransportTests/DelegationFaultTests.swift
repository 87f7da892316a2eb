import Dispatch
import MediaTiming
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

@testable import MediaTransport

/// A transport whose bodies have 64 buffers of 64 KiB.
private struct LongTransport: Transport {
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let buffers = AsyncStream<ByteBuffer> { continuation in
            for _ in 0..<64 { continuation.yield(ByteBuffer(repeating: 7, count: 1 << 16)) }
            continuation.finish()
        }
        return TransportResponse(to: request, body: TransportBody(buffers))
    }
}

/// Tests the redirects, renewals and partial responses of a delegate.
@Suite(.timeLimit(.minutes(10))) struct DelegationFaultTests {
    private static let custom = ResourceAddress("custom://h/a")
    private static let request = TransportRequest(custom, kind: .segment)

    private let loader = AssetResourceLoader(originalSchemes: ["custom": "https"])
    private let clock = CacheClock()

    /// Returns a transport that calls a delegate without a queue, which must be retained.
    private func transport(
        _ delegate: ScriptedDelegate,
        _ script: ScriptedTransport = ScriptedTransport()
    ) -> DelegatedTransport {
        loader.setDelegate(callingDirectly: delegate)
        loader.responseTimeLimit = nil
        return DelegatedTransport(script, loader: loader, time: clock)
    }

    private static func failure(_ status: Int) -> ScriptedTransport.Response {
        .failure(TransportError(.status, "no", status: status))
    }

    // MARK: Redirects

    /// A redirect that is refused is renewed once, and used only if its URL is another one that can be loaded.
    @Test(
        arguments: [
            ("https://cdn/old", 403, ["https://cdn/old"]), ("custom://h/other", 403, ["https://cdn/old"]),
            ("https://cdn/gone", 410, ["https://cdn/old", "https://cdn/gone"]),
        ] as [(String, Int, [String])]
    )
    func renewedRedirectIsRequestedOnce(renewed: String, status: Int, requested: [String]) async throws {
        let delegate = ScriptedDelegate { request in
            request.redirect(to: ResourceAddress(request.isRenewal ? renewed : "https://cdn/old"))
            return true
        }
        let script = ScriptedTransport([
            "https://cdn/old": [Self.failure(403)], "https://cdn/gone": [Self.failure(410)],
        ])
        let transport = transport(delegate, script)
        let error = await #expect(throws: TransportError.self) { _ = try await transport.send(Self.request) }
        #expect(error?.status == status && script.requestedAddresses == requested)
        #expect(delegate.asked.count == 1 && delegate.renewals.withLock { $0.count } == 1)
    }

    @Test func refusedRedirectOfARenewalIsNotRenewedAgain() async throws {
        let delegate = ScriptedDelegate { request in
            request.contentInformationRequest.renewalDelay = .seconds(5)
            request.redirect(to: ResourceAddress(request.isRenewal ? "https://cdn/new" : "https://cdn/old"))
            return true
        }
        let script = ScriptedTransport(["https://cdn/old": [.text("media")], "https://cdn/new": [Self.failure(403)]])
        let transport = transport(delegate, script)
        _ = try await transport.send(Self.request)
        #expect(transport.renewalDelay(of: Self.custom) == .seconds(5))
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: TransportError.self) { _ = try await transport.send(Self.request) }
        #expect(error?.status == 403 && script.requestedAddresses == ["https://cdn/old", "https://cdn/new"])
        #expect(delegate.asked.count == 1 && delegate.renewals.withLock { $0.count } == 1)
    }

    @Test func redirectToAnEmptyURLFails() async throws {
        let delegate = ScriptedDelegate { request in
            request.response = AssetResourceResponse(status: 307, headers: [HeaderField("Location", "")])
            request.finishLoading()
            return true
        }
        let transport = transport(delegate)
        let error = await #expect(throws: TransportError.self) { _ = try await transport.send(Self.request) }
        #expect(error?.code == .badRedirect && error?.status == 307 && delegate.asked.count == 1)
        #expect(error?.message == "the delegate of the resource loader redirected without a URL")
    }

    @Test func redirectKeepsTheRequestedBytesAndHeaderFields() async throws {
        let target = ResourceAddress("https://cdn/b")
        let delegate = ScriptedDelegate { request in
            request.redirect(to: target)
            return true
        }
        let script = ScriptedTransport([target.text: [.bytes([0, 1, 2, 3, 4])]])
        let scope = try #require(HeaderFieldScope("cdn"))
        var request = Self.request
        request.resumption = TransportRequest.Resumption(offset: 2, validator: "\"1\"")
        request.scopedHeaders = [ScopedHeaderField(HeaderField("X-Token", "1"), for: scope)]
        let response = try await transport(delegate, script).send(request)
        let bytes = try await response.wholeBody()
        #expect(bytes == [2, 3, 4])
        let sent = try #require(script.requests.first)
        #expect(sent.resumption == request.resumption && sent.allHeaders == [HeaderField("X-Token", "1")])
        #expect(delegate.asked.count == 1)
    }

    // MARK: Responses

    @Test(arguments: [(true, 206, 9), (false, 200, 10)] as [(Bool, Int, Int64)])
    func theRestOfAResourceHasTheStatusOfAPart(isRest: Bool, status: Int, length: Int64) async throws {
        for given in [nil, 200] as [Int?] {
            let delegate = ScriptedDelegate { request in
                if let given { request.response = AssetResourceResponse(status: given) }
                request.contentInformationRequest.contentLength = 10
                request.finishLoading()
                return true
            }
            var request = Self.request
            if isRest { request.resumption = TransportRequest.Resumption(offset: 1, validator: "\"1\"") }
            let response = try await transport(delegate).send(request)
            #expect(response.status == status && response.expectedLength == length)
            #expect(delegate.asked.count == 1)
        }
    }

    /// The transfer waits while 1 MiB is not read, and goes on when it was read.
    @Test func forwardedBodyIsReadToItsEnd() async throws {
        let delegate = ScriptedDelegate { request in
            request.finishLoading(from: LongTransport())
            return true
        }
        loader.setDelegate(callingDirectly: delegate)
        let transport = DelegatedTransport(ScriptedTransport(), loader: loader, time: SystemTimeSource())
        let response = try await transport.send(Self.request)
        let bytes = try await response.wholeBody()
        #expect(bytes.count == 64 << 16 && delegate.asked.count == 1)
    }

    @Test func timeOfTheDelegateIsMeasured() async throws {
        let clock = clock
        let delegate = ScriptedDelegate { request in
            clock.advance(by: .seconds(2))
            request.dataRequest.respond(with: [1])
            request.finishLoading()
            return true
        }
        clock.advance(by: .seconds(3))
        let response = try await transport(delegate).send(Self.request)
        let measurement = response.record.measurement
        #expect(measurement.requestStart == .seconds(3) && measurement.timeToFirstByte == .seconds(2))
        #expect(delegate.asked.count == 1)
    }

    @Test func delegateIsNotAskedForARequestThatHasEnded() async throws {
        let queue = DispatchQueue(label: "delegate")
        let delegate = ScriptedDelegate { _ in true }
        loader.setDelegate(delegate, queue: queue)
        loader.responseTimeLimit = .milliseconds(1)
        let transport = DelegatedTransport(ScriptedTransport(), loader: loader, time: SystemTimeSource())
        queue.suspend()
        let error = await #expect(throws: TransportError.self) { _ = try await transport.send(Self.request) }
        queue.resume()
        queue.sync {}
        #expect(error?.code == .timedOut && delegate.asked.isEmpty)
        #expect(delegate.cancelled.withLock { $0.isEmpty })
    }
}
