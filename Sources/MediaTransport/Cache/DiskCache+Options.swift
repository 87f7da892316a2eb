public import MediaTiming

extension DiskCache {
    /// The size limits of a cache, and the kinds of resources that it stores.
    public struct Options: Sendable {
        /// The maximum total size of the cache files, including those that are being written.
        ///
        /// An evicted entry that is still being read uses additional disk space until it has been read.
        public var capacity: ByteCount
        /// The maximum size of a body that is stored.
        public var maximumEntrySize: ByteCount
        /// The kinds of resources that are stored.
        public var kinds: Set<TransportRequest.Kind>

        /// The default kinds: all except keys, so that the disk does not contain both encrypted media and their keys.
        public static let defaultKinds = Set(TransportRequest.Kind.allCases).subtracting([.key])

        /// Creates cache options.
        ///
        /// - Parameters:
        ///   - capacity: The maximum total size; 512 MiB by default, about an hour of video in good quality.
        ///   - maximumEntrySize: The maximum size of a body; one eighth of the capacity by default, so that a single
        ///     resource cannot evict all others.
        ///   - kinds: The kinds of resources that are stored; ``defaultKinds`` by default.
        public init(
            capacity: ByteCount = ByteCount(512 << 20),
            maximumEntrySize: ByteCount? = nil,
            kinds: Set<TransportRequest.Kind> = defaultKinds
        ) {
            self.capacity = capacity
            self.maximumEntrySize = maximumEntrySize ?? ByteCount(capacity.bytes / 8)
            self.kinds = kinds
        }
    }
}
