/// A sum of times, which is reduced to lowest terms only when it is read.
///
/// Adding many times of the same timescale is faster than with ``MediaTime/+(_:_:)``; the result is the same.
package struct MediaTimeSum: Sendable {
    private var value: Int64
    private var timescale: Int64

    /// Creates a sum that begins with a time.
    package init(_ time: MediaTime = .zero) {
        value = time.value
        timescale = time.timescale
    }

    /// The sum of all times that have been added.
    package var time: MediaTime { MediaTime(value: value, timescale: timescale) }

    /// Adds a time.
    package static func += (sum: inout MediaTimeSum, time: MediaTime) {
        // Timescales are positive.
        let (factor, remainder) = sum.timescale.quotientAndRemainder(dividingBy: time.timescale)
        let (scaled, overflow) = time.value.multipliedReportingOverflow(by: factor)
        let (total, overflowed) = sum.value.addingReportingOverflow(scaled)
        if remainder == 0, !overflow, !overflowed {
            sum.value = total
        } else {
            sum = MediaTimeSum(sum.time + time)
        }
    }
}
