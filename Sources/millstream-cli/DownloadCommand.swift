import ArgumentParser
import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MillstreamDownloads
import PlaylistEditing
import ReportFormat
import ResourceAddressing

/// The command `millstream download`.
struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Download a stream for offline playback.",
        discussion: """
            Stored files are not downloaded again. To resume after an interruption, run the same command again, or \
            millstream downloads resume. If the URL differs from that of a stored asset only in parameters such as \
            Signature, token or Expires, the command continues that asset. If another process, such as millstream \
            serve, manages the download, the command shows its progress. If that process has paused the download, or \
            the download has failed there, the command resumes it there. If the options differ from those of the \
            failed download, for example --key, the command downloads the stream itself. With --json, a line of JSON \
            is printed for each event.

            Example: millstream download https://example.com/multivariant.m3u8 --max-height 720 --subtitles en
            Example: millstream download --list urls.txt --archive downloaded.txt -o "films/{title}.mp4"
            """
    )

    @Argument(help: "The URL of a playlist, DASH manifest or media file.")
    var source: String?

    @OptionGroup(title: "Several sources") var list: DownloadListFlags

    @OptionGroup var options: DownloadOptions

    @OptionGroup var output: DownloadOutputFlags

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
        guard (source == nil) == (list.list != nil) else {
            throw ValidationError("give the URL of a stream, or a file with URLs as --list FILE")
        }
        guard list.list == nil || options.title == nil else {
            throw ValidationError("--title and --list cannot be combined: write the titles in the list")
        }
        if list.list != nil, let file = try output.file(), !file.template.contains(.title), !file.template.contains(.id)
        {
            throw ValidationError("--output needs {title} or {id} for the sources of a list")
        }
        if options.queue {
            guard list.archive == nil else { throw ValidationError("--archive and --queue cannot be combined") }
            // A gap is not loaded.
            let files = try options.edits.plan().sources.filter {
                !ResourceAddress($0).isHTTP && GapPlaylist.playlist(at: $0) == nil
            }
            guard files.isEmpty else { throw ValidationError("--queue cannot insert files: \(files[0])") }
        }
        guard record || !recording.isUsed else {
            throw ValidationError("--duration, --start-over and --wait are for recordings: add --record")
        }
        guard !record || range == nil else { throw ValidationError("--record and --range cannot be combined") }
        try output.validate(with: options)
    }

    mutating func run() async throws {
        let archive = try list.archive.map { try DownloadArchive($0) }
        guard let file = list.list else {
            guard let source else { return }
            if try archive?.contains(source) ?? false {
                return notice("\(Self.name(source)) is in the archive; nothing is downloaded")
            }
            if try await download(source, title: options.title) { try archive?.add(source) }
            return
        }
        try await run(try DownloadList.sources(at: file), archive)
    }

    /// Downloads the sources of a list, one after the other; a failure of one does not stop the others.
    private func run(_ sources: [DownloadList.Source], _ archive: DownloadArchive?) async throws {
        var failed: [String] = []
        for (number, source) in sources.enumerated() {
            if try archive?.contains(source.address) ?? false {
                notice("\(number + 1) of \(sources.count): \(Self.name(source.address)) is in the archive")
                continue
            }
            notice("\(number + 1) of \(sources.count): \(source.title ?? Self.name(source.address))")
            do {
                if try await download(source.address, title: source.title) { try archive?.add(source.address) }
            } catch {
                let failure = Failure(error)
                guard failure.status != .interrupted, failure.status != .outputClosed, failure.code != "output-failed"
                else { throw error }
                failure.write()
                failed.append(source.address)
            }
        }
        guard failed.isEmpty else {
            throw Failure(
                .failed,
                "incomplete-list",
                "\(failed.count) of \(sources.count) sources could not be downloaded",
                hint: "run the same command again to try them again"
            )
        }
    }

    /// Returns a source without parts that can be secret.
    private static func name(_ source: String) -> String { PlaylistSource.name(source) }

    /// Downloads a source, and writes its file.
    ///
    /// - Returns: A Boolean value that indicates whether the asset is stored; otherwise it is queued.
    private func download(_ source: String, title: String?) async throws -> Bool {
        var configuration = try options.configuration()
        configuration.title = title
        configuration.selection.timeRange = try timeRange()
        if record { configuration.recording = try recording.options() }
        return try await output.run(source, configuration, options)
    }

    private func notice(_ text: TerminalText) {
        if !options.quiet, !options.json { StandardError.write("\(text)\n") }
    }

    private func timeRange() throws -> PartialRange<MediaTime>? {
        guard let range else { return nil }
        guard let parsed = PartialRange<MediaTime>(range) else {
            if let dots = range.firstRange(of: "..."), let start = ClockTime.parse(range[..<dots.lowerBound]),
                let end = ClockTime.parse(range[dots.upperBound...]), start > end
            {
                throw ValidationError("the start of --range \(range) is after its end")
            }
            throw ValidationError(
                "--range must be START...END in seconds or h:mm:ss, such as 90...120, 1:30... or ...2:00: \(range)"
            )
        }
        return parsed
    }
}
