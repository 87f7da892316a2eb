import ArgumentParser
import AssetStorage
import Foundation
import MillstreamDownloads
import ReportFormat

/// The option of `millstream download` and `millstream record` that writes the complete asset to a media file as well.
struct DownloadOutputFlags: ParsableArguments {
    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            """
            Write the complete asset to a media file as well: \(MediaFileOutput.form). The file must not exist; its folder is \
            created.
            """,
            valueName: "file"
        )
    )
    var output: String?

    func validate() throws { _ = try file() }

    /// Verifies that the option can be combined with those of a download.
    ///
    /// - Parameter options: The options of the download.
    /// - Throws: `ValidationError` if it cannot.
    func validate(with options: DownloadOptions) throws {
        guard output == nil || !options.queue && !options.edits.subtitlesOnly else {
            throw ValidationError("--output cannot be combined with --queue or --subtitles-only")
        }
    }

    /// Returns the media file to write.
    ///
    /// - Returns: The file; `nil` if none is requested.
    /// - Throws: `ValidationError` if its path is not valid.
    func file() throws -> MediaFileOutput? {
        guard let output else { return nil }
        guard var file = MediaFileOutput(output) else {
            throw ValidationError("--output must be \(MediaFileOutput.form): \(output)")
        }
        file.matroskaOption = "--output FILE.mkv"
        return file
    }

    /// Runs the download or recording of a source, and writes its file.
    ///
    /// - Parameters:
    ///   - source: The source as the user gave it.
    ///   - configuration: The options of the download.
    ///   - options: The options of the command.
    /// - Returns: A Boolean value that indicates whether the asset is stored; otherwise it is queued.
    /// - Throws: The errors of the download and of the export.
    @discardableResult
    func run(
        _ source: String,
        _ configuration: DownloadConfiguration,
        _ options: DownloadOptions
    ) async throws -> Bool {
        let output = try file()
        // An export would fail only after the download.
        try output?.verifyIsNew(title: configuration.title)
        let found = try await options.run(source, configuration) { asset in
            if let output { try output.verifyIsNew(of: asset) }
        }
        guard let (asset, folders) = found else { return false }
        guard let output else { return true }
        let library = try options.library.open()
        for path in try await output.write(asset, folders, in: library) {
            if options.json {
                try StandardOutput.writeLine(
                    ReportValue.fields([
                        "event": .string("exported"), "id": .string(asset.id), "file": .string(path),
                    ])
                )
            } else {
                try StandardOutput.writeLine(path: path)
            }
        }
        #if Playback
        if !options.quiet {
            for note in try await output.notes(on: asset, in: library) { StandardError.write("\(note)\n") }
        }
        #endif
        return true
    }
}
