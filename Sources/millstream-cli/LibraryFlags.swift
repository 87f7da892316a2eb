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

    func open() throws -> AssetLibrary {
        try AssetLibrary(directory: library.map { URL(fileURLWithPath: $0) } ?? AssetLibrary.defaultDirectory)
    }
}
