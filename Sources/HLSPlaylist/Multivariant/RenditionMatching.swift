/// The matching of renditions and tracks with a text by which a user selects them.
///
/// The text is a language, such as `en`, the name of a rendition or track, such as `Commentary`, or both, such as
/// `en:Commentary`; `:Commentary` is a name in any language. Names are compared as a whole, without regard to case.
package enum RenditionMatching {
    /// Returns how closely a rendition or track matches a text; lower is better, `nil` for no match.
    ///
    /// An equal name matches as closely as an equal language.
    ///
    /// - Parameters:
    ///   - text: The text of the user.
    ///   - language: The language tag of the rendition or track; `nil` if it has none.
    ///   - name: The name of the rendition or track; `nil` if it has none.
    /// - Returns: The distance, of which 0 is the lowest.
    package static func distance(from text: String, toLanguage language: String?, name: String?) -> Int? {
        if isName(text, name) { return 0 }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return language.flatMap { LanguageMatching.distance(from: text, to: $0) } }
        guard isName(String(parts[1]), name) else { return nil }
        if parts[0].isEmpty { return 0 }
        return language.flatMap { LanguageMatching.distance(from: String(parts[0]), to: $0) }
    }

    /// Returns the positions of all renditions or tracks that a text selects.
    ///
    /// These are the renditions with an equal name, and those of the language in all its varieties: `pt` selects `pt` and
    /// `pt-BR`. If there are none, the language is looked up (RFC 4647 §3.4): `ko-KR` selects `ko`, but `en-GB` does not
    /// select `en-US`.
    ///
    /// - Parameters:
    ///   - text: The text of the user.
    ///   - offered: The language tags and the names of the renditions or tracks; `nil` for those that they do not have.
    /// - Returns: The positions in `offered`; empty if nothing matches.
    package static func positions(
        matching text: String,
        in offered: [(language: String?, name: String?)]
    ) -> Set<Int> {
        let included = offered.indices.filter { includes(text, offered[$0].language, offered[$0].name) }
        guard included.isEmpty else { return Set(included) }
        var closest: (distance: Int, positions: Set<Int>)?
        for (position, entry) in offered.enumerated() {
            guard isLessSpecific(entry.language, than: text),
                let distance = Self.distance(from: text, toLanguage: entry.language, name: entry.name)
            else { continue }
            if let least = closest?.distance, least < distance { continue }
            // A set that is changed in place is not copied for each of very many renditions.
            if closest?.distance == distance {
                closest?.positions.insert(position)
            } else {
                closest = (distance, [position])
            }
        }
        return closest?.positions ?? []
    }

    /// Returns a Boolean value that indicates whether a text is the name of a rendition, or includes its language.
    private static func includes(_ text: String, _ language: String?, _ name: String?) -> Bool {
        if isName(text, name) { return true }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let wanted = LanguageMatching.canonical(String(parts.first ?? ""))
        let tag = LanguageMatching.canonical(language ?? "")
        if parts.count == 2, parts[1].lowercased() != (name ?? "").lowercased() { return false }
        return wanted.isEmpty ? parts.count == 2 : tag == wanted || tag.hasPrefix(wanted + "-")
    }

    /// Returns a Boolean value that indicates whether a language tag consists of the first subtags of the language in a text.
    private static func isLessSpecific(_ tag: String?, than text: String) -> Bool {
        guard let tag else { return false }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return LanguageRanges([tag]).includes(String(parts.first ?? ""))
    }

    /// Returns a Boolean value that indicates whether a text is the name of a rendition or track.
    package static func isName(_ text: String, _ name: String?) -> Bool {
        guard let name, !text.isEmpty else { return false }
        return text.lowercased() == name.lowercased()
    }

    /// Returns the description of a rendition or track in a list of those that can be selected, such as
    /// `en (Commentary)`.
    ///
    /// A comma or a percent sign is percent-encoded, as in the lists of users.
    ///
    /// - Parameters:
    ///   - language: The language tag; `nil` if it has none.
    ///   - name: The name; `nil` if it has none.
    /// - Returns: The description; `nil` without a language and a name.
    package static func description(language: String?, name: String?) -> String? {
        guard let language, !language.isEmpty else { return name.flatMap { $0.isEmpty ? nil : listed($0) } }
        guard let name, !name.isEmpty, name.lowercased() != language.lowercased() else { return listed(language) }
        // The names of tracks without one begin with their language.
        return listed(name.hasPrefix("\(language) (") ? name : "\(language) (\(name))")
    }

    private static func listed(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing(",", with: "%2C")
    }

    /// Returns the message of an error for texts that match no rendition or track, such as
    /// `no audio track matches "en" or "Commentary"`.
    ///
    /// - Parameters:
    ///   - texts: The texts of the user.
    ///   - isAudio: A Boolean value that indicates whether audio is selected rather than subtitles.
    /// - Returns: The message.
    package static func mismatch(_ texts: [String], isAudio: Bool) -> String {
        let quoted = texts.map { "\"\($0)\"" }
        let list = [quoted.dropLast().joined(separator: ", "), quoted.last ?? ""].filter { !$0.isEmpty }
        return "no \(isAudio ? "audio" : "subtitle") track matches \(list.joined(separator: " or "))"
    }
}
