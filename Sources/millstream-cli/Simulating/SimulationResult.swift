import Adaptation
import NetworkConditioning
import ReportFormat

/// The result of a simulated session.
struct SimulationResult: Sendable {
    /// The name of the trace.
    let trace: String
    let selector: SelectorName
    let figures: SimulationFigures
    let segmentCount: Int
    /// A Boolean value that indicates whether the end was reached within the time limit.
    let isComplete: Bool

    /// Creates the result of a session.
    ///
    /// - Parameters:
    ///   - outcome: The results of the session.
    ///   - session: The session.
    ///   - penalty: The penalty for each second of rebuffering, in Mbit/s.
    init(_ outcome: SimulatedSession.Outcome, of session: SimulatedSession, penalty: Double) {
        trace = session.profile.name
        selector = session.selector
        figures = SimulationFigures(outcome, penalty: penalty)
        segmentCount = outcome.bitRates.count
        isComplete = outcome.isComplete
    }

    /// The result as JSON.
    var report: ReportValue {
        let session: [ReportValue.Field] = [
            .init(name: "trace", value: .string(trace)),
            .init(name: "selector", value: .string(selector.rawValue)),
        ]
        let end: [ReportValue.Field] = [
            .init(name: "segments", value: .integer(segmentCount)),
            .init(name: "complete", value: .bool(isComplete)),
        ]
        return .object(session + figures.fields + end)
    }
}
