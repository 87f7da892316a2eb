import Adaptation
import Foundation
import MediaTiming
import Millstream
import Synchronization
import TestSamples
import Testing

/// Tests a player of the public API that plays the sample streams from a server.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct PlayerTests {
    @Test(.timeLimit(.minutes(10))) func selectorOfTheApplicationChoosesTheVariants() async throws {
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let url = try #require(URL(string: origin.address("ts/multivariant.m3u8")))
        let item = PlayerItem(url: url)
        let measurements = Mutex(0)
        item.variantSelection = VariantSelection { _ in
            SecondRungSelector { measurements.withLock { $0 += 1 } }
        }
        // The player is paused; it loads the buffer as fast as the server sends.
        item.preferredForwardBufferDuration = .seconds(20)
        let player = try Player(playerItem: item)
        var loaded = MediaTime.zero
        for await ranges in item.values(of: \.loadedTimeRanges) {
            loaded = ranges.totalDuration
            if loaded >= MediaTime(seconds: 18) { break }
        }
        #expect(player.timeControlStatus == .paused && item.status == .readyToPlay)
        let segments = origin.paths.filter { $0.hasSuffix(".ts") }
        await origin.stop()
        #expect(segments.count >= 3 && segments.allSatisfy { $0.contains("360p") }, "\(segments)")
        #expect(measurements.withLock { $0 } >= 3)
    }
}

/// A selector that always chooses the second lowest variant.
private struct SecondRungSelector: VariantSelector {
    let onMeasurement: @Sendable () -> Void

    init(_ onMeasurement: @escaping @Sendable () -> Void) { self.onMeasurement = onMeasurement }

    mutating func add(_ measurement: SegmentMeasurement) { onMeasurement() }

    mutating func decide(_ context: SelectionContext) -> SwitchDecision {
        SwitchDecision(rung: 1, cause: .stay, evidence: .init(bufferLevel: context.bufferLevel))
    }

    mutating func review(_ transfer: TransferInFlight, in context: SelectionContext) -> TransferDecision { .wait }

    mutating func resetAfterSeek() {}
}
