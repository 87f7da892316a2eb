public import Adaptation
import MediaTiming

extension ThroughputSample {
    /// What a finished transfer says about the line; `nil` before its last byte came.
    ///
    /// The time to the first byte is latency; the bytes are counted as they crossed the line.
    public init?(_ measurement: TransferMeasurement) {
        guard let first = measurement.firstByte, let last = measurement.lastByte else { return nil }
        self.init(
            start: measurement.sent + first,
            end: measurement.sent + max(first, last),
            bytes: measurement.bytes,
            latency: first,
            isCached: measurement.isFromCache
        )
    }
}
