import ArgumentParser
import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MillstreamDownloads
import PlaylistEditing
import ReportFormat

/// The command `millstream download`.
struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Download a stream for offline playback.",
        discussion: """
            Files that are stored are not downloaded again: after an interruption, run the same command to resume, or \
            millstream downloads resume.

            Example: millstream download https://example.com/multivariant.m3u8 --max-height 720 --subtitles en
            """
    )

    @Argument(help: "The URL of a playlist or DASH manifest.")
    var source: String

    @OptionGroup var options: DownloadOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The time range to download, such as 90...120, 1:30... or ...0:02:00; whole segments are stored.",
            valueName: "start...end"
        )
    )
    var range: String?

    @Flag(name: .long, help: "Record a live stream, as millstream record does.")
    var record = false

    @OptionGroup(title: "Recording") var recording: RecordingFlags

    func validate() throws {
        _ = try timeRange()
        _ = try recording.options()
        guard record || !recording.isUsed else {
            throw ValidationError("--duration, --start-over and --wait are for recordings: add --record")
        }
        guard !record || range == nil else { throw ValidationError("--record and --range cannot be combined") }
    }

    mutating func run() async throws {
        var configuration = try options.configuration()
        configuration.selection.timeRange = try timeRange()
        if record { configuration.recording = try recording.options() }
        try await options.run(source, configuration)
    }

    private func timeRange() throws -> PartialRange<MediaTime>? {
        guard let range else { return nil }
        guard let parsed = PartialRange<MediaTime>(range) else {
            throw ValidationError(
                "--range must be START...END in seconds or h:mm:ss, such as 90...120, 1:30... or ...2:00: \(range)"
            )
        }
        return parsed
    }
}
