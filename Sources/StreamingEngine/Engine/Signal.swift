package import MediaTiming
import Synchronization

/// Wakes the loops of an engine when something changed that they may wait for.
///
/// A change between a look and a wait is not lost: whoever waits says which change was the last it saw.
package final class Signal: Sendable {
    /// Makes one.
    package init() {}

    private struct State {
        var count: UInt64 = 0
        var lastID = 0
        /// Those who wait until a time, and whether it has come.
        var timers: [Int: Bool] = [:]
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    /// How many changes there were.
    package var count: UInt64 { state.withLock { $0.count } }

    /// Says that something changed.
    package func notify() {
        let waiters = state.withLock { state in
            state.count &+= 1
            // In the order in which they began to wait: a dictionary's own order differs from run to run.
            let waiters = state.waiters.sorted { $0.key < $1.key }.map(\.value)
            state.waiters = [:]
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits for a change after the given one; returns at once where there was one, and when cancelled.
    package func wait(after seen: UInt64) async { await wait(after: seen, newID()) }

    private func newID() -> Int {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    private func wait(after seen: UInt64, _ id: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mayWait = state.withLock { state in
                    guard state.count == seen, !Task.isCancelled, state.timers[id] != true else { return false }
                    state.waiters[id] = continuation
                    return true
                }
                if !mayWait { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
        state.withLock { $0.timers[id] = nil }
    }

    /// Waits for a change after the given one, or until a time.
    package func wait(after seen: UInt64, until deadline: Duration?, _ time: any TimeSource) async {
        guard let deadline else { return await wait(after: seen) }
        let delay = deadline - time.now
        guard delay > .zero, count == seen else { return }
        let id = newID()
        state.withLock { $0.timers[id] = false }
        // Whichever comes first wakes; the timer goes with this scope.
        async let _: Void = wake(id, after: delay, time)
        await wait(after: seen, id)
    }

    private func wake(_ id: Int, after delay: Duration, _ time: any TimeSource) async {
        guard (try? await time.sleep(for: delay)) != nil else { return }
        let waiter = state.withLock { state in
            // Who is gone is not waited for.
            if state.timers[id] != nil { state.timers[id] = true }
            return state.waiters.removeValue(forKey: id)
        }
        waiter?.resume()
    }
}
