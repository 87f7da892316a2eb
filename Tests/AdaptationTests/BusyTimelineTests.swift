import Testing

@testable import Adaptation

@Suite struct BusyTimelineTests {
    private let second: Int64 = 1_000_000_000

    private func pieces(_ timeline: BusyTimeline) -> [[Double]] {
        timeline.pieces.map { [Double($0.start) / 1e9, Double($0.end) / 1e9, $0.bitsPerSecond] }
    }

    @Test func bitsFillTimeWithLowestRateFirst() {
        var timeline = BusyTimeline()
        timeline.addTransfer(bits: 400, from: 0, to: 4 * second)
        #expect(pieces(timeline) == [[0, 4, 100]])
        timeline.addTransfer(bits: 50, from: 3 * second, to: 5 * second)
        #expect(pieces(timeline) == [[0, 4, 100], [4, 5, 50]])
    }

    @Test func concurrentTransferRedistributesBits() {
        var timeline = BusyTimeline()
        timeline.addTransfer(bits: 400, from: 0, to: 4 * second)
        timeline.addTransfer(bits: 250, from: 3 * second, to: 5 * second)
        // 650 bits fit evenly: the first transfer leaves all but 10 bits of the fourth second to the other.
        #expect(timeline.pieces.allSatisfy { abs($0.bitsPerSecond - 130) < 25 })
    }

    @Test(arguments: 1..<50 as Range<UInt64>)
    func bitsAreConservedAndBusyTimeIsUnionOfTransfers(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var timeline = BusyTimeline()
        var total = 0.0
        var busy = Set<Int64>()
        for _ in 0..<20 {
            let start = Int64.random(in: 0..<100, using: &generator)
            let end = start + .random(in: 1...20, using: &generator)
            let bits = Double.random(in: 0...1_000, using: &generator)
            timeline.addTransfer(bits: bits, from: start * second, to: end * second)
            total += bits
            busy.formUnion(start..<end)
        }
        #expect(abs(timeline.pieces.reduce(0) { $0 + $1.bits } - total) < 0.001)
        #expect(timeline.pieces.reduce(0) { $0 + $1.end - $1.start } == Int64(busy.count) * second)
        for (left, right) in zip(timeline.pieces, timeline.pieces.dropFirst()) { #expect(left.end <= right.start) }
    }

    @Test func weightOfContiguousPiecesDependsOnTheirBits() {
        var timeline = BusyTimeline()
        timeline.addTransfer(bits: 100, from: 0, to: second)
        timeline.addTransfer(bits: 300, from: second, to: 2 * second)
        timeline.addTransfer(bits: 100, from: 3 * second, to: 4 * second)
        #expect(timeline.measurements(fullWeightBits: 400).map(\.weight) == [1, 1, 0.25])
        #expect(timeline.measurements(fullWeightBits: 0).map(\.weight) == [1, 1, 1])
    }

    @Test func removedMeasurementsDoNotChange() {
        var timeline = BusyTimeline()
        for index in 0..<Int64(BusyTimeline.maximumPieceCount) + 2 {
            timeline.addTransfer(bits: 10, from: index * 2 * second, to: (index * 2 + 1) * second)
        }
        #expect(timeline.removeExcess(fullWeightBits: 0).count == 2)
        timeline.addTransfer(bits: 600, from: 0, to: 6 * second)
        // The time up to the second piece, [0, 3), has been removed, and half of the bits with it.
        #expect(timeline.pieces.first?.start == 3 * second)
        let bits = timeline.pieces.prefix { $0.end <= 6 * second }.reduce(0) { $0 + $1.bits }
        #expect(abs(bits - 310) < 0.001)
        timeline.addTransfer(bits: 600, from: 0, to: second)
        #expect(timeline.pieces.first?.start == 3 * second)
    }
}
