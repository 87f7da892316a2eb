import Testing

@testable import Adaptation

/// Tests of the detection of oscillating links and of its effect.
@Suite struct LinkRhythmTests {
    /// Returns the oscillation of a link that alternates between two rates, sampled every second.
    private func rhythm(fast: Double, slow: Double, stretch: Int, seconds: Int) -> LinkRhythm {
        var rhythm = LinkRhythm()
        for second in 0..<seconds { add(second / stretch % 2 == 0 ? fast : slow, at: second, to: &rhythm) }
        return rhythm
    }

    /// Adds a rate, given as its binary logarithm.
    private func add(_ logarithm: Double, at second: Int, to rhythm: inout LinkRhythm) {
        rhythm.add(
            LinkRhythm.Piece(
                bitsPerSecond: powerOfTwo(logarithm),
                logarithm: logarithm,
                seconds: 1,
                end: Double(second)
            )
        )
    }

    @Test func linkThatOscillatesOncePerSegmentUsesItsMean() throws {
        let rhythm = rhythm(fast: 22, slow: 18, stretch: 3, seconds: 60)
        #expect(rhythm.weightOfMean(segment: 3) == 1)
        // Segments that end before the rate changes can follow the changes.
        #expect(rhythm.weightOfMean(segment: 0.5) == 0)
        let mean = (powerOfTwo(22) + powerOfTwo(18)) / 2
        #expect(abs(try #require(rhythm.meanRate) / mean - 1) < 0.1)
    }

    @Test func rareOrSmallOscillationsAreFollowed() {
        #expect(LinkRhythm().weightOfMean(segment: 3) == 0)
        #expect(LinkRhythm().meanRate == nil)
        #expect(rhythm(fast: 22, slow: 18, stretch: 20, seconds: 200).weightOfMean(segment: 3) == 0)
        #expect(rhythm(fast: 22, slow: 21, stretch: 3, seconds: 200).weightOfMean(segment: 3) == 0)
    }

    @Test func longConstantRateEndsOscillation() {
        var rhythm = rhythm(fast: 22, slow: 18, stretch: 3, seconds: 60)
        for second in 60..<67 { add(18, at: second, to: &rhythm) }
        #expect(rhythm.weightOfMean(segment: 3) == 0)
    }

    @Test func stoppedOrReversedClockIsTolerated() {
        var rhythm = LinkRhythm()
        for second in [5, 5, 0, -9, 3_000_000, 2] {
            add(second % 2 == 0 ? 10 : 30, at: second, to: &rhythm)
        }
        #expect((0...1).contains(rhythm.weightOfMean(segment: 3)))
    }
}
