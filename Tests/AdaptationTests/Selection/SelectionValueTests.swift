import Foundation
import MediaTiming
import Synchronization
import Testing

@testable import Adaptation

/// Tests of the values that selectors use: defaults, limits, and quantities derived from a situation.
@Suite struct SelectionValueTests {
    // MARK: Options

    @Test func optionsHaveDocumentedDefaults() {
        let estimator = ThroughputEstimator.Options()
        #expect(estimator.fastHalfLife == .seconds(3) && estimator.slowHalfLife == .seconds(9))
        #expect(estimator.fullWeightSize == ByteCount(65_536) && estimator.latencyHalfLife == 5)
        #expect(estimator.minimumTransferDuration == .milliseconds(1) && estimator.maximumGap == .milliseconds(50))
        #expect(estimator.initialWeight == .milliseconds(500))
        let balanced = BalancedSelector.Options()
        #expect(balanced.stallCost == 1.2 && balanced.switchCost == 1.2 && balanced.discountFactor == 0.967)
        #expect(balanced.minimumSwitchGain == 0.011 && balanced.minimumAbandonmentGain == 0.3)
        #expect(
            balanced.minimumMeasurementDuration == .milliseconds(900) && balanced.targetStartupDuration == .seconds(1)
        )
        let cap = DroppedFramesCap.Options()
        #expect(cap.maximumDroppedFraction == 0.2 && cap.minimumFrameCount == 120)
        #expect(cap.initialExclusionDuration == .seconds(60) && cap.maximumTemporaryExclusions == 3)
    }

    @Test(
        arguments: [
            (.nan, .nan, .nan, [1.2, 1.2, 0.967]), (-1, -0.1, -5, [0, 0, 0]), (0, 0, 0, [0, 0, 0]),
            (100, 100, 0.99, [100, 100, 0.99]), (100.5, 101, 1, [100, 100, 0.99]), (3, 0.5, 0.9, [3, 0.5, 0.9]),
            (.infinity, -.infinity, .infinity, [100, 0, 0.99]),
        ] as [(Double, Double, Double, [Double])]
    )
    func weightsAreClamped(stall: Double, change: Double, discountFactor: Double, expected: [Double]) {
        let weights = BalancedSelector.Options(stallCost: stall, switchCost: change, discountFactor: discountFactor)
            .weights
        #expect([weights.stallCost, weights.switchCost, weights.discountFactor] == expected)
    }

    @Test(
        arguments: [
            (.nan, 0.011, 0.3), (-1, 0, 0), (0, 0, 0), (0.5, 0.5, 0.5), (100, 100, 100), (101, 100, 100),
            (.infinity, 100, 100),
        ] as [(Double, Double, Double)]
    )
    func leastGainsStayInTheirRanges(gain: Double, minimumSwitchGain: Double, minimumAbandonmentGain: Double) {
        let options = BalancedSelector.Options(minimumSwitchGain: gain, minimumAbandonmentGain: gain)
        #expect(options.boundedLeastGain == minimumSwitchGain)
        #expect(options.boundedLeastGainOfAbandonment == minimumAbandonmentGain)
    }

    @Test(
        arguments: [
            (-1, 0.1, 0), (0, 0.1, 0), (0.05, 0.1, 0.05), (0.1, 0.1, 0.1), (5, 5, 5), (60, 60, 60), (61, 60, 60),
        ]
    )
    func durationOptionsAreClamped(seconds: Double, piece: Double, startup: Double) {
        let options = BalancedSelector.Options(
            minimumMeasurementDuration: .seconds(seconds),
            targetStartupDuration: .seconds(seconds)
        )
        #expect(options.minimumMeasurementSeconds == piece && options.startupSeconds == startup)
    }

    // MARK: Situations

    @Test(
        arguments: [
            (1, 1), (0, 1), (-1, 1), (2, 2), (-2, 2), (0.1, 0.1), (0.05, 0.1), (16, 16), (17, 16), (.infinity, 1),
            (.nan, 1),
        ] as [(Double, Double)]
    )
    func playbackRateIsClamped(rate: Double, expected: Double) throws {
        var context = try SelectionContext.moment(buffer: 12, capacity: 30, segment: 4)
        context.playbackRate = rate
        #expect(context.clampedPlaybackRate == expected)
        #expect(context.bufferSeconds == 12 / expected)
        #expect(context.segmentSeconds == 4 / expected)
        #expect(context.capacitySeconds == 30 / expected)
        // The size of a segment does not depend on the playback rate.
        #expect(context.typicalBits(of: 2) == 8_000_000)
    }

    @Test func situationValuesAreClamped() throws {
        #expect(try SelectionContext.moment(buffer: -3).bufferSeconds == 0)
        #expect(try SelectionContext.moment(segment: 0).segmentSeconds == 0.01)
        #expect(try SelectionContext.moment(segment: -1).segmentSeconds == 0.01)
        #expect(try SelectionContext.moment(segment: 0.011).segmentSeconds == 0.011)
        #expect(try SelectionContext.moment(segment: 3_600).segmentSeconds == 3_600)
        #expect(try SelectionContext.moment(segment: 3_601).segmentSeconds == 3_600)
        #expect(try SelectionContext.moment(capacity: 3, segment: 4).capacitySeconds == 4)
        #expect(try SelectionContext.moment(capacity: 5, segment: 4).capacitySeconds == 5)
        for (current, expected) in [(nil, nil), (-1, nil), (0, 0), (4, 4), (5, nil)] as [(Int?, Int?)] {
            #expect(try SelectionContext.moment(current: current).validPreviousRung == expected)
        }
    }

    @Test func knownSegmentSizesAreUsed() throws {
        var context = try SelectionContext.moment([1, 2], segment: 4)
        #expect([0, 1].map(context.expectedBits(of:)) == [4_000_000, 8_000_000])
        #expect(context.knownBits(of: 0) == nil)
        context.upcomingSizes = [[ByteCount(100), ByteCount(0)], [ByteCount(5), ByteCount(6)]]
        #expect(context.knownBits(of: 0) == 800)
        #expect(context.knownBits(of: 1) == nil && context.knownBits(of: 2) == nil)
        #expect([0, 1].map(context.expectedBits(of:)) == [800, 8_000_000])
        context.upcomingSizes = [[ByteCount(1)]]
        #expect([0, 1].map(context.expectedBits(of:)) == [8, 8_000_000])
        let slow = try #require(Ladder([LadderRung(peakBitRate: BitRate(bitsPerSecond: 0))]))
        #expect(SelectionContext(ladder: slow, segmentDuration: .seconds(0.5)).typicalBits(of: 0) == 1)
        #expect(slow.bitsPerSecond(of: 0) == 1)
        let fast = try #require(Ladder([LadderRung(peakBitRate: BitRate(bitsPerSecond: .max))]))
        #expect(fast.bitsPerSecond(of: 0) == 1e12)
    }

    @Test func closedRungsAreExcluded() throws {
        var context = try SelectionContext.moment()
        #expect(context.allowedRungs == [0, 1, 2, 3, 4])
        context.restriction.exclude(because: .codecs) { $0 % 2 == 0 }
        #expect(context.allowedRungs == [1, 3])
        // A restriction of a different ladder may exclude all rungs of this one.
        context.restriction.exclude(because: .codecs) { $0 < 3 }
        context.ladder = try makeLadder([1, 2])
        #expect(context.allowedRungs == [0])
    }

    @Test func situationsHaveDocumentedDefaults() throws {
        let context = SelectionContext(ladder: try makeLadder([1]), segmentDuration: .seconds(4))
        #expect(context.previousRung == nil && context.bufferLevel == .zero && context.now == .zero)
        #expect(context.bufferCapacity == .seconds(30) && context.playbackRate == 1 && !context.isStarting)
        #expect(context.upcomingSizes == [] && context.remainingSegments == nil)
    }

    // MARK: Transfers

    @Test(
        arguments: [
            (0, 1, 3, [3, 1, 2]), (0, nil, 3, [3, 3, 0]), (2, 1, 3, [1, 0, 1]), (0, 5, 3, [3, 3, 0]),
            (4, 1, 3, [0, 0, 0]), (0, 0, 3, [3, 0, 3]), (1, 3, 3, [2, 2, 0]),
        ] as [(Double, Double?, Double, [Double])]
    )
    func transferTimesAreDerived(request: Double, firstByte: Double?, now: Double, expected: [Double]) {
        let transfer = TransferInFlight(
            rung: 0,
            bytesReceived: ByteCount(10),
            expectedSize: nil,
            request: .seconds(request),
            firstByte: firstByte.map { .seconds($0) },
            now: .seconds(now)
        )
        #expect([transfer.elapsedSeconds, transfer.latencySeconds, transfer.flowSeconds] == expected)
        #expect(transfer.bitsReceived == 80)
    }

    @Test(
        arguments: [(0, 1, 3, 1, 2), (2, 1, 3, 0, 2), (0, 3, 1, 3, 0), (0, 0, 0, 0, 0)]
            as [(Double, Double, Double, Double, Double)]
    )
    func measurementTimesAreDerived(request: Double, firstByte: Double, end: Double, latency: Double, flow: Double) {
        let measurement = SegmentMeasurement(
            rung: 3,
            bytes: ByteCount(10),
            duration: .seconds(4),
            request: .seconds(request),
            firstByte: .seconds(firstByte),
            end: .seconds(end),
            isCached: true
        )
        #expect(measurement.latency == .seconds(latency) && measurement.flowSeconds == flow)
        #expect(!measurement.isAbandoned)
        #expect(
            measurement.throughputSample
                == ThroughputSample(
                    start: .seconds(firstByte),
                    end: .seconds(end),
                    bytes: ByteCount(10),
                    latency: .seconds(latency),
                    isCached: true
                )
        )
    }

    @Test func transferPieceContainsBitsSincePreviousPiece() {
        var piece = TransferProgress()
        #expect(!piece.hasMeasuredParts)
        #expect(piece.remainder(bits: 10, seconds: 2) == (10, 2))
        #expect(piece.nextPart(bits: 100, seconds: 0.9, minimumSeconds: 1) == nil)
        #expect(!piece.hasMeasuredParts)
        #expect(piece.nextPart(bits: 100, seconds: 1, minimumSeconds: 1).map { $0 == (100, 1) } == true)
        #expect(piece.hasMeasuredParts)
        #expect(piece.nextPart(bits: 200, seconds: 1.5, minimumSeconds: 1) == nil)
        #expect(piece.remainder(bits: 130, seconds: 1.5) == (30, 0.5))
        #expect(piece.remainder(bits: 90, seconds: 1.5) == (0, 0.5))
        #expect(piece.remainder(bits: 130, seconds: 1) == (0, 0))
        #expect(piece.remainder(bits: 130, seconds: 0.5) == (0, 0))
        #expect(piece.nextPart(bits: 300, seconds: 3, minimumSeconds: 1).map { $0 == (100, 2) } == true)
        #expect(piece.nextPart(bits: 200, seconds: 4, minimumSeconds: 1).map { $0 == (0, 1) } == true)
    }

    // MARK: Switch history

    /// The throughput and the current rung determine the cause of a switch.
    @Test(
        arguments: [
            (nil, 2, 1_000, .start), (2, 2, 1_000, .stay), (4, 1, 1_000, .restriction), (1, 2, 1_101, .throughputRose),
            (1, 2, 1_100, .bufferHigh), (1, 2, nil, .bufferHigh), (2, 1, 899, .throughputFell),
            (2, 1, 900, .bufferLow), (2, 1, nil, .throughputFell),
        ] as [(Int?, Int, Double?, SwitchDecision.Cause)]
    )
    func switchCauseIsDerived(current: Int?, rung: Int, throughput: Double?, cause: SwitchDecision.Cause) throws {
        var history = SwitchHistory()
        history.record(0, throughput: 1_000, in: try .moment(current: 0))
        var context = try SelectionContext.moment(current: current)
        context.restriction.exclude(because: .failed) { $0 == 4 }
        #expect(history.cause(of: rung, in: context, throughput: throughput) == cause)
    }

    @Test func causeComparesThroughputWithLastSwitch() throws {
        var history = SwitchHistory()
        history.record(1, throughput: 1_000, in: try .moment(current: 1))
        history.record(1, throughput: 1_200, in: try .moment(current: 1))
        #expect(history.cause(of: 2, in: try .moment(current: 1), throughput: 1_150) == .throughputRose)
        history.record(2, throughput: 1_200, in: try .moment(current: 1))
        #expect(history.cause(of: 3, in: try .moment(current: 2), throughput: 1_150) == .bufferHigh)
    }

    /// Alternating switches on one link increase the penalty of the next switch up.
    @Test func alternatingSwitchesIncreaseSwitchPenalty() throws {
        var history = SwitchHistory()
        func note(_ rung: Int, from current: Int?, _ throughput: Double? = 1_000) throws {
            history.record(rung, throughput: throughput, in: try .moment(current: current))
        }
        try note(1, from: nil)
        #expect(history.switchPenalty == 0)
        var expected: [Double] = []
        for index in 0..<13 {
            try note(index % 2 == 0 ? 2 : 1, from: index % 2 == 0 ? 1 : 2)
            expected.append(history.switchPenalty)
        }
        #expect(expected == [0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1_023, 1_023, 1_023])
        // Two switches in the same direction do not count.
        try note(3, from: 2)
        #expect(history.switchPenalty == 1_023)
        // After 300 decisions without an alternating switch, the penalty is reduced by one step.
        for _ in 0..<298 { try note(3, from: 3) }
        #expect(history.switchPenalty == 1_023)
        try note(3, from: 3)
        #expect(history.switchPenalty == 511)
        for _ in 0..<300 { try note(3, from: 3) }
        #expect(history.switchPenalty == 255)
        // An alternating switch restarts the count of decisions.
        for _ in 0..<200 { try note(3, from: 3) }
        try note(2, from: 3)
        #expect(history.switchPenalty == 511)
        for _ in 0..<298 { try note(2, from: 2) }
        #expect(history.switchPenalty == 511)
        for _ in 0..<2 { try note(2, from: 2) }
        #expect(history.switchPenalty == 255)
    }

    /// A link with a different throughput has a separate history.
    @Test(arguments: [(1_250, 1), (1_251, 0), (800, 1), (799, 0), (0, 0), (nil, 0)] as [(Double?, Double)])
    func changedThroughputResetsSwitchPenalty(throughput: Double?, switchPenalty: Double) throws {
        var history = SwitchHistory()
        history.record(1, throughput: 1_000, in: try .moment(current: nil))
        history.record(2, throughput: 1_000, in: try .moment(current: 1))
        history.record(1, throughput: 1_000, in: try .moment(current: 2))
        #expect(history.switchPenalty == 1)
        history.record(1, throughput: throughput, in: try .moment(current: 1))
        #expect(history.switchPenalty == switchPenalty)
        // The first switch on a new link does not count.
        history.record(2, throughput: throughput, in: try .moment(current: 1))
        #expect(history.switchPenalty == (switchPenalty == 0 ? 0 : 3))
        history.record(1, throughput: throughput, in: try .moment(current: 2))
        #expect(history.switchPenalty == (switchPenalty == 0 ? 1 : 7))
    }

    // MARK: Caps

    private func open(_ cap: DroppedFramesCap) throws -> Int {
        LadderRestriction(try makeLadder(fiveRungs), caps: [cap]).allowedRungs.count
    }

    @Test(
        arguments: [
            (96, 24, 5), (95, 25, 3), (0, 119, 5), (0, 120, 3), (-5, 120, 3), (96, 25, 3), (120, 0, 5), (100, 19, 5),
        ]
    )
    func shareOfDroppedFramesClosesRungs(shown: Int, dropped: Int, open: Int) throws {
        var cap = DroppedFramesCap(ladder: try makeLadder(fiveRungs))
        cap.add(rung: 3, displayed: shown, dropped: dropped, now: .zero)
        #expect(try self.open(cap) == open)
    }

    /// Reports are added up, and halved when their sum exceeds eight times the required number of frames.
    @Test func frameReportsAddUpAndAreHalved() throws {
        let options = DroppedFramesCap.Options(
            maximumDroppedFraction: 0.5,
            minimumFrameCount: 10,
            initialExclusionDuration: .seconds(10)
        )
        func cap(_ reports: [(Int, Int)]) throws -> Int {
            var cap = DroppedFramesCap(ladder: try makeLadder(fiveRungs), options: options)
            for (shown, dropped) in reports { cap.add(rung: 2, displayed: shown, dropped: dropped, now: .zero) }
            return try open(cap)
        }
        #expect(try cap([(3, 3), (1, 2)]) == 5)
        #expect(try cap([(3, 3), (1, 3)]) == 2)
        // A sum of 80 frames is unchanged, and 81 frames are halved: 40 shown frames then count as 20.
        #expect(try cap([(40, 40), (0, 1)]) == 2)
        #expect(try cap([(80, 0), (0, 80)]) == 5)
        #expect(try cap([(80, 0), (0, 81)]) == 2)
        #expect(try cap([(81, 0), (0, 40)]) == 5)
        #expect(try cap([(81, 0), (0, 41)]) == 2)
        #expect(try cap([(60, 30), (0, 15)]) == 5)
        #expect(try cap([(60, 30), (0, 16)]) == 2)
    }

    @Test func closuresExpireOnTime() throws {
        var options = DroppedFramesCap.Options()
        options.initialExclusionDuration = .seconds(10)
        options.maximumTemporaryExclusions = 2
        var cap = DroppedFramesCap(ladder: try makeLadder(fiveRungs), options: options)
        cap.add(rung: 1, displayed: 0, dropped: 200, now: .seconds(100))
        // Reports about a closed rung do not count, not even later.
        cap.add(rung: 1, displayed: 0, dropped: 200, now: .seconds(105))
        cap.advance(to: .seconds(109.999))
        #expect(try open(cap) == 1)
        // A clock that is set back has no effect.
        cap.advance(to: .seconds(50))
        cap.advance(to: .seconds(110))
        #expect(try open(cap) == 5)
        cap.add(rung: 1, displayed: 0, dropped: 119, now: .seconds(111))
        #expect(try open(cap) == 5)
        cap.add(rung: 1, displayed: 0, dropped: 1, now: .seconds(112))
        cap.advance(to: .seconds(131.999))
        #expect(try open(cap) == 1)
        cap.add(rung: 0, displayed: 1, dropped: 0, now: .seconds(132))
        #expect(try open(cap) == 5)
        // After the last attempt the rung stays closed.
        cap.add(rung: 1, displayed: 0, dropped: 200, now: .seconds(133))
        cap.advance(to: .seconds(1e9))
        #expect(try open(cap) == 1)
    }

    @Test func closureDurationIsLimited() throws {
        let options = DroppedFramesCap.Options(
            minimumFrameCount: 1,
            initialExclusionDuration: .seconds(1),
            maximumTemporaryExclusions: 100
        )
        var cap = DroppedFramesCap(ladder: try makeLadder(fiveRungs), options: options)
        var now = 0.0
        for number in 0..<20 {
            cap.add(rung: 1, displayed: 0, dropped: 1, now: .seconds(now))
            let seconds = powerOfTwo(Double(min(number, 16)))
            cap.advance(to: .seconds(now + seconds - 0.5))
            #expect(try open(cap) == 1)
            now += seconds
            cap.advance(to: .seconds(now))
            #expect(try open(cap) == 5)
        }
    }

    @Test func rungsOfEqualResolutionStayOpen() throws {
        let rungs: [(Int?, Int?)] = [
            (640, 360), (360, 640), (1_280, 720), (1_000, nil), (nil, 2_000), (0, 9_999), (9_999, 0),
        ]
        let ladder = try #require(
            Ladder(
                rungs.enumerated().map { number, size in
                    LadderRung(
                        variantIndex: number,
                        peakBitRate: BitRate(bitsPerSecond: Int64(number) + 1),
                        width: size.0,
                        height: size.1
                    )
                }
            )
        )
        for (width, height, open) in [
            (640, 360, [0, 1, 3, 4, 5, 6]), (641, 641, [0, 1, 2, 3, 4, 5, 6]), (640, 9_999, [0, 1, 3, 4, 5, 6]),
            (1, 1, [0, 1, 3, 4, 5, 6]), (0, 1, Array(0..<7)), (1, 0, Array(0..<7)), (1_281, 721, Array(0..<7)),
            (1_281, 720, Array(0..<7)), (9_999, 361, [0, 1, 3, 4, 5, 6]),
        ] as [(Int, Int, [Int])] {
            let cap = ViewSizeCap(width: width, height: height)
            #expect(LadderRestriction(ladder, caps: [cap]).allowedRungs == open, "\(width)x\(height)")
        }
    }

    // MARK: Names

    @Test(arguments: SelectorName.allCases)
    func selectorsAreCreatedByName(name: SelectorName) throws {
        #expect(SelectorName(rawValue: name.rawValue) == name)
        #expect(name.isFixed == name.rawValue.hasPrefix("fixed-"))
        var selector = AnyVariantSelector(name, initialEstimate: BitRate(bitsPerSecond: 3_000_000))
        #expect(selector.name == name)
        for current in [nil, 1] as [Int?] {
            var context = try SelectionContext.moment(current: current, isStarting: current == nil)
            context.restriction.exclude(because: .codecs) { $0 % 2 == 0 }
            let decision = selector.decide(context)
            #expect(context.allowedRungs.contains(decision.rung))
            selector.learn(3)
            selector.resetAfterSeek()
        }
    }

    @Test func customSelectorHasNoName() {
        #expect(AnyVariantSelector(FixedSelector(.highest)).name == nil)
    }

    // MARK: Selections

    @Test func selectionCreatesItsSelector() throws {
        let estimate = BitRate(bitsPerSecond: 3_000_000)
        #expect(VariantSelection.default.name == .default)
        for name in SelectorName.allCases {
            var selector = VariantSelection(name).makeSelector(initialEstimate: estimate)
            var expected = AnyVariantSelector(name, initialEstimate: estimate)
            #expect(selector.name == name && VariantSelection(name).name == name)
            let moment = try SelectionContext.moment(isStarting: true)
            #expect(selector.decide(moment) == expected.decide(moment))
        }
        let received = Mutex<[BitRate?]>([])
        let custom = VariantSelection { estimate in
            received.withLock { $0.append(estimate) }
            return FixedSelector(.index(1))
        }
        var selector = custom.makeSelector(initialEstimate: estimate)
        #expect(selector.decide(try .moment()).rung == 1 && selector.name == nil && custom.name == nil)
        #expect(custom.makeSelector().name == nil)
        #expect(received.withLock { $0 } == [estimate, nil])
    }

    @Test func selectionsAreEqualIfTheySelectTheSame() {
        var slow = ThroughputEstimator.Options()
        slow.slowHalfLife = .seconds(60)
        let custom = VariantSelection { _ in FixedSelector(.lowest) }
        let selections =
            SelectorName.allCases.map { VariantSelection($0) } + [
                VariantSelection(.buffer, estimatorOptions: slow), custom,
                VariantSelection { _ in FixedSelector(.lowest) },
            ]
        for (first, left) in selections.enumerated() {
            for (second, right) in selections.enumerated() { #expect((left == right) == (first == second)) }
        }
        let copy = custom
        #expect(copy == custom && Set(selections + selections).count == selections.count)
    }

    /// The estimator of a selector has the options of the selection.
    @Test(arguments: SelectorName.allCases.filter(\.hasEstimatorOptions))
    func selectionConfiguresTheEstimator(name: SelectorName) throws {
        func rung(_ options: ThroughputEstimator.Options) throws -> Int {
            let selection = VariantSelection(name, estimatorOptions: options)
            var selector = selection.makeSelector(initialEstimate: BitRate(bitsPerSecond: 100_000))
            // One second at 40 Mbit/s; with a high weight of the initial estimate, it is hardly noticed.
            selector.add(
                SegmentMeasurement(
                    rung: 0,
                    bytes: ByteCount(5_000_000),
                    duration: .seconds(4),
                    request: .zero,
                    firstByte: .milliseconds(10),
                    end: .seconds(1)
                )
            )
            return selector.decide(try .moment(isStarting: true)).rung
        }
        var trusting = ThroughputEstimator.Options()
        trusting.initialWeight = .seconds(100_000)
        #expect(try rung(ThroughputEstimator.Options()) > rung(trusting))
    }

    // MARK: Sized ladders

    @Test(
        arguments: [
            ("[1]", 1_000, "[[1]]", nil), ("[0.001]", 1, "[[2e9]]", nil), ("[100000000]", 3_600_000, "[[1]]", nil),
            ("[1,1]", 1_000, "[[1,2]]", nil), ("[0.0009]", 1_000, "[[1]]", "the bit rates"),
            ("[100000001]", 1_000, "[[1]]", "the bit rates"), ("[2,1]", 1_000, "[[1,1]]", "the bit rates"),
            ("[1]", 0.9, "[[1]]", "the duration"), ("[1]", 3_600_001, "[[1]]", "the duration"),
            ("[1]", 1, "[[0.9]]", "each segment"), ("[1]", 1, "[[2000000001]]", "each segment"),
            ("[1,2]", 1, "[[1]]", "each segment"), ("[1]", 1, "[[1,1]]", "each segment"),
            ("[1]", 1, "[[1],[]]", "each segment"), ("[]", 1, "[[]]", "1 to 64"), ("[1]", 1, "[]", "1 to 64"),
        ] as [(String, Double, String, String?)]
    )
    func sizedLaddersAreValidated(rates: String, duration: Double, sizes: String, reason: String?) throws {
        let messages = [
            "1 to 64": "1 to 64 variants and 1 to 200000 segments are required",
            "the bit rates": "the bit rates must be in ascending order, from 0.001 to 100,000,000 kbit/s",
            "the duration": "the duration of a segment must be 1 to 3,600,000 ms",
            "each segment": "each segment must have a size for each variant, from 1 to 2,000,000,000 bits",
        ]
        let json = #"{"segment_duration_ms":\#(duration),"bitrates_kbps":\#(rates),"segment_sizes_bits":\#(sizes)}"#
        let read = Result { try JSONDecoder().decode(SizedLadder.self, from: Data(json.utf8)) }
        switch read {
        case .success(let ladder):
            #expect(reason == nil)
            #expect(ladder.segmentDuration == .microseconds(Int64(duration * 1_000)))
        case .failure(let error):
            #expect((error as? SizedLadderError)?.description == reason.flatMap { messages[$0] })
            #expect(reason != nil)
        }
    }

    @Test(arguments: [(64, true), (65, false)])
    func sizedLaddersHaveAtMost64Variants(count: Int, isRead: Bool) throws {
        let list = "[" + (1...count).map { "\($0)" }.joined(separator: ",") + "]"
        let json = #"{"segment_duration_ms":1000,"bitrates_kbps":\#(list),"segment_sizes_bits":[\#(list)]}"#
        let ladder = try? JSONDecoder().decode(SizedLadder.self, from: Data(json.utf8))
        #expect((ladder != nil) == isRead)
    }
}
