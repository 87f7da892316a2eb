public import MediaTiming
import StreamingEngine
import Synchronization

/// Plays what is scheduled in between, while the item of a player waits (`AVPlayerInterstitialEventMonitor` and
/// `AVPlayerInterstitialEventController`).
///
/// Each player has one, see ``Player/interstitialController``. What streams schedule (RFC 8216bis appendix D) is played
/// without being asked for: the current item stands, with `duringInterstitialEvent` as the reason,
/// ``interstitialPlayer`` plays, at the rate of the player, and the item goes on where the event says. What is played in
/// between is shown and heard where the items of the player are.
///
/// ```swift
/// for await notification in player.interstitialController.notifications {
///     if case .currentEventDidChange(let event?) = notification { print(event.id) }
/// }
/// ```
public final class InterstitialController: Sendable {
    /// Plays them, for watching and for a pause.
    ///
    /// What it plays comes and goes by itself.
    public let interstitialPlayer: QueuePlayer
    let hub = Hub<Core, Notification>(Core())
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let primaryHub: Hub<PlayerCore, PlayerEvent>

    /// The player that waits for them.
    var primaryState: PlayerState { primaryHub.state.lineup.state }

    /// What is known of interstitials, behind a lock.
    struct Core: Sendable {
        var state = State()
        /// What the application wants, instead of what the stream does.
        var ownEvents: [InterstitialEvent]?
        /// What is to become of the current event; taken once.
        var request: Request?
        /// What was loaded ahead, by what was asked for.
        var lists: [String: Result<InterstitialAssetList, PlayerError>] = [:]
    }

    /// What is to become of the current event.
    enum Request: Sendable, Hashable {
        case skip
        case cancel(resumptionOffset: MediaTime?)
    }

    init(primary: Player) {
        primaryHub = primary.hub
        interstitialPlayer = QueuePlayer(actionAtItemEnd: .advance, environment: primary.environment)
        // Interstitials within interstitials are ignored (§D.1).
        interstitialPlayer.interstitials.close()
        let (hub, player) = (hub, interstitialPlayer)
        let time = primary.environment.time
        let conductor = InterstitialConductor(primary: primary, player: player, hub: hub)
        task.withLock { task in
            task = launch(on: time) { [conductor] in
                var conductor = conductor
                await conductor.run()
            }
        }
    }

    deinit {
        task.withLock { $0 }?.cancel()
        hub.finish()
    }
}

extension InterstitialController {
    /// All that can be said of interstitials at one moment.
    public struct State: Sendable {
        /// What is scheduled for the current item, in the order of its stream.
        public internal(set) var events: [InterstitialEvent] = []
        /// What is played now; `nil` while the item itself is.
        public internal(set) var currentEvent: InterstitialEvent?
        /// Whether a viewer may skip it now.
        public internal(set) var skippability = Skippability.notSkippable
        /// How much of it was played in items that are over.
        var playedBefore = MediaTime.zero
        /// Where the events are on the timeline of the item, in the order of their places.
        var entries: [InterstitialSchedule.Entry] = []
    }

    /// Whether a viewer may skip what is played (`SkippableEventState`).
    public enum Skippability: String, Sendable, Hashable, CaseIterable {
        /// Never.
        case notSkippable
        /// Later.
        case notYetEligible
        /// Now.
        case eligible
        /// No more.
        case noLongerEligible
    }

    /// What happens, as AVFoundation would post it.
    public enum Notification: Sendable {
        /// Something else is scheduled.
        case eventsDidChange
        /// Something else is played in between, or nothing is.
        case currentEventDidChange(InterstitialEvent?)
        /// The list of an event was loaded, or could not be.
        case assetListStatusDidChange(InterstitialEvent, AssetListStatus)
        /// A viewer may skip the current event now, or no longer may.
        case currentEventSkippabilityDidChange(InterstitialEvent, Skippability)
        /// A viewer skipped the current event.
        case currentEventWasSkipped(InterstitialEvent)
        /// An event is not played, and why.
        case eventWasUnscheduled(InterstitialEvent, PlayerError)
        /// An event is over: how much of it was played, and whether that was all.
        case eventDidFinish(InterstitialEvent, playoutTime: MediaTime, didPlayEntireEvent: Bool)
        /// The reader was too slow: so many before this one are lost.
        case dropped(Int)
    }

    /// What is known of the list of an event.
    public enum AssetListStatus: Sendable {
        /// It is there.
        case available
        /// It was used, and will be loaded anew when it is needed again.
        case cleared
        /// It cannot be had.
        case unavailable(PlayerError)
    }

    /// All that can be said of it now.
    public var state: State { hub.state.state }
    /// What is scheduled for the current item, in the order of its stream.
    public var events: [InterstitialEvent] { state.events }
    /// What is played now; `nil` while the item itself is.
    public var currentEvent: InterstitialEvent? { state.currentEvent }
    /// How much of the current event was played; `nil` without one.
    public var currentEventPlayoutTime: MediaTime? {
        let state = state
        guard state.currentEvent != nil else { return nil }
        return state.playedBefore + interstitialPlayer.currentTime()
    }

    /// The state now, and whenever it changed.
    public var states: StateUpdates<State> { StateUpdates(hub) { $0.state } }

    /// One property: what it is now, and each value that differs from the one before.
    public func values<Value: Equatable & Sendable>(
        of keyPath: any KeyPath<State, Value> & Sendable
    ) -> ValueUpdates<Value> {
        states.values(of: keyPath)
    }

    /// What happens from now on.
    public var notifications: EventUpdates<Notification> { EventUpdates(hub, dropped: { .dropped($0) }, { $0 }) }

    /// Schedules events of the application, for this item and those after it, instead of what streams schedule.
    ///
    /// - Parameter events: In the order in which those of one place are played; `nil` to go back to what streams schedule.
    public func schedule(_ events: [InterstitialEvent]?) { hub.update { core, _ in core.ownEvents = events } }

    /// Ends what is played in between, with all that was to be played behind it at the same place.
    ///
    /// - Parameter resumptionOffset: How far behind the place of the event the item goes on; `nil` for as the event says.
    public func cancelCurrentEvent(withResumptionOffset resumptionOffset: MediaTime? = nil) {
        hub.update { core, _ in
            if core.state.currentEvent != nil { core.request = .cancel(resumptionOffset: resumptionOffset) }
        }
    }

    /// Lets a viewer skip what is played in between.
    ///
    /// - Returns: Whether that is allowed now; see ``State/skippability``.
    @discardableResult
    public func skipCurrentEvent() -> Bool {
        hub.update { core, _ in
            guard core.state.currentEvent != nil, core.state.skippability == .eligible else { return false }
            core.request = .skip
            return true
        }
    }
}

/// The interstitials of a player, from the moment on when somebody needs them.
final class InterstitialHome: Sendable {
    private struct State {
        var controller: InterstitialController?
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Whether there is none yet, and may be one.
    var isAwaited: Bool { state.withLock { $0.controller == nil && !$0.isClosed } }

    /// There will be none.
    func close() { state.withLock { $0.isClosed = true } }

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
    /// Plays what is scheduled in between; the same each time.
    public var interstitialController: InterstitialController { interstitials.controller(of: self) }
}
