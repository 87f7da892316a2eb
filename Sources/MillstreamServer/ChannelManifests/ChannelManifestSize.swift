import HLSPlaylist
import HTTPTypes
import MediaTiming
import PlaylistEditing
import Synchronization

/// The size of the manifest of a simulated channel.
///
/// Its tracks are loaded at the same time, and all of them add to the size.
final class ChannelManifestSize: Sendable {
    private struct Use {
        var mediaCount = 0
        var segmentCount = 0
        var byteCount = 0
    }

    private let budget: RequestBudget
    private let use = Mutex(Use())

    /// The maximum number of segments whose beginnings are loaded for a manifest.
    private static let maximumMediaCount = 1_000

    /// Creates the size of a manifest without segments.
    ///
    /// - Parameter budget: The budget of the request, with the limits of all tracks together.
    init(_ budget: RequestBudget) {
        self.budget = budget
    }

    /// Adds a segment of which the beginning is loaded.
    ///
    /// - Throws: ``ServerError`` with 413 if there are too many of them.
    func addMedia() throws {
        let count = use.withLock { use in
            use.mediaCount +|= 1
            return use.mediaCount
        }
        guard count > Self.maximumMediaCount else { return }
        throw ServerError(
            .contentTooLarge,
            "too-many-periods",
            "the tracks have more than \(Self.maximumMediaCount) periods with media of their own",
            hint: "request a shorter window, such as live=loop,window=60, or fewer variants, such as max-height=720"
        )
    }

    /// Adds listed segments.
    ///
    /// - Parameter count: The number of segments.
    /// - Throws: `PlaylistEditError.tooLarge(_:)` if all tracks together have more segments than a playlist can have entries.
    func addSegments(_ count: Int) throws {
        let sum = use.withLock { use in
            use.segmentCount +|= count
            return use.segmentCount
        }
        let limit = budget.limits.editing.result.entryCount
        guard sum <= limit else { throw PlaylistEditError.tooLarge(.entryCount(limit)) }
    }

    /// Adds bytes of addresses, and reserves capacity for them.
    ///
    /// - Parameter count: The number of bytes.
    /// - Throws: `PlaylistEditError.tooLarge(_:)` if all tracks together have more bytes than a playlist; ``ServerError`` with 503 if
    ///   all requests together hold too much.
    func addBytes(_ count: Int) throws {
        let sum = use.withLock { use in
            use.byteCount +|= count
            return use.byteCount
        }
        let limit = budget.limits.editing.result.byteCount
        guard sum <= limit else { throw PlaylistEditError.tooLarge(.byteCount(limit)) }
        try budget.reserve(count)
    }
}
