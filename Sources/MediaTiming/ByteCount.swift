/// A number of bytes, 0 or more.
public struct ByteCount: Sendable, Hashable, Comparable, AdditiveArithmetic {
    /// The count as an integer, 0 or more.
    public let bytes: Int64

    /// The count of zero bytes.
    public static let zero = ByteCount(0)

    /// Creates a byte count; negative numbers become zero.
    public init(_ bytes: Int64) {
        self.bytes = max(0, bytes)
    }

    /// Returns a Boolean value that indicates whether the left count is smaller than the right count.
    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
    /// Returns the sum, or the maximum of 64 bits if the sum exceeds it.
    public static func + (left: ByteCount, right: ByteCount) -> ByteCount {
        let (sum, overflow) = left.bytes.addingReportingOverflow(right.bytes)
        return ByteCount(overflow ? .max : sum)
    }
    /// Returns the difference, or zero if the right count is greater than the left.
    public static func - (left: ByteCount, right: ByteCount) -> ByteCount { ByteCount(left.bytes -| right.bytes) }
}

extension ByteCount: CustomStringConvertible {
    /// The count with a unit in decimal multiples, for display: `512 bytes`, `18.3 kB`, `2.07 GB`.
    public var description: String {
        guard bytes >= 1_000 else { return "\(bytes) bytes" }
        var size = Double(bytes)
        var unit = ""
        for next in ["kB", "MB", "GB", "TB"] where size >= 1_000 {
            size /= 1_000
            unit = next
        }
        let hundredths = Int64(saturating: (size * 100).rounded())
        let decimals = size >= 100 ? 0 : size >= 10 ? 1 : 2
        switch decimals {
        case 0: return "\((hundredths +| 50) / 100) \(unit)"
        case 1: return "\((hundredths +| 5) / 100).\((hundredths +| 5) % 100 / 10) \(unit)"
        default:
            let part = hundredths % 100
            return "\(hundredths / 100).\(part < 10 ? "0" : "")\(part) \(unit)"
        }
    }
}
