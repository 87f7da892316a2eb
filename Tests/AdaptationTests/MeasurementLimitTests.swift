import MediaTiming
import Testing

@testable import Adaptation

/// Tests of the limits of measurements and stored estimates, on both sides of each limit.
@Suite struct MeasurementLimitTests {
    @Test func limitsEqualDocumentedValues() {
        #expect(BusyTimeline.maximumPieceCount == 128)
        #expect(BusyTimeline.maximumTransferDuration == 3_600_000_000_000)
        #expect(BusyTimeline.maximumBitsPerSecond == 100_000_000_000)
        #expect(InstantArrivals.maximumCount == 32)
        #expect(ThroughputMemory.maximumNetworkCount == 64 && ThroughputMemory.maximumNameLength == 255)
        #expect(
            ThroughputMemory.maximumAge == .seconds(2_592_000) && ThroughputMemory.fullWeightAge == .seconds(86_400)
        )
        #expect(Ladder.maximumRungCount == 64 && PlanKey.maximumRungCount == 12 && PlanTable.levels == 16)
    }

    @Test(
        arguments: [
            (.seconds(1), 1_000_000_000), (.zero, 0), (.seconds(-2), -2_000_000_000),
            (.seconds(Int64.max), 2_305_843_009_213_693_951), (.seconds(Int64.min), -2_305_843_009_213_693_951),
            (.nanoseconds(2_305_843_009_213_693_951), 2_305_843_009_213_693_951),
            (.nanoseconds(2_305_843_009_213_693_950), 2_305_843_009_213_693_950),
        ] as [(Duration, Int64)]
    )
    func durationsAreClampedToSeventyThreeYears(duration: Duration, nanoseconds: Int64) {
        #expect(duration.clampedNanoseconds == nanoseconds)
        #expect(duration.clampedSeconds == Double(nanoseconds) / 1e9)
    }

    // MARK: Timelines

    @Test(
        arguments: [
            (0, 3_600_000_000_000, 0), (0, 3_600_000_000_001, 1), (-5, 3_600_000_000_000, 0), (-5, 20, -5),
            (700, 800, 700),
        ] as [(Int64, Int64, Int64)]
    )
    func transferCountsOnlyForItsLastHour(start: Int64, end: Int64, first: Int64) throws {
        var timeline = BusyTimeline()
        timeline.addTransfer(bits: 1_000, from: start, to: end)
        let piece = try #require(timeline.pieces.first)
        #expect(timeline.pieces.count == 1 && piece.start == first && piece.end == end)
        // The bits before the last hour are excluded in proportion to their time.
        let rate = 1_000 * 1e9 / Double(end - start)
        #expect(abs(piece.bitsPerSecond / rate - 1) < 1e-9)
    }

    @Test(arguments: [(5, 5), (6, 5)] as [(Int64, Int64)])
    func transferWithoutDurationIsIgnored(start: Int64, end: Int64) {
        var timeline = BusyTimeline()
        timeline.addTransfer(bits: 1_000, from: start, to: end)
        #expect(timeline.pieces.isEmpty)
    }

    @Test func isBusyDescribesTimeJustBeforeInstant() {
        var timeline = BusyTimeline()
        timeline.addTransfer(bits: 10, from: 100, to: 200)
        timeline.addTransfer(bits: 10, from: 300, to: 400)
        let moments: [Int64] = [0, 100, 101, 200, 201, 300, 301, 400, 401]
        #expect(moments.map(timeline.isBusy(before:)) == [false, false, true, true, false, false, true, true, false])
    }

    @Test func bitsAreAddedOnlyToBusyTime() {
        var timeline = BusyTimeline()
        timeline.addTransfer(bits: 8, from: 0, to: 4_000_000_000)
        timeline.addToBusyTime(bits: 2, from: 3_000_000_000, to: 9_000_000_000)
        #expect(timeline.pieces.map(\.bitsPerSecond) == [2, 4])
        #expect(timeline.pieces.map(\.start) == [0, 3_000_000_000])
        #expect(timeline.pieces.map(\.end) == [3_000_000_000, 4_000_000_000])
        timeline.addToBusyTime(bits: 2, from: 5_000_000_000, to: 9_000_000_000)
        timeline.addToBusyTime(bits: 0, from: 0, to: 4_000_000_000)
        #expect(timeline.pieces.map(\.bitsPerSecond) == [2, 4])
        // Adjacent pieces with equal rates are merged.
        timeline.addToBusyTime(bits: 6, from: 0, to: 3_000_000_000)
        #expect(timeline.pieces.map(\.bitsPerSecond) == [4])
    }

    @Test func bitRateOfPieceHasUpperBound() {
        var timeline = BusyTimeline()
        timeline.addTransfer(bits: 1e30, from: 0, to: 10)
        #expect(timeline.pieces.map(\.bitsPerSecond) == [100_000_000_000])
    }

    @Test func removeAllReturnsMeasurementsAndClearsTimeline() {
        var timeline = BusyTimeline()
        timeline.addTransfer(bits: 10, from: 1_000, to: 2_000)
        timeline.addTransfer(bits: 10, from: 3_000, to: 4_000)
        #expect(timeline.removeAll(fullWeightBits: 0).map(\.weight) == [1e-6, 1e-6])
        #expect(timeline.pieces.isEmpty)
        timeline.addTransfer(bits: 10, from: 0, to: 500)
        #expect(timeline.pieces.map(\.start) == [0])
        #expect(timeline.removeExcess(fullWeightBits: 0).isEmpty)
    }

    // MARK: Instantaneous responses

    private func arrivals(_ values: [(request: Int64, moment: Int64, bits: Double)]) -> InstantArrivals {
        var arrivals = InstantArrivals()
        for value in values {
            arrivals.insert(.init(request: value.request, time: value.moment, bits: value.bits))
        }
        return arrivals
    }

    @Test func arrivalsAreSortedByTime() {
        let list = arrivals([(0, 30, 1), (0, 10, 2), (0, 20, 3), (0, 20, 4)])
        #expect(list.arrivals.map(\.time) == [10, 20, 20, 30])
        #expect(list.arrivals.map(\.bits) == [2, 3, 4, 1])
        let many = arrivals((0..<33).map { (0, Int64($0), 1) })
        #expect(many.arrivals.map(\.time) == Array(1...32))
        #expect(arrivals((0..<32).map { (0, Int64($0), 1) }).arrivals.first?.time == 0)
    }

    @Test(
        arguments: [
            // The request was sent no later than the latest arrival that is at least `shortest` earlier.
            (5, 100, 10, 50, 90), (90, 100, 10, 50, 90), (91, 100, 10, 50, nil), (5, 100, 11, 50, 60),
            (5, 100, 40, 40, 60), (5, 100, 40, 39, nil), (5, 100, 41, 99, nil), (5, 100, 10, 10, 90),
            (5, 100, 10, 9, nil), (5, 60, 1, 100, nil), (5, 61, 1, 100, 60),
        ] as [(Int64, Int64, Int64, Int64, Int64?)]
    )
    func arrivalBeginsAtPreviousArrival(
        request: Int64,
        moment: Int64,
        shortest: Int64,
        longest: Int64,
        beginning: Int64?
    ) {
        let list = arrivals([(0, 60, 1), (0, 90, 1)])
        let arrival = InstantArrivals.Arrival(request: request, time: moment, bits: 1)
        #expect(list.transferStart(of: arrival, minimumGap: shortest, maximumGap: longest) == beginning)
    }

    @Test func bitsOfArrivalsAreTakenOnce() {
        var list = arrivals([(0, 10, 1), (0, 20, 2), (0, 30, 4), (0, 40, 8)])
        #expect(list.takeBits(after: 40, through: 90) == 0)
        #expect(list.takeBits(after: 0, through: 9) == 0)
        #expect(list.takeBits(after: 30, through: 20) == 0)
        #expect(list.takeBits(after: 10, through: 30) == 6)
        #expect(list.takeBits(after: 0, through: 100) == 9)
        #expect(list.takeBits(after: 0, through: 100) == 0)
    }

    @Test func bitRateWithLatencyHasUpperBound() {
        let second = InstantArrivals.Arrival(request: 0, time: 2_000_000_000, bits: 8)
        #expect(second.secondsWithLatency == 2 && second.bitsPerSecondWithLatency == 4)
        let fast = InstantArrivals.Arrival(request: 0, time: 1, bits: 1e9)
        #expect(fast.bitsPerSecondWithLatency == 100_000_000_000)
    }

    // MARK: Estimates

    /// A nanosecond less than the minimum duration of a transfer, and exactly that duration.
    @Test(arguments: [(999_999, false), (1_000_000, true)] as [(Int64, Bool)])
    func transferOfMinimumDurationHasBitRate(nanoseconds: Int64, hasRate: Bool) {
        var estimator = ThroughputEstimator(options: .init(fullWeightSize: .zero))
        estimator.add(
            ThroughputSample(start: .zero, end: .nanoseconds(nanoseconds), bytes: ByteCount(1_000_000))
        )
        #expect((estimator.sampleWeight > .zero) == hasRate)
        #expect(estimator.estimate != nil)
    }

    /// A sample that ends more than an hour before the last one means that the clock was set back.
    @Test(arguments: [(3_600, 0), (3_601, 1)])
    func clockSetBackResetsTimeline(back: Double, pieces: Double) {
        var estimator = ThroughputEstimator(options: .init(fullWeightSize: .zero))
        estimator.add(ThroughputSample(10_000, 10_001, bytes: 1_000))
        // Without a reset, the second sample would be added to the time of the first.
        estimator.add(ThroughputSample(10_000 - back, 10_001 - back, bytes: 1_000))
        let before = estimator.sampleWeight
        estimator.add(ThroughputSample(10_000, 10_001, bytes: 1_000))
        #expect((estimator.sampleWeight > before) == (pieces == 1))
    }

    @Test func latencyIsLimitedToOneHour() throws {
        for (seconds, expected) in [(3_599.0, 3_599.0), (3_600, 3_600), (9_000, 3_600)] {
            var estimator = ThroughputEstimator()
            estimator.add(ThroughputSample(10_000, 10_001, bytes: 1_000, latency: seconds))
            #expect(abs(try #require(estimator.latency).clampedSeconds - expected) < 1e-6)
        }
    }

    // MARK: Throughput memory

    @Test func networksWithSameTimeAreSortedByName() {
        var memory = ThroughputMemory()
        for name in ["b", "a", "c"] { memory.store(BitRate(bitsPerSecond: 8), for: name, now: .seconds(5)) }
        memory.store(BitRate(bitsPerSecond: 9), for: "late", now: .seconds(6))
        memory.store(BitRate(bitsPerSecond: 7), for: "early", now: .seconds(-0.5))
        #expect(memory.text == "late\t9\t6\na\t8\t5\nb\t8\t5\nc\t8\t5\nearly\t7\t-1\n")
        #expect(ThroughputMemory(text: memory.text) == memory)
    }

    @Test(arguments: [(-1.0, "-1"), (-1.5, "-2"), (-0.1, "-1"), (0, "0"), (0.9, "0"), (1.5, "1")])
    func timesAreStoredInWholeSeconds(seconds: Double, text: String) {
        var memory = ThroughputMemory()
        memory.store(BitRate(bitsPerSecond: 8), for: "home", now: .seconds(seconds))
        #expect(memory.text == "home\t8\t\(text)\n")
    }

    @Test func networkNamesAreEscaped() {
        var memory = ThroughputMemory()
        memory.store(BitRate(bitsPerSecond: 1), for: "\\\t\n\r", now: .zero)
        #expect(memory.text == #"\\\t\n\r"# + "\t1\t0\n")
        #expect(ThroughputMemory(text: memory.text) == memory)
        #expect(ThroughputMemory(text: "a\t1\t5\na\t2\t5\n").text == "a\t1\t5\n")
        #expect(ThroughputMemory(text: "a\t1\t5\r\n").text == "a\t1\t5\n")
        #expect(ThroughputMemory(text: String(repeating: "x", count: 256) + "\t1\t5\n").text.isEmpty)
        #expect(!ThroughputMemory(text: String(repeating: "x", count: 255) + "\t1\t5\n").text.isEmpty)
    }

    @Test func numberOfNetworksIsLimitedTo64() {
        var memory = ThroughputMemory()
        for number in 0..<64 { memory.store(BitRate(bitsPerSecond: 1), for: "\(number)", now: .seconds(number)) }
        #expect(memory.entries.count == 64)
        // The network that was used last is kept, although the others have later times.
        memory.store(BitRate(bitsPerSecond: 1), for: "new", now: .seconds(-5))
        #expect(memory.entries.count == 64)
        #expect(memory.entries["new"] != nil && memory.entries["0"] == nil && memory.entries["1"] != nil)
        let text = (0..<130).map { "\($0)\t1\t\($0)\n" }.joined()
        #expect(ThroughputMemory(text: text).entries.keys.sorted() == (66..<130).map { "\($0)" }.sorted())
    }

    // MARK: Selectors

    /// A player may load segments before it requests the first decision.
    @Test func onlySixteenEarlyMeasurementsCount() throws {
        func expected(_ megabits: [Double]) throws -> BitRate? {
            var selector = BalancedSelector()
            for (number, rate) in megabits.enumerated() {
                selector.add(.transfer(megabits: rate, at: 4 * Double(number)))
            }
            _ = selector.decide(try .moment([0.6, 2.4], isStarting: true))
            return selector.expectedThroughput
        }
        let same = Array(repeating: 2.0, count: 15)
        #expect(try expected(same + [2, 0.5]) == expected(same + [2]))
        #expect(try expected(same + [0.5]) != expected(same))
        #expect(try expected([]) == nil)
    }
}
