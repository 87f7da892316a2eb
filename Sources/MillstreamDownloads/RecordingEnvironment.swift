import AssetStorage
import MediaTiming

/// The download and the counters of one run of a recording, which all parts of the run share.
struct RecordingEnvironment: Sendable {
    let download: AssetDownload
    let assetID: String
    let resolver: DownloadResolver
    let meter: ProgressMeter
    let budget: DownloadBudget
    let report: @Sendable (AssetDownload.Event) -> Void

    var library: AssetLibrary { download.library }
    var time: any TimeSource { download.time }

    /// Reports that segments are gaps, because they were not available.
    func reportLoss(ofSegments count: Int64) { report(.lost(id: assetID, count: count)) }
}
