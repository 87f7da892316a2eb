import MediaTiming
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
    /// If several requests fail at the same time, the closure is called once, and the other requests wait for it.
    public var renew: (@Sendable (TransportError) async throws -> Bool)?

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
        var isRenewing = false
        /// A Boolean value that indicates whether the last renewal was successful.
        var wasRenewed = false
    }

    private let base: any Transport
    private let authorization: RequestAuthorization
    private let state = Mutex(State())
    private let renewals = Broadcast()

    /// Creates a transport.
    public init(_ base: any Transport, authorization: RequestAuthorization) {
        self.base = base
        self.authorization = authorization
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
        return try await authorization.sign?(request) ?? request
    }

    /// Renews the credentials, unless another request has done so since the given generation.
    ///
    /// - Returns: A Boolean value that indicates whether there are new credentials.
    private func renewCredentials(since generation: Int, after error: TransportError) async throws -> Bool {
        guard let renew = authorization.renew else { return false }
        while true {
            enum Turn { case renew, wait, done(Bool) }
            let seen = renewals.count
            let turn: Turn = state.withLock { state in
                if state.generation != generation { return .done(state.wasRenewed) }
                if state.isRenewing { return .wait }
                state.isRenewing = true
                return .renew
            }
            switch turn {
            case .done(let wasRenewed): return wasRenewed
            case .wait:
                await renewals.wait(after: seen)
                try Task.checkCancellation()
            case .renew:
                do {
                    let isRenewed = try await renew(error)
                    endRenewal(isRenewed || !Task.isCancelled ? isRenewed : nil)
                    return isRenewed
                } catch {
                    endRenewal(Task.isCancelled || error is CancellationError ? nil : false)
                    throw error
                }
            }
        }
    }

    /// Ends a renewal, and resumes the requests that wait for it.
    ///
    /// - Parameter isRenewed: A Boolean value that indicates whether there are new credentials; `nil` if the request that
    ///   renewed them was canceled, so that another request renews them.
    private func endRenewal(_ isRenewed: Bool?) {
        state.withLock { state in
            state.isRenewing = false
            guard let isRenewed else { return }
            state.wasRenewed = isRenewed
            state.generation += 1
        }
        renewals.notify()
    }
}
