import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of full and complete buffers, of separate audio, and of the work of several tracks.
///
/// The main playlist ends at 24 s, that of the audio at 20 s; segments last 4 s.
@Suite struct TrackSetEdgeTests {
    private static func range(_ start: String, _ end: String) -> MediaTimeRange {
        MediaTimeRange(start: seconds(start), end: seconds(end))
    }

    private static func entry(
        _ start: String,
        _ end: String,
        _ type: MediaType = .video,
        isTrickPlay: Bool = false,
        hasNoMedia: Bool = false,
        segment: String? = nil
    ) -> StreamBuffer.Entry {
        StreamBuffer.Entry(
            range: range(start, end),
            type: type,
            byteCount: 1,
            variant: nil,
            isTrickPlay: isTrickPlay,
            hasNoMedia: hasNoMedia,
            segment: segment.map { SegmentIdentification(address: $0, sequence: nil) }
        )
    }

    private static func track(_ count: Int, isLive: Bool = false) throws -> TrackState {
        let presentation = Presentation(
            try multivariant("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(count).m3u8\n")
        )
        let variant = try #require(presentation.variants.first)
        let source = StreamSource(variant, location: 0, address: variant.address)
        let window = LiveWindowText(count: count, tail: isLive ? [] : ["#EXT-X-ENDLIST"])
        var track = TrackState()
        track.source = source
        track.playlist = LoadedPlaylist(
            source: source,
            timeline: PresentationTimeline(try window.playlist),
            requestStart: .zero,
            lastUpdate: .zero
        )
        return track
    }

    /// Returns tracks that are loaded up to the given times; without audio if its time is `nil`.
    private static func tracks(_ end: String, _ audioEnd: String? = nil) throws -> TrackSet {
        var tracks = TrackSet()
        tracks.main = try track(6)
        tracks.main.buffer.insert(entry("0", end))
        if let audioEnd {
            tracks.audio = try track(5)
            tracks.audio.buffer.insert(entry("0", audioEnd, .audio))
        }
        return tracks
    }

    private static func moment(
        _ position: String = "0",
        rate: Double = 1,
        capacity: Int = 30,
        isPositioned: Bool = true,
        bytes: Int64 = 1_000
    ) -> PlaybackMoment {
        var options = StreamingOptions()
        options.preferredForwardBufferDuration = .seconds(capacity)
        options.bufferByteLimit = ByteCount(bytes)
        return PlaybackMoment(
            now: .zero,
            position: seconds(position),
            isPositioned: isPositioned,
            seek: nil,
            desiredRate: rate,
            isPausedAtStart: false,
            rate: rate,
            timebase: Timebase(),
            limits: PlaybackMoment.Limits(options)
        )
    }

    // MARK: Full buffers

    /// The next segment of 4 s does not fit into a buffer of 8 s that has more than 4 s.
    @Test(
        arguments: [
            ("8", nil, true), ("4", nil, false), ("8", "8", true), ("8", "4", false), ("4", "8", false),
            ("8", "20", true), ("8", "19.9", true), ("24", nil, false), ("24", "20", false),
        ] as [(String, String?, Bool)]
    )
    func theBufferIsFullIfEachTrackIsFullOrHasEnded(main: String, audio: String?, isFull: Bool) throws {
        let tracks = try Self.tracks(main, audio)
        let state = tracks.bufferState(Self.moment(capacity: 8), startOfPlayback: .zero) { _, _ in false }
        #expect(state.isFull == isFull && !state.isSufficient)
    }

    @Test(arguments: [("8", "0", false), ("8", "7.98", false), ("8", "7.981", true), ("8", "8", true)])
    func aBufferWithLessThanTwentyMillisecondsIsEmpty(end: String, position: String, isEmpty: Bool) throws {
        let tracks = try Self.tracks(end)
        #expect(tracks.isBufferEmpty(Self.moment(position), startOfPlayback: .zero) == isEmpty)
        #expect(tracks.isBufferEmpty(Self.moment(position, isPositioned: false), startOfPlayback: .zero))
    }

    @Test func segmentsOfAnUnknownPlaylistLastSixSeconds() throws {
        var tracks = try Self.tracks("8")
        var durations: [Duration] = []
        func note() {
            _ = tracks.bufferState(Self.moment(), startOfPlayback: .zero) { _, segment in
                durations.append(segment)
                return true
            }
        }
        note()
        tracks.main.playlist = nil
        note()
        #expect(durations == [.seconds(4), .seconds(6)])
    }

    @Test(
        arguments: [
            ("24", "20", true), ("23.9", "19.9", true), ("24", "19.8", false), ("23.8", "20", false), ("24", nil, true),
        ] as [(String, String?, Bool)]
    )
    func allTracksAreCompleteUpToTheirEnds(main: String, audio: String?, isComplete: Bool) throws {
        #expect(try Self.tracks(main, audio).isComplete(Self.moment()) == isComplete)
    }

    @Test(
        arguments: [
            ("12", nil, 12, true), ("12", nil, 15, true), ("12", nil, 16, false), ("12", nil, 30, false),
            ("24", nil, 30, true), ("24", "20", 30, true), ("24", "4", 30, false), ("4", "20", 30, false),
        ] as [(String, String?, Int, Bool)]
    )
    func gapsFillTheBufferOrTheRestOfTheItem(main: String, audio: String?, capacity: Int, isFilled: Bool) throws {
        let tracks = try Self.tracks(main, audio)
        #expect(tracks.isFilledWithGaps(at: .zero, Self.moment(capacity: capacity)) == isFilled)
    }

    @Test func aTimeOfAPlaylistWithoutSegmentsIsLoadedOnceItHasEnded() throws {
        var tracks = try Self.tracks("4")
        tracks.audio = try Self.track(0)
        #expect(tracks.isLoaded(seconds("2")) && !tracks.isLoaded(seconds("5")))
        tracks.audio = try Self.track(0, isLive: true)
        #expect(!tracks.isLoaded(seconds("2")))
    }

    @Test func trickPlayBuffersFourSecondsOfTheClock() throws {
        var tracks = try Self.tracks("4")
        #expect(tracks.capacity(Self.moment(rate: 16)) == seconds("30"))
        let source = try #require(tracks.main.source)
        tracks.trickPlay = .on(TrickPlay.Return(source: source, timeline: nil))
        #expect(tracks.capacity(Self.moment(rate: 16)) == seconds("64"))
        #expect(tracks.capacity(Self.moment(rate: 2)) == seconds("30"))
    }

    // MARK: Separate audio

    @Test(arguments: [("8", "12"), ("11.74", "12"), ("11.75", nil), ("12", nil)] as [(String, String?)])
    func audioIsFetchedUpToTheEndOfTheVideo(audio: String, end: String?) throws {
        var tracks = try Self.tracks("12", audio)
        // Neither is video without audio.
        tracks.main.buffer.insert(Self.entry("12", "16", .muxed))
        tracks.main.buffer.insert(Self.entry("16", "20", hasNoMedia: true))
        tracks.muxedAudioStart = nil
        let expected = end.map { seconds($0) }
        #expect(tracks.endOfSeparateAudio(Self.moment("2"), isAudioSelected: true) == expected)
        #expect(tracks.endOfSeparateAudio(Self.moment("2"), isAudioSelected: false) == nil)
        #expect(tracks.endOfSeparateAudio(Self.moment("2", rate: -1), isAudioSelected: true) == nil)
        #expect(tracks.endOfSeparateAudio(Self.moment("2", isPositioned: false), isAudioSelected: true) == nil)
        var failed = tracks
        failed.audio.failures.terminalError = StreamingError(.damaged, "no")
        #expect(failed.endOfSeparateAudio(Self.moment("2"), isAudioSelected: true) == nil)
        var scanning = tracks
        scanning.trickPlay = .on(TrickPlay.Return(source: try #require(tracks.main.source), timeline: nil))
        #expect(scanning.endOfSeparateAudio(Self.moment("2"), isAudioSelected: true) == nil)
        tracks.audio.source = nil
        #expect(tracks.endOfSeparateAudio(Self.moment("2"), isAudioSelected: true) == nil)
        tracks.separateAudioEnd = seconds("5")
        #expect(tracks.endOfSeparateAudio(Self.moment("2"), isAudioSelected: false) == seconds("5"))
    }

    @Test(arguments: [("2", "8"), ("9", "9"), ("8", "8")])
    func videoAfterTheAudioIsOutdated(time: String, end: String) throws {
        var tracks = try Self.tracks("12", "8")
        tracks.outdateVideoWithoutAudio(from: seconds(time))
        #expect(tracks.main.buffer.current.ranges == [Self.range("0", end)])
        #expect(tracks.main.buffer.loaded.ranges == [Self.range("0", "12")])
    }

    // MARK: Work

    private static func append(_ track: TrackState, request: Int, bytes: Int) throws -> SegmentAppend {
        SegmentAppend(
            job: try job(track, request: request),
            type: .video,
            variant: nil,
            byteCount: bytes,
            transferredBytes: .zero,
            transferDuration: .zero,
            isTrickPlay: false
        )
    }

    private static func job(_ track: TrackState, request: Int) throws -> FetchJob {
        FetchJob(
            request: request,
            segment: try #require(track.timeline?.segments.first),
            source: try #require(track.source),
            began: .zero,
            isSubstitute: false
        )
    }

    @Test func theTrackOfAnAppendIsFoundByItsNumber() throws {
        var tracks = try Self.tracks("4", "4")
        #expect(!tracks.hasWorkInProgress)
        tracks.main.fetch = .appending(try Self.append(tracks.main, request: 3, bytes: 1))
        tracks.subtitles.fetch = .appendingGap(
            GapAppend(
                request: 4,
                range: Self.range("0", "4"),
                segment: nil,
                type: .subtitles,
                reason: .gap,
                isTrickPlay: false,
                error: nil
            )
        )
        tracks.audio.fetch = .cancelling(try Self.job(tracks.audio, request: 5))
        #expect((3...6).map { tracks.kind(ofAppend: $0) } == [.main, .subtitles, nil, nil])
        #expect((3...6).map { tracks.kind(ofTransfer: $0) } == [nil, nil, nil, nil])
        #expect(tracks.hasWorkInProgress)
    }

    @Test func mediaThatIsBeingAppendedCountsAgainstTheSizeOfTheBuffer() throws {
        var tracks = try Self.tracks("4", "4")
        var moment = Self.moment(bytes: 10)
        moment.unfinishedBytes = 3
        tracks.main.fetch = .appending(try Self.append(tracks.main, request: 1, bytes: 2))
        tracks.audio.fetch = .appending(try Self.append(tracks.audio, request: 2, bytes: 3))
        #expect(!tracks.isOutOfMemoryForTransfers(moment))
        tracks.audio.fetch = .appending(try Self.append(tracks.audio, request: 2, bytes: 4))
        #expect(tracks.isOutOfMemoryForTransfers(moment) && !tracks.isOutOfMemory(moment))
        tracks.audio.fetch = .idle
        #expect(!tracks.isOutOfMemoryForTransfers(moment))
    }

    @Test func onlyErrorsOfRequiredTracksEndPlayback() throws {
        var tracks = try Self.tracks("4", "4")
        tracks.subtitles = try Self.track(4)
        tracks.subtitles.failures.terminalError = StreamingError(.notLoaded, "no")
        #expect(tracks.terminalError == nil)
        tracks.audio.failures.terminalError = StreamingError(.damaged, "no")
        #expect(tracks.terminalError?.code == .damaged)
    }

    @Test func theDamagedSegmentIsThatOfItsMediaType() throws {
        var tracks = TrackSet()
        tracks.main.buffer.insert(Self.entry("0", "4", .video, segment: "v0"))
        tracks.audio.buffer.insert(Self.entry("0", "4", .audio, segment: "a0"))
        #expect(tracks.segment(of: .audio, in: Self.range("1", "2"))?.address == "a0")
        #expect(tracks.segment(of: .video, in: Self.range("1", "2"))?.address == "v0")
        #expect(tracks.segment(of: .video, in: Self.range("5", "6")) == nil)
    }

    @Test func framesAreRemovedAfterTrickPlay() throws {
        var tracks = try Self.tracks("4")
        tracks.main.buffer.insert(Self.entry("8", "12", isTrickPlay: true))
        #expect(tracks.leaveTrickPlay().isEmpty && !tracks.trickPlay.isActive)
        let source = try #require(tracks.main.source)
        tracks.trickPlay = .on(TrickPlay.Return(source: source, timeline: nil))
        tracks.main.fetch = .transferring(try Self.job(tracks.main, request: 1))
        let removed = tracks.leaveTrickPlay()
        #expect(removed == [DiscardedRange(type: .video, range: Self.range("8", "12"))])
        #expect(tracks.trickPlay.isLeaving && tracks.main.job == nil && tracks.main.isFetching)
        #expect(tracks.main.buffer.entries.count == 1 && tracks.trickPlay.returning?.source == source)
    }
}
