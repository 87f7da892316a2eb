import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing
import Synchronization
import Testing

/// Tests of the playlists that an editor loads, and of the edits of each track that follow from them.
@Suite struct EditorLoadTests {
    /// A loader of texts, of which `cancelled` stands for a cancellation.
    private final class Loader: PlaylistLoader {
        struct Missing: Error {}

        private let texts: [String: String]
        private let loads = Mutex<[String]>([])

        init(_ texts: [String: String]) { self.texts = texts }

        /// The loaded playlists in order, without their scheme.
        var names: [String] { loads.withLock { $0 } }

        func loadPlaylist(at source: String, variables: [String: String], budget: EditBudget) async throws -> Playlist {
            loads.withLock { $0.append(source.replacing("https://", with: "")) }
            guard let text = texts[source] else { throw Missing() }
            guard text != "cancelled" else { throw CancellationError() }
            return try Playlist.parse(
                Array(text.utf8),
                context: PlaylistContext(address: ResourceAddress(source), importableVariables: variables)
            )
        }
    }

    private static func media(_ count: Int, of seconds: Int, isEvent: Bool = false) -> String {
        let segments = (0..<count).map { "#EXTINF:\(seconds),\n\($0)\n" }.joined()
        let (type, end) = isEvent ? ("#EXT-X-PLAYLIST-TYPE:EVENT\n", "") : ("", "#EXT-X-ENDLIST\n")
        return "#EXTM3U\n#EXT-X-TARGETDURATION:\(seconds)\n\(type)\(segments)\(end)"
    }

    private static let advertisement = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=300,RESOLUTION=320x180
        low
        #EXT-X-STREAM-INF:BANDWIDTH=2000,RESOLUTION=640x360
        high

        """

    private static let texts = [
        "https://h/v": media(10, of: 6), "https://h/w": media(15, of: 4), "https://ads/ad": advertisement,
        "https://ads/low": media(1, of: 5), "https://ads/high": media(1, of: 5),
    ]
    private static let event = texts.merging(["https://h/v": media(10, of: 6, isEvent: true)]) { $1 }

    private static let one = "#EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=640x360\nv\n"
    private static let two = one + "#EXT-X-STREAM-INF:BANDWIDTH=500,RESOLUTION=320x180\nw\n"
    private static let withAudio = """
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="a"
        #EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=640x360,AUDIO="a"
        v

        """

    private func prepared(_ lines: String, _ edits: [PlaylistEdit], _ loader: Loader) async throws -> PreparedEdit {
        let film = try Playlist.parse(
            Array("#EXTM3U\n\(lines)".utf8),
            context: PlaylistContext(address: ResourceAddress("https://h/film"))
        )
        return try await PresentationEditor(EditPlan(edits), loader: loader).prepare(film)
    }

    /// Returns the names of the playlists that are loaded to prepare edits of a presentation.
    private func loads(
        _ lines: String,
        _ edits: PlaylistEdit...,
        texts: [String: String] = texts
    ) async throws -> [String] {
        let loader = Loader(texts)
        _ = try await prepared(lines, edits, loader)
        return loader.names
    }

    private func presentation(
        _ lines: String,
        _ edits: [PlaylistEdit],
        texts: [String: String] = texts
    ) async throws -> EditedPresentation {
        guard case .multivariant(let presentation) = try await prepared(lines, edits, Loader(texts)).apply() else {
            throw PlaylistParsingError.unexpectedKind(found: .media)
        }
        return presentation
    }

    private func spelled(_ plan: EditPlan?) -> [String] {
        (plan?.edits ?? []).map { "\($0.definition.name)=\($0.value)" }
    }

    private func seconds(_ value: Int64) -> MediaTime { MediaTime(seconds: value) }

    // MARK: Loaded playlists

    @Test func insertedPlaylistsAreLoadedIfTimesDependOnThem() async throws {
        let ad = "https://ads/ad"
        let insert = PlaylistEdit.insert(ad, at: seconds(8))
        let duration = PlaylistEdit.duration(seconds(20))
        let breaks = PlaylistEdit.replaceBreaks(with: ad, at: .every(seconds(35)))
        #expect(try await loads(Self.two, insert) == ["ads/ad", "h/v"])
        #expect(try await loads(Self.two, duration, insert) == ["ads/ad", "h/v"])
        #expect(try await loads(Self.two, insert, duration) == ["ads/ad", "h/v", "ads/high"])
        #expect(try await loads(Self.two, insert, insert, duration) == ["ads/ad", "h/v", "ads/high"])
        #expect(try await loads(Self.two, breaks) == ["ads/ad", "h/v", "ads/high"])
        #expect(try await loads(Self.two, breaks, texts: Self.event) == ["ads/ad", "h/v"])
        #expect(try await loads(Self.two, insert, duration, texts: Self.event) == ["ads/ad", "h/v", "ads/high"])
        // A source that is a media playlist is loaded once, and a gap is not loaded.
        #expect(try await loads(Self.two, .insert("https://ads/low", at: seconds(8)), duration) == ["ads/low", "h/v"])
        #expect(try await loads(Self.two, .insert("gap:8", at: seconds(8)), duration) == ["h/v"])
    }

    @Test(
        arguments: [
            ("", []), ("#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI=\"i\"\n", ["h/v"]),
            ("#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"E\",URI=\"a\"\n", ["h/v"]),
            ("#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"c\",NAME=\"E\",INSTREAM-ID=\"CC1\"\n", []),
            ("#EXT-X-STREAM-INF:BANDWIDTH=9,RESOLUTION=2x2\nv\n", []),
            ("#EXT-X-STREAM-INF:BANDWIDTH=9,RESOLUTION=2x2\nw\n", ["h/v"]),
        ] as [(String, [String])]
    )
    func videoIsLoadedIfThereAreOtherTracks(lines: String, expected: [String]) async throws {
        #expect(try await loads(Self.one + lines, .duration(seconds(12))) == expected)
        #expect(try await loads(Self.one + lines, .live(SimulatedChannel())) == ["h/v"])
        #expect(try await loads(Self.one + lines, .absolute, .noIFrames) == [])
    }

    @Test func videoIsThatOfTheFirstVariantWithAResolution() async throws {
        let audio = "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"mp4a.40.2\"\nw\n"
        #expect(try await loads(audio + Self.one, .duration(seconds(12))) == ["h/v"])
        let unknown = "#EXT-X-STREAM-INF:BANDWIDTH=1\nw\n#EXT-X-STREAM-INF:BANDWIDTH=2\nv\n"
        #expect(try await loads(unknown, .duration(seconds(12))) == ["h/w"])
    }

    @Test func startPositionNeedsTheVideoIfSegmentsMove() async throws {
        let started = "#EXT-X-START:TIME-OFFSET=12\n" + Self.one
        let gap = PlaylistEdit.append("gap:8")
        #expect(try await loads(Self.one, gap) == [])
        #expect(try await loads(started, gap) == ["h/v"])
        #expect(try await loads(started, .absolute, .noIFrames, .split([seconds(4)])) == [])
        #expect(try await loads(started, .interstitials("https://ads/ad", at: .cues)) == [])
        let start = PlaylistEdit.setTag(try #require(TagAssignment("EXT-X-START=TIME-OFFSET=4")))
        let version = PlaylistEdit.setTag(try #require(TagAssignment("EXT-X-VERSION=7")))
        #expect(try await loads(Self.one, start, gap) == ["h/v"])
        #expect(try await loads(Self.one, version, gap) == [])
        #expect(try await loads(Self.one, start, version) == [])
    }

    /// The duration of a gap is that of the variant with the lowest bit rate.
    @Test(
        arguments: [
            (one, []), (withAudio, []), (withAudio.replacing("=AUDIO", with: "=SUBTITLES"), ["ads/low"]),
            (one + "#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"c\",NAME=\"E\",INSTREAM-ID=\"CC1\"\n", []),
        ] as [(String, [String])]
    )
    func gapsAreNeededForRenditionsWithoutAMatch(lines: String, expected: [String]) async throws {
        #expect(try await loads(lines, .append("https://ads/ad")) == ["ads/ad"] + expected)
        #expect(try await loads(lines, .absolute) == [])
    }

    @Test func channelNeedsACompleteVideo() async throws {
        let reason = "https://h/v, which determines the timeline of the channel, is live or cannot be loaded"
        for texts in [Self.event, [:], ["https://h/v": Self.advertisement]] {
            await #expect(throws: PlaylistEditError.cannotStitch(reason: reason)) {
                try await loads(Self.one, .live(SimulatedChannel()), texts: texts)
            }
        }
    }

    /// The effect of an edit of an application on the times of segments is not known.
    @Test func editOfAnApplicationMayMoveTheStart() async throws {
        let both = CustomEdit(
            "moves-both",
            title: "Both",
            summary: "Change nothing.",
            multivariant: { playlist, _ in playlist },
            media: { playlist, _ in playlist }
        )
        let filter = CustomEdit(
            filter: "moves-nothing",
            title: "Filter",
            summary: "Change nothing.",
            multivariant: { playlist, _ in playlist }
        )
        try PlaylistEdit.register(both)
        try PlaylistEdit.register(filter)
        let started = "#EXT-X-START:TIME-OFFSET=12\n" + Self.one
        #expect(try await loads(started, PlaylistEdit(name: "moves-both", value: "")) == ["h/v"])
        #expect(try await loads(started, PlaylistEdit(name: "moves-nothing", value: "")) == [])
    }

    @Test func missingIFrameVariantsAreNotOmitted() async throws {
        #expect(try await !presentation(Self.two, [.append("https://ads/ad")]).omitsIFrameVariants)
    }

    /// A caller can stop between the edits, and before each media playlist.
    @Test func checkPrecedesEachStep() async throws {
        for (lines, expected) in [(Self.withAudio, 4), ("#EXT-X-START:TIME-OFFSET=12\n" + Self.withAudio, 6)] {
            let edit = try await prepared(lines, [.duration(seconds(31))], Loader(Self.texts))
            var count = 0
            _ = try edit.apply { count += 1 }
            #expect(count == expected)
        }
    }

    // MARK: Edits of each track

    @Test func allTracksOfAChannelHaveTheTimesOfTheVideo() async throws {
        let edited = try await presentation(Self.two, [.live(SimulatedChannel())])
        let values = edited.playlist.variants.map { spelled(edited.plan(for: .variant($0))) }
        #expect(values == [["live=loop,periods=60,target=6"], ["live=loop,periods=60,target=6"]])
    }

    /// The bit rate that a variant has with one advertisement does not select a higher variant of another one.
    @Test func variantsAreMatchedByTheirOwnBitRates() async throws {
        let texts = Self.texts.merging([
            "https://ads/a": """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=300,RESOLUTION=640x360
            low
            #EXT-X-STREAM-INF:BANDWIDTH=2000,RESOLUTION=640x360
            high

            """,
            "https://ads/b": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=6500,RESOLUTION=1280x720\nhigh\n",
        ]) { $1 }
        let edits = [PlaylistEdit.append("https://ads/a"), .append("https://ads/b")]
        let edited = try await presentation(Self.one, edits, texts: texts)
        let variant = try #require(edited.playlist.variants.first)
        #expect(variant.bandwidth?.bitsPerSecond == 6_500)
        #expect(spelled(edited.plan(for: .variant(variant))) == ["append=https://ads/low", "append=https://ads/high"])
    }

    /// The video has segments of 6 seconds, and a duration of 60 seconds; later segments of an event are not known.
    @Test(arguments: [
        ("start", "17.9", "trim=12...", "trim=12..."), ("start", "18", "trim=18...", "trim=18..."),
        ("start", "0", "trim=0...", "trim=0..."), ("start", "60", "start=60", "start=60"),
        ("duration", "31", "trim=0...30", "trim=0...30"), ("duration", "6", "trim=0...6", "trim=0...6"),
        ("duration", "5", "duration=5", "duration=5"), ("duration", "60", "trim=0...", "duration=60"),
        ("duration", "90", "trim=0...", "duration=90"), ("trim", "10...20", "trim=12...18", "trim=12...18"),
        ("trim", "50...60", "trim=48...", "trim=50...60"), ("trim", "50...", "trim=48...", "trim=48..."),
        ("cut", "10...20", "exclude=seams=12...18/0/0", "exclude=seams=12...18/0/0"),
        ("cut", "50...60", "cut=48...", "cut=50...60"),
        ("cut", "50...", "cut=48...", "cut=48..."), ("cut", "58...60", "cut=58...58", "cut=58...58"),
        ("cut", "59...70", "cut=59...59", "cut=59...70"), ("cut", "60...70", "cut=60...60", "cut=60...70"),
        ("cut", "59...", "cut=59...59", "cut=59..."), ("cut", "60...", "cut=60...60", "cut=60..."),
        ("cut", "0...59", "cut=0...", "cut=0...59"),
        ("drop-range", "10...30", "exclude=seams=12...30/0/0", "exclude=seams=12...30/0/0"),
        ("drop-range", "50...60", "cut=54...", "drop-range=50...60"),
        ("drop-range", "1...2", "drop-range=1...2", "drop-range=1...2"),
        ("insert", "gap:8@8", "insert=gap:8@6/0/0", "insert=gap:8@6/0/0"),
        ("insert", "gap:8@1", "insert=gap:8@0", "insert=gap:8@0"),
        ("insert", "gap:8@58", "append=gap:8", "insert=gap:8@58"),
        ("insert", "gap:8@60", "append=gap:8", "insert=gap:8@60"),
    ])
    func audioIsEditedWhereTheVideoIs(name: String, value: String, complete: String, live: String) async throws {
        let edit = try PlaylistEdit(name: name, value: value)
        for (texts, expected) in [(Self.texts, complete), (Self.event, live)] {
            let edited = try await presentation(Self.withAudio, [edit], texts: texts)
            let audio = try #require(edited.playlist.renditions.first)
            #expect(spelled(edited.plan(for: .rendition(audio))) == [expected])
            let video = try #require(edited.playlist.variants.first)
            #expect(edited.plan(for: .variant(video))?.edits == [edit])
        }
    }

    /// Subtitles in one file are divided where they are cut, and first of all.
    @Test func subtitlesAreDividedWhereTheyAreCut() async throws {
        let lines = Self.withAudio.replacing("=AUDIO", with: "=SUBTITLES").replacing("AUDIO=", with: "SUBTITLES=")
        func edits(_ edits: PlaylistEdit...) async throws -> [String] {
            let edited = try await presentation(lines, edits)
            return spelled(edited.plan(for: .rendition(try #require(edited.playlist.renditions.first))))
        }
        let duration = PlaylistEdit.duration(seconds(31))
        #expect(try await edits(duration) == ["split=30", "trim=0...30"])
        #expect(try await edits(duration, .absolute) == ["split=30", "trim=0...30", "absolute="])
        #expect(try await edits(.absolute, duration) == ["split=0", "absolute=", "split=30", "trim=0...30"])
        #expect(try await edits(.append("gap:8"), duration) == ["split=0", "append=gap:8", "split=30", "trim=0...30"])
        let range = MediaTimeRange(start: seconds(10), end: seconds(20))
        #expect(try await edits(.cut(range)) == ["split=12,18", "exclude=seams=12...18/0/0"])
        #expect(try await edits(.duration(seconds(90))) == ["split=0", "trim=0..."])
        #expect(try await edits(.absolute) == ["absolute="])
    }

    // MARK: Sources

    @Test func sourceIsOptionalOnlyForBreaksOfLivePlaylists() async throws {
        let source = "https://ads/missing"
        let breaks = PlaylistEdit.replaceBreaks(with: source, at: .cues)
        func prepare(_ edits: PlaylistEdit..., isEvent: Bool, texts: [String: String] = [:]) async throws {
            let playlist = try Playlist.parse(Array(Self.media(2, of: 4, isEvent: isEvent).utf8))
            _ = try await PresentationEditor(EditPlan(edits), loader: Loader(texts)).prepare(playlist)
        }
        try await prepare(breaks, isEvent: true)
        await #expect(throws: Loader.Missing.self) { try await prepare(breaks, isEvent: false) }
        await #expect(throws: Loader.Missing.self) { try await prepare(breaks, .prepend(source), isEvent: true) }
        await #expect(throws: Loader.Missing.self) { try await prepare(.prepend(source), isEvent: true) }
        await #expect(throws: CancellationError.self) {
            try await prepare(breaks, isEvent: true, texts: [source: "cancelled"])
        }
    }

    @Test func cancellationIsNotAMissingPlaylist() async throws {
        let texts = Self.texts.merging(["https://h/v": "cancelled"]) { $1 }
        await #expect(throws: CancellationError.self) {
            try await loads(Self.two, .duration(seconds(12)), texts: texts)
        }
        await #expect(throws: CancellationError.self) {
            try await loads(Self.sessionKeys + Self.two, .pruneSessionKeys, texts: texts)
        }
        let inserted = Self.texts.merging(["https://ads/high": "cancelled"]) { $1 }
        let breaks = PlaylistEdit.replaceBreaks(with: "https://ads/ad", at: .every(seconds(35)))
        await #expect(throws: CancellationError.self) { try await loads(Self.two, breaks, texts: inserted) }
    }

    // MARK: Session keys

    private static let sessionKeys = """
        #EXT-X-SESSION-KEY:METHOD=AES-128,URI="k"
        #EXT-X-SESSION-KEY:METHOD=AES-128,URI="k",KEYFORMAT="com.example"
        #EXT-X-SESSION-KEY:METHOD=AES-128,URI="x"

        """
    private static let encrypted = "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXTINF:4,\na\n"

    /// Returns the URIs of the remaining session keys.
    private func pruned(_ lines: String, _ loader: Loader) async throws -> [String] {
        guard
            case .multivariant(let result) = try await prepared(lines, [.pruneSessionKeys], loader).apply()
        else { return [] }
        return result.playlist.sessionKeys.compactMap(\.uri)
    }

    @Test(arguments: [(200, ["k"], 200), (201, ["k", "k", "x"], 0)])
    func keysOfAtMost200PlaylistsAreLoaded(count: Int, expected: [String], loads: Int) async throws {
        let names = (0..<count).map { "p\($0)" }
        let loader = Loader(Dictionary(uniqueKeysWithValues: names.map { ("https://h/" + $0, Self.encrypted) }))
        let lines = names.map { "#EXT-X-STREAM-INF:BANDWIDTH=1\n\($0)\n" }.joined()
        #expect(try await pruned(Self.sessionKeys + lines, loader) == expected)
        #expect(loader.names.count == loads)
    }

    @Test func eachPlaylistIsLoadedOnceForItsKeys() async throws {
        let lines = """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="a"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="F"
            #EXT-X-STREAM-INF:BANDWIDTH=1
            v
            #EXT-X-STREAM-INF:BANDWIDTH=2
            a
            #EXT-X-STREAM-INF:BANDWIDTH=3
            v
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=4,URI="i"

            """
        let names = ["v", "a", "i"]
        func loader() -> Loader {
            Loader(Dictionary(uniqueKeysWithValues: names.map { ("https://h/" + $0, Self.encrypted) }))
        }
        let first = loader()
        #expect(try await pruned(Self.sessionKeys + lines, first) == ["k"])
        #expect(first.names == ["h/v", "h/a", "h/i"])
        let second = loader()
        #expect(try await pruned(lines, second) == [])
        #expect(second.names.isEmpty)
        // A playlist of the other kind has no keys that are known.
        let other = Loader(["https://h/v": Self.advertisement])
        #expect(try await pruned(Self.sessionKeys + Self.one, other) == ["k", "k", "x"])
    }

    // MARK: Files

    @Test func filesAreThoseOfMediaPlaylists() async throws {
        let texts = ["https://h/v": Self.advertisement]
        let edited = try await presentation(Self.one, [.absolute], texts: texts)
        let editor = try PresentationEditor(EditPlan([.absolute]), loader: Loader(texts))
        await #expect(throws: PlaylistParsingError.unexpectedKind(found: .multivariant)) {
            try await editor.files(of: edited)
        }
    }

    /// Other characters than these can have a meaning in a file system or in a URL.
    @Test func filesKeepPathsOfCertainCharacters() async throws {
        let plain = ["0aAzZ9-_.m3u8", "a/b/c/d/e/f/g/h.m3u8", "b.M3U8"]
        let others = [
            "9:b.m3u8", "a@b.m3u8", "a[b.m3u8", "a`b.m3u8", "a^b.m3u8", "a~b.m3u8", "a,b.m3u8", "a+b.m3u8",
            "a b.m3u8", "a.m3u", "a/b/c/d/e/f/g/h/i.m3u8",
        ]
        let address = ResourceAddress("https://h/film")
        let lines =
            (plain + others).map { "#EXT-X-STREAM-INF:BANDWIDTH=1\n\($0)\n" }.joined()
            + "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"E\",URI=\"r\"\n"
            + "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI=\"i\"\n"
        let texts = Dictionary(
            uniqueKeysWithValues: (plain + others + ["r", "i"]).map {
                (address.resolving($0).text, Self.media(2, of: 4))
            }
        )
        let edits = [PlaylistEdit.duration(seconds(4))]
        let edited = try await presentation(lines, edits, texts: texts)
        let files = try await PresentationEditor(EditPlan(edits), loader: Loader(texts)).files(of: edited)
        let numbered = others.indices.map { "variant-\($0 + plain.count).m3u8" }
        let rest = ["rendition-0.m3u8", "iframes-0.m3u8", "multivariant.m3u8"]
        #expect(files.map(\.name) == plain + numbered + rest)
    }
}
