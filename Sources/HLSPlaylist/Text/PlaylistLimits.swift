import MediaTiming

/// The maximum sizes of a playlist that is parsed, so that input from the network cannot exhaust the memory.
public struct PlaylistLimits: Sendable, Hashable {
    /// The maximum number of bytes in a playlist; at most 4 GiB − 1, because offsets have 32 bits.
    public var byteCount: Int { didSet { byteCount = min(byteCount, Int(UInt32.max)) } }
    /// The maximum number of bytes in a line.
    public var lineLength: Int
    /// The maximum number of segments, variants and other entries in a playlist.
    public var entryCount: Int

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - byteCount: 256 MiB by default, which is enough for about 2.5 million segments.
    ///   - lineLength: 16 MiB by default, because `data` URLs can be long.
    ///   - entryCount: 4 million by default.
    public init(byteCount: Int = 256 << 20, lineLength: Int = 16 << 20, entryCount: Int = 4_000_000) {
        self.byteCount = min(byteCount, Int(UInt32.max))
        self.lineLength = lineLength
        self.entryCount = entryCount
    }

    /// A limit that a playlist exceeds, with its value.
    public enum Limit: Sendable, Hashable, CustomStringConvertible {
        /// The maximum number of bytes in a playlist.
        case byteCount(Int)
        /// The maximum number of bytes in a line.
        case lineLength(Int)
        /// The maximum number of entries in a playlist.
        case entryCount(Int)

        /// The exceeded limit as a message for display.
        public var description: String {
            switch self {
            case .byteCount(let limit): "the playlist is larger than \(limit) bytes"
            case .lineLength(let limit): "the line is longer than \(limit) bytes"
            case .entryCount(let limit): "the playlist has more than \(limit) entries"
            }
        }
    }
}
