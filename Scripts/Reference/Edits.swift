import Foundation

/// The definitions of edits, as `millstream edits --json` prints them.
struct EditList: Decodable {
    struct Edit: Decodable {
        let name: String
        let summary: String
        let playlists: String
        let parameter: Parameter?
        let examples: [String]?
    }

    struct Parameter: Decodable {
        let type: String
        let placeholder: String
        let unit: String?
        let minimum: Int?
        let exclusiveMinimum: Int?
        let maximum: Int?

        /// The placeholder, the unit and the range.
        var text: String {
            let range: String? =
                switch (minimum, exclusiveMinimum, maximum) {
                case (let minimum?, _, let maximum?): "\(minimum) to \(maximum)"
                case (let minimum?, _, nil): "\(minimum) or more"
                case (nil, let minimum?, _): "more than \(minimum)"
                case (nil, nil, let maximum): maximum.map { "at most \($0)" }
                }
            return ["`\(placeholder)`", range, unit].compactMap { $0 }.joined(separator: ", ")
        }
    }

    struct Limits: Decodable {
        let edits: Int
        let sources: Int
    }

    let edits: [Edit]
    let limits: Limits

    /// The list as a Markdown table.
    var table: [String] {
        ["| Name | Value | Playlists | Effect | Examples |", "|---|---|---|---|---|"]
            + edits.map { edit in
                let examples = (edit.examples ?? []).map { "`\($0)`" }.joined(separator: " ")
                return
                    "| `\(edit.name)` | \(edit.parameter?.text ?? "none") | \(edit.playlists) | \(edit.summary) | \(examples) |"
            }
            + ["", "At most \(limits.edits) edits, with \(limits.sources) sources, are applied to a playlist."]
    }

    /// The types of the parameters, in the order in which they occur.
    var types: String {
        var types: [String] = []
        for type in edits.compactMap(\.parameter?.type) where !types.contains(type) { types.append(type) }
        return types.map { "`\($0)`" }.joined(separator: ", ")
    }

    /// Returns a page in which the table of edits and the list of types are replaced.
    func page(_ text: String) throws -> String {
        try Self.replacing("types", with: [types], in: try Self.replacing("edits", with: table, in: text))
    }

    /// Returns a page in which the lines between two markers are replaced.
    private static func replacing(_ name: String, with lines: [String], in text: String) throws -> String {
        let (start, end) = ("<!-- \(name) -->", "<!-- end of \(name) -->")
        guard let first = text.range(of: start), let last = text.range(of: end, range: first.upperBound..<text.endIndex)
        else { throw CocoaError(.fileReadCorruptFile) }
        return text[..<first.upperBound] + "\n" + lines.joined(separator: "\n") + "\n" + text[last.lowerBound...]
    }
}
