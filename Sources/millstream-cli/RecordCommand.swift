import ArgumentParser
import MediaTiming
import MillstreamDownloads
import PlaylistEditing

/// The command `millstream record`.
struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record a live stream in the library.",
        discussion: """
            The recording begins near the live edge and ends with the stream, after --duration, or with Ctrl-C. While \
            it runs, the recording can be played from the beginning. After an interruption, the same command, \
            millstream downloads resume, or Resume in the web console of millstream serve continues the recording. \
            Segments that are no longer available are marked as gaps. The recording ends with an error if it reaches \
            --max-size, or if no segment appears for 5 minutes, or for three target durations if these are longer. The \
            recorded part is then stored as a complete asset. While no command continues an interrupted recording, it \
            can be played from its beginning to its last stored segment.

            The library has one recording of each URL. Another run of the command prints that it continues this \
            recording, even if it is complete. The recording keeps its selection of variants, audio and subtitles; \
            options that differ from the selection are refused. To make a separate recording of the same stream, use \
            another library with --library DIR.

            Example: millstream record https://example.com/live.m3u8 --duration 1:30:00 --wait
            Example: millstream record https://example.com/live.m3u8 --duration 600 -o "{title}.mp4"
            """
    )

    @Argument(help: "The URL of a playlist or DASH manifest.")
    var source: String

    @OptionGroup(title: "Recording") var recording: RecordingFlags

    @OptionGroup var options: DownloadOptions

    @OptionGroup var output: DownloadOutputFlags

    func validate() throws {
        _ = try recording.options()
        try output.validate(with: options)
    }

    mutating func run() async throws {
        var configuration = try options.configuration()
        configuration.recording = try recording.options()
        try await output.run(source, configuration, options)
    }
}

/// The options of a recording.
struct RecordingFlags: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The duration of the recording in seconds or h:mm:ss, including the part that is already recorded (default: no limit).",
            valueName: "time"
        )
    )
    var duration: String?

    @Flag(name: .long, help: "Begin with the first segment of the playlist instead of near the live edge.")
    var startOver = false

    @Flag(name: .long, help: "Wait until the stream is available.")
    var wait = false

    /// A Boolean value that indicates whether an option is given.
    var isUsed: Bool { duration != nil || startOver || wait }

    /// Returns the options for the library.
    func options() throws -> RecordingOptions {
        var options = RecordingOptions(startsFromBeginning: startOver, waitsForStream: wait)
        if let duration {
            guard let time = ClockTime.parse(duration), time > .zero else {
                throw ValidationError("--duration must be a time above 0 in seconds or h:mm:ss, such as 1:30:00")
            }
            options.duration = time
        }
        return options
    }
}
