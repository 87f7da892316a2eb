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
    /// The default is 256. A client has at most a quarter of them, and all pages of other sites together have at most half.
    public var pendingEdits: Int
    /// The maximum total size of the playlists and responses of these requests.
    ///
    /// The default is 256 MiB.
    public var pendingBytes: ByteCount

    /// Creates limits.
    public init(
        editing: EditLimits = EditLimits(),
        concurrentEdits: Int = max(1, System.coreCount - 1),
        pendingEdits: Int = 256,
        pendingBytes: ByteCount = ByteCount(256 << 20)
    ) {
        self.editing = editing
        self.concurrentEdits = concurrentEdits
        self.pendingEdits = pendingEdits
        self.pendingBytes = pendingBytes
    }
}
