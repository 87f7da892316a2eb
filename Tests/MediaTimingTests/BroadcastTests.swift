import MediaTiming
import Synchronization
import Testing

@Suite struct BroadcastTests {
    private let broadcast = Broadcast()

    /// A clock that stands still, and whose scheduled actions are called by the test.
    private final class StoppedClock: TimeSource {
        let actions = Mutex<[(delay: Duration, action: @Sendable () -> Void)]>([])
        let cancelledCount = Mutex(0)

        var now: Duration { .seconds(10) }

        func sleep(for duration: Duration) async throws {}

        func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
            actions.withLock { $0.append((duration, action)) }
            return ScheduledAction { self.cancelledCount.withLock { $0 += 1 } }
        }
    }

    @Test func changesAreCounted() {
        #expect(broadcast.count == 0 && Broadcast(count: 7).count == 7)
        broadcast.notify()
        broadcast.notify()
        #expect(broadcast.count == 2)
    }

    @Test func waitForAnEarlierChangeReturnsAtOnce() async {
        broadcast.notify()
        await broadcast.wait(after: 0)
        await broadcast.wait(after: 5)
    }

    @Test func aChangeResumesAllWaitingTasks() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { await broadcast.wait(after: 0) } }
            await Task.yield()
            broadcast.notify()
            await group.waitForAll()
        }
        #expect(broadcast.count == 1)
    }

    @Test func cancellationEndsAWait() async {
        let task = Task { await broadcast.wait(after: 0) }
        await Task.yield()
        task.cancel()
        await task.value
        // A task that is canceled before it waits does not wait.
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await broadcast.wait(after: 0)
        }.value
        #expect(broadcast.count == 0)
    }

    @Test func deadlineThatHasPassedEndsAWaitAtOnce() async {
        let clock = StoppedClock()
        await broadcast.wait(after: 0, until: .seconds(10), clock)
        await broadcast.wait(after: 0, until: .zero, clock)
        #expect(clock.actions.withLock { $0.isEmpty })
    }

    @Test func deadlineEndsAWait() async throws {
        let clock = StoppedClock()
        async let wait: Void = broadcast.wait(after: 0, until: .seconds(12), clock)
        while clock.actions.withLock({ $0.isEmpty }) { await Task.yield() }
        let (delay, action) = try #require(clock.actions.withLock { $0.first })
        #expect(delay == .seconds(2))
        action()
        await wait
        #expect(broadcast.count == 0)
    }

    @Test func aChangeCancelsTheTimerOfTheDeadline() async {
        let clock = StoppedClock()
        async let wait: Void = broadcast.wait(after: 0, until: .seconds(12), clock)
        while clock.actions.withLock({ $0.isEmpty }) { await Task.yield() }
        broadcast.notify()
        await wait
        // The timer is canceled by the change, or by the task that finds the change when it has created the timer.
        while clock.cancelledCount.withLock({ $0 == 0 }) { await Task.yield() }
        #expect(clock.cancelledCount.withLock { $0 } == 1)
    }

    private final class Value: Sendable {
        private let storage = Mutex(0)
        var current: Int { storage.withLock { $0 } }
        func increase() { storage.withLock { $0 += 1 } }
    }

    @Test func noChangeIsLostBetweenReadingAndWaiting() async {
        let value = Value()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<1_000 {
                    value.increase()
                    broadcast.notify()
                }
            }
            group.addTask {
                while true {
                    let seen = broadcast.count
                    if value.current == 1_000 { return }
                    await broadcast.wait(after: seen)
                }
            }
            await group.waitForAll()
        }
        #expect(broadcast.count == 1_000)
    }
}
