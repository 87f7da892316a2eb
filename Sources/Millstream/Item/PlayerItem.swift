public import HLSPlaylist
public import MediaTiming
public import PlaybackReporting
public import ResourceAddressing
import StreamingEngine
import Synchronization

/// An asset as it is played: how far it is, what is buffered, what was chosen.
///
/// It does nothing by itself: a ``Player`` plays it, one at most. What is asked of it before is kept until then. All of it
/// can be used from any task; what it is can be read at once, see ``State`` for all properties.
@dynamicMemberLookup
public final class PlayerItem: Sendable {
    /// What is played.
    public let asset: Asset

    let hub: Hub<ItemCore, ItemCore.Told>
    private let owner = Mutex<ObjectIdentifier?>(nil)

    /// Makes an item of an asset; nothing is loaded before it is in a player.
    public init(asset: Asset) {
        self.asset = asset
        hub = Hub(ItemCore(time: asset.environment.time))
    }

    /// Makes an item of an address.
    ///
    /// - Parameters:
    ///   - address: Where it is.
    ///   - environment: The world that it lives in.
    public convenience init(_ address: ResourceAddress, environment: Player.Environment = .standard) {
        self.init(asset: Asset(address, environment: environment))
    }

    deinit { hub.finish() }

    /// All that can be said of it now.
    public var state: State { hub.state.state }

    /// A property of ``State``.
    public subscript<Value>(dynamicMember keyPath: KeyPath<State, Value>) -> Value { state[keyPath: keyPath] }

    /// Where the play head is.
    public func currentTime() -> MediaTime { hub.state.position }

    /// The date at the play head; `nil` where the stream does not say.
    public func currentDate() -> ProgramDateTime? { hub.state.date }

    /// What the network did for it, up to now; empty before it was in a player.
    public var accessLog: AccessLog {
        let core = hub.state
        return core.journal?.accessLog(at: core.time.now, core.position) ?? AccessLog()
    }

    /// What failed, up to now.
    public var errorLog: ErrorLog { hub.state.journal?.errorLog ?? ErrorLog() }

    /// The indicators of the session, up to now; `nil` before it was in a player.
    public var playbackMetrics: PlaybackMetrics? {
        let core = hub.state
        return core.journal?.metrics(at: core.time.now, core.position)
    }

    /// The session in a few figures, up to now; `nil` before it was in a player.
    public var playbackSummary: PlaybackSummary? {
        let core = hub.state
        return core.journal?.summary(at: core.time.now, core.position)
    }
}

extension PlayerItem {
    /// The state now, and whenever it changed.
    public var states: StateUpdates<State> { StateUpdates(hub) { $0.state } }

    /// One property: what it is now, and each value that differs from the one before.
    public func values<Value: Equatable & Sendable>(
        of keyPath: any KeyPath<State, Value> & Sendable
    ) -> ValueUpdates<Value> {
        states.values(of: keyPath)
    }

    /// Everything that happens from now on.
    public var events: EventUpdates<Event> {
        EventUpdates(hub, dropped: { .dropped($0) }, { $0.event })
    }

    /// What AVFoundation would post as notifications, from now on.
    public var notifications: EventUpdates<Notification> {
        EventUpdates(hub, dropped: { _ in nil }) { told in
            guard case .notification(let notification) = told.event else { return nil }
            return notification
        }
    }

    /// Messages that come with the media, ID3 tags and event messages, as the play head reaches them
    /// (`AVPlayerItemMetadataOutput`).
    ///
    /// They are read where media is decoded. A seek gives those that apply where it lands.
    public var timedMetadata: EventUpdates<TimedMetadata> {
        EventUpdates(hub, dropped: { _ in nil }) { told in
            guard case .playback(let event) = told.event, case .timedMetadata(let message) = event.kind else {
                return nil
            }
            return message
        }
    }

    /// Measurements from now on, under the names of `AVMetrics`.
    public var metrics: EventUpdates<MetricEvent> {
        EventUpdates(hub, dropped: { _ in nil }, { $0.metric })
    }
}

extension PlayerItem {
    /// Takes it for a player.
    ///
    /// - Returns: Whether it was free.
    func claim(for player: ObjectIdentifier) -> Bool {
        owner.withLock { owner in
            guard owner == nil else { return false }
            owner = player
            return true
        }
    }

    /// Gives it back.
    func release(by player: ObjectIdentifier) {
        owner.withLock { owner in
            if owner == player { owner = nil }
        }
    }

    /// What names its session; `nil` before it was in a player.
    var sessionID: String? { hub.state.journal?.session.id }

    /// Whether a player has it.
    var isClaimed: Bool { owner.withLock { $0 != nil } }

    /// Changes what is asked of it, and wakes whoever has to do something about it.
    @discardableResult
    func ask<Result: Sendable>(_ change: (inout ItemCore) -> Result) -> Result {
        let (result, session) = hub.update { core, _ in (change(&core), core.session) }
        session?.commands.wake()
        return result
    }
}

extension PlayerItem: Hashable {
    /// Whether both are one.
    public static func == (left: PlayerItem, right: PlayerItem) -> Bool { left === right }
    /// Tells it from others.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
