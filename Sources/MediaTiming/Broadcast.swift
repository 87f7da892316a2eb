import Synchronization

/// A counter of changes that tasks can wait for.
///
/// No change is lost between a check of a state and the wait, because a caller passes the number of the last change that
/// it has seen. Read ``count`` before the state that it belongs to, and change the state before ``notify()``.
package final class Broadcast: Sendable {
    /// Creates a broadcast.
    ///
    /// - Parameter count: The number of changes so far.
    package init(count: UInt64 = 0) { state = Mutex(State(count: count)) }

    private struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<Void, Never>
        var timer: ScheduledAction?

        func wake() {
            timer?.cancel()
            continuation.resume()
        }
    }

    private struct State {
        var count: UInt64
        var lastID = 0
        /// The waiting tasks in the order in which they began to wait, which is also the order in which they are
        /// resumed.
        var waiters: [Waiter] = []

        mutating func remove(_ id: Int) -> Waiter? {
            waiters.firstIndex { $0.id == id }.map { waiters.remove(at: $0) }
        }
    }

    private let state: Mutex<State>

    /// The number of changes so far.
    package var count: UInt64 { state.withLock { $0.count } }

    /// Records a change, and resumes all waiting tasks.
    package func notify() {
        let waiters = state.withLock { state in
            state.count &+= 1
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.wake() }
    }

    /// Waits for a change after the given one; returns at once if there already was one, or if the task is canceled.
    package func wait(after seen: UInt64) async { await wait(after: seen, timer: nil) }

    /// Waits for a change after the given one, until a deadline at most.
    ///
    /// - Parameters:
    ///   - seen: The number of the last change that the caller has seen.
    ///   - deadline: The time of the clock at which the wait ends; `nil` for a wait without a limit.
    ///   - time: The clock.
    package func wait(after seen: UInt64, until deadline: Duration?, _ time: any TimeSource) async {
        guard let deadline else { return await wait(after: seen) }
        let delay = deadline - time.now
        guard delay > .zero, count == seen else { return }
        await wait(after: seen) { action in time.schedule(after: delay, action) }
    }

    private func wait(
        after seen: UInt64,
        timer: ((@escaping @Sendable () -> Void) -> ScheduledAction)?
    ) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mayWait = state.withLock { state in
                    guard state.count == seen, !Task.isCancelled else { return false }
                    state.waiters.append(Waiter(id: id, continuation: continuation))
                    return true
                }
                guard mayWait else { return continuation.resume() }
                if let timer { keep(timer { self.wake(id) }, for: id) }
            }
        } onCancel: {
            wake(id)
        }
    }

    private func keep(_ timer: ScheduledAction, for id: Int) {
        let isAwaited = state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return false }
            state.waiters[index].timer = timer
            return true
        }
        if !isAwaited { timer.cancel() }
    }

    private func wake(_ id: Int) { state.withLock { $0.remove(id) }?.wake() }
}
