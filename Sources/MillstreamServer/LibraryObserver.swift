import AssetStorage
import MediaTiming
import MediaTransport
import MillstreamDownloads
import ReportFormat
import ServiceLifecycle

/// A service that reports changes by other processes in the library to the console, and detects disconnected listeners.
struct LibraryObserver: Service {
    let library: AssetLibrary
    let downloads: DownloadQueue
    let broadcast: EventBroadcast
    /// The clock for the interval between checks.
    var time: any TimeSource = SystemTimeSource()

    private static let interval = Duration.seconds(3)
    /// The minimum ratio of the interval to the time in which the library was read, which takes long while a large asset is
    /// incomplete.
    private static let minimumRatio = 10

    func run() async throws {
        await cancelWhenGracefulShutdown { await observe() }
    }

    /// The description of an asset, which is reported when it changes.
    private struct Description: Hashable {
        let asset: StoredAsset
        /// The download of the asset that another process or session has.
        let other: ListedDownload?
    }

    private func observe() async {
        var known: [String: Description] = [:]
        var interval = Self.interval
        while !Task.isCancelled {
            do { try await time.sleep(for: interval) } catch { return }
            guard broadcast.listenerCount > 0 else { continue }
            let begun = time.now
            let reading = try? await BlockingOperation.run { [library, downloads, known] in
                try Self.read(library, downloads, except: known)
            }
            interval = max(Self.interval, (time.now - begun) * Self.minimumRatio)
            if let (found, reports) = reading {
                for report in reports { broadcast.send(ServerEvent(name: "asset", data: report)) }
                for id in known.keys where found[id] == nil {
                    broadcast.send(ServerEvent(name: "removed", data: .fields(["id": .string(id)])))
                }
                known = found
            }
            // Writing to each listener reveals which of them have disconnected.
            broadcast.send(ServerEvent(name: "alive", data: .fields([:])))
        }
    }

    /// Returns all assets by their identifiers, and the reports of those that have changed.
    private static func read(
        _ library: AssetLibrary,
        _ downloads: DownloadQueue,
        except known: [String: Description]
    ) throws -> (found: [String: Description], reports: [ReportValue]) {
        let running = downloads.snapshot()
        var (found, reports): ([String: Description], [ReportValue]) = ([:], [])
        for asset in try library.assets() {
            let description = Description(asset: asset, other: running.other(of: asset.id))
            found[asset.id] = description
            if known[asset.id] != description { reports.append(downloads.report(asset, running)) }
        }
        return (found, reports)
    }
}
