import HLSPlaylist
import MediaTiming
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

/// Tests which tolerance reaches the engine with each kind of seek.
@Suite struct SeekToleranceFaultTests {
    /// An engine that records the seeks, and does nothing else.
    private actor SeekingEngine: ItemEngine {
        private let time: any TimeSource
        nonisolated let targets = Collected<SeekTarget>()
        nonisolated let tolerances = Collected<SeekTolerance>()

        init(_ time: any TimeSource) { self.time = time }

        func run() async { try? await time.sleep(for: .seconds(10_000)) }
        func setRate(_ rate: Double, reason: RateChange.Reason, atOnce: Bool) {}
        func setRate(_ rate: Double, mediaTime target: MediaTime?, atHostTime moment: Duration) async -> Bool { false }
        func seek(to target: SeekTarget, tolerance: SeekTolerance) async -> SeekResult {
            targets.add(target)
            tolerances.add(tolerance)
            return SeekResult(isFinished: true, position: .zero)
        }
        func step(by count: Int) async -> Bool { false }
        func setEnabled(_ type: MediaType, _ isEnabled: Bool) async {}
        func cancelPendingSeeks() {}
        func select(_ option: MediaSelectionOption?, for type: Rendition.MediaType) {}
        func update(_ change: @Sendable (inout StreamingOptions) -> Void) {}
    }

    @Test func theToleranceOfASeekReachesTheEngine() async throws {
        let date = try #require(ProgramDateTime("2026-01-01T00:00:00Z"))
        try await simulated { world in
            let engine = SeekingEngine(world.simulation)
            var environment = world.environment
            environment.makeEngine = { _ in engine }
            let player = Player(ResourceAddress("a"), environment: environment)
            let item = try #require(player.currentItem)
            let (one, two) = (MediaTime(seconds: 1), MediaTime(seconds: 2))
            await player.seek(to: one, toleranceBefore: one, toleranceAfter: two)
            await item.seek(to: one, toleranceBefore: one, toleranceAfter: two)
            await item.seek(to: two, toleranceBefore: nil, toleranceAfter: two)
            await player.seek(to: two)
            await item.seek(to: two)
            await player.seek(to: date)
            await item.seek(to: date)
            await item.seek(to: date, tolerance: .any)
            let both = SeekTolerance(before: one, after: two)
            #expect(
                engine.tolerances.all
                    == [both, both, SeekTolerance(before: nil, after: two), .any, .any, .exact, .exact, .any]
            )
            let (first, second) = (SeekTarget.time(one), SeekTarget.time(two))
            #expect(engine.targets.all.prefix(5) == [first, first, second, second, second])
            #expect(engine.targets.all.suffix(3) == [.date(date), .date(date), .date(date)])
            // A date may be after the playhead.
            item.modify { $0.state.configuration.requiresLinearPlayback = true }
            let refused = await item.seek(to: date)
            #expect(!refused.isFinished && engine.targets.all.count == 8)
        }
    }
}
