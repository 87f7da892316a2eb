import Foundation
import Testing

@testable import Adaptation

@Suite struct FadingAverageTests {
    @Test func powersOfOneHalfAreAccurate() {
        for times in stride(from: 0.0, through: 60, by: 0.37) {
            #expect(abs(halved(times: times) / pow(0.5, times) - 1) < 1e-14)
        }
        #expect(halved(times: 1) == 0.5 && halved(times: .infinity) == 0 && halved(times: 1_074.5) >= 0)
    }

    @Test func valueWeighsHalfAfterOneHalfLife() throws {
        var average = FadingAverage(halfLife: 3)
        average.add(10, weight: 300)
        average.add(20, weight: 3)
        #expect(abs(try #require(average.value) - 15) < 1e-9)
    }

    @Test func averageOfOneValueIsThatValue() {
        var average = FadingAverage(halfLife: 9)
        #expect(average.value == nil)
        average.add(7, weight: 0.001)
        #expect(abs((average.value ?? 0) - 7) < 1e-9)
    }

    @Test func longValueEqualsSequenceOfItsParts() throws {
        var (whole, parts) = (FadingAverage(halfLife: 3), FadingAverage(halfLife: 3))
        whole.add(5, weight: 1)
        whole.add(9, weight: 4)
        parts.add(5, weight: 1)
        for _ in 0..<8 { parts.add(9, weight: 0.5) }
        #expect(abs(try #require(whole.value) - #require(parts.value)) < 1e-9)
    }

    @Test func nonfiniteValuesAreIgnored() {
        var average = FadingAverage(halfLife: 0)
        average.add(.nan, weight: 1)
        average.add(.infinity, weight: 1)
        average.add(1, weight: .nan)
        average.add(1, weight: -1)
        #expect(average.value == nil)
    }
}
