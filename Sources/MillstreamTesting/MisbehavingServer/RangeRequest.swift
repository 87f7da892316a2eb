/// A parser of `Range` field values (RFC 9110 §14.1).
enum RangeRequest {
    /// The maximum number of ranges; requests with more serve only to overload a server.
    private static let limit = 16

    /// Returns the requested ranges that overlap a content of `size` bytes.
    ///
    /// - Returns: The ranges, empty if none overlaps the content; `nil` if the field must be ignored.
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

    /// Returns a range, empty if it does not overlap the content; `nil` if the text is not a range.
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
