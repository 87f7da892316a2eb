import HLSPlaylist
import ResourceAddressing
import Testing

@testable import Millstream
@testable import StreamingEngine

/// Tests which changes of date ranges are reported.
@Suite struct DateRangeFaultTests {
    private static func ranges(_ attributes: String...) throws -> [TimedDateRange] {
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n"
            + attributes.map { "#EXT-X-DATERANGE:START-DATE=\"2026-01-01T00:00:00Z\",\($0)\n" }.joined()
            + "#EXTINF:6,\n0.ts\n"
        let context = PlaylistContext(address: ResourceAddress("https://example.com/main.m3u8"))
        let playlist = try MediaPlaylist(parsing: Array(text.utf8), context: context)
        return TimedDateRange.ranges(of: PresentationTimeline(playlist))
    }

    @Test func onlyChangesOfWantedRangesAreReported() async throws {
        let item = PlayerItem(ResourceAddress("a"), environment: World().environment)
        func set(_ ranges: [TimedDateRange]) { item.modify { $0.state.playback.dateRanges = ranges } }
        let ad = "ID=\"a\",CLASS=\"ad\""
        var iterator = item.dateRangeUpdates(classes: ["ad"]).makeAsyncIterator()
        set(try Self.ranges(ad, "ID=\"b\",CLASS=\"news\"", "ID=\"c\""))
        let first = await iterator.next()
        #expect(first?.ranges.map(\.id) == ["a"] && first?.newIndices == [0] && first?.modifiedIndices == [])
        set(try Self.ranges(ad, "ID=\"b\",CLASS=\"news\",DURATION=3", "ID=\"c\""))
        item.hub.finish()
        let second = await iterator.next()
        #expect(second?.ranges == nil)
    }

    @Test func interstitialsWithinInterstitialsAreIgnored() async throws {
        let ranges = try Self.ranges("ID=\"a\",CLASS=\"com.apple.hls.interstitial\",X-ASSET-URI=\"ad.m3u8\"")
        try await simulated { world in
            for isInterstitial in [true, false] {
                let player = try QueuePlayer(items: [world.item("\(isInterstitial)")])
                // As the player of interstitials does.
                if isInterstitial { player.interstitials.close() }
                try await world.sleep(.milliseconds(1))
                let engine = try #require(world.engine(isInterstitial ? 0 : 1))
                await engine.updateSnapshot { $0.interstitialRanges = ranges }
                #expect((player.interstitials.controller == nil) == isInterstitial)
            }
        }
    }

    @Test func rangesAreSelectedByTheirAttributes() async throws {
        let item = PlayerItem(ResourceAddress("a"), environment: World().environment)
        let ranges = try Self.ranges("ID=\"a\",X-COM-A=\"1\"", "ID=\"b\",X-COM-B=\"1\"", "ID=\"c\",CLASS=\"ad\"")
        item.modify { $0.state.playback.dateRanges = ranges }
        func ids(_ updates: DateRangeUpdates) async -> [String]? {
            var iterator = updates.makeAsyncIterator()
            return await iterator.next()?.ranges.map(\.id)
        }
        #expect(await ids(item.dateRangeUpdates()) == ["a", "b", "c"])
        #expect(await ids(item.dateRangeUpdates(identifiers: ["X-COM-B"])) == ["b"])
        #expect(await ids(item.dateRangeUpdates(classes: ["ad"])) == ["c"])
    }
}
