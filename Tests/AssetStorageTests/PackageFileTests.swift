import Foundation
import MediaTiming
import MediaTransport
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests how files of a package are compared, and how their transfers are continued.
@Suite struct PackageFileTests {
    private let planned: PlannedResource

    init() throws { planned = try PlannedResource() }

    private var temporary: TemporaryLibrary { planned.temporary }

    private var library: AssetLibrary { planned.library }

    private var id: String { planned.id }

    private var resource: StoredResource { planned.resource }

    private func path(_ name: String) -> String { planned.path(name) }

    private func write(_ bytes: [UInt8], to name: String) throws {
        try planned.write(bytes, to: name)
    }

    // MARK: Content

    @Test(
        arguments: [
            ("abc", "abc", true), ("abc", "abd", false), ("abc", "ab", false), ("abc", "abcd", false), ("", "", true),
            ("", "a", false), ("a", "", false),
        ]
    )
    func contentIsCompared(content: String, other: String, isEqual: Bool) throws {
        try write(Array(content.utf8), to: "a")
        try write(Array(other.utf8), to: "b")
        #expect(FileInspection.isEqual(path("a"), to: Array(other.utf8)) == isEqual)
        #expect(FileInspection.isEqual(path("a"), toFile: path("b")) == isEqual)
    }

    /// A large file is read in parts of a mebibyte.
    @Test(arguments: [0, 1_048_575, 1_048_576, 2_500_000]) func everyPartIsCompared(position: Int) throws {
        let bytes = [UInt8](repeating: 7, count: 2_500_001)
        var changed = bytes
        changed[position] = 8
        try write(bytes, to: "a")
        try write(bytes, to: "same")
        try write(changed, to: "b")
        #expect(FileInspection.isEqual(path("a"), to: bytes))
        #expect(!FileInspection.isEqual(path("a"), to: changed))
        #expect(!FileInspection.isEqual(path("b"), to: bytes))
        #expect(FileInspection.isEqual(path("a"), toFile: path("same")))
        #expect(!FileInspection.isEqual(path("a"), toFile: path("b")))
        #expect(!FileInspection.isEqual(path("b"), toFile: path("a")))
        let sums = ["a", "same", "b"].map { FileInspection.checksum(path($0)) }
        #expect(sums[0] == sums[1] && sums[0] != sums[2])
    }

    @Test func fileThatCannotBeReadIsNotEqual() throws {
        try write([], to: "a")
        try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: path("a"))
        for name in ["none", "link"] {
            #expect(!FileInspection.isEqual(path(name), to: []))
            #expect(!FileInspection.isEqual(path(name), toFile: path("a")))
            #expect(!FileInspection.isEqual(path("a"), toFile: path(name)))
        }
    }

    @Test func endOfAFileIsRead() throws {
        try write(Array("0123456789".utf8), to: "a")
        for (count, end) in [(1, "9"), (3, "789"), (10, "0123456789"), (11, "0123456789")] {
            #expect(FileInspection.lastBytes(count, of: path("a")) == Array(end.utf8))
        }
        #expect(FileInspection.lastBytes(1, of: path("none")) == nil)
        let file = library.makePackageFile(for: resource, of: id)
        #expect(file.unfinishedBytes(upTo: 1) == nil && file.lastUnfinishedBytes(1) == nil)
        try Array("0123456789".utf8).withUnsafeBytes { try file.write($0) }
        #expect(file.unfinishedBytes(upTo: 3) == Array("012".utf8))
        #expect(file.lastUnfinishedBytes(3) == Array("789".utf8))
    }

    @Test func onlyAnAbsentFileIsDamagedWithoutBeingRead() throws {
        try write(Array("text".utf8), to: "file")
        try FileManager.default.createDirectory(atPath: path("folder"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: path("file"))
        let sum = try #require(FileInspection.checksum(path("file")))
        #expect(try FileInspection.hasChecksum(sum, path("file")))
        #expect(try !FileInspection.hasChecksum(sum &+ 1, path("file")))
        for name in ["none", "file/inner"] {
            #expect(try !FileInspection.hasChecksum(sum, path(name)))
            #expect(try FileInspection.verifiedSize(path(name)) == nil)
        }
        for name in ["folder", "link"] {
            let error = storageError { _ = try FileInspection.hasChecksum(sum, path(name)) }
            #expect(error?.code == "disk-failed" && error?.message.hasPrefix("\(path(name)) cannot be read (") == true)
            #expect(try FileInspection.verifiedSize(path(name)) == nil)
        }
        #expect(try FileInspection.verifiedSize(path("file")) == 4)
    }

    @Test func namesOfOneFileHaveOneIdentity() throws {
        try write([1], to: "a")
        try write([1], to: "b")
        try FileManager.default.linkItem(atPath: path("a"), toPath: path("c"))
        #expect(FileInspection.identity(path("a")) != nil)
        #expect(FileInspection.identity(path("a")) == FileInspection.identity(path("c")))
        #expect(FileInspection.identity(path("a")) != FileInspection.identity(path("b")))
        #expect(FileInspection.identity(path("none")) == nil)
    }

    /// An earlier process may have been ended between two operations.
    @Test func fileIsReplacedByALink() throws {
        for name in ["a", "b"] { try write([1, 2], to: name) }
        try write([9], to: "a.link")
        for _ in 0..<2 {
            // The second time, both are names of one file already.
            #expect(PackageFile.replace(path("a"), byLinkTo: path("b"), ifEqualTo: path("a"), temporary.files))
            #expect(FileInspection.identity(path("a")) == FileInspection.identity(path("b")))
            #expect(FileInspection.size(path("a.link")) == nil)
        }
        try write([1, 3], to: "c")
        #expect(!PackageFile.replace(path("c"), byLinkTo: path("b"), ifEqualTo: path("c"), temporary.files))
        #expect(!PackageFile.replace(path("c"), byLinkTo: path("none"), ifEqualTo: path("c"), temporary.files))
        #expect(FileInspection.identity(path("c")) != FileInspection.identity(path("b")))
        // A file that was not begun is not finished.
        #expect(!library.makePackageFile(for: resource, of: id).finish(as: path("a")))
    }

    // MARK: Unfinished files

    private static func version(_ validator: String = "v1") -> ResourceVersion {
        ResourceVersion(TransportRequest.Resumption(offset: 0, validator: validator, totalLength: 12))
    }

    private var partialPath: String { library.packagePath(id) + "/media/000000.ts.part" }
    private var notePath: String { library.packagePath(id) + "/media/000000.ts.resume" }

    private func begin(_ bytes: [UInt8] = Array("first ".utf8)) throws -> PackageFile {
        let file = library.makePackageFile(for: resource, of: id)
        try bytes.withUnsafeBytes { try file.write($0) }
        return file
    }

    private func resumption() -> TransportRequest.Resumption? {
        library.makePackageFile(for: resource, of: id).resumption(of: resource)
    }

    /// The names of unfinished files and of their notes.
    private func leftovers() throws -> [String] {
        try temporary.names(of: id).filter { $0.hasPrefix("media/000000") }
    }

    @Test func transferIsContinuedWhereItWasStopped() throws {
        #expect(resumption() == nil)
        let file = try begin()
        #expect(file.isOpen && !file.isUnfinished)
        file.keep(Self.version(), of: resource)
        #expect(!file.isOpen && file.isUnfinished)
        #expect(resumption() == TransportRequest.Resumption(offset: 6, validator: "v1", totalLength: 12))
        #expect(try library.unfinishedFiles(of: library.asset(id)) == ["media/000000.ts": 6])
        let counts = StoredFileCounts(folder: "media", total: 1, missing: 1, unfinished: 1)
        #expect(try library.fileCounts(of: id) == [counts])
        let next = library.makePackageFile(for: resource, of: id)
        try next.continueUnfinished(at: 6)
        #expect(next.count == 6 && next.isOpen)
        try Array("second".utf8).withUnsafeBytes { try next.write($0) }
        #expect(next.count == 12)
        try next.finish()
        #expect(try temporary.text("media/000000.ts", of: id) == "first second")
        #expect(FileInspection.checksum(library.packagePath(id) + "/media/000000.ts") == next.checksum)
        #expect(try leftovers() == ["media/000000.ts"])
    }

    @Test func unfinishedFilesAreThoseOfTheDirectories() throws {
        try begin().keep(Self.version(), of: resource)
        try Data("{".utf8).write(to: temporary.url("media/000001.ts.resume", of: id))
        let negative = UnfinishedFile(resource, Self.version(), count: -1, checksum: 0, boot: nil)
        try Data(negative.bytes).write(to: temporary.url("media/000002.ts.resume", of: id))
        let asset = try library.asset(id)
        let expected: [String: Int64] = ["media/000000.ts": 6, "media/000002.ts": 0]
        #expect(library.unfinishedFiles(of: asset) == expected)
        #expect(library.unfinishedFiles(of: asset, in: ["media"]) == expected)
        #expect(library.unfinishedFiles(of: asset, in: ["other"]).isEmpty)
    }

    /// Bytes after those of the note may not be on the disk.
    @Test func bytesAfterThoseOfTheNoteAreRemoved() throws {
        try begin(Array("first ".utf8)).keep(Self.version(), of: resource)
        try Data("first rest".utf8).write(to: URL(fileURLWithPath: partialPath))
        #expect(resumption()?.offset == 6)
        let next = library.makePackageFile(for: resource, of: id)
        try next.continueUnfinished(at: 6)
        #expect(FileInspection.size(partialPath) == 6)
        next.discard()
        #expect(try leftovers().isEmpty)
    }

    @Test(arguments: ["fIrst ", "first", ""]) func alteredBytesAreNotContinued(content: String) throws {
        try begin().keep(Self.version(), of: resource)
        try Data(content.utf8).write(to: URL(fileURLWithPath: partialPath))
        #expect(resumption() == nil)
        #expect(try leftovers().isEmpty)
    }

    @Test func bytesOfALargeFileAreVerified() throws {
        let bytes = [UInt8](repeating: 7, count: 1_500_000)
        try begin(bytes).keep(Self.version(), of: resource)
        #expect(resumption()?.offset == 1_500_000)
        var changed = bytes
        changed[1_499_999] = 8
        try Data(changed).write(to: URL(fileURLWithPath: partialPath))
        #expect(resumption() == nil)
    }

    @Test func fileThatIsShorterIsNotContinued() throws {
        try begin().keep(Self.version(), of: resource)
        let next = library.makePackageFile(for: resource, of: id)
        #expect(storageError { try next.continueUnfinished(at: 7) }?.code == "disk-failed")
        #expect(!next.isOpen)
    }

    /// The bytes that are written meanwhile may be lost when the machine restarts.
    @Test func noteOfARunningTransferIsThatOfARunOfTheSystem() throws {
        let file = try begin()
        file.note(Self.version(), of: resource)
        #expect(file.isOpen && resumption()?.offset == 6)
        // These file operations have the identifier of this run of the system.
        let restarted = try AssetLibrary(directory: temporary.directory)
        #expect(restarted.makePackageFile(for: resource, of: id).resumption(of: resource) == nil)
        #expect(try leftovers().isEmpty)
        library.makePackageFile(for: resource, of: id).note(Self.version(), of: resource)
        #expect(try leftovers().isEmpty)
        file.discard()
    }

    @Test func fileWithoutBytesIsNotKept() throws {
        try begin([]).keep(Self.version(), of: resource)
        #expect(try leftovers().isEmpty)
        library.makePackageFile(for: resource, of: id).keep(Self.version(), of: resource)
        #expect(try leftovers().isEmpty)
        temporary.files.fail("synchronize packages/*/media/000000.ts.part", with: EIO)
        try begin().keep(Self.version(), of: resource)
        #expect(try leftovers().isEmpty)
    }

    @Test(
        arguments: [
            "create packages/*/media/000000.ts.resume.part", "write packages/*/media/000000.ts.resume.part",
            "rename packages/*/media/000000.ts.resume.part to packages/*/media/000000.ts.resume",
        ]
    )
    func noteThatCannotBeWrittenIsRemoved(line: String) throws {
        temporary.files.fail(line, with: EIO)
        try begin().keep(Self.version(), of: resource)
        #expect(try leftovers() == ["media/000000.ts.part"])
        #expect(resumption() == nil)
    }

    @Test func earlierBytesAreRemovedBeforeTheFirstWrite() throws {
        try begin().keep(Self.version(), of: resource)
        let file = library.makePackageFile(for: resource, of: id)
        file.removeEarlierBytes()
        #expect(try leftovers().isEmpty)
        try Array("new".utf8).withUnsafeBytes { try file.write($0) }
        file.removeEarlierBytes()
        #expect(FileInspection.size(partialPath) == 3)
        file.discard()
    }

    @Test func noteWithoutBytesIsRemoved() throws {
        let empty = Int64(bitPattern: FileChecksum().value)
        let note = UnfinishedFile(resource, Self.version(), count: 0, checksum: empty, boot: nil)
        try Data("first ".utf8).write(to: URL(fileURLWithPath: partialPath))
        try Data(note.bytes).write(to: URL(fileURLWithPath: notePath))
        #expect(resumption() == nil)
        #expect(try leftovers().isEmpty)
    }

    /// A note of more than 16 KiB was not written by this library.
    @Test(arguments: [(0, true), (1, false)]) func noteHasALimitedSize(excess: Int, isRead: Bool) throws {
        let note = UnfinishedFile(resource, Self.version(), count: 6, checksum: 5, boot: "boot")
        let padding = [UInt8](repeating: UInt8(ascii: " "), count: 16_384 + excess - note.bytes.count)
        try Data(note.bytes + padding).write(to: URL(fileURLWithPath: notePath))
        #expect(UnfinishedFile(contentsOf: notePath) == (isRead ? note : nil))
    }

    private static func described(_ address: String, _ range: ByteRange?) -> StoredResource {
        StoredResource(
            id: 1,
            assetID: "a",
            kind: .segment,
            address: ResourceAddress(address),
            byteRange: range,
            path: "media/000000.ts",
            folder: "media",
            timeRange: MediaTimeRange(start: .zero, duration: .zero),
            order: 0
        )
    }

    @Test func noteBelongsToOneFileAndOneRunOfTheSystem() {
        let range = ByteRange(start: 10, length: 20)
        let resource = Self.described("https://h/0.ts?s=1", range)
        for (boot, current, isValid) in [
            (nil, nil, true), (nil, "b", true), ("b", "b", true), ("b", "c", false), ("b", nil, false),
        ] as [(String?, String?, Bool)] {
            let note = UnfinishedFile(resource, Self.version(), count: 6, checksum: 5, boot: boot)
            #expect(note.isValid(for: resource, boot: current) == isValid)
        }
        let note = UnfinishedFile(resource, Self.version(), count: 6, checksum: 5, boot: nil)
        for (address, range, isValid) in [
            ("https://h/0.ts?s=2", range, true), ("https://h/1.ts?s=1", range, false), ("https://h/0.ts", nil, false),
            ("https://h/0.ts", ByteRange(start: 11, length: 20), false),
            ("https://h/0.ts", ByteRange(start: 10, length: 21), false),
        ] as [(String, ByteRange?, Bool)] {
            #expect(note.isValid(for: Self.described(address, range), boot: "b") == isValid, "\(address)")
        }
    }
}
