import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing
import Synchronization
import Testing

/// Tests of the editor that the command line, the server and the player share.
@Suite struct PresentationEditorTests {
    /// A loader of texts that counts their bytes against the budget.
    private final class Loader: PlaylistLoader {
        struct Missing: Error, Hashable {
            let source: String
        }

        private let texts: [String: String]
        private let loads = Mutex<[String]>([])

        init(_ texts: [String: String]) { self.texts = texts }

        /// The names of the loaded playlists, in order.
        var names: [String] { loads.withLock { $0 } }

        func loadPlaylist(at source: String, variables: [String: String], budget: EditBudget) async throws -> Playlist {
            loads.withLock { $0.append(source) }
            guard let text = texts[source] else { throw Missing(source: source) }
            try budget.receive(text.utf8.count)
            return try Playlist.parse(
                Array(text.utf8),
                context: PlaylistContext(address: ResourceAddress(source), importableVariables: variables),
                limits: budget.limits.loadedPlaylist
            )
        }
    }

    private static func media(_ prefix: String, _ count: Int, _ seconds: Int = 4) -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:\(seconds)\n"
            + (0..<count).map { "#EXTINF:\(seconds),\n\(prefix)\($0).ts\n" }.joined() + "#EXT-X-ENDLIST\n"
    }

    private static let imported = media("{$cdn}b", 5)
        .replacing("#EXTM3U\n", with: "#EXTM3U\n#EXT-X-DEFINE:IMPORT=\"cdn\"\n")

    private static let film = """
        #EXTM3U
        #EXT-X-DEFINE:NAME="cdn",VALUE="https://cdn/"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="K",LANGUAGE="ko",URI="ko.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=300000,RESOLUTION=320x180,AUDIO="a",SUBTITLES="s"
        180.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=1500000,RESOLUTION=854x480,AUDIO="a",SUBTITLES="s"
        480.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=50000,RESOLUTION=320x180,URI="i.m3u8"

        """
    private static let advertisement = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=400000,RESOLUTION=320x180
        low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,RESOLUTION=854x480
        high.m3u8

        """

    private let loader = Loader([
        "https://h/film.m3u8": film, "https://h/180.m3u8": media("a", 5), "https://h/480.m3u8": imported,
        "https://h/en.m3u8": media("e", 5), "https://h/ko.m3u8": media("k", 5), "https://h/i.m3u8": media("i", 5),
        "https://ads/ad.m3u8": advertisement, "https://ads/low.m3u8": media("low", 2),
        "https://ads/high.m3u8": media("high", 2),
    ])

    private func load(_ source: String) async throws -> Playlist {
        try await loader.loadPlaylist(at: source, variables: [:], budget: EditBudget())
    }

    private func prepared(
        _ source: String,
        _ edits: [PlaylistEdit],
        _ limits: EditLimits = EditLimits()
    ) async throws -> PreparedEdit {
        let playlist = try await load(source)
        return try await PresentationEditor(EditPlan(edits), loader: loader, budget: EditBudget(limits)).prepare(
            playlist
        )
    }

    private func presentation(_ edits: [PlaylistEdit]) async throws -> EditedPresentation {
        guard case .multivariant(let presentation) = try await prepared("https://h/film.m3u8", edits).apply() else {
            throw PlaylistParsingError.unexpectedKind(found: .media)
        }
        return presentation
    }

    /// The audio of the variants continues with that of the other playlist, which has segments of its own.
    @Test(arguments: [false, true])
    func audioInVariantsContinuesWithSeparateAudio(isDeclared: Bool) async throws {
        // A rendition without a URI is that of the variants.
        let declared = "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"m\",NAME=\"E\",DEFAULT=YES\n"
        var text = Self.advertisement.replacing("https://ads/", with: "")
        if isDeclared {
            text = text.replacing("#EXTM3U\n", with: declared).replacing("x180", with: "x180,AUDIO=\"m\"")
                .replacing("x480", with: "x480,AUDIO=\"m\"")
        }
        let loader = Loader([
            "https://ads/ad.m3u8": text, "https://ads/low.m3u8": Self.media("low", 2),
            "https://ads/high.m3u8": Self.media("high", 2), "https://h/film.m3u8": Self.film,
            "https://h/180.m3u8": Self.media("a", 2), "https://h/480.m3u8": Self.media("b", 2),
            "https://h/en.m3u8": Self.media("e", 2), "https://h/ko.m3u8": Self.media("k", 2),
        ])
        let source = try await loader.loadPlaylist(at: "https://ads/ad.m3u8", variables: [:], budget: EditBudget())
        let editor = try PresentationEditor(EditPlan([.append("https://h/film.m3u8")]), loader: loader)
        guard case .multivariant(let edited) = try await editor.prepare(source).apply() else {
            Issue.record("not a multivariant playlist")
            return
        }
        #expect(Set(edited.playlist.variants.map { $0.groupID(.audio) }) == [isDeclared ? "m" : "millstream-audio"])
        let audio = try #require(edited.playlist.renditions.first { $0.type == .audio })
        #expect(audio.address?.text == "https://ads/low.m3u8" && audio.isDefault)
        let files = try await editor.files(of: edited)
        func segments(_ name: String) throws -> [String] {
            let file = try #require(files.first { $0.name == name })
            return try MediaPlaylist(parsing: file.bytes).segments.map { $0.address.lastPathComponent }
        }
        #expect(try segments("low.m3u8") == ["low0.ts", "low1.ts", "a0.ts", "a1.ts"])
        #expect(try segments("high.m3u8") == ["high0.ts", "high1.ts", "b0.ts", "b1.ts"])
        #expect(try segments("rendition-0.m3u8") == ["low0.ts", "low1.ts", "e0.ts", "e1.ts"])
        let top = try MultivariantPlaylist(parsing: try #require(files.last).bytes)
        #expect(top.renditions.map(\.uri) == ["rendition-0.m3u8"])
        #expect(top.variants.map(\.uri) == ["low.m3u8", "high.m3u8"])
    }

    /// Video without audio, and a playlist with muxed audio, need no rendition.
    @Test func audioRenditionsAreAddedOnlyWhereAudioIs() async throws {
        let silent = Self.advertisement.replacing("x180", with: "x180,CODECS=\"avc1.42c00d\"")
            .replacing("x480", with: "x480,CODECS=\"avc1.42c00d\"")
        let context = PlaylistContext(address: ResourceAddress("https://ads/ad.m3u8"))
        let film = try Playlist.parse(Array(Self.film.utf8), context: context)
        let muxed = try MultivariantPlaylist(parsing: Array(Self.advertisement.utf8), context: context)
        let plan = EditPlan([.append("x")])
        let video = try MultivariantPlaylist(parsing: Array(silent.utf8), context: context)
        #expect(try plan.applied(to: video, sources: ["x": film]).bytes == video.bytes)
        #expect(try plan.applied(to: muxed, sources: ["x": .multivariant(muxed)]).bytes == muxed.bytes)
        #expect(try plan.applied(to: muxed, sources: ["x": film]).renditions.count == 1)
        // Filters concern the audio of the presentation as it is.
        let filtered = EditPlan([.append("x"), try PlaylistEdit(name: "audio-languages", value: "en")])
        #expect(try filtered.applied(to: muxed, sources: ["x": film]).renditions.count == 1)
    }

    @Test func everyMediaPlaylistHasItsOwnPlan() async throws {
        let presentation = try await presentation([.append("https://ads/ad.m3u8"), .maxHeight(300)])
        #expect(presentation.playlist.variants.map(\.uri) == ["180.m3u8"])
        let variant = try #require(presentation.playlist.variants.first)
        #expect(presentation.plan(for: .variant(variant))?.edits == [.append("https://ads/low.m3u8")])
        let renditions = presentation.playlist.renditions.map { presentation.plan(for: .rendition($0))?.edits }
        #expect(renditions == [[.append("https://ads/low.m3u8")], [.append("gap:8/4")]])
        let plans = Playlist.multivariant(presentation.playlist).addresses.map { presentation.plan(for: $0)?.edits }
        #expect(plans == [renditions[0], renditions[1], [.append("https://ads/low.m3u8")]])
        // The duration of the gap is that of the variant with the lowest bit rate.
        #expect(loader.names == ["https://h/film.m3u8", "https://ads/ad.m3u8", "https://ads/low.m3u8"])
    }

    @Test func gapIsNotLoadedWithoutSubtitles() async throws {
        let text = Self.film.replacing(/#EXT-X-MEDIA:TYPE=SUBTITLES.*\n/, with: "").replacing(
            ",SUBTITLES=\"s\"",
            with: ""
        )
        let loader = Loader(["https://h/film.m3u8": text, "https://ads/ad.m3u8": Self.advertisement])
        let playlist = try await loader.loadPlaylist(at: "https://h/film.m3u8", variables: [:], budget: EditBudget())
        let editor = try PresentationEditor(EditPlan([.append("https://ads/ad.m3u8")]), loader: loader)
        _ = try await editor.prepare(playlist).apply()
        #expect(loader.names == ["https://h/film.m3u8", "https://ads/ad.m3u8"])
    }

    @Test func gapsAreNotLoaded() async throws {
        let presentation = try await presentation([.append("gap:8")])
        let variant = try #require(presentation.playlist.variants.first)
        #expect(presentation.plan(for: .variant(variant))?.edits == [.append("gap:8")])
        #expect(loader.names == ["https://h/film.m3u8"] && !presentation.playlist.iFrameVariants.isEmpty)
        guard case .media(let media) = try await prepared("https://h/180.m3u8", [.append("gap:8")]).apply() else {
            Issue.record("not media")
            return
        }
        #expect(media.duration == MediaTime(seconds: 28))
    }

    @Test func removedIFrameVariantsAreReported() async throws {
        let append = PlaylistEdit.append("https://ads/ad.m3u8")
        #expect(try await presentation([append]).omitsIFrameVariants)
        #expect(try await presentation([append]).playlist.iFrameVariants.isEmpty)
        #expect(try await !presentation([append, .noIFrames]).omitsIFrameVariants)
        #expect(try await !presentation([.duration(MediaTime(seconds: 8))]).omitsIFrameVariants)
    }

    @Test func onlySourcesWithSeveralVariantsAreReduced() async throws {
        let loader = Loader([
            "https://h/180.m3u8": Self.media("a", 5), "https://ads/low.m3u8": Self.media("low", 2),
            "https://ads/one.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow.m3u8\n",
        ])
        let playlist = try await loader.loadPlaylist(at: "https://h/180.m3u8", variables: [:], budget: EditBudget())
        let plan = EditPlan([.append("https://ads/one.m3u8"), .prepend("https://ads/low.m3u8")])
        #expect(try await PresentationEditor(plan, loader: loader).prepare(playlist).reducedSources.isEmpty)
    }

    @Test func variantWithLowestBitRateIsInsertedIntoMediaPlaylist() async throws {
        let source = "https://ads/ad.m3u8"
        let prepared = try await prepared("https://h/180.m3u8", [.append(source), .prepend(source)])
        #expect(prepared.reducedSources == [source])
        // A source that several edits name is loaded once.
        #expect(loader.names == ["https://h/180.m3u8", source, "https://ads/low.m3u8"])
        guard case .media(let media) = try prepared.apply() else {
            Issue.record("not media")
            return
        }
        let uris = media.segments.map(\.uri)
        #expect(uris.first == "https://ads/low0.ts" && uris.last == "https://ads/low1.ts" && uris.count == 9)
    }

    @Test func editsOfMediaPlaylistAreAppliedInOrder() async throws {
        let (start, duration) = (
            PlaylistEdit.start(MediaTime(seconds: 8)), PlaylistEdit.duration(MediaTime(seconds: 12))
        )
        for (edits, uris) in [([start, duration], ["a2.ts", "a3.ts", "a4.ts"]), ([duration, start], ["a2.ts"])] {
            guard case .media(let media) = try await prepared("https://h/180.m3u8", edits).apply() else {
                Issue.record("not media")
                return
            }
            #expect(media.segments.map(\.uri) == uris)
        }
    }

    @Test func sourceWithoutVariantsCannotBeInserted() async throws {
        let source = "https://ads/none.m3u8"
        let playlist = try await load("https://h/180.m3u8")
        let loader = Loader([source: "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"x\"\n"])
        let editor = try PresentationEditor(EditPlan([.append(source)]), loader: loader)
        let error = await #expect(throws: PlaylistEditError.self) { try await editor.prepare(playlist) }
        #expect(error?.code == .cannotStitch)
    }

    @Test func filesOfPresentationAreCompleteAndReferToEachOther() async throws {
        let edits = [PlaylistEdit.append("https://ads/ad.m3u8"), .duration(MediaTime(seconds: 28))]
        let presentation = try await presentation(edits)
        let editor = try PresentationEditor(EditPlan(edits), loader: loader)
        let files = try await editor.files(of: presentation)
        #expect(files.map(\.name) == ["180.m3u8", "480.m3u8", "en.m3u8", "ko.m3u8", "multivariant.m3u8"])
        // The file of a media playlist does not need the variables of the multivariant playlist.
        #expect(
            String(decoding: files[1].bytes, as: UTF8.self)
                .contains("\n#EXT-X-DEFINE:NAME=\"cdn\",VALUE=\"https://cdn/\"\n")
        )
        let playlists = try files.map { try Playlist.parse($0.bytes) }
        guard case .multivariant(let top) = try #require(playlists.last) else {
            Issue.record("not multivariant")
            return
        }
        #expect(top.variants.map(\.uri) == ["180.m3u8", "480.m3u8"])
        #expect(top.renditions.map(\.uri) == ["en.m3u8", "ko.m3u8"])
        let segments = try playlists.dropLast().map { playlist in
            guard case .media(let media) = playlist else {
                throw PlaylistParsingError.unexpectedKind(found: .multivariant)
            }
            return [media.segments.first?.uri, media.segments.last?.uri]
        }
        #expect(
            segments == [
                ["https://h/a0.ts", "https://ads/low1.ts"], ["https://cdn/b0.ts", "https://ads/high1.ts"],
                ["https://h/e0.ts", "https://ads/low1.ts"], ["https://h/k0.ts", "gap.vtt"],
            ]
        )
    }

    /// Names from outside lead to no other folder, and not to another playlist of the set.
    @Test func filesHaveThePathsOfTheSourceWhereTheseArePlain() async throws {
        let uris = [
            "low/media.m3u8?token=1#a", "../up.m3u8", "/root.m3u8", "a//b.m3u8", "./c.m3u8", ".hidden/d.m3u8",
            "Multivariant.m3u8", "a.m3u8", "A.m3u8", "https://other/e.m3u8", "back\\f.m3u8", "g%2F..m3u8", "h.mpd",
            "\(String(repeating: "x", count: 200)).m3u8", "a/b/c/d/e/f/g/h/i.m3u8", "variant-1.m3u8", "é.m3u8",
            String(repeating: "y", count: 195) + ".m3u8", String(repeating: "z", count: 196) + ".m3u8",
        ]
        let address = "https://h/x/main.m3u8"
        let text = "#EXTM3U\n" + uris.enumerated().map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0 + 1)\n\($1)\n" }.joined()
        var texts = [address: text]
        for uri in uris { texts[ResourceAddress(address).resolving(uri).text] = Self.media("m", 2) }
        let loader = Loader(texts)
        let edits = [PlaylistEdit.duration(MediaTime(seconds: 4))]
        let editor = try PresentationEditor(EditPlan(edits), loader: loader)
        let source = try await loader.loadPlaylist(at: address, variables: [:], budget: EditBudget())
        guard case .multivariant(let edited) = try await editor.prepare(source).apply() else {
            Issue.record("not multivariant")
            return
        }
        let names = try await editor.files(of: edited).map(\.name)
        let kept = ["low/media.m3u8", "a.m3u8", String(repeating: "y", count: 195) + ".m3u8"]
        #expect(names.filter { !$0.hasPrefix("variant-") } == kept + ["multivariant.m3u8"])
        #expect(Set(names.map { $0.lowercased() }).count == uris.count + 1)
    }

    // MARK: Limits

    @Test func numberOfEditsAndSourcesIsLimited() throws {
        func error(_ edits: [PlaylistEdit], _ limits: EditLimits) -> PlaylistEditError? {
            do throws(PlaylistEditError) {
                _ = try PresentationEditor(EditPlan(edits), loader: loader, budget: EditBudget(limits))
                return nil
            } catch {
                return error
            }
        }
        let limits = EditLimits(edits: 3, sources: 1)
        #expect(error([.append("a"), .prepend("a"), .absolute], limits) == nil)
        #expect(error([.append("a"), .prepend("b")], limits) == .tooManySources(maximum: 1))
        #expect(error(Array(repeating: .absolute, count: 4), limits) == .tooManyEdits(maximum: 3))
        #expect(error(Array(repeating: .absolute, count: 16), EditLimits()) == nil)
        #expect(EditLimits().entries == 200_000 && EditLimits().sources == 16)
        #expect(error(Array(repeating: .absolute, count: 17), EditLimits()) == .tooManyEdits(maximum: 16))
        #expect(error((0..<16).map { .append("\($0)") }, EditLimits()) == nil)
    }

    @Test func loadedPlaylistsAreLimitedTogether() async throws {
        let source = "https://ads/low.m3u8"
        let size = Self.media("low", 2).utf8.count
        let edits = [PlaylistEdit.append(source), .prepend("https://ads/high.m3u8")]
        let both = EditLimits(loadedBytes: ByteCount(Int64(size + Self.media("high", 2).utf8.count)))
        _ = try await prepared("https://h/180.m3u8", edits, both)
        let less = EditLimits(loadedBytes: both.loadedBytes - ByteCount(1))
        await #expect(throws: PlaylistEditError.loadsTooMuch(less.loadedBytes)) {
            try await prepared("https://h/180.m3u8", edits, less)
        }
    }

    @Test func resultIsLimited() async throws {
        let edits = [PlaylistEdit.append("https://ads/low.m3u8")]
        let size = try await prepared("https://h/180.m3u8", edits).apply().playlist.bytes.count
        let limits = EditLimits(resultBytes: ByteCount(Int64(size)))
        #expect(try await prepared("https://h/180.m3u8", edits, limits).apply().playlist.bytes.count == size)
        let less = try await prepared("https://h/180.m3u8", edits, EditLimits(resultBytes: ByteCount(Int64(size - 1))))
        #expect(throws: PlaylistEditError.tooLarge(.byteCount(size - 1))) { try less.apply() }
        let entries = try await prepared("https://h/180.m3u8", edits, EditLimits(entries: 6))
        #expect(throws: PlaylistEditError.tooLarge(.entryCount(6))) { try entries.apply() }
    }

    @Test func mediaPlaylistsOfPresentationAreLimitedOneByOne() async throws {
        let edits = [PlaylistEdit.duration(MediaTime(seconds: 8))]
        let presentation = try await presentation(edits)
        // The largest child fits, and all of them together exceed the limit.
        let size = Int64(Self.imported.utf8.count)
        func files(_ limit: Int64) async throws -> [EditedFile] {
            let budget = EditBudget(EditLimits(loadedBytes: ByteCount(limit)))
            return try await PresentationEditor(EditPlan(edits), loader: loader, budget: budget).files(of: presentation)
        }
        #expect(try await files(size).count == 6)
        await #expect(throws: PlaylistEditError.loadsTooMuch(ByteCount(size - 1))) { try await files(size - 1) }
    }

    @Test func rejectedBytesAreNotCountedOrReserved() throws {
        struct Full: Error {}
        let reserved = Mutex(0)
        let budget = EditBudget(EditLimits(loadedBytes: ByteCount(100))) { count in
            guard count != 13 else { throw Full() }
            reserved.withLock { $0 += count }
        }
        try budget.receive(60)
        #expect(throws: PlaylistEditError.loadsTooMuch(ByteCount(100))) { try budget.receive(41) }
        #expect(throws: Full.self) { try budget.receive(13) }
        try budget.receive(27)
        #expect(reserved.withLock { $0 } == 87)
        #expect(throws: PlaylistEditError.loadsTooMuch(ByteCount(100))) { try budget.receive(1) }
    }

    @Test func workStopsWhenTheCheckFails() async throws {
        struct Stopped: Error {}
        let prepared = try await prepared("https://h/180.m3u8", [.absolute, .canonical, .absolute])
        let calls = Mutex(0)
        #expect(throws: Stopped.self) {
            try prepared.apply {
                let count = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                if count == 2 { throw Stopped() }
            }
        }
        #expect(calls.withLock { $0 } == 2)
    }

    private static let encrypted = """
        #EXTM3U
        #EXT-X-SESSION-KEY:METHOD=AES-128,URI="low-key"
        #EXT-X-SESSION-KEY:METHOD=AES-128,URI="high-key"
        #EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI="high-key"
        #EXT-X-STREAM-INF:BANDWIDTH=300000
        low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=1500000
        high.m3u8

        """

    private func prune(_ loader: Loader, _ edits: [PlaylistEdit]) async throws -> [String?] {
        let playlist = try Playlist.parse(
            Array(Self.encrypted.utf8),
            context: PlaylistContext(address: ResourceAddress("http://a/main.m3u8"))
        )
        let editor = try PresentationEditor(EditPlan(edits), loader: loader)
        guard case .multivariant(let result) = try await editor.prepare(playlist).apply() else { return [] }
        return result.playlist.sessionKeys.map(\.uri)
    }

    @Test func sessionKeysThatNoRemainingPlaylistUsesAreRemoved() async throws {
        func media(_ key: String) -> String {
            Self.media("s", 2).replacing(
                "#EXTINF",
                with: "#EXT-X-KEY:METHOD=AES-128,URI=\"\(key)\"\n#EXTINF",
                maxReplacements: 1
            )
        }
        let loader = Loader(["http://a/low.m3u8": media("low-key"), "http://a/high.m3u8": media("high-key")])
        #expect(try await prune(loader, [.pruneSessionKeys]) == ["low-key", "high-key"])
        let limited = try [PlaylistEdit.pruneSessionKeys, PlaylistEdit(name: "bandwidth", value: "1M...")]
        #expect(try await prune(loader, limited) == ["high-key"])
        #expect(try await prune(loader, []) == ["low-key", "high-key", "high-key"])
        #expect(loader.names == ["http://a/low.m3u8", "http://a/high.m3u8", "http://a/high.m3u8"])
    }

    @Test func sessionKeysRemainIfAPlaylistCannotBeLoaded() async throws {
        let loader = Loader(["http://a/low.m3u8": Self.media("s", 2)])
        #expect(try await prune(loader, [.pruneSessionKeys]) == ["low-key", "high-key", "high-key"])
    }
}
