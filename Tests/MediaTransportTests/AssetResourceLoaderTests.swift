import Dispatch
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

/// A delegate that keeps no request.
private final class ForgetfulDelegate: AssetResourceLoaderDelegate {
    func resourceLoader(
        _ resourceLoader: AssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AssetResourceLoadingRequest
    ) -> Bool { true }
}

@Suite(.timeLimit(.minutes(10))) struct AssetResourceLoaderTests {
    private static let custom = "custom://h/a.m3u8"
    private static let original = "https://h/a.m3u8"
    private let queue = DispatchQueue(label: "delegate")

    /// Returns a loading with a delegate in front of scripted responses.
    private func loading(
        _ delegate: any AssetResourceLoaderDelegate,
        _ script: ScriptedTransport = ScriptedTransport([:]),
        schemes: [String: String] = ["custom": "https"],
        limit: Duration? = .seconds(20)
    ) -> (ResourceLoader, AssetResourceLoader) {
        let loader = AssetResourceLoader(originalSchemes: schemes)
        loader.setDelegate(delegate, queue: queue)
        loader.responseTimeLimit = limit
        let transport = DelegatedTransport(script, loader: loader, time: SystemTimeSource())
        return (ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)), loader)
    }

    private func load(
        _ loading: ResourceLoader,
        _ address: String = custom,
        kind: TransportRequest.Kind = .playlist,
        range: ByteRange? = nil
    ) async throws -> ResourceLoader.Loaded {
        try await loading.load(TransportRequest(ResourceAddress(address), kind: kind, byteRange: range))
    }

    private func error(_ body: () async throws -> Void) async -> TransportError? {
        await #expect(throws: TransportError.self) { try await body() }
    }

    @Test func delegateRespondsInPieces() async throws {
        let delegate = ScriptedDelegate { request in
            request.contentInformationRequest.contentType = "application/vnd.apple.mpegurl"
            DispatchQueue.global().async {
                request.dataRequest.respond(with: Array("#EXT".utf8))
                #expect(request.dataRequest.currentOffset == 4)
                request.dataRequest.respond(with: Array("M3U\n".utf8))
                request.finishLoading()
                request.dataRequest.respond(with: Array("late".utf8))
            }
            return true
        }
        let loaded = try await load(loading(delegate).0)
        #expect(String(decoding: loaded.bytes, as: UTF8.self) == "#EXTM3U\n")
        #expect(loaded.contentType == "application/vnd.apple.mpegurl")
        #expect(loaded.address.text == Self.custom)
        #expect(delegate.asked == [Self.custom])
        #expect(delegate.requests.withLock { $0[0].originalAddress.text } == Self.original)
        #expect(delegate.requests.withLock { $0[0].isFinished && !$0[0].isCancelled })
        #expect(delegate.cancelled.withLock { $0.isEmpty })
    }

    @Test func requestsWithOtherSchemesDoNotReachTheDelegate() async throws {
        let delegate = ScriptedDelegate { _ in true }
        let script = ScriptedTransport([Self.original: [.text("network")]])
        let loaded = try await load(loading(delegate, script).0, Self.original)
        #expect(String(decoding: loaded.bytes, as: UTF8.self) == "network")
        #expect(delegate.asked.isEmpty)
    }

    @Test func declinedRequestIsLoadedWithTheOriginalScheme() async throws {
        let delegate = ScriptedDelegate { _ in false }
        let script = ScriptedTransport([Self.original: [.text("network")]])
        let (resources, loader) = loading(delegate, script)
        let decisions = Mutex<[AssetResourceLoader.Decision]>([])
        loader.decisionHandler = { decision, _ in decisions.withLock { $0.append(decision) } }
        let loaded = try await load(resources, "CUSTOM://h/a.m3u8")
        #expect(String(decoding: loaded.bytes, as: UTF8.self) == "network")
        #expect(loaded.address.text == "CUSTOM://h/a.m3u8", "references keep the custom scheme")
        #expect(script.requestedAddresses == [Self.original])
        #expect(decisions.withLock { $0 } == [.declined(ResourceAddress(Self.original))])
    }

    @Test func declinedRequestWithoutAnOriginalSchemeFails() async throws {
        let delegate = ScriptedDelegate { _ in false }
        let resources = loading(delegate, schemes: [:]).0
        let error = await error { _ = try await load(resources) }
        #expect(error?.code == .addressRefused)
        #expect(error?.message.contains("does not load it") == true)
    }

    @Test func releasedDelegateIsNotCalled() async throws {
        var delegate: ScriptedDelegate? = ScriptedDelegate { _ in true }
        let (resources, loader) = loading(try #require(delegate), schemes: [:])
        delegate = nil
        #expect(loader.delegate == nil)
        let error = await error { _ = try await load(resources) }
        #expect(error?.code == .addressRefused)
        #expect(error?.message.contains("has no delegate") == true)
    }

    @Test func requestThatIsReleasedUnfinishedFailsAtOnce() async throws {
        let delegate = ForgetfulDelegate()
        let resources = loading(delegate, limit: nil).0
        let error = await error { _ = try await load(resources) }
        #expect(error?.code == .connectionLost)
        #expect(error?.message.contains("released the request") == true)
    }

    @Test func delegateThatNeverRespondsTimesOutAndIsTold() async throws {
        let delegate = ScriptedDelegate { _ in true }
        let resources = loading(delegate, limit: .milliseconds(50)).0
        let error = await error { _ = try await load(resources) }
        #expect(error?.code == .timedOut)
        queue.sync {}
        #expect(delegate.cancelled.withLock { $0 } == [Self.custom])
        #expect(delegate.requests.withLock { $0[0].isCancelled })
    }

    @Test func cancellationReachesTheDelegateOfASlowQueue() async throws {
        let isBlocked = DispatchSemaphore(value: 0)
        let delegate = ScriptedDelegate { _ in
            isBlocked.wait()
            return true
        }
        let resources = loading(delegate, limit: nil).0
        let task = Task { try await load(resources) }
        while delegate.asked.isEmpty { await Task.yield() }
        task.cancel()
        // The request ends although the queue of the delegate is still blocked.
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        isBlocked.signal()
        queue.sync {}
        #expect(delegate.cancelled.withLock { $0 } == [Self.custom])
    }

    @Test func errorsOfTheDelegateArePassedOn() async throws {
        struct Refusal: Error {}
        let own = TransportError(.status, "gone", address: ResourceAddress(Self.custom), status: 404)
        let errors: [(any Error, TransportError.Code)] = [(Refusal(), .wrongContent), (own, .status)]
        for (error, code) in errors {
            let delegate = ScriptedDelegate { request in
                request.finishLoading(with: error)
                return true
            }
            let resources = loading(delegate).0
            let thrown = await self.error { _ = try await load(resources) }
            #expect(thrown?.code == code)
        }
    }

    @Test func errorAfterTheFirstBytesFailsTheBody() async throws {
        let delegate = ScriptedDelegate { request in
            request.dataRequest.respond(with: [1, 2, 3])
            request.finishLoading(with: TransportError(.connectionLost, "lost"))
            return true
        }
        let resources = loading(delegate).0
        let thrown = await error { _ = try await load(resources) }
        #expect(thrown?.code == .connectionLost)
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func redirectIsFollowed(status: Int) async throws {
        let target = "https://cdn/b.ts"
        let delegate = ScriptedDelegate { request in
            request.redirect = TransportRequest(
                ResourceAddress(target),
                kind: .other,
                headers: [HeaderField("X-Token", "1")]
            )
            request.response = AssetResourceResponse(status: status)
            request.finishLoading()
            return true
        }
        let script = ScriptedTransport([target: [.text("media")]])
        let loaded = try await load(loading(delegate, script).0, kind: .segment)
        #expect(loaded.address.text == target)
        #expect(script.requests.map(\.kind) == [.segment])
        #expect(script.requests[0].headers == [HeaderField("X-Token", "1")])
    }

    @Test func redirectByTheLocationFieldIsFollowed() async throws {
        let delegate = ScriptedDelegate { request in
            let location = HeaderField("location", "https://cdn/b.ts")
            request.response = AssetResourceResponse(status: 302, headers: [location])
            request.finishLoading()
            return true
        }
        let script = ScriptedTransport(["https://cdn/b.ts": [.text("media")]])
        #expect(try await load(loading(delegate, script).0).address.text == "https://cdn/b.ts")
    }

    @Test func redirectsToTheCustomSchemeEnd() async throws {
        let delegate = ScriptedDelegate { request in
            request.redirect(to: request.request.address)
            return true
        }
        let resources = loading(delegate).0
        let thrown = await error { _ = try await load(resources) }
        #expect(thrown?.code == .badRedirect)
        #expect(delegate.asked.count == 21)
    }

    @Test(arguments: [(302, false), (200, true)])
    func redirectWithoutAURLOrWithAnotherStatusFails(status: Int, hasTarget: Bool) async throws {
        let delegate = ScriptedDelegate { request in
            if hasTarget { request.redirect = TransportRequest(ResourceAddress("https://cdn/b"), kind: .segment) }
            request.response = AssetResourceResponse(status: status)
            request.finishLoading()
            return true
        }
        let resources = loading(delegate).0
        let thrown = await error { _ = try await load(resources) }
        #expect(thrown?.code == .badRedirect)
    }

    @Test func unsuccessfulStatusFailsLikeThatOfAServer() async throws {
        let delegate = ScriptedDelegate { request in
            request.response = AssetResourceResponse(status: 404)
            request.finishLoading()
            return true
        }
        let resources = loading(delegate).0
        let thrown = await error { _ = try await load(resources) }
        #expect(thrown?.code == .status && thrown?.status == 404)
    }

    @Test func requestedBytesAreTakenFromALongerResponse() async throws {
        let delegate = ScriptedDelegate { request in
            let data = request.dataRequest
            #expect(data.requestedOffset == 2 && data.requestedLength == 3)
            #expect(!data.requestsAllDataToEndOfResource)
            request.contentInformationRequest.contentLength = 10
            data.respond(with: [2, 3])
            data.respond(with: [4, 5, 6])
            return true
        }
        let range = try #require(ByteRange(start: 2, length: 3))
        let loaded = try await load(loading(delegate).0, kind: .segment, range: range)
        #expect(loaded.bytes == [2, 3, 4])
    }

    @Test func shortResponseIsAnError() async throws {
        let delegate = ScriptedDelegate { request in
            request.contentInformationRequest.contentLength = 10
            request.dataRequest.respond(with: [0, 1, 2])
            request.finishLoading()
            return true
        }
        let resources = loading(delegate).0
        let thrown = await error { _ = try await load(resources) }
        #expect(thrown?.code == .connectionLost)
    }

    @Test func resourceIsRenewedAfterItsTime() async throws {
        let delegate = ScriptedDelegate { request in
            request.contentInformationRequest.renewalDelay = .zero
            request.dataRequest.respond(with: [request.isRenewal ? 2 : 1])
            request.finishLoading()
            return true
        }
        let resources = loading(delegate).0
        #expect(try await load(resources, kind: .key).bytes == [1])
        #expect(try await load(resources, kind: .key).bytes == [2])
        #expect(delegate.asked.count == 1)
        #expect(delegate.renewals.withLock { $0.count } == 1)
    }

    @Test(arguments: [(401, true), (403, true), (410, true), (404, false), (500, false)])
    func redirectIsRenewedAfterTheStatusOfExpiredCredentials(status: Int, isRenewed: Bool) async throws {
        let delegate = ScriptedDelegate { request in
            request.redirect(to: ResourceAddress("https://cdn/\(request.isRenewal ? "new" : "old")"))
            return true
        }
        let refusal = TransportError(.status, "no", address: ResourceAddress("https://cdn/old"), status: status)
        let script = ScriptedTransport(["https://cdn/old": [.failure(refusal)], "https://cdn/new": [.text("media")]])
        let resources = loading(delegate, script).0
        if isRenewed {
            #expect(try await load(resources, kind: .segment).address.text == "https://cdn/new")
        } else {
            let thrown = await error { _ = try await load(resources, kind: .segment) }
            #expect(thrown?.status == status)
        }
        #expect(delegate.renewals.withLock { $0.count } == (isRenewed ? 1 : 0))
    }

    @Test func responseOfATransportIsForwarded() async throws {
        let script = ScriptedTransport([Self.original: [.text("#EXTM3U\n#EXT-X-VERSION:3\n")]])
        let delegate = ScriptedDelegate { request in
            request.finishLoading(from: script)
            return true
        }
        let loaded = try await load(loading(delegate).0)
        #expect(String(decoding: loaded.bytes, as: UTF8.self) == "#EXTM3U\n#EXT-X-VERSION:3\n")
        #expect(loaded.address.text == Self.custom)
    }

    @Test func forwardedResponseIsNotReadFarAhead() async throws {
        let source = EndlessTransport()
        let delegate = ScriptedDelegate { request in
            request.finishLoading(from: source)
            return true
        }
        let resources = loading(delegate).0
        try await resources.send(TransportRequest(ResourceAddress(Self.custom), kind: .segment)) { response in
            var iterator = response.body.makeAsyncIterator()
            _ = try await iterator.next()
            try await Task.sleep(for: .milliseconds(200))
            #expect(source.sentByteCount.load(ordering: .relaxed) <= 3 << 20)
        }
        // The body was not read to the end, so that the transfer is canceled.
        #expect(delegate.requests.withLock { $0[0].isCancelled })
        let sent = source.sentByteCount.load(ordering: .relaxed)
        try await Task.sleep(for: .milliseconds(100))
        #expect(source.sentByteCount.load(ordering: .relaxed) <= sent + 1 << 16)
    }

    @Test func manySmallPiecesAreRead() async throws {
        let delegate = ScriptedDelegate { request in
            for index in 0..<100_000 { request.dataRequest.respond(with: CollectionOfOne(UInt8(index % 251))) }
            request.finishLoading()
            return true
        }
        let loaded = try await load(loading(delegate).0)
        #expect(loaded.bytes == (0..<100_000).map { UInt8($0 % 251) })
    }

    @Test func redirectThatATransportReturnsIsFollowed() async throws {
        let transport = RedirectingTransport()
        let loaded = try await ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)).load(
            TransportRequest(ResourceAddress("https://h/a"), kind: .segment, headers: [HeaderField("X-Token", "1")])
        )
        #expect(loaded.address.text == "https://cdn/b" && loaded.bytes == [1])
        #expect(transport.headerCounts.withLock { $0 } == [1, 0])
    }
}

/// A transport whose body never ends.
private final class EndlessTransport: Transport {
    let sentByteCount = Atomic(0)

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let stream = AsyncStream<ByteBuffer> { [self] in
            sentByteCount.add(1 << 16, ordering: .relaxed)
            return ByteBuffer(repeating: 0, count: 1 << 16)
        }
        return TransportResponse(to: request, body: TransportBody(stream))
    }
}

/// A transport that returns a redirect to another origin instead of following it.
private final class RedirectingTransport: Transport {
    let headerCounts = Mutex<[Int]>([])

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        headerCounts.withLock { $0.append(request.headers.count) }
        let isFirst = request.address.text == "https://h/a"
        return TransportResponse(
            status: isFirst ? 302 : 200,
            headers: isFirst ? [HeaderField("Location", "https://cdn/b")] : [],
            address: request.address,
            expectedLength: nil,
            body: TransportBody(isFirst ? [] : [1])
        )
    }
}
