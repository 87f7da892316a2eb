import ResourceAddressing

/// The form `SOURCE@PLACE` in which edits are written that stitch a playlist to another one at a time or in breaks.
enum SourceAtPlace {
    /// The two parts of a text.
    typealias Parts = (source: Substring, place: Substring)

    /// The maximum number of `@` that are examined.
    ///
    /// A place has none, except in the name of a class of date ranges.
    private static let maximumCount = 16

    /// Returns the parts of a text before and after each `@` that can separate them, the last one first.
    ///
    /// An `@` in the authority of a URL ends the user information (RFC 3986 §3.2.1), so the source is never only a part of the
    /// authority: `https://user@10` has no place.
    ///
    /// - Parameter text: The text.
    /// - Returns: The parts; none if no `@` after the authority follows a source.
    static func parts(of text: String) -> [Parts] {
        let start = authorityEnd(of: text) ?? text.startIndex
        var parts: [Parts] = []
        var end = text.endIndex
        while parts.count < maximumCount, let at = text[start..<end].lastIndex(of: "@"), at > text.startIndex {
            parts.append((text[..<at], text[text.index(after: at)...]))
            end = at
        }
        return parts
    }

    /// Returns the text of a source and a place.
    ///
    /// The URL of a host gets the path `/`, which has the same meaning (RFC 3986 §6.2.3), so that the place is not read as its host.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - place: The place.
    /// - Returns: The text.
    static func text(_ source: String, _ place: String) -> String {
        let isHost = authorityEnd(of: source) == source.endIndex
        return isHost ? "\(source)/@\(place)" : "\(source)@\(place)"
    }

    /// Returns the end of the authority of a URL in a text; `nil` if it has none.
    private static func authorityEnd(of text: String) -> String.Index? {
        let address = ResourceAddress(text)
        guard let authority = address.authority else { return nil }
        // The colon after the scheme, and the two slashes before the authority. Bounded: these are parts of the text.
        let schemeSize = address.scheme.map { $0.utf8.count + 1 } ?? 0
        return text.utf8.index(text.startIndex, offsetBy: schemeSize + 2 + authority.utf8.count)
    }
}
