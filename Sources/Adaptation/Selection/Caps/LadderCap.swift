/// A rule that excludes rungs before a selector chooses.
public protocol LadderCap: Sendable {
    /// Excludes the rungs that the rule does not allow.
    ///
    /// - Parameters:
    ///   - restriction: The restriction to narrow, with the rungs that other rules left.
    ///   - ladder: The ladder of the restriction.
    func restrict(_ restriction: inout LadderRestriction, of ladder: Ladder)
}

extension LadderRestriction {
    /// Creates a restriction that allows all rungs, and applies caps in the given order.
    public init(_ ladder: Ladder, caps: [any LadderCap]) {
        self.init(ladder)
        for cap in caps { cap.restrict(&self, of: ladder) }
    }
}
