import HTTPTypes
import Hummingbird
import MediaTransport

/// The client for which a server works, as far as its share of the capacity is concerned.
struct RequestingClient: Sendable, Hashable {
    /// The address or network of the client.
    let network: ClientNetwork
    /// A Boolean value that indicates whether the request is one of a page of another site, whose owner is not that of the client.
    let isForeign: Bool

    /// The client whose request the current task processes; `nil` in a player of this process, and for a connection without an
    /// address, such as a Unix domain socket.
    @TaskLocal static var current: RequestingClient?
}

/// A middleware that names the client of each request for ``ClientShares``.
struct ClientRecognition: RouterMiddleware {
    let trustedProxies: [TrustedProxy]

    @concurrent func handle(
        _ request: Request,
        context: ServerRequestContext,
        next: @concurrent (Request, ServerRequestContext) async throws -> Response
    ) async throws -> Response {
        let client = trustedProxies.client(of: request, context).map { address in
            RequestingClient(network: ClientNetwork(address), isForeign: context.initiator.isForeign)
        }
        return try await RequestingClient.$current.withValue(client) { try await next(request, context) }
    }
}

/// The places that the clients of a server occupy: a quarter of all is the most for one client unless another number is given, and
/// half of them for all pages of other sites together.
///
/// The pages of other sites in a client have another share than its players and the pages of this server.
struct ClientShares: Sendable {
    /// The maximum number of places.
    let total: Int
    /// The maximum number of places of one client.
    let share: Int
    /// The maximum number of places of all pages of other sites together.
    let foreignTotal: Int
    /// The number of places that are occupied.
    private(set) var count = 0
    private var foreignCount = 0
    private var counts: [RequestingClient: Int] = [:]

    /// Creates places of which none is occupied.
    ///
    /// - Parameters:
    ///   - total: The maximum number of places.
    ///   - minimum: The number of places that a client can have, even if it is more than a quarter.
    ///   - maximum: The maximum number of places of one client; `nil` for a quarter and the minimum.
    init(total: Int, minimum: Int, maximum: Int? = nil) {
        self.total = total
        let usual = max(total / 4, min(total, minimum))
        share = maximum.map { min(total, max(0, $0)) } ?? usual
        // A larger share of each client does not permit more requests of pages of other sites.
        foreignTotal = max(total / 2, usual)
    }

    /// Occupies a place.
    ///
    /// - Parameter client: The client; `nil` for one without a share.
    /// - Throws: ``ServerError`` with 503 if all places are occupied, with 429 if the client has too many.
    mutating func add(_ client: RequestingClient?) throws {
        guard count < total else { throw ServerError.busy }
        if let client {
            let known = counts[client, default: 0]
            guard known < share else { throw ServerError.clientIsBusy }
            guard !client.isForeign || foreignCount < foreignTotal else { throw ServerError.busy }
            counts[client] = known + 1
            if client.isForeign { foreignCount += 1 }
        }
        count += 1
    }

    /// Leaves a place.
    ///
    /// - Parameter client: The client with which the place was occupied.
    mutating func remove(_ client: RequestingClient?) {
        count -= 1
        guard let client, let known = counts[client] else { return }
        counts[client] = known > 1 ? known - 1 : nil
        if client.isForeign { foreignCount -= 1 }
    }
}

extension ServerError {
    /// The error for a request for which the server has no capacity.
    static var busy: ServerError {
        ServerError(.serviceUnavailable, "busy", "the server is at capacity", hint: "try again in a moment")
    }

    /// The error for a request of a client that uses its share of the capacity.
    static var clientIsBusy: ServerError {
        ServerError(
            .tooManyRequests,
            "too-many-requests",
            "this client has too many requests at the same time",
            hint: "wait for some and try again"
        )
    }

    /// A Boolean value that indicates whether the error concerns one client only.
    var isOfOneClient: Bool { code == Self.clientIsBusy.code }
}
