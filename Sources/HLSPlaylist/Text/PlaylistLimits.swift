import MediaTiming

/// How large a playlist may be before it is refused: input from the network must not exhaust memory.
public struct PlaylistLimits: Sendable, Hashable {
    /// The most bytes a playlist may have; at most 4 GiB - 1, since offsets are kept in 32 bits.
    public var byteCount: Int { didSet { byteCount = min(byteCount, Int(UInt32.max)) } }
    /// The most bytes a line may have.
    public var lineLength: Int
    /// The most segments, variants and other entries a playlist may have.
    public var entryCount: Int

    /// Makes limits.
    ///
    /// - Parameters:
    ///   - byteCount: Defaults to 256 MiB, some 2.5 million segments.
    ///   - lineLength: Defaults to 16 MiB: `data:` addresses can be long.
    ///   - entryCount: Defaults to 4 million.
    public init(byteCount: Int = 256 << 20, lineLength: Int = 16 << 20, entryCount: Int = 4_000_000) {
        self.byteCount = min(byteCount, Int(UInt32.max))
        self.lineLength = lineLength
        self.entryCount = entryCount
    }

    /// A limit that was passed, with its value.
    public enum Limit: Sendable, Hashable, CustomStringConvertible {
        /// More bytes than allowed.
        case byteCount(Int)
        /// A longer line than allowed.
        case lineLength(Int)
        /// More entries than allowed.
        case entryCount(Int)

        /// The value as text, for people.
        public var description: String {
            switch self {
            case .byteCount(let limit): "the playlist is larger than \(limit) bytes"
            case .lineLength(let limit): "the line is longer than \(limit) bytes"
            case .entryCount(let limit): "the playlist has more than \(limit) entries"
            }
        }
    }
}
