import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

/// Tests of the limits that apply to variants over expensive networks.
@Suite struct NetworkCostTests {
    @Test func theLimitsForExpensiveNetworksAreApplied() async throws {
        let network = NetworkStatus(cost: [])
        var options = StreamingOptions()
        options.preferredPeakBitRateForExpensiveNetworks = BitRate(bitsPerSecond: 600_000)
        options.initialThroughput = BitRate(bitsPerSecond: 50_000_000)
        let stream = TextStreamPlayback(SampleStream.film(count: 30), options: options, network: network)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.expect { $0.fetchedVariant?.height == 720 }
            try await stream.simulation.sleep(for: .seconds(30))
            network.cost = [.expensive, .cellular]
            try await stream.expect { $0.fetchedVariant?.height == 360 }
            try await stream.simulation.sleep(for: .seconds(30))
            #expect(engine.snapshot.fetchedVariant?.height == 360)
            network.cost = []
            try await stream.expect { $0.fetchedVariant?.height == 720 }
            try await stream.expect(\.hasPlayedToEnd)
        }
        let used = stream.events.all.compactMap { event -> Bool? in
            guard case .resourceRequest(let request) = event.kind else { return nil }
            return request.usedCellularNetwork
        }
        #expect(used.first == false && used.last == false && used.contains(true))
    }

    @Test func theResolutionIsLimitedFromTheFirstSegment() async throws {
        var options = StreamingOptions()
        options.preferredMaximumResolutionForExpensiveNetworks = Resolution(width: 640, height: 360)
        options.initialThroughput = BitRate(bitsPerSecond: 50_000_000)
        let stream = TextStreamPlayback(SampleStream.film(), options: options, network: NetworkStatus(cost: .expensive))
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.expect(\.hasPlayedToEnd)
        }
        #expect(!stream.transport.requestedAddresses.contains { $0.contains("high") })
    }

    private static func ladder(lossless codec: String) -> String {
        """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=640x360
        low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,CODECS="avc1.42c01e,\(codec)",RESOLUTION=640x360
        high.m3u8
        """
    }

    @Test(arguments: [false, true]) func losslessAudioIsPlayedOnlyIfPreferred(isWanted: Bool) async throws {
        var texts = SampleStream.film()
        texts[TextStreamPlayback.address] = Self.ladder(lossless: "fLaC")
        var options = StreamingOptions()
        options.initialThroughput = BitRate(bitsPerSecond: 50_000_000)
        if isWanted { options.variantPreferences = .scalabilityToLosslessAudio }
        let stream = TextStreamPlayback(texts, options: options)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.expect(\.hasPlayedToEnd)
        }
        #expect(stream.transport.requestedAddresses.contains { $0.contains("high") } == isWanted)
    }

    @Test func losslessAudioIsPlayedIfThereIsNoOther() async throws {
        var texts = SampleStream.film()
        texts[TextStreamPlayback.address] = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.42c01e,alac",RESOLUTION=640x360
            low.m3u8
            """
        let stream = TextStreamPlayback(texts)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.expect(\.hasPlayedToEnd)
        }
    }

    @Test func theLosslessPreferenceCanBeChangedDuringPlayback() async throws {
        var texts = SampleStream.film(count: 20)
        texts[TextStreamPlayback.address] = Self.ladder(lossless: "alac")
        var options = StreamingOptions()
        options.initialThroughput = BitRate(bitsPerSecond: 50_000_000)
        let stream = TextStreamPlayback(texts, options: options)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(10))
            #expect(engine.snapshot.fetchedVariant?.peakBitRate.bitsPerSecond == 500_000)
            await engine.update { $0.variantPreferences = .scalabilityToLosslessAudio }
            try await stream.expect { $0.fetchedVariant?.peakBitRate.bitsPerSecond == 2_000_000 }
            try await stream.expect(\.hasPlayedToEnd)
        }
    }
}
