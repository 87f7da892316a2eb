import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of what can be played of several tracks.
///
/// The main playlist ends at 24 s, that of the audio at 20 s.
@Suite struct TrackSetTests {
    private static func range(_ start: String, _ end: String) -> MediaTimeRange {
        MediaTimeRange(start: seconds(start), end: seconds(end))
    }

    private static func entry(
        _ start: String,
        _ end: String,
        _ type: MediaType = .video,
        bytes: Int = 1,
        hasNoMedia: Bool = false
    ) -> StreamBuffer.Entry {
        StreamBuffer.Entry(
            range: range(start, end),
            type: type,
            byteCount: bytes,
            variant: nil,
            hasNoMedia: hasNoMedia
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
        _ position: String,
        rate: Double = 1,
        isPositioned: Bool = true,
        _ change: (inout StreamingOptions) -> Void = { _ in }
    ) -> PlaybackMoment {
        var options = StreamingOptions()
        change(&options)
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

    // MARK: Tracks

    /// A damaged segment that is no longer buffered is named too.
    @Test func listedSegmentsAreFoundByTheirTimes() throws {
        var tracks = TrackSet()
        #expect(tracks.listedSegment(of: .video, at: .zero) == nil)
        tracks.main = try Self.track(6)
        let sequences = try #require(tracks.main.timeline).segments.map(\.sequence)
        let (first, last) = (try #require(sequences.first), try #require(sequences.last))
        #expect(tracks.listedSegment(of: .video, at: seconds("1"))?.sequence == first)
        #expect(tracks.listedSegment(of: .audio, at: seconds("1"))?.sequence == first)
        #expect(tracks.listedSegment(of: .muxed, at: seconds("60"))?.sequence == last)
        tracks.audio = try Self.track(5)
        let listed = try #require(tracks.audio.timeline).segments.map(\.address)
        #expect(tracks.listedSegment(of: .audio, at: seconds("60"))?.address == listed.last)
    }

    @Test func playbackWaitsForTheTracksWithASource() throws {
        var tracks = try Self.tracks("0", "0")
        #expect(tracks.required == [.main, .audio])
        tracks.main.source = nil
        #expect(tracks.required == [.audio])
        tracks.audio.source = nil
        tracks.subtitles = try Self.track(6)
        #expect(tracks.required == [])
        tracks.main = try Self.track(6)
        #expect(tracks.required == [.main])
    }

    @Test func theBitRateIsThatOfAllTracks() throws {
        var tracks = try Self.tracks("0", "0")
        tracks.main.buffer.insert(Self.entry("0", "6", bytes: 6_000))
        #expect(tracks.averageBitRate == nil)
        tracks.audio.buffer.insert(Self.entry("0", "6", .audio, bytes: 3_000))
        #expect(tracks.byteCount == 9_002)
        #expect(tracks.averageBitRate == BitRate(bitsPerSecond: 12_002))
        #expect(TrackSet().averageBitRate == nil)
    }

    // MARK: Ranges

    @Test func muxedAudioCountsFromItsStart() throws {
        var tracks = try Self.tracks("6")
        tracks.main.buffer = StreamBuffer()
        tracks.main.buffer.insert(Self.entry("0", "6", .muxed))
        tracks.main.buffer.insert(Self.entry("6", "12", .video))
        tracks.main.buffer.insert(Self.entry("12", "18", .muxed, hasNoMedia: true))
        tracks.main.buffer.insert(Self.entry("18", "24", .muxed))
        #expect(tracks.loaded(of: .audio).ranges == [Self.range("0", "6"), Self.range("18", "24")])
        #expect(tracks.loaded(of: .main).ranges == [Self.range("0", "24")])
        tracks.muxedAudioStart = seconds("3")
        #expect(tracks.current(of: .audio).ranges == [Self.range("3", "6"), Self.range("18", "24")])
        tracks.muxedAudioStart = seconds("6")
        #expect(tracks.current(of: .audio).ranges == [Self.range("18", "24")])
        tracks.muxedAudioStart = nil
        #expect(tracks.current(of: .audio).ranges == [])
        // The separate audio begins within the tolerance.
        tracks.audio.buffer.insert(Self.entry("6.25", "12", .audio))
        tracks.audio.buffer.insert(Self.entry("12", "17.74", .audio))
        #expect(tracks.loaded(of: .audio).ranges == [Self.range("0", "17.74"), Self.range("18", "24")])
    }

    @Test func gapsAreNotLoadedButPlayable() throws {
        var tracks = try Self.tracks("6")
        tracks.main.buffer.insert(Self.entry("6", "12", hasNoMedia: true))
        let moment = Self.moment("0")
        #expect(tracks.playableRanges(moment).ranges == [Self.range("0", "12")])
        #expect(tracks.loadedRanges(moment).ranges == [Self.range("0", "6")])
        #expect(tracks.leftOutRanges.ranges == [Self.range("6", "12")])
        #expect(TrackSet().playableRanges(moment).ranges == [])
    }

    // MARK: Extent

    @Test func theLongerTrackIsPlayedToItsEnd() throws {
        let tracks = try Self.tracks("24", "20")
        #expect(tracks.endOfPlayback(Self.moment("0")) == seconds("24"))
        #expect(tracks.endOfPlayback(Self.moment("0") { $0.forwardPlaybackEndTime = seconds("10") }) == seconds("10"))
        #expect(tracks.endOfPlayback(Self.moment("0") { $0.forwardPlaybackEndTime = seconds("30") }) == seconds("24"))
        var live = TrackSet()
        #expect(live.endOfPlayback(Self.moment("0")) == nil)
        live.main = try Self.track(6, isLive: true)
        #expect(live.endOfPlayback(Self.moment("0")) == nil)
        #expect(live.endOfPlayback(Self.moment("0") { $0.forwardPlaybackEndTime = seconds("10") }) == seconds("10"))
    }

    @Test(arguments: [("12", "8", "8"), ("8", "12", "8"), ("24", "19.8", "24"), ("24", "19.7", "19.7")])
    func playbackContinuesWhileAllTracksHaveMediaOrHaveEnded(main: String, audio: String, reach: String) throws {
        let tracks = try Self.tracks(main, audio)
        let moment = Self.moment("2")
        #expect(tracks.playableReach(from: moment.position, moment) == seconds(reach))
        #expect(tracks.ahead(moment) == (seconds(reach) - seconds("2")).duration)
        #expect(tracks.ahead(Self.moment("2", isPositioned: false)) == .zero)
    }

    @Test func reversePlaybackContinuesToTheLatestStart() throws {
        var tracks = try Self.tracks("12", "0")
        tracks.audio.buffer.insert(Self.entry("4", "12", .audio))
        let moment = Self.moment("8", rate: -1)
        #expect(tracks.playableReach(from: moment.position, moment) == seconds("4"))
        #expect(tracks.ahead(moment) == .seconds(4))
        #expect(TrackSet().playableReach(from: moment.position, moment) == moment.position)
    }

    // MARK: Buffer

    private func state(_ tracks: TrackSet, _ moment: PlaybackMoment) -> BufferState {
        tracks.bufferState(moment, startOfPlayback: .zero) { ahead, segment in ahead >= segment * 2 }
    }

    @Test(
        arguments: [
            ("23.9", nil, "0", true), ("23.89", nil, "0", false), ("4", nil, "24", true), ("4", nil, "20", false),
            ("24", "19.9", "0", true), ("24", "19.89", "0", false),
        ] as [(String, String?, String, Bool)]
    )
    func theEndIsReachedWithATenthOfASecondLeft(
        main: String,
        audio: String?,
        position: String,
        reachesEnd: Bool
    ) throws {
        let state = state(try Self.tracks(main, audio), Self.moment(position))
        #expect(state.reachesEnd == reachesEnd)
        if reachesEnd { #expect(state.bufferedDuration == (seconds("24") - seconds(position)).duration) }
    }

    @Test(arguments: [("0.1", true), ("0.11", false)])
    func theStartIsReachedInReverseWithATenthOfASecondLeft(start: String, reachesEnd: Bool) throws {
        var tracks = try Self.tracks("24")
        tracks.main.buffer = StreamBuffer()
        tracks.main.buffer.insert(Self.entry(start, "8"))
        let state = state(tracks, Self.moment("8", rate: -1))
        #expect(state.reachesEnd == reachesEnd)
        #expect(state.bufferedDuration == (seconds("8") - seconds(start)).duration)
    }

    @Test func theBufferSufficesAccordingToTheRuleOrAfterAnError() throws {
        var tracks = try Self.tracks("8")
        #expect(state(tracks, Self.moment("0")).isSufficient && !state(tracks, Self.moment("0.1")).isSufficient)
        tracks.main.failures.terminalError = StreamingError(.damaged, "no")
        #expect(state(tracks, Self.moment("0.1")).isSufficient && !state(tracks, Self.moment("8")).isSufficient)
        #expect(state(tracks, Self.moment("0", isPositioned: false)) == BufferState())
    }

    @Test func aBufferBeyondItsSizeIsFull() throws {
        let tracks = try Self.tracks("8")
        #expect(!state(tracks, Self.moment("0")).isFull)
        #expect(!tracks.isOutOfMemory(Self.moment("0") { $0.bufferByteLimit = ByteCount(1) }))
        #expect(state(tracks, Self.moment("0") { $0.bufferByteLimit = ByteCount(0) }).isFull)
    }

    @Test func segmentsInProgressCountAgainstTheSizeOfTheBuffer() throws {
        let tracks = try Self.tracks("8")
        var moment = Self.moment("0") { $0.bufferByteLimit = ByteCount(10) }
        moment.unfinishedBytes = 9
        #expect(!tracks.isOutOfMemoryForTransfers(moment))
        moment.unfinishedBytes = 10
        #expect(tracks.isOutOfMemoryForTransfers(moment) && !tracks.isOutOfMemory(moment))
        #expect(!state(tracks, moment).isFull)
    }

    @Test func aTimeIsLoadedIfNoMediaOfItIsMissing() throws {
        let partial = try Self.tracks("12")
        #expect(partial.isLoaded(seconds("11")) && !partial.isLoaded(seconds("12")) && !partial.isLoaded(seconds("30")))
        let complete = try Self.tracks("24")
        #expect(complete.isLoaded(seconds("24")) && complete.isLoaded(seconds("30")))
        #expect(!TrackSet().isLoaded(.zero))
        // The playlist is that of another source.
        var other = complete
        other.main.source = try Self.track(7).source
        #expect(other.isLoaded(seconds("23")) && !other.isLoaded(seconds("30")))
    }

    // MARK: Removal

    /// Tracks with media of 6 s each.
    private func removed(
        _ starts: [Int64],
        _ moment: PlaybackMoment,
        backBuffer: Int64 = 600,
        seekableStart: Int64 = 0
    ) throws -> [DiscardedRange] {
        var tracks = try Self.tracks("24")
        tracks.main.buffer = StreamBuffer()
        for start in starts { tracks.main.buffer.insert(Self.entry("\(start)", "\(start + 6)")) }
        return tracks.discardPlayed(
            moment,
            backBuffer: MediaTime(seconds: backBuffer),
            backBytes: ByteCount(1_000),
            startOfSeekableRange: MediaTime(seconds: seekableStart)
        )
    }

    private func video(_ start: String, _ end: String) -> [DiscardedRange] {
        [DiscardedRange(type: .video, range: Self.range(start, end))]
    }

    @Test func playedMediaIsRemovedInWholeSegments() throws {
        let starts: [Int64] = [0, 6, 12, 18, 24]
        #expect(try removed(starts, Self.moment("20")) == [])
        #expect(try removed(starts, Self.moment("20"), backBuffer: 15) == [])
        #expect(try removed(starts, Self.moment("20"), backBuffer: 14) == video("0", "6"))
        #expect(try removed(starts, Self.moment("20"), backBuffer: 6) == video("0", "12"))
        #expect(try removed(starts, Self.moment("20"), seekableStart: 12) == video("0", "12"))
        #expect(try removed(starts, Self.moment("20"), seekableStart: 99) == video("0", "18"))
        #expect(try removed(starts, Self.moment("20", isPositioned: false), backBuffer: 6) == [])
    }

    @Test func mediaFarAheadIsRemovedIfMemoryIsShort() throws {
        let short = Self.moment("0") { $0.bufferByteLimit = ByteCount(1) }
        #expect(try removed([0, 54], short) == video("54", "60"))
        #expect(try removed([0, 30], short) == video("30", "36"))
        #expect(try removed([0, 29], short) == [])
        #expect(try removed([0, 54], Self.moment("0")) == [])
    }

    @Test func mediaAfterThePlayheadIsRemovedInReverse() throws {
        let starts = (0..<10).map { Int64($0) * 6 }
        let moment = Self.moment("6", rate: -1)
        #expect(try removed(starts, moment, backBuffer: 6) == video("36", "60"))
        #expect(try removed(Array(starts.prefix(7)), moment, backBuffer: 6) == [])
        #expect(try removed(starts, moment, backBuffer: 60) == [])
    }
}
