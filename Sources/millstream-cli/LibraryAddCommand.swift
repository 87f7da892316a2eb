import ArgumentParser
import AssetStorage
import Foundation
import MediaTiming
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
                playlist or below it. If one is missing, nothing is added. \
                Files whose content the library already contains are not stored again; the additional disk space is \
                printed in this case. If the source is a folder, an image in it becomes the artwork of the asset: the first of \
                \(artworkNames) that has at most \(AssetArtwork.maximumSize.bytes >> 20) MiB.

                Example: millstream library add /srv/www/film
                """
        )

        /// The names of the images that can become the artwork, as an enumeration.
        private static var artworkNames: String {
            let names = AssetImport.artworkNames
            return "\(names.dropLast().joined(separator: ", ")) and \(names.last ?? "")"
        }

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
            let evictions = library.observeEvictions { entry in
                DownloadPrinter.showEviction(entry, display)
            }
            defer { withExtendedLifetime(evictions) {} }
            let summary = try await Interruption.cancelling {
                try await task.runMeasured { display.show($0) }
            }
            display.end()
            let asset = summary.asset
            if json { return try StandardOutput.writeLine(Self.report(summary)) }
            guard summary.sharedBytes > .zero else {
                return try StandardOutput.writeLine("\(asset.id)  \(asset.title)  \(asset.bytes)")
            }
            try StandardOutput.writeLine(
                "\(asset.id)  \(asset.title)  \(asset.bytes), \(summary.addedBytes) added to the disk"
            )
        }

        /// Returns the report of the asset with the disk space that the import added.
        private static func report(_ summary: AssetImport.Summary) -> ReportValue {
            let added = ReportValue.Field(name: "addedBytes", value: .integer(summary.addedBytes.bytes))
            guard case .object(let fields) = summary.asset.report else { return summary.asset.report }
            return .object(fields + [added])
        }
    }
}
