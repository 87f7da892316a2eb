import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import Millstream

/// Tests that the throughput of a network is remembered between items, and between launches.
@Suite struct ThroughputHistoryTests {
    private static let date = Duration.seconds(1_800_000_000)
    private static let rate = BitRate(bitsPerSecond: 8_000_000)

    private func withFile(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("history-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appendingPathComponent("throughput"))
    }

    @Test func estimateBelongsToItsNetwork() throws {
        let history = ThroughputHistory(network: { "home" })
        #expect(history.estimate(at: Self.date) == nil)
        history.record(Self.rate, at: Self.date)
        #expect(history.estimate(at: Self.date) == Self.rate)
        #expect(history.estimate(at: Self.date + .seconds(2 * 86_400)) == BitRate(bitsPerSecond: 6_000_000))
        try history.save()
        let unknown = ThroughputHistory(network: { nil })
        unknown.record(Self.rate, at: Self.date)
        #expect(unknown.estimate(at: Self.date) == nil)
    }

    @Test func fileKeepsTheEstimatesOfAllProcesses() async throws {
        try await withFile { file in
            let home = ThroughputHistory(file: file, network: { "home" })
            let work = ThroughputHistory(file: file, network: { "work" })
            home.record(Self.rate, at: Self.date)
            work.record(BitRate(bitsPerSecond: 1_000_000), at: Self.date)
            try home.save()
            try work.save()
            for (network, rate) in [("home", 8_000_000), ("work", 1_000_000)] {
                let reopened = ThroughputHistory(file: file, network: { network })
                #expect(reopened.estimate(at: Self.date)?.bitsPerSecond == Int64(rate))
            }
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func fileThatCannotBeWrittenIsAnError() throws {
        let history = ThroughputHistory(file: URL(fileURLWithPath: "/proc/none/throughput"), network: { "home" })
        try history.save()
        history.record(Self.rate, at: Self.date)
        #expect(throws: TransportError.self) { try history.save() }
    }

    @Test(arguments: [
        ("https://media.example/a.m3u8", true), ("http://10.0.0.2/a.m3u8", true), ("http://localhost:8080/a", false),
        ("http://127.0.0.1/a", false), ("http://[::1]/a", false), ("file:///a.m3u8", false),
    ])
    func serversOfThisMachineAreNotCovered(address: String, isCovered: Bool) {
        #expect(ThroughputHistory.covers(ResourceAddress(address)) == isCovered)
    }

    @Test(arguments: [(BitRate?.none, "low"), (BitRate(bitsPerSecond: 50_000_000), "high")])
    func firstVariantFollowsTheHistory(rate: BitRate?, rendition: String) async throws {
        let history = ThroughputHistory(network: { "home" })
        if let rate { history.record(rate, at: .seconds(1_000_000)) }
        try await PlayedOrigin(PlayedOrigin.film(), latency: .milliseconds(100)).run { world in
            var environment = world.environment
            environment.throughputHistory = history
            let address = ResourceAddress(PlayedOrigin.origin + "main.m3u8")
            let item = PlayerItem(asset: Asset(address, environment: environment))
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.timebase.rate == 1 }
            #expect(world.requestedMedia.contains("\(rendition)0.ts"))
            await player.shutDown()
        }
    }

    @Test func throughputOfAnItemIsRecordedWhenItEnds() async throws {
        let history = ThroughputHistory(network: { "home" })
        let film = PlayedOrigin.film().mapValues { $0.hasPrefix("media") ? String(repeating: "x", count: 400_000) : $0 }
        try await PlayedOrigin(film, latency: .milliseconds(100)).run { world in
            var environment = world.environment
            environment.throughputHistory = history
            let address = ResourceAddress(PlayedOrigin.origin + "main.m3u8")
            let item = PlayerItem(asset: Asset(address, environment: environment))
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.hasPlayedToEnd }
            let throughput = try #require(item.state.playback.throughput)
            await player.shutDown()
            #expect(history.estimate(at: environment.date()) == throughput)
        }
    }
}
