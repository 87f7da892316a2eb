/// How much of a running transfer has been looked at.
struct TransferPiece: Sendable {
    private var bits = 0.0
    private var flow = 0.0

    /// Whether any of it has been looked at.
    var hasPieces: Bool { flow > 0 }

    /// The rate since the last piece, if enough time has passed to tell; then the next piece begins.
    ///
    /// - Parameters:
    ///   - bits: All that came.
    ///   - flow: Seconds in which it came.
    ///   - atLeast: Seconds of a piece.
    /// - Returns: The rate, and seconds of the piece.
    mutating func next(bits: Double, flow: Double, atLeast: Double) -> (bitsPerSecond: Double, seconds: Double)? {
        let seconds = flow - self.flow
        guard seconds >= atLeast else { return nil }
        let rate = max(0, bits - self.bits) / seconds
        self.bits = bits
        self.flow = flow
        return (rate, seconds)
    }

    /// What came after the last piece.
    func rest(bits: Double, flow: Double) -> (bits: Double, flow: Double) {
        // A transfer that reviews took for waiting has less flow than they counted.
        guard flow > self.flow else { return (0, 0) }
        return (max(0, bits - self.bits), flow - self.flow)
    }
}
