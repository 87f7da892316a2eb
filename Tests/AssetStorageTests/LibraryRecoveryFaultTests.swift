import Foundation
import Testing

@testable import AssetStorage

/// Tests what stays in the directory of packages when a library is opened.
@Suite struct LibraryRecoveryFaultTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    /// A link was made by another program, and its target is not a part of the library.
    @Test func linkInPlaceOfAPackageIsNotFollowed() throws {
        let target = temporary.directory.appendingPathComponent("elsewhere")
        let packages = temporary.directory.appendingPathComponent("packages")
        for folder in [target, packages] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        try Data("kept".utf8).write(to: target.appendingPathComponent("kept"))
        let link = packages.appendingPathComponent("film")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
        _ = try AssetLibrary(directory: temporary.directory)
        #expect(try temporary.packages == ["film"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: target.path) == ["kept"])
    }

    /// Only names of packages are removed.
    @Test(arguments: [("film", false), ("film-2", false), ("Film", true), ("film.old", true), ("film_2", true)])
    func onlyPackagesWithoutEntryAreRemoved(name: String, isKept: Bool) throws {
        let folder = temporary.directory.appendingPathComponent("packages/\(name)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("rest".utf8).write(to: folder.appendingPathComponent("file"))
        _ = try AssetLibrary(directory: temporary.directory)
        #expect(try temporary.packages == (isKept ? [name] : []))
    }
}
