/// A writer of logs in the W3C Extended Log File Format (WD-logfile-960323), in UTF-8.
///
/// A log begins with the directives `#Version`, `#Software`, `#Start-Date` and `#Date` if their values are known, and
/// `#Fields`. A line for each event follows, with fields separated by single spaces. Times are in UTC with exact
/// fractional seconds, at least three digits; bit rates are integers in bits per second, and durations exact numbers of
/// seconds. An unknown value is `-`.
public struct ExtendedLogWriter: Sendable, Hashable {
    /// The name of the software (`#Software`), or `nil` to leave it out.
    public var software: String?
    /// The start of the log (`#Start-Date`), as the time since 1970-01-01 00:00:00 UTC.
    ///
    /// If it is `nil`, the date of the first event is used.
    public var startDate: Duration?
    /// The date of the text (`#Date`), as the time since 1970-01-01 00:00:00 UTC; `nil` to leave it out.
    public var date: Duration?
    /// The form of URLs.
    public var addresses: WrittenAddresses

    /// Creates a writer.
    public init(
        software: String? = "Millstream",
        startDate: Duration? = nil,
        date: Duration? = nil,
        addresses: WrittenAddresses = .whole
    ) {
        self.software = software
        self.startDate = startDate
        self.date = date
        self.addresses = addresses
    }

    /// Returns the complete text of an access log.
    public func text(of log: AccessLog) -> String {
        var text = accessLogHeader(startingAt: log.events.lazy.compactMap(\.playbackStartDate).first)
        let fields = AccessLogField.allCases.map(\.definition)
        for event in log.events {
            let written = written(event)
            text += line(written.playbackStartDate, fields.map { $0.text(written) })
        }
        return text
    }

    /// Returns the complete text of an error log.
    public func text(of log: ErrorLog) -> String {
        var text = errorLogHeader(startingAt: log.events.lazy.compactMap(\.date).first)
        for event in log.events { text += line(event) }
        return text
    }

    /// Returns the directives at the beginning of an access log, for a file to which ``line(_:)-(AccessLog.Event)`` is
    /// appended.
    ///
    /// `first` is the start of the log if ``startDate`` is `nil`.
    public func accessLogHeader(startingAt first: Duration? = nil) -> String {
        header(startingAt: first, fields: AccessLogField.allCases.map(\.rawValue))
    }

    /// Returns the directives at the beginning of an error log, for a file to which ``line(_:)-(ErrorLog.Event)`` is
    /// appended.
    ///
    /// `first` is the start of the log if ``startDate`` is `nil`.
    public func errorLogHeader(startingAt first: Duration? = nil) -> String {
        header(startingAt: first, fields: ErrorLogField.allCases.map(\.rawValue))
    }

    /// Returns the line of an access log event, with a line terminator.
    public func line(_ event: AccessLog.Event) -> String {
        let written = written(event)
        return line(written.playbackStartDate, AccessLogField.allCases.map { $0.definition.text(written) })
    }

    /// Returns the line of an error log event, with a line terminator.
    public func line(_ event: ErrorLog.Event) -> String {
        var written = event
        written.uri = event.uri.map { addresses.text($0) }
        return line(written.date, ErrorLogField.allCases.map { $0.text(of: written) })
    }

    /// Returns an event whose URL has the form of this writer.
    private func written(_ event: AccessLog.Event) -> AccessLog.Event {
        var written = event
        written.uri = event.uri.map { addresses.text($0) }
        return written
    }

    private func header(startingAt first: Duration?, fields: [String]) -> String {
        var text = "#Version: 1.0\n"
        if let software { text += "#Software: \(ExtendedLogText.singleLine(software))\n" }
        if software?.hasPrefix("Millstream") != true { text += "#Remark: \(ExtendedLogText.escapeRemark)\n" }
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
