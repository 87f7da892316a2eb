public import Foundation
public import MediaTiming
public import MediaTransport
import PlaylistEditing
package import ResourceAddressing

/// The options of a download.
public struct DownloadConfiguration: Sendable, Hashable {
    /// The variants and renditions to download.
    public var selection: DownloadSelection
    /// Further selections, which are downloaded one after the other when the previous one is stored; none by default.
    ///
    /// Files that an earlier selection has stored are not fetched again.
    public var furtherSelections: [DownloadSelection] = []
    /// The title to display; by default the one that a media file contains, otherwise derived from the URL.
    public var title: String?
    /// The description that the application gives the download, for example its own identifier of the stream; empty by
    /// default.
    ///
    /// It is stored with the download, and a session that restores the download has it.
    public var details = ""
    /// An image that represents the asset, a PNG, JPEG, GIF or WebP image of at most `AssetArtwork.maximumSize`; `nil` for the one
    /// that the asset has, otherwise the one that a media file contains, or none.
    ///
    /// It is stored with the download and with the asset, which has it after the download has ended
    /// (`AssetLibrary.artwork(of:)`).
    public var artwork: Data?
    /// The priority of the download; the default is 0.
    ///
    /// Of the downloads that wait, those with the highest priority start first.
    public var priority = 0
    /// The maximum number of files that are fetched concurrently; a value outside of 1...64 is clamped.
    public var maximumConcurrentFetches: Int {
        didSet { maximumConcurrentFetches = Self.clamped(jobs: maximumConcurrentFetches) }
    }
    /// The size limits of the download.
    public var limits: DownloadLimits
    /// The maximum rate at which the bytes of all files are received; `nil` for no limit.
    ///
    /// Below 500 kbit/s for each concurrent fetch, fewer fetches run concurrently, because a server may close a
    /// connection that is too slow.
    public var maximumRate: BitRate?
    /// The costs of networks that the download may use; all by default.
    ///
    /// On a network with another cost, the download fails with `TransportError.Code.networkRefused`, and continues on
    /// another network when it is resumed. The status of the network is ``DownloadSession/Configuration/network``.
    public var acceptedNetworks = DownloadConfiguration.allNetworks
    /// A Boolean value that indicates whether stored segments that are not in the selection are deleted.
    ///
    /// If it is `false`, a download that would delete stored segments fails, such as one of another time range or with edits
    /// that leave them out.
    ///
    /// If it is `true`, variants and renditions that are not in the selection are deleted too, after the selection is stored; the
    /// download fails then while the asset is being played. With ``furtherSelections``, these variants and renditions stay.
    public var replacesStoredSegments = false
    /// The options for recording a live stream; `nil` to download a stream that has ended.
    ///
    /// With these options, a task follows the media playlists and stores each segment as it appears. The package is
    /// playable meanwhile. Canceling the task ends the recording. If the process ends, a later run of the task continues
    /// with the next segment that is available, and what was lost is marked with `EXT-X-GAP`, or with
    /// `EXT-X-DISCONTINUITY` if its duration is unknown. Further selections and
    /// ``DownloadSelection/timeRange`` have no effect on a recording.
    ///
    /// The library has one asset for each URL, so that another recording of a URL continues the first one. It must have the same
    /// selection; otherwise the task fails with ``DownloadError/Code/otherSelection``, because the part that is recorded already
    /// would be in none of the new media playlists.
    public var recording: RecordingOptions?

    package static let allNetworks: NetworkCost = [.expensive, .constrained, .cellular]

    /// The numbers of concurrent fetches that are allowed.
    package static let fetchCounts = 1...64

    private static func clamped(jobs: Int) -> Int { min(max(jobs, fetchCounts.lowerBound), fetchCounts.upperBound) }

    /// Creates options.
    ///
    /// - Parameters:
    ///   - selection: The variants and renditions to download; by default the best variant with the default audio and
    ///     subtitles.
    ///   - title: The title to display; by default the one that a media file contains, otherwise derived from the URL.
    ///   - maximumConcurrentFetches: The maximum number of concurrent fetches; 6 by default, as in browsers, because a
    ///     server may treat many connections from one client as an attack.
    ///   - limits: The size limits of the download.
    public init(
        selection: DownloadSelection = .standard,
        title: String? = nil,
        maximumConcurrentFetches: Int = 6,
        limits: DownloadLimits = DownloadLimits()
    ) {
        self.selection = selection
        self.title = title
        self.maximumConcurrentFetches = Self.clamped(jobs: maximumConcurrentFetches)
        self.limits = limits
    }

    /// All selections in the order in which they are downloaded.
    package var selections: [DownloadSelection] { [selection] + furtherSelections }

    /// Returns a Boolean value that indicates whether a download with these options has nothing left to do when one with other options
    /// has completed the asset: both are recordings, or the other one has all selections, apart from keys.
    func isFulfilled(by other: DownloadConfiguration) -> Bool {
        guard recording == nil, other.recording == nil else { return recording != nil && other.recording != nil }
        return Set(other.selections.map(\.withoutKeys)).isSuperset(of: selections.map(\.withoutKeys))
    }

    /// The URLs of the playlists that the edits of all selections insert.
    package var editedSources: [String] { selections.flatMap(\.edits.sources) }

    /// Returns the first source that is not loaded over HTTP, such as a file; `nil` if there is none.
    ///
    /// - Parameter source: The URL of the playlist that is downloaded.
    /// - Returns: That URL, or one that the edits insert.
    package func fileSource(besides source: ResourceAddress) -> ResourceAddress? {
        // A gap that an edit inserts is not loaded.
        let inserted = editedSources.filter { GapPlaylist.playlist(at: $0) == nil }
        return ([source] + inserted.map { ResourceAddress($0) }).first { !$0.isHTTP }
    }
}

/// The part of a configuration that the catalog stores as JSON.
///
/// The title belongs to the asset; details, artwork and priority have their own columns.
private struct StoredConfiguration: Codable {
    var selections: [String]
    var fetches: Int
    var fileSize: Int64
    var assetSize: Int64
    var playlistSize: Int64
    var freeSpace: Int64
    var rate: Int64?
    /// `nil` in the JSON of earlier versions.
    var replaces: Bool?
    /// The costs of networks that may be used; `nil` for all, and in the JSON of earlier versions.
    var networks: Int?
    /// The options of a recording; `nil` for a download, and in the JSON of earlier versions.
    var recording: Recording?

    struct Recording: Codable {
        /// The duration in seconds, as a decimal number.
        var duration: String?
        var startsFromBeginning: Bool
        var waitsForStream: Bool
    }
}

extension DownloadConfiguration {
    /// The configuration as JSON for the catalog.
    package var stored: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return try encoder.encode(
                StoredConfiguration(
                    selections: selections.map(\.description),
                    fetches: maximumConcurrentFetches,
                    fileSize: limits.fileSize.bytes,
                    assetSize: limits.assetSize.bytes,
                    playlistSize: limits.playlistSize.bytes,
                    freeSpace: limits.freeSpace.bytes,
                    rate: maximumRate?.bitsPerSecond,
                    replaces: replacesStoredSegments,
                    networks: acceptedNetworks == Self.allNetworks ? nil : acceptedNetworks.rawValue,
                    recording: recording.map { recording in
                        StoredConfiguration.Recording(
                            duration: recording.duration?.description,
                            startsFromBeginning: recording.startsFromBeginning,
                            waitsForStream: recording.waitsForStream
                        )
                    }
                )
            )
        }
    }

    /// Creates the configuration that the catalog stores; `nil` if the JSON is that of another version.
    package init?(stored: Data) {
        guard let found = try? JSONDecoder().decode(StoredConfiguration.self, from: stored) else { return nil }
        let selections = found.selections.compactMap { DownloadSelection($0) }
        guard let first = selections.first, selections.count == found.selections.count else { return nil }
        self.init(
            selection: first,
            maximumConcurrentFetches: found.fetches,
            limits: DownloadLimits(
                fileSize: ByteCount(found.fileSize),
                assetSize: ByteCount(found.assetSize),
                playlistSize: ByteCount(found.playlistSize),
                freeSpace: ByteCount(found.freeSpace)
            )
        )
        furtherSelections = Array(selections.dropFirst())
        replacesStoredSegments = found.replaces ?? false
        acceptedNetworks = found.networks.map { NetworkCost(rawValue: $0) } ?? Self.allNetworks
        maximumRate = found.rate.map { BitRate(bitsPerSecond: $0) }
        recording = found.recording.map { recording in
            RecordingOptions(
                duration: recording.duration.flatMap { MediaTime(decimal: $0) },
                startsFromBeginning: recording.startsFromBeginning,
                waitsForStream: recording.waitsForStream
            )
        }
    }
}
