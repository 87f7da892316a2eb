import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import Testing

@Suite struct EvictionTests {
    private let temporary: TemporaryLibrary
    private let ids: [String]

    init() throws {
        let temporary = try TemporaryLibrary()
        self.temporary = temporary
        ids = try (0..<3).map { try temporary.enter("A\($0)", from: "\($0).m3u8") }
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "a.ts")
        for id in ids {
            try temporary.plan(id, .media(playlist), TemporaryLibrary.rendition(.variant, -1, playlist))
            let missing = try temporary.library.missingResources(id)
            try temporary.store(missing, of: id, content: String(repeating: "x", count: 10_000))
        }
    }

    private var library: AssetLibrary { temporary.library }
    private let everything = StorageLimits(quota: ByteCount(1))

    @Test func diskUsageIsThatOfTheAllocatedBlocks() throws {
        for directory in [library.packageDirectory(ids[0]), library.directory] {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/du")
            process.arguments = ["-sk", directory.path]
            let pipe = Pipe()
            process.standardOutput = pipe
            try process.run()
            let output = pipe.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            let kibibytes = try #require(Int64(String(decoding: output, as: UTF8.self).prefix { $0.isNumber }))
            let usage = DiskUsage(of: directory)
            // du rounds up to its unit.
            #expect((usage.occupiedBytes.bytes + 1_023) / 1_024 == kibibytes)
            #expect(usage.freeableBytes == usage.occupiedBytes)
        }
    }

    @Test func fileWithANameElsewhereIsOccupiedButNotFreeable() throws {
        let package = library.packageDirectory(ids[0])
        let before = DiskUsage(of: package)
        let names = try FileManager.default.subpathsOfDirectory(atPath: package.path)
        let segment = package.appendingPathComponent(try #require(names.first { $0.hasSuffix(".ts") }))
        // A second name in the same package changes nothing but the directory.
        try FileManager.default.linkItem(at: segment, to: package.appendingPathComponent("second"))
        let linked = DiskUsage(of: package)
        #expect(linked.freeableBytes == linked.occupiedBytes)
        #expect(linked.occupiedBytes == before.occupiedBytes)
        try FileManager.default.linkItem(at: segment, to: library.directory.appendingPathComponent("outside"))
        let shared = DiskUsage(of: package)
        #expect(shared.occupiedBytes == before.occupiedBytes)
        #expect(shared.freeableBytes.bytes <= before.occupiedBytes.bytes - 10_000)
    }

    @Test func policyIsStoredAndDeletedWithTheAsset() throws {
        #expect(try library.storagePolicy(ids[0]) == StoragePolicy())
        let date = Date(timeIntervalSince1970: 1_900_000_000)
        let policy = StoragePolicy(priority: .important, expirationDate: date, isPinned: true)
        try library.setStoragePolicy(policy, of: ids[0])
        try library.setStoragePolicy(policy, of: ids[0])
        #expect(try AssetLibrary(reading: temporary.directory).storagePolicy(ids[0]) == policy)
        #expect(try library.storagePolicy(ids[1]) == StoragePolicy())
        try library.delete(ids[0])
        #expect(throws: StorageError.self) { try library.storagePolicy(ids[0]) }
        #expect(throws: StorageError.self) { try library.setStoragePolicy(policy, of: ids[0]) }
    }

    @Test func evictionDeletesThePlanAndSparesAssetsInUse() throws {
        let (pinned, playing, free) = (ids[0], ids[1], ids[2])
        try library.setStoragePolicy(StoragePolicy(isPinned: true), of: pinned)
        let reader = try AssetLibrary(reading: temporary.directory)
        let player = PackageTransport(reader, id: playing, origin: nil)
        #expect(try reader.evictionPlan(limits: everything).entries.map(\.id) == [free])
        #expect(try library.assets().count == 3)
        let result = try library.evict(limits: everything)
        withExtendedLifetime(player) {}
        #expect(result.entries.map(\.id) == [free])
        #expect(result.shortfall > .zero)
        #expect(Set(try library.assets().map(\.id)) == [pinned, playing])
        #expect(!FileManager.default.fileExists(atPath: library.packageDirectory(free).path))
    }

    @Test func assetIsEvictedAfterItsPlayerIsDeallocated() throws {
        var player: PackageTransport? = PackageTransport(library, id: ids[0], origin: nil)
        let expired = StoragePolicy(expirationDate: Date(timeIntervalSince1970: 1))
        try library.setStoragePolicy(expired, of: ids[0])
        #expect(try library.evict().entries.isEmpty)
        withExtendedLifetime(player) {}
        player = nil
        #expect(try library.evict().entries.map(\.id) == [ids[0]])
        #expect(try library.evict().entries.isEmpty)
    }

    @Test func expiredAssetWithoutItsPackageIsEvicted() throws {
        let expired = StoragePolicy(expirationDate: Date(timeIntervalSince1970: 1))
        try library.setStoragePolicy(expired, of: ids[0])
        #expect(try library.storagePolicies() == [ids[0]: expired])
        try FileManager.default.removeItem(at: library.packageDirectory(ids[0]))
        #expect(try library.evict().entries.map(\.id) == [ids[0]])
        #expect(try Set(library.assets().map(\.id)) == [ids[1], ids[2]])
        #expect(try library.storagePolicies().isEmpty)
    }

    @Test func assetThatIsBeingDownloadedIsNotEvicted() throws {
        let lock = try library.lock(ids[0])
        #expect(!(try library.evictionPlan(limits: everything).entries.map(\.id).contains(ids[0])))
        _ = try library.evict(limits: everything)
        withExtendedLifetime(lock) {}
        #expect(try library.assets().map(\.id) == [ids[0]])
    }

    @Test(arguments: [DownloadRecord.State.waiting, .suspended, .failed, .canceled])
    func assetOfAPendingDownloadIsNotEvicted(state: DownloadRecord.State) throws {
        let record = DownloadRecord.films(of: ids[0], from: try library.asset(ids[0]).source, state: state)
        try library.addDownload(record)
        let isPending = [.waiting, .suspended].contains(state)
        let planned = try AssetLibrary(reading: temporary.directory).evictionPlan(limits: everything).entries.map(\.id)
        #expect(planned.contains(ids[0]) != isPending)
        _ = try library.evict(limits: everything)
        #expect(try library.assets().map(\.id) == (isPending ? [ids[0]] : []))
        #expect(try library.downloads().count == (isPending ? 1 : 0))
    }

    /// Another process looks whether the package is in use at the moment at which a player is created.
    @Test func playerThatStartsDuringAnEvictionPlanIsInUse() async throws {
        let descriptor = open(library.packageDirectory(ids[0]).path, O_RDONLY | O_DIRECTORY)
        try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        let player = PackageTransport(library, id: ids[0], origin: nil)
        #expect(flock(descriptor, LOCK_UN) == 0 && close(descriptor) == 0)
        _ = try await player.send(TransportRequest(player.address, kind: .playlist))
        #expect(try library.evictionPlan(limits: everything).entries.map(\.id) == [ids[1], ids[2]])
        withExtendedLifetime(player) {}
    }
}
