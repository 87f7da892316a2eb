import HLSPlaylist
import MediaTiming
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import MediaTransport
@testable import StreamingEngine

/// Tests of the next steps of a track, and of its sources after failures.
///
/// The time is 10 s. The playlists have six segments of 4 s, of which two are in the buffer of the main track.
@Suite struct SegmentPlannerEdgeTests {
    private static let playlist = """
        #EXTM3U
        #EXT-X-CONTENT-STEERING:SERVER-URI="https://steer.example/s.json"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="E",DEFAULT=YES,AUTOSELECT=YES,URI="g.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="S",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=640x360,AUDIO="g",SUBTITLES="s",PATHWAY-ID="a"
        one.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=640x360,AUDIO="g",SUBTITLES="s",PATHWAY-ID="b"
        two.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2",AUDIO="g",SUBTITLES="s",PATHWAY-ID="a"
        sound.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,PATHWAY-ID="a",URI="i.m3u8"

        """

    /// The state in which the main track has a playlist and two segments.
    private struct Stage {
        var plan = FetchPlan(policy: RecoveryPolicy(), chooser: VariantChooser(StreamingOptions()))
        var sink = EffectSink(now: .seconds(10))
        let video: Presentation.Variant
        let sound: Presentation.Variant
        let frames: Presentation.Variant
        let sources: [StreamSource]

        init() throws {
            let presentation = Presentation(try multivariant(SegmentPlannerEdgeTests.playlist))
            let variants = presentation.variants
            try #require(variants.count == 2)
            video = variants[0]
            sound = variants[1]
            let iFrameVariants = presentation.iFrameVariants
            frames = try #require(iFrameVariants.first)
            var catalog = SourceCatalog(chooser: VariantChooser(StreamingOptions()))
            catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
            catalog.selection[.audio] = presentation.group(.audio)?.options.first
            catalog.selection[.subtitles] = presentation.group(.subtitles)?.options.first
            sources = catalog.sources(of: variants[0])
            try #require(sources.count == 2)
            plan.catalog = catalog
            plan.tracks.main.source = sources[0]
            plan.tracks.main.isVariantDecided = true
            plan.tracks.main.playlist = try loaded(sources[0])
            plan.tracks.main.buffer.insert(
                StreamBuffer.Entry(
                    range: MediaTimeRange(start: .zero, end: seconds("8")),
                    type: .video,
                    byteCount: 5,
                    variant: nil
                )
            )
        }

        func loaded(_ source: StreamSource) throws -> LoadedPlaylist {
            LoadedPlaylist(
                source: source,
                timeline: PresentationTimeline(try LiveWindowText(tail: ["#EXT-X-ENDLIST"]).playlist),
                requestStart: .zero,
                lastUpdate: .zero
            )
        }

        func moment(
            _ position: String = "0",
            rate: Double = 1,
            isPositioned: Bool = true,
            seek: String? = nil,
            unfinishedBytes: Int64 = 0,
            options change: (inout StreamingOptions) -> Void = { _ in }
        ) -> PlaybackMoment {
            var options = StreamingOptions()
            change(&options)
            var moment = PlaybackMoment(
                now: .seconds(10),
                position: seconds(position),
                isPositioned: isPositioned,
                seek: seek.map { PlaybackMoment.Seek(target: seconds($0), isStart: false) },
                desiredRate: rate,
                isPausedAtStart: false,
                rate: rate,
                timebase: Timebase(mediaTime: seconds(position), time: .seconds(10), rate: rate),
                limits: PlaybackMoment.Limits(options)
            )
            moment.unfinishedBytes = unfinishedBytes
            return moment
        }

        /// Returns the decision for the main track as text.
        mutating func decide(_ moment: PlaybackMoment) -> String { decide(.main, moment) }

        /// Returns the decision for a track as text.
        mutating func decide(_ kind: TrackKind, _ moment: PlaybackMoment) -> String {
            switch SegmentPlanner.decide(kind, &plan, moment, &sink) {
            case .wait(let time): time.map { "wait \(Int(($0 / .milliseconds(1)).rounded()))" } ?? "wait"
            case .loadPlaylist(let source): "load \(source.address.lastPathComponent)"
            case .fetch(let segment): "fetch \(segment.sequence)"
            case .pass(let segment): "pass \(segment.sequence)"
            case .jump(let range): "jump \(range.start.seconds)"
            case .useMuxedAudio: "muxed audio"
            case .decideAgain: "again"
            }
        }

        /// The names of the reported events, and the other effects.
        mutating func effects() -> [String] {
            sink.takeEffects(with: nil).map { effect in
                switch effect {
                case .report(let event): event.kind.name
                case .begin(.reopen(let request)): "reopen \(request)"
                default: "other"
                }
            }
        }

        func option(_ type: Rendition.MediaType, _ name: String) throws -> StreamSource {
            let option = try #require(plan.catalog.selection[type])
            return StreamSource(identity: .option(option.id), address: ResourceAddress("https://example.com/\(name)"))
        }
    }

    // MARK: Decisions

    @Test func theNextSegmentFollowsTheBuffer() throws {
        var stage = try Stage()
        #expect(stage.decide(stage.moment()) == "fetch 2")
        #expect(stage.decide(stage.moment(isPositioned: false)) == "wait")
        #expect(stage.decide(stage.moment(isPositioned: false, seek: "16")) == "fetch 4")
        #expect(stage.decide(.audio, stage.moment()) == "wait")
        stage.plan.tracks.main.source = stage.sources[1]
        #expect(stage.decide(stage.moment()) == "load two.m3u8")
    }

    @Test(arguments: [(10.001, "wait 10001", true), (10, "fetch 2", false), (9, "fetch 2", false)])
    func aRetryIsAwaited(time: Double, decision: String, isAwaited: Bool) throws {
        var stage = try Stage()
        stage.plan.tracks.main.failures.retryTime = .seconds(time)
        #expect(stage.decide(stage.moment()) == decision)
        #expect((stage.plan.tracks.main.failures.retryTime != nil) == isAwaited)
    }

    @Test func afterAnErrorOrDuringARenewalNothingIsFetched() throws {
        var failed = try Stage()
        failed.plan.tracks.main.failures.terminalError = StreamingError(.damaged, "no")
        #expect(failed.decide(failed.moment()) == "wait")
        var renewed = try Stage()
        renewed.plan.catalog.renewal.enable()
        _ = renewed.plan.catalog.renewal.begin(
            after: 403,
            of: .segment,
            from: renewed.sources[0],
            nextRequest: { 1 }
        )
        #expect(renewed.decide(renewed.moment()) == "wait")
    }

    @Test func framesAreFetchedUnlessTrickPlayEndsOrTheirPlaylistIsExcluded() throws {
        var stage = try Stage()
        let returning = TrickPlay.Return(source: stage.sources[0], timeline: nil)
        let frames = stage.plan.catalog.source(for: stage.frames, at: .zero)
        stage.plan.tracks.main.source = frames
        stage.plan.tracks.main.playlist = try stage.loaded(frames)
        stage.plan.tracks.trickPlay = .on(returning)
        #expect(stage.decide(stage.moment(rate: 8)) == "fetch 2")
        stage.plan.tracks.trickPlay = .leaving(returning)
        #expect(stage.decide(stage.moment(rate: 8)) == "wait")
        stage.plan.tracks.trickPlay = .on(returning)
        stage.plan.catalog.exclusions.exclude(frames, until: .seconds(10.001))
        #expect(stage.decide(stage.moment(rate: 8)) == "wait")
    }

    /// Ten bytes are allowed, of which five are in the buffer.
    @Test func aTransferWaitsForTheEndOfOthers() throws {
        var stage = try Stage()
        let limit: (inout StreamingOptions) -> Void = { $0.bufferByteLimit = ByteCount(10) }
        #expect(stage.decide(stage.moment(unfinishedBytes: 5, options: limit)) == "fetch 2")
        #expect(stage.decide(stage.moment(unfinishedBytes: 6, options: limit)) == "wait 10200")
        // What is in the buffer is removed as it is played.
        #expect(stage.decide(stage.moment { $0.bufferByteLimit = ByteCount(4) }) == "wait")
        // Media that is needed at once is fetched.
        #expect(stage.decide(stage.moment("7", unfinishedBytes: 6, options: limit)) == "fetch 2")
    }

    /// A buffer of 9 s has room for the next segment once the playhead is at 3 s.
    @Test func theNextSegmentWaitsForRoom() throws {
        var stage = try Stage()
        let capacity: (inout StreamingOptions) -> Void = { $0.preferredForwardBufferDuration = .seconds(9) }
        #expect(stage.decide(stage.moment(options: capacity)) == "wait 13000")
        #expect(stage.decide(stage.moment("2.9", rate: 2, options: capacity)) == "wait 10050")
        #expect(stage.decide(stage.moment("3", options: capacity)) == "fetch 2")
        #expect(stage.decide(stage.moment(rate: 0, options: capacity)) == "wait")
    }

    @Test func mediaOfATargetAfterTheEndOfPlaybackIsFetched() throws {
        var stage = try Stage()
        let end: (inout StreamingOptions) -> Void = { $0.forwardPlaybackEndTime = seconds("8") }
        #expect(stage.decide(stage.moment(options: end)) == "wait")
        #expect(stage.decide(stage.moment(seek: "12", options: end)) == "fetch 3")
        #expect(stage.decide(stage.moment(seek: "4", options: end)) == "wait")
    }

    @Test func audioIsMuxedAfterTheEndOfTheSeparateAudio() throws {
        var stage = try Stage()
        let source = try stage.option(.audio, "g.m3u8")
        stage.plan.tracks.audio.source = source
        stage.plan.tracks.audio.playlist = try stage.loaded(source)
        stage.plan.tracks.separateAudioEnd = seconds("8")
        #expect(stage.decide(.audio, stage.moment()) == "fetch 0")
        stage.plan.tracks.audio.buffer.insert(
            StreamBuffer.Entry(
                range: MediaTimeRange(start: .zero, end: seconds("8")),
                type: .audio,
                byteCount: 1,
                variant: nil
            )
        )
        #expect(stage.decide(.audio, stage.moment()) == "muxed audio")
        #expect(stage.decide(.audio, stage.moment("8", rate: -1)) == "wait")
        stage.plan.tracks.separateAudioEnd = nil
        #expect(stage.decide(.audio, stage.moment()) == "fetch 2")
    }

    /// The pinned variant is the current one.
    @Test func theVariantIsSelectedOnceForEachSegment() throws {
        var stage = try Stage()
        stage.plan.catalog.chooser.options.pinnedVariant = stage.video.id.text
        stage.plan.tracks.main.isVariantDecided = false
        #expect(stage.decide(stage.moment()) == "fetch 2")
        #expect(stage.plan.tracks.main.isVariantDecided && stage.plan.tracks.main.source == stage.sources[0])
    }

    // MARK: Other sources

    @Test(arguments: [("gap", nil), ("segment-failed", "b")] as [(String, String?)])
    func aGapIsNoFailureOfThePathway(cause: String, pathwayID: String?) throws {
        var stage = try Stage()
        let moment = stage.moment()
        let source = stage.sources[0]
        let hasOther = stage.plan.useOtherSource(for: .main, besides: source, cause: cause, moment, &stage.sink)
        #expect(hasOther && stage.plan.tracks.main.source == stage.sources[1])
        #expect(stage.plan.catalog.steering.pathwayID == pathwayID && stage.plan.tracks.main.isVariantDecided)
    }

    @Test func sourcesThatFailedAreNotTriedAgain() throws {
        var stage = try Stage()
        let moment = stage.moment()
        let (first, second) = (stage.sources[0], stage.sources[1])
        stage.plan.tracks.main.failures.tried = [second]
        let sound = stage.plan.useOtherSource(for: .main, besides: first, cause: "test", moment, &stage.sink)
        #expect(sound && stage.plan.fetchedVariant?.id == stage.sound.id)
        let tried = stage.plan.catalog.source(for: stage.sound, at: .zero)
        stage.plan.tracks.main.failures.tried = [second, tried]
        let none = stage.plan.useOtherSource(for: .main, besides: first, cause: "test", moment, &stage.sink)
        #expect(!none)
        stage.plan.tracks.main.failures.tried = []
        stage.plan.tracks.trickPlay = .on(TrickPlay.Return(source: first, timeline: nil))
        let scanning = stage.plan.useOtherSource(for: .main, besides: first, cause: "test", moment, &stage.sink)
        #expect(!scanning)
    }

    // MARK: Dropped tracks

    @Test func subtitlesThatCannotBeLoadedAreDeselected() throws {
        var stage = try Stage()
        stage.plan.tracks.subtitles.source = try stage.option(.subtitles, "s.m3u8")
        stage.plan.tracks.subtitles.failures.terminalError = StreamingError(.notLoaded, "no")
        _ = stage.effects()
        stage.plan.drop(.subtitles, &stage.sink)
        let isChanged = stage.sink.takeChange()
        #expect(stage.plan.tracks.subtitles.source == nil && stage.plan.catalog.selection[.subtitles] == nil)
        #expect(stage.plan.catalog.selection[.audio] != nil && isChanged)
        #expect(stage.effects().first == "selectionChange")
    }

    @Test func separateAudioBeforeMuxedAudioIsDroppedWithoutAnotherSelection() throws {
        var stage = try Stage()
        stage.plan.tracks.audio.source = try stage.option(.audio, "g.m3u8")
        stage.plan.tracks.separateAudioEnd = seconds("8")
        stage.plan.drop(.audio, &stage.sink)
        #expect(stage.plan.tracks.separateAudioEnd == nil && stage.plan.tracks.audio.source == nil)
        #expect(stage.plan.catalog.selection[.audio] != nil && !stage.effects().contains("selectionChange"))
    }

    // MARK: Selection

    private static func entry(_ type: MediaType) -> StreamBuffer.Entry {
        StreamBuffer.Entry(
            range: MediaTimeRange(start: .zero, end: seconds("8")),
            type: type,
            byteCount: 1,
            variant: nil
        )
    }

    @Test func theSelectedOptionIsNotSelectedAgain() throws {
        var stage = try Stage()
        let moment = stage.moment()
        let audio = stage.plan.catalog.selection[.audio]
        stage.plan.select(audio, for: .audio, moment, &stage.sink)
        var empty = FetchPlan(policy: RecoveryPolicy(), chooser: VariantChooser(StreamingOptions()))
        empty.select(audio, for: .audio, moment, &stage.sink)
        let isChanged = stage.sink.takeChange()
        #expect(stage.effects() == [] && !isChanged && empty.catalog.selection[.audio] == nil)
    }

    @Test func cuesOfSubtitlesThatAreTurnedOffAreRemoved() throws {
        var stage = try Stage()
        let moment = stage.moment("2")
        stage.plan.tracks.subtitles.source = try stage.option(.subtitles, "s.m3u8")
        stage.plan.tracks.subtitles.buffer.insert(Self.entry(.subtitles))
        stage.plan.tracks.subtitles.failures.retryTime = .seconds(11)
        stage.plan.select(nil, for: .subtitles, moment, &stage.sink)
        let effects = stage.effects()
        #expect(effects.contains("selectionChange") && effects.contains("other"))
        let track = stage.plan.tracks.subtitles
        #expect(track.source == nil && track.buffer.entries.isEmpty && track.failures.retryTime == nil)
        #expect(stage.plan.catalog.selection[.subtitles] == nil && stage.plan.catalog.selection[.audio] != nil)
    }

    @Test func formerAudioIsPlayedUntilTheSelectedOneIsLoaded() throws {
        var stage = try Stage()
        let moment = stage.moment("2")
        stage.plan.tracks.audio.source = try stage.option(.audio, "g.m3u8")
        stage.plan.tracks.audio.buffer.insert(Self.entry(.audio))
        stage.plan.tracks.audio.failures.retryTime = .seconds(11)
        stage.plan.tracks.separateAudioEnd = seconds("9")
        stage.plan.select(nil, for: .audio, moment, &stage.sink)
        let tracks = stage.plan.tracks
        #expect(tracks.audio.buffer.current.ranges == [MediaTimeRange(start: .zero, end: seconds("2"))])
        #expect(tracks.audio.buffer.loaded.ranges == [MediaTimeRange(start: .zero, end: seconds("8"))])
        #expect(tracks.main.buffer.current.ranges == [MediaTimeRange(start: .zero, end: seconds("8"))])
        #expect(tracks.muxedAudioStart == seconds("8") && tracks.separateAudioEnd == nil)
        #expect(tracks.audio.source == nil && tracks.audio.failures.retryTime == nil)
    }

    /// The selected audio is fetched already, so that no audio follows that is muxed with video.
    @Test func theSeparateAudioDoesNotEndIfItIsTheSelectedOne() throws {
        var stage = try Stage()
        let moment = stage.moment("2")
        let main = stage.plan.tracks.main.source
        let option = stage.plan.catalog.selection[.audio]
        let source = try #require(stage.plan.catalog.renditionSource(option, with: main, at: moment.now))
        stage.plan.tracks.audio.source = source
        stage.plan.tracks.separateAudioEnd = seconds("9")
        stage.plan.applyRenditions(moment, &stage.sink)
        #expect(stage.plan.tracks.separateAudioEnd == nil && stage.plan.tracks.audio.source == source)
        let subtitles = try stage.option(.subtitles, "s.m3u8")
        #expect(stage.plan.tracks.subtitles.source == subtitles)
    }

    // MARK: Renewal

    @Test func addressesAreRenewedAfterAccessWasDenied() throws {
        var stage = try Stage()
        stage.plan.catalog.renewal.enable()
        let source = stage.sources[0]
        func renew(_ status: Int?, _ plan: inout FetchPlan, _ sink: inout EffectSink) -> Bool {
            let error = StreamingError(.notLoaded, "no", status: status)
            return plan.renewAddresses(after: error, of: .segment, from: source, for: .main, &sink)
        }
        let missing = renew(404, &stage.plan, &stage.sink)
        #expect(!missing && stage.effects() == [])
        let denied = renew(403, &stage.plan, &stage.sink)
        #expect(denied && stage.effects() == ["reopen 1", "error"])
        let joined = renew(403, &stage.plan, &stage.sink)
        #expect(joined && stage.effects() == ["error"])
        let presentation = try #require(stage.plan.catalog.presentation)
        let moment = stage.moment()
        stage.plan.endRenewal(1, with: presentation, moment, &stage.sink)
        #expect(stage.plan.tracks.main.source?.renewal == 1)
        _ = stage.effects()
        // The track has a new source already.
        let done = renew(403, &stage.plan, &stage.sink)
        #expect(done && stage.effects() == ["error"])
        stage.plan.tracks.main.source = source
        let lacking = renew(403, &stage.plan, &stage.sink)
        #expect(!lacking && stage.effects() == [])
    }

    // MARK: Trick play

    @Test func theIFramePlaylistIsUsedUnlessItIsExcluded() throws {
        var stage = try Stage()
        let frames = stage.plan.catalog.source(for: stage.frames, at: .zero)
        #expect(stage.plan.trickPlaySource(stage.moment(rate: 8)) == frames)
        stage.plan.catalog.exclusions.exclude(frames, until: .seconds(10.001))
        #expect(stage.plan.trickPlaySource(stage.moment(rate: 8)) == nil)
        stage.plan.catalog.exclusions.exclude(frames, until: .seconds(10))
        stage.plan.tracks.main.source = stage.plan.catalog.source(for: stage.sound, at: .zero)
        #expect(stage.plan.trickPlaySource(stage.moment(rate: 8)) == nil)
    }

    /// The variant with 200 kbit/s has playlists on both pathways.
    @Test func theIFrameVariantIsNotChangedWhileItsPlaylistIsAvailable() throws {
        var stage = try Stage()
        let other = ["a", "b"].map { pathway in
            "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=200000,PATHWAY-ID=\"\(pathway)\",URI=\"\(pathway).m3u8\"\n"
        }
        let presentation = Presentation(try multivariant(Self.playlist + other.joined()))
        let variants = presentation.iFrameVariants
        try #require(variants.count == 2)
        stage.plan.catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
        let small = stage.plan.catalog.source(for: variants[0], at: .zero)
        let large = stage.plan.catalog.sources(of: variants[1])
        try #require(large.count == 2)
        let moment = stage.moment(rate: 8)
        // Before trick play, the variant follows from the throughput, which is unknown.
        stage.plan.tracks.main.source = large[0]
        #expect(stage.plan.trickPlaySource(moment) == small)
        stage.plan.tracks.trickPlay = .on(TrickPlay.Return(source: stage.sources[0], timeline: nil))
        #expect(stage.plan.trickPlaySource(moment) == large[0])
        // The other playlist of the variant is not excluded, but it is not the current one.
        stage.plan.catalog.exclusions.exclude(large[0], until: .seconds(11))
        #expect(stage.plan.trickPlaySource(moment) == small)
        stage.plan.tracks.main.source = large[1]
        #expect(stage.plan.trickPlaySource(moment) == large[1])
    }
}
