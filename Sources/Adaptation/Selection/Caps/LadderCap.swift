/// A rule that closes rungs before a selector sees them.
public protocol LadderCap: Sendable {
    /// Closes the rungs that the rule is against.
    ///
    /// - Parameters:
    ///   - restriction: What other rules left open; of the same ladder.
    ///   - ladder: The rungs.
    func restrict(_ restriction: inout LadderRestriction, of ladder: Ladder)
}

extension LadderRestriction {
    /// Opens all rungs and applies caps, one after the other.
    public init(_ ladder: Ladder, caps: [any LadderCap]) {
        self.init(ladder)
        for cap in caps { cap.restrict(&self, of: ladder) }
    }
}
