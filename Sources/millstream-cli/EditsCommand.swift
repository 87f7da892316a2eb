import ArgumentParser
import PlaylistEditing
import ReportFormat

/// The command `millstream edits`.
struct EditsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edits",
        abstract: "List the edits that can be applied to playlists.",
        discussion: """
            millstream edit takes them as options, millstream play as --edit NAME=VALUE, and millstream serve as query parameters of URLs.

            Example: millstream edits --json
            """
    )

    @OptionGroup var reportFormat: ReportFormatFlags

    private var json: Bool { reportFormat.isJSON }

    func run() throws {
        guard !json else { return try StandardOutput.writeLine(PlaylistEdit.report()) }
        let rows = PlaylistEdit.definitions.map { definition in
            (definition.parameter.map { "\(definition.name)=\($0.placeholder)" } ?? definition.name, definition.summary)
        }
        let width = rows.map(\.0.count).max() ?? 0
        for (name, summary) in rows {
            try StandardOutput.writeLine("\(name + String(repeating: " ", count: width - name.count))   \(summary)")
        }
    }
}
