import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing
import Testing

/// Tests that the tracks of a presentation are cut together: at the boundaries of the video, and at the nearest ones of
/// audio and subtitles.
@Suite struct AlignmentTests {
    private struct Loader: PlaylistLoader {
        struct Missing: Error {}

        let texts: [String: String]

        func loadPlaylist(at source: String, variables: [String: String], budget: EditBudget) async throws -> Playlist {
            guard let text = texts[source] else { throw Missing() }
            return try Playlist.parse(
                Array(text.utf8),
                context: PlaylistContext(address: ResourceAddress(source), importableVariables: variables)
            )
        }
    }

    private static func media(_ durations: [String], isLive: Bool = false) -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:120\n"
            + durations.enumerated().map { "#EXTINF:\($0.element),\n\($0.offset)\n" }.joined()
            + (isLive ? "" : "#EXT-X-ENDLIST\n")
    }

    private static let film = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="audio"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",LANGUAGE="en",URI="subtitles"
        #EXT-X-STREAM-INF:BANDWIDTH=100,CODECS="mp4a.40.2",AUDIO="a"
        audio
        #EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=640x360,AUDIO="a",SUBTITLES="s"
        video
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=10,RESOLUTION=640x360,URI="images"

        """

    private static let texts = [
        "https://h/film": film, "https://h/video": media(Array(repeating: "9.97667", count: 12)),
        "https://h/audio": media(Array(repeating: "4", count: 30)), "https://h/subtitles": media(["119.72"]),
        "https://h/images": media(Array(repeating: "1", count: 119)), "https://ads/ad": media(["5", "5"]),
    ]

    /// Returns the durations and the URIs of the first segments of each track after edits, by the name of the file.
    private func edited(
        _ edits: [PlaylistEdit],
        _ texts: [String: String] = texts
    ) async throws -> [String: MediaPlaylist] {
        let loader = Loader(texts: texts)
        let editor = try PresentationEditor(EditPlan(edits), loader: loader)
        let film = try await loader.loadPlaylist(at: "https://h/film", variables: [:], budget: EditBudget())
        guard case .multivariant(let presentation) = try await editor.prepare(film).apply() else { return [:] }
        var result: [String: MediaPlaylist] = [:]
        for rendition in presentation.playlist.renditions {
            let plan = try #require(presentation.plan(for: .rendition(rendition)))
            result[rendition.uri ?? ""] = try await edit(try #require(rendition.address), plan, loader)
        }
        for variant in presentation.playlist.variants.dropFirst() + presentation.playlist.iFrameVariants {
            let plan = try #require(presentation.plan(for: .variant(variant)))
            result[variant.uri] = try await edit(variant.address, plan, loader)
        }
        return result
    }

    private func edit(_ address: ResourceAddress, _ plan: EditPlan, _ loader: Loader) async throws -> MediaPlaylist {
        let playlist = try await loader.loadPlaylist(at: address.text, variables: [:], budget: EditBudget())
        let prepared = try await PresentationEditor(plan, loader: loader).prepare(playlist)
        guard case .media(let media) = try prepared.apply() else { throw Loader.Missing() }
        return media
    }

    private func names(_ playlist: MediaPlaylist?) -> [String] {
        (playlist?.segments.map(\.uri) ?? []).map { $0.hasPrefix("https://ads/") ? "ad" : $0 }
    }

    @Test func tracksEndAtTheNearestBoundary() async throws {
        let tracks = try await edited([.duration(MediaTime(seconds: 30))])
        #expect(tracks["video"]?.duration.description == "29.93001")
        #expect(tracks["audio"]?.duration == MediaTime(seconds: 28) && tracks["audio"]?.hasEndMarker == true)
        #expect(tracks["images"]?.duration == MediaTime(seconds: 30))
        // The only segment of the subtitles is needed.
        #expect(names(tracks["subtitles"]) == ["0"])
    }

    @Test func tracksBeginAtTheNearestBoundary() async throws {
        let tracks = try await edited([.start(MediaTime(seconds: 15)), .duration(MediaTime(seconds: 20))])
        #expect(names(tracks["video"]) == ["1", "2"])
        #expect(names(tracks["audio"]) == ["2", "3", "4", "5", "6"])
        #expect(names(tracks["images"]).first == "10" && names(tracks["images"]).count == 20)
        #expect(names(tracks["subtitles"]) == ["0"])
    }

    @Test func durationBeyondTheVideoShortensNothing() async throws {
        let tracks = try await edited([.duration(MediaTime(value: 1198, timescale: 10))])
        #expect(tracks["video"]?.segments.count == 12 && tracks["audio"]?.segments.count == 30)
    }

    @Test func rangesAreCutTogether() async throws {
        let tracks = try await edited([
            .dropRange(MediaTimeRange(start: MediaTime(seconds: 10), end: MediaTime(seconds: 45)))
        ])
        #expect(names(tracks["video"]) == ["0", "1", "4", "5", "6", "7", "8", "9", "10", "11"])
        #expect(names(tracks["audio"]) == (Array(0..<5) + Array(10..<30)).map(String.init))
        #expect(tracks["audio"]?.segments[5].hasDiscontinuity == true)
        // A cut inside of a segment does not remove the segment, and adds a discontinuity at the nearest boundary.
        #expect(names(tracks["subtitles"]) == ["0"] && tracks["subtitles"]?.segments[0].hasDiscontinuity == true)
    }

    @Test func insertedPlaylistsAreAligned() async throws {
        let tracks = try await edited([
            .insert("https://ads/ad", at: MediaTime(seconds: 15)), .duration(MediaTime(seconds: 45)),
        ])
        #expect(names(tracks["video"]) == ["0", "1", "ad", "ad", "2"])
        #expect(names(tracks["audio"]) == ["0", "1", "2", "3", "4", "ad", "ad", "5", "6"])
    }

    @Test func prependedPlaylistShiftsTheBoundaries() async throws {
        let tracks = try await edited([.prepend("https://ads/ad"), .duration(MediaTime(seconds: 25))])
        #expect(names(tracks["video"]) == ["ad", "ad", "0"])
        #expect(names(tracks["audio"]) == ["ad", "ad", "0", "1"])
    }

    @Test func withoutThePlaylistOfTheVideoEachTrackIsCutByItself() async throws {
        var texts = Self.texts
        texts["https://h/video"] = Self.media(Array(repeating: "9.97667", count: 12), isLive: true)
        texts["https://h/subtitles"] = Self.media(Array(repeating: "4", count: 30))
        let live = try await edited([.duration(MediaTime(seconds: 31))], texts)
        #expect(live["audio"]?.duration == MediaTime(seconds: 28))
        let loader = Loader(texts: ["https://h/film": Self.film])
        let film = try await loader.loadPlaylist(at: "https://h/film", variables: [:], budget: EditBudget())
        let prepared = try await PresentationEditor(EditPlan([.duration(MediaTime(seconds: 31))]), loader: loader)
            .prepare(film)
        guard case .multivariant(let presentation) = try prepared.apply() else { throw Loader.Missing() }
        let audio = try #require(presentation.playlist.renditions.first)
        #expect(presentation.plan(for: .rendition(audio))?.edits == [.duration(MediaTime(seconds: 31))])
    }

    /// The cuts of audio with segments of 6 seconds and video with segments of 10 seconds do not add up.
    @Test func cutsThatFollowEachOtherAreEachAtTheNearestBoundary() async throws {
        let texts = Self.texts.merging([
            "https://h/video": Self.media(Array(repeating: "10", count: 12)),
            "https://h/audio": Self.media(Array(repeating: "6", count: 20)),
            "https://h/subtitles": Self.media(Array(repeating: "4", count: 30)),
        ]) { _, new in new }
        func segments(_ edits: (name: String, value: String)...) async throws -> (video: String, audio: [String]) {
            let tracks = try await edited(try edits.map { try PlaylistEdit(name: $0.name, value: $0.value) }, texts)
            return (names(tracks["video"]).joined(separator: " "), names(tracks["audio"]))
        }
        func numbers(_ ranges: Range<Int>...) -> [String] { ranges.joined().map(String.init) }
        // 10...50 s of the video, which are 12...48 s of the audio. Where the audio begins, its 40 s would end at 54 s.
        let preview = try await segments(("start", "10"), ("duration", "40"))
        #expect(preview.video == "1 2 3 4" && preview.audio == numbers(2..<8))
        // 10...20, 30...50 and 60...70 s of the video, which are 12...24, 30...48 and 60...72 s of the audio: 42 s instead of 40 s.
        let cuts = try await segments(("cut", "10...20"), ("cut", "20...40"), ("cut", "30...40"))
        #expect(cuts.video == "0 2 5 7 8 9 10 11" && cuts.audio == numbers(0..<2, 4..<5, 8..<10, 12..<20))
        // The start at 10 s, 50...60 s, and the end at 110 s, which leave 90 s of both.
        let all = try await segments(("start", "10"), ("cut", "40...50"), ("duration", "90"))
        #expect(all.video == "1 2 3 4 6 7 8 9 10" && all.audio == numbers(2..<9, 10..<18))
    }

    @Test func cutsThatFollowEachOtherAreOneEditWhereOneIsEnough() async throws {
        let loader = Loader(texts: Self.texts)
        let film = try await loader.loadPlaylist(at: "https://h/film", variables: [:], budget: EditBudget())
        func plan(_ edits: PlaylistEdit...) async throws -> [String] {
            let prepared = try await PresentationEditor(EditPlan(edits), loader: loader).prepare(film)
            guard case .multivariant(let presentation) = try prepared.apply() else { throw Loader.Missing() }
            let audio = try #require(presentation.playlist.renditions.first)
            let plan = try #require(presentation.plan(for: .rendition(audio)))
            return plan.edits.map { "\($0.definition.name)=\($0.value)" }
        }
        func seconds(_ start: Int64, _ end: Int64) -> MediaTimeRange {
            MediaTimeRange(start: MediaTime(seconds: start), end: MediaTime(seconds: end))
        }
        let start = PlaylistEdit.start(MediaTime(seconds: 15))
        let duration = PlaylistEdit.duration(MediaTime(seconds: 20))
        #expect(try await plan(start, duration) == ["trim=9.97667...29.93001"])
        #expect(try await plan(start) == ["trim=9.97667..."])
        #expect(try await plan(start, .absolute, duration) == ["trim=9.97667...", "absolute=", "trim=0...19.95334"])
        // A start, a range and an end.
        #expect(
            try await plan(.trim(seconds(10, 60)), .cut(seconds(10, 20))) == [
                "exclude=seams=0...9.97667/0/0,19.95334...29.93001/0/0,59.86002.../0/0"
            ]
        )
        // A cut of the end, which other tracks can have later, remains one.
        #expect(
            try await plan(.cut(seconds(10, 20)), .cut(seconds(100, 200))) == [
                "exclude=seams=9.97667...19.95334/0/0,109.74337.../0/0"
            ]
        )
        // Rules that do not concern breaks are combined with times.
        #expect(
            try await plan(.exclude(.ranges([seconds(10, 20), seconds(50, 60)])), duration) == [
                "exclude=seams=9.97667...19.95334/0/0,29.93001.../0/0"
            ]
        )
        // The discontinuity before the start still counts.
        #expect(
            try await plan(.exclude(.ranges([seconds(10, 20), seconds(50, 60)])), start) == [
                "exclude=seams=9.97667...19.95334/0/0,49.88335...59.86002/0/0", "trim=9.97667...",
            ]
        )
    }

    @Test func trimsAndCutsOfTheUserAreAligned() async throws {
        let range = MediaTimeRange(start: MediaTime(seconds: 12), end: MediaTime(seconds: 28))
        let trimmed = try await edited([.trim(range)])
        #expect(names(trimmed["video"]) == ["1", "2"])
        #expect(names(trimmed["audio"]) == ["2", "3", "4", "5", "6"])
        let cut = try await edited([.cut(range)])
        #expect(names(cut["video"]).prefix(2) == ["0", "3"] && names(cut["audio"]).prefix(3) == ["0", "1", "7"])
    }

    @Test func insertionAtTheEndIsAppendedToAllTracks() async throws {
        var texts = Self.texts
        texts["https://h/audio"] = Self.media(Array(repeating: "4", count: 29))
        let tracks = try await edited([.insert("https://ads/ad", at: MediaTime(value: 1197, timescale: 10))], texts)
        #expect(names(tracks["video"]).suffix(2) == ["ad", "ad"] && names(tracks["audio"]).suffix(2) == ["ad", "ad"])
    }

    @Test func playlistThatIsVariantAndRenditionIsAligned() async throws {
        let loader = Loader(texts: Self.texts)
        let editor = try PresentationEditor(EditPlan([.duration(MediaTime(seconds: 31))]), loader: loader)
        let film = try await loader.loadPlaylist(at: "https://h/film", variables: [:], budget: EditBudget())
        guard case .multivariant(let presentation) = try await editor.prepare(film).apply() else {
            throw Loader.Missing()
        }
        let entries =
            presentation.playlist.variants.map { PresentationEntry.variant($0) }
            + presentation.playlist.renditions.map { .rendition($0) }
        let names = entries.map { presentation.plan(for: $0)?.edits.first?.definition.name }
        #expect(names == ["trim", "duration", "trim", "split"])
    }

    @Test(arguments: [
        ("trim", "5...9", "1"), ("trim", "6.1...9.9", "1"), ("trim", "...1", "0"), ("trim", "99...", "2"),
    ])
    func trimKeepsAtLeastOneSegment(name: String, value: String, expected: String) throws {
        let playlist = try MediaPlaylist(parsing: Array(Self.media(["4", "4", "4"]).utf8))
        let edited = try EditPlan([PlaylistEdit(name: name, value: value)]).applied(to: playlist)
        #expect(edited.segments.map(\.uri) == [expected])
    }

    @Test func cutOfEverythingIsRefused() throws {
        let playlist = try MediaPlaylist(parsing: Array(Self.media(["4", "4", "4"]).utf8))
        #expect(throws: PlaylistEditError.self) {
            try EditPlan([PlaylistEdit(name: "cut", value: "0...")]).applied(to: playlist)
        }
        #expect(try EditPlan([PlaylistEdit(name: "cut", value: "5...5.5")]).applied(to: playlist).segments.count == 3)
    }

    // MARK: - Subtitles in one file

    /// The film with subtitles in one file.
    private static let withFile: [String: String] = texts.merging(
        ["https://h/subtitles": media(["119.72"]).replacing("\n0\n", with: "\nen.vtt?a=1\n")],
        uniquingKeysWith: { _, new in new }
    )

    private func parts(_ edits: PlaylistEdit...) async throws -> [String] {
        let playlist = try #require(try await edited(edits, Self.withFile)["subtitles"])
        return playlist.segments.map { segment in
            let name =
                segment.uri.hasPrefix("en.vtt?a=1#t=")
                ? String(segment.uri.dropFirst(13)) : segment.isGap ? "gap" : segment.uri
            return "\(segment.duration) \(name)"
        }
    }

    @Test func subtitlesInOneFileAreCutExactly() async throws {
        #expect(try await parts(.duration(MediaTime(seconds: 30))) == ["29.93001 0,29.93001"])
        #expect(try await parts(.start(MediaTime(seconds: 12))) == ["109.74333 9.97667,"])
        let middle = MediaTimeRange(start: MediaTime(seconds: 20), end: MediaTime(seconds: 40))
        #expect(try await parts(.cut(middle)) == ["19.95334 0,19.95334", "79.81332 39.90668,"])
        #expect(try await parts(.trim(middle)) == ["19.95334 19.95334,39.90668"])
        #expect(
            try await parts(.insert("https://ads/ad", at: MediaTime(seconds: 30))) == [
                "29.93001 0,29.93001", "10 gap", "89.78999 29.93001,",
            ]
        )
    }

    @Test func subtitlesInOneFileAreCutSeveralTimes() async throws {
        #expect(
            try await parts(
                .prepend("https://ads/ad"),
                .insert("https://ads/ad", at: MediaTime(seconds: 40)),
                .duration(MediaTime(seconds: 70))
            ) == ["10 gap", "29.93001 0,29.93001", "10 gap", "19.95334 29.93001,49.88335"]
        )
    }

    @Test func otherSubtitlesAreNotDivided() async throws {
        for (name, text) in [
            ("two segments", Self.media(["60", "59.72"]).replacing("\n0\n", with: "\n0.vtt\n")),
            ("another format", Self.media(["119.72"])),
            (
                "encrypted",
                Self.media(["119.72"]).replacing("#EXTINF", with: "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXTINF")
                    .replacing("\n0\n", with: "\nen.vtt\n")
            ),
            ("with a fragment", Self.media(["119.72"]).replacing("\n0\n", with: "\nen.vtt#x\n")),
        ] {
            let texts = Self.texts.merging(["https://h/subtitles": text], uniquingKeysWith: { _, new in new })
            let playlist = try await edited([.duration(MediaTime(seconds: 30))], texts)["subtitles"]
            #expect(playlist?.segments.allSatisfy { !$0.uri.contains("#t=") } == true, "\(name)")
        }
    }

    /// Returns the start position of the edited film, which declares one; `nil` for none.
    private func start(
        _ declared: String?,
        _ edits: PlaylistEdit...,
        video: String? = nil,
        film: String = film
    ) async throws -> String? {
        var texts = Self.texts
        texts["https://h/video"] = video ?? texts["https://h/video"]
        texts["https://h/film"] =
            declared.map { film.replacing("#EXTM3U\n", with: "#EXTM3U\n#EXT-X-START:\($0)\n") } ?? film
        let loader = Loader(texts: texts)
        let loaded = try await loader.loadPlaylist(at: "https://h/film", variables: [:], budget: EditBudget())
        let edited = try await PresentationEditor(EditPlan(edits), loader: loader).prepare(loaded).apply()
        let lines = String(decoding: edited.playlist.bytes, as: UTF8.self).split(separator: "\n")
        return lines.first { $0.hasPrefix("#EXT-X-START:") }.map { String($0.dropFirst(13)) }
    }

    /// A film of one variant without other tracks.
    private static let plainFilm = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=640x360\nvideo\n"

    @Test(arguments: [film, plainFilm])
    func startOfThePresentationIsThatOfTheSameMedia(film: String) async throws {
        let declared = "TIME-OFFSET=30,PRECISE=YES"
        let later = MediaTime(seconds: 40)
        #expect(
            try await start(declared, .start(MediaTime(seconds: 15)), film: film) == "TIME-OFFSET=20.02333,PRECISE=YES"
        )
        #expect(try await start(declared, .start(later), film: film) == nil)
        #expect(try await start(declared, .duration(later), film: film) == declared)
        #expect(try await start(declared, .prepend("https://ads/ad"), film: film) == "TIME-OFFSET=40,PRECISE=YES")
        #expect(try await start(declared, .append("https://ads/ad"), film: film) == declared)
        let first = MediaTime(seconds: 10)
        #expect(
            try await start(declared, .insert("https://ads/ad", at: first), film: film) == "TIME-OFFSET=40,PRECISE=YES"
        )
        #expect(try await start("TIME-OFFSET=-6", .append("https://ads/ad"), film: film) == "TIME-OFFSET=113.72004")
        // What is set before an edit of segments is moved by it, and what is set after it is not.
        let assignment = try #require(TagAssignment("EXT-X-START=TIME-OFFSET=30"))
        let cut = PlaylistEdit.start(MediaTime(seconds: 15))
        #expect(try await start(nil, .setTag(assignment), cut, film: film) == "TIME-OFFSET=20.02333")
        #expect(try await start(declared, cut, .setTag(assignment), film: film) == "TIME-OFFSET=30")
        #expect(try await start(declared, .stripTags(["EXT-X-START"]), cut, film: film) == nil)
    }

    @Test func startOfAPresentationWithoutAKnownTimelineIsUnchanged() async throws {
        let declared = "TIME-OFFSET=30"
        let live = Self.media(Array(repeating: "9.97667", count: 12), isLive: true)
        #expect(try await start(declared, .prepend("https://ads/ad"), video: live) == declared)
        #expect(try await start(declared, .live(SimulatedChannel())) == declared)
    }

    // MARK: Breaks, events and variants

    /// A live program does not stop because what is played in its breaks cannot be loaded.
    @Test func presentationOfAnEventIsPreservedWithoutTheAdvertisement() async throws {
        var texts = Self.texts
        for name in ["video", "audio", "images", "subtitles"] {
            texts["https://h/\(name)"] = Self.media(["4", "4"], isLive: true)
                .replacing("#EXT-X-TARGETDURATION", with: "#EXT-X-PLAYLIST-TYPE:EVENT\n#EXT-X-TARGETDURATION")
        }
        let edit = PlaylistEdit.replaceBreaks(with: "https://ads/missing", at: .cues)
        let tracks = try await edited([edit], texts)
        #expect(tracks["video"]?.segments.count == 2 && tracks["audio"]?.segments.count == 2)
    }

    @Test func subtitlesAreUnchangedWhereNothingIsCut() async throws {
        let texts = Self.withFile.merging(
            ["https://h/film": Self.film.replacing("#EXTM3U\n", with: "#EXTM3U\n#EXT-X-START:TIME-OFFSET=30\n")]
        ) { _, new in new }
        let subtitles = try await edited([.append("https://ads/ad")], texts)["subtitles"]
        #expect(subtitles?.segments.first?.uri == "en.vtt?a=1")
    }

    @Test func breaksOfOtherTracksAreWhereThoseOfTheVideoAre() async throws {
        let every = PlaylistEdit.replaceBreaks(with: "https://ads/ad", at: .every(MediaTime(seconds: 35)))
        let tracks = try await edited([every, .duration(MediaTime(seconds: 70))])
        #expect(names(tracks["video"]) == ["0", "1", "2", "3", "ad", "ad", "4", "5"])
        // The boundary of the video is at 39.90668 s.
        #expect(
            names(tracks["audio"]).prefix(13) == ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "ad", "ad", "10"]
        )
        #expect(
            try await parts(every).prefix(4) == [
                "39.90668 0,39.90668", "10 gap", "29.93001 39.90668,69.83669", "10 gap",
            ]
        )
    }

    @Test func replacedBreaksOfOtherTracksAreThoseOfTheVideo() async throws {
        // The break is that of the video from 19.95334 s, of which the advertisement replaces a segment.
        let video = Self.media(Array(repeating: "9.97667", count: 12))
            .replacing("#EXTINF:9.97667,\n2\n", with: "#EXT-X-CUE-OUT:30\n#EXTINF:9.97667,\n2\n")
        let texts = Self.texts.merging(["https://h/video": video]) { _, new in new }
        let edit = PlaylistEdit.replaceBreaks(with: "https://ads/ad", at: .cues)
        let tracks = try await edited([edit], texts)
        #expect(names(tracks["video"]).prefix(6) == ["0", "1", "ad", "ad", "3", "4"])
        #expect(names(tracks["audio"]).prefix(9) == ["0", "1", "2", "3", "4", "ad", "ad", "7", "8"])
        // A video without breaks has none in other tracks either.
        let audio = Self.media(Array(repeating: "4", count: 30))
            .replacing("#EXTINF:4,\n2\n", with: "#EXT-X-CUE-OUT:30\n#EXTINF:4,\n2\n")
        let others = try await edited([edit], Self.texts.merging(["https://h/audio": audio]) { _, new in new })
        #expect(!names(others["audio"]).contains("ad") && names(others["audio"]).count == 30)
    }

    @Test func excludedBreaksLoseTheirTagsInAllTracks() async throws {
        let ranges = """
            #EXT-X-DATERANGE:ID="ad",START-DATE="2026-01-01T00:00:20Z",DURATION=10,SCTE35-OUT=0xFC
            #EXT-X-DATERANGE:ID="x",START-DATE="2026-01-01T00:00:20Z",DURATION=10

            """
        func dated(_ text: String) -> String {
            text.replacing(
                "#EXT-X-TARGETDURATION:120\n",
                with: "#EXT-X-TARGETDURATION:120\n\(ranges)#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n"
            )
        }
        var texts = Self.texts
        for name in ["https://h/video", "https://h/audio"] { texts[name] = texts[name].map(dated) }
        let tracks = try await edited([.exclude(.breaks(.cues))], texts)
        #expect(names(tracks["video"]).prefix(4) == ["0", "1", "3", "4"])
        #expect(names(tracks["audio"]).prefix(7) == ["0", "1", "2", "3", "4", "7", "8"])
        for name in ["video", "audio"] { #expect(tracks[name]?.dateRanges.map(\.id) == ["x"], "\(name)") }
    }

    @Test func tracksOfAnEventAreCutTogetherWhereTheirSegmentsAreKnown() async throws {
        func event(_ duration: String, _ count: Int) -> String {
            Self.media(Array(repeating: duration, count: count), isLive: true)
                .replacing("#EXT-X-TARGETDURATION", with: "#EXT-X-PLAYLIST-TYPE:EVENT\n#EXT-X-TARGETDURATION")
        }
        let texts = Self.texts.merging([
            "https://h/video": event("6", 10), "https://h/audio": event("4", 15), "https://h/subtitles": event("6", 10),
            "https://h/images": event("1", 60),
        ]) { _, new in new }
        let range = MediaTimeRange(start: MediaTime(seconds: 10), end: MediaTime(seconds: 20))
        let dropped = try await edited([.dropRange(range)], texts)
        #expect(names(dropped["video"]).prefix(3) == ["0", "1", "3"])
        #expect(names(dropped["audio"]).prefix(5) == ["0", "1", "2", "4", "5"])
        #expect(dropped["images"]?.duration == MediaTime(seconds: 54))
        let started = try await edited([.start(MediaTime(seconds: 15))], texts)
        #expect(names(started["video"]).first == "2" && names(started["audio"]).first == "3")
        #expect(started["audio"]?.hasEndMarker == false)
        // The end of a duration that is not published yet is not known.
        let loader = Loader(texts: texts)
        let film = try await loader.loadPlaylist(at: "https://h/film", variables: [:], budget: EditBudget())
        let later = PlaylistEdit.duration(MediaTime(seconds: 90))
        guard
            case .multivariant(let presentation) = try await PresentationEditor(EditPlan([later]), loader: loader)
                .prepare(film).apply()
        else { throw Loader.Missing() }
        let audio = try #require(presentation.playlist.renditions.first)
        #expect(presentation.plan(for: .rendition(audio))?.edits == [later])
    }

    @Test func variantsWithOtherSegmentsAreCutTogether() async throws {
        let film = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=640x360
            video
            #EXT-X-STREAM-INF:BANDWIDTH=500,RESOLUTION=320x180
            audio

            """
        let texts = Self.texts.merging(["https://h/film": film]) { _, new in new }
        func second(_ edits: PlaylistEdit...) async throws -> MediaPlaylist? { try await edited(edits, texts)["audio"] }
        let range = MediaTimeRange(start: MediaTime(seconds: 10), end: MediaTime(seconds: 20))
        #expect(names(try await second(.cut(range))).prefix(4) == ["0", "1", "4", "5"])
        // The first variant has 29.93 s, and the other one would have 32 s by itself.
        #expect(try await second(.duration(MediaTime(seconds: 35)))?.duration == MediaTime(seconds: 28))
    }

    @Test func divisionsAreNotCountedAsEdits() throws {
        let edits = Array(repeating: PlaylistEdit.absolute, count: 16)
        let divisions = Array(repeating: PlaylistEdit.split([MediaTime(seconds: 1)]), count: 17)
        try EditLimits().verify(EditPlan(edits + divisions))
        #expect(throws: PlaylistEditError.tooManyEdits(maximum: 16)) {
            try EditLimits().verify(EditPlan(edits + divisions + divisions))
        }
    }
}
