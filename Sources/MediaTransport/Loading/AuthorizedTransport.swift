public import MediaTiming
public import ResourceAddressing
import Synchronization

/// The header fields and signatures of the requests of an asset, with a closure that renews them.
public struct RequestAuthorization: Sendable {
    /// The header fields of all requests to the origins of ``trustedAddresses``.
    public var headers: [HeaderField]
    /// The header fields of requests of one kind to these origins, added after ``headers``.
    public var headersByKind: [TransportRequest.Kind: [HeaderField]]
    /// The header fields with the hosts that they are sent to.
    public var scopedHeaders: [ScopedHeaderField]
    /// The URLs whose origins receive ``headers`` and ``headersByKind``, including the URL of the asset.
    ///
    /// Other hosts do not receive them, because a playlist can name any host.
    public var trustedAddresses: [ResourceAddress]
    /// A closure that signs a request by changing its URL or header fields, called each time before the request is
    /// sent.
    public var sign: (@Sendable (TransportRequest) async throws -> TransportRequest)?
    /// A closure that renews the credentials after a response with status 401 or 403; returns `false` if it cannot.
    ///
    /// If several requests fail at the same time, the closure is called once, and the other requests wait for it. New
    /// credentials are used even if the closure returns them after its request was canceled, or after the time limit.
    public var renew: (@Sendable (TransportError) async throws -> Bool)?
    /// The time in which ``sign`` and ``renew`` must return, before the request fails; 60 seconds by default, `nil` for
    /// no limit.
    ///
    /// A signature that is late fails with ``TransportError/Code/timedOut``, and its request is repeated as after
    /// other timeouts. After a renewal that is late, the request fails with the status 401 or 403, and the timeout is
    /// the cause of the error.
    ///
    /// The task of a closure that has not returned by then is canceled, as it is when the request is canceled; the
    /// request does not wait for its end.
    public var responseTimeLimit: Duration? = .seconds(60)

    /// Creates an authorization.
    ///
    /// - Parameters:
    ///   - trustedAddresses: The URL of the asset, and of others that may receive the header fields.
    ///   - headers: The header fields of all requests to these origins.
    ///   - headersByKind: The header fields of requests of one kind to these origins.
    ///   - scopedHeaders: The header fields with the hosts that they are sent to.
    ///   - sign: A closure that signs a request to any host.
    ///   - renew: A closure that renews the credentials.
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

/// A transport that adds the authorization of an asset to each request of another transport.
///
/// After a status of 401 or 403, the credentials are renewed once and the request is sent once more; a second such
/// status is reported as an error.
public final class AuthorizedTransport: Transport {
    private struct State {
        /// The number of renewals, by which a request detects a renewal since it was signed.
        var generation = 0
        /// The number of the renewal that requests wait for; `nil` if there is none.
        var currentRenewal: Int?
        /// The number of renewals that were begun.
        var renewalCount = 0
        /// A Boolean value that indicates whether the last renewal was successful.
        var wasRenewed = false
    }

    private let base: any Transport
    private let authorization: RequestAuthorization
    private let state = Mutex(State())
    private let renewals = Broadcast()
    private let time: any TimeSource

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - base: The transport that sends the requests.
    ///   - authorization: The authorization.
    ///   - time: The clock for the time limit of the closures of the authorization.
    public init(
        _ base: any Transport,
        authorization: RequestAuthorization,
        time: any TimeSource = SystemTimeSource()
    ) {
        self.base = base
        self.authorization = authorization
        self.time = time
    }

    /// Sends a request; see ``Transport/send(_:)``.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let generation = state.withLock { $0.generation }
        do {
            return try await sendSigned(request)
        } catch let error as TransportError where error.status == 401 || error.status == 403 {
            guard try await renewCredentials(since: generation, after: error) else { throw error }
            return try await sendSigned(request)
        }
    }

    /// Signs and sends a request.
    ///
    /// - Returns: The response. Parameters of the query that the signature added are not part of its URL, which is stored
    ///   and written into playlists; a URL that the signature replaced is, and so is that of a redirect to another host.
    /// - Throws: The errors of the signature and of the underlying transport.
    private func sendSigned(_ request: TransportRequest) async throws -> TransportResponse {
        let signed = try await prepared(request)
        let added = AddedParameters(from: request.address, to: signed.address)
        guard signed.address != request.address, added.removed(from: signed.address) == request.address else {
            return try await base.send(signed)
        }
        func restored(_ address: ResourceAddress) -> ResourceAddress {
            address.host == request.address.host ? added.removed(from: address) : address
        }
        do {
            let response = try await base.send(signed)
            return response.at(restored(response.address))
        } catch let error as TransportError {
            throw error.address.map { error.at(restored($0)) } ?? error
        }
    }

    private func prepared(_ request: TransportRequest) async throws -> TransportRequest {
        var request = request
        let fields = authorization.headers + (authorization.headersByKind[request.kind] ?? [])
        request.scopedHeaders +=
            authorization.scopedHeaders + [ScopedHeaderField](fields, forOriginsOf: authorization.trustedAddresses)
        guard let sign = authorization.sign else { return request }
        let unsigned = request
        return try await call(of: request.address, "signed the request") { try await sign(unsigned) }
    }

    private func call<Value: Sendable>(
        of address: ResourceAddress?,
        _ action: String,
        _ closure: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await ApplicationCall.result(within: authorization.responseTimeLimit, time, of: address, action, closure)
    }

    /// Renews the credentials, unless another request has done so since the given generation.
    ///
    /// - Returns: A Boolean value that indicates whether there are new credentials.
    private func renewCredentials(since generation: Int, after error: TransportError) async throws -> Bool {
        guard let renew = authorization.renew else { return false }
        while true {
            enum Turn { case renew(Int), wait, done(Bool) }
            let seen = renewals.count
            let turn: Turn = state.withLock { state in
                if state.generation != generation { return .done(state.wasRenewed) }
                if state.currentRenewal != nil { return .wait }
                state.renewalCount += 1
                state.currentRenewal = state.renewalCount
                return .renew(state.renewalCount)
            }
            switch turn {
            case .done(let wasRenewed): return wasRenewed
            case .wait:
                await renewals.wait(after: seen)
                try Task.checkCancellation()
            case .renew(let number): return try await perform(renew, number, after: error)
            }
        }
    }

    /// Calls the closure that renews the credentials.
    ///
    /// - Parameters:
    ///   - renew: The closure.
    ///   - number: The number of the renewal.
    ///   - refusal: The error after which the credentials are renewed.
    /// - Returns: A Boolean value that indicates whether there are new credentials.
    /// - Throws: The error of the closure; the refusal after the time limit; `CancellationError`.
    private func perform(
        _ renew: @escaping @Sendable (TransportError) async throws -> Bool,
        _ number: Int,
        after refusal: TransportError
    ) async throws -> Bool {
        let outcome: Result<Bool, any Error>
        do {
            outcome = try await call(of: refusal.address, "renewed the credentials") { () -> Result<Bool, any Error> in
                do {
                    let isRenewed = try await renew(refusal)
                    // Others use the new credentials even if this request was canceled or the time limit has passed.
                    if isRenewed { self.endRenewal(number, true) }
                    return .success(isRenewed)
                } catch {
                    return .failure(error)
                }
            }
        } catch let timeout as TransportError {
            endRenewal(number, false)
            // A repeated request would call the closure again while the first call may still be running.
            var refusal = refusal
            refusal.cause = timeout
            throw refusal
        } catch {
            endRenewal(number, nil)
            throw error
        }
        switch outcome {
        case .success(let isRenewed):
            if !isRenewed { endRenewal(number, Task.isCancelled ? nil : false) }
            return isRenewed
        case .failure(let error):
            endRenewal(number, Task.isCancelled || error is CancellationError ? nil : false)
            throw error
        }
    }

    /// Ends a renewal, and resumes the requests that wait for it.
    ///
    /// If no request waits for the renewal anymore, only its success is recorded.
    ///
    /// - Parameters:
    ///   - number: The number of the renewal.
    ///   - isRenewed: A Boolean value that indicates whether there are new credentials; `nil` if the request that
    ///     renewed them was canceled, so that another request renews them.
    private func endRenewal(_ number: Int, _ isRenewed: Bool?) {
        state.withLock { state in
            let isCurrent = state.currentRenewal == number
            if isCurrent { state.currentRenewal = nil }
            guard let isRenewed, isRenewed || isCurrent else { return }
            state.wasRenewed = isRenewed
            state.generation += 1
        }
        renewals.notify()
    }
}
