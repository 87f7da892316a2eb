import ReportFormat

/// The output of the results of simulations: JSON, or a table.
struct SimulationOutput {
    private let isJSON: Bool
    private let isSummary: Bool
    private var results: [SimulationResult] = []

    /// Creates an output.
    ///
    /// - Parameters:
    ///   - isJSON: A Boolean value that indicates whether the output is JSON.
    ///   - isSummary: A Boolean value that indicates whether the output only has the results of each selector over all traces.
    init(isJSON: Bool, isSummary: Bool) {
        self.isJSON = isJSON
        self.isSummary = isSummary
    }

    /// Writes the beginning.
    ///
    /// - Throws: ``OutputError``.
    func begin() throws {
        if isJSON { try StandardOutput.write("[") }
    }

    /// Adds the result of a session, which is written as JSON immediately.
    ///
    /// - Throws: ``OutputError``.
    mutating func add(_ result: SimulationResult) throws {
        results.append(result)
        if isJSON, !isSummary { try Self.write(result.report, isFirst: results.count == 1) }
    }

    /// Writes what depends on all results.
    ///
    /// - Throws: ``OutputError``.
    func end() throws {
        guard isJSON else { return try StandardOutput.write(SimulationTable(results, isSummary: isSummary).text) }
        if isSummary {
            for (position, summary) in SimulationSummary.all(results).enumerated() {
                try Self.write(summary.report, isFirst: position == 0)
            }
        }
        try StandardOutput.write("]\n")
    }

    /// Ends the output after an error; as JSON, the results so far remain a valid array.
    func abort() {
        if isJSON { try? StandardOutput.write("]\n") }
    }

    private static func write(_ report: ReportValue, isFirst: Bool) throws {
        if !isFirst { try StandardOutput.write(",\n") }
        try StandardOutput.write(report: report)
    }
}
