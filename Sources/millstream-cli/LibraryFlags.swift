import ArgumentParser
import AssetStorage
import Foundation

/// The option for the library of a command.
struct LibraryFlags: ParsableArguments {
    @Option(
        name: .long,
        help: "The folder of the library (default: $MILLSTREAM_LIBRARY, otherwise the data folder of the platform)."
    )
    var library: String?

    private var directory: URL { library.map { URL(fileURLWithPath: $0) } ?? AssetLibrary.defaultDirectory }

    func open() throws -> AssetLibrary { try AssetLibrary(directory: directory) }

    /// Opens the library without modifying it, so that it can be on a read-only file system.
    func openForReading() throws -> AssetLibrary {
        if let library = try? AssetLibrary(reading: directory) { return library }
        // There is no library yet: create an empty one, or report why that fails.
        return try open()
    }
}
