package import MediaTiming

/// Values with a maximum total size; if it is exceeded, those that were not used for the longest time are removed until a
/// quarter of it is free.
///
/// The value that was used last is never removed, even if it is larger than the maximum.
package struct RecentlyUsedValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let value: Value
        let size: Int
        var lastUse: UInt64
    }

    /// The maximum size of all values together.
    package let maximumSize: Int
    /// The size of all values together.
    package private(set) var size = 0
    private var entries: [Key: Entry] = [:]
    private var useCount: UInt64 = 0

    /// Creates a collection without values.
    package init(maximumSize: ByteCount) { self.maximumSize = Int(clamping: maximumSize.bytes) }

    /// The number of values.
    package var count: Int { entries.count }

    /// Returns a value, which does not count as a use; `nil` if there is none.
    package subscript(key: Key) -> Value? { entries[key]?.value }

    /// Returns a value and records its use; `nil` if there is none.
    package mutating func use(_ key: Key) -> Value? {
        useCount &+= 1
        guard let index = entries.index(forKey: key) else { return nil }
        entries.values[index].lastUse = useCount
        return entries.values[index].value
    }

    /// Adds a value, in place of the one with the same key.
    ///
    /// - Complexity: O(1), and O(*n* log *n*) in all values if the maximum size is exceeded.
    package mutating func insert(_ value: Value, size valueSize: Int, for key: Key) {
        remove(key)
        useCount &+= 1
        entries[key] = Entry(value: value, size: valueSize, lastUse: useCount)
        size +|= valueSize
        guard size > maximumSize else { return }
        for (old, entry) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
            guard size > maximumSize / 4 *| 3, entry.lastUse != useCount else { return }
            remove(old)
        }
    }

    /// Removes the value of a key, if there is one.
    package mutating func remove(_ key: Key) {
        if let entry = entries.removeValue(forKey: key) { size -|= entry.size }
    }
}
