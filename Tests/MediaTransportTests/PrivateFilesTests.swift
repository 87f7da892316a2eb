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

    @Test func sharedDirectoryIsNotRestricted() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(chmod(folder, 0o1777) == 0)
        #expect(!PrivateFiles.restrictFolder(folder) && mode(folder) == 0o1777)
    }
}
