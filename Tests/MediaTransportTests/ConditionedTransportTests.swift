import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import NetworkConditioning
import ResourceAddressing
import Synchronization
import Testing

/// Tests the arrival times of data over a link with simulated conditions, in simulated time.
@Suite struct ConditionedTransportTests {
    private struct Arrival: Sendable, Hashable {
        let time: Duration
        let bytes: Int
    }

    private static func way(
        kilobits: Int64? = nil,
        milliseconds: Int64 = 0,
        loss: Double = 0
    )
        -> LinkProfile.DirectionConditions
    {
        LinkProfile.DirectionConditions(
            bandwidth: kilobits.map { BitRate(bitsPerSecond: $0 * 1_000) },
            latency: .milliseconds(milliseconds),
            loss: loss
        )
    }

    private static func scripted(_ sizes: [String: Int]) -> ScriptedTransport {
        ScriptedTransport(sizes.mapValues { [.bytes([UInt8](repeating: 7, count: $0))] })
    }

    private static func request(_ text: String) -> TransportRequest {
        TransportRequest(ResourceAddress(text), kind: .segment)
    }

    /// Loads a resource and returns the arrival times of its response header and its bytes.
    private static func arrivals(
        _ transport: any Transport,
        _ text: String,
        _ time: any TimeSource
    ) async throws
        -> (head: Duration, bytes: [Arrival], measurement: TransferMeasurement)
    {
        let response = try await transport.send(request(text))
        let head = time.now
        var result: [Arrival] = []
        for try await buffer in response.body {
            result.append(Arrival(time: time.now, bytes: buffer.readableBytes))
        }
        return (head, result, response.record.measurement)
    }

    @Test func latencyAppliesInEachDirectionAndBandwidthToTheBody() async throws {
        let time = Simulation()
        let profile = LinkProfile(
            name: "t",
            down: Self.way(kilobits: 800, milliseconds: 100),
            up: Self.way(kilobits: 10, milliseconds: 30)
        )
        let (head, bytes, measurement) = try await time.run {
            let link = ConditionedLink(profile, time: time)
            let transport = ConditionedTransport(Self.scripted(["http://h/a": 100_000]), over: link)
            return try await Self.arrivals(transport, "http://h/a", time)
        }
        #expect(head == .milliseconds(130))
        #expect(bytes.reduce(0) { $0 + $1.bytes } == 100_000)
        let last = try #require(bytes.last)
        #expect(abs(last.time / .seconds(1) - 1.13) < 0.000_01)
        #expect(measurement.timeToFirstByte == .milliseconds(130) && measurement.bytes == ByteCount(100_000))
        #expect(abs((measurement.timeToLastByte ?? .zero) / .seconds(1) - 1.13) < 0.000_01 && !measurement.isFromCache)
    }

    @Test(arguments: LinkProfile.presets.filter { ($0.down.bandwidth?.bitsPerSecond ?? 0) > 0 && $0.down.loss == 0 })
    func throughputOverTenSecondsIsThatOfThePreset(preset: LinkProfile) async throws {
        let time = Simulation()
        let rate = try #require(preset.down.bandwidth).bitsPerSecond
        let (head, bytes, _) = try await time.run {
            let transport = ConditionedTransport(
                Self.scripted(["http://h/a": Int(rate / 8 * 10)]),
                over: ConditionedLink(preset, time: time)
            )
            return try await Self.arrivals(transport, "http://h/a", time)
        }
        let last = try #require(bytes.last)
        #expect(head == preset.up.latency + preset.down.latency)
        #expect(abs((last.time - head) / .seconds(1) - 10) < 0.1)
    }

    /// Packet loss does not reduce the bandwidth of the link; packets lost at the end arrive a few round trips later.
    @Test func lossDelaysTheEndByRoundTripsWithoutReducingBandwidth() async throws {
        let preset = try #require(LinkProfile(preset: "Very Bad Network"))
        let rate = try #require(preset.down.bandwidth).bitsPerSecond
        let roundTrip = (preset.up.latency + preset.down.latency) / .seconds(1)
        var lateness: [Double] = []
        for seed in UInt64(1)...31 {
            let time = Simulation()
            let (head, bytes, _) = try await time.run {
                let transport = ConditionedTransport(
                    Self.scripted(["http://h/a": Int(rate / 8 * 10)]),
                    over: ConditionedLink(preset, time: time, seed: seed)
                )
                return try await Self.arrivals(transport, "http://h/a", time)
            }
            #expect(head / .seconds(1) >= roundTrip)
            #expect(bytes.reduce(0) { $0 + $1.bytes } == Int(rate / 8 * 10))
            lateness.append(try #require(bytes.last).time / .seconds(1) - roundTrip - 10)
        }
        lateness.sort()
        #expect(lateness[0] >= -0.01, "\(lateness)")
        // In the median run, the packets of the last second include one that is retransmitted once or twice.
        #expect((0.5 * roundTrip...2.5 * roundTrip).contains(lateness[15]), "\(lateness)")
        #expect(lateness[30] < 6 * roundTrip, "\(lateness)")
    }

    /// Tests with real sockets and a real clock.
    @Test(.timeLimit(.minutes(10))) func realTransfersAreLimitedToTheBandwidthOfTheLink() async throws {
        let bytes = [UInt8](repeating: 7, count: 1_500_000)
        try await MisbehavingServer.withServer(["/a": .init(bytes), "/b": .init(bytes)]) { server in
            let http = HTTPTransport()
            let way = Self.way(kilobits: 8_000, milliseconds: 60)
            let link = ConditionedLink(LinkProfile(name: "t", down: way, up: way))
            let transport = ConditionedTransport(http, over: link)
            async let first = Self.measured(transport, server.address("/a"))
            async let second = Self.measured(transport, server.address("/b"))
            let measurements = try await [first, second]
            try await http.shutdown()
            for measurement in measurements {
                let latency = try #require(measurement.timeToFirstByte)
                #expect(latency >= .milliseconds(120) && latency < .seconds(3))
                let seconds = try #require(measurement.transferDuration) / .seconds(1)
                // Two transfers of 1.5 MB share 1 MB per second. They may take longer on a busy machine, but never
                // shorter.
                #expect(seconds > 2.85 && seconds < 9)
            }
        }
    }

    private static func measured(_ transport: any Transport, _ text: String) async throws -> TransferMeasurement {
        let response = try await transport.send(request(text))
        for try await _ in response.body {}
        return response.record.measurement
    }

    @Test func concurrentTransfersShareTheBandwidth() async throws {
        let time = Simulation()
        let ends = try await time.run {
            let link = ConditionedLink(
                LinkProfile(name: "t", down: Self.way(kilobits: 8_000, milliseconds: 50)),
                time: time
            )
            let transport = ConditionedTransport(
                Self.scripted(["http://h/a": 500_000, "http://h/b": 500_000, "http://h/c": 250_000]),
                over: link
            )
            return try await withThrowingTaskGroup(of: (String, Duration).self) { group in
                for name in ["a", "b", "c"] {
                    group.addTask {
                        (name, try await Self.arrivals(transport, "http://h/\(name)", time).bytes.last?.time ?? .zero)
                    }
                }
                var ends: [String: Duration] = [:]
                for try await (name, end) in group { ends[name] = end }
                return ends
            }
        }
        // Transfer c has a third of the bandwidth until it ends; then the other two have half of it each.
        let seconds = ends.mapValues { $0 / .seconds(1) - 0.05 }
        #expect(abs((seconds["c"] ?? 0) - 0.75) < 0.02)
        #expect(abs((seconds["a"] ?? 0) - 1.25) < 0.02 && abs((seconds["b"] ?? 0) - 1.25) < 0.02)
    }

    @Test func arrivalTimesAreReproducible() async throws {
        let periods = (1...20).map { number in
            LinkTrace.Period(
                duration: .milliseconds(37 * number),
                bandwidth: BitRate(bitsPerSecond: Int64(number % 7) * 333_333),
                latency: .milliseconds(number * 3)
            )
        }
        let trace = try #require(LinkTrace(periods))
        let profile = LinkProfile(name: "t", down: Self.way(loss: 0.02), trace: trace)
        func run() async throws -> [[Arrival]] {
            let time = Simulation()
            return try await time.run {
                let link = ConditionedLink(profile, time: time, seed: 42)
                let sizes = ["http://h/a": 400_000, "http://h/b": 300_000, "http://h/c": 90_000]
                let transport = ConditionedTransport(Self.scripted(sizes), over: link)
                return try await withThrowingTaskGroup(of: (String, [Arrival]).self) { group in
                    for name in sizes.keys.sorted() {
                        group.addTask { (name, try await Self.arrivals(transport, name, time).bytes) }
                    }
                    var result: [String: [Arrival]] = [:]
                    for try await (name, arrivals) in group { result[name] = arrivals }
                    return result.sorted { $0.key < $1.key }.map(\.value)
                }
            }
        }
        let first = try await run()
        #expect(first.map { $0.reduce(0) { $0 + $1.bytes } } == [400_000, 300_000, 90_000])
        for _ in 0..<5 { #expect(try await run() == first) }
    }

    @Test func changeOfTheProfileAppliesToTransfersInProgress() async throws {
        let time = Simulation()
        let bytes = try await time.run {
            let link = ConditionedLink(LinkProfile(name: "slow", down: Self.way(kilobits: 8)), time: time)
            let transport = ConditionedTransport(Self.scripted(["http://h/a": 1_001_000]), over: link)
            async let arrivals = Self.arrivals(transport, "http://h/a", time)
            try await time.sleep(for: .seconds(1))
            link.change(to: LinkProfile(name: "fast", down: Self.way(kilobits: 8_000)))
            return try await arrivals.bytes
        }
        let last = try #require(bytes.last)
        #expect((.seconds(1.9)...(.seconds(2.2))).contains(last.time))
    }

    @Test func requestTimesOutIfAllPacketsAreLost() async throws {
        let time = Simulation()
        let lost = try #require(LinkProfile(preset: "100% Loss"))
        let (error, now) = try await time.run {
            let link = ConditionedLink(lost, time: time, stallTimeout: .seconds(20))
            let transport = ConditionedTransport(Self.scripted(["http://h/a": 10]), over: link)
            let error = await #expect(throws: TransportError.self) {
                _ = try await transport.send(Self.request("http://h/a"))
            }
            return (error, time.now)
        }
        #expect(error?.code == .timedOut && error?.address?.text == "http://h/a")
        #expect((.seconds(20)...(.seconds(21))).contains(now))
    }

    /// A transfer that receives no data for longer than the timeout ends, for any cause.
    @Test(arguments: ["no bandwidth", "all is lost meanwhile", "an endless outage", "an outage in the middle"])
    func bodyThatReceivesNoDataTimesOut(what: String) async throws {
        let time = Simulation()
        let (error, now) = try await time.run {
            var profile = LinkProfile(name: "t", down: Self.way(kilobits: what == "no bandwidth" ? 0 : 80))
            let start: Duration? = what == "an endless outage" ? .zero : what.hasPrefix("an outage") ? .seconds(5) : nil
            if let start { profile.outages = [LinkProfile.Outage(start: start, duration: .seconds(1_000_000))] }
            let link = ConditionedLink(profile, time: time, stallTimeout: .seconds(20))
            let transport = ConditionedTransport(Self.scripted(["http://h/a": 200_000]), over: link)
            async let error = #expect(throws: TransportError.self) {
                _ = try await Self.arrivals(transport, "http://h/a", time)
            }
            try await time.sleep(for: .seconds(5))
            if what.hasPrefix("all"), let lost = LinkProfile(preset: "100% Loss") { link.change(to: lost) }
            return (await error, time.now)
        }
        #expect(error?.code == .timedOut && now <= .seconds(30))
        #expect(error?.address?.text == "http://h/a")
    }

    @Test func concurrentRequestsShareOneNameLookup() async throws {
        let time = Simulation()
        let profile = try #require(LinkProfile(preset: "High Latency DNS"))
        let ends = try await time.run {
            let link = ConditionedLink(profile, time: time)
            let transport = ConditionedTransport(Self.scripted(["http://h/a": 10]), over: link)
            return try await withThrowingTaskGroup(of: Duration.self) { group in
                for delay in 0..<4 {
                    group.addTask {
                        try await time.sleep(for: .seconds(delay))
                        _ = try await Self.arrivals(transport, "http://h/a", time)
                        return time.now
                    }
                }
                var ends: [Duration] = []
                for try await end in group { ends.append(end) }
                return ends.sorted()
            }
        }
        #expect(ends == [.seconds(3), .seconds(3), .seconds(3), .seconds(3)])
    }

    @Test func transferContinuesAfterAnOutage() async throws {
        let time = Simulation()
        var profile = LinkProfile(name: "t", down: Self.way(kilobits: 800))
        profile.outages = [LinkProfile.Outage(start: .milliseconds(500), duration: .seconds(10))]
        let conditions = profile
        let bytes = try await time.run {
            let transport = ConditionedTransport(
                Self.scripted(["http://h/a": 100_000]),
                over: ConditionedLink(conditions, time: time)
            )
            return try await Self.arrivals(transport, "http://h/a", time).bytes
        }
        #expect(
            bytes.contains { $0.time < .milliseconds(500) }
                && abs((bytes.last?.time ?? .zero) / .seconds(1) - 11) < 0.01
        )
        #expect(!bytes.contains { (.milliseconds(520)...(.milliseconds(10_500))).contains($0.time) })
    }

    @Test func highPacketLossEventuallyBreaksTheConnection() async throws {
        let time = Simulation()
        let error = try await time.run {
            let link = ConditionedLink(LinkProfile(name: "t", down: Self.way(kilobits: 800, loss: 0.6)), time: time)
            let transport = ConditionedTransport(Self.scripted(["http://h/a": 1_000_000]), over: link)
            return await #expect(throws: TransportError.self) {
                _ = try await Self.arrivals(transport, "http://h/a", time)
            }
        }
        #expect(error?.code == .connectionLost)
    }

    @Test func nameLookupDelayAppliesOncePerHost() async throws {
        let time = Simulation()
        let profile = try #require(LinkProfile(preset: "High Latency DNS"))
        let (lookups, now) = try await time.run {
            let transport = ConditionedTransport(
                Self.scripted(["http://h/a": 10, "http://other/a": 10]),
                over: ConditionedLink(profile, time: time)
            )
            var lookups: [Duration?] = []
            for text in ["http://h/a", "http://h/a", "http://other/a"] {
                lookups.append(try await Self.arrivals(transport, text, time).measurement.domainLookupDuration)
            }
            return (lookups, time.now)
        }
        #expect(lookups == [.seconds(3), nil, .seconds(3)] && now == .seconds(6))
    }

    @Test func errorResponsesHaveLatencyToo() async throws {
        let time = Simulation()
        let now = try await time.run {
            let link = ConditionedLink(
                LinkProfile(name: "t", down: Self.way(milliseconds: 200), up: Self.way(milliseconds: 100)),
                time: time
            )
            let transport = ConditionedTransport(ScriptedTransport(), over: link)
            await #expect(throws: TransportError.self) { _ = try await transport.send(Self.request("http://h/none")) }
            return time.now
        }
        #expect(now == .milliseconds(300))
    }

    @Test func slowReaderIsLimitedByTheSizeOfTheBuffers() async throws {
        let time = Simulation()
        let (early, end) = try await time.run {
            let link = ConditionedLink(LinkProfile(name: "t", down: Self.way(kilobits: 8_000)), time: time)
            let transport = ConditionedTransport(Self.scripted(["http://h/a": 5_000_000]), over: link)
            let response = try await transport.send(Self.request("http://h/a"))
            try await time.sleep(for: .seconds(60))
            var (received, early) = (0, 0)
            for try await buffer in response.body {
                received += buffer.readableBytes
                if time.now == .seconds(60) { early = received }
            }
            #expect(received == 5_000_000)
            return (early, time.now)
        }
        #expect(early <= 5_000_000 / 4 && end >= .seconds(63))
    }

    @Test func transferStopsWhenReadingStops() async throws {
        let time = Simulation()
        let source = EndlessTransport()
        try await time.run {
            let link = ConditionedLink(LinkProfile(name: "t", down: Self.way(kilobits: 8_000)), time: time)
            do {
                let response = try await ConditionedTransport(source, over: link).send(Self.request("http://h/a"))
                var iterator = response.body.makeAsyncIterator()
                _ = try await iterator.next()
            }
            try await time.sleep(for: .seconds(10))
            let count = source.count
            try await time.sleep(for: .seconds(10))
            #expect(source.count == count && count < 100)
        }
    }

    @Test func transferThatWaitsForBytesIsCanceledWhenReadingStops() async throws {
        let time = Simulation()
        let source = SilentTransport(time)
        try await time.run {
            do {
                let link = ConditionedLink(LinkProfile(name: "t"), time: time)
                let response = try await ConditionedTransport(source, over: link).send(Self.request("http://h/a"))
                try await time.sleep(for: .seconds(1))
                withExtendedLifetime(response) {}
            }
            try await time.sleep(for: .seconds(10))
            #expect(source.end == .seconds(1))
        }
    }

    /// Retransmissions take 4 seconds, in which the sender could send more than 20 MiB.
    @Test func bytesInFlightAreLimitedTo8MiB() async throws {
        let time = Simulation()
        let most = try await time.run {
            let profile = LinkProfile(name: "t", down: Self.way(loss: 0.02), up: Self.way(milliseconds: 4_000))
            let link = ConditionedLink(profile, time: time, stallTimeout: .seconds(600))
            let transport = ConditionedTransport(EndlessTransport(), over: link)
            let response = try await transport.send(Self.request("http://h/a"))
            var iterator = response.body.makeAsyncIterator()
            var (received, most) = (Int64(0), Int64(0))
            while received < 40 << 20, let buffer = try await iterator.next() {
                received += Int64(buffer.readableBytes)
                most = max(most, link.transmittedByteCount - received)
            }
            return most
        }
        #expect(most > 7 << 20 && most <= 8 << 20)
    }

    @Test(arguments: [0, 10_000] as [Int64]) func endOfTheLinkEndsItsTransfers(latency: Int64) async throws {
        let time = Simulation()
        let end = try await time.run {
            let profile = LinkProfile(name: "t", down: Self.way(kilobits: 8), up: Self.way(milliseconds: latency))
            let link = ConditionedLink(profile, time: time)
            let transport = ConditionedTransport(Self.scripted(["http://h/a": 100_000]), over: link)
            async let error = #expect(throws: CancellationError.self) {
                _ = try await Self.arrivals(transport, "http://h/a", time)
            }
            try await time.sleep(for: .seconds(5))
            link.end()
            _ = await error
            return time.now
        }
        #expect(end <= .milliseconds(5_100))
    }

    // MARK: Heads

    @Test(arguments: [(20_000, nil), (20_001, 20_000), (30_000, 20_000)] as [(Int64, Int64?)])
    func headThatTakesLongerThanTheTimeoutFails(latency: Int64, failure: Int64?) async throws {
        let time = Simulation()
        let (code, now) = try await time.run { () async throws -> (TransportError.Code?, Duration) in
            let profile = LinkProfile(name: "t", up: Self.way(milliseconds: latency))
            let link = ConditionedLink(profile, time: time, stallTimeout: .seconds(20))
            let transport = ConditionedTransport(Self.scripted(["http://h/a": 10]), over: link)
            do {
                _ = try await transport.send(Self.request("http://h/a"))
                return (nil, time.now)
            } catch let error as TransportError {
                return (error.code, time.now)
            }
        }
        #expect(code == (failure == nil ? nil : .timedOut))
        #expect(now == .milliseconds(failure ?? latency))
    }

    @Test func headIsSentAgainUnderChangedConditions() async throws {
        let time = Simulation()
        let head = try await time.run {
            let slow = LinkProfile(name: "slow", up: Self.way(milliseconds: 10_000))
            let link = ConditionedLink(slow, time: time)
            let transport = ConditionedTransport(Self.scripted(["http://h/a": 10]), over: link)
            async let arrivals = Self.arrivals(transport, "http://h/a", time)
            try await time.sleep(for: .seconds(1))
            link.change(to: LinkProfile(name: "fast", up: Self.way(milliseconds: 3_000)))
            return try await arrivals.head
        }
        #expect(head == .seconds(3))
    }

    /// A host name takes 3 seconds once, and each of the redirects 300 milliseconds.
    @Test(arguments: [(0, 3_300), (1, 6_600), (2, 6_900)] as [(Int, Int64)])
    func redirectsTakeTheirLatency(count: Int, milliseconds: Int64) async throws {
        let time = Simulation()
        let head = try await time.run {
            let profile = LinkProfile(
                name: "t",
                down: Self.way(milliseconds: 200),
                up: Self.way(milliseconds: 100),
                dnsDelay: .seconds(3)
            )
            let link = ConditionedLink(profile, time: time)
            let transport = ConditionedTransport(RedirectedTransport(count: count), over: link)
            return try await Self.arrivals(transport, "http://h/a", time).head
        }
        #expect(head == .milliseconds(milliseconds))
    }

    @Test func localResourcesDoNotCrossTheLink() async throws {
        let time = Simulation()
        try await time.run {
            let profile = LinkProfile(name: "t", down: Self.way(milliseconds: 200), dnsDelay: .seconds(3))
            let transport = ConditionedTransport(
                Self.scripted(["file:///a": 10]),
                over: ConditionedLink(profile, time: time)
            )
            let (head, bytes, _) = try await Self.arrivals(transport, "file:///a", time)
            #expect(head == .zero && bytes.map(\.time) == [.zero])
        }
    }
}

/// A transport whose response has a body that never begins, and that records the time of its cancellation.
private final class SilentTransport: Transport {
    private let time: any TimeSource
    private let cancellation = Mutex<Duration?>(nil)

    init(_ time: any TimeSource) { self.time = time }

    var end: Duration? { cancellation.withLock { $0 } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let body = AsyncStream<ByteBuffer>(unfolding: { [self] in
            try? await time.sleep(for: .seconds(3_600))
            cancellation.withLock { $0 = time.now }
            return nil
        })
        return TransportResponse(to: request, body: TransportBody(body))
    }
}

/// A transport that has followed redirects to another host.
private struct RedirectedTransport: Transport {
    let count: Int

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        var measurement = TransferMeasurement()
        measurement.redirectCount = count
        return TransportResponse(
            status: 200,
            headers: [],
            address: ResourceAddress("http://other/b"),
            expectedLength: 1,
            body: TransportBody([1]),
            record: TransferRecord(measurement)
        )
    }
}

/// A transport whose responses have an endless body, and that counts the chunks that have been read.
private final class EndlessTransport: Transport {
    private let taken = Mutex(0)

    var count: Int { taken.withLock { $0 } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let body = AsyncStream<ByteBuffer>(unfolding: {
            self.taken.withLock { $0 += 1 }
            return Task.isCancelled ? nil : ByteBuffer(repeating: 1, count: 32 << 10)
        })
        return TransportResponse(to: request, body: TransportBody(body))
    }
}
