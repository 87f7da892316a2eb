import SeededRandomness
import Testing

@testable import PlaybackReporting

@Suite struct BusyTimeTests {
    @Test func concurrentTransfersCountOnce() {
        var busy = BusyTime()
        let added = [(0, 4), (2, 6), (8, 9), (1, 10), (3, 2), (10, 10)].map { start, end in
            busy.add(from: .seconds(start), to: .seconds(end))
        }
        #expect(added == [4, 2, 1, 3, 0, 0].map { .seconds($0) })
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func busyTimeIsUnionOfTransfers(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var busy = BusyTime()
        var seconds = Set<Int>()
        var total = Duration.zero
        for index in 0..<500 {
            // Requests are reported in the order of their ends, and none lasts much longer than the previous ones.
            let end = index * 2 + .random(in: 0...3, using: &generator)
            let start = max(0, end - .random(in: 0...30, using: &generator))
            seconds.formUnion(start..<end)
            total += busy.add(from: .seconds(start), to: .seconds(end))
        }
        #expect(total == .seconds(seconds.count))
    }

    @Test func longSessionKeepsBoundedNumberOfIntervals() {
        var busy = BusyTime()
        var total = Duration.zero
        for index in 0..<1_000 { total += busy.add(from: .seconds(index * 2), to: .seconds(index * 2 + 1)) }
        #expect(total == .seconds(1_000))
        // Time before the oldest stored interval counts as covered: it is never counted twice, but may not be counted
        // at all.
        #expect(busy.add(from: .zero, to: .seconds(10)) == .zero)
        #expect(busy.add(from: .zero, to: .seconds(2_000)) == .seconds(65))
    }
}
