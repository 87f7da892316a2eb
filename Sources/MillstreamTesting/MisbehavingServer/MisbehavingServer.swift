import NIOCore
import NIOPosix
import Synchronization

/// A local HTTP/1.1 server for tests that violates the protocol on command.
///
/// It serializes its responses itself, so it can violate the protocol at any point. The behavior is set for each path
/// and for each request to it:
///
/// ```swift
/// try await MisbehavingServer.withServer(["/a.ts": .init(bytes, contentType: "video/mp2t")]) { server in
///     server.behave("/a.ts", .status(503), [.delay(.milliseconds(20)), .truncate(after: 100)], .proper)
///     try await play(server.address("/a.ts"))
///     #expect(server.requests.count == 3)
/// }
/// ```
///
/// Each server runs on its own thread. The header fields of responses do not depend on the time or the machine.
public final class MisbehavingServer: Sendable {
    fileprivate struct State {
        var listener: (any Channel)?
        var resources: [String: Resource]
        var behaviors: [String: [Behavior]] = [:]
        var requests: [Request] = []
        var connections = 0
    }

    private let group: MultiThreadedEventLoopGroup
    private let start = NIODeadline.now()
    private let state: Mutex<State>

    /// The port on which the server listens, chosen by the system.
    public var port: Int { state.withLock { $0.listener?.localAddress?.port ?? 0 } }

    /// The requests so far, in order of arrival over all connections.
    ///
    /// A request is recorded once it has arrived completely and all earlier responses on its connection have ended.
    public var requests: [Request] { state.withLock { $0.requests } }

    /// The number of connections that have been opened.
    public var connectionCount: Int { state.withLock { $0.connections } }

    private init(_ resources: [String: Resource], _ group: MultiThreadedEventLoopGroup) {
        let pairs = resources.map { (Self.absolute($0.key), $0.value) }
        state = Mutex(State(resources: Dictionary(pairs) { _, last in last }))
        self.group = group
    }

    /// Runs a server while `body` runs.
    ///
    /// When `body` returns or throws, or the task is canceled, all connections are closed and all delays end. The
    /// server has ended completely when this method returns.
    ///
    /// - Parameters:
    ///   - resources: The resources by path; the response for any other path is 404.
    ///   - body: The closure that uses the server.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`, or the system error if no port is available.
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
                // The connections of a client that ignores cancellation must end too.
                server.group.shutdownGracefully { _ in }
            }
            try? await server.group.shutdownGracefully()
            return result
        } catch {
            try? await server.group.shutdownGracefully()
            throw error
        }
    }

    /// Returns the address of a path, such as `http://127.0.0.1:40123/a.ts`.
    ///
    /// - Parameter path: The path with or without its leading slash, optionally with a query; it is not
    ///   percent-encoded.
    /// - Returns: The address as text.
    public func address(_ path: String) -> String { "http://127.0.0.1:\(port)\(Self.absolute(path))" }

    /// Sets the resource at a path, replacing the previous one.
    public func set(_ path: String, _ resource: Resource) {
        state.withLock { $0.resources[Self.absolute(path)] = resource }
    }

    /// Sets the behaviors for the next requests to a path.
    ///
    /// The first request gets the first behavior, the second request the second, and all further requests the last one.
    /// This replaces earlier behaviors of the path; without arguments, responses are correct again.
    ///
    /// - Parameters:
    ///   - path: The path without a query, or `"*"` for all paths without own behaviors; the requests to those are
    ///     counted together.
    ///   - behaviors: The behaviors, one for each request. They also apply to paths without a resource.
    public func behave(_ path: String, _ behaviors: Behavior...) {
        let key = path == "*" ? path : Self.absolute(path)
        state.withLock { $0.behaviors[key] = behaviors.isEmpty ? nil : behaviors }
    }

    private static func absolute(_ path: String) -> String { path.utf8.first == 0x2F ? path : "/" + path }

    private func listen() async throws {
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            // A client may close its side after the request and still read the response.
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

    /// Records a request and returns the actions for its response.
    func actions(for message: RequestMessage, on connection: Int, idleRule: IdleRule) -> [WireAction] {
        let dropping = idleRule.actionOnNextRequest
        let request = Request(
            message,
            time: Duration(NIODeadline.now() - start),
            connection: connection,
            isDropped: dropping != nil
        )
        let (resource, behavior) = state.withLock { state in
            state.requests.append(request)
            // A dropped request consumes no behavior, since its client will repeat it.
            return dropping == nil ? state.next(for: request.path) : (nil, .proper)
        }
        if let dropping { return [dropping] }
        var response = Response(to: request, for: resource)
        for step in behavior.steps { response.apply(step, request, resource) }
        return response.actions
    }
}

extension MisbehavingServer.State {
    /// Returns the next behavior for a path, and applies a change of the resource permanently.
    mutating func next(
        for path: String
    ) -> (resource: MisbehavingServer.Resource?, behaviour: MisbehavingServer.Behavior) {
        let key = behaviors[path] == nil ? "*" : path
        var behavior = MisbehavingServer.Behavior.proper
        if var waiting = behaviors[key] {
            behavior = waiting.count > 1 ? waiting.removeFirst() : waiting[0]
            behaviors[key] = waiting
        }
        for case .change(let replacement) in behavior.steps {
            resources[path] = replacement ?? resources[path]?.changed()
        }
        return (resources[path], behavior)
    }
}
