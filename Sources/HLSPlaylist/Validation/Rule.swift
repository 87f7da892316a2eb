/// The rules for playlists, each with a stable identifier, which is the ``Diagnostic/code`` of its violations.
///
/// A violation names a rule by its case, so that a rule that is not declared cannot be reported. The source and the
/// statement of each rule are in ``definition``, which the compiler requires for every case.
enum Rule: String, CaseIterable, Sendable {
    // RFC 8216bis §4.1
    case byteOrderMark = "byte-order-mark"
    case notUTF8 = "not-utf-8"
    case controlCharacter = "control-character"
    case loneCarriageReturn = "lone-carriage-return"
    case notNFC = "not-nfc"
    case leadingSpace = "leading-space"
    case trailingSpace = "trailing-space"
    case spaceInAddress = "space-in-address"
    case invalidURI = "invalid-uri"
    case spaceInTag = "space-in-tag"
    case mixedKinds = "mixed-kinds"

    // RFC 8216bis §4.2
    case attributeWithoutValue = "attribute-without-value"
    case emptyAttribute = "empty-attribute"
    case unclosedQuote = "unclosed-quote"
    case textAfterQuote = "text-after-quote"
    case badAttributeName = "bad-attribute-name"
    case spaceInAttributeList = "space-in-attribute-list"
    case repeatedAttribute = "repeated-attribute"
    case notAnInteger = "not-an-integer"
    case integerTooLarge = "integer-too-large"
    case integerAboveLimit = "integer-above-limit"
    case notHexadecimal = "not-hexadecimal"
    case lowercaseHexadecimal = "lowercase-hexadecimal"
    case notADecimal = "not-a-decimal"
    case notASignedDecimal = "not-a-signed-decimal"
    case unquotedString = "unquoted-string"
    case quotedValue = "quoted-value"
    case emptyString = "empty-string"
    case badEnumeratedList = "bad-enumerated-list"
    case badResolution = "bad-resolution"
    case notYesOrNo = "not-yes-or-no"
    case repeatedEnumeratedValue = "repeated-enumerated-value"

    // RFC 8216bis §6.3.1
    case undefinedVariable = "undefined-variable"

    // RFC 8216bis §4.4
    case missingValue = "missing-value"
    case unexpectedValue = "unexpected-value"
    case missingAttribute = "missing-attribute"

    // RFC 8216bis §4.4.1.1
    case headerNotFirst = "header-not-first"

    // RFC 8216bis §4.4.1.2
    case repeatedVersion = "repeated-version"
    case missingVersion = "missing-version"

    // RFC 8216bis §4.4.2.1
    case repeatedIndependentSegments = "repeated-independent-segments"
    case independentSegmentsInBoth = "independent-segments-in-both"

    // RFC 8216bis §4.4.2.2
    case repeatedStart = "repeated-start"
    case startWithoutTimeOffset = "start-without-time-offset"
    case startDiffers = "start-differs"
    case startBeyondEnd = "start-beyond-end"
    case startNearLiveEdge = "start-near-live-edge"
    case startInBoth = "start-in-both"

    // RFC 8216bis §4.4.2.3
    case defineWithoutName = "define-without-name"
    case defineWithTwoNames = "define-with-two-names"
    case defineWithoutValue = "define-without-value"
    case badVariableName = "bad-variable-name"
    case repeatedVariable = "repeated-variable"
    case importInMultivariant = "import-in-multivariant"
    case queryParameterMissing = "query-parameter-missing"
    case queryParameterBadValue = "query-parameter-bad-value"
    case importUndeclared = "import-undeclared"

    // RFC 8216bis §4.4.3
    case repeatedTag = "repeated-tag"

    // RFC 8216bis §4.4.3.1
    case missingTargetDuration = "missing-target-duration"
    case targetDurationZero = "target-duration-zero"
    case longerThanTarget = "longer-than-target"

    // RFC 8216bis §4.4.3.2
    case mediaSequenceAfterSegment = "media-sequence-after-segment"

    // RFC 8216bis §4.4.3.3
    case discontinuitySequenceAfterSegment = "discontinuity-sequence-after-segment"
    case discontinuitySequenceAfterDiscontinuity = "discontinuity-sequence-after-discontinuity"

    // RFC 8216bis §4.4.3.5
    case unknownPlaylistType = "unknown-playlist-type"

    // RFC 8216bis §6.2.1
    case vodWithoutEndList = "vod-without-endlist"
    case dateTimeOverlap = "date-time-overlap"
    case discontinuityWithoutDate = "discontinuity-without-date"
    case versionTooHigh = "version-too-high"

    // RFC 8216bis §4.4.4.9
    case partWithoutURI = "part-without-uri"
    case partWithoutDuration = "part-without-duration"
    case partLongerThanTarget = "part-longer-than-target"
    case partTooShort = "part-too-short"
    case partByteRangeWithoutOffset = "part-byte-range-without-offset"
    case tagAfterPart = "tag-after-part"
    case partsInIFramesOnly = "parts-in-i-frames-only"

    // RFC 8216bis §4.4.3.7
    case missingPartInf = "missing-part-inf"
    case partInfWithoutTarget = "part-inf-without-target"

    // RFC 8216bis §4.4.3.8
    case skipBoundaryTooShort = "skip-boundary-too-short"
    case skipDateRangesWithoutBoundary = "skip-date-ranges-without-boundary"
    case holdBackTooShort = "hold-back-too-short"
    case partHoldBackTooShort = "part-hold-back-too-short"
    case missingPartHoldBack = "missing-part-hold-back"
    case partHoldBackShort = "part-hold-back-short"

    // RFC 8216bis §4.4.4.1
    case badDuration = "bad-duration"
    case extinfWithoutComma = "extinf-without-comma"
    case addressWithoutExtinf = "address-without-extinf"

    // RFC 8216bis §4.4.4
    case extinfWithoutAddress = "extinf-without-address"

    // RFC 8216bis §4.4.4.2
    case badByteRange = "bad-byte-range"
    case byteRangeWithoutOffset = "byte-range-without-offset"

    // RFC 8216bis §4.4.4.4
    case unknownKeyMethod = "unknown-key-method"
    case keyWithoutMethod = "key-without-method"
    case keyWithoutURI = "key-without-uri"
    case noneKeyWithAttributes = "none-key-with-attributes"
    case ivTooLong = "iv-too-long"
    case ctrKeyWithIV = "ctr-key-with-iv"
    case gcmKeyWithIV = "gcm-key-with-iv"
    case badKeyFormatVersions = "bad-key-format-versions"

    // RFC 8216bis §6.2.3
    case keyMethodsDiffer = "key-methods-differ"

    // RFC 8216bis §4.4.4.5
    case mapWithoutURI = "map-without-uri"
    case mapByteRangeWithoutOffset = "map-byte-range-without-offset"
    case mapKeyWithoutIV = "map-key-without-iv"

    // RFC 8216bis §3.1.2
    case fmp4WithoutMap = "fmp4-without-map"

    // RFC 8216bis §4.4.4.6
    case badDate = "bad-date"
    case dateWithoutZone = "date-without-zone"
    case dateWithoutMilliseconds = "date-without-milliseconds"

    // RFC 8216bis §3.2
    case partsLongerThanSegment = "parts-longer-than-segment"

    // RFC 8216bis §6.2.2
    case partsTooOld = "parts-too-old"
    case livePlaylistShort = "live-playlist-short"
    case discontinuityWithoutSequence = "discontinuity-without-sequence"

    // RFC 8216bis §B.1
    case partWithoutPreloadHint = "part-without-preload-hint"
    case partWithoutDate = "part-without-date"
    case renditionReportMissing = "rendition-report-missing"

    // RFC 8216bis §4.4.5.1
    case dateRangeWithoutID = "date-range-without-id"
    case dateRangeWithoutStart = "date-range-without-start"
    case badDateRangeDate = "bad-date-range-date"
    case dateRangeEndsBeforeStart = "date-range-ends-before-start"
    case negativeDuration = "negative-duration"
    case dateRangeEndDiffers = "date-range-end-differs"
    case cuePreAndPost = "cue-pre-and-post"
    case endOnNextNotYes = "end-on-next-not-yes"
    case endOnNextWithoutClass = "end-on-next-without-class"
    case endOnNextWithEnd = "end-on-next-with-end"
    case dateRangesOverlap = "date-ranges-overlap"
    case dateRangeAttributeDiffers = "date-range-attribute-differs"
    case dateRangeWithoutProgramDate = "date-range-without-program-date"
    case badExtensionAttribute = "bad-extension-attribute"
    case dateRangeWithoutZone = "date-range-without-zone"
    case dateRangeWithoutMilliseconds = "date-range-without-milliseconds"
    case unknownCue = "unknown-cue"

    // RFC 8216bis §4.4.5.1.1
    case scte35NotASection = "scte35-not-a-section"
    case spliceWithoutEnd = "splice-without-end"

    // RFC 8216bis §D.2
    case interstitialWithoutAsset = "interstitial-without-asset"
    case interstitialWithTwoAssets = "interstitial-with-two-assets"
    case relativeAssetURI = "relative-asset-uri"
    case unknownSnap = "unknown-snap"
    case unknownRestriction = "unknown-restriction"
    case unknownContentMayVary = "unknown-content-may-vary"
    case unknownTimelineOccupies = "unknown-timeline-occupies"
    case unknownTimelineStyle = "unknown-timeline-style"

    // RFC 8216bis §D.3
    case badSkipLabel = "bad-skip-label"

    // RFC 8216bis §D.4
    case interstitialWithoutQueryID = "interstitial-without-query-id"
    case reservedQueryParameter = "reserved-query-parameter"

    // RFC 8216bis §F
    case preloadWithoutURI = "preload-without-uri"
    case preloadWithoutTargetID = "preload-without-target-id"
    case preloadWithoutTargetClass = "preload-without-target-class"
    case preloadWithoutEnd = "preload-without-end"
    case preloadWithTrigger = "preload-with-trigger"
    case preloadTargetClassDiffers = "preload-target-class-differs"

    // RFC 8216bis §4.4.5.2
    case repeatedSkip = "repeated-skip"
    case skipWithoutCount = "skip-without-count"

    // RFC 8216bis §6.2.5.1
    case skipAfterSegment = "skip-after-segment"
    case skipWithoutServerControl = "skip-without-server-control"
    case skipWithEndList = "skip-with-endlist"
    case skipTooMuch = "skip-too-much"

    // RFC 8216bis §4.4.5.3
    case preloadHintWithoutType = "preload-hint-without-type"
    case preloadHintWithoutURI = "preload-hint-without-uri"
    case unknownPreloadHintType = "unknown-preload-hint-type"
    case preloadHintAfterEnd = "preload-hint-after-end"

    // RFC 8216bis §6.2.6
    case repeatedPreloadHint = "repeated-preload-hint"

    // RFC 8216bis §4.4.5.4
    case renditionReportWithoutURI = "rendition-report-without-uri"
    case absoluteRenditionReport = "absolute-rendition-report"

    // RFC 8216bis §4.4.6.2
    case addressWithoutStreamInf = "address-without-stream-inf"
    case streamInfWithoutAddress = "stream-inf-without-address"
    case bandwidthZero = "bandwidth-zero"
    case scoreNotPositive = "score-not-positive"
    case badCodecs = "bad-codecs"
    case badSupplementalCodecs = "bad-supplemental-codecs"
    case supplementalWithoutCodecs = "supplemental-without-codecs"
    case frameRateTooPrecise = "frame-rate-too-precise"
    case unknownHDCPLevel = "unknown-hdcp-level"
    case badAllowedCPC = "bad-allowed-cpc"
    case unknownVideoRange = "unknown-video-range"
    case emptyVideoLayout = "empty-video-layout"
    case repeatedLayoutSpecifier = "repeated-layout-specifier"
    case badStableVariantID = "bad-stable-variant-id"
    case unknownAudioGroup = "unknown-audio-group"
    case unknownVideoGroup = "unknown-video-group"
    case unknownSubtitlesGroup = "unknown-subtitles-group"
    case unknownCaptionsGroup = "unknown-captions-group"
    case captionsNoneNotEverywhere = "captions-none-not-everywhere"
    case childNotMedia = "child-not-media"
    case averageAbovePeak = "average-above-peak"
    case missingScore = "missing-score"
    case missingCodecs = "missing-codecs"
    case unknownVideoLayout = "unknown-video-layout"
    case needlessVideoLayout = "needless-video-layout"
    case stableVariantIDDiffers = "stable-variant-id-differs"

    // RFC 8216bis §4.4.6.1
    case mediaWithoutType = "media-without-type"
    case unknownMediaType = "unknown-media-type"
    case mediaWithoutGroup = "media-without-group"
    case mediaWithoutName = "media-without-name"
    case captionsWithURI = "captions-with-uri"
    case badLanguage = "bad-language"
    case badStableRenditionID = "bad-stable-rendition-id"
    case defaultNotAutoselect = "default-not-autoselect"
    case forcedNotSubtitles = "forced-not-subtitles"
    case captionsWithoutInstreamID = "captions-without-instream-id"
    case badCaptionsInstreamID = "bad-captions-instream-id"
    case badInstreamID = "bad-instream-id"
    case bitDepthNotAudio = "bit-depth-not-audio"
    case sampleRateNotAudio = "sample-rate-not-audio"
    case channelsNotAudio = "channels-not-audio"
    case badChannels = "bad-channels"
    case channelUsageWithoutCoding = "channel-usage-without-coding"
    case stableRenditionIDDiffers = "stable-rendition-id-differs"
    case unknownChannelUsage = "unknown-channel-usage"
    case missingChannels = "missing-channels"

    // RFC 8216bis §4.4.6.2.1
    case subtitlesWithoutURI = "subtitles-without-uri"

    // RFC 8216bis §4.4.6.1.1
    case repeatedName = "repeated-name"
    case repeatedDefault = "repeated-default"
    case groupMembersDiffer = "group-members-differ"
    case groupAttributesDiffer = "group-attributes-differ"
    case autoselectAmbiguous = "autoselect-ambiguous"

    // RFC 8216bis §4.4.6.3
    case iFrameStreamWithoutURI = "i-frame-stream-without-uri"
    case iFramePlaylistWithoutTag = "i-frame-playlist-without-tag"
    case undefinedIFrameAttribute = "undefined-i-frame-attribute"
    case missingIFrameRenditions = "missing-i-frame-renditions"

    // RFC 8216bis §4.4.6.4
    case sessionDataWithoutID = "session-data-without-id"
    case sessionDataWithoutValue = "session-data-without-value"
    case sessionDataWithTwoValues = "session-data-with-two-values"
    case unknownSessionDataFormat = "unknown-session-data-format"
    case repeatedSessionData = "repeated-session-data"
    case dataIDWithoutDomain = "data-id-without-domain"

    // RFC 8216bis §E.1
    case reservedDataWithoutURI = "reserved-data-without-uri"

    // RFC 8216bis §4.4.6.5
    case sessionKeyMethodNone = "session-key-method-none"
    case repeatedSessionKey = "repeated-session-key"
    case sessionKeyDiffers = "session-key-differs"
    case missingSessionKey = "missing-session-key"

    // RFC 8216bis §4.4.6.6
    case repeatedContentSteering = "repeated-content-steering"
    case steeringWithoutServer = "steering-without-server"
    case badPathwayID = "bad-pathway-id"
    case unknownPathway = "unknown-pathway"

    // RFC 8216bis §8
    case versionForIV = "version-for-iv"
    case versionForDecimalDuration = "version-for-decimal-duration"
    case versionForByteRange = "version-for-byte-range"
    case versionForIFramesOnly = "version-for-i-frames-only"
    case versionForSampleAES = "version-for-sample-aes"
    case versionForKeyFormat = "version-for-key-format"
    case versionForIFrameMap = "version-for-i-frame-map"
    case versionForMap = "version-for-map"
    case versionForServiceCaptions = "version-for-service-captions"
    case versionForVariables = "version-for-variables"
    case versionForSkip = "version-for-skip"
    case versionForSkippedDateRanges = "version-for-skipped-date-ranges"
    case versionForQueryParameter = "version-for-query-parameter"
    case versionForRequiredAttribute = "version-for-required-attribute"
    case versionForInStreamRendition = "version-for-in-stream-rendition"
    case removedProgramID = "removed-program-id"
    case removedAllowCache = "removed-allow-cache"

    // RFC 8216bis §6.2.4
    case targetDurationsDiffer = "target-durations-differ"
    case playlistTypesDiffer = "playlist-types-differ"
    case programDatesMissing = "program-dates-missing"
    case dateRangesDiffer = "date-ranges-differ"
    case serverControlsDiffer = "server-controls-differ"
    case discontinuitiesDiffer = "discontinuities-differ"
    case durationsDiffer = "durations-differ"

    // Apple's HLS Authoring Specification, 1.1
    case appleVideoCodec = "apple-video-codec"

    // Apple's HLS Authoring Specification, 1.3b
    case appleH264Level = "apple-h264-level"

    // Apple's HLS Authoring Specification, 1.3a
    case appleNoCompatibleH264 = "apple-no-compatible-h264"

    // Apple's HLS Authoring Specification, 1.4
    case appleH264NotHigh = "apple-h264-not-high"

    // Apple's HLS Authoring Specification, 1.6b
    case appleHEVCLevel = "apple-hevc-level"

    // Apple's HLS Authoring Specification, 1.6a
    case appleNoCompatibleHEVC = "apple-no-compatible-hevc"

    // Apple's HLS Authoring Specification, 1.10
    case appleInBandParameters = "apple-in-band-parameters"

    // Apple's HLS Authoring Specification, 1.12
    case appleNoH264 = "apple-no-h264"

    // Apple's HLS Authoring Specification, 1.19
    case appleFrameRateTooHigh = "apple-frame-rate-too-high"

    // Apple's HLS Authoring Specification, 1.20
    case appleNoHDRAt30 = "apple-no-hdr-at-30"

    // Apple's HLS Authoring Specification, 1.24
    case appleNoSDR = "apple-no-sdr"

    // Apple's HLS Authoring Specification, 1.30
    case applePeakTwiceAverage = "apple-peak-twice-average"

    // Apple's HLS Authoring Specification, 1.32
    case appleDefaultVariant = "apple-default-variant"

    // Apple's HLS Authoring Specification, 1.33
    case appleAspectRatiosDiffer = "apple-aspect-ratios-differ"

    // Apple's HLS Authoring Specification, 1.34
    case appleUHDTooFast = "apple-uhd-too-fast"

    // Apple's HLS Authoring Specification, 1.37
    case appleAV1Level = "apple-av1-level"

    // Apple's HLS Authoring Specification, 2.3
    case appleNoStereoAAC = "apple-no-stereo-aac"

    // Apple's HLS Authoring Specification, 2.13
    case appleDescriptionNotAutoselect = "apple-description-not-autoselect"

    // Apple's HLS Authoring Specification, 4.1
    case appleNoCaptions = "apple-no-captions"

    // Apple's HLS Authoring Specification, 4.5
    case appleSDHIncomplete = "apple-sdh-incomplete"

    // Apple's HLS Authoring Specification, 4.6
    case appleSDHNotAutoselect = "apple-sdh-not-autoselect"

    // Apple's HLS Authoring Specification, 5.10
    case appleSubtitlesNotInCodecs = "apple-subtitles-not-in-codecs"

    // Apple's HLS Authoring Specification, 5.11
    case appleForcedNotAutoselect = "apple-forced-not-autoselect"

    // Apple's HLS Authoring Specification, 6.1
    case appleNoIFrames = "apple-no-i-frames"

    // Apple's HLS Authoring Specification, 6.6
    case appleOneIFramePlaylist = "apple-one-i-frame-playlist"

    // Apple's HLS Authoring Specification, 6.14
    case appleIFramesWithoutH264 = "apple-i-frames-without-h264"

    // Apple's HLS Authoring Specification, 6.16
    case appleIFramesWithoutSDR = "apple-i-frames-without-sdr"

    // Apple's HLS Authoring Specification, 7.5
    case appleTargetDuration = "apple-target-duration"

    // Apple's HLS Authoring Specification, 7.6
    case appleSegmentDuration = "apple-segment-duration"

    // Apple's HLS Authoring Specification, 7.7
    case appleLongerThanTarget = "apple-longer-than-target"

    // Apple's HLS Authoring Specification, 8.4
    case appleLiveWithoutDate = "apple-live-without-date"

    // Apple's HLS Authoring Specification, 8.6
    case appleMissingPlaylistType = "apple-missing-playlist-type"

    // Apple's HLS Authoring Specification, 8.10
    case appleMissingLanguage = "apple-missing-language"

    // Apple's HLS Authoring Specification, 8.11
    case appleLiveWindowShort = "apple-live-window-short"

    // Apple's HLS Authoring Specification, 8.12
    case appleLiveWindow = "apple-live-window"

    // Apple's HLS Authoring Specification, 8.17
    case appleLiveWithoutDiscontinuitySequence = "apple-live-without-discontinuity-sequence"

    // Apple's HLS Authoring Specification, 9.1
    case appleMissingCodecs = "apple-missing-codecs"

    // Apple's HLS Authoring Specification, 9.2
    case appleMissingResolution = "apple-missing-resolution"

    // Apple's HLS Authoring Specification, 9.3
    case appleIFrameWithoutCodecs = "apple-i-frame-without-codecs"

    // Apple's HLS Authoring Specification, 9.4
    case appleIFrameWithoutResolution = "apple-i-frame-without-resolution"

    // Apple's HLS Authoring Specification, 9.5
    case appleMuxedAudio = "apple-muxed-audio"

    // Apple's HLS Authoring Specification, 9.6
    case appleMultichannelMuxed = "apple-multichannel-muxed"

    // Apple's HLS Authoring Specification, 9.7
    case appleAlternativeAudioMuxed = "apple-alternative-audio-muxed"

    // Apple's HLS Authoring Specification, 9.9
    case appleSingleVariant = "apple-single-variant"

    // Apple's HLS Authoring Specification, 9.10
    case appleOneTopVariant = "apple-one-top-variant"

    // Apple's HLS Authoring Specification, 9.11
    case appleMissingIndependentSegments = "apple-missing-independent-segments"

    // Apple's HLS Authoring Specification, 9.14
    case appleMissingAverageBandwidth = "apple-missing-average-bandwidth"

    // Apple's HLS Authoring Specification, 9.15
    case appleMissingFrameRate = "apple-missing-frame-rate"

    // Apple's HLS Authoring Specification, 9.16
    case appleMissingVideoRange = "apple-missing-video-range"

    // Apple's HLS Authoring Specification, 9.17
    case appleRenditionOrder = "apple-rendition-order"

    // Apple's HLS Authoring Specification, 9.18
    case appleSteeringWithoutPathway = "apple-steering-without-pathway"

    // Apple's HLS Authoring Specification, 9.19
    case appleMissingScore = "apple-missing-score"

    // Apple's HLS Authoring Specification, 9.20
    case appleAPACWithoutProfile = "apple-apac-without-profile"

    // Apple's HLS Authoring Specification, 10.2
    case appleNoFailover = "apple-no-failover"

    // Apple's HLS Authoring Specification, 11.2
    case applePlaylistWithoutTLS = "apple-playlist-without-tls"

    // Apple's HLS Authoring Specification, 11.3
    case appleSegmentWithoutTLS = "apple-segment-without-tls"

    // Apple's HLS Authoring Specification, 13.2
    case appleFairPlayMethod = "apple-fairplay-method"

    // Apple's HLS Authoring Specification, 13.3
    case appleFairPlayKeyFormat = "apple-fairplay-key-format"

    // Apple's HLS Authoring Specification, 13.4
    case appleFairPlayIV = "apple-fairplay-iv"

    // Apple's HLS Authoring Specification, 13.5
    case appleHDWithoutHDCP = "apple-hd-without-hdcp"

    // Apple's HLS Authoring Specification, 13.6
    case appleUHDWithoutHDCP = "apple-uhd-without-hdcp"

    // Apple's HLS Authoring Specification, 13.11
    case appleSampleAESCTR = "apple-sample-aes-ctr"

    // Apple's HLS Authoring Specification, 14.2c
    case applePartTarget = "apple-part-target"

    // Apple's HLS Authoring Specification, 14.3
    case applePartHoldBack = "apple-part-hold-back"

    // Apple's HLS Authoring Specification, 14.4
    case appleNoDeltaUpdates = "apple-no-delta-updates"

    // Apple's HLS Authoring Specification, 14.5
    case appleNoDateRangeSkip = "apple-no-date-range-skip"

    // Apple's HLS Authoring Specification, 16.7
    case appleImmersiveNotStereo = "apple-immersive-not-stereo"

    // Apple's HLS Authoring Specification, 9.12
    case appleNoIndependentSegments = "apple-no-independent-segments"

    // Apple's HLS Authoring Specification, 1.5
    case appleHEVCNotFMP4 = "apple-hevc-not-fmp4"

    // Apple's HLS Authoring Specification, 1.39
    case appleAV1NotFMP4 = "apple-av1-not-fmp4"

    // Apple's HLS Authoring Specification, 8.22
    case appleBoundariesDiffer = "apple-boundaries-differ"
}
