/// A list of changes to the bytes of a playlist; all other bytes are unchanged.
///
/// Ranges refer to the original bytes. Bytes that are in several ranges are removed once.
package struct PlaylistPatch: Sendable {
    private var replacements: [(range: Range<Int>, text: String)] = []
    /// A Boolean value that indicates whether the replacements are in the order of their ranges.
    private var isSorted = true

    package init() {}

    package var isEmpty: Bool { replacements.isEmpty }

    /// Replaces a range with `text`; an empty range inserts `text`.
    package mutating func replace(_ range: Range<Int>, with text: String) {
        isSorted = isSorted && range.lowerBound >= replacements.last?.range.lowerBound ?? 0
        replacements.append((range, text))
    }

    /// Removes a range.
    package mutating func remove(_ range: Range<Int>) { replace(range, with: "") }

    /// Returns the bytes of `range` with the changes that are inside it applied.
    package func applied(to bytes: [UInt8], in range: Range<Int>? = nil) -> [UInt8] {
        let whole = range ?? 0..<bytes.count
        var result: [UInt8] = []
        result.reserveCapacity(whole.count)
        var position = whole.lowerBound
        let sorted = isSorted ? replacements : replacements.sorted { $0.range.lowerBound < $1.range.lowerBound }
        for replacement in sorted
        where replacement.range.lowerBound >= whole.lowerBound && replacement.range.upperBound <= whole.upperBound {
            if replacement.range.lowerBound > position { result += bytes[position..<replacement.range.lowerBound] }
            result += replacement.text.utf8
            position = max(position, replacement.range.upperBound)
        }
        result += bytes[position..<whole.upperBound]
        return result
    }
}
