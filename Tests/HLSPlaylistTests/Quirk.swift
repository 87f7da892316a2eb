import Testing

/// A way in which playlists deviate from the standard, with the expected result of parsing.
struct Quirk: Sendable, CustomTestStringConvertible {
    /// The deviation.
    let name: String
    /// The names of the quirk in the corpus.
    let kinds: [String]
    /// The diagnostics of which at least one reports the quirk wherever it occurs in the corpus; empty if the standard
    /// allows the quirk.
    let codes: [String]
    let bytes: [UInt8]
    /// The expected lines of the ``PlaylistReading``.
    let reading: [String]
    /// All expected diagnostics, each preceded by its line if it has one.
    let diagnostics: [String]

    var testDescription: String { name }

    private init(
        _ name: String,
        kinds: [String] = [],
        codes: [String] = [],
        _ text: String,
        reads reading: [String],
        names diagnostics: [String] = []
    ) {
        self.init(name, kinds: kinds, codes: codes, bytes: Array(text.utf8), reads: reading, names: diagnostics)
    }

    private init(
        _ name: String,
        kinds: [String] = [],
        codes: [String] = [],
        bytes: [UInt8],
        reads reading: [String],
        names diagnostics: [String] = []
    ) {
        self.name = name
        self.kinds = kinds
        self.codes = codes
        self.bytes = bytes
        self.reading = reading
        self.diagnostics = diagnostics
    }

    static let all: [Quirk] = [lines, headers, segments, numbers, attributes, keys, variants, addresses, ends].flatMap(
        \.self
    )
}

extension Quirk {
    /// Quirks of bytes and lines.
    private static let lines: [Quirk] = [
        Quirk(
            "lines end with CRLF",
            kinds: ["crlf"],
            "#EXTM3U\r\n#EXT-X-TARGETDURATION:6\r\n#EXTINF:4,one\r\na.ts\r\n#EXT-X-ENDLIST\r\n",
            reads: ["media, target 6, ended", "0 https://h/p/a.ts 4 s 'one'"]
        ),
        Quirk(
            "lines end with a CR alone",
            "#EXTM3U\r#EXT-X-TARGETDURATION:6\r#EXTINF:4,one\ra.ts\r#EXTINF:3,\rb.ts\r",
            reads: ["media, target 6", "0 https://h/p/a.ts 4 s 'one'", "1 https://h/p/b.ts 3 s"],
            names: [
                "1 lone-carriage-return", "2 lone-carriage-return", "3 lone-carriage-return", "4 lone-carriage-return",
                "5 lone-carriage-return", "6 lone-carriage-return",
            ]
        ),
        Quirk(
            "the last line has no end",
            kinds: ["no-final-newline"],
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:4,\na.ts",
            reads: ["media, target 6", "0 https://h/p/a.ts 4 s"]
        ),
        Quirk(
            "white space ends comments and titles, which may hold it",
            kinds: ["trailing-space"],
            "#EXTM3U\n## made by hand \n#EXT-X-TARGETDURATION:6\n#EXTINF:4,\t\na.ts\n#EXTINF:4,two \nb.ts\n",
            reads: ["media, target 6", "0 https://h/p/a.ts 4 s", "1 https://h/p/b.ts 4 s 'two'"]
        ),
        Quirk(
            "white space ends lines",
            "#EXTM3U \n#EXT-X-TARGETDURATION:6\t\n#EXTINF:4,one \na.ts  \n",
            reads: ["media, target 6", "0 https://h/p/a.ts 4 s 'one'"],
            names: ["1 trailing-space", "2 control-character", "4 trailing-space"]
        ),
        Quirk(
            "white space begins lines",
            "  #EXTM3U\n\t#EXT-X-TARGETDURATION:6\n #EXTINF:4,\n  a.ts\n",
            reads: ["media, target 6", "0 https://h/p/a.ts 4 s"],
            names: ["1 leading-space", "2 control-character", "3 leading-space", "4 leading-space"]
        ),
        Quirk(
            "lines hold nothing but white space",
            "#EXTM3U\n\n \t \n#EXT-X-TARGETDURATION:6\n   \n#EXTINF:4,\n\n\t\na.ts\n\n",
            reads: ["media, target 6", "0 https://h/p/a.ts 4 s"],
            names: ["3 control-character", "8 control-character"]
        ),
        Quirk(
            "a byte-order mark stands in front",
            "\u{FEFF}#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:4,\na.ts\n",
            reads: ["media, target 6", "0 https://h/p/a.ts 4 s"],
            names: ["1 byte-order-mark"]
        ),
        Quirk(
            "bytes are not UTF-8",
            bytes: Array("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:4,caf".utf8) + [0xE9] + Array("\na.ts\n".utf8),
            reads: ["media, target 6", "0 https://h/p/a.ts 4 s 'caf\u{FFFD}'"],
            names: ["not-utf-8"]
        ),
        Quirk(
            "NUL bytes stand in lines",
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:4,a\u{0}b\na\u{0}.ts\n\u{0}\n#EXTINF:4\u{0},\nb.ts\n",
            reads: ["media, target 6", "0 https://h/p/a\u{0}.ts 4 s 'a\u{0}b'", "1 https://h/p/b.ts 0 s"],
            names: [
                "3 control-character", "4 control-character", "5 control-character", "5 address-without-extinf",
                "6 control-character", "6 bad-duration",
            ]
        ),
        Quirk(
            "an accent stands behind its letter, in a comment, a title and an address",
            "#EXTM3U\n# e\u{301}\n#EXT-X-TARGETDURATION:6\n#EXTINF:4,e\u{301}\ne\u{301}.ts\n#EXTINF:4,\u{E9}\nb.ts\n",
            reads: [
                "media, target 6", "0 https://h/p/e\u{301}.ts 4 s 'e\u{301}'", "1 https://h/p/b.ts 4 s '\u{E9}'",
            ],
            names: ["2 not-nfc", "4 not-nfc", "5 not-nfc"]
        ),
        Quirk(
            "there is only a header",
            kinds: ["no-entries-at-all"],
            "#EXTM3U\n",
            reads: ["media"],
            names: ["missing-target-duration"]
        ),
        Quirk(
            "a value is broken over two lines",
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"avc1.4d401e,\nmp4a.40.2\"\nv.m3u8\n",
            reads: ["multivariant", "variant https://h/p/mp4a.40.2\" 1 avc1.4d401e"],
            names: ["2 unclosed-quote", "4 address-without-stream-inf"]
        ),
    ]

    /// Quirks of the header and of tags that apply to the whole playlist.
    private static let headers: [Quirk] = [
        Quirk(
            "comments stand before the header",
            kinds: ["EXTM3U-not-first-line"],
            codes: ["header-not-first"],
            "# made by hand\n\n#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:4,\na.ts\n",
            reads: ["media, target 6", "0 https://h/p/a.ts 4 s"],
            names: ["1 header-not-first"]
        ),
        Quirk(
            "the header is missing",
            kinds: ["no-EXTM3U"],
            codes: ["header-not-first"],
            "#EXT-X-TARGETDURATION:6\n#EXTINF:4,\na.ts\n",
            reads: ["media, target 6", "0 https://h/p/a.ts 4 s"],
            names: ["1 header-not-first"]
        ),
        Quirk(
            "two playlists stand in one file",
            kinds: ["EXTM3U-repeated"],
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-MEDIA-SEQUENCE:7
            #EXTINF:4,
            a.ts
            #EXT-X-ENDLIST
            #EXTM3U
            #EXT-X-TARGETDURATION:9
            #EXT-X-MEDIA-SEQUENCE:20
            #EXTINF:5,
            b.ts
            #EXT-X-ENDLIST

            """,
            reads: ["media, target 6, from 7, ended", "7 https://h/p/a.ts 4 s", "8 https://h/p/b.ts 5 s"],
            names: ["8 repeated-tag", "9 repeated-tag", "9 media-sequence-after-segment", "12 repeated-tag"]
        ),
        Quirk(
            "tags about all of it stand twice; the first counts",
            kinds: ["repeated-header-tag"],
            codes: ["repeated-tag"],
            """
            #EXTM3U
            #EXT-X-VERSION:3
            #EXT-X-VERSION:4
            #EXT-X-INDEPENDENT-SEGMENTS
            #EXT-X-INDEPENDENT-SEGMENTS
            #EXT-X-TARGETDURATION:6
            #EXT-X-TARGETDURATION:7
            #EXT-X-START:TIME-OFFSET=1
            #EXT-X-START:TIME-OFFSET=2
            #EXTINF:4.0,
            a.ts
            #EXT-X-ENDLIST

            """,
            reads: ["media, version 3, target 6, start 1, ended", "0 https://h/p/a.ts 4 s"],
            names: ["3 repeated-version", "5 repeated-independent-segments", "7 repeated-tag", "9 repeated-start"]
        ),
        Quirk(
            "tags of both kinds stand in one file; the first decides",
            kinds: ["mixed-multivariant-and-media"],
            codes: ["mixed-kinds"],
            """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=800000,CODECS="avc1.4d401e"
            v.m3u8
            #EXT-X-TARGETDURATION:6
            #EXT-X-DISCONTINUITY

            """,
            reads: ["multivariant", "variant https://h/p/v.m3u8 800000 avc1.4d401e"],
            names: ["4 mixed-kinds", "5 mixed-kinds"]
        ),
        Quirk(
            "tags about all of it stand behind a segment",
            kinds: ["header-tag-after-segment"],
            codes: ["media-sequence-after-segment", "repeated-tag"],
            """
            #EXTM3U
            #EXTINF:4,
            a.ts
            #EXT-X-TARGETDURATION:6
            #EXT-X-MEDIA-SEQUENCE:5
            #EXTINF:4,
            b.ts
            #EXT-X-ENDLIST

            """,
            reads: ["media, target 6, from 5, ended", "5 https://h/p/a.ts 4 s", "6 https://h/p/b.ts 4 s"],
            names: ["5 media-sequence-after-segment"]
        ),
        Quirk(
            "the target duration is missing",
            kinds: ["no-TARGETDURATION"],
            codes: ["missing-target-duration"],
            "#EXTM3U\n#EXTINF:4,\na.ts\n",
            reads: ["media", "0 https://h/p/a.ts 4 s"],
            names: ["missing-target-duration"]
        ),
        Quirk(
            "the target duration has a fraction",
            "#EXTM3U\n#EXT-X-TARGETDURATION:4.5\n#EXTINF:4,\na.ts\n",
            reads: ["media, target 4.5", "0 https://h/p/a.ts 4 s"],
            names: ["2 not-an-integer"]
        ),
        Quirk(
            "a segment is longer than the target duration",
            kinds: ["duration-exceeds-TARGETDURATION"],
            codes: ["longer-than-target"],
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:4\n#EXTINF:4.499,\na.ts\n#EXTINF:4.5,\nb.ts\n",
            reads: ["media, version 6, target 4", "0 https://h/p/a.ts 4.499 s", "1 https://h/p/b.ts 4.5 s"],
            names: ["6 longer-than-target"]
        ),
        Quirk(
            "the version is newer than the standard",
            kinds: ["VERSION>12"],
            "#EXTM3U\n#EXT-X-VERSION:100\n#EXT-X-TARGETDURATION:6\n#EXTINF:4,\na.ts\n",
            reads: ["media, version 100, target 6", "0 https://h/p/a.ts 4 s"],
            names: ["2 version-too-high"]
        ),
        Quirk(
            "the playlist type is not in the standard",
            kinds: ["PLAYLIST-TYPE-other"],
            codes: ["unknown-playlist-type", "missing-value"],
            "#EXTM3U\n#EXT-X-PLAYLIST-TYPE:LIVE\n#EXT-X-TARGETDURATION:6\n#EXTINF:4,\na.ts\n",
            reads: ["media, target 6", "0 https://h/p/a.ts 4 s"],
            names: ["2 unknown-playlist-type"]
        ),
        Quirk(
            "names of tags are written small",
            "#extm3u\n#EXTM3U\n#ext-x-targetduration:6\n#EXT-X-TargetDuration:6\n#extinf:4,\na.ts\n",
            reads: ["media"],
            names: ["1 header-not-first", "4 unknown-tag", "6 address-without-extinf"]
        ),
        Quirk(
            "tags that stand alone have values",
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-DISCONTINUITY:\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST:now\n",
            reads: ["media, target 6, ended", "0 https://h/p/a.ts 4 s discontinuity"],
            names: ["3 unexpected-value", "6 unexpected-value"]
        ),
    ]

    /// Quirks of segments and their tags.
    private static let segments: [Quirk] = [
        Quirk(
            "no comma stands behind the duration",
            kinds: ["EXTINF-no-comma"],
            codes: ["extinf-without-comma", "missing-value"],
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:4\na.ts\n",
            reads: ["media, target 6", "0 https://h/p/a.ts 4 s"],
            names: ["3 extinf-without-comma"]
        ),
        Quirk(
            "titles hold commas, quotation marks and attributes",
            kinds: ["EXTINF-title"],
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:4,A, \"B\", tvg-id=\"c\"\na.ts\n#EXTINF:4,#1\nb.ts\n",
            reads: [
                "media, target 6", "0 https://h/p/a.ts 4 s 'A, \"B\", tvg-id=\"c\"'", "1 https://h/p/b.ts 4 s '#1'",
            ]
        ),
        Quirk(
            "attributes stand before the comma of a duration",
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:-1 tvg-id=\"a\",A\na.ts\n#EXTINF:4 tvg-id=\"b\",B\nb.ts\n",
            reads: ["media, target 6", "0 https://h/p/a.ts 0 s 'A'", "1 https://h/p/b.ts 0 s 'B'"],
            names: ["3 bad-duration", "5 bad-duration"]
        ),
        Quirk(
            "a duration is missing",
            kinds: ["EXTINF-empty-duration"],
            codes: ["bad-duration", "missing-value"],
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:\na.ts\n#EXTINF:,b\nb.ts\n#EXTINF\nc.ts\n",
            reads: [
                "media, target 6", "0 https://h/p/a.ts 0 s", "1 https://h/p/b.ts 0 s 'b'", "2 https://h/p/c.ts 0 s",
            ],
            names: ["3 missing-value", "5 bad-duration", "7 missing-value"]
        ),
        Quirk(
            "a duration is zero",
            kinds: ["EXTINF-zero"],
            "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:6\n#EXTINF:0,\na.ts\n#EXTINF:0.000,\nb.ts\n",
            reads: ["media, version 3, target 6", "0 https://h/p/a.ts 0 s", "1 https://h/p/b.ts 0 s"]
        ),
        Quirk(
            "a duration is below zero",
            kinds: ["EXTINF-negative"],
            codes: ["bad-duration"],
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:-1,Radio\na.ts\n#EXTINF:4,\nb.ts\n",
            reads: ["media, target 6", "0 https://h/p/a.ts 0 s 'Radio'", "1 https://h/p/b.ts 4 s"],
            names: ["3 bad-duration"]
        ),
        Quirk(
            "an address is missing behind a duration",
            kinds: ["EXTINF-without-uri"],
            codes: ["extinf-without-address"],
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:4,\n#EXTINF:5,\na.ts\n#EXTINF:6,\n#EXT-X-ENDLIST\n",
            reads: ["media, target 6, ended", "0 https://h/p/a.ts 5 s"],
            names: ["3 extinf-without-address", "6 extinf-without-address"]
        ),
        Quirk(
            "a duration is missing before an address",
            kinds: ["uri-without-EXTINF"],
            codes: ["address-without-extinf"],
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\nstray.ts\n#EXT-X-GAP\n#EXTINF:4,\na.ts\nstray.ts\n",
            reads: ["media, target 6", "0 https://h/p/a.ts 4 s gap"],
            names: ["3 address-without-extinf", "7 address-without-extinf"]
        ),
        Quirk(
            "a date is not one",
            kinds: ["PDT-nonstandard"],
            codes: ["bad-date", "missing-value"],
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:00:00.000Z
            #EXTINF:4,
            a.ts
            #EXT-X-PROGRAM-DATE-TIME:later
            #EXTINF:4,
            b.ts
            #EXT-X-PROGRAM-DATE-TIME
            #EXTINF:4,
            c.ts

            """,
            reads: [
                "media, target 6", "0 https://h/p/a.ts 4 s 2024-01-01T00:00:00.000Z",
                "1 https://h/p/b.ts 4 s 2024-01-01T00:00:04.000Z", "2 https://h/p/c.ts 4 s 2024-01-01T00:00:08.000Z",
            ],
            names: ["6 bad-date", "9 missing-value"]
        ),
        Quirk(
            "byte ranges leave their offset to the one before",
            kinds: ["BYTERANGE-without-offset"],
            """
            #EXTM3U
            #EXT-X-VERSION:4
            #EXT-X-TARGETDURATION:6
            #EXT-X-BYTERANGE:10@5
            #EXTINF:4,
            a.ts
            #EXTINF:4,
            #EXT-X-BYTERANGE:7
            a.ts
            #EXT-X-BYTERANGE:3
            #EXTINF:4,
            b.ts

            """,
            reads: [
                "media, version 4, target 6", "0 https://h/p/a.ts 4 s 10@5", "1 https://h/p/a.ts 4 s 7@15",
                "2 https://h/p/b.ts 4 s 3@0",
            ],
            names: ["10 byte-range-without-offset"]
        ),
        Quirk(
            "a byte range is not one",
            """
            #EXTM3U
            #EXT-X-VERSION:4
            #EXT-X-TARGETDURATION:6
            #EXT-X-BYTERANGE:-5@0
            #EXTINF:4,
            a.ts
            #EXT-X-BYTERANGE
            #EXTINF:4,
            b.ts

            """,
            reads: ["media, version 4, target 6", "0 https://h/p/a.ts 4 s", "1 https://h/p/b.ts 4 s"],
            names: ["4 bad-byte-range", "7 missing-value"]
        ),
        Quirk(
            "one segment has two durations",
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:4,one\n#EXTINF:5,two\na.ts\n",
            reads: ["media, target 6", "0 https://h/p/a.ts 5 s 'two'"],
            names: ["3 extinf-without-address"]
        ),
    ]

    /// Quirks of numbers: too long, too large or invalid.
    private static let numbers: [Quirk] = [
        Quirk(
            "durations have more digits than a floating-point number",
            kinds: ["EXTINF-long-decimal"],
            """
            #EXTM3U
            #EXT-X-VERSION:3
            #EXT-X-TARGETDURATION:6
            #EXTINF:2.002002002002002,
            a.ts
            #EXTINF:1.7083333333333333,
            b.ts

            """,
            reads: [
                "media, version 3, target 6", "0 https://h/p/a.ts 2.002002002002002 s",
                "1 https://h/p/b.ts 1.7083333333333333 s",
            ]
        ),
        Quirk(
            "integers pass 2^53",
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-MEDIA-SEQUENCE:9007199254740993
            #EXTINF:4,
            a.ts
            #EXT-X-ENDLIST

            """,
            reads: ["media, target 6, from 9007199254740993, ended", "9007199254740993 https://h/p/a.ts 4 s"]
        ),
        Quirk(
            "integers pass 2^64",
            """
            #EXTM3U
            #EXT-X-VERSION:4
            #EXT-X-TARGETDURATION:18446744073709551616
            #EXT-X-MEDIA-SEQUENCE:18446744073709551616
            #EXT-X-BYTERANGE:18446744073709551616@0
            #EXTINF:18446744073709551616,
            a.ts

            """,
            reads: ["media, version 4", "0 https://h/p/a.ts 0 s"],
            names: ["3 integer-too-large", "4 integer-too-large", "5 bad-byte-range", "6 bad-duration"]
        ),
        Quirk(
            "a bit rate passes 2^64",
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=18446744073709551616,CODECS=\"mp4a.40.2\"\nv.m3u8\n",
            reads: ["multivariant", "variant https://h/p/v.m3u8 mp4a.40.2"],
            names: ["2 integer-too-large"]
        ),
        Quirk(
            "numbers have exponents or are none",
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:1e1
            #EXTINF:4e0,
            a.ts
            #EXTINF:NaN,
            b.ts
            #EXTINF:inf,
            c.ts
            #EXTINF:0x4,
            d.ts

            """,
            reads: [
                "media", "0 https://h/p/a.ts 0 s", "1 https://h/p/b.ts 0 s", "2 https://h/p/c.ts 0 s",
                "3 https://h/p/d.ts 0 s",
            ],
            names: ["2 not-an-integer", "3 bad-duration", "5 bad-duration", "7 bad-duration", "9 bad-duration"]
        ),
        Quirk(
            "integers of the header cannot be read",
            kinds: ["header-int-unparseable"],
            codes: ["not-an-integer", "missing-value"],
            "#EXTM3U\n#EXT-X-VERSION:three\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:\n#EXTINF:4,\na.ts\n",
            reads: ["media, target 6", "0 https://h/p/a.ts 4 s"],
            names: ["2 not-an-integer", "4 missing-value"]
        ),
        Quirk(
            "white space stands behind the colon",
            kinds: ["space-after-colon"],
            codes: ["space-in-tag", "unknown-tag"],
            "#EXTM3U\n#EXT-X-VERSION: 3\n#EXT-X-TARGETDURATION:\t6\n#EXTINF: 4.0 ,\na.ts\n",
            reads: ["media, version 3, target 6", "0 https://h/p/a.ts 4 s"],
            names: ["2 space-in-tag", "3 control-character", "4 space-in-tag"]
        ),
    ]

    /// Quirks of the attributes of any tag.
    private static let attributes: [Quirk] = [
        Quirk(
            "white space stands around attributes",
            kinds: ["space-after-attr-comma"],
            codes: ["space-in-attribute-list"],
            "#EXTM3U\n#EXT-X-STREAM-INF: PROGRAM-ID=1 , BANDWIDTH = 800000 ,\tCODECS = \"avc1.4d401e\" \nv.m3u8\n",
            reads: ["multivariant", "variant https://h/p/v.m3u8 800000 avc1.4d401e"],
            names: [
                "2 control-character", "2 space-in-tag", "2 space-in-attribute-list", "2 space-in-attribute-list",
                "2 space-in-attribute-list", "2 trailing-space",
            ]
        ),
        Quirk(
            "a quotation mark is never closed",
            kinds: ["unbalanced-quote"],
            codes: ["unclosed-quote", "not-hexadecimal"],
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-DATERANGE:ID="a",START-DATE="2024-01-01,DURATION=5
            #EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:00:00.000Z
            #EXTINF:4,
            a.ts

            """,
            reads: [
                "media, target 6", "0 https://h/p/a.ts 4 s 2024-01-01T00:00:00.000Z",
                "date range a START-DATE=2024-01-01,DURATION=5",
            ],
            names: ["3 unclosed-quote"]
        ),
        Quirk(
            "text stands behind the quotation mark that closes a value",
            """
            #EXTM3U
            #EXT-X-VERSION:6
            #EXT-X-TARGETDURATION:6
            #EXT-X-MAP:URI="init.mp4"x,BYTERANGE="10@5"
            #EXTINF:4,
            a.ts

            """,
            reads: ["media, version 6, target 6", "0 https://h/p/a.ts 4 s map https://h/p/init.mp4 10@5"],
            names: ["4 text-after-quote"]
        ),
        Quirk(
            "a quotation mark is never opened",
            """
            #EXTM3U
            #EXT-X-VERSION:6
            #EXT-X-TARGETDURATION:6
            #EXT-X-MAP:BYTERANGE=10@5",URI="init.mp4"
            #EXTINF:4,
            a.ts

            """,
            reads: ["media, version 6, target 6", "0 https://h/p/a.ts 4 s map https://h/p/init.mp4"],
            names: ["4 unquoted-string"]
        ),
        Quirk(
            "values are quoted with apostrophes",
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=800000,CODECS='avc1,mp4a',AUDIO='aac'\nv.m3u8\n",
            reads: ["multivariant", "variant https://h/p/v.m3u8 800000 'avc1 audio 'aac'"],
            names: ["2 unquoted-string", "2 attribute-without-value", "2 unquoted-string"]
        ),
        Quirk(
            "numbers and names of a list are quoted",
            kinds: ["quoted-enum-or-number"],
            codes: ["quoted-value"],
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE="AUDIO",GROUP-ID="aac",NAME="A",DEFAULT="YES"
            #EXT-X-STREAM-INF:BANDWIDTH="800000",RESOLUTION="640x360",CODECS="mp4a.40.2",AUDIO="aac"
            v.m3u8

            """,
            reads: [
                "multivariant", "AUDIO in aac 'A' default",
                "variant https://h/p/v.m3u8 800000 640x360 mp4a.40.2 audio aac",
            ],
            names: ["2 quoted-value", "2 quoted-value", "3 quoted-value", "3 quoted-value"]
        ),
        Quirk(
            "texts are not quoted",
            kinds: ["unquoted-string-attr"],
            codes: ["unquoted-string"],
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=aac,NAME=The sound,LANGUAGE=en,CHANNELS="2",URI=a.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO=aac,CODECS=avc1.4d401e
            v.m3u8

            """,
            reads: [
                "multivariant", "AUDIO in aac 'The sound' en https://h/p/a.m3u8",
                "variant https://h/p/v.m3u8 800000 avc1.4d401e audio aac",
            ],
            names: [
                "2 unquoted-string", "2 unquoted-string", "2 unquoted-string", "2 unquoted-string",
                "2 space-in-attribute-list", "3 unquoted-string", "3 unquoted-string",
            ]
        ),
        Quirk(
            "values are empty",
            kinds: ["empty-attr-value"],
            codes: ["unquoted-string", "not-an-integer", "not-a-decimal", "not-hexadecimal"],
            """
            #EXTM3U
            #EXT-X-VERSION:6
            #EXT-X-TARGETDURATION:6
            #EXT-X-MAP:URI="init.mp4",BYTERANGE=
            #EXT-X-KEY:METHOD=,URI=""
            #EXTINF:4,
            a.ts
            #EXT-X-KEY:METHOD=AES-128,URI=,IV=
            #EXTINF:4,
            b.ts

            """,
            reads: [
                "media, version 6, target 6", "0 https://h/p/a.ts 4 s map https://h/p/init.mp4",
                "1 https://h/p/b.ts 4 s map https://h/p/init.mp4 AES-128 https://h/p/list.m3u8 IV ",
            ],
            names: [
                "4 unquoted-string", "5 unknown-key-method", "5 empty-string", "8 unquoted-string", "8 not-hexadecimal",
            ]
        ),
        Quirk(
            "an attribute stands twice; the first counts",
            """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=800000,BANDWIDTH=900000,RESOLUTION=1x1,CODECS="avc1.4d401e",RESOLUTION=2x2
            v.m3u8

            """,
            reads: ["multivariant", "variant https://h/p/v.m3u8 800000 1x1 avc1.4d401e"],
            names: ["2 repeated-attribute", "2 repeated-attribute"]
        ),
        Quirk(
            "names of attributes are written small",
            "#EXTM3U\n#EXT-X-STREAM-INF:bandwidth=800000,Resolution=1x1,CODECS=\"avc1.4d401e\"\nv.m3u8\n",
            reads: ["multivariant", "variant https://h/p/v.m3u8 avc1.4d401e"],
            names: ["2 bad-attribute-name", "2 bad-attribute-name", "2 missing-attribute"]
        ),
        Quirk(
            "commas follow each other and names have no value",
            "#EXTM3U\n#EXT-X-STREAM-INF:,,BANDWIDTH=800000,,HDR,=x,RESOLUTION=1x1,\nv.m3u8\n",
            reads: ["multivariant", "variant https://h/p/v.m3u8 800000 1x1"],
            names: [
                "2 empty-attribute", "2 empty-attribute", "2 empty-attribute", "2 attribute-without-value",
                "2 bad-attribute-name", "2 empty-attribute",
            ]
        ),
        Quirk(
            "values name variables",
            kinds: ["variable-substitution"],
            """
            #EXTM3U
            #EXT-X-VERSION:8
            #EXT-X-DEFINE:NAME="host",VALUE="https://cdn"
            #EXT-X-TARGETDURATION:6
            #EXT-X-MAP:URI="{$host}/init.mp4"
            #EXTINF:4,
            {$host}/{$none}.ts

            """,
            reads: ["media, version 8, target 6", "0 https://cdn/{$none}.ts 4 s map https://cdn/init.mp4"],
            names: ["7 undefined-variable"]
        ),
    ]

    /// Quirks of keys.
    private static let keys: [Quirk] = [
        Quirk(
            "initialization vectors are short, or not hexadecimal",
            kinds: ["IV-unusual"],
            """
            #EXTM3U
            #EXT-X-VERSION:2
            #EXT-X-TARGETDURATION:6
            #EXT-X-KEY:METHOD=AES-128,URI="k",IV=0X3334
            #EXTINF:4,
            a.ts
            #EXT-X-KEY:METHOD=AES-128,IV=0011",URI="k"
            #EXTINF:4,
            b.ts

            """,
            reads: [
                "media, version 2, target 6", "0 https://h/p/a.ts 4 s AES-128 https://h/p/k IV 0X3334",
                "1 https://h/p/b.ts 4 s AES-128 https://h/p/k IV 0011\"",
            ],
            names: ["7 not-hexadecimal"]
        ),
        Quirk(
            "keys have addresses that only a player with the key system can load",
            kinds: ["skd-uri"],
            """
            #EXTM3U
            #EXT-X-VERSION:5
            #EXT-X-TARGETDURATION:6
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://id?a=1,b",KEYFORMAT="com.apple.streamingkeydelivery"
            #EXTINF:4,
            a.ts

            """,
            reads: ["media, version 5, target 6", "0 https://h/p/a.ts 4 s SAMPLE-AES skd://id?a=1,b"]
        ),
        Quirk(
            "keys stand in their addresses, with commas in them",
            kinds: ["data-uri", "comma-inside-quoted-uri"],
            """
            #EXTM3U
            #EXT-X-VERSION:5
            #EXT-X-TARGETDURATION:6
            #EXT-X-KEY:METHOD=SAMPLE-AES-CTR,URI="data:text/plain;base64,AAAA,BB==",KEYFORMAT="urn:uuid:edef"
            #EXTINF:4,
            a.ts

            """,
            reads: [
                "media, version 5, target 6", "0 https://h/p/a.ts 4 s SAMPLE-AES-CTR data:text/plain;base64,AAAA,BB==",
            ]
        ),
    ]

    /// Quirks of variants and renditions.
    private static let variants: [Quirk] = [
        Quirk(
            "a bit rate is no number",
            kinds: ["BANDWIDTH-malformed"],
            codes: ["not-an-integer", "quoted-value"],
            """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=fast,CODECS="vp09"
            v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=1e6,CODECS="vp09"
            w.m3u8
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH="INVALID",URI="i.m3u8"

            """,
            reads: [
                "multivariant", "variant https://h/p/v.m3u8 vp09", "variant https://h/p/w.m3u8 vp09",
                "I-frames https://h/p/i.m3u8",
            ],
            names: ["2 not-an-integer", "4 not-an-integer", "6 quoted-value"]
        ),
        Quirk(
            "a bit rate is missing",
            kinds: ["STREAM-INF-without-BANDWIDTH"],
            codes: ["missing-attribute", "missing-value"],
            "#EXTM3U\n#EXT-X-STREAM-INF:RESOLUTION=640x360,CODECS=\"vp09\"\nv.m3u8\n#EXT-X-STREAM-INF\nw.m3u8\n",
            reads: ["multivariant", "variant https://h/p/v.m3u8 640x360 vp09", "variant https://h/p/w.m3u8"],
            names: ["2 missing-attribute", "4 missing-value"]
        ),
        Quirk(
            "a variant has no address",
            kinds: ["STREAM-INF-without-uri"],
            codes: ["stream-inf-without-address"],
            """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="vp09"
            #EXT-X-STREAM-INF:BANDWIDTH=2,CODECS="vp09"
            v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=3,CODECS="vp09"

            """,
            reads: ["multivariant", "variant https://h/p/v.m3u8 2 vp09"],
            names: ["2 stream-inf-without-address", "5 stream-inf-without-address"]
        ),
        Quirk(
            "nothing announces the address of a variant",
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"vp09\"\nv.m3u8\nstray.m3u8\n",
            reads: ["multivariant", "variant https://h/p/v.m3u8 1 vp09"],
            names: ["4 address-without-stream-inf"]
        ),
        Quirk(
            "comments and other tags stand between a variant and its address",
            """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="vp09"
            # here it is:

            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="A",CHANNELS="2"
            v.m3u8

            """,
            reads: ["multivariant", "AUDIO in a 'A'", "variant https://h/p/v.m3u8 1 vp09"]
        ),
        Quirk(
            "I-frame variants lack their address or their bit rate",
            "#EXTM3U\n#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1\n#EXT-X-I-FRAME-STREAM-INF:URI=\"i.m3u8\"\n",
            reads: ["multivariant", "I-frames https://h/p/i.m3u8"],
            names: ["2 i-frame-stream-without-uri", "3 missing-attribute"]
        ),
        Quirk(
            "spaces stand between codecs",
            kinds: ["CODECS-space-after-comma"],
            codes: ["bad-codecs"],
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\" avc1.77.30, mp4a.40.2 ,,\"\nv.m3u8\n",
            reads: ["multivariant", "variant https://h/p/v.m3u8 1 avc1.77.30+mp4a.40.2"],
            names: ["2 bad-codecs"]
        ),
        Quirk(
            "a resolution is not one",
            kinds: ["RESOLUTION-malformed"],
            codes: ["bad-resolution", "quoted-value"],
            """
            #EXTM3U
            #EXT-X-STREAM-INF:CODECS="vp09",BANDWIDTH=1,RESOLUTION=640*360
            v.m3u8
            #EXT-X-STREAM-INF:CODECS="vp09",BANDWIDTH=2,RESOLUTION=640x360x2
            w.m3u8
            #EXT-X-STREAM-INF:CODECS="vp09",BANDWIDTH=3,RESOLUTION=-640x360
            x.m3u8

            """,
            reads: [
                "multivariant", "variant https://h/p/v.m3u8 1 vp09", "variant https://h/p/w.m3u8 2 vp09",
                "variant https://h/p/x.m3u8 3 vp09",
            ],
            names: ["2 bad-resolution", "4 bad-resolution", "6 bad-resolution"]
        ),
        Quirk(
            "renditions lack everything, or have a type that is none",
            """
            #EXTM3U
            #EXT-X-MEDIA:
            #EXT-X-MEDIA:TYPE=SMELL,GROUP-ID="a",NAME="A"
            #EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="vp09",AUDIO="a"
            v.m3u8

            """,
            reads: ["multivariant", "rendition", "rendition in a 'A'", "variant https://h/p/v.m3u8 1 vp09 audio a"],
            names: ["2 missing-value", "3 unknown-media-type"]
        ),
        Quirk(
            "a rendition lacks its type",
            kinds: ["MEDIA-missing-TYPE"],
            codes: ["media-without-type", "missing-value"],
            "#EXTM3U\n#EXT-X-MEDIA:GROUP-ID=\"a\",NAME=\"A\"\n",
            reads: ["multivariant", "rendition in a 'A'"],
            names: ["2 media-without-type"]
        ),
        Quirk(
            "a rendition lacks its group",
            kinds: ["MEDIA-missing-GROUP-ID"],
            codes: ["media-without-group", "missing-value"],
            "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,NAME=\"A\",CHANNELS=\"2\"\n",
            reads: ["multivariant", "AUDIO 'A'"],
            names: ["2 media-without-group"]
        ),
        Quirk(
            "a rendition lacks its name",
            kinds: ["MEDIA-missing-NAME"],
            codes: ["media-without-name", "missing-value"],
            "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",CHANNELS=\"2\"\n",
            reads: ["multivariant", "AUDIO in a"],
            names: ["2 media-without-name"]
        ),
        Quirk(
            "a variant names a group that is not there",
            kinds: ["STREAM-INF-unknown-group"],
            codes: ["unknown-audio-group", "unknown-video-group", "unknown-subtitles-group", "unknown-captions-group"],
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"vp09\",AUDIO=\"none\"\nv.m3u8\n",
            reads: ["multivariant", "variant https://h/p/v.m3u8 1 vp09 audio none"],
            names: ["2 unknown-audio-group"]
        ),
    ]

    /// Quirks of URIs.
    private static let addresses: [Quirk] = [
        Quirk(
            "addresses begin above their folder or at the root",
            kinds: ["dotdot-uri", "root-relative-uri"],
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXTINF:4,
            ../a.ts
            #EXTINF:4,
            /b.ts
            #EXTINF:4,
            //c/d.ts
            #EXTINF:4,
            ?e

            """,
            reads: [
                "media, target 6", "0 https://h/a.ts 4 s", "1 https://h/b.ts 4 s", "2 https://c/d.ts 4 s",
                "3 https://h/p/list.m3u8?e 4 s",
            ]
        ),
        Quirk(
            "addresses hold spaces",
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:4,\nmy file.ts\n",
            reads: ["media, target 6", "0 https://h/p/my file.ts 4 s"],
            names: ["4 space-in-address"]
        ),
    ]

    /// Quirks after the end marker.
    private static let ends: [Quirk] = [
        Quirk(
            "tags stand behind the end marker; they hold",
            kinds: ["tag-after-ENDLIST"],
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:00:00.000Z
            #EXTINF:4,
            a.ts
            #EXT-X-ENDLIST
            #EXT-X-DATERANGE:ID="a",START-DATE="2024-01-01T00:00:01.000Z",DURATION=5
            #EXT-X-MEDIA-SEQUENCE:3

            """,
            reads: [
                "media, target 6, from 3, ended", "3 https://h/p/a.ts 4 s 2024-01-01T00:00:00.000Z",
                "date range a START-DATE=2024-01-01T00:00:01.000Z DURATION=5",
            ],
            names: ["8 media-sequence-after-segment"]
        ),
        Quirk(
            "a segment stands behind the end marker; it is one",
            kinds: ["uri-after-ENDLIST"],
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n#EXTINF:5,\nb.ts\n",
            reads: ["media, target 6, ended", "0 https://h/p/a.ts 4 s", "1 https://h/p/b.ts 5 s"]
        ),
    ]
}
