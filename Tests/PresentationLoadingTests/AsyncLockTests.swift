import MillstreamTesting
import Synchronization
import Testing

@testable import PresentationLoading

struct AsyncLockTests {
    @Test func workIsPerformedOneAtATimeInTheOrderOfRequests() async throws {
        let simulation = Simulation()
        let order = Order()
        try await simulation.run {
            let lock = AsyncLock()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        try await simulation.sleep(for: .milliseconds(number))
                        try await lock.withLock {
                            order.append("begin \(number)")
                            try await simulation.sleep(for: .seconds(1))
                            order.append("end \(number)")
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(order.all == (0..<4).flatMap { ["begin \($0)", "end \($0)"] })
    }

    @Test func canceledWaiterEndsAtOnceAndTheOthersContinue() async throws {
        let simulation = Simulation()
        let order = Order()
        try await simulation.run {
            let lock = AsyncLock()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await lock.withLock { try await simulation.sleep(for: .seconds(10)) }
                    order.append("first at \(simulation.now)")
                }
                group.addTask {
                    try await simulation.sleep(for: .seconds(2))
                    try await lock.withLock { order.append("third") }
                }
                try await withThrowingTaskGroup(of: Void.self) { inner in
                    inner.addTask {
                        try await simulation.sleep(for: .seconds(1))
                        do {
                            try await lock.withLock { order.append("never") }
                        } catch is CancellationError {
                            order.append("canceled at \(simulation.now)")
                        }
                    }
                    try await simulation.sleep(for: .seconds(3))
                    inner.cancelAll()
                    try await inner.waitForAll()
                }
                try await group.waitForAll()
            }
        }
        #expect(order.all == ["canceled at 3.0 seconds", "first at 10.0 seconds", "third"])
    }

    @Test func failureOfTheWorkReleasesTheLock() async throws {
        let lock = AsyncLock()
        await #expect(throws: CancellationError.self) { try await lock.withLock { throw CancellationError() } }
        #expect(try await lock.withLock { 1 } == 1)
    }
}

/// The steps of a test, in order.
private final class Order: Sendable {
    private let steps = Mutex<[String]>([])
    var all: [String] { steps.withLock { $0 } }
    func append(_ step: String) { steps.withLock { $0.append(step) } }
}
