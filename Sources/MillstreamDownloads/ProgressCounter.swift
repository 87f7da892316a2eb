import AssetStorage
import MediaTiming

/// A counter of the stored media of a download, from which its progress is computed.
struct ProgressCounter {
    /// The condition under which a download is complete.
    private enum Goal {
        /// All files are stored. The value is the number of files that are not stored.
        case files(missing: Int)
        /// Media of the given duration is recorded; `nil` if the duration is not limited.
        case recording(MediaTime?)
    }

    /// The stored time ranges, by the directory of the media playlist.
    private var loaded: [String: MediaTimeRangeSet]
    /// The ends of the renditions, by the directory of the media playlist.
    private var ends: [String: MediaTime]
    /// The end of the longest rendition.
    private var expected: MediaTime
    private var goal: Goal
    private var bytes: ByteCount
    /// The number of bytes in a second of media, by the directory of the media playlist.
    private var rates: [String: Rate] = [:]
    /// The duration of the I-frames that are not stored, by the directory of the I-frame playlist.
    private var iFrames: [String: MediaTime] = [:]

    /// The number of bytes in a second of the media of a playlist.
    ///
    /// The number is assumed until files of the playlist are stored, and is then computed from these files.
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
        goal = .files(missing: missing)
        for rendition in renditions {
            rates[rendition.folder] = Rate(assumed: rendition.assumedByteRate)
        }
    }

    /// Creates a counter for a recording, which includes the media that is already recorded.
    ///
    /// - Parameters:
    ///   - asset: The recorded asset.
    ///   - recordingGoal: The duration to record; `nil` if it is not limited.
    init(_ asset: StoredAsset, recordingGoal: MediaTime?) {
        self.init(asset, missing: 0)
        goal = .recording(recordingGoal)
    }

    /// Extends a rendition that is recorded up to an end.
    mutating func extend(_ folder: String, to end: MediaTime) {
        ends[folder] = end
        expected = max(expected, end)
    }

    /// Adds a stored file to the media of its rendition.
    mutating func addStoredFile(_ resource: StoredResource, bytes count: ByteCount) {
        if let left = iFrames[resource.folder] {
            iFrames[resource.folder] = left - resource.timeRange.duration
        } else {
            loaded[resource.folder, default: MediaTimeRangeSet()].insert(resource.timeRange)
        }
        bytes += count
        if case .files(let missing) = goal { goal = .files(missing: missing -| 1) }
        rates[resource.folder]?.bytes += Double(count.bytes)
        rates[resource.folder]?.seconds += resource.timeRange.duration.seconds
    }

    /// The estimated number of bytes that are not stored.
    private var missingBytes: Double {
        guard case .files(let missing) = goal, missing > 0 else { return 0 }
        return rates.reduce(0.0) { sum, rate in
            let seconds =
                iFrames[rate.key]?.seconds
                ?? (ends[rate.key] ?? .zero).seconds - (loaded[rate.key]?.totalDuration.seconds ?? 0)
            return sum + max(0, seconds) * rate.value.bytesInSecond
        }
    }

    /// Returns the estimated share of the bytes of the media playlists that were received, from 0 to 1.
    func share(inProgress count: Int64) -> Double {
        let stored = loaded.reduce(0.0) { sum, entry in
            sum + entry.value.totalDuration.seconds * (rates[entry.key]?.bytesInSecond ?? 0)
        }
        let total = stored + missingBytes
        return total > 0 ? min(1, (stored + Double(count)) / total) : 0
    }

    /// The progress as of now, without the bytes of files that are being fetched.
    var progress: DownloadProgress {
        // After its end, a rendition that is shorter than the others counts as loaded.
        let common = loaded.reduce(MediaTimeRangeSet([MediaTimeRange(start: .zero, end: expected)])) { common, entry in
            var ranges = entry.value
            ranges.insert(MediaTimeRange(start: ends[entry.key] ?? expected, end: expected))
            return common.intersection(ranges)
        }
        switch goal {
        case .files(let missing):
            let share = expected > .zero ? common.totalDuration.seconds / expected.seconds * 100 : 0
            return DownloadProgress(
                loadedTimeRanges: common,
                duration: expected,
                bytes: bytes,
                percent: missing == 0 ? 100 : min(share, 99.9),
                expectedBytes: bytes + ByteCount(Int64(saturating: missingBytes)),
                receivedBytes: .zero
            )
        case .recording(let duration):
            let percent = duration.flatMap { $0 > .zero ? common.totalDuration.seconds / $0.seconds * 100 : nil }
            return DownloadProgress(
                loadedTimeRanges: common,
                duration: duration ?? expected,
                bytes: bytes,
                percent: min(percent ?? 0, 99.9),
                expectedBytes: nil,
                receivedBytes: .zero
            )
        }
    }
}

extension StoredRendition {
    /// The assumed number of bytes in a second of media, from the declared bit rate or from a typical bit rate of the
    /// role.
    fileprivate var assumedByteRate: Double {
        switch role {
        case .variant, .video: Double(bandwidth?.bitsPerSecond ?? 2_000_000) / 8
        case .audio: 16_000
        case .subtitles: 100
        case .iFrames: Double(bandwidth?.bitsPerSecond ?? 200_000) / 8
        }
    }
}
