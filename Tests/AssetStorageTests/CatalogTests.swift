import Foundation
import GRDB
import MediaTiming
import ResourceAddressing
import Synchronization
import Testing

@testable import AssetStorage

/// Tests the database of a library.
@Suite struct CatalogTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }
    private var path: String { temporary.directory.path + "/catalogue.sqlite" }

    // MARK: Tables

    /// The tables of version 3 and of later migrations, which exist in libraries of earlier versions and therefore never change; a later
    /// version only adds to them.
    @Test func schemaIsThatOfVersionThreeWithLaterTables() throws {
        let statements = try library.catalog.read { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT sql FROM sqlite_master
                    WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND name != 'grdb_migrations'
                    AND type != 'trigger' ORDER BY type, name
                    """
            )
        }
        #expect(
            statements == [
                #"CREATE INDEX "index_download_on_session" ON "download"("session")"#,
                #"CREATE INDEX "index_resource_on_assetID_address_rangeStart" "#
                    + #"ON "resource"("assetID", "address", "rangeStart")"#,
                #"CREATE INDEX "index_resource_on_assetID_startTime_id" ON "resource"("assetID", "startTime", "id")"#,
                #"CREATE INDEX "index_resource_on_checksum_bytes" ON "resource"("checksum", "bytes") "#
                    + #"WHERE "checksum" IS NOT NULL"#,
                #"CREATE INDEX "index_resource_on_renditionID" ON "resource"("renditionID")"#,
                #"CREATE TABLE "artwork" ("#
                    + #""assetID" TEXT PRIMARY KEY NOT NULL REFERENCES "asset"("id") ON DELETE CASCADE, "#
                    + #""format" TEXT NOT NULL, "image" BLOB NOT NULL)"#,
                #"CREATE TABLE "asset" ("id" TEXT PRIMARY KEY NOT NULL, "title" TEXT NOT NULL, "#
                    + #""source" TEXT NOT NULL UNIQUE, "createdAt" DOUBLE NOT NULL, "state" TEXT NOT NULL, "#
                    + #""selection" TEXT NOT NULL, "sourcePlaylist" BLOB, "sourceAddress" TEXT)"#,
                #"CREATE TABLE "assetCleanup" ("#
                    + #""assetID" TEXT PRIMARY KEY NOT NULL REFERENCES "asset"("id") ON DELETE CASCADE)"#,
                #"CREATE TABLE "assetContent" ("#
                    + #""assetID" TEXT PRIMARY KEY NOT NULL REFERENCES "asset"("id") ON DELETE CASCADE, "#
                    + #""content" BLOB NOT NULL)"#,
                #"CREATE TABLE "assetSummary" ("#
                    + #""assetID" TEXT PRIMARY KEY NOT NULL REFERENCES "asset"("id") ON DELETE CASCADE, "#
                    + #""title" TEXT NOT NULL, "createdAt" DOUBLE NOT NULL, "isComplete" BOOLEAN NOT NULL, "#
                    + #""percent" DOUBLE NOT NULL, "duration" TEXT, "bytes" INTEGER NOT NULL, "#
                    + #""diskBytes" INTEGER NOT NULL, "quality" TEXT NOT NULL, "languages" TEXT NOT NULL, "#
                    + #""sharesFiles" BOOLEAN NOT NULL DEFAULT 0, "isPlayable" BOOLEAN NOT NULL DEFAULT 0)"#,
                #"CREATE TABLE "download" ("id" TEXT PRIMARY KEY NOT NULL, "session" TEXT NOT NULL, "#
                    + #""assetID" TEXT NOT NULL REFERENCES "asset"("id") ON DELETE CASCADE, "source" TEXT NOT NULL, "#
                    + #""details" TEXT NOT NULL, "options" BLOB NOT NULL, "artwork" BLOB, "state" TEXT NOT NULL, "#
                    + #""failureCode" TEXT, "failureDetail" TEXT, "failureMessage" TEXT, "#
                    + #""priority" INTEGER NOT NULL, "createdAt" DOUBLE NOT NULL, "folders" TEXT, "#
                    + #""selection" INTEGER)"#,
                #"CREATE TABLE "recordedSegment" ("renditionID" INTEGER NOT NULL "#
                    + #"REFERENCES "rendition"("id") ON DELETE CASCADE, "position" INTEGER NOT NULL, "#
                    + #""sequence" INTEGER NOT NULL, "lines" TEXT NOT NULL, "duration" TEXT NOT NULL, "date" TEXT, "#
                    + #"PRIMARY KEY ("renditionID", "position"))"#,
                #"CREATE TABLE "rendition" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "#
                    + #""assetID" TEXT NOT NULL REFERENCES "asset"("id") ON DELETE CASCADE, "folder" TEXT NOT NULL, "#
                    + #""role" TEXT NOT NULL, "position" INTEGER NOT NULL, "language" TEXT, "bandwidth" INTEGER, "#
                    + #""width" INTEGER, "height" INTEGER, "codecs" TEXT NOT NULL, "playlist" BLOB NOT NULL, "#
                    + #""address" TEXT NOT NULL, "aliases" TEXT, "isPart" BOOLEAN, "#
                    + #""audioLanguages" TEXT, "subtitleLanguages" TEXT, UNIQUE ("assetID", "folder"))"#,
                #"CREATE TABLE "resource" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "#
                    + #""assetID" TEXT NOT NULL REFERENCES "asset"("id") ON DELETE CASCADE, "#
                    + #""renditionID" INTEGER NOT NULL REFERENCES "rendition"("id") ON DELETE CASCADE, "#
                    + #""position" INTEGER NOT NULL, "kind" TEXT NOT NULL, "address" TEXT NOT NULL, "#
                    + #""rangeStart" INTEGER, "rangeLength" INTEGER, "path" TEXT NOT NULL, "start" TEXT NOT NULL, "#
                    + #""duration" TEXT NOT NULL, "bytes" INTEGER, "checksum" INTEGER, "startTime" DOUBLE, "#
                    + #""isLost" BOOLEAN, UNIQUE ("assetID", "path"))"#,
                #"CREATE TABLE "storageLimits" ("id" INTEGER PRIMARY KEY, "quota" INTEGER, "#
                    + #""minimumFreeSpace" INTEGER NOT NULL, "enteredBytes" INTEGER NOT NULL DEFAULT 0)"#,
                #"CREATE TABLE "storagePolicy" ("#
                    + #""assetID" TEXT PRIMARY KEY NOT NULL REFERENCES "asset"("id") ON DELETE CASCADE, "#
                    + #""priority" TEXT NOT NULL, "expiresAt" DOUBLE, "isPinned" BOOLEAN NOT NULL)"#,
            ]
        )
    }

    @Test func transactionsAreSynchronizedToTheDisk() throws {
        let (synchronous, foreignKeys) = try library.catalog.write { database in
            (
                try Int.fetchOne(database, sql: "PRAGMA synchronous"),
                try Int.fetchOne(database, sql: "PRAGMA foreign_keys")
            )
        }
        let configuration = try library.catalog.read { $0.configuration }
        #expect(configuration.foreignKeysEnabled)
        guard case .timeout(let seconds) = configuration.busyMode else {
            Issue.record("the catalog does not wait")
            return
        }
        #expect(seconds == 10)
        // FULL (sqlite.org/pragma.html).
        #expect(synchronous == 2)
        #expect(foreignKeys == 1)
    }

    /// Version 1 stored playlists as JSON arrays of numbers.
    @Test func catalogOfVersionOneIsReadAndMigrated() throws {
        let directory = temporary.directory.appendingPathComponent("old")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
        let json = "[" + playlist.utf8.map { String($0) }.joined(separator: ",") + "]"
        let queue = try DatabaseQueue(path: directory.path + "/catalogue.sqlite")
        try Schema.migrator.migrate(queue, upTo: "1")
        try queue.write { database in
            try database.execute(
                sql: "INSERT INTO asset VALUES ('a', 'A', 'https://h/a', 1, 'complete', 'all', ?, 'https://h/a')",
                arguments: [json]
            )
            // One asset whose playlist was never loaded, and one whose content is not valid JSON.
            try database.execute(
                sql: "INSERT INTO asset VALUES ('b', 'B', 'https://h/b', 2, 'partial', '', NULL, NULL)"
            )
            try database.execute(
                sql: "INSERT INTO asset VALUES ('c', 'C', 'https://h/c', 3, 'partial', '', '[x', NULL)"
            )
            try database.execute(
                sql: """
                    INSERT INTO rendition VALUES
                    (1, 'a', 'media', 'variant', -1, NULL, NULL, NULL, NULL, '', ?, 'https://h/a')
                    """,
                arguments: [json]
            )
            try database.execute(
                sql: """
                    INSERT INTO resource VALUES
                    (1, 'a', 1, 0, 'segment', 'https://h/0.ts', NULL, NULL, 'media/000000.ts', '2.5', '4', 3)
                    """
            )
        }
        try queue.close()
        let reading = try AssetLibrary(reading: directory)
        #expect(try reading.asset("a").duration?.seconds == 4)
        let source = try reading.playlist(at: ResourceAddress("https://h/a"), of: "a")
        #expect(source?.bytes == Array(playlist.utf8))
        let media = try reading.catalog.read { database in
            try RenditionRecord.fetchOne(database, key: 1)?.playlistBytes(database)
        }
        #expect(media == Array(playlist.utf8))
        let opened = try AssetLibrary(directory: directory)
        #expect(try opened.asset("a").duration?.seconds == 4)
        let (assets, renditions, times) = try opened.catalog.read { database in
            (
                try Data?.fetchAll(database, sql: "SELECT sourcePlaylist FROM asset ORDER BY id"),
                try Data.fetchAll(database, sql: "SELECT playlist FROM rendition"),
                try Double.fetchAll(database, sql: "SELECT startTime FROM resource")
            )
        }
        #expect(assets == [Data(playlist.utf8), nil, Data("[x".utf8)])
        #expect(renditions == [Data(playlist.utf8)])
        #expect(times == [2.5])
    }

    @Test(
        arguments: [
            ("2", [], [2]), ("-1", nil, [-1]), ("0", ["3", "1"], [0, 3, 1]), ("4", ["x", "5"], [4, 5]),
        ] as [(String, [String]?, [Int])]
    )
    func positionsOfARenditionIncludeItsAliases(position: String, aliases: [String]?, positions: [Int]) throws {
        let record = RenditionRecord(
            assetID: "a",
            folder: "f",
            role: .variant,
            position: try #require(Int(position)),
            codecs: "",
            address: "",
            aliases: aliases?.joined(separator: ",")
        )
        #expect(record.positions == positions)
    }

    // MARK: Errors

    @Test(
        arguments: [
            (.SQLITE_FULL, "disk-full"), (.SQLITE_BUSY, "asset-busy"), (.SQLITE_LOCKED, "asset-busy"),
            (.SQLITE_CANTOPEN, "library-failed"), (.SQLITE_NOTADB, "library-failed"),
            (.SQLITE_CORRUPT, "library-failed"), (.SQLITE_IOERR, "disk-failed"), (.SQLITE_READONLY, "disk-failed"),
        ] as [(ResultCode, String)]
    )
    func databaseErrorsAreTranslated(result: ResultCode, code: String) throws {
        for message in ["no luck", nil] as [String?] {
            let isDamaged = [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(result)
            let text =
                "the catalog of the library failed (\(message ?? "\(DatabaseError(resultCode: result).message ?? "")"))"
                + (isDamaged ? Catalog.adviceForDamage : "")
            for body in [
                { try library.catalog.read { _ in throw DatabaseError(resultCode: result, message: message) } },
                { try library.catalog.write { _ in throw DatabaseError(resultCode: result, message: message) } },
            ] as [() throws -> Void] {
                let error = storageError { try body() }
                #expect(error?.code == code)
                #expect(error?.message == text)
            }
        }
        // Other errors are passed on unchanged.
        let error = storageError { try library.catalog.read { _ in throw StorageError(.incomplete, "as it is") } }
        #expect(error?.code == "asset-incomplete" && error?.message == "as it is")
    }

    @Test func catalogOfANewerVersionIsRejected() throws {
        let id = try temporary.enter()
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('99')") }
        for body in [
            { _ = try AssetLibrary(directory: temporary.directory) },
            { _ = try AssetLibrary(reading: temporary.directory).asset(id) },
        ] as [() throws -> Void] {
            let error = storageError { try body() }
            #expect(error?.code == "library-too-new")
            #expect(error?.message == "the library was created by a newer version of Millstream")
        }
    }

    /// Several commands that create the same library begin at the same time.
    @Test func concurrentlyCreatedLibraryIsUsableByAll() async throws {
        for number in 0..<10 {
            let directory = temporary.directory.appendingPathComponent("new-\(number)")
            let counts = try await withThrowingTaskGroup { group in
                for _ in 0..<6 {
                    group.addTask { @concurrent in try AssetLibrary(directory: directory).assets().count }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts == Array(repeating: 0, count: 6))
        }
    }

    @Test func sizeOfTheCatalogCanBeLimited() throws {
        try library.limitCatalog(toPages: 1)
        let error = storageError { for number in 0..<1_000 { _ = try temporary.enter(from: "\(number).m3u8") } }
        #expect(error?.code == "disk-full")
        #expect(error?.message == "the catalog of the library failed (database or disk is full)")
    }

    @Test func committedTransactionIsReported() throws {
        _ = temporary.files.takeLines()
        #expect(try library.write { _ in 5 } == 5)
        #expect(temporary.files.takeLines() == ["commit"])
        _ = storageError { try library.write { _ in throw StorageError(.disk, "no") } }
        #expect(temporary.files.takeLines() == [])
    }

    /// A closed library has only the database file, which can be copied.
    @Test func closingRemovesTheWriteAheadLog() throws {
        let id = try temporary.enter()
        _ = try library.assets()
        #expect(PathCheck.exists(URL(fileURLWithPath: path + "-wal")))
        try library.close()
        #expect(!PathCheck.exists(URL(fileURLWithPath: path + "-wal")))
        #expect(!PathCheck.exists(URL(fileURLWithPath: path + "-shm")))
        let error = #expect(throws: (any Error).self) { try library.assets() }
        #expect(error != nil)
        #expect(try AssetLibrary(reading: temporary.directory).assets().map(\.id) == [id])
    }

    // MARK: Read-only access

    /// Copies the files of the catalog with the given suffixes.
    private func copy(_ suffixes: [String], to name: String) throws -> String {
        let folder = temporary.directory.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let copy = folder.path + "/catalogue.sqlite"
        for suffix in suffixes { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        return copy
    }

    private func titles(_ catalog: ReadOnlyCatalog) throws -> [String] {
        try catalog.read { try String.fetchAll($0, sql: "SELECT title FROM asset ORDER BY title") }
    }

    private func names(beside path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: (path as NSString).deletingLastPathComponent).sorted()
    }

    @Test(arguments: ["plain", "a ? b", "a # b", "100%", "%3f%23", "ä ö"])
    func closedCatalogIsReadInADirectoryWithAnyName(name: String) throws {
        _ = try temporary.enter("A")
        try library.close()
        let copy = try copy([""], to: name)
        #expect(try titles(ReadOnlyCatalog(path: copy)) == ["A"])
        // No file was created next to it.
        #expect(try names(beside: copy) == ["catalogue.sqlite"])
    }

    @Test func openCatalogIsReadWithItsWriteAheadLog() throws {
        _ = try temporary.enter("A")
        let catalog = ReadOnlyCatalog(path: path)
        #expect(try titles(catalog) == ["A"])
        _ = try temporary.enter("B", from: "b.m3u8")
        #expect(try titles(catalog) == ["A", "B"])
        #expect(throws: DatabaseError.self) { try catalog.read { try $0.execute(sql: "DELETE FROM asset") } }
    }

    /// A write of another process takes only a short time.
    @Test func readWaitsForAWriter() throws {
        _ = try temporary.enter("A")
        let left = try copy(["", "-wal"], to: "left")
        for (catalog, isReadOnly) in [(ReadOnlyCatalog(path: path), true), (ReadOnlyCatalog(path: left), false)] {
            let configuration = try catalog.read { $0.configuration }
            #expect(configuration.readonly == isReadOnly)
            guard case .timeout(let seconds) = configuration.busyMode else {
                Issue.record("the catalog does not wait")
                return
            }
            #expect(seconds == 10)
        }
    }

    /// The shared-memory file indicates that a writing process has the catalog open, even before its first write.
    @Test func readOfAnOpenCatalogIsNotRepeated() throws {
        _ = try temporary.enter("A")
        try library.close()
        let copy = try copy([""], to: "copy")
        let pool = try DatabasePool(path: copy)
        let reads = Mutex(0)
        try ReadOnlyCatalog(path: copy).read { _ in
            reads.withLock { $0 += 1 }
            try FileManager.default.setAttributes([.modificationDate: Date.distantPast], ofItemAtPath: copy)
        }
        #expect(reads.withLock { $0 } == 1)
        try pool.close()
    }

    /// A write-ahead log without its shared-memory file was left by a process that ended; it is read from a separate
    /// copy.
    @Test(arguments: [["", "-wal"], ["", "-wal", "-shm"]])
    func leftoverWriteAheadLogIsRead(suffixes: [String]) throws {
        _ = try temporary.enter("A")
        let copy = try copy(suffixes, to: "copy")
        let before = try names(beside: copy)
        #expect(try titles(ReadOnlyCatalog(path: copy)) == ["A"])
        #expect(try names(beside: copy) == before)
    }

    @Test func copyOfALeftoverLogIsPrivateAndRemoved() throws {
        _ = try temporary.enter("A")
        let copy = try copy(["", "-wal"], to: "copy")
        let used = try ReadOnlyCatalog(path: copy).read { database in
            let used = try #require(try String.fetchOne(database, sql: "SELECT file FROM pragma_database_list"))
            let folder = (used as NSString).deletingLastPathComponent
            for (path, mode) in [(folder, 0o700), (used, 0o600), (used + "-wal", 0o600)] {
                #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == mode)
            }
            return used
        }
        #expect(used != copy)
        #expect(!PathCheck.exists(URL(fileURLWithPath: used).deletingLastPathComponent()))
    }

    @Test func catalogThatChangesDuringEachReadIsBusy() throws {
        _ = try temporary.enter("A")
        try library.close()
        let catalog = ReadOnlyCatalog(path: path)
        let reads = Mutex(0)
        let busy = storageError {
            try catalog.read { _ in
                let number = reads.withLock { reads in
                    reads += 1
                    return reads
                }
                let date = Date(timeIntervalSince1970: Double(number))
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
            }
        }
        #expect(busy?.code == "asset-busy")
        #expect(busy?.message == "the library \(path) is being changed by another process; try again later")
        #expect(reads.withLock { $0 } == 8)
    }

    /// Data that was read while the file changed may be a mixture of two states.
    @Test(arguments: ["time", "nanoseconds", "size", "file", "log", "shared memory"])
    func readDuringAChangeIsRepeated(change: String) throws {
        _ = try temporary.enter("A")
        try library.close()
        let copy = try copy([""], to: "copy")
        let time = timespec(tv_sec: 1_000_000_000, tv_nsec: 5)
        func setTime(_ time: timespec, of path: String) {
            #expect(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
        }
        setTime(time, of: copy)
        let reads = Mutex(0)
        let titles = try ReadOnlyCatalog(path: copy).read { database in
            let titles = try String.fetchAll(database, sql: "SELECT title FROM asset")
            let isFirst = reads.withLock { reads in
                reads += 1
                return reads == 1
            }
            guard isFirst else { return titles }
            switch change {
            case "time": setTime(timespec(tv_sec: 1_000_000_001, tv_nsec: 5), of: copy)
            case "nanoseconds": setTime(timespec(tv_sec: 1_000_000_000, tv_nsec: 6), of: copy)
            case "size":
                let handle = try #require(FileHandle(forWritingAtPath: copy))
                try handle.seekToEnd()
                try handle.write(contentsOf: Data(count: 4_096))
                try handle.close()
                setTime(time, of: copy)
            case "file":
                try FileManager.default.copyItem(atPath: copy, toPath: copy + "2")
                setTime(time, of: copy + "2")
                #expect(rename(copy + "2", copy) == 0)
            case "log": try Data("log".utf8).write(to: URL(fileURLWithPath: copy + "-wal"))
            default: try Data().write(to: URL(fileURLWithPath: copy + "-shm"))
            }
            return titles
        }
        #expect(titles == ["A"])
        #expect(reads.withLock { $0 } == 2)
    }

    /// A process that closed the catalog may leave an empty log.
    @Test func emptyLogIsIgnored() throws {
        _ = try temporary.enter("A")
        try library.close()
        let copy = try copy([""], to: "copy")
        try Data().write(to: URL(fileURLWithPath: copy + "-wal"))
        #expect(try titles(ReadOnlyCatalog(path: copy)) == ["A"])
        #expect(try names(beside: copy) == ["catalogue.sqlite", "catalogue.sqlite-wal"])
    }

    @Test func readThrowsTheErrorOfTheLastAttempt() throws {
        try library.close()
        let catalog = ReadOnlyCatalog(path: path)
        #expect(throws: DatabaseError.self) { try catalog.read { try $0.execute(sql: "SELECT * FROM nothing") } }
        #expect(throws: DatabaseError.self) { try ReadOnlyCatalog(path: path + "-none").read { _ in } }
    }
}
