import Foundation
package import FuzzTargets
import Synchronization

extension FuzzTarget {
    /// The readers behind transports, storage, the server and the engine, in the order in which they are listed.
    package static let streams: [FuzzTarget] = [
        FuzzTarget(
            "playback",
            "presentations from a grammar, played in simulated time",
            maximumLength: 2_048,
            replayCount: 60,
            furtherSeeds: ["presentations"],
            run: playPresentation
        ),
        FuzzTarget(
            "file-playback",
            "media files, opened and played in simulated time",
            replayCount: 60,
            furtherSeeds: ["mp4", "ogg", "matroska", "wav", "packed-audio"],
            run: playFile
        ),
        FuzzTarget(
            "downloads",
            "presentations from a grammar, downloaded into a library",
            maximumLength: 2_048,
            replayCount: 40,
            furtherSeeds: ["presentations"],
            run: downloadPresentation
        ),
        FuzzTarget("cookies", "Set-Cookie fields", maximumLength: 1_024, run: readCookies),
        FuzzTarget("cookie-files", "cookie files in the Netscape format", maximumLength: 2_048, run: readCookieFile),
        FuzzTarget("catalogs", "catalogs as property lists and as JSON", maximumLength: 2_048, run: readCatalog),
        FuzzTarget("queries", "queries of playback addresses", maximumLength: 1_024, run: readQuery),
        FuzzTarget("ranges", "Range fields of requests", maximumLength: 128, run: readRangeField),
        FuzzTarget("http-fields", "header fields of responses", maximumLength: 512, run: readResponseFields),
        FuzzTarget(
            "http-cache",
            "responses with arbitrary header fields, cached",
            maximumLength: 1_024,
            replayCount: 60,
            furtherSeeds: ["http-fields"],
            run: readCachedResponses
        ),
        FuzzTarget("asset-lists", "asset lists of interstitials", maximumLength: 1_024, run: readAssetList),
        FuzzTarget("data-addresses", "data URLs", maximumLength: 1_024, run: readDataAddress),
    ]
}

/// Runs an asynchronous function and waits for its end on the current thread.
///
/// For the main thread of a fuzzer, which calls synchronous functions.
func wait(for body: @escaping @Sendable () async -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        await body()
        done.signal()
    }
    done.wait()
}

/// A folder that exists while a closure runs.
///
/// `TMPDIR` may name a file system in memory.
func withTemporaryFolder(_ body: (URL) -> Void) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("fuzz-\(UUID())", isDirectory: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    body(folder)
}
