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
        bench.server.answer(.bytes(cacheNoise(length), [Self.lasting]))
        _ = try await cache.send(.ofSegment(path)).wholeBody()
    }

    /// Which of some paths are in the cache; asking for them counts as using them.
    private func held(_ cache: CachedTransport, _ paths: String...) async throws -> [String] {
        var held: [String] = []
        for path in paths {
            let response = try? await cache.send(.ofSegment(path, "Cache-Control: only-if-cached"))
            if response != nil { held.append(path) }
        }
        return held
    }

    // MARK: Bodies that do not end well

    @Test func bodyThatNobodyReadsLeavesNothing() async throws {
        let cache = try bench.open()
        bench.server.answer(.bytes(cacheNoise(200_000), [Self.lasting]))
        _ = try await cache.send(.ofSegment())
        try await bench.settle()
        #expect(cache.entryCount == 0)
        #expect(bench.fileNames.isEmpty)
    }

    @Test func bodyThatIsReadInPartLeavesNothing() async throws {
        let capacity = ByteCount(1 << 20)
        let cache = try bench.open(CachedTransport.Options(capacity: capacity, largestEntry: capacity))
        var answer = OriginAnswer.bytes([], [Self.lasting])
        answer.chunks = [cacheNoise(150_000), cacheNoise(150_000)]
        bench.server.answer(answer)
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
        // The room is there again: else the last of these would not fit.
        try await fill(cache, "b", 900_000)
        #expect(cache.entryCount == 1)
    }

    @Test func bodyThatFailsLeavesNothing() async throws {
        let cache = try bench.open()
        var answer = OriginAnswer.bytes(cacheNoise(100_000), [Self.lasting])
        answer.failure = TransportError(.connectionLost, "as the script says")
        bench.server.answer(answer)
        let error = await #expect(throws: TransportError.self) { try await cache.send(.ofSegment()).wholeBody() }
        #expect(error?.code == .connectionLost)
        try await bench.settle()
        #expect(cache.entryCount == 0)
        #expect(bench.fileNames.isEmpty)
    }

    @Test(arguments: [99_999, 100_001, 1])
    func bodyOfAnotherLengthThanAnnouncedIsNotKept(_ announced: Int64) async throws {
        let cache = try bench.open()
        var answer = OriginAnswer.bytes(cacheNoise(100_000), [Self.lasting])
        answer.announced = .some(announced)
        bench.server.answer(answer)
        #expect(try await cache.send(.ofSegment()).wholeBody().count == 100_000)
        try await bench.settle()
        #expect(cache.entryCount == 0)
        #expect(bench.fileNames.isEmpty)
    }

    @Test func cancelledReadingLeavesNothing() async throws {
        let cache = try bench.open()
        var answer = OriginAnswer.bytes([], [Self.lasting])
        answer.chunks = [cacheNoise(100_000), cacheNoise(100_000)]
        bench.server.answer(answer)
        let response = try await cache.send(.ofSegment())
        let reading = Task {
            for try await _ in response.body { withUnsafeCurrentTask { $0?.cancel() } }
        }
        await #expect(throws: CancellationError.self) { try await reading.value }
        try await bench.settle()
        #expect(cache.entryCount == 0)
        #expect(bench.fileNames.isEmpty)
    }

    @Test func cancelledReadingOfAHitEnds() async throws {
        let cache = try bench.open()
        try await fill(cache, "a", 300_000)
        let response = try await cache.send(.ofSegment())
        let reading = Task {
            for try await _ in response.body { withUnsafeCurrentTask { $0?.cancel() } }
        }
        await #expect(throws: CancellationError.self) { try await reading.value }
        #expect(cache.entryCount == 1)
    }

    @Test func ofSeveralBodiesAtOnceTheLastToFinishIsKept() async throws {
        let cache = try bench.open()
        bench.server.answer(.text("one", Self.lasting), .text("two", Self.lasting))
        let first = try await cache.send(.ofSegment())
        let second = try await cache.send(.ofSegment())
        #expect(try await second.wholeBody() == Array("two".utf8))
        #expect(try await first.wholeBody() == Array("one".utf8))
        #expect(try await cache.text(.ofSegment()) == "one")
        #expect(bench.server.requestCount == 2)
        #expect(bench.fileNames.count == 1)
    }

    @Test func manyReadersAndWritersGetTheirOwnBytes() async throws {
        let options = CachedTransport.Options(capacity: ByteCount(60_000), largestEntry: ByteCount(30_000))
        let cache = try bench.open(options)
        bench.server.answer(.bytes(cacheNoise(20_000), [Self.lasting]))
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

    // MARK: Crashes and damage

    @Test func leftoversOfACrashAreRemovedAndForeignFilesStay() async throws {
        try await fill(bench.open(), "a")
        let name = try bench.onlyFile().lastPathComponent
        let stem = name.dropLast(".entry".count)
        let otherStem = stem.dropLast() + (stem.hasSuffix("0") ? "1" : "0")
        let leftovers = ["\(otherStem).part", "\(otherStem).entry"]
        let foreign = ["notes.txt", "millstream-1.entry", "\(stem).entry.bak", "x\(name)"]
        for other in leftovers + foreign { try Data("x".utf8).write(to: bench.file(other)) }
        let cache = try bench.open()
        #expect(bench.fileNames == ([name] + foreign).sorted())
        #expect(cache.entryCount == 1)
    }

    @Test func fileIsAnEntryOnlyWhenItIsWhole() async throws {
        try await fill(bench.open(), "a")
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

    @Test func noFlippedByteIsEverServed() async throws {
        let cache = try bench.open()
        try await fill(cache, "a")
        let file = try bench.onlyFile()
        let bytes = try Data(contentsOf: file)
        for position in bytes.indices {
            for mask in [0x01, 0x80, 0xFF] as [UInt8] {
                var damaged = bytes
                damaged[position] ^= mask
                try damaged.write(to: file)
                let reopened = try bench.open()
                #expect(try await held(reopened, "a") == [], "byte \(position)")
                #expect(bench.fileNames.isEmpty)
            }
        }
        try bytes.write(to: file)
        #expect(try await held(bench.open(), "a") == ["a"])
    }

    @Test func damagedBeginningIsFetchedAnew() async throws {
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

    @Test func damageBehindTheBeginningEndsTheBodyAndTheEntry() async throws {
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

    @Test func rangeIsServedFromAWholeThatIsDamagedElsewhere() async throws {
        let cache = try bench.open()
        try await fill(cache, "a", 200_000)
        let file = try bench.onlyFile()
        var bytes = try Data(contentsOf: file)
        bytes[150_000] ^= 4
        try bytes.write(to: file)
        #expect(try await cache.send(.ofRange(10, 100_000)).wholeBody() == Array(cacheNoise(200_000)[10..<100_010]))
        #expect(bench.server.requestCount == 1)
    }

    @Test func entryOfAnotherKeyUnderTheSameNameIsAMiss() async throws {
        let cache = try bench.open()
        try await fill(cache, "a")
        let name = EntryKey(address: ResourceAddress("http://media.test/b"), byteRange: nil).name
        let file = try bench.onlyFile()
        try FileManager.default.moveItem(at: file, to: bench.file(EntryFile(name: name).fileName))
        let reopened = try bench.open()
        #expect(reopened.entryCount == 1)
        bench.server.answer(.text("other", Self.lasting))
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

    @Test func entryWhoseFileVanishedIsFetchedAnew() async throws {
        let cache = try bench.open()
        try await fill(cache, "a")
        try FileManager.default.removeItem(at: bench.onlyFile())
        _ = try await cache.send(.ofSegment()).wholeBody()
        #expect(bench.server.requestCount == 2)
        #expect(cache.entryCount == 1)
        #expect(cache.byteCount == ByteCount(4096))
    }

    // MARK: A disk that does not do what it should

    @Test(arguments: [0, 1, 70_000, 100_010])
    func fullDiskKeepsNothingAndFailsNothing(_ room: Int64) async throws {
        let cache = try bench.open()
        bench.limitDisk(to: room)
        bench.server.answer(.bytes(cacheNoise(100_000), [Self.lasting]))
        #expect(try await cache.send(.ofSegment()).wholeBody() == cacheNoise(100_000))
        try await bench.settle()
        #expect(cache.entryCount == 0)
        #expect(cache.byteCount == .zero)
        #expect(bench.fileNames.isEmpty)
        bench.limitDisk(to: .max)
        #expect(try await cache.send(.ofSegment()).wholeBody() == cacheNoise(100_000))
        #expect(cache.entryCount == 1)
    }

    @Test func fullDiskAtAConfirmationLosesTheEntryOnly() async throws {
        let cache = try bench.open()
        bench.server.answer(.bytes(cacheNoise(100_000), ["ETag: \"1\""]), .notModified("X-More: 1"))
        _ = try await cache.send(.ofSegment()).wholeBody()
        bench.limitDisk(to: 10)
        #expect(try await cache.send(.ofSegment()).wholeBody() == cacheNoise(100_000))
        #expect(cache.entryCount == 0)
        #expect(cache.byteCount == .zero)
    }

    @Test func folderThatVanishedKeepsNothingAndFailsNothing() async throws {
        let cache = try bench.open()
        try await fill(cache, "a")
        try FileManager.default.removeItem(at: bench.directory)
        #expect(try await cache.send(.ofSegment()).wholeBody() == cacheNoise(100))
        #expect(try await cache.send(.ofSegment()).wholeBody() == cacheNoise(100))
        #expect(bench.server.requestCount == 3)
        #expect(cache.entryCount == 0)
    }

    @Test func folderThatCannotBeMadeIsAnError() throws {
        try Data().write(to: bench.directory)
        let error = #expect(throws: TransportError.self) { try bench.open() }
        #expect(error?.code == .fileFailed)
    }

    @Test func onlyTheOwnerCanReadTheFiles() async throws {
        try await fill(bench.open(), "a")
        for (path, mode) in [(bench.directory.path, 0o700), (try bench.onlyFile().path, 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode)
        }
    }

    @Test(arguments: ["../../evil", "%2e%2e/x", "a\u{0}b", "a\nb", String(repeating: "x", count: 50_000)])
    func noAddressLeadsOutOfTheFolder(_ path: String) async throws {
        let cache = try bench.open()
        try await fill(cache, path)
        #expect(try await held(cache, path) == [path])
        #expect(try EntryFile(fileName: bench.onlyFile().lastPathComponent) != nil)
    }

    @Test func headerFieldsWithoutEndAreNotKept() async throws {
        let cache = try bench.open()
        bench.server.answer(.text("media", Self.lasting, "X: " + String(repeating: "x", count: 300_000)))
        #expect(try await cache.text(.ofSegment()) == "media")
        #expect(cache.entryCount == 0)
        try await bench.settle()
        #expect(bench.fileNames.isEmpty)
    }

    // MARK: Room

    private static let threeBlocks = CachedTransport.Options(
        capacity: ByteCount(3 * 4096),
        largestEntry: ByteCount(3 * 4096)
    )

    @Test func entryUsedLongestAgoLeavesFirst() async throws {
        let cache = try bench.open(Self.threeBlocks)
        for path in ["a", "b", "c"] { try await fill(cache, path) }
        #expect(try await held(cache, "a") == ["a"])
        try await fill(cache, "d")
        #expect(try await held(cache, "a", "b", "c", "d") == ["a", "c", "d"])
        #expect(cache.byteCount == ByteCount(3 * 4096))
        #expect(bench.fileNames.count == 3)
    }

    @Test func orderOfUsesOutlivesTheProcess() async throws {
        let cache = try bench.open(Self.threeBlocks)
        for path in ["a", "b", "c"] { try await fill(cache, path) }
        #expect(try await held(cache, "b", "a") == ["b", "a"])
        let reopened = try bench.open(Self.threeBlocks)
        try await fill(reopened, "d")
        try await fill(reopened, "e")
        #expect(try await held(reopened, "a", "b", "c", "d", "e") == ["a", "d", "e"])
    }

    @Test func largeEntryDrivesOutAsManyAsItNeeds() async throws {
        let cache = try bench.open(Self.threeBlocks)
        for path in ["a", "b", "c"] { try await fill(cache, path) }
        try await fill(cache, "d", 5000)
        #expect(try await held(cache, "a", "b", "c", "d") == ["c", "d"])
    }

    @Test func smallerCapacityEmptiesTheFolderWhenItIsOpened() async throws {
        let cache = try bench.open(Self.threeBlocks)
        for path in ["a", "b", "c"] { try await fill(cache, path) }
        let reopened = try bench.open(CachedTransport.Options(capacity: ByteCount(5000)))
        #expect(reopened.entryCount == 1)
        #expect(bench.fileNames.count == 1)
        #expect(try await held(reopened, "c") == ["c"])
    }

    @Test(arguments: [true, false])
    func bodyLargerThanTheLargestEntryDrivesNothingOut(_ isAnnounced: Bool) async throws {
        let options = CachedTransport.Options(capacity: ByteCount(1 << 20), largestEntry: ByteCount(1000))
        let cache = try bench.open(options)
        try await fill(cache, "a", 1000)
        var answer = OriginAnswer.bytes(cacheNoise(1001), [Self.lasting])
        if !isAnnounced { answer.announced = .some(nil) }
        bench.server.answer(answer)
        #expect(try await cache.send(.ofSegment("b")).wholeBody().count == 1001)
        try await bench.settle()
        #expect(try await held(cache, "a", "b") == ["a"])
    }

    @Test func largestEntryIsAnEighthOfTheCapacityUnlessSaid() {
        let options = CachedTransport.Options()
        #expect(options.capacity == ByteCount(512 << 20))
        #expect(options.largestEntry == ByteCount(64 << 20))
        #expect(options.kinds == [.playlist, .segment, .initialization, .subtitle, .other])
    }

    @Test func bodiesThatAreBeingWrittenCountToo() async throws {
        let capacity: Int64 = 400_000
        let options = CachedTransport.Options(capacity: ByteCount(capacity), largestEntry: ByteCount(capacity))
        let cache = try bench.open(options)
        var answer = OriginAnswer.bytes([], [Self.lasting])
        answer.chunks = (0..<5).map { _ in cacheNoise(65_536) }
        bench.server.answer(answer)
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

    @Test func cacheWithoutRoomKeepsNothing() async throws {
        let cache = try bench.open(CachedTransport.Options(capacity: .zero))
        try await fill(cache, "a")
        bench.server.answer(.text("", Self.lasting))
        try await cache.text(.ofSegment("b"))
        try await bench.settle()
        #expect(cache.entryCount == 0)
        #expect(bench.fileNames.isEmpty)
    }

    @Test func evictedEntryCanBeReadToItsEnd() async throws {
        let options = CachedTransport.Options(capacity: ByteCount(220_000), largestEntry: ByteCount(220_000))
        let cache = try bench.open(options)
        try await fill(cache, "a", 200_000)
        let response = try await cache.send(.ofSegment("a"))
        try await fill(cache, "b", 200_000)
        #expect(bench.fileNames.count == 1)
        #expect(try await response.wholeBody() == cacheNoise(200_000))
    }

    // MARK: Removing everything

    @Test func everythingCanBeRemovedButForeignFiles() async throws {
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

    @Test func bodyThatIsBeingReadWhileEverythingIsRemovedIsNotKept() async throws {
        let cache = try bench.open()
        var answer = OriginAnswer.bytes([], [Self.lasting])
        answer.chunks = [cacheNoise(70_000), cacheNoise(70_000)]
        bench.server.answer(answer)
        var iterator = try await cache.send(.ofSegment()).body.makeAsyncIterator()
        _ = try await iterator.next()
        await cache.removeAll()
        while try await iterator.next() != nil {}
        try await bench.settle()
        #expect(cache.entryCount == 0)
        #expect(bench.fileNames.isEmpty)
    }
}
