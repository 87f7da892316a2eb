import Foundation
import MediaTransport
import Millstream
import MillstreamDownloads

/// The downloads of the application: it starts, restores, cancels and deletes them, and remembers where they are stored.
final class AssetPersistenceManager: @unchecked Sendable {
    enum DownloadState: String {
        case notDownloaded, downloading, downloaded
    }

    private let library: AssetLibrary
    private let session: DownloadSession
    /// The relative paths of the downloaded streams by their names, as an application keeps them in its settings.
    private let settings: URL
    private var locations: [String: String]

    init(folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        settings = folder.appendingPathComponent("settings.json")
        locations = (try? JSONDecoder().decode([String: String].self, from: Data(contentsOf: settings))) ?? [:]
        library = try AssetLibrary(directory: folder.appendingPathComponent("library"))
        // The identifier is always the same: a session with it has the tasks that an earlier process left unfinished.
        var configuration = DownloadSession.Configuration()
        configuration.resumesAutomatically = false
        configuration.canDecode = Player.Environment.standard.canDecode
        session = try DownloadSession(
            identifier: "catalog-app",
            library: library,
            loader: ResourceLoader(SchemeTransport(http: HTTPTransport(), file: FileTransport())),
            configuration: configuration
        )
    }

    // MARK: State

    /// The names of the streams whose downloads have not ended.
    ///
    /// The description of a task is the name of its stream.
    var pendingNames: [String] { session.tasks.map(\.details) }

    func state(of stream: Stream) -> DownloadState {
        if pendingNames.contains(stream.name) { return .downloading }
        return asset(for: stream) == nil ? .notDownloaded : .downloaded
    }

    /// Returns the downloaded asset of a stream; `nil` if it is not stored.
    func asset(for stream: Stream) -> Asset? {
        guard let path = locations[stream.name] else { return nil }
        // The path is relative, because the folder of the application may be moved.
        let asset = Asset(filePath: library.directory.appendingPathComponent(path).path)
        return asset.assetCache?.isPlayableOffline == true ? asset : nil
    }

    // MARK: Downloads

    /// Downloads a stream: the lowest variant with at least 265 kbit/s, then all audio and subtitles, one after the other.
    func download(_ stream: Stream, progress: (String, Double) -> Void) async throws {
        var configuration = DownloadConfiguration(
            selection: DownloadSelection(
                variants: .minimumBandwidth(BitRate(bitsPerSecond: 265_000)),
                audio: .defaults,
                subtitles: .none
            )
        )
        configuration.title = stream.name
        configuration.details = stream.name
        var task = try await session.makeTask(Asset(url: stream.url), configuration: configuration)
        try await run(task, of: stream, "the default selection", progress)
        while let next = try library.nextMediaSelection(of: task.assetID) {
            configuration.selection = next.selection
            task = try await session.makeTask(Asset(url: stream.url), configuration: configuration)
            try await run(task, of: stream, "\(next.characteristic.rawValue) \(next.name)", progress)
        }
    }

    /// Continues the downloads that an earlier process left unfinished.
    func restore(progress: (String, Double) -> Void) async throws {
        for task in session.tasks {
            try await run(task, of: Stream(name: task.details, url: URL(fileURLWithPath: "/")), task.title, progress)
        }
    }

    private func run(
        _ task: DownloadTask,
        of stream: Stream,
        _ selection: String,
        _ progress: (String, Double) -> Void
    ) async throws {
        let events = task.events
        task.resume()
        for await event in events {
            switch event {
            case .loaded(_, let loaded): progress(selection, loaded.percent)
            case .finished(let location): try remember(location, of: stream.name)
            case .completed(_, let error?): throw error
            default: break
            }
        }
    }

    /// Cancels the download of a stream; the stored files remain until the asset is deleted.
    func cancel(_ stream: Stream) {
        for task in session.tasks where task.details == stream.name { task.cancel() }
    }

    /// Stops the downloads in this process; another process can continue them.
    func close() async { await session.invalidate() }

    /// Deletes the downloaded asset of a stream and the saved path; deleting it again has no effect.
    func delete(_ stream: Stream) throws {
        guard let path = locations[stream.name] else { return }
        try library.delete(URL(fileURLWithPath: path).lastPathComponent)
        try remember(nil, of: stream.name)
    }

    private func remember(_ location: String?, of name: String) throws {
        locations[name] = location
        try JSONEncoder().encode(locations).write(to: settings, options: .atomic)
    }
}
