/// The elements whose attributes a handler receives as numbers instead of strings.
package struct XMLNumberElement: Sendable {
    /// The local name: one ASCII letter.
    let name: UInt8
    /// The names of the attributes, each one lowercase letter; an element with other attributes is passed to the
    /// handler with strings.
    let attributes: [UInt8]

    /// Creates a description of elements.
    ///
    /// - Parameters:
    ///   - name: The local name: one ASCII letter.
    ///   - attributes: The names of the attributes, each one lowercase letter, in the order of the columns of a table.
    package init(_ name: Unicode.Scalar, attributes: [Unicode.Scalar]) {
        self.name = UInt8(truncatingIfNeeded: name.value)
        self.attributes = attributes.map { UInt8(truncatingIfNeeded: $0.value) }
    }
}

/// The numbers in the attributes of elements that follow each other, with a row for each element.
///
/// In long documents, most elements are such elements, for example the `S` elements of a manifest.
package struct XMLNumberTable: Sendable {
    /// The value for a missing attribute; no attribute has this value, because numbers have at most 18 digits.
    package static let missing = Int64.min

    /// The numbers of all rows, one row after the other.
    package private(set) var values: [Int64] = []
    /// The number of columns, which is the number of attributes that the handler names.
    package let columnCount: Int

    init(columnCount: Int) { self.columnCount = columnCount }

    /// The number of elements.
    package private(set) var count = 0

    /// Adds a row without numbers; returns the position of its first value.
    mutating func appendRow() -> Int {
        let first = values.count
        for _ in 0..<columnCount { values.append(Self.missing) }
        count += 1
        return first
    }

    /// Removes the last row.
    mutating func removeLastRow() {
        values.removeLast(columnCount)
        count -= 1
    }

    /// Sets a number; returns `false` if it is already set.
    mutating func set(_ position: Int, _ value: Int64) -> Bool {
        guard values[position] == Self.missing else { return false }
        values[position] = value
        return true
    }
}
