import MediaTiming
import ReportFormat

extension ReportValue {
    /// What JSON has for a figure that is not known: such a field is there all the same, and readers need not ask.
    static let unknown = ReportValue.number("null")

    /// The value, or that it is not known.
    static func orUnknown(_ value: ReportValue?) -> ReportValue { value ?? .unknown }

    /// Seconds, exact.
    static func seconds(_ duration: Duration) -> ReportValue { .number(duration.decimalSeconds) }

    /// Bits a second.
    static func bitRate(_ rate: BitRate) -> ReportValue { .integer(rate.bitsPerSecond) }

    /// Start and end of a range, in seconds.
    static func range(_ range: MediaTimeRange) -> ReportValue { .array([.seconds(range.start), .seconds(range.end)]) }

    /// Starts and ends of ranges, in seconds.
    static func ranges(_ ranges: [MediaTimeRange]) -> ReportValue { .array(ranges.map { .range($0) }) }

    /// A variant with all that is known of it.
    static func variant(_ variant: VariantDescription) -> ReportValue {
        .fields([
            "id": .string(variant.id), "url": .string(variant.address),
            "bandwidth": variant.peakBitRate.bitsPerSecond > 0 ? .bitRate(variant.peakBitRate) : nil,
            "averageBandwidth": variant.averageBitRate.map { .bitRate($0) },
            "width": variant.width.map { .integer($0) }, "height": variant.height.map { .integer($0) },
        ])
    }

    /// A failure, without the header fields of the answer, which may hold what only this user should know.
    static func failure(_ record: PlaybackErrorRecord) -> [(String, ReportValue?)] {
        [
            ("status", .integer(record.statusCode)), ("domain", .string(record.domain)),
            ("comment", .string(record.comment)), ("url", record.address.map { .string($0) }),
            ("serverAddress", record.serverAddress.map { .string($0) }), ("recovered", .bool(record.didRecover)),
        ]
    }
}
