/// The attributes of an element whose names are single lowercase letters and whose values are decimal integers.
///
/// Long documents consist of such elements, the `S` elements of a manifest. Reading their attributes as numbers is
/// several times as fast as reading them as strings.
package struct XMLNumbers: Sendable {
    /// The maximum number of attributes.
    private static let maximumCount = 8

    private var letters = SIMD8<UInt8>()
    private var values = SIMD8<Int64>()
    private var count = 0
    /// The letters that are names of attributes.
    package private(set) var names = Names()

    /// A set of lowercase letters.
    package struct Names: Sendable, Hashable {
        private var bits: UInt32 = 0

        init() {}

        /// Creates a set of the lowercase letters in a text.
        package init(_ text: StaticString) {
            for scalar in "\(text)".unicodeScalars {
                if let position = Self.position(UInt8(truncatingIfNeeded: scalar.value)) { insert(position) }
            }
        }

        /// Returns a Boolean value that indicates whether another set contains all letters of this one.
        package func isSubset(of other: Names) -> Bool { bits & ~other.bits == 0 }

        mutating func insert(_ position: Int) { bits |= 1 << UInt32(truncatingIfNeeded: position) }
        func contains(_ position: Int) -> Bool { bits & 1 << UInt32(truncatingIfNeeded: position) != 0 }

        /// Returns the position of a lowercase letter in the alphabet, or `nil` for other characters.
        static func position(_ letter: UInt8) -> Int? {
            // Bounded: a byte fits in an integer.
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) ? Int(letter &- UInt8(ascii: "a")) : nil
        }
    }

    init() {}

    /// Returns the number of the attribute with the given name, or `nil` if it is missing.
    package subscript(name: Unicode.Scalar) -> Int64? {
        let letter = UInt8(truncatingIfNeeded: name.value)
        for index in 0..<count where letters[index] == letter { return values[index] }
        return nil
    }

    /// Removes all numbers.
    mutating func removeAll() {
        names = Names()
        count = 0
    }

    /// Adds a number.
    ///
    /// - Parameters:
    ///   - name: The name of its attribute.
    ///   - number: The number.
    /// - Returns: `false` if the name is not a letter that is new, or if there are too many attributes.
    mutating func insert(_ name: UInt8, _ number: Int64) -> Bool {
        guard count < Self.maximumCount, let position = Names.position(name), !names.contains(position) else {
            return false
        }
        letters[count] = name
        values[count] = number
        count &+= 1
        names.insert(position)
        return true
    }
}
