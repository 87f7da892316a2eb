import MillstreamTesting
import Synchronization
import Testing

/// A thread-safe record of the order of events.
private final class Order<Name: Sendable>: Sendable {
    private let names = Mutex<[Name]>([])

    var all: [Name] { names.withLock { $0 } }

    func add(_ name: Name) { names.withLock { $0.append(name) } }
}

@Suite struct SimulationTests {
    @Test func timeAdvancesOnlyWhileAllTasksSleep() async throws {
        let simulation = Simulation()
        let order = Order<Int>()
        try await simulation.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for hours in [3, 1, 2] {
                    group.addTask {
                        try await simulation.sleep(for: .seconds(3600 * hours))
                        order.add(hours)
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(order.all == [1, 2, 3])
        #expect(simulation.now == .seconds(3 * 3600))
    }

    @Test func timeAdvancesInRealTimeDuringOutsideWork() async throws {
        let simulation = Simulation()
        let waited = try await simulation.run {
            let start = simulation.now
            try await simulation.withRealTime { try await Task.sleep(for: .milliseconds(300)) }
            let outside = simulation.now - start
            try await simulation.sleep(for: .seconds(1000))
            return (outside, simulation.now - start - outside)
        }
        #expect(waited.0 >= .milliseconds(200) && waited.0 < .seconds(100))
        #expect(waited.1 == .seconds(1000))
    }

    @Test func sleepingTaskWakesOnTimeDuringOutsideWork() async throws {
        let simulation = Simulation()
        let order = Order<String>()
        try await simulation.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await simulation.withRealTime { try await Task.sleep(for: .seconds(2)) }
                    order.add("outside")
                }
                group.addTask {
                    // Starts after the other task has begun its outside work.
                    try await simulation.sleep(for: .milliseconds(100))
                    try await simulation.sleep(for: .milliseconds(100))
                    order.add("asleep")
                }
                try await group.waitForAll()
            }
        }
        #expect(order.all == ["asleep", "outside"])
        #expect(simulation.now >= .seconds(1) && simulation.now < .seconds(100))
    }

    /// Otherwise a program that decodes slowly would find that the network is slow.
    @Test func computationDoesNotAdvanceTimeDuringOutsideWork() async throws {
        let simulation = Simulation()
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let elapsed = try await simulation.run {
            try await withThrowingTaskGroup(of: Duration.self) { group in
                group.addTask {
                    await simulation.withRealTime { for await _ in stream {} }
                    return .zero
                }
                group.addTask {
                    // Starts after the other task has begun its outside work.
                    try await simulation.sleep(for: .milliseconds(1))
                    let (start, end) = (simulation.now, ContinuousClock.now + .milliseconds(20))
                    while ContinuousClock.now < end {}
                    defer { continuation.finish() }
                    return simulation.now - start
                }
                return try await group.reduce(Duration.zero) { $0 + $1 }
            }
        }
        #expect(elapsed == .zero)
    }

    @Test func cancelledOutsideWorkDoesNotBlockTheSimulation() async throws {
        let simulation = Simulation()
        try await simulation.run {
            await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await simulation.withRealTime { try await Task.sleep(for: .seconds(3600)) } }
                group.cancelAll()
            }
            try await simulation.sleep(for: .seconds(5000))
        }
        #expect(simulation.now >= .seconds(5000) && simulation.now < .seconds(5600))
    }
}
