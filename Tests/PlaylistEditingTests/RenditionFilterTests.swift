import HLSPlaylist
import MediaTiming
import PlaylistEditing
import Testing

/// Tests the filters of audio and subtitle renditions.
@Suite struct RenditionFilterTests {
    private static let text = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en-US",DEFAULT=YES,AUTOSELECT=YES,URI="en"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",DEFAULT=NO,URI="ko"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Music",URI="music"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="English",LANGUAGE="en-US",DEFAULT=YES,URI="en-b"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="s-en"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="German",LANGUAGE="de-AT",URI="s-de"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="t",NAME="English",LANGUAGE="en",URI="t-en"
        #EXT-X-STREAM-INF:BANDWIDTH=1000,AUDIO="a",SUBTITLES="s"
        low
        #EXT-X-STREAM-INF:SUBTITLES="t" , BANDWIDTH=2000,AUDIO="b"
        high

        """

    private func edited(_ name: String, _ value: String) throws -> MultivariantPlaylist {
        try EditPlan([PlaylistEdit(name: name, value: value)]).applied(
            to: MultivariantPlaylist(parsing: Array(Self.text.utf8))
        )
    }

    private func uris(_ playlist: MultivariantPlaylist, _ type: Rendition.MediaType) -> [String] {
        playlist.renditions.filter { $0.type == type }.compactMap(\.uri)
    }

    @Test func audioOfALanguageIncludesItsVariants() throws {
        let playlist = try edited("audio-languages", "EN")
        #expect(uris(playlist, .audio) == ["en", "en-b"] && playlist.variants.map(\.uri) == ["low", "high"])
        #expect(uris(playlist, .subtitles) == ["s-en", "s-de", "t-en"])
        #expect(uris(try edited("audio-languages", "en-US,und"), .audio) == ["en", "music", "en-b"])
        #expect(try edited("audio-languages", "*").bytes == Array(Self.text.utf8))
    }

    @Test func codeOfThreeLettersIsThatOfTheLanguage() throws {
        #expect(uris(try edited("audio-languages", "eng"), .audio) == ["en", "en-b"])
        let german = try edited("subtitle-languages", "ger")
        #expect(uris(german, .subtitles) == ["s-de"])
        #expect(german.renditions.compactMap(\.language).contains("de-AT"))
    }

    @Test func variantsWithoutTheLanguageAreRemoved() throws {
        let playlist = try edited("audio-languages", "ko")
        #expect(uris(playlist, .audio) == ["ko"] && playlist.variants.map(\.uri) == ["low"])
        #expect(uris(playlist, .subtitles) == ["s-en", "s-de"])
    }

    @Test func remainingAudioBecomesTheDefault() throws {
        let text = String(decoding: try edited("audio-languages", "ko").bytes, as: UTF8.self)
        #expect(
            text.contains(
                ##"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",DEFAULT=YES,URI="ko",AUTOSELECT=YES"##
            )
        )
        let music = try edited("audio-languages", "und").renditions.first
        #expect(music?.uri == "music" && music?.isDefault == true && music?.isAutoselect == true)
    }

    @Test func subtitlesOfOtherLanguagesAreRemoved() throws {
        let german = try edited("subtitle-languages", "de")
        #expect(uris(german, .subtitles) == ["s-de"] && german.variants.map { $0.groupID(.subtitles) } == ["s", nil])
        #expect(german.variants.map { $0.bandwidth?.bitsPerSecond } == [1000, 2000])
        #expect(german.variants.map { $0.groupID(.audio) } == ["a", "b"])
        #expect(uris(german, .audio).count == 4)
    }

    @Test func subtitlesAreRemovedWithTheirReferences() throws {
        let playlist = try edited("no-subtitles", "")
        let text = String(decoding: playlist.bytes, as: UTF8.self)
        #expect(!text.contains("SUBTITLES") && !text.contains(",,") && !text.contains(": ,"))
        #expect(text.contains(##"#EXT-X-STREAM-INF:BANDWIDTH=1000,AUDIO="a""##))
        #expect(text.contains(##"#EXT-X-STREAM-INF:BANDWIDTH=2000,AUDIO="b""##))
    }

    @Test func languageThatIsNotThereIsRefused() throws {
        let error = #expect(throws: PlaylistEditError.self) { try edited("audio-languages", "fr,en-GB") }
        #expect(
            error == .nothingLeft(filter: "audio-languages fr,en-GB", available: ["en-US", "ko", "und"])
        )
        #expect(throws: PlaylistEditError.self) { try edited("subtitle-languages", "ko") }
    }

    @Test func playlistWithoutRenditionsIsUnchanged() throws {
        let bytes = Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n".utf8)
        let plan = EditPlan([.audioLanguages(["ko"]), .subtitleLanguages(["ko"]), .noSubtitles])
        #expect(try plan.applied(to: MultivariantPlaylist(parsing: bytes)).bytes == bytes)
    }

    @Test func repeatedAttributeIsRemovedEverywhere() throws {
        for (line, expected) in [
            (##"SUBTITLES="s",BANDWIDTH=1,SUBTITLES="t""##, "BANDWIDTH=1"),
            (##"BANDWIDTH=1 , SUBTITLES="s"junk,AUDIO="a""##, ##"BANDWIDTH=1 , AUDIO="a""##),
            (##"BANDWIDTH=1,SUBTITLES="s",SUBTITLES="t""##, "BANDWIDTH=1"),
            (##"BANDWIDTH=1,SUBTITLES="s"##, "BANDWIDTH=1"),
        ] {
            let text = "#EXTM3U\n#EXT-X-STREAM-INF:\(line)\na\n"
            let edited = try MultivariantPlaylist(parsing: Array(text.utf8)).withoutSubtitles()
            #expect(
                String(decoding: edited.bytes, as: UTF8.self) == "#EXTM3U\n#EXT-X-STREAM-INF:\(expected)\na\n",
                "\(line)"
            )
        }
    }

    @Test func groupsAreNamedByVariables() throws {
        let text = """
            #EXTM3U
            #EXT-X-DEFINE:NAME="g",VALUE="aac"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="E",LANGUAGE="en",URI="en"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="K",LANGUAGE="ko",URI="ko"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="{$g}"
            low
            #EXT-X-STREAM-INF:BANDWIDTH=2,AUDIO="aac"
            high
            #EXT-X-STREAM-INF:BANDWIDTH=3,AUDIO="b"
            korean

            """
        let playlist = try MultivariantPlaylist(parsing: Array(text.utf8))
        let range = try #require(PartialRange<BitRate>("...1"))
        #expect(try playlist.limited(to: range).renditions.map(\.groupID) == ["aac"])
        #expect(try playlist.limited(toAudioLanguages: ["ko"]).variants.map(\.uri) == ["korean"])
    }

    @Test func messageListsAFewLanguages() throws {
        let renditions = (0..<200).map { number in
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"\(number)\",LANGUAGE=\"x-\(number)\"\n"
        }
        let text = "#EXTM3U\n" + renditions.joined() + "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\na\n"
        let playlist = try MultivariantPlaylist(parsing: Array(text.utf8))
        let error = #expect(throws: PlaylistEditError.self) { try playlist.limited(toAudioLanguages: ["zz"]) }
        #expect(error?.description.hasSuffix("x-18, x-19, 180 more") == true)
    }
}
