public import ResourceAddressing
import Synchronization

/// What the requests of one asset carry besides: header fields, signatures, and what happens when the server wants others.
public struct RequestAuthorization: Sendable {
    /// Header fields of every request to the origins of ``trustedAddresses``.
    public var headers: [HeaderField]
    /// Header fields of requests of one kind to these origins, after those of all kinds.
    public var headersByKind: [TransportRequest.Kind: [HeaderField]]
    /// Header fields with the hosts that they are sent to.
    public var scopedHeaders: [ScopedHeaderField]
    /// The addresses whose origins get ``headers`` and ``headersByKind``, that of the asset among them: a playlist can name any
    /// host.
    public var trustedAddresses: [ResourceAddress]
    /// Signs a request: changes its address or its header fields, each time it is sent.
    public var sign: (@Sendable (TransportRequest) async throws -> TransportRequest)?
    /// Renews what requests are signed with, after the server answered 401 or 403; `false` where nothing can be done.
    ///
    /// Of several requests that fail at once, one asks, and the others wait for it.
    public var renew: (@Sendable (TransportError) async throws -> Bool)?

    /// Makes an authorization.
    ///
    /// - Parameters:
    ///   - trustedAddresses: The address of the asset, and of others that may have the header fields.
    ///   - headers: Header fields of every request to these origins.
    ///   - headersByKind: Header fields of requests of one kind to these origins.
    ///   - scopedHeaders: Header fields with the hosts that they are sent to.
    ///   - sign: Signs a request, whatever its host.
    ///   - renew: Renews what requests are signed with.
    public init(
        trustedAddresses: [ResourceAddress],
        headers: [HeaderField] = [],
        headersByKind: [TransportRequest.Kind: [HeaderField]] = [:],
        scopedHeaders: [ScopedHeaderField] = [],
        sign: (@Sendable (TransportRequest) async throws -> TransportRequest)? = nil,
        renew: (@Sendable (TransportError) async throws -> Bool)? = nil
    ) {
        self.trustedAddresses = trustedAddresses
        self.headers = headers
        self.headersByKind = headersByKind
        self.scopedHeaders = scopedHeaders
        self.sign = sign
        self.renew = renew
    }
}

/// Another transport, whose requests carry what one asset needs.
///
/// A refusal is answered with one renewal and one more try; a refusal that stays is an error with its status.
public final class AuthorizedTransport: Transport {
    private struct State {
        /// Counts the renewals, so that a request knows whether there was one since it was signed.
        var generation = 0
        var isRenewing = false
        /// Whether the last one brought something new.
        var wasRenewed = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiting = 0
    }

    private let base: any Transport
    private let authorization: RequestAuthorization
    private let state = Mutex(State())

    /// Makes a transport.
    public init(_ base: any Transport, authorization: RequestAuthorization) {
        self.base = base
        self.authorization = authorization
    }

    /// Asks for a resource; see ``Transport/send(_:)``.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let generation = state.withLock { $0.generation }
        do {
            return try await base.send(try await prepared(request))
        } catch let error as TransportError where error.status == 401 || error.status == 403 {
            guard try await renewed(since: generation, error) else { throw error }
            return try await base.send(try await prepared(request))
        }
    }

    private func prepared(_ request: TransportRequest) async throws -> TransportRequest {
        var request = request
        let fields = authorization.headers + (authorization.headersByKind[request.kind] ?? [])
        request.scopedHeaders +=
            authorization.scopedHeaders + [ScopedHeaderField](fields, forOriginsOf: authorization.trustedAddresses)
        return try await authorization.sign?(request) ?? request
    }

    /// Whether there is something new to sign with.
    private func renewed(since generation: Int, _ error: TransportError) async throws -> Bool {
        guard let renew = authorization.renew else { return false }
        while true {
            enum Turn { case ours, theirs, done(Bool) }
            let turn: Turn = state.withLock { state in
                if state.generation != generation { return .done(state.wasRenewed) }
                if state.isRenewing { return .theirs }
                state.isRenewing = true
                return .ours
            }
            switch turn {
            case .done(let wasRenewed): return wasRenewed
            case .theirs:
                await waitForRenewal()
                try Task.checkCancellation()
            case .ours:
                var isRenewed = false
                defer { endRenewal(isRenewed) }
                isRenewed = try await renew(error)
                return isRenewed
            }
        }
    }

    private func waitForRenewal() async {
        let id = state.withLock { state in
            state.lastWaiting += 1
            return state.lastWaiting
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.isRenewing, !Task.isCancelled else { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }

    private func endRenewal(_ isRenewed: Bool) {
        let waiting = state.withLock { state in
            state.isRenewing = false
            state.wasRenewed = isRenewed
            state.generation += 1
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }
}
