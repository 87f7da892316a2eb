public import AssetStorage
public import Foundation
public import MediaTiming
public import MediaTransport
public import ResourceAddressing
import Synchronization

/// A download of an asset by a session (`AVAssetDownloadTask`).
///
/// A task is created by a ``DownloadSession`` and does not run until ``resume()``. It survives the process: a session with
/// the same identifier has it again.
public final class DownloadTask: LoadableAsset, Identifiable {
    /// A state of a task.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// The task does not run until it is resumed.
        case suspended
        /// The task runs as soon as there is capacity.
        case waiting
        /// The task is running.
        case running
        /// All files are stored.
        case completed
        /// The task was canceled; the files that were stored stay until the asset is deleted.
        case canceled
        /// An error ended the task; it can be resumed.
        case failed
    }

    /// The media that a download selected.
    public struct MediaSelection: Sendable, Hashable {
        /// The languages of the audio renditions (RFC 5646); `nil` for one without a language.
        public let audio: [String?]
        /// The languages of the subtitles renditions (RFC 5646); `nil` for one without a language.
        public let subtitles: [String?]
    }

    /// An event of a task.
    ///
    /// A run reports the resolved media selection, the variants and the location before it fetches any media. Its last
    /// events are ``finished(location:)`` and ``completed(_:error:)``, also if it failed or was canceled.
    public enum Event: Sendable {
        /// The state changed.
        case stateChanged(State)
        /// The audio and subtitles to download are known.
        case mediaSelectionResolved(MediaSelection)
        /// The variants to download are known.
        case variantsChosen([StoredRendition])
        /// The path of the package, relative to the directory of the library, is known.
        case locationChosen(String)
        /// Time ranges have been stored; `new` are those since the previous event of this kind.
        case loaded(new: MediaTimeRangeSet, DownloadProgress)
        /// The stream to record is not available yet because of the error, or has stalled, and the task waits for it.
        case waitingForStream(DownloadError)
        /// The given number of segments of a recorded stream could not be stored; they are marked in the playlists.
        case segmentsLost(Int64)
        /// Date ranges or other metadata of a recorded stream are not in its playlists, because they exceed 32 MiB in the whole recording,
        /// or 16 KiB in one tag or segment; this is reported once in a run.
        case metadataOmitted
        /// The key of the edit `key` could not be verified, although the segments are stored, because only a decoder can tell
        /// whether it decrypts their samples; audio in AAC, AC-3 or Enhanced AC-3 verifies it.
        case keyNotVerified
        /// All files of the selection with the given number are stored; the first one is 0.
        case selectionCompleted(Int)
        /// The run ended; the package is at a path relative to the directory of the library.
        case finished(location: String)
        /// The task ended; `error` is `nil` if all files are stored.
        case completed(DownloadSummary, error: DownloadError?)
    }

    struct Status {
        var state: State
        var configuration: DownloadConfiguration
        var error: DownloadError?
        var progress: DownloadProgress
        var title: String
        var details: String
        var priority: Int
        /// The playlists that were loaded when the task was created; the first run uses them.
        var playlists: EnteredPlaylists?
        /// The directories of the media playlists of the selection; `nil` if they are not known.
        var folders: Set<String>?
    }

    /// The identifier, which is unique in the library.
    public let id: String
    /// The identifier of the asset in the library.
    public let assetID: String
    /// The URL of the asset.
    public let address: ResourceAddress
    /// The loader of the asset.
    ///
    /// A player that uses it shares requests and stored files with the download.
    public let loader: ResourceLoader
    /// The loader of the download itself, which always loads from the origin.
    let originLoader: ResourceLoader
    /// The path of the package relative to the directory of the library.
    ///
    /// Store this path, not an absolute one: the library can be moved as a whole.
    public let location: String

    let status: Mutex<Status>
    private let changes = Broadcast()
    private let observers = EventObservers<Event>()
    private let library: AssetLibrary
    private let session: SessionRunner

    init(
        _ record: DownloadRecord,
        asset: StoredAsset,
        configuration: DownloadConfiguration,
        loader: ResourceLoader,
        session: SessionRunner,
        state: State,
        resolution: DownloadResolver.Resolution? = nil,
        formerPlan: FormerPlan? = nil
    ) {
        id = record.id
        assetID = record.assetID
        address = record.source
        let sharing = loader.sharing(asset.id, in: session.library)
        self.loader = sharing.player
        originLoader = sharing.origin
        location = asset.path
        self.session = session
        library = session.library
        status = Mutex(
            Status(
                state: state,
                configuration: configuration,
                error: record.failure.map { DownloadError($0) },
                progress: configuration.recording.map {
                    ProgressCounter(asset, recordingGoal: $0.duration).progress
                }
                    ?? DownloadProgress(asset).ofSelection(record.selectionNumber, of: configuration.selections.count),
                title: asset.title,
                details: record.details,
                priority: record.priority,
                playlists: resolution.map { EnteredPlaylists($0, formerPlan: formerPlan) }
            )
        )
    }

    /// The title of the asset.
    public var title: String { status.withLock { $0.title } }
    /// The options of the task.
    public var configuration: DownloadConfiguration { status.withLock { $0.configuration } }
    /// The state.
    public var state: State { status.withLock { $0.state } }
    /// The error that ended the task; `nil` if there is none.
    public var error: DownloadError? { status.withLock { $0.error } }
    /// A Boolean value that indicates whether a process manages the task; otherwise it was interrupted, paused or
    /// failed, and ``resume()`` continues it in this process.
    public var isAttended: Bool { library.isDownloadClaimed(id) }
    /// A Boolean value that indicates whether the task was completed or canceled, possibly by another process.
    package var hasEnded: Bool {
        guard let records = try? library.downloads() else { return false }
        return records.first { $0.id == id }.map { $0.state == .canceled } ?? true
    }
    /// A Boolean value that indicates whether a process is writing to the package; otherwise a task that is attended waits
    /// for its turn.
    package var isWriting: Bool { PackageLock.isHeld(library.packageDirectory(assetID)) }
    /// The progress, including that of earlier runs.
    public var progress: DownloadProgress { status.withLock { $0.progress } }
    /// The image that represents the asset, as the options of the task have it; `nil` if they have none.
    public var artwork: Data? { configuration.artwork }

    /// The description that the application gives the task; it is stored and restored with the task.
    public var details: String {
        get { status.withLock { $0.details } }
        set {
            status.withLock { $0.details = newValue }
            session.setDetails(newValue, of: id)
        }
    }

    /// The priority: of the tasks that wait, those with the highest priority start first.
    public var priority: Int {
        get { status.withLock { $0.priority } }
        set {
            status.withLock { $0.priority = newValue }
            session.setPriority(newValue, of: id)
        }
    }

    /// Starts the task, or continues it where it stopped, as soon as there is capacity.
    public func resume() { session.request(.resume, of: id) }

    /// Stops the task until it is resumed; no more bytes are received within a second.
    ///
    /// A task that has failed does not run; it stays failed, with its error.
    public func suspend() { session.request(.suspend, of: id) }

    /// Ends the task; the files that were stored stay until the asset is deleted.
    public func cancel() { session.request(.cancel, of: id) }

    /// The events of the task, from this call on, until the task has ended.
    public var events: AsyncStream<Event> { observers.stream(isFinished: state.isFinal) }

    /// Waits until the task has ended.
    ///
    /// - Returns: The complete asset.
    /// - Throws: ``DownloadError``: the error of the task, also if it can be resumed, ``DownloadError/Code/canceled``,
    ///   or ``DownloadError/Code/storage`` with the detail `asset-busy` if another session continues the download;
    ///   `CancellationError` if the calling task is canceled. None of them ends this task.
    @discardableResult
    public func value() async throws -> StoredAsset {
        while true {
            let seen = changes.count
            let (state, error) = status.withLock { ($0.state, $0.error) }
            switch state {
            case .completed: return try library.asset(assetID)
            case .canceled, .failed: throw error ?? DownloadError.canceled(address)
            case .suspended, .waiting, .running: break
            }
            try Task.checkCancellation()
            await changes.wait(after: seen)
        }
    }

    /// Changes the state and tells the observers.
    func move(to state: State, error: DownloadError? = nil) {
        let isChanged = status.withLock { status in
            defer {
                status.state = state
                status.error = error
            }
            return status.state != state
        }
        if isChanged { report(.stateChanged(state)) }
    }

    func setConfiguration(_ configuration: DownloadConfiguration) {
        status.withLock { status in
            status.configuration = configuration
            status.title = configuration.title ?? status.title
        }
    }

    /// The directories of the media playlists of the last selection that was downloaded; `nil` for those of a recording.
    package var folders: Set<String>? { status.withLock { $0.folders } }

    func setTitle(_ title: String) { status.withLock { $0.title = title } }

    func setFolders(_ folders: Set<String>?) { status.withLock { $0.folders = folders } }

    func setProgress(_ progress: DownloadProgress) { status.withLock { $0.progress = progress } }

    func report(_ event: Event) {
        observers.send(event)
        changes.notify()
    }

    /// Ends the sequences of events.
    func endEvents() { observers.finish() }

    /// Returns the playlists that were loaded when the task was created, once.
    func takePlaylists() -> EnteredPlaylists? { status.withLock { $0.playlists.take() } }
}

extension DownloadTask.State {
    /// A Boolean value that indicates whether the task has ended for good.
    var isFinal: Bool { self == .completed || self == .canceled }

    init(_ phase: DownloadStateMachine.Phase) {
        self =
            switch phase {
            case .suspended: .suspended
            case .waiting: .waiting
            case .running, .stopping(.waiting): .running
            case .stopping(.suspended): .suspended
            case .stopping(.canceled): .canceled
            case .failed: .failed
            }
    }
}

/// The figures of a download (`AVMetricDownloadSummaryEvent`).
public struct DownloadSummary: Sendable, Hashable {
    /// The number of bytes that the run received.
    public var bytes = ByteCount.zero
    /// The time that the run took.
    public var duration = Duration.zero
    /// The number of files that the run fetched; a repeated request is counted once.
    public var mediaResourceRequestCount = 0
    /// The number of requests that failed and were repeated.
    public var recoverableErrorCount = 0
    /// The variants of the asset.
    public var variants: [StoredRendition] = []

    mutating func add(_ figures: DownloadFigures, variants: [StoredRendition]) {
        bytes = bytes + figures.bytes
        mediaResourceRequestCount += figures.requestCount
        recoverableErrorCount += figures.recoverableErrorCount
        self.variants = variants
    }
}

/// A reference that does not keep its object.
final class Weak<Object: AnyObject & Sendable>: Sendable {
    private struct Reference: Sendable {
        weak var object: Object?
    }

    private let reference: Mutex<Reference>

    init(_ object: Object) { reference = Mutex(Reference(object: object)) }

    var value: Object? { reference.withLock { $0.object } }
}

/// The observers of events, each of which has all events from its beginning on.
final class EventObservers<Event: Sendable>: Sendable {
    /// The number of events that an observer may lag behind; older ones are dropped.
    private static var capacity: Int { 4_096 }

    private struct State {
        var lastID = 0
        var observers: [Int: AsyncStream<Event>.Continuation] = [:]
        var isFinished = false
    }

    private let state = Mutex(State())

    func stream(isFinished: Bool = false) -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(Self.capacity))
        let id: Int? = state.withLock { state in
            guard !state.isFinished, !isFinished else { return nil }
            state.lastID += 1
            state.observers[state.lastID] = continuation
            return state.lastID
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.observers.removeValue(forKey: id) }
        }
        return stream
    }

    func send(_ event: Event) {
        for observer in state.withLock({ Array($0.observers.values) }) { observer.yield(event) }
    }

    func finish() {
        let observers = state.withLock { state in
            state.isFinished = true
            defer { state.observers = [:] }
            return Array(state.observers.values)
        }
        for observer in observers { observer.finish() }
    }
}
