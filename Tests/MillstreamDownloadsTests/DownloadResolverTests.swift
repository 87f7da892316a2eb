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
        return DownloadResolver(loading: ResourceLoading(ScriptedTransport(texts: texts)), selection: selection)
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
        (DownloadSelection(variants: .lowest, audio: .defaults), ["variant 2 audio.m3u8"]),
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
    func aSelectionChoosesEntries(selection: DownloadSelection, entries: [String]) throws {
        #expect(try names(selection) == entries)
    }

    @Test func aLanguageOfAnotherGroupIsNotThere() throws {
        let error = #expect(throws: DownloadError.self) {
            _ = try names(DownloadSelection(variants: .best, audio: .some(["ko", "cy"])))
        }
        #expect(error?.code == .nothingSelected && error?.message == "there is no sound in cy")
        #expect(error?.hint == "there is en-US, ko, de")
        let subtitles = #expect(throws: DownloadError.self) {
            _ = try names(DownloadSelection(variants: .best, subtitles: .some(["en"])))
        }
        #expect(subtitles?.message == "there are no subtitles in en")
        #expect(subtitles?.hint == "the stream has none at all")
    }

    @Test func aHeightThatNoVariantHasIsRefusedWithThoseThatThereAre() throws {
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=640x360\nlow.m3u8\n"
        let playlist = try MultivariantPlaylist(parsing: Array(text.utf8))
        let error = #expect(throws: DownloadError.self) {
            try resolver(DownloadSelection(variants: .maximumHeight(359))).choose(from: playlist)
        }
        #expect(error?.code == .nothingSelected && error?.hint?.contains("640x360") == true)
        let empty = try MultivariantPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"E\"\n".utf8)
        )
        let nothing = #expect(throws: DownloadError.self) { try resolver().choose(from: empty) }
        #expect(nothing?.code == .nothingSelected)
    }

    @Test(arguments: [
        (top, DownloadError.Code.notAPlaylist, "another multivariant"),
        ("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nm.ts\n", .live, "EXT-X-ENDLIST"),
        ("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-ENDLIST\n", .notAPlaylist, "no segments"),
        (
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://k",KEYFORMAT="b.system"
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="x",KEYFORMAT="a.system"
            #EXTINF:4,
            m.ts
            #EXT-X-ENDLIST

            """, .contentProtected, "a.system, b.system"
        ), ("<html>", .notAPlaylist, ""),
    ])
    func aVariantThatCannotBeDownloadedIsRefused(text: String, code: DownloadError.Code, message: String) async throws {
        let transport = ScriptedTransport(texts: [
            Self.origin + "top.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n", Self.origin + "v.m3u8": text,
        ])
        let error = await #expect(throws: DownloadError.self) {
            _ = try await DownloadResolver(loading: ResourceLoading(transport), selection: DownloadSelection())
                .resolve(ResourceAddress(Self.origin + "top.m3u8"))
        }
        #expect(error?.code == code)
        #expect(message.isEmpty || error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(error?.address?.text == Self.origin + "v.m3u8")
    }

    /// What is missing at the origin needs no key, and one key system that is supported is enough.
    @Test func protectionThatIsNotNeededIsNotRefused() async throws {
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
        let found = try await DownloadResolver(loading: ResourceLoading(transport), selection: DownloadSelection())
            .resolve(ResourceAddress(Self.origin + "v.m3u8"))
        #expect(found.renditions.map(\.position) == [-1])
        #expect(found.renditions.map(\.role) == [.variant])
    }

    @Test(arguments: [
        ("https://h/film/master.m3u8", "film"), ("https://h/film/Index_1.m3u8", "film"),
        ("https://h/a%20b.m3u8", "a b.m3u8"),
        ("https://h/playlist.m3u8", "playlist.m3u8"), ("https://h/a/b/holiday.m3u8", "holiday.m3u8"),
        ("https://h/", "h"),
    ])
    func aTitleFollowsFromTheAddress(address: String, title: String) async throws {
        let temporary = try TemporaryLibrary()
        let transport = ScriptedTransport(texts: [address: Self.media, "https://h/m.ts": "media"])
        let media = ResourceAddress(address).resolving("m.ts").text
        transport.answer(media, with: .text("media"))
        let task = DownloadTask(ResourceAddress(address), into: temporary.library, loading: ResourceLoading(transport))
        #expect(try await task.run().title == title)
        let named = DownloadTask(
            ResourceAddress(address + "?x"),
            into: temporary.library,
            loading: ResourceLoading(ScriptedTransport(texts: [address + "?x": Self.media, media: "media"])),
            options: DownloadTask.Options(title: "Named")
        )
        #expect(try await named.run().title == "Named")
    }

    @Test func jobsAreBounded() {
        #expect(DownloadTask.Options(jobs: 0).jobs == 1 && DownloadTask.Options(jobs: 65).jobs == 64)
        #expect(DownloadTask.Options(jobs: 7).jobs == 7 && DownloadTask.Options().jobs == 6)
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
    func aSelectionIsSpelledAsOptions(selection: DownloadSelection, text: String) {
        #expect(selection.description == text)
    }

    @Test func languagesAreRead() {
        #expect(DownloadSelection.Languages("all") == .all && DownloadSelection.Languages("default") == .defaults)
        #expect(DownloadSelection.Languages("none") == DownloadSelection.Languages.none)
        #expect(DownloadSelection.Languages("en,ko") == .some(["en", "ko"]) && DownloadSelection.Languages(",") == nil)
        let english = DownloadSelection.Languages.some(["en"])
        #expect(
            english.includes(language: "en", isDefault: false) && english.includes(language: "EN-us", isDefault: false)
        )
        #expect(
            !english.includes(language: "eng", isDefault: true) && !english.includes(language: nil, isDefault: true)
        )
        #expect(!DownloadSelection.Languages.defaults.includes(language: "en", isDefault: false))
    }
}
