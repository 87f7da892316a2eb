public import MediaTiming
import StreamingEngine
import Synchronization

/// An object that plays interstitials while the item of a player is suspended (`AVPlayerInterstitialEventMonitor` and
/// `AVPlayerInterstitialEventController`).
///
/// Each player has one, see ``Player/interstitialController``. The interstitials that a stream schedules (RFC 8216bis
/// appendix D) are played by default: the current item is suspended, with `duringInterstitialEvent` as the reason for
/// waiting, ``interstitialPlayer`` plays at the rate of the player, and the item resumes at the position that the event
/// determines. Interstitials use the outputs of the player.
///
/// ```swift
/// for await notification in player.interstitialController.notifications {
///     if case .currentEventDidChange(let event?) = notification { print(event.id) }
/// }
/// ```
public final class InterstitialController: Sendable {
    /// The player of the interstitials, to observe and to pause.
    ///
    /// Its items are inserted and removed automatically.
    public let interstitialPlayer: QueuePlayer
    let hub = Hub<Core, Notification>(Core())
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let primaryHub: Hub<PlayerCore, PlayerEvent>

    /// The state of the player whose items have interstitials.
    var primaryState: PlayerState { primaryHub.state.queue.state }

    /// The published state, and the inputs that wait for the coordinator.
    struct Core: Sendable {
        var state = State()
        /// The commands of the application and the results of requests, in their order.
        var inbox: [InterstitialStateMachine.Event] = []
    }

    init(primary: Player) {
        primaryHub = primary.hub
        interstitialPlayer = QueuePlayer(
            actionAtItemEnd: .advance,
            environment: primary.environment,
            pipelines: primary.pipelines
        )
        // Interstitials within interstitials are ignored (§D.1).
        interstitialPlayer.interstitials.close()
        let time = primary.environment.time
        let coordinator = InterstitialCoordinator(primary: primary, player: interstitialPlayer, hub: hub)
        task.withLock { task in
            task = launch(on: time) {
                var coordinator = coordinator
                await coordinator.run()
            }
        }
    }

    deinit {
        task.withLock { $0 }?.cancel()
        hub.finish()
    }
}

extension InterstitialController {
    /// The state of a player's interstitials at one moment.
    public struct State: Sendable {
        /// The events that are scheduled for the current item, in the order of its stream.
        public internal(set) var events: [InterstitialEvent] = []
        /// The event that is played; `nil` while the item itself is.
        public internal(set) var currentEvent: InterstitialEvent?
        /// A value that indicates whether a viewer may skip the current event.
        public internal(set) var skippability = Skippability.notSkippable
        /// The amount of media that was played of the current event's items before the current item.
        var playedBefore = MediaTime.zero
        /// The positions of the events on the timeline of the item, in their order.
        var entries: [InterstitialSchedule.Entry] = []
    }

    /// A value that indicates whether a viewer may skip the current event (`SkippableEventState`).
    public enum Skippability: String, Sendable, Hashable, CaseIterable {
        /// The event cannot be skipped.
        case notSkippable
        /// The event can be skipped later.
        case notYetEligible
        /// The event can be skipped now.
        case eligible
        /// The event can no longer be skipped.
        case noLongerEligible
    }

    /// A notification, with the meaning that it has in AVFoundation.
    public enum Notification: Sendable {
        /// The scheduled events changed.
        case eventsDidChange
        /// Another event is played, or with `nil` the item itself.
        case currentEventDidChange(InterstitialEvent?)
        /// The asset list of an event was loaded, failed to load, or was cleared.
        case assetListStatusDidChange(InterstitialEvent, AssetListStatus)
        /// The ``Skippability`` of the current event changed.
        case currentEventSkippabilityDidChange(InterstitialEvent, Skippability)
        /// A viewer skipped the current event.
        case currentEventWasSkipped(InterstitialEvent)
        /// An event is not played because of an error.
        case eventWasUnscheduled(InterstitialEvent, PlayerError)
        /// An event ended, with the amount of it that was played.
        case eventDidFinish(InterstitialEvent, playoutTime: MediaTime, didPlayEntireEvent: Bool)
        /// The given number of notifications before this one was lost because they were not read in time.
        case dropped(Int)
    }

    /// The state of the asset list of an event.
    public enum AssetListStatus: Sendable {
        /// The list was loaded.
        case available
        /// The list was used, and is loaded again for the next time.
        case cleared
        /// The list could not be loaded.
        case unavailable(PlayerError)
    }

    /// The current state.
    public var state: State { hub.state.state }
    /// The events that are scheduled for the current item, in the order of its stream.
    public var events: [InterstitialEvent] { state.events }
    /// The event that is played; `nil` while the item itself is.
    public var currentEvent: InterstitialEvent? { state.currentEvent }
    /// The amount of the current event that was played; `nil` without one.
    public var currentEventPlayoutTime: MediaTime? {
        let state = state
        guard state.currentEvent != nil else { return nil }
        return state.playedBefore + interstitialPlayer.currentTime()
    }

    /// The current state, and each state after a change.
    public var states: StateUpdates<State> { StateUpdates(hub) { $0.state } }

    /// Returns the current value of a property, and each value that differs from the one before.
    public func values<Value: Equatable & Sendable>(
        of keyPath: any KeyPath<State, Value> & Sendable
    ) -> ValueUpdates<Value> {
        states.values(of: keyPath)
    }

    /// The notifications from now on.
    public var notifications: EventUpdates<Notification> { EventUpdates(hub, dropped: { .dropped($0) }, { $0 }) }

    /// Schedules events of the application, for this item and those after it, instead of those that streams schedule.
    ///
    /// - Parameter events: The events, those at the same position in the order in which they are played; `nil` to return to
    ///   those that streams schedule.
    public func schedule(_ events: [InterstitialEvent]?) { send(.scheduled(events)) }

    /// Cancels the current event, and those that follow it at the same position.
    ///
    /// - Parameter resumptionOffset: The offset from the start of the event at which the item resumes; `nil`, the default,
    ///   for that of the event.
    public func cancelCurrentEvent(withResumptionOffset resumptionOffset: MediaTime? = nil) {
        guard let event = currentEvent else { return }
        send(.cancel(event.id, resumptionOffset: resumptionOffset))
    }

    /// Skips the current event on behalf of a viewer.
    ///
    /// - Returns: Whether the event can be skipped now; see ``State/skippability``.
    @discardableResult
    public func skipCurrentEvent() -> Bool {
        let state = state
        guard let event = state.currentEvent, state.skippability == .eligible else { return false }
        send(.skip(event.id))
        return true
    }

    private func send(_ event: InterstitialStateMachine.Event) { hub.update { core, _ in core.inbox.append(event) } }
}

/// The controller of a player's interstitials, which is created when it is first needed.
final class InterstitialControllerStorage: Sendable {
    private struct State {
        var controller: InterstitialController?
        var isClosed = false
    }

    private let state = Mutex(State())

    /// A Boolean value that indicates whether no controller exists yet, and one can still be created.
    var isAwaited: Bool { state.withLock { $0.controller == nil && !$0.isClosed } }

    /// The controller; `nil` before it is needed.
    var controller: InterstitialController? { state.withLock { $0.controller } }

    /// Prevents the creation of a controller.
    func close() { state.withLock { $0.isClosed = true } }

    /// Returns the controller, and creates it the first time.
    func controller(of player: Player) -> InterstitialController {
        state.withLock { state in
            if let controller = state.controller { return controller }
            let controller = InterstitialController(primary: player)
            state.controller = controller
            return controller
        }
    }
}

extension Player {
    /// The controller of the player's interstitials.
    public var interstitialController: InterstitialController { interstitials.controller(of: self) }
}
