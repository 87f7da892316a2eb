import CFFmpeg
import MediaTiming

/// The recognition of a constant frame rate from timestamps, which a file can declare.
enum ConstantFrameRate {
    /// The minimum number of frames; fewer do not show that their intervals are equal.
    private static let minimumCount = 3
    /// The frame rates that are recognized, in frames per second.
    private static let range = 1.0...1_000
    /// The maximum deviation of a timestamp, in units of the time base: it and the first one are rounded.
    private static let tolerance = 1.01

    /// Returns the frame rate of video, in frames per second.
    ///
    /// - Parameters:
    ///   - timestamps: The presentation times of consecutive frames, in any order and in units of the time base.
    ///   - timeBase: The unit in seconds, whose numerator and denominator are positive.
    /// - Returns: A whole number, a whole number divided by 1.001, or a multiple of a half; `nil` if the timestamps have no such rate.
    static func rate(of timestamps: [Int64], in timeBase: AVRational) -> AVRational? {
        let sorted = timestamps.sorted()
        guard sorted.count >= minimumCount, let first = sorted.first, let last = sorted.last, last > first else {
            return nil
        }
        let unit = Double(timeBase.num) / Double(timeBase.den)
        let span = Double(last -| first) * unit
        let measured = Double(sorted.count - 1) / span
        guard range.contains(measured) else { return nil }
        let candidates = [
            AVRational(num: Int32(saturating: measured.rounded()), den: 1),
            AVRational(num: Int32(saturating: (measured * 1.001).rounded() * 1_000), den: 1_001),
            AVRational(num: Int32(saturating: (measured * 2).rounded()), den: 2),
        ]
        return candidates.first { candidate in
            let interval = Double(candidate.den) / Double(candidate.num) / unit
            return sorted.enumerated().allSatisfy { index, time in
                let elapsed = Double(time -| first)
                return abs(elapsed - Double(index) * interval) <= tolerance
            }
        }
    }
}
