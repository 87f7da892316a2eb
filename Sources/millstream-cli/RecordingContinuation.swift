import AssetStorage
import MediaTiming
import MillstreamDownloads
import ReportFormat
import ResourceAddressing

/// A recording in the library that another run of a command continues, because the library has one asset for each URL.
struct RecordingContinuation {
    private let recording: RecordedAsset

    /// Creates the continuation of the recording of a URL; `nil` if nothing of it is recorded.
    ///
    /// - Parameters:
    ///   - source: The URL.
    ///   - library: The library with the recording.
    /// - Throws: `StorageError` if the catalog cannot be read.
    init?(of source: ResourceAddress, in library: AssetLibrary) throws {
        guard let recording = try RecordedAsset(of: source, in: library) else { return nil }
        self.recording = recording
    }

    /// Returns the selection with which the recording is continued, which is that of the recording.
    ///
    /// - Parameters:
    ///   - selection: The selection of the command.
    ///   - defaults: The selection of a command without options. An option with its default value counts as not given.
    /// - Returns: The selection.
    /// - Throws: ``Failure`` if an option differs from the selection of the recording.
    func selection(
        for selection: DownloadSelection,
        besides defaults: DownloadSelection
    ) throws -> DownloadSelection {
        do {
            return try recording.selection(for: selection, besides: defaults)
        } catch {
            var failure = Failure(error)
            failure.hint =
                "continue it without options for the selection, make a separate recording in another library "
                + "(--library DIR), or delete it with: millstream library delete \(recording.asset.id)"
            throw failure
        }
    }

    /// Returns the lines that say what is continued, and with which changes.
    ///
    /// They are made before the recording begins, which changes the title.
    ///
    /// - Parameter configuration: The options of the command, with the selection that it has without the recording.
    /// - Returns: The lines.
    func notes(_ configuration: DownloadConfiguration) -> [TerminalText] {
        let (asset, duration) = (recording.asset, recording.duration)
        let time = QuantityText.clock(duration)
        var lines: [TerminalText] = [
            "the recording \(asset.id) of this URL, \(asset.title), is continued after \(time)\n"
        ]
        if let recorded = DownloadSelection(asset.selection), recorded != configuration.selection {
            lines.append("it keeps its selection: \(asset.selectionWithoutSecrets)\n")
        }
        if let title = configuration.title, title != asset.title { lines.append("its title becomes \(title)\n") }
        if let wanted = configuration.recording?.duration, wanted <= duration {
            lines.append("nothing more is recorded, because --duration includes what is recorded already\n")
        }
        if asset.state == .complete {
            lines.append("it is complete; to make a separate recording, name another library: --library DIR\n")
        }
        return lines
    }
}
