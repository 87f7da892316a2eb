internal import Synchronization

/// The plans that were made last, for selectors that ask for the same.
///
/// A plan depends on nothing but what it is asked for, so whether it is found or made anew shows in time only. Sessions
/// of the same content mostly ask for the same one.
enum PlanShelf {
    /// All that a plan depends on.
    private struct Order: Hashable {
        let key: PlanKey
        /// Of all rungs, the closed ones too: they say which rates the model has.
        let bitsPerSecond: [Double]
        let weights: PlanTable.Weights
    }

    /// More plans than this are not kept; each takes some 200 kB.
    private static let most = 6

    /// Newest last.
    private static let shelf = Mutex<[(order: Order, plan: PlanTable)]>([])

    /// A plan, made if it is not at hand.
    ///
    /// - Parameters:
    ///   - key: What it is for.
    ///   - ladder: The rungs.
    ///   - model: The model of links for this ladder.
    ///   - weights: What it aims at.
    /// - Returns: The plan.
    static func plan(_ key: PlanKey, ladder: Ladder, model: LinkModel, weights: PlanTable.Weights) -> PlanTable {
        let order = Order(key: key, bitsPerSecond: ladder.rungs.indices.map(ladder.bitsPerSecond), weights: weights)
        let kept = shelf.withLock { plans in
            plans.lastIndex { $0.order == order }.map { index in
                let found = plans.remove(at: index)
                plans.append(found)
                return found.plan
            }
        }
        if let kept { return kept }
        // Made outside the lock, so that nobody waits for a plan that is not their own.
        let plan = PlanTable(key, ladder: ladder, model: model, weights: weights)
        shelf.withLock { plans in
            plans.append((order, plan))
            if plans.count > most { plans.removeFirst() }
        }
        return plan
    }
}
