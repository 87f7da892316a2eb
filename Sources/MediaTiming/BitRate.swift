/// A rate in bits a second.
public struct BitRate: Sendable, Hashable, Comparable {
    /// Bits a second, 0 or more.
    public let bitsPerSecond: Int64

    /// Makes a rate of bits a second; negative numbers count as zero.
    public init(bitsPerSecond: Int64) {
        self.bitsPerSecond = max(0, bitsPerSecond)
    }

    /// Creates the rate nearest to a number of bits per second.
    ///
    /// Rates that do not fit become the greatest one; NaN and negative numbers become zero.
    package init(saturating bitsPerSecond: Double) {
        self.init(bitsPerSecond: Int64(saturating: bitsPerSecond.rounded()))
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
        let scaled = Int128(number.value) *| Int128(DecimalDigits.power(of: zeros))
        // Bounded: a timescale is positive.
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
        if bitsPerSecond < 1_000_000 { return "\(rounded(to: 1_000)) kbit/s" }
        let tenths = rounded(to: 100_000)
        return tenths % 10 == 0 ? "\(tenths / 10) Mbit/s" : "\(tenths / 10).\(tenths % 10) Mbit/s"
    }

    /// Returns the number of units of a size, halves rounded up.
    private func rounded(to unit: Int64) -> Int64 {
        let (count, rest) = bitsPerSecond.quotientAndRemainder(dividingBy: unit)
        // The sum with half a unit would not fit for the greatest rates; the quotient has room for one more.
        return rest >= unit / 2 ? count +| 1 : count
    }
}
