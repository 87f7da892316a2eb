import MediaTiming

/// The tags that have a definition, in the order of the canonical form; other tags are preserved as unknown tags.
///
/// They are those of RFC 8216bis §4.4. A tag that the standard does not define, such as one of a vendor, follows the tags of its
/// scope.
/// A tag is a case and its ``definition``, which the compiler requires for every case.
package enum TagName: UInt8, CaseIterable, Sendable {
    // Basic tags (§4.4.1) and tags for both kinds of playlist (§4.4.2).
    case header, version, independentSegments, start, define
    // Media playlist tags (§4.4.3).
    case targetDuration, mediaSequence, discontinuitySequence, endList, playlistType, iFramesOnly, partInformation
    case serverControl
    // Media segment tags (§4.4.4).
    case segmentInformation, byteRange, discontinuity, key, map, programDateTime, gap, bitRate, part
    // Media metadata tags (§4.4.5).
    case dateRange, skip, preloadHint, renditionReport
    // Multivariant playlist tags (§4.4.6).
    case media, variant, iFrameVariant, sessionData, sessionKey, contentSteering

    private var declaration: TagDefinition {
        switch self {
        // MARK: Basic tags, and tags for both kinds of playlist
        case .header: TagDefinition("EXTM3U", scope: .any, .none)
        case .version:
            TagDefinition(
                "EXT-X-VERSION",
                scope: .any,
                .integer(maximum: MediaPlaylistHeader.maximumSequence),
                once: .repeatedVersion
            )
        case .independentSegments:
            TagDefinition("EXT-X-INDEPENDENT-SEGMENTS", scope: .any, .none, once: .repeatedIndependentSegments)
        case .start:
            TagDefinition(
                "EXT-X-START",
                scope: .any,
                .attributes([
                    AttributeDefinition(
                        "TIME-OFFSET",
                        .signedDecimal,
                        required: .startWithoutTimeOffset,
                        report: AttributeReport("offset", .decimal)
                    ),
                    .flag("PRECISE", report: AttributeReport("precise", .flag)),
                ]),
                once: .repeatedStart
            )
        case .define:
            TagDefinition(
                "EXT-X-DEFINE",
                scope: .any,
                .attributes([
                    AttributeDefinition("NAME", .string),
                    AttributeDefinition("VALUE", .anyString),
                    AttributeDefinition("IMPORT", .string),
                    AttributeDefinition(
                        "QUERYPARAM",
                        .string,
                        version: VersionRequirement(11, .versionForQueryParameter)
                    ),
                ]),
                version: VersionRequirement(8, .versionForVariables)
            )

        // MARK: Media playlist tags
        case .targetDuration:
            TagDefinition("EXT-X-TARGETDURATION", scope: .mediaPlaylist, .wholeSeconds, once: .repeatedTag)
        case .mediaSequence:
            TagDefinition(
                "EXT-X-MEDIA-SEQUENCE",
                scope: .mediaPlaylist,
                .integer(maximum: MediaPlaylistHeader.maximumSequence),
                once: .repeatedTag
            )
        case .discontinuitySequence:
            TagDefinition(
                "EXT-X-DISCONTINUITY-SEQUENCE",
                scope: .mediaPlaylist,
                .integer(maximum: MediaPlaylistHeader.maximumSequence),
                once: .repeatedTag
            )
        case .endList: TagDefinition("EXT-X-ENDLIST", scope: .mediaPlaylist, .none, once: .repeatedTag)
        case .playlistType:
            TagDefinition(
                "EXT-X-PLAYLIST-TYPE",
                scope: .mediaPlaylist,
                .word(EnumeratedWords(["EVENT", "VOD"], otherwise: .unknownPlaylistType)),
                once: .repeatedTag
            )
        case .iFramesOnly:
            TagDefinition(
                "EXT-X-I-FRAMES-ONLY",
                scope: .mediaPlaylist,
                .none,
                once: .repeatedTag,
                version: VersionRequirement(4, .versionForIFramesOnly)
            )
        case .partInformation:
            TagDefinition(
                "EXT-X-PART-INF",
                scope: .mediaPlaylist,
                .attributes([AttributeDefinition("PART-TARGET", .decimal, required: .partInfWithoutTarget)]),
                once: .repeatedTag
            )
        case .serverControl:
            TagDefinition(
                "EXT-X-SERVER-CONTROL",
                scope: .mediaPlaylist,
                .attributes([
                    AttributeDefinition("CAN-SKIP-UNTIL", .decimal),
                    .flag("CAN-SKIP-DATERANGES", report: AttributeReport("canSkipDateRanges", .flagIfSet)),
                    AttributeDefinition("HOLD-BACK", .decimal),
                    AttributeDefinition("PART-HOLD-BACK", .decimal),
                    .flag("CAN-BLOCK-RELOAD", report: AttributeReport("canBlockReload", .flag)),
                ]),
                once: .repeatedTag
            )

        // MARK: Media segment tags
        case .segmentInformation: TagDefinition("EXTINF", scope: .segment, .segmentInformation)
        case .byteRange:
            TagDefinition(
                "EXT-X-BYTERANGE",
                scope: .segment,
                .byteRange,
                version: VersionRequirement(4, .versionForByteRange)
            )
        case .discontinuity: TagDefinition("EXT-X-DISCONTINUITY", scope: .segment, .none)
        case .key:
            TagDefinition(
                "EXT-X-KEY",
                scope: .segment,
                .attributes(
                    Self.keyAttributes(
                        vector: VersionRequirement(2, .versionForIV),
                        format: VersionRequirement(5, .versionForKeyFormat)
                    )
                )
            )
        case .map:
            TagDefinition(
                "EXT-X-MAP",
                scope: .segment,
                .attributes([
                    .address("URI", .initialization, required: .mapWithoutURI),
                    AttributeDefinition("BYTERANGE", .string),
                ])
            )
        case .programDateTime: TagDefinition("EXT-X-PROGRAM-DATE-TIME", scope: .segment, .date)
        case .gap: TagDefinition("EXT-X-GAP", scope: .segment, .none)
        case .bitRate: TagDefinition("EXT-X-BITRATE", scope: .segment, .integer(maximum: .max))
        case .part:
            TagDefinition(
                "EXT-X-PART",
                scope: .segment,
                .attributes([
                    .address("URI", .part, required: .partWithoutURI),
                    AttributeDefinition("DURATION", .decimal, required: .partWithoutDuration),
                    .flag("INDEPENDENT"),
                    AttributeDefinition("BYTERANGE", .string),
                    .flag("GAP"),
                ])
            )

        // MARK: Media metadata tags
        case .dateRange:
            TagDefinition(
                "EXT-X-DATERANGE",
                scope: .metadata,
                .attributes(Self.dateRangeAttributes),
                classAttributes: [
                    Interstitial.classIdentifier: Self.interstitialAttributes,
                    DateRangePreload.classIdentifier: Self.preloadAttributes,
                ]
            )
        case .skip:
            TagDefinition(
                "EXT-X-SKIP",
                scope: .metadata,
                .attributes([
                    AttributeDefinition("SKIPPED-SEGMENTS", .integer, required: .skipWithoutCount),
                    AttributeDefinition(
                        "RECENTLY-REMOVED-DATERANGES",
                        .anyString,
                        version: VersionRequirement(10, .versionForSkippedDateRanges)
                    ),
                ]),
                once: .repeatedSkip,
                version: VersionRequirement(9, .versionForSkip)
            )
        case .preloadHint:
            TagDefinition(
                "EXT-X-PRELOAD-HINT",
                scope: .metadata,
                .attributes([
                    AttributeDefinition(
                        "TYPE",
                        .enumerated,
                        required: .preloadHintWithoutType,
                        words: EnumeratedWords(["PART", "MAP"], otherwise: .unknownPreloadHintType)
                    ),
                    AttributeDefinition(
                        "URI",
                        .string,
                        required: .preloadHintWithoutURI,
                        role: { $0["TYPE"] == "MAP" ? .initialization : .part }
                    ),
                    AttributeDefinition("BYTERANGE-START", .integer),
                    AttributeDefinition("BYTERANGE-LENGTH", .integer),
                ])
            )
        case .renditionReport:
            TagDefinition(
                "EXT-X-RENDITION-REPORT",
                scope: .metadata,
                .attributes([
                    .address("URI", .renditionReport, required: .renditionReportWithoutURI),
                    AttributeDefinition("LAST-MSN", .integer),
                    AttributeDefinition("LAST-PART", .integer),
                ])
            )

        // MARK: Multivariant playlist tags
        case .media: TagDefinition("EXT-X-MEDIA", scope: .multivariant, .attributes(Self.renditionAttributes))
        case .variant: TagDefinition("EXT-X-STREAM-INF", scope: .multivariant, .attributes(Self.variantAttributes))
        case .iFrameVariant:
            TagDefinition(
                "EXT-X-I-FRAME-STREAM-INF",
                scope: .multivariant,
                .attributes(
                    Self.variantAttributes + [.address("URI", .iFrameVariant, required: .iFrameStreamWithoutURI)]
                )
            )
        case .sessionData:
            TagDefinition(
                "EXT-X-SESSION-DATA",
                scope: .multivariant,
                .attributes([
                    AttributeDefinition("DATA-ID", .string, required: .sessionDataWithoutID),
                    AttributeDefinition("VALUE", .string),
                    .address("URI", .session),
                    AttributeDefinition(
                        "FORMAT",
                        .enumerated,
                        words: EnumeratedWords(["JSON", "RAW"], otherwise: .unknownSessionDataFormat)
                    ),
                    AttributeDefinition("LANGUAGE", .string),
                ])
            )
        case .sessionKey:
            TagDefinition("EXT-X-SESSION-KEY", scope: .multivariant, .attributes(Self.keyAttributes()))
        case .contentSteering:
            TagDefinition(
                "EXT-X-CONTENT-STEERING",
                scope: .multivariant,
                .attributes([
                    .address("SERVER-URI", .session, required: .steeringWithoutServer),
                    AttributeDefinition("PATHWAY-ID", .string),
                ]),
                once: .repeatedContentSteering
            )
        }
    }
}

// MARK: Attributes of more than a few lines

extension TagName {
    private static func keyAttributes(
        vector: VersionRequirement? = nil,
        format: VersionRequirement? = nil
    ) -> [AttributeDefinition] {
        [
            AttributeDefinition(
                "METHOD",
                .enumerated,
                required: .keyWithoutMethod,
                words: EnumeratedWords(
                    ["NONE", "AES-128", "SAMPLE-AES", "SAMPLE-AES-CTR", "AES-256-GCM"],
                    otherwise: .unknownKeyMethod
                )
            ),
            AttributeDefinition("URI", .string, role: { $0["METHOD"] == "NONE" ? nil : .key }),
            AttributeDefinition("IV", .hexadecimal, version: vector),
            AttributeDefinition("KEYFORMAT", .string, version: format),
            AttributeDefinition("KEYFORMATVERSIONS", .string, version: format),
        ]
    }

    private static var variantAttributes: [AttributeDefinition] {
        [
            AttributeDefinition("BANDWIDTH", .integer, required: .missingAttribute),
            AttributeDefinition("AVERAGE-BANDWIDTH", .integer),
            AttributeDefinition("SCORE", .decimal, report: AttributeReport("score", .real)),
            AttributeDefinition("CODECS", .string, report: AttributeReport("codecs", .list)),
            AttributeDefinition(
                "SUPPLEMENTAL-CODECS",
                .string,
                report: AttributeReport("supplementalCodecs", .list)
            ),
            AttributeDefinition("RESOLUTION", .resolution),
            AttributeDefinition("FRAME-RATE", .decimal),
            AttributeDefinition(
                "HDCP-LEVEL",
                .enumerated,
                words: EnumeratedWords(["TYPE-0", "TYPE-1", "NONE"], otherwise: .unknownHDCPLevel)
            ),
            AttributeDefinition("ALLOWED-CPC", .string),
            AttributeDefinition(
                "VIDEO-RANGE",
                .enumerated,
                words: EnumeratedWords(["SDR", "HLG", "PQ"], otherwise: .unknownVideoRange)
            ),
            AttributeDefinition(
                "REQ-VIDEO-LAYOUT",
                .string,
                report: AttributeReport("requiredVideoLayout", .list)
            ),
            AttributeDefinition("STABLE-VARIANT-ID", .string),
            AttributeDefinition("AUDIO", .string),
            AttributeDefinition("VIDEO", .string),
            AttributeDefinition("SUBTITLES", .string),
            AttributeDefinition("CLOSED-CAPTIONS", .captions),
            AttributeDefinition("PATHWAY-ID", .string),
        ]
    }

    private static var renditionAttributes: [AttributeDefinition] {
        [
            AttributeDefinition(
                "TYPE",
                .enumerated,
                required: .mediaWithoutType,
                words: EnumeratedWords(
                    ["AUDIO", "VIDEO", "SUBTITLES", "CLOSED-CAPTIONS"],
                    otherwise: .unknownMediaType
                )
            ),
            AttributeDefinition(
                "URI",
                .string,
                role: { .rendition($0["TYPE"].flatMap { Rendition.MediaType(rawValue: $0) }) }
            ),
            AttributeDefinition("GROUP-ID", .string, required: .mediaWithoutGroup),
            AttributeDefinition("LANGUAGE", .string),
            AttributeDefinition("ASSOC-LANGUAGE", .string),
            AttributeDefinition("NAME", .string, required: .mediaWithoutName),
            AttributeDefinition("STABLE-RENDITION-ID", .string),
            .flag("DEFAULT", report: AttributeReport("default", .flag)),
            .flag("AUTOSELECT", report: AttributeReport("autoselect", .flag)),
            .flag("FORCED", report: AttributeReport("forced", .flag)),
            AttributeDefinition("INSTREAM-ID", .string),
            AttributeDefinition("BIT-DEPTH", .integer),
            AttributeDefinition("SAMPLE-RATE", .integer),
            AttributeDefinition("CHARACTERISTICS", .string, report: AttributeReport("characteristics", .list)),
            AttributeDefinition("CHANNELS", .string),
        ]
    }

    private static var dateRangeAttributes: [AttributeDefinition] {
        [
            AttributeDefinition("ID", .string, required: .dateRangeWithoutID),
            AttributeDefinition("CLASS", .string),
            AttributeDefinition("START-DATE", .string),
            AttributeDefinition(
                "CUE",
                .enumeratedList,
                words: EnumeratedWords(["PRE", "POST", "ONCE"], otherwise: .unknownCue)
            ),
            AttributeDefinition("END-DATE", .string),
            AttributeDefinition("DURATION", .decimal),
            AttributeDefinition("PLANNED-DURATION", .decimal),
            AttributeDefinition("SCTE35-CMD", .hexadecimal),
            AttributeDefinition("SCTE35-OUT", .hexadecimal),
            AttributeDefinition("SCTE35-IN", .hexadecimal),
            AttributeDefinition(
                "END-ON-NEXT",
                .enumerated,
                words: EnumeratedWords(["YES"], otherwise: .endOnNextNotYes)
            ),
        ]
    }

    /// The attributes of a date range that is an interstitial (Appendix D).
    private static var interstitialAttributes: [AttributeDefinition] {
        [
            .address("X-ASSET-URI", .interstitial),
            .address("X-ASSET-LIST", .interstitial),
            AttributeDefinition("X-RESUME-OFFSET", .signedDecimal),
            AttributeDefinition("X-PLAYOUT-LIMIT", .decimal),
            AttributeDefinition(
                "X-SNAP",
                .enumeratedList,
                words: EnumeratedWords(["OUT", "IN"], otherwise: .unknownSnap)
            ),
            AttributeDefinition(
                "X-RESTRICT",
                .enumeratedList,
                words: EnumeratedWords(["SKIP", "JUMP"], otherwise: .unknownRestriction)
            ),
            AttributeDefinition(
                "X-CONTENT-MAY-VARY",
                .string,
                words: EnumeratedWords(["YES", "NO"], otherwise: .unknownContentMayVary)
            ),
            AttributeDefinition(
                "X-TIMELINE-OCCUPIES",
                .string,
                words: EnumeratedWords(["POINT", "RANGE"], otherwise: .unknownTimelineOccupies)
            ),
            AttributeDefinition(
                "X-TIMELINE-STYLE",
                .string,
                words: EnumeratedWords(["HIGHLIGHT", "PRIMARY"], otherwise: .unknownTimelineStyle)
            ),
            AttributeDefinition("X-SKIP-CONTROL-OFFSET", .integer),
            AttributeDefinition("X-SKIP-CONTROL-DURATION", .integer),
            AttributeDefinition("X-SKIP-CONTROL-LABEL-ID", .string),
        ]
    }

    /// The attributes of a date range that announces a resource to preload (Appendix F).
    private static var preloadAttributes: [AttributeDefinition] {
        [
            .address("X-URI", .interstitial),
            AttributeDefinition("X-TARGET-ID", .string),
            AttributeDefinition("X-TARGET-CLASS", .string),
        ]
    }
}

// MARK: The table

extension TagName {
    private static let definitions = allCases.map(\.declaration)
    private static let lookup = TagLookup(definitions.map(\.name))

    /// The tags whose values are reported as ``TagDefinition/reportName`` says, rather than by a type of this module.
    static let reported = allCases.filter { $0.definition.reportName != nil }

    private static let addresses = definitions.map(\.addresses)

    /// The attributes that contain a URI, including those of date ranges of certain classes.
    var addresses: [AttributeDefinition] { Self.addresses[Int(rawValue)] }
    /// The definition of the tag.
    package var definition: TagDefinition { Self.definitions[Int(rawValue)] }
    /// The name, without the number sign.
    package var name: String { Self.definitions[Int(rawValue)].name }
    /// The kind of playlist that may contain the tag, and what the tag applies to.
    package var scope: TagDefinition.Scope { Self.definitions[Int(rawValue)].scope }

    /// Creates a tag from its name; names are case-sensitive (§4.1).
    init?(_ bytes: Span<UInt8>, in name: Range<Int>) {
        guard let position = Self.lookup.position(of: name, in: bytes) else { return nil }
        self.init(rawValue: UInt8(truncatingIfNeeded: position))
    }
}
