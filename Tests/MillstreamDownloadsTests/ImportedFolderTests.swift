import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import NIOCore
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests that an import reads no file outside of its folder, even if a path is replaced after it was checked.
@Suite struct ImportedFolderTests {
    private let directory: URL
    private var folder: URL { directory.appendingPathComponent("film") }

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("imported-\(UUID())")
        for name in ["film/low", "outside/low"] {
            try FileManager.default.createDirectory(
                at: directory.appendingPathComponent(name),
                withIntermediateDirectories: true
            )
        }
        for name in ["film/low/0.ts", "outside/low/0.ts", "outside/0.ts"] {
            try Data(name.utf8).write(to: directory.appendingPathComponent(name))
        }
    }

    /// Replaces a file or a folder by a link.
    private func replace(_ path: String, byLinkTo target: String) throws {
        let url = directory.appendingPathComponent(path)
        try? FileManager.default.removeItem(at: url)
        try FileManager.default.createSymbolicLink(
            at: url,
            withDestinationURL: directory.appendingPathComponent(target)
        )
    }

    private func load(_ path: String, _ transport: FolderTransport) async throws -> String {
        let address = ResourceAddress(filePath: directory.appendingPathComponent(path).path)
        let response = try await transport.send(TransportRequest(address, kind: .segment))
        var bytes: [UInt8] = []
        for try await buffer in response.body { bytes += Array(buffer.readableBytesView) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: [("film/low/0.ts", "outside/low/0.ts"), ("film/low", "outside/low")])
    func linkThatReplacesACheckedPathIsRefused(path: String, target: String) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let imported = ImportedFolder(folder)
        let components = imported.components(of: folder.path + "/low/0.ts")
        #expect(components == ["low", "0.ts"])
        try replace(path, byLinkTo: target)
        #expect(imported.file(["low", "0.ts"]) == nil)
        // A path that is checked afterward leads out of the folder.
        #expect(imported.components(of: folder.path + "/low/0.ts") == nil)
    }

    /// The opened folder is read, even if another folder has its name in the meantime.
    @Test func folderIsThatWhichWasOpened() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let imported = ImportedFolder(folder)
        try FileManager.default.moveItem(at: folder, to: directory.appendingPathComponent("moved"))
        try replace("film", byLinkTo: "outside")
        let file = try #require(imported.file(["low", "0.ts"]))
        #expect(try file.bytes(at: 0, count: 100) == Array("film/low/0.ts".utf8))
        #expect(imported.file(["0.ts"]) == nil)
    }

    /// A presentation can have links within its own folder.
    @Test func linksWithinTheFolderAreFollowed() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try replace("film/same.ts", byLinkTo: "film/low/0.ts")
        try replace("film/other.ts", byLinkTo: "outside/0.ts")
        let transport = FolderTransport(ImportedFolder(folder))
        #expect(try await load("film/same.ts", transport) == "film/low/0.ts")
        for path in ["film/other.ts", "outside/0.ts"] {
            let error = await #expect(throws: TransportError.self) { try await load(path, transport) }
            #expect(error?.code == .addressRefused, "\(path)")
        }
        let range = TransportRequest(
            ResourceAddress(filePath: folder.path + "/low/0.ts"),
            kind: .segment,
            byteRange: ByteRange(start: 5, length: 3)
        )
        let response = try await transport.send(range)
        var text = ""
        for try await buffer in response.body { text += String(buffer: buffer) }
        #expect(text == "low" && response.status == 206)
    }

    @Test func whatIsNoFileHasTheErrorsOfOtherFiles() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let transport = FolderTransport(ImportedFolder(folder))
        let missing = await #expect(throws: TransportError.self) { try await load("film/none.ts", transport) }
        #expect(missing?.code == .fileNotFound)
        let noFile = await #expect(throws: TransportError.self) { try await load("film/low", transport) }
        #expect(noFile?.code == .fileFailed && noFile?.message.hasSuffix(" is a directory, not a file") == true)
    }
}
