import MediaTiming
public import PlaybackReporting
public import ResourceAddressing
import StreamingEngine

/// An object that controls the playback of an item.
///
/// Commands change ``state`` at once and reach the engine in the order in which they were given; they can be given from
/// any task. The engine of an item ends when the item is removed or the player is deallocated.
///
/// ```swift
/// let player = Player(ResourceAddress("https://example.com/stream.m3u8"))
/// player.play()
/// for await status in player.values(of: \.timeControlStatus) { print(status) }
/// ```
@dynamicMemberLookup
public class Player: @unchecked Sendable {
    // Safe: all stored properties are immutable and Sendable; only this module defines subclasses, which store nothing.

    /// The environment that provides loading, decoding and time.
    public let environment: Environment
    let hub: Hub<PlayerCore, PlayerEvent>
    let interstitials = InterstitialControllerStorage()
    let pipelines: PipelineSource

    /// The identity of the player, for items and time observers.
    var id: ObjectIdentifier { ObjectIdentifier(hub) }

    /// Creates a player without an item.
    ///
    /// - Parameters:
    ///   - actionAtItemEnd: The action at the end of an item.
    ///   - environment: The environment of the player.
    ///   - pipelines: The pipelines of another player, whose outputs are used; `nil` for outputs of its own.
    init(
        actionAtItemEnd: PlayerState.ActionAtItemEnd,
        environment: Environment,
        pipelines: PipelineSource? = nil
    ) {
        self.environment = environment
        self.pipelines = pipelines ?? PipelineSource(environment)
        hub = Hub(PlayerCore(QueueStateMachine(actionAtItemEnd: actionAtItemEnd)))
        #if Playback
        guard pipelines == nil else { return }
        self.pipelines.outputs?.setAudioErrorHandler { [hub] error in
            hub.update { core, events in
                core.queue.recordAudioDeviceError(error)
                events += core.queue.takeEvents()
            }
        }
        #endif
    }

    /// Creates a player without an item.
    public convenience init(environment: Environment = .standard) {
        self.init(actionAtItemEnd: .pause, environment: environment)
    }

    /// Creates a player for an item.
    ///
    /// - Parameters:
    ///   - item: The item to play.
    ///   - environment: The environment of the player; `nil`, the default, for that of the asset.
    /// - Throws: ``PlayerError/Code/itemInUse`` if the item is already in a player.
    public convenience init(playerItem item: PlayerItem, environment: Environment? = nil) throws(PlayerError) {
        self.init(actionAtItemEnd: .pause, environment: environment ?? item.asset.environment)
        try replaceCurrentItem(with: item)
    }

    /// Creates a player for an address.
    ///
    /// - Parameters:
    ///   - address: The address of the media.
    ///   - environment: The environment that provides loading, decoding and time.
    public convenience init(_ address: ResourceAddress, environment: Environment = .standard) {
        let item = PlayerItem(address, environment: environment)
        self.init(actionAtItemEnd: .pause, environment: environment)
        // The new item cannot have been claimed by another player.
        _ = item.claim(for: id)
        change { $0.setItems([item]) }
    }

    deinit {
        hub.finish()
        let (items, effects) = hub.update { core, _ in core.end() }
        for effect in effects { effect.perform() }
        for item in items { item.release(by: ObjectIdentifier(hub)) }
    }

    /// Replaces the current item; the requested rate stays the same.
    ///
    /// The engine of the previous item ends; the item keeps its position and can be played again.
    ///
    /// - Parameter item: The item to play; `nil` removes all items.
    /// - Throws: ``PlayerError/Code/itemInUse`` if the item is in another player, or in this one but not current.
    public func replaceCurrentItem(with item: PlayerItem?) throws(PlayerError) {
        try edit { items throws(PlayerError) in
            guard item != items.first else { return }
            if let item { try item.claimOrThrow(for: self.id) }
            items = item.map { [$0] + items.dropFirst() } ?? []
        }
    }

    /// The current state.
    public var state: PlayerState { hub.state.queue.state }

    /// Returns a property of ``PlayerState``.
    public subscript<Value>(dynamicMember keyPath: KeyPath<PlayerState, Value>) -> Value { state[keyPath: keyPath] }
}

extension Player {
    /// The status of a player: whether it can play.
    public typealias Status = PlayerState.Status
    /// The action of a player at the end of an item.
    public typealias ActionAtItemEnd = PlayerState.ActionAtItemEnd
    /// The time control status of a player: paused, waiting or playing.
    public typealias TimeControlStatus = TimeControl
    /// The reason why a player waits.
    public typealias WaitingReason = TimeControl.WaitingReason

    /// A sequence of states, which begins with the current one and continues with each change.
    public var states: StateUpdates<PlayerState> { StateUpdates(hub) { $0.queue.state } }

    /// Returns a sequence of the values of one property: the current value, then each value that differs from the
    /// previous one.
    public func values<Value: Equatable & Sendable>(
        of keyPath: any KeyPath<PlayerState, Value> & Sendable
    ) -> ValueUpdates<Value> {
        states.values(of: keyPath)
    }

    /// A sequence of all events of the player and its items from now on.
    public var events: EventUpdates<PlayerEvent> { EventUpdates(hub, dropped: { .dropped($0) }, { $0 }) }
}
