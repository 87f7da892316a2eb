import HummingbirdCore
import NIOCore
import Synchronization

/// The presence of the client of a connection.
///
/// A client that closes its connection while it waits is noticed at once, although nothing reads from the connection at that
/// moment; see ``ClientDeparture``.
final class ClientPresence: Sendable {
    private struct State {
        var hasLeft = false
        var actions: [Int: @Sendable () -> Void] = [:]
        var nextAction = 0
    }

    /// The presence of the client whose request the current task answers; `nil` outside of a request.
    @TaskLocal static var current: ClientPresence?

    private let state = Mutex(State())

    /// Notes that the client is gone.
    func leave() {
        let actions = state.withLock { state in
            defer { state.actions = [:] }
            state.hasLeft = true
            return Array(state.actions.values)
        }
        for action in actions { action() }
    }

    /// Calls an action once the client is gone, at once if it is gone already.
    ///
    /// - Returns: The number by which ``forget(_:)`` takes the action back.
    private func whenLeft(_ action: @escaping @Sendable () -> Void) -> Int? {
        let number: Int? = state.withLock { state in
            guard !state.hasLeft else { return nil }
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

    /// Does something that ends with `CancellationError` when the client of the current request leaves.
    static func whileClientStays<Result: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let current else { return try await operation() }
        return try await withThrowingTaskGroup(of: Result.self) { group in
            group.addTask { try await operation() }
            // The cancellation of the group reaches the operation, whatever caused it.
            let (departures, source) = AsyncStream<Void>.makeStream()
            let number = current.whenLeft { source.finish() }
            defer { current.forget(number) }
            group.addTask {
                for await _ in departures {}
                throw CancellationError()
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw CancellationError() }
            return result
        }
    }
}

/// A channel handler that notices when the client closes its side of a connection.
final class ClientDeparture: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any
    typealias InboundOut = Any

    let presence = ClientPresence()

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { presence.leave() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        presence.leave()
        context.fireChannelInactive()
    }
}

extension HTTP1Channel {
    /// Creates a channel for HTTP/1.1 that lets handlers know when their client leaves.
    static func noticingDepartures(_ responder: @escaping HTTPChannelHandler.Responder) -> HTTP1Channel {
        HTTP1Channel(
            responder: { request, writer, channel in
                let presence = try? await channel.eventLoop.submit {
                    try channel.pipeline.syncOperations.handler(type: ClientDeparture.self).presence
                }.get()
                // A closure cannot consume what it captures, unless it is taken out of something.
                var pending: ResponseWriter? = consume writer
                try await ClientPresence.$current.withValue(presence) {
                    guard let writer = pending.take() else { return }
                    try await responder(request, writer, channel)
                }
            },
            configuration: .init(additionalChannelHandlers: [ClientDeparture()])
        )
    }
}
