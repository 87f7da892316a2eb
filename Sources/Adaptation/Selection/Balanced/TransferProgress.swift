/// The part of a running transfer that has already been measured.
struct TransferProgress: Sendable {
    private var bits = 0.0
    private var flow = 0.0

    /// A Boolean value that indicates whether any part has been measured.
    var hasMeasuredParts: Bool { flow > 0 }

    /// Returns the rate since the last part, if it is long enough, and begins the next part.
    ///
    /// - Parameters:
    ///   - bits: The number of bits received so far.
    ///   - flow: The time in which they were received, in seconds.
    ///   - minimumSeconds: The minimum duration of a part, in seconds.
    /// - Returns: The rate and the duration of the part in seconds, or `nil` if it is too short.
    mutating func nextPart(
        bits: Double,
        seconds flow: Double,
        minimumSeconds: Double
    ) -> (bitsPerSecond: Double, seconds: Double)? {
        let seconds = flow - self.flow
        guard seconds >= minimumSeconds else { return nil }
        let rate = max(0, bits - self.bits) / seconds
        self.bits = bits
        self.flow = flow
        return (rate, seconds)
    }

    /// Returns the bits and the duration since the last part.
    func remainder(bits: Double, seconds: Double) -> (bits: Double, flow: Double) {
        // Reviews count long waits as transfer time, so that they can exceed the transfer time of the finished
        // transfer.
        guard seconds > self.flow else { return (0, 0) }
        return (max(0, bits - self.bits), seconds - self.flow)
    }
}
