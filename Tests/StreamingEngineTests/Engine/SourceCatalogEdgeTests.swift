import HLSPlaylist
import MediaTiming
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import MediaTransport
@testable import StreamingEngine

/// Tests of the sources of variants and options, and of the media types that follow from them.
@Suite struct SourceCatalogEdgeTests {
    /// The first variant has two locations, the second one is audio alone, and the third one has muxed audio.
    private static let playlist = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="E",DEFAULT=YES,AUTOSELECT=YES,STABLE-RENDITION-ID="r",URI="g.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="h",NAME="E",DEFAULT=YES,AUTOSELECT=YES,STABLE-RENDITION-ID="r",URI="h.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="S",URI="s.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=640x360,AUDIO="g",SUBTITLES="s"
        one.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=640x360,AUDIO="h",SUBTITLES="s"
        two.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2",AUDIO="g",SUBTITLES="s"
        sound.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,RESOLUTION=1280x720
        muxed.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,URI="i.m3u8"

        """

    private static func presentation() throws -> Presentation { Presentation(try multivariant(playlist)) }

    private static func catalog(_ presentation: Presentation) throws -> SourceCatalog {
        var catalog = SourceCatalog(chooser: VariantChooser(StreamingOptions()))
        catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
        catalog.selection[.audio] = presentation.group(.audio)?.options.first
        catalog.selection[.subtitles] = presentation.group(.subtitles)?.options.first
        return catalog
    }

    /// The presentation with a catalog of its sources.
    private struct Stage {
        let presentation: Presentation
        var catalog: SourceCatalog
        let video: Presentation.Variant
        let sound: Presentation.Variant
        let muxed: Presentation.Variant
        let audio: MediaSelectionOption
        let subtitles: MediaSelectionOption

        init() throws {
            let opened = try SourceCatalogEdgeTests.presentation()
            let variants = opened.variants
            try #require(variants.count == 3)
            let sources = try SourceCatalogEdgeTests.catalog(opened)
            let selection = sources.selection
            audio = try #require(selection[.audio])
            subtitles = try #require(selection[.subtitles])
            presentation = opened
            catalog = sources
            video = variants[0]
            sound = variants[1]
            muxed = variants[2]
        }

        func option(_ name: String, _ option: MediaSelectionOption) -> StreamSource {
            StreamSource(identity: .option(option.id), address: ResourceAddress("https://example.com/\(name).m3u8"))
        }

        func rendition(_ option: MediaSelectionOption?, with main: StreamSource?) -> String? {
            catalog.renditionSource(option, with: main, at: .zero)?.address.lastPathComponent
        }

        mutating func exclude(_ sources: StreamSource...) {
            for source in sources { catalog.exclusions.exclude(source, until: .seconds(10)) }
        }
    }

    private func names(_ sources: [StreamSource]) -> [String] { sources.map(\.address.lastPathComponent) }

    // MARK: Variants

    @Test func aVariantHasASourceForEachLocation() throws {
        var stage = try Stage()
        let sources = stage.catalog.sources(of: stage.video)
        #expect(names(sources) == ["one.m3u8", "two.m3u8"])
        let id = stage.video.id
        let identities: [StreamSource.Identity] = [.variant(id, location: 0), .variant(id, location: 1)]
        #expect(sources.map(\.identity) == identities)
        // An audio-only variant is the selected audio option.
        #expect(names(stage.catalog.sources(of: stage.sound)) == ["g.m3u8"])
        #expect(stage.catalog.source(for: stage.video, at: .zero) == sources[0])
        stage.exclude(sources[0])
        #expect(stage.catalog.source(for: stage.video, at: .zero) == sources[1])
        #expect(stage.catalog.source(for: stage.video, at: .seconds(10)) == sources[0])
        stage.exclude(sources[1])
        #expect(stage.catalog.source(for: stage.video, at: .zero) == sources[0])
    }

    @Test func aRenewedSourceHasTheSameLocation() throws {
        let stage = try Stage()
        let sources = stage.catalog.sources(of: stage.video)
        for (location, expected) in [(0, 0), (1, 1), (2, 0), (9, 0)] {
            let source = StreamSource(stage.video, location: location, address: ResourceAddress("x"))
            #expect(stage.catalog.renewedSource(of: source) == sources[expected])
        }
        #expect(stage.catalog.renewedSource(of: stage.option("g", stage.audio)) == nil)
    }

    @Test func onlyIFramePlaylistsAreForTrickPlay() throws {
        let stage = try Stage()
        let frames = try #require(stage.presentation.iFrameVariants.first)
        #expect(stage.catalog.isTrickPlay(stage.catalog.source(for: frames, at: .zero)))
        #expect(!stage.catalog.isTrickPlay(stage.catalog.source(for: stage.video, at: .zero)))
        #expect(!stage.catalog.isTrickPlay(stage.option("g", stage.audio)))
        let empty = SourceCatalog(chooser: VariantChooser(StreamingOptions()))
        #expect(!empty.isTrickPlay(stage.catalog.source(for: frames, at: .zero)))
    }

    @Test func audioIsSeparateIfAllOptionsHaveAPlaylist() throws {
        let stage = try Stage()
        #expect(stage.catalog.hasSeparateAudio(stage.video))
        #expect(!stage.catalog.hasSeparateAudio(stage.sound) && !stage.catalog.hasSeparateAudio(stage.muxed))
        let option = #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="F""# + "\n#EXT-X-MEDIA:TYPE=SUB"
        let text = Self.playlist.replacing("#EXT-X-MEDIA:TYPE=SUB", with: option)
        let presentation = Presentation(try multivariant(text))
        let catalog = try Self.catalog(presentation)
        let video = try #require(presentation.variants.first)
        #expect(!catalog.hasSeparateAudio(video))
    }

    @Test func aPlaylistHasThePathwayOfItsLocation() throws {
        let stage = try Stage()
        for (location, expected) in [(0, "."), (1, "."), (2, nil)] as [(Int, String?)] {
            let source = StreamSource(stage.video, location: location, address: ResourceAddress("x"))
            #expect(stage.catalog.pathwayID(of: source) == expected)
        }
        #expect(stage.catalog.pathwayID(of: stage.option("g", stage.audio)) == nil)
        #expect(stage.catalog.pathwayID(of: nil) == nil)
    }

    /// The playlists of the given variants list segments from 10 s on.
    @Test(
        arguments: [
            ("10", [0, 1, 2], 0), ("9.75", [0, 1, 2], 0), ("9.74", [0, 1, 2], nil), ("12", [2], 2),
            ("33.9", [1, 2], 1),
            ("34", [0, 1, 2], nil), ("12", [], nil),
        ] as [(String, Set<Int>, Int?)]
    )
    func aVariantWhosePlaylistListsATimeIsFound(time: String, known: Set<Int>, expected: Int?) throws {
        let stage = try Stage()
        let timeline = PresentationTimeline(try LiveWindowText().playlist, start: seconds("10"))
        let sources = stage.presentation.variants.map { stage.catalog.source(for: $0, at: .zero) }
        func find(_ catalog: SourceCatalog, besides closed: Set<StreamSource> = []) -> Presentation.Variant.ID? {
            catalog.variant(listing: seconds(time), besides: closed, at: .zero) { source in
                sources.firstIndex(of: source).flatMap { known.contains($0) ? timeline : nil }
            }?.id
        }
        let found = expected.map { stage.presentation.variants[$0].id }
        #expect(find(stage.catalog) == found)
        guard let expected else { return }
        #expect(find(stage.catalog, besides: [sources[expected]]) != found)
        var excluding = stage
        excluding.exclude(sources[expected])
        #expect(find(excluding.catalog) != found)
    }

    // MARK: Renditions

    @Test func theOptionIsThatOfTheGroupOfTheLocation() throws {
        let stage = try Stage()
        func main(_ variant: Presentation.Variant, _ location: Int) -> StreamSource {
            StreamSource(variant, location: location, address: ResourceAddress("x"))
        }
        #expect(stage.rendition(stage.audio, with: main(stage.video, 0)) == "g.m3u8")
        #expect(stage.rendition(stage.audio, with: main(stage.video, 1)) == "h.m3u8")
        #expect(stage.rendition(stage.audio, with: main(stage.video, 9)) == "g.m3u8")
        #expect(stage.rendition(stage.audio, with: main(stage.sound, 0)) == nil)
        #expect(stage.rendition(stage.subtitles, with: main(stage.sound, 0)) == "s.m3u8")
        #expect(stage.rendition(stage.audio, with: main(stage.muxed, 0)) == nil)
        #expect(stage.rendition(nil, with: main(stage.video, 0)) == nil)
        #expect(stage.rendition(stage.audio, with: nil) == nil)
        #expect(stage.rendition(stage.audio, with: stage.option("g", stage.audio)) == nil)
        let source = stage.catalog.renditionSource(stage.audio, with: main(stage.video, 0), at: .zero)
        #expect(source == stage.option("g", stage.audio))
    }

    @Test func anExcludedPlaylistOfAnOptionIsReplacedByThatOfAnotherGroup() throws {
        var stage = try Stage()
        let main = stage.catalog.source(for: stage.video, at: .zero)
        let (first, second) = (stage.option("g", stage.audio), stage.option("h", stage.audio))
        func hasOther(_ failed: StreamSource) -> Bool {
            stage.catalog.hasOtherRendition(.audio, with: stage.video, besides: failed, at: .zero)
        }
        #expect(hasOther(first) && hasOther(second))
        stage.exclude(first)
        #expect(stage.rendition(stage.audio, with: main) == "h.m3u8")
        #expect(hasOther(first) && !hasOther(second))
        stage.exclude(second)
        #expect(stage.rendition(stage.audio, with: main) == "g.m3u8" && !hasOther(first))
        let subtitles = stage.option("s", stage.subtitles)
        let catalog = stage.catalog
        #expect(!catalog.hasOtherRendition(.subtitles, with: stage.video, besides: subtitles, at: .zero))
        #expect(catalog.hasOtherRendition(.subtitles, with: stage.video, besides: first, at: .zero))
        #expect(!catalog.hasOtherRendition(.subtitles, with: nil, besides: first, at: .zero))
        #expect(!catalog.hasOtherRendition(.video, with: stage.video, besides: first, at: .zero))
    }

    @Test func theRenditionsOfAVariantAreThoseWithPlaylists() throws {
        let stage = try Stage()
        let audio = RenditionDescription(stableID: "r", address: "https://example.com/g.m3u8")
        let subtitles = RenditionDescription(stableID: nil, address: "https://example.com/s.m3u8")
        #expect(stage.catalog.renditions(with: stage.video) == [.audio: audio, .subtitles: subtitles])
        #expect(stage.catalog.renditions(with: stage.muxed) == [:])
    }

    // MARK: Pathways

    @Test func onlyFailuresThatChangeThePathwayCount() throws {
        let variants = ["a1", "a2", "b1"].map { name in
            "#EXT-X-STREAM-INF:BANDWIDTH=1,PATHWAY-ID=\"\(name.prefix(1))\"\n\(name).m3u8\n"
        }
        let steering = "#EXT-X-CONTENT-STEERING:SERVER-URI=\"https://steer.example/s.json\"\n"
        let cases: [(Bool, Int, String?)] = [(true, 1, nil), (true, 2, "b"), (false, 2, nil)]
        for (isSteered, other, expected) in cases {
            let text = "#EXTM3U\n" + (isSteered ? steering : "") + variants.joined()
            let presentation = Presentation(try multivariant(text))
            var catalog = SourceCatalog(chooser: VariantChooser(StreamingOptions()))
            catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
            let variant = try #require(presentation.variants.first)
            let sources = catalog.sources(of: variant)
            try #require(sources.count == 3)
            catalog.noteFailure(of: sources[0], replacedBy: sources[other], at: .zero)
            #expect(catalog.steering.pathwayID == expected)
            let pathwayVariants: Set<Presentation.Variant.ID>? = expected == nil ? nil : [variant.id]
            #expect(catalog.chooser.pathwayVariants == pathwayVariants)
            let first = expected == nil ? ["a1.m3u8", "a2.m3u8", "b1.m3u8"] : ["b1.m3u8", "a1.m3u8", "a2.m3u8"]
            #expect(names(catalog.orderedSources(of: variant, at: .seconds(1))) == first)
        }
    }

    // MARK: Descriptions

    @Test func theDescriptionOfAVariantHasItsPeakBitRate() throws {
        func description(_ attributes: String) throws -> VariantDescription {
            let text = "#EXTM3U\n#EXT-X-STREAM-INF:\(attributes)\nhttps://user:secret@example.com/v.m3u8\n"
            let presentation = Presentation(try multivariant(text))
            return VariantDescription(try #require(presentation.variants.first))
        }
        let full = try description("BANDWIDTH=9,AVERAGE-BANDWIDTH=5,RESOLUTION=640x360")
        #expect(full.peakBitRate == BitRate(bitsPerSecond: 9) && full.averageBitRate == BitRate(bitsPerSecond: 5))
        #expect(full.width == 640 && full.height == 360 && full.address == "https://example.com/v.m3u8")
        let media = Presentation(try LiveWindowText().playlist)
        let bare = VariantDescription(try #require(media.variants.first))
        #expect(bare.peakBitRate == BitRate(bitsPerSecond: 0) && bare.averageBitRate == nil && bare.width == nil)
    }

    // MARK: Media types

    @Test func theMediaTypeOfTheMainTrackFollowsFromTheAudio() throws {
        let stage = try Stage()
        var plan = FetchPlan(policy: RecoveryPolicy(), chooser: VariantChooser(StreamingOptions()))
        plan.catalog = stage.catalog
        #expect(plan.mediaType(of: .audio) == .audio && plan.mediaType(of: .subtitles) == .subtitles)
        plan.tracks.main.source = stage.catalog.source(for: stage.video, at: .zero)
        #expect(plan.mediaType(of: .main) == .muxed)
        plan.tracks.audio.source = stage.option("g", stage.audio)
        #expect(plan.mediaType(of: .main) == .video)
        plan.tracks.separateAudioEnd = seconds("5")
        #expect(plan.mediaType(of: .main) == .muxed)
        let main = stage.catalog.source(for: stage.video, at: .zero)
        plan.tracks.trickPlay = .on(TrickPlay.Return(source: main, timeline: nil))
        #expect(plan.mediaType(of: .main) == .video)
        plan.tracks.trickPlay = .off
        plan.tracks.main.source = stage.catalog.source(for: stage.sound, at: .zero)
        #expect(plan.mediaType(of: .main) == .audio)
    }

    @Test func aSwitchHasThePredictedBufferLevel() throws {
        let stage = try Stage()
        var plan = FetchPlan(policy: RecoveryPolicy(), chooser: VariantChooser(StreamingOptions()))
        plan.catalog = stage.catalog
        var sink = EffectSink(now: .zero)
        let moment = PlaybackMoment(
            now: .zero,
            position: .zero,
            isPositioned: true,
            seek: nil,
            desiredRate: 1,
            isPausedAtStart: false,
            rate: 1,
            timebase: Timebase(),
            limits: PlaybackMoment.Limits(StreamingOptions())
        )
        let choice = VariantChooser.Choice(
            variant: stage.muxed,
            cause: "throughput",
            delay: nil,
            predictedBufferLevel: .seconds(7)
        )
        plan.follow(choice, moment, &sink)
        plan.beginSwitch(to: stage.video, cause: "test", moment, &sink)
        let switches = sink.takeEffects(with: nil).compactMap { effect -> VariantSwitch? in
            guard case .report(let event) = effect, case .variantSwitchStarted(let change) = event.kind else {
                return nil
            }
            return change
        }
        #expect(switches.map(\.cause) == ["throughput", "test"])
        #expect(switches.map(\.evidence.predictedBufferLevel) == [.seconds(7), nil])
        #expect(plan.tracks.main.isVariantDecided && plan.fetchedVariant?.id == stage.muxed.id)
    }
}
