import Foundation
import MediaTransport
import Testing

@testable import AssetStorage

/// Tests the operations by which packages are changed on the disk.
@Suite struct FileOperationsTests {
    private let files = SystemFileOperations()
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A temporary directory that is removed when the object is deallocated.
    private final class TemporaryFolder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("files-\(UUID())")
            .standardizedFileURL.path

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private func path(_ name: String) -> String { folder.path + "/" + name }

    private func failure(_ body: () throws(FileFailure) -> Void) -> CInt? {
        do {
            try body()
            return nil
        } catch {
            return error.number
        }
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func write(_ text: String, to descriptor: CInt) -> CInt? {
        failure { () throws(FileFailure) in
            let bytes = Array(text.utf8)
            let result = bytes.withUnsafeBytes { bytes in
                Result { () throws(FileFailure) in try files.write(bytes, to: descriptor) }
            }
            try result.get()
        }
    }

    #if os(Linux)
    /// Returns the number of descriptors of this process that are open for a path.
    private func openDescriptors(of path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }
    #endif

    @Test func directoryIsCreatedForItsOwnerOnlyAndAnExistingOneIsKept() throws {
        try files.makeFolder(path("a"))
        #expect(try mode(path("a")) == 0o700)
        try Data("x".utf8).write(to: URL(fileURLWithPath: path("a/file")))
        try files.makeFolder(path("a"))
        #expect(FileManager.default.fileExists(atPath: path("a/file")))
        #expect(failure { () throws(FileFailure) in try files.makeFolder(path("b/c")) } == ENOENT)
        #expect(failure { () throws(FileFailure) in try files.makeFolder(path("a/file/c")) } == ENOTDIR)
    }

    @Test func fileIsCreatedEmptyPrivateAndCloseOnExec() throws {
        let file = path("file")
        for former in [nil, "former content"] as [String?] {
            if let former { try Data(former.utf8).write(to: URL(fileURLWithPath: file)) }
            let descriptor = try files.createFile(file)
            #expect(descriptor >= 0)
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC == FD_CLOEXEC)
            #expect(FileInspection.size(file) == 0)
            #expect(write("new", to: descriptor) == nil)
            #expect(write(" text", to: descriptor) == nil)
            try files.synchronizeFile(descriptor)
            files.closeFile(descriptor)
            #expect(fcntl(descriptor, F_GETFD) == -1 || descriptorIsReused(descriptor, file))
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "new text")
            #expect(try mode(file) == 0o600)
        }
        #expect(failure { () throws(FileFailure) in _ = try files.createFile(path("none/file")) } == ENOENT)
        try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: file)
        #expect(failure { () throws(FileFailure) in _ = try files.createFile(path("link")) } == ELOOP)
    }

    /// Returns a Boolean value that indicates whether a concurrent test has reused the descriptor for another file.
    private func descriptorIsReused(_ descriptor: CInt, _ file: String) -> Bool {
        var (own, other) = (stat(), stat())
        return fstat(descriptor, &other) == 0 && stat(file, &own) == 0 && own.st_ino != other.st_ino
    }

    @Test func failedWriteReportsTheSystemError() throws {
        #expect(write("text", to: -1) == EBADF)
        #expect(write("", to: -1) == nil)
        #if os(Linux)
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        #expect(write("text", to: full) == ENOSPC)
        #endif
    }

    /// A pipe accepts only a part of a long write; the rest must follow, without repeated bytes.
    @Test func eachByteOfALongWriteIsWrittenOnce() throws {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        // More bytes than the capacity of the pipe: the pipe is filled, and the rest fails.
        #expect(write(String(repeating: "0123456789", count: 1_000_000), to: ends[1]) == EAGAIN)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(ends[0], &buffer, buffer.count)
            guard count > 0 else { break }
            received += buffer[..<count]
        }
        #expect(!received.isEmpty)
        #expect(received.enumerated().allSatisfy { $1 == UInt8(ascii: "0") + UInt8($0 % 10) })
    }

    @Test func onlyAFileCanBeSynchronized() throws {
        #expect(failure { () throws(FileFailure) in try files.synchronizeFile(-1) } == EBADF)
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        #expect(failure { () throws(FileFailure) in try files.synchronizeFile(ends[0]) } == EINVAL)
    }

    @Test func renamingReplacesAnExistingFile() throws {
        for (name, text) in [("a", "new"), ("b", "old")] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
        }
        try files.rename(path("a"), to: path("b"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["b"])
        #expect(try String(contentsOfFile: path("b"), encoding: .utf8) == "new")
        #expect(failure { () throws(FileFailure) in try files.rename(path("a"), to: path("c")) } == ENOENT)
    }

    @Test func existingFileIsOpenedAndShortened() throws {
        try Data("0123456789".utf8).write(to: URL(fileURLWithPath: path("file")))
        let descriptor = try files.openFile(path("file"), truncatedTo: 4)
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC == FD_CLOEXEC)
        #expect(FileInspection.size(path("file")) == 4)
        var buffer = [UInt8](repeating: 0, count: 10)
        let count = read(descriptor, &buffer, buffer.count)
        #expect(count == 4 && buffer.prefix(4) == Array("0123".utf8)[...])
        #expect(write("x", to: descriptor) == nil)
        files.closeFile(descriptor)
        #expect(try String(contentsOfFile: path("file"), encoding: .utf8) == "0123x")
        #expect(failure { () throws(FileFailure) in _ = try files.openFile(path("file"), truncatedTo: 6) } == EIO)
        #expect(failure { () throws(FileFailure) in _ = try files.openFile(path("none"), truncatedTo: 0) } == ENOENT)
        try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: path("file"))
        #expect(failure { () throws(FileFailure) in _ = try files.openFile(path("link"), truncatedTo: 0) } == ELOOP)
        #expect(FileInspection.size(path("file")) == 5)
        #if os(Linux)
        #expect(try openDescriptors(of: path("file")) == 0)
        #endif
    }

    @Test func linkIsAFurtherNameOfAFile() throws {
        for name in ["a", "b"] { try Data(name.utf8).write(to: URL(fileURLWithPath: path(name))) }
        try files.link(path("a"), to: path("c"))
        #expect(FileInspection.identity(path("a")) == FileInspection.identity(path("c")))
        #expect(failure { () throws(FileFailure) in try files.link(path("a"), to: path("b")) } == EEXIST)
        #expect(try String(contentsOfFile: path("b"), encoding: .utf8) == "b")
    }

    /// A player may store a file while its directory is being removed.
    @Test(arguments: [(ENOTEMPTY, 4), (EEXIST, 4), (EIO, 1)])
    func removalOfADirectoryThatIsNotEmptyIsRepeated(number: CInt, attempts: Int) throws {
        let recorded = RecordedFiles(URL(fileURLWithPath: folder.path))
        try files.makeFolder(path("tree"))
        recorded.fail("remove folder tree", with: number)
        #expect(failure { () throws(FileFailure) in try recorded.removeTree(path("tree"), last: ".lock") } == number)
        #expect(recorded.takeLines() == Array(repeating: "remove tree/.lock", count: attempts))
    }

    @Test func removingAMissingFileIsNotAnError() throws {
        try Data().write(to: URL(fileURLWithPath: path("file")))
        try files.makeFolder(path("folder"))
        #expect(failure { () throws(FileFailure) in try files.removeFolder(path("file")) } == ENOTDIR)
        #expect(failure { () throws(FileFailure) in try files.removeFile(path("file/a")) } == ENOTDIR)
        #expect(failure { () throws(FileFailure) in try files.removeFolder(folder.path) } == ENOTEMPTY)
        for _ in 0..<2 {
            try files.removeFile(path("file"))
            try files.removeFolder(path("folder"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }
    }

    @Test func onlyAnExistingDirectoryCanBeSynchronized() throws {
        try files.synchronizeFolder(folder.path)
        try Data().write(to: URL(fileURLWithPath: path("file")))
        #expect(failure { () throws(FileFailure) in try files.synchronizeFolder(path("none")) } == ENOENT)
        #expect(failure { () throws(FileFailure) in try files.synchronizeFolder(path("file")) } == ENOTDIR)
        #if os(Linux)
        #expect(try openDescriptors(of: folder.path) == 0)
        // A file system that cannot synchronize directories.
        try files.synchronizeFolder("/proc/self")
        #endif
    }

    @Test func freeSpaceIsThatOfTheFileSystem() throws {
        #expect(files.freeSpace(at: path("none")) == nil)
        var status = statvfs()
        try #require(statvfs(folder.path, &status) == 0)
        let expected = Int64(status.f_bavail) * Int64(status.f_frsize)
        let free = try #require(files.freeSpace(at: folder.path))
        // Allow for concurrent writes of other processes.
        #expect(abs(free - expected) < 1 << 30)
    }

    @Test func treeIsRemovedWithTheGivenNameLast() throws {
        let recorded = RecordedFiles(URL(fileURLWithPath: folder.path))
        for name in ["tree", "tree/inner", "tree/outside"] { try files.makeFolder(path(name)) }
        try files.makeFolder(path("kept"))
        for name in ["tree/a", "tree/inner/b", "tree/.lock", "kept/c"] {
            try Data().write(to: URL(fileURLWithPath: path(name)))
        }
        try FileManager.default.createSymbolicLink(atPath: path("tree/link"), withDestinationPath: path("kept"))
        try recorded.removeTree(path("tree"), last: ".lock")
        let lines = recorded.takeLines()
        #expect(lines.suffix(2) == ["remove tree/.lock", "remove folder tree"])
        #expect(
            lines.sorted() == [
                "remove folder tree", "remove folder tree/inner", "remove folder tree/outside", "remove tree/.lock",
                "remove tree/a", "remove tree/inner/b", "remove tree/link",
            ]
        )
        // A symbolic link is removed, but not its destination.
        #expect(FileManager.default.fileExists(atPath: path("kept/c")))
        // Removing a missing tree is not an error.
        try recorded.removeTree(path("tree"))
        #expect(recorded.takeLines() == ["remove folder tree"])
    }

    @Test func failedRemovalOfATreeIsAnError() throws {
        let recorded = RecordedFiles(URL(fileURLWithPath: folder.path))
        for line in ["remove tree/a", "remove tree/inner/b", "remove folder tree/inner", "remove folder tree"] {
            for name in ["tree", "tree/inner"] { try files.makeFolder(path(name)) }
            for name in ["tree/a", "tree/inner/b"] { try Data().write(to: URL(fileURLWithPath: path(name))) }
            recorded.fail(line, with: EIO)
            #expect(failure { () throws(FileFailure) in try recorded.removeTree(path("tree")) } == EIO, "\(line)")
            recorded.stopFailing()
        }
    }

    // MARK: Package files

    @Test func fileIsRenamedIntoPlaceWhenFinished() throws {
        let recorded = RecordedFiles(URL(fileURLWithPath: folder.path))
        let file = PackageFile(path("a.ts"), files: recorded)
        #expect(recorded.takeLines() == [])
        for text in ["first ", "second"] { try Array(text.utf8).withUnsafeBytes { try file.write($0) } }
        #expect(recorded.takeLines() == ["create a.ts.part", "write a.ts.part", "write a.ts.part"])
        #expect(file.count == 12)
        let whole = Array("first second".utf8).withUnsafeBytes { FileChecksum.of($0) }
        #expect(file.checksum == Int64(bitPattern: whole))
        #expect(FileInspection.size(path("a.ts")) == nil)
        #expect(FileInspection.size(path("a.ts.part")) == 12)
        try file.finish()
        #expect(recorded.takeLines() == ["synchronize a.ts.part", "close a.ts.part", "rename a.ts.part to a.ts"])
        #expect(FileInspection.size(path("a.ts")) == 12)
        #expect(FileInspection.checksum(path("a.ts")) == file.checksum)
    }

    @Test func emptyFileIsRenamedIntoPlaceWhenFinished() throws {
        let recorded = RecordedFiles(URL(fileURLWithPath: folder.path))
        try PackageFile(path("a.ts"), files: recorded).finish()
        #expect(
            recorded.takeLines() == [
                "create a.ts.part", "synchronize a.ts.part", "close a.ts.part", "rename a.ts.part to a.ts",
            ]
        )
        #expect(FileInspection.size(path("a.ts")) == 0)
        #expect(FileInspection.checksum(path("a.ts")) == Int64(bitPattern: FileChecksum().value))
    }

    @Test func abandonedFileIsRemoved() throws {
        let recorded = RecordedFiles(URL(fileURLWithPath: folder.path))
        let file = PackageFile(path("a.ts"), files: recorded)
        file.discard()
        #expect(recorded.takeLines() == ["remove a.ts.part"])
        try [1].withUnsafeBytes { try file.write($0) }
        file.discard()
        #expect(
            recorded.takeLines() == ["create a.ts.part", "write a.ts.part", "close a.ts.part", "remove a.ts.part"]
        )
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        // The descriptor is closed only once, because another file may have reused it.
        file.discard()
        #expect(recorded.takeLines() == ["remove a.ts.part"])
    }

    @Test func deallocatedFileIsClosed() throws {
        let recorded = RecordedFiles(URL(fileURLWithPath: folder.path))
        var file: PackageFile? = PackageFile(path("a.ts"), files: recorded)
        try [1].withUnsafeBytes { try file?.write($0) }
        file = nil
        #expect(recorded.takeLines() == ["create a.ts.part", "write a.ts.part", "close a.ts.part"])
    }

    @Test(arguments: ["create", "write", "synchronize", "rename"])
    func writeErrorsHaveCodesAndReasons(operation: String) throws {
        let file = path("a.ts")
        let line = operation == "rename" ? "rename a.ts.part to a.ts" : "\(operation) a.ts.part"
        for (number, code, message) in [
            (ENOSPC, "disk-full", "\(file) cannot be written (No space left on device)"),
            (EDQUOT, "disk-full", "\(file) cannot be written (\(String(cString: strerror(EDQUOT))))"),
            (EIO, "disk-failed", "\(file) cannot be written (Input/output error)"),
            (
                ENOENT, "not-found",
                "\(file) cannot be written: its directory no longer exists; the asset may have been deleted"
            ),
        ] {
            let recorded = RecordedFiles(URL(fileURLWithPath: folder.path))
            recorded.fail(line, with: number)
            let package = PackageFile(file, files: recorded)
            let error = storageError {
                try [1].withUnsafeBytes { try package.write($0) }
                try package.finish()
            }
            #expect(error?.code == code)
            #expect(error?.message == message)
            #expect(package.count == (["create", "write"].contains(operation) ? 0 : MemoryLayout<Int>.size))
            #expect(FileInspection.size(file) == nil)
        }
    }

    @Test func createErrorOfAnEmptyFileHasACode() throws {
        let recorded = RecordedFiles(URL(fileURLWithPath: folder.path))
        recorded.fail("create a.ts.part", with: EIO)
        let error = storageError { try PackageFile(path("a.ts"), files: recorded).finish() }
        #expect(error?.code == "disk-failed")
    }

    @Test func onlyRegularFilesHaveSizesAndChecksums() throws {
        try Data("text".utf8).write(to: URL(fileURLWithPath: path("file")))
        try files.makeFolder(path("folder"))
        try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: path("file"))
        try FileManager.default.createSymbolicLink(atPath: path("other"), withDestinationPath: path("folder"))
        let text = Array("text".utf8).withUnsafeBytes { Int64(bitPattern: FileChecksum.of($0)) }
        for (name, size, checksum, isFolder) in [
            ("file", 4, text, false), ("folder", nil, nil, true), ("link", nil, nil, false), ("other", nil, nil, false),
            ("none", nil, nil, false),
        ] as [(String, Int64?, Int64?, Bool)] {
            #expect(FileInspection.size(path(name)) == size, "\(name)")
            #expect(FileInspection.checksum(path(name)) == checksum, "\(name)")
            #expect(FileInspection.isFolder(path(name)) == isFolder, "\(name)")
        }
        #if os(Linux)
        #expect(try openDescriptors(of: path("file")) == 0)
        #expect(try openDescriptors(of: path("folder")) == 0)
        #endif
    }

    /// The file is longer than one read.
    @Test func checksumOfALongFileCoversAllItsBytes() throws {
        let bytes = (0..<(1 << 20) + 5).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        try Data(bytes).write(to: URL(fileURLWithPath: path("file")))
        let expected = bytes.withUnsafeBytes { Int64(bitPattern: FileChecksum.of($0)) }
        #expect(FileInspection.checksum(path("file")) == expected)
    }

    // MARK: Locks

    @Test func packageCanBeLockedOnlyOnceAtATime() throws {
        let package = URL(fileURLWithPath: folder.path)
        var lock: PackageLock? = try PackageLock(package)
        #expect(try mode(path(".lock")) == 0o600)
        let busy = storageError { _ = try PackageLock(package) }
        #expect(busy?.code == "asset-busy")
        #expect(
            busy?.message
                == "the asset \(package.lastPathComponent) is being downloaded, verified, or deleted by another task"
        )
        #if os(Linux)
        #expect(try openDescriptors(of: path(".lock")) == 1)
        #endif
        withExtendedLifetime(lock) {}
        lock = nil
        #if os(Linux)
        #expect(try openDescriptors(of: path(".lock")) == 0)
        #endif
        #expect(throws: Never.self) { try PackageLock(package) }
    }

    @Test func failedLockHasAReason() throws {
        let missing = storageError { _ = try PackageLock(URL(fileURLWithPath: path("none"))) }
        #expect(missing?.code == "not-found")
        #expect(missing?.message == "there is no package \(path("none"))")
        try Data().write(to: URL(fileURLWithPath: path("file")))
        let file = storageError { _ = try PackageLock(URL(fileURLWithPath: path("file"))) }
        #expect(file?.code == "disk-failed")
        #expect(file?.message == "\(path("file")) cannot be written (Not a directory)")
        // A symbolic link might point to a file outside the library.
        try files.makeFolder(path("package"))
        try FileManager.default.createSymbolicLink(
            atPath: path("package/.lock"),
            withDestinationPath: path("file")
        )
        let link = storageError { _ = try PackageLock(URL(fileURLWithPath: path("package"))) }
        #expect(link?.code == "disk-failed")
    }
}
