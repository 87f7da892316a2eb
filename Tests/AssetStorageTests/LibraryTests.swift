import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
import MediaTransport
import ResourceAddressing
import Synchronization
import Testing

@testable import AssetStorage

/// Tests how libraries are opened and closed, and how assets are found and deleted.
@Suite struct LibraryTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private func execute(_ sql: String) throws {
        let database = try DatabaseQueue(path: temporary.directory.path + "/catalogue.sqlite")
        try database.write { try $0.execute(sql: sql) }
    }

    private func identifiers() throws -> [String] {
        let database = try DatabaseQueue(path: temporary.directory.path + "/catalogue.sqlite")
        return try database.read { try String.fetchAll($0, sql: "SELECT id FROM asset ORDER BY id") }
    }

    private func another() throws -> AssetLibrary { try AssetLibrary(directory: temporary.directory) }

    // MARK: Opening

    @Test(
        arguments: [
            (["MILLSTREAM_LIBRARY": "/a/library", "XDG_DATA_HOME": "/data"], "/a/library"),
            (["MILLSTREAM_LIBRARY": "", "XDG_DATA_HOME": "/data"], "/data/millstream"),
            (["XDG_DATA_HOME": "/data"], "/data/millstream"),
            // A relative path is not valid (XDG Base Directory Specification).
            (["XDG_DATA_HOME": "data"], nil), (["XDG_DATA_HOME": ""], nil), ([:], nil),
            (["HOME": "/home/other"], "/home/other/.local/share/millstream"), (["HOME": "other"], nil),
        ] as [([String: String], String?)]
    )
    func environmentDefinesTheDefaultDirectory(environment: [String: String], path: String?) {
        #if os(Linux)
        let home = FileManager.default.homeDirectoryForCurrentUser.path
        #expect(
            AssetLibrary.defaultDirectory(environment: environment).path == path ?? home + "/.local/share/millstream"
        )
        #else
        let named = environment["MILLSTREAM_LIBRARY"] ?? ""
        let support = URL.applicationSupportDirectory.appendingPathComponent("Millstream").path
        #expect(AssetLibrary.defaultDirectory(environment: environment).path == (named.isEmpty ? support : named))
        #endif
    }

    @Test func defaultDirectoryUsesTheEnvironmentOfTheProcess() {
        let environment = ProcessInfo.processInfo.environment
        #expect(AssetLibrary.defaultDirectory == AssetLibrary.defaultDirectory(environment: environment))
    }

    @Test func pathOfALibraryIsStandardized() throws {
        let folder = temporary.directory.appendingPathComponent("x/../inner")
        let expected = temporary.directory.path + "/inner"
        #expect(try AssetLibrary(directory: folder).directory.path == expected)
        #expect(try AssetLibrary(reading: folder).directory.path == expected)
    }

    @Test func openErrorNamesTheDirectoryAndTheReason() throws {
        let file = temporary.directory.appendingPathComponent("file")
        try Data().write(to: file)
        let error = storageError { _ = try AssetLibrary(directory: file) }
        #expect(error?.code == "library-failed")
        #expect(error?.message == "the library \(file.path) cannot be opened (Not a directory)")
        let folder = temporary.directory.appendingPathComponent("broken")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let text = String(repeating: "this is no database ", count: 100)
        try Data(text.utf8).write(to: folder.appendingPathComponent("catalogue.sqlite"))
        let broken = storageError { _ = try AssetLibrary(directory: folder) }
        #expect(broken?.code == "library-failed")
        #expect(broken?.message.hasPrefix("the library \(folder.path) cannot be opened (") == true)
    }

    @Test func openingForReadingRequiresALibrary() throws {
        let folder = temporary.directory.appendingPathComponent("none")
        for step in 0..<3 {
            if step == 1 { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false) }
            if step == 2 { try Data().write(to: folder.appendingPathComponent("catalogue.sqlite")) }
            let error = storageError { _ = try AssetLibrary(reading: folder) }
            #expect(error?.code == "library-failed")
            #expect(error?.message == "there is no library in \(folder.path)")
        }
        let id = try temporary.enter()
        #expect(try AssetLibrary(reading: temporary.directory).assets().map(\.id) == [id])
    }

    @Test func libraryOpenedForReadingIsNotWritten() throws {
        let reading = try AssetLibrary(reading: temporary.directory)
        let error = storageError {
            _ = try reading.addAsset(source: ResourceAddress("https://h/a.m3u8"), title: "A", selection: "")
        }
        #expect(error?.code == "library-failed")
        #expect(error?.message == "the library is open for reading only")
        try reading.limitCatalog(toPages: 1)
        try reading.close()
        #expect(try reading.assets() == [])
    }

    @Test func reasonIsThatOfTheUnderlyingSystemError() {
        let system = NSError(domain: NSPOSIXErrorDomain, code: Int(EACCES))
        let outer = NSError(domain: "outer", code: 1, userInfo: [NSUnderlyingErrorKey: system])
        #expect(AssetLibrary.reason(system) == "Permission denied")
        #expect(AssetLibrary.reason(outer) == "Permission denied")
        let other = NSError(domain: "other", code: Int(EACCES), userInfo: [NSLocalizedDescriptionKey: "no reason"])
        #expect(AssetLibrary.reason(other) == "no reason")
    }

    @Test func cacheDirectoryTagExcludesTheLibraryFromBackups() throws {
        #if os(Linux)
        let tag = temporary.directory.appendingPathComponent("CACHEDIR.TAG")
        let text = """
            Signature: 8a477f597d28d172789f06886806bc55
            # Streams downloaded by Millstream; they can be downloaded again.

            """
        #expect(try String(contentsOf: tag, encoding: .utf8) == text)
        // An existing tag is not changed.
        try Data("mine".utf8).write(to: tag)
        _ = try another()
        #expect(try String(contentsOf: tag, encoding: .utf8) == "mine")
        #endif
    }

    @Test func freeSpaceIsThatOfTheFileSystemOfTheLibrary() {
        #expect(library.freeSpace?.bytes == 123_456)
    }

    // MARK: Lookup

    @Test func assetsAreSortedNewestFirst() throws {
        let ids = try (0..<3).map { try temporary.enter("\($0)", from: "\($0).m3u8") }
        for (id, time) in zip(ids, [20, 30, 10]) {
            try execute("UPDATE asset SET createdAt = \(time) WHERE id = '\(id)'")
        }
        #expect(try library.assets().map(\.title) == ["1", "0", "2"])
        try execute("UPDATE asset SET state = 'deleting' WHERE id = '\(ids[1])'")
        #expect(try library.assets().map(\.title) == ["0", "2"])
        for (number, title) in ["0", nil, "2"].enumerated() {
            let source = ResourceAddress(TemporaryLibrary.origin + "\(number).m3u8")
            #expect(try library.asset(source: source)?.title == title)
        }
        #expect(try library.asset(source: ResourceAddress("https://h/a.m3u8")) == nil)
        let error = storageError { _ = try library.asset(ids[1]) }
        #expect(error?.code == "not-found")
        #expect(error?.message == "the library has no asset \(ids[1])")
        let busy = storageError { _ = try temporary.enter(from: "1.m3u8") }
        #expect(busy?.code == "asset-busy")
        #expect(busy?.message == "the asset is being deleted; try again later")
    }

    @Test func creationDateIsTheTimeOfTheEntry() throws {
        let before = Date().timeIntervalSince1970
        let id = try temporary.enter()
        let database = try DatabaseQueue(path: temporary.directory.path + "/catalogue.sqlite")
        let time = try database.read {
            try Double.fetchOne($0, sql: "SELECT createdAt FROM asset WHERE id = ?", arguments: [id])
        }
        #expect((before...Date().timeIntervalSince1970).contains(try #require(time)))
    }

    @Test(
        arguments: [
            ("a", true), ("abc-123", true), ("-", true), ("azaz0909", true), ("", false), ("A", false), (".", false),
            ("..", false), ("a/b", false), ("a b", false), ("`", false), ("{", false), ("/", false), (":", false),
            ("ä", false), (String(repeating: "a", count: 64), true), (String(repeating: "a", count: 65), false),
        ]
    )
    func identifiersCannotEscapeTheDirectoryOfPackages(text: String, isIdentifier: Bool) throws {
        #expect(AssetLibrary.isIdentifier(text) == isIdentifier)
        guard !text.isEmpty, !text.contains("."), !text.contains("/") else { return }
        let folder = URL(fileURLWithPath: "/library/packages").appendingPathComponent(text)
        #expect(PackageTransport.isPackagePath(folder) == isIdentifier)
        #expect(!PackageTransport.isPackagePath(URL(fileURLWithPath: "/library/other").appendingPathComponent(text)))
    }

    @Test func onlyStoredFilesAndPlaylistsAreFound() throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts", "#EXTINF:4,", "1.ts"))
        try temporary.store(Array(library.missingResources(id).prefix(1)), of: id)
        for name in ["media/stray.ts", "media/000001.ts", ".lock", "media/.hidden", "media/.hidden.m3u8"] {
            try Data("1.ts".utf8).write(to: temporary.url(name, of: id))
        }
        for (path, isFound) in [
            ("media/000000.ts", true), ("media/media.m3u8", true), ("multivariant.m3u8", true),
            ("media/stray.ts", false), ("media/000001.ts", false), ("media/none.m3u8", false), ("media", false),
            ("", false), (".lock", false), ("media/.hidden", false), ("media//000000.ts", false),
            ("/media/000000.ts", false), ("media/000000.ts/", false), ("media/../media/000000.ts", false),
            ("../\(id)/multivariant.m3u8", false), ("media//media.m3u8", false), ("media/.hidden.m3u8", false),
            ("./media/media.m3u8", false), ("media/media.m3u8\0.m3u8", false), ("/media/media.m3u8", false),
            ("./media/000000.ts", false), ("media/000000.ts\0", false), ("../\(id)/media/000000.ts", false),
        ] {
            let file = library.file(path, of: id)
            #expect(file == (isFound ? temporary.url(path, of: id) : nil), "\(path)")
        }
        #expect(library.file("media/media.m3u8", of: "../packages/\(id)") == nil)
        // A file of another size is not the file that was stored.
        try Data("other size".utf8).write(to: temporary.url("media/000000.ts", of: id))
        #expect(library.file("media/000000.ts", of: id) == nil)
    }

    // MARK: Deletion

    @Test func deletingAnAssetRemovesAllItsFilesAndRows() throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        try temporary.complete(id)
        let other = try temporary.enter(from: "other.m3u8")
        _ = temporary.files.takeLines()
        try library.delete(id)
        let lines = temporary.files.takeLines()
        #expect(lines.first == "commit")
        #expect(lines.suffix(3) == ["remove packages/*/.lock", "remove folder packages/*", "commit"])
        #expect(
            lines.dropFirst().dropLast(3).sorted() == [
                "remove folder packages/*/media", "remove packages/*/media/000000.ts",
                "remove packages/*/media/media.m3u8", "remove packages/*/multivariant.m3u8",
            ]
        )
        #expect(try identifiers() == [other])
        #expect(try temporary.packages == [other])
        let database = try DatabaseQueue(path: temporary.directory.path + "/catalogue.sqlite")
        for table in ["rendition", "resource"] {
            #expect(try database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM \(table)") } == 0)
        }
        // Deleting an asset twice and deleting an unknown asset have no effect.
        for id in [id, "none", "../..", "..", ""] { try library.delete(id) }
        // No lock file was created outside the packages.
        for folder in [temporary.directory, temporary.directory.deletingLastPathComponent()] {
            #expect(!PathCheck.exists(folder.appendingPathComponent(".lock")))
        }
        #expect(temporary.files.takeLines().allSatisfy { $0 == "commit" })
        #expect(try temporary.packages == [other])
    }

    @Test func assetWithoutADirectoryIsDeleted() throws {
        let id = try temporary.enter()
        try FileManager.default.removeItem(at: library.packageDirectory(id))
        try library.delete(id)
        #expect(try identifiers() == [])
    }

    @Test func assetInUseIsNotDeleted() throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        try temporary.complete(id)
        let lock = try library.lock(id)
        let error = storageError { try library.delete(id) }
        #expect(error?.code == "asset-busy")
        #expect(error?.message == "the asset \(id) is in use: stop its download first, then delete it")
        #expect(try library.asset(id).state == .complete)
        // Another task is already deleting the asset, so there is nothing to do.
        try execute("UPDATE asset SET state = 'deleting'")
        try library.delete(id)
        #expect(try temporary.packages == [id])
        // The same applies if the asset is no longer in the catalog.
        try execute("DELETE FROM asset")
        try library.delete(id)
        #expect(try temporary.packages == [id])
        withExtendedLifetime(lock) {}
    }

    /// The lock may be held only briefly by a check of another process.
    @Test func deletionWaitsForTheLockUpToTenTimes() throws {
        let id = try temporary.enter()
        let holder = LockHolder(try library.lock(id))
        let waits = Mutex(0)
        temporary.files.whileWaiting { number in waits.withLock { $0 = number } }
        let error = storageError { try library.delete(id) }
        #expect(error?.code == "asset-busy")
        #expect(waits.withLock { $0 } == 10)
        temporary.files.whileWaiting { number in
            waits.withLock { $0 = number }
            if number == 3 { holder.release() }
        }
        try library.delete(id)
        #expect(waits.withLock { $0 } == 3)
        #expect(try temporary.packages == [])
    }

    /// An object that holds a lock until it is told to release it.
    private final class LockHolder: Sendable {
        private let lock: Mutex<PackageLock?>

        init(_ lock: PackageLock?) { self.lock = Mutex(lock) }

        func release() { lock.withLock { $0 = nil } }
    }

    @Test func failedDeletionIsCompletedByTheNext() throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        temporary.files.fail("remove folder packages/*/media", with: EIO)
        let error = storageError { try library.delete(id) }
        #expect(error?.code == "disk-failed")
        let package = library.packageDirectory(id).path
        #expect(error?.message == "the package \(package) cannot be deleted (Input/output error)")
        #expect(try library.assets() == [])
        #expect(try identifiers() == [id])
        temporary.files.stopFailing()
        try library.delete(id)
        #expect(try identifiers() == [])
        #expect(try temporary.packages == [])
    }

    @Test func packageThatIsNotADirectoryCannotBeLocked() throws {
        let id = try temporary.enter()
        try FileManager.default.removeItem(at: library.packageDirectory(id))
        try Data().write(to: library.packageDirectory(id))
        let error = storageError { try library.delete(id) }
        #expect(error?.code == "disk-failed")
        #expect(error?.message == "\(library.packageDirectory(id).path) cannot be written (Not a directory)")
    }

    @Test func directoryCreatedDuringADeletionIsRemoved() throws {
        let id = try temporary.enter()
        try library.delete(id)
        try FileManager.default.createDirectory(at: library.packageDirectory(id), withIntermediateDirectories: false)
        try Data().write(to: temporary.url("file", of: id))
        _ = temporary.files.takeLines()
        let error = storageError { _ = try library.lock(id) }
        #expect(error?.code == "not-found")
        #expect(error?.message == "the library has no asset \(id)")
        #expect(
            temporary.files.takeLines() == [
                "remove packages/*/file", "remove packages/*/.lock", "remove folder packages/*",
            ]
        )
        let missing = storageError { _ = try library.lock(id) }
        #expect(missing?.code == "not-found")
        #expect(missing?.message == "the library has no asset \(id)")
    }

    #if os(Linux)
    /// A process that is being started has copies of all descriptors, as `dup` makes them.
    @Test func lockIsReleasedAlthoughACopyOfItsDescriptorIsOpen() throws {
        let id = try temporary.enter(from: "film.m3u8")
        let package = library.packageDirectory(id)
        try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
        var lock: PackageLock? = try PackageLock(package)
        let path = package.appendingPathComponent(PackageLock.fileName).resolvingSymlinksInPath().path
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let descriptor = names.compactMap { CInt($0) }.first { number in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) == path
        }
        let copy = dup(try #require(descriptor))
        defer { close(copy) }
        #expect(throws: StorageError.self) { try PackageLock(package) }
        withExtendedLifetime(lock) {}
        lock = nil
        _ = try PackageLock(package)
    }
    #endif

    @Test func openingRemovesOrphanedPackagesAndInterruptedDeletions() throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        let interrupted = try temporary.enter(from: "interrupted.m3u8")
        try execute("UPDATE asset SET state = 'deleting' WHERE id = '\(interrupted)'")
        let held = library.packageDirectory("held")
        let foreign = library.packageDirectory("Foreign")
        for folder in [library.packageDirectory("orphan"), held, foreign] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            try Data().write(to: folder.appendingPathComponent("file"))
        }
        try Data().write(to: library.packageDirectory("file"))
        let lock = try PackageLock(held)
        let files = RecordedFiles(temporary.directory)
        let again = try AssetLibrary(directory: temporary.directory, files: files)
        #expect(try temporary.packages == ["Foreign", "file", "held", id].sorted())
        #expect(try identifiers() == [id])
        #expect(try again.assets().map(\.id) == [id])
        #expect(PathCheck.exists(held.appendingPathComponent("file")))
        let lines = files.takeLines()
        #expect(
            lines.filter { $0 != "commit" }.sorted() == [
                "remove folder packages/*", "remove folder packages/*", "remove packages/*/.lock",
                "remove packages/*/.lock", "remove packages/*/file",
            ]
        )
        #expect(lines.suffix(3) == ["remove packages/*/file", "remove packages/*/.lock", "remove folder packages/*"])
        withExtendedLifetime(lock) {}
    }

    // MARK: File modes

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func widen(_ path: String, _ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    /// Tests each file separately, because another program may have written it.
    @Test(
        arguments: [
            "", "catalogue.sqlite", "catalogue.sqlite-wal", "catalogue.sqlite-shm", "catalogue.sqlite-journal",
            "CACHEDIR.TAG", "playing", "packages",
        ]
    )
    func modesOfAllFilesAreRestricted(name: String) throws {
        let directory = temporary.directory.appendingPathComponent("other")
        try FileManager.default.createDirectory(
            at: directory.appendingPathComponent("packages"),
            withIntermediateDirectories: true
        )
        let original = try AssetLibrary(directory: directory)
        if name.hasSuffix("-journal") || !PathCheck.exists(directory.appendingPathComponent(name)) {
            try Data().write(to: directory.appendingPathComponent(name))
        }
        let path = name.isEmpty ? directory.path : directory.path + "/" + name
        let isFolder = name.isEmpty || name == "packages"
        try widen(path, isFolder ? 0o755 : 0o644)
        try AssetLibrary.makePrivate(directory)
        #expect(try mode(path) == (isFolder ? 0o700 : 0o600))
        withExtendedLifetime(original) {}
    }

    @Test func modesOfPackagesAreRestrictedRecursively() throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        let package = library.packageDirectory(id).path
        let packages = temporary.directory.path + "/packages"
        for folder in [packages, package] {
            try widen(folder, 0o755)
            try widen(package + "/media", 0o755)
            try widen(package + "/media/media.m3u8", 0o644)
            try AssetLibrary.makePrivate(temporary.directory)
            for path in [packages, package, package + "/media"] { #expect(try mode(path) == 0o700) }
            #expect(try mode(package + "/media/media.m3u8") == 0o600)
        }
        // The contents of a package that others cannot access are not checked.
        try widen(package + "/media", 0o755)
        try AssetLibrary.makePrivate(temporary.directory)
        #expect(try mode(package + "/media") == 0o755)
    }

    @Test(arguments: [([], 0o700), (["packages", "CACHEDIR.TAG"], 0o700), (["packages", "other"], 0o755)])
    func onlyDirectoriesOfLibrariesAreRestricted(names: [String], expected: Int) throws {
        let directory = temporary.directory.appendingPathComponent("other")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        for name in names {
            try FileManager.default.createDirectory(
                at: directory.appendingPathComponent(name),
                withIntermediateDirectories: false
            )
        }
        try widen(directory.path, 0o755)
        try AssetLibrary.makePrivate(directory)
        #expect(try mode(directory.path) == expected)
        #expect(try mode(directory.path + "/catalogue.sqlite") == 0o600)
        #expect(try mode(directory.path + "/packages") == 0o700)
        // A directory with a catalog is the directory of a library.
        try widen(directory.path, 0o755)
        try AssetLibrary.makePrivate(directory)
        #expect(try mode(directory.path) == 0o700)
    }

    /// A library whose catalog was lost keeps its packages, because a new catalog does not know them.
    @Test func packagesWithoutACatalogAreKept() throws {
        let temporary = try TemporaryLibrary()
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "a.ts"))
        try temporary.complete(id)
        try temporary.library.close()
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(
                at: temporary.directory.appendingPathComponent("catalogue.sqlite" + suffix)
            )
        }
        let opened = try AssetLibrary(directory: temporary.directory)
        let kept = temporary.directory.appendingPathComponent("recovered")
        #expect(opened.packagesWithoutEntry?.path == kept.path)
        #expect(try opened.assets().isEmpty)
        let playlist = kept.appendingPathComponent("\(id)/multivariant.m3u8")
        #expect(FileManager.default.fileExists(atPath: playlist.path))
        #expect(try temporary.packages.isEmpty)
        // The next one finds a catalog, and another loss does not replace what was kept.
        #expect(try AssetLibrary(directory: temporary.directory).packagesWithoutEntry == nil)
        #expect(FileManager.default.fileExists(atPath: playlist.path))
    }

    @Test func damagedCatalogIsAnErrorThatSaysHowToGoOn() throws {
        let temporary = try TemporaryLibrary()
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "a.ts"))
        try temporary.complete(id)
        try temporary.library.close()
        let catalog = temporary.directory.appendingPathComponent("catalogue.sqlite")
        try Data(repeating: 0x55, count: 8192).write(to: catalog)
        let error = storageError { _ = try AssetLibrary(directory: temporary.directory) }
        #expect(error?.code == "library-failed")
        #expect(error?.message.contains("give catalogue.sqlite another name") == true)
        #expect(try temporary.packages == [id])
        try FileManager.default.moveItem(at: catalog, to: temporary.directory.appendingPathComponent("damaged.sqlite"))
        #expect(try AssetLibrary(directory: temporary.directory).packagesWithoutEntry != nil)
    }

    /// Without its write-ahead log, a catalog can be an empty database.
    @Test func packagesOfACatalogWithoutItsLogAreKept() throws {
        let temporary = try TemporaryLibrary()
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "a.ts"))
        try temporary.complete(id)
        try temporary.library.close()
        let catalog = temporary.directory.appendingPathComponent("catalogue.sqlite")
        try FileManager.default.removeItem(at: catalog)
        try DatabaseQueue(path: catalog.path).write { try $0.execute(sql: "CREATE TABLE other (id INTEGER)") }
        let error = storageError { _ = try AssetLibrary(reading: temporary.directory).assets() }
        #expect(error?.code == "library-failed" && error?.message.contains("kept in the directory recovered") == true)
        let opened = try AssetLibrary(directory: temporary.directory)
        #expect(opened.packagesWithoutEntry != nil)
        let playlist = temporary.directory.appendingPathComponent("recovered/\(id)/multivariant.m3u8")
        #expect(FileManager.default.fileExists(atPath: playlist.path))
    }
}
