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
                "control-character": "No control character but CR and LF may stand in a playlist.",
                "lone-carriage-return":
                    "A line ends with LF or CR LF; a carriage return must not stand without its line feed.",
                "not-nfc": "Text must be in Unicode normalisation form C.",
                "leading-space": "No white space may stand before a tag or an address.",
                "trailing-space": "No white space may stand behind a tag or an address.",
                "space-in-address": "An address line must not contain white space.",
                "space-in-tag": "No white space may stand between the name of a tag, its colon and its value.",
                "mixed-kinds": "A playlist must not hold tags of both kinds, multivariant and media.",
            ]
        ),
        section(
            "4.2",
            of: .rfc,
            must: [
                "attribute-without-value":
                    "Each member of an attribute list must be a name, an equals sign and a value.",
                "empty-attribute": "An attribute list must not begin or end with a comma or hold two in a row.",
                "unclosed-quote": "A quoted string must end with a quotation mark on the same line.",
                "text-after-quote": "Only a comma may follow the closing quotation mark of a value.",
                "bad-attribute-name": "Attribute names must hold capital letters, digits and hyphens only.",
                "space-in-attribute-list":
                    "No white space may stand around the names, equals signs, values and commas of an attribute list.",
                "repeated-attribute": "An attribute must not stand twice in one list.",
                "not-an-integer": "A decimal integer must be written in digits only.",
                "integer-too-large": "A decimal integer has at most 20 digits and must be at most 2^64-1.",
                "not-hexadecimal": "A hexadecimal sequence must be 0x or 0X and hexadecimal digits.",
                "lowercase-hexadecimal": "The letters of a hexadecimal sequence must be capitals.",
                "not-a-decimal": "A decimal number must be digits with at most one point, without a sign.",
                "not-a-signed-decimal":
                    "A signed decimal number must be an optional minus sign and digits with at most one point.",
                "unquoted-string": "A string value must stand in quotation marks.",
                "quoted-value":
                    "Numbers, resolutions, hexadecimal sequences and single enumerated words stand "
                    + "without quotation marks.",
                "empty-string": "A quoted string must not be empty.",
                "bad-enumerated-list":
                    "A list of enumerated words must hold words without spaces, separated by single commas.",
                "bad-resolution": "A resolution must be two decimal integers with a small x between them.",
                "not-yes-or-no": "A yes-or-no attribute must be YES or NO.",
            ],
            should: [
                "repeated-enumerated-value": "A list of enumerated words should not name one twice."
            ]
        ),
        section(
            "6.3.1",
            of: .rfc,
            must: [
                "undefined-variable": "A variable reference needs an EXT-X-DEFINE of its name above it."
            ]
        ),
        section(
            "4.4",
            of: .rfc,
            must: [
                "missing-value": "A tag that is defined with a value must have one.",
                "unexpected-value": "A tag that is defined without a value must stand alone on its line.",
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
                "repeated-version": "EXT-X-VERSION must not stand more than once.",
                "missing-version": "A playlist that uses anything newer than version 1 must carry EXT-X-VERSION.",
            ]
        ),
        section(
            "4.4.2.1",
            of: .rfc,
            must: [
                "repeated-independent-segments": "EXT-X-INDEPENDENT-SEGMENTS must not stand more than once."
            ],
            should: [
                "independent-segments-in-both":
                    "EXT-X-INDEPENDENT-SEGMENTS of the multivariant playlist should not stand in a "
                    + "media playlist again."
            ]
        ),
        section(
            "4.4.2.2",
            of: .rfc,
            must: [
                "repeated-start": "EXT-X-START must not stand more than once.",
                "start-without-time-offset": "EXT-X-START needs TIME-OFFSET.",
                "start-differs": "EXT-X-START of the multivariant and of a media playlist must say the same.",
            ],
            should: [
                "start-beyond-end": "TIME-OFFSET should not be larger than the playlist is long.",
                "start-near-live-edge":
                    "Without EXT-X-ENDLIST the start should not lie within three target durations of the end.",
                "start-in-both": "EXT-X-START of the multivariant playlist should not stand in a media playlist again.",
            ]
        ),
        section(
            "4.4.2.3",
            of: .rfc,
            must: [
                "define-without-name": "EXT-X-DEFINE needs NAME, IMPORT or QUERYPARAM.",
                "define-with-two-names": "EXT-X-DEFINE must have only one of NAME, IMPORT and QUERYPARAM.",
                "define-without-value": "EXT-X-DEFINE with NAME needs VALUE.",
                "bad-variable-name": "A variable name must hold letters, digits, hyphens and underscores only.",
                "repeated-variable": "Two EXT-X-DEFINE tags must not name the same variable.",
                "import-in-multivariant": "IMPORT must not stand in a multivariant playlist.",
                "query-parameter-missing":
                    "QUERYPARAM must name a query parameter, with a value, of the address of the playlist.",
                "query-parameter-bad-value":
                    "The decoded value of a QUERYPARAM must not hold a quotation mark or a line end.",
                "import-undeclared": "IMPORT must name a variable of the multivariant playlist.",
            ]
        ),
        section(
            "4.4.3",
            of: .rfc,
            must: [
                "repeated-tag": "No tag about the whole media playlist may stand more than once."
            ]
        ),
        section(
            "4.4.3.1",
            of: .rfc,
            must: [
                "missing-target-duration": "A media playlist must carry EXT-X-TARGETDURATION.",
                "target-duration-zero": "The target duration must be at least 1.",
                "longer-than-target":
                    "A segment, rounded to the nearest second, must not be longer than the target duration.",
            ]
        ),
        section(
            "4.4.3.2",
            of: .rfc,
            must: [
                "media-sequence-after-segment": "EXT-X-MEDIA-SEQUENCE must stand before the first segment."
            ]
        ),
        section(
            "4.4.3.3",
            of: .rfc,
            must: [
                "discontinuity-sequence-after-segment":
                    "EXT-X-DISCONTINUITY-SEQUENCE must stand before the first segment.",
                "discontinuity-sequence-after-discontinuity":
                    "EXT-X-DISCONTINUITY-SEQUENCE must stand before any EXT-X-DISCONTINUITY.",
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
                "vod-without-endlist": "A VOD playlist must carry EXT-X-ENDLIST.",
                "date-time-overlap": "A program date must not reach back a second or more into the segment before.",
            ],
            should: [
                "discontinuity-without-date":
                    "Where a playlist gives program dates, each segment behind a discontinuity should have one.",
                "version-too-high": "EXT-X-VERSION should not be higher than the playlist needs.",
            ]
        ),
        section(
            "4.4.4.9",
            of: .rfc,
            must: [
                "part-without-uri": "EXT-X-PART needs URI.",
                "part-without-duration": "EXT-X-PART needs DURATION.",
                "part-longer-than-target": "A partial segment must not be longer than the part target duration.",
                "part-too-short": "A partial segment must be at least 85 % of the part target duration.",
                "part-byte-range-without-offset":
                    "A byte range of a part without a start must follow a range of the same resource "
                    + "in the same segment.",
                "tag-after-part":
                    "Discontinuity, key, map and program date of a segment must stand before its first part.",
            ],
            should: [
                "parts-in-i-frames-only": "An I-frame playlist should not use partial segments."
            ]
        ),
        section(
            "4.4.3.7",
            of: .rfc,
            must: [
                "missing-part-inf": "A playlist with EXT-X-PART must carry EXT-X-PART-INF.",
                "part-inf-without-target": "EXT-X-PART-INF needs PART-TARGET.",
            ]
        ),
        section(
            "4.4.3.8",
            of: .rfc,
            must: [
                "skip-boundary-too-short": "CAN-SKIP-UNTIL must be at least six target durations.",
                "skip-date-ranges-without-boundary": "CAN-SKIP-DATERANGES needs CAN-SKIP-UNTIL.",
                "hold-back-too-short": "HOLD-BACK must be at least three target durations.",
                "part-hold-back-too-short": "PART-HOLD-BACK must be at least twice the part target duration.",
                "missing-part-hold-back": "A playlist with EXT-X-PART-INF must give PART-HOLD-BACK.",
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
                "extinf-without-comma": "A comma must stand behind the duration of EXTINF, with or without a title.",
                "address-without-extinf": "Each segment needs an EXTINF.",
            ]
        ),
        section(
            "4.4.4",
            of: .rfc,
            must: [
                "extinf-without-address": "An EXTINF must be followed by the address of its segment."
            ]
        ),
        section(
            "4.4.4.2",
            of: .rfc,
            must: [
                "bad-byte-range": "A byte range must be a length, and optionally an at sign and a start, in digits.",
                "byte-range-without-offset":
                    "A byte range without a start must follow a byte range of the same resource.",
            ]
        ),
        section(
            "4.4.4.4",
            of: .rfc,
            must: [
                "unknown-key-method": "METHOD must be NONE, AES-128, SAMPLE-AES, SAMPLE-AES-CTR or AES-256-GCM.",
                "key-without-method": "A key tag needs METHOD.",
                "key-without-uri": "A key tag needs URI unless METHOD is NONE.",
                "none-key-with-attributes": "A key tag with METHOD=NONE must have no other attribute.",
                "iv-too-long": "IV must be a number of 128 bits, so at most 32 hexadecimal digits.",
                "ctr-key-with-iv": "A SAMPLE-AES-CTR key must not have IV.",
                "gcm-key-with-iv": "An AES-256-GCM key must not have IV.",
                "bad-key-format-versions": "KEYFORMATVERSIONS must be positive integers with slashes between them.",
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
                "map-without-uri": "EXT-X-MAP needs URI.",
                "map-byte-range-without-offset": "BYTERANGE of EXT-X-MAP needs a start.",
                "map-key-without-iv": "An AES-128 key that applies to an EXT-X-MAP needs IV.",
            ]
        ),
        section(
            "3.1.2",
            of: .rfc,
            must: [
                "fmp4-without-map": "A fragmented MPEG-4 segment needs an EXT-X-MAP above it."
            ]
        ),
        section(
            "4.4.4.6",
            of: .rfc,
            must: [
                "bad-date": "EXT-X-PROGRAM-DATE-TIME must be an ISO 8601 date and time."
            ],
            should: [
                "date-without-zone": "EXT-X-PROGRAM-DATE-TIME should give a time zone.",
                "date-without-milliseconds": "EXT-X-PROGRAM-DATE-TIME should be given to the millisecond.",
            ]
        ),
        section(
            "3.2",
            of: .rfc,
            must: [
                "parts-longer-than-segment": "The parts of a segment must hold no more media than the segment."
            ]
        ),
        section(
            "6.2.2",
            of: .rfc,
            should: [
                "parts-too-old": "Parts more than three target durations from the end should be taken out.",
                "live-playlist-short": "A live playlist that has dropped segments should last three target durations.",
                "discontinuity-without-sequence":
                    "A live playlist that drops segments and has discontinuities should carry "
                    + "EXT-X-DISCONTINUITY-SEQUENCE.",
            ]
        ),
        section(
            "B.1",
            of: .rfc,
            should: [
                "part-without-preload-hint": "A live playlist with parts should hint the next part.",
                "part-without-date": "A playlist with parts should carry program dates.",
                "rendition-report-missing": "A low-latency media playlist should report on every other media playlist.",
            ]
        ),
        section(
            "4.4.5.1",
            of: .rfc,
            must: [
                "date-range-without-id": "EXT-X-DATERANGE needs ID.",
                "date-range-without-start": "The first EXT-X-DATERANGE of an ID needs START-DATE.",
                "bad-date-range-date": "START-DATE and END-DATE must be ISO 8601 dates and times.",
                "date-range-ends-before-start": "END-DATE must not be earlier than START-DATE.",
                "negative-duration": "DURATION and PLANNED-DURATION of a date range must not be negative.",
                "date-range-end-differs": "END-DATE must equal START-DATE plus DURATION.",
                "cue-pre-and-post": "CUE must not hold both PRE and POST.",
                "end-on-next-not-yes": "END-ON-NEXT must be YES.",
                "end-on-next-without-class": "A date range with END-ON-NEXT needs CLASS.",
                "end-on-next-with-end": "A date range with END-ON-NEXT must not have DURATION or END-DATE.",
                "date-ranges-overlap": "Where a class uses END-ON-NEXT, its other date ranges must not overlap.",
                "date-range-attribute-differs":
                    "Two EXT-X-DATERANGE tags of one ID must give the same value to the same attribute.",
                "date-range-without-program-date": "A playlist with EXT-X-DATERANGE needs an EXT-X-PROGRAM-DATE-TIME.",
                "bad-extension-attribute":
                    "The value of an X- attribute must be a quoted string, a hexadecimal sequence or a decimal number.",
            ],
            should: [
                "date-range-without-zone": "The dates of a date range should give a time zone.",
                "date-range-without-milliseconds": "The dates of a date range should be given to the millisecond.",
                "unknown-cue": "CUE should list PRE, POST and ONCE only.",
            ]
        ),
        section(
            "4.4.5.1.1",
            of: .rfc,
            must: [
                "scte35-not-a-section":
                    "An SCTE-35 attribute must hold a whole splice_info_section, in whole octets "
                    + "from table id 0xFC on.",
                "splice-without-end":
                    "Where SCTE35-OUT and SCTE35-IN of one ID stand in two tags, one must give DURATION or END-DATE.",
            ]
        ),
        section(
            "D.2",
            of: .rfc,
            must: [
                "interstitial-without-asset": "An interstitial needs X-ASSET-URI or X-ASSET-LIST.",
                "interstitial-with-two-assets": "An interstitial must not have both X-ASSET-URI and X-ASSET-LIST.",
                "relative-asset-uri": "X-ASSET-URI must be an absolute address.",
            ],
            should: [
                "unknown-snap": "X-SNAP should list OUT and IN only.",
                "unknown-restriction": "X-RESTRICT should list SKIP and JUMP only.",
                "unknown-content-may-vary": "X-CONTENT-MAY-VARY should be \"YES\" or \"NO\".",
                "unknown-timeline-occupies": "X-TIMELINE-OCCUPIES should be \"POINT\" or \"RANGE\".",
                "unknown-timeline-style": "X-TIMELINE-STYLE should be \"HIGHLIGHT\" or \"PRIMARY\".",
            ]
        ),
        section(
            "D.3",
            of: .rfc,
            must: [
                "bad-skip-label": "X-SKIP-CONTROL-LABEL-ID must hold letters, hyphens and underscores only."
            ]
        ),
        section(
            "D.4",
            of: .rfc,
            should: [
                "interstitial-without-query-id":
                    "The asset address of an interstitial should carry its ID as _HLS_interstitial_id.",
                "reserved-query-parameter":
                    "The asset address of an interstitial should have no other query parameter that begins with _HLS_.",
            ]
        ),
        section(
            "F",
            of: .rfc,
            must: [
                "preload-without-uri": "A preload date range needs X-URI.",
                "preload-without-target-id": "A preload date range needs X-TARGET-ID.",
                "preload-without-target-class": "A preload date range needs X-TARGET-CLASS.",
                "preload-without-end": "A preload date range needs DURATION or END-DATE.",
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
                "repeated-skip": "EXT-X-SKIP must not stand more than once.",
                "skip-without-count": "EXT-X-SKIP needs SKIPPED-SEGMENTS.",
            ]
        ),
        section(
            "6.2.5.1",
            of: .rfc,
            must: [
                "skip-after-segment": "EXT-X-SKIP must stand before the segments that remain.",
                "skip-without-server-control": "A playlist with EXT-X-SKIP must announce CAN-SKIP-UNTIL.",
                "skip-with-endlist": "A playlist with EXT-X-ENDLIST must not be a delta update.",
                "skip-too-much": "The segments that a delta update keeps must reach back to the skip boundary.",
            ]
        ),
        section(
            "4.4.5.3",
            of: .rfc,
            must: [
                "preload-hint-without-type": "EXT-X-PRELOAD-HINT needs TYPE.",
                "preload-hint-without-uri": "EXT-X-PRELOAD-HINT needs URI.",
                "unknown-preload-hint-type": "TYPE of EXT-X-PRELOAD-HINT must be PART or MAP.",
                "preload-hint-after-end": "A playlist with EXT-X-ENDLIST must not hint.",
            ]
        ),
        section(
            "6.2.6",
            of: .rfc,
            should: [
                "repeated-preload-hint": "There should be no more than one hint of each TYPE."
            ]
        ),
        section(
            "4.4.5.4",
            of: .rfc,
            must: [
                "rendition-report-without-uri": "EXT-X-RENDITION-REPORT needs URI.",
                "absolute-rendition-report": "URI of EXT-X-RENDITION-REPORT must be relative.",
            ]
        ),
        section(
            "4.4.6.2",
            of: .rfc,
            must: [
                "address-without-stream-inf":
                    "Each address line of a multivariant playlist follows an EXT-X-STREAM-INF.",
                "stream-inf-without-address": "An EXT-X-STREAM-INF must be followed by an address line.",
                "missing-attribute": "EXT-X-STREAM-INF and EXT-X-I-FRAME-STREAM-INF need BANDWIDTH.",
                "bandwidth-zero": "BANDWIDTH must be the peak bit rate, so not 0.",
                "score-not-positive": "SCORE must be a positive number.",
                "bad-codecs": "CODECS must be a list of RFC 6381 names, separated by single commas without spaces.",
                "bad-supplemental-codecs":
                    "SUPPLEMENTAL-CODECS must list codec names, each with brands of four characters behind slashes.",
                "supplemental-without-codecs":
                    "A variant with SUPPLEMENTAL-CODECS must declare the base layers in CODECS.",
                "frame-rate-too-precise": "FRAME-RATE must be rounded to three decimal places.",
                "unknown-hdcp-level": "HDCP-LEVEL must be TYPE-0, TYPE-1 or NONE.",
                "bad-allowed-cpc":
                    "ALLOWED-CPC must list key formats, each with a colon and labels of capitals, "
                    + "digits and hyphens behind it.",
                "unknown-video-range": "VIDEO-RANGE must be SDR, HLG or PQ.",
                "empty-video-layout": "REQ-VIDEO-LAYOUT and each of its entries must not be empty.",
                "repeated-layout-specifier": "An entry of REQ-VIDEO-LAYOUT must not hold two specifiers of one kind.",
                "bad-stable-variant-id": "STABLE-VARIANT-ID must hold letters, digits and + / = . - _ only.",
                "unknown-audio-group": "AUDIO must name a group of audio renditions.",
                "unknown-video-group": "VIDEO must name a group of video renditions.",
                "unknown-subtitles-group": "SUBTITLES must name a group of subtitle renditions.",
                "unknown-captions-group":
                    "CLOSED-CAPTIONS must name a group of closed captions, or be NONE without quotation marks.",
                "captions-none-not-everywhere": "Where one variant has CLOSED-CAPTIONS=NONE all must.",
                "child-not-media": "A variant or rendition must name a media playlist.",
            ],
            should: [
                "average-above-peak": "AVERAGE-BANDWIDTH should not be larger than BANDWIDTH.",
                "missing-score": "Where one variant has SCORE all should.",
                "missing-codecs": "EXT-X-STREAM-INF should have CODECS.",
                "unknown-video-layout":
                    "REQ-VIDEO-LAYOUT should hold CH-STEREO, CH-MONO, PROJ-RECT, PROJ-EQUI, "
                    + "PROJ-HEQU and PROJ-PRIM only.",
                "needless-video-layout":
                    "REQ-VIDEO-LAYOUT should be left out where it names only CH-MONO and PROJ-RECT.",
                "stable-variant-id-differs": "Variants with one URI should have one STABLE-VARIANT-ID.",
            ]
        ),
        section(
            "4.4.6.1",
            of: .rfc,
            must: [
                "media-without-type": "EXT-X-MEDIA needs TYPE.",
                "unknown-media-type": "TYPE of EXT-X-MEDIA must be AUDIO, VIDEO, SUBTITLES or CLOSED-CAPTIONS.",
                "media-without-group": "EXT-X-MEDIA needs GROUP-ID.",
                "media-without-name": "EXT-X-MEDIA needs NAME.",
                "captions-with-uri": "EXT-X-MEDIA for closed captions must not have URI.",
                "bad-language": "LANGUAGE and ASSOC-LANGUAGE must be language tags of RFC 5646.",
                "bad-stable-rendition-id": "STABLE-RENDITION-ID must hold letters, digits and + / = . - _ only.",
                "default-not-autoselect": "A rendition with DEFAULT=YES must not have AUTOSELECT=NO.",
                "forced-not-subtitles": "FORCED must not be present unless TYPE is SUBTITLES.",
                "captions-without-instream-id": "EXT-X-MEDIA for closed captions needs INSTREAM-ID.",
                "bad-captions-instream-id":
                    "INSTREAM-ID of closed captions must be CC1 to CC4 or SERVICE1 to SERVICE63.",
                "bad-instream-id": "INSTREAM-ID of other types must hold letters, digits and points only.",
                "bit-depth-not-audio": "BIT-DEPTH must not be present unless TYPE is AUDIO.",
                "sample-rate-not-audio": "SAMPLE-RATE must not be present unless TYPE is AUDIO.",
                "channels-not-audio": "CHANNELS must not be present unless TYPE is AUDIO.",
                "bad-channels":
                    "CHANNELS must be a count, and behind slashes lists of identifiers in capitals, "
                    + "digits and hyphens.",
                "channel-usage-without-coding": "Where CHANNELS has a third parameter the second must not be empty.",
            ],
            should: [
                "stable-rendition-id-differs": "Renditions with one URI should have one STABLE-RENDITION-ID.",
                "unknown-channel-usage":
                    "The third parameter of CHANNELS should list BINAURAL, IMMERSIVE, DOWNMIX, BED-n, DOF-3 or DOF-6.",
                "missing-channels": "Audio renditions should have CHANNELS.",
            ]
        ),
        section(
            "4.4.6.2.1",
            of: .rfc,
            must: [
                "subtitles-without-uri": "EXT-X-MEDIA for subtitles needs URI."
            ]
        ),
        section(
            "4.4.6.1.1",
            of: .rfc,
            must: [
                "repeated-name": "The members of a group must have different names.",
                "repeated-default": "A group must not have more than one member with DEFAULT=YES.",
                "group-members-differ": "Groups of one TYPE must have the same members.",
                "group-attributes-differ": "Members with one NAME in groups of one TYPE must have the same attributes.",
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
                "i-frame-stream-without-uri": "EXT-X-I-FRAME-STREAM-INF needs URI.",
                "i-frame-playlist-without-tag":
                    "The playlist of EXT-X-I-FRAME-STREAM-INF must carry EXT-X-I-FRAMES-ONLY.",
            ],
            should: [
                "undefined-i-frame-attribute":
                    "EXT-X-I-FRAME-STREAM-INF should have no FRAME-RATE, AUDIO, SUBTITLES or CLOSED-CAPTIONS.",
                "missing-i-frame-renditions":
                    "Where there are video renditions and I-frame playlists, there should be I-frame "
                    + "renditions with the same names.",
            ]
        ),
        section(
            "4.4.6.4",
            of: .rfc,
            must: [
                "session-data-without-id": "EXT-X-SESSION-DATA needs DATA-ID.",
                "session-data-without-value": "EXT-X-SESSION-DATA needs VALUE or URI.",
                "session-data-with-two-values": "EXT-X-SESSION-DATA must not have both VALUE and URI.",
                "unknown-session-data-format": "FORMAT of EXT-X-SESSION-DATA must be JSON or RAW.",
                "repeated-session-data": "Two EXT-X-SESSION-DATA tags must not have the same DATA-ID and LANGUAGE.",
            ],
            should: [
                "data-id-without-domain": "DATA-ID should be a reversed domain name."
            ]
        ),
        section(
            "E.1",
            of: .rfc,
            must: [
                "reserved-data-without-uri":
                    "Localised rendition names and media presentation settings must be given by URI."
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
                    "A key that several media playlists use should stand in the multivariant "
                    + "playlist as EXT-X-SESSION-KEY."
            ]
        ),
        section(
            "4.4.6.6",
            of: .rfc,
            must: [
                "repeated-content-steering": "EXT-X-CONTENT-STEERING must not stand more than once.",
                "steering-without-server": "EXT-X-CONTENT-STEERING needs SERVER-URI.",
                "bad-pathway-id": "PATHWAY-ID must hold letters, digits, points, hyphens and underscores only.",
                "unknown-pathway": "PATHWAY-ID of EXT-X-CONTENT-STEERING must be that of a variant.",
            ]
        ),
        section(
            "8",
            of: .rfc,
            must: [
                "version-for-iv": "IV of EXT-X-KEY needs version 2.",
                "version-for-decimal-duration": "Durations with a decimal point need version 3.",
                "version-for-byte-range": "EXT-X-BYTERANGE needs version 4.",
                "version-for-i-frames-only": "EXT-X-I-FRAMES-ONLY needs version 4.",
                "version-for-sample-aes": "METHOD=SAMPLE-AES needs version 5.",
                "version-for-key-format": "KEYFORMAT and KEYFORMATVERSIONS need version 5.",
                "version-for-i-frame-map": "EXT-X-MAP in an I-frame playlist needs version 5.",
                "version-for-map": "EXT-X-MAP outside an I-frame playlist needs version 6.",
                "version-for-service-captions": "SERVICE captions need version 7.",
                "version-for-variables": "Variable substitution needs version 8.",
                "version-for-skip": "EXT-X-SKIP needs version 9.",
                "version-for-skipped-date-ranges": "EXT-X-SKIP that replaces date ranges needs version 10.",
                "version-for-query-parameter": "QUERYPARAM needs version 11.",
                "version-for-required-attribute": "An attribute whose name begins with REQ- needs version 12.",
                "version-for-in-stream-rendition": "INSTREAM-ID on other types than closed captions needs version 13.",
            ],
            should: [
                "removed-program-id": "PROGRAM-ID went out with version 6.",
                "removed-allow-cache": "EXT-X-ALLOW-CACHE went out with version 7.",
            ]
        ),
        section(
            "6.2.4",
            of: .rfc,
            must: [
                "target-durations-differ": "All media playlists must have the same target duration.",
                "playlist-types-differ": "All media playlists must have the same EXT-X-PLAYLIST-TYPE, or none.",
                "program-dates-missing": "Where one media playlist gives program dates all must.",
                "date-ranges-differ": "All media playlists with date ranges must have the same ones.",
                "server-controls-differ":
                    "Where one media playlist has EXT-X-SERVER-CONTROL all must, with the same attributes.",
                "discontinuities-differ": "Matching content must have matching discontinuity sequence numbers.",
                "durations-differ":
                    "Content that one variant has and another has not must not be longer than the "
                    + "smallest target duration.",
            ]
        ),
    ].flatMap { $0 }
}
