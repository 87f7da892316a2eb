import HLSPlaylist
import MediaTiming
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import MediaTransport
@testable import StreamingEngine

/// Tests of the selection of audio and video, and of the sources that follow from it.
///
/// The time is 10 s and the playhead is at 2 s; 8 s are in the buffer of each track, and a segment is transferred.
@Suite struct FetchPlanFaultTests {
    private static let cameras = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="Main",DEFAULT=YES,AUTOSELECT=YES
        #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="Goal",URI="goal.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,VIDEO="v"
        low.m3u8

        """
    private static let languages = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="Korean",LANGUAGE="ko",URI="ko.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,AUDIO="a"
        low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,AUDIO="b"
        high.m3u8

        """
    private static let muxedOrSeparate = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",URI="ko.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,AUDIO="a"
        low.m3u8

        """
    private static let soundAlone = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",URI="ko.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2",AUDIO="a"
        en.m3u8

        """

    private struct Stage {
        var plan = FetchPlan(policy: RecoveryPolicy(), chooser: VariantChooser(StreamingOptions()))
        var sink = EffectSink(now: .seconds(10))

        init(_ text: String) throws {
            let presentation = Presentation(try multivariant(text))
            let variant = try #require(presentation.variants.first)
            plan.catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
            for type in [Rendition.MediaType.audio, .video] {
                plan.catalog.selection[type] = presentation.group(type)?.options.first
            }
            plan.catalog.chooser.select(plan.catalog.selection)
            let source = plan.catalog.source(for: variant, at: .zero)
            let timeline = PresentationTimeline(try LiveWindowText(tail: ["#EXT-X-ENDLIST"]).playlist)
            plan.tracks.main.source = source
            plan.tracks.main.isVariantDecided = true
            plan.tracks.main.playlist = LoadedPlaylist(
                source: source,
                timeline: timeline,
                requestStart: .zero,
                lastUpdate: .zero
            )
            plan.tracks.main.fetch = .transferring(
                FetchJob(request: 5, segment: timeline.segments[2], source: source, began: .zero, isSubstitute: false)
            )
            plan.tracks.audio.source = plan.catalog.renditionSource(
                plan.catalog.selection[.audio],
                with: source,
                at: .zero
            )
            for (kind, type) in [(TrackKind.main, MediaType.video), (.audio, .audio)] {
                plan.tracks[kind].buffer.insert(
                    StreamBuffer.Entry(
                        range: MediaTimeRange(start: .zero, end: seconds("8")),
                        type: type,
                        byteCount: 1,
                        variant: nil
                    )
                )
            }
        }

        static var moment: PlaybackMoment {
            PlaybackMoment(
                now: .seconds(10),
                position: seconds("2"),
                isPositioned: true,
                seek: nil,
                desiredRate: 1,
                isPausedAtStart: false,
                rate: 1,
                timebase: Timebase(),
                limits: PlaybackMoment.Limits(StreamingOptions())
            )
        }

        /// Selects the option with a name; returns the reports.
        mutating func select(_ name: String, _ type: Rendition.MediaType) throws -> [String] {
            let option = plan.catalog.presentation?.group(type)?.options.first { $0.name == name }
            let selected = try #require(option)
            _ = sink.takeEffects(with: nil)
            plan.select(selected, for: type, Self.moment, &sink)
            return sink.takeEffects(with: nil).compactMap { effect in
                guard case .report(let event) = effect else { return nil }
                if case .variantSwitchStarted(let change) = event.kind { return "switch \(change.cause)" }
                guard case .selectionChanged(let change) = event.kind else { return nil }
                return "\(change.mediaType.rawValue) \(change.option ?? "none") \(change.isExplicit)"
            }
        }

        /// The name of the playlist of a track.
        func name(_ kind: TrackKind = .main) -> String? { plan.tracks[kind].source?.address.lastPathComponent }

        /// The end of the media of a track that is not fetched again.
        func currentEnd(_ kind: TrackKind = .main) -> MediaTime? { plan.tracks[kind].buffer.current.ranges.last?.end }

        /// A Boolean value that indicates whether the transfer of the main track is still needed.
        var isTransferring: Bool { plan.tracks.main.job != nil }
    }

    // MARK: Video

    @Test func anotherCameraReplacesTheBuffer() throws {
        var stage = try Stage(Self.cameras)
        stage.plan.tracks.main.failures.retryTime = .seconds(11)
        stage.plan.tracks.main.failures.terminalError = StreamingError(.damaged, "no")
        let reports = try stage.select("Goal", .video)
        let isChanged = stage.sink.takeChange()
        #expect(reports == ["video Goal true"] && isChanged && stage.name() == "goal.m3u8")
        #expect(stage.currentEnd() == seconds("2") && !stage.isTransferring && !stage.plan.tracks.main.isVariantDecided)
        let failures = stage.plan.tracks.main.failures
        #expect(failures.retryTime == nil && failures.terminalError == nil)
        #expect(stage.currentEnd(.audio) == seconds("8"))
    }

    @Test func aCameraIsSelectedAfterTrickPlay() throws {
        var stage = try Stage(Self.cameras)
        let source = try #require(stage.plan.tracks.main.source)
        stage.plan.tracks.trickPlay = .on(TrickPlay.Return(source: source, timeline: nil))
        let reports = try stage.select("Goal", .video)
        #expect(reports == ["video Goal true"] && stage.name() == "low.m3u8" && stage.isTransferring)
        #expect(stage.currentEnd() == seconds("8"))
    }

    // MARK: Audio

    @Test func aVariantWithTheSelectedOptionIsFetched() throws {
        var stage = try Stage(Self.languages)
        let reports = try stage.select("Korean", .audio)
        #expect(reports == ["switch selection", "audio Korean true"])
        #expect(stage.name() == "high.m3u8" && stage.name(.audio) == "ko.m3u8" && !stage.isTransferring)
        #expect(stage.currentEnd() == seconds("2") && stage.currentEnd(.audio) == seconds("2"))
    }

    @Test func duringTrickPlayTheVariantRemains() throws {
        var stage = try Stage(Self.languages)
        let source = try #require(stage.plan.tracks.main.source)
        stage.plan.tracks.trickPlay = .on(TrickPlay.Return(source: source, timeline: nil))
        let reports = try stage.select("Korean", .audio)
        #expect(reports == ["audio Korean true"] && stage.name() == "low.m3u8" && stage.isTransferring)
    }

    @Test func separateAudioReplacesMuxedAudioFromThePlayheadOn() throws {
        var stage = try Stage(Self.muxedOrSeparate)
        let toSeparate = try stage.select("Korean", .audio)
        // The audio after the buffered video is no longer muxed.
        #expect(toSeparate == ["audio Korean true"] && stage.name(.audio) == "ko.m3u8" && stage.isTransferring)
        #expect(stage.plan.tracks.muxedAudioStart == seconds("8") && stage.currentEnd() == seconds("8"))
        #expect(stage.plan.mediaType(of: .main) == .video)
        // Video that was fetched without its audio is fetched again.
        let toMuxed = try stage.select("English", .audio)
        #expect(toMuxed == ["audio English true"] && stage.plan.tracks.audio.source == nil)
        #expect(stage.plan.tracks.muxedAudioStart == seconds("2") && stage.currentEnd() == seconds("2"))
        #expect(stage.plan.mediaType(of: .main) == .muxed)
    }

    @Test func withoutVideoTheMainTrackIsReplaced() throws {
        var stage = try Stage(Self.soundAlone)
        #expect(stage.plan.mediaType(of: .main) == .audio && stage.name(.audio) == nil)
        let reports = try stage.select("Korean", .audio)
        #expect(reports == ["audio Korean true"] && stage.name() == "ko.m3u8" && !stage.isTransferring)
        #expect(stage.currentEnd() == seconds("2") && stage.name(.audio) == nil)
    }

    // MARK: Renditions

    /// The audio ends before the video; a seek needs other media.
    @Test(arguments: [(false, "8", true), (true, "5", false)] as [(Bool, String, Bool)])
    func separateAudioIsFetchedForBufferedVideo(isSeeking: Bool, end: String, isSeparate: Bool) throws {
        var stage = try Stage(Self.muxedOrSeparate)
        _ = try stage.select("Korean", .audio)
        stage.plan.tracks.audio.buffer.discardAll()
        stage.plan.tracks.audio.buffer.insert(
            StreamBuffer.Entry(
                range: MediaTimeRange(start: .zero, end: seconds("5")),
                type: .audio,
                byteCount: 1,
                variant: nil
            )
        )
        stage.plan.tracks.muxedAudioStart = nil
        // The next variant has muxed audio.
        stage.plan.catalog.selection[.audio] = stage.plan.catalog.presentation?.group(.audio)?.options.first
        let now = Stage.moment
        let moment = PlaybackMoment(
            now: now.now,
            position: now.position,
            isPositioned: true,
            seek: isSeeking ? PlaybackMoment.Seek(target: seconds("3"), isStart: false) : nil,
            desiredRate: 1,
            isPausedAtStart: false,
            rate: 1,
            timebase: Timebase(),
            limits: now.limits
        )
        _ = stage.sink.takeChange()
        stage.plan.applyRenditions(moment, &stage.sink)
        let isChanged = stage.sink.takeChange()
        #expect(isChanged && (stage.plan.tracks.separateAudioEnd != nil) == isSeparate)
        #expect((stage.plan.tracks.audio.source != nil) == isSeparate && stage.currentEnd() == seconds(end))
        stage.plan.useMuxedAudio(&stage.sink)
        let isChangedAgain = stage.sink.takeChange()
        #expect(isChangedAgain && stage.plan.tracks.separateAudioEnd == nil && stage.plan.tracks.audio.source == nil)
    }

    // MARK: Other variants

    @Test func aRangeIsFetchedFromAVariantThatListsIt() throws {
        var stage = try Stage(Self.languages)
        stage.plan.catalog.selection = MediaSelection()
        let low = try #require(stage.plan.tracks.main.source)
        let gap = MediaTimeRange(start: seconds("8"), end: seconds("12"))
        let timeline = try #require(stage.plan.tracks.main.timeline)
        let unknown = stage.plan.fill(gap, Stage.moment, &stage.sink) { _ in nil }
        #expect(!unknown && stage.name() == "low.m3u8" && stage.plan.tracks.main.failures.tried == [low])
        stage.plan.tracks.main.isVariantDecided = false
        _ = stage.sink.takeChange()
        let isFilled = stage.plan.fill(gap, Stage.moment, &stage.sink) { _ in timeline }
        let isChanged = stage.sink.takeChange()
        #expect(isFilled && isChanged && stage.name() == "high.m3u8" && stage.plan.tracks.main.isVariantDecided)
        let isFilledAgain = stage.plan.fill(gap, Stage.moment, &stage.sink) { _ in timeline }
        #expect(!isFilledAgain && stage.plan.tracks.main.failures.tried.count == 2)
    }

    @Test func anotherRenditionMustNotHaveFailed() throws {
        var stage = try Stage(Self.languages)
        let audio = try #require(stage.plan.tracks.audio.source)
        _ = stage.sink.takeChange()
        let same = stage.plan.useOtherRendition(for: .audio, besides: audio, Stage.moment, &stage.sink)
        let isUnchanged = !stage.sink.takeChange()
        let former = StreamSource(identity: audio.identity, address: ResourceAddress("https://example.com/former.m3u8"))
        let other = stage.plan.useOtherRendition(for: .audio, besides: former, Stage.moment, &stage.sink)
        let isChanged = stage.sink.takeChange()
        stage.plan.catalog.exclusions.exclude(audio, until: .seconds(11))
        let excluded = stage.plan.useOtherRendition(for: .audio, besides: former, Stage.moment, &stage.sink)
        #expect(!same && isUnchanged && other && isChanged && !excluded)
    }
}
