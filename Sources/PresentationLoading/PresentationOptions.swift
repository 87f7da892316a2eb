package import DASHManifest
package import DASHTranslation
import Foundation
package import MediaTiming

/// The options for loading DASH presentations: clocks, limits, and where translations are computed.
package struct PresentationOptions: Sendable {
    /// The clock for the intervals between loads.
    package var time: any TimeSource
    /// A closure that returns the time of day, as the time since 1970-01-01 00:00:00 UTC.
    package var date: @Sendable () -> Duration
    /// The maximum sizes of a manifest.
    package var manifest = ManifestLimits()
    /// The maximum sizes of a translation.
    package var translation = TranslationLimits()
    /// The maximum size of all segment indexes of a version of a manifest; 64 MiB by default.
    ///
    /// An hour of segments of a second has 43 KB.
    package var indexSize = ByteCount(64 << 20)
    /// The maximum number of loads for the segment indexes of a version of a manifest, nested indexes included.
    package var indexLoadCount = 2_000
    /// A Boolean value that indicates whether events in segments become date ranges of the playlists; `true` by default.
    ///
    /// The beginning of each segment is loaded for it, if the manifest announces events. A player that reads the events
    /// from the media itself does not need it.
    package var readsSegmentEvents = true
    /// The maximum number of loads for the events in segments each time that playlists are written; 500 by default.
    package var eventLoadCount = 500
    /// The time after which loads for the events in segments are canceled, so that playlists are not delayed.
    ///
    /// The events of the other segments follow when the playlists are written again. The default is 5 seconds.
    package var eventTimeout = Duration.seconds(5)
    /// The maximum number of loads for the remote elements of a version of a manifest.
    ///
    /// Together with the manifest, they are limited to its maximum size.
    package var remoteElementLoadCount = 2_000
    /// The time after the load of a manifest at which loads of its remote elements are canceled.
    ///
    /// Elements that are not loaded by then are left out. The default is 10 seconds.
    package var remoteElementTimeout = Duration.seconds(10)
    /// The time for which the translation of a static manifest answers requests for its media playlists before the
    /// manifest is loaded again; `nil`, the default, for no limit.
    package var staticLifetime: Duration?
    /// The maximum number of presentations in memory; 8 by default.
    package var presentationCount = 8
    /// The maximum size of the manifests and playlists in memory, of which the least recently used are removed; 256 MiB by
    /// default.
    package var memorySize = ByteCount(256 << 20)
    /// The file in which the numbers of live presentations continue after a restart; `nil`, the default, for none.
    package var stateFile: StateFile?
    /// The executor for parsing and translation, or `nil` for the calling task.
    package var workers: (any TranslationWorkers)?
    /// A closure that is called with a message for each resource besides the manifest that cannot be loaded or read.
    package var reportProblem: @Sendable (String) -> Void = { _ in }

    /// Creates options.
    ///
    /// - Parameters:
    ///   - time: The clock for the intervals between loads.
    ///   - date: Returns the time of day, as the time since 1970-01-01 00:00:00 UTC; by default that of the system.
    package init(
        time: any TimeSource = SystemTimeSource(),
        date: @escaping @Sendable () -> Duration = { .seconds(Date().timeIntervalSince1970) }
    ) {
        self.time = time
        self.date = date
    }

    /// The time of day, in seconds since 1970.
    var now: MediaTime {
        let (seconds, attoseconds) = date().components
        return MediaTime(seconds: seconds) + MediaTime(value: attoseconds / 1_000_000_000_000, timescale: 1_000_000)
    }
}

/// An executor for work that can take long, such as the threads of a server.
package protocol TranslationWorkers: Sendable {
    /// Performs work.
    ///
    /// - Parameter work: The work. It must call the closure that it is given between its steps; the closure throws when
    ///   the task is canceled.
    /// - Returns: The result of the work.
    /// - Throws: `CancellationError`, or the error of the work.
    func perform<Result: Sendable>(
        _ work: @escaping @Sendable (_ check: () throws -> Void) throws -> Result
    ) async throws -> Result
}
