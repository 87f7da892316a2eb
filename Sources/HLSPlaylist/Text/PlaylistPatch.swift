/// Changes to a playlist's bytes: what it does not name stays as it was.
///
/// Ranges are those of the unpatched bytes; what two of them name is taken out once.
package struct PlaylistPatch: Sendable {
    private var replacements: [(range: Range<Int>, bytes: [UInt8])] = []

    package init() {}

    package var isEmpty: Bool { replacements.isEmpty }

    /// Puts `text` in the place of a range; an empty range inserts.
    package mutating func replace(_ range: Range<Int>, with text: String) {
        replacements.append((range, Array(text.utf8)))
    }

    /// Takes a range out.
    package mutating func remove(_ range: Range<Int>) {
        replacements.append((range, []))
    }

    /// The bytes of `range` with the changes made that lie in it.
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
