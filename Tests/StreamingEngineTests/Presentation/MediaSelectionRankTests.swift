import HLSPlaylist
import ResourceAddressing
import StreamingEngine
import Testing

/// Tests of the order in which options match preferences.
@Suite struct MediaSelectionRankTests {
    private static func rendition(_ type: String, _ name: String, _ attributes: String = "AUTOSELECT=YES") -> String {
        "TYPE=\(type),NAME=\"\(name)\",\(attributes)" + (type == "CLOSED-CAPTIONS" ? "" : ",URI=\"\(name)\"")
    }

    private func presentation(_ renditions: [String]) throws -> Presentation {
        let lines = renditions.map { "#EXT-X-MEDIA:GROUP-ID=\"g\",\($0)" }
        let variant = #"#EXT-X-STREAM-INF:BANDWIDTH=1,VIDEO="g",AUDIO="g",SUBTITLES="g",CLOSED-CAPTIONS="g""#
        return Presentation(try multivariant((["#EXTM3U"] + lines + [variant, "v.m3u8"]).joined(separator: "\n")))
    }

    /// Returns the name of the selected option of a type.
    private func name(
        _ rules: MediaSelectionRules,
        _ renditions: [String],
        _ type: Rendition.MediaType = .audio
    ) throws -> String? {
        let presentation = try presentation(renditions)
        return rules.selection(for: presentation)[type]?.name
    }

    // MARK: Audio

    private static let english = rendition("AUDIO", "A", "LANGUAGE=\"en\",AUTOSELECT=YES")

    @Test func theFirstOfEqualMatchesIsSelected() throws {
        let equal = Self.rendition("AUDIO", "B", "LANGUAGE=\"en\",AUTOSELECT=YES")
        #expect(try name(MediaSelectionRules(audioLanguages: ["en"]), [Self.english, equal]) == "A")
    }

    @Test func nameSelectsAnOption() throws {
        let other = Self.rendition("AUDIO", "Commentary", "LANGUAGE=\"en\",AUTOSELECT=NO")
        var rules = MediaSelectionRules(audioLanguages: ["fr", "commentary"])
        rules.isLanguageChoiceExplicit = true
        #expect(try name(rules, [Self.english, other]) == "Commentary")
        rules.audioLanguages = ["en:Commentary"]
        #expect(try name(rules, [Self.english, other]) == "Commentary")
        rules.audioLanguages = ["ko:Commentary"]
        #expect(try name(rules, [Self.english, other]) == "A")
    }

    @Test func forcedSubtitlesAreSelectedByTheirName() throws {
        let forced = Self.rendition("SUBTITLES", "Signs", "LANGUAGE=\"en\",AUTOSELECT=YES,FORCED=YES")
        let full = Self.rendition("SUBTITLES", "Full", "LANGUAGE=\"en\",AUTOSELECT=YES")
        var rules = MediaSelectionRules(subtitleLanguages: ["signs"], subtitleMode: .always)
        rules.isLanguageChoiceExplicit = true
        #expect(try name(rules, [full, forced], .subtitles) == "Signs")
        rules.subtitleLanguages = ["en:signs"]
        #expect(try name(rules, [full, forced], .subtitles) == "Signs")
        rules.subtitleLanguages = [":signs"]
        #expect(try name(rules, [full, forced], .subtitles) == "Signs")
        rules.subtitleLanguages = ["fr:signs", "en"]
        #expect(try name(rules, [full, forced], .subtitles) == "Full")
        rules.subtitleLanguages = ["en"]
        #expect(try name(rules, [full, forced], .subtitles) == "Full")
    }

    @Test func theDefaultIsPreferredWithinALanguage() throws {
        let other = Self.rendition("AUDIO", "B", "LANGUAGE=\"en\",DEFAULT=YES")
        #expect(try name(MediaSelectionRules(audioLanguages: ["en"]), [Self.english, other]) == "B")
    }

    @Test func theOptionWithMostPreferredCharacteristicsIsSelected() throws {
        let one = Self.rendition("AUDIO", "One", "LANGUAGE=\"en\",AUTOSELECT=YES,CHARACTERISTICS=\"x\"")
        let both = Self.rendition("AUDIO", "B", "LANGUAGE=\"en\",AUTOSELECT=YES,CHARACTERISTICS=\"x,y\"")
        let all = Self.rendition("AUDIO", "C", "LANGUAGE=\"en\",AUTOSELECT=YES,CHARACTERISTICS=\"x,y,z\"")
        let rules = MediaSelectionRules(audioLanguages: ["en"], characteristics: ["x", "y"])
        #expect(try name(rules, [one, both]) == "B")
        // What was not asked for is worse than nothing.
        #expect(try name(rules, [all, both]) == "B")
        #expect(try name(MediaSelectionRules(audioLanguages: ["en"]), [one, Self.english]) == "A")
        #expect(try name(MediaSelectionRules(characteristics: ["y"]), [one, both]) == "B")
    }

    @Test func theLanguageIsMoreImportantThanCharacteristics() throws {
        let german = Self.rendition("AUDIO", "G", "LANGUAGE=\"de\",AUTOSELECT=YES,CHARACTERISTICS=\"x\"")
        let rules = MediaSelectionRules(audioLanguages: ["en", "de"], characteristics: ["x"])
        #expect(try name(rules, [german, Self.english]) == "A")
        // Without a preferred language, the characteristics decide.
        #expect(try name(MediaSelectionRules(characteristics: ["x"]), [Self.english, german]) == "G")
        #expect(try name(MediaSelectionRules(characteristics: ["w"]), [Self.english, german]) == "A")
    }

    @Test func anExplicitLanguageAlsoSelectsWhatIsNotSelectedAutomatically() throws {
        let manual = Self.rendition("AUDIO", "M", "LANGUAGE=\"de\",CHARACTERISTICS=\"x\"")
        var rules = MediaSelectionRules(audioLanguages: ["de"], characteristics: ["x"])
        #expect(try name(rules, [Self.english, manual]) == "A")
        rules.isLanguageChoiceExplicit = true
        #expect(try name(rules, [Self.english, manual]) == "M")
        // Characteristics alone are no choice for the item.
        rules.audioLanguages = []
        #expect(try name(rules, [Self.english, manual]) == "A")
    }

    // MARK: Video and captions

    @Test func theDefaultVideoIsSelected() throws {
        let angles = [Self.rendition("VIDEO", "Goal"), Self.rendition("VIDEO", "Main", "DEFAULT=YES")]
        #expect(try name(MediaSelectionRules(), angles, .video) == "Main")
    }

    @Test func captionsAreShownTogetherWithForcedSubtitles() throws {
        let renditions = [
            Self.rendition("AUDIO", "F", "LANGUAGE=\"fr\",DEFAULT=YES"),
            Self.rendition("SUBTITLES", "Forced", "LANGUAGE=\"fr\",AUTOSELECT=YES,FORCED=YES"),
            Self.rendition("CLOSED-CAPTIONS", "CC", "LANGUAGE=\"en\",AUTOSELECT=YES,INSTREAM-ID=\"CC1\""),
        ]
        let rules = MediaSelectionRules(subtitleLanguages: ["en"])
        #expect(try name(rules, renditions, .subtitles) == "Forced")
        #expect(try name(rules, renditions, .closedCaptions) == "CC")
    }

    // MARK: Subtitles

    private static func subtitles(_ name: String, _ language: String, _ more: String = ",AUTOSELECT=YES") -> String {
        rendition("SUBTITLES", name, "LANGUAGE=\"\(language)\"\(more)")
    }

    @Test func withoutASeparateAudioOptionItsPreferredLanguageSelectsForcedSubtitles() throws {
        let forced = Self.subtitles("Forced", "fr", ",AUTOSELECT=YES,FORCED=YES")
        #expect(try name(MediaSelectionRules(audioLanguages: ["fr"]), [forced], .subtitles) == "Forced")
        #expect(try name(MediaSelectionRules(audioLanguages: ["en"]), [forced], .subtitles) == nil)
    }

    @Test func subtitlesThatAreAlwaysShownFollowTheLanguages() throws {
        let offered = [Self.subtitles("E", "en"), Self.subtitles("F", "fr"), Self.subtitles("G", "de")]
        let audio = Self.rendition("AUDIO", "Audio", "LANGUAGE=\"fr\",DEFAULT=YES")
        var rules = MediaSelectionRules(subtitleMode: .always)
        // The language of the audio counts without a preference, and a preferred one before it.
        #expect(try name(rules, offered + [audio], .subtitles) == "F")
        rules.subtitleLanguages = ["de"]
        #expect(try name(rules, offered + [audio], .subtitles) == "G")
        rules = MediaSelectionRules(audioLanguages: ["de"], subtitleMode: .always)
        #expect(try name(rules, offered, .subtitles) == "G")
        rules = MediaSelectionRules(subtitleMode: .always)
        #expect(try name(rules, offered, .subtitles) == "E")
        #expect(try name(rules, offered + [Self.subtitles("D", "ja", ",DEFAULT=YES")], .subtitles) == "D")
    }

    @Test func subtitlesThatAreNotSelectedAutomaticallyAreShownAsALastResort() throws {
        let manual = [Self.subtitles("X", "ja", ""), Self.subtitles("Y", "ko", "")]
        let rules = MediaSelectionRules(audioLanguages: ["ko"], subtitleMode: .always)
        #expect(try name(rules, manual, .subtitles) == "Y")
        #expect(try name(MediaSelectionRules(subtitleMode: .always), manual, .subtitles) == nil)
        var automatic = MediaSelectionRules(subtitleLanguages: ["ko"])
        #expect(try name(automatic, manual, .subtitles) == nil)
        automatic.isLanguageChoiceExplicit = true
        #expect(try name(automatic, manual, .subtitles) == "Y")
    }

    // MARK: Options

    @Test func theEncodingsOfAnOptionAreCombined() throws {
        let presentation = Presentation(
            try multivariant(
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="N",LANGUAGE="EN",URI="1.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="N",LANGUAGE="en",URI="2.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="N",LANGUAGE="en",ASSOC-LANGUAGE="gd",DEFAULT=YES,URI="3.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="c",NAME="N",LANGUAGE="en",ASSOC-LANGUAGE="cy",URI="4.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
                v.m3u8
                """
            )
        )
        let options = try #require(presentation.group(.audio)?.options)
        let option = try #require(options.first)
        #expect(options.count == 1 && option.isDefault && option.isAutoselect && option.associatedLanguage == "gd")
        // A group has each option once.
        #expect(option.encodings.compactMap { $0.address?.lastPathComponent } == ["1.m3u8", "3.m3u8", "4.m3u8"])
        #expect(option.encoding(in: "b")?.address?.lastPathComponent == "3.m3u8" && option.encoding(in: "d") == nil)
    }

    @Test(arguments: [
        ("TYPE-1", HDCPLevel.type0, false), ("TYPE-1", HDCPLevel.type1, true), ("TYPE-0", HDCPLevel.none, false),
        ("NONE", HDCPLevel.none, true), ("TYPE-0", HDCPLevel(rawValue: "TYPE-9"), false),
    ])
    func aVariantIsPlayedUpToTheLevelOfTheOutput(required: String, level: HDCPLevel, isPlayed: Bool) throws {
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,HDCP-LEVEL=\(required)\na.m3u8\n"
        let presentation = Presentation(
            try multivariant(text),
            capabilities: PlaybackCapabilities(hdcpLevel: level)
        )
        #expect(presentation.variants.isEmpty != isPlayed)
    }

    @Test func oneSupportedKeyFormatSuffices() throws {
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,ALLOWED-CPC=\"com.example.drm:SMART,identity:X\"\na.m3u8\n"
        #expect(Presentation(try multivariant(text)).unplayable.isEmpty)
    }
}
