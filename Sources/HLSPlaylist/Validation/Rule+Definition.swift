extension Rule {
    /// The set, section, severity and statement of the rule.
    var definition: ValidationRule {
        switch self {
        case .byteOrderMark: must("4.1", "A playlist must not begin with a byte-order mark.")
        case .notUTF8: must("4.1", "A playlist must be valid UTF-8.")
        case .controlCharacter: must("4.1", "A playlist must not contain control characters other than CR and LF.")
        case .loneCarriageReturn:
            must("4.1", "A line must end with LF or CR LF; a carriage return must be followed by a line feed.")
        case .notNFC: must("4.1", "Text must be in Unicode normalization form C.")
        case .leadingSpace: must("4.1", "There must be no white space before a tag or a URI.")
        case .trailingSpace: must("4.1", "There must be no white space after a tag or a URI.")
        case .spaceInAddress: must("4.1", "A URI line must not contain white space.")
        case .invalidURI:
            must("4.1", "The host of a URI must be a valid name or IP address, and its port a number of at most 65535.")
        case .spaceInTag:
            must("4.1", "There must be no white space between the name of a tag, its colon and its value.")
        case .mixedKinds: must("4.1", "A playlist must not contain both multivariant and media playlist tags.")

        case .attributeWithoutValue: must("4.2", "Each attribute must consist of a name, an equals sign and a value.")
        case .emptyAttribute:
            must("4.2", "An attribute list must not begin or end with a comma or contain two commas in a row.")
        case .unclosedQuote: must("4.2", "A quoted string must end with a quotation mark on the same line.")
        case .textAfterQuote: must("4.2", "Only a comma may follow the closing quotation mark of a value.")
        case .badAttributeName: must("4.2", "Attribute names must contain only uppercase letters, digits and hyphens.")
        case .spaceInAttributeList:
            must("4.2", "An attribute list must not contain white space outside quoted strings.")
        case .repeatedAttribute: must("4.2", "An attribute must not appear more than once in a list.")
        case .notAnInteger: must("4.2", "A decimal integer must consist of digits only.")
        case .integerTooLarge: must("4.2", "A decimal integer must have at most 20 digits and be at most 2^64-1.")
        case .integerAboveLimit:
            should(
                "4.2",
                "A sequence number should be at most 2^60, and the end of a byte range and other integers at most "
                    + "2^63-1, because players ignore larger numbers."
            )
        case .notHexadecimal: must("4.2", "A hexadecimal sequence must be 0x or 0X, followed by hexadecimal digits.")
        case .lowercaseHexadecimal: must("4.2", "The letters of a hexadecimal sequence must be uppercase.")
        case .notADecimal:
            must("4.2", "A decimal number must consist of digits and at most one decimal point, without a sign.")
        case .notASignedDecimal:
            must(
                "4.2",
                "A signed decimal number must be digits with at most one decimal point and an optional minus sign."
            )
        case .unquotedString: must("4.2", "A string value must be in quotation marks.")
        case .quotedValue:
            must(
                "4.2",
                "Numbers, resolutions, hexadecimal sequences and single enumerated strings must be without "
                    + "quotation marks."
            )
        case .emptyString: must("4.2", "A quoted string must not be empty.")
        case .badEnumeratedList:
            must("4.2", "An enumerated string list must contain strings without spaces, separated by single commas.")
        case .badResolution: must("4.2", "A resolution must be two decimal integers, separated by a lowercase x.")
        case .notYesOrNo: must("4.2", "The value of this attribute must be YES or NO.")
        case .repeatedEnumeratedValue:
            should("4.2", "An enumerated string list should not contain a string more than once.")

        case .undefinedVariable: must("6.3.1", "A variable must be defined by EXT-X-DEFINE before it is referenced.")

        case .missingValue: must("4.4", "A tag that is defined with a value must have a value.")
        case .unexpectedValue: must("4.4", "A tag that is defined without a value must not have a value.")
        case .missingAttribute: must("4.4", "A tag must have its required attributes.")

        case .headerNotFirst: must("4.4.1.1", "The first line must be #EXTM3U.")

        case .repeatedVersion: must("4.4.1.2", "EXT-X-VERSION must not appear more than once.")
        case .missingVersion:
            must("4.4.1.2", "A playlist that requires a version greater than 1 must have EXT-X-VERSION.")

        case .repeatedIndependentSegments: must("4.4.2.1", "EXT-X-INDEPENDENT-SEGMENTS must not appear more than once.")
        case .independentSegmentsInBoth:
            should(
                "4.4.2.1",
                "EXT-X-INDEPENDENT-SEGMENTS of the multivariant playlist should not be repeated in a media playlist."
            )

        case .repeatedStart: must("4.4.2.2", "EXT-X-START must not appear more than once.")
        case .startWithoutTimeOffset: must("4.4.2.2", "EXT-X-START must have TIME-OFFSET.")
        case .startDiffers: must("4.4.2.2", "EXT-X-START must be the same in the multivariant and media playlists.")
        case .startBeyondEnd:
            should("4.4.2.2", "The absolute value of TIME-OFFSET should not exceed the duration of the playlist.")
        case .startNearLiveEdge:
            should(
                "4.4.2.2",
                "Without EXT-X-ENDLIST, the start should be at least three target durations before the end."
            )
        case .startInBoth:
            should("4.4.2.2", "EXT-X-START of the multivariant playlist should not be repeated in a media playlist.")

        case .defineWithoutName: must("4.4.2.3", "EXT-X-DEFINE must have NAME, IMPORT or QUERYPARAM.")
        case .defineWithTwoNames: must("4.4.2.3", "EXT-X-DEFINE must have only one of NAME, IMPORT and QUERYPARAM.")
        case .defineWithoutValue: must("4.4.2.3", "EXT-X-DEFINE with NAME must have VALUE.")
        case .badVariableName:
            must("4.4.2.3", "A variable name must contain only letters, digits, hyphens and underscores.")
        case .repeatedVariable: must("4.4.2.3", "A variable must not be defined more than once.")
        case .importInMultivariant: must("4.4.2.3", "IMPORT must not appear in a multivariant playlist.")
        case .queryParameterMissing:
            must("4.4.2.3", "QUERYPARAM must name a query parameter with a value in the URL of the playlist.")
        case .queryParameterBadValue:
            must("4.4.2.3", "The decoded value of a QUERYPARAM must not contain quotation marks or line endings.")
        case .importUndeclared: must("4.4.2.3", "IMPORT must name a variable of the multivariant playlist.")

        case .repeatedTag: must("4.4.3", "A media playlist tag must not appear more than once.")

        case .missingTargetDuration: must("4.4.3.1", "A media playlist must have EXT-X-TARGETDURATION.")
        case .targetDurationZero: must("4.4.3.1", "The target duration must be at least 1.")
        case .longerThanTarget:
            must("4.4.3.1", "The segment duration, rounded to the nearest second, must not exceed the target duration.")

        case .mediaSequenceAfterSegment: must("4.4.3.2", "EXT-X-MEDIA-SEQUENCE must appear before the first segment.")

        case .discontinuitySequenceAfterSegment:
            must("4.4.3.3", "EXT-X-DISCONTINUITY-SEQUENCE must appear before the first segment.")
        case .discontinuitySequenceAfterDiscontinuity:
            must("4.4.3.3", "EXT-X-DISCONTINUITY-SEQUENCE must appear before any EXT-X-DISCONTINUITY.")

        case .unknownPlaylistType: must("4.4.3.5", "EXT-X-PLAYLIST-TYPE must be EVENT or VOD.")

        case .vodWithoutEndList: must("6.2.1", "A VOD playlist must have EXT-X-ENDLIST.")
        case .dateTimeOverlap:
            must("6.2.1", "A program date must not be a second or more before the end of the previous segment.")
        case .discontinuityWithoutDate:
            should("6.2.1", "In a playlist with program dates, each segment after a discontinuity should have one.")
        case .versionTooHigh:
            should("6.2.1", "EXT-X-VERSION should not be higher than the version that the playlist requires.")

        case .partWithoutURI: must("4.4.4.9", "EXT-X-PART must have URI.")
        case .partWithoutDuration: must("4.4.4.9", "EXT-X-PART must have DURATION.")
        case .partLongerThanTarget:
            must("4.4.4.9", "The duration of a partial segment must not exceed the part target duration.")
        case .partTooShort: must("4.4.4.9", "A partial segment must be at least 85 % of the part target duration.")
        case .partByteRangeWithoutOffset:
            must(
                "4.4.4.9",
                "A byte range of a part without an offset must follow a range of the same resource in the same segment."
            )
        case .tagAfterPart:
            must("4.4.4.9", "The discontinuity, key, map and program date of a segment must precede its first part.")
        case .partsInIFramesOnly: should("4.4.4.9", "An I-frame playlist should not use partial segments.")

        case .missingPartInf: must("4.4.3.7", "A playlist with EXT-X-PART must have EXT-X-PART-INF.")
        case .partInfWithoutTarget: must("4.4.3.7", "EXT-X-PART-INF must have PART-TARGET.")

        case .skipBoundaryTooShort: must("4.4.3.8", "CAN-SKIP-UNTIL must be at least six target durations.")
        case .skipDateRangesWithoutBoundary: must("4.4.3.8", "CAN-SKIP-DATERANGES must have CAN-SKIP-UNTIL.")
        case .holdBackTooShort: must("4.4.3.8", "HOLD-BACK must be at least three target durations.")
        case .partHoldBackTooShort: must("4.4.3.8", "PART-HOLD-BACK must be at least twice the part target duration.")
        case .missingPartHoldBack: must("4.4.3.8", "A playlist with EXT-X-PART-INF must have PART-HOLD-BACK.")
        case .partHoldBackShort:
            should("4.4.3.8", "PART-HOLD-BACK should be at least three times the part target duration.")

        case .badDuration: must("4.4.4.1", "EXTINF must begin with a decimal number of seconds.")
        case .extinfWithoutComma:
            must("4.4.4.1", "The duration of EXTINF must be followed by a comma, with or without a title.")
        case .addressWithoutExtinf: must("4.4.4.1", "Each segment must have an EXTINF.")

        case .extinfWithoutAddress: must("4.4.4", "An EXTINF must be followed by the URI of its segment.")

        case .badByteRange:
            must(
                "4.4.4.2",
                "A byte range must be a length, optionally followed by an at sign and an offset, each at most 2^64-1."
            )
        case .byteRangeWithoutOffset:
            must("4.4.4.2", "A byte range without an offset must follow a byte range of the same resource.")

        case .unknownKeyMethod:
            must("4.4.4.4", "METHOD must be NONE, AES-128, SAMPLE-AES, SAMPLE-AES-CTR or AES-256-GCM.")
        case .keyWithoutMethod: must("4.4.4.4", "A key tag must have METHOD.")
        case .keyWithoutURI: must("4.4.4.4", "A key tag must have URI unless METHOD is NONE.")
        case .noneKeyWithAttributes: must("4.4.4.4", "A key tag with METHOD=NONE must not have other attributes.")
        case .ivTooLong: must("4.4.4.4", "IV must be a 128-bit number, with at most 32 hexadecimal digits.")
        case .ctrKeyWithIV: must("4.4.4.4", "A SAMPLE-AES-CTR key must not have IV.")
        case .gcmKeyWithIV: must("4.4.4.4", "An AES-256-GCM key must not have IV.")
        case .badKeyFormatVersions:
            must("4.4.4.4", "KEYFORMATVERSIONS must be positive integers, separated by slashes.")

        case .keyMethodsDiffer: must("6.2.3", "All keys that apply to a segment must have the same METHOD.")

        case .mapWithoutURI: must("4.4.4.5", "EXT-X-MAP must have URI.")
        case .mapByteRangeWithoutOffset: must("4.4.4.5", "BYTERANGE of EXT-X-MAP must have an offset.")
        case .mapKeyWithoutIV: must("4.4.4.5", "An AES-128 key that applies to an EXT-X-MAP must have IV.")

        case .fmp4WithoutMap: must("3.1.2", "A fragmented MPEG-4 segment must have an EXT-X-MAP.")

        case .badDate: must("4.4.4.6", "EXT-X-PROGRAM-DATE-TIME must be an ISO 8601 date and time.")
        case .dateWithoutZone: should("4.4.4.6", "EXT-X-PROGRAM-DATE-TIME should have a time zone.")
        case .dateWithoutMilliseconds: should("4.4.4.6", "EXT-X-PROGRAM-DATE-TIME should have millisecond accuracy.")

        case .partsLongerThanSegment:
            must("3.2", "The total duration of the parts must not exceed the duration of their segment.")

        case .partsTooOld: should("6.2.2", "Parts more than three target durations from the end should be removed.")
        case .livePlaylistShort:
            should("6.2.2", "A live playlist that has removed segments should last at least three target durations.")
        case .discontinuityWithoutSequence:
            should(
                "6.2.2",
                "A live playlist that removes segments and has discontinuities should have "
                    + "EXT-X-DISCONTINUITY-SEQUENCE."
            )

        case .partWithoutPreloadHint:
            should("B.1", "A live playlist with parts should have an EXT-X-PRELOAD-HINT for the next part.")
        case .partWithoutDate: should("B.1", "A playlist with parts should have program dates.")
        case .renditionReportMissing:
            should("B.1", "A low-latency media playlist should have a rendition report for every other media playlist.")

        case .dateRangeWithoutID: must("4.4.5.1", "EXT-X-DATERANGE must have ID.")
        case .dateRangeWithoutStart: must("4.4.5.1", "The first EXT-X-DATERANGE with an ID must have START-DATE.")
        case .badDateRangeDate: must("4.4.5.1", "START-DATE and END-DATE must be ISO 8601 dates and times.")
        case .dateRangeEndsBeforeStart: must("4.4.5.1", "END-DATE must not be earlier than START-DATE.")
        case .negativeDuration: must("4.4.5.1", "DURATION and PLANNED-DURATION of a date range must not be negative.")
        case .dateRangeEndDiffers: must("4.4.5.1", "END-DATE must equal START-DATE plus DURATION.")
        case .cuePreAndPost: must("4.4.5.1", "CUE must not contain both PRE and POST.")
        case .endOnNextNotYes: must("4.4.5.1", "END-ON-NEXT must be YES.")
        case .endOnNextWithoutClass: must("4.4.5.1", "A date range with END-ON-NEXT must have CLASS.")
        case .endOnNextWithEnd: must("4.4.5.1", "A date range with END-ON-NEXT must not have DURATION or END-DATE.")
        case .dateRangesOverlap:
            must("4.4.5.1", "If a date range has END-ON-NEXT, the date ranges of its class must not overlap.")
        case .dateRangeAttributeDiffers:
            must("4.4.5.1", "EXT-X-DATERANGE tags with the same ID must have the same value for the same attribute.")
        case .dateRangeWithoutProgramDate:
            must("4.4.5.1", "A playlist with EXT-X-DATERANGE must have an EXT-X-PROGRAM-DATE-TIME.")
        case .badExtensionAttribute:
            must(
                "4.4.5.1",
                "The value of an X- attribute must be a quoted string, a hexadecimal sequence or a decimal number."
            )
        case .dateRangeWithoutZone: should("4.4.5.1", "The dates of a date range should have a time zone.")
        case .dateRangeWithoutMilliseconds:
            should("4.4.5.1", "The dates of a date range should have millisecond accuracy.")
        case .unknownCue: should("4.4.5.1", "CUE should contain only PRE, POST and ONCE.")

        case .scte35NotASection:
            must(
                "4.4.5.1.1",
                "An SCTE-35 attribute must contain a complete splice_info_section, in whole octets, which "
                    + "begins with the table ID 0xFC."
            )
        case .spliceWithoutEnd:
            must(
                "4.4.5.1.1",
                "If SCTE35-OUT and SCTE35-IN of an ID are in two tags, one must have DURATION or END-DATE."
            )

        case .interstitialWithoutAsset: must("D.2", "An interstitial must have X-ASSET-URI or X-ASSET-LIST.")
        case .interstitialWithTwoAssets: must("D.2", "An interstitial must not have both X-ASSET-URI and X-ASSET-LIST.")
        case .relativeAssetURI: must("D.2", "X-ASSET-URI must be an absolute URL.")
        case .unknownSnap: should("D.2", "X-SNAP should contain only OUT and IN.")
        case .unknownRestriction: should("D.2", "X-RESTRICT should contain only SKIP and JUMP.")
        case .unknownContentMayVary: should("D.2", "X-CONTENT-MAY-VARY should be \"YES\" or \"NO\".")
        case .unknownTimelineOccupies: should("D.2", "X-TIMELINE-OCCUPIES should be \"POINT\" or \"RANGE\".")
        case .unknownTimelineStyle: should("D.2", "X-TIMELINE-STYLE should be \"HIGHLIGHT\" or \"PRIMARY\".")

        case .badSkipLabel: must("D.3", "X-SKIP-CONTROL-LABEL-ID must contain only letters, hyphens and underscores.")

        case .interstitialWithoutQueryID:
            should("D.4", "The asset URL of an interstitial should contain its ID as _HLS_interstitial_id.")
        case .reservedQueryParameter:
            should(
                "D.4",
                "The asset URL of an interstitial should have no other query parameter that begins with _HLS_."
            )

        case .preloadWithoutURI: must("F", "A preload date range must have X-URI.")
        case .preloadWithoutTargetID: must("F", "A preload date range must have X-TARGET-ID.")
        case .preloadWithoutTargetClass: must("F", "A preload date range must have X-TARGET-CLASS.")
        case .preloadWithoutEnd: must("F", "A preload date range must have DURATION or END-DATE.")
        case .preloadWithTrigger: must("F", "A preload date range must have neither CUE nor END-ON-NEXT.")
        case .preloadTargetClassDiffers:
            should("F", "X-TARGET-CLASS should be the class of the date range that X-TARGET-ID names.")

        case .repeatedSkip: must("4.4.5.2", "EXT-X-SKIP must not appear more than once.")
        case .skipWithoutCount: must("4.4.5.2", "EXT-X-SKIP must have SKIPPED-SEGMENTS.")

        case .skipAfterSegment: must("6.2.5.1", "EXT-X-SKIP must appear before the first segment.")
        case .skipWithoutServerControl:
            must("6.2.5.1", "A playlist with EXT-X-SKIP must have CAN-SKIP-UNTIL in EXT-X-SERVER-CONTROL.")
        case .skipWithEndList: must("6.2.5.1", "A playlist with EXT-X-ENDLIST must not be a delta update.")
        case .skipTooMuch: must("6.2.5.1", "A delta update must contain all segments after the skip boundary.")

        case .preloadHintWithoutType: must("4.4.5.3", "EXT-X-PRELOAD-HINT must have TYPE.")
        case .preloadHintWithoutURI: must("4.4.5.3", "EXT-X-PRELOAD-HINT must have URI.")
        case .unknownPreloadHintType: must("4.4.5.3", "TYPE of EXT-X-PRELOAD-HINT must be PART or MAP.")
        case .preloadHintAfterEnd: must("4.4.5.3", "A playlist with EXT-X-ENDLIST must not have EXT-X-PRELOAD-HINT.")

        case .repeatedPreloadHint: should("6.2.6", "There should be at most one EXT-X-PRELOAD-HINT of each TYPE.")

        case .renditionReportWithoutURI: must("4.4.5.4", "EXT-X-RENDITION-REPORT must have URI.")
        case .absoluteRenditionReport: must("4.4.5.4", "URI of EXT-X-RENDITION-REPORT must be relative.")

        case .addressWithoutStreamInf:
            must("4.4.6.2", "Each URI line of a multivariant playlist must follow an EXT-X-STREAM-INF.")
        case .streamInfWithoutAddress: must("4.4.6.2", "An EXT-X-STREAM-INF must be followed by a URI line.")
        case .bandwidthZero: must("4.4.6.2", "BANDWIDTH must be the peak bit rate, which is greater than 0.")
        case .scoreNotPositive: must("4.4.6.2", "SCORE must be a positive number.")
        case .badCodecs:
            must("4.4.6.2", "CODECS must be a list of RFC 6381 names, separated by single commas without spaces.")
        case .badSupplementalCodecs:
            must(
                "4.4.6.2",
                "SUPPLEMENTAL-CODECS must list codecs, each followed by slashes and brands of up to 4 characters."
            )
        case .supplementalWithoutCodecs:
            must("4.4.6.2", "A variant with SUPPLEMENTAL-CODECS must declare the base layers in CODECS.")
        case .frameRateTooPrecise: must("4.4.6.2", "FRAME-RATE must be rounded to three decimal places.")
        case .unknownHDCPLevel: must("4.4.6.2", "HDCP-LEVEL must be TYPE-0, TYPE-1 or NONE.")
        case .badAllowedCPC:
            must(
                "4.4.6.2",
                "ALLOWED-CPC must list key formats, each followed by a colon and labels of uppercase letters, "
                    + "digits and hyphens."
            )
        case .unknownVideoRange: must("4.4.6.2", "VIDEO-RANGE must be SDR, HLG or PQ.")
        case .emptyVideoLayout: must("4.4.6.2", "The specifiers of REQ-VIDEO-LAYOUT must not be empty.")
        case .repeatedLayoutSpecifier:
            must("4.4.6.2", "An entry of REQ-VIDEO-LAYOUT must not contain two specifiers of the same kind.")
        case .badStableVariantID:
            must("4.4.6.2", "STABLE-VARIANT-ID must contain only letters, digits and + / = . - _ characters.")
        case .unknownAudioGroup: must("4.4.6.2", "AUDIO must name a group of audio renditions.")
        case .unknownVideoGroup: must("4.4.6.2", "VIDEO must name a group of video renditions.")
        case .unknownSubtitlesGroup: must("4.4.6.2", "SUBTITLES must name a group of subtitle renditions.")
        case .unknownCaptionsGroup:
            must("4.4.6.2", "CLOSED-CAPTIONS must name a group of closed captions, or be NONE without quotation marks.")
        case .captionsNoneNotEverywhere:
            must("4.4.6.2", "If one variant has CLOSED-CAPTIONS=NONE, all variants must have it.")
        case .childNotMedia: must("4.4.6.2", "The URI of a variant or rendition must refer to a media playlist.")
        case .averageAbovePeak: should("4.4.6.2", "AVERAGE-BANDWIDTH should not be greater than BANDWIDTH.")
        case .missingScore: should("4.4.6.2", "If one variant has SCORE, all variants should have it.")
        case .missingCodecs: should("4.4.6.2", "EXT-X-STREAM-INF should have CODECS.")
        case .unknownVideoLayout:
            should(
                "4.4.6.2",
                "REQ-VIDEO-LAYOUT should contain only CH-STEREO, CH-MONO, PROJ-RECT, PROJ-EQUI, PROJ-HEQU and "
                    + "PROJ-PRIM."
            )
        case .needlessVideoLayout:
            should("4.4.6.2", "REQ-VIDEO-LAYOUT should be omitted if it contains only CH-MONO and PROJ-RECT.")
        case .stableVariantIDDiffers:
            should("4.4.6.2", "Variants with the same URI should have the same STABLE-VARIANT-ID.")

        case .mediaWithoutType: must("4.4.6.1", "EXT-X-MEDIA must have TYPE.")
        case .unknownMediaType:
            must("4.4.6.1", "TYPE of EXT-X-MEDIA must be AUDIO, VIDEO, SUBTITLES or CLOSED-CAPTIONS.")
        case .mediaWithoutGroup: must("4.4.6.1", "EXT-X-MEDIA must have GROUP-ID.")
        case .mediaWithoutName: must("4.4.6.1", "EXT-X-MEDIA must have NAME.")
        case .captionsWithURI: must("4.4.6.1", "EXT-X-MEDIA for closed captions must not have URI.")
        case .badLanguage: must("4.4.6.1", "LANGUAGE and ASSOC-LANGUAGE must be language tags of RFC 5646.")
        case .badStableRenditionID:
            must("4.4.6.1", "STABLE-RENDITION-ID must contain only letters, digits and + / = . - _ characters.")
        case .defaultNotAutoselect: must("4.4.6.1", "A rendition with DEFAULT=YES must not have AUTOSELECT=NO.")
        case .forcedNotSubtitles: must("4.4.6.1", "FORCED must not be present unless TYPE is SUBTITLES.")
        case .captionsWithoutInstreamID: must("4.4.6.1", "EXT-X-MEDIA for closed captions must have INSTREAM-ID.")
        case .badCaptionsInstreamID:
            must("4.4.6.1", "INSTREAM-ID of closed captions must be CC1 to CC4 or SERVICE1 to SERVICE63.")
        case .badInstreamID:
            must("4.4.6.1", "INSTREAM-ID of other types must contain only letters, digits and periods.")
        case .bitDepthNotAudio: must("4.4.6.1", "BIT-DEPTH must not be present unless TYPE is AUDIO.")
        case .sampleRateNotAudio: must("4.4.6.1", "SAMPLE-RATE must not be present unless TYPE is AUDIO.")
        case .channelsNotAudio: must("4.4.6.1", "CHANNELS must not be present unless TYPE is AUDIO.")
        case .badChannels:
            must(
                "4.4.6.1",
                "CHANNELS must be a count, optionally followed by slashes and lists of identifiers of capitals, "
                    + "digits and hyphens."
            )
        case .channelUsageWithoutCoding:
            must("4.4.6.1", "If CHANNELS has a third parameter, the second must not be empty.")
        case .stableRenditionIDDiffers:
            should("4.4.6.1", "Renditions with the same URI should have the same STABLE-RENDITION-ID.")
        case .unknownChannelUsage:
            should(
                "4.4.6.1",
                "The third parameter of CHANNELS should list BINAURAL, IMMERSIVE, DOWNMIX, BED-n, DOF-3 or DOF-6."
            )
        case .missingChannels: should("4.4.6.1", "Audio renditions should have CHANNELS.")

        case .subtitlesWithoutURI: must("4.4.6.2.1", "EXT-X-MEDIA for subtitles must have URI.")

        case .repeatedName: must("4.4.6.1.1", "The members of a group must have different names.")
        case .repeatedDefault: must("4.4.6.1.1", "A group must not have more than one member with DEFAULT=YES.")
        case .groupMembersDiffer: must("4.4.6.1.1", "Groups of the same TYPE must have the same members.")
        case .groupAttributesDiffer:
            must("4.4.6.1.1", "Members with the same NAME in groups of the same TYPE must have the same attributes.")
        case .autoselectAmbiguous:
            should(
                "4.4.6.1.1",
                "AUTOSELECT=YES members of a group should differ in LANGUAGE, ASSOC-LANGUAGE, FORCED or "
                    + "CHARACTERISTICS."
            )

        case .iFrameStreamWithoutURI: must("4.4.6.3", "EXT-X-I-FRAME-STREAM-INF must have URI.")
        case .iFramePlaylistWithoutTag:
            must("4.4.6.3", "The playlist of EXT-X-I-FRAME-STREAM-INF must have EXT-X-I-FRAMES-ONLY.")
        case .undefinedIFrameAttribute:
            should(
                "4.4.6.3",
                "EXT-X-I-FRAME-STREAM-INF should not have FRAME-RATE, AUDIO, SUBTITLES or CLOSED-CAPTIONS."
            )
        case .missingIFrameRenditions:
            should(
                "4.4.6.3",
                "A presentation with video renditions and I-frame playlists should have I-frame renditions with "
                    + "the same names."
            )

        case .sessionDataWithoutID: must("4.4.6.4", "EXT-X-SESSION-DATA must have DATA-ID.")
        case .sessionDataWithoutValue: must("4.4.6.4", "EXT-X-SESSION-DATA must have VALUE or URI.")
        case .sessionDataWithTwoValues: must("4.4.6.4", "EXT-X-SESSION-DATA must not have both VALUE and URI.")
        case .unknownSessionDataFormat: must("4.4.6.4", "FORMAT of EXT-X-SESSION-DATA must be JSON or RAW.")
        case .repeatedSessionData:
            must("4.4.6.4", "Two EXT-X-SESSION-DATA tags must not have the same DATA-ID and LANGUAGE.")
        case .dataIDWithoutDomain: should("4.4.6.4", "DATA-ID should be in reverse-DNS notation.")

        case .reservedDataWithoutURI:
            must("E.1", "Localized rendition names and media presentation settings must be given by URI.")

        case .sessionKeyMethodNone: must("4.4.6.5", "METHOD of EXT-X-SESSION-KEY must not be NONE.")
        case .repeatedSessionKey:
            must(
                "4.4.6.5",
                "Two EXT-X-SESSION-KEY tags must not have the same METHOD, URI, IV, KEYFORMAT and KEYFORMATVERSIONS."
            )
        case .sessionKeyDiffers:
            must(
                "4.4.6.5",
                "METHOD, KEYFORMAT and KEYFORMATVERSIONS of EXT-X-SESSION-KEY must match each EXT-X-KEY with "
                    + "the same URI."
            )
        case .missingSessionKey:
            should(
                "4.4.6.5",
                "A key that several media playlists use should be in the multivariant playlist as EXT-X-SESSION-KEY."
            )

        case .repeatedContentSteering: must("4.4.6.6", "EXT-X-CONTENT-STEERING must not appear more than once.")
        case .steeringWithoutServer: must("4.4.6.6", "EXT-X-CONTENT-STEERING must have SERVER-URI.")
        case .badPathwayID:
            must("4.4.6.6", "PATHWAY-ID must contain only letters, digits, periods, hyphens and underscores.")
        case .unknownPathway: must("4.4.6.6", "PATHWAY-ID of EXT-X-CONTENT-STEERING must be that of a variant.")

        case .versionForIV: must("8", "IV of EXT-X-KEY requires version 2.")
        case .versionForDecimalDuration: must("8", "Durations with a decimal point require version 3.")
        case .versionForByteRange: must("8", "EXT-X-BYTERANGE requires version 4.")
        case .versionForIFramesOnly: must("8", "EXT-X-I-FRAMES-ONLY requires version 4.")
        case .versionForSampleAES: must("8", "METHOD=SAMPLE-AES requires version 5.")
        case .versionForKeyFormat: must("8", "KEYFORMAT and KEYFORMATVERSIONS require version 5.")
        case .versionForIFrameMap: must("8", "EXT-X-MAP in an I-frame playlist requires version 5.")
        case .versionForMap: must("8", "EXT-X-MAP outside an I-frame playlist requires version 6.")
        case .versionForServiceCaptions: must("8", "SERVICE captions require version 7.")
        case .versionForVariables: must("8", "Variable substitution requires version 8.")
        case .versionForSkip: must("8", "EXT-X-SKIP requires version 9.")
        case .versionForSkippedDateRanges: must("8", "EXT-X-SKIP that replaces date ranges requires version 10.")
        case .versionForQueryParameter: must("8", "QUERYPARAM requires version 11.")
        case .versionForRequiredAttribute: must("8", "An attribute whose name begins with REQ- requires version 12.")
        case .versionForInStreamRendition:
            must("8", "INSTREAM-ID on other types than closed captions requires version 13.")
        case .removedProgramID: should("8", "PROGRAM-ID must not be used from version 6 on.")
        case .removedAllowCache: should("8", "EXT-X-ALLOW-CACHE must not be used from version 7 on.")

        case .targetDurationsDiffer: must("6.2.4", "All media playlists must have the same target duration.")
        case .playlistTypesDiffer:
            must("6.2.4", "All media playlists must have the same EXT-X-PLAYLIST-TYPE, or none of them.")
        case .programDatesMissing:
            must("6.2.4", "If one media playlist has program dates, all media playlists must have them.")
        case .dateRangesDiffer: must("6.2.4", "All media playlists with date ranges must have the same date ranges.")
        case .serverControlsDiffer:
            must("6.2.4", "If one media playlist has EXT-X-SERVER-CONTROL, all must have it with the same attributes.")
        case .discontinuitiesDiffer:
            must("6.2.4", "Matching content must have matching discontinuity sequence numbers.")
        case .durationsDiffer:
            must(
                "6.2.4",
                "Content that is missing from a variant must not be longer than the smallest target duration."
            )

        case .appleVideoCodec: appleMust("1.1", "Video must be H.264, HEVC, Dolby Vision or AV1.")

        case .appleH264Level: appleMust("1.3b", "H.264 must be at most High Profile, level 5.2.")

        case .appleNoCompatibleH264: appleShould("1.3a", "Some H.264 variants should be at most level 4.1.")

        case .appleH264NotHigh: appleShould("1.4", "H.264 should use High Profile rather than Main or Baseline.")

        case .appleHEVCLevel: appleMust("1.6b", "HEVC must be at most Main 10, level 5.1, High tier.")

        case .appleNoCompatibleHEVC:
            appleShould("1.6a", "Some HEVC variants should be at most Main 10, level 4.0, Main tier.")

        case .appleInBandParameters:
            appleShould(
                "1.10",
                "Parameter sets should be in the sample description: avc1, hvc1, dvh1, not avc3, hev1, dvhe."
            )

        case .appleNoH264: appleShould("1.12", "Some video should be H.264.")

        case .appleFrameRateTooHigh: appleMust("1.19", "Frame rates must not exceed 60 frames per second.")

        case .appleNoHDRAt30:
            appleShould("1.20", "If there is HDR video, some of it should have at most 30 frames per second.")

        case .appleNoSDR: appleMust("1.24", "A presentation with HDR video must also have SDR video.")

        case .applePeakTwiceAverage: appleShould("1.30", "BANDWIDTH should be at most twice AVERAGE-BANDWIDTH.")

        case .appleDefaultVariant:
            appleShould(
                "1.32",
                "Of the variants with the same audio, the first should have an average bit rate near 2000 kbit/s."
            )

        case .appleAspectRatiosDiffer: appleShould("1.33", "All video variants should have the same aspect ratio.")

        case .appleUHDTooFast: appleShould("1.34", "If there is UHD video, some of it should have at most 15 Mbit/s.")

        case .appleAV1Level: appleMust("1.37", "AV1 must be at most level 6.2.")

        case .appleNoStereoAAC: appleMust("2.3", "There must be stereo audio in AAC or HE-AAC.")

        case .appleDescriptionNotAutoselect:
            appleMust("2.13", "A rendition that describes video must have AUTOSELECT=YES.")

        case .appleNoCaptions: appleShould("4.1", "Video should have captions or subtitles.")

        case .appleSDHIncomplete:
            appleMust("4.5", "Subtitles that describe music and sound must also transcribe dialog.")

        case .appleSDHNotAutoselect:
            appleMust("4.6", "Subtitles for the deaf and hard of hearing must have AUTOSELECT=YES.")

        case .appleSubtitlesNotInCodecs: appleShould("5.10", "CODECS should contain the format of the subtitles.")

        case .appleForcedNotAutoselect: appleShould("5.11", "Forced subtitles should have AUTOSELECT=YES.")

        case .appleNoIFrames: appleMust("6.1", "A presentation with video must have I-frame playlists.")

        case .appleOneIFramePlaylist: appleShould("6.6", "There should be I-frame playlists with several bit rates.")

        case .appleIFramesWithoutH264: appleShould("6.14", "Some I-frame playlists should be H.264.")

        case .appleIFramesWithoutSDR: appleMust("6.16", "Some I-frame playlists must be SDR.")

        case .appleTargetDuration: appleShould("7.5", "The target duration should be 6 seconds.")

        case .appleSegmentDuration: appleShould("7.6", "Segments should have a duration of about 6 seconds.")

        case .appleLongerThanTarget:
            appleMust("7.7", "A segment must not exceed the target duration by more than half a second.")

        case .appleLiveWithoutDate: appleMust("8.4", "A live playlist must have EXT-X-PROGRAM-DATE-TIME.")

        case .appleMissingPlaylistType: appleMust("8.6", "A playlist that has ended must have EXT-X-PLAYLIST-TYPE.")

        case .appleMissingLanguage: appleMust("8.10", "Each EXT-X-MEDIA, except for video, must have LANGUAGE.")

        case .appleLiveWindowShort: appleMust("8.11", "A live playlist must have at least six segments.")

        case .appleLiveWindow: appleShould("8.12", "A live playlist should have a duration of at least 15 minutes.")

        case .appleLiveWithoutDiscontinuitySequence:
            appleMust("8.17", "A live playlist with discontinuities must have EXT-X-DISCONTINUITY-SEQUENCE.")

        case .appleMissingCodecs: appleMust("9.1", "EXT-X-STREAM-INF must have CODECS.")

        case .appleMissingResolution: appleMust("9.2", "EXT-X-STREAM-INF with video must have RESOLUTION.")

        case .appleIFrameWithoutCodecs: appleMust("9.3", "EXT-X-I-FRAME-STREAM-INF must have CODECS.")

        case .appleIFrameWithoutResolution: appleMust("9.4", "EXT-X-I-FRAME-STREAM-INF must have RESOLUTION.")

        case .appleMuxedAudio: appleShould("9.5", "Video and audio should be in separate streams.")

        case .appleMultichannelMuxed: appleMust("9.6", "Multichannel audio must be in a separate stream.")

        case .appleAlternativeAudioMuxed:
            appleMust("9.7", "If there is alternative audio, all audio must be in separate streams.")

        case .appleSingleVariant: appleMust("9.9", "Video must have variants with several bit rates.")

        case .appleOneTopVariant: appleShould("9.10", "HD video should have two variants with the highest resolution.")

        case .appleMissingIndependentSegments:
            appleShould("9.11", "A multivariant playlist should have EXT-X-INDEPENDENT-SEGMENTS.")

        case .appleMissingAverageBandwidth: appleMust("9.14", "EXT-X-STREAM-INF must have AVERAGE-BANDWIDTH.")

        case .appleMissingFrameRate: appleMust("9.15", "EXT-X-STREAM-INF with video must have FRAME-RATE.")

        case .appleMissingVideoRange:
            appleMust("9.16", "If there is HDR video, each video variant and I-frame playlist must have VIDEO-RANGE.")

        case .appleRenditionOrder:
            appleShould(
                "9.17",
                "Renditions of a group with the same language should be ordered from most general to most specific."
            )

        case .appleSteeringWithoutPathway: appleShould("9.18", "EXT-X-CONTENT-STEERING should have PATHWAY-ID.")

        case .appleMissingScore: appleMust("9.19", "Either all variants or none must have SCORE.")

        case .appleAPACWithoutProfile: appleMust("9.20", "APAC in CODECS must include its profile and level.")

        case .appleNoFailover:
            appleShould("10.2", "There should be a redundant source: duplicate variants or content steering.")

        case .applePlaylistWithoutTLS: appleShould("11.2", "Media playlists should be delivered over TLS.")

        case .appleSegmentWithoutTLS: appleShould("11.3", "Segments should be delivered over TLS.")

        case .appleFairPlayMethod: appleMust("13.2", "FairPlay keys must use SAMPLE-AES.")

        case .appleFairPlayKeyFormat:
            appleMust("13.3", "FairPlay keys must have KEYFORMAT com.apple.streamingkeydelivery.")

        case .appleFairPlayIV: appleShould("13.4", "FairPlay keys should not have IV.")

        case .appleHDWithoutHDCP: appleShould("13.5", "Protected HD variants should have HDCP-LEVEL=TYPE-0.")

        case .appleUHDWithoutHDCP: appleShould("13.6", "Protected variants over HD should have HDCP-LEVEL=TYPE-1.")

        case .appleSampleAESCTR: appleMust("13.11", "SAMPLE-AES-CTR must not be used.")

        case .applePartTarget: appleShould("14.2c", "The part target duration should be one second.")

        case .applePartHoldBack: appleMust("14.3", "PART-HOLD-BACK must be at least three part target durations.")

        case .appleNoDeltaUpdates:
            appleShould("14.4", "A low-latency playlist of more than two minutes should support delta updates.")

        case .appleNoDateRangeSkip:
            appleShould("14.5", "A playlist with date ranges and delta updates should have CAN-SKIP-DATERANGES=YES.")

        case .appleImmersiveNotStereo: appleMust("16.7", "Immersive video must have CH-STEREO in addition to PROJ-AIV.")

        case .appleNoIndependentSegments:
            appleMust(
                "9.12",
                "EXT-X-INDEPENDENT-SEGMENTS must be in the multivariant playlist or in all video media playlists."
            )

        case .appleHEVCNotFMP4: appleMust("1.5", "HEVC must be in fragmented MPEG-4.")

        case .appleAV1NotFMP4: appleMust("1.39", "AV1 must be in fragmented MPEG-4.")

        case .appleBoundariesDiffer:
            appleShould("8.22", "All variants should have segment boundaries at the same times.")
        }
    }

    /// Returns a requirement (MUST) of RFC 8216bis.
    private func must(_ section: String, _ statement: String) -> ValidationRule {
        ValidationRule(id: rawValue, ruleSet: .rfc, severity: .error, section: section, statement: statement)
    }

    /// Returns a recommendation (SHOULD) of RFC 8216bis.
    private func should(_ section: String, _ statement: String) -> ValidationRule {
        ValidationRule(id: rawValue, ruleSet: .rfc, severity: .warning, section: section, statement: statement)
    }

    /// Returns a requirement (MUST) of Apple's HLS Authoring Specification.
    private func appleMust(_ number: String, _ statement: String) -> ValidationRule {
        ValidationRule(
            id: rawValue,
            ruleSet: .apple,
            severity: .error,
            section: "Apple \(number)",
            statement: statement
        )
    }

    /// Returns a recommendation (SHOULD) of Apple's HLS Authoring Specification.
    private func appleShould(_ number: String, _ statement: String) -> ValidationRule {
        ValidationRule(
            id: rawValue,
            ruleSet: .apple,
            severity: .warning,
            section: "Apple \(number)",
            statement: statement
        )
    }
}
