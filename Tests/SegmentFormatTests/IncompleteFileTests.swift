import MediaTiming
import SegmentFormat
import Testing

/// Tests the timelines of files whose end was cut off.
@Suite struct IncompleteFileTests {
    private static func timeline(_ file: [UInt8], head: Int = 2_000) throws -> MediaFileTimeline {
        try MediaFileIndexerTests.index(file, head: head).timeline
    }

    // MARK: Audio

    /// Returns an MP3 file whose description declares 600 frames.
    private static func mp3(frameCount: Int) -> [UInt8] {
        var description = Audio.mp3
        let fields = ascii("Xing") + u32(3) + u32(600) + u32(417 * 601)
        description.replaceSubrange(36..<36 + fields.count, with: fields)
        return description + Audio.repeated(Audio.mp3, frameCount)
    }

    /// A file that is loaded completely is divided at its frames, and another one at the average bit rate.
    @Test(arguments: [true, false]) func mp3FileThatEndsEarlyHasItsMissingPart(isLoaded: Bool) throws {
        let whole = Self.mp3(frameCount: 600)
        let file = Array(whole.prefix(417 * 301 + 100))
        let timeline = try Self.timeline(file, head: isLoaded ? file.count : 20_000)
        #expect(timeline.missingLength(inFileOfLength: Int64(file.count)) == Int64(whole.count - file.count))
        #expect(timeline.missingLengthAccuracy == .exact)
        let duration = MediaTime(value: 600 * 1_152, timescale: 44_100)
        #expect(timeline.duration == duration && timeline.segments.last?.timeRange.end == duration)
        if isLoaded {
            let start = MediaTime(value: 300 * 1_152, timescale: 44_100)
            #expect(timeline.segments.last?.timeRange.start == start)
        }
    }

    /// Programs that cut a file at a frame, or that remove a tag, can leave its description unchanged.
    @Test func mp3FileThatEndsWithAWholeFrameOrATagIsComplete() throws {
        let part = Self.mp3(frameCount: 300)
        for file in [Self.mp3(frameCount: 600), part, part + ascii("TAG") + zeros(125)] {
            for head in [file.count, 20_000] {
                let timeline = try Self.timeline(file, head: head)
                #expect(timeline.missingLength(inFileOfLength: Int64(file.count)) == nil)
            }
        }
    }

    @Test func flacFileThatEndsWithinItsFirstFrameHasItsMissingPart() throws {
        func index(_ declared: Int) throws -> (MediaFileTimeline, Int64) {
            let header = Audio.flac(samples: declared, picture: 10, blockSize: 4_096, frames: 0)
            let file = header + Audio.flacFrame(0)
            return (try Self.timeline(file), Int64(file.count))
        }
        let (cut, length) = try index(2 * 4_096)
        #expect(cut.missingLength(inFileOfLength: length) == Int64(Audio.flacFrame(0).count))
        #expect(cut.segments.last?.timeRange.start == MediaTime(value: 4_096, timescale: 44_100))
        #expect(cut.missingLengthAccuracy == .estimated)
        let (complete, wholeLength) = try index(4_096)
        #expect(complete.missingLength(inFileOfLength: wholeLength) == nil)
    }

    @Test func flacFileWithoutFramesLacksAllOfItsMedia() throws {
        let file = Audio.flac(samples: 4_096, picture: 10, blockSize: 4_096, frames: 0)
        for count in [file.count, file.count - 5] {
            let timeline = try Self.timeline(Array(file.prefix(count)))
            #expect(timeline.segments.map(\.byteRange.start) == [Int64(count)])
            #expect(timeline.missingLengthAccuracy == .minimum)
        }
    }

    // MARK: Matroska

    private static let matroskaTracks = Containers.element(
        0x1654_AE6B,
        Containers.element(
            0xAE,
            Containers.element(0xD7, u8(1)),
            Containers.element(0x83, u8(1)),
            Containers.element(0x86, ascii("V_VP9"))
        )
    )

    /// Returns a cluster of two seconds that begins at a time in milliseconds, with a block each half second.
    private static func cluster(_ time: Int) -> [UInt8] {
        let blocks = [0, 500, 1_000, 1_500].flatMap { offset in
            Containers.element(0xA3, [0x81], u16(offset), [0x80], zeros(100))
        }
        return Containers.element(0x1F43_B675, Containers.element(0xE7, u16(time)), blocks)
    }

    private static let matroskaHeader = Containers.element(0x1A45_DFA3, Containers.element(0x4282, ascii("webm")))

    /// Recorders that cannot seek, such as those of browsers, declare neither the size nor the duration of a file.
    @Test func matroskaFileWithoutADurationHasThatOfItsBlocks() throws {
        let clusters = [0, 2_000, 4_000].flatMap(Self.cluster)
        let segment = u32(0x1853_8067) + [0x01] + [UInt8](repeating: 0xFF, count: 7)
        let information = Containers.element(0x1549_A966, [])
        let file = Self.matroskaHeader + segment + information + Self.matroskaTracks + clusters
        for bytes in [file, Array(file.dropLast(50))] {
            let timeline = try Self.timeline(bytes)
            #expect(timeline.duration == MediaTime(seconds: 6))
            #expect(timeline.segments.map(\.timeRange.end) == [MediaTime(seconds: 6)])
            #expect(timeline.missingLength(inFileOfLength: Int64(bytes.count)) == nil)
        }
    }

    /// The cues precede the clusters, so that they list those that are missing.
    @Test func matroskaFileWithCuesEndsWithItsLastBlock() throws {
        let information = Containers.element(
            0x1549_A966,
            Containers.element(0x4489, u64(Int(Double(10_000).bitPattern)))
        )
        let size = Self.cluster(0).count
        func cues(_ first: Int) -> [UInt8] {
            let list = (0..<5).flatMap { index in
                Containers.element(
                    0xBB,
                    Containers.element(0xB3, u16(index * 2_000)),
                    Containers.element(0xB7, Containers.element(0xF1, u32(first + index * size)))
                )
            }
            return Containers.element(0x1C53_BB6B, list)
        }
        let head = information + Self.matroskaTracks
        let first = head.count + cues(0).count
        let clusters = (0..<5).flatMap { Self.cluster($0 * 2_000) }
        let file = Self.matroskaHeader + Containers.element(0x1853_8067, head, cues(first), clusters)
        let complete = try Self.timeline(file)
        #expect(complete.segments.map(\.timeRange.end.seconds) == [4, 8, 10])
        #expect(complete.missingLength(inFileOfLength: Int64(file.count)) == nil)
        // The file ends within the third block of the fourth cluster.
        let length = Self.matroskaHeader.count + 8 + first + 3 * size + 15 + 2 * 109 + 50
        let cut = try Self.timeline(Array(file.prefix(length)))
        #expect(cut.segments.map(\.timeRange.end.seconds) == [4, 7.5, 8, 10])
        #expect(cut.segments[1].byteRange.end == Int64(length))
        #expect(cut.missingLength(inFileOfLength: Int64(length)) == Int64(file.count - length))
    }

    // MARK: Fragmented movies

    /// The movie declares 20 seconds, of which the file has fragments of 12 seconds.
    @Test func declaredDurationOfAFragmentedMovieTellsWhatIsMissing() throws {
        let initialization =
            Movies.fileType
            + box(
                "moov",
                Movies.movieHeader(),
                Movies.videoTrack,
                Movies.audioTrack,
                box(
                    "mvex",
                    fullBox("mehd", 1, 0, u64(20_000)),
                    Movies.defaults(1, duration: 512, flags: 0x101_0000),
                    Movies.defaults(2, duration: 1_024)
                )
            )
        let file = initialization + MediaFileIndexerTests.fragments.flatMap { $0 }
        let cut = try Self.timeline(Array(file.dropLast(5)))
        #expect(cut.duration == MediaTime(seconds: 20) && cut.missingLengthAccuracy == .estimated)
        #expect(cut.segments.last?.timeRange.start == MediaTime(seconds: 12))
        #expect(cut.segments.last?.timeRange.end == MediaTime(seconds: 20))
        let missing = try #require(cut.missingLength(inFileOfLength: Int64(file.count - 5)))
        // Two thirds of the fragments that there are.
        #expect(abs(missing - Int64((file.count - initialization.count) * 2 / 3)) < 10)
        // A recording can end after each fragment.
        #expect(try Self.timeline(file).missingLength(inFileOfLength: Int64(file.count)) == nil)
    }

    /// An index before each fragment tells nothing about the fragments that follow.
    @Test func indexOfASingleFragmentIsNotThatOfTheFile() throws {
        let fragments = MediaFileIndexerTests.fragments
        func index(_ range: Range<Int>) -> [UInt8] {
            Movies.index(
                earliest: 128_000 + range.lowerBound * 25_600,
                range.map { (isIndex: false, size: fragments[$0].count, duration: 25_600) }
            )
        }
        let single = Movies.initialization + (0..<6).flatMap { index($0..<$0 + 1) + fragments[$0] }
        let whole = Movies.initialization + index(0..<6) + fragments.flatMap { $0 }
        #expect(try Self.timeline(Array(single.dropLast(5))).missingLengthAccuracy == .minimum)
        #expect(try Self.timeline(Array(whole.dropLast(5))).missingLengthAccuracy == .exact)
    }
}
