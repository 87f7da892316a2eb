/// Reads logs in the W3C Extended Log File Format (WD-logfile-960323).
///
/// It takes the fields in any order, skips those that it does not know, follows every further `#Fields` directive, and does
/// not insist on `#Version`, which AVFoundation leaves out. Lines end in LF or CRLF; a byte-order mark is skipped, bytes that
/// are not UTF-8 become U+FFFD. A negative number in an access log stands for one that is not known.
public struct ExtendedLogReader: Sendable, Hashable {
    /// How much is read of a text that somebody else wrote.
    public struct Limits: Sendable, Hashable {
        /// How many entries: 100,000 by default, ten times what a recorder keeps.
        public var mostEntries: Int
        /// How long a line may be, in bytes: 1 MiB by default, more than the longest addresses and messages take.
        public var longestLine: Int
        /// How many fields an entry may have: 128 by default; an access log has 27.
        public var mostFields: Int

        /// Makes limits.
        public init(mostEntries: Int = 100_000, longestLine: Int = 1_048_576, mostFields: Int = 128) {
            self.mostEntries = mostEntries
            self.longestLine = longestLine
            self.mostFields = mostFields
        }
    }

    /// How much is read.
    public var limits: Limits

    /// Makes a reader.
    public init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Reads an access log.
    ///
    /// - Parameter bytes: Text in UTF-8.
    /// - Returns: The log; one without entries where there are none.
    /// - Throws: ``ExtendedLogError`` with the line that cannot be read.
    /// - Complexity: O(*n*) in bytes.
    public func accessLog(_ bytes: Span<UInt8>) throws(ExtendedLogError) -> AccessLog {
        var log = AccessLog()
        try readEntries(of: bytes) { (entry) throws(ExtendedLogError) in
            var event = AccessLog.Event()
            for (name, value) in entry.values {
                guard let field = AccessLogField(rawValue: name), !field.store(value, in: &event) else { continue }
                throw ExtendedLogError(code: .malformedValue, line: entry.line, field: name)
            }
            event.playbackStartDate = try entry.moment()
            log.events.append(event)
        }
        return log
    }

    /// Reads an error log.
    ///
    /// - Parameter bytes: Text in UTF-8.
    /// - Returns: The log; one without entries where there are none.
    /// - Throws: ``ExtendedLogError`` with the line that cannot be read; `noFields` too where there is no field `status`,
    ///   as in an access log.
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
            event.date = try entry.moment()
            log.events.append(event)
        }
        return log
    }

    /// Hands out the entries one after the other.
    private func readEntries(
        of bytes: Span<UInt8>,
        _ take: (ExtendedLogEntry) throws(ExtendedLogError) -> Void
    ) throws(ExtendedLogError) {
        var lines = ExtendedLogLines()
        var fields: [String] = []
        // The draft knows no escapes: others mean a backslash where they write one.
        var hasEscapes = false
        var entries = 0
        while let range = lines.next(in: bytes) {
            let line = lines.number
            guard range.count <= limits.longestLine else {
                throw ExtendedLogError(code: .lineTooLong, line: line, field: nil)
            }
            if bytes[range.lowerBound] == UInt8(ascii: "#") {
                let directive = ExtendedLogDirective(bytes.extracting(range))
                if directive.name == "version", !directive.namesVersion1 {
                    throw ExtendedLogError(code: .unsupportedVersion, line: line, field: nil)
                }
                hasEscapes = hasEscapes || directive.namesOurSpelling
                guard directive.name == "fields" else { continue }
                fields = directive.words(atMost: limits.mostFields + 1)
                guard fields.count <= limits.mostFields else {
                    throw ExtendedLogError(code: .tooManyFields, line: line, field: nil)
                }
                continue
            }
            guard !fields.isEmpty else { throw ExtendedLogError(code: .noFields, line: line, field: nil) }
            let text = bytes.extracting(range)
            guard let values = ExtendedLogEntry.values(of: text, atMost: fields.count + 1, hasEscapes: hasEscapes)
            else {
                throw ExtendedLogError(code: .malformedString, line: line, field: nil)
            }
            guard values.count == fields.count else {
                throw ExtendedLogError(code: .wrongNumberOfValues, line: line, field: nil)
            }
            entries += 1
            guard entries <= limits.mostEntries else {
                throw ExtendedLogError(code: .tooManyEntries, line: line, field: nil)
            }
            try take(ExtendedLogEntry(line: line, fields: fields, texts: values))
        }
    }
}
