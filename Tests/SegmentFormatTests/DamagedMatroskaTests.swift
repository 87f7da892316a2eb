import MediaTiming
import SegmentFormat
import Testing

/// Tests the timelines of Matroska files that are damaged before their first cluster.
@Suite struct DamagedMatroskaTests {
    private static let file = Containers.matroska(seconds: 20, step: 2, hasTimestamps: true)
    /// The length of the EBML header.
    private static let headerLength = Containers.element(0x1A45_DFA3, Containers.element(0x4282, ascii("webm"))).count

    private static func timeline(_ file: [UInt8], head: Int = 300) throws -> MediaFileTimeline {
        try MediaFileIndexerTests.index(file, head: head).timeline
    }

    private static func seconds(_ timeline: MediaFileTimeline) -> [Double] {
        timeline.segments.map(\.timeRange.start.seconds)
    }

    /// Returns the file with bytes at an offset.
    private static func inserting(_ bytes: [UInt8], at offset: Int) -> [UInt8] {
        Array(file.file[..<offset]) + bytes + Array(file.file[offset...])
    }

    /// Bytes that are no element, some of which begin like an element that the standard does not define, or contain the header
    /// of a cluster without content.
    static let garbage: [[UInt8]] = [
        zeros(1), zeros(300), [0xA3, 0x82, 1, 2] + zeros(40), [0x4A, 0x4A, 0x10, 0xFF, 0xFF, 0xFF] + zeros(40),
        zeros(10) + [0x1F, 0x43, 0xB6, 0x75, 0x84] + zeros(30), [0x54, 0xFF] + zeros(70_000),
    ]

    @Test func intactFileHasNoDamage() throws {
        #expect(try Self.timeline(Self.file.file).damage == nil)
        #expect(try Self.timeline(TaggedFiles.matroska).damage == nil)
    }

    /// Positions in the file are relative to the segment, so that they are correct.
    @Test(arguments: garbage) func bytesBeforeTheSegmentAreSkipped(_ bytes: [UInt8]) throws {
        let damaged = Self.inserting(bytes, at: Self.headerLength)
        let timeline = try Self.timeline(damaged)
        let count = ByteCount(Int64(bytes.count))
        #expect(timeline.damage == "\(count) at byte \(Self.headerLength) belong to no element")
        #expect(Self.seconds(timeline) == [0, 4, 8, 12, 16] && timeline.tracks.count == 2)
        let clusters = Self.file.clusters.map { Int64($0 + bytes.count) }
        #expect(timeline.segments.map(\.byteRange.start) == [0, 2, 4, 6, 8].map { clusters[$0] })
        #expect(timeline.initializationRange == ByteRange(start: 0, length: clusters[0]))
        #expect(timeline.missingLength(inFileOfLength: Int64(damaged.count)) == nil)
    }

    /// The positions of the cues, and of the clusters in them, are corrected.
    @Test(arguments: garbage) func bytesBeforeTheFirstClusterAreSkipped(_ bytes: [UInt8]) throws {
        let damaged = Self.inserting(bytes, at: Self.file.clusters[0])
        let timeline = try Self.timeline(damaged)
        let count = ByteCount(Int64(bytes.count))
        #expect(timeline.damage == "\(count) at byte \(Self.file.clusters[0]) belong to no element")
        #expect(Self.seconds(timeline) == [0, 4, 8, 12, 16] && timeline.tracks.count == 2)
        let clusters = Self.file.clusters.map { Int64($0 + bytes.count) }
        #expect(timeline.segments.map(\.byteRange.start) == [0, 2, 4, 6, 8].map { clusters[$0] })
        #expect(timeline.segments.last?.byteRange.end == Int64(damaged.count))
        #expect(timeline.missingLength(inFileOfLength: Int64(damaged.count)) == nil)
    }

    /// The cues name the clusters where they are, although the first one is not found.
    @Test func cuesAreKeptIfTheFirstClusterIsDamaged() throws {
        var damaged = Self.file.file
        for index in Self.file.clusters[0]..<Self.file.clusters[0] + 4 { damaged[index] = 0 }
        let timeline = try Self.timeline(damaged)
        let starts = timeline.segments.map(\.byteRange.start)
        #expect(timeline.damage != nil && starts.count > 1)
        #expect(starts.allSatisfy { start in Self.file.clusters.contains { Int64($0) == start } }, "\(starts)")
    }

    /// The end of the tracks is within the first cluster.
    @Test func lostBytesOfAnElementAreNoticed() throws {
        var damaged = Self.file.file
        damaged.removeSubrange(Self.file.clusters[0] - 20..<Self.file.clusters[0])
        let timeline = try Self.timeline(damaged)
        let clusters = Self.file.clusters.map { Int64($0 - 20) }
        #expect(
            timeline.damage
                == "an element has a size that exceeds the beginning of the next one at byte \(clusters[0])"
        )
        #expect(Self.seconds(timeline) == [0, 4, 8, 12, 16])
        #expect(timeline.segments.map(\.byteRange.start) == [0, 2, 4, 6, 8].map { clusters[$0] })
        #expect(timeline.missingLength(inFileOfLength: Int64(damaged.count)) == nil)
    }

    /// Without the header of the segment, the base of the positions is unknown, so that the file is one segment.
    @Test func segmentWithoutItsHeaderIsRead() throws {
        var damaged = Self.file.file
        for index in Self.headerLength..<Self.headerLength + 8 { damaged[index] = 0 }
        let timeline = try Self.timeline(damaged)
        #expect(timeline.damage == "8 bytes at byte \(Self.headerLength) belong to no element")
        #expect(timeline.tracks.count == 2 && timeline.duration == MediaTime(seconds: 20))
        #expect(timeline.segments.count == 1)
        #expect(timeline.segments.first?.byteRange == ByteRange(start: 0, length: Int64(damaged.count)))
    }

    /// Bytes that are replaced move nothing.
    @Test func elementThatIsReplacedByOtherBytesIsSkipped() throws {
        var damaged = Self.file.file
        let tracks = try #require(damaged.firstRange(of: u32(0x1654_AE6B))).lowerBound
        for index in tracks..<Self.file.clusters[0] { damaged[index] = 0 }
        let timeline = try Self.timeline(damaged)
        #expect(timeline.damage?.hasSuffix("at byte \(tracks) belong to no element") == true)
        #expect(timeline.tracks.isEmpty && Self.seconds(timeline) == [0, 4, 8, 12, 16])
        #expect(timeline.segments.map(\.byteRange.start) == [0, 2, 4, 6, 8].map { Int64(Self.file.clusters[$0]) })
        #expect(timeline.segments.last?.byteRange.end == Int64(damaged.count))
    }

    @Test func elementThatTheStandardDoesNotDefineIsNoDamage() throws {
        let element = Containers.element(0x4A4A, zeros(50))
        let information = Containers.element(0x1549_A966, Containers.element(0x7BA9, ascii("A")))
        let timeline = try Self.timeline(TaggedFiles.matroskaFile(information, element))
        #expect(timeline.damage == nil && timeline.metadata.title == "A")
    }

    /// A file of other content is not loaded entirely.
    @Test func searchEndsAfterALimitedNumberOfBytes() throws {
        let file = Array(Self.file.file[..<Self.headerLength]) + zeros(12 << 20)
        let (timeline, requests) = try MediaFileIndexerTests.index(file)
        #expect(requests.reduce(0) { $0 + $1.length } <= 10 << 20)
        #expect(timeline.damage == "no element was found after byte \(Self.headerLength)")
    }
}
