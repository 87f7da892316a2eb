package import MediaTiming
import Synchronization

/// Wakes the loops of an engine when something changed that they may wait for.
///
/// A change between a look and a wait is not lost: whoever waits says which change was the last it saw.
package final class Signal: Sendable {
    /// Makes one.
    package init() {}

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
        var count: UInt64 = 0
        var lastID = 0
        /// In the order in which they began to wait, which is that in which they wake.
        var waiters: [Waiter] = []

        mutating func remove(_ id: Int) -> Waiter? {
            waiters.firstIndex { $0.id == id }.map { waiters.remove(at: $0) }
        }
    }

    private let state = Mutex(State())

    /// How many changes there were.
    package var count: UInt64 { state.withLock { $0.count } }

    /// Says that something changed.
    package func notify() {
        let waiters = state.withLock { state in
            state.count &+= 1
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.wake() }
    }

    /// Waits for a change after the given one; returns at once where there was one, and when cancelled.
    package func wait(after seen: UInt64) async { await wait(after: seen, timer: nil) }

    /// Waits for a change after the given one, or until a time.
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
