/// A source of decisions that are read from the bytes of an input, so that a fuzzer can drive a generator.
///
/// At the end of the input every decision is the first alternative, so that each input describes a finite result.
package struct ChoiceReader {
    private let bytes: [UInt8]
    private var position = 0

    /// Creates a reader of the bytes of an input.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// A Boolean value that indicates whether all bytes have been consumed.
    package var isAtEnd: Bool { position >= bytes.count }

    /// The bytes that have not been consumed.
    package var rest: [UInt8] { Array(bytes.dropFirst(position)) }

    /// Returns the next byte, or 0 at the end of the input.
    package mutating func byte() -> UInt8 {
        guard position < bytes.count else { return 0 }
        defer { position += 1 }
        return bytes[position]
    }

    /// Returns a number from 0 up to, but not including, a bound of at most 256.
    package mutating func number(below bound: Int) -> Int { bound > 1 ? Int(byte()) % bound : 0 }

    /// Returns true in one of `count` equally likely cases; `false` at the end of the input.
    package mutating func isOne(in count: Int) -> Bool { number(below: count) == count - 1 }

    /// Returns one of the elements, or the first at the end of the input.
    package mutating func element<Element>(of elements: [Element]) -> Element {
        elements[number(below: elements.count)]
    }

    /// Consumes and returns up to `count` bytes.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        let taken = Array(bytes.dropFirst(position).prefix(count))
        position += taken.count
        return taken
    }

    /// Consumes up to `count` bytes and returns them as text; invalid UTF-8 is replaced.
    package mutating func text(_ count: Int) -> String { String(decoding: bytes(count), as: UTF8.self) }
}

extension ChoiceReader {
    /// Numbers as text that conversions and arithmetic are likely to fail on.
    package static let extremeNumbers = [
        "0", "1", "-1", "2147483647", "2147483648", "4294967295", "4294967296", "9007199254740992", "9007199254740993",
        "999999999999999999", "1000000000000000000", "9223372036854775807", "9223372036854775808",
        "18446744073709551615", "18446744073709551616", "-9223372036854775808", "-9223372036854775809",
        "99999999999999999999999999999999999999", "0.000000000001", "0.9999999999999999999", "9223372036854775807.5",
        "1e18", "1e300", "1E999", "NaN", "nan", "-nan", "inf", "-inf", "Infinity", "0x7fffffffffffffff", "00000001",
        "+5", "",
        " 1", "1.", ".5", "1125899906843",
    ]

    /// Returns a number as text: an ordinary one in three of four cases, otherwise an extreme one.
    package mutating func spelledNumber(_ ordinary: [String]) -> String {
        isOne(in: 4) ? element(of: Self.extremeNumbers) : element(of: ordinary)
    }
}
