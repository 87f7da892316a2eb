import Foundation
package import FuzzTargets
import Synchronization

extension FuzzTarget {
    /// The parsers that require transports, storage, the server or the engine, in listing order.
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
        FuzzTarget("artwork", "images that represent an asset", maximumLength: 2_048, run: readArtwork),
        FuzzTarget("tokens", "responses with access tokens", maximumLength: 1_024, run: readToken),
        FuzzTarget("steering", "steering manifests", maximumLength: 2_048, run: readSteeringManifest),
        FuzzTarget("faults", "simulated faults as text", maximumLength: 512, run: readFault),
        FuzzTarget(
            "request-heads",
            "targets and header fields of requests",
            maximumLength: 1_024,
            run: readRequestHead
        ),
        FuzzTarget(
            "segment-addresses",
            "signed addresses of segments, changed by clients",
            maximumLength: 1_024,
            run: readSegmentAddress
        ),
        FuzzTarget("api-bodies", "bodies of the console API, and of errors", maximumLength: 2_048, run: readAPIBody),
        FuzzTarget("stored-state", "records of the cache, the library and the download queue", run: readStoredState),
    ]
}

/// Runs an asynchronous function and blocks the current thread until it returns.
///
/// The main thread of a fuzzer can only call synchronous functions.
func wait(for body: @escaping @Sendable () async -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        await body()
        done.signal()
    }
    done.wait()
}

/// Calls a closure with a temporary folder, which is deleted when the closure returns.
///
/// `TMPDIR` may name a file system in memory.
func withTemporaryFolder(_ body: (URL) -> Void) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("fuzz-\(UUID())", isDirectory: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    body(folder)
}
