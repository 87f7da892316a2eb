#if Playback
import MediaTiming
import Synchronization

/// A loop between two times of an item, which a user sets while it plays.
final class PlaybackLoop: Sendable {
    private enum State {
        case off
        case started(MediaTime, item: PlayerItem)
        case looping(item: PlayerItem, TimeObserver)
    }

    private let player: Player
    private let state = Mutex(State.off)

    init(_ player: Player) { self.player = player }

    /// Sets the start of the loop, then its end, then ends it.
    ///
    /// - Parameter item: The current item; a loop in a former item is over.
    /// - Returns: A few words about the effect.
    func toggle(on item: PlayerItem) async -> String {
        let position = item.currentTime()
        switch state.withLock({ $0 }) {
        case .started(let start, let former) where former === item && start != position:
            // Playback may have been in reverse.
            let range = MediaTimeRange(start: min(start, position), end: max(start, position))
            let observer = player.addBoundaryTimeObserver(forTimes: [range.end]) { [weak player] _ in
                guard let player, player.currentItem === item, player.rate > 0 else { return }
                await player.seek(to: range.start, toleranceBefore: .zero, toleranceAfter: .zero)
            }
            state.withLock { $0 = .looping(item: item, observer) }
            await player.seek(to: range.start, toleranceBefore: .zero, toleranceAfter: .zero)
            return "Loop \(Self.text(range.start)) to \(Self.text(range.end))"
        case .looping(let former, let observer):
            player.removeTimeObserver(observer)
            state.withLock { $0 = .off }
            return former === item ? "Loop off" : await toggle(on: item)
        case .off, .started:
            state.withLock { $0 = .started(position, item: item) }
            return "Loop from \(Self.text(position))"
        }
    }

    /// Returns a time with tenths of a second.
    private static func text(_ time: MediaTime) -> String {
        let tenths = Int(saturating: (max(.zero, time).seconds * 10).rounded())
        let (minutes, rest) = tenths.quotientAndRemainder(dividingBy: 600)
        return "\(minutes < 10 ? "0" : "")\(minutes):\(rest < 100 ? "0" : "")\(rest / 10).\(rest % 10)"
    }
}
#endif
