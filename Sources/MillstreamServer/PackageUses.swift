import AssetStorage
import MediaTiming
import ServiceLifecycle
import Synchronization

/// The marks on packages that are sent to players, which exclude them from eviction, and the service that removes them.
///
/// A player requests a package from time to time, so that a mark stays for some minutes after each request.
final class PackageUses: Service {
    private struct Entry {
        var use: PackageUse?
        var lastRequest: Duration
    }

    private let library: AssetLibrary
    private let time: any TimeSource
    private let entries = Mutex<[String: Entry]>([:])

    /// The time after the last request for which a package stays marked.
    static let duration = Duration.seconds(300)
    /// The interval at which marks are removed.
    private static let interval = Duration.seconds(15)
    /// The maximum number of packages that are marked, because each mark is an open directory.
    private static let maximumCount = 256

    init(_ library: AssetLibrary, time: any TimeSource = SystemTimeSource()) {
        self.library = library
        self.time = time
    }

    /// Marks the package of an asset that a player requests.
    func mark(_ id: String) {
        let now = time.now
        entries.withLock { entries in
            // A process that looks whether the package is in use excludes all marks for a moment.
            let use = entries[id]?.use ?? PackageUse(library.packageDirectory(id))
            entries[id] = Entry(use: use, lastRequest: now)
            guard entries.count > Self.maximumCount,
                let oldest = entries.min(by: { $0.value.lastRequest < $1.value.lastRequest })
            else { return }
            entries[oldest.key] = nil
        }
    }

    /// Removes the marks on packages that were not requested for some time.
    func removeExpiredMarks() {
        let now = time.now
        entries.withLock { entries in entries = entries.filter { now - $0.value.lastRequest < Self.duration } }
    }

    /// Removes marks regularly until the task is canceled or the server shuts down.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await self.time.sleep(for: Self.interval)) != nil { self.removeExpiredMarks() }
        }
    }
}
