import ArgumentParser
import MillstreamDownloads
import PlaylistEditing

/// The options for what a download leaves out and changes.
struct DownloadEditFlags: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Store the edited presentation: NAME=VALUE, several separated by &; see millstream edits. May be repeated.",
            valueName: "edits"
        )
    )
    var edit: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Do not download the segments that the rule selects; may be repeated. The rule is cues (breaks by EXT-X-CUE-OUT or \
            SCTE-35), class=NAME (date ranges of that CLASS), address=TEXT (segments with this text in their URL), or a list \
            of time ranges, such as 10...20,60...70.
            """,
            valueName: "rule"
        )
    )
    var exclude: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The AES-128 key of the segments, instead of those that the playlist names: 32 hexadecimal digits, and optionally \
            ,iv= with 32 more.
            """,
            valueName: "key"
        )
    )
    var key: String?

    @Flag(name: .long, help: "Store only the audio, which must be separate from the video.")
    var audioOnly = false

    @Flag(name: .long, help: "Store only the subtitles; millstream library export --srt writes them to files.")
    var subtitlesOnly = false

    func validate() throws {
        guard !audioOnly || !subtitlesOnly else {
            throw ValidationError("--audio-only and --subtitles-only cannot be combined")
        }
        _ = try plan()
    }

    /// Returns the edits of all options.
    ///
    /// - Parameter locatesSources: A Boolean value that indicates whether inserted files are relative to the working directory,
    ///   and addresses have no passwords.
    /// - Returns: The edits.
    /// - Throws: `ValidationError`.
    func plan(locatesSources: Bool = true) throws -> EditPlan {
        // The key is that of the segments of the source, with the numbers that they have there.
        var edits = try key.map { [try EditParameters.edit("key", $0, option: "--key")] } ?? []
        edits += try EditParameters.edits(edit, locatesSources: locatesSources)
        if audioOnly { edits.append(.contentTypes([.audio])) }
        edits += try exclude.map { try EditParameters.edit("exclude", $0, option: "--exclude") }
        return EditPlan(edits)
    }

    /// Returns the error of a download with a suggestion that concerns these options.
    func explaining(_ error: any Error) -> any Error {
        // An error with a hint has another cause, such as a language that the stream does not have.
        guard audioOnly, let cause = error as? DownloadError, cause.code == .nothingSelected, cause.hint == nil else {
            return error
        }
        var failure = Failure(
            .failed,
            DownloadError.Code.nothingSelected.rawValue,
            "the stream has no audio that is separate from the video"
        )
        failure.hint =
            "download it without --audio-only, and write its audio to a file: millstream download -o film.m4a"
        return failure
    }
}
