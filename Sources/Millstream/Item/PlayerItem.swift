public import HLSPlaylist
public import MediaTiming
public import PlaybackReporting
public import ResourceAddressing
import StreamingEngine
import Synchronization

/// The playback state of an asset: its status, position, buffer, options and media selection.
///
/// An item is passive: a ``Player`` plays it, and at most one player at a time. Seeks and options that are set before
/// it is in a player are stored. Items can be used from any task. All properties in ``State`` can be read without
/// waiting.
@dynamicMemberLookup
public final class PlayerItem: Sendable {
    /// The asset that is played.
    public let asset: Asset

    let hub: Hub<ItemCore, ItemCore.EventRecord>
    private let owner = Mutex<ObjectIdentifier?>(nil)
    let eventObservers = EventObservers()

    /// Creates an item for an asset; loading begins when the item is in a player.
    public init(asset: Asset) {
        self.asset = asset
        hub = Hub(ItemCore(time: asset.environment.time))
    }

    /// Creates an item for an address.
    ///
    /// - Parameters:
    ///   - address: The address of the media.
    ///   - environment: The environment that provides loading, decoding and time.
    public convenience init(_ address: ResourceAddress, environment: Player.Environment = .standard) {
        self.init(asset: Asset(address, environment: environment))
    }

    deinit { hub.finish() }

    /// The current state.
    public var state: State { hub.state.state }

    /// Returns a property of ``State``.
    public subscript<Value>(dynamicMember keyPath: KeyPath<State, Value>) -> Value { state[keyPath: keyPath] }

    /// Returns the current position of the playhead.
    public func currentTime() -> MediaTime { hub.state.position }

    /// Returns the program date at the playhead; `nil` if the stream has no dates.
    public func currentDate() -> ProgramDateTime? { hub.state.date }

    /// The access log: the network activity of all sessions up to now; empty before the item was in a player.
    public var accessLog: AccessLog {
        let core = hub.state
        return core.recorder?.accessLog(at: core.time.now, core.position) ?? AccessLog()
    }

    /// The error log: the errors of all sessions up to now.
    public var errorLog: ErrorLog { hub.state.recorder?.errorLog ?? ErrorLog() }

    /// The current session, to which the events belong; `nil` before the item was in a player.
    public var playbackSession: PlaybackSession? { hub.state.recorder?.session }

    /// The metrics of the current session up to now; `nil` before the item was in a player.
    public var playbackMetrics: PlaybackMetrics? {
        let core = hub.state
        return core.recorder?.metrics(at: core.time.now, core.position)
    }

    /// The summary of the current session up to now; `nil` before the item was in a player.
    public var playbackSummary: PlaybackSummary? {
        let core = hub.state
        return core.recorder?.summary(at: core.time.now, core.position)
    }
}

extension PlayerItem {
    /// A sequence of states, which begins with the current one and continues with each change.
    public var states: StateUpdates<State> { StateUpdates(hub) { $0.state } }

    /// Returns a sequence of the values of one property: the current value, then each value that differs from the
    /// previous one.
    public func values<Value: Equatable & Sendable>(
        of keyPath: any KeyPath<State, Value> & Sendable
    ) -> ValueUpdates<Value> {
        states.values(of: keyPath)
    }

    /// A sequence of all events from now on.
    public var events: EventUpdates<Event> {
        EventUpdates(hub, dropped: { .dropped($0) }, { $0.event })
    }

    /// A sequence of the notifications that AVFoundation would post, from now on.
    public var notifications: EventUpdates<Notification> {
        EventUpdates(hub, dropped: { _ in nil }) { told in
            guard case .notification(let notification) = told.event else { return nil }
            return notification
        }
    }

    /// A sequence of metadata messages in the media, such as ID3 tags and event messages, in the order in which the
    /// playhead reaches them (`AVPlayerItemMetadataOutput`).
    ///
    /// Only a pipeline that decodes media reads messages. A seek delivers the messages that apply to its target.
    public var timedMetadata: EventUpdates<TimedMetadata> {
        EventUpdates(hub, dropped: { _ in nil }) { told in
            guard case .playback(let event) = told.event, case .timedMetadata(let message) = event.kind else {
                return nil
            }
            return message
        }
    }

    /// A sequence of measurements from now on, named after those of `AVMetrics`.
    public var metrics: EventUpdates<MetricEvent> {
        EventUpdates(hub, dropped: { _ in nil }, { $0.metric })
    }
}

extension PlayerItem {
    /// Claims the item for a player.
    ///
    /// - Returns: A Boolean value that indicates whether no player had the item.
    func claim(for player: ObjectIdentifier) -> Bool {
        owner.withLock { owner in
            guard owner == nil else { return false }
            owner = player
            return true
        }
    }

    /// Releases the item if the given player has it.
    func release(by player: ObjectIdentifier) {
        owner.withLock { owner in
            if owner == player { owner = nil }
        }
    }

    /// The identifier of the current session; `nil` before the item was in a player.
    var sessionID: String? { playbackSession?.id }

    /// A Boolean value that indicates whether a player has the item.
    var isClaimed: Bool { owner.withLock { $0 != nil } }

    /// Changes the state of the item, then wakes the engine if commands were added for it.
    @discardableResult
    func modify<Result: Sendable>(_ change: (inout ItemCore) -> Result) -> Result {
        let (result, session) = hub.update { core, _ in (change(&core), core.session) }
        session?.commands.wake()
        return result
    }
}

extension PlayerItem: Hashable {
    /// Returns a Boolean value that indicates whether both are the same object.
    public static func == (left: PlayerItem, right: PlayerItem) -> Bool { left === right }
    /// Hashes the identity of the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
