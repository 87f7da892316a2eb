import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

@Suite struct DownloadResolverTests {
    private static let origin = "https://origin.example/"
    private static let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nm.ts\n#EXT-X-ENDLIST\n"
    private static let top = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en-US",DEFAULT=YES,URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",URI="ko.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="other",NAME="Welsh",LANGUAGE="cy",URI="cy.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="In the video",LANGUAGE="de"
        #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="Angle",URI="angle.m3u8"
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="CC",INSTREAM-ID="CC1"
        #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,AUDIO="a",VIDEO="v"
        high.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,AUDIO="a"
        low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=100000,AUDIO="other"
        audio.m3u8

        """

    private func resolver(_ selection: DownloadSelection = DownloadSelection()) -> DownloadResolver {
        let names = ["en", "ko", "cy", "angle", "high", "low", "audio"]
        var texts = Dictionary(uniqueKeysWithValues: names.map { (Self.origin + $0 + ".m3u8", Self.media) })
        texts[Self.origin + "top.m3u8"] = Self.top
        return DownloadResolver(loader: ResourceLoader(ScriptedTransport(texts: texts)), selection: selection)
    }

    private func names(_ selection: DownloadSelection) throws -> [String] {
        let playlist = try MultivariantPlaylist(
            parsing: Array(Self.top.utf8),
            context: PlaylistContext(address: ResourceAddress(Self.origin + "top.m3u8"))
        )
        return try resolver(selection).choose(from: playlist).map {
            "\($0.role.rawValue) \($0.position) \($0.address.lastPathComponent)"
        }
    }

    @Test(arguments: [
        (DownloadSelection(), ["variant 0 high.m3u8", "audio 0 en.m3u8", "audio 1 ko.m3u8", "video 4 angle.m3u8"]),
        (DownloadSelection(variants: .lowest), ["variant 2 audio.m3u8", "audio 2 cy.m3u8"]),
        // In a group without a default rendition, the first rendition is the default.
        (DownloadSelection(variants: .lowest, audio: .defaults), ["variant 2 audio.m3u8", "audio 2 cy.m3u8"]),
        (
            DownloadSelection(variants: .all, audio: .some(["EN"])),
            [
                "variant 0 high.m3u8", "variant 1 low.m3u8", "variant 2 audio.m3u8", "audio 0 en.m3u8",
                "video 4 angle.m3u8",
            ]
        ),
        (
            DownloadSelection(variants: .maximumHeight(360), audio: .defaults),
            ["variant 1 low.m3u8", "audio 0 en.m3u8"]
        ),
        (DownloadSelection(variants: .maximumHeight(359), audio: .none), ["variant 2 audio.m3u8"]),
        // A variant without a resolution counts as having a height of zero.
        (DownloadSelection(variants: .maximumHeight(0), audio: .none), ["variant 2 audio.m3u8"]),
        (
            DownloadSelection(variants: .maximumHeight(720), audio: .none),
            ["variant 0 high.m3u8", "video 4 angle.m3u8"]
        ),
        (
            DownloadSelection(variants: .minimumBandwidth(BitRate(bitsPerSecond: 800_000)), audio: .some(["ko"])),
            ["variant 1 low.m3u8", "audio 1 ko.m3u8"]
        ),
        (
            DownloadSelection(variants: .minimumBandwidth(BitRate(bitsPerSecond: 800_001)), audio: .none),
            ["variant 0 high.m3u8", "video 4 angle.m3u8"]
        ),
    ])
    func selectionChoosesVariantsAndRenditions(selection: DownloadSelection, entries: [String]) throws {
        #expect(try names(selection) == entries)
    }

    @Test func languageOfAnUnusedGroupIsNotAvailable() throws {
        let error = #expect(throws: DownloadError.self) {
            _ = try names(DownloadSelection(variants: .best, audio: .some(["ko", "cy"])))
        }
        #expect(error?.code == .nothingSelected && error?.message == "no audio track matches \"cy\"")
        let hint =
            "available: en-US (English), ko (Korean), de (In the video); select by language, name or LANGUAGE:NAME; "
            + "variants that are not selected have cy (Welsh): select one of them, or all with --variants all"
        #expect(error?.hint == hint)
        let subtitles = #expect(throws: DownloadError.self) {
            _ = try names(DownloadSelection(variants: .best, subtitles: .some(["en"])))
        }
        #expect(subtitles?.message == "no subtitle track matches \"en\"")
        #expect(subtitles?.code == .nothingSelected && subtitles?.hint == "the stream has no subtitles")
        #expect(subtitles?.address == nil)
    }

    @Test func languagesOfOtherVariantsAreNamedIfTheChosenOneHasNone() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",URI="ko.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=2
            high.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            low.m3u8

            """
        let playlist = try MultivariantPlaylist(parsing: Array(text.utf8))
        let selection = DownloadSelection(audio: .some(["en", "ko"]))
        let error = #expect(throws: DownloadError.self) { try resolver(selection).choose(from: playlist) }
        let hint =
            "the selected variant has none; variants that are not selected have en (English), ko (Korean): "
            + "select one of them, or all with --variants all"
        #expect(error?.hint == hint)
        let all = DownloadSelection(variants: .all, audio: .some(["en", "ko"]))
        let choices = try resolver(all).choose(from: playlist)
        #expect(choices.compactMap(\.language) == ["en", "ko"])
    }

    @Test(arguments: [
        (
            DownloadSelection(audio: .some(["cy"])), "no audio track matches \"cy\"",
            "the stream has no separate audio renditions"
        ),
        (
            DownloadSelection(subtitles: .some(["cy", "en", "ko-KR"])),
            "no subtitle track matches \"cy\" or \"ko-KR\"",
            "available: en (English), en (English (forced)), E; select by language, name or LANGUAGE:NAME"
        ),
    ])
    func hintListsTheLanguagesOfTheChosenVariants(
        selection: DownloadSelection,
        message: String,
        hint: String
    ) throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="unused",NAME="Welsh",LANGUAGE="cy",URI="cy.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English (forced)",LANGUAGE="en",URI="forced.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",URI="unknown.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,SUBTITLES="s"
            low.m3u8

            """
        let playlist = try MultivariantPlaylist(parsing: Array(text.utf8))
        let error = #expect(throws: DownloadError.self) { try resolver(selection).choose(from: playlist) }
        #expect(error?.code == .nothingSelected && error?.message == message && error?.hint == hint)
    }

    /// The expected positions for variants with the given bit rates; `nil` is a variant without a bit rate.
    @Test(
        arguments: [
            ("two", .best, [2]), ("two", .lowest, [3]), ("two", .maximumHeight(720), [2]), ("two", .all, [0, 1, 2, 3]),
            ("one", .best, [0]), ("three", .best, [0]), (nil, .lowest, [1]),
        ] as [(String?, DownloadSelection.Variants, [Int])]
    )
    func oneVariantIsDownloadedFromTheInitialPathway(
        pathway: String?,
        variants: DownloadSelection.Variants,
        positions: [Int]
    ) throws {
        let attribute = pathway.map { ",PATHWAY-ID=\"\($0)\"" } ?? ""
        let text = """
            #EXTM3U
            #EXT-X-CONTENT-STEERING:SERVER-URI="steering.json"\(attribute)
            #EXT-X-STREAM-INF:BANDWIDTH=900,RESOLUTION=1280x720,PATHWAY-ID="one"
            one-high.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=100,RESOLUTION=640x360,PATHWAY-ID="one"
            one-low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=800,RESOLUTION=1280x720,PATHWAY-ID="two"
            two-high.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=200,RESOLUTION=640x360,PATHWAY-ID="two"
            two-low.m3u8

            """
        let playlist = try MultivariantPlaylist(parsing: Array(text.utf8))
        let choices = try resolver(DownloadSelection(variants: variants)).choose(from: playlist)
        #expect(choices.map(\.position) == positions)
    }

    @Test(
        arguments: [
            (DownloadSelection.Variants.best, [2, 2], [1]), (.lowest, [2, 2], [0]), (.best, [3, 2], [0]),
            (.lowest, [3, 2], [1]), (.best, [nil, 1], [1]), (.lowest, [1, nil], [1]), (.all, [3, nil, 2], [0, 1, 2]),
            (.minimumBandwidth(BitRate(bitsPerSecond: 2)), [nil, 3, 2, 2], [2]),
            (.minimumBandwidth(BitRate(bitsPerSecond: 4)), [nil, 3, 2], [1]),
            (.minimumBandwidth(BitRate(bitsPerSecond: 0)), [nil, 3, 2], [2]),
        ] as [(DownloadSelection.Variants, [Int?], [Int])]
    )
    func variantsAreOrderedByTheirBitRates(
        variants: DownloadSelection.Variants,
        rates: [Int?],
        positions: [Int]
    ) throws {
        let entries = rates.enumerated().map { index, rate in
            "#EXT-X-STREAM-INF:\(rate.map { "BANDWIDTH=\($0)" } ?? "FRAME-RATE=25")\n\(index).m3u8\n"
        }
        let playlist = try MultivariantPlaylist(parsing: Array(("#EXTM3U\n" + entries.joined()).utf8))
        #expect(playlist.variants.count == rates.count)
        let choices = try resolver(DownloadSelection(variants: variants)).choose(from: playlist)
        #expect(choices.map(\.position) == positions)
    }

    @Test func entriesThatShareAPlaylistAreChosenOnce() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",URI="sound.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="English",LANGUAGE="en",URI="sound.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="Korean",LANGUAGE="ko",URI="sound.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="sound.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a",SUBTITLES="s"
            one.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=2,AUDIO="b",SUBTITLES="s"
            two.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=3,AUDIO="b",SUBTITLES="s"
            one.m3u8

            """
        let playlist = try MultivariantPlaylist(parsing: Array(text.utf8))
        let choices = try resolver(DownloadSelection(variants: .all)).choose(from: playlist).map {
            "\($0.role.rawValue) \($0.position) \($0.aliases) \($0.language ?? "-") \($0.address.text)"
                + " \($0.variant?.bandwidth?.bitsPerSecond ?? 0)"
        }
        #expect(
            choices == [
                "variant 0 [2] - one.m3u8 1", "variant 1 [] - two.m3u8 2", "audio 0 [1] en sound.m3u8 0",
                "audio 2 [] ko sound.m3u8 0", "subtitles 3 [] en sound.m3u8 0",
            ]
        )
    }

    @Test func heightBelowAllVariantsSelectsTheLowestHeight() throws {
        let text = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1280x720
            high.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=3,RESOLUTION=640x360
            better.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=2,RESOLUTION=640x360
            low.m3u8

            """
        let playlist = try MultivariantPlaylist(parsing: Array(text.utf8))
        let choices = try resolver(DownloadSelection(variants: .maximumHeight(359))).choose(from: playlist)
        #expect(choices.map(\.address.text) == ["low.m3u8"])
    }

    @Test func playlistWithoutVariantsIsRejected() throws {
        let empty = try MultivariantPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"E\"\n".utf8)
        )
        let nothing = #expect(throws: DownloadError.self) { try resolver().choose(from: empty) }
        #expect(nothing?.code == .nothingSelected && nothing?.message == "the playlist has no variants")
    }

    @Test(arguments: [
        (
            top, DownloadError.Code.notAPlaylist,
            "a variant or rendition refers to a multivariant playlist instead of a media playlist"
        ),
        (
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nm.ts\n", .live,
            "a live stream cannot be downloaded: its playlist has no EXT-X-ENDLIST"
        ), ("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-ENDLIST\n", .notAPlaylist, "the playlist has no segments"),
        (
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://k",KEYFORMAT="b.system"
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="x",KEYFORMAT="a.system"
            #EXTINF:4,
            m.ts
            #EXT-X-ENDLIST

            """, .contentProtected, "the content is protected with a.system, b.system, which is not supported"
        ),
        (
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://k",KEYFORMAT="a.system"
            #EXT-X-MAP:URI="init.mp4"
            #EXT-X-KEY:METHOD=NONE
            #EXTINF:4,
            m.m4s
            #EXT-X-ENDLIST

            """, .contentProtected, "the content is protected with a.system, which is not supported"
        ), ("<html>", .notAPlaylist, "https://origin.example/v.m3u8: a web page, not an HLS playlist"),
    ])
    func variantThatCannotBeDownloadedIsRejected(text: String, code: DownloadError.Code, message: String) async throws {
        let transport = ScriptedTransport(texts: [
            Self.origin + "top.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n", Self.origin + "v.m3u8": text,
        ])
        let error = await #expect(throws: DownloadError.self) {
            _ = try await DownloadResolver(loader: ResourceLoader(transport), selection: DownloadSelection())
                .resolve(ResourceAddress(Self.origin + "top.m3u8"))
        }
        #expect(error?.code == code && error?.message == message)
        #expect(
            error?.hint
                == (code == .live
                    ? "record it, for example with millstream record, or try again after it has ended" : nil)
        )
        #expect(error?.address?.text == Self.origin + "v.m3u8")
    }

    /// After a redirect, the URLs in a playlist are relative to the final address.
    @Test func playlistURLsAreResolvedAgainstTheFinalAddress() async throws {
        let moved = ResourceAddress("https://cdn.example/b/")
        let transport = ScriptedTransport([
            Self.origin + "top.m3u8": [
                .redirected(
                    to: moved.resolving("top.m3u8"),
                    Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n".utf8)
                )
            ],
            "https://cdn.example/b/v.m3u8": [.redirected(to: moved.resolving("c/v.m3u8"), Array(Self.media.utf8))],
        ])
        let found = try await DownloadResolver(loader: ResourceLoader(transport), selection: DownloadSelection())
            .resolve(ResourceAddress(Self.origin + "top.m3u8"))
        #expect(found.address.text == "https://cdn.example/b/top.m3u8")
        #expect(found.renditions.map(\.address.text) == ["https://cdn.example/b/c/v.m3u8"])
        #expect(found.renditions.first?.playlist.segments.first?.address.text == "https://cdn.example/b/c/m.ts")
        #expect(found.renditions.map(\.position) == [0] && found.renditions.map(\.role) == [.variant])
    }

    @Test func transportErrorsOfPlaylistsArePassedOn() async throws {
        let transport = ScriptedTransport(texts: [
            Self.origin + "top.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"
        ])
        func error(_ name: String, size: ByteCount = DownloadLimits().playlistSize) async -> DownloadError? {
            await #expect(throws: DownloadError.self) {
                _ = try await DownloadResolver(
                    loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
                    selection: DownloadSelection(),
                    playlistSize: size
                ).resolve(ResourceAddress(Self.origin + name))
            }
        }
        for name in ["top.m3u8", "v.m3u8"] {
            let missing = await error(name)
            #expect(missing?.code == .transport && missing?.detail == "http-status")
            #expect(missing?.address?.text == Self.origin + "v.m3u8")
        }
        // First the source alone exceeds the limit, then both playlists together.
        let source = await error("top.m3u8", size: ByteCount(10))
        #expect(source?.code == .transport && source?.detail == "too-large")
        #expect(source?.message == "the resource exceeds the maximum size of 10 bytes: https://origin.example/top.m3u8")
        transport.setResponses(for: Self.origin + "v.m3u8", .text(Self.media))
        let both = await error("top.m3u8", size: ByteCount(100))
        #expect(both?.code == .tooLarge && both?.address?.text == Self.origin + "v.m3u8")
        #expect(
            both?.message == "the playlists of the stream exceed the size limit of 100 bytes"
        )
        #expect(both?.hint == "choose fewer variants and languages")
        // Each playlist is subject to the general limit of a playlist, independent of the limit of all playlists
        // together. The first 64 KiB show that it is no media file.
        let beginning = [UInt8](repeating: 0x23, count: 64 << 10)
        transport.setResponses(for: Self.origin + "v.m3u8", .truncated(beginning, announced: (256 << 20) + 1))
        let large = await error("v.m3u8", size: ByteCount(1 << 40))
        #expect(large?.detail == "too-large")
        #expect(large?.message == "the resource exceeds the maximum size of 268 MB: https://origin.example/v.m3u8")
    }

    /// Segments that are marked as gaps need no key, and one supported key system is sufficient.
    @Test func keySystemsThatAreNotNeededAreIgnored() async throws {
        let transport = ScriptedTransport(texts: [
            Self.origin + "v.m3u8": """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://k",KEYFORMAT="system"
            #EXT-X-GAP
            #EXTINF:4,
            gap.ts
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="key"
            #EXTINF:4,
            m.ts
            #EXT-X-ENDLIST

            """
        ])
        let found = try await DownloadResolver(loader: ResourceLoader(transport), selection: DownloadSelection())
            .resolve(ResourceAddress(Self.origin + "v.m3u8"))
        #expect(found.renditions.map(\.position) == [-1])
        #expect(found.renditions.map(\.role) == [.variant])
    }

    @Test(arguments: [
        ("https://h/film/master.m3u8", "film"), ("https://h/film/Index_1.m3u8", "film"),
        ("https://h/a%20b.m3u8", "a b"), ("https://h/film/manifest.mpd", "film"),
        ("https://h/playlist.m3u8", "h"), ("https://h/a/b/holiday.m3u8", "holiday"),
        ("https://h/", "h"), ("https://h/film/multivariant.m3u8", "film"), ("https://h/film/main.m3u8", "film"),
        ("https://h/film/playlist.m3u8", "film"), ("https://h/film/prog_index.m3u8", "film"),
        ("https://h/a%20b/master.m3u8", "a b"), ("https://h/a/%zz/index.m3u8", "%zz"),
        ("https://user:secret@h/film/submaster.m3u8?token=secret", "submaster"),
    ])
    func titleIsDerivedFromTheAddress(address: String, title: String) async throws {
        let temporary = try TemporaryLibrary()
        let transport = ScriptedTransport(texts: [address: Self.media, "https://h/m.ts": "media"])
        let media = ResourceAddress(address).resolving("m.ts").text
        transport.setResponses(for: media, .text("media"))
        let task = AssetDownload(ResourceAddress(address), into: temporary.library, loader: ResourceLoader(transport))
        #expect(try await task.run().title == title)
        let named = AssetDownload(
            ResourceAddress(address + "?x"),
            into: temporary.library,
            loader: ResourceLoader(ScriptedTransport(texts: [address + "?x": Self.media, media: "media"])),
            configuration: DownloadConfiguration(title: "Named")
        )
        #expect(try await named.run().title == "Named")
    }

    @Test func numberOfJobsIsLimited() {
        #expect(
            DownloadConfiguration(maximumConcurrentFetches: 0).maximumConcurrentFetches == 1
                && DownloadConfiguration(maximumConcurrentFetches: 65).maximumConcurrentFetches == 64
        )
        #expect(
            DownloadConfiguration(maximumConcurrentFetches: 7).maximumConcurrentFetches == 7
                && DownloadConfiguration().maximumConcurrentFetches == 6
        )
        var options = DownloadConfiguration()
        for (jobs, expected) in [(0, 1), (-5, 1), (1, 1), (64, 64), (65, 64), (3, 3)] {
            options.maximumConcurrentFetches = jobs
            #expect(options.maximumConcurrentFetches == expected)
        }
    }

    @Test(arguments: [
        (DownloadSelection(), "variants=best&audio=all&subtitles=all"),
        (
            DownloadSelection(variants: .lowest, audio: .defaults, subtitles: .none),
            "variants=lowest&audio=default&subtitles=none"
        ),
        (DownloadSelection(variants: .all, audio: .some(["en", "ko"])), "variants=all&audio=en,ko&subtitles=all"),
        (DownloadSelection(variants: .maximumHeight(720)), "max-height=720&audio=all&subtitles=all"),
        (
            DownloadSelection(variants: .minimumBandwidth(BitRate(bitsPerSecond: 9))),
            "min-bandwidth=9&audio=all&subtitles=all"
        ),
    ])
    func selectionIsDescribedAsOptions(selection: DownloadSelection, text: String) {
        #expect(selection.description == text)
    }

    @Test func languagesAreParsed() {
        #expect(DownloadSelection.Languages("all") == .all && DownloadSelection.Languages("default") == .defaults)
        #expect(DownloadSelection.Languages("none") == DownloadSelection.Languages.none)
        #expect(DownloadSelection.Languages("en,ko") == .some(["en", "ko"]) && DownloadSelection.Languages(",") == nil)
        func isSelected(_ text: String, language: String?, name: String = "", isDefault: Bool = false) -> Bool {
            let candidate = DownloadSelection.Languages.Candidate(language: language, name: name, isDefault: isDefault)
            return DownloadSelection.Languages(text)?.positions(in: [candidate]) == [0]
        }
        #expect(isSelected("en", language: "en") && isSelected("en", language: "EN-us"))
        #expect(!isSelected("en", language: "enm", isDefault: true))
        #expect(!isSelected("en", language: nil, isDefault: true))
        #expect(isSelected("en", language: "eng"))
        #expect(isSelected("de:Deutsch", language: "ger", name: "deutsch"))
        #expect(isSelected("director's commentary", language: "en", name: "Director's Commentary"))
        #expect(isSelected("director's commentary", language: nil, name: "Director's Commentary"))
        #expect(!isSelected("director's commentary", language: "en", name: "Commentary", isDefault: true))
        #expect(!isSelected("default", language: "en") && isSelected("default", language: "en", isDefault: true))
    }

    @Test func languageIsLookedUpInEachGroup() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",URI="ko.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="Korean",LANGUAGE="ko",URI="ko-2.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="Korean (KR)",LANGUAGE="ko-KR",URI="ko-KR.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Portuguese",LANGUAGE="pt",URI="pt.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en-US",URI="en-US.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=2,AUDIO="a",SUBTITLES="s"
            high.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="b",SUBTITLES="s"
            low.m3u8

            """
        let playlist = try MultivariantPlaylist(parsing: Array(text.utf8))
        func chosen(audio: String, subtitles: String) throws -> [Int] {
            var selection = DownloadSelection(variants: .all)
            selection.audio = try #require(DownloadSelection.Languages(audio))
            selection.subtitles = try #require(DownloadSelection.Languages(subtitles))
            let choices = try resolver(selection).choose(from: playlist)
            return choices.filter { $0.role != .variant }.map(\.position)
        }
        #expect(try chosen(audio: "KO-KR", subtitles: "pt-BR") == [0, 3, 4])
        #expect(try chosen(audio: "ko", subtitles: "none") == [0, 2, 3])
        let error = #expect(throws: DownloadError.self) { try chosen(audio: "ko", subtitles: "en-GB") }
        #expect(error?.message == "no subtitle track matches \"en-GB\"")
    }
}
