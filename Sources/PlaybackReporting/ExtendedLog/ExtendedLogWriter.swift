/// Writes logs as text in the W3C Extended Log File Format (WD-logfile-960323), in UTF-8.
///
/// A log begins with the directives `#Version`, `#Software`, `#Start-Date` and `#Date` as far as they are known, and
/// `#Fields`; then comes a line for each event, its fields separated by single spaces. Times are in UTC with as many digits
/// of a second as they have, at least three; bit rates are whole bits a second, durations exact seconds. What is not known is
/// `-`.
public struct ExtendedLogWriter: Sendable, Hashable {
    /// Who writes (`#Software`); `nil` leaves it out.
    public var software: String?
    /// When the log began (`#Start-Date`), as the time since 1970-01-01 00:00:00 UTC.
    ///
    /// Where it is `nil`, the date of the first event takes its place.
    public var startDate: Duration?
    /// When the text is made (`#Date`), as the time since 1970-01-01 00:00:00 UTC; `nil` leaves it out.
    public var date: Duration?

    /// Makes a writer.
    public init(software: String? = "Millstream", startDate: Duration? = nil, date: Duration? = nil) {
        self.software = software
        self.startDate = startDate
        self.date = date
    }

    /// The whole text of an access log.
    public func text(of log: AccessLog) -> String {
        var text = accessLogHeader(startingAt: log.events.lazy.compactMap(\.playbackStartDate).first)
        for event in log.events { text += line(event) }
        return text
    }

    /// The whole text of an error log.
    public func text(of log: ErrorLog) -> String {
        var text = errorLogHeader(startingAt: log.events.lazy.compactMap(\.date).first)
        for event in log.events { text += line(event) }
        return text
    }

    /// The directives at the beginning of an access log, for a file that grows by ``line(_:)-(AccessLog.Event)``.
    ///
    /// `first` is when the log began, where ``startDate`` does not say.
    public func accessLogHeader(startingAt first: Duration? = nil) -> String {
        header(startingAt: first, fields: AccessLogField.allCases.map(\.rawValue))
    }

    /// The directives at the beginning of an error log, for a file that grows by ``line(_:)-(ErrorLog.Event)``.
    ///
    /// `first` is when the log began, where ``startDate`` does not say.
    public func errorLogHeader(startingAt first: Duration? = nil) -> String {
        header(startingAt: first, fields: ErrorLogField.allCases.map(\.rawValue))
    }

    /// An event of an access log, with the end of the line.
    public func line(_ event: AccessLog.Event) -> String {
        line(event.playbackStartDate, AccessLogField.allCases.map { $0.text(of: event) })
    }

    /// An event of an error log, with the end of the line.
    public func line(_ event: ErrorLog.Event) -> String {
        line(event.date, ErrorLogField.allCases.map { $0.text(of: event) })
    }

    private func header(startingAt first: Duration?, fields: [String]) -> String {
        var text = "#Version: 1.0\n"
        if let software { text += "#Software: \(ExtendedLogText.line(software))\n" }
        if software?.hasPrefix("Millstream") != true { text += "#Remark: \(ExtendedLogText.spellingRemark)\n" }
        if let start = (startDate ?? first).flatMap(CalendarDate.init) {
            text += "#Start-Date: \(start.date) \(start.time)\n"
        }
        if let date = date.flatMap(CalendarDate.init) { text += "#Date: \(date.date) \(date.time)\n" }
        return text + "#Fields: \((["date", "time"] + fields).joined(separator: " "))\n"
    }

    private func line(_ moment: Duration?, _ fields: [String]) -> String {
        let date = moment.flatMap(CalendarDate.init)
        let both = [date?.date ?? ExtendedLogText.unknown, date?.time ?? ExtendedLogText.unknown]
        return (both + fields).joined(separator: " ") + "\n"
    }
}
