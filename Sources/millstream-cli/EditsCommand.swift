import ArgumentParser
import PlaylistEditing
import ReportFormat

/// The command `millstream edits`.
struct EditsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edits",
        abstract: "List the edits that edit, play and serve apply.",
        discussion: """
            An edit is an option of edit, a parameter of URLs of serve, and a part of --edit of play.

            Example: millstream edits --json
            """
    )

    @Flag(name: .long, help: "Print JSON, as GET /api/edits of serve returns it.") var json = false

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
