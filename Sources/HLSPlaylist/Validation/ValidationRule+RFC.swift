extension ValidationRule {
    /// The requirements (MUST) and recommendations (SHOULD) of RFC 8216bis that can be checked in the text of
    /// playlists.
    static let rfcRules: [ValidationRule] = [
        section(
            "4.1",
            of: .rfc,
            must: [
                "byte-order-mark": "A playlist must not begin with a byte-order mark.",
                "not-utf-8": "A playlist must be valid UTF-8.",
                "control-character": "A playlist must not contain control characters other than CR and LF.",
                "lone-carriage-return":
                    "A line must end with LF or CR LF; a carriage return must be followed by a line feed.",
                "not-nfc": "Text must be in Unicode normalization form C.",
                "leading-space": "There must be no white space before a tag or a URI.",
                "trailing-space": "There must be no white space after a tag or a URI.",
                "space-in-address": "A URI line must not contain white space.",
                "space-in-tag": "There must be no white space between the name of a tag, its colon and its value.",
                "mixed-kinds": "A playlist must not contain both multivariant and media playlist tags.",
            ]
        ),
        section(
            "4.2",
            of: .rfc,
            must: [
                "attribute-without-value":
                    "Each attribute must consist of a name, an equals sign and a value.",
                "empty-attribute":
                    "An attribute list must not begin or end with a comma or contain two commas in a row.",
                "unclosed-quote": "A quoted string must end with a quotation mark on the same line.",
                "text-after-quote": "Only a comma may follow the closing quotation mark of a value.",
                "bad-attribute-name": "Attribute names must contain only uppercase letters, digits and hyphens.",
                "space-in-attribute-list":
                    "An attribute list must not contain white space outside quoted strings.",
                "repeated-attribute": "An attribute must not appear more than once in a list.",
                "not-an-integer": "A decimal integer must consist of digits only.",
                "integer-too-large": "A decimal integer must have at most 20 digits and be at most 2^64-1.",
                "not-hexadecimal": "A hexadecimal sequence must be 0x or 0X, followed by hexadecimal digits.",
                "lowercase-hexadecimal": "The letters of a hexadecimal sequence must be uppercase.",
                "not-a-decimal":
                    "A decimal number must consist of digits and at most one decimal point, without a sign.",
                "not-a-signed-decimal":
                    "A signed decimal number must be digits with at most one decimal point and an optional minus sign.",
                "unquoted-string": "A string value must be in quotation marks.",
                "quoted-value":
                    "Numbers, resolutions, hexadecimal sequences and single enumerated strings must be "
                    + "without quotation marks.",
                "empty-string": "A quoted string must not be empty.",
                "bad-enumerated-list":
                    "An enumerated string list must contain strings without spaces, separated by single commas.",
                "bad-resolution": "A resolution must be two decimal integers, separated by a lowercase x.",
                "not-yes-or-no": "The value of this attribute must be YES or NO.",
            ],
            should: [
                "repeated-enumerated-value": "An enumerated string list should not contain a string more than once."
            ]
        ),
        section(
            "6.3.1",
            of: .rfc,
            must: [
                "undefined-variable": "A variable must be defined by EXT-X-DEFINE before it is referenced."
            ]
        ),
        section(
            "4.4",
            of: .rfc,
            must: [
                "missing-value": "A tag that is defined with a value must have a value.",
                "unexpected-value": "A tag that is defined without a value must not have a value.",
            ]
        ),
        section(
            "4.4.1.1",
            of: .rfc,
            must: [
                "header-not-first": "The first line must be #EXTM3U."
            ]
        ),
        section(
            "4.4.1.2",
            of: .rfc,
            must: [
                "repeated-version": "EXT-X-VERSION must not appear more than once.",
                "missing-version": "A playlist that requires a version greater than 1 must have EXT-X-VERSION.",
            ]
        ),
        section(
            "4.4.2.1",
            of: .rfc,
            must: [
                "repeated-independent-segments": "EXT-X-INDEPENDENT-SEGMENTS must not appear more than once."
            ],
            should: [
                "independent-segments-in-both":
                    "EXT-X-INDEPENDENT-SEGMENTS of the multivariant playlist should not be repeated in a "
                    + "media playlist."
            ]
        ),
        section(
            "4.4.2.2",
            of: .rfc,
            must: [
                "repeated-start": "EXT-X-START must not appear more than once.",
                "start-without-time-offset": "EXT-X-START must have TIME-OFFSET.",
                "start-differs": "EXT-X-START must be the same in the multivariant and media playlists.",
            ],
            should: [
                "start-beyond-end": "The absolute value of TIME-OFFSET should not exceed the duration of the playlist.",
                "start-near-live-edge":
                    "Without EXT-X-ENDLIST, the start should be at least three target durations before the end.",
                "start-in-both": "EXT-X-START of the multivariant playlist should not be repeated in a media playlist.",
            ]
        ),
        section(
            "4.4.2.3",
            of: .rfc,
            must: [
                "define-without-name": "EXT-X-DEFINE must have NAME, IMPORT or QUERYPARAM.",
                "define-with-two-names": "EXT-X-DEFINE must have only one of NAME, IMPORT and QUERYPARAM.",
                "define-without-value": "EXT-X-DEFINE with NAME must have VALUE.",
                "bad-variable-name": "A variable name must contain only letters, digits, hyphens and underscores.",
                "repeated-variable": "A variable must not be defined more than once.",
                "import-in-multivariant": "IMPORT must not appear in a multivariant playlist.",
                "query-parameter-missing":
                    "QUERYPARAM must name a query parameter with a value in the URL of the playlist.",
                "query-parameter-bad-value":
                    "The decoded value of a QUERYPARAM must not contain quotation marks or line endings.",
                "import-undeclared": "IMPORT must name a variable of the multivariant playlist.",
            ]
        ),
        section(
            "4.4.3",
            of: .rfc,
            must: [
                "repeated-tag": "A media playlist tag must not appear more than once."
            ]
        ),
        section(
            "4.4.3.1",
            of: .rfc,
            must: [
                "missing-target-duration": "A media playlist must have EXT-X-TARGETDURATION.",
                "target-duration-zero": "The target duration must be at least 1.",
                "longer-than-target":
                    "The segment duration, rounded to the nearest second, must not exceed the target duration.",
            ]
        ),
        section(
            "4.4.3.2",
            of: .rfc,
            must: [
                "media-sequence-after-segment": "EXT-X-MEDIA-SEQUENCE must appear before the first segment."
            ]
        ),
        section(
            "4.4.3.3",
            of: .rfc,
            must: [
                "discontinuity-sequence-after-segment":
                    "EXT-X-DISCONTINUITY-SEQUENCE must appear before the first segment.",
                "discontinuity-sequence-after-discontinuity":
                    "EXT-X-DISCONTINUITY-SEQUENCE must appear before any EXT-X-DISCONTINUITY.",
            ]
        ),
        section(
            "4.4.3.5",
            of: .rfc,
            must: [
                "unknown-playlist-type": "EXT-X-PLAYLIST-TYPE must be EVENT or VOD."
            ]
        ),
        section(
            "6.2.1",
            of: .rfc,
            must: [
                "vod-without-endlist": "A VOD playlist must have EXT-X-ENDLIST.",
                "date-time-overlap":
                    "A program date must not be a second or more before the end of the previous segment.",
            ],
            should: [
                "discontinuity-without-date":
                    "In a playlist with program dates, each segment after a discontinuity should have one.",
                "version-too-high": "EXT-X-VERSION should not be higher than the version that the playlist requires.",
            ]
        ),
        section(
            "4.4.4.9",
            of: .rfc,
            must: [
                "part-without-uri": "EXT-X-PART must have URI.",
                "part-without-duration": "EXT-X-PART must have DURATION.",
                "part-longer-than-target":
                    "The duration of a partial segment must not exceed the part target duration.",
                "part-too-short": "A partial segment must be at least 85 % of the part target duration.",
                "part-byte-range-without-offset":
                    "A byte range of a part without an offset must follow a range of the same resource "
                    + "in the same segment.",
                "tag-after-part":
                    "The discontinuity, key, map and program date of a segment must precede its first part.",
            ],
            should: [
                "parts-in-i-frames-only": "An I-frame playlist should not use partial segments."
            ]
        ),
        section(
            "4.4.3.7",
            of: .rfc,
            must: [
                "missing-part-inf": "A playlist with EXT-X-PART must have EXT-X-PART-INF.",
                "part-inf-without-target": "EXT-X-PART-INF must have PART-TARGET.",
            ]
        ),
        section(
            "4.4.3.8",
            of: .rfc,
            must: [
                "skip-boundary-too-short": "CAN-SKIP-UNTIL must be at least six target durations.",
                "skip-date-ranges-without-boundary": "CAN-SKIP-DATERANGES must have CAN-SKIP-UNTIL.",
                "hold-back-too-short": "HOLD-BACK must be at least three target durations.",
                "part-hold-back-too-short": "PART-HOLD-BACK must be at least twice the part target duration.",
                "missing-part-hold-back": "A playlist with EXT-X-PART-INF must have PART-HOLD-BACK.",
            ],
            should: [
                "part-hold-back-short": "PART-HOLD-BACK should be at least three times the part target duration."
            ]
        ),
        section(
            "4.4.4.1",
            of: .rfc,
            must: [
                "bad-duration": "EXTINF must begin with a decimal number of seconds.",
                "extinf-without-comma": "The duration of EXTINF must be followed by a comma, with or without a title.",
                "address-without-extinf": "Each segment must have an EXTINF.",
            ]
        ),
        section(
            "4.4.4",
            of: .rfc,
            must: [
                "extinf-without-address": "An EXTINF must be followed by the URI of its segment."
            ]
        ),
        section(
            "4.4.4.2",
            of: .rfc,
            must: [
                "bad-byte-range": "A byte range must be a length, optionally followed by an at sign and an offset.",
                "byte-range-without-offset":
                    "A byte range without an offset must follow a byte range of the same resource.",
            ]
        ),
        section(
            "4.4.4.4",
            of: .rfc,
            must: [
                "unknown-key-method": "METHOD must be NONE, AES-128, SAMPLE-AES, SAMPLE-AES-CTR or AES-256-GCM.",
                "key-without-method": "A key tag must have METHOD.",
                "key-without-uri": "A key tag must have URI unless METHOD is NONE.",
                "none-key-with-attributes": "A key tag with METHOD=NONE must not have other attributes.",
                "iv-too-long": "IV must be a 128-bit number, with at most 32 hexadecimal digits.",
                "ctr-key-with-iv": "A SAMPLE-AES-CTR key must not have IV.",
                "gcm-key-with-iv": "An AES-256-GCM key must not have IV.",
                "bad-key-format-versions": "KEYFORMATVERSIONS must be positive integers, separated by slashes.",
            ]
        ),
        section(
            "6.2.3",
            of: .rfc,
            must: [
                "key-methods-differ": "All keys that apply to a segment must have the same METHOD."
            ]
        ),
        section(
            "4.4.4.5",
            of: .rfc,
            must: [
                "map-without-uri": "EXT-X-MAP must have URI.",
                "map-byte-range-without-offset": "BYTERANGE of EXT-X-MAP must have an offset.",
                "map-key-without-iv": "An AES-128 key that applies to an EXT-X-MAP must have IV.",
            ]
        ),
        section(
            "3.1.2",
            of: .rfc,
            must: [
                "fmp4-without-map": "A fragmented MPEG-4 segment must have an EXT-X-MAP."
            ]
        ),
        section(
            "4.4.4.6",
            of: .rfc,
            must: [
                "bad-date": "EXT-X-PROGRAM-DATE-TIME must be an ISO 8601 date and time."
            ],
            should: [
                "date-without-zone": "EXT-X-PROGRAM-DATE-TIME should have a time zone.",
                "date-without-milliseconds": "EXT-X-PROGRAM-DATE-TIME should have millisecond accuracy.",
            ]
        ),
        section(
            "3.2",
            of: .rfc,
            must: [
                "parts-longer-than-segment":
                    "The total duration of the parts must not exceed the duration of their segment."
            ]
        ),
        section(
            "6.2.2",
            of: .rfc,
            should: [
                "parts-too-old": "Parts more than three target durations from the end should be removed.",
                "live-playlist-short":
                    "A live playlist that has removed segments should last at least three target durations.",
                "discontinuity-without-sequence":
                    "A live playlist that removes segments and has discontinuities should have "
                    + "EXT-X-DISCONTINUITY-SEQUENCE.",
            ]
        ),
        section(
            "B.1",
            of: .rfc,
            should: [
                "part-without-preload-hint":
                    "A live playlist with parts should have an EXT-X-PRELOAD-HINT for the next part.",
                "part-without-date": "A playlist with parts should have program dates.",
                "rendition-report-missing":
                    "A low-latency media playlist should have a rendition report for every other media playlist.",
            ]
        ),
        section(
            "4.4.5.1",
            of: .rfc,
            must: [
                "date-range-without-id": "EXT-X-DATERANGE must have ID.",
                "date-range-without-start": "The first EXT-X-DATERANGE with an ID must have START-DATE.",
                "bad-date-range-date": "START-DATE and END-DATE must be ISO 8601 dates and times.",
                "date-range-ends-before-start": "END-DATE must not be earlier than START-DATE.",
                "negative-duration": "DURATION and PLANNED-DURATION of a date range must not be negative.",
                "date-range-end-differs": "END-DATE must equal START-DATE plus DURATION.",
                "cue-pre-and-post": "CUE must not contain both PRE and POST.",
                "end-on-next-not-yes": "END-ON-NEXT must be YES.",
                "end-on-next-without-class": "A date range with END-ON-NEXT must have CLASS.",
                "end-on-next-with-end": "A date range with END-ON-NEXT must not have DURATION or END-DATE.",
                "date-ranges-overlap":
                    "If a date range has END-ON-NEXT, the date ranges of its class must not overlap.",
                "date-range-attribute-differs":
                    "EXT-X-DATERANGE tags with the same ID must have the same value for the same attribute.",
                "date-range-without-program-date":
                    "A playlist with EXT-X-DATERANGE must have an EXT-X-PROGRAM-DATE-TIME.",
                "bad-extension-attribute":
                    "The value of an X- attribute must be a quoted string, a hexadecimal sequence or a decimal number.",
            ],
            should: [
                "date-range-without-zone": "The dates of a date range should have a time zone.",
                "date-range-without-milliseconds": "The dates of a date range should have millisecond accuracy.",
                "unknown-cue": "CUE should contain only PRE, POST and ONCE.",
            ]
        ),
        section(
            "4.4.5.1.1",
            of: .rfc,
            must: [
                "scte35-not-a-section":
                    "An SCTE-35 attribute must contain a complete splice_info_section, in whole octets, "
                    + "which begins with the table ID 0xFC.",
                "splice-without-end":
                    "If SCTE35-OUT and SCTE35-IN of an ID are in two tags, one must have DURATION or END-DATE.",
            ]
        ),
        section(
            "D.2",
            of: .rfc,
            must: [
                "interstitial-without-asset": "An interstitial must have X-ASSET-URI or X-ASSET-LIST.",
                "interstitial-with-two-assets": "An interstitial must not have both X-ASSET-URI and X-ASSET-LIST.",
                "relative-asset-uri": "X-ASSET-URI must be an absolute URL.",
            ],
            should: [
                "unknown-snap": "X-SNAP should contain only OUT and IN.",
                "unknown-restriction": "X-RESTRICT should contain only SKIP and JUMP.",
                "unknown-content-may-vary": "X-CONTENT-MAY-VARY should be \"YES\" or \"NO\".",
                "unknown-timeline-occupies": "X-TIMELINE-OCCUPIES should be \"POINT\" or \"RANGE\".",
                "unknown-timeline-style": "X-TIMELINE-STYLE should be \"HIGHLIGHT\" or \"PRIMARY\".",
            ]
        ),
        section(
            "D.3",
            of: .rfc,
            must: [
                "bad-skip-label": "X-SKIP-CONTROL-LABEL-ID must contain only letters, hyphens and underscores."
            ]
        ),
        section(
            "D.4",
            of: .rfc,
            should: [
                "interstitial-without-query-id":
                    "The asset URL of an interstitial should contain its ID as _HLS_interstitial_id.",
                "reserved-query-parameter":
                    "The asset URL of an interstitial should have no other query parameter that begins with _HLS_.",
            ]
        ),
        section(
            "F",
            of: .rfc,
            must: [
                "preload-without-uri": "A preload date range must have X-URI.",
                "preload-without-target-id": "A preload date range must have X-TARGET-ID.",
                "preload-without-target-class": "A preload date range must have X-TARGET-CLASS.",
                "preload-without-end": "A preload date range must have DURATION or END-DATE.",
                "preload-with-trigger": "A preload date range must have neither CUE nor END-ON-NEXT.",
            ],
            should: [
                "preload-target-class-differs":
                    "X-TARGET-CLASS should be the class of the date range that X-TARGET-ID names."
            ]
        ),
        section(
            "4.4.5.2",
            of: .rfc,
            must: [
                "repeated-skip": "EXT-X-SKIP must not appear more than once.",
                "skip-without-count": "EXT-X-SKIP must have SKIPPED-SEGMENTS.",
            ]
        ),
        section(
            "6.2.5.1",
            of: .rfc,
            must: [
                "skip-after-segment": "EXT-X-SKIP must appear before the first segment.",
                "skip-without-server-control":
                    "A playlist with EXT-X-SKIP must have CAN-SKIP-UNTIL in EXT-X-SERVER-CONTROL.",
                "skip-with-endlist": "A playlist with EXT-X-ENDLIST must not be a delta update.",
                "skip-too-much": "A delta update must contain all segments after the skip boundary.",
            ]
        ),
        section(
            "4.4.5.3",
            of: .rfc,
            must: [
                "preload-hint-without-type": "EXT-X-PRELOAD-HINT must have TYPE.",
                "preload-hint-without-uri": "EXT-X-PRELOAD-HINT must have URI.",
                "unknown-preload-hint-type": "TYPE of EXT-X-PRELOAD-HINT must be PART or MAP.",
                "preload-hint-after-end": "A playlist with EXT-X-ENDLIST must not have EXT-X-PRELOAD-HINT.",
            ]
        ),
        section(
            "6.2.6",
            of: .rfc,
            should: [
                "repeated-preload-hint": "There should be at most one EXT-X-PRELOAD-HINT of each TYPE."
            ]
        ),
        section(
            "4.4.5.4",
            of: .rfc,
            must: [
                "rendition-report-without-uri": "EXT-X-RENDITION-REPORT must have URI.",
                "absolute-rendition-report": "URI of EXT-X-RENDITION-REPORT must be relative.",
            ]
        ),
        section(
            "4.4.6.2",
            of: .rfc,
            must: [
                "address-without-stream-inf":
                    "Each URI line of a multivariant playlist must follow an EXT-X-STREAM-INF.",
                "stream-inf-without-address": "An EXT-X-STREAM-INF must be followed by a URI line.",
                "missing-attribute": "EXT-X-STREAM-INF and EXT-X-I-FRAME-STREAM-INF must have BANDWIDTH.",
                "bandwidth-zero": "BANDWIDTH must be the peak bit rate, which is greater than 0.",
                "score-not-positive": "SCORE must be a positive number.",
                "bad-codecs": "CODECS must be a list of RFC 6381 names, separated by single commas without spaces.",
                "bad-supplemental-codecs":
                    "SUPPLEMENTAL-CODECS must list codecs, each followed by slashes and brands of up to 4 characters.",
                "supplemental-without-codecs":
                    "A variant with SUPPLEMENTAL-CODECS must declare the base layers in CODECS.",
                "frame-rate-too-precise": "FRAME-RATE must be rounded to three decimal places.",
                "unknown-hdcp-level": "HDCP-LEVEL must be TYPE-0, TYPE-1 or NONE.",
                "bad-allowed-cpc":
                    "ALLOWED-CPC must list key formats, each followed by a colon and labels of uppercase letters, "
                    + "digits and hyphens.",
                "unknown-video-range": "VIDEO-RANGE must be SDR, HLG or PQ.",
                "empty-video-layout": "The specifiers of REQ-VIDEO-LAYOUT must not be empty.",
                "repeated-layout-specifier":
                    "An entry of REQ-VIDEO-LAYOUT must not contain two specifiers of the same kind.",
                "bad-stable-variant-id":
                    "STABLE-VARIANT-ID must contain only letters, digits and + / = . - _ characters.",
                "unknown-audio-group": "AUDIO must name a group of audio renditions.",
                "unknown-video-group": "VIDEO must name a group of video renditions.",
                "unknown-subtitles-group": "SUBTITLES must name a group of subtitle renditions.",
                "unknown-captions-group":
                    "CLOSED-CAPTIONS must name a group of closed captions, or be NONE without quotation marks.",
                "captions-none-not-everywhere": "If one variant has CLOSED-CAPTIONS=NONE, all variants must have it.",
                "child-not-media": "The URI of a variant or rendition must refer to a media playlist.",
            ],
            should: [
                "average-above-peak": "AVERAGE-BANDWIDTH should not be greater than BANDWIDTH.",
                "missing-score": "If one variant has SCORE, all variants should have it.",
                "missing-codecs": "EXT-X-STREAM-INF should have CODECS.",
                "unknown-video-layout":
                    "REQ-VIDEO-LAYOUT should contain only CH-STEREO, CH-MONO, PROJ-RECT, PROJ-EQUI, "
                    + "PROJ-HEQU and PROJ-PRIM.",
                "needless-video-layout":
                    "REQ-VIDEO-LAYOUT should be omitted if it contains only CH-MONO and PROJ-RECT.",
                "stable-variant-id-differs": "Variants with the same URI should have the same STABLE-VARIANT-ID.",
            ]
        ),
        section(
            "4.4.6.1",
            of: .rfc,
            must: [
                "media-without-type": "EXT-X-MEDIA must have TYPE.",
                "unknown-media-type": "TYPE of EXT-X-MEDIA must be AUDIO, VIDEO, SUBTITLES or CLOSED-CAPTIONS.",
                "media-without-group": "EXT-X-MEDIA must have GROUP-ID.",
                "media-without-name": "EXT-X-MEDIA must have NAME.",
                "captions-with-uri": "EXT-X-MEDIA for closed captions must not have URI.",
                "bad-language": "LANGUAGE and ASSOC-LANGUAGE must be language tags of RFC 5646.",
                "bad-stable-rendition-id":
                    "STABLE-RENDITION-ID must contain only letters, digits and + / = . - _ characters.",
                "default-not-autoselect": "A rendition with DEFAULT=YES must not have AUTOSELECT=NO.",
                "forced-not-subtitles": "FORCED must not be present unless TYPE is SUBTITLES.",
                "captions-without-instream-id": "EXT-X-MEDIA for closed captions must have INSTREAM-ID.",
                "bad-captions-instream-id":
                    "INSTREAM-ID of closed captions must be CC1 to CC4 or SERVICE1 to SERVICE63.",
                "bad-instream-id": "INSTREAM-ID of other types must contain only letters, digits and periods.",
                "bit-depth-not-audio": "BIT-DEPTH must not be present unless TYPE is AUDIO.",
                "sample-rate-not-audio": "SAMPLE-RATE must not be present unless TYPE is AUDIO.",
                "channels-not-audio": "CHANNELS must not be present unless TYPE is AUDIO.",
                "bad-channels":
                    "CHANNELS must be a count, optionally followed by slashes and lists of identifiers of capitals, "
                    + "digits and hyphens.",
                "channel-usage-without-coding": "If CHANNELS has a third parameter, the second must not be empty.",
            ],
            should: [
                "stable-rendition-id-differs": "Renditions with the same URI should have the same STABLE-RENDITION-ID.",
                "unknown-channel-usage":
                    "The third parameter of CHANNELS should list BINAURAL, IMMERSIVE, DOWNMIX, BED-n, DOF-3 or DOF-6.",
                "missing-channels": "Audio renditions should have CHANNELS.",
            ]
        ),
        section(
            "4.4.6.2.1",
            of: .rfc,
            must: [
                "subtitles-without-uri": "EXT-X-MEDIA for subtitles must have URI."
            ]
        ),
        section(
            "4.4.6.1.1",
            of: .rfc,
            must: [
                "repeated-name": "The members of a group must have different names.",
                "repeated-default": "A group must not have more than one member with DEFAULT=YES.",
                "group-members-differ": "Groups of the same TYPE must have the same members.",
                "group-attributes-differ":
                    "Members with the same NAME in groups of the same TYPE must have the same attributes.",
            ],
            should: [
                "autoselect-ambiguous":
                    "AUTOSELECT=YES members of a group should differ in LANGUAGE, ASSOC-LANGUAGE, "
                    + "FORCED or CHARACTERISTICS."
            ]
        ),
        section(
            "4.4.6.3",
            of: .rfc,
            must: [
                "i-frame-stream-without-uri": "EXT-X-I-FRAME-STREAM-INF must have URI.",
                "i-frame-playlist-without-tag":
                    "The playlist of EXT-X-I-FRAME-STREAM-INF must have EXT-X-I-FRAMES-ONLY.",
            ],
            should: [
                "undefined-i-frame-attribute":
                    "EXT-X-I-FRAME-STREAM-INF should not have FRAME-RATE, AUDIO, SUBTITLES or CLOSED-CAPTIONS.",
                "missing-i-frame-renditions":
                    "A presentation with video renditions and I-frame playlists should have I-frame "
                    + "renditions with the same names.",
            ]
        ),
        section(
            "4.4.6.4",
            of: .rfc,
            must: [
                "session-data-without-id": "EXT-X-SESSION-DATA must have DATA-ID.",
                "session-data-without-value": "EXT-X-SESSION-DATA must have VALUE or URI.",
                "session-data-with-two-values": "EXT-X-SESSION-DATA must not have both VALUE and URI.",
                "unknown-session-data-format": "FORMAT of EXT-X-SESSION-DATA must be JSON or RAW.",
                "repeated-session-data": "Two EXT-X-SESSION-DATA tags must not have the same DATA-ID and LANGUAGE.",
            ],
            should: [
                "data-id-without-domain": "DATA-ID should be in reverse-DNS notation."
            ]
        ),
        section(
            "E.1",
            of: .rfc,
            must: [
                "reserved-data-without-uri":
                    "Localized rendition names and media presentation settings must be given by URI."
            ]
        ),
        section(
            "4.4.6.5",
            of: .rfc,
            must: [
                "session-key-method-none": "METHOD of EXT-X-SESSION-KEY must not be NONE.",
                "repeated-session-key":
                    "Two EXT-X-SESSION-KEY tags must not have the same METHOD, URI, IV, KEYFORMAT "
                    + "and KEYFORMATVERSIONS.",
                "session-key-differs":
                    "METHOD, KEYFORMAT and KEYFORMATVERSIONS of EXT-X-SESSION-KEY must match each "
                    + "EXT-X-KEY with the same URI.",
            ],
            should: [
                "missing-session-key":
                    "A key that several media playlists use should be in the multivariant "
                    + "playlist as EXT-X-SESSION-KEY."
            ]
        ),
        section(
            "4.4.6.6",
            of: .rfc,
            must: [
                "repeated-content-steering": "EXT-X-CONTENT-STEERING must not appear more than once.",
                "steering-without-server": "EXT-X-CONTENT-STEERING must have SERVER-URI.",
                "bad-pathway-id": "PATHWAY-ID must contain only letters, digits, periods, hyphens and underscores.",
                "unknown-pathway": "PATHWAY-ID of EXT-X-CONTENT-STEERING must be that of a variant.",
            ]
        ),
        section(
            "8",
            of: .rfc,
            must: [
                "version-for-iv": "IV of EXT-X-KEY requires version 2.",
                "version-for-decimal-duration": "Durations with a decimal point require version 3.",
                "version-for-byte-range": "EXT-X-BYTERANGE requires version 4.",
                "version-for-i-frames-only": "EXT-X-I-FRAMES-ONLY requires version 4.",
                "version-for-sample-aes": "METHOD=SAMPLE-AES requires version 5.",
                "version-for-key-format": "KEYFORMAT and KEYFORMATVERSIONS require version 5.",
                "version-for-i-frame-map": "EXT-X-MAP in an I-frame playlist requires version 5.",
                "version-for-map": "EXT-X-MAP outside an I-frame playlist requires version 6.",
                "version-for-service-captions": "SERVICE captions require version 7.",
                "version-for-variables": "Variable substitution requires version 8.",
                "version-for-skip": "EXT-X-SKIP requires version 9.",
                "version-for-skipped-date-ranges": "EXT-X-SKIP that replaces date ranges requires version 10.",
                "version-for-query-parameter": "QUERYPARAM requires version 11.",
                "version-for-required-attribute": "An attribute whose name begins with REQ- requires version 12.",
                "version-for-in-stream-rendition":
                    "INSTREAM-ID on other types than closed captions requires version 13.",
            ],
            should: [
                "removed-program-id": "PROGRAM-ID must not be used from version 6 on.",
                "removed-allow-cache": "EXT-X-ALLOW-CACHE must not be used from version 7 on.",
            ]
        ),
        section(
            "6.2.4",
            of: .rfc,
            must: [
                "target-durations-differ": "All media playlists must have the same target duration.",
                "playlist-types-differ": "All media playlists must have the same EXT-X-PLAYLIST-TYPE, or none of them.",
                "program-dates-missing": "If one media playlist has program dates, all media playlists must have them.",
                "date-ranges-differ": "All media playlists with date ranges must have the same date ranges.",
                "server-controls-differ":
                    "If one media playlist has EXT-X-SERVER-CONTROL, all must have it with the same attributes.",
                "discontinuities-differ": "Matching content must have matching discontinuity sequence numbers.",
                "durations-differ":
                    "Content that is missing from a variant must not be longer than the "
                    + "smallest target duration.",
            ]
        ),
    ].flatMap { $0 }
}
