import MediaTiming
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Testing

@testable import Millstream

@Suite struct RealQueueTests {
    @Test(arguments: [0, 200, 1_500])
    func nextItemIsLoadedEarlyAndStartsWithoutAGap(latency: Int) async throws {
        let texts = PlayedOrigin.film("one").merging(PlayedOrigin.film("two", count: 5)) { old, _ in old }
        try await PlayedOrigin(texts, latency: .milliseconds(latency)).run { world in
            let items = [world.item("one.m3u8"), world.item("two.m3u8")]
            let player = try QueuePlayer(items: items)
            player.play()
            await world.wait(for: items[0].states) { $0.timebase.rate == 1 }
            let began = world.simulation.now
            try await world.simulation.sleep(for: .seconds(55))
            // The rest of the first item is in the buffer.
            #expect(items[1].status == .readyToPlay)
            #expect(items[1].currentTime() == .zero)
            await world.wait(for: player.states) { $0.currentItem == items[1] && $0.timebase.rate == 1 }
            #expect(world.simulation.now == began + .seconds(60))
            #expect(player.items() == [items[1]])
            await world.wait(for: items[1].states) { $0.hasPlayedToEnd }
            #expect(world.simulation.now == began + .seconds(90))
            #expect(player.items().isEmpty)
            #expect(player.rate == 0)
        }
    }

    /// The beginning of the first item is evicted from the buffer long before its end.
    @Test func itemAfterALongOneIsReadyInTime() async throws {
        let texts = PlayedOrigin.film("one", count: 40).merging(PlayedOrigin.film("two", count: 5)) { old, _ in old }
        try await PlayedOrigin(texts).run { world in
            let items = [world.item("one.m3u8"), world.item("two.m3u8")]
            let player = try QueuePlayer(items: items)
            player.play()
            await world.wait(for: items[0].states) { $0.timebase.rate == 1 }
            try await world.simulation.sleep(for: .seconds(200))
            #expect(items[1].status == .unknown, "the network is the first one's still")
            try await world.simulation.sleep(for: .seconds(35))
            #expect(items[1].status == .readyToPlay)
        }
    }

    @Test func gapAtTheEndDoesNotDelayTheNextItem() async throws {
        var texts = PlayedOrigin.film("one").merging(PlayedOrigin.film("two", count: 5)) { old, _ in old }
        for name in ["low", "high", "en", "ko"] {
            for segment in ["8", "9"] { texts["\(PlayedOrigin.origin)one\(name)\(segment).ts"] = nil }
        }
        try await PlayedOrigin(texts).run { world in
            let items = [world.item("one.m3u8"), world.item("two.m3u8")]
            let player = try QueuePlayer(items: items)
            player.play()
            await world.wait(for: items[0].states) { $0.timebase.rate == 1 }
            let began = world.simulation.now
            try await world.simulation.sleep(for: .seconds(55))
            #expect(items[1].status == .readyToPlay)
            #expect(items[0].loadedTimeRanges.ranges.last?.end == MediaTime(seconds: 48))
            await world.wait(for: player.states) { $0.currentItem == items[1] && $0.timebase.rate == 1 }
            #expect(world.simulation.now == began + .seconds(60))
        }
    }

    @Test func failedItemIsSkipped() async throws {
        try await PlayedOrigin(PlayedOrigin.film("two", count: 2)).run { world in
            let items = [world.item("gone.m3u8"), world.item("two.m3u8")]
            let player = try QueuePlayer(items: items)
            player.play()
            await world.wait(for: items[1].states) { $0.hasPlayedToEnd }
            #expect(items[0].status == .failed)
            #expect(items[1].currentTime() == MediaTime(seconds: 12))
        }
    }
}
