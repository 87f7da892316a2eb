import AssetStorage
import Foundation
import GRDB
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

/// Tests a library that several tasks and processes use concurrently; another library object on the same directory
/// represents another process.
@Suite struct LibrarySharingTests {
    private let temporary: TemporaryLibrary
    private static let source = ResourceAddress("https://origin.example/media.m3u8")

    init() throws { temporary = try TemporaryLibrary() }

    private var origin: ScriptedTransport {
        ScriptedTransport(texts: [
            Self.source.text: """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXTINF:4,
            0.ts
            #EXTINF:4,
            1.ts
            #EXT-X-ENDLIST

            """,
            "https://origin.example/0.ts": "zero", "https://origin.example/1.ts": "one",
        ])
    }

    private func another() throws -> AssetLibrary { try AssetLibrary(directory: temporary.directory) }

    private func download(_ transport: any Transport, into library: AssetLibrary) -> AssetDownload {
        AssetDownload(
            Self.source,
            into: library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: DownloadConfiguration(maximumConcurrentFetches: 1)
        )
    }

    private var packages: [String] {
        let folder = temporary.directory.appendingPathComponent("packages").path
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    /// Runs a download that pauses before its last byte, and resumes it after `body`.
    private func whileDownloading(_ body: @escaping @Sendable (_ id: String) async throws -> Void) async throws {
        let transport = BlockingTransport(origin, blocking: "https://origin.example/1.ts")
        let (ids, found) = AsyncStream<String>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            let task = download(transport, into: temporary.library)
            group.addTask {
                defer { found.finish() }
                try await task.run { event in
                    if case .progress(let id, let progress) = event, progress.bytes.bytes == 6 { found.yield(id) }
                }
            }
            group.addTask {
                for await id in ids {
                    defer { transport.release() }
                    return try await body(id)
                }
                Issue.record("the download never came to its last byte")
            }
            try await group.waitForAll()
        }
    }

    @Test(.timeLimit(.minutes(10))) func assetBeingDownloadedIsNotDeleted() async throws {
        let other = try another()
        try await whileDownloading { id in
            let error = #expect(throws: StorageError.self) { try other.delete(id) }
            #expect(error?.code == .busy && error?.message.contains("stop its download") == true)
            let verification = #expect(throws: StorageError.self) { try other.verify(id) }
            #expect(verification?.code == .busy)
            let state = try other.asset(id).state
            #expect(state == .partial)
        }
        let asset = try #require(try other.assets().first)
        #expect(asset.state == .complete)
        try other.delete(asset.id)
        #expect(packages.isEmpty)
    }

    /// A task is not a player, so that its package is not in use when its value is returned, however long the task exists.
    @Test(.timeLimit(.minutes(10))) func packageIsNotInUseAfterTheEndOfItsDownload() async throws {
        let session = try DownloadSession(
            identifier: "films",
            library: temporary.library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0))
        )
        let task = try await session.makeTask(Self.source)
        task.resume()
        let asset = try await task.value()
        // A media playlist has one variant, which satisfies every limit.
        #expect(try temporary.library.shrink(asset.id, to: .maximumHeight(360)).removed.isEmpty)
        let everything = StorageLimits(quota: ByteCount(1))
        #expect(try temporary.library.evictionPlan(limits: everything).entries.map(\.id) == [asset.id])
        // A player that uses the loader of the task marks the package.
        _ = try await task.loader.load(TransportRequest(Self.source, kind: .playlist), limit: ByteCount(1_000))
        let error = #expect(throws: StorageError.self) {
            try temporary.library.shrink(asset.id, to: .maximumHeight(360))
        }
        #expect(error?.code == .busy && error?.message.contains("is being played") == true)
        #expect(try temporary.library.evictionPlan(limits: everything).entries.isEmpty)
        try temporary.library.delete(asset.id)
        await session.invalidate()
        withExtendedLifetime(task) {}
    }

    @Test(.timeLimit(.minutes(10))) func assetIsDownloadedByOneTaskAtATime() async throws {
        let (other, origin) = (try another(), origin)
        let second = download(origin, into: other)
        try await whileDownloading { _ in
            let error = await #expect(throws: DownloadError.self) { try await second.run() }
            #expect(error?.code == .storage && error?.detail == "asset-busy")
        }
        #expect(try other.assets().map(\.state) == [.complete])
    }

    @Test(.timeLimit(.minutes(10))) func downloadWhosePackageWasRemovedFailsAndDoesNotRecreateIt() async throws {
        let directory = temporary.directory
        let error = await #expect(throws: DownloadError.self) {
            try await whileDownloading { id in
                try FileManager.default.removeItem(at: directory.appendingPathComponent("packages/\(id)"))
            }
        }
        #expect(error?.code == .storage)
        #expect(packages.isEmpty)
    }

    @Test(.timeLimit(.minutes(10))) func downloadWhoseAssetWasRemovedFailsAndItsPackageIsRemoved() async throws {
        let path = temporary.directory.appendingPathComponent("catalogue.sqlite").path
        let error = await #expect(throws: DownloadError.self) {
            try await whileDownloading { _ in
                let database = try DatabaseQueue(path: path)
                try await database.write { try $0.execute(sql: "DELETE FROM asset") }
            }
        }
        #expect(error?.detail == "not-found" && error?.message.contains("deleted") == true)
        _ = try another()
        #expect(packages.isEmpty)
    }

    @Test func lockedPackageIsNotRemoved() throws {
        let orphan = temporary.library.packageDirectory("orphan")
        try FileManager.default.createDirectory(at: orphan, withIntermediateDirectories: true)
        let lock = try PackageLock(orphan)
        _ = try another()
        #expect(packages == ["orphan"])
        withExtendedLifetime(lock) {}
    }

    @Test func interruptedDeletionIsCompleted() async throws {
        let id = try await download(origin, into: temporary.library).run().id
        let path = temporary.directory.appendingPathComponent("catalogue.sqlite").path
        let database = try DatabaseQueue(path: path)
        try await database.write { try $0.execute(sql: "UPDATE asset SET state = 'deleting'") }
        // While another process holds the lock, that process completes the deletion.
        var lock: PackageLock? = try PackageLock(temporary.library.packageDirectory(id))
        #expect(try another().assets().isEmpty)
        #expect(packages == [id])
        try temporary.library.delete(id)
        #expect(packages == [id])
        withExtendedLifetime(lock) {}
        lock = nil
        #expect(try another().assets().isEmpty)
        #expect(packages.isEmpty)
        let count = try await database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM asset") }
        #expect(count == 0)
    }

    @Test func deletedAssetCannotBeLockedAndHasNoDirectory() throws {
        let id = try temporary.library.addAsset(source: Self.source, title: "A", selection: "")
        let other = try another()
        try other.delete(id)
        #expect(throws: StorageError.self) { try temporary.library.lock(id) }
        // The state in which the directory was created just after the asset was deleted.
        try FileManager.default.createDirectory(at: other.packageDirectory(id), withIntermediateDirectories: true)
        let error = #expect(throws: StorageError.self) { try temporary.library.lock(id) }
        #expect(error?.code == .notFound)
        #expect(packages.isEmpty)
    }

    @Test(.timeLimit(.minutes(10))) func concurrentDeletionsAndDownloadsLeaveNoOrphans() async throws {
        let (first, second) = (temporary.library, try another())
        let origin = origin
        let (one, two) = (download(origin, into: first), download(origin, into: second))
        for _ in 0..<30 {
            await withTaskGroup(of: Void.self) { group in
                // Each of these may fail because of the others; only the resulting state is checked.
                for task in [one, two] { group.addTask { _ = try? await task.run() } }
                for library in [first, second] {
                    group.addTask {
                        for asset in (try? library.assets()) ?? [] { try? library.delete(asset.id) }
                    }
                }
            }
            let assets = try first.assets()
            #expect(packages == assets.map(\.id).sorted())
            #expect(assets.count <= 1)
            for asset in assets where asset.state == .complete { #expect(try first.verify(asset.id).damaged.isEmpty) }
        }
        // Without concurrent tasks, the download succeeds.
        #expect(try await one.run().state == .complete)
    }

    @Test(.timeLimit(.minutes(10))) func concurrentDeletionsBothSucceed() async throws {
        let libraries = [temporary.library, try another()]
        for _ in 0..<20 {
            let id = try await download(origin, into: temporary.library).run().id
            try await withThrowingTaskGroup(of: Void.self) { group in
                for library in libraries { group.addTask { try library.delete(id) } }
                try await group.waitForAll()
            }
            #expect(try temporary.library.assets().isEmpty)
            #expect(packages.isEmpty)
        }
    }

    // MARK: Read-only access

    @Test func libraryIsReadWithoutChanges() async throws {
        let asset = try await download(origin, into: temporary.library).run()
        try temporary.library.close()
        let orphan = temporary.directory.appendingPathComponent("packages/orphan")
        try FileManager.default.createDirectory(at: orphan, withIntermediateDirectories: true)
        let names = try #require(FileManager.default.subpaths(atPath: temporary.directory.path)).sorted()
        let library = try AssetLibrary(reading: temporary.directory)
        #expect(try library.assets() == [asset])
        #expect(library.file("media/000001.ts", of: asset.id) != nil)
        #expect(library.file("media/media.m3u8", of: asset.id) != nil)
        #expect(library.file("media/000002.ts", of: asset.id) == nil)
        #expect(PackageTransport.package(at: library.packageDirectory(asset.id))?.id == asset.id)
        #expect(FileManager.default.subpaths(atPath: temporary.directory.path)?.sorted() == names)
        let error = #expect(throws: StorageError.self) { try library.delete(asset.id) }
        #expect(error?.code == .cannotOpen && error?.message.contains("reading only") == true)
        #expect(library.file("media/000001.ts", of: asset.id) != nil)
    }

    @Test func readerSeesLaterChanges() async throws {
        let reading = try AssetLibrary(reading: temporary.directory)
        #expect(try reading.assets().isEmpty)
        let asset = try await download(origin, into: temporary.library).run()
        #expect(try reading.assets() == [asset])
        try temporary.library.close()
        #expect(try reading.assets() == [asset])
        try another().delete(asset.id)
        #expect(try reading.assets().isEmpty)
    }

    /// The write-ahead log of a killed process cannot be used in place without its shared-memory file.
    @Test func leftoverWriteAheadLogIsRead() async throws {
        let asset = try await download(origin, into: temporary.library).run()
        let copy = FileManager.default.temporaryDirectory.appendingPathComponent("copy-\(UUID())")
        defer { try? FileManager.default.removeItem(at: copy) }
        try FileManager.default.copyItem(at: temporary.directory, to: copy)
        try FileManager.default.removeItem(at: copy.appendingPathComponent("catalogue.sqlite-shm"))
        let size = try Data(contentsOf: copy.appendingPathComponent("catalogue.sqlite-wal")).count
        #expect(size > 0)
        #expect(try AssetLibrary(reading: copy).assets() == [asset])
    }

    @Test func openingForReadingDoesNotCreateALibrary() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("none-\(UUID())")
        let error = #expect(throws: StorageError.self) { try AssetLibrary(reading: folder) }
        #expect(error?.code == .cannotOpen)
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test func catalogOfANewerVersionIsRejected() async throws {
        let path = temporary.directory.appendingPathComponent("catalogue.sqlite").path
        let database = try DatabaseQueue(path: path)
        try await database.write { try $0.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('99')") }
        let writing = #expect(throws: StorageError.self) { try another().assets() }
        #expect(writing?.code == .tooNew)
        let reading = #expect(throws: StorageError.self) { try AssetLibrary(reading: temporary.directory).assets() }
        #expect(reading?.code == .tooNew)
    }

    @Test func fullCatalogIsReportedAsDiskFull() async throws {
        let database = temporary.directory.appendingPathComponent("catalogue.sqlite").path
        #expect(FileManager.default.fileExists(atPath: database))
        let text = (0..<4_000).map { "#EXTINF:4,\nsegment-with-a-long-name-\($0).ts\n" }.joined()
        let transport = ScriptedTransport(texts: [
            Self.source.text: "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(text)#EXT-X-ENDLIST\n"
        ])
        try temporary.library.limitCatalog(toPages: 40)
        let error = await #expect(throws: DownloadError.self) {
            try await download(transport, into: temporary.library).run()
        }
        #expect(error?.detail == "disk-full" && error?.hint != nil)
        #expect(try temporary.library.assets().allSatisfy { $0.state == .partial })
    }
}
