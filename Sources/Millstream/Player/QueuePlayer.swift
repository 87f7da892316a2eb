import StreamingEngine

/// A player that plays the items of a queue in sequence.
///
/// The next item is loaded as soon as the current one is loaded to its end, and starts without a gap. Items that have
/// been played are removed from the queue, as is a failed item if another follows it.
public final class QueuePlayer: Player, @unchecked Sendable {
    // Safe: has no stored properties.

    /// Creates a player for a queue of items.
    ///
    /// - Parameters:
    ///   - items: The items in the order of playback; no item may occur twice.
    ///   - environment: The environment of the player; `nil`, the default, for that of the first item.
    /// - Throws: ``PlayerError/Code/itemInUse`` if an item is already in a player or occurs twice.
    public convenience init(items: [PlayerItem], environment: Environment? = nil) throws(PlayerError) {
        self.init(
            actionAtItemEnd: .advance,
            environment: environment ?? items.first?.asset.environment ?? .standard
        )
        try edit { queue throws(PlayerError) in
            for item in items {
                do throws(PlayerError) {
                    try item.claimOrThrow(for: self.id)
                } catch {
                    for taken in queue { taken.release(by: self.id) }
                    throw error
                }
                queue.append(item)
            }
        }
    }

    /// Returns the items in the queue, the current one first.
    public func items() -> [PlayerItem] { state.items }

    /// Returns a Boolean value that indicates whether an item can be inserted after another one.
    ///
    /// - Parameters:
    ///   - item: The item to insert; it must not be in a player.
    ///   - other: An item of this queue; `nil` for the end of the queue.
    /// - Returns: `true` if ``insert(_:after:)`` would succeed.
    public func canInsert(_ item: PlayerItem, after other: PlayerItem?) -> Bool {
        !item.isClaimed && other.map { state.items.contains($0) } ?? true
    }

    /// Inserts an item after another one.
    ///
    /// - Parameters:
    ///   - item: The item to insert.
    ///   - other: An item of this queue; `nil` for the end of the queue.
    /// - Throws: ``PlayerError/Code/itemInUse``, ``PlayerError/Code/itemNotQueued``.
    public func insert(_ item: PlayerItem, after other: PlayerItem?) throws(PlayerError) {
        try edit { items throws(PlayerError) in
            var index = items.endIndex
            if let other {
                guard let position = items.firstIndex(of: other) else {
                    throw PlayerError(.itemNotQueued, "The item to insert after is not in this queue.")
                }
                index = position + 1
            }
            try item.claimOrThrow(for: self.id)
            items.insert(item, at: index)
        }
    }

    /// Removes an item from the queue; if it is the current one, the next one becomes current.
    ///
    /// An item that is not in this queue has no effect.
    public func remove(_ item: PlayerItem) { changeItems { items in items.removeAll { $0 == item } } }

    /// Removes all items and stops playback.
    public func removeAllItems() { changeItems { $0 = [] } }

    /// Ends playback of the current item and starts the next one, if there is one.
    ///
    /// While playback is restricted by an interstitial, this has no effect; see ``InterstitialEvent/Restrictions``.
    public func advanceToNextItem() {
        guard !state.requiresNormalRate else { return }
        changeItems { items in items = Array(items.dropFirst()) }
    }

    private func changeItems(_ body: (inout [PlayerItem]) -> Void) {
        change { queue in
            var items = queue.state.items
            body(&items)
            queue.setItems(items)
        }
    }
}
