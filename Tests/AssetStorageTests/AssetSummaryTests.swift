import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
import Synchronization
import Testing

@testable import AssetStorage

/// Tests the listing of a library.
@Suite struct AssetSummaryTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    /// Adds an asset with two variants, audio and subtitles.
    private func presentation(audioLanguages: [String] = ["en", "ko"]) throws -> String {
        let source = try TemporaryLibrary.multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=640x360,AUDIO=\"a\",SUBTITLES=\"s\"",
            "low.m3u8",
            "#EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,AUDIO=\"a\",SUBTITLES=\"s\"",
            "high.m3u8"
        )
        guard case .multivariant(let multivariant) = source else { return "" }
        let media = try TemporaryLibrary.media(
            "#EXTINF:4,",
            "0.ts",
            "#EXTINF:2.5,",
            "1.ts",
            "#EXT-X-GAP",
            "#EXTINF:1,",
            "2.ts"
        )
        let id = try temporary.enter("Film")
        try temporary.plan(
            id,
            source,
            TemporaryLibrary.rendition(.variant, 0, media, variant: multivariant.variants[0]),
            TemporaryLibrary.rendition(.variant, 1, media, variant: multivariant.variants[1]),
            TemporaryLibrary.rendition(.audio, 0, media, language: audioLanguages[0]),
            TemporaryLibrary.rendition(.audio, 1, media, language: audioLanguages[1]),
            TemporaryLibrary.rendition(.subtitles, 2, media, language: "en")
        )
        return id
    }

    private func du(_ id: String) throws -> Int64 {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/du")
        process.arguments = ["-s", "--block-size=1", library.packageDirectory(id).path]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return try #require(Int64(text.prefix { $0.isNumber }))
    }

    /// Replaces the stored size, so that a listing shows whether it is read.
    private func markStoredSummaries() throws {
        try library.catalog.write { try $0.execute(sql: "UPDATE assetSummary SET diskBytes = 1") }
    }

    #if os(Linux)
    @Test func summaryOfACompleteAssetHasTheSizeOfThePackage() throws {
        let id = try presentation()
        try temporary.complete(id)
        let summary = try #require(try library.summaries().first)
        #expect(try summary.diskBytes.bytes == du(id))
        #expect(summary.bytes == (try library.asset(id)).bytes)
        #expect(summary.title == "Film" && summary.state == .complete && summary.percent == 100)
        #expect(summary.duration?.description == "7.5")
        #expect(summary.quality == "360p...720p" && summary.languages == "en,ko (subtitles en)")
        #expect(abs(summary.creationDate.timeIntervalSinceNow) < 60)
        #expect(try library.summary(id) == summary)
    }
    #endif

    @Test func finishedAssetIsListedWithoutItsFiles() throws {
        let id = try presentation()
        #expect(try library.lacksSummaries)
        try temporary.complete(id)
        #expect(try !library.lacksSummaries)
        try markStoredSummaries()
        #expect(try library.summaries().map(\.diskBytes) == [ByteCount(1)])
        #expect(try AssetLibrary(reading: temporary.directory).summaries().map(\.diskBytes) == [ByteCount(1)])
    }

    @Test func storedContentIsThatOfTheFiles() throws {
        let id = try presentation()
        try temporary.store(Array(library.missingResources(id).dropLast(2)), of: id)
        let computed = try library.asset(id)
        try library.storeMissingSummaries()
        let stored = try library.catalog.read { try AssetSummaryRecord.fetchContent(id, $0) }
        #expect(stored?.renditions == computed.renditions && stored?.bytes == computed.bytes)
        #expect(try library.asset(id) == computed && library.assets() == [computed])
        #expect(computed.state == .partial && computed.loadedTimeRanges.totalDuration > .zero)
    }

    @Test func eachChangeOfTheFilesIsListed() throws {
        let id = try presentation()
        let missing = try library.missingResources(id)
        try library.storeMissingSummaries()
        #expect(try library.summaries().map(\.bytes) == [.zero])
        try temporary.store([missing[0]], of: id, content: "12345")
        #expect(try library.lacksSummaries)
        #expect(try library.summaries().map(\.bytes) == [ByteCount(5)])
        #expect(try library.asset(id).bytes == ByteCount(5))
        try library.storeMissingSummaries()
        try FileManager.default.removeItem(at: temporary.url(missing[0].path, of: id))
        _ = try library.verify(id)
        #expect(try library.summaries().map(\.bytes) == [.zero])
        #expect(try library.asset(id).bytes == .zero)
        try temporary.complete(id)
        #expect(try library.summaries().map(\.state) == [.complete])
        try library.delete(id)
        #expect(try library.summaries().isEmpty && !library.lacksSummaries)
    }

    @Test func assetThatIsBeingDownloadedHasNoStoredSummary() throws {
        let id = try presentation()
        let lock = try library.lock(id)
        try library.storeMissingSummaries()
        #expect(try library.lacksSummaries)
        #expect(try library.summaries().map(\.id) == [id])
        withExtendedLifetime(lock) {}
    }

    /// Each transaction has the summaries of a hundred assets, which are locked meanwhile.
    @Test func summariesOfManyAssetsAreStored() throws {
        for number in 0..<101 { _ = try temporary.enter(from: "\(number).m3u8") }
        _ = temporary.files.takeLines()
        try library.storeMissingSummaries()
        #expect(temporary.files.takeLines() == ["commit", "commit"])
        #expect(try !library.lacksSummaries && library.summaries().count == 101)
    }

    @Test func assetThatIsAddedAgainKeepsItsSummary() throws {
        let id = try presentation()
        try library.storeMissingSummaries()
        #expect(try temporary.enter("Film") == id)
        #expect(try !library.lacksSummaries)
    }

    @Test func contentOfAnotherFormIsComputedAgain() throws {
        let id = try presentation()
        try library.storeMissingSummaries()
        let asset = try library.asset(id)
        let sql = "UPDATE assetContent SET content = ?"
        try library.catalog.write { try $0.execute(sql: sql, arguments: [Data("{}".utf8)]) }
        #expect(try library.asset(id) == asset && library.assets() == [asset])
        #expect(AssetSummaryRecord.content(of: Data("x".utf8), JSONDecoder()) == nil)
    }

    @Test func assetsAreListedNewestFirst() throws {
        let ids = try (0..<3).map { try temporary.enter("A\($0)", from: "\($0).m3u8") }
        for (number, id) in ids.enumerated() {
            try library.catalog.write {
                try $0.execute(sql: "UPDATE asset SET createdAt = ? WHERE id = ?", arguments: [number, id])
            }
        }
        #expect(try library.summaries().map(\.id) == ids.reversed())
        try library.storeMissingSummaries()
        #expect(try library.summaries().map(\.id) == ids.reversed())
        try library.catalog.write {
            try $0.execute(sql: "DELETE FROM assetSummary WHERE assetID = ?", arguments: [ids[1]])
        }
        #expect(try library.summaries().map(\.id) == ids.reversed())
    }

    /// Enters complete assets, without files, as if they had been stored by downloads.
    private func enter(_ range: Range<Int>) throws {
        let database = try DatabaseQueue(path: temporary.directory.path + "/catalogue.sqlite")
        try database.write { database in
            for number in range {
                try database.execute(
                    sql:
                        "INSERT INTO asset (id, title, source, createdAt, state, selection) VALUES (?, 'A', ?, ?, 'complete', '')",
                    arguments: ["a\(number)", "https://origin.example/\(number)", number]
                )
                try database.execute(
                    sql: "INSERT INTO assetSummary VALUES (?, 'A', ?, 1, 100, '4', 10, 4096, '360p', 'en', 0, 1)",
                    arguments: ["a\(number)", number]
                )
            }
        }
    }

    /// Neither a file nor a statement for each asset is needed.
    @Test func listingOfTenThousandAssetsTakesAsManyStatementsAsThatOfTen() throws {
        guard case .writable(let pool) = library.catalog else {
            Issue.record("the library is open for reading only")
            return
        }
        let statements = Mutex(0)
        try pool.read { database in
            database.trace { _ in statements.withLock { $0 += 1 } }
        }
        func statementsOfListing(_ count: Int) throws -> Int {
            // The first listing reads the schema.
            for _ in 0..<2 {
                statements.withLock { $0 = 0 }
                let summaries = try library.summaries()
                #expect(summaries.count == count && summaries.first?.id == "a\(count - 1)")
                #expect(library.diskBytes(of: summaries) == ByteCount(Int64(count) * 4_096))
            }
            return statements.withLock { $0 }
        }
        try enter(0..<10)
        let few = try statementsOfListing(10)
        try enter(10..<10_000)
        #expect(try statementsOfListing(10_000) == few)
        #expect((1...20).contains(few), "\(few)")
    }

    @Test func catalogOfAnEarlierVersionIsListed() throws {
        let directory = temporary.directory.appendingPathComponent("old")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        let queue = try DatabaseQueue(path: directory.path + "/catalogue.sqlite")
        try Schema.migrator.migrate(queue, upTo: "storage-policies")
        try queue.write { database in
            try database.execute(
                sql: "INSERT INTO asset VALUES ('a', 'A', 'https://h/a', 1, 'partial', '', NULL, NULL)"
            )
        }
        try queue.close()
        let reading = try AssetLibrary(reading: directory)
        #expect(try reading.summaries().map(\.title) == ["A"])
        #expect(try reading.lacksSummaries && reading.asset("a").title == "A")
    }

    /// In earlier versions, a file that another variant needs made an asset unplayable.
    @Test func partialAssetsOfAnEarlierVersionAreComputedAgain() throws {
        let queue = try DatabaseQueue()
        try Schema.migrator.migrate(queue, upTo: "bytes-entered-within-limits")
        try queue.write { database in
            for (id, state) in [("a", "partial"), ("b", "complete")] {
                try database.execute(
                    sql: """
                        INSERT INTO asset VALUES ('\(id)', 'A', 'https://h/\(id)', 1, '\(state)', '', NULL, NULL);
                        INSERT INTO assetSummary VALUES ('\(id)', 'A', 1, 1, 100, '4', 10, 4096, '', '', 0, 0);
                        INSERT INTO assetContent VALUES ('\(id)', x'')
                        """
                )
            }
        }
        try Schema.migrator.migrate(queue)
        for table in ["assetSummary", "assetContent"] {
            let remaining = try queue.read { try String.fetchAll($0, sql: "SELECT assetID FROM \(table)") }
            #expect(remaining == ["b"])
        }
    }

    /// All assets are read at once, with stored contents and without.
    @Test func listOfAllAssetsHasTheSameContentAsEachAsset() throws {
        let complete = try presentation()
        try temporary.complete(complete)
        let partial = try temporary.enter("Other", from: "other.m3u8")
        let assets = try library.assets()
        #expect(Set(assets.map(\.id)) == [complete, partial])
        for asset in assets { #expect(try library.asset(asset.id) == asset) }
        #expect(try AssetLibrary(reading: temporary.directory).assets() == assets)
    }

    /// A variant of an abandoned download does not hide the complete one.
    @Test func completeVariantCountsBesideAnIncompleteOne() throws {
        let id = try presentation()
        let missing = try library.missingResources(id)
        try temporary.store(missing.filter { !$0.path.hasPrefix("variant-1/") }, of: id)
        let asset = try library.asset(id)
        #expect(asset.renditions.map(\.isComplete) == [true, false, true, true, true])
        #expect(asset.state == .partial && asset.isPlayableOffline && asset.percent == 99.9)
        #expect(asset.loadedTimeRanges.totalDuration.description == "7.5")
    }
    /// Each variant of an abandoned download can have audio of its own.
    @Test func audioOfAnIncompleteVariantDoesNotHideTheCompleteOne() throws {
        let id = try presentation(audioLanguages: ["en", "en"])
        let missing = try library.missingResources(id)
        try temporary.store(
            missing.filter { !$0.path.hasPrefix("variant-1/") && !$0.path.hasPrefix("audio-1/") },
            of: id
        )
        let asset = try library.asset(id)
        #expect(asset.renditions.map(\.isComplete) == [true, false, true, false, true])
        #expect(asset.percent == 99.9 && asset.isPlayableOffline)
        try library.storeMissingSummaries()
        let summary = try #require(try library.summaries().first)
        #expect(summary.isPlayableOffline && summary.percent == 99.9)
        #expect(try library.summary(id) == summary)
    }
}
