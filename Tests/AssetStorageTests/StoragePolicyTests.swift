import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
import Synchronization
import Testing

@testable import AssetStorage

/// The assets that were deleted.
private final class DeletedAssets: Sendable {
    let entries = Mutex<[EvictionPlan.Entry]>([])
}

/// Tests the limits that are stored in a library, and the deletions that follow from them without a command.
@Suite struct StoragePolicyTests {
    private let temporary: TemporaryLibrary
    private let ids: [String]
    private let deleted = DeletedAssets()

    init() throws {
        let temporary = try TemporaryLibrary()
        self.temporary = temporary
        ids = try (0..<3).map { try temporary.enter("A\($0)", from: "\($0).m3u8") }
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "a.ts")
        for id in ids {
            try temporary.plan(id, .media(playlist), TemporaryLibrary.rendition(.variant, -1, playlist))
            // Contents that differ are not stored once for all assets.
            try temporary.store(
                temporary.library.missingResources(id),
                of: id,
                content: String(repeating: id, count: 100_000)
            )
        }
    }

    private var library: AssetLibrary { temporary.library }

    /// The limits that the library exceeds by less than the size of an asset, also when the log of its catalog has grown.
    private var exceededLimits: StorageLimits {
        StorageLimits(quota: library.diskUsage.occupiedBytes - ByteCount(400_000))
    }

    private func remaining() throws -> [String] {
        try library.assets().map(\.id).sorted { ids.index(of: $0) < ids.index(of: $1) }
    }

    private static let expired = StoragePolicy(expirationDate: Date(timeIntervalSince1970: 1))

    @Test func limitsAreStoredInTheLibrary() throws {
        #expect(try library.storageLimits() == StorageLimits())
        let limits = StorageLimits(quota: ByteCount(5_000), minimumFreeSpace: ByteCount(77))
        try library.setStorageLimits(StorageLimits(minimumFreeSpace: ByteCount(1)))
        try library.setStorageLimits(limits)
        #expect(try AssetLibrary(reading: temporary.directory).storageLimits() == limits)
        #expect(try AssetLibrary(directory: temporary.directory).storageLimits() == limits)
        try library.setStorageLimits(StorageLimits())
        #expect(try library.storageLimits() == StorageLimits())
    }

    @Test func storedLimitsAreThoseOfPlansAndEvictions() throws {
        try library.setStorageLimits(exceededLimits)
        #expect(try library.evictionPlan().entries.map(\.id) == [ids[0]])
        #expect(try library.evictionPlan(limits: StorageLimits()).entries.isEmpty)
        #expect(try library.evict().entries.map(\.reason) == [.limits])
        #expect(try remaining() == [ids[1], ids[2]])
    }

    @Test func policyDeletesTheOldestAssetsBeyondTheQuotaAndReportsThem() throws {
        let observation = library.observeEvictions { [deleted] entry in deleted.entries.withLock { $0.append(entry) } }
        #expect(try library.applyStoragePolicy().entries.isEmpty)
        try library.setStorageLimits(StorageLimits(quota: library.diskUsage.occupiedBytes + ByteCount(600_000)))
        #expect(try library.applyStoragePolicy().entries.isEmpty)
        try library.setStorageLimits(exceededLimits)
        let plan = try library.applyStoragePolicy()
        withExtendedLifetime(observation) {}
        #expect(plan.entries.map(\.id) == [ids[0]] && plan.shortfall == .zero)
        #expect(deleted.entries.withLock { $0 } == plan.entries)
        #expect(try remaining() == [ids[1], ids[2]])
    }

    @Test func evictionsArriveAsASequence() async throws {
        var evictions = library.evictions.makeAsyncIterator()
        try library.setStoragePolicy(Self.expired, of: ids[1])
        try library.applyStoragePolicy()
        let first = await evictions.next()
        #expect(first?.id == ids[1] && first?.reason == .expired)
    }

    @Test func deletionsOfACommandAreNotReportedAsAutomatic() throws {
        let observation = library.observeEvictions { [deleted] entry in deleted.entries.withLock { $0.append(entry) } }
        _ = try library.evict(limits: StorageLimits(quota: ByteCount(1)))
        withExtendedLifetime(observation) {}
        #expect(deleted.entries.withLock { $0.isEmpty })
    }

    @Test func assetsThatArePinnedPlayedOrDownloadedStay() throws {
        try library.setStoragePolicy(StoragePolicy(isPinned: true), of: ids[0])
        let player = PackageTransport(library, id: ids[1], origin: nil)
        let lock = try library.lock(ids[2])
        try library.setStorageLimits(StorageLimits(quota: ByteCount(1)))
        let plan = try library.applyStoragePolicy()
        withExtendedLifetime((player, lock)) {}
        #expect(plan.entries.isEmpty && plan.shortfall > .zero)
        #expect(try remaining() == ids)
    }

    /// Without limits, only assets whose expiration date has passed are deleted, whatever a download needs.
    @Test func expiredAssetsAreDeletedWithoutLimits() throws {
        try library.setStoragePolicy(Self.expired, of: ids[2])
        let plan = try library.applyStoragePolicy(need: ByteCount(.max))
        #expect(plan.entries.map(\.id) == [ids[2]] && plan.shortfall == .zero)
        #expect(try remaining() == [ids[0], ids[1]])
    }

    /// A system clock that is set back makes an asset expire later, one that is set forward at once; a pinned asset never expires.
    @Test func expirationFollowsTheSystemClock() throws {
        let date = Date(timeIntervalSince1970: 1_000)
        try library.setStoragePolicy(StoragePolicy(expirationDate: date), of: ids[0])
        try library.setStoragePolicy(StoragePolicy(expirationDate: date, isPinned: true), of: ids[1])
        for time in [-1_000_000, 0, 999.0] {
            #expect(try library.applyStoragePolicy(now: Date(timeIntervalSince1970: time)).entries.isEmpty)
        }
        let later = Date(timeIntervalSince1970: 1e11)
        #expect(try library.applyStoragePolicy(now: later).entries.map(\.id) == [ids[0]])
        #expect(try library.applyStoragePolicy(now: date).entries.isEmpty)
    }

    /// With a system clock that was set back, later assets and downloads have earlier dates.
    @Test func orderOfCreationDoesNotDependOnTheSystemClock() throws {
        let database = try DatabaseQueue(path: temporary.directory.path + "/catalogue.sqlite")
        for (number, id) in ids.enumerated() {
            try database.write { database in
                try database.execute(sql: "UPDATE asset SET createdAt = ? WHERE id = ?", arguments: [-number, id])
            }
            try library.addDownload(
                DownloadRecord.films(of: id, from: library.asset(id).source, state: .failed, created: Double(-number))
            )
        }
        #expect(try library.downloads(of: "films").map(\.assetID) == ids)
        #expect(try library.evictionPlan(limits: exceededLimits).entries.map(\.id) == [ids[0]])
        #expect(try library.evictionPlan(limits: StorageLimits(quota: ByteCount(1))).entries.map(\.id) == ids)
    }

    /// The simulated disk has 123,456 free bytes, whatever is deleted.
    @Test func floorOfFreeSpaceDeletesAsMuchAsItNeeds() throws {
        try library.setStorageLimits(StorageLimits(minimumFreeSpace: ByteCount(123_456)))
        #expect(try library.applyStoragePolicy().entries.isEmpty)
        try library.setStorageLimits(StorageLimits(minimumFreeSpace: ByteCount(123_457)))
        #expect(try library.applyStoragePolicy().entries.map(\.id) == [ids[0]])
    }

    /// The needs are within the free space of the simulated disk, and the quota leaves space for the log of the catalog.
    @Test func spaceIsMadeAvailableForADownload() throws {
        let used = library.diskUsage.occupiedBytes
        try library.setStorageLimits(StorageLimits(quota: used + ByteCount(200_000)))
        #expect(try library.hasStorageLimits())
        // The library has not been measured yet.
        #expect(!library.reserveSpace(for: ByteCount(10)))
        try library.makeSpace(for: ByteCount(60_000))
        #expect(try remaining() == ids)
        // The bytes that are reserved for another file count.
        #expect(library.reserveSpace(for: ByteCount(30_000)))
        #expect(!library.reserveSpace(for: ByteCount(120_000)))
        try library.makeSpace(for: ByteCount(120_000))
        #expect(try remaining() == [ids[1], ids[2]])
        let error = #expect(throws: StorageError.self) { try library.makeSpace(for: used + used) }
        #expect(error?.code == .full && error?.message.contains("no other asset can be deleted") == true)
        #expect(try remaining() == [ids[1], ids[2]], "nothing is deleted for what cannot be made available")
    }

    /// A transfer that waited while another one made space available does not measure again.
    @Test func spaceThatIsAvailableIsReservedWithoutAMeasurement() throws {
        try library.setStorageLimits(StorageLimits(quota: library.diskUsage.occupiedBytes + ByteCount(200_000)))
        try library.makeSpace(for: ByteCount(10_000))
        let unknown = library.packageDirectory(ids[2]).appendingPathComponent("unknown")
        try Data(repeating: 7, count: 400_000).write(to: unknown)
        try library.makeSpace(for: ByteCount(10_000))
        #expect(try remaining() == ids)
        try library.makeSpace(for: ByteCount(190_000))
        #expect(try remaining() == [ids[1], ids[2]])
    }

    /// The space that a deletion frees is available without another measurement; each asset has 1.2 MB.
    @Test func spaceThatWasFreedIsAvailable() throws {
        try library.setStorageLimits(StorageLimits(quota: library.diskUsage.occupiedBytes + ByteCount(50_000)))
        try library.makeSpace(for: ByteCount(100_000))
        #expect(try remaining() == [ids[1], ids[2]])
        #expect(library.reserveSpace(for: ByteCount(800_000)))
        #expect(!library.reserveSpace(for: ByteCount(800_000)))
        library.releaseSpace(ByteCount(800_000), stored: .zero)
        #expect(library.reserveSpace(for: ByteCount(800_000)))
    }

    /// Another object has its own figures, as another process has.
    @Test func bytesThatAnotherProcessStoresCountAtOnce() throws {
        try library.setStorageLimits(StorageLimits(quota: library.diskUsage.occupiedBytes + ByteCount(2_000_000)))
        let other = try AssetLibrary(directory: temporary.directory)
        #expect(try other.hasStorageLimits())
        try other.makeSpace(for: ByteCount(10_000))
        other.releaseSpace(ByteCount(10_000), stored: .zero)
        #expect(other.reserveSpace(for: ByteCount(1_000_000)))
        other.releaseSpace(ByteCount(1_000_000), stored: .zero)
        let id = try temporary.enter("B", from: "b.m3u8")
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "b.ts")
        try temporary.plan(id, .media(playlist), TemporaryLibrary.rendition(.variant, -1, playlist))
        try temporary.store(
            library.missingResources(id),
            of: id,
            content: String(repeating: "b", count: 1_500_000)
        )
        #expect(!other.reserveSpace(for: ByteCount(1_000_000)))
        #expect(other.reserveSpace(for: ByteCount(100_000)))
        // The changes of the limits do not begin the count anew.
        try library.setStorageLimits(StorageLimits(quota: ByteCount(1)))
        let counted = try library.catalog.read { try StorageLimitsRecord.fetchEnteredBytes($0) }
        #expect(counted == 1_500_000)
    }

    @Test func floorOfFreeSpaceIncludesTheNeed() throws {
        try library.setStorageLimits(StorageLimits(minimumFreeSpace: ByteCount(100_000)))
        #expect(try library.applyStoragePolicy(need: ByteCount(23_456)).entries.isEmpty)
        #expect(try library.applyStoragePolicy(need: ByteCount(23_457)).entries.map(\.id) == [ids[0]])
    }

    @Test func limitsAreThoseOfTheCatalog() throws {
        #expect(try !library.hasStorageLimits())
        try library.setStorageLimits(StorageLimits(minimumFreeSpace: ByteCount(1)))
        #expect(try library.hasStorageLimits())
        let other = try AssetLibrary(directory: temporary.directory)
        #expect(try other.hasStorageLimits())
        try library.setStorageLimits(StorageLimits())
        #expect(try !library.hasStorageLimits())
        // Other objects see the change when they apply the policy.
        try other.applyStoragePolicy()
        #expect(try !other.hasStorageLimits())
    }

    @Test func errorNamesTheLimitsAndTheNeed() throws {
        try library.checkSpace(forEstimate: ByteCount(.max))
        let (quota, floor) = (ByteCount(1_000), ByteCount(1 << 60))
        try library.setStorageLimits(StorageLimits(quota: quota, minimumFreeSpace: floor))
        let rules = "at most \(quota) may be used in \(library.directory.path), and \(floor) must stay free on its disk"
        let error = #expect(throws: StorageError.self) { try library.checkSpace(for: ByteCount(1)) }
        let message = "the limits of the library leave no space for the download"
        #expect(error?.message == "\(message): \(rules), and no other asset can be deleted")
        let estimated = #expect(throws: StorageError.self) { try library.checkSpace(forEstimate: ByteCount(10)) }
        let reason = "and the deletion of other assets would not suffice, so none is deleted for it"
        #expect(estimated?.message == "\(message), which needs about 10 bytes: \(rules), \(reason)")
        let advice = [
            "raise the quota (millstream library limits --quota SIZE)",
            "lower the minimum of free space (millstream library limits --min-free-space SIZE)",
            "delete assets, then run the same command again",
        ]
        #expect(error?.hint == advice.joined(separator: ", or ") && estimated?.hint == error?.hint)
        #expect(error?.code == .full && estimated?.code == .full)
        #expect(try remaining() == ids)
        try library.setStorageLimits(StorageLimits(quota: library.diskUsage.occupiedBytes + ByteCount(200_000)))
        try library.checkSpace(forEstimate: ByteCount(600_000))
        #expect(throws: StorageError.self) { try library.checkSpace(forEstimate: ByteCount(600_000_000)) }
    }

    @Test func spaceThatCannotBeMadeAvailableIsNotReserved() throws {
        let used = library.diskUsage.occupiedBytes
        try library.setStorageLimits(StorageLimits(quota: used + ByteCount(200_000)))
        try library.makeSpace(for: ByteCount(10_000))
        #expect(throws: StorageError.self) { try library.makeSpace(for: used + used) }
        #expect(library.reserveSpace(for: ByteCount(100_000)))
    }

    @Test func spaceIsCheckedWithoutADeletion() throws {
        let used = library.diskUsage.occupiedBytes
        try library.checkSpace(for: ByteCount(.max))
        try library.setStorageLimits(StorageLimits(quota: used + ByteCount(200_000)))
        try library.checkSpace(for: ByteCount(600_000))
        let error = #expect(throws: StorageError.self) { try library.checkSpace(for: used + used) }
        #expect(error?.code == .full)
        let (quota, floor) = ("millstream library limits --quota SIZE", "--min-free-space SIZE")
        #expect(error?.hint?.contains(quota) == true && error?.hint?.contains(floor) == false)
        try library.setStorageLimits(StorageLimits(minimumFreeSpace: ByteCount(1 << 60)))
        let other = #expect(throws: StorageError.self) { try library.checkSpace(for: ByteCount(1)) }
        #expect(other?.hint?.contains(quota) == false && other?.hint?.contains(floor) == true)
        #expect(try remaining() == ids)
    }

    @Test func libraryThatIsOpenForReadingDeletesNothing() throws {
        try library.setStorageLimits(StorageLimits(quota: ByteCount(1)))
        let reader = try AssetLibrary(reading: temporary.directory)
        #expect(throws: StorageError.self) { try reader.applyStoragePolicy() }
        #expect(throws: StorageError.self) { try reader.makeSpace(for: .zero) }
        #expect(try remaining() == ids)
    }

    // MARK: Observers

    private static func entry(_ id: String) -> EvictionPlan.Entry {
        EvictionPlan.Entry(id: id, title: "A", freedBytes: .zero, reason: .limits)
    }

    @Test func observationEndsWithItsObject() {
        let observers = EvictionObservers()
        let (first, second) = (DeletedAssets(), DeletedAssets())
        var observation: EvictionObservation? = observers.observe { entry in
            first.entries.withLock { $0.append(entry) }
        }
        let other = observers.observe { entry in second.entries.withLock { $0.append(entry) } }
        observers.send(Self.entry("a"))
        withExtendedLifetime(observation) {}
        observation = nil
        observers.send(Self.entry("b"))
        withExtendedLifetime(other) {}
        #expect(first.entries.withLock { $0.map(\.id) } == ["a"])
        #expect(second.entries.withLock { $0.map(\.id) } == ["a", "b"])
    }

    @Test(.timeLimit(.minutes(1))) func slowReaderLosesTheOldestDeletions() async {
        var observers: EvictionObservers? = EvictionObservers()
        let stream = observers?.stream()
        for number in 0..<4_097 { observers?.send(Self.entry("\(number)")) }
        observers = nil
        var identifiers: [String] = []
        if let stream {
            for await entry in stream { identifiers.append(entry.id) }
        }
        #expect(identifiers == (1...4_096).map { "\($0)" })
    }

    @Test(.timeLimit(.minutes(1))) func sequencesEndWithTheLibrary() async {
        var observers: EvictionObservers? = EvictionObservers()
        let streams = [observers?.stream(), observers?.stream()].compactMap { $0 }
        observers?.send(Self.entry("a"))
        observers?.send(Self.entry("b"))
        observers = nil
        for stream in streams {
            var identifiers: [String] = []
            for await entry in stream { identifiers.append(entry.id) }
            #expect(identifiers == ["a", "b"])
        }
        #expect(streams.count == 2)
    }

    // MARK: Decisions

    @Test func spaceIsAvailableWithoutLimits() {
        var state = LibrarySpace.State()
        #expect(state.decision(need: ByteCount(.max), freeSpace: .zero) == .available)
        state.limits = StorageLimits()
        #expect(state.decision(need: ByteCount(.max), freeSpace: .zero) == .available)
    }

    @Test func libraryIsMeasuredWhenItSeemsToExceedItsQuota() {
        var state = LibrarySpace.State()
        state.limits = StorageLimits(quota: ByteCount(100))
        #expect(state.decision(need: .zero, freeSpace: nil, catalogBytes: 0) == .measure)
        state.setOccupiedBytes(ByteCount(60), bytesOfOthers: 0)
        #expect(state.decision(need: ByteCount(40), freeSpace: nil, catalogBytes: 0) == .available)
        #expect(state.decision(need: ByteCount(41), freeSpace: nil, catalogBytes: 0) == .measure)
        state.reserve(ByteCount(30))
        #expect(state.decision(need: ByteCount(11), freeSpace: nil, catalogBytes: 0) == .measure)
        state.release(ByteCount(30), stored: ByteCount(20))
        #expect(state.occupiedBytes == ByteCount(80) && state.reservedBytes == .zero)
        #expect(state.decision(need: ByteCount(20), freeSpace: nil, catalogBytes: 0) == .available)
        state.reserve(ByteCount(.max))
        #expect(state.decision(need: ByteCount(.max), freeSpace: nil, catalogBytes: 0) == .measure)
    }

    @Test func bytesThatAreStoredDuringAMeasurementCount() {
        var state = LibrarySpace.State()
        state.reserve(ByteCount(30))
        state.release(ByteCount(10), stored: ByteCount(10))
        let before = state.storedBytes
        state.release(ByteCount(20), stored: ByteCount(15))
        state.setOccupiedBytes(ByteCount(60), storedBefore: before)
        #expect(state.occupiedBytes == ByteCount(75) && state.storedBytes == ByteCount(25))
    }

    /// The bytes that this process enters in the catalog are counted when they are stored.
    @Test func bytesThatOthersEnterInTheCatalogCount() {
        var state = LibrarySpace.State()
        state.limits = StorageLimits(quota: ByteCount(100))
        state.enter(50)
        state.setOccupiedBytes(ByteCount(60), bytesOfOthers: 7 - state.enteredBytes)
        #expect(state.decision(need: ByteCount(40), freeSpace: nil, catalogBytes: 7) == .available)
        state.enter(30)
        #expect(state.decision(need: ByteCount(40), freeSpace: nil, catalogBytes: 37) == .available)
        #expect(state.decision(need: ByteCount(40), freeSpace: nil, catalogBytes: 38) == .measure)
        #expect(state.decision(need: ByteCount(39), freeSpace: nil, catalogBytes: 38) == .available)
        #expect(state.decision(need: ByteCount(1), freeSpace: nil, catalogBytes: nil) == .measure)
        state.setOccupiedBytes(ByteCount(60), bytesOfOthers: 38 - state.enteredBytes)
        #expect(state.decision(need: ByteCount(40), freeSpace: nil, catalogBytes: 38) == .available)
    }

    /// Other processes may have stored any number of bytes meanwhile.
    @Test func libraryIsMeasuredWhenItsCatalogCannotBeRead() {
        var state = LibrarySpace.State()
        state.limits = StorageLimits(quota: ByteCount(100))
        state.setOccupiedBytes(ByteCount(60), bytesOfOthers: 0)
        #expect(state.decision(need: ByteCount(1), freeSpace: nil, catalogBytes: nil) == .measure)
        // The catalog could not be read when the library was measured.
        state.setOccupiedBytes(ByteCount(60), bytesOfOthers: nil)
        #expect(state.decision(need: ByteCount(1), freeSpace: nil, catalogBytes: 0) == .measure)
        state.limits = StorageLimits(minimumFreeSpace: ByteCount(1))
        #expect(state.decision(need: ByteCount(1), freeSpace: nil, catalogBytes: nil) == .available)
    }

    @Test func freeSpaceBelowTheMinimumEvicts() {
        var state = LibrarySpace.State()
        state.limits = StorageLimits(minimumFreeSpace: ByteCount(100))
        #expect(state.decision(need: ByteCount(10), freeSpace: ByteCount(110)) == .available)
        #expect(state.decision(need: ByteCount(10), freeSpace: ByteCount(109)) == .evict)
        #expect(state.decision(need: ByteCount(10), freeSpace: nil) == .available)
    }

    // MARK: Unknown files

    @Test func unknownFilesAreNamedAndStayUntilTheyAreRemoved() throws {
        let id = ids[0]
        try library.finish(id)
        let package = library.packageDirectory(id)
        let size = try library.summary(id).diskBytes
        let stray = ["notes.txt", "media/000007.ts", "extra"]
        try FileManager.default.createDirectory(
            at: package.appendingPathComponent("extra"),
            withIntermediateDirectories: true
        )
        for path in ["notes.txt", "media/000007.ts", "extra/a.ts"] {
            try Data("x".utf8).write(to: package.appendingPathComponent(path))
        }
        let result = try library.verify(id)
        #expect(result.unknown == stray.sorted() && result.damaged.isEmpty)
        // Neither a further verification nor opening the library or the asset removes them.
        let reopened = try AssetLibrary(directory: temporary.directory)
        _ = PackageTransport(reopened, id: id, origin: nil).address
        _ = try reopened.asset(id)
        #expect(try reopened.verify(id).unknown == stray.sorted())
        #expect(try library.removeUnknownFiles(id) == stray.sorted())
        #expect(try library.verify(id) == VerificationResult(damaged: [], withoutChecksum: 0))
        #expect(try library.summaries().first { $0.id == id }?.diskBytes == size)
        #expect(try library.removeUnknownFiles(id).isEmpty)
        #expect(FileManager.default.fileExists(atPath: package.appendingPathComponent("media/000000.ts").path))
    }
}

extension [String] {
    fileprivate func index(of element: String) -> Int { firstIndex(of: element) ?? .max }
}
