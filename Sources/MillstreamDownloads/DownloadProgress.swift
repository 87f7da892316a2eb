public import AssetStorage
public import MediaTiming
public import ReportFormat

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
    public var fields: [ReportValue.Field] { fields(percent: percentOfBytes) }

    /// Returns the progress as fields of a report, with the percentage that is displayed.
    ///
    /// - Parameter percent: The percentage; see ``DisplayedProgress/percent(of:)``.
    /// - Returns: The fields.
    package func fields(percent: Double) -> [ReportValue.Field] {
        guard
            case .object(let fields) = ReportValue.fields([
                "loadedTimeRanges": .array(
                    loadedTimeRanges.ranges.map { .array([.seconds($0.start), .seconds($0.end)]) }
                ),
                "expected": .seconds(duration),
                "percent": .real((percent * 10).rounded(.down) / 10),
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
        // A download that was refused has removed the media playlists that it had added, and of which nothing was stored.
        let isPlanned = folders.map { Self.hasMedia(in: $0, asset) } ?? true
        let counted: Set<String>? = isPlanned ? folders : Set<String>()
        let missing = try isPlanned ? missingCount(id, in: folders) : 1
        let counter = ProgressCounter(asset, in: counted, missing: missing)
        return ProgressMeter(counter, unfinishedFiles: unfinishedFiles(of: asset, in: counted)).progress
    }

    /// Returns a Boolean value that indicates whether an asset has the media playlists in all directories; I-frames may be absent.
    private static func hasMedia(in folders: Set<String>, _ asset: StoredAsset) -> Bool {
        guard !folders.isEmpty else { return false }
        return folders.subtracting(asset.renditions.map(\.folder)).allSatisfy { folder in
            folder.hasPrefix(StoredRendition.Role.iFrames.rawValue)
        }
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
        // What is complete is not the selection of a download that failed before its files were known.
        let hasFailedEarly = record.folders == nil && record.state == .failed
        let isRefused = try hasFailedEarly && outline(of: record.assetID).state == .complete
        let folders: Set<String>? = isRefused ? Set<String>() : record.folders
        let progress = try downloadProgress(of: record.assetID, in: folders, recording: recording)
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
