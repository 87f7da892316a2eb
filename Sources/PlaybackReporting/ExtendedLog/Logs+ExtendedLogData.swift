extension AccessLog {
    /// The log as text in the W3C Extended Log File Format, in UTF-8; see ``ExtendedLogWriter``.
    public var extendedLogData: [UInt8] { Array(ExtendedLogWriter().text(of: self).utf8) }

    /// How ``extendedLogData`` is encoded, by its name in the registry of IANA: always `UTF-8`.
    public var extendedLogDataStringEncoding: String { "UTF-8" }

    /// Reads what ``extendedLogData`` wrote, or another program in the same format.
    ///
    /// - Parameters:
    ///   - bytes: Text in UTF-8.
    ///   - limits: How much is read.
    /// - Throws: ``ExtendedLogError`` with the line that cannot be read.
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

    /// How ``extendedLogData`` is encoded, by its name in the registry of IANA: always `UTF-8`.
    public var extendedLogDataStringEncoding: String { "UTF-8" }

    /// Reads what ``extendedLogData`` wrote, or another program in the same format.
    ///
    /// - Parameters:
    ///   - bytes: Text in UTF-8.
    ///   - limits: How much is read.
    /// - Throws: ``ExtendedLogError`` with the line that cannot be read.
    public init(
        extendedLogData bytes: Span<UInt8>,
        limits: ExtendedLogReader.Limits = ExtendedLogReader.Limits()
    ) throws(ExtendedLogError) {
        self = try ExtendedLogReader(limits: limits).errorLog(bytes)
    }
}
