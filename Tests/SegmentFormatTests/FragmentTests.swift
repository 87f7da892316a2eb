import MediaTiming
import SegmentFormat
import Testing

@Suite struct FragmentTests {
    static func movie() throws -> Movie { try Movie(reading: Movies.initialization, at: Movies.fileType.count) }

    @Test func fragmentUsesDefaultsOfMovie() throws {
        let bytes = Movies.fragment(7, base: 25_600)
        let fragment = try MovieFragment(reading: bytes, fileOffset: 1_000, movie: Self.movie())
        #expect(fragment.sequenceNumber == 7)
        #expect(fragment.byteRange == ByteRange(start: 1_000, length: Int64(bytes.count - 408)))
        let video = try #require(fragment.track(1))
        #expect(video.decodeTime == MediaTime(seconds: 2))
        #expect(video.duration == MediaTime(seconds: 2))
        #expect(video.sampleCount == 50)
        #expect(video.isFirstSampleSync == true)
        let audio = try #require(fragment.track(2))
        #expect(audio.duration == MediaTime(value: 94 * 1_024, timescale: 48_000))
        #expect(audio.isFirstSampleSync == true)
    }

    @Test func fragmentWithoutMovieHasNoTimescale() throws {
        let fragment = try MovieFragment(reading: Movies.fragment(1, base: 5))
        let video = try #require(fragment.track(1))
        #expect(video.baseDecodeTime == 5)
        #expect(video.timescale == nil)
        #expect(video.decodeTime == nil)
        #expect(video.durationUnits == nil)
    }

    @Test func nonSyncSampleIsReported() throws {
        let fragment = try MovieFragment(reading: Movies.fragment(1, base: 0, isSync: false), movie: Self.movie())
        #expect(fragment.track(1)?.isFirstSampleSync == false)
    }

    @Test func damagedSampleCountDoesNotExtendTheDurationOfARun() throws {
        for (flags, count, expected) in [(0x200, 1_000_000, 600), (0x200, 1, 300), (0, 5, 1_500)] {
            let fields = flags == 0 ? [] : u32(10) + u32(20)
            let run = fullBox("trun", 0, flags, u32(count), fields)
            let bytes = box("traf", fullBox("tfhd", 0, 0x8, u32(1), u32(300)), run)
            var boxes = BoxIterator(0..<bytes.count, in: bytes.span)
            let next = boxes.next(bytes.span)
            let fragment = try TrackFragment(try #require(next), bytes.span) { _ in nil }
            var durations: [Int64] = []
            fragment.forEachRun(bytes.span) { durations.append($0?.duration(bytes.span) ?? 0) }
            #expect(durations == [Int64(expected)])
        }
    }

    /// Version 0 has unsigned offsets (ISO/IEC 14496-12 §8.8.8), but some files contain negative ones.
    @Test(arguments: [0, 1]) func compositionOffsetsAreSigned(version: Int) throws {
        let run = fullBox("trun", version, 0x800, u32(2), u32(-100), u32(50))
        let bytes = box("moof", box("traf", fullBox("tfhd", 0, 0x8, u32(1), u32(300)), run))
        let track = try #require(try MovieFragment(reading: bytes, movie: Self.movie()).track(1))
        #expect(track.earliestCompositionOffset == -100 && track.durationUnits == 600 && track.sampleCount == 2)
    }

    @Test func individualSampleDurationsAreAddedUp() throws {
        let run = fullBox(
            "trun",
            1,
            0xF01,
            u32(2),
            u32(0),
            u32(100),
            u32(7),
            u32(0),
            u32(50),
            u32(300),
            u32(8),
            u32(0x1_0000),
            u32(-100)
        )
        let bytes = box("moof", box("traf", fullBox("tfhd", 0, 0, u32(1)), fullBox("tfdt", 0, 0, u32(12_800)), run))
        let fragment = try MovieFragment(reading: bytes, movie: Self.movie())
        let track = try #require(fragment.track(1))
        #expect(track.durationUnits == 400)
        // The second sample is presented first: it is decoded 100 units later and has an offset of -100 units.
        #expect(track.earliestCompositionOffset == 0)
        #expect(track.presentationTime == MediaTime(seconds: 1))
        #expect(track.isFirstSampleSync == true)
    }

    @Test func runsWithTooFewEntriesAreRejected() {
        let long = box("moof", box("traf", fullBox("tfhd", 0, 0, u32(1)), fullBox("trun", 0, 0x100, u32(-1), u32(0))))
        #expect(throws: MediaFormatError.truncated("trun")) { try MovieFragment(reading: long) }
        let runs = (0..<3).flatMap { _ in fullBox("trun", 0, 0, u32(-1)) }
        let endless = box("moof", box("traf", fullBox("tfhd", 0, 0x8, u32(1), u32(-1)), runs))
        #expect(throws: MediaFormatError.malformed("durations of trun")) { try MovieFragment(reading: endless) }
    }

    @Test(arguments: [0, 1])
    func segmentIndexHasExactTimesAndByteRanges(_ version: Int) throws {
        let bytes = Movies.index(
            earliest: 12_800,
            offset: 20,
            [(false, 1_000, 51_200), (true, 500, 25_600)],
            version: version
        )
        let index = try SegmentIndex(reading: bytes, fileOffset: 100)
        let start = Int64(100 + bytes.count + 20)
        #expect(index.referenceID == 1)
        #expect(index.isHierarchical)
        #expect(index.references.map(\.byteRange.start) == [start, start + 1_000])
        #expect(index.references.map(\.byteRange.length) == [1_000, 500])
        #expect(index.references.map(\.timeRange.start) == [MediaTime(seconds: 1), MediaTime(seconds: 5)])
        #expect(index.timeRange.end == MediaTime(seconds: 7))
        #expect(index.references.allSatisfy { $0.startsWithAccessPoint && $0.accessPointType == 1 })
    }

    @Test func truncatedOrOverflowingIndexIsRejected() {
        let whole = Movies.index(earliest: 0, [(false, 1, 1)])
        #expect(throws: MediaFormatError.truncated("sidx")) { try SegmentIndex(reading: Array(whole.dropLast(4))) }
        let far = Movies.index(earliest: 0, offset: .max, [(false, 1, 1)])
        #expect(throws: MediaFormatError.malformed("first offset of sidx")) { try SegmentIndex(reading: far) }
    }

    @Test func eventMessagesOfBothVersionsAreParsed() throws {
        let relative = fullBox(
            "emsg",
            0,
            0,
            ascii("urn:x\0v\0"),
            u32(1_000),
            u32(1_500),
            u32(-1),
            u32(9),
            [1, 2, 3]
        )
        let first = try EventMessage(reading: relative)
        #expect(first.schemeIdentifier == "urn:x")
        #expect(first.value == "v")
        #expect(first.time == .afterSegmentStart(MediaTime(value: 3, timescale: 2)))
        #expect(first.duration == nil)
        #expect(first.id == 9)
        #expect(first.message == [1, 2, 3])
        let absolute = fullBox(
            "emsg",
            1,
            0,
            u32(90_000),
            u64(1 << 33),
            u32(45_000),
            u32(10),
            ascii("urn:y\0\0")
        )
        let second = try EventMessage(reading: absolute)
        #expect(second.time == .presentation(MediaTime(value: 1 << 33, timescale: 90_000)))
        #expect(second.duration == MediaTime(value: 1, timescale: 2))
        #expect(second.message.isEmpty)
        #expect(throws: MediaFormatError.truncated("emsg")) { try EventMessage(reading: Array(relative.prefix(25))) }
        #expect(throws: MediaFormatError.malformed("version of emsg")) { try EventMessage(reading: fullBox("emsg", 2)) }
    }

    @Test func producerReferenceTimeIsParsed() throws {
        let seconds = 2_208_988_800 + 1_700_000_000
        let bytes = fullBox("prft", 1, 24, u32(1), u32(seconds), u32(0x8000_0000), u64(12_800))
        let time = try ProducerReferenceTime(bytes.span)
        #expect(time.timeSinceUnixEpoch == .seconds(1_700_000_000) + .milliseconds(500))
        #expect(time.mediaTime == 12_800)
        #expect(time.flags == 24)
    }

    @Test func segmentContainsAllItsBoxes() throws {
        let event = fullBox("emsg", 1, 0, u32(1), u64(1), u32(1), u32(1), [0, 0])
        let bytes =
            box("styp", ascii("msdh"), u32(0), ascii("msdhcmfs")) + Movies.index(earliest: 0, [(false, 1, 1)]) + event
            + Movies.fragment(1, base: 0) + Movies.fragment(2, base: 25_600)
        let segment = FragmentedSegment(reading: bytes, movie: try Self.movie())
        #expect(segment.brands == ["msdh", "msdh", "cmfs"])
        #expect(segment.indexes.count == 1)
        #expect(segment.events.count == 1)
        #expect(segment.fragments.map(\.sequenceNumber) == [1, 2])
        #expect(!segment.isIncomplete)
        #expect(segment.timeRange(of: 1) == MediaTimeRange(start: .zero, end: MediaTime(seconds: 4)))
        #expect(FragmentedSegment(reading: Array(bytes.dropLast(1))).isIncomplete)
        #expect(
            FragmentedSegment(reading: (Movies.initialization + bytes)).timeRange(of: 1)?.end == MediaTime(seconds: 4)
        )
    }
}
