/// A number of bytes.
public struct ByteCount: Sendable, Hashable, Comparable, AdditiveArithmetic {
    /// The number, 0 or more.
    public let bytes: Int64

    /// No bytes.
    public static let zero = ByteCount(0)

    /// Makes a count; negative numbers count as zero.
    public init(_ bytes: Int64) {
        self.bytes = max(0, bytes)
    }

    /// Whether the left value comes before the right one.
    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
    /// The sum.
    public static func + (left: ByteCount, right: ByteCount) -> ByteCount {
        let (sum, overflow) = left.bytes.addingReportingOverflow(right.bytes)
        return ByteCount(overflow ? .max : sum)
    }
    /// The difference.
    public static func - (left: ByteCount, right: ByteCount) -> ByteCount { ByteCount(left.bytes -| right.bytes) }
}

extension ByteCount: CustomStringConvertible {
    /// For people, in decimal multiples: `512 bytes`, `18.3 kB`, `2.07 GB`.
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
