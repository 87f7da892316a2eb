/// A cache in memory whose values together cost no more than a limit; the least recently used leave it first.
///
/// - Complexity: O(1) for each look-up, insertion and removal.
package struct BoundedCache<Key: Hashable, Value> {
    fileprivate struct Node {
        var value: Value
        var cost: Int
        /// The key that was used before this one, and the one that was used after it.
        var older: Key?
        var newer: Key?
    }

    /// The maximum sum of costs, in the unit of the caller, as bytes.
    package let limit: Int
    /// The maximum number of values.
    package let mostValues: Int
    /// The sum of costs.
    package private(set) var cost = 0
    private var nodes: [Key: Node] = [:]
    private var oldest: Key?
    private var newest: Key?

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - limit: The maximum sum of costs.
    ///   - mostValues: The maximum number of values.
    package init(limit: Int, mostValues: Int) {
        self.limit = limit
        self.mostValues = max(1, mostValues)
    }

    /// The number of values.
    package var count: Int { nodes.count }

    /// Returns a value without counting as a use.
    package func peek(_ key: Key) -> Value? { nodes[key]?.value }

    /// Returns a value, which is the last used from then on.
    package mutating func value(for key: Key) -> Value? {
        guard var node = nodes[key] else { return nil }
        unlink(node)
        link(key, &node)
        nodes[key] = node
        return node.value
    }

    /// Stores a value in the place of the one that is there, if any; one that costs more than the limit is not stored.
    package mutating func insert(_ value: Value, for key: Key, cost: Int) {
        removeValue(for: key)
        let cost = max(0, cost)
        guard cost <= limit else { return }
        while let oldest, count >= mostValues || self.cost > limit - cost { removeValue(for: oldest) }
        var node = Node(value: value, cost: cost)
        link(key, &node)
        nodes[key] = node
        self.cost += cost
    }

    /// Removes a value.
    @discardableResult
    package mutating func removeValue(for key: Key) -> Value? {
        guard let node = nodes.removeValue(forKey: key) else { return nil }
        unlink(node)
        cost -= node.cost
        return node.value
    }

    private mutating func link(_ key: Key, _ node: inout Node) {
        node.older = newest
        node.newer = nil
        if let newest { nodes[newest]?.newer = key } else { oldest = key }
        newest = key
    }

    private mutating func unlink(_ node: Node) {
        if let older = node.older { nodes[older]?.newer = node.newer } else { oldest = node.newer }
        if let newer = node.newer { nodes[newer]?.older = node.older } else { newest = node.older }
    }
}

extension BoundedCache: Sendable where Key: Sendable, Value: Sendable {}
extension BoundedCache.Node: Sendable where Key: Sendable, Value: Sendable {}
