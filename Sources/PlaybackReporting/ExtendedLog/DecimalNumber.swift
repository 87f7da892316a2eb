import MediaTiming

/// A decimal number in a log, exact to 18 fractional digits.
struct DecimalNumber: Sendable, Hashable {
    /// The number multiplied by 10^18.
    let scaledValue: Int128

    private static let scale: Int128 = 1_000_000_000_000_000_000

    /// Creates a number from `[-]digits[.digits]`; `nil` for any other text and for numbers out of range.
    ///
    /// Fractional digits from the 19th on are dropped.
    init?(_ text: some StringProtocol) {
        var whole: Int128 = 0
        var fraction: Int128 = 0
        var unit = Self.scale
        var hasPoint = false
        var hasDigit = false
        var bytes = text.utf8[...]
        let isNegative = bytes.first == UInt8(ascii: "-")
        if isNegative { bytes = bytes.dropFirst() }
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                hasDigit = true
                // Bounded: the byte is a digit.
                let digit = Int128(byte - UInt8(ascii: "0"))
                if hasPoint {
                    unit /= 10
                    // Bounded: the unit falls by ten with each digit, so the sum is less than one.
                    fraction += digit * unit
                } else {
                    let (tenfold, overflow) = whole.multipliedReportingOverflow(by: 10)
                    let (sum, overflowed) = tenfold.addingReportingOverflow(digit)
                    guard !overflow, !overflowed else { return nil }
                    whole = sum
                }
            case UInt8(ascii: ".") where !hasPoint: hasPoint = true
            default: return nil
            }
        }
        let (scaled, overflow) = whole.multipliedReportingOverflow(by: Self.scale)
        let (sum, overflowed) = scaled.addingReportingOverflow(fraction)
        guard hasDigit, !overflow, !overflowed else { return nil }
        scaledValue = isNegative ? sum.negatedSaturated() : sum
    }

    /// The nearest integer for a number of 0 or more, with halves rounded up; `nil` if it does not fit.
    var rounded: Int64? {
        let (whole, rest) = scaledValue.quotientAndRemainder(dividingBy: Self.scale)
        return Int64(exactly: rest *| 2 >= Self.scale ? whole +| 1 : whole)
    }

    /// The integer value, or `nil` if the number has a fractional part or does not fit.
    var whole: Int64? { scaledValue % Self.scale == 0 ? Int64(exactly: scaledValue / Self.scale) : nil }
}

extension Duration {
    /// The duration in seconds as an exact decimal number with as few digits as possible.
    var decimalSeconds: String { decimalSeconds(minimumFractionDigits: 0) }

    /// Returns the duration in seconds as an exact decimal number with a minimum number of fractional digits.
    func decimalSeconds(minimumFractionDigits: Int) -> String {
        let (whole, rest) = attoseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000_000_000_000_000)
        var digits = String(rest)
        digits = String(repeating: "0", count: 18 - digits.utf8.count) + digits
        while digits.utf8.count > minimumFractionDigits, digits.hasSuffix("0") { digits.removeLast() }
        return (attoseconds < 0 ? "-" : "") + String(whole) + (digits.isEmpty ? "" : "." + digits)
    }
}
