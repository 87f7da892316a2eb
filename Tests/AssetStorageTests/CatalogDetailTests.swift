import Foundation
import GRDB
import MediaTiming
import Testing

@testable import AssetStorage

/// Tests the defaults of what a catalog does not have.
@Suite struct CatalogDetailTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private func execute(_ sql: String) throws { try library.catalog.write { try $0.execute(sql: sql) } }

    /// A catalog of an earlier version that is open for reading only has none of the later tables.
    @Test func catalogWithoutLaterTablesHasTheirDefaults() throws {
        let directory = temporary.directory.appendingPathComponent("old")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        let queue = try DatabaseQueue(path: directory.path + "/catalogue.sqlite")
        try Schema.migrator.migrate(queue, upTo: "3")
        try queue.write { database in
            try database.execute(
                sql: "INSERT INTO asset VALUES ('a', 'A', 'https://h/a', 1, 'complete', '', NULL, NULL)"
            )
        }
        try queue.close()
        let reading = try AssetLibrary(reading: directory)
        #expect(try reading.storagePolicy("a") == StoragePolicy() && reading.storagePolicies().isEmpty)
        #expect(storageError { _ = try reading.storagePolicy("b") }?.code == "not-found")
        #expect(try reading.storageLimits() == StorageLimits())
        #expect(try reading.downloads().isEmpty && reading.downloads(of: "films").isEmpty)
        #expect(try reading.downloadSessionIdentifiers.isEmpty)
        #expect(try !reading.isDownloadRunning(ofAsset: "a"))
        #expect(try reading.evictionPlan(limits: StorageLimits(quota: ByteCount(1))).entries.isEmpty)
        #expect(try reading.artwork(of: "a") == nil && reading.artworkFormats().isEmpty)
        #expect(try reading.asset("a").artworkFormat == nil && reading.assets().map(\.id) == ["a"])
        #expect(try reading.summaries().map(\.id) == ["a"] && reading.lacksSummaries)
        #expect(!reading.isWritable && library.isWritable)
    }

    /// Summaries of a catalog of an earlier version tell neither what is shared nor what can be played.
    @Test func summariesWithoutLaterColumnsHaveTheirDefaults() throws {
        let directory = temporary.directory.appendingPathComponent("old")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        let queue = try DatabaseQueue(path: directory.path + "/catalogue.sqlite")
        try Schema.migrator.migrate(queue, upTo: "asset-summaries")
        try queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO asset VALUES ('a', 'A', 'https://h/a', 1, 'complete', '', NULL, NULL);
                    INSERT INTO assetSummary VALUES ('a', 'A', 1, 1, 100, '4.5', 10, 4096, '360p', 'en')
                    """
            )
        }
        try queue.close()
        let summary = try #require(try AssetLibrary(reading: directory).summaries().first)
        #expect(summary.title == "A" && summary.creationDate == Date(timeIntervalSince1970: 1))
        #expect(summary.state == .complete && summary.percent == 100 && summary.duration?.description == "4.5")
        #expect(summary.bytes == ByteCount(10) && summary.diskBytes == ByteCount(4_096))
        #expect(summary.quality == "360p" && summary.languages == "en")
        #expect(!summary.sharesFiles && !summary.isPlayableOffline)
    }

    /// A newer version may write priorities that this version does not know.
    @Test func unknownPriorityIsTheStandardOne() throws {
        let ids = [try temporary.enter(), try temporary.enter("B", from: "b.m3u8")]
        let date = Date(timeIntervalSince1970: 1_000)
        for id in ids {
            let policy = StoragePolicy(priority: .important, expirationDate: date, isPinned: true)
            try library.setStoragePolicy(policy, of: id)
        }
        try execute("UPDATE storagePolicy SET priority = 'other' WHERE assetID = '\(ids[0])'")
        #expect(try library.storagePolicy(ids[0]) == StoragePolicy(expirationDate: date, isPinned: true))
        #expect(try library.storagePolicy(ids[1]).priority == .important)
        #expect(try library.storagePolicies().mapValues(\.priority) == [ids[0]: .standard, ids[1]: .important])
        #expect(storageError { try library.setStoragePolicy(StoragePolicy(), of: "none") }?.code == "not-found")
    }

    @Test(arguments: [("-3", 0), ("NULL", 0), ("0", 0), ("2", 2)])
    func numberOfASelectionIsNotNegative(value: String, number: Int) throws {
        let id = try temporary.enter()
        try library.addDownload(
            DownloadRecord.films(id: "a", of: id, from: library.asset(id).source, state: .waiting)
        )
        try execute("UPDATE download SET selection = \(value), folders = 'a/b'")
        let record = try #require(try library.downloads().first)
        #expect(record.selectionNumber == number && record.folders == ["a", "b"])
    }

    /// The image of an unknown format was stored by a newer version.
    @Test func artworkOfAnUnknownFormatIsNone() throws {
        let id = try temporary.enter()
        try execute("INSERT INTO artwork (assetID, format, image) VALUES ('\(id)', 'avif', x'00')")
        #expect(try library.artwork(of: id) == nil && library.asset(id).artworkFormat == nil)
        #expect(try library.artworkFormats().isEmpty && library.assets().map(\.artworkFormat) == [nil])
    }

    /// Artwork that an earlier version stored may have no dimensions.
    @Test func artworkWithoutDimensionsIsReturned() throws {
        let id = try temporary.enter()
        try execute("INSERT INTO artwork (assetID, format, image) VALUES ('\(id)', 'jpeg', x'FFD8FF')")
        #expect(try library.artwork(of: id)?.format == .jpeg)
    }

    // MARK: Space

    /// Space for a file is not reserved any more if it cannot be made available because of an error.
    @Test func reservationEndsWithAnError() throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "a.ts"))
        let content = String(repeating: "x", count: 1_000_000)
        try temporary.store(library.missingResources(id), of: id, content: content)
        try library.setStorageLimits(StorageLimits(quota: library.diskUsage.occupiedBytes))
        temporary.files.fail("remove folder packages/*/media", with: EIO)
        #expect(storageError { try library.makeSpace(for: ByteCount(100_000)) }?.code == "disk-failed")
        #expect(library.space.reservedBytes == .zero)
    }

    @Test func bytesOfACommitThatFailsAreNotCounted() throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "a.ts"))
        let missing = try library.missingResources(id)
        try temporary.store(missing, of: id, content: "12345")
        #expect(library.space.enteredBytes == 5)
        let file = library.makePackageFile(for: missing[0], of: id)
        try Array("1234567".utf8).withUnsafeBytes { try file.write($0) }
        try library.delete(id)
        #expect(storageError { try library.commit([WrittenFile(missing[0], file)]) }?.code == "not-found")
        #expect(library.space.enteredBytes == 5)
        try library.commit([])
    }

    // MARK: Opening

    @Test func directoryBelowAFileIsNoReadOnlyDisk() throws {
        let file = temporary.directory.appendingPathComponent("file")
        try Data().write(to: file)
        let directory = file.appendingPathComponent("library")
        let error = storageError { _ = try AssetLibrary(directory: directory) }
        #expect(error?.code == "library-failed")
        #expect(error?.message == "the library \(directory.path) cannot be opened (Not a directory)")
    }
}
