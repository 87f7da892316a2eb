import Foundation
import Logging
import MillstreamServer
import Synchronization

/// An origin of the sample streams that records the requested paths, can delay responses, and can be stopped.
final class RecordingOrigin: Sendable {
    private struct State {
        var paths: [String] = []
        var delay = Duration.zero
        var task: Task<Void, any Error>?
        var port = 0
    }

    private let state = Mutex(State())

    var port: Int { state.withLock { $0.port } }
    /// The requested paths so far, in order.
    var paths: [String] { state.withLock { $0.paths } }
    /// The delay of each response.
    var delay: Duration {
        get { state.withLock { $0.delay } }
        set { state.withLock { $0.delay = newValue } }
    }

    func address(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }
    func clearPaths() { state.withLock { $0.paths = [] } }

    /// Starts to serve a directory.
    init(_ directory: URL) async throws {
        let origin = FolderOrigin(
            directory,
            port: 0,
            logger: Logger(label: "origin") { _ in SwiftLogNoOpLogHandler() }
        )
        let task = Task {
            try await origin.run(
                onRequest: { path in
                    let delay = self.state.withLock { state in
                        state.paths.append(path)
                        return state.delay
                    }
                    if delay > .zero { try await Task.sleep(for: delay) }
                },
                onRunning: { port in self.state.withLock { $0.port = port } }
            )
        }
        state.withLock { $0.task = task }
        try await eventually("the origin listens") { self.port != 0 }
    }

    /// Stops the origin: connections are closed, and new connections are refused.
    func stop() async {
        let task = state.withLock { $0.task }
        task?.cancel()
        _ = await task?.result
    }
}
