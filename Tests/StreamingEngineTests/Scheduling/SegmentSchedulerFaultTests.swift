import HLSPlaylist
import MediaTiming
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the boundaries of the times from which the next segment and the contents of the buffer are determined.
@Suite struct SegmentSchedulerFaultTests {
    private static func timeline(_ durations: [String], isLive: Bool = false) throws -> PresentationTimeline {
        let segments = durations.map { "#EXTINF:\($0),\ns.ts\n" }.joined()
        let end = isLive ? "" : "#EXT-X-ENDLIST\n"
        return PresentationTimeline(try media("#EXTM3U\n#EXT-X-TARGETDURATION:60\n" + segments + end))
    }

    private static func range(_ start: String, _ end: String) -> MediaTimeRange {
        MediaTimeRange(start: seconds(start), end: seconds(end))
    }

    private static func scheduler(
        _ position: String,
        _ loaded: (String, String)? = nil,
        isReverse: Bool = false,
        isByteLimitReached: Bool = false
    ) -> SegmentScheduler {
        var scheduler = SegmentScheduler(
            position: seconds(position),
            loaded: MediaTimeRangeSet(loaded.map { [range($0.0, $0.1)] } ?? []),
            capacity: MediaTime(seconds: 30)
        )
        scheduler.isReverse = isReverse
        scheduler.isByteLimitReached = isByteLimitReached
        return scheduler
    }

    /// Returns the text of a step, with the number of its segment.
    private static func name(_ step: SegmentScheduler.Step) -> String {
        switch step {
        case .fetch(let segment): "fetch \(segment.sequence)"
        case .skip(let segment): "skip \(segment.sequence)"
        case .gap(let range): "gap \(range.start) \(range.end)"
        case .wait(let time): "wait \(time)"
        case .awaitPlaylist: "await"
        case .complete: "complete"
        }
    }

    typealias Case = (position: String, loaded: (String, String)?, step: String)

    private static let sixes = [String](repeating: "6", count: 20)

    // MARK: Forward

    private static let forward: [Case] = [
        ("0", ("0", "5.9"), "fetch 0"), ("0", ("0", "5.901"), "fetch 1"), ("0", ("0.25", "6"), "fetch 1"),
        ("0", ("0.251", "6"), "fetch 0"), ("100", ("96", "119.9"), "fetch 19"), ("100", ("96", "119.901"), "complete"),
        ("0", ("0", "24.001"), "wait 0.001"), ("2.5", ("0", "30"), "wait 6"),
    ]

    @Test(arguments: forward) func nextSegmentForwardFollowsFromTheLoadedRange(_ example: Case) throws {
        let step = Self.scheduler(example.position, example.loaded).nextStep(in: try Self.timeline(Self.sixes))
        #expect(Self.name(step) == example.step)
    }

    /// The second segment lasts 50 ms; media that ends up to 1 ms after its start is not its own.
    @Test(arguments: [("6.001", "fetch 1"), ("6.0011", "complete")])
    func startOfAShortSegmentIsRounded(end: String, step: String) throws {
        let found = Self.scheduler("0", ("0", end)).nextStep(in: try Self.timeline(["6", "0.05"]))
        #expect(Self.name(found) == step)
    }

    @Test(arguments: [("0.076", "fetch 1"), ("0.075", "fetch 0"), ("0.05", "fetch 0")])
    func restOfAShortSegmentIsLessThanHalfOfIt(end: String, step: String) throws {
        let found = Self.scheduler("0", ("0", end)).nextStep(in: try Self.timeline(["0.15", "6", "6"]))
        #expect(Self.name(found) == step)
    }

    @Test(arguments: [("23.75", "fetch 4"), ("23.749", "gap 23.749 24")])
    func gapOfAQuarterOfASecondIsIgnored(end: String, step: String) throws {
        var timeline = try Self.timeline(["6", "6"], isLive: true)
        let later = "#EXTM3U\n#EXT-X-TARGETDURATION:60\n#EXT-X-MEDIA-SEQUENCE:4\n#EXTINF:6,\ns4.ts\n"
        _ = try timeline.update(try media(later))
        #expect(Self.name(Self.scheduler("6", ("6", end)).nextStep(in: timeline)) == step)
    }

    @Test(arguments: [("23.95", "await"), ("23.9", "fetch 4")])
    func playbackThatEndsWhereAListBeginsAwaitsNoSegmentOfIt(end: String, step: String) throws {
        var timeline = try Self.timeline(["6", "6"], isLive: true)
        let later = "#EXTM3U\n#EXT-X-TARGETDURATION:60\n#EXT-X-MEDIA-SEQUENCE:4\n#EXTINF:6,\ns4.ts\n"
        _ = try timeline.update(try media(later))
        var scheduler = Self.scheduler("20", ("20", end))
        scheduler.end = MediaTime(seconds: 24)
        #expect(Self.name(scheduler.nextStep(in: timeline)) == step)
    }

    /// Without any media, playback that begins at its end is complete.
    @Test(arguments: [false, true]) func endOfPlaybackNeedsNoMedia(isLive: Bool) throws {
        var scheduler = Self.scheduler("110")
        scheduler.end = MediaTime(seconds: 110)
        #expect(scheduler.nextStep(in: try Self.timeline(Self.sixes, isLive: isLive)) == .complete)
    }

    @Test(arguments: [("0", "3", "wait -28", "wait 31"), ("0.1", "2.9", "fetch 1", "fetch 1")])
    func segmentIsUrgentUpToItsDuration(start: String, end: String, forward: String, reverse: String) throws {
        let timeline = try Self.timeline(["1", "1", "1"])
        let first = Self.scheduler(start, ("0", "1"), isByteLimitReached: true)
        #expect(Self.name(first.nextStep(in: timeline)) == forward)
        let second = Self.scheduler(end, ("2", "3"), isReverse: true, isByteLimitReached: true)
        #expect(Self.name(second.nextStep(in: timeline)) == reverse)
    }

    // MARK: Reverse

    private static let reverse: [Case] = [
        ("0.1", nil, "complete"), ("0.101", nil, "fetch 0"), ("60", ("36", "60"), "fetch 5"),
        ("60", ("35.9", "60"), "wait 59.9"), ("130", ("114", "120"), "fetch 18"), ("120", nil, "fetch 19"),
        ("60", ("54.1", "60"), "fetch 9"), ("60", ("54.099", "60"), "fetch 8"), ("54", nil, "fetch 8"),
    ]

    @Test(arguments: reverse) func nextSegmentInReverseFollowsFromTheLoadedRange(_ example: Case) throws {
        let scheduler = Self.scheduler(example.position, example.loaded, isReverse: true)
        #expect(Self.name(scheduler.nextStep(in: try Self.timeline(Self.sixes))) == example.step)
    }

    @Test(arguments: [("0.049", "fetch 0"), ("0.0489", "complete")])
    func endOfAShortSegmentIsRounded(start: String, step: String) throws {
        let scheduler = Self.scheduler("6.05", (start, "6.05"), isReverse: true)
        #expect(Self.name(scheduler.nextStep(in: try Self.timeline(["0.05", "6"]))) == step)
    }

    /// Segments without a duration are not loaded.
    @Test(
        arguments: [
            (["0.001", "6"], "0", "complete"), (["0", "0.04", "6"], "0.041", "fetch 1"),
            (["0", "0", "6"], "0.041", "complete"), (["0", "0"], "0", "complete"),
        ]
    )
    func beginningInReverseIsThatOfTheFirstMedia(durations: [String], start: String, step: String) throws {
        let timeline = try Self.timeline(durations)
        let end = "\(timeline.end)"
        let scheduler = Self.scheduler(end, start == "0" && end == "0" ? nil : (start, end), isReverse: true)
        #expect(Self.name(scheduler.nextStep(in: timeline)) == step)
    }

    @Test func bufferInReverseHoldsTwoSegments() throws {
        let timeline = try Self.timeline(["20", "20", "20", "20"])
        #expect(Self.name(Self.scheduler("80", ("60", "80"), isReverse: true).nextStep(in: timeline)) == "fetch 2")
        #expect(Self.name(Self.scheduler("80", ("40", "80"), isReverse: true).nextStep(in: timeline)) == "wait 60")
    }

    @Test(arguments: [("55.999", "fetch 8"), ("56", "wait 78")])
    func fullMemoryAllowsOnlyUrgentSegmentsInReverse(position: String, step: String) throws {
        let scheduler = Self.scheduler(position, ("54", "60"), isReverse: true, isByteLimitReached: true)
        #expect(Self.name(scheduler.nextStep(in: try Self.timeline(Self.sixes))) == step)
    }

    // MARK: Loaded ranges

    @Test func bufferedDurationIsThatInTheDirectionOfPlayback() {
        let forward = Self.scheduler("2", ("1", "7"))
        #expect(forward.bufferedEnd == seconds("7") && forward.bufferedDuration == seconds("5"))
        let reverse = Self.scheduler("2", ("1", "7"), isReverse: true)
        #expect(reverse.bufferedEnd == seconds("1") && reverse.bufferedDuration == seconds("1"))
    }

    @Test(arguments: [("9.75", "20"), ("9.7499", "9.7499"), ("19.999", "20"), ("20", "20"), ("20.1", "20.1")])
    func loadedEndToleratesAQuarterOfASecond(position: String, end: String) {
        let loaded = MediaTimeRangeSet([Self.range("10", "20")])
        #expect(SegmentScheduler.loadedEnd(from: seconds(position), in: loaded) == seconds(end))
    }

    @Test(arguments: [
        ("20.2499", "10"), ("20.25", "20.25"), ("20", "10"), ("10.0001", "10"), ("10.000099995", "10.000099995"),
    ])
    func loadedStartToleratesAQuarterOfASecond(position: String, start: String) {
        let loaded = MediaTimeRangeSet([Self.range("10", "20")])
        #expect(SegmentScheduler.loadedStart(from: seconds(position), in: loaded) == seconds(start))
    }

    @Test(arguments: [("11.9", true), ("12", false), ("30", true), ("119.9", true), ("120", false), ("-0.1", false)])
    func timeIsMissingIfItsSegmentIsNotLoaded(time: String, isMissing: Bool) throws {
        let loaded = MediaTimeRangeSet([Self.range("12", "30")])
        #expect(SegmentScheduler.isMissing(seconds(time), in: try Self.timeline(Self.sixes), loaded) == isMissing)
    }

    // MARK: Buffer

    private static func entry(
        _ start: Int64,
        _ end: Int64,
        _ bytes: Int = 100,
        type: MediaType = .muxed,
        hasNoMedia: Bool = false,
        sequence: Int64? = nil
    ) -> StreamBuffer.Entry {
        var entry = StreamBuffer.Entry(
            range: MediaTimeRange(start: MediaTime(seconds: start), end: MediaTime(seconds: end)),
            type: type,
            byteCount: bytes,
            variant: nil,
            hasNoMedia: hasNoMedia
        )
        entry.segment = sequence.map { SegmentIdentification(address: "\($0).ts", sequence: $0) }
        return entry
    }

    private static func buffer(_ entries: [StreamBuffer.Entry]) -> StreamBuffer {
        var buffer = StreamBuffer()
        for entry in entries { buffer.insert(entry) }
        return buffer
    }

    @Test func bitRateIsUnknownWithoutBytesOrDuration() {
        #expect(Self.buffer([Self.entry(0, 6, 0)]).averageBitRate == nil)
        #expect(Self.buffer([Self.entry(6, 6, 100)]).averageBitRate == nil)
        #expect(Self.buffer([Self.entry(0, 8, 1)]).averageBitRate == BitRate(bitsPerSecond: 1))
        #expect(Self.buffer([Self.entry(0, 3, 1)]).averageBitRate == BitRate(bitsPerSecond: 3))
    }

    @Test func segmentsAreInTheOrderOfTheirTimes() {
        let buffer = Self.buffer([Self.entry(12, 18), Self.entry(0, 6), Self.entry(6, 12)])
        #expect(buffer.entries.map(\.range.start) == [0, 6, 12].map { MediaTime(seconds: $0) })
        #expect(buffer.loaded.ranges == [Self.range("0", "18")] && buffer.current == buffer.loaded)
    }

    @Test func discardedRangesAreThoseOfEachType() {
        var buffer = Self.buffer([
            Self.entry(0, 6, type: .video), Self.entry(0, 5, type: .audio), Self.entry(5, 10, type: .audio),
            Self.entry(6, 12, type: .video, hasNoMedia: true), Self.entry(12, 18, type: .video),
        ])
        #expect(buffer.withoutMedia.ranges == [Self.range("6", "12")])
        let discarded = buffer.discard(before: MediaTime(seconds: 12))
        #expect(discarded == [.video: Self.range("0", "12"), .audio: Self.range("0", "10")])
        #expect(buffer.withoutMedia.isEmpty && buffer.byteCount == 100 && buffer.entries.count == 1)
        #expect(buffer.loaded.ranges == [Self.range("12", "18")] && buffer.current == buffer.loaded)
        let rest = buffer.discard(after: MediaTime(seconds: 12))
        #expect(rest == [.video: Self.range("12", "18")])
        #expect(buffer.loaded.isEmpty && buffer.byteCount == 0)
    }

    @Test(arguments: [(199, 6), (200, -8), (99, 12)] as [(Int64, Int64)])
    func segmentThatEndsAtThePositionIsBehindIt(limit: Int64, start: Int64) {
        let buffer = Self.buffer((0..<5).map { Self.entry($0 * 6, $0 * 6 + 6) })
        let found = buffer.retentionStart(
            before: MediaTime(seconds: 12),
            duration: MediaTime(seconds: 20),
            byteLimit: ByteCount(limit)
        )
        #expect(found == MediaTime(seconds: start))
    }

    @Test(arguments: [(99, 18), (100, 24), (199, 24), (200, 38)] as [(Int64, Int64)])
    func segmentThatBeginsAtThePositionIsAfterIt(limit: Int64, end: Int64) {
        let buffer = Self.buffer((0..<5).map { Self.entry($0 * 6, $0 * 6 + 6) })
        let found = buffer.retentionEnd(
            after: MediaTime(seconds: 18),
            duration: MediaTime(seconds: 20),
            byteLimit: ByteCount(limit)
        )
        #expect(found == MediaTime(seconds: end))
    }

    @Test func segmentWithTheLargestPartHasMedia() {
        let buffer = Self.buffer([
            Self.entry(0, 6, sequence: 0), Self.entry(6, 12, hasNoMedia: true, sequence: 1), Self.entry(6, 12),
            Self.entry(12, 18, type: .audio, sequence: 2), Self.entry(18, 24, type: .video, sequence: 3),
        ])
        func sequence(_ start: String, _ end: String, _ type: MediaType) -> Int64? {
            buffer.segment(of: type, in: Self.range(start, end))?.sequence
        }
        #expect(sequence("6", "12", .muxed) == nil && sequence("5", "14", .audio) == 2)
        #expect(sequence("4", "13", .audio) == 0 && sequence("4", "14", .audio) == 2)
        #expect(sequence("13", "20", .video) == 3 && sequence("13", "20", .muxed) == 2)
        #expect(sequence("12", "18", .video) == nil && sequence("12", "24", .subtitles) == nil)
    }

    // MARK: Offset

    @Test func rateIsChangedOnlyWhileTheOffsetDiffers() {
        var control = LiveOffsetControl()
        func factor(_ offset: String) -> Double {
            control.rateFactor(
                offset: seconds(offset),
                target: seconds("20"),
                bufferedDuration: .seconds(10),
                minimumBuffer: .seconds(6)
            )
        }
        let factors = ["20.499", "20.5", "20", "19.5", "19.9", "19.901", "19.501"].map { factor($0) }
        #expect(factors == [1, 1.05, 1, 0.95, 0.95, 1, 1])
    }

    // MARK: Families

    @Test func sampleEntriesOfDolbyVisionBelongTogether() throws {
        let codecs = ["avc1.4d", "dvhe.05", "dvh1.05"]
        let lines = codecs.enumerated().map { number, codec in
            "#EXT-X-STREAM-INF:BANDWIDTH=\(number + 1),CODECS=\"\(codec)\"\nv\(number).m3u8\n"
        }
        let presentation = Presentation(try multivariant("#EXTM3U\n" + lines.joined()))
        let found = VariantFamily.variants(of: presentation, for: MediaSelection())
        #expect(found.map(\.address.lastPathComponent) == ["v1.m3u8", "v2.m3u8"])
    }
}
