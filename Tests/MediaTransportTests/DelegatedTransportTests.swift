import Dispatch
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

/// A transport that responds to no request, and counts those that are canceled.
private final class HeldTransport: Transport {
    private let changes = Broadcast()
    private let counts = Mutex((started: 0, cancelled: 0))

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        counts.withLock { $0.started += 1 }
        changes.notify()
        await Broadcast().wait(after: 0)
        counts.withLock { $0.cancelled += 1 }
        changes.notify()
        throw CancellationError()
    }

    func wait(until condition: (_ started: Int, _ cancelled: Int) -> Bool) async {
        while true {
            let seen = changes.count
            if counts.withLock({ condition($0.started, $0.cancelled) }) { return }
            await changes.wait(after: seen)
        }
    }
}

/// Tests what becomes of a request after a delegate has answered it.
@Suite(.timeLimit(.minutes(10))) struct DelegatedTransportTests {
    private static let custom = ResourceAddress("custom://h/a.ts")
    private static let original = ResourceAddress("https://h/a.ts")

    private let loader = AssetResourceLoader(originalSchemes: ["custom": "https"])

    /// Returns a loading whose delegate is called without a queue.
    private func loading(
        _ delegate: (any AssetResourceLoaderDelegate)?,
        _ script: any Transport = ScriptedTransport()
    ) -> ResourceLoader {
        if let delegate { loader.setDelegate(callingDirectly: delegate) }
        let transport = DelegatedTransport(script, loader: loader, time: SystemTimeSource())
        return ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
    }

    private static let request = TransportRequest(custom, kind: .segment)

    // MARK: Decisions

    @Test func queueBelongsToTheDelegate() {
        #expect(loader.delegate == nil && loader.delegateQueue == nil && loader.responseTimeLimit == .seconds(60))
        let queue = DispatchQueue(label: "delegate")
        let delegate = ScriptedDelegate { _ in true }
        loader.setDelegate(delegate, queue: queue)
        #expect(loader.delegate != nil && loader.delegateQueue === queue)
        loader.setDelegate(nil, queue: queue)
        #expect(loader.delegate == nil && loader.delegateQueue == nil)
        withExtendedLifetime(delegate) {}
    }

    /// Loads a resource twice, and returns the decisions that the loader reports.
    private func decisions(
        _ delegate: (any AssetResourceLoaderDelegate)?,
        _ script: ScriptedTransport = ScriptedTransport()
    ) async -> [AssetResourceLoader.Decision] {
        let decisions = Mutex<[AssetResourceLoader.Decision]>([])
        loader.decisionHandler = { decision, _ in decisions.withLock { $0.append(decision) } }
        let resources = loading(delegate, script)
        for _ in 0..<2 { _ = try? await resources.load(Self.request) }
        loader.decisionHandler = nil
        return decisions.withLock { $0 }
    }

    @Test func renewalIsReported() async {
        let delegate = ScriptedDelegate { request in
            request.contentInformationRequest.renewalDelay = .zero
            request.dataRequest.respond(with: [1])
            request.finishLoading()
            return true
        }
        #expect(await decisions(delegate) == [.accepted, .renewing, .accepted])
    }

    @Test func redirectIsReported() async {
        let target = ResourceAddress("https://cdn/b.ts")
        let delegate = ScriptedDelegate { request in
            request.redirect(to: target)
            #expect(request.response?.status == 302 && request.redirect?.address == target && request.isFinished)
            return true
        }
        let script = ScriptedTransport([target.text: [.text("media")]])
        let expected: [AssetResourceLoader.Decision] = [.accepted, .redirected(target)]
        #expect(await decisions(delegate, script) == expected + expected)
    }

    @Test func failureIsReported() async {
        struct Refusal: Error {}
        let delegate = ScriptedDelegate { request in
            request.finishLoading(with: Refusal())
            return true
        }
        let expected: [AssetResourceLoader.Decision] = [.accepted, .failed(.wrongContent)]
        #expect(await decisions(delegate) == expected + expected)
    }

    @Test func missingDelegateIsReported() async {
        let script = ScriptedTransport([Self.original.text: [.text("media")]])
        let expected = AssetResourceLoader.Decision.noDelegate(Self.original)
        #expect(await decisions(nil, script) == [expected, expected])
        // The original URL fails too.
        script.setResponses(for: Self.original.text)
        #expect(await decisions(nil, script) == [expected, .failed(.status), expected, .failed(.status)])
    }

    @Test func redirectChangesOnlyTheURL() async throws {
        let target = ResourceAddress("https://cdn/b.ts")
        let delegate = ScriptedDelegate { request in
            request.redirect = TransportRequest(target, kind: .playlist, byteRange: ByteRange(start: 0, length: 1))
            request.finishLoading()
            return true
        }
        let script = ScriptedTransport([target.text: [.bytes([0, 1, 2, 3, 4])]])
        var request = Self.request
        request.byteRange = ByteRange(start: 1, length: 3)
        let loaded = try await loading(delegate, script).load(request)
        #expect(loaded.bytes == [1, 2, 3] && loaded.address == target)
        #expect(script.requests.map(\.kind) == [.segment] && script.requests.map(\.byteRange) == [request.byteRange])
    }

    // MARK: Forwarded responses

    @Test func descriptionOfAForwardedResponseIsPassedOn() async throws {
        let script = ScriptedTransport([
            Self.original.text: [.bytes([0, 1, 2, 3, 4], contentType: "video/mp2t")],
            "https://h/moved": [.redirected(to: ResourceAddress("https://cdn/c"), [1, 2])],
        ])
        let delegate = ScriptedDelegate { request in
            request.finishLoading(from: script)
            return true
        }
        let resources = loading(delegate)
        try await resources.send(Self.request) { response in
            #expect(response.status == 200 && response.expectedLength == 5)
            // A response that could not be continued would have the field `Accept-Ranges: none`.
            #expect(response.headers == [HeaderField("Content-Type", "video/mp2t")])
            let bytes = try await response.wholeBody()
            #expect(bytes == [0, 1, 2, 3, 4])
        }
        var part = Self.request
        part.byteRange = ByteRange(start: 1, length: 3)
        try await resources.send(part) { response in
            #expect(response.status == 206 && response.expectedLength == 3)
            let bytes = try await response.wholeBody()
            #expect(bytes == [1, 2, 3])
        }
        #expect(script.requests.map(\.byteRange) == [nil, part.byteRange])
        let moved = try await resources.load(TransportRequest(ResourceAddress("custom://h/moved"), kind: .segment))
        #expect(moved.address.text == "https://cdn/c" && moved.bytes == [1, 2])
    }

    @Test func errorOfAForwardedResponseIsPassedOn() async throws {
        let delegate = ScriptedDelegate { request in
            request.finishLoading(from: ScriptedTransport(), at: ResourceAddress("https://cdn/missing"))
            return true
        }
        let resources = loading(delegate)
        let error = await #expect(throws: TransportError.self) { try await resources.load(Self.request) }
        #expect(error?.status == 404 && error?.address?.text == "https://cdn/missing")
    }

    @Test func cancellationReachesTheForwardedRequest() async throws {
        let source = HeldTransport()
        let delegate = ScriptedDelegate { request in
            request.finishLoading(from: source)
            return true
        }
        let resources = loading(delegate)
        let task = Task { try await resources.load(Self.request) }
        await source.wait { started, _ in started == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        await source.wait { _, cancelled in cancelled == 1 }
    }

    @Test func responseThatIsForwardedAfterTheCancellationIsCanceled() async throws {
        let source = HeldTransport()
        let delegate = ScriptedDelegate { _ in true }
        let resources = loading(delegate)
        let task = Task { try await resources.load(Self.request) }
        while delegate.asked.isEmpty { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        let request = try #require(delegate.requests.withLock { $0.first })
        #expect(request.isCancelled && !request.isFinished)
        request.finishLoading(from: source)
        await source.wait { started, cancelled in started == 1 && cancelled == 1 }
    }

    // MARK: Renewals

    @Test(arguments: [nil, ByteRange(start: 0, length: 1)])
    func renewalDelayBeginsAtTheEndOfTheLoading(range: ByteRange?) async throws {
        let delegate = ScriptedDelegate { request in
            request.contentInformationRequest.renewalDelay = .seconds(60)
            request.dataRequest.respond(with: [1])
            request.finishLoading()
            return true
        }
        let clock = CacheClock()
        loader.setDelegate(callingDirectly: delegate)
        loader.responseTimeLimit = nil
        let transport = DelegatedTransport(ScriptedTransport(), loader: loader, time: clock)
        let request = TransportRequest(Self.custom, kind: .key, byteRange: range)
        let response = try await transport.send(request)
        clock.advance(by: .seconds(10))
        #expect(transport.renewalDelay(of: Self.custom) == nil)
        var iterator = response.body.makeAsyncIterator()
        while try await iterator.next() != nil {}
        #expect(transport.renewalDelay(of: Self.custom) == .seconds(60))
        clock.advance(by: .seconds(20))
        // Another attempt to read has no effect.
        let rest = try await iterator.next()
        #expect(rest == nil && transport.renewalDelay(of: Self.custom) == .seconds(40))
        clock.advance(by: .seconds(39))
        _ = try await transport.send(request)
        clock.advance(by: .seconds(1))
        #expect(transport.renewalDelay(of: Self.custom) == .zero)
        _ = try await transport.send(request)
        clock.advance(by: .seconds(10))
        #expect(transport.renewalDelay(of: Self.custom) == .zero)
        #expect(delegate.asked.count == 2 && delegate.renewals.withLock { $0.map(\.isRenewal) } == [true])
    }

    @Test func renewalTimesOfTheLast1000ResourcesAreKnown() async throws {
        let isRenewed = Mutex(true)
        let delegate = ScriptedDelegate { request in
            request.contentInformationRequest.renewalDelay = isRenewed.withLock { $0 } ? .seconds(3_600) : nil
            request.finishLoading()
            return true
        }
        loader.setDelegate(callingDirectly: delegate)
        let transport = DelegatedTransport(ScriptedTransport(), loader: loader, time: SystemTimeSource())
        func address(_ number: Int) -> ResourceAddress { ResourceAddress("custom://h/\(number)") }
        func isKnown(_ number: Int) -> Bool { transport.renewalDelay(of: address(number)) != nil }
        func loadKey(_ number: Int) async throws {
            _ = try await transport.send(TransportRequest(address(number), kind: .key)).wholeBody()
        }
        try await loadKey(0)
        #expect(isKnown(0) && !isKnown(1))
        isRenewed.withLock { $0 = false }
        try await loadKey(0)
        #expect(!isKnown(0))
        isRenewed.withLock { $0 = true }
        for number in 0..<1_000 { try await loadKey(number) }
        try await loadKey(500)
        #expect(isKnown(0) && isKnown(500) && isKnown(999))
        try await loadKey(1_000)
        #expect(!isKnown(0) && isKnown(1) && isKnown(1_000))
    }
}
