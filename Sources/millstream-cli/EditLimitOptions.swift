import ArgumentParser
import MediaTiming
import PlaylistEditing

/// The options that limit the work of editing a playlist.
struct EditLimitOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The maximum size of the playlists that are loaded to edit or inspect one playlist, in MiB (default: 32).",
            valueName: "mib"
        )
    )
    var maxPlaylistSize: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The maximum number of tags, segments and variants in a playlist that is edited (default: 200000).",
            valueName: "count"
        )
    )
    var maxPlaylistEntries: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The maximum size of an edited playlist or a report, in MiB (default: 64).",
            valueName: "mib"
        )
    )
    var maxAnswerSize: Int?

    func validate() throws {
        let limits = [
            ("--max-playlist-size", maxPlaylistSize, 4_095), ("--max-answer-size", maxAnswerSize, 4_095),
            ("--max-playlist-entries", maxPlaylistEntries, 4_000_000),
        ]
        for (name, value, most) in limits {
            guard let value, !(1...most).contains(value) else { continue }
            throw ValidationError("\(name) must be between 1 and \(most)")
        }
    }

    /// The limits from the options.
    var limits: EditLimits {
        var limits = EditLimits()
        if let maxPlaylistSize { limits.loadedBytes = ByteCount(Int64(maxPlaylistSize) << 20) }
        if let maxPlaylistEntries { limits.entries = maxPlaylistEntries }
        if let maxAnswerSize { limits.resultBytes = ByteCount(Int64(maxAnswerSize) << 20) }
        return limits
    }
}
