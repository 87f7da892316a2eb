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

/// One viewer of a ladder over a network, from the first request to the end, in simulated time.
///
/// The engine is the one that plays; only what is around it is made up. The model is that of the field's comparisons: media
/// is fetched one segment at a time, latency is paid once a request, playlists cost nothing, playing begins and goes on as
/// soon as there is a segment.
struct SimulatedSession: Sendable {
    let ladder: SimulatedLadder
    let profile: LinkProfile
    let selector: SelectorName
    let buffer: Duration
    /// Told everything that happens.
    var observer: @Sendable (PlaybackEvent) -> Void = { _ in }

    /// What came of it.
    struct Outcome: Sendable {
        var startup = Duration.zero
        var rebufferTime = Duration.zero
        var rebufferCount = 0
        /// Of the segments in their order.
        var bitRates: [BitRate] = []
        /// Whether the end was reached before nobody would wait any longer.
        ///
        /// What was waited in vain is rebuffering.
        var isComplete = false

        var switches: Int { zip(bitRates, bitRates.dropFirst()).count { $0 != $1 } }

        var meanBitRate: Double {
            bitRates.isEmpty ? 0 : bitRates.reduce(0) { $0 + Double($1.bitsPerSecond) } / Double(bitRates.count)
        }

        /// The quality of experience per segment (Yin et al., SIGCOMM 2015), in Mb/s.
        func qoe(penalty: Double) -> Double {
            let rates = bitRates.map { Double($0.bitsPerSecond) / 1_000_000 }
            let changes = zip(rates, rates.dropFirst()).reduce(0) { $0 + abs($1.0 - $1.1) }
            return (rates.reduce(0, +) - changes - penalty * rebufferTime.inSeconds) / Double(max(1, rates.count))
        }
    }

    /// Longer than this nobody waits for the end: so much for each second of media.
    private static let patience = 50

    /// The session in what is written.
    static let session = PlaybackSession(id: "simulation", start: .zero, startDate: .zero)

    /// Plays.
    func run() async throws -> Outcome {
        let simulation = Simulation()
        let origin = SyntheticOrigin(texts: ladder.playlists, sizes: ladder.media, time: simulation)
        let link = SimulatedLink(profile, to: origin, patience: .seconds(86_400), time: simulation) {
            $0.kind != .playlist
        }
        let notes = Mutex(Notes())
        var options = StreamingOptions()
        options.selector = selector
        options.preferredForwardBufferDuration = buffer
        options.waitsToMinimizeStalls = false
        options.startsOnFirstEligibleVariant = true
        options.patience = .seconds(86_400)
        let engine = PlaybackEngine(
            source: ResourceAddress(SimulatedLadder.address),
            loading: ResourceLoading(link, policy: LoadErrorPolicy(retries: 100), time: simulation, jitter: { 0.5 }),
            pipeline: UndecodedPipeline(time: simulation, keyFrameInterval: .zero),
            options: options,
            time: simulation,
            session: Self.session
        ) { [observer] output in
            guard case .event(let event) = output else { return }
            notes.withLock { $0.add(event) }
            observer(event)
        }
        let limit = ladder.duration * Self.patience
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

    /// What is kept of the events.
    private struct Notes {
        private var outcome = Outcome()
        private var hasBegun = false
        private var stallStart: Duration?

        func outcome(at end: Duration) -> Outcome {
            guard !outcome.isComplete else { return outcome }
            var outcome = outcome
            if !hasBegun { outcome.startup = end }
            outcome.rebufferTime += end - (hasBegun ? stallStart ?? end : .zero)
            return outcome
        }

        mutating func add(_ event: PlaybackEvent) {
            switch event.kind {
            case .rateChanged(let change) where change.rate > 0 && !hasBegun:
                hasBegun = true
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
            default: break
            }
        }
    }
}

extension Duration {
    /// As a number of seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
