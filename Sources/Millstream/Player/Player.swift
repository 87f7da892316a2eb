import MediaTiming
public import PlaybackReporting
public import ResourceAddressing
import StreamingEngine

/// Plays an item.
///
/// Commands take effect on ``state`` at once and reach the engine in the order in which they were given; they work from any
/// task. Engines run as long as the player has their items: they end when the item goes, or the player.
///
/// ```swift
/// let player = Player(ResourceAddress("https://example.com/stream.m3u8"))
/// player.play()
/// for await status in player.values(of: \.timeControlStatus) { print(status) }
/// ```
@dynamicMemberLookup
public class Player: @unchecked Sendable {
    // Safe: all that is stored is immutable and itself Sendable; only this module makes subclasses, which store nothing.

    /// The world that it lives in.
    public let environment: Environment
    let hub: Hub<PlayerCore, PlayerEvent>
    let interstitials = InterstitialHome()

    /// What tells it from others, for items and observers of time.
    var id: ObjectIdentifier { ObjectIdentifier(hub) }

    init(actionAtItemEnd: PlayerState.ActionAtItemEnd, environment: Environment) {
        self.environment = environment
        hub = Hub(PlayerCore(Lineup(actionAtItemEnd: actionAtItemEnd)))
    }

    /// Makes a player with nothing to play.
    public convenience init(environment: Environment = .standard) {
        self.init(actionAtItemEnd: .pause, environment: environment)
    }

    /// Makes a player of an item.
    ///
    /// - Parameters:
    ///   - item: What to play.
    ///   - environment: The world that it lives in; `nil`, the default, for that of the asset.
    /// - Throws: ``PlayerError/Code/itemInUse`` where the item is in a player.
    public convenience init(playerItem item: PlayerItem, environment: Environment? = nil) throws(PlayerError) {
        self.init(actionAtItemEnd: .pause, environment: environment ?? item.asset.environment)
        try replaceCurrentItem(with: item)
    }

    /// Makes a player of an address.
    ///
    /// - Parameters:
    ///   - address: Where it is.
    ///   - environment: The world that it lives in.
    public convenience init(_ address: ResourceAddress, environment: Environment = .standard) {
        let item = PlayerItem(address, environment: environment)
        self.init(actionAtItemEnd: .pause, environment: environment)
        // Nobody else knows the item.
        _ = item.claim(for: id)
        change { $0.setItems([item]) }
    }

    deinit {
        hub.finish()
        let (items, effects) = hub.update { core, _ in core.end() }
        for effect in effects { effect.perform() }
        for item in items { item.release(by: ObjectIdentifier(hub)) }
    }

    /// Plays another item instead of the current one, or none; the rate stays as it is.
    ///
    /// The engine of the item before ends; that item keeps where it was and can be played again.
    ///
    /// - Parameter item: What to play; `nil` for nothing.
    /// - Throws: ``PlayerError/Code/itemInUse`` where the item is in a player, or in this one behind others.
    public func replaceCurrentItem(with item: PlayerItem?) throws(PlayerError) {
        try edit { items throws(PlayerError) in
            guard item != items.first else { return }
            if let item { try item.beTaken(by: self.id) }
            items = item.map { [$0] + items.dropFirst() } ?? []
        }
    }

    /// All that can be said of it now.
    public var state: PlayerState { hub.state.lineup.state }

    /// A property of ``PlayerState``.
    public subscript<Value>(dynamicMember keyPath: KeyPath<PlayerState, Value>) -> Value { state[keyPath: keyPath] }
}

extension Player {
    /// Whether a player can play.
    public typealias Status = PlayerState.Status
    /// What a player does at the end of an item.
    public typealias ActionAtItemEnd = PlayerState.ActionAtItemEnd
    /// Whether a player plays, waits or stands.
    public typealias TimeControlStatus = TimeControl
    /// Why a player waits.
    public typealias WaitingReason = TimeControl.WaitingReason

    /// The state now, and whenever it changed.
    public var states: StateUpdates<PlayerState> { StateUpdates(hub) { $0.lineup.state } }

    /// One property: what it is now, and each value that differs from the one before.
    public func values<Value: Equatable & Sendable>(
        of keyPath: any KeyPath<PlayerState, Value> & Sendable
    ) -> ValueUpdates<Value> {
        states.values(of: keyPath)
    }

    /// Everything that happens from now on, to the player and to its items.
    public var events: EventUpdates<PlayerEvent> { EventUpdates(hub, dropped: { .dropped($0) }, { $0 }) }
}
