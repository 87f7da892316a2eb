import MediaTiming
import Testing

@testable import Adaptation

/// Compares the numbers from which decisions are computed with reviewed transcripts, to the last digit.
///
/// A small change of a number may not change a decision, but it appears here.
@Suite struct ValueTranscriptTests {
    private static func model(_ megabits: [Double]) throws -> RateModel { RateModel(try makeLadder(megabits)) }

    private static let ladders = [[1.0], [0.5, 1, 2, 4, 8], [0.3, 0.9, 2.4], [0.000_2, 90_000], [2, 2]]

    // MARK: Links

    @Test func linkModelsMatchTranscript() throws {
        var lines = RateModel.volatilities.map { "\($0.drift) \($0.noise) \($0.outageProbability) \($0.share)" }
        lines.append("\(RateModel.noisiestVolatility)")
        for ladder in Self.ladders {
            let model = try Self.model(ladder)
            lines.append("\(model.count) \(model.volatilityCount)")
            for values in [model.logarithms, model.rates, model.jumpTargets] + model.drifts {
                lines.append(Transcript.numbers(values))
            }
        }
        let model = try Self.model([1])
        lines.append(
            Transcript.numbers(
                [-1, 0, 1, 100_000, 125_000, 1e6, 2e6, 1e9, .infinity].map(model.clampedLogarithm)
            )
        )
        try Transcript.compare(lines, "link-models")
    }

    private func line(_ linkState: LinkStateDistribution) -> String {
        let quantiles = [0, 0.1, 0.25, 0.5, 0.9, 1, 1.1].map(linkState.quantile)
        let below = [0, 100_000, 1e6, 3e6, 1e9].map(linkState.probability(below:))
        let sums = [linkState.workingProbabilities.reduce(0, +), linkState.outageProbabilities.reduce(0, +)]
        let some = stride(from: 0, to: linkState.workingProbabilities.count, by: 7).map {
            linkState.workingProbabilities[$0]
        }
        return Transcript.numbers(quantiles + below + sums + some)
    }

    @Test(arguments: [1, 2, 3])
    func linkBeliefsMatchTranscript(seed: Int) throws {
        var random = RepeatableNumbers(seed: UInt64(seed))
        let model = try Self.model(Self.ladders[seed])
        var linkState = LinkStateDistribution(model)
        var lines = [line(linkState), line(LinkStateDistribution(model, around: 1e6, octaves: 0.7))]
        for _ in 0..<60 {
            let rate = powerOfTwo(15 + random.unit() * 10)
            switch random.next() % 8 {
            case 0, 1, 2: linkState.observe(bitsPerSecond: rate)
            case 3: linkState.observe(bitsPerSecond: rate, weight: random.unit() * 1.5)
            case 4: linkState.observe(atLeast: rate)
            case 5: linkState = linkState.mixed(random.unit(), around: rate, octaves: 0.2 + random.unit())
            case 6: linkState.observe(bitsPerSecond: random.pick([0, 1, rate / 1_000]), weight: random.pick([1, 0.3]))
            default:
                linkState = random.unit() < 0.3 ? LinkStateDistribution(model, around: rate, octaves: 1) : linkState
            }
            lines.append(line(linkState))
            if random.unit() < 0.6 { linkState.advance() }
        }
        lines.append(line(linkState))
        try Transcript.compare(lines, "link-beliefs-\(seed)")
    }

    /// Observations that the model cannot explain, and observations without information.
    @Test func extremeLinkBeliefsMatchTranscript() throws {
        let model = try Self.model(fiveRungs)
        var linkState = LinkStateDistribution(model, around: 1e6, octaves: 0.000_01)
        var lines = [line(linkState)]
        for trust in [0, -1, 1e-6, 1] {
            var other = linkState
            other.observe(bitsPerSecond: 8e6, weight: trust)
            lines.append("\(trust) \(line(other))")
        }
        for _ in 0..<400 { linkState.observe(atLeast: .infinity) }
        lines.append(line(linkState))
        for _ in 0..<200 { linkState.observe(bitsPerSecond: .nan) }
        lines.append(line(linkState))
        for _ in 0..<200 { linkState.advance() }
        lines.append(line(linkState))
        try Transcript.compare(lines, "link-belief-limits")
    }

    @Test func linkOscillationsMatchTranscript() throws {
        var lines: [String] = []
        for seed in 1...6 as ClosedRange<UInt64> {
            var random = RepeatableNumbers(seed: seed)
            var detector = LinkOscillationDetector()
            var end = 0.0
            for index in 0..<60 {
                let seconds = 0.2 + random.unit() * (seed > 3 ? 0.8 : 2)
                end += random.unit() < 0.05 ? -random.unit() : seconds + random.unit() * 0.3
                let stretch = seed % 3 + 1
                let logarithm = (UInt64(index) / stretch % 2 == 0 ? 22.0 : 19.5) + random.unit() * 0.6
                detector.add(
                    LinkOscillationDetector.Piece(
                        bitsPerSecond: powerOfTwo(logarithm),
                        logarithm: logarithm,
                        seconds: seconds,
                        end: end
                    )
                )
                let weights = [0.3, 0.5, 0.75, 1, 1.5, 2, 3, 6].map(detector.meanRateWeight(segmentDuration:))
                lines.append(Transcript.numbers(weights + [detector.meanRate ?? -1]))
            }
        }
        try Transcript.compare(lines, "link-rhythms")
    }

    // MARK: Plans

    @Test(arguments: [0, 1, 2, 3])
    func planValuesMatchTranscript(number: Int) throws {
        let situations = try [
            SelectionContext.moment([1], capacity: 20, segment: 4),
            .moment([0.6, 2.4], capacity: 24, segment: 3), .moment([0.4, 1, 3], capacity: 7, segment: 6),
            .moment([1, 1.5], capacity: 500, segment: 2),
        ]
        var context = situations[number]
        context.playbackRate = [1, 1, 2, -0.5][number]
        let weights = [
            BalancedSelector.Options().weights, .init(stallCost: 3, switchCost: 0.4, discountFactor: 0.9),
            .init(stallCost: 0.5, switchCost: 2, discountFactor: 0.967),
            .init(stallCost: 1.2, switchCost: 0, discountFactor: 0.5),
        ]
        let plan = PlanTable(
            PlanKey(context, latency: [0.1, 0.4, 1, 0][number]),
            ladder: context.ladder,
            model: RateModel(context.ladder),
            weights: weights[number]
        )
        var lines = ["\(plan.key)", Transcript.numbers(plan.quality), "\(plan.rungs)"]
        let buffers = [-1, 0, 0.01, 0.4, 1, 2.5, 5, 9, 13, 16, 21, 27, 100, 299, 400]
        lines += buffers.map { buffer in
            let level = plan.level(buffer)
            return "\(buffer) \(level.index) \(level.fraction)"
        }
        var noisy = LinkStateDistribution(plan.model)
        for rate in [1e6, 4e6, 0, 5e5, 0] {
            noisy.observe(bitsPerSecond: rate)
            noisy.advance()
        }
        let beliefs = [0.2, 1, 4].map { LinkStateDistribution(plan.model, around: $0 * 1e6, octaves: 0.5) } + [noisy]
        for linkState in beliefs {
            for rung in 0..<plan.rungs {
                lines.append(
                    Transcript.numbers(
                        buffers.map { plan.value(ofTypicalSegment: rung, linkState: linkState, at: plan.level($0)) }
                    )
                )
                for (isKnown, mayBeAbandoned) in [(false, false), (true, false), (false, true), (true, true)] {
                    let transfer = PlanTable.Transfer(
                        rung: rung,
                        bits: Double(rung + 1) * 3e6,
                        latency: 0.15,
                        isSizeKnown: isKnown,
                        mayBeAbandoned: mayBeAbandoned
                    )
                    lines.append(
                        Transcript.numbers(
                            [0, 1, 4, 9, 20].map { plan.value(of: transfer, linkState: linkState, bufferSeconds: $0) }
                        )
                    )
                }
            }
        }
        try Transcript.compare(lines, "plan-\(number)")
    }

    @Test func planKeysMatchTranscript() throws {
        var lines: [String] = []
        let base = PlanKey(try .moment(capacity: 40, segment: 4), latency: 1)
        for latency in [0, 0.1, 0.199, 0.2, 0.201, 0.25, 0.3, 0.35, 1, 1.04, 1.05, 1.2, 1.21, 7.9, 8, 9, 1e9] {
            let key = PlanKey(try .moment(capacity: 40, segment: 4), latency: latency)
            lines.append("\(latency) \(key.latency) \(base.isValid(for: key)) \(key.isValid(for: base))")
        }
        for capacity in [1, 4, 5, 34, 34.01, 33.99, 46, 46.01, 299, 300, 301, 9_999] {
            let key = PlanKey(try .moment(capacity: capacity, segment: 4), latency: 1)
            lines.append("\(capacity) \(key.capacity) \(base.isValid(for: key)) \(key.isValid(for: base))")
        }
        for segment in [0.001, 3, 2.99, 5, 5.01, 140, 149, 150, 151, 3_600, 4_000] {
            let key = PlanKey(try .moment(capacity: 40, segment: segment), latency: 1)
            lines.append(
                "\(segment) \(key.segment) \(key.capacity) \(base.isValid(for: key)) \(key.isValid(for: base))"
            )
        }
        for rate in [0, 0.05, 0.5, 0.9, 0.89, 1, 1.1, 1.11, 2, 16, 17, -1, -3, .infinity, .nan] {
            var context = try SelectionContext.moment(capacity: 40, segment: 4)
            context.playbackRate = rate
            let key = PlanKey(context, latency: 1)
            lines.append("\(rate) \(key.rate) \(key.segment) \(base.isValid(for: key)) \(key.isValid(for: base))")
        }
        for count in [1, 11, 12, 13, 14, 25, 40, 64] {
            for factor in [1.01, 1.04, 1.05, 1.06, 1.3] {
                var rate = 0.1
                let ladder = (0..<count).map { _ in
                    defer { rate *= factor }
                    return rate
                }
                lines.append("\(count) \(factor) \(PlanKey(try .moment(ladder), latency: 1).rungs)")
            }
        }
        try Transcript.compare(lines, "plan-keys")
    }

    // MARK: Buffers

    @Test func bufferCurvesMatchTranscript() throws {
        var lines: [String] = []
        for ladder in Self.ladders + [[1, 1, 3]] {
            for capacity in [1.0, 10, 24, 25, 26, 60] {
                let curve = BufferCurve(try .moment(ladder, capacity: capacity))
                lines.append("\(curve.indices) \(curve.minimumLevel)")
                for rung in curve.indices {
                    let values = [0, 5, 11, 30].map { curve.value(of: rung, at: $0, bits: 1_000) }
                    let more = [curve.value(of: rung, at: 3, bits: 0), curve.bits(rung)]
                    lines.append(
                        Transcript.numbers(
                            [curve.minimumLevel(for: rung), curve.maximumLevel(for: rung)] + more + values
                        )
                    )
                }
            }
        }
        try Transcript.compare(lines, "buffer-curves")
    }

    // MARK: Measurements

    private func line(_ timeline: BusyTimeline) -> String {
        let pieces = timeline.pieces.map { "\($0.start) \($0.end) \($0.bitsPerSecond)" }.joined(separator: " ")
        let measurements = timeline.measurements(fullWeightBits: 50_000).map { "\($0.bitsPerSecond) \($0.weight)" }
        let busy = [0, 5_000, 10_000, 20_000, 30_000].map { timeline.isBusy(before: $0) ? "b" : "-" }.joined()
        return "\(busy) \(pieces) | \(measurements.joined(separator: " "))"
    }

    @Test func busyTimelinesMatchTranscript() throws {
        var lines: [String] = []
        for seed in 1...12 as ClosedRange<UInt64> {
            var random = RepeatableNumbers(seed: seed)
            var timeline = BusyTimeline()
            for _ in 0..<12 {
                let start = Int64(random.next() % 30_000)
                let end = start + Int64(random.next() % 9_000)
                let bits = random.unit() * 0.05
                if random.unit() < 0.8 {
                    timeline.addTransfer(bits: bits, from: start, to: end)
                } else {
                    timeline.addToBusyTime(bits: bits, from: start, to: end)
                }
                if seed > 8, random.unit() < 0.2 { lines.append("\(timeline.removeAll(fullWeightBits: 100).count)") }
            }
            lines.append(line(timeline))
        }
        try Transcript.compare(lines, "timelines")
    }

    /// Pieces that have been removed do not change any more.
    @Test func busyTimelinesOfManyTransfersMatchTranscript() throws {
        var lines: [String] = []
        for seed in 1...2 as ClosedRange<UInt64> {
            var random = RepeatableNumbers(seed: seed)
            var timeline = BusyTimeline()
            var now: Int64 = 0
            for number in 0..<220 {
                now += Int64(random.next() % 3_000)
                let length = Int64(random.next() % (number % 10 == 0 ? 60_000 : 2_500)) + 1
                timeline.addTransfer(bits: random.unit() * 0.05, from: now - length, to: now)
                let removed = timeline.removeExcess(fullWeightBits: 0.1)
                if !removed.isEmpty {
                    lines.append(Transcript.numbers(removed.flatMap { [$0.bitsPerSecond, $0.weight] }))
                }
            }
            lines.append(line(timeline))
        }
        try Transcript.compare(lines, "timelines-long")
    }

    @Test func estimatesWithOtherOptionsMatchTranscript() throws {
        var lines: [String] = []
        for seed in 1...6 as ClosedRange<UInt64> {
            var random = RepeatableNumbers(seed: seed)
            let options = ThroughputEstimator.Options(
                fastHalfLife: .seconds(random.unit() * 4),
                slowHalfLife: .seconds(random.unit() * 12),
                fullWeightSize: ByteCount(Int64(random.next() % 100_000)),
                minimumTransferDuration: .milliseconds(Int64(random.next() % 8)),
                maximumGap: .milliseconds(Int64(random.next() % 90)),
                initialWeight: .seconds(random.unit() * 2 - 0.3),
                latencyHalfLife: Int(random.next() % 8)
            )
            var estimator = ThroughputEstimator(
                initial: seed % 2 == 0 ? BitRate(bitsPerSecond: Int64(random.next() % 9_000_000)) : nil,
                options: options
            )
            var now = 0.0
            for _ in 0..<50 {
                let latency = random.unit() * 0.3 - 0.05
                let length = random.unit() < 0.5 ? random.unit() * 0.012 : random.unit() * 2
                let start = now + max(0, latency)
                estimator.add(
                    ThroughputSample(
                        start: .seconds(start),
                        end: .seconds(start + length),
                        bytes: ByteCount(Int64(random.next() % 300_000)),
                        latency: .seconds(latency)
                    )
                )
                now = max(0, now + random.unit() * (random.unit() < 0.5 ? 0.02 : 1.4) - 0.05)
                if random.unit() < 0.02 { now += random.pick([-3_599, -3_601, 3_601]) }
                lines.append(
                    [
                        estimator.estimate.map { "\($0.bitsPerSecond)" } ?? "-",
                        estimator.latency.map { Transcript.seconds($0) } ?? "-",
                        Transcript.seconds(estimator.sampleWeight), "\(estimator.confidence)",
                    ].joined(separator: " ")
                )
            }
        }
        try Transcript.compare(lines, "estimates-with-options")
    }

    // MARK: Arithmetic

    @Test func powersAndLogarithmsMatchTranscript() throws {
        let values = [
            -1, 0, 2_024 * .leastNonzeroMagnitude, .leastNormalMagnitude, 1e-9, 0.3, 0.5, 1, 1.000_1, 1.3, 2, 2.9, 3, 7,
            1e6, 1.8e300,
            .greatestFiniteMagnitude, .infinity,
        ]
        let exponents = [
            -.infinity, -1_001, -1_000, -999.5, -31.3, -2, -1.5, -1, -0.3, 0, 0.3, 1, 1.5, 2, 31.3, 999.5, 1_000, 1_001,
            .infinity, .nan,
        ]
        try Transcript.compare(
            [
                Transcript.numbers(values.map(binaryLogarithm)), Transcript.numbers(exponents.map(powerOfTwo)),
                Transcript.numbers(exponents.map(exponential)),
                Transcript.numbers(
                    [0, 0.1, 0.5, 1, 1.7, 52, 1_022.5, 1_073.9, 1_074, 1_074.9, 1_075, 1_076].map(exponentialDecay)
                ),
                Transcript.numbers([-3, -1, -0.2, 0, 0.2, 1, 3, 40].map(gaussian)),
            ],
            "arithmetic"
        )
    }

    @Test func averagesMatchTranscript() throws {
        var lines: [String] = []
        for halfLife in [-1, 0, 0.001, 0.5, 3, 20] {
            var average = MovingAverage(halfLife: halfLife)
            lines.append("\(average.halfLife) \(average.value ?? -1) \(average.value(withPrior: 5, weight: 0) ?? -1)")
            for (value, weight) in [
                (3, 0.2), (8, 0), (9, -1), (.nan, 1), (.infinity, 1), (1, 0.5), (0, 0.000_01), (7, 2), (2, 50),
            ] {
                average.add(value, weight: weight)
                let prior = [-1, 0, 0.5, 9].map { average.value(withPrior: 5, weight: $0) ?? -1 }
                lines.append(
                    Transcript.numbers([average.sum, average.weight, average.priorDecay, average.value ?? -1] + prior)
                )
            }
        }
        try Transcript.compare(lines, "averages")
    }
}

/// Compares decisions of the default selector on a short ladder, for which planning is fast, with reviewed transcripts.
@Suite struct BalancedTranscriptTests {
    @Test(arguments: [1, 2, 3])
    func decisionsOnShortLadderMatchTranscript(seed: Int) throws {
        var random = RepeatableNumbers(seed: UInt64(seed))
        var selector = BalancedSelector(
            initialEstimate: seed == 2 ? BitRate(bitsPerSecond: 1_500_000) : nil,
            options: seed == 3
                ? .init(stallCost: 2, switchCost: 0.7, minimumSwitchGain: 0.05, minimumAbandonmentGain: 0.1) : .init()
        )
        var lines: [String] = []
        var (now, current, megabits) = (0.0, nil as Int?, 1.5)
        for step in 0..<100 {
            var context = try SelectionContext.moment(
                seed == 1 ? [0.6, 2.4] : [0.5, 1, 2],
                current: current,
                buffer: random.unit() * 24,
                capacity: 24,
                segment: 4,
                isStarting: step == 0 || random.unit() < 0.1,
                now: now
            )
            if random.unit() < 0.4 {
                let rates = context.ladder.rungs.indices.map(context.ladder.bitsPerSecond)
                context.upcomingSizes = [rates.map { ByteCount(Int64($0 * (0.2 + random.unit() * 0.7))) }]
            }
            if random.unit() < 0.1 { context.restriction.exclude(because: .failed) { $0 == 1 } }
            let decision = selector.decide(context)
            lines.append(Transcript.line(decision))
            lines.append(selector.expectedThroughput.map { "\($0.bitsPerSecond)" } ?? "-")
            megabits = step % 7 == 0 ? 0.3 + random.unit() * 5 : megabits * (0.8 + random.unit() * 0.4)
            let latency = random.unit() * 0.4
            let bits = context.expectedBits(of: decision.rung)
            var flow = random.unit() < 0.1 ? 0.000_5 : bits / megabits / 1e6
            var isAbandoned = false
            for part in 1...4 where flow > 1 && random.unit() < 0.6 {
                let elapsed = latency + flow * Double(part) / 5
                context.bufferLevel = .seconds(max(0, context.bufferLevel.clampedSeconds - elapsed))
                let transfer = TransferInFlight(
                    rung: decision.rung,
                    bytesReceived: ByteCount(Int64(bits / 8 * Double(part) / 5 * (0.2 + 0.8 * random.unit()))),
                    expectedSize: random.unit() < 0.5 ? ByteCount(Int64(bits / 8)) : nil,
                    request: .seconds(now),
                    firstByte: random.unit() < 0.85 ? .seconds(now + latency) : nil,
                    now: .seconds(now + elapsed)
                )
                guard case .abandon(let other) = selector.review(transfer, in: context) else {
                    lines.append("keep \(selector.expectedThroughput.map { "\($0.bitsPerSecond)" } ?? "-")")
                    continue
                }
                lines.append("abandon " + Transcript.line(other))
                isAbandoned = true
                flow *= Double(part) / 5
                break
            }
            selector.add(
                SegmentMeasurement(
                    rung: decision.rung,
                    bytes: ByteCount(Int64(bits / 8)),
                    duration: .seconds(4),
                    request: .seconds(now),
                    firstByte: .seconds(now + latency),
                    end: .seconds(now + latency + flow),
                    isCached: random.unit() < 0.05,
                    isAbandoned: isAbandoned
                )
            )
            if random.unit() < 0.03 { selector.resetAfterSeek() }
            now += latency + flow + random.unit()
            current = isAbandoned ? current : decision.rung
        }
        try Transcript.compare(lines, "balanced-\(seed)")
    }
}
