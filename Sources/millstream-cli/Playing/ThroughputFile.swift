import Foundation
import MediaTransport
import Millstream
import ReportFormat

/// The file in which `millstream play` remembers the throughput of networks: `millstream/throughput` in the folder for
/// caches of the user.
enum ThroughputFile {
    private static var url: URL? {
        FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first?
            .appendingPathComponent("millstream/throughput")
    }

    /// Reads the file; the history has no file if there is no folder for caches.
    static func open() -> ThroughputHistory { ThroughputHistory(file: url) }

    /// Writes what a run added.
    ///
    /// A failure is a warning, because the stream was played.
    static func save(_ history: ThroughputHistory) {
        do {
            try history.save()
        } catch {
            StandardError.write("millstream: warning: the throughput is not remembered: \(error)\n")
        }
    }
}
