import Adaptation
import Testing

/// Tests on links that alternate between two rates about once per segment: a selector cannot follow the changes, but
/// the buffer can bridge them.
@Suite struct SquareWaveTests {
    struct Wave: Sendable {
        let ladder: [Double]
        let fast: Double
        let slow: Double
        let seconds: Double
        var capacity = 25.0
    }

    @Test(arguments: [
        Wave(ladder: OscillationTests.coarse, fast: 40, slow: 2, seconds: 3),
        Wave(ladder: OscillationTests.coarse, fast: 30, slow: 6, seconds: 3),
        Wave(ladder: OscillationTests.fine, fast: 6, slow: 0.4, seconds: 1),
        Wave(ladder: OscillationTests.fine, fast: 6, slow: 0.4, seconds: 3),
        Wave(ladder: OscillationTests.fine, fast: 6, slow: 0.4, seconds: 5),
        Wave(ladder: OscillationTests.fine, fast: 6, slow: 1, seconds: 5),
        Wave(ladder: OscillationTests.fine, fast: 6, slow: 0.4, seconds: 3, capacity: 6),
        Wave(ladder: OscillationTests.fine, fast: 6, slow: 0.4, seconds: 3, capacity: 60),
    ])
    func rungIsStableOnFastOscillatingLink(wave: Wave) throws {
        let trace = BandwidthTrace.steps([(wave.seconds, wave.fast * 1e6), (wave.seconds, wave.slow * 1e6)])
        func result(_ name: SelectorName) throws -> SessionModel.Result {
            try .withThreeSecondSegments(name, wave.ladder, trace, capacity: wave.capacity)
        }
        let own = try result(.default)
        for other in try [result(.throughput), result(.buffer)] { #expect(own.quality >= 0.95 * other.quality) }
        #expect(own.stallSeconds <= 0.3)
        #expect(own.switches <= 20)
    }

    @Test func linkThatStopsOscillatingIsFollowedAgain() throws {
        let waves = (0..<20).flatMap { _ in [(3.0, 6e6), (3.0, 0.4e6)] }
        let trace = BandwidthTrace.steps(waves + [(300, 0.8e6), (400, 20e6)])
        let result = try SessionModel.Result.withThreeSecondSegments(.default, OscillationTests.fine, trace)
        #expect(result.stallSeconds <= 0.3)
        // The rate of the slow link suffices for rung 3.
        #expect(result.rungs[70..<130].allSatisfy { (2...4).contains($0) })
        #expect(result.rungs[170...].allSatisfy { $0 == 9 })
    }
}
