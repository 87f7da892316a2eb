import MediaTiming
import NIOCore
import ResourceAddressing
import Testing

@testable import MediaTransport

@Suite("Index and files of the cache")
struct CacheIndexTests {
    private func file(_ number: UInt64, serial: UInt64 = 0) -> EntryFile {
        EntryFile(name: EntryName(high: number, low: number), serial: serial)
    }

    @Test func indexEvictsInTheOrderOfUse() throws {
        var index = EntryIndex(capacity: 10 * 4096)
        var order: [UInt64] = []
        var state: UInt64 = 5
        for _ in 0..<5000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let number = state >> 33 % 25
            if order.contains(number), state >> 60 < 12 {
                #expect(index.markUsed(file(number), now: UnixSeconds(0)) != nil)
            } else {
                let room = index.reserve(4096)
                let victims = try #require(room)
                for victim in victims { index.releaseSpace(of: victim) }
                #expect(victims.map(\.file) == (order.count == 10 ? [file(order.removeFirst())] : []))
                let added = index.insert(file(number), size: 4096, now: UnixSeconds(0))
                if let replaced = added.replaced { index.releaseSpace(of: replaced) }
                #expect((added.replaced != nil) == order.contains(number))
            }
            order.removeAll { $0 == number }
            order.append(number)
            #expect(index.count == order.count)
            #expect(index.storedBytes == Int64(order.count) * 4096)
        }
    }

    @Test func spaceOfARemovedEntryIsReservedUntilItsFileIsDeleted() throws {
        var index = EntryIndex(capacity: 8192)
        #expect(index.reserve(8192) == [])
        _ = index.insert(file(1), size: 8192, now: UnixSeconds(0))
        let removed = index.remove(file(1))
        let entry = try #require(removed)
        #expect(index.reserve(4096) == nil)
        index.releaseSpace(of: entry)
        #expect(index.reserve(4096) == [])
        #expect(index.reserve(8192) == nil)
    }

    @Test func replacedFileIsNoLongerAnEntry() {
        var index = EntryIndex(capacity: 1 << 20)
        _ = index.reserve(8192)
        _ = index.insert(file(1, serial: 1), size: 4096, now: UnixSeconds(0))
        #expect(index.insert(file(1, serial: 2), size: 4096, now: UnixSeconds(0)).replaced?.file.serial == 1)
        #expect(index.remove(file(1, serial: 1)) == nil)
        #expect(index.markUsed(file(1, serial: 1), now: UnixSeconds(0)) == nil)
        #expect(index.count == 1)
    }

    @Test(arguments: [(0, 0), (1, 4096), (4096, 4096), (4097, 8192), (Int64.max, Int64.max)])
    func fileSizesAreRoundedUpToBlocks(_ size: Int64, _ room: Int64) {
        #expect(EntryIndex.diskSpace(for: size) == room)
    }

    @Test(arguments: [UInt64.min, 1, .max])
    func fileNamesRoundTrip(_ number: UInt64) {
        let file = EntryFile(name: EntryName(high: number, low: ~number), serial: number)
        #expect(EntryFile(fileName: file.fileName) == file)
        #expect(EntryFile.isPartial(file.partialFileName))
        #expect(!EntryFile.isPartial(file.fileName))
        #expect(EntryFile(fileName: file.fileName.uppercased()) == nil)
    }

    @Test func metadataRoundTripsAndTruncatedMetadataIsRejected() throws {
        let metadata = EntryMetadata(
            key: EntryKey(
                address: ResourceAddress("http://media.test/ä"),
                byteRange: ByteRange(start: 3, length: 4)
            ),
            status: 206,
            address: ResourceAddress("http://edge.test/"),
            requested: UnixSeconds(-1),
            received: UnixSeconds(.max),
            headers: [HeaderField("A", ""), HeaderField("", "b")]
        )
        let bytes = metadata.encoded()
        #expect(EntryMetadata(bytes) == metadata)
        for length in 0..<bytes.readableBytes {
            #expect(EntryMetadata(try #require(bytes.getSlice(at: 0, length: length))) == nil)
        }
    }

    @Test func checksumsOfSimilarContentsDiffer() {
        var contents = (0..<20).map { [UInt8](repeating: 0, count: $0) }
        for bit in 0..<128 {
            var bytes = [UInt8](repeating: 0, count: 16)
            bytes[bit / 8] = 1 << (bit % 8)
            contents.append(bytes)
            // Set the highest bit of the other word as well.
            bytes[bit < 64 ? 15 : 7] ^= 0x80
            contents.append(bytes)
        }
        let sums = Set(contents.map { $0.withUnsafeBytes { BlockChecksum.of($0) } })
        #expect(sums.count == Set(contents).count)
    }

    @Test func ageAndLifetimeAreNeverNegative() {
        let dates = [CacheBench.date(0), CacheBench.date(253_370_764_800)]
        let figures = ["-1", "0", "99999999999999999999", "", "x"] + dates
        for moment in [Int64.min, -1, 0, .max] {
            for text in figures {
                let names = ["Age", "Date", "Expires", "Last-Modified"]
                let metadata = EntryMetadata(
                    key: EntryKey(address: ResourceAddress("a"), byteRange: nil),
                    status: 200,
                    address: ResourceAddress("a"),
                    requested: UnixSeconds(.max - moment.magnitude.asInt64),
                    received: UnixSeconds(moment),
                    headers: names.map { HeaderField($0, text) }
                )
                let freshness = Freshness(metadata, kind: .segment, now: UnixSeconds(.max))
                #expect(freshness.age >= 0)
                #expect(freshness.lifetime >= 0)
            }
        }
    }
}

extension UInt64 {
    fileprivate var asInt64: Int64 { Int64(clamping: self) }
}
