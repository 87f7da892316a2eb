import Testing

@testable import HLSPlaylist

/// The rules for multivariant playlists, with playlists that just obey them and playlists that just break them.
@Suite struct MultivariantRuleTests {
    @Test(
        arguments: [
            ("#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"a\"\nv.m3u8", []), ("v.m3u8", ["3 address-without-stream-inf"]),
            ("#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"a\"", ["3 stream-inf-without-address"]),
            (
                "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"a\"\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"a\"\nv.m3u8\nw.m3u8",
                ["3 stream-inf-without-address", "6 address-without-stream-inf"]
            ),
            (
                "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"a\"\n#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI=\"i\"\nv.m3u8",
                []
            ),
            ("#EXT-X-STREAM-INF:CODECS=\"a\"\nv.m3u8", ["3 missing-attribute"]),
            ("#EXT-X-I-FRAME-STREAM-INF:URI=\"i\"", ["3 missing-attribute"]),
            ("#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1", ["3 i-frame-stream-without-uri"]),
            ("#EXT-X-STREAM-INF:BANDWIDTH=1,X\nv.m3u8", ["3 attribute-without-value"]),
            ("#EXT-X-MEDIA:TYPE=SUBTITLES,X", ["3 attribute-without-value"]),
            ("#EXT-X-CONTENT-STEERING:PATHWAY-ID=\".\"", ["3 steering-without-server"]),
            (
                "#EXT-X-CONTENT-STEERING:SERVER-URI=\"s\"\n#EXT-X-CONTENT-STEERING:SERVER-URI=\"s\"",
                ["4 repeated-content-steering"]
            ),
        ] as [(String, [String])]
    )
    func tagsOfWholePlaylists(lines: String, found: [String]) throws {
        #expect(
            try RuleFindings.lines(
                "#EXTM3U\n#EXT-X-INDEPENDENT-SEGMENTS\n\(lines)\n#EXT-X-SESSION-DATA:DATA-ID=\"a.b\",VALUE=\"c\"\n"
            ) == found
        )
    }

    // MARK: Variants

    @Test(
        arguments: [
            ("BANDWIDTH=1", "missing-codecs"), ("BANDWIDTH=1,CODECS=\"a\"", ""),
            ("BANDWIDTH=0,CODECS=\"a\"", "bandwidth-zero"),
            ("BANDWIDTH=1,SUPPLEMENTAL-CODECS=\"a\"", "supplemental-without-codecs"),
            ("BANDWIDTH=5,AVERAGE-BANDWIDTH=5,CODECS=\"a\"", ""),
            ("BANDWIDTH=5,AVERAGE-BANDWIDTH=6,CODECS=\"a\"", "average-above-peak"),
            ("BANDWIDTH=0,AVERAGE-BANDWIDTH=6,CODECS=\"a\"", "bandwidth-zero"),
            ("BANDWIDTH=x,CODECS=\"a\"", "not-an-integer"),
            ("BANDWIDTH=1,CODECS=\"a\",SCORE=0", "score-not-positive"),
            ("BANDWIDTH=1,CODECS=\"a\",SCORE=0.0", "score-not-positive"),
            ("BANDWIDTH=1,CODECS=\"a\",SCORE=0.01", ""), ("BANDWIDTH=1,CODECS=\"a\",SCORE=.0", "score-not-positive"),
            ("BANDWIDTH=1,CODECS=\"a\",FRAME-RATE=29.970", ""),
            ("BANDWIDTH=1,CODECS=\"a\",FRAME-RATE=29.9700", "frame-rate-too-precise"),
            ("BANDWIDTH=1,CODECS=\"a\",FRAME-RATE=123456", ""), ("BANDWIDTH=1,CODECS=\"a\",FRAME-RATE=.123", ""),
            ("BANDWIDTH=1,CODECS=\"a\",VIDEO=\"g\"", "unknown-video-group"),
            ("BANDWIDTH=1,CODECS=\"a\",AUDIO=\"g\"", "unknown-audio-group"),
            ("BANDWIDTH=1,CODECS=\"a\",SUBTITLES=\"g\"", "unknown-subtitles-group"),
            ("BANDWIDTH=1,CODECS=\"a\",CLOSED-CAPTIONS=\"g\"", "unknown-captions-group"),
            ("BANDWIDTH=1,CODECS=\"a\",AUDIO=g", "unquoted-string"),
            ("BANDWIDTH=1,CODECS=\"a\",AUDIO=\"{$g}\"", "undefined-variable"),
            ("BANDWIDTH=1,CODECS=\"a\",HDCP-LEVEL=TYPE-0", ""),
            ("BANDWIDTH=1,CODECS=\"a\",HDCP-LEVEL=TYPE-2", "unknown-hdcp-level"),
            ("BANDWIDTH=1,CODECS=\"a\",VIDEO-RANGE=HLG", ""),
            ("BANDWIDTH=1,CODECS=\"a\",VIDEO-RANGE=HDR", "unknown-video-range"),
        ]
    )
    func variantsHaveTheirAttributes(attributes: String, codes: String) throws {
        #expect(try RuleFindings.codes("#EXTM3U\n#EXT-X-STREAM-INF:\(attributes)\nv.m3u8\n") == codes)
    }

    @Test(
        arguments: [
            ("FRAME-RATE=1", "undefined-i-frame-attribute"), ("AUDIO=\"g\"", "undefined-i-frame-attribute"),
            ("SUBTITLES=\"g\"", "undefined-i-frame-attribute"), ("CLOSED-CAPTIONS=NONE", "undefined-i-frame-attribute"),
            ("VIDEO=\"g\"", "unknown-video-group"), ("RESOLUTION=1x1", ""), ("X=1", ""),
        ]
    )
    func iFrameVariantsHaveFewerAttributes(attributes: String, codes: String) throws {
        let text = RuleFindings.multivariant("#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI=\"i\",\(attributes)")
        #expect(try RuleFindings.codes(text) == codes)
    }

    @Test(
        arguments: [
            ("CH-STEREO", ""), ("CH-MONO", "needless-video-layout"), ("PROJ-RECT", "needless-video-layout"),
            ("CH-MONO/PROJ-RECT", "needless-video-layout"), ("CH-MONO,CH-STEREO", ""), ("PROJ-EQUI", ""),
            ("PROJ-HEQU", ""),
            ("PROJ-PRIM", ""), ("CH-STEREO/PROJ-EQUI", ""), ("CH-STEREO/CH-MONO", "repeated-layout-specifier"),
            ("CH-STEREO,CH-STEREO", ""), ("CH-OTHER", "unknown-video-layout"), ("X", "unknown-video-layout"),
            ("CH-STEREO,", "empty-video-layout"), ("CH-STEREO/", "empty-video-layout"),
            ("/CH-STEREO", "empty-video-layout"),
            ("", "empty-video-layout"), ("CH-MONO,X", "unknown-video-layout"), ("CH-MONO/X", "unknown-video-layout"),
        ]
    )
    func videoLayoutsHaveKnownSpecifiers(layout: String, codes: String) throws {
        let text =
            "#EXTM3U\n#EXT-X-VERSION:12\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"a\",REQ-VIDEO-LAYOUT=\"\(layout)\"\nv.m3u8\n"
        #expect(try RuleFindings.codes(text) == codes)
    }

    /// Returns a playlist with a variant for each list of attributes, and other lines before them.
    private func variants(_ attributes: [String], _ lines: String = "") -> String {
        "#EXTM3U\n\(lines)"
            + attributes.map { "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"a\"\($0.isEmpty ? "" : ",")\($0)\nv.m3u8\n" }
            .joined()
    }

    @Test func variantsAreComparedWithEachOther() throws {
        #expect(try RuleFindings.lines(variants(["SCORE=1", "SCORE=2"])) == [])
        #expect(try RuleFindings.lines(variants(["SCORE=1", "", ""])) == ["4 missing-score"])
        #expect(try RuleFindings.lines(variants(["", "SCORE=1"])) == ["2 missing-score"])
        let captions = "#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"g\",NAME=\"n\",INSTREAM-ID=\"CC1\"\n"
        #expect(try RuleFindings.lines(variants(["CLOSED-CAPTIONS=NONE", "CLOSED-CAPTIONS=NONE"])) == [])
        #expect(try RuleFindings.lines(variants(["CLOSED-CAPTIONS=NONE", ""])) == ["4 captions-none-not-everywhere"])
        #expect(
            try RuleFindings.lines(variants(["CLOSED-CAPTIONS=\"g\"", "CLOSED-CAPTIONS=NONE"], captions))
                == ["3 captions-none-not-everywhere"]
        )
        #expect(try RuleFindings.lines(variants(["CLOSED-CAPTIONS=\"g\"", ""], captions)) == [])
        #expect(try RuleFindings.lines(variants(["CLOSED-CAPTIONS=x", ""])) == ["2 unquoted-string"])
        // Identifiers are equal for the same playlist.
        #expect(try RuleFindings.lines(variants(["STABLE-VARIANT-ID=\"a\"", "STABLE-VARIANT-ID=\"a\""])) == [])
        #expect(
            try RuleFindings.lines(variants(["STABLE-VARIANT-ID=\"a\"", "STABLE-VARIANT-ID=\"b\"", ""]))
                == ["4 stable-variant-id-differs", "6 stable-variant-id-differs"]
        )
        #expect(try RuleFindings.lines(variants(["", "STABLE-VARIANT-ID=\"a\""])) == ["4 stable-variant-id-differs"])
        #expect(
            try RuleFindings.lines(variants(["STABLE-VARIANT-ID=\"a\"", "STABLE-VARIANT-ID=b"])) == [
                "4 unquoted-string"
            ]
        )
        let other = variants(["STABLE-VARIANT-ID=\"a\"", "STABLE-VARIANT-ID=\"b\""]).replacing(
            "v.m3u8\n",
            with: "w.m3u8\n",
            maxReplacements: 1
        )
        #expect(try RuleFindings.lines(other) == [])
        let opaque = variants(["STABLE-VARIANT-ID=\"a\"", "STABLE-VARIANT-ID=\"b\""]).replacing("v.m3u8", with: "{$v}")
        #expect(try RuleFindings.lines(opaque) == ["3 undefined-variable", "5 undefined-variable"])
    }

    @Test func playlistsWithSeveralAnglesHaveIFramesOfThem() throws {
        let angle = "#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID=\"g\",NAME=\"a\"\n"
        let two = angle + angle.replacing("\"a\"", with: "\"b\"")
        let frames = "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI=\"i\"\n"
        #expect(try RuleFindings.lines(variants(["VIDEO=\"g\""], two + frames)) == ["4 missing-i-frame-renditions"])
        #expect(try RuleFindings.lines(variants(["VIDEO=\"g\""], angle + frames)) == [])
        #expect(try RuleFindings.lines(variants([""], two + frames)) == [])
        #expect(try RuleFindings.lines(variants(["VIDEO=\"g\""], two)) == [])
        let both = frames + frames.replacing("\n", with: ",VIDEO=\"g\"\n")
        #expect(try RuleFindings.lines(variants(["VIDEO=\"g\""], two + both)) == [])
    }

    // MARK: Renditions

    @Test(
        arguments: [
            ("TYPE=AUDIO,CHANNELS=\"2\"", ""), ("TYPE=AUDIO", "missing-channels"), ("TYPE=VIDEO", ""),
            ("TYPE=VIDEO,CHANNELS=\"2\"", "channels-not-audio"), ("TYPE=VIDEO,CHANNELS=\"x\"", "channels-not-audio"),
            ("TYPE=VIDEO,BIT-DEPTH=1", "bit-depth-not-audio"), ("TYPE=VIDEO,SAMPLE-RATE=1", "sample-rate-not-audio"),
            ("TYPE=AUDIO,CHANNELS=\"2\",BIT-DEPTH=1,SAMPLE-RATE=1", ""), ("TYPE=SUBTITLES", "subtitles-without-uri"),
            ("TYPE=SUBTITLES,URI=\"u\"", ""), ("TYPE=SUBTITLES,URI=\"u\",FORCED=YES", ""),
            ("TYPE=VIDEO,FORCED=NO", "forced-not-subtitles"),
            ("TYPE=AUDIO,CHANNELS=\"2\",FORCED=YES", "forced-not-subtitles"), ("TYPE=VIDEO,DEFAULT=YES", ""),
            ("TYPE=VIDEO,DEFAULT=YES,AUTOSELECT=YES", ""),
            ("TYPE=VIDEO,DEFAULT=YES,AUTOSELECT=NO", "default-not-autoselect"),
            ("TYPE=VIDEO,DEFAULT=NO,AUTOSELECT=NO", ""), ("TYPE=CLOSED-CAPTIONS,INSTREAM-ID=\"CC1\"", ""),
            ("TYPE=CLOSED-CAPTIONS,INSTREAM-ID=\"CC1\",URI=\"u\"", "captions-with-uri"),
            ("TYPE=CLOSED-CAPTIONS", "captions-without-instream-id"),
            ("TYPE=CLOSED-CAPTIONS,INSTREAM-ID=CC1", "unquoted-string"), ("CHANNELS=\"x\"", "media-without-type"),
            ("TYPE=VIDEO,STABLE-RENDITION-ID=\"!\"", "bad-stable-rendition-id"), ("TYPE=VIDEO,URI=\"u\"", ""),
        ]
    )
    func renditionsHaveTheAttributesOfTheirType(attributes: String, codes: String) throws {
        let text = RuleFindings.multivariant("#EXT-X-MEDIA:GROUP-ID=\"g\",NAME=\"n\",\(attributes)")
        #expect(try RuleFindings.codes(text) == codes)
    }

    /// Returns a playlist with video renditions, each with a group, a name and other attributes.
    private func renditions(_ rows: [(group: String, name: String, others: String)]) -> String {
        RuleFindings.multivariant(
            rows.map { row in
                "#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID=\"\(row.group)\",NAME=\"\(row.name)\"\(row.others)"
            }.joined(separator: "\n")
        )
    }

    @Test(
        arguments: [
            ([("g", "a", ""), ("g", "b", "")], []), ([("g", "a", ""), ("g", "a", "")], ["3 repeated-name"]),
            (
                [
                    ("g", "a", ",DEFAULT=YES"), ("g", "b", ",DEFAULT=NO"), ("g", "c", ",DEFAULT=YES"),
                    ("g", "d", ",DEFAULT=YES"),
                ], ["4 repeated-default", "5 repeated-default"]
            ),
            ([("g", "a", ",AUTOSELECT=YES"), ("g", "b", ",AUTOSELECT=YES")], ["3 autoselect-ambiguous"]),
            ([("g", "a", ",AUTOSELECT=YES"), ("g", "b", ",AUTOSELECT=NO")], []),
            ([("g", "a", ",AUTOSELECT=YES,LANGUAGE=\"en\""), ("g", "b", ",AUTOSELECT=YES,LANGUAGE=\"de\"")], []),
            ([("g", "a", ",AUTOSELECT=YES,ASSOC-LANGUAGE=\"en\""), ("g", "b", ",AUTOSELECT=YES")], []),
            ([("g", "a", ",AUTOSELECT=YES,CHARACTERISTICS=\"c\""), ("g", "b", ",AUTOSELECT=YES")], []),
            // Groups of one type have equal members.
            ([("g", "a", ""), ("h", "a", "")], []), ([("g", "a", ""), ("h", "b", "")], ["3 group-members-differ"]),
            ([("g", "a", ""), ("g", "b", ""), ("h", "a", "")], ["4 group-members-differ"]),
            ([("g", "a", ""), ("h", "a", ""), ("h", "b", "")], ["3 group-members-differ"]),
            ([("g", "a", ",LANGUAGE=\"en\""), ("h", "a", ",LANGUAGE=\"de\"")], ["3 group-attributes-differ"]),
            ([("g", "a", ",ASSOC-LANGUAGE=\"en\""), ("h", "a", "")], ["3 group-attributes-differ"]),
            ([("g", "a", ",CHARACTERISTICS=\"c\""), ("h", "a", "")], ["3 group-attributes-differ"]),
            ([("g", "a", ",DEFAULT=YES"), ("h", "a", "")], ["3 group-attributes-differ"]),
            ([("g", "a", ",DEFAULT=NO"), ("h", "a", "")], []), ([("g", "a", ""), ("h", "a", ",AUTOSELECT=NO")], []),
            ([("g", "a", ",AUTOSELECT=YES"), ("h", "a", "")], ["3 group-attributes-differ"]),
            ([("g", "a", ",STABLE-RENDITION-ID=\"r\""), ("h", "a", "")], []),
            (
                [("g", "a", ""), ("h", "a", ",DEFAULT=YES"), ("i", "a", ",DEFAULT=YES")],
                ["3 group-attributes-differ", "4 group-attributes-differ"]
            ),
            ([("g", "a", ""), ("h", "a", ",DEFAULT=YES"), ("h", "a", "")], ["4 repeated-name"]),
        ] as [([(String, String, String)], [String])]
    )
    func membersOfGroupsAreDistinct(rows: [(String, String, String)], found: [String]) throws {
        #expect(try RuleFindings.lines(renditions(rows.map { ($0.0, $0.1, $0.2) })) == found)
    }

    @Test func forcedSubtitlesAreAChoiceOfTheirOwn() throws {
        let row = "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"g\",URI=\"u\",AUTOSELECT=YES,NAME="
        #expect(try RuleFindings.lines(RuleFindings.multivariant("\(row)\"a\",FORCED=YES\n\(row)\"b\"")) == [])
        #expect(
            try RuleFindings.lines(RuleFindings.multivariant("\(row)\"a\",FORCED=NO\n\(row)\"b\"")) == [
                "3 autoselect-ambiguous"
            ]
        )
    }

    @Test func groupsOfDifferentTypesAreDifferent() throws {
        let video = "#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID=\"g\",NAME=\"a\"\n"
        let audio = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"a\",CHANNELS=\"2\",LANGUAGE=\"en\"\n"
        #expect(try RuleFindings.lines(RuleFindings.multivariant(video + audio)) == [])
        #expect(try RuleFindings.lines(variants(["AUDIO=\"g\""], video)) == ["3 unknown-audio-group"])
        // A rendition whose type cannot be read may belong to the group.
        #expect(
            try RuleFindings.lines(variants(["AUDIO=\"g\""], "#EXT-X-MEDIA:GROUP-ID=\"g\",NAME=\"a\"\n")) == [
                "2 media-without-type"
            ]
        )
        #expect(
            try RuleFindings.lines(variants(["AUDIO=\"h\""], "#EXT-X-MEDIA:GROUP-ID=\"g\",NAME=\"a\"\n"))
                == ["2 media-without-type", "3 unknown-audio-group"]
        )
    }

    @Test func stableIdentifiersOfRenditionsAreEqual() throws {
        func lines(_ first: String, _ second: String) throws -> [String] {
            try RuleFindings.lines(renditions([("g", "a", first), ("h", "a", second)]))
        }
        #expect(try lines(",URI=\"u\",STABLE-RENDITION-ID=\"r\"", ",URI=\"u\"") == ["3 stable-rendition-id-differs"])
        #expect(try lines(",URI=\"u\",STABLE-RENDITION-ID=\"r\"", ",URI=\"v\"") == [])
        #expect(try lines(",STABLE-RENDITION-ID=\"r\"", "") == [])
        #expect(try lines(",URI=\"u\",STABLE-RENDITION-ID=\"r\"", ",URI=\"u\",STABLE-RENDITION-ID=\"r\"") == [])
    }

    // MARK: Session

    @Test(
        arguments: [
            ("DATA-ID=\"a.b\",VALUE=\"v\"", ""), ("DATA-ID=\"ab\",VALUE=\"v\"", "data-id-without-domain"),
            ("VALUE=\"v\"", "session-data-without-id"),
            ("DATA-ID=\"a.b\"", "session-data-without-value"),
            ("DATA-ID=\"a.b\",VALUE=\"v\",URI=\"u\"", "session-data-with-two-values"),
            ("DATA-ID=\"a.b\",URI=\"u\"", ""), ("DATA-ID=\"_hls.localized-rendition-names\",URI=\"u\"", ""),
            ("DATA-ID=\"_hls.localized-rendition-names\",VALUE=\"v\"", "reserved-data-without-uri"),
            ("DATA-ID=\"_hls.media-presentation-settings\",VALUE=\"v\"", "reserved-data-without-uri"),
            ("DATA-ID=\"_hls.other\",VALUE=\"v\"", ""), ("DATA-ID=\"a.b\",X", "attribute-without-value"),
            ("DATA-ID=\"a.b\",VALUE=\"v\"\n#EXT-X-SESSION-DATA:DATA-ID=\"a.b\",VALUE=\"w\"", "repeated-session-data"),
            ("DATA-ID=\"a.b\",VALUE=\"v\"\n#EXT-X-SESSION-DATA:DATA-ID=\"a.b\",VALUE=\"w\",LANGUAGE=\"en\"", ""),
            ("DATA-ID=\"a.b\",VALUE=\"v\"\n#EXT-X-SESSION-DATA:DATA-ID=\"a.c\",VALUE=\"w\"", ""),
        ]
    )
    func sessionDataHasOneValue(attributes: String, codes: String) throws {
        #expect(try RuleFindings.codes(RuleFindings.multivariant("#EXT-X-SESSION-DATA:\(attributes)")) == codes)
    }

    @Test(
        arguments: [
            ("METHOD=NONE", "session-key-method-none"),
            ("METHOD=AES-128,URI=\"u\"\n#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"v\"", ""),
            ("METHOD=AES-128,URI=\"u\"\n#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"u\"", "repeated-session-key"),
            ("METHOD=AES-128,URI=\"u\"\n#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"u\"", ""),
            (
                "METHOD=AES-128,URI=\"u\"\n#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"u\",KEYFORMAT=\"identity\"",
                "repeated-session-key"
            ),
            (
                "METHOD=AES-128,URI=\"u\"\n#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"u\",KEYFORMATVERSIONS=\"1\"",
                "repeated-session-key"
            ),
            ("METHOD=AES-128,URI=\"u\"\n#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"u\",KEYFORMATVERSIONS=\"2\"", ""),
            ("METHOD=AES-128,URI=\"u\"\n#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"u\",KEYFORMAT=\"f\"", ""),
            ("METHOD=AES-128,URI=\"u\"\n#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"u\",IV=0x0", ""),
        ]
    )
    func sessionKeysDiffer(attributes: String, codes: String) throws {
        #expect(try RuleFindings.codes(RuleFindings.multivariant("#EXT-X-SESSION-KEY:\(attributes)")) == codes)
    }

    @Test(
        arguments: [
            (".", "", ""), ("a", "", "unknown-pathway"), ("a", ",PATHWAY-ID=\"a\"", ""),
            (".", ",PATHWAY-ID=\"a\"", "unknown-pathway"),
            ("a/", "", "bad-pathway-id"), ("a", ",PATHWAY-ID=\"a/\"", "bad-pathway-id unknown-pathway"),
        ]
    )
    func pathwaysHaveVariants(id: String, attribute: String, codes: String) throws {
        let text = "#EXTM3U\n#EXT-X-CONTENT-STEERING:SERVER-URI=\"s\",PATHWAY-ID=\"\(id)\"\n"
        let variant = "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"a\"\(attribute)\nv.m3u8\n"
        let found = try RuleFindings.diagnostics(text + variant).map(\.code).sorted()
        #expect(found.joined(separator: " ") == codes)
        guard !codes.hasPrefix("bad") else { return }
        // Without variants there are no pathways yet.
        #expect(try RuleFindings.codes(text) == "")
    }

    // MARK: Versions

    @Test(
        arguments: [
            (
                7, "#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"g\",NAME=\"n\",INSTREAM-ID=\"SERVICE1\"",
                "service-captions"
            ),
            (1, "#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"g\",NAME=\"n\",INSTREAM-ID=\"CC1\"", ""),
            (
                13, "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"n\",CHANNELS=\"2\",INSTREAM-ID=\"a\"",
                "in-stream-rendition"
            ),
            (8, "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"", "variables"),
            (1, "#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"u\"", ""),
            (
                12, "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI=\"i\",REQ-VIDEO-LAYOUT=\"CH-STEREO\"",
                "required-attribute"
            ),
            (12, "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"a\",REQ-X=1\nv.m3u8", "required-attribute"),
            (1, "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"a\",XREQ-X=1\nv.m3u8", ""),
        ]
    )
    func featuresOfMultivariantPlaylistsRequireAVersion(version: Int, line: String, feature: String) throws {
        func codes(_ version: Int) throws -> String {
            try RuleFindings.codes(RuleFindings.multivariant("#EXT-X-VERSION:\(version)\n\(line)"))
        }
        let hasRendition = line.contains("X-MEDIA")
        #expect(try codes(version) == "")
        #expect(try codes(version + 1) == (hasRendition ? "" : "version-too-high"))
        let text = RuleFindings.multivariant(line)
        #expect(try Playlist.parse(Array(text.utf8)).minimumVersion == version)
        #expect(try RuleFindings.codes(text) == (version > 1 ? "missing-version" : ""))
        guard version > 1 else { return }
        #expect(try codes(version - 1) == "version-for-\(feature)")
    }

    /// Renditions are compatible with lower versions, so that any version is accepted with them.
    @Test(arguments: ["AUDIO", "VIDEO", "SUBTITLES", "CLOSED-CAPTIONS"])
    func renditionsAllowAnyVersion(type: String) throws {
        let other =
            ["AUDIO": ",CHANNELS=\"2\"", "SUBTITLES": ",URI=\"u\"", "CLOSED-CAPTIONS": ",INSTREAM-ID=\"CC1\""][type]
            ?? ""
        let text = variants(
            ["\(type)=\"g\""],
            "#EXT-X-VERSION:4\n#EXT-X-MEDIA:TYPE=\(type),GROUP-ID=\"g\",NAME=\"n\"\(other)\n"
        )
        #expect(try RuleFindings.lines(text).contains("2 version-too-high") == false)
        #expect(try RuleFindings.codes(variants([""], "#EXT-X-VERSION:4\n")) == "version-too-high")
    }
}
