#if Playback
package import MediaOutput
import MediaTiming
import Synchronization

/// The seeks by a duration that wait while another command is executed.
///
/// A key that is held sends seeks faster than they can be executed. Successive ones that wait become one seek by the sum of their
/// durations.
package final class WaitingSeeks: Sendable {
    private struct State {
        /// The durations of the seeks that wait, in order.
        var distances: [MediaTime] = []
        /// A Boolean value that indicates whether the last one can become longer, because no other command has followed.
        var isOpen = false
    }

    private let state = Mutex(State())

    /// Creates an empty list.
    package init() {}

    /// Adds a command that was received.
    ///
    /// - Parameter command: The command.
    /// - Returns: A Boolean value that indicates whether the command must be executed; otherwise, a seek that waits includes it.
    package func add(_ command: PlayerCommand) -> Bool {
        state.withLock { state in
            guard case .seekBy(let distance) = command else {
                state.isOpen = false
                return true
            }
            if state.isOpen, let waiting = state.distances.popLast() {
                state.distances.append(waiting + distance)
                return false
            }
            state.distances.append(distance)
            state.isOpen = true
            return true
        }
    }

    /// Returns a command that is executed now, after it was added.
    ///
    /// - Parameter command: The command as it was added; commands must be taken in their order.
    /// - Returns: The command; for a seek by a duration, with those that it includes.
    package func take(_ command: PlayerCommand) -> PlayerCommand {
        guard case .seekBy = command else { return command }
        return state.withLock { state in
            guard let distance = state.distances.first else { return command }
            state.distances.removeFirst()
            if state.distances.isEmpty { state.isOpen = false }
            return .seekBy(distance)
        }
    }
}
#endif
