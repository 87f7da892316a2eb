/// A decimal number as it is written: an integer and how many of its digits stand behind the point.
package struct DecimalDigits: Sendable, Hashable {
    /// All digits as one integer, with the sign.
    package let value: Int64
    /// How many of them stand behind the point, 0 to 18.
    package let fractionDigits: Int

    /// The most digits that surely fit in 64 bits.
    private static let mostDigits = 18

    /// Reads `[+-]digits[.digits]`; `nil` for anything else.
    ///
    /// Digits behind the point that no longer fit are dropped; digits before it that do not fit give `nil`.
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
                if seenPoint, fraction == Self.mostDigits { continue }
                if counted == Self.mostDigits {
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

    /// Makes a number of its digits.
    package init(value: Int64, fractionDigits: Int) {
        self.value = value
        self.fractionDigits = fractionDigits
    }

    /// Ten to the power of `exponent`, which is 0 to 18.
    package static func power(of exponent: Int) -> Int64 {
        var result: Int64 = 1
        // Bounded: callers count at most 18 digits.
        for _ in 0..<exponent { result *= 10 }
        return result
    }
}
