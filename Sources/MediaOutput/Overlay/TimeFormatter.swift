import MediaTiming

/// Formats times and rates for the overlay.
enum TimeFormatter {
    /// Returns a time in minutes and seconds, with hours if there are any: `04:05`, `1:04:05`.
    static func string(_ time: MediaTime) -> String { ClockText.string(time) }

    /// Returns the text beside the position bar: the position and the duration, or the distance from the live edge.
    static func positionString(of state: OverlayState) -> String {
        switch state.extent {
        case .unknown: return string(state.position)
        case .onDemand(let end): return ClockText.string(position: state.position, duration: end)
        case .live:
            guard let edge = state.seekableRange?.end else { return string(state.position) }
            let behind = edge - state.position
            return behind.seconds < 1 ? "00:00" : "-" + string(behind)
        }
    }

    /// Returns a rate: `2×`, `0.75×`.
    static func rateString(_ rate: Double) -> String {
        guard rate.isFinite else { return "" }
        let hundredths = (max(-1000, min(1000, rate)) * 100).rounded() / 100
        let digits = hundredths == hundredths.rounded() ? "\(Int(saturating: hundredths))" : "\(hundredths)"
        return digits + "×"
    }
}
