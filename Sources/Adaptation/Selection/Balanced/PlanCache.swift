internal import Synchronization

/// A cache of the plans that were used most recently, shared by all selectors.
///
/// The cache saves computing time, and does not change results, because a plan depends only on its inputs. Sessions
/// that play the same content usually have the same inputs.
enum PlanCache {
    /// The complete inputs of a plan.
    private struct Inputs: Hashable {
        let key: PlanKey
        /// The bit rates of all rungs, including the excluded ones, which determine the rates of the model.
        let bitsPerSecond: [Double]
        let weights: PlanTable.Weights
    }

    /// The maximum number of plans; each has about 200 kB.
    private static let maximumCount = 6

    /// The cached plans, most recently used last.
    private static let entries = Mutex<[(order: Inputs, plan: PlanTable)]>([])

    /// Returns the cached plan for the given inputs, or computes it.
    ///
    /// - Parameters:
    ///   - key: The inputs that depend on the selection context.
    ///   - ladder: The ladder of the content.
    ///   - model: The link model for this ladder.
    ///   - weights: The costs and the discount factor.
    /// - Returns: The plan.
    static func plan(for key: PlanKey, ladder: Ladder, model: RateModel, weights: PlanTable.Weights) -> PlanTable {
        let order = Inputs(key: key, bitsPerSecond: ladder.rungs.indices.map(ladder.bitsPerSecond), weights: weights)
        let kept = entries.withLock { plans in
            plans.lastIndex { $0.order == order }.map { index in
                let found = plans.remove(at: index)
                plans.append(found)
                return found.plan
            }
        }
        if let kept { return kept }
        // Computed outside the lock, so that other selectors do not have to wait for this plan.
        let plan = PlanTable(key, ladder: ladder, model: model, weights: weights)
        entries.withLock { plans in
            plans.append((order, plan))
            if plans.count > maximumCount { plans.removeFirst() }
        }
        return plan
    }
}
