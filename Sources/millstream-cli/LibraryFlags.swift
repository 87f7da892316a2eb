import ArgumentParser
import AssetStorage
import Foundation

/// Which library a command works on.
struct LibraryFlags: ParsableArguments {
    @Option(
        name: .long,
        help: "The library's folder; by default $MILLSTREAM_LIBRARY, else the platform's folder for data."
    )
    var library: String?

    private var directory: URL { library.map { URL(fileURLWithPath: $0) } ?? AssetLibrary.defaultDirectory }

    func open() throws -> AssetLibrary { try AssetLibrary(directory: directory) }

    /// Opens the library without a change to it, so that it may be on a disk that cannot be written.
    func openForReading() throws -> AssetLibrary {
        if let library = try? AssetLibrary(reading: directory) { return library }
        // There is none yet: an empty one is made, or what prevents it is reported.
        return try open()
    }
}
