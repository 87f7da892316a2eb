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
    private func take(_ offers: OfferedBuffers, _ count: Int = .max) -> String {
        switch offers.take(atMost: count) {
        case .offer(let offer):
            "\(offer.buffer.readableBytes) \(offer.available.map { "\($0)" } ?? "-")"
        case .nothing: "nothing"
        case .end(.success): "end"
        case .end(.failure(let error)): "failure \(error is CancellationError)"
        }
    }

    @Test func firstPartOfABufferHasTheTimeWhenItBecameAvailable() async throws {
        let time = Simulation()
        try await time.run {
            let offers = OfferedBuffers(time: time)
            #expect(take(offers) == "nothing")
            #expect(await offers.offer(ByteBuffer()))
            #expect(take(offers) == "nothing", "no bytes are no offer")
            try await time.sleep(for: .seconds(2))
            #expect(await offers.offer(buffer(10)))
            try await time.sleep(for: .seconds(1))
            #expect(await offers.offer(buffer(1)))
            offers.finish(.success(()))
            offers.finish(.failure(CancellationError()))
            #expect(take(offers, 4) == "4 2.0 seconds")
            #expect(take(offers, 5) == "5 -")
            #expect(take(offers, 1) == "1 -")
            #expect(take(offers, 1) == "1 3.0 seconds")
            #expect(take(offers) == "end" && take(offers) == "end")
        }
    }

    @Test func senderWaitsWhile512KiBAreQueued() async throws {
        let time = Simulation()
        try await time.run {
            let offers = OfferedBuffers(time: time)
            #expect(await offers.offer(buffer(524_287)))
            #expect(await offers.offer(buffer(1)), "there was room for one byte")
            async let last = offers.offer(buffer(5))
            try await time.sleep(for: .seconds(1))
            #expect(take(offers, 524_287) == "524287 0.0 seconds")
            #expect(await last)
            #expect(take(offers) == "1 0.0 seconds")
            #expect(take(offers) == "5 -", "it was there as soon as there was room")
            #expect(take(offers) == "nothing")
            // The space of the bytes that were taken is available again.
            #expect(await offers.offer(buffer(524_288)))
            async let waiting = offers.offer(buffer(1))
            try await time.sleep(for: .seconds(1))
            offers.abandon()
            #expect(await waiting == false)
            #expect(await offers.offer(buffer(1)) == false)
            #expect(take(offers) == "failure true")
        }
    }

    @Test func receiverWaitsForBytesOrTheEnd() async throws {
        let time = Simulation()
        try await time.run {
            let offers = OfferedBuffers(time: time)
            func waited(_ body: @Sendable () async -> Void) async throws -> Duration {
                let start = time.now
                async let end: Duration = {
                    await offers.wait()
                    return time.now - start
                }()
                try await time.sleep(for: .seconds(3))
                await body()
                return await end
            }
            #expect(try await waited { _ = await offers.offer(buffer(1)) } == .seconds(3))
            #expect(try await waited {} == .zero)
            #expect(take(offers) == "1 3.0 seconds")
            #expect(try await waited { offers.finish(.success(())) } == .seconds(3))
            #expect(try await waited {} == .zero)
            let abandoned = OfferedBuffers(time: time)
            async let end: Void = abandoned.wait()
            try await time.sleep(for: .seconds(1))
            abandoned.abandon()
            await end
            await abandoned.wait()
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
            try link.checkEnd()
            #expect(link.patience == .seconds(20) && ConditionedLink.longestWait == .milliseconds(100))
            link.end()
            #expect(throws: CancellationError.self) { try link.checkEnd() }
        }
        let silence = link(time, dnsDelay: .zero).silence
        #expect(silence.code == .timedOut && silence.message == "nothing gets through the conditioned link (t)")
        #expect(ConditionedLink.broken.code == .connectionLost)
        #expect(
            ConditionedLink.broken.message == "the conditioned link lost too many packets and broke the connection"
        )
    }
}
