import HLSPlaylist
import Testing

@testable import StreamingEngine

/// Tests of the selection among options of which an earlier one matches less.
@Suite struct SelectionFaultTests {
    private static func presentation(_ type: String, _ renditions: [String]) throws -> Presentation {
        let lines = renditions.map { rendition in
            "#EXT-X-MEDIA:TYPE=\(type),GROUP-ID=\"g\",LANGUAGE=\"en\",AUTOSELECT=YES,\(rendition)\n"
        }
        return Presentation(
            try multivariant("#EXTM3U\n" + lines.joined() + "#EXT-X-STREAM-INF:BANDWIDTH=1,\(type)=\"g\"\nv\n")
        )
    }

    @Test(arguments: [
        (["en"], "Full"), (["fr:signs", "en"], "Full"), (["signs"], "Signs"), (["en:signs"], "Signs"), ([], "Full"),
    ])
    func forcedSubtitlesThatAreListedFirstAreSelectedByTheirName(languages: [String], name: String) throws {
        let presentation = try Self.presentation(
            "SUBTITLES",
            [#"NAME="Signs",FORCED=YES,URI="s""#, #"NAME="Full",URI="f""#]
        )
        var rules = MediaSelectionRules(subtitleLanguages: languages, subtitleMode: .always)
        rules.isLanguageChoiceExplicit = true
        #expect(rules.selection(for: presentation)[.subtitles]?.name == name)
    }

    @Test(
        arguments: [(["en", "en-US"], "B"), (["en-US", "en"], "A"), (["de", "en"], "B"), (["de", "fr"], nil)]
            as [([String], String?)]
    )
    func closestForcedSubtitlesAreSelected(languages: [String], name: String?) throws {
        let lines = zip(["A", "B"], languages).map { name, language in
            "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"g\",NAME=\"\(name)\",LANGUAGE=\"\(language)\","
                + "AUTOSELECT=YES,FORCED=YES,URI=\"\(name)\"\n"
        }
        let variant = "#EXT-X-STREAM-INF:BANDWIDTH=1,SUBTITLES=\"g\"\nv\n"
        let presentation = Presentation(try multivariant("#EXTM3U\n" + lines.joined() + variant))
        let rules = MediaSelectionRules(audioLanguages: ["en-US"])
        #expect(rules.selection(for: presentation)[.subtitles]?.name == name)
    }

    @Test func requestedCharacteristicsAreMoreImportantThanOthers() throws {
        let presentation = try Self.presentation(
            "AUDIO",
            [#"NAME="One",CHARACTERISTICS="x",URI="o""#, #"NAME="All",CHARACTERISTICS="x,y,z,w",URI="a""#]
        )
        let rules = MediaSelectionRules(audioLanguages: ["en"], characteristics: ["x", "y"])
        #expect(rules.selection(for: presentation)[.audio]?.name == "All")
        let fewer = MediaSelectionRules(audioLanguages: ["en"], characteristics: ["x"])
        #expect(fewer.selection(for: presentation)[.audio]?.name == "One")
    }
}
