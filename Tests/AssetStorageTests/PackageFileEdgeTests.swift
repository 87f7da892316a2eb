import Foundation
import MediaTransport
import Testing

@testable import AssetStorage

/// File operations during which another process replaces a file before it is linked.
private struct ReplacingFiles: ForwardedFiles {
    let system = SystemFileOperations()

    func link(_ path: String, to newPath: String) throws(FileFailure) {
        let descriptor = try system.createFile(path + ".new")
        system.closeFile(descriptor)
        try system.rename(path + ".new", to: path)
        try system.link(path, to: newPath)
    }
}

/// Tests the operations by which the files of a package are read, noted, linked and locked.
@Suite struct PackageFileEdgeTests {
    private let planned: PlannedResource

    init() throws { planned = try PlannedResource() }

    private var temporary: TemporaryLibrary { planned.temporary }

    private var library: AssetLibrary { planned.library }

    private var id: String { planned.id }

    private var resource: StoredResource { planned.resource }

    private func path(_ name: String) -> String { planned.path(name) }

    private func write(_ text: String, to name: String) throws {
        try planned.write(text.utf8, to: name)
    }

    // MARK: Content

    @Test(.timeLimit(.minutes(1))) func directoryHasNoContent() throws {
        try write("text", to: "file")
        try FileManager.default.createDirectory(atPath: path("folder"), withIntermediateDirectories: false)
        #expect(!FileInspection.isEqual(path("folder"), to: []))
        #expect(!FileInspection.isEqual(path("folder"), toFile: path("file")))
        #expect(!FileInspection.isEqual(path("file"), toFile: path("folder")))
        #expect(FileInspection.checksum(path("folder"), ofFirst: 1) == nil)
    }

    @Test func checksumOfABeginningIsThatOfItsBytes() throws {
        try write("0123456789", to: "file")
        try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: path("file"))
        for count in [1, 3, 10] {
            let bytes = Array("0123456789".utf8.prefix(count))
            let sum = bytes.withUnsafeBytes { Int64(bitPattern: FileChecksum.of($0)) }
            #expect(FileInspection.checksum(path("file"), ofFirst: Int64(count)) == sum)
            #expect(FileInspection.firstBytes(count, of: path("file")) == bytes)
        }
        #expect(FileInspection.checksum(path("file"), ofFirst: 11) == nil)
        #expect(FileInspection.checksum(path("link"), ofFirst: 3) == nil)
        #expect(FileInspection.checksum(path("none"), ofFirst: 3) == nil)
        #expect(FileInspection.firstBytes(20, of: path("file")) == Array("0123456789".utf8))
        #expect(FileInspection.firstBytes(1, of: path("none")) == nil)
    }

    // MARK: Notes

    private static let version = ResourceVersion(TransportRequest.Resumption(offset: 0, validator: "v"))

    /// A process that is ended at any time leaves the old or the new note.
    @Test func noteIsReplacedAtOnceAndRemovedWithItsFile() throws {
        let name = "packages/*/media/000000.ts"
        let file = library.makePackageFile(for: resource, of: id)
        try Array("zer".utf8).withUnsafeBytes { try file.write($0) }
        _ = temporary.files.takeLines()
        file.note(Self.version, of: resource)
        #expect(
            temporary.files.takeLines() == [
                "create \(name).resume.part", "write \(name).resume.part", "close \(name).resume.part",
                "rename \(name).resume.part to \(name).resume",
            ]
        )
        try file.finish()
        #expect(
            temporary.files.takeLines() == [
                "synchronize \(name).part", "close \(name).part", "rename \(name).part to \(name)",
                "remove \(name).resume",
            ]
        )
        // The note that was removed is not removed again.
        file.discard()
        #expect(temporary.files.takeLines() == ["remove \(name).part"])
    }

    @Test func earlierBytesAreOnlyRemovedIfThereAreAny() throws {
        let file = library.makePackageFile(for: resource, of: id)
        _ = temporary.files.takeLines()
        file.removeEarlierBytes()
        #expect(temporary.files.takeLines().isEmpty)
    }

    // MARK: Links

    @Test(arguments: ["link b to a.link", "rename a.link to a"])
    func linkThatCannotBeMadeChangesNothing(line: String) throws {
        for name in ["a", "b"] { try write("same", to: name) }
        temporary.files.fail(line, with: EIO)
        #expect(!PackageFile.replace(path("a"), byLinkTo: path("b"), ifEqualTo: path("a"), temporary.files))
        #expect(FileInspection.identity(path("a")) != FileInspection.identity(path("b")))
        #expect(FileInspection.size(path("a")) == 4 && FileInspection.size(path("a.link")) == nil)
    }

    @Test func fileThatIsReplacedMeanwhileIsNotLinked() throws {
        for name in ["a", "b"] { try write("same", to: name) }
        let files = ReplacingFiles()
        #expect(!PackageFile.replace(path("a"), byLinkTo: path("b"), ifEqualTo: path("a"), files))
        #expect(FileInspection.size(path("a")) == 4 && FileInspection.size(path("b")) == 0)
        #expect(FileInspection.size(path("a.link")) == nil)
    }

    // MARK: Locks

    /// A symbolic link might point to a directory outside the library.
    @Test func onlyADirectoryIsMarked() throws {
        let folder = library.packageDirectory(id)
        try write("text", to: "file")
        try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: folder.path)
        for name in ["file", "link", "none"] {
            #expect(PackageUse(URL(fileURLWithPath: path(name), isDirectory: false)) == nil)
        }
        #expect(PackageUse(folder) != nil)
    }

    #if os(Linux)
    /// Returns the number of descriptors of this process that are open for a path.
    private func openDescriptors(of path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }

    @Test func locksThatAreExaminedLeaveNothingOpen() throws {
        let folder = library.packageDirectory(id)
        let names = [folder.path, folder.path + "/.lock"]
        var (use, lock): (PackageUse?, PackageLock?) = (PackageUse(folder), try PackageLock(folder))
        for _ in 0..<2 { #expect(PackageUse.isMarked(folder) && PackageLock.isHeld(folder)) }
        #expect(try names.map { try openDescriptors(of: $0) } == [1, 1])
        withExtendedLifetime((use, lock)) {}
        (use, lock) = (nil, nil)
        for _ in 0..<2 { #expect(!PackageUse.isMarked(folder) && !PackageLock.isHeld(folder)) }
        #expect(try names.map { try openDescriptors(of: $0) } == [0, 0])
    }
    #endif
}
