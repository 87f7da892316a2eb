import AssetStorage
import HLSPlaylist
import MediaTiming

extension AssetLibrary {
    /// Verifies that the limits of the library leave space for a download, before other assets are deleted for it one after the
    /// other.
    ///
    /// The size is estimated cautiously by the bit rates of the variants; a download without any is not refused.
    ///
    /// - Parameters:
    ///   - renditions: The media playlists of the download.
    ///   - asset: The asset as it is planned.
    ///   - unfinished: The bytes that are stored of unfinished files, by their paths.
    /// - Throws: `StorageError` with the code `disk-full` if they do not.
    func checkSpace(
        for renditions: [PlannedRendition],
        of asset: StoredAsset,
        besides unfinished: [String: Int64]
    ) throws {
        guard try hasStorageLimits() else { return }
        let stored = unfinished.values.reduce(ByteCount.zero) { $0 + ByteCount($1) }
        let missing = try estimatedBytes(of: renditions, in: asset) - stored
        guard missing > .zero else { return }
        try checkSpace(forEstimate: missing)
    }

    /// Returns a cautious estimate of the bytes of the variants that are not stored.
    private func estimatedBytes(of renditions: [PlannedRendition], in asset: StoredAsset) throws -> ByteCount {
        let variants = renditions.filter { $0.role == .variant }
        var bytes = 0.0
        for rendition in variants {
            guard let rate = rendition.variant.flatMap({ Self.cautiousRate(of: $0, isOnlyOne: variants.count == 1) })
            else { continue }
            let folders = try folders(of: [rendition], asset.id)
            let stored = asset.renditions.first { folders.contains($0.folder) }?.loadedTimeRanges.totalDuration
            // Segments that are marked as gaps count as stored.
            let missing = rendition.playlist.duration - (stored ?? .zero)
            bytes += max(0, missing.seconds) * rate / 8
        }
        return ByteCount(Int64(saturating: bytes))
    }

    /// Returns a bit rate that a variant probably exceeds, in bits per second; `nil` if the playlist specifies none.
    ///
    /// The bit rates of variants include audio, which several of them can share, and `BANDWIDTH` is a peak.
    private static func cautiousRate(of variant: Variant, isOnlyOne: Bool) -> Double? {
        if isOnlyOne, let average = variant.averageBandwidth { return Double(average.bitsPerSecond) }
        return (variant.averageBandwidth ?? variant.bandwidth).map { Double($0.bitsPerSecond) / 2 }
    }
}
