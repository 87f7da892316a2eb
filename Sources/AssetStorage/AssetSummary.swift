public import Foundation
public import MediaTiming

/// The properties of a downloaded asset that a listing shows.
///
/// The catalog stores them for each asset that is not being downloaded. Therefore, a library with many assets can be
/// listed without reading the records of files, or the packages.
public struct AssetSummary: Sendable, Hashable, Identifiable {
    /// The identifier of the asset in the library.
    public let id: String
    /// The title to display.
    public let title: String
    /// The date on which the asset was added to the library.
    public let creationDate: Date
    /// The completion state.
    public let state: StoredAsset.State
    /// The stored share of the duration as a percentage, from 0 to 100; 100 only if the asset is complete.
    public let percent: Double
    /// A Boolean value that indicates whether the asset can be played without a network connection, according to the catalog.
    public let isPlayableOffline: Bool
    /// The duration of the longest rendition; `nil` until the playlists are loaded.
    public let duration: MediaTime?
    /// The total size of the stored files.
    public let bytes: ByteCount
    /// The disk space of the package: its allocated blocks with directories, playlists and the lock file.
    public let diskBytes: ByteCount
    /// A Boolean value that indicates whether the package shares some files with another asset.
    public let sharesFiles: Bool
    /// The heights of the stored variants in pixels, such as `720p` or `360p...1080p`, otherwise their highest bit
    /// rate.
    ///
    /// If the source has no variants, the bit rate is the average of the stored segments; empty if no segment is
    /// stored.
    public let quality: String
    /// The languages of the audio and the subtitles, such as `en,ko (subtitles en)`; empty if no rendition
    /// and no track of a media file or of a source without variants declares one.
    public let languages: String
}

extension AssetSummary {
    /// Creates the summary of an asset whose package has been measured.
    init(_ record: AssetRecord, _ asset: StoredAsset, _ usage: DiskUsage) {
        self.init(
            id: asset.id,
            title: asset.title,
            creationDate: Date(timeIntervalSince1970: record.createdAt),
            state: asset.state,
            percent: asset.percent,
            isPlayableOffline: asset.isPlayableOffline,
            duration: asset.duration,
            bytes: asset.bytes,
            diskBytes: usage.occupiedBytes,
            sharesFiles: !usage.sharedFiles.isEmpty,
            quality: Self.quality(of: asset.renditions),
            languages: Self.languages(of: asset.renditions)
        )
    }

    private static func quality(of renditions: [StoredRendition]) -> String {
        let variants = renditions.filter { $0.role == .variant }
        let heights = variants.compactMap(\.height)
        guard let lowest = heights.min(), let highest = heights.max() else {
            return variants.compactMap { $0.bandwidth ?? $0.averageBitRate }.max()?.description ?? ""
        }
        return lowest == highest ? "\(highest)p" : "\(lowest)p...\(highest)p"
    }

    private static func languages(of renditions: [StoredRendition]) -> String {
        func languages(_ role: StoredRendition.Role) -> String {
            var seen: Set<String> = []
            return StoredRendition.languages(of: role, in: renditions)
                .filter { $0 != "und" && seen.insert($0).inserted }.joined(separator: ",")
        }
        let (audio, subtitles) = (languages(.audio), languages(.subtitles))
        guard !subtitles.isEmpty else { return audio }
        return audio.isEmpty ? "subtitles \(subtitles)" : "\(audio) (subtitles \(subtitles))"
    }
}
