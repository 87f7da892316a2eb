import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

@Suite struct TrackStateTests {
    private static func source(_ name: String = "v") throws -> StreamSource {
        let presentation = Presentation(try multivariant("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(name).m3u8\n"))
        let variant = try #require(presentation.variants.first)
        return StreamSource(variant, location: 0, address: variant.address)
    }

    /// Returns a track whose playlist has segments of 4 s, up to 24 s by default.
    private static func track(_ window: LiveWindowText, source: StreamSource? = nil) throws -> TrackState {
        let source = try source ?? Self.source()
        var track = TrackState()
        track.source = source
        track.playlist = LoadedPlaylist(
            source: source,
            timeline: PresentationTimeline(try window.playlist),
            requestStart: .seconds(100),
            lastUpdate: .seconds(100)
        )
        return track
    }

    private static let finished = LiveWindowText(tail: ["#EXT-X-ENDLIST"])

    private static func entry(_ start: String, _ end: String, _ variant: String? = nil) -> StreamBuffer.Entry {
        StreamBuffer.Entry(
            range: MediaTimeRange(start: seconds(start), end: seconds(end)),
            type: .muxed,
            byteCount: 1,
            variant: variant.map { Self.variant($0) },
            isTrickPlay: false,
            hasNoMedia: variant == nil
        )
    }

    private static func variant(_ id: String) -> VariantDescription {
        VariantDescription(id: id, address: id, peakBitRate: BitRate(bitsPerSecond: 1))
    }

    private func request(_ number: Int) throws -> PlaylistRequest {
        let source = try Self.source()
        return PlaylistRequest(
            number: number,
            source: source,
            request: TransportRequest(source.address, kind: .key),
            began: .zero
        )
    }

    // MARK: Waits

    /// Between two reloads of a live playlist nothing is requested.
    @Test func aLiveTrackWaitsForNewSegments() throws {
        let source = try Self.source()
        var live = try Self.track(LiveWindowText(), source: source)
        #expect(live.wait == .update(source.address, since: .seconds(100), failure: nil))
        live.reloads.begin(try request(1))
        live.reloads.failure = "the server responded with 503"
        #expect(live.wait == .update(source.address, since: .seconds(100), failure: "the server responded with 503"))
        live.failures.retryTime = .seconds(120)
        #expect(live.wait == .retry(at: .seconds(120)))
        let complete = try Self.track(Self.finished)
        #expect(complete.wait == nil)
    }

    // MARK: Completeness

    /// The segments are loaded up to a time; the end of playback is that of the item unless it is given.
    @Test(
        arguments: [
            ("24", nil, true), ("23.9", nil, true), ("23.89", nil, false), ("10", "10.1", true), ("10", "10.11", false),
            ("24", "30", true), ("23.8", "30", false),
        ] as [(String, String?, Bool)]
    )
    func aTrackIsCompleteUpToATenthOfASecond(loaded: String, end: String?, isComplete: Bool) throws {
        var track = try Self.track(Self.finished)
        track.buffer.insert(Self.entry("0", loaded, "v"))
        #expect(track.isComplete(upTo: end.map { seconds($0) }) == isComplete)
    }

    @Test func aLiveTrackIsCompleteOnlyUpToAGivenEnd() throws {
        var track = try Self.track(LiveWindowText())
        track.buffer.insert(Self.entry("0", "24", "v"))
        #expect(!track.isComplete(upTo: nil))
        #expect(track.isComplete(upTo: seconds("24")) && !track.isComplete(upTo: seconds("30")))
    }

    @Test func aTrackWithoutMediaIsNotComplete() throws {
        #expect(!TrackState().isComplete(upTo: nil))
        let (finished, live) = (try Self.track(Self.finished), try Self.track(LiveWindowText()))
        #expect(!finished.isComplete(upTo: nil) && !live.isComplete(upTo: .zero))
    }

    // MARK: Live playlists

    @Test(arguments: [(100, 0), (106, 0), (107, 7), (120, 20)])
    func aPlaylistStandsStillAfterOneAndAHalfTargetDurations(now: Int, standstill: Int) throws {
        let live = try Self.track(LiveWindowText())
        #expect(live.standstill(at: .seconds(now)) == .seconds(standstill))
        #expect(try Self.track(Self.finished).standstill(at: .seconds(now)) == .zero)
        #expect(TrackState().standstill(at: .seconds(now)) == .zero)
    }

    @Test func aReloadIsDueForTheCurrentSourceAlone() throws {
        var track = try Self.track(LiveWindowText())
        let reload = ReloadSchedule.Reload(time: .seconds(104), directives: DeliveryDirectives())
        #expect(track.nextReload(mayReload: true) == nil && track.nextDeadline(mayReload: true) == nil)
        track.reloads.apply(.reload(reload))
        #expect(track.nextReload(mayReload: true) == reload && track.nextReload(mayReload: false) == nil)
        #expect(track.nextDeadline(mayReload: true) == .seconds(104))
        #expect(track.nextDeadline(mayReload: false) == nil)
        track.nextStepTime = .seconds(103)
        track.nextReviewTime = .seconds(102)
        #expect(track.nextDeadline(mayReload: true) == .seconds(102))
        #expect(!track.hasWorkInProgress)
        track.reloads.begin(try request(3))
        #expect(track.nextReload(mayReload: true) == nil && track.hasWorkInProgress)
        let other = track.reloads.end(2)
        let ended = track.reloads.end(3)
        let again = track.reloads.end(3)
        #expect(other == nil && ended?.number == 3 && again == nil)
        #expect(track.nextReload(mayReload: true) == reload)
        let source = track.source
        track.source = try Self.source("other")
        #expect(track.nextReload(mayReload: true) == nil)
        track.source = nil
        #expect(track.nextReload(mayReload: true) == nil)
        track.source = source
        track.reloads.apply(.stuck(reload))
        #expect(track.reloads.next == reload)
        track.reloads.apply(.finish)
        #expect(track.reloads.next == nil)
    }

    // MARK: Transfers

    /// The segment from 8 s to 12 s is transferred, and media is loaded up to 8 s.
    private func transferring() throws -> TrackState {
        var track = try Self.track(Self.finished)
        let segment = try #require(track.timeline?.segments[2])
        let source = try #require(track.source)
        track.buffer.insert(Self.entry("0", "8", "v"))
        track.fetch = .transferring(
            FetchJob(request: 7, segment: segment, source: source, began: .zero, isSubstitute: false)
        )
        return track
    }

    @Test(arguments: [("0", true), ("7", true), ("8", true), ("11.9", true), ("12", false), ("20", false)])
    func aSeekKeepsATransferThatItNeeds(target: String, isKept: Bool) throws {
        var track = try transferring()
        track.failures.tried = [try Self.source()]
        track.failures.retryTime = .seconds(1)
        track.seek(to: seconds(target))
        #expect((track.job?.request == 7) == isKept)
        #expect(track.isFetching && track.hasWorkInProgress)
        #expect(track.failures.tried.isEmpty && track.failures.retryTime == nil)
    }

    @Test func aChangeOfTheSourceEndsTheTransferAndTheFailures() throws {
        var track = try transferring()
        track.failures.terminalError = StreamingError(.damaged, "no")
        track.failures.retryTime = .seconds(1)
        let source = track.source
        track.change(to: source)
        #expect(track.failures.terminalError != nil && track.failures.retryTime == nil)
        #expect(track.job == nil && track.isFetching)
        track.change(to: nil)
        #expect(track.failures.terminalError == nil && track.source == nil)
        #expect(track.playlistSource == source)
    }

    @Test func theTrackOfATransferIsFoundByItsNumber() throws {
        var tracks = TrackSet()
        tracks.audio = try transferring()
        #expect(tracks.hasWorkInProgress)
        #expect(tracks.kind(ofTransfer: 7) == .audio && tracks.kind(ofTransfer: 8) == nil)
        #expect(tracks.kind(ofAppend: 7) == nil)
        tracks.audio.failures.terminalError = StreamingError(.damaged, "no")
        tracks.audio.failures.retryTime = .seconds(1)
        tracks.main.failures.retryTime = .seconds(1)
        tracks.retryFailedTracks()
        #expect(tracks.audio.failures.terminalError == nil && tracks.audio.failures.retryTime == nil)
        #expect(tracks.main.failures.retryTime == .seconds(1))
    }

    // MARK: Variants

    private func moment(_ position: Int64, rate: Double) -> PlaybackMoment {
        PlaybackMoment(
            now: .zero,
            position: MediaTime(seconds: position),
            isPositioned: true,
            seek: nil,
            desiredRate: rate,
            isPausedAtStart: false,
            rate: rate,
            timebase: Timebase(),
            limits: PlaybackMoment.Limits(StreamingOptions())
        )
    }

    /// Media of the variants `a` and `b`, with a gap from 6 s to 12 s between them.
    @Test(
        arguments: [
            ("a", 3, 1, 12), ("b", 3, 1, nil), ("a", 12, 1, 18), ("a", 11, 1, 12), ("b", 15, -1, 12),
            ("a", 15, -1, nil),
            ("a", 8, -1, nil), ("b", 30, -1, 12),
        ] as [(String, Int64, Double, Int64?)]
    )
    func theNextVariantBeginsInTheDirectionOfPlayback(
        played: String,
        position: Int64,
        rate: Double,
        change: Int64?
    ) {
        var tracks = TrackSet()
        tracks.main.buffer.insert(Self.entry("0", "6", "a"))
        tracks.main.buffer.insert(Self.entry("6", "12"))
        tracks.main.buffer.insert(Self.entry("12", "18", "b"))
        tracks.main.buffer.insert(Self.entry("18", "24", "b"))
        let found = tracks.nextVariantChange(from: Self.variant(played), moment(position, rate: rate))
        #expect(found == change.map { MediaTime(seconds: $0) })
    }
}
