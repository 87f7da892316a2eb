import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the waits of the tracks, of their contents, and of the renewal of their addresses.
@Suite struct TrackWaitEdgeTests {
    private static func source(_ name: String) throws -> StreamSource {
        let presentation = Presentation(try multivariant("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(name).m3u8\n"))
        let variant = try #require(presentation.variants.first)
        return StreamSource(variant, location: 0, address: variant.address)
    }

    private static func track(_ name: String, _ window: LiveWindowText, loaded: String? = nil) throws -> TrackState {
        let source = try source(name)
        var track = TrackState()
        track.source = source
        track.playlist = LoadedPlaylist(
            source: source,
            timeline: PresentationTimeline(try window.playlist),
            requestStart: .seconds(100),
            lastUpdate: .seconds(90)
        )
        if let loaded {
            track.buffer.insert(
                StreamBuffer.Entry(
                    range: MediaTimeRange(start: .zero, end: seconds(loaded)),
                    type: .video,
                    byteCount: 1,
                    variant: nil
                )
            )
        }
        return track
    }

    private static let finished = LiveWindowText(tail: ["#EXT-X-ENDLIST"])

    private static func request(_ number: Int, _ name: String) throws -> PlaylistRequest {
        let source = try source(name)
        return PlaylistRequest(
            number: number,
            source: source,
            request: TransportRequest(source.address, kind: .playlist),
            began: .seconds(Int64(number))
        )
    }

    private static func moment(_ position: String) -> PlaybackMoment {
        PlaybackMoment(
            now: .zero,
            position: seconds(position),
            isPositioned: true,
            seek: nil,
            desiredRate: 1,
            isPausedAtStart: false,
            rate: 1,
            timebase: Timebase(),
            limits: PlaybackMoment.Limits(StreamingOptions())
        )
    }

    // MARK: Waits

    @Test func aTrackWaitsForItsSegmentThenForItsPlaylistThenForARetry() throws {
        var track = try Self.track("v", LiveWindowText())
        let source = try #require(track.source)
        let segment = try #require(track.timeline?.segments.first)
        track.failures.retryTime = .seconds(7)
        #expect(track.wait == .retry(at: .seconds(7)))
        track.load = .loading(try Self.request(3, "w"))
        let other = ResourceAddress("https://example.com/w.m3u8")
        #expect(track.wait == .response(other, began: .seconds(3)))
        track.fetch = .transferring(
            FetchJob(request: 1, segment: segment, source: source, began: .seconds(2), isSubstitute: false)
        )
        #expect(track.wait == .response(segment.address, began: .seconds(2)))
    }

    @Test func aReloadIsAWaitOfATrackWithoutALivePlaylist() throws {
        var track = try Self.track("v", Self.finished)
        track.reloads.begin(try Self.request(4, "v"))
        #expect(track.wait == .response(ResourceAddress("https://example.com/v.m3u8"), began: .seconds(4)))
        var live = try Self.track("v", LiveWindowText())
        live.reloads.begin(try Self.request(4, "v"))
        live.source = try Self.source("w")
        #expect(live.wait == .response(ResourceAddress("https://example.com/v.m3u8"), began: .seconds(4)))
    }

    @Test(arguments: [("4", "8", 1), ("8", "4", 2), ("4", nil, 1)] as [(String, String?, Int64)])
    func playbackWaitsForTheTrackWhoseBufferEndsFirst(main: String, audio: String?, retry: Int64) throws {
        var tracks = TrackSet()
        tracks.main = try Self.track("v", Self.finished, loaded: main)
        tracks.main.failures.retryTime = .seconds(1)
        if let audio {
            tracks.audio = try Self.track("a", Self.finished, loaded: audio)
            tracks.audio.failures.retryTime = .seconds(2)
        }
        tracks.subtitles = try Self.track("s", Self.finished)
        tracks.subtitles.failures.retryTime = .seconds(3)
        #expect(tracks.wait(Self.moment("1")) == .retry(at: .seconds(retry)))
        tracks.main.failures.retryTime = nil
        tracks.audio.failures.retryTime = nil
        #expect(tracks.wait(Self.moment("1")) == nil)
    }

    // MARK: Contents

    private static let dated = LiveWindowText(
        dateOfZero: 0,
        head: [
            #"#EXT-X-DATERANGE:ID="a",CLASS="com.apple.hls.interstitial",START-DATE="2026-03-01T00:00:04Z""#,
            #"#EXT-X-DATERANGE:ID="b",CLASS="com.example",START-DATE="2026-03-01T00:00:08Z""#,
            #"#EXT-X-DATERANGE:ID="c",START-DATE="2026-03-01T00:00:12Z""#,
        ],
        tail: ["#EXT-X-ENDLIST"]
    )

    @Test func theDateRangesAreThoseOfTheMainTrack() throws {
        var tracks = TrackSet()
        tracks.audio = try Self.track("a", Self.dated)
        var contents = PlaylistContents()
        contents.update(afterLoadOf: .audio, tracks)
        #expect(contents.dateRanges.isEmpty && contents.segmentBoundaries.revision == 1)
        tracks.main = try Self.track("v", Self.dated)
        contents.update(afterLoadOf: .audio, tracks)
        #expect(contents.dateRanges.isEmpty && contents.segmentBoundaries.revision == 2)
        contents.update(afterLoadOf: .main, tracks)
        #expect(contents.dateRanges.map(\.id) == ["a", "b", "c"] && contents.interstitialRanges.map(\.id) == ["a"])
        let source = try #require(tracks.main.source)
        tracks.trickPlay = .on(TrickPlay.Return(source: source, timeline: tracks.main.timeline))
        tracks.main.playlist = try Self.track("i", Self.finished).playlist
        contents.update(afterLoadOf: .main, tracks)
        #expect(contents.dateRanges.count == 3 && contents.segmentBoundaries.revision == 4)
        tracks.trickPlay = .off
        contents.update(afterLoadOf: .main, tracks)
        #expect(contents.dateRanges.isEmpty && contents.interstitialRanges.isEmpty)
    }

    @Test func duringTrickPlayTheTimelineIsThatOfTheVariantAfterIt() throws {
        var tracks = TrackSet()
        tracks.main = try Self.track("i", LiveWindowText(count: 3, tail: ["#EXT-X-ENDLIST"]))
        tracks.audio = try Self.track("a", LiveWindowText(count: 5, tail: ["#EXT-X-ENDLIST"]))
        let source = try Self.source("v")
        let timeline = PresentationTimeline(try Self.finished.playlist)
        tracks.trickPlay = .on(TrickPlay.Return(source: source, timeline: timeline))
        #expect(tracks.fullTimeline(of: .main)?.end == seconds("24"))
        #expect(tracks.fullTimeline(of: .audio)?.end == seconds("20"))
        tracks.trickPlay = .leaving(TrickPlay.Return(source: source, timeline: nil))
        #expect(tracks.fullTimeline(of: .main)?.end == seconds("12"))
        #expect(tracks.trickPlay.isActive && tracks.trickPlay.isLeaving)
        tracks.trickPlay = .off
        #expect(tracks.fullTimeline(of: .main)?.end == seconds("12"))
    }

    // MARK: Renewal

    private static func option(_ address: String) throws -> MediaSelectionOption {
        let presentation = try presentation(address)
        return try #require(presentation.group(.audio)?.options.first)
    }

    private static func presentation(_ address: String) throws -> Presentation {
        Presentation(
            try multivariant(
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="\(address)"
                #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
                v.m3u8
                #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i\(address)"
                """
            )
        )
    }

    @Test func optionsAndIFrameVariantsAreRenewed() throws {
        var renewal = AddressRenewal()
        renewal.enable()
        let source = try Self.source("v")
        let former = try Self.option("old.m3u8")
        let iFrames = try #require(try Self.presentation("old.m3u8").iFrameVariants.first)
        #expect(renewal.current(former) == former && !renewal.isAwaited(by: source) && !renewal.isLoading)
        _ = renewal.begin(after: 403, of: .playlist, from: source, nextRequest: { 1 })
        let isEnded = renewal.end(1, with: try Self.presentation("new.m3u8"))
        #expect(isEnded && !renewal.isAwaited(by: source))
        let renewed = renewal.current(former)
        #expect(renewed.encodings.map { $0.address?.lastPathComponent } == ["new.m3u8"])
        #expect(renewal.locations(of: iFrames).map(\.address.lastPathComponent) == ["inew.m3u8"])
        let isEndedAgain = renewal.end(1, with: nil)
        #expect(!isEndedAgain && renewal.count == 1)
    }

    /// The playlist and the segments of a source are renewed independently.
    @Test func anotherKindOfResourceLeadsToAnotherRenewal() throws {
        var renewal = AddressRenewal()
        renewal.enable()
        let source = try Self.source("v")
        func begin(_ resource: AddressRenewal.Resource, _ request: Int) -> AddressRenewal.Beginning? {
            renewal.begin(after: 403, of: resource, from: source, nextRequest: { request })
        }
        let first = begin(.playlist, 1)
        _ = renewal.end(1, with: nil)
        let (same, other) = (begin(.playlist, 2), begin(.segment, 3))
        #expect(first == .begun(request: 1) && same == nil && other == .begun(request: 3))
        _ = renewal.end(3, with: nil)
        // The load of a playlist does not show that segments can be loaded.
        renewal.loaded(.playlist, from: source)
        let (segment, playlist) = (begin(.segment, 4), begin(.playlist, 5))
        #expect(segment == nil && playlist == .begun(request: 5))
    }
}
