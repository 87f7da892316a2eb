import Foundation
import HTTPTypes
import MediaTiming
import MediaTransport
import NIOCore
import NetworkConditioning
import ResourceAddressing
import Synchronization

/// The response to a request for an edited playlist, as it was sent.
final class RepeatedResponse: Sendable {
    /// The status of the response.
    let status: HTTPResponse.Status
    /// The head of the response, without `Date`.
    private let head: HTTPResponse
    /// The body; `nil` for a response without one.
    private let body: ByteBuffer?
    /// The response with the date of the last second in which it was sent.
    private let encoded: Mutex<(date: String, response: EncodedResponse)>
    /// The playlist that was sent.
    fileprivate let playlist: EditedPlaylistCache.Entry
    let key: EditedPlaylistCache.Key
    /// The time from which on the address is invalid; `nil` if it does not expire.
    fileprivate let expiry: AddressExpiry?
    fileprivate let initiator: RequestInitiator

    fileprivate init(_ offer: ResponseOffer.Value, head: HTTPResponse) {
        self.head = head
        status = head.status
        body = head.status == .ok ? offer.playlist.body(for: head) : nil
        encoded = Mutex(("", EncodedResponse(head, body: body)))
        playlist = offer.playlist
        key = offer.key
        expiry = offer.expiry
        initiator = offer.initiator
    }

    fileprivate var size: Int { playlist.size +| key.size +| 4_096 }

    /// The number of bytes of the body.
    var bodySize: Int { body?.readableBytes ?? 0 }

    /// Returns the response with a date (RFC 9110 §6.6.1), which is encoded once for all requests of a second.
    func response(date: String) -> EncodedResponse {
        encoded.withLock { encoded in
            if encoded.date != date {
                var head = head
                head.headerFields[.date] = date
                encoded = (date, EncodedResponse(head, body: body))
            }
            return encoded.response
        }
    }
}

/// The responses that a server has sent to requests for edited playlists, which it sends again to equal requests while the
/// sources of the playlists are unchanged.
///
/// The thread of a connection answers from them itself: neither the router nor a task takes part.
final class RepeatedResponses: Sendable {
    /// The state of the sources of a response.
    enum SourceState {
        case fresh
        /// The sources must be requested again before the response is used.
        case unconfirmed

        /// The way in which a request is answered.
        var playlistSource: ServerMetrics.PlaylistSource {
            switch self {
            case .fresh: .fresh
            case .unconfirmed: .validated
            }
        }
    }

    /// The result of requesting the sources of a response again.
    enum Confirmation: Sendable {
        /// The sources are unchanged.
        case confirmed
        /// A source has changed.
        case changed(ChangedSources)
        case failed(any Error)
    }

    /// A client that waits for a confirmation.
    struct Waiter: Sendable {
        fileprivate let batch: BatchKey
        fileprivate let number: Int
    }

    fileprivate struct BatchKey: Hashable {
        let key: EditedPlaylistCache.Key
        let versions: [ResourceAddress: UInt64]
    }

    /// A request for sources, and the clients that wait for it.
    private struct Batch {
        let number: Int
        var task: Task<Void, Never>?
        var waiters: [Int: @Sendable (Confirmation) -> Void] = [:]
    }

    private struct State {
        var responses: RecentlyUsedValues<RepeatedRequest, RepeatedResponse>
        var batches: [BatchKey: Batch] = [:]
        var lastNumber = 0
    }

    private let sources: SourceAccess
    private let capacity: ServerCapacity
    private let metrics: ServerMetrics
    private let faults: FaultSettings
    private let links: LinkRegistry
    private let now: @Sendable () -> UnixSeconds
    private let state: Mutex<State>

    /// Creates a memory without responses.
    ///
    /// - Parameters:
    ///   - sources: The access to sources by kind of client.
    ///   - capacity: The capacity of the server.
    ///   - metrics: The metrics in which responses are counted.
    ///   - faults: The simulated faults, during which nothing is answered.
    ///   - links: The simulated network conditions, during which nothing is answered if they apply to all streams.
    ///   - size: The maximum size of all responses together, including the playlists that they share with the cache of
    ///     edited playlists.
    ///   - now: The clock.
    init(
        sources: SourceAccess,
        capacity: ServerCapacity,
        metrics: ServerMetrics,
        faults: FaultSettings,
        links: LinkRegistry,
        size: ByteCount = ByteCount(64 << 20),
        now: @escaping @Sendable () -> UnixSeconds = { .now }
    ) {
        self.sources = sources
        self.capacity = capacity
        self.metrics = metrics
        self.faults = faults
        self.links = links
        self.now = now
        state = Mutex(State(responses: RecentlyUsedValues(maximumSize: size)))
    }

    /// A number that changes with the simulated faults; `nil` while faults or network conditions are simulated for all
    /// playlists.
    var undisturbedRevision: Int? {
        guard links.shared.profile.isPerfect else { return nil }
        return faults.emptyRevision
    }

    /// Stores the response to a request.
    ///
    /// - Parameters:
    ///   - offer: The playlist that was sent.
    ///   - head: The head of the response.
    ///   - request: The request.
    func store(_ offer: ResponseOffer.Value, head: HTTPResponse, for request: RepeatedRequest) {
        // Network conditions of an address delay its playlists.
        guard !offer.key.target.contains("conditions") else { return }
        let response = RepeatedResponse(offer, head: head)
        state.withLock { $0.responses.insert(response, size: response.size +| request.size, for: request) }
    }

    /// Returns the response to a request, and the state of its sources; `nil` if it must be generated.
    func response(to request: RepeatedRequest) -> (response: RepeatedResponse, sources: SourceState)? {
        guard let response = state.withLock({ $0.responses.use(request) }), undisturbedRevision != nil else {
            return nil
        }
        let now = now()
        guard response.playlist.second ?? now == now, response.expiry.map({ now < $0.time }) ?? true else { return nil }
        return (
            response, response.playlist.isFresh(in: sources.memory(for: response.initiator)) ? .fresh : .unconfirmed
        )
    }

    /// Reserves capacity for the body of a response; `nil` if the server has none.
    func reservation(for response: RepeatedResponse) -> (any AnyObject & Sendable)? {
        try? capacity.reservation(of: response.bodySize)
    }

    /// Counts a response that was sent again.
    func count(_ response: RepeatedResponse, _ sources: SourceState, duration: Duration) {
        metrics.countPlaylist(sources.playlistSource)
        metrics.count(path: RepeatedRequest.path, status: Int(response.status.code), duration: duration)
    }

    // MARK: Confirmations

    /// Requests the sources of a response again, once for all clients that wait for the same ones.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - client: The address of the client; `nil` if it has none.
    ///   - completion: Called with the result, on any thread, unless the client leaves before.
    /// - Returns: The client among those that wait.
    func confirm(
        _ response: RepeatedResponse,
        for client: HostAddress? = nil,
        _ completion: @escaping @Sendable (Confirmation) -> Void
    ) -> Waiter {
        let client = client.map { address in
            RequestingClient(network: ClientNetwork(address), isForeign: response.initiator.isForeign)
        }
        let key = BatchKey(key: response.key, versions: response.playlist.versions)
        return state.withLock { state in
            state.lastNumber &+= 1
            let waiter = Waiter(batch: key, number: state.lastNumber)
            if state.batches[key] != nil {
                state.batches[key]?.waiters[waiter.number] = completion
                return waiter
            }
            var batch = Batch(number: waiter.number)
            batch.waiters[waiter.number] = completion
            batch.task = RequestingClient.$current.withValue(client) {
                Task { await run(key, waiter.number, response) }
            }
            state.batches[key] = batch
            return waiter
        }
    }

    /// Removes a client that does not wait any longer; the request is canceled with the last one.
    func leave(_ waiter: Waiter) {
        let task: Task<Void, Never>? = state.withLock { state in
            guard var batch = state.batches[waiter.batch], batch.waiters.removeValue(forKey: waiter.number) != nil
            else {
                return nil
            }
            state.batches[waiter.batch] = batch.waiters.isEmpty ? nil : batch
            return batch.waiters.isEmpty ? batch.task : nil
        }
        task?.cancel()
    }

    private func run(_ key: BatchKey, _ number: Int, _ response: RepeatedResponse) async {
        let confirmation = await confirmation(of: response)
        let batch: Batch? = state.withLock { state in
            guard state.batches[key]?.number == number else { return nil }
            return state.batches.removeValue(forKey: key)
        }
        for completion in batch?.waiters.values ?? [:].values { completion(confirmation) }
    }

    private func confirmation(of response: RepeatedResponse) async -> Confirmation {
        let session = LoadSession(
            memory: sources.memory(for: response.initiator),
            loader: sources.access(for: response.initiator).loading,
            capacity: capacity
        )
        do {
            let budget = try capacity.admit()
            defer { withExtendedLifetime(budget) {} }
            let presentations = sources.presentations(for: response.initiator)
            guard try await session.confirms(response.playlist.versions, presentations) else {
                return .changed(ChangedSources(session))
            }
            return .confirmed
        } catch {
            return .failed(error)
        }
    }
}
