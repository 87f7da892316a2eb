import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the loads of playlists, which may be in memory or arrive for another source.
@Suite struct PlaylistFollowerEdgeTests {
    private struct Stage {
        var plan = FetchPlan(policy: RecoveryPolicy(), chooser: VariantChooser(StreamingOptions()))
        var sink = EffectSink(now: .seconds(10))
        var live = LiveState()
        var follower = PlaylistFollower()
        let low: StreamSource
        let high: StreamSource
        let audio: StreamSource

        init() throws {
            let presentation = Presentation(
                try multivariant(
                    """
                    #EXTM3U
                    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="E",DEFAULT=YES,AUTOSELECT=YES,URI="g.m3u8"
                    #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,AUDIO="g"
                    low.m3u8
                    #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,AUDIO="g"
                    high.m3u8
                    """
                )
            )
            let sources = presentation.variants.map { StreamSource($0, location: 0, address: $0.address) }
            try #require(sources.count == 2)
            let option = try #require(presentation.group(.audio)?.options.first)
            low = sources[0]
            high = sources[1]
            audio = StreamSource(
                identity: .option(option.id),
                address: ResourceAddress("https://example.com/g.m3u8")
            )
            plan.catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
            plan.tracks.main.source = sources[0]
        }

        var moment: PlaybackMoment {
            PlaybackMoment(
                now: .seconds(10),
                position: .zero,
                isPositioned: true,
                seek: nil,
                desiredRate: 1,
                isPausedAtStart: false,
                rate: 1,
                timebase: Timebase(),
                limits: PlaybackMoment.Limits(StreamingOptions())
            )
        }

        /// Makes a playlist the current one of a track; returns whether the start position is known now.
        mutating func adopt(_ playlist: MediaPlaylist, from source: StreamSource, for kind: TrackKind = .main) -> Bool {
            let moment = moment
            let consequence = follower.adopt(
                playlist,
                from: source,
                for: kind,
                began: .seconds(9),
                &plan,
                &live,
                moment,
                &sink
            )
            if case .mainPlaylistLoaded = consequence { return true }
            return false
        }

        /// Returns whether the playlist of a source is in memory.
        mutating func load(_ source: StreamSource, for kind: TrackKind = .main) -> Bool {
            let moment = moment
            return follower.load(source, for: kind, &plan, moment, &sink)
        }

        /// Delivers the playlist of a request; returns whether the start position is known now.
        mutating func receive(_ playlist: MediaPlaylist, for request: Int) -> Bool {
            let moment = moment
            let response = PlaylistResponse(request: nil, result: .success(playlist))
            let consequence = follower.receive(response, for: request, &plan, &live, moment, &sink)
            if case .mainPlaylistLoaded = consequence { return true }
            return false
        }

        /// The requests for playlists, and the names of the reports.
        mutating func effects() -> [String] {
            sink.takeEffects(with: nil).compactMap { effect in
                switch effect {
                case .report(let event): event.kind.name
                case .begin(.loadPlaylist(let request, let resource, _)):
                    "load \(request) \(resource.address.lastPathComponent)"
                default: nil
                }
            }
        }
    }

    private static let finished = LiveWindowText(tail: ["#EXT-X-ENDLIST"])

    // MARK: Memory

    @Test func aPlaylistThatHasEndedIsNotLoadedAgain() throws {
        var stage = try Stage()
        let isFirst = stage.adopt(try Self.finished.playlist, from: stage.low)
        #expect(isFirst && stage.follower.playbackType == .vod && stage.effects().contains("playbackType"))
        #expect(stage.follower.contents.segmentBoundaries.revision == 1)
        #expect(stage.follower.knownTimeline(of: stage.low)?.end == seconds("24"))
        #expect(stage.follower.knownTimeline(of: stage.high) == nil)
        stage.plan.tracks.main.playlist = nil
        let isKnownToAudio = stage.load(stage.low, for: .audio)
        #expect(!isKnownToAudio && stage.effects() == ["load 1 low.m3u8"])
        let isKnown = stage.load(stage.low)
        #expect(isKnown && stage.effects() == [] && stage.plan.tracks.main.playlistSource == stage.low)
        #expect(stage.follower.contents.segmentBoundaries.revision == 2)
        let playlist = try #require(stage.plan.tracks.main.playlist)
        #expect(playlist.requestStart == .seconds(10) && playlist.lastUpdate == .seconds(10))
        let isOtherKnown = stage.load(stage.high)
        #expect(!isOtherKnown && stage.effects() == ["load 2 high.m3u8"])
        #expect(stage.plan.tracks.main.isLoadingPlaylist)
    }

    @Test func aLivePlaylistIsLoadedAgain() throws {
        var stage = try Stage()
        _ = stage.adopt(try LiveWindowText().playlist, from: stage.low)
        #expect(stage.follower.playbackType == .live && stage.follower.knownTimeline(of: stage.low) == nil)
        #expect(stage.plan.tracks.main.nextReload(mayReload: true)?.time == .seconds(13))
        _ = stage.effects()
        let isKnown = stage.load(stage.low)
        #expect(!isKnown && stage.effects() == ["load 1 low.m3u8"])
        // The type of the item does not change.
        _ = stage.adopt(try Self.finished.playlist, from: stage.low)
        #expect(stage.follower.playbackType == .live && !stage.effects().contains("playbackType"))
        #expect(stage.plan.tracks.main.nextReload(mayReload: true) == nil)
    }

    @Test func aFileHasItsOwnType() {
        var follower = PlaylistFollower()
        var sink = EffectSink(now: .zero)
        follower.openFile(&sink)
        let effects = sink.takeEffects(with: nil)
        #expect(follower.playbackType == .file && effects.count == 1)
    }

    // MARK: Responses

    @Test func aPlaylistOfAFormerSourceIsIgnored() throws {
        var stage = try Stage()
        let playlist = try Self.finished.playlist
        _ = stage.load(stage.low)
        let isOther = stage.receive(playlist, for: 9)
        #expect(!isOther && stage.plan.tracks.main.isLoadingPlaylist)
        stage.plan.tracks.main.source = stage.high
        let isFormer = stage.receive(playlist, for: 1)
        #expect(!isFormer && !stage.plan.tracks.main.isLoadingPlaylist && stage.plan.tracks.main.playlist == nil)
        _ = stage.load(stage.high)
        let isCurrent = stage.receive(playlist, for: 2)
        #expect(isCurrent && stage.plan.tracks.main.playlistSource == stage.high)
    }

    @Test func audioIsAlignedOnceTheMainPlaylistIsLoaded() throws {
        var stage = try Stage()
        stage.plan.tracks.audio.source = stage.audio
        _ = stage.load(stage.audio, for: .audio)
        let playlist = try Self.finished.playlist
        let isMain = stage.receive(playlist, for: 1)
        #expect(!isMain && stage.plan.tracks.audio.isLoadingPlaylist && stage.plan.tracks.audio.playlist == nil)
        func resume(_ stage: inout Stage) {
            let moment = stage.moment
            _ = stage.follower.resumeLoad(for: .audio, &stage.plan, &stage.live, moment, &stage.sink)
        }
        resume(&stage)
        #expect(stage.plan.tracks.audio.playlist == nil)
        _ = stage.adopt(playlist, from: stage.low)
        resume(&stage)
        #expect(stage.plan.tracks.audio.playlistSource == stage.audio && !stage.plan.tracks.audio.isLoadingPlaylist)
    }

    // MARK: Validation

    private func problem(_ playlist: MediaPlaylist) -> String? {
        do throws(StreamingError) {
            try PlaylistFollower.validate(playlist, at: ResourceAddress("https://example.com/v.m3u8"))
            return nil
        } catch {
            return "\(error.code.rawValue) \(error.address?.lastPathComponent ?? "-") \(error.message)"
        }
    }

    @Test func aPlaylistThatHasEndedListsSegments() throws {
        #expect(problem(try Self.finished.playlist) == nil)
        #expect(problem(try LiveWindowText(count: 0).playlist) == nil)
        let ended = try LiveWindowText(count: 0, tail: ["#EXT-X-ENDLIST"]).playlist
        #expect(problem(ended) == "unreadable-playlist v.m3u8 the playlist lists no segments, and has ended")
    }
}
