public import MediaTiming

/// The limits on the amount of data that a download stores, whatever its origin sends.
public struct DownloadLimits: Sendable, Hashable {
    /// The maximum size of a file, regardless of the duration of the segment; 16 GiB by default.
    public var fileSize: ByteCount
    /// The maximum size of an asset; 1 TiB by default.
    public var assetSize: ByteCount
    /// The maximum total size of the playlists of an asset, which are held in memory; 256 MiB by default.
    public var playlistSize: ByteCount
    /// The free space that a download must leave on the disk; 256 MiB by default.
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
