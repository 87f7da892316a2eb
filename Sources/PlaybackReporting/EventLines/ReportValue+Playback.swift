import MediaTiming
import ReportFormat

extension ReportValue {
    /// The JSON value `null`, for a field that is always present but whose value is unknown.
    static let unknown = ReportValue.number("null")

    /// Returns the value, or ``unknown`` for `nil`.
    static func orUnknown(_ value: ReportValue?) -> ReportValue { value ?? .unknown }

    /// Returns a duration as an exact number of seconds.
    static func seconds(_ duration: Duration) -> ReportValue { .number(duration.decimalSeconds) }

    /// Returns a bit rate in bits per second.
    static func bitRate(_ rate: BitRate) -> ReportValue { .integer(rate.bitsPerSecond) }

    /// Returns an array of the start and the end of a range, in seconds.
    static func range(_ range: MediaTimeRange) -> ReportValue { .array([.seconds(range.start), .seconds(range.end)]) }

    /// Returns an array of ranges, in seconds.
    static func ranges(_ ranges: [MediaTimeRange]) -> ReportValue { .array(ranges.map { .range($0) }) }

    /// Returns an object with all known properties of a variant.
    static func variant(_ variant: VariantDescription, _ addresses: WrittenAddresses) -> ReportValue {
        .fields([
            "id": .string(variant.id), "url": .string(addresses.text(variant.address)),
            "bandwidth": variant.peakBitRate.bitsPerSecond > 0 ? .bitRate(variant.peakBitRate) : nil,
            "averageBandwidth": variant.averageBitRate.map { .bitRate($0) },
            "width": variant.width.map { .integer($0) }, "height": variant.height.map { .integer($0) },
        ])
    }

    /// Returns the fields of an error, without the response headers, which may contain private data.
    static func failure(
        _ record: PlaybackErrorRecord,
        _ addresses: WrittenAddresses
    ) -> [(String, ReportValue?)] {
        [
            ("status", .integer(record.statusCode)), ("domain", .string(record.domain)),
            ("comment", .string(record.comment)), ("url", record.address.map { .string(addresses.text($0)) }),
            ("serverAddress", record.serverAddress.map { .string($0) }), ("recovered", .bool(record.didRecover)),
        ]
    }
}
