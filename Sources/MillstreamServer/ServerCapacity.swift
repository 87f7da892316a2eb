import HTTPTypes
import MediaTiming
import PlaylistEditing
import Synchronization

/// The capacity that the current requests of a server use, within its limits.
final class ServerCapacity: Sendable {
    private struct Use {
        var requests = 0
        var bytes: Int64 = 0
    }

    let limits: ServerLimits
    private let use = Mutex(Use())

    init(_ limits: ServerLimits) { self.limits = limits }

    /// The number of requests that are admitted.
    var pendingRequests: Int { use.withLock { $0.requests } }
    /// The number of bytes that these requests hold.
    var pendingBytes: Int64 { use.withLock { $0.bytes } }

    /// Admits a request.
    ///
    /// - Returns: The budget of the request, which is released with the last reference to it.
    /// - Throws: ``ServerError`` with 503 if there are too many requests.
    func admit() throws -> RequestBudget {
        let isAdmitted = use.withLock { use in
            guard use.requests < limits.pendingEdits else { return false }
            use.requests += 1
            return true
        }
        guard isAdmitted else { throw Self.busy }
        return RequestBudget(self)
    }

    /// Returns a budget for a load that several requests share, which is released with the last reference to it.
    func loadingBudget() -> EditBudget {
        let reservation = CapacityReservation(self, requests: 0)
        return EditBudget(limits.editing) { try reservation.add($0) }
    }

    /// Reserves capacity for bytes, which is released with the last reference to the result.
    ///
    /// - Throws: ``ServerError`` with 503 if all requests together hold too much.
    func reservation(of bytes: Int) throws -> any AnyObject & Sendable {
        let reservation = CapacityReservation(self, requests: 0)
        try reservation.add(bytes)
        return reservation
    }

    fileprivate func reserve(_ bytes: Int64) throws {
        let isReserved = use.withLock { use in
            guard bytes <= limits.pendingBytes.bytes -| use.bytes else { return false }
            use.bytes +|= bytes
            return true
        }
        guard isReserved else { throw Self.busy }
    }

    fileprivate func release(_ bytes: Int64, requests: Int = 0) {
        use.withLock { use in
            use.bytes -|= bytes
            use.requests -= requests
        }
    }

    private static var busy: ServerError {
        ServerError(.serviceUnavailable, "busy", "the server is at capacity", hint: "try again in a moment")
    }
}

/// The budget of a single request: the bytes that it has loaded and the capacity that it holds.
final class RequestBudget: Sendable {
    /// The budget of the editor, whose loaded bytes are reserved.
    let editing: EditBudget
    let limits: ServerLimits
    private let reservation: CapacityReservation

    fileprivate init(_ server: ServerCapacity) {
        let reservation = CapacityReservation(server, requests: 1)
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
    private let requests: Int
    private let bytes = Mutex<Int64>(0)

    init(_ server: ServerCapacity, requests: Int) {
        self.server = server
        self.requests = requests
    }

    deinit { server.release(bytes.withLock { $0 }, requests: requests) }

    func add(_ count: Int) throws {
        try server.reserve(Int64(count))
        bytes.withLock { $0 +|= Int64(count) }
    }
}
