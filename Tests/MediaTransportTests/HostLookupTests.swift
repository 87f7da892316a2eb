import Dispatch
import MediaTiming
import MediaTransport
import MillstreamTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct HostLookupTests {
    /// A resolver whose lookups block until they are released.
    private final class SilentResolver: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        private let names = Mutex<[String]>([])
        private let running = Mutex((current: 0, most: 0))

        var asked: [String] { names.withLock { $0 } }
        var maximumConcurrentCount: Int { running.withLock { $0.most } }

        func lookUp(_ name: String) -> [HostAddress] {
            names.withLock { $0.append(name) }
            running.withLock { $0 = ($0.current + 1, max($0.most, $0.current + 1)) }
            gate.wait()
            running.withLock { $0.current -= 1 }
            return name.hasPrefix("none") ? [] : HostAddress([192, 0, 2, 1]).map { [$0] } ?? []
        }

        func release(_ count: Int) { for _ in 0..<count { gate.signal() } }
    }

    private func queue(_ resolver: SilentResolver, _ limits: HostLookupQueue.Limits) -> HostLookupQueue {
        HostLookupQueue(limits) { resolver.lookUp($0) }
    }

    /// Waits until a condition is true by yielding to other tasks, without a clock.
    private func until(_ condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }

    @Test func numericAddressesNeedNoLookup() async throws {
        let resolver = SilentResolver()
        let queue = queue(resolver, HostLookupQueue.Limits(concurrentLookups: 1, pendingNames: 0))
        #expect(try await queue.resolve("192.0.2.7").map(\.description) == ["192.0.2.7"])
        #expect(try await queue.resolve("2001:db8::1").map(\.description) == ["2001:db8::1"])
        #expect(resolver.asked.isEmpty)
    }

    @Test func threadsAndPendingNamesAreLimited() async throws {
        let resolver = SilentResolver()
        let queue = queue(resolver, HostLookupQueue.Limits(concurrentLookups: 2, pendingNames: 5))
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<5 { group.addTask { try await queue.resolve("host\(number)").count } }
            await until { queue.pendingNameCount == 5 && resolver.asked.count == 2 }
            let refused = await #expect(throws: TransportError.self) { try await queue.resolve("host5") }
            #expect(refused?.code == .tooManyLookups)
            resolver.release(5)
            var addresses = 0
            for try await count in group { addresses += count }
            #expect(addresses == 5)
        }
        #expect(resolver.maximumConcurrentCount == 2 && queue.pendingNameCount == 0)
        resolver.release(1)
        #expect(try await queue.resolve("host5").count == 1)
    }

    @Test func requestsForOneNameShareALookup() async throws {
        let resolver = SilentResolver()
        let queue = queue(resolver, HostLookupQueue.Limits(concurrentLookups: 2, pendingNames: 1, pendingRequests: 50))
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 { group.addTask { try await queue.resolve("one").count } }
            await until { queue.waitingRequestCount == 50 }
            let refused = await #expect(throws: TransportError.self) { try await queue.resolve("one") }
            #expect(refused?.code == .tooManyLookups)
            resolver.release(1)
            for try await count in group { #expect(count == 1) }
        }
        #expect(resolver.asked == ["one"])
    }

    @Test func cancelledRequestIsRemovedFromTheQueue() async throws {
        let resolver = SilentResolver()
        let queue = queue(resolver, HostLookupQueue.Limits(concurrentLookups: 1, pendingNames: 2))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await queue.resolve("first") }
            await until { resolver.asked == ["first"] }
            let second = Task { try await queue.resolve("second") }
            await until { queue.pendingNameCount == 2 }
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            #expect(queue.pendingNameCount == 1)
            resolver.release(1)
            try await group.waitForAll()
        }
        #expect(resolver.asked == ["first"])
    }

    @Test func nameStaysQueuedForOtherRequests() async throws {
        let resolver = SilentResolver()
        let queue = queue(resolver, HostLookupQueue.Limits(concurrentLookups: 1, pendingNames: 2))
        let first = Task { try await queue.resolve("first") }
        await until { resolver.asked == ["first"] }
        let second = (0..<2).map { _ in Task { try await queue.resolve("second") } }
        await until { queue.waitingRequestCount == 3 }
        second[0].cancel()
        await #expect(throws: CancellationError.self) { try await second[0].value }
        #expect(queue.waitingRequestCount == 2)
        // A name without waiting requests would not be resolved at all.
        try #require(queue.pendingNameCount == 2)
        resolver.release(2)
        #expect(try await first.value.count == 1)
        #expect(try await second[1].value.count == 1)
        #expect(resolver.asked == ["first", "second"])
        #expect(queue.waitingRequestCount == 0 && queue.pendingNameCount == 0)
    }

    @Test func nameThatIsBeingResolvedIsNotResolvedTwice() async throws {
        let resolver = SilentResolver()
        let queue = queue(resolver, HostLookupQueue.Limits(concurrentLookups: 1, pendingNames: 1))
        let first = Task { try await queue.resolve("a") }
        await until { resolver.asked == ["a"] }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(queue.pendingNameCount == 1 && queue.waitingRequestCount == 0)
        let second = Task { try await queue.resolve("a") }
        await until { queue.waitingRequestCount == 1 }
        resolver.release(1)
        #expect(try await second.value.count == 1)
        #expect(resolver.asked == ["a"])
    }

    @Test func addressesAreUsedForAMinute() async throws {
        let clock = CacheClock()
        let asked = Mutex(0)
        let queue = HostLookupQueue { _ in
            asked.withLock { $0 += 1 }
            return HostAddress([192, 0, 2, 1]).map { [$0] } ?? []
        }
        let cache = HostCache(queue, time: clock)
        #expect(try await cache.resolve("h").duration == .zero)
        clock.advance(by: .seconds(60) - .nanoseconds(1))
        #expect(try await cache.resolve("h").duration == nil)
        clock.advance(by: .nanoseconds(1))
        #expect(try await cache.resolve("h").duration == .zero)
        #expect(asked.withLock { $0 } == 2 && cache.count == 1)
    }

    /// The oldest half of the names is removed when all of 1,024 are valid, and otherwise those that have expired.
    @Test func expiredNamesAreRemovedFirst() async throws {
        let clock = CacheClock()
        let cache = HostCache(HostLookupQueue { _ in HostAddress([192, 0, 2, 1]).map { [$0] } ?? [] }, time: clock)
        for number in 0..<1_024 {
            if number == 1_000 { clock.advance(by: .seconds(30)) }
            _ = try await cache.resolve("h\(number)")
        }
        #expect(cache.count == 1_024)
        clock.advance(by: .seconds(30))
        _ = try await cache.resolve("new")
        #expect(cache.count == 25)
        #expect(try await cache.resolve("h1000").duration == nil)
        #expect(try await cache.resolve("h999").duration != nil)
    }

    @Test func olderHalfOfTheNamesIsRemoved() async throws {
        let clock = CacheClock()
        let cache = HostCache(HostLookupQueue { _ in HostAddress([192, 0, 2, 1]).map { [$0] } ?? [] }, time: clock)
        for number in 0..<1_025 {
            clock.advance(by: .milliseconds(1))
            _ = try await cache.resolve("h\(number)")
        }
        #expect(cache.count == 513)
        #expect(try await cache.resolve("h512").duration == nil)
        #expect(try await cache.resolve("h511").duration != nil)
    }

    @Test func lookupTimesOut() async throws {
        let resolver = SilentResolver()
        let simulation = Simulation()
        let queue = HostLookupQueue(
            HostLookupQueue.Limits(concurrentLookups: 1, timeLimit: .seconds(15)),
            time: simulation
        ) { resolver.lookUp($0) }
        try await simulation.run {
            let error = await #expect(throws: TransportError.self) { try await queue.resolve("silent") }
            #expect(error?.code == .timedOut && simulation.now == .seconds(15))
        }
        // The thread of the lookup is still blocked, so the name still counts as pending.
        #expect(queue.pendingNameCount == 1)
        resolver.release(1)
        await until { queue.pendingNameCount == 0 }
    }

    @Test func unknownAndInvalidNamesAreErrors() async throws {
        let resolver = SilentResolver()
        resolver.release(1)
        let queue = queue(resolver, HostLookupQueue.Limits())
        for name in ["none.example", "", String(repeating: "a", count: 255), "a\0b"] {
            let error = await #expect(throws: TransportError.self) { try await queue.resolve(name) }
            #expect(error?.code == .unknownHost)
        }
        #expect(resolver.asked == ["none.example"])
    }

    @Test func cacheIsBoundedAndNamesCanBeRemoved() async throws {
        let asked = Mutex(0)
        let simulation = Simulation()
        let queue = HostLookupQueue(time: simulation) { _ in
            asked.withLock { $0 += 1 }
            return HostAddress([192, 0, 2, 1]).map { [$0] } ?? []
        }
        let cache = HostCache(queue)
        for number in 0..<1_500 {
            _ = try await cache.resolve("host\(number)")
            #expect(cache.count <= 1_024)
        }
        #expect(asked.withLock { $0 } == 1_500)
        #expect(try await cache.resolve("host1499").duration == nil)
        cache.remove("host1499")
        #expect(try await cache.resolve("host1499").duration != nil)
    }
}
