import MediaTiming
import Testing

@testable import Adaptation

/// Compares the decisions of the selectors in many random situations with reviewed transcripts.
///
/// A change of a constant, a condition or an order appears in the line of the first decision that differs. After an
/// intended change, `MILLSTREAM_RECORD_TRANSCRIPTS=1` rewrites the transcripts.
@Suite struct DecisionTranscriptTests {
    @Test(arguments: [SelectorName.throughput, .buffer, .default], [1, 2, 3])
    func decisionsMatchTranscript(name: SelectorName, seed: Int) throws {
        var session = RandomSession(seed: UInt64(seed))
        var selector = AnyVariantSelector(
            name,
            initialEstimate: seed == 3 ? BitRate(bitsPerSecond: 2_500_000) : nil
        )
        // A decision of the default selector takes about a hundred times as long as one of the others.
        let lines = try session.run(&selector, steps: name == .default ? 40 : 300)
        try Transcript.compare(lines, "\(name.rawValue)-\(seed)")
    }

    @Test(arguments: [1, 2])
    func estimatesMatchTranscript(seed: Int) throws {
        var random = RepeatableNumbers(seed: UInt64(seed))
        var estimator = ThroughputEstimator(
            initial: seed == 2 ? BitRate(bitsPerSecond: 4_000_000) : nil
        )
        var lines: [String] = []
        var now = 0.0
        var rate = 3.0
        for _ in 0..<400 {
            rate = min(40, max(0.1, rate * (0.6 + random.unit())))
            let latency = random.unit() < 0.2 ? 0 : random.unit() * 0.4
            let length = random.unit() < 0.3 ? random.unit() * 0.02 : random.unit() * 4
            let start = now + latency
            estimator.add(
                ThroughputSample(
                    start: .seconds(start),
                    end: .seconds(start + length),
                    bytes: ByteCount(Int64(rate * max(length, 0.001) * 125_000)),
                    latency: .seconds(latency),
                    isCached: random.unit() < 0.05
                )
            )
            // Some transfers overlap, some leave gaps, and occasionally the clock is set back.
            now = random.unit() < 0.01 ? 0 : max(0, start + length * (random.unit() * 1.5 - 0.25))
            lines.append(
                [
                    estimator.estimate.map { "\($0.bitsPerSecond)" } ?? "-",
                    estimator.latency.map { Transcript.seconds($0) } ?? "-",
                    Transcript.seconds(estimator.sampleWeight), "\(estimator.confidence)",
                ].joined(separator: " ")
            )
        }
        try Transcript.compare(lines, "estimates-\(seed)")
    }

}

/// A session of random situations, transfers and seeks on a link with a varying rate.
private struct RandomSession {
    private var random: RepeatableNumbers
    private var now = 0.0
    private var megabits = 3.0
    private var current: Int?
    private var buffer = 0.0

    init(seed: UInt64) { random = RepeatableNumbers(seed: seed) }

    mutating func run(_ selector: inout AnyVariantSelector, steps: Int) throws -> [String] {
        let ladders = [fiveRungs, [0.3, 0.9, 2.4], [1, 1, 3, 3.1, 12], [0.2, 0.5, 1.1, 2.2, 4.5, 9, 16]]
        var ladder = random.pick(ladders)
        var lines: [String] = []
        for _ in 0..<steps {
            if random.unit() < 0.02 {
                ladder = random.pick(ladders)
                current = nil
            }
            if random.unit() < 0.03 {
                selector.resetAfterSeek()
                buffer = 0
            }
            let context = try situation(ladder)
            let decision = selector.decide(context)
            lines.append(Transcript.line(decision))
            if random.unit() < 0.25 { lines.append(review(&selector, context, decision.rung)) }
            transfer(&selector, decision, context)
        }
        return lines
    }

    private mutating func situation(_ ladder: [Double]) throws -> SelectionContext {
        var context = try SelectionContext.moment(
            ladder,
            current: current.map { min($0, ladder.count - 1) },
            buffer: buffer,
            capacity: random.pick([12, 25, 30, 60]),
            segment: random.pick([2, 4, 4, 6, 10]),
            isStarting: buffer < 1,
            now: now
        )
        context.playbackRate = random.pick([1, 1, 1, 1, 2, 0.5, -1, 0])
        if random.unit() < 0.3 {
            let factor = 0.5 + random.unit()
            context.upcomingSizes = (0..<4).map { _ in
                ladder.map { ByteCount(Int64($0 * factor * 500_000)) }
            }
        }
        if random.unit() < 0.2 {
            let limit = random.pick([0, 1, 2, 3])
            context.restriction.exclude(because: .viewSize) { $0 > limit }
        }
        if random.unit() < 0.3 { context.remainingSegments = Int(random.next() % 12) + 1 }
        return context
    }

    private mutating func review(
        _ selector: inout AnyVariantSelector,
        _ context: SelectionContext,
        _ rung: Int
    ) -> String {
        let elapsed = random.unit() * 6
        let transfer = TransferInFlight(
            rung: rung,
            bytesReceived: ByteCount(Int64(random.unit() * 1_000_000)),
            expectedSize: random.unit() < 0.5 ? ByteCount(Int64(random.unit() * 8_000_000)) : nil,
            request: .seconds(now),
            firstByte: random.unit() < 0.8 ? .seconds(now + elapsed * random.unit()) : nil,
            now: .seconds(now + elapsed)
        )
        guard case .abandon(let decision) = selector.review(transfer, in: context) else { return "keep" }
        let wasted = SegmentMeasurement(
            rung: rung,
            bytes: transfer.bytesReceived,
            duration: .seconds(4),
            request: .seconds(now),
            firstByte: transfer.firstByte ?? transfer.now,
            end: transfer.now,
            isAbandoned: true
        )
        selector.add(wasted)
        now += elapsed
        buffer = max(0, buffer - elapsed)
        return "abandon " + Transcript.line(decision)
    }

    private mutating func transfer(
        _ selector: inout AnyVariantSelector,
        _ decision: SwitchDecision,
        _ context: SelectionContext
    ) {
        megabits = min(30, max(0.15, megabits * (0.55 + random.unit())))
        let wait = decision.delay?.clampedSeconds ?? 0
        now += wait
        buffer = max(0, buffer - wait)
        let latency = random.unit() * 0.3
        let megabytes = context.expectedBits(of: decision.rung) / 8_000_000
        let length = megabytes * 8 / megabits
        selector.add(
            SegmentMeasurement(
                rung: decision.rung,
                bytes: ByteCount(Int64(megabytes * 1_000_000)),
                duration: context.segmentDuration,
                request: .seconds(now),
                firstByte: .seconds(now + latency),
                end: .seconds(now + latency + length),
                isCached: random.unit() < 0.04
            )
        )
        now += latency + length
        buffer = min(60, max(0, buffer - latency - length) + context.segmentDuration.clampedSeconds)
        if random.unit() < 0.1 { now += random.unit() * 20 }
        current = decision.rung
    }
}
