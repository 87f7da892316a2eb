/// A point or a length on a media timeline: an exact fraction of a second.
///
/// Values are kept in lowest terms, so that equal times are equal values however they were written: `10.0` seconds
/// read from a playlist equals `900000/90000` read from a transport stream.
///
/// - Note: Results that no longer fit in 64 bits are rounded to the nearest nanosecond, or to a coarser unit where even
///   that does not fit; times beyond 64 bits of seconds saturate. Neither happens with the timescales that media use
///   (up to 10^9).
public struct MediaTime: Sendable, Hashable {
    /// The numerator: how many units of `1/timescale` second.
    public let value: Int64
    /// The denominator: units a second, always positive.
    public let timescale: Int64

    /// The zero of every timeline.
    public static let zero = MediaTime(seconds: 0)

    /// Makes a time of `value/timescale` seconds.
    ///
    /// - Parameters:
    ///   - value: The number of units, of either sign.
    ///   - timescale: The units per second; a number below 1, which containers can declare, counts as 1.
    public init(value: Int64, timescale: Int64) {
        self.init(Int128(value), Int128(max(1, timescale)))
    }

    /// Makes a time of whole seconds.
    public init(seconds: Int64) {
        value = seconds
        timescale = 1
    }

    /// Makes a time from decimal digits such as `9.97667`, exact to the digits written.
    ///
    /// The first 18 digits that count are taken; further ones behind the point are dropped. A sign is taken, an exponent is not.
    ///
    /// - Parameter text: Digits with at most one point, of which at least one digit.
    public init?(decimal text: some StringProtocol) {
        guard let parsed = DecimalDigits(Array(text.utf8).span) else { return nil }
        self.init(parsed)
    }

    /// Makes the time that decimal digits say, in seconds.
    package init(_ digits: DecimalDigits) {
        self.init(value: digits.value, fractionDigits: digits.fractionDigits)
    }

    /// Makes a time of a number whose last digits, 0 to 18 of them, stand behind the point.
    ///
    /// The only factors to cancel are those of ten, so no common divisor has to be searched for.
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

    /// Makes the time nearest to a floating-point number of seconds, to the nanosecond.
    ///
    /// - Parameter seconds: Finite and within ±9·10^9; anything else gives `nil`.
    public init?(approximating seconds: Double) {
        guard seconds.isFinite, abs(seconds) < 9_000_000_000 else { return nil }
        self.init(Int128(saturating: (seconds * 1_000_000_000).rounded()), 1_000_000_000)
    }

    // Bounded: a divisor is at least 1, and a quotient is no greater than the dividend.
    /// Creates the time nearest to a fraction of 128-bit integers.
    ///
    /// A fraction that does not fit is rounded to nanoseconds, longer ones to micro- or milliseconds or to seconds;
    /// what lies beyond 64 bits of seconds saturates.
    private init(_ numerator: Int128, _ denominator: Int128) {
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

    /// Seconds as the nearest floating-point number, for arithmetic where rounding does not matter.
    public var seconds: Double { Double(value) / Double(timescale) }

    // Bounded: a remainder of 64 bits times 10^18 fits in 128 bits, as does the sum of two such products.
    /// The time as real time, rounded to the attosecond toward zero; at most 2^63 − 1 seconds either way.
    public var duration: Duration {
        let (whole, part) = value.quotientAndRemainder(dividingBy: timescale)
        let attoseconds = Int128(part) * Duration.attosecondsPerSecond / Int128(timescale)
        return Duration(saturatingAttoseconds: Int128(whole) * Duration.attosecondsPerSecond + attoseconds)
    }

    // Bounded: twice a number of 64 bits fits in 128 bits.
    /// Whole seconds, halves rounded up, as `EXT-X-TARGETDURATION` counts them (RFC 8216bis §4.4.3.1).
    public var roundedSeconds: Int64 {
        let (whole, part) = value.quotientAndRemainder(dividingBy: timescale)
        let doubled = Int128(part) * 2
        return doubled >= Int128(timescale) ? whole +| 1 : doubled < -Int128(timescale) ? whole -| 1 : whole
    }

    // Bounded: the loop ends before the divisor is zero.
    private static func greatestCommonDivisor(_ first: UInt128, _ second: UInt128) -> UInt128 {
        var (a, b) = (first, second)
        while b != 0 { (a, b) = (b, a % b) }
        return max(a, 1)
    }
}

extension MediaTime: Comparable {
    /// Whether the left value comes before the right one.
    public static func < (left: MediaTime, right: MediaTime) -> Bool {
        // Bounded: the product of two numbers of 64 bits fits in 128 bits.
        Int128(left.value) * Int128(right.timescale) < Int128(right.value) * Int128(left.timescale)
    }
}

extension MediaTime: AdditiveArithmetic {
    /// The sum.
    public static func + (left: MediaTime, right: MediaTime) -> MediaTime {
        // Bounded: see combine(_:_:_:).
        combine(left, right) { $0 + $1 }
    }

    /// The difference.
    public static func - (left: MediaTime, right: MediaTime) -> MediaTime {
        // Bounded: see combine(_:_:_:).
        combine(left, right) { $0 - $1 }
    }

    /// A time so many times as long.
    public static func * (time: MediaTime, count: Int64) -> MediaTime {
        // Bounded: the product of two numbers of 64 bits fits in 128 bits.
        MediaTime(Int128(time.value) * Int128(count), Int128(time.timescale))
    }

    /// The product with another number; both fractions of anything.
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
        // Products of two 64-bit numbers: neither they nor their sum leave 128 bits.
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
    /// Seconds in decimal digits: exact where the fraction ends, else to nine digits.
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
