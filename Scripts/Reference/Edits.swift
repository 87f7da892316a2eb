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

    /// Returns a page in which the lines between two markers are replaced by the table.
    func page(_ text: String) throws -> String {
        let (start, end) = ("<!-- edits -->", "<!-- end of edits -->")
        guard let first = text.range(of: start), let last = text.range(of: end, range: first.upperBound..<text.endIndex)
        else { throw CocoaError(.fileReadCorruptFile) }
        return text[..<first.upperBound] + "\n" + table.joined(separator: "\n") + "\n" + text[last.lowerBound...]
    }
}
