import StreamingEngine

/// Plays items one after the other.
///
/// The next item is loaded as soon as the current one is loaded to its end, and begins where that ends, without a gap. Items
/// that were played leave the queue; one that fails is left behind where another follows.
public final class QueuePlayer: Player, @unchecked Sendable {
    // Safe: stores nothing of its own.

    /// Makes a player of items.
    ///
    /// - Parameters:
    ///   - items: In the order in which they are played; each once.
    ///   - environment: The world that it lives in; `nil`, the default, for that of the first item.
    /// - Throws: ``PlayerError/Code/itemInUse`` where an item is in a player, or twice among these.
    public convenience init(items: [PlayerItem], environment: Environment? = nil) throws(PlayerError) {
        self.init(
            actionAtItemEnd: .advance,
            environment: environment ?? items.first?.asset.environment ?? .standard
        )
        try edit { queue throws(PlayerError) in
            for item in items {
                do throws(PlayerError) {
                    try item.beTaken(by: self.id)
                } catch {
                    for taken in queue { taken.release(by: self.id) }
                    throw error
                }
                queue.append(item)
            }
        }
    }

    /// The items that are still to be played, the current one first.
    public func items() -> [PlayerItem] { state.items }

    /// Whether an item can be put behind another.
    ///
    /// - Parameters:
    ///   - item: `false` for one that is in a player.
    ///   - other: `false` for one that is not in this queue; `nil` stands for the end.
    /// - Returns: Whether ``insert(_:after:)`` would succeed.
    public func canInsert(_ item: PlayerItem, after other: PlayerItem?) -> Bool {
        !item.isClaimed && other.map { state.items.contains($0) } ?? true
    }

    /// Puts an item behind another.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - other: An item of this queue; `nil` for the end.
    /// - Throws: ``PlayerError/Code/itemInUse``, ``PlayerError/Code/itemNotQueued``.
    public func insert(_ item: PlayerItem, after other: PlayerItem?) throws(PlayerError) {
        try edit { items throws(PlayerError) in
            var index = items.endIndex
            if let other {
                guard let position = items.firstIndex(of: other) else {
                    throw PlayerError(.itemNotQueued, "The other item is not in this queue.")
                }
                index = position + 1
            }
            try item.beTaken(by: self.id)
            items.insert(item, at: index)
        }
    }

    /// Takes an item out; the current one ends, and the next begins.
    ///
    /// An item that is not in this queue changes nothing.
    public func remove(_ item: PlayerItem) { rearrange { items in items.removeAll { $0 == item } } }

    /// Takes all items out; nothing is played any more.
    public func removeAllItems() { rearrange { $0 = [] } }

    /// Ends the current item and begins the next; without one, nothing is played.
    ///
    /// What may not be passed over is not; see ``InterstitialEvent/Restrictions``.
    public func advanceToNextItem() {
        guard !state.requiresNormalRate else { return }
        rearrange { items in items = Array(items.dropFirst()) }
    }

    private func rearrange(_ body: (inout [PlayerItem]) -> Void) {
        change { lineup in
            var items = lineup.state.items
            body(&items)
            lineup.setItems(items)
        }
    }
}
