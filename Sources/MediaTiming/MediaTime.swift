/// A point in time or a duration on a media timeline, as an exact fraction of a second.
///
/// The fraction is stored in lowest terms, so equal times are equal values whatever their source: `10.0` seconds from a
/// playlist equals `900000/90000` from a transport stream.
///
/// - Note: Results that do not fit in 64 bits are rounded to the nearest nanosecond, or to a coarser unit if necessary;
///   times that exceed 64 bits of seconds saturate. Neither occurs with the timescales that media use (up to 10^9).
public struct MediaTime: Sendable, Hashable {
    /// The numerator: the number of units of `1/timescale` second.
    public let value: Int64
    /// The denominator: the number of units per second, always positive.
    public let timescale: Int64

    /// A time of zero seconds.
    public static let zero = MediaTime(seconds: 0)

    /// Creates a time of `value/timescale` seconds.
    ///
    /// - Parameters:
    ///   - value: The number of units, of either sign.
    ///   - timescale: The units per second; a number below 1, which containers can declare, counts as 1.
    public init(value: Int64, timescale: Int64) {
        self.init(Int128(value), Int128(max(1, timescale)))
    }

    /// Creates a time from whole seconds.
    public init(seconds: Int64) {
        value = seconds
        timescale = 1
    }

    /// Creates a time from decimal digits such as `9.97667`, exactly.
    ///
    /// At most 18 significant digits are used; excess digits after the decimal point are dropped. A sign is accepted,
    /// an exponent is not. The result is `nil` if the text is no such number or has more than 18 significant digits
    /// before the decimal point.
    ///
    /// - Parameter text: One or more digits with at most one decimal point.
    public init?(decimal text: some StringProtocol) {
        guard let parsed = DecimalDigits(Array(text.utf8).span) else { return nil }
        self.init(parsed)
    }

    /// Creates a time from a decimal number of seconds.
    package init(_ digits: DecimalDigits) {
        self.init(value: digits.value, fractionDigits: digits.fractionDigits)
    }

    /// Creates a time of `value` divided by 10 to the power of `fractionDigits` (0 to 18) seconds.
    ///
    /// The denominator has only the prime factors 2 and 5, so no search for the greatest common divisor is needed.
    package init(value: Int64, fractionDigits: Int) {
        guard value != 0 else {
            self = .zero
            return
        }
        var (top, bottom) = (value, DecimalDigits.power(of: fractionDigits))
        let twos = min(top.trailingZeroBitCount, fractionDigits)
        top >>= Int64(twos)
        bottom >>= Int64(twos)
        var fives = fractionDigits
        while fives > 0, top % 5 == 0 {
            top /= 5
            bottom /= 5
            fives -= 1
        }
        self.value = top
        timescale = bottom
    }

    /// Creates the time nearest to a floating-point number of seconds, rounded to the nanosecond.
    ///
    /// - Parameter seconds: A finite number from -9·10^9 to 9·10^9; the result is `nil` for any other value.
    public init?(approximating seconds: Double) {
        guard seconds.isFinite, abs(seconds) < 9_000_000_000 else { return nil }
        self.init(Int128(saturating: (seconds * 1_000_000_000).rounded()), 1_000_000_000)
    }

    // Bounded: a divisor is at least 1, and a quotient is no greater than the dividend.
    /// Creates the time nearest to a fraction of 128-bit integers.
    ///
    /// A fraction that does not fit is rounded to nanoseconds, or to microseconds, milliseconds or seconds for longer
    /// times; times that exceed 64 bits of seconds saturate.
    private init(_ numerator: Int128, _ denominator: Int128) {
        // Most fractions fit in 64 bits, whose division is faster.
        if let top = Int64(exactly: numerator), top > .min, let bottom = Int64(exactly: denominator) {
            let divisor = Int64(Self.greatestCommonDivisor(top.magnitude, UInt64(bottom)))
            value = top / divisor
            timescale = bottom / divisor
            return
        }
        let divisor = Self.greatestCommonDivisor(numerator.magnitude, denominator.magnitude)
        var top = numerator / Int128(divisor)
        var bottom = denominator / Int128(divisor)
        if bottom > Int128(Int64.max) || top.magnitude > UInt128(Int64.max) {
            let (whole, remainder) = top.quotientAndRemainder(dividingBy: bottom)
            let fraction = Double(remainder) / Double(bottom)
            for unit: Int128 in [1_000_000_000, 1_000_000, 1_000, 1] {
                top = whole.multipliedSaturated(by: unit)
                    .addingSaturated(Int128(saturating: (fraction * Double(unit)).rounded()))
                bottom = unit
                if top.magnitude <= UInt128(Int64.max) { break }
            }
            let again = Self.greatestCommonDivisor(top.magnitude, bottom.magnitude)
            top /= Int128(again)
            bottom /= Int128(again)
        }
        value = Int64(clamping: top)
        timescale = Int64(clamping: bottom)
    }

    /// The time in seconds as the nearest floating-point number, for arithmetic where rounding does not matter.
    public var seconds: Double { Double(value) / Double(timescale) }

    // Bounded: a remainder of 64 bits times 10^18 fits in 128 bits, as does the sum of two such products.
    /// The time as a `Duration`, rounded toward zero to the attosecond and clamped to ±(2^63 − 1) seconds.
    public var duration: Duration {
        let (whole, part) = value.quotientAndRemainder(dividingBy: timescale)
        let attoseconds = Int128(part) * Duration.attosecondsPerSecond / Int128(timescale)
        return Duration(saturatingAttoseconds: Int128(whole) * Duration.attosecondsPerSecond + attoseconds)
    }

    // Bounded: twice a number of 64 bits fits in 128 bits.
    /// The time in whole seconds, with halves rounded up, as for `EXT-X-TARGETDURATION` (RFC 8216bis §4.4.3.1).
    public var roundedSeconds: Int64 {
        let (whole, part) = value.quotientAndRemainder(dividingBy: timescale)
        let doubled = Int128(part) * 2
        return doubled >= Int128(timescale) ? whole +| 1 : doubled < -Int128(timescale) ? whole -| 1 : whole
    }

    private static func greatestCommonDivisor<Number: FixedWidthInteger & UnsignedInteger>(
        _ first: Number,
        _ second: Number
    ) -> Number {
        var (a, b) = (first, second)
        // Bounded: the loop ends before the divisor is zero.
        while b != 0 { (a, b) = (b, a % b) }
        return max(a, 1)
    }
}

extension MediaTime: Comparable {
    /// Returns a Boolean value that indicates whether the left time is less than the right time.
    public static func < (left: MediaTime, right: MediaTime) -> Bool {
        if left.timescale == right.timescale { return left.value < right.value }
        // Bounded: the product of two numbers of 64 bits fits in 128 bits.
        return Int128(left.value) * Int128(right.timescale) < Int128(right.value) * Int128(left.timescale)
    }
}

extension MediaTime: AdditiveArithmetic {
    /// Returns the sum of two times.
    public static func + (left: MediaTime, right: MediaTime) -> MediaTime {
        // Bounded: see combine(_:_:_:).
        combine(left, right) { $0 + $1 }
    }

    /// Returns the difference of two times.
    public static func - (left: MediaTime, right: MediaTime) -> MediaTime {
        // Bounded: see combine(_:_:_:).
        combine(left, right) { $0 - $1 }
    }

    /// Returns the time multiplied by an integer.
    public static func * (time: MediaTime, count: Int64) -> MediaTime {
        // Bounded: the product of two numbers of 64 bits fits in 128 bits.
        MediaTime(Int128(time.value) * Int128(count), Int128(time.timescale))
    }

    /// Returns the product with another fraction, which need not be a time.
    package func scaled(by other: MediaTime) -> MediaTime {
        let (top, overflow) = Int128(value).multipliedReportingOverflow(by: Int128(other.value))
        let (bottom, overflowed) = Int128(timescale).multipliedReportingOverflow(by: Int128(other.timescale))
        return overflow || overflowed ? .zero : MediaTime(top, bottom)
    }

    private static func combine(
        _ left: MediaTime,
        _ right: MediaTime,
        _ operation: (Int128, Int128) -> Int128
    ) -> MediaTime {
        if left.timescale == right.timescale {
            return MediaTime(operation(Int128(left.value), Int128(right.value)), Int128(left.timescale))
        }
        // Products of two 64-bit numbers and their sums fit in 128 bits.
        let top = operation(
            // Bounded: the product of two numbers of 64 bits fits in 128 bits.
            Int128(left.value) * Int128(right.timescale),
            // Bounded: the product of two numbers of 64 bits fits in 128 bits.
            Int128(right.value) * Int128(left.timescale)
        )
        // Bounded: the product of two numbers of 64 bits fits in 128 bits.
        return MediaTime(top, Int128(left.timescale) * Int128(right.timescale))
    }
}

extension MediaTime: CustomStringConvertible {
    // Bounded: a value of 64 bits times 10^18 fits in 128 bits; timescales and scales are positive.
    /// The time in seconds as decimal digits, exact if at most 18 digits after the decimal point suffice.
    ///
    /// Fractions without a finite decimal expansion are rounded to nine digits after the decimal point, and expansions
    /// that need more than 18 to the nearest floating-point number.
    public var description: String {
        var denominator = timescale
        var twos = 0
        var fives = 0
        while denominator % 2 == 0 { (denominator, twos) = (denominator / 2, twos + 1) }
        while denominator % 5 == 0 { (denominator, fives) = (denominator / 5, fives + 1) }
        let digits = denominator == 1 ? max(twos, fives) : 9
        guard digits <= 18 else { return String(seconds) }
        let scale = Int128(DecimalDigits.power(of: digits))
        let top = Int128(value) * scale
        let rounded = (top.magnitude + UInt128(timescale) / 2) / UInt128(timescale)
        let sign = value < 0 ? "-" : ""
        let (whole, part) = rounded.quotientAndRemainder(dividingBy: UInt128(scale))
        guard part != 0 else { return "\(sign)\(whole)" }
        var fraction = String(part)
        fraction = String(repeating: "0", count: digits - fraction.count) + fraction
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return "\(sign)\(whole).\(fraction)"
    }
}
