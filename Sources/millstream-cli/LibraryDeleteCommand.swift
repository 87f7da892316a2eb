import ArgumentParser
import AssetStorage
import Foundation
import ReportFormat

extension LibraryCommand {
    /// The command `millstream library delete`.
    struct DeleteCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete assets and their files.",
            discussion: """
                Each argument is the identifier of an asset, the URL or file of its source, or the path of its \
                package. A path can be absolute, or relative to the library. An asset that is being downloaded cannot \
                be deleted; stop its download first. If some assets cannot be deleted, the others are deleted \
                nevertheless. If there is no asset at a path, a note is printed, and the exit status is not affected.

                Example: millstream library delete abc123
                """
        )

        @Argument(help: ArgumentHelp("The identifiers, sources or paths of the assets.", valueName: "id"))
        var references: [String]
        @OptionGroup var library: LibraryFlags
        @OptionGroup var reportFormat: ReportFormatFlags

        func run() async throws {
            let library = try library.openForWriting()
            var deletedIDs: [String] = []
            var failures = Failures()
            for reference in references {
                try failures.collect {
                    let id = try library.identifier(of: reference)
                    guard !deletedIDs.contains(id) else { return }
                    do {
                        _ = try library.storagePolicy(id)
                    } catch let error as StorageError where error.code == .notFound {
                        // The package at this path was already removed, so there is no entry in the catalog.
                        try library.delete(id)
                        return StandardError.write("note: no asset is at \(reference)\n")
                    }
                    try library.delete(id)
                    deletedIDs.append(id)
                    if !reportFormat.isJSON { try StandardOutput.writeLine("deleted \(id)") }
                }
            }
            if reportFormat.isJSON {
                try StandardOutput.writeLine(ReportValue.array(deletedIDs.map { .fields(["id": .string($0)]) }))
            }
            try failures.finish()
        }
    }
}
