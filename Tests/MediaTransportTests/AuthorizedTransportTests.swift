import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

@Suite struct AuthorizedTransportTests {
    private static let address = ResourceAddress("https://h/a")

    private func refusal(_ status: Int) -> ScriptedTransport.Response {
        .failure(TransportError(.status, "no", address: Self.address, status: status))
    }

    private func text(_ transport: AuthorizedTransport) async throws -> String {
        let response = try await transport.send(TransportRequest(Self.address, kind: .segment))
        var bytes: [UInt8] = []
        for try await buffer in response.body { bytes += Array(buffer.readableBytesView) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func authorization(
        renew: (@Sendable (TransportError) async throws -> Bool)?
    ) -> RequestAuthorization {
        RequestAuthorization(trustedAddresses: [Self.address], renew: renew)
    }

    @Test(arguments: [(401, true), (403, true), (400, false), (402, false), (404, false), (500, false)])
    func renewsAuthorizationOnlyAfterStatus401Or403(status: Int, isRenewed: Bool) async throws {
        let script = ScriptedTransport([Self.address.text: [refusal(status), .text("media")]])
        let told = Mutex<[Int?]>([])
        let transport = AuthorizedTransport(
            script,
            authorization: authorization { error in
                told.withLock { $0.append(error.status) }
                return true
            }
        )
        if isRenewed {
            #expect(try await text(transport) == "media")
        } else {
            let error = await #expect(throws: TransportError.self) { _ = try await text(transport) }
            #expect(error?.status == status)
        }
        #expect(told.withLock { $0 } == (isRenewed ? [status] : []))
        #expect(script.requests.count == (isRenewed ? 2 : 1))
    }

    @Test func refusalIsThrownIfAuthorizationIsNotRenewed() async throws {
        let renewals = Mutex(0)
        let renewing: @Sendable (TransportError) async throws -> Bool = { _ in
            renewals.withLock { $0 += 1 }
            return false
        }
        for renew in [nil, renewing] {
            let script = ScriptedTransport([Self.address.text: [refusal(403)]])
            let transport = AuthorizedTransport(script, authorization: authorization(renew: renew))
            for _ in 0..<2 {
                let error = await #expect(throws: TransportError.self) { _ = try await text(transport) }
                #expect(error?.status == 403)
            }
            #expect(script.requests.count == 2)
        }
        #expect(renewals.withLock { $0 } == 2, "each later request asks anew")
    }

    @Test func errorOfRenewalIsThrownByTheRequest() async throws {
        struct Refused: Error {}
        let script = ScriptedTransport([Self.address.text: [refusal(401), refusal(401), .text("media")]])
        let attempts = Mutex(0)
        let transport = AuthorizedTransport(
            script,
            authorization: authorization { _ in
                if attempts.withLock({
                    $0 += 1; return $0
                }) == 1 {
                    throw Refused()
                }
                return true
            }
        )
        await #expect(throws: Refused.self) { _ = try await text(transport) }
        #expect(try await text(transport) == "media", "the next request renews again")
        #expect(attempts.withLock { $0 } == 2)
    }

    /// Several requests are refused while one of them renews the authorization.
    @Test(.timeLimit(.minutes(10)), arguments: [true, false])
    func concurrentRefusedRequestsShareOneRenewal(isRenewed: Bool) async throws {
        let time = Simulation()
        let responses = [refusal(401), refusal(401), refusal(401), .text("media")]
        let script = ScriptedTransport([Self.address.text: responses], time: time)
        let renewals = Renewals()
        let transport = AuthorizedTransport(
            script,
            authorization: slowRenewal(counting: renewals, time, isRenewed: isRenewed),
            time: time
        )
        try await time.run {
            try await withThrowingTaskGroup(of: (String, Duration).self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        let text = (try? await text(transport)) ?? "refused"
                        return (text, time.now)
                    }
                }
                for try await (text, end) in group {
                    #expect(text == (isRenewed ? "media" : "refused") && end == .seconds(5))
                }
            }
        }
        #expect(renewals.count == 1)
        #expect(script.requests.count == (isRenewed ? 6 : 3))
    }

    @Test(.timeLimit(.minutes(10))) func cancelledRequestDoesNotWaitForRenewal() async throws {
        let time = Simulation()
        let script = ScriptedTransport([Self.address.text: [refusal(401), refusal(401), .text("media")]], time: time)
        let transport = AuthorizedTransport(script, authorization: slowRenewal(time), time: time)
        try await time.run {
            async let first = text(transport)
            try await time.sleep(for: .seconds(1))
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    do {
                        _ = try await text(transport)
                        return false
                    } catch {
                        return error is CancellationError
                    }
                }
                try await time.sleep(for: .seconds(1))
                group.cancelAll()
                #expect(try await group.next() == true && time.now == .seconds(2))
            }
            #expect(try await first == "media" && time.now == .seconds(5))
        }
    }

    @Test func eachAttemptIsSignedAgain() async throws {
        let script = ScriptedTransport([Self.address.text: [refusal(401), .text("media")]])
        let count = Mutex(0)
        let transport = AuthorizedTransport(
            script,
            authorization: RequestAuthorization(
                trustedAddresses: [Self.address],
                headers: [HeaderField("A", "all")],
                headersByKind: [.segment: [HeaderField("B", "segment")], .key: [HeaderField("B", "key")]],
                sign: { request in
                    var request = request
                    request.headers.append(HeaderField("Signature", "\(count.withLock { $0 += 1; return $0 })"))
                    return request
                },
                renew: { _ in true }
            )
        )
        #expect(try await text(transport) == "media")
        #expect(
            script.requests.map { $0.allHeaders.map(\.value) } == [["all", "segment", "1"], ["all", "segment", "2"]]
        )
    }

    /// The request that renews the authorization is canceled while two others wait for it.
    @Test(.timeLimit(.minutes(10))) func waitingRequestTakesOverACanceledRenewal() async throws {
        let time = Simulation()
        let script = ScriptedTransport(
            [Self.address.text: [refusal(401), refusal(401), refusal(401), .text("media")]],
            time: time
        )
        let renewals = Renewals()
        let transport = AuthorizedTransport(script, authorization: slowRenewal(counting: renewals, time), time: time)
        try await time.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await text(transport) }
                try await time.sleep(for: .seconds(1))
                async let second = text(transport)
                async let third = text(transport)
                try await time.sleep(for: .seconds(1))
                group.cancelAll()
                #expect(try await [second, third] == ["media", "media"] && time.now == .seconds(7))
            }
        }
        #expect(renewals.count == 2)
    }

    // MARK: Time limits

    /// A closure that waits without end, and ignores the cancellation of its task.
    private static func hang() async {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }

    /// A counter of renewals.
    private final class Renewals: Sendable {
        private let state = Mutex(0)

        var count: Int { state.withLock { $0 } }

        func add() { state.withLock { $0 += 1 } }
    }

    /// Returns an authorization whose renewal takes five seconds.
    private func slowRenewal(
        counting renewals: Renewals = Renewals(),
        _ time: Simulation,
        isRenewed: Bool = true
    ) -> RequestAuthorization {
        authorization { _ in
            renewals.add()
            try await time.sleep(for: .seconds(5))
            return isRenewed
        }
    }

    /// Returns an authorization whose renewal does not return.
    private func hangingRenewal(counting renewals: Renewals = Renewals()) -> RequestAuthorization {
        authorization { _ in
            renewals.add()
            await Self.hang()
            return true
        }
    }

    @Test(.timeLimit(.minutes(10))) func aSignatureThatDoesNotReturnTimesOut() async throws {
        let time = Simulation()
        let script = ScriptedTransport([Self.address.text: [.text("media")]], time: time)
        let transport = AuthorizedTransport(
            script,
            authorization: RequestAuthorization(
                trustedAddresses: [Self.address],
                sign: { request in
                    await Self.hang()
                    return request
                }
            ),
            time: time
        )
        try await time.run {
            let error = await #expect(throws: TransportError.self) { _ = try await text(transport) }
            #expect(error?.code == .timedOut && error?.address == Self.address)
            #expect(error?.message == "the application has not signed the request within 60.0 seconds")
            #expect(time.now == .seconds(60))
        }
        #expect(script.requests.isEmpty)
    }

    /// The time limit can be shorter than a second.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [(Duration.seconds(5), "5.0 seconds"), (Duration.milliseconds(250), "0.25 seconds")]
    )
    func aRenewalThatDoesNotReturnTimesOut(limit: Duration, limitText: String) async throws {
        let time = Simulation()
        let script = ScriptedTransport([Self.address.text: [refusal(401)]], time: time)
        var renewing = hangingRenewal()
        renewing.responseTimeLimit = limit
        let transport = AuthorizedTransport(script, authorization: renewing, time: time)
        try await time.run {
            let error = await #expect(throws: TransportError.self) { _ = try await text(transport) }
            #expect(error?.code == .status && error?.status == 401)
            let cause = error?.cause as? TransportError
            #expect(cause?.code == .timedOut && cause?.address == Self.address)
            #expect(cause?.message == "the application has not renewed the credentials within \(limitText)")
            #expect(time.now == limit)
        }
        #expect(script.requests.count == 1)
    }

    /// A repeated request would call the closure again beside the first call.
    @Test(.timeLimit(.minutes(10))) func aRequestIsNotRepeatedAfterALateRenewal() async throws {
        let time = Simulation()
        let script = ScriptedTransport([Self.address.text: [refusal(403)]], time: time)
        let renewals = Renewals()
        let authorization = hangingRenewal(counting: renewals)
        let transport = AuthorizedTransport(script, authorization: authorization, time: time)
        try await time.run {
            let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 5), time: time, jitter: { 1 })
            let error = await #expect(throws: TransportError.self) {
                _ = try await loader.load(TransportRequest(Self.address, kind: .segment))
            }
            #expect(error?.status == 403 && time.now == .seconds(60))
        }
        #expect(renewals.count == 1)
        #expect(script.requests.count == 1)
    }

    /// A transport with one address whose responses take six seconds.
    private struct SlowTransport: Transport {
        static let slowAddress = ResourceAddress("https://h/slow")
        let base: ScriptedTransport
        let time: Simulation

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            if request.address == Self.slowAddress { try await time.sleep(for: .seconds(6)) }
            return try await base.send(request)
        }
    }

    /// The first request is canceled after a second, or its renewal is late; another one, which was sent with the old
    /// credentials, is refused after the renewal has ended.
    @Test(.timeLimit(.minutes(10)), arguments: [true, false])
    func newCredentialsOfARequestThatNoLongerWaitsAreUsed(isCanceled: Bool) async throws {
        let time = Simulation()
        let slow = SlowTransport.slowAddress
        let script = ScriptedTransport(
            [Self.address.text: [refusal(401)], slow.text: [refusal(401), .text("media")]],
            time: time
        )
        let renewals = Mutex(0)
        var renewing = authorization { _ in
            renewals.withLock { $0 += 1 }
            // A task of its own is not canceled with the request.
            let task = Task(executorPreference: time.taskExecutor) { try? await time.sleep(for: .seconds(5)) }
            _ = await task.value
            return true
        }
        renewing.responseTimeLimit = isCanceled ? nil : .seconds(2)
        let transport = AuthorizedTransport(
            SlowTransport(base: script, time: time),
            authorization: renewing,
            time: time
        )
        try await time.run {
            async let other = transport.send(TransportRequest(slow, kind: .segment))
            try await withThrowingTaskGroup(of: Duration.self) { group in
                group.addTask {
                    _ = try? await text(transport)
                    return time.now
                }
                try await time.sleep(for: .seconds(1))
                if isCanceled { group.cancelAll() }
                let end = try await group.next()
                #expect(end == .seconds(isCanceled ? 1 : 2))
            }
            let status = try await other.status
            #expect(status == 200 && time.now == .seconds(12))
        }
        #expect(renewals.withLock { $0 } == 1)
        #expect(script.requests.count == 3)
    }

    @Test(.timeLimit(.minutes(10))) func aCanceledRequestDoesNotWaitForItsSignature() async throws {
        let time = Simulation()
        var signing = RequestAuthorization(
            trustedAddresses: [Self.address],
            sign: { request in
                await Self.hang()
                return request
            }
        )
        signing.responseTimeLimit = nil
        let transport = AuthorizedTransport(
            ScriptedTransport([Self.address.text: [.text("media")]], time: time),
            authorization: signing,
            time: time
        )
        try await time.run {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    do {
                        _ = try await text(transport)
                        return false
                    } catch {
                        return error is CancellationError
                    }
                }
                try await time.sleep(for: .seconds(1))
                group.cancelAll()
                let isCanceled = try await group.next()
                #expect(isCanceled == true && time.now == .seconds(1))
            }
        }
    }
}
