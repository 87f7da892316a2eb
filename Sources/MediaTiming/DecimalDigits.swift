/// A decimal number without loss of precision: an integer and the number of its digits after the decimal point.
package struct DecimalDigits: Sendable, Hashable {
    /// All digits as one integer, with the sign.
    package let value: Int64
    /// The number of digits after the decimal point, 0 to 18.
    package let fractionDigits: Int

    /// The maximum number of decimal digits that always fit in 64 bits.
    private static let maximumDigitCount = 18

    /// Creates a number from text of the form `[+-]digits[.digits]`; the result is `nil` for anything else.
    ///
    /// Excess digits after the decimal point are dropped. A number with more than 18 significant digits before the
    /// decimal point gives `nil`.
    package init?(_ text: Span<UInt8>) {
        var digits: Int64 = 0
        var counted = 0
        var fraction = 0
        var seenPoint = false
        var seenDigit = false
        var isNegative = false
        for index in text.indices {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                seenDigit = true
                if seenPoint, fraction == Self.maximumDigitCount { continue }
                if counted == Self.maximumDigitCount {
                    guard seenPoint else { return nil }
                    continue
                }
                // Bounded: 18 digits at most.
                digits = digits * 10 + Int64(byte - UInt8(ascii: "0"))
                if digits != 0 { counted += 1 }
                if seenPoint { fraction += 1 }
            case UInt8(ascii: "."):
                if seenPoint { return nil }
                seenPoint = true
            case UInt8(ascii: "-"), UInt8(ascii: "+"):
                guard index == 0 else { return nil }
                isNegative = byte == UInt8(ascii: "-")
            default:
                return nil
            }
        }
        guard seenDigit else { return nil }
        // Bounded: 18 digits at most.
        value = isNegative ? -digits : digits
        fractionDigits = fraction
    }

    /// Creates a number from an integer and the number of its digits after the decimal point.
    package init(value: Int64, fractionDigits: Int) {
        self.value = value
        self.fractionDigits = fractionDigits
    }

    /// Returns ten to the power of `exponent`, which must be 0 to 18.
    package static func power(of exponent: Int) -> Int64 {
        var result: Int64 = 1
        // Bounded: callers pass an exponent of at most 18.
        for _ in 0..<exponent { result *= 10 }
        return result
    }
}
