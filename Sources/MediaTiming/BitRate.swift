/// A rate in bits a second.
public struct BitRate: Sendable, Hashable, Comparable {
    /// Bits a second, 0 or more.
    public let bitsPerSecond: Int64

    /// Makes a rate of bits a second; negative numbers count as zero.
    public init(bitsPerSecond: Int64) {
        self.bitsPerSecond = max(0, bitsPerSecond)
    }

    /// Reads `900000`, `900k`, `4M` or `1.5M`: bits a second with decimal multiples.
    public init?(_ text: some StringProtocol) {
        var digits = text[...]
        var zeros = 0
        switch digits.last {
        case "k", "K": zeros = 3
        case "m", "M": zeros = 6
        case "g", "G": zeros = 9
        default: break
        }
        if zeros > 0 { digits = digits.dropLast() }
        guard let number = MediaTime(decimal: digits), number >= .zero else { return nil }
        let scaled = Int128(number.value) * Int128(DecimalDigits.power(of: zeros))
        guard let rate = Int64(exactly: scaled / Int128(number.timescale)) else { return nil }
        bitsPerSecond = rate
    }

    /// Whether the left value comes before the right one.
    public static func < (left: BitRate, right: BitRate) -> Bool { left.bitsPerSecond < right.bitsPerSecond }
}

extension BitRate: CustomStringConvertible {
    /// For people: `232 kbit/s`, `4.8 Mbit/s`.
    public var description: String {
        if bitsPerSecond < 1_000 { return "\(bitsPerSecond) bit/s" }
        if bitsPerSecond < 1_000_000 { return "\((bitsPerSecond + 500) / 1_000) kbit/s" }
        let tenths = (bitsPerSecond + 50_000) / 100_000
        return tenths % 10 == 0 ? "\(tenths / 10) Mbit/s" : "\(tenths / 10).\(tenths % 10) Mbit/s"
    }
}
