package import MediaTiming
import NIOCore
package import ResourceAddressing
import Synchronization

/// A transport that passes requests for URLs with a custom scheme to the delegate of a resource loader, and all others to
/// a base transport.
package struct DelegatedTransport: Transport {
    private let base: any Transport
    private let loader: AssetResourceLoader
    private let time: any TimeSource
    private let renewals = RenewalTable()

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - base: The transport for other URLs, for redirects, and for resources that the delegate does not load.
    ///   - loader: The resource loader.
    ///   - time: The clock.
    package init(_ base: any Transport, loader: AssetResourceLoader, time: any TimeSource) {
        self.base = base
        self.loader = loader
        self.time = time
    }

    /// The executor of the base transport; see ``Transport/executor``.
    package var executor: (any TaskExecutor)? { base.executor }

    /// Returns the time after which a resource that was just loaded has to be renewed; `nil` if it stays valid.
    package func renewalDelay(of address: ResourceAddress) -> Duration? { renewals.delay(of: address, at: time.now) }

    /// Sends a request; see ``Transport/send(_:)``.
    package func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard request.address.hasCustomScheme else { return try await base.send(request) }
        var request = request
        for _ in 0...Self.redirectLimit {
            let isRenewal = renewals.isDue(request.address, at: time.now)
            switch try await delegateResponse(to: request, isRenewal: isRenewal) {
            case .response(let response): return response
            case .redirect(let redirect):
                if redirect.address.hasCustomScheme {
                    request = redirect
                    continue
                }
                return try await follow(redirect, from: request, isRenewal: isRenewal)
            }
        }
        throw TransportError(.badRedirect, "more than \(Self.redirectLimit) redirects", address: request.address)
    }

    private static let redirectLimit = 20

    /// Sends the request to which the delegate redirected; after a status of expired credentials, the delegate is asked
    /// once more.
    private func follow(
        _ redirect: TransportRequest,
        from request: TransportRequest,
        isRenewal: Bool
    ) async throws -> TransportResponse {
        do {
            return try await base.send(redirect)
        } catch let error as TransportError where [401, 403, 410].contains(error.status) && !isRenewal {
            guard case .redirect(let renewed) = try await delegateResponse(to: request, isRenewal: true),
                !renewed.address.hasCustomScheme, renewed.address != redirect.address
            else { throw error }
            return try await base.send(renewed)
        }
    }

    private enum DelegateResponse {
        case response(TransportResponse)
        case redirect(TransportRequest)
    }

    private func delegateResponse(to request: TransportRequest, isRenewal: Bool) async throws -> DelegateResponse {
        let exchange = LoadingExchange(request)
        let sent = time.now
        if isRenewal { loader.report(.renewing, request) }
        let tellDelegate = loader.ask(exchange, isRenewal: isRenewal, time)
        let cancellation = LoadingCancellation(exchange, tellDelegate)
        do {
            let limit = loader.responseTimeLimit
            let decision: LoadingState.Decision = try await exchange.wait(limit: limit, time) { state in
                if case .pending = state.decision { nil } else { state.decision }
            }
            switch decision {
            case .accepted, .pending: loader.report(.accepted, request)
            case .declined:
                loader.report(.declined(loader.originalAddress(of: request.address)), request)
                return .response(try await original(request, "the delegate of the resource loader does not load it"))
            case .missing:
                loader.report(.noDelegate(loader.originalAddress(of: request.address)), request)
                return .response(try await original(request, "the resource loader has no delegate"))
            }
            let state = try await exchange.wait(limit: limit, time) { $0.hasHead ? $0 : nil }
            return try head(state, exchange, sent, cancellation)
        } catch {
            cancellation.cancel()
            loader.report(
                (error as? TransportError).map { .failed($0.code) } ?? .cancelled,
                request
            )
            throw error
        }
    }

    /// Loads a resource that the delegate does not load.
    private func original(_ request: TransportRequest, _ reason: String) async throws -> TransportResponse {
        guard let address = loader.originalAddress(of: request.address) else {
            throw TransportError(
                .addressRefused,
                "URLs with the scheme \(request.address.scheme ?? "") cannot be loaded; \(reason)",
                address: request.address
            )
        }
        var request = request
        let custom = request.address
        request.address = address
        let response = try await base.send(request)
        // References in the resource keep the custom scheme, so that the delegate is asked for them too.
        return response.at(loader.customAddress(of: response.address, like: custom))
    }

    private func head(
        _ state: LoadingState,
        _ exchange: LoadingExchange,
        _ sent: Duration,
        _ cancellation: LoadingCancellation
    ) throws -> DelegateResponse {
        let request = exchange.request
        switch state.end {
        case .failed(let error): throw Self.loadingError(error, request)
        case .released: throw Self.released(request)
        case .cancelled: throw CancellationError()
        case .finished, nil: break
        }
        if let redirect = try self.redirect(state, request) {
            loader.report(.redirected(redirect.address), request)
            renewals.store(state.information.renewalDelay, of: request.address, at: time.now)
            return .redirect(redirect)
        }
        let isPartial = request.byteRange != nil || request.resumption != nil
        let status = state.response?.status ?? (isPartial ? 206 : 200)
        guard (200...299).contains(status) || status == 304 && request.isConditional else {
            throw TransportError(
                .status,
                "the delegate of the resource loader responded with status \(status)",
                address: request.address,
                status: status
            )
        }
        let record = TransferRecord(TransferMeasurement(requestStart: sent))
        record.update { $0.timeToFirstByte = time.now - sent }
        var headers = state.response?.headers ?? []
        if !state.information.isByteRangeAccessSupported { headers.append(HeaderField("Accept-Ranges", "none")) }
        if let type = state.information.contentType { headers.append(HeaderField("Content-Type", type)) }
        let buffers = LoadedBuffers(
            exchange: exchange,
            cancellation: cancellation,
            limit: loader.responseTimeLimit,
            time: time,
            end: { [renewals, time] in
                renewals.store(exchange.current.information.renewalDelay, of: request.address, at: time.now)
            }
        )
        return .response(
            TransportResponse(
                status: isPartial && status == 200 ? 206 : status,
                headers: headers,
                address: state.response?.address ?? request.address,
                expectedLength: Self.expectedLength(state, exchange),
                body: TransportBody(buffers).measured(by: record, time),
                record: record
            )
        )
    }

    /// Returns the request that the delegate redirects to; `nil` if it does not redirect.
    private func redirect(_ state: LoadingState, _ request: TransportRequest) throws -> TransportRequest? {
        if let response = state.response, !response.isRedirect, state.redirect != nil {
            throw TransportError(
                .badRedirect,
                "the delegate of the resource loader redirected with status \(response.status) instead of 302",
                address: request.address
            )
        }
        var redirect = state.redirect
        if redirect == nil, let response = state.response, response.isRedirect {
            let location = response.headers.first { $0.name.lowercased() == "location" }
            guard let location, !location.value.isEmpty else {
                throw TransportError(
                    .badRedirect,
                    "the delegate of the resource loader redirected without a URL",
                    address: request.address,
                    status: response.status
                )
            }
            redirect = TransportRequest(request.address.resolving(location.value), kind: request.kind)
        }
        guard var redirect else { return nil }
        // The delegate chooses the URL; what is requested of the resource stays the same.
        redirect.kind = request.kind
        redirect.byteRange = request.byteRange
        redirect.resumption = request.resumption
        redirect.scopedHeaders += request.scopedHeaders
        return redirect
    }

    private static func expectedLength(_ state: LoadingState, _ exchange: LoadingExchange) -> Int64? {
        let rest = state.information.contentLength.map { max(0, $0 -| exchange.offset) }
        guard let length = exchange.length else { return rest }
        return rest.map { min($0, length) } ?? length
    }

    private static func released(_ request: TransportRequest) -> TransportError {
        TransportError(
            .connectionLost,
            "the delegate of the resource loader released the request before it finished loading",
            address: request.address
        )
    }

    fileprivate static func error(of end: LoadingState.End, _ request: TransportRequest) -> (any Error)? {
        switch end {
        case .finished: nil
        case .cancelled: CancellationError()
        case .released: released(request)
        case .failed(let error): loadingError(error, request)
        }
    }

    private static func loadingError(_ error: any Error, _ request: TransportRequest) -> any Error {
        if error is TransportError || error is CancellationError { return error }
        return TransportError(
            .wrongContent,
            "the delegate of the resource loader failed: \(error)",
            address: request.address,
            cause: error
        )
    }
}

/// The cancellation of a request when its response is not read to the end.
private final class LoadingCancellation: Sendable {
    private let exchange: LoadingExchange
    private let tellDelegate: @Sendable () -> Void

    init(_ exchange: LoadingExchange, _ tellDelegate: @escaping @Sendable () -> Void) {
        self.exchange = exchange
        self.tellDelegate = tellDelegate
    }

    deinit { cancel() }

    func cancel() {
        if exchange.update({ $0.finish(.cancelled) }) { tellDelegate() }
    }
}

/// The bytes of a delegate as it responds with them.
private struct LoadedBuffers: AsyncSequence, Sendable {
    let exchange: LoadingExchange
    let cancellation: LoadingCancellation
    let limit: Duration?
    let time: any TimeSource
    let end: @Sendable () -> Void

    struct AsyncIterator: AsyncIteratorProtocol {
        let buffers: LoadedBuffers
        private var isFinished = false

        init(_ buffers: LoadedBuffers) { self.buffers = buffers }

        mutating func next() async throws -> ByteBuffer? {
            guard !isFinished else { return nil }
            let exchange = buffers.exchange
            enum Step: Sendable { case bytes(ByteBuffer), end(LoadingState.End), complete }
            do {
                let step: Step = try await exchange.wait(limit: buffers.limit, buffers.time) { state in
                    if let bytes = state.next() { return .bytes(bytes) }
                    if state.isComplete { return .complete }
                    return state.end.map { .end($0) }
                }
                switch step {
                case .bytes(let bytes):
                    // A transfer that waits for room goes on.
                    exchange.update { _ in }
                    return bytes
                case .complete: isFinished = true
                case .end(let end):
                    isFinished = true
                    if let error = DelegatedTransport.error(of: end, exchange.request) { throw error }
                }
                buffers.end()
                return nil
            } catch {
                isFinished = true
                buffers.cancellation.cancel()
                throw error
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

/// The times at which resources have to be renewed, for the resources that were loaded last.
private final class RenewalTable: Sendable {
    private struct State {
        var times: [String: Duration] = [:]
        var order: [String] = []
    }

    /// The maximum number of resources; keys and playlists of a presentation are far fewer.
    private static let limit = 1_000

    private let state = Mutex(State())

    /// Returns a Boolean value that indicates whether a resource was loaded and is no longer valid.
    func isDue(_ address: ResourceAddress, at now: Duration) -> Bool {
        state.withLock { $0.times[address.text].map { $0 <= now } ?? false }
    }

    /// Returns the time until a resource has to be renewed; `nil` if it stays valid.
    func delay(of address: ResourceAddress, at now: Duration) -> Duration? {
        state.withLock { $0.times[address.text].map { max(.zero, $0 - now) } }
    }

    /// Stores the time at which a resource that was just loaded has to be renewed; `nil` if it stays valid.
    func store(_ delay: Duration?, of address: ResourceAddress, at now: Duration) {
        state.withLock { state in
            guard let delay else {
                if state.times.removeValue(forKey: address.text) != nil { state.order.removeAll { $0 == address.text } }
                return
            }
            if state.times.updateValue(now + delay, forKey: address.text) == nil { state.order.append(address.text) }
            if state.order.count > Self.limit { state.times[state.order.removeFirst()] = nil }
        }
    }
}
