public import Adaptation
import MediaTiming

extension ThroughputSample {
    /// Creates a throughput sample from a finished transfer; `nil` if the last byte is not received yet.
    ///
    /// The time to the first byte is the latency; compressed bodies count with their compressed size.
    public init?(_ measurement: TransferMeasurement) {
        guard let first = measurement.timeToFirstByte, let last = measurement.timeToLastByte else { return nil }
        self.init(
            start: measurement.requestStart + first,
            end: measurement.requestStart + max(first, last),
            bytes: measurement.bytes,
            latency: first,
            isCached: measurement.isFromCache
        )
    }
}
