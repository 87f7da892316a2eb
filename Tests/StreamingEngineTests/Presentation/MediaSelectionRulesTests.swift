import HLSPlaylist
import StreamingEngine
import Testing

@Suite struct MediaSelectionRulesTests {
    /// Returns a presentation with renditions of the given language, name, and further attributes.
    private func presentation(_ renditions: [String]) throws -> Presentation {
        let lines = renditions.map { "#EXT-X-MEDIA:GROUP-ID=\"g\",\($0)" }
        let variant = #"#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="g",SUBTITLES="g",CLOSED-CAPTIONS="g""#
        return Presentation(try multivariant((["#EXTM3U"] + lines + [variant, "v.m3u8"]).joined(separator: "\n")))
    }

    private static let audio = [
        #"TYPE=AUDIO,NAME="Original",LANGUAGE="fr",DEFAULT=YES,URI="0""#,
        #"TYPE=AUDIO,NAME="English described",LANGUAGE="en",AUTOSELECT=YES,URI="1","#
            + #"CHARACTERISTICS="public.accessibility.describes-video""#,
        #"TYPE=AUDIO,NAME="English",LANGUAGE="en",AUTOSELECT=YES,URI="2""#,
        #"TYPE=AUDIO,NAME="American",LANGUAGE="en-US",AUTOSELECT=YES,URI="3""#,
        #"TYPE=AUDIO,NAME="Commentary",LANGUAGE="cy",URI="4""#,
        #"TYPE=AUDIO,NAME="Chinese",LANGUAGE="zh-Hant-TW",AUTOSELECT=YES,URI="5""#,
    ]

    @Test(arguments: [
        ([], "Original"),
        (["en-GB"], "English"),
        (["en-US"], "American"),
        (["EN-us-x-twain"], "American"),
        (["de", "fr-CA"], "Original"),
        (["de"], "Original"),
        (["zh"], "Chinese"),
        (["zh-Hans"], "Chinese"),
        // Renditions with AUTOSELECT=NO are not selected automatically.
        (["cy"], "Original"),
        ([""], "Original"),
        (["-", "en"], "English"),
    ])
    func audioIsSelectedByLanguageOrDefault(languages: [String], name: String) throws {
        let rules = MediaSelectionRules(audioLanguages: languages)
        #expect(rules.selection(for: try presentation(Self.audio))[.audio]?.name == name)
    }

    /// Media files have codes of three letters, which packagers copy into playlists.
    @Test(arguments: [("de", "Deutsch"), ("deu", "Deutsch"), ("ger-AT", "Deutsch"), ("en", "English")])
    func codesOfTwoAndThreeLettersMatch(language: String, name: String) throws {
        let offered = try presentation([
            #"TYPE=AUDIO,NAME="English",LANGUAGE="eng",DEFAULT=YES,URI="0""#,
            #"TYPE=AUDIO,NAME="Deutsch",LANGUAGE="deu",AUTOSELECT=YES,URI="1""#,
            #"TYPE=SUBTITLES,NAME="English",LANGUAGE="en",AUTOSELECT=YES,URI="2""#,
            #"TYPE=SUBTITLES,NAME="Deutsch",LANGUAGE="ger",AUTOSELECT=YES,URI="3""#,
        ])
        let rules = MediaSelectionRules(audioLanguages: [language], subtitleLanguages: [language])
        let selection = rules.selection(for: offered)
        #expect(selection[.audio]?.name == name && selection[.subtitles]?.name == name)
    }

    @Test func preferredCharacteristicsDecideWithinALanguage() throws {
        let rules = MediaSelectionRules(
            audioLanguages: ["en"],
            characteristics: ["public.accessibility.describes-video"]
        )
        #expect(rules.selection(for: try presentation(Self.audio))[.audio]?.name == "English described")
    }

    @Test func audioIsSelectedWithoutADefault() throws {
        let rules = MediaSelectionRules()
        let automatic = try presentation(Array(Self.audio.dropFirst().reversed()))
        #expect(rules.selection(for: automatic)[.audio]?.name == "Chinese")
        #expect(rules.selection(for: try presentation([Self.audio[4]]))[.audio]?.name == "Commentary")
        #expect(rules.selection(for: try presentation([])).all.isEmpty)
    }

    private static let text = [
        #"TYPE=SUBTITLES,NAME="English",LANGUAGE="en",AUTOSELECT=YES,URI="6""#,
        #"TYPE=SUBTITLES,NAME="English forced",LANGUAGE="en",AUTOSELECT=YES,FORCED=YES,URI="7""#,
        #"TYPE=SUBTITLES,NAME="French forced",LANGUAGE="fr",AUTOSELECT=YES,FORCED=YES,URI="8""#,
        #"TYPE=SUBTITLES,NAME="German",LANGUAGE="de",AUTOSELECT=YES,URI="9""#,
    ]

    @Test(
        arguments: [
            ([], [], MediaSelectionRules.SubtitleMode.automatic, "French forced"),
            (["en-US"], [], .automatic, "English forced"),
            (["en"], ["de-AT"], .automatic, "German"),
            (["en"], ["de"], .forcedOnly, "English forced"),
            (["en"], [], .always, "English"),
            (["cy"], [], .always, "English"),
        ] as [([String], [String], MediaSelectionRules.SubtitleMode, String)]
    )
    func subtitlesAreSelectedByTheirRules(
        audio: [String],
        subtitles: [String],
        mode: MediaSelectionRules.SubtitleMode,
        name: String
    ) throws {
        let rules = MediaSelectionRules(audioLanguages: audio, subtitleLanguages: subtitles, subtitleMode: mode)
        let selection = rules.selection(for: try presentation(Self.audio + Self.text))
        #expect(selection[.subtitles]?.name == name)
    }

    @Test func defaultSubtitlesAreSelected() throws {
        let shown = #"TYPE=SUBTITLES,NAME="Signs",LANGUAGE="ja",DEFAULT=YES,URI="6""#
        #expect(MediaSelectionRules().selection(for: try presentation([shown]))[.subtitles]?.name == "Signs")
        let rules = MediaSelectionRules(subtitleMode: .forcedOnly)
        #expect(rules.selection(for: try presentation([shown]))[.subtitles] == nil)
    }

    @Test func closedCaptionsReplaceMissingSubtitles() throws {
        let captions = #"TYPE=CLOSED-CAPTIONS,NAME="CC",LANGUAGE="en",AUTOSELECT=YES,INSTREAM-ID="CC1""#
        let rules = MediaSelectionRules(subtitleLanguages: ["en"])
        #expect(rules.selection(for: try presentation([captions]))[.closedCaptions]?.name == "CC")
        let both = rules.selection(for: try presentation([captions, Self.text[0]]))
        #expect(both[.closedCaptions] == nil && both[.subtitles]?.name == "English")
        #expect(MediaSelectionRules().selection(for: try presentation([captions])).all.isEmpty)
    }

    @Test func aSelectionContainsOnlyMatchingOptions() throws {
        let option = try #require(try presentation(Self.audio).group(.audio)?.options.first)
        var selection = MediaSelection()
        selection[.subtitles] = option
        #expect(selection.all.isEmpty)
        selection[.audio] = option
        #expect(selection.all == [option])
    }
}
