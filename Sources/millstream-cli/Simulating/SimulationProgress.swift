import MediaTiming
import ReportFormat

/// A line on the terminal with the number of traces that have been simulated, which is rewritten after each session.
///
/// The line is not written if standard error is no terminal, or if there is only one session.
struct SimulationProgress {
    private let traceCount: Int
    private let selectorCount: Int
    private let isShown: Bool

    /// Creates the progress of simulations, and shows that none of them has ended.
    ///
    /// - Parameters:
    ///   - traceCount: The number of traces.
    ///   - selectorCount: The number of selectors, with each of which each trace is simulated.
    ///   - isQuiet: A Boolean value that indicates whether progress is hidden.
    init(traceCount: Int, selectorCount: Int, isQuiet: Bool) {
        self.traceCount = traceCount
        self.selectorCount = selectorCount
        let sessionCount = traceCount *| selectorCount
        isShown = !isQuiet && StandardError.isTerminal && sessionCount > 1
        show(completedSessionCount: 0)
    }

    /// Shows the number of sessions that have ended; the sessions of a trace follow one another.
    func show(completedSessionCount: Int) {
        guard isShown else { return }
        let completedTraceCount = completedSessionCount.dividedSaturated(by: selectorCount)
        let noun: TerminalText = traceCount == 1 ? "trace" : "traces"
        var line: TerminalText = "\(completedTraceCount) of \(traceCount) \(noun) simulated"
        if selectorCount > 1 { line += ", \(completedSessionCount) of \(traceCount *| selectorCount) sessions" }
        StandardError.rewriteLine(line)
    }

    /// Ends the line.
    func end() {
        if isShown { StandardError.write("\n") }
    }
}
