/// A line of text with decimal numbers, which can be written again with other numbers.
///
/// Numbers of as many digits as before are replaced in place, which is several times as fast as writing the line again.
package struct NumberedLine: Sendable {
    /// The digits of a number in the line.
    private struct Field {
        let end: Int
        let count: Int
        let minimumCount: Int
    }

    /// The line, in ASCII.
    package private(set) var bytes: [UInt8] = []
    private var fields: [Field] = []

    /// Creates an empty line.
    package init() {}

    /// Removes all text and numbers.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
    }

    /// Appends text that stays the same.
    package mutating func append(_ text: [UInt8]) { bytes.append(contentsOf: text) }

    /// Appends a number.
    ///
    /// - Parameters:
    ///   - number: The number.
    ///   - minimumDigitCount: The number of digits up to which zeros precede those of the number.
    package mutating func append(_ number: UInt64, minimumDigitCount: Int = 1) {
        var digits: [UInt8] = []
        var rest = number
        while rest > 0 || digits.count < max(1, minimumDigitCount) {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            // A digit is less than 10.
            digits.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit))
            rest = quotient
        }
        bytes.append(contentsOf: digits.reversed())
        fields.append(Field(end: bytes.count, count: digits.count, minimumCount: max(1, minimumDigitCount)))
    }

    /// Replaces a number.
    ///
    /// - Parameters:
    ///   - index: The index among the numbers of the line.
    ///   - number: The number that replaces it.
    /// - Returns: `false` if the number has more or fewer digits than the one before; the line must then be written again.
    package mutating func replaceNumber(at index: Int, with number: UInt64) -> Bool {
        let field = fields[index]
        var span = bytes.mutableSpan
        var rest = number
        var position = field.end
        for _ in 0..<field.count {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            position &-= 1
            // A digit is less than 10.
            span[position] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit)
            rest = quotient
        }
        return rest == 0 && (field.count == field.minimumCount || span[position] != UInt8(ascii: "0"))
    }
}
