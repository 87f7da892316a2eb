import MediaTiming
import SegmentFormat
import Testing

@Suite struct MediaFileIndexerTests {
    /// Builds the index of a file and answers all its requests for byte ranges.
    static func index(
        _ file: [UInt8],
        head: Int = 2_000,
        isLengthKnown: Bool = true,
        minimumSegmentDuration segment: Int64 = 4,
        maximumRequestCount: Int = 400
    ) throws -> (timeline: MediaFileTimeline, requests: [ByteRange]) {
        var index = try #require(
            MediaFileIndexer(
                head: Array(file.prefix(head)),
                length: isLengthKnown ? Int64(file.count) : nil,
                options: .init(
                    minimumSegmentDuration: MediaTime(seconds: segment),
                    maximumRequestCount: maximumRequestCount
                )
            )
        )
        var requests: [ByteRange] = []
        while case .needsBytes(let range) = index.state {
            requests.append(range)
            try #require(requests.count <= maximumRequestCount)
            index.add(Array(file.dropFirst(Int(clamping: range.start)).prefix(Int(clamping: range.length))))
        }
        guard case .ready(let timeline) = index.state else { throw MediaFormatError.missing("timeline") }
        return (timeline, requests)
    }

    static func seconds(_ segments: [MediaFileSegment]) -> [Double] { segments.map(\.timeRange.start.seconds) }

    /// Checks that pieces are contiguous in time and in bytes.
    static func expectContiguous(_ segments: [MediaFileSegment], from start: Int, to end: Int) {
        #expect(segments.first?.byteRange.start == Int64(start))
        #expect(segments.last?.byteRange.end == Int64(end))
        #expect(zip(segments, segments.dropFirst()).allSatisfy { $0.timeRange.end == $1.timeRange.start })
        #expect(zip(segments, segments.dropFirst()).allSatisfy { $0.byteRange.end == $1.byteRange.start })
    }

    static let fragments = (0..<6).map { Movies.fragment($0 + 1, base: 128_000 + $0 * 25_600) }

    @Test func fragmentedFileIsIndexedByItsFragments() throws {
        let file = Movies.initialization + Self.fragments.flatMap { $0 }
        let (timeline, requests) = try Self.index(file, head: 1_500)
        #expect(timeline.initializationRange == ByteRange(start: 0, length: Int64(Movies.initialization.count)))
        #expect(timeline.duration == MediaTime(seconds: 12))
        #expect(timeline.firstTimestamp == MediaTime(seconds: 10))
        #expect(Self.seconds(timeline.segments) == [0, 4, 8])
        Self.expectContiguous(timeline.segments, from: Movies.initialization.count, to: file.count)
        #expect(timeline.boundaryAccuracy == .exact)
        #expect(!timeline.isProgressive)
        #expect(!requests.isEmpty)
    }

    @Test func piecesBeginWithSyncSamples() throws {
        let file =
            Movies.initialization
            + (0..<6).flatMap { Movies.fragment($0, base: $0 * 25_600, isSync: $0 == 0 || $0 == 3) }
        let (timeline, _) = try Self.index(file)
        #expect(Self.seconds(timeline.segments) == [0, 6])
    }

    @Test func boxesBeforeFragmentBelongToItsPiece() throws {
        let styp = box("styp", ascii("msdh"), u32(0))
        let file = Movies.initialization + Self.fragments.flatMap { styp + $0 }
        let (timeline, _) = try Self.index(file)
        Self.expectContiguous(timeline.segments, from: Movies.initialization.count, to: file.count)
        #expect(
            timeline.segments[1].byteRange.start
                == Int64(Movies.initialization.count + 2 * (styp.count + Self.fragments[0].count))
        )
    }

    @Test func segmentIndexReplacesScan() throws {
        let references = Self.fragments.map { (isIndex: false, size: $0.count, duration: 25_600) }
        let index = Movies.index(earliest: 128_000, references)
        let file = Movies.initialization + index + Self.fragments.flatMap { $0 }
        let (timeline, requests) = try Self.index(file, head: 1_500)
        #expect(requests.isEmpty)
        #expect(timeline.duration == MediaTime(seconds: 12))
        #expect(timeline.firstTimestamp == MediaTime(seconds: 10))
        #expect(Self.seconds(timeline.segments) == [0, 4, 8])
        Self.expectContiguous(timeline.segments, from: Movies.initialization.count + index.count, to: file.count)
    }

    @Test func hierarchicalIndexesAreFollowed() throws {
        func half(_ range: Range<Int>) -> [UInt8] {
            let list = range.map { (isIndex: false, size: Self.fragments[$0].count, duration: 25_600) }
            return Movies.index(earliest: 128_000 + range.lowerBound * 25_600, list)
                + range.flatMap { Self.fragments[$0] }
        }
        let (first, second) = (half(0..<3), half(3..<6))
        let index = Movies.index(earliest: 128_000, [(true, first.count, 76_800), (true, second.count, 76_800)])
        let (timeline, requests) = try Self.index(Movies.initialization + index + first + second, head: 1_500)
        #expect(requests.count == 1)
        #expect(Self.seconds(timeline.segments) == [0, 4, 8])
        #expect(timeline.duration == MediaTime(seconds: 12))
    }

    @Test func randomAccessTableReplacesScan() throws {
        let fragments = (0..<40).map { Movies.fragment($0 + 1, base: $0 * 25_600, payload: 4_000) }
        var position = Movies.initialization.count
        let entries = fragments.enumerated().flatMap { index, fragment in
            defer { position += fragment.count }
            return u32(index * 25_600) + u32(position) + [1, 1, 1]
        }
        let table = fullBox("tfra", 0, 0, u32(1), u32(0), u32(40), entries)
        let tail = box("mfra", table, fullBox("mfro", 0, 0, u32(8 + table.count + 16)))
        let file = Movies.initialization + fragments.flatMap { $0 } + tail
        let (timeline, requests) = try Self.index(file)
        // Requests for the table and the last fragment.
        #expect(requests.count <= 2)
        #expect(timeline.duration == MediaTime(seconds: 80))
        #expect(timeline.segments.count == 20)
        Self.expectContiguous(timeline.segments, from: Movies.initialization.count, to: file.count - tail.count)
    }

    @Test func scanStopsAtRequestLimit() throws {
        let fragments = (0..<60).map { Movies.fragment($0 + 1, base: $0 * 25_600, payload: 8_000) }
        let (timeline, requests) = try Self.index(
            Movies.initialization + fragments.flatMap { $0 },
            head: 1_500,
            maximumRequestCount: 30
        )
        #expect(requests.count == 30)
        #expect(timeline.isDurationEstimated)
        let duration = try #require(timeline.duration)
        #expect(abs(duration.seconds - 120) < 1)
        Self.expectContiguous(
            timeline.segments,
            from: Movies.initialization.count,
            to: Movies.initialization.count + fragments.reduce(0) { $0 + $1.count }
        )
    }

    @Test(arguments: [(true, 0), (false, 1)])
    func progressiveFileIsDividedBySampleTables(_ isMovieFirst: Bool, _ requestCount: Int) throws {
        let file = Movies.progressive(movieFirst: isMovieFirst)
        let (timeline, requests) = try Self.index(file.bytes, head: 8_000)
        #expect(requests.count == requestCount)
        #expect(timeline.isProgressive)
        let start = isMovieFirst ? 0 : file.movie.lowerBound
        #expect(
            timeline.initializationRange == ByteRange(start: Int64(start), length: Int64(file.movie.upperBound - start))
        )
        #expect(Self.seconds(timeline.segments) == [0, 4, 8])
        #expect(timeline.duration == MediaTime(value: 481_280, timescale: 48_000))
        #expect(timeline.tracks.count == 2)
    }

    @Test func transportStreamIsDividedAtPackets() throws {
        let film = TransportStreamBuilder.film(seconds: 60, from: Int(TimestampUnwrapper.period) - 20 * 90_000)
        let (timeline, requests) = try Self.index(film, head: 20_000)
        #expect(requests.count == 2)
        #expect(timeline.duration == MediaTime(seconds: 60))
        #expect(
            timeline.firstTimestamp
                == MediaTime(value: TimestampUnwrapper.period - 20 * 90_000 + 7_200, timescale: 90_000)
        )
        #expect(timeline.segments.count == 15)
        #expect(timeline.segments.allSatisfy { $0.byteRange.start % 188 == 0 })
        #expect(timeline.boundaryAccuracy == .approximate)
        Self.expectContiguous(timeline.segments, from: 0, to: film.count)
    }

    @Test func streamWithVariableBitRateIsProbedInBetween() throws {
        // The bit rate of the second half is six times as high.
        var builder = TransportStreamBuilder()
        for index in 0..<200 * 25 {
            if index % 25 == 0 { builder.tables([(0x1B, 0x100, [])]) }
            builder.unit(0x100, 126_000 + index * 3_600)
            for _ in 0..<(index < 100 * 25 ? 3 : 23) { builder.packet(0x100, isStart: false, zeros(184)) }
        }
        let (timeline, _) = try Self.index(builder.bytes, head: 65_536)
        let middle = Double(builder.bytes.count) / 7
        let found = try #require(timeline.segments.first { $0.timeRange.end > MediaTime(seconds: 100) })
        #expect(abs(Double(found.byteRange.start) - middle) < Double(builder.bytes.count) / 10)
    }

    @Test func shortAudioFileIsDividedAtFrames() throws {
        let tag = Audio.id3(Audio.timestamp(90_000))
        let file = tag + Audio.repeated(Audio.adts(), 431)
        let (timeline, requests) = try Self.index(file, head: file.count)
        #expect(requests.isEmpty)
        #expect(timeline.container == .aac)
        #expect(timeline.duration == MediaTime(value: 431 * 1_024, timescale: 44_100))
        #expect(timeline.firstTimestamp == MediaTime(seconds: 1))
        #expect(timeline.boundaryAccuracy == .exact)
        #expect(timeline.segments.count == 3)
        #expect(timeline.segments.allSatisfy { ($0.byteRange.start - Int64(tag.count)) % 200 == 0 })
        Self.expectContiguous(timeline.segments, from: tag.count, to: file.count)
    }

    @Test func audioDurationIsEstimatedFromBitRate() throws {
        let file = Audio.id3(zeros(30_000)) + Audio.repeated(Audio.ac3, 1_000)
        let (timeline, requests) = try Self.index(file)
        #expect(requests.count == 1)
        #expect(timeline.container == .ac3)
        #expect(timeline.duration == MediaTime(seconds: 32))
        #expect(timeline.isDurationEstimated)
        #expect(timeline.segments.count == 8)
        Self.expectContiguous(timeline.segments, from: 30_010, to: file.count)
    }

    @Test func frameSizesAreSampledAtSeveralOffsets() throws {
        let file = Audio.repeated(Audio.adts(200), 8_000) + Audio.repeated(Audio.adts(600), 8_000)
        let (timeline, requests) = try Self.index(file, head: 65_536)
        #expect(requests.count <= 8)
        let duration = try #require(timeline.duration)
        #expect(abs(duration.seconds / (16_000 * 1_024 / 44_100) - 1) < 0.2)
    }

    @Test func mp3DurationComesFromXingOrVBRIHeader() throws {
        var first = Audio.mp3
        first.replaceSubrange(36..<36 + 16, with: ascii("Xing") + u32(3) + u32(2_000) + u32(417 * 2_000))
        let file = first + Audio.repeated(Audio.mp3, 2_000)
        let (timeline, _) = try Self.index(file, head: 20_000)
        #expect(timeline.duration == MediaTime(value: 2_000 * 1_152, timescale: 44_100))
        #expect(!timeline.isDurationEstimated)
        var other = Audio.mp3
        other.replaceSubrange(36..<36 + 18, with: ascii("VBRI") + zeros(6) + u32(417 * 2_000) + u32(1_000))
        let (second, _) = try Self.index(other + Audio.repeated(Audio.mp3, 2_000), head: 20_000)
        #expect(second.duration == MediaTime(value: 1_000 * 1_152, timescale: 44_100))
    }

    /// The description at the start has no samples, and those of the encoder delay and the padding are not played.
    @Test func encoderDelayAndPaddingAreNoPartOfAFile() throws {
        var first = Audio.mp3
        let delays = [0x24, 0x03, 0xE8] as [UInt8]  // 576 and 1,000 samples
        let fields =
            ascii("Info") + u32(0xF) + u32(600) + u32(417 * 600) + zeros(104) + ascii("LAME") + zeros(17) + delays
        first.replaceSubrange(36..<36 + fields.count, with: fields)
        let file = first + Audio.repeated(Audio.mp3, 600)
        let duration = MediaTime(value: 600 * 1_152 - (576 + 529) - (1_000 - 529), timescale: 44_100)
        for head in [file.count, 20_000] {
            let (timeline, _) = try Self.index(file, head: head)
            #expect(timeline.duration == duration)
            #expect(
                timeline.segments.last?.timeRange.end == duration && timeline.segments.first?.timeRange.start == .zero
            )
            Self.expectContiguous(timeline.segments, from: 0, to: file.count)
        }
        // Segments of a file that is loaded completely begin with a frame, at the time at which it is played.
        let (exact, _) = try Self.index(file, head: file.count)
        #expect(exact.boundaryAccuracy == .exact && exact.segments.count > 1)
        for segment in exact.segments.dropFirst() {
            // Bounded: all frames have 417 bytes.
            let number = segment.byteRange.start / 417 - 1
            #expect(segment.timeRange.start == MediaTime(value: number * 1_152 - 1_105, timescale: 44_100))
        }
    }

    /// A file that was joined from several begins with the description of the first one only.
    @Test func framesAfterTheDeclaredOnesArePartOfAFile() throws {
        var first = Audio.mp3
        let delays = [0x24, 0x03, 0xE8] as [UInt8]  // 576 and 1,000 samples
        let fields =
            ascii("Info") + u32(0xF) + u32(300) + u32(417 * 300) + zeros(104) + ascii("LAME") + zeros(17) + delays
        first.replaceSubrange(36..<36 + fields.count, with: fields)
        let file = first + Audio.repeated(Audio.mp3, 600)
        let (timeline, _) = try Self.index(file, head: file.count)
        #expect(timeline.duration == MediaTime(value: 600 * 1_152 - 1_105, timescale: 44_100))
        Self.expectContiguous(timeline.segments, from: 0, to: file.count)
    }

    @Test func flacMetadataBlocksAreSkipped() throws {
        let file = Audio.flac(samples: 441_000, picture: 50_000, frames: 100_000)
        let (timeline, requests) = try Self.index(file)
        // Only the last frames are read, which tell whether the file is complete.
        #expect(requests.allSatisfy { $0.start >= file.count - 100_000 && $0.end == file.count })
        #expect(timeline.duration == MediaTime(seconds: 10))
        #expect(timeline.initializationRange?.end == Int64(file.count - 100_000))
        #expect(timeline.tracks.first?.channelCount == 2)
        Self.expectContiguous(timeline.segments, from: file.count - 100_000, to: file.count)
    }

    @Test func wavFileIsDividedAtExactSamples() throws {
        let file = Audio.wave(seconds: 10)
        let (timeline, _) = try Self.index(file)
        #expect(timeline.duration == MediaTime(seconds: 10))
        #expect(timeline.initializationRange == ByteRange(start: 0, length: 44))
        #expect(Self.seconds(timeline.segments) == [0, 5])
        Self.expectContiguous(timeline.segments, from: 44, to: file.count)
    }

    /// Without cues, the timestamp of the last cluster shows how much of the media there is.
    @Test func matroskaFileThatEndsEarlyHasItsMissingPart() throws {
        let (file, clusters) = Containers.matroska(seconds: 20, step: 2, hasTimestamps: true)
        let length = clusters[6] + (clusters[1] - clusters[0]) / 2
        let (timeline, _) = try Self.index(Array(file.prefix(length)), head: 300)
        #expect(timeline.missingLength(inFileOfLength: Int64(length)) == Int64(file.count - length))
        #expect(timeline.segments.map(\.byteRange.start) == [0, Int64(length)])
        #expect(timeline.segments.last?.timeRange.end == MediaTime(seconds: 20))
        #expect(timeline.segments.first.map { abs($0.timeRange.end.seconds - 13) < 0.01 } == true)
        let (complete, _) = try Self.index(file, head: 300)
        #expect(complete.missingLength(inFileOfLength: Int64(file.count)) == nil)
    }

    /// Pages and boxes declare their own length, so that only the end of the last one is known to be missing.
    @Test func fileThatEndsWithinAPageOrBoxHasItsMissingPart() throws {
        let movie = Movies.initialization + Self.fragments.flatMap { $0 }
        for file in [Containers.opus(seconds: 90), movie] {
            let (cut, _) = try Self.index(Array(file.dropLast(5)))
            #expect(cut.missingLength(inFileOfLength: Int64(file.count - 5)) == 5)
            #expect(cut.missingLengthAccuracy == .minimum)
            #expect(try Self.index(file).timeline.missingLength(inFileOfLength: Int64(file.count)) == nil)
        }
        // A recording in fragments can end after each of them.
        let whole = Array(movie.dropLast(Self.fragments[5].count))
        #expect(try Self.index(whole).timeline.missingLength(inFileOfLength: Int64(whole.count)) == nil)
    }

    @Test func wavFileThatEndsEarlyHasItsMissingPart() throws {
        let file = Audio.wave(seconds: 10)
        let length = 44 + 64_000
        let (timeline, _) = try Self.index(Array(file.prefix(length)))
        #expect(timeline.missingLength(inFileOfLength: Int64(length)) == Int64(file.count - length))
        #expect(timeline.missingLengthAccuracy == .exact && timeline.duration == MediaTime(seconds: 10))
        #expect(timeline.segments.last?.timeRange.start == MediaTime(seconds: 4))
        // Some writers count the header as well.
        var counted = file
        counted.replaceSubrange(40..<44, with: u32(file.count - 8).reversed())
        #expect(try Self.index(counted).timeline.missingLength(inFileOfLength: Int64(counted.count)) == nil)
        // Writers that cannot seek back leave a placeholder.
        var recorded = Array(file.prefix(length))
        recorded.replaceSubrange(40..<44, with: u32(0x7FFF_FFDC).reversed())
        #expect(try Self.index(recorded).timeline.missingLength(inFileOfLength: Int64(length)) == nil)
    }

    @Test func flacFileThatEndsEarlyHasItsMissingPart() throws {
        func index(_ declared: Int) throws -> (MediaFileTimeline, Int64) {
            let header = Audio.flac(samples: declared, picture: 10, blockSize: 4_096, frames: 0)
            let file = header + (0..<20).flatMap { Audio.flacFrame($0) }
            return (try Self.index(file).timeline, Int64(file.count))
        }
        let (cut, length) = try index(40 * 4_096)
        #expect(cut.missingLength(inFileOfLength: length) == 20 * Int64(Audio.flacFrame(0).count))
        #expect(cut.missingLengthAccuracy == .estimated)
        #expect(cut.segments.last?.timeRange.start == MediaTime(value: 20 * 4_096, timescale: 44_100))
        // A copied part of a longer file may have its number of samples, and ends with a whole frame.
        let header = Audio.flac(samples: 40 * 4_096, picture: 10, blockSize: 4_096, frames: 0)
        let last = Audio.flacFrame(19)
        var sum: UInt16 = 0
        for byte in last {
            sum ^= UInt16(byte) << 8
            for _ in 0..<8 { sum = sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x8005 }
        }
        let copied = header + (0..<19).flatMap { Audio.flacFrame($0) } + last + u16(Int(sum))
        #expect(try Self.index(copied).timeline.missingLength(inFileOfLength: Int64(copied.count)) == nil)
        for declared in [20 * 4_096, 0] {
            let (timeline, length) = try index(declared)
            #expect(timeline.missingLength(inFileOfLength: length) == nil)
        }
    }

    @Test func movieWithoutItsMovieBoxIsTruncatedOrHasNone() throws {
        let cut = try Self.index(Array(Movies.initialization.dropLast(8)), head: 100).timeline
        #expect(cut.error == .truncated("moov"))
        let fragment = try Self.index(Movies.fragment(1, base: 0), head: 100).timeline
        #expect(fragment.error == .missing("moov"))
    }

    /// A recorder writes the size of the media and the movie box when the recording ends.
    @Test(arguments: [u32(0), u32(8), u32(1)]) func recordingThatDidNotFinishIsNoSegment(_ size: [UInt8]) throws {
        let media = size + ascii("mdat") + zeros(8) + u32(0x2AE) + [6, 5] + zeros(4_000)
        let unfinished = try Self.index(Movies.fileType + box("wide", []) + media, head: 100).timeline
        #expect(unfinished.error == .unfinished("moov"))
        let segment = try Self.index(box("styp", ascii("msdh") + zeros(4)) + media, head: 100).timeline
        #expect(segment.error != .unfinished("moov") && segment.error != nil)
    }

    @Test func matroskaCuesDivideClusters() throws {
        let (file, clusters) = Containers.matroska(seconds: 20, step: 2)
        let (timeline, requests) = try Self.index(file, head: 300)
        #expect(requests.count == 1)
        #expect(timeline.container == .webM)
        #expect(timeline.duration == MediaTime(seconds: 20))
        #expect(
            timeline.tracks == [
                MediaTrack(id: 1, mediaType: .video, codec: "vp09", width: 640, height: 360),
                MediaTrack(
                    id: 2,
                    mediaType: .audio,
                    codec: "Opus",
                    language: "deu",
                    channelCount: 2,
                    sampleRate: 48_000
                ),
            ]
        )
        #expect(Self.seconds(timeline.segments) == [0, 4, 8, 12, 16])
        #expect(timeline.initializationRange == ByteRange(start: 0, length: Int64(clusters[0])))
        #expect(timeline.segments.map(\.byteRange.start) == [0, 2, 4, 6, 8].map { Int64(clusters[$0]) })
        #expect(timeline.segments.last?.byteRange.end == Int64(file.count))
    }

    @Test(arguments: [[0x22_B59D, 0x22_B59C], [0x22_B59C, 0x22_B59D]])
    func languageTagOfMatroskaTakesPrecedence(_ order: [Int]) throws {
        let (file, _) = Containers.matroska(seconds: 4, step: 2)
        let language = Containers.element(0x22_B59C, ascii("und"))
        let position = try #require(file.firstRange(of: language))
        // Both language elements replace the original one, and the sizes of the parent elements include them.
        let both = order.flatMap { Containers.element($0, ascii($0 == 0x22_B59D ? "pt-BR" : "por")) }
        var changed = file
        changed.replaceSubrange(position, with: both)
        var start = 0
        for id in [u32(0x1853_8067), u32(0x1654_AE6B), u8(0xAE)] {
            start = try #require(changed[start...].firstRange(of: id)).upperBound
            let size = changed[start..<(start + 4)].reduce(0) { $0 << 8 | Int($1) } & 0x0FFF_FFFF
            changed.replaceSubrange(start..<(start + 4), with: u32(0x1000_0000 | (size + both.count - language.count)))
        }
        #expect(try Self.index(changed, head: 400).timeline.tracks.first?.language == "pt-BR")
    }

    @Test func oggDurationComesFromLastPage() throws {
        let file = Containers.opus(seconds: 90)
        let (timeline, _) = try Self.index(file)
        #expect(timeline.duration == MediaTime(seconds: 90))
        #expect(timeline.tracks.first?.codec == "Opus")
        #expect(timeline.segments.count == 1)
    }

    @Test(
        arguments: [
            ("LANGUAGE=eng", "eng"), ("language=pt-BR", "pt-BR"), ("TITLE=eng", nil), ("LANGUAGE=und", nil),
            ("LANGUAGE=English", nil), ("LANGUAGE=", nil),
        ] as [(String, String?)]
    )
    func languageOfAnOggFileIsThatOfItsComments(comment: String, language: String?) throws {
        var comments = ascii("OpusTags")
        comments += u32(1).reversed()
        comments += ascii("E")
        comments += u32(2).reversed()
        for text in ["A=B", comment] {
            comments += u32(text.utf8.count).reversed()
            comments += ascii(text)
        }
        var page = ascii("OggS")
        page += zeros(10)
        page += u32(7)
        page += zeros(8)
        page += [1, UInt8(comments.count)]
        page += comments
        var file = Containers.opus(seconds: 2)
        let first = try #require(file.firstRange(of: ascii("OpusHead"))).lowerBound
        let second = try #require(file[first...].firstRange(of: ascii("OggS"))).lowerBound
        file.insert(contentsOf: page, at: second)
        let (timeline, _) = try Self.index(file)
        #expect(timeline.tracks.first?.language == language && timeline.duration == MediaTime(seconds: 2))
        // A page that ends early, or counts too much, has no language.
        for count in stride(from: second, to: second + page.count, by: 3) {
            #expect(try Self.index(Array(file.prefix(count))).timeline.tracks.first?.codec == "Opus")
        }
    }

    @Test(arguments: [ascii("OggS") + zeros(100), ascii("WEBVTT\n")])
    func fileWithoutIndexIsOnePiece(_ file: [UInt8]) throws {
        let (timeline, requests) = try Self.index(file)
        #expect(requests.isEmpty)
        #expect(timeline.duration == nil)
        #expect(timeline.segments.map(\.byteRange.length) == [Int64(file.count)])
    }

    @Test(arguments: ["#EXTM3U\n", "<html>", "<MPD>", "nothing"])
    func nonMediaFileHasNoIndex(_ text: String) {
        #expect(MediaFileIndexer(head: ascii(text), length: nil) == nil)
    }

    @Test func fileOfUnknownLengthHasPiecesOnlyIfItsBoxesDeclareThem() throws {
        let film = TransportStreamBuilder.film(seconds: 60)
        let (stream, _) = try Self.index(film, head: 65_536, isLengthKnown: false)
        #expect(stream.segments.isEmpty)
        #expect(stream.duration == nil)
        #expect(stream.tracks.count == 2)
        let (movie, _) = try Self.index(Movies.initialization + Self.fragments.flatMap { $0 }, isLengthKnown: false)
        #expect(movie.duration == MediaTime(seconds: 12))
    }

    @Test func parsingProblemIsReported() throws {
        let (timeline, _) = try Self.index(Movies.fileType + box("mdat", zeros(100)))
        #expect(timeline.error == .unfinished("moov"))
        #expect(timeline.segments.count == 1)
        let large = Movies.fileType + u32(1) + ascii("moov") + u64(1 << 40) + zeros(100)
        #expect(try Self.index(large).timeline.error == .tooLarge("moov"))
    }

    @Test func emptyResponsesEndIndexing() throws {
        let file = Movies.initialization + Self.fragments.flatMap { $0 }
        var index = try #require(MediaFileIndexer(head: Array(file.prefix(1_200)), length: 1 << 40))
        var requests = 0
        while case .needsBytes = index.state {
            requests += 1
            index.add([])
        }
        #expect(requests <= 400)
    }
}
