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
                An asset is named by its identifier, by the URL or file of its source, or by the path of its package, \
                absolute or relative to the library. An asset that is being downloaded cannot be deleted; stop its \
                download first. If some assets cannot be deleted, the others are deleted nevertheless.

                Example: millstream library delete abc123
                """
        )

        @Argument(help: ArgumentHelp("The identifiers, sources or paths of the assets.", valueName: "id"))
        var references: [String]
        @OptionGroup var library: LibraryFlags

        func run() async throws {
            let library = try library.openForWriting()
            var deletedIDs: Set<String> = []
            var failures = Failures()
            for reference in references {
                try failures.collect {
                    let id = try library.identifier(of: reference)
                    guard deletedIDs.insert(id).inserted else { return }
                    try library.delete(id)
                    try StandardOutput.writeLine("deleted \(id)")
                }
            }
            try failures.finish()
        }
    }
}
