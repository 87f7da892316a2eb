/// A reader of logs in the W3C Extended Log File Format (WD-logfile-960323).
///
/// Fields may be in any order; unknown fields are skipped, and each further `#Fields` directive is applied. `#Version`,
/// which AVFoundation leaves out, is optional. Lines end in LF or CRLF; a byte-order mark is skipped, and bytes that
/// are not valid UTF-8 become U+FFFD. A negative number in an access log means that the value is unknown.
public struct ExtendedLogReader: Sendable, Hashable {
    /// The limits for the size of a log, which may come from an untrusted source.
    public struct Limits: Sendable, Hashable {
        /// The maximum number of entries: 100,000 by default, ten times the maximum of a recorder.
        public var maximumEntryCount: Int
        /// The maximum length of a line in bytes: 1 MiB by default, more than long URLs and messages need.
        public var maximumLineLength: Int
        /// The maximum number of fields of an entry: 128 by default, several times that of an access log.
        public var maximumFieldCount: Int

        /// Creates limits.
        public init(maximumEntryCount: Int = 100_000, maximumLineLength: Int = 1_048_576, maximumFieldCount: Int = 128)
        {
            self.maximumEntryCount = maximumEntryCount
            self.maximumLineLength = maximumLineLength
            self.maximumFieldCount = maximumFieldCount
        }
    }

    /// The limits of the reader.
    public var limits: Limits

    /// Creates a reader.
    public init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Parses an access log.
    ///
    /// - Parameter bytes: The text in UTF-8.
    /// - Returns: The log, which may be empty.
    /// - Throws: ``ExtendedLogError`` with the line that is invalid.
    /// - Complexity: O(*n*) in bytes.
    public func accessLog(_ bytes: Span<UInt8>) throws(ExtendedLogError) -> AccessLog {
        var log = AccessLog()
        let definitions = AccessLogField.definitions
        try readEntries(of: bytes) { (entry) throws(ExtendedLogError) in
            var event = AccessLog.Event()
            for (name, value) in entry.values {
                guard let field = definitions[name], !field.store(value, &event) else { continue }
                throw ExtendedLogError(code: .malformedValue, line: entry.line, field: name)
            }
            event.playbackStartDate = try entry.timeSince1970()
            log.events.append(event)
        }
        return log
    }

    /// Parses an error log.
    ///
    /// - Parameter bytes: The text in UTF-8.
    /// - Returns: The log, which may be empty.
    /// - Throws: ``ExtendedLogError`` with the line that is invalid; `noFields` also if there is no field `status`, as
    ///   in an access log.
    /// - Complexity: O(*n*) in bytes.
    public func errorLog(_ bytes: Span<UInt8>) throws(ExtendedLogError) -> ErrorLog {
        var log = ErrorLog()
        try readEntries(of: bytes) { (entry) throws(ExtendedLogError) in
            guard entry.fields.contains(ErrorLogField.errorStatusCode.rawValue) else {
                throw ExtendedLogError(code: .noFields, line: entry.line, field: nil)
            }
            var event = ErrorLog.Event(errorStatusCode: 0, errorDomain: "")
            for (name, value) in entry.values {
                guard let field = ErrorLogField(rawValue: name), !field.store(value, in: &event) else { continue }
                throw ExtendedLogError(code: .malformedValue, line: entry.line, field: name)
            }
            event.date = try entry.timeSince1970()
            log.events.append(event)
        }
        return log
    }

    /// Parses the entries and passes them to a closure one after the other.
    private func readEntries(
        of bytes: Span<UInt8>,
        _ take: (ExtendedLogEntry) throws(ExtendedLogError) -> Void
    ) throws(ExtendedLogError) {
        var lines = ExtendedLogLines()
        var fields: [String] = []
        // The draft defines no escapes, so a backslash in the logs of other programs is a literal backslash.
        var hasEscapes = false
        var entries = 0
        while let range = lines.next(in: bytes) {
            let line = lines.number
            guard range.count <= limits.maximumLineLength else {
                throw ExtendedLogError(code: .lineTooLong, line: line, field: nil)
            }
            if bytes[range.lowerBound] == UInt8(ascii: "#") {
                let directive = ExtendedLogDirective(bytes.extracting(range))
                if directive.name == "version", !directive.isVersion1 {
                    throw ExtendedLogError(code: .unsupportedVersion, line: line, field: nil)
                }
                hasEscapes = hasEscapes || directive.declaresEscapes
                guard directive.name == "fields" else { continue }
                fields = directive.words(maximumCount: limits.maximumFieldCount + 1)
                guard fields.count <= limits.maximumFieldCount else {
                    throw ExtendedLogError(code: .tooManyFields, line: line, field: nil)
                }
                continue
            }
            guard !fields.isEmpty else { throw ExtendedLogError(code: .noFields, line: line, field: nil) }
            let text = bytes.extracting(range)
            guard let values = ExtendedLogEntry.values(of: text, maximumCount: fields.count + 1, hasEscapes: hasEscapes)
            else {
                throw ExtendedLogError(code: .malformedString, line: line, field: nil)
            }
            guard values.count == fields.count else {
                throw ExtendedLogError(code: .wrongNumberOfValues, line: line, field: nil)
            }
            entries += 1
            guard entries <= limits.maximumEntryCount else {
                throw ExtendedLogError(code: .tooManyEntries, line: line, field: nil)
            }
            try take(ExtendedLogEntry(line: line, fields: fields, texts: values))
        }
    }
}
