import MediaTiming

/// A table that finds a name in a fixed list of names by its length and one of its letters.
///
/// Names with the same length and letter form a chain, so that any list of distinct names can be looked up. Names are
/// case-sensitive (RFC 8216bis §4.1).
struct TagLookup: Sendable {
    /// The names, one after the other.
    private let names: [UInt8]
    /// The offset of each name in ``names``, and the offset after the last.
    private let starts: [Int]
    /// For each bucket, the position of the first name plus 1, or 0 if there is none.
    private var buckets = [UInt8](repeating: 0, count: 256)
    /// For each name, the position of the next name in its bucket plus 1, or 0 if there is none.
    private var following: [UInt8]

    /// Creates a table for at most 255 distinct names that are not empty.
    init(_ texts: [String]) {
        precondition(texts.count < 256 && Set(texts).count == texts.count && !texts.contains(""))
        var joined: [UInt8] = []
        var offsets = [0]
        for text in texts {
            joined += text.utf8
            offsets.append(joined.count)
        }
        names = joined
        starts = offsets
        following = [UInt8](repeating: 0, count: texts.count)
        for position in texts.indices {
            let bucket = Self.bucket(of: offsets[position]..<offsets[position + 1], in: joined.span)
            following[position] = buckets[bucket]
            buckets[bucket] = UInt8(truncatingIfNeeded: position + 1)
        }
    }

    /// Returns the position of a name in the list, or `nil` if the list does not contain it.
    func position(of name: Range<Int>, in bytes: Span<UInt8>) -> Int? {
        guard !name.isEmpty else { return nil }
        var next = Int(buckets[Self.bucket(of: name, in: bytes)])
        while next > 0 {
            if matches(next - 1, name, in: bytes) { return next - 1 }
            next = Int(following[next - 1])
        }
        return nil
    }

    private func matches(_ position: Int, _ name: Range<Int>, in bytes: Span<UInt8>) -> Bool {
        let start = starts[position]
        guard starts[position + 1] - start == name.count else { return false }
        var offset = 0
        while offset < name.count {
            guard names[start + offset] == bytes[name.lowerBound + offset] else { return false }
            offset += 1
        }
        return true
    }

    /// Returns the bucket of a name: a number from 0 to 255, of its length and of its first letter after `EXT-X-`.
    private static func bucket(of name: Range<Int>, in bytes: Span<UInt8>) -> Int {
        let letter = bytes[name.lowerBound + min(6, name.count - 1)]
        return Int(UInt8(truncatingIfNeeded: name.count &* 7) ^ letter)
    }
}
