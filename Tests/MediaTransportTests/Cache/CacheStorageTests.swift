import Foundation
import MediaTiming
import NIOCore
import ResourceAddressing
import Testing

@testable import MediaTransport

@Suite("The folder of the cache")
struct CacheStorageTests {
    private let bench = CacheBench()
    private static let lasting = "Cache-Control: max-age=100000"

    private func fill(_ cache: CachedTransport, _ path: String, _ length: Int = 100) async throws {
        bench.server.respond(with: .bytes(cacheNoise(length), [Self.lasting]))
        _ = try await cache.send(.ofSegment(path)).wholeBody()
    }

    /// Returns those of the given paths that are in the cache.
    ///
    /// The lookup counts as a use.
    private func cachedPaths(_ cache: CachedTransport, _ paths: String...) async throws -> [String] {
        var cachedPaths: [String] = []
        for path in paths {
            let response = try? await cache.send(.ofSegment(path, "Cache-Control: only-if-cached"))
            if response != nil { cachedPaths.append(path) }
        }
        return cachedPaths
    }

    // MARK: Incomplete bodies

    @Test func unreadBodyIsNotStored() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .bytes(cacheNoise(200_000), [Self.lasting]))
        _ = try await cache.send(.ofSegment())
        try await bench.settle()
        #expect(cache.entryCount == 0)
        #expect(bench.fileNames.isEmpty)
    }

    @Test func partiallyReadBodyIsNotStored() async throws {
        let capacity = ByteCount(1 << 20)
        let cache = try bench.open(DiskCache.Options(capacity: capacity, maximumEntrySize: capacity))
        var scripted = OriginResponse.bytes([], [Self.lasting])
        scripted.chunks = [cacheNoise(150_000), cacheNoise(150_000)]
        bench.server.respond(with: scripted)
        for _ in 0..<5 {
            var isPartial = false
            for try await _ in try await cache.send(.ofSegment()).body {
                isPartial = bench.fileNames.allSatisfy { $0.hasSuffix(".part") } && bench.fileNames.count == 1
                break
            }
            #expect(isPartial)
            try await bench.settle()
            #expect(bench.fileNames.isEmpty)
        }
        // The reserved space is free again; otherwise the last body would not fit.
        try await fill(cache, "b", 900_000)
        #expect(cache.entryCount == 1)
    }

    @Test func failedBodyIsNotStored() async throws {
        let cache = try bench.open()
        var scripted = OriginResponse.bytes(cacheNoise(100_000), [Self.lasting])
        scripted.failure = TransportError(.connectionLost, "as the script says")
        bench.server.respond(with: scripted)
        let error = await #expect(throws: TransportError.self) { try await cache.send(.ofSegment()).wholeBody() }
        #expect(error?.code == .connectionLost)
        try await bench.settle()
        #expect(cache.entryCount == 0)
        #expect(bench.fileNames.isEmpty)
    }

    @Test(arguments: [99_999, 100_001, 1])
    func bodyWhoseLengthDiffersFromContentLengthIsNotStored(_ announced: Int64) async throws {
        let cache = try bench.open()
        var scripted = OriginResponse.bytes(cacheNoise(100_000), [Self.lasting])
        scripted.announced = .some(announced)
        bench.server.respond(with: scripted)
        #expect(try await cache.send(.ofSegment()).wholeBody().count == 100_000)
        try await bench.settle()
        #expect(cache.entryCount == 0)
        #expect(bench.fileNames.isEmpty)
    }

    @Test func bodyIsNotStoredIfReadingIsCancelled() async throws {
        let cache = try bench.open()
        var scripted = OriginResponse.bytes([], [Self.lasting])
        scripted.chunks = [cacheNoise(100_000), cacheNoise(100_000)]
        bench.server.respond(with: scripted)
        let response = try await cache.send(.ofSegment())
        let reading = Task {
            for try await _ in response.body { withUnsafeCurrentTask { $0?.cancel() } }
        }
        await #expect(throws: CancellationError.self) { try await reading.value }
        try await bench.settle()
        #expect(cache.entryCount == 0)
        #expect(bench.fileNames.isEmpty)
    }

    @Test func readingACacheHitCanBeCancelled() async throws {
        let cache = try bench.open()
        try await fill(cache, "a", 300_000)
        let response = try await cache.send(.ofSegment())
        let reading = Task {
            for try await _ in response.body { withUnsafeCurrentTask { $0?.cancel() } }
        }
        await #expect(throws: CancellationError.self) { try await reading.value }
        #expect(cache.entryCount == 1)
    }

    @Test func lastCompletedBodyOfConcurrentRequestsIsStored() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("one", Self.lasting), .text("two", Self.lasting))
        let first = try await cache.send(.ofSegment())
        let second = try await cache.send(.ofSegment())
        #expect(try await second.wholeBody() == Array("two".utf8))
        #expect(try await first.wholeBody() == Array("one".utf8))
        #expect(try await cache.text(.ofSegment()) == "one")
        #expect(bench.server.requestCount == 2)
        #expect(bench.fileNames.count == 1)
    }

    @Test func concurrentReadersAndWritersReceiveTheRightBytes() async throws {
        let options = DiskCache.Options(capacity: ByteCount(60_000), maximumEntrySize: ByteCount(30_000))
        let cache = try bench.open(options)
        bench.server.respond(with: .bytes(cacheNoise(20_000), [Self.lasting]))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<60 {
                group.addTask { try await cache.send(.ofSegment("\(number % 7)")).wholeBody() == cacheNoise(20_000) }
            }
            for try await isRight in group { #expect(isRight) }
        }
        try await bench.settle()
        #expect(cache.byteCount <= ByteCount(60_000))
        #expect(bench.fileNames.count == cache.entryCount)
    }

    // MARK: Crashes and damaged files

    @Test func openingRemovesLeftoversOfACrashButNoOtherFiles() async throws {
        try await fill(bench.open(), "a")
        let name = try bench.onlyFile().lastPathComponent
        let stem = name.dropLast(".entry".count)
        let otherStem = stem.dropLast() + (stem.hasSuffix("0") ? "1" : "0")
        let leftovers = ["\(otherStem).part", "\(otherStem).entry"]
        let foreign = ["notes.txt", "millstream-1.entry", "\(stem).entry.bak", "x\(name)"]
        for other in leftovers + foreign { try Data("x".utf8).write(to: bench.file(other)) }
        await bench.waitUntilClosed()
        let cache = try bench.open()
        #expect(bench.fileNames == ([name] + foreign).sorted())
        #expect(cache.entryCount == 1)
    }

    @Test func openingASharedDirectoryKeepsTheFilesThatOthersWrite() async throws {
        let cache = try bench.open()
        try await fill(cache, "a")
        let name = try bench.onlyFile().lastPathComponent
        let stem = String(name.dropLast(".entry".count))
        let written = stem.dropLast() + (stem.hasSuffix("0") ? "1" : "0")
        for suffix in [".part", ".entry"] { try Data("x".utf8).write(to: bench.file(written + suffix)) }
        let other = try bench.open()
        #expect(other.entryCount == 1)
        #expect(bench.fileNames == [name, "\(written).entry", "\(written).part"].sorted())
        #expect(try await cachedPaths(other, "a") == ["a"])
        // An entry that another process removed is loaded again.
        try FileManager.default.removeItem(at: bench.file(name))
        bench.server.respond(with: .text("new"))
        #expect(try await other.text(.ofSegment("a")) == "new")
    }

    @Test func transportsShareTheEntriesOfOneCache() async throws {
        let cache = try bench.openCache()
        try await fill(CachedTransport(bench.server, cache: cache, time: bench.clock), "a")
        let other = CachedTransport(bench.server, cache: cache, time: bench.clock)
        #expect(try await cachedPaths(other, "a") == ["a"])
        #expect(cache.entryCount == 1)
        #expect(cache.byteCount == ByteCount(4096))
        await cache.removeAll()
        #expect(cache.entryCount == 0)
        #expect(try await cachedPaths(other, "a") == [])
    }

    @Test func truncatedOrExtendedFileIsNotAnEntry() async throws {
        try await fill(bench.open(), "a")
        await bench.waitUntilClosed()
        let file = try bench.onlyFile()
        let bytes = try Data(contentsOf: file)
        for length in 0..<bytes.count {
            try bytes.prefix(length).write(to: file)
            #expect(try bench.open().entryCount == 0)
            #expect(bench.fileNames.isEmpty)
        }
        try bytes.write(to: file)
        #expect(try bench.open().entryCount == 1)
        try (bytes + Data([0])).write(to: file)
        #expect(try bench.open().entryCount == 0)
    }

    @Test func entryWithACorruptByteIsNeverServed() async throws {
        // While another cache is open, damaged files stay.
        try await fill(bench.open(), "a")
        await bench.waitUntilClosed()
        let file = try bench.onlyFile()
        let bytes = try Data(contentsOf: file)
        for position in bytes.indices {
            for mask in [0x01, 0x80, 0xFF] as [UInt8] {
                var damaged = bytes
                damaged[position] ^= mask
                await bench.waitUntilClosed()
                try damaged.write(to: file)
                let reopened = try bench.open()
                #expect(try await cachedPaths(reopened, "a") == [], "byte \(position)")
                #expect(bench.fileNames.isEmpty)
            }
        }
        await bench.waitUntilClosed()
        try bytes.write(to: file)
        #expect(try await cachedPaths(bench.open(), "a") == ["a"])
    }

    @Test func entryDamagedInItsFirstBlockIsFetchedAgain() async throws {
        let cache = try bench.open()
        try await fill(cache, "a", 1000)
        let file = try bench.onlyFile()
        var bytes = try Data(contentsOf: file)
        bytes[500] ^= 4
        try bytes.write(to: file)
        #expect(try await cache.send(.ofSegment()).wholeBody() == cacheNoise(1000))
        #expect(bench.server.requestCount == 2)
        #expect(try await cache.send(.ofSegment()).wholeBody() == cacheNoise(1000))
        #expect(bench.server.requestCount == 2)
    }

    @Test func damageAfterTheFirstBlockFailsTheBodyAndRemovesTheEntry() async throws {
        let cache = try bench.open()
        try await fill(cache, "a", 200_000)
        let file = try bench.onlyFile()
        var bytes = try Data(contentsOf: file)
        bytes[150_000] ^= 4
        try bytes.write(to: file)
        var received: [UInt8] = []
        let response = try await cache.send(.ofSegment())
        let error = await #expect(throws: TransportError.self) {
            for try await buffer in response.body { received += buffer.readableBytesView }
        }
        #expect(error?.code == .connectionLost)
        #expect(received == Array(cacheNoise(200_000)[..<131_072]))
        #expect(cache.entryCount == 0)
        #expect(bench.fileNames.isEmpty)
        #expect(try await cache.send(.ofSegment()).wholeBody() == cacheNoise(200_000))
    }

    @Test func rangeIsServedFromAnEntryThatIsDamagedOutsideTheRange() async throws {
        let cache = try bench.open()
        try await fill(cache, "a", 200_000)
        let file = try bench.onlyFile()
        var bytes = try Data(contentsOf: file)
        bytes[150_000] ^= 4
        try bytes.write(to: file)
        #expect(try await cache.send(.ofRange(10, 100_000)).wholeBody() == Array(cacheNoise(200_000)[10..<100_010]))
        #expect(bench.server.requestCount == 1)
    }

    @Test func entryWithADifferentKeyUnderTheSameFileNameIsAMiss() async throws {
        let cache = try bench.open()
        try await fill(cache, "a")
        let name = EntryKey(address: ResourceAddress("http://media.test/b"), byteRange: nil).name
        let file = try bench.onlyFile()
        try FileManager.default.moveItem(at: file, to: bench.file(EntryFile(name: name).fileName))
        let reopened = try bench.open()
        #expect(reopened.entryCount == 1)
        bench.server.respond(with: .text("other", Self.lasting))
        #expect(try await reopened.text(.ofSegment("b")) == "other")
        #expect(bench.server.requestCount == 2)
    }

    @Test func symbolicLinkIsNotFollowed() async throws {
        try await fill(bench.open(), "a")
        let file = try bench.onlyFile()
        let outside = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.moveItem(at: file, to: outside)
        defer { try? FileManager.default.removeItem(at: outside) }
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: outside)
        #expect(try bench.open().entryCount == 0)
        #expect(FileManager.default.fileExists(atPath: outside.path))
    }

    @Test func entryWhoseFileIsMissingIsFetchedAgain() async throws {
        let cache = try bench.open()
        try await fill(cache, "a")
        try FileManager.default.removeItem(at: bench.onlyFile())
        _ = try await cache.send(.ofSegment()).wholeBody()
        #expect(bench.server.requestCount == 2)
        #expect(cache.entryCount == 1)
        #expect(cache.byteCount == ByteCount(4096))
    }

    // MARK: Disk failures

    @Test(arguments: [0, 1, 70_000, 100_010])
    func fullDiskPreventsStoringButDoesNotFailRequests(_ room: Int64) async throws {
        let cache = try bench.open()
        bench.limitDiskSpace(to: room)
        bench.server.respond(with: .bytes(cacheNoise(100_000), [Self.lasting]))
        #expect(try await cache.send(.ofSegment()).wholeBody() == cacheNoise(100_000))
        try await bench.settle()
        #expect(cache.entryCount == 0)
        #expect(cache.byteCount == .zero)
        #expect(bench.fileNames.isEmpty)
        bench.limitDiskSpace(to: .max)
        #expect(try await cache.send(.ofSegment()).wholeBody() == cacheNoise(100_000))
        #expect(cache.entryCount == 1)
    }

    @Test func fullDiskDuringValidationRemovesOnlyTheEntry() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .bytes(cacheNoise(100_000), ["ETag: \"1\""]), .notModified("X-More: 1"))
        _ = try await cache.send(.ofSegment()).wholeBody()
        bench.limitDiskSpace(to: 10)
        #expect(try await cache.send(.ofSegment()).wholeBody() == cacheNoise(100_000))
        #expect(cache.entryCount == 0)
        #expect(cache.byteCount == .zero)
    }

    @Test func missingDirectoryPreventsStoringButDoesNotFailRequests() async throws {
        let cache = try bench.open()
        try await fill(cache, "a")
        try FileManager.default.removeItem(at: bench.directory)
        #expect(try await cache.send(.ofSegment()).wholeBody() == cacheNoise(100))
        #expect(try await cache.send(.ofSegment()).wholeBody() == cacheNoise(100))
        #expect(bench.server.requestCount == 3)
        #expect(cache.entryCount == 0)
    }

    @Test func directoryThatCannotBeCreatedIsAnError() throws {
        try Data().write(to: bench.directory)
        let error = #expect(throws: TransportError.self) { try bench.open() }
        #expect(error?.code == .fileFailed)
    }

    @Test func onlyTheOwnerHasAccessToTheFiles() async throws {
        try await fill(bench.open(), "a")
        for (path, mode) in [(bench.directory.path, 0o700), (try bench.onlyFile().path, 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode)
        }
    }

    @Test(arguments: ["../../evil", "%2e%2e/x", "a\u{0}b", "a\nb", String(repeating: "x", count: 50_000)])
    func noURLEscapesTheCacheDirectory(_ path: String) async throws {
        let cache = try bench.open()
        try await fill(cache, path)
        #expect(try await cachedPaths(cache, path) == [path])
        #expect(try EntryFile(fileName: bench.onlyFile().lastPathComponent) != nil)
    }

    @Test func responseWithOversizedHeaderIsNotStored() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("media", Self.lasting, "X: " + String(repeating: "x", count: 300_000)))
        #expect(try await cache.text(.ofSegment()) == "media")
        #expect(cache.entryCount == 0)
        try await bench.settle()
        #expect(bench.fileNames.isEmpty)
    }

    // MARK: Capacity

    private static let threeBlocks = DiskCache.Options(
        capacity: ByteCount(3 * 4096),
        maximumEntrySize: ByteCount(3 * 4096)
    )

    @Test func leastRecentlyUsedEntryIsEvictedFirst() async throws {
        let cache = try bench.open(Self.threeBlocks)
        for path in ["a", "b", "c"] { try await fill(cache, path) }
        #expect(try await cachedPaths(cache, "a") == ["a"])
        try await fill(cache, "d")
        #expect(try await cachedPaths(cache, "a", "b", "c", "d") == ["a", "c", "d"])
        #expect(cache.byteCount == ByteCount(3 * 4096))
        #expect(bench.fileNames.count == 3)
    }

    @Test func orderOfUseIsPersistent() async throws {
        let cache = try bench.open(Self.threeBlocks)
        for path in ["a", "b", "c"] { try await fill(cache, path) }
        #expect(try await cachedPaths(cache, "b", "a") == ["b", "a"])
        let reopened = try bench.open(Self.threeBlocks)
        try await fill(reopened, "d")
        try await fill(reopened, "e")
        #expect(try await cachedPaths(reopened, "a", "b", "c", "d", "e") == ["a", "d", "e"])
    }

    @Test func largeEntryEvictsAsManyEntriesAsItNeeds() async throws {
        let cache = try bench.open(Self.threeBlocks)
        for path in ["a", "b", "c"] { try await fill(cache, path) }
        try await fill(cache, "d", 5000)
        #expect(try await cachedPaths(cache, "a", "b", "c", "d") == ["c", "d"])
    }

    @Test func openingWithASmallerCapacityEvictsEntries() async throws {
        do {
            let cache = try bench.open(Self.threeBlocks)
            for path in ["a", "b", "c"] { try await fill(cache, path) }
        }
        await bench.waitUntilClosed()
        let reopened = try bench.open(DiskCache.Options(capacity: ByteCount(5000)))
        #expect(reopened.entryCount == 1)
        #expect(bench.fileNames.count == 1)
        #expect(try await cachedPaths(reopened, "c") == ["c"])
    }

    @Test(arguments: [true, false])
    func bodyAboveTheEntrySizeLimitEvictsNothing(_ isAnnounced: Bool) async throws {
        let options = DiskCache.Options(capacity: ByteCount(1 << 20), maximumEntrySize: ByteCount(1000))
        let cache = try bench.open(options)
        try await fill(cache, "a", 1000)
        var scripted = OriginResponse.bytes(cacheNoise(1001), [Self.lasting])
        if !isAnnounced { scripted.announced = .some(nil) }
        bench.server.respond(with: scripted)
        #expect(try await cache.send(.ofSegment("b")).wholeBody().count == 1001)
        try await bench.settle()
        #expect(try await cachedPaths(cache, "a", "b") == ["a"])
    }

    @Test func entrySizeLimitDefaultsToAnEighthOfTheCapacity() {
        let options = DiskCache.Options()
        #expect(options.capacity == ByteCount(512 << 20))
        #expect(options.maximumEntrySize == ByteCount(64 << 20))
        #expect(options.kinds == [.playlist, .segment, .initialization, .subtitle, .other])
    }

    @Test func bodiesBeingWrittenCountTowardsTheCapacity() async throws {
        let capacity: Int64 = 400_000
        let options = DiskCache.Options(capacity: ByteCount(capacity), maximumEntrySize: ByteCount(capacity))
        let cache = try bench.open(options)
        var scripted = OriginResponse.bytes([], [Self.lasting])
        scripted.chunks = (0..<5).map { _ in cacheNoise(65_536) }
        bench.server.respond(with: scripted)
        var iterators: [TransportBody.AsyncIterator] = []
        for number in 0..<4 { iterators.append(try await cache.send(.ofSegment("\(number)")).body.makeAsyncIterator()) }
        for _ in 0..<6 {
            for index in iterators.indices { _ = try await iterators[index].next() }
            try await bench.settle()
            let sizes = bench.fileNames.compactMap { name in
                (try? FileManager.default.attributesOfItem(atPath: bench.file(name).path))?[.size] as? NSNumber
            }
            #expect(sizes.reduce(0) { $0 + $1.int64Value } <= capacity)
        }
        try await bench.settle()
        #expect(cache.byteCount <= ByteCount(capacity))
        #expect(bench.fileNames.count == cache.entryCount)
    }

    @Test func cacheWithZeroCapacityStoresNothing() async throws {
        let cache = try bench.open(DiskCache.Options(capacity: .zero))
        try await fill(cache, "a")
        bench.server.respond(with: .text("", Self.lasting))
        try await cache.text(.ofSegment("b"))
        try await bench.settle()
        #expect(cache.entryCount == 0)
        #expect(bench.fileNames.isEmpty)
    }

    @Test func evictedEntryCanStillBeReadToItsEnd() async throws {
        let options = DiskCache.Options(capacity: ByteCount(220_000), maximumEntrySize: ByteCount(220_000))
        let cache = try bench.open(options)
        try await fill(cache, "a", 200_000)
        let response = try await cache.send(.ofSegment("a"))
        try await fill(cache, "b", 200_000)
        #expect(bench.fileNames.count == 1)
        #expect(try await response.wholeBody() == cacheNoise(200_000))
    }

    // MARK: Removing everything

    @Test func removeAllKeepsFilesOfOthers() async throws {
        let cache = try bench.open()
        for path in ["a", "b"] { try await fill(cache, path) }
        try Data().write(to: bench.file("notes.txt"))
        await cache.removeAll()
        #expect(cache.entryCount == 0)
        #expect(cache.byteCount == .zero)
        #expect(bench.fileNames == ["notes.txt"])
        try await fill(cache, "a")
        #expect(cache.entryCount == 1)
    }

    @Test func bodyBeingReadDuringRemoveAllIsNotStored() async throws {
        let cache = try bench.open()
        var scripted = OriginResponse.bytes([], [Self.lasting])
        scripted.chunks = [cacheNoise(70_000), cacheNoise(70_000)]
        bench.server.respond(with: scripted)
        var iterator = try await cache.send(.ofSegment()).body.makeAsyncIterator()
        _ = try await iterator.next()
        await cache.removeAll()
        while try await iterator.next() != nil {}
        try await bench.settle()
        #expect(cache.entryCount == 0)
        #expect(bench.fileNames.isEmpty)
    }
}
