import Foundation
import Testing

@testable import Adaptation

@Suite struct MovingAverageTests {
    @Test func powersOfOneHalfAreAccurate() {
        for times in stride(from: 0.0, through: 60, by: 0.37) {
            #expect(abs(exponentialDecay(halfLives: times) / pow(0.5, times) - 1) < 1e-14)
        }
        #expect(
            exponentialDecay(halfLives: 1) == 0.5 && exponentialDecay(halfLives: .infinity) == 0
                && exponentialDecay(halfLives: 1_074.5) >= 0
        )
    }

    @Test func valueWeighsHalfAfterOneHalfLife() throws {
        var average = MovingAverage(halfLife: 3)
        average.add(10, weight: 300)
        average.add(20, weight: 3)
        #expect(abs(try #require(average.value) - 15) < 1e-9)
    }

    @Test func averageOfOneValueIsThatValue() {
        var average = MovingAverage(halfLife: 9)
        #expect(average.value == nil)
        average.add(7, weight: 0.001)
        #expect(abs((average.value ?? 0) - 7) < 1e-9)
    }

    @Test func longValueEqualsSequenceOfItsParts() throws {
        var (whole, parts) = (MovingAverage(halfLife: 3), MovingAverage(halfLife: 3))
        whole.add(5, weight: 1)
        whole.add(9, weight: 4)
        parts.add(5, weight: 1)
        for _ in 0..<8 { parts.add(9, weight: 0.5) }
        #expect(abs(try #require(whole.value) - #require(parts.value)) < 1e-9)
    }

    @Test func nonfiniteValuesAreIgnored() {
        var average = MovingAverage(halfLife: 0)
        average.add(.nan, weight: 1)
        average.add(.infinity, weight: 1)
        average.add(1, weight: .nan)
        average.add(1, weight: -1)
        #expect(average.value == nil)
    }
}
