import HTTPTypes
import MediaTiming
import PlaylistEditing
import Synchronization

/// The capacity that the current requests of a server use, within its limits.
final class ServerCapacity: Sendable {
    private struct Use {
        var requests: ClientShares
        var bytes: Int64 = 0
    }

    /// The number of simultaneous requests that a client can have in any case, so that a player can load the playlists of a
    /// presentation at once.
    private static let minimumShare = 12

    let limits: ServerLimits
    private let use: Mutex<Use>

    init(_ limits: ServerLimits) {
        self.limits = limits
        let requests = ClientShares(
            total: limits.pendingEdits,
            minimum: Self.minimumShare,
            maximum: limits.pendingEditsPerClient
        )
        use = Mutex(Use(requests: requests))
    }

    /// The number of requests that are admitted.
    var pendingRequests: Int { use.withLock { $0.requests.count } }
    /// The number of bytes that these requests hold.
    var pendingBytes: Int64 { use.withLock { $0.bytes } }

    /// Admits a request of the client whose request the current task processes.
    ///
    /// - Returns: The budget of the request, which is released with the last reference to it.
    /// - Throws: ``ServerError`` with 503 if there are too many requests, with 429 if too many of them are of this client.
    func admit() throws -> RequestBudget {
        let client = RequestingClient.current
        try use.withLock { try $0.requests.add(client) }
        return RequestBudget(self, client)
    }

    /// Returns a budget for a load that several requests share, which is released with the last reference to it.
    func loadingBudget() -> EditBudget {
        let reservation = CapacityReservation(self)
        return EditBudget(limits.editing) { try reservation.add($0) }
    }

    /// Reserves capacity for bytes, which is released with the last reference to the result.
    ///
    /// - Throws: ``ServerError`` with 503 if all requests together hold too much.
    func reservation(of bytes: Int) throws -> any AnyObject & Sendable {
        let reservation = CapacityReservation(self)
        try reservation.add(bytes)
        return reservation
    }

    fileprivate func reserve(_ bytes: Int64) throws {
        let isReserved = use.withLock { use in
            guard bytes <= limits.pendingBytes.bytes -| use.bytes else { return false }
            use.bytes +|= bytes
            return true
        }
        guard isReserved else { throw ServerError.busy }
    }

    fileprivate func release(_ bytes: Int64) { use.withLock { $0.bytes -|= bytes } }

    fileprivate func releaseRequest(of client: RequestingClient?) { use.withLock { $0.requests.remove(client) } }
}

/// The budget of a single request: the bytes that it has loaded and the capacity that it holds.
final class RequestBudget: Sendable {
    /// The budget of the editor, whose loaded bytes are reserved.
    let editing: EditBudget
    let limits: ServerLimits
    private let reservation: CapacityReservation

    fileprivate init(_ server: ServerCapacity, _ client: RequestingClient?) {
        let reservation = CapacityReservation(server) { server.releaseRequest(of: client) }
        self.reservation = reservation
        limits = server.limits
        editing = EditBudget(server.limits.editing) { try reservation.add($0) }
    }

    /// Reserves capacity for bytes until the request ends.
    ///
    /// - Throws: ``ServerError`` with 503 if all requests together hold too much.
    func reserve(_ bytes: Int) throws { try reservation.add(bytes) }
}

/// The capacity that a request holds, which is released with the last reference to it.
private final class CapacityReservation: Sendable {
    private let server: ServerCapacity
    private let onRelease: @Sendable () -> Void
    private let bytes = Mutex<Int64>(0)

    init(_ server: ServerCapacity, onRelease: @escaping @Sendable () -> Void = {}) {
        self.server = server
        self.onRelease = onRelease
    }

    deinit {
        server.release(bytes.withLock { $0 })
        onRelease()
    }

    func add(_ count: Int) throws {
        try server.reserve(Int64(count))
        bytes.withLock { $0 +|= Int64(count) }
    }
}
