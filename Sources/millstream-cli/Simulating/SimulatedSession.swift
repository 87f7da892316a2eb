import Adaptation
import MediaTiming
import MediaTransport
import MillstreamTesting
import NetworkConditioning
import PlaybackReporting
import ReportFormat
import ResourceAddressing
import StreamingEngine
import Synchronization

/// A simulated playback of a ladder over a network, from the first request to the end.
///
/// The engine is the one that plays streams; only its environment is simulated. As in common comparisons, one segment
/// is loaded at a time, each request is delayed by the latency, and playlists load without delay. Playback starts or
/// resumes as soon as one segment is buffered.
struct SimulatedSession: Sendable {
    let ladder: SimulatedLadder
    let profile: LinkProfile
    let selector: SelectorName
    let buffer: Duration
    /// A closure that receives all events.
    var observer: @Sendable (PlaybackEvent) -> Void = { _ in }

    /// The results of a simulated session.
    struct Outcome: Sendable {
        /// The time until playback began; `nil` if it never began.
        var startup: Duration?
        var rebufferTime = Duration.zero
        var rebufferCount = 0
        /// The bit rates of the loaded segments, in order.
        var bitRates: [BitRate] = []
        /// A Boolean value that indicates whether the end was reached within the time limit.
        ///
        /// If it was not, the final wait counts as rebuffering, also before playback has begun: a session that never plays
        /// must not be better than one that does.
        var isComplete = false

        var switches: Int { zip(bitRates, bitRates.dropFirst()).count { $0 != $1 } }

        var meanBitRate: Double {
            bitRates.isEmpty ? 0 : bitRates.reduce(0) { $0 + Double($1.bitsPerSecond) } / Double(bitRates.count)
        }

        /// Returns the quality of experience per segment (Yin et al., SIGCOMM 2015), in Mb/s.
        func qoe(penalty: Double) -> Double {
            let rates = bitRates.map { Double($0.bitsPerSecond) / 1_000_000 }
            let changes = zip(rates, rates.dropFirst()).reduce(0) { $0 + abs($1.0 - $1.1) }
            return (rates.reduce(0, +) - changes - penalty * rebufferTime.inSeconds) / Double(max(1, rates.count))
        }
    }

    /// The maximum duration of a session, as a multiple of the duration of the media.
    private static let durationLimitFactor = 50

    /// The session that event files describe.
    static let session = PlaybackSession(id: "simulation", start: .zero, startDate: .zero)

    /// Runs the session.
    func run() async throws -> Outcome {
        let simulation = Simulation()
        let origin = SyntheticOrigin(texts: ladder.playlists, sizes: ladder.media, time: simulation)
        let link = SimulatedLink(profile, to: origin, stallTimeout: .seconds(86_400), time: simulation) {
            $0.kind != .playlist
        }
        let notes = Mutex(EventSummary())
        var options = StreamingOptions()
        options.variantSelection = VariantSelection(selector)
        options.preferredForwardBufferDuration = buffer
        options.waitsToMinimizeStalls = false
        // Adaptive selectors are compared from the same first variant; a fixed one plays its variant from the beginning.
        options.startsOnFirstEligibleVariant = !selector.isFixed
        options.patience = .seconds(86_400)
        let engine = PlaybackEngine(
            source: ResourceAddress(SimulatedLadder.address),
            loading: ResourceLoader(link, policy: RecoveryPolicy(retries: 100), time: simulation, jitter: { 0.5 }),
            pipeline: NonDecodingPipeline(time: simulation, keyFrameInterval: .zero),
            options: options,
            time: simulation,
            session: Self.session
        ) { [observer] output in
            guard case .event(let event) = output else { return }
            notes.withLock { $0.add(event) }
            observer(event)
        }
        let limit = ladder.duration * Self.durationLimitFactor
        try await simulation.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await engine.run() }
                group.addTask {
                    await engine.setRate(1)
                    while simulation.now < limit, !engine.snapshot.hasPlayedToEnd, engine.snapshot.status != .failed {
                        try await simulation.sleep(for: .seconds(10))
                    }
                }
                try await group.next()
                group.cancelAll()
            }
        }
        if let error = engine.snapshot.error { throw error }
        return notes.withLock { $0.outcome(at: simulation.now) }
    }

    /// The results collected from events.
    private struct EventSummary {
        private var outcome = Outcome()
        private var stallStart: Duration?

        func outcome(at end: Duration) -> Outcome {
            guard !outcome.isComplete else { return outcome }
            var outcome = outcome
            outcome.rebufferTime += end - (outcome.startup == nil ? .zero : stallStart ?? end)
            return outcome
        }

        mutating func add(_ event: PlaybackEvent) {
            switch event.kind {
            case .rateChanged(let change) where change.rate > 0 && outcome.startup == nil:
                outcome.startup = event.time
            case .stalled:
                outcome.rebufferCount += 1
                stallStart = event.time
            case .stallEnded(let duration):
                outcome.rebufferTime += duration
                stallStart = nil
            case .segmentLoaded(let segment):
                if let rate = segment.variant?.peakBitRate { outcome.bitRates.append(rate) }
            case .playedToEnd: outcome.isComplete = true
            case .statusChanged, .playbackTypeKnown, .rateChanged, .timeControlChanged, .resourceRequest,
                .segmentSkipped, .likelyToKeepUp, .seekStarted, .seekEnded, .timeJumped, .variantSwitchStarted,
                .variantSwitched, .pathwayChanged, .selectionChanged, .tracksChanged, .seekableRangeChanged,
                .timedMetadata, .frames, .error, .failedToPlayToEnd, .ended:
                break
            }
        }
    }
}

extension Duration {
    /// The duration in seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
