import AssetStorage
import MediaTiming
import MediaTransport

/// The decision to load the playlists of a download again because the addresses of its files have expired.
///
/// Stored files are recognized in the new playlists by the library, so that only the others are fetched.
struct DownloadRenewal {
    /// The identity of a file in playlists with different addresses.
    private struct File: Hashable {
        let kind: StoredResource.Kind
        let folder: String
        let timeRange: MediaTimeRange

        init(_ resource: StoredResource) {
            kind = resource.kind
            folder = resource.folder
            timeRange = resource.timeRange
        }
    }

    /// The maximum number of renewals because of one file, so that a file that is never available does not repeat them
    /// without end.
    ///
    /// The first response may come from a cache on the way, so that a second one is useful.
    private static let maximumCount = 2

    /// The number of renewals because of each file.
    private var counts: [File: Int] = [:]
    /// A Boolean value that indicates whether no files have been fetched yet.
    private(set) var isFirstRound = true
    /// A Boolean value that indicates whether the playlists must be loaded again.
    private(set) var isNeeded = false

    /// Begins to fetch the files of playlists that were just loaded.
    mutating func beginRound() {
        isFirstRound = false
        isNeeded = false
    }

    /// Decides whether the playlists are loaded again after the failure of a file.
    mutating func renewsAddresses(after error: TransportError, of resource: StoredResource) -> Bool {
        guard let status = error.status, FailureCategory.mayIndicateExpiry(status: status) else { return false }
        let file = File(resource)
        let count = counts[file, default: 0]
        guard count < Self.maximumCount else { return false }
        counts[file] = count + 1
        isNeeded = true
        return true
    }
}
