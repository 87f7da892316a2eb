/// The matching of language tags with preferred languages (RFC 4647).
///
/// The codes of two and three letters of a language match each other.
package enum LanguageMatching {
    /// Returns how closely a tag matches a language range; lower is better, `nil` for no match.
    ///
    /// Lookup (§3.4) has priority: the range `en-GB` matches the tag `en-GB`, then `en`. Filtering (§3.3.1) follows:
    /// the range `en` matches the tag `en-US`. With the lowest priority, the range `en-GB` matches it too.
    package static func distance(from range: String, to tag: String) -> Int? {
        let wanted = subtags(range)
        let offered = subtags(tag)
        guard !wanted.isEmpty, !offered.isEmpty, wanted != ["*"] else { return wanted == ["*"] ? 0 : nil }
        let lengths = truncations(of: wanted)
        if let step = lengths.firstIndex(where: { offered.elementsEqual(wanted.prefix($0)) }) { return step }
        let closer = lengths.firstIndex { offered.count > $0 && offered.starts(with: wanted.prefix($0)) }
        return closer.map { lengths.count + $0 }
    }

    /// The maximum number of separators at which a tag is split; valid tags have fewer, and playlists may be malicious.
    private static let maximumSplitCount = 16

    /// Returns the form of a language tag in which tags of the same language are equal: in lowercase, with hyphens, and with
    /// the shortest code of the language, so `de-at` for `deu_AT`.
    ///
    /// This is for comparisons; playlists keep the tags of their source.
    package static func canonical(_ tag: String) -> String { subtags(tag).joined(separator: "-") }

    /// Returns a Boolean value that indicates whether two tags name the same language in the same variety, or both are
    /// missing.
    package static func isSame(_ tag: String?, _ other: String?) -> Bool {
        tag == other || tag.map { canonical($0) } == other.map { canonical($0) }
    }

    fileprivate static func subtags(_ text: String) -> [Substring] {
        var subtags = text.lowercased().split(maxSplits: maximumSplitCount) { $0 == "-" || $0 == "_" }
        if let code = subtags.first { subtags[0] = LanguageCode.canonical(code) }
        return subtags
    }

    /// Returns the number of subtags at each step of a lookup; a single-letter subtag is removed with the one after it
    /// (§3.4).
    private static func truncations(of subtags: [Substring]) -> [Int] {
        var result: [Int] = []
        var count = subtags.count
        while count > 0 {
            result.append(count)
            count -= 1
            while count > 1, subtags[count - 1].utf8.count == 1 { count -= 1 }
        }
        return result
    }
}

/// Language ranges that filter language tags (RFC 4647 §3.3.1, basic filtering).
///
/// The range `en` includes the tags `en`, `eng` and `en-US`, but the range `en-GB` includes none of them.
package struct LanguageRanges: Sendable {
    private let ranges: [[Substring]]

    /// Creates ranges from their text; `*` includes all tags.
    package init(_ ranges: [String]) {
        self.ranges = ranges.map { LanguageMatching.subtags($0) }.filter { !$0.isEmpty }
    }

    /// Returns a Boolean value that indicates whether one of the ranges includes a tag.
    package func includes(_ tag: String) -> Bool {
        let subtags = LanguageMatching.subtags(tag)
        return ranges.contains { $0 == ["*"] || subtags.starts(with: $0) }
    }
}
