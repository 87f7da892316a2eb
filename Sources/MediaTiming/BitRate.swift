/// A data rate in bits per second.
public struct BitRate: Sendable, Hashable, Comparable {
    /// The number of bits per second, 0 or more.
    public let bitsPerSecond: Int64

    /// Creates a bit rate; negative numbers become zero.
    public init(bitsPerSecond: Int64) {
        self.bitsPerSecond = max(0, bitsPerSecond)
    }

    /// Creates the bit rate nearest to a number of bits per second.
    ///
    /// Rates above 2^63 − 1 become that maximum; NaN and negative numbers become zero.
    package init(saturating bitsPerSecond: Double) {
        self.init(bitsPerSecond: Int64(saturating: bitsPerSecond.rounded()))
    }

    /// Creates a bit rate from a decimal number with an optional decimal prefix: `900000`, `900k`, `4M`, `1.5M` or
    /// `2G`.
    ///
    /// The prefixes are not case-sensitive, and fractions of a bit are dropped. The result is `nil` if the text is no
    /// such number, if the number is negative, or if the rate does not fit in 64 bits.
    public init?(_ text: some StringProtocol) {
        var digits = text[...]
        var zeros = 0
        switch digits.last {
        case "k", "K": zeros = 3
        case "m", "M": zeros = 6
        case "g", "G": zeros = 9
        case "t", "T": zeros = 12
        default: break
        }
        if zeros > 0 { digits = digits.dropLast() }
        guard let number = MediaTime(decimal: digits), number >= .zero else { return nil }
        let scaled = Int128(number.value) *| Int128(DecimalDigits.power(of: zeros))
        // Bounded: a timescale is positive.
        guard let rate = Int64(exactly: scaled / Int128(number.timescale)) else { return nil }
        bitsPerSecond = rate
    }

    /// Returns a Boolean value that indicates whether the left rate is lower than the right rate.
    public static func < (left: BitRate, right: BitRate) -> Bool { left.bitsPerSecond < right.bitsPerSecond }
}

extension BitRate: CustomStringConvertible {
    /// The rate with a unit, for display: `232 kbit/s`, `4.8 Mbit/s`, `1.2 Gbit/s`.
    public var description: String {
        if bitsPerSecond < 1_000 { return "\(bitsPerSecond) bit/s" }
        // A rate that would be rounded to a thousand of a unit has the next unit.
        let thousands = rounded(to: 1_000)
        if thousands < 1_000 { return "\(thousands) kbit/s" }
        let tenths = rounded(to: 100_000)
        if tenths < 10_000 { return Self.text(tenths: tenths, "Mbit/s") }
        return Self.text(tenths: rounded(to: 100_000_000), "Gbit/s")
    }

    private static func text(tenths: Int64, _ unit: String) -> String {
        tenths % 10 == 0 ? "\(tenths / 10) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
    }

    /// Returns the rate in multiples of `unit` bits per second, with halves rounded up.
    private func rounded(to unit: Int64) -> Int64 {
        let (count, rest) = bitsPerSecond.quotientAndRemainder(dividingBy: unit)
        // Adding half a unit before the division would overflow for rates near the maximum; the quotient has room for 1
        // more.
        return rest >= unit / 2 ? count +| 1 : count
    }
}
