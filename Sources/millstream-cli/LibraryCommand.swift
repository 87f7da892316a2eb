import ArgumentParser
import AssetStorage
import Foundation
import MediaTiming
import MillstreamDownloads
import ReportFormat
import ResourceAddressing

/// The command `millstream library`.
struct LibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "library",
        abstract: "Manage downloaded assets.",
        discussion: "Example: millstream library list",
        subcommands: [
            ListCommand.self, ShowCommand.self, AddCommand.self, LibraryVerifyCommand.self, RepairCommand.self,
            ShrinkCommand.self, LibraryExportCommand.self, DeleteCommand.self, PolicyCommand.self,
            LibraryLimitsCommand.self,
            EvictCommand.self, PathCommand.self,
        ],
        defaultSubcommand: ListCommand.self
    )

    struct PathCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "path",
            abstract: "Print the path of an asset or of the library.",
            discussion: "Example: millstream library path abc123"
        )

        @Argument(
            help: ArgumentHelp(
                "The identifier of the asset, the URL of its source, or the path of its package (default: the path of the library is printed)."
            )
        )
        var asset: String?
        @OptionGroup var library: LibraryFlags
        @OptionGroup var reportFormat: ReportFormatFlags

        func run() async throws {
            let path: String
            var id: String?
            if let asset {
                let library = try library.openExisting()
                let found = try library.asset(library.identifier(of: asset)).id
                path = library.packageDirectory(found).path
                id = found
            } else {
                path = library.directory.path
            }
            guard reportFormat.isJSON else { return try StandardOutput.writeLine(path: path) }
            try StandardOutput.writeLine(.fields(["id": id.map { .string($0) }, "path": .string(path)]))
        }
    }
}

extension StoredAsset {
    /// Returns the result of a verification that found no damage.
    ///
    /// - Parameter library: The library of the asset.
    /// - Returns: The text.
    func intactText(in library: AssetLibrary) -> String {
        guard state != .complete else { return "OK" }
        let percent = Int(saturating: UnfinishedAssets(in: library).percent(of: self))
        return "incomplete (\(percent) %): \(missingText(in: library))"
    }

    /// Returns a text about the missing part of an incomplete asset.
    private func missingText(in library: AssetLibrary) -> String {
        guard !renditions.isEmpty else { return "nothing is stored, because its playlists are not loaded" }
        let counts = (try? library.fileCounts(of: id)) ?? []
        let missing = counts.reduce(0) { $0 +| $1.missing }
        let total = counts.reduce(0) { $0 +| $1.total }
        if bytes == .zero, missing > 0 { return "none of its \(QuantityText.count(total, "file")) is stored" }
        guard missing > 0 else { return "the stored files are intact" }
        return "\(missing) of \(QuantityText.count(total, "file")) not stored; the stored files are intact"
    }
}
