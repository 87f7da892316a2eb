import MediaTiming
import MillstreamTesting
import NIOCore
import NetworkConditioning
import ResourceAddressing
import Synchronization
import Testing

@testable import MediaTransport

/// A transport with one body, whose responses have a measurement that has ended.
private struct BodyTransport: Transport {
    let makeBody: @Sendable () -> TransportBody

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        var measurement = TransferMeasurement(requestStart: .seconds(1))
        measurement.domainLookupDuration = .seconds(1)
        measurement.timeToLastByte = .seconds(1)
        measurement.bytes = ByteCount(9)
        return TransportResponse(
            status: 200,
            headers: [],
            address: request.address,
            expectedLength: nil,
            body: makeBody(),
            record: TransferRecord(measurement)
        )
    }
}

/// An endless body of buffers of 64 KiB, of which one in 128 is shorter.
private final class PeriodicBuffers: Sendable {
    private let missing: Int
    private let count = Mutex(0)

    init(missing: Int) { self.missing = missing }

    func next() -> ByteBuffer {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return ByteBuffer(repeating: 1, count: number % 128 == 1 ? 65_536 - missing : 65_536)
    }
}

/// Tests the limits of a link and the measurements of transfers over it, in simulated time.
@Suite(.timeLimit(.minutes(10))) struct ConditionedLinkDetailTests {
    private static let request = TransportRequest(ResourceAddress("http://h/a"), kind: .segment)

    // MARK: The link

    @Test func onlyTransmittedBytesAreCounted() {
        let open = LinkProfile.DirectionConditions()
        let closed = LinkProfile.DirectionConditions(bandwidth: BitRate(bitsPerSecond: 0))
        for (way, count) in [(open, 10), (closed, 0)] as [(LinkProfile.DirectionConditions, Int64)] {
            let link = ConditionedLink(LinkProfile(name: "t", down: way), time: Simulation())
            var flow = LinkModel.Flow()
            let passage = link.send(10, .down, of: &flow).passage
            #expect((passage != nil) == (count > 0) && link.transmittedByteCount == count)
            let other = link.send(5, .up, of: &flow).passage
            #expect(other != nil && link.transmittedByteCount == count)
        }
    }

    @Test func lossHasTheSeedOne() {
        let profile = LinkProfile(
            name: "t",
            down: LinkProfile.DirectionConditions(loss: 0.3),
            up: LinkProfile.DirectionConditions(latency: .seconds(1))
        )
        func arrivals(_ link: ConditionedLink) -> [Duration?] {
            (0..<50).map { _ in
                var flow = LinkModel.Flow()
                return link.send(1_000, .down, of: &flow).passage?.arrival
            }
        }
        let time = Simulation()
        let first = arrivals(ConditionedLink(profile, time: time))
        #expect(first == arrivals(ConditionedLink(profile, time: time, seed: 1)))
        #expect(first != arrivals(ConditionedLink(profile, time: time, seed: 2)))
    }

    @Test func timeoutBeginsWithTheRequest() async throws {
        let time = Simulation()
        try await time.run {
            let late = LinkProfile.DirectionConditions(latency: .seconds(10))
            let slow = ConditionedLink(LinkProfile(name: "t", up: late), time: time)
            try await time.sleep(for: .seconds(15))
            var flow = LinkModel.Flow()
            try await slow.transmitHead(.up, of: &flow)
            #expect(time.now == .seconds(25))
            let none = LinkProfile.DirectionConditions(loss: 1)
            let lost = ConditionedLink(LinkProfile(name: "t", up: none), time: time)
            await #expect(throws: TransportError.self) {
                var other = LinkModel.Flow()
                try await lost.transmitHead(.up, of: &other)
            }
            #expect(time.now == .seconds(45))
        }
    }

    @Test func endOfTheLinkEndsAWaitForOtherConditions() async throws {
        let time = Simulation()
        try await time.run {
            let none = LinkProfile.DirectionConditions(loss: 1)
            let link = ConditionedLink(LinkProfile(name: "t", up: none), time: time)
            async let error = #expect(throws: CancellationError.self) {
                var flow = LinkModel.Flow()
                try await link.transmitHead(.up, of: &flow)
            }
            try await time.sleep(for: .seconds(5))
            link.end()
            _ = await error
            #expect(time.now <= .milliseconds(5_100))
        }
    }

    // MARK: Transfers

    @Test func measurementIsThatOfTheNearEnd() async throws {
        let time = Simulation()
        try await time.run {
            let way = LinkProfile.DirectionConditions(latency: .milliseconds(100))
            let profile = LinkProfile(name: "t", down: way, up: way, dnsDelay: .seconds(3))
            let base = BodyTransport { TransportBody([1, 2]) }
            let transport = ConditionedTransport(base, over: ConditionedLink(profile, time: time))
            try await time.sleep(for: .seconds(5))
            let response = try await transport.send(Self.request)
            let early = response.record.measurement
            #expect(early.requestStart == .seconds(8) && early.timeToFirstByte == .milliseconds(200))
            #expect(early.domainLookupDuration == .seconds(4) && early.timeToLastByte == nil && early.bytes == .zero)
            for try await _ in response.body {}
            let late = response.record.measurement
            #expect(late.bytes == ByteCount(2) && late.timeToLastByte == .milliseconds(200))
        }
    }

    @Test(arguments: [(nil, 100), (503, 300)] as [(Int?, Int64)])
    func onlyErrorsWithAStatusCrossTheLink(status: Int?, milliseconds: Int64) async throws {
        let time = Simulation()
        try await time.run {
            let profile = LinkProfile(
                name: "t",
                down: LinkProfile.DirectionConditions(latency: .milliseconds(200)),
                up: LinkProfile.DirectionConditions(latency: .milliseconds(100))
            )
            let base = ScriptedTransport(["http://h/a": [.failure(TransportError(.timedOut, "no", status: status))]])
            let transport = ConditionedTransport(base, over: ConditionedLink(profile, time: time))
            let error = await #expect(throws: TransportError.self) { _ = try await transport.send(Self.request) }
            #expect(error?.message == "no" && time.now == .milliseconds(milliseconds))
        }
    }

    @Test func errorOfTheBodyFollowsItsBytes() async throws {
        let time = Simulation()
        try await time.run {
            let base = BodyTransport {
                let buffers = AsyncThrowingStream<ByteBuffer, any Error> { continuation in
                    continuation.yield(ByteBuffer(bytes: [1, 2]))
                    continuation.finish(throwing: TransportError(.connectionLost, "lost"))
                }
                return TransportBody(buffers)
            }
            let link = ConditionedLink(LinkProfile(name: "t"), time: time)
            let response = try await ConditionedTransport(base, over: link).send(Self.request)
            var iterator = response.body.makeAsyncIterator()
            #expect(try await iterator.next()?.readableBytes == 2)
            let error = await #expect(throws: TransportError.self) { _ = try await iterator.next() }
            #expect(error?.message == "lost" && error?.address?.text == "http://h/a")
        }
    }

    /// The timeout applies to the link; a sender may have no bytes for longer.
    @Test func senderMayPauseForLongerThanTheTimeout() async throws {
        let time = Simulation()
        try await time.run {
            let (buffers, feed) = AsyncStream.makeStream(of: ByteBuffer.self)
            let way = LinkProfile.DirectionConditions(bandwidth: BitRate(bitsPerSecond: 8_000))
            let link = ConditionedLink(LinkProfile(name: "t", down: way), time: time, stallTimeout: .seconds(20))
            let transport = ConditionedTransport(BodyTransport { TransportBody(buffers) }, over: link)
            let response = try await transport.send(Self.request)
            async let feeding: Void = {
                for pause in [0, 30] {
                    try await time.sleep(for: .seconds(pause))
                    feed.yield(ByteBuffer(repeating: 1, count: 1_000))
                }
                feed.finish()
            }()
            var sizes: [Int] = []
            for try await buffer in response.body { sizes.append(buffer.readableBytes) }
            try await feeding
            #expect(sizes == [1_000, 1_000] && time.now == .seconds(31))
        }
    }

    /// The sum of all attempts is larger than the window.
    @Test func chunkThatIsSentAgainCountsOnce() async throws {
        let time = Simulation()
        try await time.run {
            let way = LinkProfile.DirectionConditions(bandwidth: BitRate(bitsPerSecond: 8_000))
            let slow = LinkProfile(name: "slow", down: way)
            let link = ConditionedLink(slow, time: time, stallTimeout: .seconds(10_000))
            let base = BodyTransport { TransportBody([UInt8](repeating: 1, count: 5_000)) }
            let response = try await ConditionedTransport(base, over: link).send(Self.request)
            async let changes: Void = {
                for _ in 0..<5_800 {
                    try await time.sleep(for: .milliseconds(100))
                    link.change(to: slow)
                }
            }()
            var count = 0
            for try await buffer in response.body { count += buffer.readableBytes }
            try await changes
            #expect(count == 5_000)
        }
    }

    /// Another chunk is sent if a single byte of the window is free; the number is that after a chunk has arrived.
    @Test(arguments: [(0, 8_323_072), (1, 8_388_607)] as [(Int, Int64)])
    func windowIsFilledToTheLastByte(missing: Int, expected: Int64) async throws {
        let time = Simulation()
        let most = try await time.run {
            let profile = LinkProfile(
                name: "t",
                down: LinkProfile.DirectionConditions(loss: 0.02),
                up: LinkProfile.DirectionConditions(latency: .seconds(4))
            )
            let link = ConditionedLink(profile, time: time, stallTimeout: .seconds(600))
            let source = PeriodicBuffers(missing: missing)
            let base = BodyTransport {
                TransportBody(AsyncStream<ByteBuffer>(unfolding: { Task.isCancelled ? nil : source.next() }))
            }
            let response = try await ConditionedTransport(base, over: link).send(Self.request)
            var iterator = response.body.makeAsyncIterator()
            var (received, most) = (Int64(0), Int64(0))
            while received < 40 << 20, let buffer = try await iterator.next() {
                received += Int64(buffer.readableBytes)
                most = max(most, link.transmittedByteCount - received)
            }
            return most
        }
        #expect(most == expected)
    }
}
