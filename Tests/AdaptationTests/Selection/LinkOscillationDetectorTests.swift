import Testing

@testable import Adaptation

/// Tests of the detection of oscillating links and of its effect.
@Suite struct LinkOscillationDetectorTests {
    /// Returns the oscillation of a link that alternates between two rates, sampled every second.
    private func oscillation(fast: Double, slow: Double, stretch: Int, seconds: Int) -> LinkOscillationDetector {
        var detector = LinkOscillationDetector()
        for second in 0..<seconds { add(second / stretch % 2 == 0 ? fast : slow, at: second, to: &detector) }
        return detector
    }

    /// Adds a rate, given as its binary logarithm.
    private func add(_ logarithm: Double, at second: Int, to detector: inout LinkOscillationDetector) {
        detector.add(
            LinkOscillationDetector.Piece(
                bitsPerSecond: powerOfTwo(logarithm),
                logarithm: logarithm,
                seconds: 1,
                end: Double(second)
            )
        )
    }

    @Test func linkThatOscillatesOncePerSegmentUsesItsMean() throws {
        let oscillation = oscillation(fast: 22, slow: 18, stretch: 3, seconds: 60)
        #expect(oscillation.meanRateWeight(segmentDuration: 3) == 1)
        // Segments that end before the rate changes can follow the changes.
        #expect(oscillation.meanRateWeight(segmentDuration: 0.5) == 0)
        let mean = (powerOfTwo(22) + powerOfTwo(18)) / 2
        #expect(abs(try #require(oscillation.meanRate) / mean - 1) < 0.1)
    }

    @Test func rareOrSmallOscillationsAreFollowed() {
        #expect(LinkOscillationDetector().meanRateWeight(segmentDuration: 3) == 0)
        #expect(LinkOscillationDetector().meanRate == nil)
        #expect(oscillation(fast: 22, slow: 18, stretch: 20, seconds: 200).meanRateWeight(segmentDuration: 3) == 0)
        #expect(oscillation(fast: 22, slow: 21, stretch: 3, seconds: 200).meanRateWeight(segmentDuration: 3) == 0)
    }

    @Test func longConstantRateEndsOscillation() {
        var oscillation = oscillation(fast: 22, slow: 18, stretch: 3, seconds: 60)
        for second in 60..<67 { add(18, at: second, to: &oscillation) }
        #expect(oscillation.meanRateWeight(segmentDuration: 3) == 0)
    }

    @Test func stoppedOrReversedClockIsTolerated() {
        var detector = LinkOscillationDetector()
        for second in [5, 5, 0, -9, 3_000_000, 2] {
            add(second % 2 == 0 ? 10 : 30, at: second, to: &detector)
        }
        #expect((0...1).contains(detector.meanRateWeight(segmentDuration: 3)))
    }
}
