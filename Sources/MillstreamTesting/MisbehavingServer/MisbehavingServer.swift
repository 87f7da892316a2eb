import NIOCore
import NIOPosix
import Synchronization

/// An HTTP/1.1 server on this machine that serves what it is given and misbehaves on command.
///
/// It writes its answers byte by byte itself, so it can break the protocol anywhere. What it does is said for each
/// path and for each request to it:
///
/// ```swift
/// try await MisbehavingServer.withServer(["/a.ts": .init(bytes, contentType: "video/mp2t")]) { server in
///     server.behave("/a.ts", .status(503), [.delay(.milliseconds(20)), .truncate(after: 100)], .proper)
///     try await play(server.address("/a.ts"))
///     #expect(server.requests.count == 3)
/// }
/// ```
///
/// Every server has a thread of its own and takes no other. No field of an answer depends on the time or the machine.
public final class MisbehavingServer: Sendable {
    fileprivate struct State {
        var listener: (any Channel)?
        var resources: [String: Resource]
        var behaviours: [String: [Behaviour]] = [:]
        var requests: [Request] = []
        var connections = 0
    }

    private let group: MultiThreadedEventLoopGroup
    private let start = NIODeadline.now()
    private let state: Mutex<State>

    /// The port it listens on, chosen by the system.
    public var port: Int { state.withLock { $0.listener?.localAddress?.port ?? 0 } }

    /// What was asked so far, in order of arrival over all connections.
    ///
    /// A request counts as soon as all of it is there and all answers before it on its connection have ended.
    public var requests: [Request] { state.withLock { $0.requests } }

    /// How many connections were opened so far.
    public var connectionCount: Int { state.withLock { $0.connections } }

    private init(_ resources: [String: Resource], _ group: MultiThreadedEventLoopGroup) {
        let pairs = resources.map { (Self.absolute($0.key), $0.value) }
        state = Mutex(State(resources: Dictionary(pairs) { _, last in last }))
        self.group = group
    }

    /// Runs a server for as long as `body` runs.
    ///
    /// When `body` returns or throws, or the task is cancelled, every connection is closed and every wait ends; by the
    /// time this returns, nothing of the server is left.
    ///
    /// - Parameters:
    ///   - resources: What is served, by path; whatever is missing is answered with 404.
    ///   - body: What is done with the server.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or the system's error where no port could be had.
    public static func withServer<R>(
        _ resources: [String: Resource] = [:],
        _ body: (MisbehavingServer) async throws -> R
    ) async throws -> R {
        let server = MisbehavingServer(resources, MultiThreadedEventLoopGroup(numberOfThreads: 1))
        do {
            try await server.listen()
            let result = try await withTaskCancellationHandler {
                try await body(server)
            } onCancel: {
                // A client that ignores cancellation still sees its connection end.
                server.group.shutdownGracefully { _ in }
            }
            try? await server.group.shutdownGracefully()
            return result
        } catch {
            try? await server.group.shutdownGracefully()
            throw error
        }
    }

    /// The address of a path, such as `http://127.0.0.1:40123/a.ts`.
    ///
    /// - Parameter path: The path with or without its first slash; a query may follow. It is not encoded.
    /// - Returns: The address, as text.
    public func address(_ path: String) -> String { "http://127.0.0.1:\(port)\(Self.absolute(path))" }

    /// Serves a resource at a path from now on, in place of the one before it.
    public func set(_ path: String, _ resource: Resource) {
        state.withLock { $0.resources[Self.absolute(path)] = resource }
    }

    /// Says how the next requests to a path are answered.
    ///
    /// The first request from now on gets the first behaviour, the second the second, and the last one stays. This
    /// replaces what was said before about the path; without a behaviour, the path is answered properly again.
    ///
    /// - Parameters:
    ///   - path: The path without a query, or `"*"` for all paths of which nothing else was said. The requests to
    ///     those are counted together.
    ///   - behaviours: What is done, request by request. Paths that serve nothing can misbehave too.
    public func behave(_ path: String, _ behaviours: Behaviour...) {
        let key = path == "*" ? path : Self.absolute(path)
        state.withLock { $0.behaviours[key] = behaviours.isEmpty ? nil : behaviours }
    }

    private static func absolute(_ path: String) -> String { path.utf8.first == 0x2F ? path : "/" + path }

    private func listen() async throws {
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            // A client that has said all it wants to say may still want the answer.
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let number = self.state.withLock { state in
                        state.connections += 1
                        return state.connections
                    }
                    let handler = ConnectionHandler(self, connection: number, on: channel)
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
        let listener = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
        state.withLock { $0.listener = listener }
    }

    /// Writes a request down and says what is to be done about it.
    func actions(for message: RequestMessage, on connection: Int, idleRule: IdleRule) -> [WireAction] {
        let dropping = idleRule.actionOnNextRequest
        let request = Request(
            message,
            time: Duration(NIODeadline.now() - start),
            connection: connection,
            isDropped: dropping != nil
        )
        let (resource, behaviour) = state.withLock { state in
            state.requests.append(request)
            // A dropped request takes no behaviour: its client will come again for it.
            return dropping == nil ? state.next(for: request.path) : (nil, .proper)
        }
        if let dropping { return [dropping] }
        var answer = Answer(to: request, for: resource)
        for step in behaviour.steps { answer.apply(step, request, resource) }
        return answer.actions
    }
}

extension MisbehavingServer.State {
    /// Takes the next behaviour for a path; a change of its resource happens here, so it lasts.
    mutating func next(
        for path: String
    ) -> (resource: MisbehavingServer.Resource?, behaviour: MisbehavingServer.Behaviour) {
        let key = behaviours[path] == nil ? "*" : path
        var behaviour = MisbehavingServer.Behaviour.proper
        if var waiting = behaviours[key] {
            behaviour = waiting.count > 1 ? waiting.removeFirst() : waiting[0]
            behaviours[key] = waiting
        }
        for case .change(let replacement) in behaviour.steps {
            resources[path] = replacement ?? resources[path]?.changed()
        }
        return (resources[path], behaviour)
    }
}
