import MediaTiming
import MediaTransport
import MillstreamTesting
import NetworkConditioning
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Synchronization
import Testing

@testable import Millstream

/// Tests adaptation and failover from the public player down to its requests.
@Suite struct DeliveryTests {
    /// A presentation on two hosts behind a simulated link, in simulated time.
    private final class Delivery: Sendable {
        let simulation = Simulation()
        private let link: LinkProfile
        private let asked = Mutex<[(time: Duration, address: String)]>([])
        private let fails: @Sendable (_ address: String, _ now: Duration) -> TransportError?
        private let texts: [String: String]

        /// The bit rates of the variants, in bits per second.
        static let rates: [Int64] = [500_000, 2_000_000]
        static let segmentSeconds = 4
        static let segmentCount = 50

        init(
            multivariant: String,
            link: LinkProfile = .off,
            fails: @escaping @Sendable (_ address: String, _ now: Duration) -> TransportError? = { _, _ in nil }
        ) {
            self.link = link
            self.fails = fails
            var texts = ["https://one.example/main.m3u8": multivariant]
            for host in ["one", "two"] {
                for rate in Self.rates {
                    let segments = (0..<Self.segmentCount).map { "#EXTINF:\(Self.segmentSeconds),\n\(rate)-\($0).ts\n" }
                    texts["https://\(host).example/\(rate).m3u8"] =
                        "#EXTM3U\n#EXT-X-TARGETDURATION:\(Self.segmentSeconds)\n\(segments.joined())#EXT-X-ENDLIST\n"
                }
            }
            self.texts = texts
        }

        /// The requested segments, in order: the time of the request, the host, the bit rate and the number.
        var segments: [(time: Duration, host: String, rate: Int64, number: Int)] {
            asked.withLock { $0 }.compactMap { time, address in
                guard address.hasSuffix(".ts") else { return nil }
                let parts = address.dropFirst("https://".count).dropLast(3).split { "./-".contains($0) }
                guard parts.count == 4, let rate = Int64(parts[2]), let number = Int(parts[3]) else { return nil }
                return (time, String(parts[0]), rate, number)
            }
        }

        /// The times, bit rates and numbers of the requested segments, for failure messages.
        var trace: String { segments.map { "\($0.time / .seconds(1)):\($0.rate)-\($0.number)" }.joined(separator: " ") }

        private func resource(_ address: String, _ now: Duration) -> SyntheticOrigin.Resource? {
            asked.withLock { $0.append((now, address)) }
            if let error = fails(address, now) { return .failure(error) }
            if let text = texts[address] { return .text(text) }
            guard let rate = Self.rates.first(where: { address.contains("/\($0)-") }) else { return nil }
            return .media(ByteCount(rate / 8 * Int64(Self.segmentSeconds)))
        }

        var environment: Player.Environment {
            let simulation = simulation
            let origin = SyntheticOrigin(time: simulation) { self.resource($0, $1) }
            let transport = SimulatedLink(link, to: origin, time: simulation)
            return Player.Environment(
                time: simulation,
                makeLoading: { _, _ in ResourceLoader(transport, time: simulation, jitter: { 0 }) },
                canDecode: { _ in true },
                makeSessionID: { "session" },
                date: { .seconds(1_000_000) + simulation.now }
            )
        }

        /// Plays the presentation to its end and returns the item.
        func play() async throws -> PlayerItem {
            try await simulation.run {
                let item = PlayerItem(ResourceAddress("https://one.example/main.m3u8"), environment: self.environment)
                let player = try Player(playerItem: item)
                player.play()
                let limit = Duration.seconds(3_600)
                while !item.state.hasPlayedToEnd, item.status != .failed, self.simulation.now < limit {
                    try await self.simulation.sleep(for: .seconds(1))
                }
                #expect(item.error == nil)
                #expect(item.state.hasPlayedToEnd)
                #expect(player.currentTime() == MediaTime(seconds: Int64(Self.segmentCount * Self.segmentSeconds)))
                return item
            }
        }
    }

    private static let twoVariants = """
        #EXTM3U
        #EXT-X-INDEPENDENT-SEGMENTS
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360
        500000.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,RESOLUTION=1280x720
        2000000.m3u8

        """

    /// A variant at two addresses, the second of which is on another host.
    private static let twoLocations = """
        #EXTM3U
        #EXT-X-INDEPENDENT-SEGMENTS
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360
        https://one.example/500000.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360
        https://two.example/500000.m3u8

        """

    private static let twoPathways = """
        #EXTM3U
        #EXT-X-INDEPENDENT-SEGMENTS
        #EXT-X-CONTENT-STEERING:SERVER-URI="https://one.example/steering.json",PATHWAY-ID="first"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,PATHWAY-ID="first"
        https://one.example/500000.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,PATHWAY-ID="second"
        https://two.example/500000.m3u8

        """

    /// Returns a link with the given bit rates, each of which applies for the given number of seconds.
    private static func link(_ steps: (kilobits: Int64, seconds: Int64)...) throws -> LinkProfile {
        let periods = steps.map {
            LinkTrace.Period(
                duration: .seconds($0.seconds),
                bandwidth: BitRate(bitsPerSecond: $0.kilobits * 1_000),
                latency: .milliseconds(20)
            )
        }
        let trace: LinkTrace = try #require(LinkTrace(periods))
        return LinkProfile(name: "steps", trace: trace)
    }

    @Test func playerSwitchesToTheLowerVariantWhenBandwidthFalls() async throws {
        let fall = Duration.seconds(60)
        let delivery = Delivery(multivariant: Self.twoVariants, link: try Self.link((8_000, 60), (600, 10_000)))
        let item = try await delivery.play()
        let (before, after) = (
            delivery.segments.filter { $0.time < fall }, delivery.segments.filter { $0.time >= fall }
        )
        // A full buffer allows an occasional segment of the higher variant; on average, the link carries all of them.
        #expect(
            before.count >= 10 && before.count { $0.rate == 2_000_000 } * 10 >= before.count * 7,
            "\(delivery.trace)"
        )
        #expect(after.count >= 10 && after.count { $0.rate == 500_000 } * 10 >= after.count * 7, "\(delivery.trace)")
        #expect(after.last?.number == Delivery.segmentCount - 1)
        // The buffer covered the drop in bandwidth.
        #expect(item.playbackMetrics?.stallCount == 0)
        let indicated = item.accessLog.events.compactMap(\.indicatedBitrate)
        let higher = try #require(indicated.firstIndex(of: BitRate(bitsPerSecond: 2_000_000)))
        #expect(indicated[higher...].contains(BitRate(bitsPerSecond: 500_000)), "\(indicated)")
    }

    @Test func playerSwitchesToTheHigherVariantWhenBandwidthRises() async throws {
        let rise = Duration.seconds(40)
        let delivery = Delivery(multivariant: Self.twoVariants, link: try Self.link((900, 40), (20_000, 10_000)))
        let item = try await delivery.play()
        let (before, after) = (
            delivery.segments.filter { $0.time < rise }, delivery.segments.filter { $0.time >= rise }
        )
        #expect(before.count >= 5 && before.count { $0.rate == 500_000 } * 10 >= before.count * 7, "\(delivery.trace)")
        #expect(after.count >= 10 && after.count { $0.rate == 2_000_000 } * 10 >= after.count * 8, "\(delivery.trace)")
        #expect(item.playbackMetrics?.stallCount == 0)
    }

    @Test(arguments: [twoLocations, twoPathways])
    func playbackContinuesFromTheOtherLocationWhenOneFails(multivariant: String) async throws {
        let delivery = Delivery(multivariant: multivariant) { address, _ in
            guard address.hasPrefix("https://one.example/500000-"), !address.hasSuffix("-0.ts"),
                !address.hasSuffix("-1.ts")
            else { return nil }
            return TransportError(
                .status,
                "the server responded with status 404 Not Found",
                address: ResourceAddress(address),
                status: 404
            )
        }
        let item = try await delivery.play()
        let segments = delivery.segments
        #expect(segments.filter { $0.number < 2 }.map(\.host) == ["one", "one"])
        #expect(Set(segments.filter { $0.host == "two" }.map(\.number)) == Set(2..<Delivery.segmentCount))
        // The failed location is excluded; it is not tried for each segment.
        #expect(segments.count { $0.host == "one" } < 10, "\(segments.count { $0.host == "one" })")
        #expect(item.errorLog.events.contains { $0.errorStatusCode == 404 })
    }

    @Test(arguments: [twoLocations, twoPathways])
    func otherLocationIsPlayedFromTheStartWhenTheFirstIsUnreachable(multivariant: String) async throws {
        let delivery = Delivery(multivariant: multivariant) { address, _ in
            guard address.hasPrefix("https://one.example/500000") else { return nil }
            return TransportError(.cannotConnect, "the connection was refused", address: ResourceAddress(address))
        }
        let item = try await delivery.play()
        #expect(delivery.segments.allSatisfy { $0.host == "two" })
        #expect(delivery.segments.map(\.number) == Array(0..<Delivery.segmentCount))
        #expect(!item.errorLog.events.isEmpty)
    }
}
