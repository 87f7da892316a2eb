import Testing

@testable import HLSPlaylist

/// The rules for the syntax of values, with values that just obey them and values that just break them.
@Suite struct ValueRuleTests {
    /// Returns a Boolean value that indicates whether a playlist violates one rule; it must not violate any other.
    private func violates(_ rule: String, _ text: String, _ address: String? = nil) throws -> Bool {
        let codes = try RuleFindings.diagnostics(text, address: address).map(\.code)
        #expect(Set(codes).isSubset(of: [rule]))
        return !codes.isEmpty
    }

    @Test(
        arguments: [
            ("en", true), ("EN", true), ("ab", true), ("zz", true), ("AZ", true), ("zaZ", true), ("e", false),
            ("e1", false), ("abcd", true), ("abcdefgh", true), ("abcdefghi", false), ("en-", false), ("-en", false),
            ("en--us", false), ("e@", false), ("e[", false), ("e`", false), ("e{", false), ("en_us", false),
            // Extended language subtags follow a language of two or three letters.
            ("zh-yue", true), ("zh-yue-cmn-nan", true), ("zh-yue-cmn-nan-abc", false), ("abc-def", true),
            ("abcd-efg", false), ("zh-y1e", false), ("zh-min", true), ("zh-min-nan", true), ("zh-guoyu", true),
            // Script and region.
            ("zh-Hant", true), ("zh-Hant-TW", true), ("zh-TW-Hant", false), ("zh-Han1", false), ("zh-1ant", true),
            ("zh-Hant-Hans", false), ("es-419", true), ("es-41", false), ("es-4199", true), ("es-41a", false),
            ("es-a1", false), ("es-US-MX", false), ("es-US-419", false), ("zh-yue-Hant-HK", true),
            ("zh-Hant-yue", false), ("es-4a9", false),
            // Variants.
            ("de-1996", true), ("de-19961", true), ("de-199", true), ("de-a996", false), ("de-CH-1901", true),
            ("sl-rozaj", true), ("sl-rozaj-biske-1994", true), ("sl-IT-nedis", true), ("de-abcdefgh", true),
            ("de-abcdefghi", false), ("de-rozaj-CH", false), ("de-/996", false), ("de-:996", false),
            // Extensions and private use.
            ("en-a-bb", true), ("en-a-b", false), ("en-a", false), ("en-1-bb", true), ("en-a-bbb-ccc", true),
            ("en-a-bb-b-cc", true), ("en-a-bb-a-cc", false), ("en-a-bb-A-cc", false), ("en-a-b-cc", false),
            ("en-a-bb-x-a-a", true), ("en-x-a", true), ("en-X-a", true), ("en-x", false), ("en-x-abcdefghi", false),
            ("x-a", true), ("X-a", true), ("x-whatever", true), ("x", false), ("y-a", false), ("x-a-abcdefghi", false),
            // Registered tags that are not composed of these subtags.
            ("i-klingon", true), ("I-Klingon", true), ("i-default", true), ("i", false), ("i-x", false),
            ("i-unknown", false), ("en-GB-oed", true), ("en-GB-oee", false), ("sgn-BE-FR", true), ("sgn-be-nl", true),
            ("sgn-CH-DE", true), ("sgn-CH-FR", false), ("art-lojban", true), ("no-bok", true),
        ]
    )
    func languageTagsAreWellFormed(tag: String, isValid: Bool) throws {
        #expect(try violates("bad-language", RuleFindings.audio("LANGUAGE=\"\(tag)\"")) != isValid)
        #expect(try violates("bad-language", RuleFindings.audio("ASSOC-LANGUAGE=\"\(tag)\"")) != isValid)
        let data = "#EXT-X-SESSION-DATA:DATA-ID=\"a.b\",VALUE=\"v\",LANGUAGE=\"\(tag)\""
        #expect(try violates("bad-language", RuleFindings.multivariant(data)) != isValid)
    }

    @Test(
        arguments: [
            ("0", ""), ("9", ""), ("00000000000000000000", ""), ("18446744073709551615", "integer-above-limit"),
            ("18446744073709551616", "integer-too-large"), ("000000000000000000000", "integer-too-large"),
            ("", "not-an-integer"), ("-1", "not-an-integer"), ("+1", "not-an-integer"), ("1.0", "not-an-integer"),
            ("1x", "not-an-integer"), ("/", "not-an-integer"), (":", "not-an-integer"), ("\"1\"", "quoted-value"),
        ]
    )
    func integersHaveAtMost64Bits(value: String, codes: String) throws {
        // The limit is that of tags.
        let ofAttribute = codes == "integer-above-limit" ? "" : codes
        #expect(try RuleFindings.codes(RuleFindings.audio("BIT-DEPTH=\(value)")) == ofAttribute)
        guard value != "", value != "\"1\"" else { return }
        let expected = codes.isEmpty ? [] : ["3 \(codes)"]
        #expect(try RuleFindings.lines(RuleFindings.media("#EXT-X-BITRATE:\(value)")) == expected)
        #expect(try RuleFindings.lines(RuleFindings.media("#EXT-X-DISCONTINUITY-SEQUENCE:\(value)")) == expected)
    }

    /// The standard allows 64 bits, but players read a larger number as if the tag were missing.
    @Test(
        arguments: [
            ("EXT-X-MEDIA-SEQUENCE", "1152921504606846976", true),
            ("EXT-X-MEDIA-SEQUENCE", "1152921504606846977", false),
            ("EXT-X-DISCONTINUITY-SEQUENCE", "1152921504606846976", true),
            ("EXT-X-DISCONTINUITY-SEQUENCE", "9223372036854775807", false),
            ("EXT-X-MEDIA-SEQUENCE", "9223372036854775808", false), ("EXT-X-BITRATE", "9223372036854775807", true),
            ("EXT-X-BITRATE", "9223372036854775808", false),
        ]
    )
    func integersThatPlayersIgnoreAreReported(tag: String, value: String, isRead: Bool) throws {
        let found = try RuleFindings.lines(RuleFindings.media("#\(tag):\(value)"))
        #expect(found == (isRead ? [] : ["3 integer-above-limit"]))
    }

    @Test(
        arguments: [
            ("9223372036854775807@0", true), ("9223372036854775808@0", false), ("1@9223372036854775806", true),
            ("1@9223372036854775807", false), ("0@18446744073709551615", false), ("18446744073709551615@0", false),
            ("5000000000000000000@5000000000000000000", false), ("00000000000000000001@0", true),
        ]
    )
    func byteRangesThatPlayersIgnoreAreReported(range: String, isRead: Bool) throws {
        let codes = isRead ? "" : "integer-above-limit"
        #expect(try RuleFindings.codes(RuleFindings.media("#EXT-X-VERSION:4\n#EXT-X-BYTERANGE:\(range)")) == codes)
        let map = RuleFindings.media("#EXT-X-VERSION:6\n#EXT-X-MAP:URI=\"m\",BYTERANGE=\"\(range)\"")
        #expect(try RuleFindings.codes(map) == codes)
    }

    @Test(
        arguments: [
            ("a.ts", nil), ("//", nil), ("///a", nil), ("a:b", nil), ("skd://[", nil), ("httpx://[", nil),
            ("http", nil),
            ("http://a", nil), ("HTTPS://a.b-c_d/x", nil), ("http://u:p@a:80/x", nil), ("http://a:/x", nil),
            ("http://[::1]/x", nil), ("http://[2001:db8::1]:8080?x", nil), ("http://b\u{FC}cher.example/x", nil),
            ("http://a%20b/x", nil), ("//cdn.example.com/x", nil), ("http://a/b:c@d[", nil), ("https://a:65535/", nil),
            ("http:", .missingHost), ("http:a", .missingHost), ("http:///x", .missingHost),
            ("https://?x", .missingHost),
            ("http://u@/x", .missingHost), ("http://:80/x", .missingHost), ("//:80/x", .missingHost),
            ("http://[::1/x.ts", .invalidHost), ("//[::1/x.ts", .invalidHost), ("http://[::1]x/", .invalidHost),
            ("http://[]/", .invalidHost), ("http://[1]/", .invalidHost), ("http://a b/x", .invalidHost),
            ("http://a]/", .invalidHost), ("http://a<b/", .invalidHost), ("http://a\\b/", .invalidHost),
            ("http://a:x/", .invalidPort), ("http://a:65536/", .invalidPort), ("http://a:-1/", .invalidPort),
            ("http://::1/", .missingHost), ("http://a::1/", .invalidPort), ("http://[::1]:x/", .invalidPort),
        ] as [(String, AuthorityFault?)]
    )
    func hostsAndPortsOfAddressesAreExamined(address: String, fault: AuthorityFault?) {
        #expect(Grammar.authorityFault(address) == fault)
    }

    @Test func invalidHostsAreReportedInLinesAndAttributes() throws {
        let line = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\nhttp:///a.ts\n#EXT-X-ENDLIST\n"
        #expect(try RuleFindings.lines(line) == ["4 invalid-uri"])
        // The white space is reported, but not twice.
        let spaced = line.replacing("http:///a.ts", with: "http://a b/a.ts")
        #expect(try RuleFindings.lines(spaced) == ["4 space-in-address"])
        let map = RuleFindings.media("#EXT-X-VERSION:6\n#EXT-X-MAP:URI=\"http://a b/x\"")
        #expect(
            try RuleFindings.diagnostics(map).map(\.message).first?.hasSuffix("(URI: the host is invalid).") == true
        )
        let variable = "#EXT-X-VERSION:8\n#EXT-X-DEFINE:NAME=\"h\",VALUE=\"[::1\"\n#EXTINF:6,\nhttp://{$h}/b.ts"
        #expect(try RuleFindings.lines(RuleFindings.media(variable)) == ["6 invalid-uri"])
        let key = RuleFindings.media("#EXT-X-KEY:METHOD=AES-128,URI=\"https://k:port/\"")
        #expect(try RuleFindings.lines(key) == ["3 invalid-uri"])
    }

    @Test(
        arguments: [
            ("0x00", ""), ("0X09AF", ""), ("0x", "not-hexadecimal"), ("0", "not-hexadecimal"), ("", "not-hexadecimal"),
            ("00A", "not-hexadecimal"), ("1xA", "not-hexadecimal"), ("0yA", "not-hexadecimal"),
            ("0x/", "not-hexadecimal"), ("0x:", "not-hexadecimal"), ("0x@", "not-hexadecimal"),
            ("0xG", "not-hexadecimal"), ("0xg", "not-hexadecimal"), ("0x`", "not-hexadecimal"),
            ("0xa", "lowercase-hexadecimal"), ("0xf", "lowercase-hexadecimal"), ("0xBAf", "lowercase-hexadecimal"),
            ("0xF1E", ""), ("A", "not-hexadecimal"), ("\"0xA\"", "quoted-value"),
            ("0x0123456789ABCDEF0123456789ABCDEF", ""), ("0x0123456789ABCDEF0123456789ABCDEF0", "iv-too-long"),
        ]
    )
    func hexadecimalSequencesAreDigitsAfterAPrefix(value: String, codes: String) throws {
        let text = RuleFindings.media("#EXT-X-VERSION:2\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=\(value)")
        #expect(try RuleFindings.codes(text) == codes)
    }

    @Test(
        arguments: [
            ("0", ""), ("6.", ""), (".5", ""), ("1.5", ""), ("0123456789", "start-beyond-end"), ("-1.5", ""),
            ("-.5", ""), ("-", "not-a-signed-decimal"), (".", "not-a-signed-decimal"), ("", "not-a-signed-decimal"),
            ("-.", "not-a-signed-decimal"), ("--1", "not-a-signed-decimal"), ("+1", "not-a-signed-decimal"),
            ("1.2.3", "not-a-signed-decimal"), ("1e1", "not-a-signed-decimal"), ("1/", "not-a-signed-decimal"),
            ("1:", "not-a-signed-decimal"), ("\"1\"", "quoted-value"),
        ]
    )
    func signedDecimalNumbersHaveOnePoint(value: String, codes: String) throws {
        #expect(try RuleFindings.codes(RuleFindings.media("#EXT-X-START:TIME-OFFSET=\(value)")) == codes)
    }

    @Test(
        arguments: [
            ("0", ""), (".5", ""), ("1.", ""), ("-1", "negative-duration"), ("-0", "negative-duration"),
            ("-", "not-a-decimal"), ("x", "not-a-decimal"), ("-x", "not-a-decimal"), ("1.2.3", "not-a-decimal"),
            ("--1", "not-a-decimal"), ("\"1\"", "quoted-value"),
        ]
    )
    func durationsOfDateRangesAreNotNegative(value: String, codes: String) throws {
        #expect(try RuleFindings.codes(RuleFindings.dateRange("PLANNED-DURATION=\(value)")) == codes)
    }

    /// The standard has its own rule for negative durations of date ranges only.
    @Test func otherNegativeNumbersAreNotDecimal() throws {
        let text = RuleFindings.variant("CODECS=\"avc1.640028\",SCORE=-1")
        #expect(try RuleFindings.codes(text) == "not-a-decimal")
    }

    @Test(
        arguments: [
            ("1x1", ""), ("0x0", ""), ("18446744073709551615x00000000000000000001", ""),
            ("18446744073709551616x1", "bad-resolution"), ("1x000000000000000000001", "bad-resolution"),
            ("1x", "bad-resolution"), ("x1", "bad-resolution"), ("1", "bad-resolution"), ("1x1x1", "bad-resolution"),
            ("1X1", "bad-resolution"), ("1x-1", "bad-resolution"), ("\"1x1\"", "quoted-value"),
        ]
    )
    func resolutionsAreTwoIntegers(value: String, codes: String) throws {
        let text = RuleFindings.variant("CODECS=\"avc1.640028\",RESOLUTION=\(value)")
        #expect(try RuleFindings.codes(text) == codes)
    }

    @Test(
        arguments: [
            ("A", true), ("Z", true), ("A-9", true), ("0", true), ("-", true), ("a", false), ("@", false), ("[", false),
            ("A_", false), ("/", false), (":", false), (".", false), ("", false),
        ]
    )
    func attributeNamesAreCapitalLettersDigitsAndHyphens(name: String, isValid: Bool) throws {
        #expect(
            try violates("bad-attribute-name", RuleFindings.media("#EXT-X-START:TIME-OFFSET=0,\(name)=1")) != isValid
        )
    }

    @Test(
        arguments: [
            ("a", true), ("z", true), ("A", true), ("Z", true), ("0", true), ("9", true), ("-", true), ("_", true),
            ("a-Z_9", true), ("@", false), ("[", false), ("`", false), ("{", false), ("/", false), (":", false),
            (".", false), ("a b", false), ("é", false),
        ]
    )
    func variableNamesAreLettersDigitsHyphensAndUnderscores(name: String, isValid: Bool) throws {
        let text = "#EXT-X-VERSION:8\n#EXT-X-DEFINE:NAME=\"\(name)\",VALUE=\"v\""
        #expect(try violates("bad-variable-name", RuleFindings.media(text)) != isValid)
        guard isValid || name == "é" || name == "a b" || name == "." else { return }
        let reference = RuleFindings.media("#EXT-X-MAP:URI=\"{$\(name)}\"")
        #expect(try violates("undefined-variable", "#EXTM3U\n#EXT-X-VERSION:6\n" + reference.dropFirst(8)) == isValid)
    }

    @Test(
        arguments: [
            ("5", true), ("5@0", true), ("0@9223372036854775807", true), ("00000000000000000001", true), ("5@", false),
            ("@5", false), ("5@5@5", false), ("18446744073709551616", false), ("000000000000000000001", false),
            ("5x", false), ("-5", false), ("5 @5", false),
        ]
    )
    func byteRangesAreALengthAndAnOffset(range: String, isValid: Bool) throws {
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PART-INF:PART-TARGET=1\n"
            + "#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=3\n#EXT-X-PROGRAM-DATE-TIME:2030-01-01T00:00:00.000Z\n"
            + "#EXT-X-PART:DURATION=1,URI=\"p\",BYTERANGE=\"1@0\"\n"
            + "#EXT-X-PART:DURATION=1,URI=\"p\",BYTERANGE=\"\(range)\"\n"
            + "#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n"
        #expect(try RuleFindings.lines(text) == (isValid ? [] : ["7 bad-byte-range"]))
        let map = RuleFindings.media("#EXT-X-VERSION:6\n#EXT-X-MAP:URI=\"m\",BYTERANGE=\"\(range)\"")
        let rule = isValid ? "map-byte-range-without-offset" : "bad-byte-range"
        #expect(try RuleFindings.codes(map) == (isValid && range.contains("@") ? "" : rule))
    }

    @Test(
        arguments: [
            ("http://a/b", true), ("a:b", true), ("z:b", true), ("A:", true), ("Z:b", true), ("a0+.-9:b", true),
            ("a", false), ("", false), (":a", false), ("1a:b", false), ("+a:b", false), ("a_b:c", false),
            ("a/b:c", false), ("@a:b", false), ("[a:b", false), ("`a:b", false), ("a{b:c", false), ("a@b:c", false),
        ]
    )
    func addressesWithASchemeAreAbsolute(address: String, isAbsolute: Bool) throws {
        #expect(Grammar.isAbsolute(address) == isAbsolute)
    }

    @Test(
        arguments: [
            ("2023-01-31", true), ("2023-01-01", true), ("2023-02-28", true), ("2023-02-29", false),
            ("2024-02-29", true), ("2024-02-30", false), ("1900-02-29", false), ("2000-02-29", true),
            ("2023-03-31", true), ("2023-04-30", true), ("2023-04-31", false), ("2023-05-31", true),
            ("2023-06-30", true), ("2023-06-31", false), ("2023-07-31", true), ("2023-08-31", true),
            ("2023-09-30", true), ("2023-09-31", false), ("2023-10-31", true), ("2023-11-30", true),
            ("2023-11-31", false), ("2023-12-31", true), ("2023-12-32", false), ("2023-13-01", false),
        ]
    )
    func daysExistInTheCalendar(day: String, isValid: Bool) throws {
        let text = RuleFindings.media("#EXT-X-PROGRAM-DATE-TIME:\(day)T00:00:00.000Z")
        #expect(try violates("bad-date", text) != isValid)
    }

    @Test(
        arguments: [
            ("T00:00:00.000Z", ""), ("T00:00:00.000+01:00", ""), ("T00:00:00.0000Z", ""), ("T23:59:60.999Z", ""),
            ("T00:00:00.90Z", "milliseconds"), ("T00:00:00Z", "milliseconds"), ("T00:00:00.000", "zone"),
            ("T00:00:00", "zone milliseconds"), ("T00:00:00.00+01:00", "milliseconds"), ("T00:00:00.099-01:00", ""),
            ("", "bad"),
        ]
    )
    func datesHaveAZoneAndMilliseconds(time: String, missing: String) throws {
        func expected(_ bad: String, _ prefix: String) -> String {
            missing == "bad"
                ? bad : missing.split(separator: " ").map { "\(prefix)-without-\($0)" }.joined(separator: " ")
        }
        let date = RuleFindings.media("#EXT-X-PROGRAM-DATE-TIME:2030-01-01\(time)")
        #expect(try RuleFindings.codes(date) == expected("bad-date", "date"))
        let range = RuleFindings.dateRange("END-DATE=\"2030-01-02\(time)\"")
        #expect(try RuleFindings.codes(range) == expected("bad-date-range-date", "date-range"))
    }

    @Test(
        arguments: [
            ("STABLE-RENDITION-ID", "bad-stable-rendition-id", "azAZ09+/=.-_", " @[`{:,!"),
            ("INSTREAM-ID", "bad-instream-id", "azAZ09.", " +/=-_@[`{:,"),
        ]
    )
    func identifiersOfRenditionsHaveTheirCharacters(
        name: String,
        rule: String,
        valid: String,
        invalid: String
    ) throws {
        for character in valid {
            #expect(try !violates(rule, RuleFindings.audio("\(name)=\"\(character)\"", version: 13).validVersion(name)))
        }
        for character in invalid {
            let text = RuleFindings.audio("\(name)=\"a\(character)\"", version: 13).validVersion(name)
            #expect(try violates(rule, text), "\(character)")
        }
    }

    @Test(
        arguments: [
            ("STABLE-VARIANT-ID=", "bad-stable-variant-id", "azAZ09+/=.-_", " @[`{:,!"),
            ("PATHWAY-ID=", "bad-pathway-id", "azAZ09.-_", " +/=@[`{:,!"),
            ("SCORE=1,CODECS=", "bad-codecs", "azAZ09!#$%&'*+.^_`|~{}-", " @[(:/\\"),
            ("SUPPLEMENTAL-CODECS=", "bad-supplemental-codecs", "azAZ09!#$%&+.^_-", " @['*`|~{}(:\\"),
        ]
    )
    func identifiersOfVariantsHaveTheirCharacters(
        name: String,
        rule: String,
        valid: String,
        invalid: String
    ) throws {
        let codecs = name.contains("=1") ? "" : "CODECS=\"avc1.640028\","
        for character in valid {
            #expect(try !violates(rule, RuleFindings.variant("\(codecs)\(name)\"\(character)\"")), "\(character)")
        }
        for character in invalid {
            #expect(try violates(rule, RuleFindings.variant("\(codecs)\(name)\"a\(character)\"")), "\(character)")
        }
    }

    @Test(
        arguments: [
            ("a", true), ("a,b", true), ("a,b,", false), (",a", false), ("a,,b", false), ("a, b", false),
        ]
    )
    func codecsAreSeparatedBySingleCommas(codecs: String, isValid: Bool) throws {
        #expect(try violates("bad-codecs", RuleFindings.variant("CODECS=\"\(codecs)\"")) != isValid)
    }

    @Test(
        arguments: [
            ("a", true), ("a/b", true), ("a/b/c", true), ("a/bcde", true), ("a/bcdef", false), ("a/", false),
            ("/b", false), ("a/b/", false), ("a,b", true), ("a/b,c/d", true), ("a,", false), (",a", false),
            ("a/b c", true), ("a b/c", false), ("a/ !#", true), ("a/$%&+", true), ("a/.^_-", true), ("a/b~", false),
            ("a/b*", false), ("a/bcd/efghi", false),
        ]
    )
    func supplementalCodecsHaveBrandsOfFourCharacters(codecs: String, isValid: Bool) throws {
        let text = RuleFindings.variant("CODECS=\"avc1.640028\",SUPPLEMENTAL-CODECS=\"\(codecs)\"")
        #expect(try violates("bad-supplemental-codecs", text) != isValid)
    }

    @Test(
        arguments: [
            ("a:B", true), ("a:B/C", true), ("a:B,c:D", true), ("a.b:C-1", true), ("x:y:B", true), ("::B", true),
            ("a", false), (":B", false), ("a:", false), ("a:b", false), ("a:B/", false), ("a:/B", false),
            ("a:B,", false), (",a:B", false), ("a:B,c", false), ("a:B/c", false),
        ]
    )
    func contentProtectionHasAKeyFormatAndLabels(value: String, isValid: Bool) throws {
        let text = RuleFindings.variant("CODECS=\"avc1.640028\",ALLOWED-CPC=\"\(value)\"")
        #expect(try violates("bad-allowed-cpc", text) != isValid)
    }

    @Test(
        arguments: [
            ("2", ""), ("0", ""), ("12345678901234567890", ""), ("123456789012345678901", "bad-channels"),
            ("x", "bad-channels"), ("/A", "bad-channels"), ("2,A", "bad-channels"), ("-1", "bad-channels"),
            ("16/JOC", ""), ("16/joc", "bad-channels"), ("16/", ""), ("16/A,B", ""), ("16/,B", ""),
            ("16/A,", "bad-channels"), ("16/A,,B", "bad-channels"), ("16/A/BINAURAL", ""), ("16/-/BINAURAL", ""),
            ("16/A/IMMERSIVE,DOWNMIX", ""), ("16/A/DOF-3,DOF-6", ""), ("16/A/DOF-4", "unknown-channel-usage"),
            ("16/A/BED-4", ""), ("16/A/BED-12", ""), ("16/A/BED-", "unknown-channel-usage"),
            ("16/A/BED-X", "unknown-channel-usage"), ("16/A/BAD-4", "unknown-channel-usage"),
            ("16/A/BED-4X", "unknown-channel-usage"), ("16/A/BINAURAL,X", "unknown-channel-usage"),
            ("16//BINAURAL", "channel-usage-without-coding"), ("16//", ""), ("16/A/", ""), ("16/A//B", ""),
            ("16/A/BINAURAL/anything", "bad-channels"), ("16/A/BINAURAL/ANYTHING", ""),
        ]
    )
    func channelsAreACountAndLists(value: String, codes: String) throws {
        let text = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"n\",CHANNELS=\"\(value)\""
        #expect(try RuleFindings.codes(RuleFindings.multivariant(text)) == codes)
    }

    @Test(
        arguments: [
            ("CC1", ""), ("CC4", ""), ("CC0", "bad"), ("CC5", "bad"), ("CC", "bad"), ("cc1", "bad"), ("1", "bad"),
            ("SERVICE1", ""), ("SERVICE63", ""), ("SERVICE0", "bad"), ("SERVICE64", "bad"), ("SERVICE01", "bad"),
        ]
    )
    func captionsHaveAnIdentifierOfTheirService(id: String, code: String) throws {
        let text = "#EXT-X-VERSION:7\n#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"g\",NAME=\"n\",INSTREAM-ID=\"\(id)\""
        #expect(
            try RuleFindings.codes(RuleFindings.multivariant(text)) == (code.isEmpty ? "" : "bad-captions-instream-id")
        )
    }

    @Test(
        arguments: [
            ("#EXT-X-MEDIA:TYPE=audio,GROUP-ID=\"g\",NAME=\"n\"", "unknown-media-type"),
            ("#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID=\"g\",NAME=\"n\",DEFAULT=yes", "not-yes-or-no"),
            ("#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID=\"g\",NAME=\"n\",DEFAULT=NO,AUTOSELECT=X", "not-yes-or-no"),
            ("#EXT-X-SESSION-DATA:DATA-ID=\"a.b\",VALUE=\"v\",FORMAT=XML", ""),
            ("#EXT-X-SESSION-DATA:DATA-ID=\"a.b\",URI=\"u\",FORMAT=XML", "unknown-session-data-format"),
            ("#EXT-X-SESSION-DATA:DATA-ID=\"a.b\",URI=\"u\",FORMAT=RAW", ""),
            ("#EXT-X-SESSION-DATA:DATA-ID=\"a.b\",URI=\"u\",FORMAT=JSON", ""),
            ("#EXT-X-SESSION-KEY:METHOD=AES,URI=\"u\"", "unknown-key-method"),
            ("#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"u\",X-Y={$z}", "undefined-variable"),
            ("#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"u\",X-Y=0x{$z}", "undefined-variable"),
            ("#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"u\",X-Y=z", ""),
            ("#EXT-X-START:TIME-OFFSET=0,PRECISE=NO", ""), ("#EXT-X-START:TIME-OFFSET=0,PRECISE=", "not-yes-or-no"),
        ]
    )
    func enumeratedValuesAreKnownWords(line: String, codes: String) throws {
        #expect(try RuleFindings.codes(RuleFindings.multivariant(line)) == codes)
    }

    @Test(
        arguments: [
            ("CUE=\"PRE\"", ""), ("CUE=\"POST,ONCE\"", ""), ("CUE=PRE", "unquoted-string"),
            ("CUE=\"\"", "empty-string"),
            ("CUE=\"PRE,PRE\"", "repeated-enumerated-value"), ("CUE=\"PRE,\"", "bad-enumerated-list"),
            ("CUE=\",PRE\"", "bad-enumerated-list"), ("CUE=\"PRE, ONCE\"", "bad-enumerated-list"),
            ("CUE=\"pre\"", "unknown-cue"), ("CUE=\"PRE,POST\"", "cue-pre-and-post"),
            ("CUE=\"ONCE,POST,PRE\"", "cue-pre-and-post"), ("CUE=\"ONCE,PRE\"", ""),
            ("X-A=1", ""), ("X-A=-1.5", ""), ("X-A=0xAb", ""), ("X-A=\"\"", ""), ("X-A=0x", "bad-extension-attribute"),
            ("X-A=b", "bad-extension-attribute"), ("X-A=", "bad-extension-attribute"), ("Y-A=b", ""),
            ("CLASS=\"c\",END-ON-NEXT=YES", ""), ("CLASS=\"c\",END-ON-NEXT=NO", "end-on-next-not-yes"),
            ("SCTE35-CMD=0xFC0102030405060708090A", ""),
            ("SCTE35-OUT=0xFD0102030405060708090A", "scte35-not-a-section"),
            ("SCTE35-IN=0xFC010203040506070809", "scte35-not-a-section"),
            ("SCTE35-CMD=0xFC0102030405060708090A0", "scte35-not-a-section"),
            ("SCTE35-CMD=0xFC0102030405060708090A0B", ""), ("SCTE35-CMD=1", "not-hexadecimal"),
            ("SCTE35-CMD=\"0xFC\"", "quoted-value"), ("SCTE36-CMD=0xFD", ""),
        ]
    )
    func attributesOfDateRangesHaveTheirSyntax(attributes: String, codes: String) throws {
        #expect(try RuleFindings.codes(RuleFindings.dateRange(attributes)) == codes)
    }

    @Test(
        arguments: [
            ("NONE", ""), ("\"cc\"", ""), ("\"\"", "empty-string"), ("none", "unquoted-string"),
            ("cc", "unquoted-string"),
            ("\"NONE\"", "unknown-captions-group"), ("\"{$x}\"", "undefined-variable"),
        ]
    )
    func closedCaptionsAreAGroupOrNone(value: String, codes: String) throws {
        let text =
            "#EXTM3U\n#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"cc\",NAME=\"n\",INSTREAM-ID=\"CC1\"\n"
            + "#EXT-X-STREAM-INF:BANDWIDTH=9,CODECS=\"avc1.640028\",CLOSED-CAPTIONS=\(value)\nv.m3u8\n"
        #expect(try RuleFindings.codes(text) == codes)
    }

    /// A message repeats at most 60 characters of a value.
    @Test func messagesShortenValues() throws {
        let full = String(repeating: "x", count: 60)
        let texts = try [full, full + "y"].map { value in
            try RuleFindings.diagnostics(RuleFindings.variant("CODECS=\"a\",SCORE=\(value)")).map(\.message)
        }
        let statement = "A decimal number must consist of digits and at most one decimal point, without a sign"
        #expect(texts == [["\(statement) (SCORE=\(full))."], ["\(statement) (SCORE=\(full)…)."]])
    }

    /// A message has at most 512 bytes of detail; a longer one is shortened to 128 characters.
    @Test func messagesShortenDetails() throws {
        let names = [510, 511].map { String(repeating: "é", count: 2) + String(repeating: "a", count: $0 - 4) }
        let found = try names.map { name in
            try RuleFindings.diagnostics(RuleFindings.audio("LANGUAGE=\"\(name)\""))
        }
        let statement = Rule.badLanguage.definition.statement.dropLast()
        #expect(found[0].map(\.message) == ["\(statement) (\(names[0]))."])
        #expect(found[1].map(\.message) == ["\(statement) (\(names[1].prefix(127))…)."])
    }
}

extension String {
    /// Returns the playlist without its version if the attribute does not require one.
    fileprivate func validVersion(_ name: String) -> String {
        name == "INSTREAM-ID" ? self : replacing("#EXT-X-VERSION:13\n", with: "")
    }
}
