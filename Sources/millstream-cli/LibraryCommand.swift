import ArgumentParser
import AssetStorage
import Foundation
import MediaTiming
import ReportFormat
import ResourceAddressing

/// The command `millstream library`.
struct LibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "library",
        abstract: "Manage downloaded assets.",
        discussion: "Example: millstream library list",
        subcommands: [
            ListCommand.self, ShowCommand.self, AddCommand.self, VerifyCommand.self, RepairCommand.self,
            ShrinkCommand.self, LibraryExportCommand.self, DeleteCommand.self, PolicyCommand.self, EvictCommand.self,
            PathCommand.self,
        ],
        defaultSubcommand: ListCommand.self
    )

    struct VerifyCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Verify the size and checksum of every stored file.",
            discussion: """
                Damaged files are marked as missing; "millstream library repair" replaces them.

                Example: millstream library verify abc123
                """
        )

        @Argument(help: "The identifiers of the assets (default: all assets).") var ids: [String] = []
        @OptionGroup var library: LibraryFlags
        @OptionGroup var reportFormat: ReportFormatFlags

        private var json: Bool { reportFormat.isJSON }

        func run() async throws {
            var results: [(id: String, result: VerificationResult)] = []
            for (library, id) in try assets() {
                let result = try library.verify(id)
                results.append((id, result))
                guard !json else { continue }
                try StandardOutput.writeLine("\(id)  \(Self.summary(result, try library.asset(id)))")
                for path in result.damaged {
                    // A playlist is written from the catalog.
                    try StandardOutput.writeLine("  \(path)\(path.hasSuffix(".m3u8") ? " (written again)" : "")")
                }
            }
            if json {
                let reports = results.map { id, result in
                    ReportValue.fields([
                        "id": .string(id),
                        "lost": .strings(result.damaged),
                        "withoutChecksum": .integer(Int64(clamping: result.withoutChecksum)),
                    ])
                }
                try StandardOutput.writeLine(ReportValue.array(reports))
            }
            guard results.allSatisfy(\.result.damaged.isEmpty) else {
                throw Failure(
                    .failed,
                    "package-damaged",
                    "files are missing or damaged",
                    hint: "replace them with: millstream library repair"
                )
            }
        }

        /// Returns the assets to verify, with their library, which is not created if it does not exist.
        private func assets() throws -> [(library: AssetLibrary, id: String)] {
            if ids.isEmpty, !library.lacksCatalog, try library.openForReading() == nil { return [] }
            let opened = try library.openForWriting()
            return try (ids.isEmpty ? opened.assets().map(\.id) : ids).map { (opened, $0) }
        }

        private static func summary(_ result: VerificationResult, _ asset: StoredAsset) -> String {
            guard result.damaged.isEmpty else {
                return "\(result.damaged.count) \(result.damaged.count == 1 ? "file" : "files") missing or damaged"
            }
            guard result.withoutChecksum > 0 else { return asset.intactText }
            return "\(asset.intactText) (only the size of \(result.withoutChecksum) files was verified)"
        }
    }

    struct PathCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "path",
            abstract: "Print the path of an asset or of the library.",
            discussion: "Example: millstream library path abc123"
        )

        @Argument(help: "The identifier of the asset (default: the path of the library is printed).") var id: String?
        @OptionGroup var library: LibraryFlags
        @OptionGroup var reportFormat: ReportFormatFlags

        func run() async throws {
            let path: String
            if let id {
                let library = try library.openExisting()
                path = library.packageDirectory(try library.asset(id).id).path
            } else {
                path = library.directory.path
            }
            guard reportFormat.isJSON else { return try StandardOutput.writeLine(path: path) }
            try StandardOutput.writeLine(.fields(["id": id.map { .string($0) }, "path": .string(path)]))
        }
    }
}

extension StoredAsset {
    /// The result of a verification that found no damage.
    var intactText: String {
        state == .complete ? "OK" : "incomplete (\(Int(saturating: percent)) %), what is stored is OK"
    }
}
