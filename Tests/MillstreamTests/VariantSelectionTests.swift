import Adaptation
import MediaTiming
import MediaTransport
import MillstreamTesting
import StreamingEngine
import Synchronization
import Testing

@testable import Millstream

/// Tests the choice of variants by a selector that the application sets, through the real engine in simulated time.
@Suite struct VariantSelectionTests {
    private func playedVideo(_ selection: VariantSelection) async throws -> [String] {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let item = world.item()
            item.variantSelection = selection
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.hasPlayedToEnd }
            #expect(item.variantSelection == selection)
            return world.requestedMedia.filter { !$0.hasPrefix("en") }
        }
    }

    @Test(arguments: [SelectorName.fixedLowest, .fixedHighest])
    func selectorIsSetByName(name: SelectorName) async throws {
        let rendition = name == .fixedLowest ? "low" : "high"
        #expect(try await playedVideo(VariantSelection(name)) == (0..<10).map { "\(rendition)\($0).ts" })
    }

    @Test func selectorOfTheApplicationChoosesEachSegment() async throws {
        let calls = Mutex<[String]>([])
        let selection = VariantSelection { _ in
            ScriptedSelector { call in calls.withLock { $0.append(call) } }
        }
        #expect(
            try await playedVideo(selection) == (0..<10).map { "\($0.isMultiple(of: 2) ? "low" : "high")\($0).ts" }
        )
        let counts = calls.withLock { calls in calls.reduce(into: [:]) { $0[$1, default: 0] += 1 } }
        #expect(counts["measurement"] == 10)
    }

    /// A decision that names no allowed rung, or a delay beyond all limits, does not stop playback.
    @Test(arguments: [-5, 1_000, Int.min, Int.max])
    func decisionOutsideTheLadderIsReplacedByTheNearestRung(rung: Int) async throws {
        let selection = VariantSelection { _ in ConstantSelector(rung: rung, delay: .seconds(-5)) }
        let rendition = rung < 0 ? "low" : "high"
        #expect(try await playedVideo(selection) == (0..<10).map { "\(rendition)\($0).ts" })
    }

    @Test func delayOfADecisionIsLimited() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let item = world.item()
            item.variantSelection = VariantSelection { _ in
                ConstantSelector(rung: 0, delay: .seconds(Int64.max))
            }
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.status == .readyToPlay }
            try await world.simulation.sleep(for: .seconds(20))
            #expect(item.status == .readyToPlay)
            item.variantSelection = VariantSelection(.fixedLowest)
            await world.wait(for: item.states) { $0.hasPlayedToEnd }
        }
    }

    @Test func rungThatExceedsThePreferredBitRateIsNotPlayed() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let item = world.item()
            item.variantSelection = VariantSelection { _ in ConstantSelector(rung: 1, delay: nil) }
            item.preferredPeakBitRate = BitRate(bitsPerSecond: 600_000)
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.hasPlayedToEnd }
            #expect(world.requestedMedia.allSatisfy { !$0.hasPrefix("high") })
        }
    }

    @Test func selectionCanChangeDuringPlayback() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let item = world.item()
            item.variantSelection = VariantSelection(.fixedLowest)
            item.preferredForwardBufferDuration = .seconds(12)
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.timebase.rate == 1 }
            try await world.simulation.sleep(for: .seconds(14))
            item.variantSelection = VariantSelection { _ in ConstantSelector(rung: 1, delay: nil) }
            await world.wait(for: item.states) { $0.hasPlayedToEnd }
            let video = world.requestedMedia.filter { !$0.hasPrefix("en") }
            #expect(video.first == "low0.ts" && video.last == "high9.ts", "\(video)")
        }
    }

    @Test(arguments: [(BitRate?.none, "low"), (BitRate(bitsPerSecond: 50_000_000), "high")])
    func initialThroughputDecidesTheFirstVariant(throughput: BitRate?, rendition: String) async throws {
        try await PlayedOrigin(PlayedOrigin.film(), latency: .milliseconds(100)).run { world in
            let item = world.item()
            item.initialThroughput = throughput
            #expect(item.initialThroughput == throughput)
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: item.states) { $0.timebase.rate == 1 }
            #expect(world.requestedMedia.contains("\(rendition)0.ts"))
        }
    }
}

/// A selector that alternates between the two lowest rungs.
private struct ScriptedSelector: VariantSelector {
    let report: @Sendable (String) -> Void

    init(_ report: @escaping @Sendable (String) -> Void) { self.report = report }

    mutating func add(_ measurement: SegmentMeasurement) { report("measurement") }

    mutating func decide(_ context: SelectionContext) -> SwitchDecision {
        SwitchDecision(
            rung: context.previousRung.map { 1 - $0 } ?? 0,
            cause: .stay,
            evidence: .init(bufferLevel: context.bufferLevel)
        )
    }

    mutating func review(_ transfer: TransferInFlight, in context: SelectionContext) -> TransferDecision { .wait }

    mutating func resetAfterSeek() { report("reset") }
}

/// A selector whose decisions are all equal.
private struct ConstantSelector: VariantSelector {
    let rung: Int
    let delay: Duration?

    mutating func add(_ measurement: SegmentMeasurement) {}

    mutating func decide(_ context: SelectionContext) -> SwitchDecision {
        SwitchDecision(rung: rung, cause: .stay, evidence: .init(bufferLevel: context.bufferLevel), delay: delay)
    }

    mutating func review(_ transfer: TransferInFlight, in context: SelectionContext) -> TransferDecision {
        .abandon(decide(context))
    }

    mutating func resetAfterSeek() {}
}
