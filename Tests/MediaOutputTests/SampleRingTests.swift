import Testing

@testable import MediaOutput

@Suite struct SampleRingTests {
    @Test func samplesKeepTheirOrderAcrossTheEndOfTheStorage() {
        var ring = SampleRing(capacity: 7)
        var next: Float = 0
        var expected: Float = 0
        var random = SystemRandomNumberGenerator()
        for _ in 0..<1_000 {
            let count = Int.random(in: 0...7, using: &random)
            let before = ring.count
            let batch = (0..<count).map { next + Float($0) }
            if ring.write(batch) {
                next += Float(count)
                #expect(ring.count == before + count)
            } else {
                #expect(before + count > 7 && ring.count == before)
            }
            var out = [Float](repeating: -1, count: Int.random(in: 1...7, using: &random))
            let taken = out.withUnsafeMutableBufferPointer { ring.read(into: $0) }
            for value in out.prefix(taken) {
                #expect(value == expected)
                expected += 1
            }
            #expect(out.dropFirst(taken).allSatisfy { $0 == -1 })
        }
        #expect(next > 1_000)
        #expect(next - expected == Float(ring.count))
    }

    @Test func removeAllEmptiesTheRing() {
        var ring = SampleRing(capacity: 4)
        let isFirstTaken = ring.write([1, 2, 3])
        ring.removeAll()
        #expect(isFirstTaken && ring.count == 0)
        let isSecondTaken = ring.write([4, 5, 6, 7])
        let isThirdTaken = ring.write([8])
        #expect(isSecondTaken && !isThirdTaken)
    }
}
