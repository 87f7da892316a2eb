/// How well a language tag fits what somebody asks for (RFC 4647).
enum LanguageMatching {
    /// How well a tag fits a range; lower is better, `nil` for not at all.
    ///
    /// Lookup comes first (§3.4): `en-GB` finds `en-GB`, then `en`. Where only a closer description is there, that will do
    /// as well (§3.3.1): `en` finds `en-US`, and so does `en-GB` in the end.
    static func distance(from range: String, to tag: String) -> Int? {
        let wanted = subtags(range)
        let offered = subtags(tag)
        guard !wanted.isEmpty, !offered.isEmpty, wanted != ["*"] else { return wanted == ["*"] ? 0 : nil }
        let lengths = truncations(of: wanted)
        if let step = lengths.firstIndex(where: { offered.elementsEqual(wanted.prefix($0)) }) { return step }
        let closer = lengths.firstIndex { offered.count > $0 && offered.starts(with: wanted.prefix($0)) }
        return closer.map { lengths.count + $0 }
    }

    /// Longer tags do not exist, and playlists are written by strangers.
    private static let mostSubtags = 16

    private static func subtags(_ text: String) -> [Substring] {
        text.lowercased().split(maxSplits: mostSubtags) { $0 == "-" || $0 == "_" }
    }

    /// How many subtags are left at each step of a lookup: a single letter goes with what stands behind it (§3.4).
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
