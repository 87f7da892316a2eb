import Foundation
import Testing

@testable import MediaTransport

@Suite struct PrivateFilesTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("private-\(UUID())").path

    private func mode(_ path: String) -> Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.posixPermissions] as? Int
    }

    private func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test func directoriesAreCreatedForTheOwnerOnly() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFiles.createFolder(folder + "/a/b")
        try PrivateFiles.createFolder(folder + "/a/b")
        for path in [folder, folder + "/a", folder + "/a/b"] { #expect(mode(path) == 0o700) }
        try PrivateFiles.write([], to: folder + "/file")
        let error = #expect(throws: POSIXError.self) { try PrivateFiles.createFolder(folder + "/file") }
        #expect(error?.code == .ENOTDIR)
        #expect(throws: POSIXError.self) { try PrivateFiles.createFolder(folder + "/file/x") }
    }

    @Test func errorIsThatOfTheDirectoryThatCannotBeCreated() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // The parent directory is missing at first.
        let path = folder + "/a/" + String(repeating: "x", count: 300)
        let error = #expect(throws: POSIXError.self) { try PrivateFiles.createFolder(path) }
        #expect(error?.code == .ENAMETOOLONG && mode(folder + "/a") == 0o700)
        let none = #expect(throws: POSIXError.self) { try PrivateFiles.createFolder("") }
        #expect(none?.code == .ENOENT)
    }

    @Test func linkToADirectoryIsADirectory() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFiles.createFolder(folder + "/a")
        try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: folder + "/a")
        try PrivateFiles.createFolder(folder + "/link")
        try PrivateFiles.createFolder(folder + "/link/b")
        #expect(mode(folder + "/a/b") == 0o700)
    }

    @Test(arguments: [0, 1, 2, 300_000]) func allBytesAreWritten(count: Int) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFiles.createFolder(folder)
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try PrivateFiles.write(bytes, to: folder + "/file")
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/file")) == Data(bytes))
    }

    @Test func fileThatCannotBeReplacedLeavesNoTemporaryFile() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFiles.createFolder(folder + "/occupied")
        #expect(throws: POSIXError.self) { try PrivateFiles.write([1], to: folder + "/occupied") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["occupied"])
    }

    /// Programs that this one starts have no access to the files.
    @Test func descriptorsAreClosedInOtherPrograms() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFiles.createFolder(folder)
        // The last one is opened when it exists already.
        let descriptors = [
            try PrivateFiles.create(folder + "/file"), try PrivateFiles.openReport(folder + "/report"),
            try PrivateFiles.openReport(folder + "/report"),
        ]
        for descriptor in descriptors {
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC == FD_CLOEXEC)
            close(descriptor)
        }
    }

    @Test func fileIsReplacedAtomicallyAndForTheOwnerOnly() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFiles.createFolder(folder)
        let path = folder + "/file"
        try Data("former".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let reader = try #require(FileHandle(forReadingAtPath: path))
        try PrivateFiles.write(Array("new".utf8), to: path)
        #expect(text(path) == "new" && mode(path) == 0o600)
        // An open descriptor of the previous file does not see the new contents.
        #expect(try reader.readToEnd() == Data("former".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
        #expect(throws: POSIXError.self) { try PrivateFiles.write([1], to: folder + "/none/file") }
    }

    @Test func creatingAFileDoesNotFollowASymbolicLink() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFiles.createFolder(folder)
        let (victim, link) = (folder + "/victim", folder + "/link")
        try PrivateFiles.write(Array("theirs".utf8), to: victim)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: victim)
        close(try PrivateFiles.create(link))
        #expect(text(victim) == "theirs" && text(link) == "" && mode(link) == 0o600)
    }

    @Test func fileIsCreatedOnlyIfMissing() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFiles.createFolder(folder)
        let path = folder + "/catalog"
        try PrivateFiles.createIfMissing(path)
        #expect(text(path) == "" && mode(path) == 0o600)
        try Data("x".utf8).write(to: URL(fileURLWithPath: path))
        try PrivateFiles.createIfMissing(path)
        #expect(text(path) == "x")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["catalog"])
    }

    @Test func fileIsCreatedWithoutHardLinks() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFiles.createFolder(folder)
        let path = folder + "/catalog"
        try PrivateFiles.createIfMissing(path) { _, _ in
            errno = EPERM
            return -1
        }
        #expect(text(path) == "" && mode(path) == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["catalog"])
    }

    @Test(arguments: [EPERM, EEXIST]) func fileThatAppearsMeanwhileIsKept(code: CInt) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFiles.createFolder(folder)
        let path = folder + "/catalog"
        try PrivateFiles.createIfMissing(path) { _, _ in
            try? Data("theirs".utf8).write(to: URL(fileURLWithPath: path))
            errno = code
            return -1
        }
        #expect(text(path) == "theirs")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["catalog"])
    }

    @Test func fileThatCannotBeCreatedIsAnError() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFiles.createFolder(folder)
        let error = #expect(throws: POSIXError.self) {
            try PrivateFiles.createIfMissing(folder + "/catalog") { _, _ in
                try? FileManager.default.removeItem(atPath: folder)
                errno = EPERM
                return -1
            }
        }
        #expect(error?.code == .ENOENT)
    }

    @Test func reportThatCannotBeCreatedIsAnError() throws {
        let error = #expect(throws: POSIXError.self) { try PrivateFiles.openReport(folder + "/none/report") }
        #expect(error?.code == .ENOENT)
    }

    @Test func reportFollowsALinkToAFileThatDoesNotExist() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFiles.createFolder(folder)
        let (path, link) = (folder + "/report", folder + "/link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        close(try PrivateFiles.openReport(link))
        #expect(text(path) == "" && mode(path) == 0o600)
    }

    @Test func reportFileIsTruncatedAndForTheOwnerOnly() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFiles.createFolder(folder)
        let (path, link) = (folder + "/report", folder + "/link")
        close(try PrivateFiles.openReport(path))
        #expect(mode(path) == 0o600)
        try Data("longer than before".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        close(try PrivateFiles.openReport(link))
        #expect(text(path) == "" && mode(path) == 0o600)
        close(try PrivateFiles.openReport("/dev/null"))
        #expect(mode("/dev/null") != 0o600)
        #expect(throws: POSIXError.self) { try PrivateFiles.openReport(folder) }
    }

    @Test func restrictingATreeDoesNotFollowSymbolicLinks() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder + "/a/b", withIntermediateDirectories: true)
        let outside = folder + "/outside"
        for path in [outside, folder + "/a/b/file"] {
            try Data().write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        }
        try FileManager.default.createSymbolicLink(atPath: folder + "/a/link", withDestinationPath: outside)
        PrivateFiles.restrictTree(folder + "/a")
        #expect(mode(folder + "/a") == 0o700 && mode(folder + "/a/b") == 0o700 && mode(folder + "/a/b/file") == 0o600)
        #expect(mode(outside) == 0o644)
    }

    @Test func onlyDirectoriesAndFilesWithAccessForOthersAreRestricted() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PrivateFiles.createFolder(folder)
        #expect(!PrivateFiles.isOpenToOthers(folder) && !PrivateFiles.restrictFolder(folder))
        for access in [0o701, 0o710, 0o702, 0o740] as [mode_t] {
            #expect(chmod(folder, access) == 0)
            #expect(PrivateFiles.isOpenToOthers(folder), "\(access)")
            #expect(PrivateFiles.restrictFolder(folder) && mode(folder) == 0o700, "\(access)")
        }
        let path = folder + "/file"
        try PrivateFiles.write([1], to: path)
        #expect(chmod(path, 0o400) == 0)
        PrivateFiles.restrictFile(path)
        #expect(mode(path) == 0o400, "other users have no access")
        #expect(chmod(path, 0o444) == 0)
        #expect(!PrivateFiles.restrictFolder(path) && mode(path) == 0o444, "a file is no directory")
        PrivateFiles.restrictFile(path)
        #expect(mode(path) == 0o600)
        #expect(chmod(folder, 0o755) == 0)
        PrivateFiles.restrictFile(folder)
        #expect(mode(folder) == 0o755, "a directory is no file")
        #expect(!PrivateFiles.isOpenToOthers(folder + "/none") && !PrivateFiles.restrictFolder(folder + "/none"))
    }

    @Test func sharedDirectoryIsNotRestricted() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(chmod(folder, 0o1777) == 0)
        #expect(!PrivateFiles.restrictFolder(folder) && mode(folder) == 0o1777)
    }
}
