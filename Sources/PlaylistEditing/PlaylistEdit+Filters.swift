public import HLSPlaylist
public import MediaTiming

// The edits of multivariant playlists, which the table of edits lists.

extension PlaylistEdit {
    /// The kinds of edits that change multivariant playlists only, with which ``kinds`` begins.
    static let filterKinds: [any AnyEditKind] = [
        bandwidthKind,
        resolutionKind,
        maxHeightKind,
        frameRateKind,
        scoreKind,
        videoRangeKind,
        codecsKind,
        dropCodecsKind,
        audioLanguagesKind,
        subtitleLanguagesKind,
        noSubtitlesKind,
        captionTypesKind,
        contentTypesKind,
        noIFramesKind,
        filterVideoKind,
        filterAudioKind,
        filterSubtitlesKind,
        pruneSessionKeysKind,
    ]

    /// Removes the variants whose `BANDWIDTH` is outside a range.
    public static func bandwidth(_ range: PartialRange<BitRate>) -> PlaylistEdit { bandwidthKind(range) }

    static let bandwidthKind = EditKind(
        filter: "bandwidth",
        .bitRates,
        title: "Bit rate",
        summary: "Keep variants whose BANDWIDTH is in LOW...HIGH, such as 900k...4M.",
        examples: ["900k...4M", "...2500000", "1M..."],
        multivariant: { (playlist, range, _) throws(PlaylistEditError) in try playlist.limited(to: range) }
    )

    /// Removes the variants whose resolution is outside a range; variants without a resolution remain if the range has no
    /// lower bound.
    public static func resolution(_ range: ResolutionRange) -> PlaylistEdit { resolutionKind(range) }

    static let resolutionKind = EditKind(
        filter: "resolution",
        .resolutions,
        title: "Resolution",
        summary:
            "Keep variants whose RESOLUTION is in WxH...WxH; without a lower bound, also variants without a resolution.",
        examples: ["640x360...1280x720", "...1920x1080", "1280x720..."],
        multivariant: { (playlist, range, _) throws(PlaylistEditError) in try playlist.limited(to: range) }
    )

    /// Removes the variants whose video height in pixels exceeds a maximum; variants without a resolution remain.
    public static func maxHeight(_ height: Int) -> PlaylistEdit { maxHeightKind(height) }

    static let maxHeightKind = EditKind(
        filter: "max-height",
        .heights,
        title: "Maximum height",
        summary: "Keep variants whose video is at most this many pixels high, and variants without a resolution.",
        examples: ["720"],
        multivariant: { (playlist, height, _) throws(PlaylistEditError) in try playlist.limited(toHeight: height) }
    )

    /// Removes the variants whose frame rate, in frames per second, is outside a range; variants without a frame rate remain
    /// if the range has no lower bound.
    public static func frameRate(_ range: PartialRange<MediaTime>) -> PlaylistEdit { frameRateKind(range) }

    static let frameRateKind = EditKind(
        filter: "frame-rate",
        .frameRates,
        title: "Frame rate",
        summary:
            "Keep variants whose FRAME-RATE is in LOW...HIGH; without a lower bound, also variants without a frame rate.",
        examples: ["...30", "50...60", "29.97..."],
        multivariant: { (playlist, range, _) throws(PlaylistEditError) in try playlist.limited(toFrameRates: range) }
    )

    /// Removes the variants whose `SCORE` is lower than a minimum, and those without `SCORE`.
    ///
    /// - Parameter minimum: The lowest score that remains, 0 or more; `MediaTime` represents decimal numbers exactly.
    /// - Returns: The edit.
    public static func score(_ minimum: MediaTime) -> PlaylistEdit { scoreKind(minimum) }

    static let scoreKind = EditKind(
        filter: "score",
        .score,
        title: "Minimum score",
        summary: "Keep variants whose SCORE is at least this number.",
        examples: ["2.5"],
        keepingVariants: { variant, minimum in variant.score.map { $0 >= minimum.seconds } ?? false }
    )

    /// Removes the variants of other dynamic ranges; video without `VIDEO-RANGE` counts as SDR.
    public static func videoRange(_ ranges: [VideoRange]) -> PlaylistEdit { videoRangeKind(ranges.map(\.rawValue)) }

    static let videoRangeKind = EditKind(
        filter: "video-range",
        .videoRanges,
        title: "Dynamic range",
        summary: "Keep variants whose VIDEO-RANGE is in the list, such as SDR,HLG; undeclared video is SDR.",
        examples: ["SDR", "PQ,HLG"],
        multivariant: { (playlist, names, _) throws(PlaylistEditError) in
            try playlist.limited(to: names.map { VideoRange(rawValue: $0) })
        }
    )

    /// Removes the variants that have other codecs; each codec is compared with the prefixes of its media type.
    public static func codecs(_ prefixes: [String]) -> PlaylistEdit { codecsKind(prefixes) }

    static let codecsKind = EditKind(
        filter: "codecs",
        .codecPrefixes,
        title: "Codecs",
        summary:
            "Keep variants whose codecs begin with the prefixes in the list, such as avc1,mp4a. A list that has only prefixes of video codecs allows any audio codec, and the reverse.",
        examples: ["avc1,mp4a", "hvc1"],
        multivariant: { (playlist, prefixes, _) throws(PlaylistEditError) in try playlist.limited(toCodecs: prefixes) }
    )

    /// Removes the variants that have a codec with one of the prefixes.
    public static func dropCodecs(_ prefixes: [String]) -> PlaylistEdit { dropCodecsKind(prefixes) }

    static let dropCodecsKind = EditKind(
        filter: "drop-codecs",
        .codecPrefixes,
        title: "Remove codecs",
        summary: "Remove variants that have a codec that begins with one of these, such as hvc1,ec-3.",
        examples: ["hvc1,hev1", "ec-3"],
        multivariant: { (playlist, prefixes, _) throws(PlaylistEditError) in try playlist.dropping(codecs: prefixes) }
    )

    /// Removes the audio renditions of other languages.
    public static func audioLanguages(_ languages: [String]) -> PlaylistEdit { audioLanguagesKind(languages) }

    static let audioLanguagesKind = EditKind(
        filter: "audio-languages",
        .languageRanges,
        title: "Audio languages",
        summary: "Keep audio renditions of these languages, such as en,ko; und stands for those without a language.",
        examples: ["en,ko", "fr-CA"],
        multivariant: { (playlist, languages, _) throws(PlaylistEditError) in
            try playlist.limited(toAudioLanguages: languages)
        }
    )

    /// Removes the subtitles of other languages.
    public static func subtitleLanguages(_ languages: [String]) -> PlaylistEdit { subtitleLanguagesKind(languages) }

    static let subtitleLanguagesKind = EditKind(
        filter: "subtitle-languages",
        .languageRanges,
        title: "Subtitle languages",
        summary: "Keep subtitles of these languages, such as en,ko; und stands for those without a language.",
        examples: ["en,ko", "fr-CA"],
        multivariant: { (playlist, languages, _) throws(PlaylistEditError) in
            try playlist.limited(toSubtitleLanguages: languages)
        }
    )

    /// Removes the subtitle renditions.
    public static let noSubtitles = noSubtitlesKind(())

    static let noSubtitlesKind = EditKind(
        filter: "no-subtitles",
        .none,
        title: "Remove subtitles",
        summary: "Remove subtitle renditions; closed captions in the video remain.",
        multivariant: { (playlist, _, _) throws(PlaylistEditError) in try playlist.withoutSubtitles() }
    )

    /// Removes the subtitles and closed captions of other types.
    public static func captionTypes(_ types: [CaptionType]) -> PlaylistEdit { captionTypesKind(types.map(\.rawValue)) }

    static let captionTypesKind = EditKind(
        filter: "caption-types",
        .captionTypes,
        title: "Types of captions",
        summary: "Keep captions of these types: subtitles, forced, sdh (for the deaf), cea608, cea708.",
        examples: ["subtitles,sdh", "cea608"],
        multivariant: { (playlist, types, _) throws(PlaylistEditError) in
            try playlist.limited(to: types.compactMap { CaptionType(rawValue: $0) })
        }
    )

    /// Removes media of other types.
    public static func contentTypes(_ types: [ContentType]) -> PlaylistEdit { contentTypesKind(types.map(\.rawValue)) }

    static let contentTypesKind = EditKind(
        filter: "content-types",
        .contentTypes,
        title: "Types of content",
        summary: "Keep media of these types: video, audio, subtitles, closed-captions.",
        examples: ["video,audio", "audio"],
        multivariant: { (playlist, types, _) throws(PlaylistEditError) in
            try playlist.limited(to: types.compactMap { ContentType(rawValue: $0) })
        }
    )

    /// Removes the variants with video that do not satisfy all conditions; other variants remain.
    ///
    /// - Parameter conditions: The conditions, such as `bandwidth(900k...4M),codecs(hvc1)`.
    /// - Returns: The edit.
    /// - Throws: ``PlaylistEditError/invalidValue(edit:value:expected:)`` if a condition is unknown or its value invalid.
    public static func filterVideo(_ conditions: String) throws(PlaylistEditError) -> PlaylistEdit {
        try PlaylistEdit(name: filterVideoKind.definition.name, value: conditions)
    }

    static let filterVideoKind = EditKind(
        filter: "filter-video",
        .conditions(for: .video),
        title: "Filter video",
        summary: "Keep variants with video that satisfy all conditions; variants with only audio remain.",
        examples: ["max-height(720)", "bandwidth(900k...4M),codecs(hvc1)"],
        multivariant: { (playlist, filter, _) throws(PlaylistEditError) in try playlist.filtered(by: filter) }
    )

    /// Removes the audio that does not satisfy all conditions; the video remains where it has other audio.
    ///
    /// - Parameter conditions: The conditions, such as `languages(en),channels(6...)`.
    /// - Returns: The edit.
    /// - Throws: ``PlaylistEditError/invalidValue(edit:value:expected:)`` if a condition is unknown or its value invalid.
    public static func filterAudio(_ conditions: String) throws(PlaylistEditError) -> PlaylistEdit {
        try PlaylistEdit(name: filterAudioKind.definition.name, value: conditions)
    }

    static let filterAudioKind = EditKind(
        filter: "filter-audio",
        .conditions(for: .audio),
        title: "Filter audio",
        summary: "Keep audio renditions and variants with only audio that satisfy all conditions.",
        examples: ["languages(en),channels(...2)", "bandwidth(...128k)"],
        multivariant: { (playlist, filter, _) throws(PlaylistEditError) in try playlist.filtered(by: filter) }
    )

    /// Removes the subtitles that do not satisfy all conditions.
    ///
    /// - Parameter conditions: The conditions, such as `languages(en,ko),types(sdh)`.
    /// - Returns: The edit.
    /// - Throws: ``PlaylistEditError/invalidValue(edit:value:expected:)`` if a condition is unknown or its value invalid.
    public static func filterSubtitles(_ conditions: String) throws(PlaylistEditError) -> PlaylistEdit {
        try PlaylistEdit(name: filterSubtitlesKind.definition.name, value: conditions)
    }

    static let filterSubtitlesKind = EditKind(
        filter: "filter-subtitles",
        .conditions(for: .subtitles),
        title: "Filter subtitles",
        summary: "Keep subtitles that satisfy all conditions.",
        examples: ["languages(en,ko)", "types(sdh),languages(en)"],
        multivariant: { (playlist, filter, _) throws(PlaylistEditError) in try playlist.filtered(by: filter) }
    )

    /// Removes the session keys that no remaining media playlist uses.
    public static let pruneSessionKeys = pruneSessionKeysKind(())

    static let pruneSessionKeysKind = EditKind(
        filter: "prune-session-keys",
        .none,
        title: "Remove unused session keys",
        summary: "Remove session keys that no remaining media playlist uses; all media playlists are loaded.",
        needsKeys: true,
        multivariant: { (playlist, _, context) throws(PlaylistEditError) in
            try playlist.withoutSessionKeys(except: context.keys)
        }
    )

    /// Removes the I-frame variants.
    public static let noIFrames = noIFramesKind(())

    static let noIFramesKind = EditKind(
        filter: "no-i-frames",
        .none,
        title: "Remove I-frame variants",
        summary: "Remove I-frame variants.",
        multivariant: { (playlist, _, _) throws(PlaylistEditError) in try playlist.withoutIFrameVariants() }
    )
}
