import HummingbirdCore
import NIOCore
import Synchronization

/// The presence of the client of a connection.
///
/// The end of a connection is noticed at once, even while the client waits for a response and nothing is read from the
/// connection; see ``ClientDisconnectHandler``.
final class ClientPresence: Sendable {
    private struct State {
        var isDisconnected = false
        var actions: [Int: @Sendable () -> Void] = [:]
        var nextAction = 0
        var confirmation: (key: EditedPlaylistCache.Key, result: RepeatedResponses.Confirmation)?
        var cacheResult: CacheResult?
    }

    /// The presence of the client whose request the current task processes; `nil` outside a request.
    @TaskLocal static var current: ClientPresence?

    private let state = Mutex(State())

    /// Sets the result of requesting the sources again, for the next request of the client; `nil` if there is none.
    func setConfirmation(_ confirmation: (key: EditedPlaylistCache.Key, result: RepeatedResponses.Confirmation)?) {
        state.withLock { $0.confirmation = confirmation }
    }

    /// Returns the result of requesting the sources again for the current request, and removes it; `nil` if it is for
    /// another request.
    func takeConfirmation(for key: EditedPlaylistCache.Key) -> RepeatedResponses.Confirmation? {
        let confirmation = state.withLock { $0.confirmation.take() }
        return confirmation?.key == key ? confirmation?.result : nil
    }

    /// Sets the use of the memory cache of the server for the response to the current request.
    func setCacheResult(_ result: CacheResult) {
        state.withLock { $0.cacheResult = result }
    }

    /// Returns the use of the memory cache for the response to the current request, and removes it; `nil` if the cache
    /// was not used.
    func takeCacheResult() -> CacheResult? { state.withLock { $0.cacheResult.take() } }

    /// Records that the client has closed the connection, and runs the registered actions.
    func markDisconnected() {
        let actions = state.withLock { state in
            defer { state.actions = [:] }
            state.isDisconnected = true
            return Array(state.actions.values)
        }
        for action in actions { action() }
    }

    /// Registers an action to run when the client closes the connection; if the connection is closed already, runs it
    /// at once.
    ///
    /// - Returns: The number with which ``forget(_:)`` removes the action; `nil` if it has run.
    private func onDisconnect(_ action: @escaping @Sendable () -> Void) -> Int? {
        let number: Int? = state.withLock { state in
            guard !state.isDisconnected else { return nil }
            state.nextAction += 1
            state.actions[state.nextAction] = action
            return state.nextAction
        }
        if number == nil { action() }
        return number
    }

    private func forget(_ number: Int?) {
        guard let number else { return }
        state.withLock { $0.actions[number] = nil }
    }

    /// Runs an operation that is canceled, with a `CancellationError`, when the client of the current request closes
    /// the connection.
    static func whileClientIsConnected<Result: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let current else { return try await operation() }
        return try await withThrowingTaskGroup(of: Result.self) { group in
            group.addTask { try await operation() }
            // The operation is canceled when the scope of the group ends, for any reason.
            let (disconnects, source) = AsyncStream<Void>.makeStream()
            let number = current.onDisconnect { source.finish() }
            defer { current.forget(number) }
            group.addTask {
                for await _ in disconnects {}
                throw CancellationError()
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw CancellationError() }
            return result
        }
    }
}

/// A channel handler that detects when the client closes its side of a connection.
final class ClientDisconnectHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any
    typealias InboundOut = Any

    private static let presences = Mutex<[ObjectIdentifier: ClientPresence]>([:])

    let presence = ClientPresence()

    /// Returns the presence of the client of a connection; `nil` once the connection has ended.
    ///
    /// It can be called on any thread, so that requests do not wait for the thread of the connection.
    static func presence(on channel: any Channel) -> ClientPresence? {
        presences.withLock { $0[ObjectIdentifier(channel)] }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let key = ObjectIdentifier(context.channel)
        Self.presences.withLock { $0[key] = presence }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        let key = ObjectIdentifier(context.channel)
        Self.presences.withLock { $0[key] = nil }
        // A request of the connection cannot find the presence any longer.
        presence.markDisconnected()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { presence.markDisconnected() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        presence.markDisconnected()
        context.fireChannelInactive()
    }
}

extension HTTP1Channel {
    /// Creates an HTTP/1.1 channel whose request handlers can detect that the client has closed the connection.
    static func detectingDisconnects(_ responder: @escaping HTTPChannelHandler.Responder) -> HTTP1Channel {
        HTTP1Channel(
            responder: { request, writer, channel in
                let presence = ClientDisconnectHandler.presence(on: channel)
                // A closure cannot consume a captured noncopyable value, so the writer is moved out of an optional.
                var pending: ResponseWriter? = consume writer
                try await ClientPresence.$current.withValue(presence) {
                    guard let writer = pending.take() else { return }
                    try await responder(request, writer, channel)
                }
            },
            configuration: .init(additionalChannelHandlers: [ClientDisconnectHandler()])
        )
    }
}
