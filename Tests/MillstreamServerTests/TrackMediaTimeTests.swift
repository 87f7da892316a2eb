import MediaTiming
import MillstreamTesting
import Testing

@testable import MillstreamServer

/// Tests the limit on the time for which a manifest waits for the media of a track.
@Suite struct TrackMediaTimeTests {
    /// Each segment arrives within the time limit of one segment.
    @Test(.timeLimit(.minutes(10)), arguments: [(nil, "60.0"), (55, "55.0")] as [(Int?, String)])
    func timesOfSlowSegmentsDoNotAddUp(limit: Int?, end: String) async throws {
        let simulation = Simulation()
        var limits = ServerLimits()
        if let limit { limits.loadingTime = .seconds(limit) }
        let store = TrackMediaStore(capacity: ServerCapacity(limits), time: simulation)
        let outcome: String = try await simulation.run {
            do {
                try await store.limitingTime {
                    for _ in 0..<1_000 { try await simulation.sleep(for: .seconds(50)) }
                }
                return "complete"
            } catch {
                return "\(ServerError(error).code) after \(simulation.now / .seconds(1)) s"
            }
        }
        #expect(outcome == "timed-out after \(end) s")
    }
}
