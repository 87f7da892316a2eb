import AssetStorage
import Foundation
import FuzzTargets
import MediaTiming
import MediaTransport
import MillstreamDownloads
import ReportFormat
import ResourceAddressing
import Synchronization

/// Downloads a generated presentation into a new library, resumes the download, and deletes the asset.
@Sendable func downloadPresentation(_ bytes: [UInt8]) {
    var presentation = GeneratedPresentation(bytes)
    let selection = DownloadSelection(
        variants: presentation.choices.element(of: [.best, .all, .lowest, .maximumHeight(360)])
    )
    let generated = presentation
    withTemporaryFolder { folder in
        guard let library = try? AssetLibrary(directory: folder) else {
            check(false, "a library cannot be created")
            return
        }
        let origin = GeneratedOrigin(generated, time: SystemTimeSource())
        for _ in 0..<2 {
            let result = Mutex<StoredAsset?>(nil)
            wait {
                let task = AssetDownload(
                    generated.source,
                    into: library,
                    loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0), jitter: { 0.5 }),
                    configuration: DownloadConfiguration(selection: selection)
                )
                let asset = try? await task.run { event in
                    if case .progress(_, let progress) = event { check(progress) }
                }
                result.withLock { $0 = asset }
            }
            check(library, result.withLock { $0 }, folder)
        }
        for asset in (try? library.assets()) ?? [] { try? library.delete(asset.id) }
        check((try? library.assets())?.isEmpty == true, "an asset is not deleted")
    }
}

private func check(_ progress: DownloadProgress) {
    check(String(describing: progress).isEmpty == false, "progress has no description")
}

/// Checks the state of the library after a download.
private func check(_ library: AssetLibrary, _ downloaded: StoredAsset?, _ folder: URL) {
    guard let assets = try? library.assets() else {
        check(false, "a library cannot be read")
        return
    }
    check(assets.count <= 1, "a download creates several assets")
    for asset in assets {
        check((0...100).contains(asset.percent), "progress is not between 0 and 100")
        check(asset.bytes >= .zero, "a size is negative")
        check(!asset.report.json.isEmpty, "the report is empty")
    }
    if let downloaded {
        check(downloaded.isPlayableOffline, "a finished download cannot be played")
        check(downloaded.percent == 100, "a finished download is not complete")
    }
    // No URI of the stream may write outside the library.
    let parent = folder.deletingLastPathComponent().appendingPathComponent("s.ts")
    check(!FileManager.default.fileExists(atPath: parent.path), "a file is outside of the library")
}
