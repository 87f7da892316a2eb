public import MediaTiming
public import NIOCore
public import PlaylistEditing

/// The limits on the work of a server, for a single request and for all of them at the same time.
///
/// A request over its own limits is answered with 413; a request for which the server has no capacity with 503, and one of a client
/// that uses its share of the capacity with 429, both with `Retry-After`.
public struct ServerLimits: Sendable, Hashable {
    /// The limits on editing the playlist of a single request.
    public var editing: EditLimits
    /// The number of threads that edit and inspect playlists.
    ///
    /// The default is one less than the number of processors, and at least one, so that the rest of the server has a
    /// processor.
    public var concurrentEdits: Int
    /// The maximum number of simultaneous requests that load, edit or inspect playlists.
    ///
    /// The default is 256. All pages of other sites together have at most half of them.
    public var pendingEdits: Int
    /// The maximum number of these requests for one client: an IPv4 address or an IPv6 network with a prefix of 64 bits.
    ///
    /// The default is `nil`, for a quarter of ``pendingEdits``, but at least 12, so that a player can load the playlists of a
    /// presentation at once.
    public var pendingEditsPerClient: Int?
    /// The maximum total size of the playlists and responses of these requests.
    ///
    /// The default is 256 MiB.
    public var pendingBytes: ByteCount
    /// The maximum time for which a request waits for one resource of a source, with all retries and redirects.
    ///
    /// The default is 60 s. A request that waits longer is answered with 504.
    public var loadingTime: Duration
    /// The maximum total size of segments that were loaded in advance of players and stay in memory.
    ///
    /// The default is 64 MiB. Segments are loaded in advance only if the options of the server say so.
    public var retainedSegmentBytes: ByteCount
    /// The limits on dividing segments into the parts of simulated channels.
    public var parts: PartLimits

    /// Creates limits.
    public init(
        editing: EditLimits = EditLimits(),
        concurrentEdits: Int = max(1, System.coreCount - 1),
        pendingEdits: Int = 256,
        pendingEditsPerClient: Int? = nil,
        pendingBytes: ByteCount = ByteCount(256 << 20),
        loadingTime: Duration = .seconds(60),
        retainedSegmentBytes: ByteCount = ByteCount(64 << 20),
        parts: PartLimits = PartLimits()
    ) {
        self.editing = editing
        self.concurrentEdits = concurrentEdits
        self.pendingEdits = pendingEdits
        self.pendingEditsPerClient = pendingEditsPerClient
        self.pendingBytes = pendingBytes
        self.loadingTime = loadingTime
        self.retainedSegmentBytes = retainedSegmentBytes
        self.parts = parts
    }
}
