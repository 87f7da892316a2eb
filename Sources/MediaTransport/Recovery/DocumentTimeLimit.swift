import MediaTiming

extension RecoveryPolicy {
    /// The time in which a document must be received: a playlist, a manifest, a key, subtitles, a catalog or an image.
    ///
    /// ``MinimumThroughput`` is low, because media with a low bit rate is played while it arrives. A document is used
    /// only when it is complete, so that a server that sends it little faster would delay the player for an hour.
    ///
    /// A body times out when it has taken longer than ``duration`` and the time in which its bytes arrive at
    /// ``bytesPerSecond``. Only the time until bytes of the body arrive is counted, over all attempts of a request;
    /// waits that end with an error are limited by the number of retries. A request that has used up the time is not
    /// repeated.
    public struct DocumentTimeLimit: Sendable, Hashable {
        /// The time for a document of any size.
        public var duration: Duration
        /// The number of bytes for each second after ``duration``, 1 or more.
        public var bytesPerSecond: Int64

        /// Creates a time limit.
        ///
        /// - Parameters:
        ///   - duration: The time for a document of any size; 60 seconds by default.
        ///   - bytesPerSecond: The number of bytes for each further second; 16 KiB by default, which is about half of
        ///     the throughput of the slowest mobile networks in use (240 kbit/s). A document of 4 MiB has 316 seconds.
        public init(duration: Duration = .seconds(60), bytesPerSecond: Int64 = 16 << 10) {
            self.duration = duration
            self.bytesPerSecond = max(1, bytesPerSecond)
        }

        /// Returns a Boolean value that indicates whether a transfer has taken too long.
        ///
        /// - Parameters:
        ///   - waitingTime: The time that was spent waiting for bytes.
        ///   - byteCount: The number of bytes that were received.
        /// - Returns: `true` if the time limit of a document of this size has passed.
        func isExceeded(by waitingTime: Duration, after byteCount: Int64) -> Bool {
            (waitingTime - duration) / .seconds(1) * Double(bytesPerSecond) > Double(byteCount)
        }
    }
}
