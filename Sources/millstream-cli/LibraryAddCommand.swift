import ArgumentParser
import AssetStorage
import Foundation
import MillstreamDownloads
import ReportFormat
import ResourceAddressing

extension LibraryCommand {
    /// The command `millstream library add`.
    struct AddCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Copy a local HLS presentation into the library.",
            discussion: """
                All variants, audio and subtitles are copied and receive checksums. The files must be in the folder of the \
                playlist or below it. If one is missing, nothing is added.

                Example: millstream library add /srv/www/film
                """
        )

        @Argument(help: "A playlist, or a folder with multivariant.m3u8 or a single playlist.") var source: String
        @Option(name: .long, help: "The title of the asset (default: derived from the path).") var title: String?
        @OptionGroup var library: LibraryFlags
        @OptionGroup var reportFormat: ReportFormatFlags
        @Flag(name: .long, help: "Hide progress.") var quiet = false

        private var json: Bool { reportFormat.isJSON }

        func run() async throws {
            guard !source.isEmpty else { throw ValidationError("the source is empty") }
            guard !ResourceAddress(source).isHTTP else {
                throw Failure(
                    .wrongUsage,
                    "usage",
                    "library add takes files and folders, not URLs",
                    hint: "store a stream with: millstream download URL"
                )
            }
            // A source that cannot be added must not create a library.
            let location = URL(fileURLWithPath: source)
            guard FileManager.default.fileExists(atPath: location.path) else {
                throw Failure(.failed, "file-not-found", "\(source) does not exist")
            }
            let library = try library.open()
            let task = try AssetImport(location, into: library, title: title)
            let display = ProgressDisplay(isQuiet: quiet || json)
            defer { display.end() }
            let evictions = library.observeEvictions { [quiet] entry in
                DownloadPrinter.showEviction(entry, display, isQuiet: quiet)
            }
            defer { withExtendedLifetime(evictions) {} }
            let asset = try await Interruption.cancelling {
                try await task.run { display.show($0) }
            }
            display.end()
            if json { return try StandardOutput.writeLine(asset.report) }
            try StandardOutput.writeLine("\(asset.id)  \(asset.title)  \(asset.bytes)")
        }
    }
}
