import Testing

@testable import HLSPlaylist

/// The rules for bytes, lines and white space, with lines that just obey them and lines that just break them.
@Suite struct LineRuleTests {
    private static func text(_ bytes: UInt8...) -> [UInt8] { bytes }

    /// Returns the violations in a playlist that contains the given bytes as its third line.
    private func lines(_ line: [UInt8]) throws -> [String] {
        let bytes = Array("#EXTM3U\n#EXT-X-TARGETDURATION:6\n".utf8) + line + Array("\n#EXTINF:6,\na.ts\n".utf8)
        return try Playlist.parse(bytes + Array("#EXT-X-ENDLIST\n".utf8)).validated().map {
            "\($0.line ?? 0) \($0.code)"
        }
    }

    @Test(
        arguments: [
            ("", []), (" ", []), ("#", []), ("# comment ", []), (" # comment", []), ("#EXT", []),
            ("#EXT ", ["3 trailing-space"]),
            (" #EXT-X-A", ["3 leading-space"]), ("#EXT-X-A:b ", ["3 trailing-space"]),
            ("#EXT-X-A :b", ["3 space-in-tag"]), ("#EXT-X-BITRATE :1", ["3 space-in-tag"]),
            ("#EXT-X-BITRATE  :1", ["3 space-in-tag"]), ("#EXT-X-BITRATE: 1", ["3 space-in-tag"]),
            ("#EXT-X-BITRATE:1 ", ["3 trailing-space"]), ("#EXT-X-BITRATE", ["3 missing-value"]),
            ("#EXT-X-BITRATE:", ["3 missing-value"]), ("#EXT-X-BITRATE: ", ["3 trailing-space", "3 missing-value"]),
            ("#EXT-X-BITRATE:\t1", ["3 control-character"]), ("#EXT-X-BITRATE:1\t", ["3 control-character"]),
            ("#EXT-X-BITRATE:\t", ["3 control-character", "3 missing-value"]),
            ("#EXT-X-BITRATE:x", ["3 not-an-integer"]), ("#EXT-X-KEY", ["3 missing-value"]),
            ("#EXT-X-PROGRAM-DATE-TIME:2030-01-01 00:00:00.000Z", ["3 space-in-tag"]),
            ("#EXT-X-GAP:", ["3 unexpected-value"]), ("#EXT-X-DISCONTINUITY:1", ["3 unexpected-value"]),
            ("#EXT-X-GAP", []), ("#EXT-X-INDEPENDENT-SEGMENTS:", ["3 unexpected-value"]),
            ("#EXT-X-INDEPENDENT-SEGMENTS", []), ("#EXTM3U", []), ("#EXTM3U:1", []),
            ("#EXT-X-STREAM-INF:BANDWIDTH=1", ["3 mixed-kinds"]), ("#EXT-X-A:{$b}", []),
        ] as [(String, [String])]
    )
    func spacesAndValuesOfTags(line: String, found: [String]) throws {
        #expect(try lines(Array(line.utf8)) == found)
    }

    @Test(
        arguments: [
            ("#EXT-X-ENDLIST:", "unexpected-value"), ("#EXT-X-I-FRAMES-ONLY:\n#EXT-X-VERSION:4", "unexpected-value"),
            ("#EXT-X-I-FRAMES-ONLY\n#EXT-X-VERSION:4", ""),
        ]
    )
    func tagsWithoutAValue(lines: String, codes: String) throws {
        #expect(try RuleFindings.codes("#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(lines)\n#EXTINF:6,\na.ts\n") == codes)
    }

    @Test(
        arguments: [
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na b.ts\n#EXT-X-ENDLIST\n", ["4 space-in-address"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n a.ts\n#EXT-X-ENDLIST\n", ["4 leading-space"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts \n#EXT-X-ENDLIST\n", ["4 trailing-space"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na, \n#EXT-X-ENDLIST\n", ["4 trailing-space"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n{$a}{a}{$\n#EXT-X-ENDLIST\n", ["4 undefined-variable"]),
            (
                "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n{$}{${$ a}{$a b}\n#EXT-X-ENDLIST\n",
                ["4 space-in-address"]
            ),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n{$a\n#EXT-X-ENDLIST\n", []),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na{\n#EXT-X-ENDLIST\n", []),
            (
                "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6 \na.ts\n#EXT-X-ENDLIST\n",
                ["3 trailing-space", "3 extinf-without-comma"]
            ),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,title \na.ts\n#EXT-X-ENDLIST\n", []),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6, \na.ts\n#EXT-X-ENDLIST\n", []),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\t\na.ts\n#EXT-X-ENDLIST\n", []),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,a\tb\na.ts\n#EXT-X-ENDLIST\n", ["3 control-character"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\ta\na.ts\n#EXT-X-ENDLIST\n", ["3 control-character"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\u{1}\na.ts\n#EXT-X-ENDLIST\n", ["3 control-character"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:\t6,\na.ts\n#EXT-X-ENDLIST\n", ["3 control-character"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,,\t\na.ts\n#EXT-X-ENDLIST\n", ["3 control-character"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#x,\t\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n", ["3 control-character"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts,\t\n#EXT-X-ENDLIST\n", ["4 control-character"]),
        ] as [(String, [String])]
    )
    func addressesAndTitles(text: String, found: [String]) throws {
        #expect(try RuleFindings.lines(text) == found)
    }

    @Test(
        arguments: [
            ("#EXTM3U\n", ["1 byte-order-mark"], "\u{FEFF}"), ("#EXTM3U\n", [], ""),
            ("#EXTM3U \n", ["1 trailing-space"], ""),
            (" #EXTM3U\n", ["1 leading-space"], ""), ("#EXTM3U\r\n", [], ""),
            ("#EXTM3U\r", ["1 lone-carriage-return"], ""),
            ("\n#EXTM3U\n", ["1 header-not-first"], ""), ("#EXTM3\n", ["1 header-not-first"], ""),
            ("#EXTM3UX\n", ["1 header-not-first"], ""), ("#EXTM3U:\n", ["1 header-not-first"], ""),
            ("#EXTM3U\r\r\n", ["1 lone-carriage-return"], ""),
            ("\r#EXTM3U\n", ["1 lone-carriage-return", "1 header-not-first"], ""),
        ] as [(String, [String], String)]
    )
    func headersAndLineEndings(header: String, found: [String], mark: String) throws {
        let text = "\(mark)\(header)#EXT-X-TARGETDURATION:6\r\n#EXTINF:6,\r\na.ts\n#EXT-X-ENDLIST"
        #expect(try RuleFindings.lines(text) == found)
    }

    @Test(
        arguments: [
            ("#EXT-X-ENDLIST\r", ["5 lone-carriage-return"]), ("#EXT-X-ENDLIST\r\n", []),
            ("#EXT-X-ENDLIST\n#EXT-X-BITRATE:", ["6 missing-value"]),
            ("#EXT-X-ENDLIST\n#EXT-X-BITRATE:\r\n", ["6 missing-value"]),
            ("#EXT-X-ENDLIST\n#\u{80}", ["6 control-character"]),
        ] as [(String, [String])]
    )
    func lastLines(end: String, found: [String]) throws {
        #expect(try RuleFindings.lines("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n\(end)") == found)
    }

    @Test(
        arguments: [
            (text(0x00), true), (text(0x01), true), (text(0x08), true), (text(0x09), true), (text(0x0B), true),
            (text(0x1F), true), (text(0x20), false), (text(0x7E), false), (text(0x7F), true),
            (text(0xC2, 0x80), true), (text(0xC2, 0x85), true), (text(0xC2, 0x9F), true), (text(0xC2, 0xA0), false),
            (text(0xC2, 0xBF), false), (text(0xC3, 0x80), false), (text(0xC4, 0x80), false),
            (text(0xE2, 0x80, 0x80), false),
        ]
    )
    func controlCharactersAreFound(bytes: [UInt8], isControl: Bool) throws {
        let expected = isControl ? ["3 control-character"] : []
        #expect(try lines(Array("#a".utf8) + bytes + Array("b".utf8)) == expected)
        #expect(
            try lines(Array("#EXT-X-A:".utf8) + bytes + Array("b".utf8)).contains("3 control-character") == isControl
        )
        #expect(
            try lines(Array("#EXT-X-MAP:URI=\"".utf8) + bytes + Array("\"".utf8)).contains("3 control-character")
                == isControl
        )
    }

    @Test func bytesThatAreNotUTF8AreReportedOnce() throws {
        #expect(try lines([0x23, 0xFF]) == ["0 not-utf-8"])
        #expect(try lines([0x23, 0xC2]) == ["0 not-utf-8"])
        let end = Array("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n#".utf8) + [0xC2]
        #expect(try Playlist.parse(end).validated().map(\.code) == ["not-utf-8"])
    }

    /// The IDs of removed date ranges are separated by tabs.
    @Test(
        arguments: [
            ("SKIPPED-SEGMENTS=1,RECENTLY-REMOVED-DATERANGES=\"a\tb\tc\"", []),
            (
                "SKIPPED-SEGMENTS=1,\tRECENTLY-REMOVED-DATERANGES=\"a\"",
                ["3 control-character", "3 space-in-attribute-list"]
            ),
            ("SKIPPED-SEGMENTS=1,RECENTLY-REMOVED-DATERANGES=\"a\"\t", ["3 control-character"]),
            ("SKIPPED-SEGMENTS=1,RECENTLY-REMOVED-DATERANGES=\"a\u{1}b\"", ["3 control-character"]),
            ("SKIPPED-SEGMENTS=1,RECENTLY-REMOVED-DATERANGES=\"\u{9F}\"", ["3 control-character"]),
        ] as [(String, [String])]
    )
    func tabsAreAllowedInRemovedDateRanges(attributes: String, found: [String]) throws {
        let text =
            "#EXTM3U\n#EXT-X-VERSION:10\n#EXT-X-SKIP:\(attributes)\n#EXT-X-TARGETDURATION:6\n"
            + "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=36,CAN-SKIP-DATERANGES=YES\n#EXTINF:6,\na.ts\n"
        let codes = try RuleFindings.lines(text).filter { !$0.hasSuffix("skip-too-much") }
        #expect(codes == found)
    }

    @Test(
        arguments: [
            ("é", true), ("e\u{301}", false), ("q\u{301}", true), ("e\u{301}\u{323}", false),
            // The ends of the ranges of composed letters.
            ("A\u{300}", false), ("y\u{304}", false), ("\u{391}\u{301}", false), ("\u{3C9}\u{301}", false),
            ("\u{415}\u{300}", false), ("\u{44B}\u{308}", false), ("\u{627}\u{653}", false), ("\u{6D2}\u{654}", false),
            ("A\u{325}", false), ("\u{3A9}\u{345}", false),
            // A letter with two marks, of which only the second forms a composed letter with it, and with both.
            ("u\u{308}\u{301}", false), ("r\u{304}", true), ("r\u{304}\u{323}", false), ("q\u{304}\u{323}", true),
            ("q\u{304}\u{323}\u{301}", true), ("é\u{323}", true),
            // Characters that have an equivalent single scalar.
            ("q\u{340}", false), ("q\u{341}", false), ("q\u{343}", false), ("q\u{344}", false), ("\u{374}", false),
            ("\u{37E}", false), ("\u{387}", false), ("\u{2126}", false), ("\u{212A}", false), ("\u{212B}", false),
            ("q\u{33F}", true), ("q\u{342}", true), ("q\u{345}", true), ("\u{373}", true), ("\u{375}", true),
            ("\u{37D}", true), ("\u{37F}", true), ("\u{386}", true), ("\u{388}", true), ("\u{2125}", true),
            ("\u{2127}", true), ("\u{2129}", true), ("\u{212C}", true), ("\u{F8FF}", true), ("\u{F900}", false),
            ("\u{FA0D}", false), ("\u{FA0E}", true),
            // Hangul syllables.
            ("\u{1100}", true), ("\u{1100}\u{1161}", false), ("\u{1112}\u{1175}", false), ("\u{1113}\u{1161}", true),
            ("\u{1100}\u{1160}", true), ("\u{1100}\u{1176}", true), ("\u{10FF}\u{1161}", true), ("\u{AC00}", true),
            ("\u{AC01}", true), ("\u{AC00}\u{11A8}", false), ("\u{AC00}\u{11C2}", false), ("\u{AC00}\u{11A7}", true),
            ("\u{AC00}\u{11C3}", true), ("\u{AC01}\u{11A8}", true), ("\u{D788}\u{11A8}", false),
            ("\u{D7A3}\u{11A8}", true), ("\u{AC1C}\u{11A8}", false), ("\u{1100}\u{1161}\u{11A8}", false),
            ("👩‍💻", true), ("🇩🇪", true),
        ]
    )
    func textIsInNormalizationFormC(character: String, isComposed: Bool) throws {
        #expect(try lines(Array("# a\(character)b".utf8)) == (isComposed ? [] : ["3 not-nfc"]))
        #expect(try lines(Array("#\(character)".utf8)) == (isComposed ? [] : ["3 not-nfc"]))
    }

    /// A URI that follows a tag of the other kind of playlist is ignored with it.
    @Test(
        arguments: [
            (
                "#EXT-X-TARGETDURATION:6\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\nw.m3u8\n#EXTINF:6,\na.ts",
                ["3 mixed-kinds", "5 address-without-extinf"]
            ),
            ("#EXT-X-TARGETDURATION:6\n#EXT-X-STREAM-INF:BANDWIDTH=1\n#EXTINF:6,\na.ts", ["3 mixed-kinds"]),
            (
                "#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\na.ts",
                ["4 mixed-kinds"]
            ),
            (
                "#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA:TYPE=VIDEO\na.ts",
                ["3 mixed-kinds", "4 address-without-extinf"]
            ),
            (
                "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"a\"\n#EXTINF:6,\nv.m3u8\na.ts\nb.ts",
                ["3 mixed-kinds", "6 address-without-stream-inf"]
            ),
            (
                "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"a\"\nv.m3u8\n#EXTINF:6,\na.ts\nb.ts",
                ["4 mixed-kinds", "6 address-without-stream-inf"]
            ),
            (
                "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"a\"\nv.m3u8\n#EXT-X-GAP\na.ts",
                ["4 mixed-kinds", "5 address-without-stream-inf"]
            ),
        ] as [(String, [String])]
    )
    func tagsOfTheOtherKindTakeTheirAddress(text: String, found: [String]) throws {
        let end = text.hasPrefix("#EXT-X-T") ? "\n#EXT-X-ENDLIST\n" : "\n"
        #expect(try RuleFindings.lines("#EXTM3U\n\(text)\(end)") == found)
    }

    @Test(
        arguments: [
            ("TIME-OFFSET=0", []), (",TIME-OFFSET=0", ["empty-attribute"]), ("TIME-OFFSET=0,", ["empty-attribute"]),
            ("TIME-OFFSET=0,,PRECISE=NO", ["empty-attribute"]), ("TIME-OFFSET=0, ,PRECISE=NO", ["empty-attribute"]),
            ("TIME-OFFSET=0,,", ["empty-attribute", "empty-attribute"]),
            ("TIME-OFFSET=0,\t,A=1", ["control-character", "empty-attribute"]),
            (",", ["empty-attribute", "empty-attribute", "start-without-time-offset"]),
            ("TIME-OFFSET", ["attribute-without-value"]), ("TIME-OFFSET=0,A", ["attribute-without-value"]),
            ("A,TIME-OFFSET=0", ["attribute-without-value"]),
            ("TIME-OFFSET=0,A ", ["trailing-space", "attribute-without-value"]),
            ("TIME-OFFSET=0, A=1", ["space-in-attribute-list"]), ("TIME-OFFSET =0", ["space-in-attribute-list"]),
            ("TIME-OFFSET= 0", ["space-in-attribute-list"]), ("TIME-OFFSET=0 ,A=1", ["space-in-attribute-list"]),
            ("TIME-OFFSET=0,A=b c", ["space-in-attribute-list"]), ("TIME-OFFSET=0,A=\"b c\"", []),
            ("TIME-OFFSET=0,A= \"b\"", ["space-in-attribute-list"]),
            ("TIME-OFFSET=0,A=\"b\" ,C=1", ["space-in-attribute-list"]),
            ("TIME-OFFSET=0,A=\"b\"c,C=1", ["text-after-quote"]), ("TIME-OFFSET=0,A=\"b\"c", ["text-after-quote"]),
            ("TIME-OFFSET=0,A=\"b", ["unclosed-quote"]), ("TIME-OFFSET=0,A=\"", ["unclosed-quote"]),
            ("TIME-OFFSET=0,A=\"b,C=1\"", []), ("TIME-OFFSET=0,A=", []), ("TIME-OFFSET=0,A==", []),
            ("TIME-OFFSET=0,=1", ["bad-attribute-name"]), ("=", ["bad-attribute-name", "start-without-time-offset"]),
            ("TIME-OFFSET=0,TIME-OFFSET=1", ["repeated-attribute"]),
            ("TIME-OFFSET=9,TIME-OFFSET=1", ["repeated-attribute", "start-beyond-end"]),
            ("TIME-OFFSET=0,A=1,A=1,A=1", ["repeated-attribute", "repeated-attribute"]),
            ("A=1", ["start-without-time-offset"]), ("A=\"b", ["unclosed-quote"]), ("A=\"b\"c", ["text-after-quote"]),
            ("A", ["attribute-without-value"]),
            ("TIME-OFFSET=0,A=\t1", ["control-character", "space-in-attribute-list"]),
            ("TIME-OFFSET=0,A=\"1\"\t", ["control-character"]),
        ] as [(String, [String])]
    )
    func attributeListsAreWellFormed(list: String, codes: [String]) throws {
        #expect(try RuleFindings.lines(RuleFindings.media("#EXT-X-START:\(list)")) == codes.map { "3 \($0)" })
    }

    /// The note for a tag that the standard does not define has its name, and 1,000 are recorded.
    @Test func unknownTagsAreNoted() throws {
        func notes(_ lines: String) throws -> [Diagnostic] {
            try Playlist.parse(Array(RuleFindings.media(lines).utf8)).diagnostics
        }
        let found = try notes("#EXT-X-FOO :1\n#EXT-X-BAR\n#EXTBAZ:")
        #expect(found.map(\.code) == ["space-in-tag", "unknown-tag", "unknown-tag", "unknown-tag"])
        #expect(found.map(\.line) == [3, 3, 4, 5])
        #expect(found[1].message == "The tag EXT-X-FOO is not defined by the standard; clients ignore it.")
        #expect(found[3].message == "The tag EXTBAZ is not defined by the standard; clients ignore it.")
        #expect(found[1].severity == .note && found[1].section == "6.3.1")
        let many = (0..<1_001).map { "#EXT-X-FOO\($0)" }.joined(separator: "\n")
        #expect(try notes(many).count == 1_000)
    }

    /// Of each rule, 1,000 violations are recorded; the number of the others is reported for the sets that are checked.
    @Test func violationsBeyondOneThousandAreCounted() throws {
        func text(_ count: Int) -> String {
            RuleFindings.media(String(repeating: " #EXT-X-A \n", count: count))
        }
        #expect(try RuleFindings.diagnostics(text(1_000)).count == 2_000)
        let found = try RuleFindings.diagnostics(text(1_001))
        #expect(found.count == 2_002)
        let notes = found.suffix(2)
        #expect(notes.map(\.code) == ["leading-space", "trailing-space"])
        #expect(notes.allSatisfy { $0.severity == .note && $0.line == nil && $0.section == "4.1" })
        #expect(notes.map(\.message) == ["1 more lines violate this rule.", "1 more lines violate this rule."])
        #expect(try RuleFindings.codes(text(1_001), [.apple]) == "apple-missing-playlist-type")
    }

    /// At most 1,000 variables are defined.
    @Test func variablesAreLimited() throws {
        func codes(_ number: Int) throws -> String {
            let definitions = (1...1_001).map { "#EXT-X-DEFINE:NAME=\"v\($0)\",VALUE=\"x\"\n" }.joined()
            let text = "#EXT-X-VERSION:8\n\(definitions)#EXT-X-MAP:URI=\"{$v\(number)}\""
            return try RuleFindings.codes(RuleFindings.media(text))
        }
        #expect(try codes(1) == "" && codes(1_000) == "" && codes(1_001) == "undefined-variable")
    }

    @Test(
        arguments: [
            ("NAME=\"a\",VALUE=\"\"", ""), ("NAME=\"a\"", "define-without-value"),
            ("VALUE=\"a\"", "define-without-name"),
            ("NAME=\"a\",VALUE=\"b\",IMPORT=\"c\"", "define-with-two-names"), ("IMPORT=\"c\"", ""),
            ("IMPORT=\"c\",QUERYPARAM=\"q\"", "define-with-two-names"), ("NAME=a,VALUE=\"b\"", "unquoted-string"),
            ("NAME=\"\",VALUE=\"b\"", "empty-string"), ("NAME=\"a b\",VALUE=\"b\"", "bad-variable-name"),
            ("IMPORT=\"a b\"", "bad-variable-name"), ("NAME=\"a\",VALUE=\"b", "unclosed-quote"),
            ("NAME=\"a\",VALUE=\"{$a}\"", "undefined-variable"),
        ]
    )
    func definitionsHaveOneNameAndAValue(list: String, codes: String) throws {
        let version = list.contains("QUERY") ? 11 : 8
        #expect(try RuleFindings.codes(RuleFindings.media("#EXT-X-VERSION:\(version)\n#EXT-X-DEFINE:\(list)")) == codes)
    }

    @Test func variablesAreDefinedOnce() throws {
        let twice = "#EXT-X-VERSION:8\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"1\"\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"2\""
        #expect(try RuleFindings.lines(RuleFindings.media(twice)) == ["5 repeated-variable"])
        let imported = "#EXT-X-VERSION:8\n#EXT-X-DEFINE:IMPORT=\"a\""
        #expect(try RuleFindings.lines(RuleFindings.media(imported), variables: ["a": "1"]) == [])
        #expect(try RuleFindings.lines(RuleFindings.media(imported), variables: ["b": "1"]) == ["4 import-undeclared"])
        #expect(try RuleFindings.lines(RuleFindings.media(imported)) == [])
        #expect(try RuleFindings.codes(RuleFindings.multivariant(imported)) == "import-in-multivariant")
        let parameter = RuleFindings.media("#EXT-X-VERSION:11\n#EXT-X-DEFINE:QUERYPARAM=\"q\"\n#EXT-X-BITRATE:1")
        for (query, codes) in [
            ("?q=1", []), ("?q=", ["4 query-parameter-missing"]), ("", ["4 query-parameter-missing"]),
            ("?q=%22", ["4 query-parameter-bad-value"]), ("?q=%0A", ["4 query-parameter-bad-value"]),
            ("?q=%0D", ["4 query-parameter-bad-value"]), ("?q=%20", []),
        ] {
            #expect(try RuleFindings.lines(parameter, address: "https://a/b\(query)") == codes, "\(query)")
        }
        #expect(try RuleFindings.lines(parameter, address: "file:///a/b") == ["4 query-parameter-missing"])
        #expect(try RuleFindings.lines(parameter, address: "file:///a/b?q=1") == [])
        #expect(try RuleFindings.lines(parameter) == [])
    }

    /// The value of a variable is validated in the place of the reference.
    @Test(
        arguments: [
            ("https", "absolute-rendition-report"), ("a", "absolute-rendition-report"), ("1", ""), ("", ""),
        ]
    )
    func valuesOfVariablesAreValidated(value: String, codes: String) throws {
        let text =
            "#EXT-X-VERSION:8\n#EXT-X-DEFINE:NAME=\"s\",VALUE=\"\(value)\"\n#EXT-X-RENDITION-REPORT:URI=\"{$s}://b\""
        #expect(try RuleFindings.codes(RuleFindings.media(text)) == codes)
    }

    /// A text may grow by a limited number of bytes when variables are replaced.
    @Test func replacedVariablesAreLimited() throws {
        func codes(_ count: Int, _ value: Int) throws -> String {
            let text =
                "#EXT-X-VERSION:8\n#EXT-X-DEFINE:NAME=\"s\",VALUE=\"\(String(repeating: "y", count: value))\"\n"
                + "#EXT-X-RENDITION-REPORT:URI=\"a:\(String(repeating: "{$s}", count: count))\""
            return try RuleFindings.codes(RuleFindings.media(text))
        }
        // Each reference has four bytes, so each replacement adds 4,096.
        #expect(try codes(2, 4_100) == "absolute-rendition-report")
        #expect(try codes(1, 8_197) == "")
        #expect(try codes(1, 8_196) == "absolute-rendition-report")
    }
}
