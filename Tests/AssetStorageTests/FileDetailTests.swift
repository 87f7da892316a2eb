import Foundation
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests how single files are read, written and closed.
@Suite struct FileDetailTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    // MARK: Images

    private func dimensions(ofJPEG segments: [UInt8]) -> ImageDimensions? {
        ImageDimensions(of: Data([0xFF, 0xD8] + segments), format: .jpeg)
    }

    private static let frame: [UInt8] = [0, 11, 8, 0, 3, 0, 2]

    /// The markers `DHT`, `JPG` and `DAC` are among those of the frame headers (ISO/IEC 10918-1 table B.1).
    @Test(arguments: 0xC0...0xCF as ClosedRange<UInt8>) func frameHeaderHasTheDimensions(marker: UInt8) {
        let isFrame = ![0xC4, 0xC8, 0xCC].contains(marker)
        let dimensions = dimensions(ofJPEG: [0xFF, marker] + Self.frame)
        #expect(dimensions?.width == (isFrame ? 2 : nil) && dimensions?.height == (isFrame ? 3 : nil))
    }

    @Test(arguments: [0x01, 0xD0, 0xD1, 0xD7, 0xFF] as [UInt8]) func markerWithoutParametersIsSkipped(marker: UInt8) {
        // A fill byte is followed by the code of the next marker.
        let next: [UInt8] = marker == 0xFF ? [0xC0] : [0xFF, 0xC0]
        #expect(dimensions(ofJPEG: [0xFF, marker] + next + Self.frame)?.width == 2)
    }

    @Test(arguments: [0x02, 0xC4, 0xD8, 0xDB, 0xE0, 0xFE] as [UInt8]) func segmentIsSkippedByItsLength(marker: UInt8) {
        #expect(dimensions(ofJPEG: [0xFF, marker, 0, 2, 0xFF, 0xC0] + Self.frame)?.height == 3)
        #expect(dimensions(ofJPEG: [0xFF, marker, 0, 4, 9, 9, 0xFF, 0xC0] + Self.frame)?.height == 3)
        #expect(dimensions(ofJPEG: [0xFF, marker, 0, 1, 0xFF, 0xC0] + Self.frame) == nil)
    }

    @Test(arguments: [0xD9, 0xDA] as [UInt8]) func imageDataHasNoFrameHeader(marker: UInt8) {
        #expect(dimensions(ofJPEG: [0xFF, marker, 0, 2, 0xFF, 0xC0] + Self.frame) == nil)
        #expect(dimensions(ofJPEG: [0xFF, marker, 0xFF, 0xC0] + Self.frame) == nil)
    }

    @Test func markerBeginsWithAByteOfOnes() {
        #expect(dimensions(ofJPEG: [0xFE, 0xC0] + Self.frame) == nil)
        #expect(dimensions(ofJPEG: []) == nil && dimensions(ofJPEG: [0xFF]) == nil)
    }

    // MARK: Unfinished files

    private func missingResource() throws -> (id: String, resource: StoredResource) {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        return (id, try #require(try library.missingResources(id).first))
    }

    @Test(arguments: 0...2) func fileWithBytesIsContinued(count: Int) throws {
        let (id, resource) = try missingResource()
        let file = library.makePackageFile(for: resource, of: id)
        try [UInt8](repeating: 7, count: count).withUnsafeBytes { try file.write($0) }
        let version = ResourceVersion(TransportRequest.Resumption(offset: 0, validator: "v", totalLength: 12))
        file.keep(version, of: resource)
        #expect(file.isUnfinished == (count > 0) && !file.isOpen)
        let next = library.makePackageFile(for: resource, of: id).resumption(of: resource)
        #expect(next?.offset == (count > 0 ? Int64(count) : nil))
    }

    /// Another player may read what an earlier transfer has received.
    @Test(.timeLimit(.minutes(1))) func earlierBytesStayThoseOfTheirReaders() async throws {
        let (id, resource) = try missingResource()
        let partial = temporary.url(resource.path + ".part", of: id)
        try Data("former".utf8).write(to: partial)
        let former = try FileHandle(forReadingFrom: partial)
        // The free space of another directory is unknown, so that files are stored.
        let files = RecordedFiles(URL(fileURLWithPath: "/elsewhere"))
        let opened = try AssetLibrary(directory: temporary.directory, files: files)
        let origin = ScriptedTransport(texts: [resource.address.text: "zero"])
        let transport = AssetTransport(opened, id: id, origin: origin)
        let response = try await transport.send(TransportRequest(resource.address, kind: .segment))
        var text = ""
        var buffers = response.body.makeAsyncIterator()
        while let buffer = try await buffers.next() { text += String(buffer: buffer) }
        #expect(text == "zero")
        #expect(try opened.missingCount(id) == 0)
        #expect(try former.readToEnd() == Data("former".utf8))
        try former.close()
        #expect(try temporary.text(resource.path, of: id) == "zero")
    }

    // MARK: Descriptors

    #if os(Linux)
    /// Returns the paths below a directory that this process has open.
    private func openPaths(below directory: String) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let paths = names.compactMap { name in
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
        }
        return paths.filter { $0 == directory || $0.hasPrefix(directory + "/") }
    }

    @Test func openedFilesAreClosed() throws {
        let folder = temporary.directory.appendingPathComponent("closed")
        let inner = folder.appendingPathComponent("inner")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        let root = folder.resolvingSymlinksInPath().path
        let path = root + "/inner/file"
        try Data("content".utf8).write(to: URL(fileURLWithPath: path))
        #expect(mkfifo(root + "/inner/pipe", 0o600) == 0)
        let (system, package) = (SystemFileOperations(), URL(fileURLWithPath: root))
        let actions: [(name: String, body: () throws -> Void)] = [
            ("readable file", { #expect(ReadableFile(path) != nil) }),
            ("contained file", { #expect(ContainedFile(["inner", "file"], in: root)?.kind == .file) }),
            ("contained folder", { #expect(ContainedFile(["inner"], in: root)?.kind == .folder) }),
            ("missing contained file", { #expect(ContainedFile(["inner", "none"], in: root) == nil) }),
            ("pipe", { #expect(ContainedFile(["inner", "pipe"], in: root) == nil) }),
            ("comparison", { #expect(FileInspection.isEqual(path, to: Array("content".utf8))) }),
            ("comparison of files", { #expect(FileInspection.isEqual(path, toFile: path)) }),
            ("comparison of a missing file", { #expect(!FileInspection.isEqual(root + "/none", toFile: path)) }),
            ("checksum", { #expect(FileInspection.checksum(path) != nil) }),
            ("checksum of a part", { #expect(FileInspection.checksum(path, ofFirst: 2) != nil) }),
            (
                "verification",
                {
                    let isEqual = try FileInspection.hasChecksum(0, path)
                    #expect(!isEqual)
                }
            ),
            ("short file", { _ = #expect(throws: FileFailure.self) { try system.openFile(path, truncatedTo: 100) } }),
            ("folder", { try system.synchronizeFolder(root) }),
            ("locks", { #expect(ByteLocks(path, flags: O_RDWR) != nil) }),
            ("lock", { _ = try PackageLock(package) }),
            ("search for a lock", { #expect(!PackageLock.isHeld(package)) }),
            (
                "second lock",
                {
                    let lock = try PackageLock(package)
                    #expect(PackageLock.isHeld(package))
                    _ = #expect(throws: StorageError.self) { try PackageLock(package) }
                    withExtendedLifetime(lock) {}
                }
            ),
        ]
        for action in actions {
            try action.body()
            #expect(try openPaths(below: root) == [], "\(action.name)")
        }
        let file = try #require(ReadableFile(path))
        #expect(try openPaths(below: root) == [path])
        withExtendedLifetime(file) {}
    }

    @Test func claimsAreClosed() throws {
        let root = temporary.directory.appendingPathComponent("claims").path
        func claim() -> Bool { library.claimDownload("a") != nil }
        #expect(claim() && claim())
        let directory = URL(fileURLWithPath: root).resolvingSymlinksInPath().path
        #expect(try openPaths(below: directory) == [])
        let held = try #require(library.claimDownload("a"))
        #expect(!claim() && library.isDownloadClaimed("a"))
        #expect(try openPaths(below: directory) == [directory + "/a"])
        withExtendedLifetime(held) {}
    }
    #endif
}
