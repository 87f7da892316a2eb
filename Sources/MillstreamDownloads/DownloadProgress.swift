public import AssetStorage
public import MediaTiming
public import ReportFormat
import Synchronization

/// How far a download is, in media time.
public struct DownloadProgress: Sendable, Hashable {
    /// The stretches of time for which everything chosen is there, in order, without overlaps.
    public let loadedTimeRanges: MediaTimeRangeSet
    /// How long the whole is.
    public let expected: MediaTime
    /// How much was kept, with what was there before.
    public let bytes: ByteCount
    /// 0 to 100; 100 exactly when everything is there, keys and the like too.
    public let percent: Double

    /// How far an asset is.
    public init(_ asset: StoredAsset) {
        self.init(
            loadedTimeRanges: asset.loadedTimeRanges,
            expected: asset.duration ?? .zero,
            bytes: asset.bytes,
            percent: asset.percent
        )
    }

    init(loadedTimeRanges: MediaTimeRangeSet, expected: MediaTime, bytes: ByteCount, percent: Double) {
        self.loadedTimeRanges = loadedTimeRanges
        self.expected = expected
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
                "expected": .seconds(expected),
                "percent": .real((percent * 10).rounded(.down) / 10),
                "bytes": .integer(bytes.bytes),
            ])
        else { return [] }
        return fields
    }
}

/// Counts what a download has, file by file.
struct ProgressCounter {
    private var loaded: [String: MediaTimeRangeSet]
    private let ends: [String: MediaTime]
    private let expected: MediaTime
    private var bytes: ByteCount
    private var missing: Int

    init(_ asset: StoredAsset, missing: Int) {
        loaded = Dictionary(uniqueKeysWithValues: asset.renditions.map { ($0.folder, $0.loadedTimeRanges) })
        ends = Dictionary(uniqueKeysWithValues: asset.renditions.map { ($0.folder, $0.duration) })
        expected = asset.duration ?? .zero
        bytes = asset.bytes
        self.missing = missing
    }

    mutating func stored(_ resource: StoredResource, bytes count: ByteCount) {
        loaded[resource.folder, default: MediaTimeRangeSet()].insert(resource.timeRange)
        bytes += count
        missing -= 1
    }

    var progress: DownloadProgress {
        // A rendition that is shorter than the others lacks nothing behind its end.
        let common = loaded.reduce(MediaTimeRangeSet([MediaTimeRange(start: .zero, end: expected)])) { common, entry in
            var ranges = entry.value
            ranges.insert(MediaTimeRange(start: ends[entry.key] ?? expected, end: expected))
            return common.intersection(ranges)
        }
        let share = expected > .zero ? common.totalDuration.seconds / expected.seconds * 100 : 0
        return DownloadProgress(
            loadedTimeRanges: common,
            expected: expected,
            bytes: bytes,
            percent: missing == 0 ? 100 : min(share, 99.9)
        )
    }
}

/// What a download has, for those who fetch and those who tell.
final class ProgressMeter: Sendable {
    private struct State {
        var counter: ProgressCounter
        var flights: [Int: Int64] = [:]
        var lastFlight = 0
    }

    private let state: Mutex<State>

    init(_ counter: ProgressCounter) {
        state = Mutex(State(counter: counter))
    }

    /// A file begins to come.
    func takeOff() -> Int {
        state.withLock { state in
            state.lastFlight += 1
            state.flights[state.lastFlight] = 0
            return state.lastFlight
        }
    }

    /// So many more bytes of it came.
    func received(_ count: Int, by flight: Int) {
        state.withLock { $0.flights[flight]? +|= Int64(count) }
    }

    /// It came, or was given up.
    func land(_ flight: Int) {
        state.withLock { _ = $0.flights.removeValue(forKey: flight) }
    }

    /// A file is there.
    func stored(_ resource: StoredResource, bytes: ByteCount) {
        state.withLock { $0.counter.stored(resource, bytes: bytes) }
    }

    /// How far it is, with the bytes of files that are on their way.
    var progress: DownloadProgress {
        state.withLock { state in
            let progress = state.counter.progress
            return DownloadProgress(
                loadedTimeRanges: progress.loadedTimeRanges,
                expected: progress.expected,
                bytes: progress.bytes + ByteCount(state.flights.values.reduce(0, +|)),
                percent: progress.percent
            )
        }
    }
}
