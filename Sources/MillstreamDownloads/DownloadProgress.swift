public import AssetStorage
public import MediaTiming
public import ReportFormat
import Synchronization

/// The progress of a download in media time.
public struct DownloadProgress: Sendable, Hashable {
    /// The position of a selection among those of a download, which are downloaded one after the other.
    public struct SelectionPosition: Sendable, Hashable {
        /// The zero-based index of the selection.
        public let index: Int
        /// The number of selections; at least 2.
        public let count: Int
    }

    /// The time ranges for which all selected renditions are stored, in order and without overlaps.
    public let loadedTimeRanges: MediaTimeRangeSet
    /// The duration of the presentation; zero if it is unknown.
    public let duration: MediaTime
    /// The number of stored bytes, including those of earlier downloads and of files in progress.
    public let bytes: ByteCount
    /// The progress from 0 to 100; 100 only if all files are stored, including keys and initialization sections.
    public let percent: Double
    /// The estimated number of stored bytes after the download; `nil` if it is unknown, as for recordings.
    ///
    /// The estimate is computed from the files that are stored, and before that from the bit rates of the playlist.
    public let expectedBytes: ByteCount?
    /// The number of bytes that the running download has received.
    public let receivedBytes: ByteCount
    /// The selection that is being downloaded; `nil` if the download has only one.
    ///
    /// ``loadedTimeRanges``, ``duration`` and ``expectedBytes`` are those of this selection, and ``percent`` is that
    /// of all selections.
    public internal(set) var selection: SelectionPosition?
    /// The estimated share of the bytes of the download that is received, from 0 to 1; `nil` if it is unknown.
    package internal(set) var share: Double?
    /// The name of the file that has been requested for the longest time; `nil` if none is being received.
    package internal(set) var requestedFile: String?
    /// A Boolean value that indicates whether all transfers wait so that players have the network.
    package internal(set) var isWaitingForPlayback = false

    /// The progress in bytes from 0 to 100, which moves while files are received; 100 only if all files are stored.
    package var percentOfBytes: Double {
        guard percent < 100, let share else { return percent }
        return min(99.9, share * 100)
    }

    /// Creates the progress of a stored asset.
    public init(_ asset: StoredAsset) {
        self.init(
            loadedTimeRanges: asset.loadedTimeRanges,
            duration: asset.duration ?? .zero,
            bytes: asset.bytes,
            percent: asset.percent,
            expectedBytes: nil,
            receivedBytes: .zero
        )
    }

    init(
        loadedTimeRanges: MediaTimeRangeSet,
        duration: MediaTime,
        bytes: ByteCount,
        percent: Double,
        expectedBytes: ByteCount?,
        receivedBytes: ByteCount
    ) {
        self.loadedTimeRanges = loadedTimeRanges
        self.duration = duration
        self.bytes = bytes
        self.percent = percent
        self.expectedBytes = expectedBytes
        self.receivedBytes = receivedBytes
    }

    /// Returns the progress of a selection as that of a download with several selections, each of which is the same share of it.
    ///
    /// - Parameters:
    ///   - number: The zero-based index of the selection; a larger one is that of the last selection.
    ///   - count: The number of selections.
    /// - Returns: The progress, of which the percentage does not decrease from one selection to the next.
    func ofSelection(_ number: Int, of count: Int) -> DownloadProgress {
        guard count > 1 else { return self }
        let number = min(number, count -| 1)
        var progress = DownloadProgress(
            loadedTimeRanges: loadedTimeRanges,
            duration: duration,
            bytes: bytes,
            percent: (Double(number) * 100 + percent) / Double(count),
            expectedBytes: expectedBytes,
            receivedBytes: receivedBytes
        )
        progress.share = share.map { (Double(number) + (percent < 100 ? $0 : 1)) / Double(count) }
        progress.requestedFile = requestedFile
        progress.isWaitingForPlayback = isWaitingForPlayback
        progress.selection = SelectionPosition(index: number, count: count)
        return progress
    }

    /// The progress as fields of a report.
    public var fields: [ReportValue.Field] {
        guard
            case .object(let fields) = ReportValue.fields([
                "loadedTimeRanges": .array(
                    loadedTimeRanges.ranges.map { .array([.seconds($0.start), .seconds($0.end)]) }
                ),
                "expected": .seconds(duration),
                "percent": .real((percentOfBytes * 10).rounded(.down) / 10),
                "bytes": .integer(bytes.bytes),
                "selection": selection.map { selection in
                    .fields([
                        "number": .integer(Int64(clamping: selection.index +| 1)),
                        "count": .integer(Int64(clamping: selection.count)),
                    ])
                },
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
    /// The bytes in a second of media, by the directory of the media playlist.
    private var rates: [String: Rate] = [:]
    /// The duration of the I-frames that are not stored, by the directory of the I-frame playlist.
    private var iFrames: [String: MediaTime] = [:]

    /// The bytes in a second of the media of a playlist: a declared number until some of its files are stored.
    private struct Rate {
        let assumed: Double
        var bytes: Double = 0
        var seconds: Double = 0

        init(assumed: Double) { self.assumed = assumed }

        var bytesInSecond: Double { seconds > 0 ? bytes / seconds : assumed }
    }

    /// Creates a counter for the files of some media playlists of an asset.
    ///
    /// - Parameters:
    ///   - asset: The asset.
    ///   - folders: The directories of the media playlists; `nil` for all.
    ///   - missing: The number of files that are not stored.
    init(_ asset: StoredAsset, in folders: Set<String>? = nil, missing: Int) {
        let renditions = asset.renditions.filter { folders?.contains($0.folder) ?? true }
        // I-frames are fetched after everything else, and the presentation is played without them.
        let timed = renditions.filter { $0.role != .iFrames }
        loaded = Dictionary(uniqueKeysWithValues: timed.map { ($0.folder, $0.loadedTimeRanges) })
        ends = Dictionary(uniqueKeysWithValues: timed.map { ($0.folder, $0.duration) })
        expected = timed.map(\.duration).max() ?? .zero
        iFrames = Dictionary(
            uniqueKeysWithValues: renditions.filter { $0.role == .iFrames }.map { rendition in
                (rendition.folder, rendition.duration - rendition.loadedTimeRanges.totalDuration)
            }
        )
        bytes = asset.bytes
        self.missing = missing
        for rendition in renditions {
            rates[rendition.folder] = Rate(assumed: rendition.assumedByteRate)
        }
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
        if let left = iFrames[resource.folder] {
            iFrames[resource.folder] = left - resource.timeRange.duration
        } else {
            loaded[resource.folder, default: MediaTimeRangeSet()].insert(resource.timeRange)
        }
        bytes += count
        missing -= 1
        rates[resource.folder]?.bytes += Double(count.bytes)
        rates[resource.folder]?.seconds += resource.timeRange.duration.seconds
    }

    /// The estimated number of bytes that are not stored.
    private var missingBytes: Double {
        guard missing > 0 else { return 0 }
        return rates.reduce(0.0) { sum, rate in
            let seconds =
                iFrames[rate.key]?.seconds
                ?? (ends[rate.key] ?? .zero).seconds - (loaded[rate.key]?.totalDuration.seconds ?? 0)
            return sum + max(0, seconds) * rate.value.bytesInSecond
        }
    }

    /// Returns the estimated share of the bytes of the media playlists that is received, from 0 to 1.
    func share(inProgress count: Int64) -> Double {
        let stored = loaded.reduce(0.0) { sum, entry in
            sum + entry.value.totalDuration.seconds * (rates[entry.key]?.bytesInSecond ?? 0)
        }
        let total = stored + missingBytes
        return total > 0 ? min(1, (stored + Double(count)) / total) : 0
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
                percent: min(goal ?? 0, 99.9),
                expectedBytes: nil,
                receivedBytes: .zero
            )
        }
        return DownloadProgress(
            loadedTimeRanges: common,
            duration: expected,
            bytes: bytes,
            percent: missing == 0 ? 100 : min(share, 99.9),
            expectedBytes: bytes + ByteCount(Int64(saturating: missingBytes)),
            receivedBytes: .zero
        )
    }
}

extension StoredRendition {
    /// The assumed number of bytes in a second of media: that of the bit rate, or a usual one of the role.
    fileprivate var assumedByteRate: Double {
        switch role {
        case .variant, .video: Double(bandwidth?.bitsPerSecond ?? 2_000_000) / 8
        case .audio: 16_000
        case .subtitles: 100
        case .iFrames: Double(bandwidth?.bitsPerSecond ?? 200_000) / 8
        }
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

    /// Adds received bytes of a file.
    func addBytes(_ count: Int, to fileID: Int) {
        state.withLock { state in
            state.filesInProgress[fileID]? +|= Int64(count)
            state.figures.bytes = state.figures.bytes + ByteCount(Int64(count))
        }
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

extension AssetLibrary {
    /// Returns the progress of the download of an asset, as far as it is stored.
    ///
    /// - Parameters:
    ///   - id: The identifier of the asset.
    ///   - folders: The directories of the media playlists of the download; `nil` for all.
    ///   - recording: The options of the download if it records a live stream; `nil` otherwise.
    /// - Returns: The progress, with what was received of unfinished files.
    /// - Throws: `StorageError`.
    package func downloadProgress(
        of id: String,
        in folders: Set<String>? = nil,
        recording: RecordingOptions? = nil
    ) throws -> DownloadProgress {
        let asset = try asset(id)
        if let recording { return ProgressCounter(asset, recordingGoal: recording.duration).progress }
        let counter = ProgressCounter(asset, in: folders, missing: try missingCount(id, in: folders))
        return ProgressMeter(counter, unfinishedFiles: unfinishedFiles(of: asset, in: folders)).progress
    }

    /// Returns the progress of a download of the catalog, as the process that runs it reports it: that of all of its
    /// selections.
    ///
    /// - Parameters:
    ///   - record: The download.
    ///   - configuration: The options of the download; `nil` if they are those of a newer version.
    /// - Returns: The progress, with what was received of unfinished files.
    /// - Throws: `StorageError`.
    func downloadProgress(
        of record: DownloadRecord,
        _ configuration: DownloadConfiguration?
    ) throws -> DownloadProgress {
        let recording = configuration?.recording
        let progress = try downloadProgress(of: record.assetID, in: record.folders, recording: recording)
        // A recording has one selection.
        guard recording == nil, let configuration else { return progress }
        return progress.ofSelection(record.selectionNumber, of: configuration.selections.count)
    }

    /// Returns the progress of the unfinished downloads in the library, by the identifiers of their assets; of several
    /// downloads of an asset, that of the first one.
    ///
    /// - Parameter id: The identifier of an asset; `nil` for the downloads of all assets.
    /// - Returns: The progress, which is read from the packages of the assets that are being downloaded.
    /// - Throws: `StorageError`.
    /// - Complexity: O(*n*) in the number of downloads, and of the files of their assets.
    package func progressOfDownloads(of id: String? = nil) throws -> [String: DownloadProgress] {
        var result: [String: DownloadProgress] = [:]
        for record in try downloads() where result[record.assetID] == nil && (id ?? record.assetID) == record.assetID {
            result[record.assetID] = try? downloadProgress(of: record, DownloadConfiguration(stored: record.options))
        }
        return result
    }
}
