public import HLSPlaylist
public import MediaTiming
import Synchronization

/// The limits on the work of editing one playlist, which are the same for the command line, the server and the player.
///
/// The media playlists of a presentation are edited one by one, each within these limits.
public struct EditLimits: Sendable, Hashable {
    /// The maximum total size of the playlists that are loaded: the edited playlist and all playlists that it inserts.
    ///
    /// The default is 32 MiB, about 300,000 segments.
    public var loadedBytes: ByteCount
    /// The maximum number of tags, segments and variants in each playlist that is loaded or generated.
    ///
    /// The default is 200,000: nine days of segments of four seconds.
    public var entries: Int
    /// The maximum size of the edited playlist.
    ///
    /// The default is 64 MiB.
    public var resultBytes: ByteCount
    /// The maximum number of edits.
    ///
    /// The default is 16; each edit is a pass over the playlist. As many divisions of subtitles, which alignment adds, are
    /// permitted besides.
    public var edits: Int
    /// The maximum number of playlists that the edits insert.
    ///
    /// The default is 16, so that as many presentations can be joined as there are edits.
    public var sources: Int

    /// Creates limits.
    public init(
        loadedBytes: ByteCount = ByteCount(32 << 20),
        entries: Int = 200_000,
        resultBytes: ByteCount = ByteCount(64 << 20),
        edits: Int = 16,
        sources: Int = 16
    ) {
        self.loadedBytes = loadedBytes
        self.entries = entries
        self.resultBytes = resultBytes
        self.edits = edits
        self.sources = sources
    }

    /// The limits for parsing a playlist that is loaded.
    public var loadedPlaylist: PlaylistLimits {
        PlaylistLimits(byteCount: Int(loadedBytes.bytes), entryCount: entries)
    }

    /// The limits for the result of each edit.
    public var result: PlaylistLimits {
        PlaylistLimits(byteCount: Int(resultBytes.bytes), entryCount: entries)
    }

    /// Throws an error if a plan has more edits or sources than the limits permit.
    public func verify(_ plan: EditPlan) throws(PlaylistEditError) {
        let divisions = plan.edits.count { $0.definition.name == PlaylistEdit.splitKind.definition.name }
        guard plan.edits.count - divisions <= edits, divisions <= edits +| 1 else {
            throw .tooManyEdits(maximum: edits)
        }
        guard Set(plan.sources).count <= sources else { throw .tooManySources(maximum: sources) }
    }
}

/// The bytes that are loaded for one edited playlist, counted against its limits.
public final class EditBudget: Sendable {
    /// The limits.
    public let limits: EditLimits
    private let received = Mutex<Int64>(0)
    private let reserve: @Sendable (Int) throws -> Void

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - limits: The limits.
    ///   - reserve: A closure that reserves memory for received bytes, and throws an error if there is none.
    public init(_ limits: EditLimits = EditLimits(), reserve: @escaping @Sendable (Int) throws -> Void = { _ in }) {
        self.limits = limits
        self.reserve = reserve
    }

    /// Counts bytes of a playlist when they are received, including those of failed attempts.
    ///
    /// - Throws: ``PlaylistEditError/loadsTooMuch(_:)`` if the limit would be exceeded; the bytes are then not counted.
    public func receive(_ count: Int) throws {
        let isWithin = received.withLock { received in
            guard Int64(count) <= limits.loadedBytes.bytes -| received else { return false }
            received +|= Int64(count)
            return true
        }
        guard isWithin else { throw PlaylistEditError.loadsTooMuch(limits.loadedBytes) }
        try reserve(count)
    }
}
