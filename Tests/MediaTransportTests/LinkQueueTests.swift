import MediaTiming
import MillstreamTesting
import NIOCore
import NetworkConditioning
import Testing

@testable import MediaTransport

/// Tests the queue between a sender and a link, and the state that transfers share on a link.
@Suite struct LinkQueueTests {
    private func buffer(_ count: Int, _ byte: UInt8 = 7) -> ByteBuffer { ByteBuffer(repeating: byte, count: count) }

    /// Takes available bytes and describes the result: `size time`, where time is when the bytes became available,
    /// `nothing`, `end`, or `failure`.
    private func take(_ queue: BufferQueue, _ count: Int = .max) -> String {
        switch queue.dequeue(atMost: count) {
        case .buffer(let offer):
            "\(offer.buffer.readableBytes) \(offer.available.map { "\($0)" } ?? "-")"
        case .empty: "nothing"
        case .end(.success): "end"
        case .end(.failure(let error)): "failure \(error is CancellationError)"
        }
    }

    @Test func firstPartOfABufferHasTheTimeWhenItBecameAvailable() async throws {
        let time = Simulation()
        try await time.run {
            let queue = BufferQueue(time: time)
            #expect(take(queue) == "nothing")
            #expect(await queue.append(ByteBuffer()))
            #expect(take(queue) == "nothing", "no bytes are no offer")
            try await time.sleep(for: .seconds(2))
            #expect(await queue.append(buffer(10)))
            try await time.sleep(for: .seconds(1))
            #expect(await queue.append(buffer(1)))
            queue.finish(.success(()))
            queue.finish(.failure(CancellationError()))
            #expect(take(queue, 4) == "4 2.0 seconds")
            #expect(take(queue, 5) == "5 -")
            #expect(take(queue, 1) == "1 -")
            #expect(take(queue, 1) == "1 3.0 seconds")
            #expect(take(queue) == "end" && take(queue) == "end")
        }
    }

    @Test func senderWaitsWhile512KiBAreQueued() async throws {
        let time = Simulation()
        try await time.run {
            let queue = BufferQueue(time: time)
            #expect(await queue.append(buffer(524_287)))
            #expect(await queue.append(buffer(1)), "there was room for one byte")
            async let last = queue.append(buffer(5))
            try await time.sleep(for: .seconds(1))
            #expect(take(queue, 524_287) == "524287 0.0 seconds")
            #expect(await last)
            #expect(take(queue) == "1 0.0 seconds")
            #expect(take(queue) == "5 -", "it was there as soon as there was room")
            #expect(take(queue) == "nothing")
            // The space of the bytes that were taken is available again.
            #expect(await queue.append(buffer(524_288)))
            async let waiting = queue.append(buffer(1))
            try await time.sleep(for: .seconds(1))
            queue.cancel()
            #expect(await waiting == false)
            #expect(await queue.append(buffer(1)) == false)
            #expect(take(queue) == "failure true")
        }
    }

    @Test func receiverWaitsForBytesOrTheEnd() async throws {
        let time = Simulation()
        try await time.run {
            let queue = BufferQueue(time: time)
            func waited(_ body: @Sendable () async -> Void) async throws -> Duration {
                let start = time.now
                async let end: Duration = {
                    await queue.waitForData()
                    return time.now - start
                }()
                try await time.sleep(for: .seconds(3))
                await body()
                return await end
            }
            #expect(try await waited { _ = await queue.append(buffer(1)) } == .seconds(3))
            #expect(try await waited {} == .zero)
            #expect(take(queue) == "1 3.0 seconds")
            #expect(try await waited { queue.finish(.success(())) } == .seconds(3))
            #expect(try await waited {} == .zero)
            let abandoned = BufferQueue(time: time)
            async let end: Void = abandoned.waitForData()
            try await time.sleep(for: .seconds(1))
            abandoned.cancel()
            await end
            await abandoned.waitForData()
            #expect(take(abandoned) == "failure true")
        }
    }

    // MARK: Names

    private func link(_ time: Simulation, dnsDelay: Duration) -> ConditionedLink {
        var profile = LinkProfile(name: "t")
        profile.dnsDelay = dnsDelay
        return ConditionedLink(profile, time: time)
    }

    @Test func nameIsResolvedOncePerMinute() async throws {
        let time = Simulation()
        try await time.run {
            let link = link(time, dnsDelay: .seconds(2))
            #expect(link.generation == 0)
            #expect(try await link.resolve("a") == .seconds(2) && time.now == .seconds(2))
            #expect(try await link.resolve("a") == nil)
            #expect(try await link.resolve("b") == .seconds(2) && time.now == .seconds(4))
            // `a` was resolved at second 2.
            try await time.sleep(for: .seconds(58) - .nanoseconds(1))
            #expect(try await link.resolve("a") == nil)
            try await time.sleep(for: .nanoseconds(1))
            #expect(try await link.resolve("a") == .seconds(2))
            link.change(to: link.profile)
            #expect(link.generation == 1)
            #expect(try await link.resolve("a") == .seconds(2), "under other conditions it is resolved anew")
            // A second request for a name that is being resolved waits for the remaining time.
            async let first = link.resolve("c")
            try await time.sleep(for: .milliseconds(500))
            #expect(try await link.resolve("c") == .milliseconds(1_500))
            #expect(try await first == .seconds(2))
            #expect(try await self.link(time, dnsDelay: .zero).resolve("a") == nil)
        }
    }

    @Test func tenThousandNamesAreCached() async throws {
        let time = Simulation()
        try await time.run {
            let link = link(time, dnsDelay: .microseconds(1))
            func resolves(_ names: String...) async throws -> [Bool] {
                var result: [Bool] = []
                for name in names { result.append(try await link.resolve(name) != nil) }
                return result
            }
            var count = 0
            for number in 0..<10_000 where try await link.resolve("n\(number)") != nil { count += 1 }
            #expect(count == 10_000)
            #expect(try await resolves("n0", "n9999") == [false, false])
            #expect(try await resolves("one more", "one more", "n9999") == [true, false, true])
        }
    }

    @Test func endedLinkCancelsRequests() async throws {
        let time = Simulation()
        try await time.run {
            let link = link(time, dnsDelay: .zero)
            try link.checkEnded()
            #expect(link.stallTimeout == .seconds(20) && ConditionedLink.pollInterval == .milliseconds(100))
            link.end()
            #expect(throws: CancellationError.self) { try link.checkEnded() }
        }
        let silence = link(time, dnsDelay: .zero).stallError
        #expect(
            silence.code == .timedOut
                && silence.message == "the simulated link (t) transmitted no data before the timeout"
        )
        #expect(ConditionedLink.connectionLostError.code == .connectionLost)
        #expect(
            ConditionedLink.connectionLostError.message
                == "the simulated link lost too many packets and closed the connection"
        )
    }
}
