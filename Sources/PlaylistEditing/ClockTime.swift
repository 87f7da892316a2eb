public import MediaTiming

/// The parser for times in command-line arguments.
public enum ClockTime {
    /// Returns the time for seconds (`12.5`) or `[HH:]MM:SS[.fraction]`, or `nil` for anything else and for negative
    /// times.
    public static func parse(_ text: some StringProtocol) -> MediaTime? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count) else { return nil }
        var total = MediaTime.zero
        for (index, part) in parts.enumerated() {
            guard part.first != "-", part.first != "+", let number = MediaTime(decimal: part) else { return nil }
            let isLast = index == parts.count - 1
            guard isLast || number.timescale == 1, index == 0 || number < MediaTime(seconds: 60) else { return nil }
            let (minutes, overflow) = total.value.multipliedReportingOverflow(by: 60)
            guard !overflow else { return nil }
            total = MediaTime(value: minutes, timescale: total.timescale) + number
        }
        return total
    }
}
