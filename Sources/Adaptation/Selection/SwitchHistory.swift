/// What the last switch was made with, to say what the next one is due to.
struct SwitchHistory: Sendable, Hashable {
    /// A change of throughput by less than this share is not what a switch is due to.
    private static let tolerance = 0.1

    /// Bits a second at the last switch.
    private var throughput: Double?

    /// Why a rung is chosen.
    ///
    /// - Parameters:
    ///   - rung: The choice.
    ///   - situation: The moment.
    ///   - throughput: What is expected of the link, in bits a second; `nil` where nothing is known.
    /// - Returns: The cause.
    func cause(
        of rung: Int,
        in situation: SelectionSituation,
        throughput: Double?
    ) -> SwitchDecision.Cause {
        guard let current = situation.currentRung else { return .start }
        if rung == current { return .stay }
        if !situation.restriction.isOpen(current) { return .cap }
        let before = self.throughput ?? 0
        let now = throughput ?? 0
        if rung > current { return now > before * (1 + Self.tolerance) ? .throughputRose : .bufferRich }
        return now < before * (1 - Self.tolerance) ? .throughputFell : .bufferLow
    }

    /// Keeps what a choice was made with, if it is a switch.
    mutating func note(_ rung: Int, throughput: Double?, in situation: SelectionSituation) {
        if rung != situation.currentRung { self.throughput = throughput }
    }
}
