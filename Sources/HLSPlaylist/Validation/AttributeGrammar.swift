/// The syntax of an attribute value (RFC 8216bis §4.2).
enum AttributeKind {
    case integer
    case hexadecimal
    case decimal
    case signedDecimal
    case string
    /// A quoted string that may be empty.
    case anyString
    case enumerated
    /// A quoted string with comma-separated words.
    case enumeratedList
    case resolution
    /// A quoted string, or `NONE`.
    case captions
}

/// The attributes that the standard defines for each tag, in the order of the standard.
enum AttributeGrammar {
    private static let variant: KeyValuePairs<String, AttributeKind> = [
        "BANDWIDTH": .integer, "AVERAGE-BANDWIDTH": .integer, "SCORE": .decimal, "CODECS": .string,
        "SUPPLEMENTAL-CODECS": .string, "RESOLUTION": .resolution, "FRAME-RATE": .decimal, "HDCP-LEVEL": .enumerated,
        "ALLOWED-CPC": .string, "VIDEO-RANGE": .enumerated, "REQ-VIDEO-LAYOUT": .string, "STABLE-VARIANT-ID": .string,
        "AUDIO": .string, "VIDEO": .string, "SUBTITLES": .string, "CLOSED-CAPTIONS": .captions, "PATHWAY-ID": .string,
    ]
    private static let iFrameVariant: KeyValuePairs<String, AttributeKind> = [
        "BANDWIDTH": .integer, "AVERAGE-BANDWIDTH": .integer, "SCORE": .decimal, "CODECS": .string,
        "SUPPLEMENTAL-CODECS": .string, "RESOLUTION": .resolution, "FRAME-RATE": .decimal, "HDCP-LEVEL": .enumerated,
        "ALLOWED-CPC": .string, "VIDEO-RANGE": .enumerated, "REQ-VIDEO-LAYOUT": .string, "STABLE-VARIANT-ID": .string,
        "AUDIO": .string, "VIDEO": .string, "SUBTITLES": .string, "CLOSED-CAPTIONS": .captions, "PATHWAY-ID": .string,
        "URI": .string,
    ]
    private static let key: KeyValuePairs<String, AttributeKind> = [
        "METHOD": .enumerated, "URI": .string, "IV": .hexadecimal, "KEYFORMAT": .string, "KEYFORMATVERSIONS": .string,
    ]
    private static let media: KeyValuePairs<String, AttributeKind> = [
        "TYPE": .enumerated, "URI": .string, "GROUP-ID": .string, "LANGUAGE": .string, "ASSOC-LANGUAGE": .string,
        "NAME": .string, "STABLE-RENDITION-ID": .string, "DEFAULT": .enumerated, "AUTOSELECT": .enumerated,
        "FORCED": .enumerated, "INSTREAM-ID": .string, "BIT-DEPTH": .integer, "SAMPLE-RATE": .integer,
        "CHARACTERISTICS": .string, "CHANNELS": .string,
    ]
    private static let dateRange: KeyValuePairs<String, AttributeKind> = [
        "ID": .string, "CLASS": .string, "START-DATE": .string, "CUE": .enumeratedList, "END-DATE": .string,
        "DURATION": .decimal, "PLANNED-DURATION": .decimal, "SCTE35-CMD": .hexadecimal, "SCTE35-OUT": .hexadecimal,
        "SCTE35-IN": .hexadecimal, "END-ON-NEXT": .enumerated,
    ]
    private static let serverControl: KeyValuePairs<String, AttributeKind> = [
        "CAN-SKIP-UNTIL": .decimal, "CAN-SKIP-DATERANGES": .enumerated, "HOLD-BACK": .decimal,
        "PART-HOLD-BACK": .decimal, "CAN-BLOCK-RELOAD": .enumerated,
    ]
    private static let preloadHint: KeyValuePairs<String, AttributeKind> = [
        "TYPE": .enumerated, "URI": .string, "BYTERANGE-START": .integer, "BYTERANGE-LENGTH": .integer,
    ]
    private static let sessionData: KeyValuePairs<String, AttributeKind> = [
        "DATA-ID": .string, "VALUE": .string, "URI": .string, "FORMAT": .enumerated, "LANGUAGE": .string,
    ]
    /// The attributes of a date range that is an interstitial (Appendix D).
    static let interstitial: KeyValuePairs<String, AttributeKind> = [
        "X-ASSET-URI": .string, "X-ASSET-LIST": .string, "X-RESUME-OFFSET": .signedDecimal, "X-PLAYOUT-LIMIT": .decimal,
        "X-SNAP": .enumeratedList, "X-RESTRICT": .enumeratedList, "X-CONTENT-MAY-VARY": .string,
        "X-TIMELINE-OCCUPIES": .string, "X-TIMELINE-STYLE": .string, "X-SKIP-CONTROL-OFFSET": .integer,
        "X-SKIP-CONTROL-DURATION": .integer, "X-SKIP-CONTROL-LABEL-ID": .string,
    ]
    /// The attributes of a date range that announces a resource to preload (Appendix F).
    static let preload: KeyValuePairs<String, AttributeKind> = [
        "X-URI": .string, "X-TARGET-ID": .string, "X-TARGET-CLASS": .string,
    ]

    /// Returns the attributes of a tag, or `nil` if the value of the tag is not an attribute list.
    static func attributes(of tag: TagName) -> KeyValuePairs<String, AttributeKind>? {
        switch tag {
        case .start: ["TIME-OFFSET": .signedDecimal, "PRECISE": .enumerated]
        case .define: ["NAME": .string, "VALUE": .anyString, "IMPORT": .string, "QUERYPARAM": .string]
        case .partInformation: ["PART-TARGET": .decimal]
        case .serverControl: serverControl
        case .key, .sessionKey: key
        case .map: ["URI": .string, "BYTERANGE": .string]
        case .part:
            [
                "URI": .string, "DURATION": .decimal, "INDEPENDENT": .enumerated, "BYTERANGE": .string,
                "GAP": .enumerated,
            ]
        case .dateRange: dateRange
        case .skip: ["SKIPPED-SEGMENTS": .integer, "RECENTLY-REMOVED-DATERANGES": .anyString]
        case .preloadHint: preloadHint
        case .renditionReport: ["URI": .string, "LAST-MSN": .integer, "LAST-PART": .integer]
        case .media: media
        case .variant: variant
        case .iFrameVariant: iFrameVariant
        case .sessionData: sessionData
        case .contentSteering: ["SERVER-URI": .string, "PATHWAY-ID": .string]
        default: nil
        }
    }

    /// Returns the syntax of an attribute of a tag, or `nil` for an attribute that the standard does not define.
    static func kind(of name: String, in tag: TagName) -> AttributeKind? {
        attributes(of: tag)?.first { $0.key == name }?.value
    }

    /// Returns the required attributes of a tag and, for each, the rule that requires it.
    static func required(in tag: TagName) -> KeyValuePairs<String, Rule> {
        switch tag {
        case .start: ["TIME-OFFSET": .startWithoutTimeOffset]
        case .partInformation: ["PART-TARGET": .partInfWithoutTarget]
        case .key, .sessionKey: ["METHOD": .keyWithoutMethod]
        case .map: ["URI": .mapWithoutURI]
        case .part: ["URI": .partWithoutURI, "DURATION": .partWithoutDuration]
        case .dateRange: ["ID": .dateRangeWithoutID]
        case .skip: ["SKIPPED-SEGMENTS": .skipWithoutCount]
        case .preloadHint: ["TYPE": .preloadHintWithoutType, "URI": .preloadHintWithoutURI]
        case .renditionReport: ["URI": .renditionReportWithoutURI]
        case .media:
            ["TYPE": .mediaWithoutType, "GROUP-ID": .mediaWithoutGroup, "NAME": .mediaWithoutName]
        case .variant: ["BANDWIDTH": .missingAttribute]
        case .iFrameVariant: ["BANDWIDTH": .missingAttribute, "URI": .iFrameStreamWithoutURI]
        case .sessionData: ["DATA-ID": .sessionDataWithoutID]
        case .contentSteering: ["SERVER-URI": .steeringWithoutServer]
        default: [:]
        }
    }

    /// Returns the valid values of an enumerated attribute and the rule, or `nil` if any value is
    /// valid.
    static func enumeratedValues(of name: String, in tag: TagName) -> (words: Set<String>, rule: Rule)? {
        switch (tag, name) {
        case (.media, "TYPE"): (["AUDIO", "VIDEO", "SUBTITLES", "CLOSED-CAPTIONS"], .unknownMediaType)
        case (.preloadHint, "TYPE"): (["PART", "MAP"], .unknownPreloadHintType)
        case (.sessionData, "FORMAT"): (["JSON", "RAW"], .unknownSessionDataFormat)
        case (.key, "METHOD"), (.sessionKey, "METHOD"):
            (["NONE", "AES-128", "SAMPLE-AES", "SAMPLE-AES-CTR", "AES-256-GCM"], .unknownKeyMethod)
        case (.variant, "HDCP-LEVEL"), (.iFrameVariant, "HDCP-LEVEL"):
            (["TYPE-0", "TYPE-1", "NONE"], .unknownHDCPLevel)
        case (.variant, "VIDEO-RANGE"), (.iFrameVariant, "VIDEO-RANGE"): (["SDR", "HLG", "PQ"], .unknownVideoRange)
        case (_, "END-ON-NEXT"): (["YES"], .endOnNextNotYes)
        case (_, "PRECISE"), (_, "DEFAULT"), (_, "AUTOSELECT"), (_, "FORCED"), (_, "CAN-SKIP-DATERANGES"),
            (_, "CAN-BLOCK-RELOAD"), (_, "INDEPENDENT"), (_, "GAP"):
            (["YES", "NO"], .notYesOrNo)
        default: nil
        }
    }

    /// Returns the valid words of a list attribute and the rule, or `nil` if any word is valid.
    static func enumeratedListValues(of name: String) -> (words: Set<String>, rule: Rule)? {
        switch name {
        case "CUE": (["PRE", "POST", "ONCE"], .unknownCue)
        case "X-SNAP": (["OUT", "IN"], .unknownSnap)
        case "X-RESTRICT": (["SKIP", "JUMP"], .unknownRestriction)
        default: nil
        }
    }
}
