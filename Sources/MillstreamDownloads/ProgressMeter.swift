import AssetStorage
package import MediaTiming
import Synchronization

/// The figures of one run of a download.
package struct DownloadFigures: Sendable, Hashable {
    /// The number of bytes that were received.
    package var bytes = ByteCount.zero
    /// The number of files that were fetched; a repeated request is counted once.
    package var requestCount = 0
    /// The number of requests that failed and were repeated.
    package var recoverableErrorCount = 0
}

/// The progress of a download, shared by the tasks that fetch files and the task that reports it.
final class ProgressMeter: Sendable {
    private struct State {
        var counter: ProgressCounter
        var filesInProgress: [Int: Int64] = [:]
        /// The bytes of unfinished files of earlier transfers that are not continued yet, by the paths of the files.
        var unfinishedFiles: [String: Int64]
        var lastFileID = 0
        /// The names of the files that are requested, in the order of their requests, and whether they wait for players.
        var requests: [(id: Int, name: String, isWaiting: Bool)] = []
        var lastRequestID = 0
        var figures = DownloadFigures()
    }

    private let state: Mutex<State>

    /// Creates a meter.
    ///
    /// - Parameters:
    ///   - counter: The progress of the stored files.
    ///   - unfinishedFiles: The bytes that earlier transfers have received of other files, by the paths of the files.
    init(_ counter: ProgressCounter, unfinishedFiles: [String: Int64] = [:]) {
        state = Mutex(State(counter: counter, unfinishedFiles: unfinishedFiles))
    }

    /// Starts counting the bytes of a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file in the package.
    ///   - count: The number of bytes that an earlier transfer has received.
    /// - Returns: An identifier of the file.
    func beginFile(_ path: String = "", containing count: Int64 = 0) -> Int {
        state.withLock { state in
            state.unfinishedFiles[path] = nil
            state.lastFileID += 1
            state.filesInProgress[state.lastFileID] = count
            return state.lastFileID
        }
    }

    /// Adds received bytes of a file, and counts them.
    func addBytes(_ count: Int, to fileID: Int) {
        addUncountedBytes(count, to: fileID)
        countBytes(count)
    }

    /// Adds received bytes of a file, which ``countBytes(_:)`` counts later.
    func addUncountedBytes(_ count: Int, to fileID: Int) {
        state.withLock { state in
            guard let former = state.filesInProgress[fileID] else { return }
            let total = former +| Int64(count)
            state.filesInProgress[fileID] = total
        }
    }

    /// Counts received bytes for the figures and the rate of the run.
    ///
    /// The bytes of a large buffer are counted in steps while the transfer waits for its rate limit. The displayed rate
    /// therefore does not exceed the limit.
    func countBytes(_ count: Int) {
        state.withLock { $0.figures.bytes = $0.figures.bytes + ByteCount(Int64(count)) }
    }

    /// Stops counting the bytes of a file that was abandoned.
    func endFile(_ fileID: Int) {
        state.withLock { _ = $0.filesInProgress.removeValue(forKey: fileID) }
    }

    /// Counts the bytes of an unfinished file, whose transfer is continued later.
    func addUnfinishedFile(_ path: String, bytes: Int64) { state.withLock { $0.unfinishedFiles[path] = bytes } }

    /// Extends a rendition that is recorded.
    func extend(_ folder: String, to end: MediaTime) { state.withLock { $0.counter.extend(folder, to: end) } }

    /// Adds a stored file to the progress.
    ///
    /// - Parameters:
    ///   - resource: The file.
    ///   - bytes: Its size.
    ///   - fileID: The identifier with which its bytes have counted so far; `nil` if they have not.
    func addStoredFile(_ resource: StoredResource, bytes: ByteCount, replacing fileID: Int? = nil) {
        state.withLock { state in
            state.unfinishedFiles[resource.path] = nil
            if let fileID { state.filesInProgress[fileID] = nil }
            state.counter.addStoredFile(resource, bytes: bytes)
        }
    }

    /// The figures of the run so far.
    var figures: DownloadFigures { state.withLock { $0.figures } }

    /// Counts a file that is fetched.
    ///
    /// - Parameter name: Its name.
    /// - Returns: An identifier for ``endRequest(_:)``.
    func beginRequest(_ name: String) -> Int {
        state.withLock { state in
            state.figures.requestCount += 1
            state.lastRequestID += 1
            state.requests.append((state.lastRequestID, name, isWaiting: false))
            return state.lastRequestID
        }
    }

    /// Records whether a request waits so that players have the network.
    func setWaiting(_ isWaiting: Bool, _ id: Int) {
        state.withLock { state in
            guard let index = state.requests.firstIndex(where: { $0.id == id }) else { return }
            state.requests[index].isWaiting = isWaiting
        }
    }

    /// Records that a file was received, or that its request failed.
    func endRequest(_ id: Int) { state.withLock { $0.requests.removeAll { $0.id == id } } }

    /// Counts a request that failed and is repeated.
    func addRecoverableError() { state.withLock { $0.figures.recoverableErrorCount += 1 } }

    /// The current progress, including the bytes of files that are being fetched.
    var progress: DownloadProgress {
        state.withLock { state in
            let progress = state.counter.progress
            let inProgress = state.unfinishedFiles.values.reduce(state.filesInProgress.values.reduce(0, +|), +|)
            var result = DownloadProgress(
                loadedTimeRanges: progress.loadedTimeRanges,
                duration: progress.duration,
                bytes: progress.bytes + ByteCount(inProgress),
                percent: progress.percent,
                expectedBytes: progress.expectedBytes,
                receivedBytes: state.figures.bytes
            )
            result.requestedFile = (state.requests.first { !$0.isWaiting } ?? state.requests.first)?.name
            result.isWaitingForPlayback = !state.requests.isEmpty && state.requests.allSatisfy(\.isWaiting)
            if progress.expectedBytes != nil { result.share = state.counter.share(inProgress: inProgress) }
            return result
        }
    }
}
