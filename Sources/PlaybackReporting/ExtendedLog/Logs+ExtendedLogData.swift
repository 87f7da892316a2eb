extension AccessLog {
    /// The log as text in the W3C Extended Log File Format, in UTF-8; see ``ExtendedLogWriter``.
    public var extendedLogData: [UInt8] { Array(ExtendedLogWriter().text(of: self).utf8) }

    /// The IANA name of the character encoding of ``extendedLogData``, which is always `UTF-8`.
    public var extendedLogDataStringEncoding: String { "UTF-8" }

    /// Creates a log from data in the format of ``extendedLogData``, written by this or another program.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8.
    ///   - limits: The limits for the size of the log.
    /// - Throws: ``ExtendedLogError`` with the line that is invalid.
    public init(
        extendedLogData bytes: Span<UInt8>,
        limits: ExtendedLogReader.Limits = ExtendedLogReader.Limits()
    ) throws(ExtendedLogError) {
        self = try ExtendedLogReader(limits: limits).accessLog(bytes)
    }
}

extension ErrorLog {
    /// The log as text in the W3C Extended Log File Format, in UTF-8; see ``ExtendedLogWriter``.
    public var extendedLogData: [UInt8] { Array(ExtendedLogWriter().text(of: self).utf8) }

    /// The IANA name of the character encoding of ``extendedLogData``, which is always `UTF-8`.
    public var extendedLogDataStringEncoding: String { "UTF-8" }

    /// Creates a log from data in the format of ``extendedLogData``, written by this or another program.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8.
    ///   - limits: The limits for the size of the log.
    /// - Throws: ``ExtendedLogError`` with the line that is invalid.
    public init(
        extendedLogData bytes: Span<UInt8>,
        limits: ExtendedLogReader.Limits = ExtendedLogReader.Limits()
    ) throws(ExtendedLogError) {
        self = try ExtendedLogReader(limits: limits).errorLog(bytes)
    }
}
