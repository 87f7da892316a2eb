import HLSPlaylist
import MediaTiming
import PlaylistEditing
import Testing

/// Tests of the exact limits of values, of the characters that they may have, and of the part that an error names.
@Suite struct EditValueLimitTests {
    private static let digits = "0123456789"
    private static let upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    private static let lower = "abcdefghijklmnopqrstuvwxyz"
    private static let alphanumerics = digits + upper + lower

    /// Returns the normalized value of an edit, or `nil` if the value is invalid.
    private func value(_ name: String, _ text: String) -> String? {
        (try? PlaylistEdit(name: name, value: text))?.value
    }

    /// Returns the name and the value in the error for an invalid value.
    private func invalid(_ name: String, _ text: String) -> [String] {
        do throws(PlaylistEditError) {
            return ["valid", try PlaylistEdit(name: name, value: text).value]
        } catch {
            guard case .invalidValue(let edit, let value, _) = error else { return ["another error"] }
            return [edit, value]
        }
    }

    // MARK: Lists

    @Test func listHasAtMost1024Bytes() {
        let longest = String(repeating: "a", count: 1_024)
        #expect(value("codecs", longest) == longest)
        #expect(value("codecs", longest + "a") == nil)
    }

    @Test func listHasAtMost32Words() {
        let words = (1...33).map { "c\($0)" }
        let most = words.prefix(32).joined(separator: ",")
        #expect(value("codecs", most) == most)
        #expect(value("codecs", words.joined(separator: ",")) == nil)
    }

    @Test func listThatIsTooLongIsReportedAsAWhole() {
        let long = "SDR,FOO," + String(repeating: "x", count: 1_017)
        #expect(invalid("video-range", long) == ["video-range", long])
        #expect(invalid("video-range", String(long.dropLast())) == ["video-range", "FOO"])
    }

    @Test func spacesAroundWordsAreIgnored() {
        #expect(value("video-range", "  sdr ,  PQ  ") == "SDR,PQ")
        #expect(invalid("video-range", "SDR,  FOO  ,BAR") == ["video-range", "FOO"])
    }

    /// Returns the characters that are accepted in a value, of those from U+0000 to U+007F.
    private func accepted(_ name: String, _ form: (Character) -> String) -> String {
        String((UInt8(0)...0x7F).map { Character(UnicodeScalar($0)) }.filter { value(name, form($0)) != nil })
    }

    @Test(arguments: ["codecs", "drop-codecs"])
    func codecsHaveLettersDigitsDotsAndHyphens(name: String) {
        #expect(accepted(name) { "x\($0)y" } == ",-." + Self.alphanumerics)
    }

    @Test(arguments: ["audio-languages", "subtitle-languages"])
    func languagesHaveLettersDigitsAndHyphens(name: String) {
        #expect(accepted(name) { "x\($0)y" } == ",-" + Self.alphanumerics)
        #expect(value(name, "*") == "*" && value(name, "*,de") == "*,de")
        #expect(value(name, "**") == nil && value(name, "*-CH") == nil)
    }

    @Test func characteristicsHaveLettersDigitsDotsAndHyphens() {
        for name in ["filter-audio", "filter-subtitles"] {
            #expect(
                accepted(name) { "characteristics(x\($0)y)" } == ",-." + Self.alphanumerics,
                "\(name)"
            )
        }
    }

    /// Spaces, control characters and those that separate parameters would end the name of a parameter.
    @Test func parametersHaveNoSeparators() {
        let expected = ["!\"$%'()*+,-./", Self.digits, ":;<>@", Self.upper, "[\\]^_`", Self.lower, "{|}~"].joined()
        #expect(accepted("carry-query") { "x\($0)y" } == expected)
        #expect(value("carry-query", "é") == "é" && value("carry-query", "*") == "*")
    }

    @Test func namesOfTagsHaveUppercaseLettersDigitsHyphensAndUnderscores() {
        let expected = "-\(Self.digits)\(Self.upper)_"
        #expect(accepted("strip-tags") { "EXT\($0)X" } == expected)
        #expect(value("strip-tags", "#EXT-X-A,EXT") == "EXT-X-A,EXT")
        #expect(value("strip-tags", "##EXT-X-A") == nil && value("strip-tags", "EX") == nil)
    }

    @Test func typesAreNamedInEitherCase() {
        #expect(value("caption-types", "Subtitles, SDH,cea608,Cea708,forced") == "subtitles,sdh,cea608,cea708,forced")
        #expect(value("content-types", "Closed-Captions,AUDIO,video") == "closed-captions,audio,video")
        #expect(invalid("content-types", "audio,images") == ["content-types", "images"])
    }

    @Test(
        arguments: [
            ("0", "0"), ("0,12.50,3", "0,12.5,3"), ("-0.001", nil), ("1,-1", nil), ("1e3", nil), ("", nil),
            ("1:00", nil),
        ] as [(String, String?)]
    )
    func divisionsAreAtTimes(text: String, expected: String?) { #expect(value("split", text) == expected) }

    // MARK: Ranges

    @Test(arguments: [
        "640x360...640x480", "640x360...1280x360", "640x360...640x360", "1x1...", "...1x1",
    ])
    func boundsOfAResolutionMayBeEqual(text: String) { #expect(value("resolution", text) == text) }

    @Test(arguments: [
        "641x360...640x480", "640x361...1280x360", "641x361...640x360", "1x0...", "0x1...", "...0x1", "...1x0", "...",
        "640...640x360", "640x360...640", "640x360..640x360", "x...x",
    ])
    func lowerResolutionDoesNotExceedTheUpperOne(text: String) { #expect(value("resolution", text) == nil) }

    @Test(arguments: [
        (640, 360, true), (639, 360, false), (640, 359, false), (1_280, 720, true), (1_281, 720, false),
        (1_280, 721, false), (640, 720, true), (1_280, 360, true),
    ])
    func resolutionIsComparedInBothDimensions(width: Int, height: Int, isContained: Bool) {
        let size = Resolution(width: width, height: height)
        let (low, high) = (Resolution(width: 640, height: 360), Resolution(width: 1_280, height: 720))
        #expect(ResolutionRange(low: low, high: high).contains(size) == isContained)
        #expect(ResolutionRange(low: nil, high: high).contains(size) == (isContained || width < 640 || height < 360))
        #expect(ResolutionRange(low: low, high: nil).contains(size) == (isContained || width > 1_280 || height > 720))
        #expect(ResolutionRange(low: nil, high: nil).contains(size))
    }

    @Test(
        arguments: [
            ("0", "0...0"), ("2", "2...2"), ("65535", "65535...65535"), ("65536", nil), ("-1", nil), ("2.5", nil),
            ("1...2", "1...2"), ("2...1", nil), ("...6", "...6"), ("6...", "6..."), ("...65536", nil), ("...", nil),
        ] as [(String, String?)]
    )
    func channelsAreANumberOrARange(text: String, expected: String?) {
        #expect(value("filter-audio", "channels(\(text))") == expected.map { "channels(\($0))" })
    }

    // MARK: Conditions

    @Test func conditionsHaveAtMost1024Bytes() {
        let longest = "codecs(\(String(repeating: "a", count: 1_016)))"
        #expect(value("filter-video", longest) == longest)
        let longer = "codecs(\(String(repeating: "a", count: 1_017)))"
        #expect(invalid("filter-video", longer) == ["filter-video", longer])
        let unknown = "foo(\(String(repeating: "a", count: 1_020)))"
        #expect(invalid("filter-video", unknown) == ["filter-video", unknown])
        let shorter = "foo(\(String(repeating: "a", count: 1_019)))"
        #expect(invalid("filter-video", shorter) == ["a name in the value of filter-video", "foo"])
    }

    @Test func thereAreAtMostEightConditions() {
        func conditions(_ count: Int) -> String {
            Array(repeating: "max-height(1)", count: count).joined(separator: ",")
        }
        #expect(value("filter-video", conditions(8)) == conditions(8))
        #expect(
            throws: PlaylistEditError.invalidValue(
                edit: "the number of conditions of filter-video",
                value: "9",
                expected: "at most 8"
            )
        ) { try PlaylistEdit(name: "filter-video", value: conditions(9)) }
    }

    @Test(arguments: [
        ("bandwidth", "filter-video", "bandwidth"), (")max-height(1)", "filter-video", ")max-height(1)"),
        ("max-height(1", "filter-video", "max-height(1"), ("max-height1)", "filter-video", "max-height1)"),
        ("max-height(1),", "a condition of filter-video", ""),
        ("max-height(1),)max-height(2)", "a condition of filter-video", ")max-height(2)"),
        ("max-height(1) x", "the end of a condition of filter-video", " x"),
        ("max-height(0)", "max-height of filter-video", "0"),
        ("max-height(1),foo(2)", "a name in the value of filter-video", "foo"),
        ("video-range(SDR,FOO)", "video-range of filter-video", "FOO"),
    ])
    func errorNamesTheInvalidPartOfConditions(text: String, name: String, part: String) {
        #expect(invalid("filter-video", text) == [name, part])
    }

    @Test func spacesInNamesOfConditionsAreIgnored() {
        #expect(value("filter-video", " max-height (1), codecs(avc1)") == "max-height(1),codecs(avc1)")
    }

    // MARK: Tags

    @Test func valueOfATagHasAtMost8192Bytes() {
        let longest = String(repeating: "a", count: 8_192)
        #expect(TagAssignment("EXT-X-MINE=" + longest)?.value == longest)
        #expect(TagAssignment("EXT-X-MINE=" + longest + "a") == nil)
    }

    @Test func valueOfATagHasNoControlCharacters() throws {
        for text in ["EXT-X-MINE=", "EXT-X-MINE=a\tb", "EXT-X-MINE=a\u{7F}b", "EXT-X-MINE=a\u{85}b", "EXT-X-MINE=a\n"] {
            #expect(TagAssignment(text) == nil, "\(text.debugDescription)")
        }
        let assignment = try #require(TagAssignment("#EXT-X-MINE=é = b"))
        #expect(assignment.name == "EXT-X-MINE" && assignment.value == "é = b")
        #expect(assignment.description == "EXT-X-MINE=é = b")
        let flag = try #require(TagAssignment("EXT-X-MINE"))
        #expect(flag.value == nil && flag.description == "EXT-X-MINE")
    }

    @Test(arguments: [
        "EXT-X-VERSION=7", "EXT-X-INDEPENDENT-SEGMENTS", "EXT-X-START=TIME-OFFSET=1", "EXT-X-TARGETDURATION=4",
        "EXT-X-DISCONTINUITY-SEQUENCE=1", "EXT-X-ENDLIST", "EXT-X-PLAYLIST-TYPE=VOD", "EXT-X-I-FRAMES-ONLY",
        "EXT-X-PART-INF=PART-TARGET=1", "EXT-X-SERVER-CONTROL=CAN-BLOCK-RELOAD=YES",
        "EXT-X-CONTENT-STEERING=SERVER-URI=\"/s\"", "EXT-X-MINE=1",
    ])
    func tagsOfAWholePlaylistCanBeSet(text: String) { #expect(value("set-tag", text) == text) }

    @Test(arguments: [
        "EXTM3U", "EXT-X-DEFINE=NAME=\"a\",VALUE=\"b\"", "EXT-X-MEDIA-SEQUENCE=7", "EXTINF=4,", "EXT-X-BYTERANGE=1@0",
        "EXT-X-DISCONTINUITY", "EXT-X-KEY=METHOD=NONE", "EXT-X-MAP=URI=\"m\"", "EXT-X-GAP", "EXT-X-BITRATE=1",
        "EXT-X-PROGRAM-DATE-TIME=2020-01-01T00:00:00Z", "EXT-X-PART=URI=\"p\",DURATION=1", "EXT-X-DATERANGE=ID=\"d\"",
        "EXT-X-SKIP=SKIPPED-SEGMENTS=1", "EXT-X-PRELOAD-HINT=TYPE=PART,URI=\"p\"", "EXT-X-RENDITION-REPORT=URI=\"r\"",
        "EXT-X-MEDIA=TYPE=AUDIO", "EXT-X-STREAM-INF=BANDWIDTH=1", "EXT-X-I-FRAME-STREAM-INF=BANDWIDTH=1",
        "EXT-X-SESSION-DATA=DATA-ID=\"d\"", "EXT-X-SESSION-KEY=METHOD=NONE", "EXT-X-VERSION", "EXT-X-ENDLIST=1",
    ])
    func tagsOfEntriesCannotBeSet(text: String) { #expect(value("set-tag", text) == nil) }

    @Test(arguments: [
        "EXTM3U", "EXT-X-DEFINE", "EXT-X-TARGETDURATION", "EXT-X-MEDIA-SEQUENCE", "EXTINF", "EXT-X-BYTERANGE",
        "EXT-X-KEY", "EXT-X-MAP", "EXT-X-MEDIA", "EXT-X-STREAM-INF",
    ])
    func tagsThatAreNeededCannotBeRemoved(name: String) {
        #expect(value("strip-tags", name) == nil && value("strip-tags", "EXT-X-GAP,#\(name)") == nil)
        #expect(value("strip-tags", name + "S") == name + "S")
    }
}
