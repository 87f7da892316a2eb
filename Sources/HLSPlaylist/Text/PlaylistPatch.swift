/// A list of changes to the bytes of a playlist; all other bytes are unchanged.
///
/// Ranges refer to the original bytes. Bytes that are in several ranges are removed once.
package struct PlaylistPatch: Sendable {
    private var replacements: [(range: Range<Int>, bytes: [UInt8])] = []

    package init() {}

    package var isEmpty: Bool { replacements.isEmpty }

    /// Replaces a range with `text`; an empty range inserts `text`.
    package mutating func replace(_ range: Range<Int>, with text: String) {
        replacements.append((range, Array(text.utf8)))
    }

    /// Removes a range.
    package mutating func remove(_ range: Range<Int>) {
        replacements.append((range, []))
    }

    /// Returns the bytes of `range` with the changes that are inside it applied.
    package func applied(to bytes: [UInt8], in range: Range<Int>? = nil) -> [UInt8] {
        let whole = range ?? 0..<bytes.count
        var result: [UInt8] = []
        result.reserveCapacity(whole.count)
        var position = whole.lowerBound
        for replacement in replacements.sorted(by: { $0.range.lowerBound < $1.range.lowerBound })
        where replacement.range.lowerBound >= whole.lowerBound && replacement.range.upperBound <= whole.upperBound {
            if replacement.range.lowerBound > position { result += bytes[position..<replacement.range.lowerBound] }
            result += replacement.bytes
            position = max(position, replacement.range.upperBound)
        }
        result += bytes[position..<whole.upperBound]
        return result
    }
}
