import ReportFormat

/// The figures of a simulated session, or their mean values over several sessions.
struct SimulationFigures: Sendable {
    /// The time until playback began, in seconds; `nil` if it never began.
    let startup: Double?
    /// The mean bit rate of the loaded segments, in bits per second.
    let meanBitRate: Double
    /// The time spent rebuffering, in seconds.
    let rebufferTime: Double
    let rebufferCount: Double
    /// The number of changes of the variant.
    let switches: Double
    /// The quality of experience per segment, in Mbit/s.
    let qoe: Double

    /// Creates the figures of a session.
    ///
    /// - Parameters:
    ///   - outcome: The results of the session.
    ///   - penalty: The penalty for each second of rebuffering, in Mbit/s.
    init(_ outcome: SimulatedSession.Outcome, penalty: Double) {
        startup = outcome.startup?.inSeconds
        meanBitRate = outcome.meanBitRate
        rebufferTime = outcome.rebufferTime.inSeconds
        rebufferCount = Double(outcome.rebufferCount)
        switches = Double(outcome.switches)
        qoe = outcome.qoe(penalty: penalty)
    }

    /// Creates the mean values of the figures of several sessions; the result is `nil` if there are no sessions.
    init?(meanOf sessions: [SimulationFigures]) {
        guard !sessions.isEmpty else { return nil }
        func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
        let startups = sessions.compactMap(\.startup)
        startup = startups.isEmpty ? nil : mean(startups)
        meanBitRate = mean(sessions.map(\.meanBitRate))
        rebufferTime = mean(sessions.map(\.rebufferTime))
        rebufferCount = mean(sessions.map(\.rebufferCount))
        switches = mean(sessions.map(\.switches))
        qoe = mean(sessions.map(\.qoe))
    }

    /// The fields of a report as JSON.
    var fields: [ReportValue.Field] {
        var fields: [ReportValue.Field] = []
        if let startup { fields.append(.init(name: "startup", value: .real(startup))) }
        fields.append(.init(name: "meanBitrate", value: .real(meanBitRate.rounded())))
        fields.append(.init(name: "rebufferTime", value: .real(rebufferTime)))
        fields.append(.init(name: "rebufferCount", value: .real(rebufferCount)))
        fields.append(.init(name: "switches", value: .real(switches)))
        fields.append(.init(name: "qoeLin", value: .real(qoe)))
        return fields
    }
}
