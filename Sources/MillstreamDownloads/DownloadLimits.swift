public import MediaTiming

/// The budget of a download: what an origin may make it store.
public struct DownloadLimits: Sendable, Hashable {
    /// The upper bound on the size of one file, however long the segment is; 16 GiB by default.
    public var fileSize: ByteCount
    /// The upper bound on what an asset may store in all; 1 TiB by default.
    public var assetSize: ByteCount
    /// The upper bound on the playlists of one asset, which are held in memory; 256 MiB by default.
    public var playlistSize: ByteCount
    /// The space that is left free on the disk for others; 256 MiB by default.
    public var freeSpace: ByteCount

    /// Creates limits.
    public init(
        fileSize: ByteCount = ByteCount(16 << 30),
        assetSize: ByteCount = ByteCount(1 << 40),
        playlistSize: ByteCount = ByteCount(256 << 20),
        freeSpace: ByteCount = ByteCount(256 << 20)
    ) {
        self.fileSize = fileSize
        self.assetSize = assetSize
        self.playlistSize = playlistSize
        self.freeSpace = freeSpace
    }
}
