/// A cap that excludes rungs for which a rung with a lower or equal bit rate has a higher score (RFC 8216bis §4.4.6.2,
/// `SCORE`).
///
/// The score is the author's measure of the quality of experience: a variant in a more efficient codec can have a higher
/// score than another one with a higher bit rate, which then costs more bytes for less quality. Scores are compared only
/// if all rungs of the ladder have one.
public struct ScoreCap: LadderCap, Hashable {
    /// Creates a cap.
    public init() {}

    /// Excludes the rungs that are inferior to an allowed rung with a lower or equal bit rate.
    ///
    /// Bit rates are those that selectors use (``LadderRung/expectedBitRate``).
    ///
    /// - Parameters:
    ///   - restriction: The restriction to narrow; apply all other caps before.
    ///   - ladder: The ladder of the restriction.
    public func restrict(_ restriction: inout LadderRestriction, of ladder: Ladder) {
        let scores = ladder.rungs.compactMap(\.score)
        guard scores.count == ladder.count else { return }
        let allowed = restriction.allowedRungs
        restriction.exclude(because: .score) { rung in
            allowed.contains { other in
                ladder.rungs[other].expectedBitRate <= ladder.rungs[rung].expectedBitRate
                    && scores[other] > scores[rung]
            }
        }
    }
}
