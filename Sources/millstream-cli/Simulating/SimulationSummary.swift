import Adaptation
import MediaTiming
import ReportFormat

/// The results of one selector over all traces.
///
/// The mean values and percentiles are those of the sessions that reached the end. The figures of the others follow from the
/// time limit of a session, and a single one of them would determine every mean value.
struct SimulationSummary {
    let selector: SelectorName
    /// The sessions that reached the end.
    let finished: [SimulationResult]
    /// The sessions that did not reach the end.
    let unfinished: [SimulationResult]

    /// The percentiles of the quality of experience in reports, in percent.
    private static let reportedPercentiles = [5, 25, 50, 75, 95]

    /// Returns the summaries of all selectors that have results, in the order of ``SelectorName``.
    static func all(_ results: [SimulationResult]) -> [SimulationSummary] {
        SelectorName.allCases.compactMap { selector in
            let own = results.filter { $0.selector == selector }
            guard !own.isEmpty else { return nil }
            return SimulationSummary(
                selector: selector,
                finished: own.filter(\.isComplete),
                unfinished: own.filter { !$0.isComplete }
            )
        }
    }

    /// The mean values over the sessions that reached the end; `nil` if there are none.
    var mean: SimulationFigures? { SimulationFigures(meanOf: finished.map(\.figures)) }

    /// Returns a percentile of the quality of experience of the sessions that reached the end.
    ///
    /// The value at the position *p* / 100 × (*n* − 1) of the *n* sorted values, interpolated linearly between two of them.
    ///
    /// - Parameter percent: The percentile, 0 to 100.
    /// - Returns: The value in Mbit/s; `nil` if no session reached the end.
    func qoe(percentile percent: Int) -> Double? {
        let values = finished.map(\.figures.qoe).sorted()
        guard let last = values.indices.last else { return nil }
        let position = Double(percent) / 100 * Double(last)
        let lower = min(last, max(0, Int(saturating: position.rounded(.down))))
        let upper = min(last, lower +| 1)
        return values[lower] + (values[upper] - values[lower]) * (position - Double(lower))
    }

    /// The summary as JSON.
    var report: ReportValue {
        var fields: [ReportValue.Field] = [
            .init(name: "selector", value: .string(selector.rawValue)),
            .init(name: "sessions", value: .integer(finished.count +| unfinished.count)),
            .init(name: "finished", value: .integer(finished.count)),
            .init(name: "unfinished", value: .strings(unfinished.map(\.trace))),
        ]
        guard let mean else { return .object(fields) }
        fields += mean.fields
        let percentiles = Self.reportedPercentiles.map { percent in
            ReportValue.Field(name: "p\(percent)", value: .real(qoe(percentile: percent) ?? 0))
        }
        fields.append(.init(name: "qoeLinPercentiles", value: .object(percentiles)))
        return .object(fields)
    }
}
