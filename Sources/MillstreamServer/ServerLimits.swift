public import MediaTiming
public import NIOCore

/// The limits on the work of a server, for a single request and for all of them at the same time.
///
/// A request over its own limits is answered with 413; a request for which the server has no capacity with 503 and
/// `Retry-After`.
public struct ServerLimits: Sendable, Hashable {
    /// The maximum total size of the playlists that a single request loads.
    ///
    /// The default is 32 MiB, about 300,000 segments.
    public var playlistBytes: ByteCount
    /// The maximum number of tags, segments and variants in each playlist that is loaded or generated.
    ///
    /// The default is 200,000: nine days of segments of four seconds.
    public var playlistEntries: Int
    /// The maximum size of an edited playlist or a report.
    ///
    /// The default is 64 MiB.
    public var responseBytes: ByteCount
    /// The maximum number of edits in an address.
    ///
    /// The default is 16; each edit is a pass over the playlist.
    public var edits: Int
    /// The maximum number of playlists that the edits of an address insert.
    ///
    /// The default is 8.
    public var sources: Int
    /// The number of threads that edit and inspect playlists.
    ///
    /// The default is one less than the number of processors, and at least one, so that the rest of the server has a
    /// processor.
    public var concurrentEdits: Int
    /// The maximum number of simultaneous requests that load, edit or inspect playlists.
    ///
    /// The default is 64.
    public var pendingEdits: Int
    /// The maximum total size of the playlists and responses of these requests.
    ///
    /// The default is 256 MiB.
    public var pendingBytes: ByteCount

    /// Creates limits.
    public init(
        playlistBytes: ByteCount = ByteCount(32 << 20),
        playlistEntries: Int = 200_000,
        responseBytes: ByteCount = ByteCount(64 << 20),
        edits: Int = 16,
        sources: Int = 8,
        concurrentEdits: Int = max(1, System.coreCount - 1),
        pendingEdits: Int = 64,
        pendingBytes: ByteCount = ByteCount(256 << 20)
    ) {
        self.playlistBytes = playlistBytes
        self.playlistEntries = playlistEntries
        self.responseBytes = responseBytes
        self.edits = edits
        self.sources = sources
        self.concurrentEdits = concurrentEdits
        self.pendingEdits = pendingEdits
        self.pendingBytes = pendingBytes
    }
}
