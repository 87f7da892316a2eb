public import AssetStorage
public import MediaTiming
public import ReportFormat
import Synchronization

/// The progress of a download in media time.
public struct DownloadProgress: Sendable, Hashable {
    /// The time ranges for which all selected renditions are stored, in order and without overlaps.
    public let loadedTimeRanges: MediaTimeRangeSet
    /// The duration of the presentation; zero if it is unknown.
    public let duration: MediaTime
    /// The number of stored bytes, including those of earlier downloads and of files in progress.
    public let bytes: ByteCount
    /// The progress from 0 to 100; 100 only if all files are stored, including keys and initialization sections.
    public let percent: Double

    /// Creates the progress of a stored asset.
    public init(_ asset: StoredAsset) {
        self.init(
            loadedTimeRanges: asset.loadedTimeRanges,
            duration: asset.duration ?? .zero,
            bytes: asset.bytes,
            percent: asset.percent
        )
    }

    init(loadedTimeRanges: MediaTimeRangeSet, duration: MediaTime, bytes: ByteCount, percent: Double) {
        self.loadedTimeRanges = loadedTimeRanges
        self.duration = duration
        self.bytes = bytes
        self.percent = percent
    }

    /// The progress as fields of a report.
    public var fields: [ReportValue.Field] {
        guard
            case .object(let fields) = ReportValue.fields([
                "loadedTimeRanges": .array(
                    loadedTimeRanges.ranges.map { .array([.seconds($0.start), .seconds($0.end)]) }
                ),
                "expected": .seconds(duration),
                "percent": .real((percent * 10).rounded(.down) / 10),
                "bytes": .integer(bytes.bytes),
            ])
        else { return [] }
        return fields
    }
}

/// A counter that computes the progress of a download from its files.
struct ProgressCounter {
    private var loaded: [String: MediaTimeRangeSet]
    private var ends: [String: MediaTime]
    private var expected: MediaTime
    /// A Boolean value that indicates whether the media is recorded, and its wanted duration.
    private var isRecording = false
    private var recordingGoal: MediaTime?
    private var bytes: ByteCount
    private var missing: Int

    init(_ asset: StoredAsset, missing: Int) {
        loaded = Dictionary(uniqueKeysWithValues: asset.renditions.map { ($0.folder, $0.loadedTimeRanges) })
        ends = Dictionary(uniqueKeysWithValues: asset.renditions.map { ($0.folder, $0.duration) })
        expected = asset.duration ?? .zero
        bytes = asset.bytes
        self.missing = missing
    }

    /// Creates a counter for a recording, which begins with the media that is recorded already.
    ///
    /// - Parameters:
    ///   - asset: The recorded asset.
    ///   - recordingGoal: The duration to record; `nil` if it is not limited.
    init(_ asset: StoredAsset, recordingGoal: MediaTime?) {
        self.init(asset, missing: 0)
        isRecording = true
        self.recordingGoal = recordingGoal
    }

    /// Extends a rendition that is recorded.
    mutating func extend(_ folder: String, to end: MediaTime) {
        ends[folder] = end
        expected = max(expected, end)
    }

    mutating func addStoredFile(_ resource: StoredResource, bytes count: ByteCount) {
        loaded[resource.folder, default: MediaTimeRangeSet()].insert(resource.timeRange)
        bytes += count
        missing -= 1
    }

    var progress: DownloadProgress {
        // After its end, a rendition that is shorter than the others counts as loaded.
        let common = loaded.reduce(MediaTimeRangeSet([MediaTimeRange(start: .zero, end: expected)])) { common, entry in
            var ranges = entry.value
            ranges.insert(MediaTimeRange(start: ends[entry.key] ?? expected, end: expected))
            return common.intersection(ranges)
        }
        let share = expected > .zero ? common.totalDuration.seconds / expected.seconds * 100 : 0
        if isRecording {
            let goal = recordingGoal.flatMap { $0 > .zero ? common.totalDuration.seconds / $0.seconds * 100 : nil }
            return DownloadProgress(
                loadedTimeRanges: common,
                duration: recordingGoal ?? expected,
                bytes: bytes,
                percent: min(goal ?? 0, 99.9)
            )
        }
        return DownloadProgress(
            loadedTimeRanges: common,
            duration: expected,
            bytes: bytes,
            percent: missing == 0 ? 100 : min(share, 99.9)
        )
    }
}

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
        var lastFileID = 0
        var figures = DownloadFigures()
    }

    private let state: Mutex<State>

    init(_ counter: ProgressCounter) {
        state = Mutex(State(counter: counter))
    }

    /// Starts counting the bytes of a file.
    ///
    /// - Parameter count: The number of bytes that an earlier transfer has received.
    /// - Returns: An identifier of the file.
    func beginFile(containing count: Int64 = 0) -> Int {
        state.withLock { state in
            state.lastFileID += 1
            state.filesInProgress[state.lastFileID] = count
            return state.lastFileID
        }
    }

    /// Adds received bytes of a file.
    func addBytes(_ count: Int, to flight: Int) {
        state.withLock { state in
            state.filesInProgress[flight]? +|= Int64(count)
            state.figures.bytes = state.figures.bytes + ByteCount(Int64(count))
        }
    }

    /// Stops counting the bytes of a file that was stored or abandoned.
    func endFile(_ flight: Int) {
        state.withLock { _ = $0.filesInProgress.removeValue(forKey: flight) }
    }

    /// Extends a rendition that is recorded.
    func extend(_ folder: String, to end: MediaTime) { state.withLock { $0.counter.extend(folder, to: end) } }

    /// Adds a stored file to the progress.
    func addStoredFile(_ resource: StoredResource, bytes: ByteCount) {
        state.withLock { $0.counter.addStoredFile(resource, bytes: bytes) }
    }

    /// The figures of the run so far.
    var figures: DownloadFigures { state.withLock { $0.figures } }

    /// Counts a file that is fetched.
    func addRequest() { state.withLock { $0.figures.requestCount += 1 } }

    /// Counts a request that failed and is repeated.
    func addRecoverableError() { state.withLock { $0.figures.recoverableErrorCount += 1 } }

    /// The current progress, including the bytes of files that are being fetched.
    var progress: DownloadProgress {
        state.withLock { state in
            let progress = state.counter.progress
            return DownloadProgress(
                loadedTimeRanges: progress.loadedTimeRanges,
                duration: progress.duration,
                bytes: progress.bytes + ByteCount(state.filesInProgress.values.reduce(0, +|)),
                percent: progress.percent
            )
        }
    }
}
