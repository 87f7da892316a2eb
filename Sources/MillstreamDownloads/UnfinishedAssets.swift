package import AssetStorage
package import ReportFormat

/// The progress of assets that are not complete, which is the same before and after their download is canceled, and that of
/// the list of downloads: it counts what was received of unfinished files.
package struct UnfinishedAssets: Sendable {
    private let library: AssetLibrary
    private let downloads: [String: DownloadProgress]

    /// Creates an instance with the progress of the downloads in a library.
    ///
    /// - Parameters:
    ///   - library: The library.
    ///   - id: The identifier of the asset that is asked for; `nil` for all assets.
    ///   - areListed: A Boolean value that indicates whether there are such assets; otherwise nothing is read.
    package init(in library: AssetLibrary, of id: String? = nil, areListed: Bool = true) {
        self.library = library
        downloads = areListed ? (try? library.progressOfDownloads(of: id)) ?? [:] : [:]
    }

    /// Returns a Boolean value that indicates whether an asset has an unfinished download.
    package func isDownloading(_ id: String) -> Bool { downloads[id] != nil }

    /// Returns the progress of an asset, from 0 to 100; 100 only if it is complete.
    package func percent(of asset: StoredAsset) -> Double {
        if asset.state == .complete { return 100 }
        return percent(ofUnfinished: asset.id, isPlanned: asset.duration != nil)
    }

    /// Returns the progress of an asset, from 0 to 100; 100 only if it is complete.
    package func percent(of summary: AssetSummary) -> Double {
        if summary.state == .complete { return 100 }
        return percent(ofUnfinished: summary.id, isPlanned: summary.duration != nil)
    }

    /// Returns the report of an asset for programs, with this progress, rounded down to tenths.
    package func report(of asset: StoredAsset) -> ReportValue {
        guard case .object(let fields) = asset.report else { return asset.report }
        let percent = percent(of: asset)
        return .object(
            fields.map { field in
                guard field.name == "percent" else { return field }
                return ReportValue.Field(name: field.name, value: .real((percent * 10).rounded(.down) / 10))
            }
        )
    }

    /// Returns the progress of an asset from 0 to 99.9; a recording has all files that are planned so far.
    private func percent(ofUnfinished id: String, isPlanned: Bool) -> Double {
        // Without playlists, no file is missing either.
        guard isPlanned, let progress = downloads[id] ?? (try? library.downloadProgress(of: id)) else { return 0 }
        return min(99.9, progress.percentOfBytes)
    }
}
