import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import NIOCore
import NetworkConditioning
import ResourceAddressing
import Synchronization
import Testing

@testable import Millstream

/// Tests playback of an asset during its download over a link that does not carry the downloaded variant in time.
@Suite struct PlaybackDuringDownloadTests {
    /// A transport whose bodies arrive in buffers of 64 KiB, as those of a connection do.
    private struct SplitBodies: Transport {
        let base: any Transport

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            let response = try await base.send(request)
            let (stream, continuation) = AsyncThrowingStream.makeStream(of: ByteBuffer.self)
            for try await buffer in response.body {
                var rest = buffer
                while let part = rest.readSlice(length: min(rest.readableBytes, 64 << 10)), part.readableBytes > 0 {
                    continuation.yield(part)
                }
            }
            continuation.finish()
            return response.replacingBody(with: TransportBody(stream), record: TransferRecord())
        }
    }

    /// A presentation with two variants behind a simulated link, which is downloaded and played in simulated time.
    private final class Delivery: Sendable {
        static let segmentSeconds: Int64 = 4
        static let segmentCount = 30
        static let low = BitRate(bitsPerSecond: 500_000)
        static let high = BitRate(bitsPerSecond: 5_000_000)
        static let source = ResourceAddress("https://origin.example/main.m3u8")

        let simulation = Simulation()
        private let link: BitRate
        private let asked = Mutex<[String]>([])

        init(link: BitRate) { self.link = link }

        /// The paths of the requested segments, in order.
        var segments: [String] { asked.withLock { $0 }.filter { $0.hasSuffix(".ts") } }

        private func resource(_ address: String) -> SyntheticOrigin.Resource? {
            let path = String(address.dropFirst("https://origin.example/".count))
            asked.withLock { $0.append(path) }
            if path == "main.m3u8" {
                return .text(
                    """
                    #EXTM3U
                    #EXT-X-INDEPENDENT-SEGMENTS
                    #EXT-X-STREAM-INF:BANDWIDTH=\(Self.low.bitsPerSecond),RESOLUTION=640x360
                    low.m3u8
                    #EXT-X-STREAM-INF:BANDWIDTH=\(Self.high.bitsPerSecond),RESOLUTION=1920x1080
                    high.m3u8

                    """
                )
            }
            for (name, rate) in [("low", Self.low), ("high", Self.high)] {
                if path == "\(name).m3u8" {
                    let segments = (0..<Self.segmentCount).map { "#EXTINF:\(Self.segmentSeconds),\n\(name)/\($0).ts\n" }
                    let target = "#EXT-X-TARGETDURATION:\(Self.segmentSeconds)"
                    return .text("#EXTM3U\n\(target)\n\(segments.joined())#EXT-X-ENDLIST\n")
                }
                if path.hasPrefix("\(name)/") {
                    return .media(ByteCount(rate.bitsPerSecond / 8 * Self.segmentSeconds))
                }
            }
            return nil
        }

        var environment: Player.Environment {
            let simulation = simulation
            let origin = SplitBodies(base: SyntheticOrigin(time: simulation) { address, _ in self.resource(address) })
            let period = LinkTrace.Period(duration: .seconds(100_000), bandwidth: link, latency: .milliseconds(20))
            let profile = LinkProfile(name: "slow", trace: LinkTrace([period]))
            let transport = SimulatedLink(profile, to: origin, time: simulation)
            return Player.Environment(
                time: simulation,
                makeLoading: { _, _ in ResourceLoader(transport, time: simulation, jitter: { 0 }) },
                canDecode: { _ in true },
                makeSessionID: { "session" },
                date: { .seconds(1_000_000) + simulation.now }
            )
        }
    }

    /// Downloads the higher variant, plays the asset some seconds later, and returns the paths of the requested segments.
    private func playDuringDownload(link: Int64, delay: Int64, isRunningAtTheEnd: Bool) async throws -> [String] {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("during-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        let library = try AssetLibrary(directory: directory)
        let delivery = Delivery(link: BitRate(bitsPerSecond: link))
        let simulation = delivery.simulation
        try await simulation.run {
            let asset = Asset(Delivery.source, environment: delivery.environment)
            let session = try DownloadSession(
                identifier: "test",
                library: library,
                loader: asset.loader,
                time: simulation
            )
            let task = try await session.makeTask(asset)
            task.resume()
            try await simulation.sleep(for: .seconds(delay))
            let item = PlayerItem(asset: asset)
            let player = try Player(playerItem: item)
            player.play()
            while !item.state.hasPlayedToEnd, item.status != .failed, simulation.now < .seconds(3_600) {
                try await simulation.sleep(for: .seconds(1))
            }
            #expect(item.error == nil && item.state.hasPlayedToEnd)
            #expect(item.playbackMetrics?.stallCount == 0)
            if isRunningAtTheEnd { #expect(task.state == .running) }
            let stored = try await task.value()
            #expect(stored.state == .complete && stored.renditions.map(\.bandwidth) == [Delivery.high])
            await session.invalidate()
        }
        return delivery.segments
    }

    @Test(.timeLimit(.minutes(10)), arguments: [700_000, 1_500_000, 3_000_000], [0, 10])
    func lowerVariantIsPlayedAndTheDownloadContinuesPastTheEnd(link: Int64, delay: Int64) async throws {
        let paths = try await playDuringDownload(link: link, delay: delay, isRunningAtTheEnd: true)
        #expect(paths.count { $0.hasPrefix("low/") } >= 20, "\(paths)")
        // The player tries the higher variant again from time to time; the download repeats a transfer that the player abandoned. How
        // often depends on the order in which the threads of the library and of the player continue.
        let high = paths.filter { $0.hasPrefix("high/") }
        #expect(Set(high).count == Delivery.segmentCount, "\(paths)")
        #expect(high.count <= Delivery.segmentCount + 6, "\(paths)")
    }

    @Test(.timeLimit(.minutes(10)), arguments: [6_000_000, 12_000_000], [0, 10, 60])
    func variantOfTheDownloadIsPlayedIfTheLinkCarriesIt(link: Int64, delay: Int64) async throws {
        let paths = try await playDuringDownload(link: link, delay: delay, isRunningAtTheEnd: false)
        #expect(paths.count { $0.hasPrefix("low/") } <= 5, "\(paths)")
        // The player and the download share the transfer of each segment.
        let segments = (0..<Delivery.segmentCount).map { "high/\($0).ts" }
        #expect(paths.filter { $0.hasPrefix("high/") }.sorted() == segments.sorted())
    }
}
