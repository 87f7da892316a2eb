import Foundation
import MediaTiming
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

@testable import MediaTransport

/// Tests the files of the cache: their modes, those that are removed when a directory is opened, and their space.
@Suite(.timeLimit(.minutes(10))) struct CacheFolderDetailTests {
    private let bench = CacheBench()
    private static let lasting = "Cache-Control: max-age=100000"

    private static func options(blocks: Int64) -> DiskCache.Options {
        DiskCache.Options(capacity: ByteCount(blocks * 4096), maximumEntrySize: ByteCount(blocks * 4096))
    }

    private func fill(_ cache: CachedTransport, _ paths: String...) async throws {
        bench.server.respond(with: .bytes(cacheNoise(100), [Self.lasting]))
        for path in paths { _ = try await cache.send(.ofSegment(path)).wholeBody() }
        try await bench.settle()
    }

    private func isCached(_ cache: CachedTransport, _ path: String) async -> Bool {
        (try? await cache.send(.ofSegment(path, "Cache-Control: only-if-cached"))) != nil
    }

    private func mode(_ url: URL) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }

    // MARK: Opening

    @Test func openingRestrictsTheAccessToEntries() async throws {
        try await fill(bench.open(), "a")
        let file = try bench.onlyFile()
        #expect(chmod(file.path, 0o644) == 0)
        let cache = try bench.open()
        #expect(try mode(file) == 0o600 && cache.entryCount == 1)
        #expect(try mode(bench.file(EntryFolderLock.fileName)) == 0o600)
    }

    @Test func openingWithASmallerCapacityEvictsNothingThatAnotherProcessUses() async throws {
        let cache = try bench.open(Self.options(blocks: 3))
        try await fill(cache, "a", "b", "c")
        let other = try bench.open(Self.options(blocks: 1))
        #expect(other.entryCount == 3 && bench.fileNames.count == 3)
        #expect(await isCached(cache, "a"))
    }

    @Test func openingAFullDirectoryEvictsNothing() async throws {
        try await fill(bench.open(Self.options(blocks: 3)), "a", "b", "c")
        await bench.waitUntilClosed()
        let cache = try bench.open(Self.options(blocks: 3))
        #expect(cache.entryCount == 3 && cache.byteCount == ByteCount(3 * 4096))
    }

    @Test func otherFilesUnderTheNameOfAnEntryAreRemovedUnlessTheDirectoryIsShared() async throws {
        try FileManager.default.createDirectory(at: bench.directory, withIntermediateDirectories: true)
        let outside = bench.file("outside")
        let names = (1...2).map { EntryFile(name: EntryName(high: $0, low: $0), serial: 1).fileName }
        func make() throws {
            #expect(mkfifo(bench.file(names[0]).path, 0o600) == 0)
            try FileManager.default.createSymbolicLink(at: bench.file(names[1]), withDestinationURL: outside)
        }
        try make()
        let cache = try bench.open()
        #expect(cache.entryCount == 0 && bench.fileNames.isEmpty)
        try make()
        let other = try bench.open()
        #expect(other.entryCount == 0 && bench.fileNames == names)
        withExtendedLifetime(cache) {}
    }

    @Test func onlyTheLastOfSeveralEntriesWithOneKeyStays() async throws {
        try await fill(bench.open(), "a")
        await bench.waitUntilClosed()
        let first = try bench.onlyFile()
        let file = try #require(EntryFile(fileName: first.lastPathComponent))
        let second = bench.file(EntryFile(name: file.name, serial: ~file.serial).fileName)
        try FileManager.default.copyItem(at: first, to: second)
        let cache = try bench.open()
        #expect(cache.entryCount == 1 && bench.fileNames.count == 1 && cache.byteCount == ByteCount(4096))
        #expect(await isCached(cache, "a"))
    }

    // MARK: Removed and damaged entries

    @Test func missingEntryIsForgotten() async throws {
        let cache = try bench.open()
        try await fill(cache, "a")
        try FileManager.default.removeItem(at: bench.onlyFile())
        #expect(await !isCached(cache, "a"))
        #expect(cache.entryCount == 0 && cache.byteCount == .zero)
    }

    @Test func damagedEntryIsRemovedAlthoughTheNewBodyIsNotRead() async throws {
        let cache = try bench.open()
        try await fill(cache, "a")
        let file = try bench.onlyFile()
        var bytes = try Data(contentsOf: file)
        bytes[50] ^= 4
        try bytes.write(to: file)
        _ = try await cache.send(.ofSegment("a"))
        try await bench.settle()
        #expect(cache.entryCount == 0 && bench.fileNames.isEmpty && bench.server.requestCount == 2)
    }

    // MARK: Space

    @Test func spaceOfABodyThatIsDiscardedAfterRemoveAllIsFree() async throws {
        let cache = try bench.open(Self.options(blocks: 2))
        bench.server.respond(with: .bytes(cacheNoise(5_000), [Self.lasting]))
        var iterator = try await cache.send(.ofSegment("a")).body.makeAsyncIterator()
        _ = try await iterator.next()
        await cache.removeAll()
        while try await iterator.next() != nil {}
        try await bench.settle()
        #expect(cache.entryCount == 0)
        try await fill(cache, "b", "c")
        #expect(cache.entryCount == 2)
    }

    @Test func spaceOfABodyThatCannotBeStoredIsReleasedOnce() async throws {
        let cache = try bench.open(Self.options(blocks: 2))
        bench.limitDiskSpace(to: 10)
        try await fill(cache, "x", "y")
        bench.limitDiskSpace(to: .max)
        try await fill(cache, "a", "b", "c")
        #expect(cache.entryCount == 2 && cache.byteCount == ByteCount(2 * 4096) && bench.fileNames.count == 2)
    }

    @Test func spaceOfABodyWhoseFileCannotBeCreatedIsFree() async throws {
        let cache = try bench.open(Self.options(blocks: 2))
        try FileManager.default.removeItem(at: bench.directory)
        try await fill(cache, "x", "y", "z")
        try FileManager.default.createDirectory(at: bench.directory, withIntermediateDirectories: true)
        try await fill(cache, "a", "b")
        #expect(cache.entryCount == 2)
    }

    @Test func bodyWithABlockForWhichThereWasNoSpaceIsNotStored() async throws {
        let cache = try bench.open(Self.options(blocks: 25))
        var scripted = OriginResponse.bytes([], [Self.lasting])
        scripted.chunks = [cacheNoise(70_000), cacheNoise(10)]
        bench.server.respond(with: scripted)
        var first: TransportBody.AsyncIterator? = try await cache.send(.ofSegment("a")).body.makeAsyncIterator()
        _ = try await first?.next()
        var second = try await cache.send(.ofSegment("b")).body.makeAsyncIterator()
        _ = try await second.next()
        #expect(bench.fileNames.count == 1)
        first = nil
        try await bench.settle()
        while try await second.next() != nil {}
        try await bench.settle()
        #expect(cache.entryCount == 0 && bench.fileNames.isEmpty)
    }

    @Test func spaceOfABodyWhoseFileWasRemovedIsFree() async throws {
        let cache = try bench.open(Self.options(blocks: 25))
        var scripted = OriginResponse.bytes([], [Self.lasting])
        scripted.chunks = [cacheNoise(70_000), cacheNoise(10)]
        bench.server.respond(with: scripted)
        var iterator = try await cache.send(.ofSegment("a")).body.makeAsyncIterator()
        _ = try await iterator.next()
        try FileManager.default.removeItem(at: bench.onlyFile())
        while try await iterator.next() != nil {}
        try await bench.settle()
        #expect(cache.entryCount == 0 && bench.fileNames.isEmpty)
        _ = try await cache.send(.ofSegment("b")).wholeBody()
        #expect(cache.entryCount == 1)
    }

    @Test func bodyThatFailsIsRemovedBeforeItsReaderIs() async throws {
        let cache = try bench.open()
        var scripted = OriginResponse.bytes(cacheNoise(70_000), [Self.lasting])
        scripted.failure = TransportError(.connectionLost, "as the script says")
        bench.server.respond(with: scripted)
        var iterator = try await cache.send(.ofSegment()).body.makeAsyncIterator()
        _ = try await iterator.next()
        #expect(bench.fileNames.count == 1)
        await #expect(throws: TransportError.self) { _ = try await iterator.next() }
        try await bench.settle()
        #expect(bench.fileNames.isEmpty)
        let rest = try? await iterator.next()
        #expect(rest == nil)
    }

    // MARK: Files

    /// A disk with room for seven bytes that accepts two at once.
    private final class WriteLog: Sendable {
        private let state = Mutex<(steps: [String], room: Int)>(([], 7))

        var steps: [String] { state.withLock { $0.steps } }

        func accept(_ count: Int, at offset: Int64) -> Int {
            state.withLock { state in
                state.steps.append("\(count) at \(offset)")
                let accepted = min(state.room, count, 2)
                state.room -= accepted
                return accepted
            }
        }
    }

    @Test func diskFileReadsOnlyWhatItHas() throws {
        let disk = try bench.disk()
        #expect(disk.write(ByteBuffer(string: "0123456789"), at: 0) && disk.size == 10)
        #expect(disk.read(at: 4, count: 6) == ByteBuffer(string: "456789"))
        #expect(disk.read(at: 4, count: 7) == nil && disk.read(at: 10, count: 1) == nil)
        #expect(disk.read(at: 0, count: 0)?.readableBytes == 0)
        for moment in [1_700_000_000_123_456_789, 1_700_000_001_000_000_000] as [Int64] {
            disk.setLastUse(moment)
            #expect(disk.lastUse == moment)
        }
    }

    @Test func diskFileWritesInSeveralStepsUntilTheDiskIsFull() throws {
        _ = try bench.disk()
        let log = WriteLog()
        let disk = try DiskFile(bench.file("disk").path, flags: O_RDWR, pool: CacheBench.pool) { _, bytes, offset in
            log.accept(bytes.count, at: offset)
        }
        #expect(disk.write(ByteBuffer(string: "abcde"), at: 100))
        #expect(log.steps == ["5 at 100", "3 at 102", "1 at 104"])
        #expect(!disk.write(ByteBuffer(string: "xyz"), at: 0), "two more bytes fit")
        #expect(log.steps.suffix(2) == ["3 at 0", "1 at 2"])
    }

    #if os(Linux)
    @Test func diskFileIsClosedWithItsLastReference() async throws {
        func isOpen() throws -> Bool {
            let (files, folder) = (FileManager.default, "/proc/self/fd")
            let path = bench.directory.lastPathComponent + "/disk"
            return try files.contentsOfDirectory(atPath: folder).contains { name in
                let target = try? files.destinationOfSymbolicLink(atPath: folder + "/" + name)
                return target?.hasSuffix(path) == true
            }
        }
        do {
            let disk = try bench.disk()
            #expect(try isOpen())
            withExtendedLifetime(disk) {}
        }
        try await bench.settle()
        #expect(try !isOpen())
    }
    #endif

    // MARK: Formats

    @Test func nameOfAnEntryConsistsOfTwoChecksumsOfItsKey() {
        for (range, suffix) in [(nil, ""), (ByteRange(start: 3, length: 4), "4@3")] as [(ByteRange?, String)] {
            let name = EntryKey(address: ResourceAddress("http://h/a"), byteRange: range).name
            let bytes = Array("http://h/a\n\(suffix)".utf8)
            #expect(name.high == bytes.withUnsafeBytes { BlockChecksum.of($0) })
            #expect(name.low == bytes.withUnsafeBytes { BlockChecksum.of($0, seed: ~BlockChecksum.seed) })
        }
    }

    @Test func metadataWithAnAdditionalByteIsRejected() throws {
        let metadata = EntryMetadata(
            key: EntryKey(address: ResourceAddress("http://h/a"), byteRange: nil),
            status: 200,
            address: ResourceAddress("http://h/b"),
            requested: UnixSeconds(1),
            received: UnixSeconds(2),
            headers: []
        )
        var bytes = metadata.encoded()
        #expect(EntryMetadata(bytes) == metadata)
        bytes.writeInteger(UInt8(0))
        #expect(EntryMetadata(bytes) == nil)
        let tail = try #require(EntryTail(bodyLength: 0, blockChecksums: [], metadata: metadata).encoded())
        let mark = tail.getInteger(at: tail.readableBytes - 8, as: UInt64.self)
        #expect(mark == 0x6D6C_7374_6361_0001, "files of other versions of the package have it too")
    }

    /// The lengths of the metadata and of the body in a trailer, which add up to the size of the file.
    @Test(arguments: [
        (0, -8, 1, false), (0, 65_544, -65_536, false), (262_144, 262_144, 0, true), (262_145, 262_145, 0, false),
    ])
    func lengthsOfATrailerAreLimited(size: Int, metadataLength: Int64, bodyLength: Int64, isComplete: Bool) throws {
        let disk = try bench.disk()
        var bytes = ByteBuffer(repeating: 0, count: size + (bodyLength == 1 ? 1 : 0))
        bytes.writeInteger(metadataLength)
        bytes.writeInteger(bodyLength)
        bytes.writeInteger(UInt64(0))
        bytes.writeInteger(0x6D6C_7374_6361_0001 as UInt64)
        #expect(disk.write(bytes, at: 0))
        #expect(EntryTail.isComplete(disk) == isComplete)
        #expect(EntryTail(of: disk) == nil)
    }

    @Test func largestFilesHaveABoundedSize() {
        #expect(EntryIndex.diskSpace(for: .max - 4096) == 9_223_372_036_854_771_712)
        #expect(EntryIndex.diskSpace(for: .max - 4095) == .max)
    }

    @Test func cachesAreEqualOnlyToThemselves() throws {
        let (first, second) = (try bench.openCache(), try bench.openCache())
        #expect(first == first && first != second)
        #expect(first.hashValue == first.hashValue && first.hashValue != second.hashValue)
    }
}
