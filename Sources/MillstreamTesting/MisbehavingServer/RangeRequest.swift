/// Reads the value of a `Range` field (RFC 9110 §14.1).
enum RangeRequest {
    /// More ranges than this are a way to make a server work, not a wish.
    private static let limit = 16

    /// The ranges that a content of `size` bytes has.
    ///
    /// - Returns: `nil` for a field that is to be ignored; no range when all of them lie outside.
    static func ranges(_ value: String, of size: Int) -> [Range<Int>]? {
        let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let texts = parts[1].split(separator: ",", omittingEmptySubsequences: false)
        guard texts.count <= limit else { return nil }
        var ranges: [Range<Int>] = []
        for text in texts {
            guard let range = range(text.drop { $0 == " " }, of: size) else { return nil }
            if !range.isEmpty { ranges.append(range) }
        }
        return ranges
    }

    /// One range, empty where the content has none of it; `nil` where the text is no range.
    private static func range(_ text: Substring, of size: Int) -> Range<Int>? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty { return decimal(ends[1]).map { max(0, size - $0)..<size } }
        guard let first = decimal(ends[0]) else { return nil }
        let last = ends[1].isEmpty ? Int.max : decimal(ends[1])
        guard let last, last >= first else { return nil }
        return first < size ? first..<(min(last, size - 1) + 1) : 0..<0
    }
}
