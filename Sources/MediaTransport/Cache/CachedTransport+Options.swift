public import MediaTiming

extension CachedTransport {
    /// How much is kept, and of what.
    public struct Options: Sendable {
        /// The most room that the files of the cache take, those that are being written among them.
        ///
        /// What is read while it has to leave takes room until it has been read.
        public var capacity: ByteCount
        /// The longest body that is kept.
        public var largestEntry: ByteCount
        /// The kinds of resources that are kept.
        public var kinds: Set<TransportRequest.Kind>

        /// All kinds but keys: whoever finds the disk should not find what opens its contents.
        public static let usualKinds = Set(TransportRequest.Kind.allCases).subtracting([.key])

        /// Makes options.
        ///
        /// - Parameters:
        ///   - capacity: Defaults to 512 MiB, about an hour of video of good quality.
        ///   - largestEntry: Defaults to an eighth of the capacity, so that one resource cannot drive out all others.
        ///   - kinds: Defaults to ``usualKinds``.
        public init(
            capacity: ByteCount = ByteCount(512 << 20),
            largestEntry: ByteCount? = nil,
            kinds: Set<TransportRequest.Kind> = usualKinds
        ) {
            self.capacity = capacity
            self.largestEntry = largestEntry ?? ByteCount(capacity.bytes / 8)
            self.kinds = kinds
        }
    }
}
