import AssetStorage
import Logging
import MediaTiming
import MediaTransport
import MillstreamDownloads
import ReportFormat
import ResourceAddressing
import ServiceLifecycle
import Synchronization

/// A service that runs the downloads of the console and broadcasts their progress.
final class DownloadQueue: Service {
    private let library: AssetLibrary
    private let loader: ResourceLoader
    private let broadcast: EventBroadcast
    private let logger: Logger
    private let jobs: AsyncStream<Job>
    private let jobContinuation: AsyncStream<Job>.Continuation
    private let running = Mutex<[String: Activity]>([:])
    private let failures = Mutex<[String: DownloadError]>([:])

    /// A request to run a download.
    private struct Job: Sendable {
        let task: DownloadTask
        let source: ResourceAddress
        /// Receives the identifier of the asset once the download is resolved, or the error that occurred before.
        let outcome: AsyncThrowingStream<String, any Error>.Continuation
    }

    /// The identifier of the asset, once the download is resolved.
    private final class Identity: Sendable {
        let id = Mutex<String?>(nil)
    }

    /// A running download.
    private struct Activity: Sendable {
        var progress: DownloadProgress
        let stop: AsyncStream<Void>.Continuation
    }

    init(library: AssetLibrary, loader: ResourceLoader, broadcast: EventBroadcast, logger: Logger) {
        self.library = library
        self.loader = loader
        self.broadcast = broadcast
        self.logger = logger
        (jobs, jobContinuation) = AsyncStream.makeStream()
    }

    /// The number of running downloads.
    var count: Int { running.withLock { $0.count } }

    /// Starts a download.
    ///
    /// - Returns: The identifier of the asset, once its playlists have been loaded.
    /// - Throws: The error that prevented the start.
    func start(_ source: ResourceAddress, title: String?, selection: DownloadSelection) async throws -> String {
        if let known = try library.asset(source: source), running.withLock({ $0[known.id] != nil }) { return known.id }
        let (outcomes, outcome) = AsyncThrowingStream<String, any Error>.makeStream()
        let task = DownloadTask(
            source,
            into: library,
            loader: loader,
            options: DownloadTask.Options(selection: selection, title: title)
        )
        jobContinuation.yield(Job(task: task, source: source, outcome: outcome))
        for try await id in outcomes { return id }
        throw CancellationError()
    }

    /// Stops a download; the files that are already stored are preserved.
    func cancel(_ id: String) {
        _ = running.withLock { $0[id]?.stop.yield() }
    }

    /// Stops a download and deletes its asset.
    func delete(_ id: String) async throws {
        cancel(id)
        // Wait up to 2 seconds for the download to end, so that it does not write files after the deletion.
        for _ in 0..<100 where running.withLock({ $0[id] != nil }) {
            try await SystemTimeSource().sleep(for: .milliseconds(20))
        }
        try library.delete(id)
        failures.withLock { $0[id] = nil }
        broadcast.send(ServerEvent(name: "removed", data: .fields(["id": .string(id)])))
    }

    /// Returns the report of an asset, with the progress or the error of its download.
    func report(_ asset: StoredAsset) -> ReportValue {
        let progress = running.withLock { $0[asset.id]?.progress }
        let failure = failures.withLock { $0[asset.id] }
        guard case .object(var fields) = asset.report else { return asset.report }
        if let progress {
            let names = Set(progress.fields.map(\.name))
            fields = fields.filter { !names.contains($0.name) } + progress.fields
        }
        let activity = progress != nil ? "downloading" : failure != nil ? "failed" : "idle"
        fields.append(ReportValue.Field(name: "activity", value: .string(activity)))
        if let failure, progress == nil {
            fields.append(ReportValue.Field(name: "error", value: ServerError(failure).report))
        }
        return .object(fields)
    }

    /// Runs requested downloads until the task is canceled or the server shuts down.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for await order in self.jobs { group.addTask { await self.runDownload(order) } }
                group.cancelAll()
            }
        }
    }

    private func runDownload(_ order: Job) async {
        let (stops, stop) = AsyncStream<Void>.makeStream()
        let identity = Identity()
        var failure: (any Error)?
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await order.task.run { event in
                        self.processEvent(event, of: order, stop: stop, identity: identity)
                    }
                }
                group.addTask { for await _ in stops { return } }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch {
            failure = error
        }
        stop.finish()
        guard let id = identity.id.withLock({ $0 }) else {
            order.outcome.finish(throwing: failure ?? CancellationError())
            return
        }
        order.outcome.finish()
        _ = running.withLock { $0.removeValue(forKey: id) }
        if let failure = failure as? DownloadError {
            logger.warning("download failed", metadata: ["asset": "\(id)", "error": "\(failure.detail)"])
            failures.withLock { $0[id] = failure }
        }
        broadcastAsset(id)
    }

    private func processEvent(
        _ event: DownloadTask.Event,
        of order: Job,
        stop: AsyncStream<Void>.Continuation,
        identity: Identity
    ) {
        switch event {
        case .resolved(let id, let progress):
            identity.id.withLock { $0 = id }
            running.withLock { $0[id] = Activity(progress: progress, stop: stop) }
            _ = failures.withLock { $0.removeValue(forKey: id) }
            order.outcome.yield(id)
            broadcastAsset(id)
        case .progress(let id, let progress):
            running.withLock { $0[id]?.progress = progress }
            broadcastAsset(id)
        case .completed: break
        }
    }

    private func broadcastAsset(_ id: String) {
        guard let asset = try? library.asset(id) else { return }
        broadcast.send(ServerEvent(name: "asset", data: report(asset)))
    }
}
