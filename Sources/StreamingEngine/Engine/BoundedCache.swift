/// A cache in memory that limits the total cost of its values, and removes the least recently used values first.
///
/// - Complexity: O(1) for each lookup, insertion and removal.
package struct BoundedCache<Key: Hashable, Value> {
    fileprivate struct Node {
        var value: Value
        var cost: Int
        /// The keys that were used before and after this one.
        var older: Key?
        var newer: Key?
    }

    /// The maximum total cost, in a unit that the caller chooses, such as bytes.
    package let limit: Int
    /// The maximum number of values.
    package let mostValues: Int
    /// The total cost of the values.
    package private(set) var cost = 0
    private var nodes: [Key: Node] = [:]
    private var oldest: Key?
    private var newest: Key?

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - limit: The maximum total cost.
    ///   - mostValues: The maximum number of values.
    package init(limit: Int, mostValues: Int) {
        self.limit = limit
        self.mostValues = max(1, mostValues)
    }

    /// The number of values.
    package var count: Int { nodes.count }

    /// Returns a value without marking it as used.
    package func peek(_ key: Key) -> Value? { nodes[key]?.value }

    /// Returns a value, and marks it as the most recently used one.
    package mutating func value(for key: Key) -> Value? {
        guard var node = nodes[key] else { return nil }
        unlink(node)
        link(key, &node)
        nodes[key] = node
        return node.value
    }

    /// Stores a value, replacing the one with the same key; a value that costs more than the limit is not stored.
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

    /// Removes and returns a value.
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
