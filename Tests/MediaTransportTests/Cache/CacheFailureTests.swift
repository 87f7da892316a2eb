import Foundation
import MediaTiming
import NIOCore
import ResourceAddressing
import Testing

@testable import MediaTransport

/// Tests the lock of the directory, and what remains of entries that could not be stored or are outdated.
@Suite(.timeLimit(.minutes(10))) struct CacheFailureTests {
    private let bench = CacheBench()
    private static let lasting = "Cache-Control: max-age=100000"

    // MARK: The lock of the directory

    /// Returns the lock of the directory, and a Boolean value that indicates whether there was no other one.
    private func lock() -> (lock: EntryFolderLock?, isExclusive: Bool) {
        var isExclusive = false
        let lock = EntryFolderLock(bench.directory.path) { isExclusive = true }
        return (lock, isExclusive)
    }

    @Test func onlyTheFirstLockIsExclusive() throws {
        try FileManager.default.createDirectory(at: bench.directory, withIntermediateDirectories: true)
        var first = lock()
        #expect(first.lock != nil && first.isExclusive)
        let second = lock()
        #expect(second.lock != nil && !second.isExclusive)
        first = (nil, false)
        #expect(first.lock == nil)
        // The second one is still there.
        let third = lock()
        #expect(third.lock != nil && !third.isExclusive)
        withExtendedLifetime((second, third)) {}
    }

    @Test func lockIsReleasedWithItsLastReference() async throws {
        try FileManager.default.createDirectory(at: bench.directory, withIntermediateDirectories: true)
        for _ in 0..<2 {
            do {
                let found = lock()
                #expect(found.lock != nil && found.isExclusive)
            }
            // A program that another test starts can have a copy of the descriptor for a moment.
            await bench.waitUntilClosed()
        }
    }

    @Test func lockOfOthersIsSharedWhileTheDirectoryIsInUse() throws {
        try FileManager.default.createDirectory(at: bench.directory, withIntermediateDirectories: true)
        let found = lock()
        let descriptor = open(bench.file(EntryFolderLock.fileName).path, O_RDWR | O_CLOEXEC)
        #expect(descriptor >= 0)
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) != 0)
        #expect(flock(descriptor, LOCK_SH | LOCK_NB) == 0)
        close(descriptor)
        withExtendedLifetime(found) {}
    }

    @Test func linkInPlaceOfTheLockIsNotFollowed() async throws {
        try FileManager.default.createDirectory(at: bench.directory, withIntermediateDirectories: true)
        let outside = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: outside) }
        let link = bench.file(EntryFolderLock.fileName)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: outside)
        let cache = try bench.open()
        #expect(!FileManager.default.fileExists(atPath: outside.path))
        // The cache works without the lock.
        bench.server.respond(with: .text("media", Self.lasting))
        for _ in 0..<2 { #expect(try await cache.text(.ofSegment()) == "media") }
        #expect(bench.server.requestCount == 1)
    }

    @Test func directoryWithOtherFilesKeepsItsMode() throws {
        for (name, mode) in [("notes.txt", 0o755), (EntryFolderLock.fileName, 0o700)] {
            try? FileManager.default.removeItem(at: bench.directory)
            try FileManager.default.createDirectory(at: bench.directory, withIntermediateDirectories: true)
            try Data().write(to: bench.file(name))
            #expect(chmod(bench.directory.path, 0o755) == 0)
            _ = try bench.open()
            let attributes = try FileManager.default.attributesOfItem(atPath: bench.directory.path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode, "\(name)")
        }
    }

    // MARK: Entries that cannot be opened

    @Test func entryStaysWhileTheDirectoryIsUnavailable() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("media", Self.lasting))
        try await cache.text(.ofSegment())
        // As with a volume that is not mounted for a moment.
        let elsewhere = FileManager.default.temporaryDirectory.appendingPathComponent("cache-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: elsewhere) }
        try FileManager.default.moveItem(at: bench.directory, to: elsewhere)
        try Data().write(to: bench.directory)
        let error = await #expect(throws: TransportError.self) {
            try await cache.send(.ofSegment("a", "Cache-Control: only-if-cached"))
        }
        #expect(error?.status == 504 && cache.entryCount == 1)
        try FileManager.default.removeItem(at: bench.directory)
        try FileManager.default.moveItem(at: elsewhere, to: bench.directory)
        #expect(try await cache.text(.ofSegment()) == "media")
        #expect(bench.server.requestCount == 1)
    }

    // MARK: Outdated entries

    @Test func outdatedEntryIsRemovedAlthoughTheNewBodyIsNotRead() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("one", "ETag: \"1\""), .text("two", "ETag: \"2\""))
        try await cache.text(.ofSegment())
        #expect(cache.entryCount == 1)
        _ = try await cache.send(.ofSegment())
        #expect(cache.entryCount == 0)
        try await bench.settle()
        #expect(bench.fileNames.isEmpty)
        _ = try await cache.send(.ofSegment())
        #expect(bench.server.requests.map { $0.headers.count } == [0, 1, 0])
    }

    @Test func entryThatIsNotConfirmedIsRemoved() async throws {
        let cache = try bench.open()
        bench.server.respond(
            with: .text("one", "ETag: \"1\""),
            .notModified("ETag: \"2\""),
            .text("two", "ETag: \"2\"")
        )
        try await cache.text(.ofSegment())
        _ = try await cache.send(.ofSegment())
        #expect(cache.entryCount == 0)
        #expect(bench.server.requests.map { $0.headers.count } == [0, 1, 0])
    }

    @Test(arguments: [(404, 0), (410, 0), (403, 2), (500, 2)])
    func entriesOfAMissingResourceAreRemoved(status: Int, count: Int) async throws {
        let cache = try bench.open()
        var part = OriginResponse.text("edi", "ETag: \"1\"", "Content-Range: bytes 1-3/5")
        part.status = 206
        bench.server.respond(with: part, .text("media", "ETag: \"1\""), .failing(.status, status: status))
        try await cache.text(.ofRange(1, 3))
        try await cache.text(.ofSegment())
        #expect(cache.entryCount == 2)
        let error = await #expect(throws: TransportError.self) { try await cache.send(.ofRange(1, 3)) }
        #expect(error?.status == status && cache.entryCount == count)
    }

    // MARK: Bodies that cannot be stored

    /// The reader still has the iterator of the body.
    @Test func fileOfABodyThatCannotBeStoredIsRemovedAtItsEnd() async throws {
        let cache = try bench.open()
        bench.limitDiskSpace(to: 10)
        bench.server.respond(with: .bytes(cacheNoise(100), [Self.lasting]))
        var iterator = try await cache.send(.ofSegment()).body.makeAsyncIterator()
        while try await iterator.next() != nil {}
        try await bench.settle()
        #expect(bench.fileNames.isEmpty && cache.byteCount == .zero)
        let rest = try await iterator.next()
        #expect(rest == nil && cache.entryCount == 0)
    }

    @Test func bodyWithoutABlockThatCouldNotBeWrittenIsNotStored() async throws {
        let cache = try bench.open()
        var scripted = OriginResponse.bytes([], [Self.lasting])
        scripted.chunks = [cacheNoise(70_000), cacheNoise(70_000)]
        scripted.announced = .some(nil)
        bench.server.respond(with: scripted)
        bench.limitDiskSpace(to: 1_000)
        var iterator = try await cache.send(.ofSegment()).body.makeAsyncIterator()
        _ = try await iterator.next()
        bench.limitDiskSpace(to: .max)
        while try await iterator.next() != nil {}
        try await bench.settle()
        #expect(cache.entryCount == 0 && cache.byteCount == .zero && bench.fileNames.isEmpty)
    }
}
