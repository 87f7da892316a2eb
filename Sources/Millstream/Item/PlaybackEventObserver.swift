public import PlaybackReporting
import Synchronization

/// An observer of all playback events of an item, see ``PlayerItem/addEventObserver(_:)``.
public final class PlaybackEventObserver: Sendable {
    typealias Body = @Sendable (PlaybackEvent, PlaybackSession) -> Void

    let body: Body

    init(_ body: @escaping Body) { self.body = body }
}

/// The observers of the events of an item.
final class EventObservers: Sendable {
    private let observers = Mutex<[PlaybackEventObserver]>([])

    func add(_ observer: PlaybackEventObserver) { observers.withLock { $0.append(observer) } }

    func remove(_ observer: PlaybackEventObserver) { observers.withLock { $0.removeAll { $0 === observer } } }

    /// Passes an event to the observers, in the order in which they were added.
    func deliver(_ event: PlaybackEvent, of session: PlaybackSession) {
        for observer in observers.withLock({ $0 }) { observer.body(event, session) }
    }
}

extension PlayerItem {
    /// Adds an observer that receives all playback events of the item, in order and without loss.
    ///
    /// Unlike the elements of ``events``, which are dropped if they are not read in time, an event is passed to the
    /// observer when it occurs, and playback waits until the observer returns. Logs that must be complete are written
    /// by such an observer.
    ///
    /// - Parameter body: Receives each event with its session, on a thread of playback. It must return soon, and must
    ///   not wait for the player.
    /// - Returns: A token for ``removeEventObserver(_:)``. The observer remains if the token is released.
    @discardableResult
    public func addEventObserver(
        _ body: @escaping @Sendable (PlaybackEvent, PlaybackSession) -> Void
    ) -> PlaybackEventObserver {
        let observer = PlaybackEventObserver(body)
        eventObservers.add(observer)
        return observer
    }

    /// Removes an observer; an event that is being delivered may still arrive.
    ///
    /// - Parameter observer: The token that ``addEventObserver(_:)`` returned.
    public func removeEventObserver(_ observer: PlaybackEventObserver) { eventObservers.remove(observer) }
}
