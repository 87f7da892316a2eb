import MediaTiming
import SegmentFormat
import Testing

@Suite struct SampleTableTests {
    @Test(arguments: [true, false])
    func progressiveFileIsDividedAtKeyFrames(_ isMovieFirst: Bool) throws {
        let file = Movies.progressive(movieFirst: isMovieFirst)
        let movie = try Movie(reading: file.bytes, at: file.movie.lowerBound)
        #expect(movie.sampleEndTime == MediaTime(value: 481_280, timescale: 48_000))
        let table = try #require(movie.track(1)?.sampleTable)
        #expect(table.sampleCount == 250)
        #expect(table.duration == MediaTime(seconds: 10))
        #expect(!table.isEverySampleSync)
        let offset = try #require(movie.track(1)?.firstEdit?.offset)
        #expect(
            table.syncSampleTimes(file.bytes.span)?.map { $0 + offset } == (0..<5).map { MediaTime(seconds: $0 * 2) }
        )
        #expect(movie.track(2)?.sampleTable?.isEverySampleSync == true)

        let segments = movie.segments(minimumDuration: MediaTime(seconds: 4), in: file.bytes.span)
        #expect(segments.map(\.timeRange.start) == [0, 4, 8].map { MediaTime(seconds: $0) })
        #expect(segments.last?.timeRange.end == movie.sampleEndTime)
        let chunk: Int64 = 50 * 100 + 94 * 10
        let data = Int64(file.data)
        #expect(segments[0].byteRange == ByteRange(start: data, length: 2 * chunk))
        // Audio at 4 s is sample 187.5: sample 187 is in the previous chunk and extends across the boundary. At 8 s it
        // is sample 375, the last of its chunk, which belongs to the next piece only.
        #expect(segments[1].byteRange == ByteRange(start: data + 2 * chunk - 10, length: 2 * chunk))
        #expect(segments[2].byteRange.end == data + 5 * chunk)
    }

    @Test func piecesAreNotShorterThanRequestedExceptTheLast() throws {
        let file = Movies.progressive(movieFirst: true)
        let movie = try Movie(reading: file.bytes, at: file.movie.lowerBound)
        for seconds in 1...12 {
            let segments = movie.segments(minimumDuration: MediaTime(seconds: Int64(seconds)), in: file.bytes.span)
            #expect(segments.dropLast().allSatisfy { $0.timeRange.duration >= MediaTime(seconds: Int64(seconds)) })
            #expect(zip(segments, segments.dropFirst()).allSatisfy { $0.timeRange.end == $1.timeRange.start })
        }
    }

    @Test func tableWithMoreSamplesThanBytesIsNil() throws {
        let tables =
            Movies.table("stts", [[1, 1]]) + Movies.table("stsc", [[1, 1, 1]]) + fullBox("stsz", 0, 0, u32(0), u32(-1))
            + Movies.table("stco", [[0]])
        let track = Movies.track(1, handler: "vide", timescale: 1, entry: Movies.visualEntry("avc1"), tables: tables)
        let movie = try Movie(reading: box("moov", Movies.movieHeader(), track))
        #expect(movie.tracks.first?.sampleTable == nil)
        #expect(movie.sampleEndTime == nil)
    }

    @Test func samplesOfConstantSizeAreNotCountedOneByOne() throws {
        // About 4 × 10⁹ samples in one entry must not be counted one by one.
        let tables =
            Movies.table("stts", [[-1, 1]]) + Movies.table("stsc", [[1, -1, 1]])
            + fullBox("stsz", 0, 0, u32(2), u32(-1))
            + Movies.table("stco", [[100]])
        let track = Movies.track(1, handler: "soun", timescale: 8_000, entry: Movies.audioEntry("sowt"), tables: tables)
        let bytes = box("moov", Movies.movieHeader(), track)
        let movie = try Movie(reading: bytes)
        let segments = movie.segments(minimumDuration: MediaTime(seconds: 6), in: bytes.span)
        #expect(segments.count <= Movie.maximumSegmentCount)
        let end: Int64 = 100 + 2 * 0xFFFF_FFFF
        #expect(segments.last?.byteRange.end == end)
    }

    @Test func fourBitSampleSizesAreParsed() throws {
        let tables =
            Movies.table("stts", [[3, 8_000]]) + Movies.table("stsc", [[1, 3, 1]])
            + fullBox("stz2", 0, 0, u32(4), u32(3), [0x12, 0x30]) + fullBox("co64", 0, 0, u32(1), u64(1 << 33))
        let track = Movies.track(1, handler: "soun", timescale: 8_000, entry: Movies.audioEntry("sowt"), tables: tables)
        let bytes = box("moov", Movies.movieHeader(), track)
        let segments = try Movie(reading: bytes).segments(minimumDuration: MediaTime(seconds: 1), in: bytes.span)
        #expect(segments.map(\.byteRange.start) == [1 << 33, 1 << 33 + 1, 1 << 33 + 3])
        #expect(segments.map(\.byteRange.length) == [1, 2, 3])
    }

    /// The text track has two samples in the first segment, of which the last is in progress up to the end.
    @Test(arguments: [
        // The text ends, with a sample without text.
        ([10, 2], 1_000, [0, 412, 812]),
        // The text is in progress at 4 s, and its segment is not the one before at 8 s.
        ([2, 10], 3_000, [0, 402, 812]),
    ])
    func segmentsDoNotReachBackToEarlierSubtitles(sizes: [Int], firstDuration: Int, starts: [Int]) throws {
        let video =
            Movies.table("stts", [[12, 1_000]]) + Movies.table("stss", [[1], [5], [9]])
            + Movies.table("stsc", [[1, 4, 1]]) + Movies.sizes([Int](repeating: 100, count: 12))
            + Movies.table("stco", [[0], [412], [812]])
        let text =
            Movies.table("stts", [[1, firstDuration], [1, 12_000 - firstDuration]]) + Movies.table("stsc", [[1, 2, 1]])
            + Movies.sizes(sizes) + Movies.table("stco", [[400]])
        let bytes = box(
            "moov",
            Movies.movieHeader(),
            Movies.track(1, handler: "vide", timescale: 1_000, entry: Movies.visualEntry("avc1"), tables: video),
            Movies.track(2, handler: "sbtl", timescale: 1_000, entry: box("tx3g", zeros(6), u16(1)), tables: text)
        )
        let movie = try Movie(reading: bytes)
        #expect(movie.track(2)?.mediaType == .subtitles)
        let segments = movie.segments(minimumDuration: MediaTime(seconds: 4), in: bytes.span)
        #expect(segments.map { Int($0.byteRange.start) } == starts)
        #expect(segments.map { Int($0.byteRange.end) } == [412, 812, 1_212])
        // Only text that is in progress and precedes the bytes of the segment is read again after a seek.
        let earlier: Int64? = sizes.last == 10 ? 402 : nil
        #expect(segments.map(\.earlierSubtitleOffset) == [nil, nil, earlier])
        let last = try #require(segments.last?.byteRangeWithEarlierSubtitles)
        #expect(last.start == earlier ?? 812 && last.end == 1_212)
    }
}
