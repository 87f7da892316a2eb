import Foundation
import MediaTiming
import Synchronization
import Testing

@testable import AssetStorage

/// Tests the locks by which objects and processes exclude each other.
@Suite struct FileLockTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }
    private var path: String { temporary.directory.path + "/locks" }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    // MARK: Bytes

    @Test func lockedBytesAreThoseOfOneObject() throws {
        let first = try #require(ByteLocks(path, flags: O_RDWR | O_CREAT))
        let second = try #require(ByteLocks(path, flags: O_RDWR))
        #expect(try mode(path) == 0o600)
        #expect(first.acquire(.exclusive, at: 10))
        #expect(!second.acquire(.exclusive, at: 10))
        #expect(!second.acquire(.shared, at: 10))
        // The bytes beside it are free.
        #expect(second.positionOfOther(at: 9) == nil)
        #expect(second.acquire(.exclusive, at: 9))
        #expect(second.acquire(.exclusive, at: 11))
        #expect(second.positionOfOther(at: 10) == 10)
        #expect(first.positionOfOther(at: 10) == nil)
        #expect(second.positionOfOther(at: 0, count: 0) == 10)
        #expect(second.positionOfOther(at: 11, count: 0) == nil)
        #expect(first.positionOfOther(at: 0, count: 9) == nil)
        #expect(first.positionOfOther(at: 0, count: 10) == 9)
        second.release(at: 9, count: 3)
        #expect(first.positionOfOther(at: 0, count: 0) == nil)
        first.release(at: 10)
        #expect(second.acquire(.exclusive, at: 10))
    }

    @Test func oneByteIsReleasedUnlessThereIsANumber() throws {
        let first = try #require(ByteLocks(path, flags: O_RDWR | O_CREAT))
        let second = try #require(ByteLocks(path, flags: O_RDWR))
        #expect(first.acquire(.exclusive, at: 20, count: 3))
        #expect(second.positionOfOther(at: 23) == nil)
        first.release(at: 20)
        #expect(second.positionOfOther(at: 20) == nil)
        #expect(second.positionOfOther(at: 21) == 21)
        first.release(at: 21, count: 2)
        #expect(second.positionOfOther(at: 0, count: 0) == nil)
    }

    @Test func sharedLocksExcludeExclusiveOnesOnly() throws {
        let writer = try #require(ByteLocks(path, flags: O_RDWR | O_CREAT))
        let first = try #require(ByteLocks(path, flags: O_RDONLY))
        let second = try #require(ByteLocks(path, flags: O_RDONLY))
        #expect(first.acquire(.shared, at: 3))
        #expect(second.acquire(.shared, at: 3))
        #expect(second.positionOfOther(at: 3) == 3)
        #expect(!writer.acquire(.exclusive, at: 3))
        first.release(at: 3)
        #expect(!writer.acquire(.exclusive, at: 3))
        second.release(at: 3)
        #expect(writer.acquire(.exclusive, at: 3))
        #expect(!first.acquire(.shared, at: 3))
    }

    /// On a system without locks, no object excludes another.
    @Test func lockThatTheSystemDoesNotSupportExcludesNothing() throws {
        let writer = try #require(ByteLocks(path, flags: O_RDWR | O_CREAT))
        let reader = try #require(ByteLocks(path, flags: O_RDONLY))
        // An exclusive lock requires write access.
        #expect(reader.acquire(.exclusive, at: 5))
        #expect(writer.acquire(.exclusive, at: 5))
    }

    @Test func locksEndWithTheirObject() throws {
        var first = ByteLocks(path, flags: O_RDWR | O_CREAT)
        let second = try #require(ByteLocks(path, flags: O_RDWR))
        #expect(first?.acquire(.exclusive, at: 7) == true)
        #expect(!second.acquire(.exclusive, at: 7))
        withExtendedLifetime(first) {}
        first = nil
        #expect(second.acquire(.exclusive, at: 7))
    }

    @Test func fileOfLocksIsNeitherCreatedForReadingNorALink() throws {
        #expect(ByteLocks(path, flags: O_RDONLY) == nil)
        #expect(!FileManager.default.fileExists(atPath: path))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + "-target")
        #expect(ByteLocks(path, flags: O_RDWR | O_CREAT) == nil)
        #expect(!FileManager.default.fileExists(atPath: path + "-target"))
    }

    // MARK: Received files

    @Test func receivedFileIsClaimedByOneProcess() throws {
        let folder = temporary.directory
        #expect(ReceptionClaims(folder, isWritable: false) == nil)
        let own = try #require(ReceptionClaims(folder, isWritable: true))
        let other = try #require(ReceptionClaims(folder, isWritable: true))
        let reader = try #require(ReceptionClaims(folder, isWritable: false))
        #expect(try mode(folder.path + "/.receptions") == 0o600)
        let (first, second) = (ClaimedFile("media/0.ts"), ClaimedFile("media/1.ts"))
        #expect(own.claim(first))
        #expect(!other.claim(first))
        #expect(other.claim(second))
        #expect(other.isClaimedElsewhere(first) && reader.isClaimedElsewhere(first))
        #expect(!own.isClaimedElsewhere(first) && own.isClaimedElsewhere(second))
        // The mark of the received bytes is not the claim.
        #expect(!other.isReceivedElsewhere(first))
        own.setReceiving(true, first)
        #expect(other.isReceivedElsewhere(first) && reader.isReceivedElsewhere(first))
        #expect(!own.isReceivedElsewhere(first) && !own.isReceivedElsewhere(second))
        own.setReceiving(false, first)
        #expect(!other.isReceivedElsewhere(first) && other.isClaimedElsewhere(first))
        own.setReceiving(true, first)
        own.release(first)
        #expect(!other.isReceivedElsewhere(first) && !other.isClaimedElsewhere(first))
        #expect(other.claim(first))
    }

    /// Processes of different versions agree on the positions.
    @Test func positionsOfFilesAreEvenAndDiffer() {
        let paths = (0..<100).map { "media/\($0).ts" }
        let positions = paths.map { ClaimedFile($0).position }
        #expect(positions.allSatisfy { $0 >= 0 && $0 % 2 == 0 })
        #expect(Set(positions).count == 100)
        #expect(positions == paths.map { Int64(clamping: StableHash($0).value >> 3) * 2 })
    }

    // MARK: Packages

    @Test func packageIsInUseUntilItsLastPlayerEnds() throws {
        let folder = temporary.directory
        #expect(!PackageUse.isMarked(folder))
        var first = PackageUse(folder)
        var second = PackageUse(folder)
        #expect(first != nil && second != nil)
        #expect(PackageUse.isMarked(folder) && PackageUse.exclusive(folder) == nil)
        withExtendedLifetime(first) {}
        first = nil
        #expect(PackageUse.isMarked(folder))
        withExtendedLifetime(second) {}
        second = nil
        #expect(!PackageUse.isMarked(folder))
        let exclusive = PackageUse.exclusive(folder)
        #expect(exclusive != nil && PackageUse(folder) == nil)
        withExtendedLifetime(exclusive) {}
        #expect(PackageUse(folder.appendingPathComponent("none")) == nil)
        let link = folder.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder)
        #expect(PackageUse(link) == nil)
    }

    @Test func markThatWasPreventedIsRepeated() {
        let folder = temporary.directory
        var exclusive = PackageUse.exclusive(folder)
        let use = RepeatedPackageUse(folder)
        use.repeatIfNeeded()
        withExtendedLifetime(exclusive) {}
        exclusive = nil
        #expect(!PackageUse.isMarked(folder))
        use.repeatIfNeeded()
        #expect(PackageUse.isMarked(folder))
        withExtendedLifetime(use) {}
    }

    /// The mark is that of the directory, whatever its path is later.
    @Test func markStaysWhenThePackageIsMoved() throws {
        let folder = temporary.directory.appendingPathComponent("package")
        let moved = temporary.directory.appendingPathComponent("moved")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let use = RepeatedPackageUse(folder)
        try FileManager.default.moveItem(at: folder, to: moved)
        use.repeatIfNeeded()
        #expect(PackageUse.isMarked(moved))
        withExtendedLifetime(use) {}
    }

    @Test(arguments: [false, true]) func deferredMarkIsSetByTheFirstRequest(isDeferred: Bool) {
        let use = RepeatedPackageUse(temporary.directory, isDeferred: isDeferred)
        #expect(PackageUse.isMarked(temporary.directory) != isDeferred)
        use.repeatIfNeeded()
        #expect(PackageUse.isMarked(temporary.directory))
        withExtendedLifetime(use) {}
    }

    @Test func lockIsFoundWithoutItsFileBeingCreated() throws {
        let folder = temporary.directory
        #expect(!PackageLock.isHeld(folder))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/.lock"))
        var lock: PackageLock? = try PackageLock(folder)
        #expect(PackageLock.isHeld(folder))
        withExtendedLifetime(lock) {}
        lock = nil
        #expect(!PackageLock.isHeld(folder))
        // Looking for it holds nothing.
        #expect(throws: Never.self) { try PackageLock(folder) }
    }

    /// A process that plans a download holds the lock for a moment.
    @Test func lockIsRequestedTenTimes() throws {
        let id = try temporary.enter()
        let holder = Mutex<PackageLock?>(try library.lock(id))
        let waits = Mutex(0)
        temporary.files.whileWaiting { number in waits.withLock { $0 = number } }
        #expect(storageError { _ = try library.lock(id) }?.code == "asset-busy")
        #expect(waits.withLock { $0 } == 9)
        temporary.files.whileWaiting { number in
            waits.withLock { $0 = number }
            if number == 9 { holder.withLock { $0 = nil } }
        }
        #expect(throws: Never.self) { try library.lock(id) }
        #expect(waits.withLock { $0 } == 9)
    }

    @Test func onlyAnAssetIsLocked() throws {
        let id = try temporary.enter()
        for name in ["../packages/\(id)", "none", ""] {
            #expect(storageError { _ = try library.lock(name) }?.code == "not-found")
        }
    }

    @Test func downloadsOfAProcessShareTheLock() throws {
        let id = try temporary.enter()
        let other = try AssetLibrary(directory: temporary.directory, files: RecordedFiles(temporary.directory))
        var lock: PackageLock? = try library.sharedLock(id)
        let again = try library.sharedLock(id)
        #expect(lock === again)
        lock = nil
        #expect(storageError { _ = try other.sharedLock(id) }?.code == "asset-busy")
        withExtendedLifetime(again) {}
        #expect(storageError { _ = try library.sharedLock("none") }?.code == "not-found")
    }

    @Test func sharedLockIsReleasedWithItsLastUser() throws {
        let id = try temporary.enter()
        let other = try AssetLibrary(directory: temporary.directory, files: RecordedFiles(temporary.directory))
        for _ in 0..<2 {
            for user in [library, other] {
                let lock = try user.sharedLock(id)
                #expect(PackageLock.isHeld(library.packageDirectory(id)))
                withExtendedLifetime(lock) {}
            }
        }
        #expect(!PackageLock.isHeld(library.packageDirectory(id)))
    }
}
