import Foundation
import Logging
import MillstreamServer
import Synchronization

/// An origin of the sample streams that records the requested paths, can delay responses, and can be stopped.
final class RecordingOrigin: Sendable {
    private struct State {
        var paths: [String] = []
        var delay = Duration.zero
        var answeredSegments: Int?
        var task: Task<Void, any Error>?
        var port = 0
    }

    private let state = Mutex(State())

    var port: Int { state.withLock { $0.port } }
    /// The requested paths so far, in order.
    var paths: [String] { state.withLock { $0.paths } }
    /// The number of requests of MPEG-2 TS segments that are answered before further ones wait; `nil` answers all.
    ///
    /// Tests set it to stop a download at a point that does not depend on the speed of the machine.
    var answeredSegments: Int? {
        get { state.withLock { $0.answeredSegments } }
        set { state.withLock { $0.answeredSegments = newValue } }
    }
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
                    let (delay, position) = self.state.withLock { state in
                        state.paths.append(path)
                        return (state.delay, state.paths.count { $0.hasSuffix(".ts") })
                    }
                    if path.hasSuffix(".ts") {
                        while let limit = self.answeredSegments, position > limit {
                            try await Task.sleep(for: .milliseconds(20))
                        }
                    }
                    let end = ContinuousClock.now + delay
                    // A delay that is removed meanwhile ends, so that the origin is stopped without it.
                    while ContinuousClock.now < end, self.delay > .zero {
                        try await Task.sleep(for: .milliseconds(20))
                    }
                },
                onRunning: { port in self.state.withLock { $0.port = port } }
            )
        }
        state.withLock { $0.task = task }
        try await eventually("the origin listens") { self.port != 0 }
    }

    /// Stops the origin: connections are closed, and new connections are refused.
    func stop() async {
        let task = state.withLock { state in
            state.answeredSegments = nil
            state.delay = .zero
            return state.task
        }
        task?.cancel()
        _ = await task?.result
    }
}
