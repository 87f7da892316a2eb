public import HLSPlaylist
public import MediaTiming

// The table of edits. An edit is declared here once; the command line, the server, the web console and the documentation
// are derived from its declaration.

extension PlaylistEdit {
    /// All kinds of edits, in the order in which help and documentation list them and the web console applies them.
    static let kinds: [any AnyEditKind] = [
        bandwidthKind, resolutionKind, maxHeightKind, frameRateKind, videoRangeKind, codecsKind, dropCodecsKind,
        audioLanguagesKind, subtitleLanguagesKind, noSubtitlesKind, noIFramesKind, startKind, durationKind, appendKind,
        prependKind, insertKind, replaceBreaksKind, interstitialsKind, dropRangeKind, trimKind, cutKind, repeatKind,
        liveKind, stripTagsKind, setTagKind, absoluteKind, canonicalKind,
    ]

    // MARK: Multivariant playlists

    /// Removes the variants whose `BANDWIDTH` is outside a range.
    public static func bandwidth(_ range: PartialRange<BitRate>) -> PlaylistEdit { bandwidthKind(range) }

    private static let bandwidthKind = EditKind(
        "bandwidth",
        .bitRates,
        title: "Bit rate",
        summary: "Keep variants whose BANDWIDTH is in LOW...HIGH, such as 900k...4M.",
        examples: ["900k...4M", "...2500000", "1M..."],
        multivariant: { (playlist, range, _) throws(PlaylistEditError) in try playlist.limited(to: range) }
    )

    /// Removes the variants whose resolution is outside a range; variants without a resolution remain if the range has no
    /// lower bound.
    public static func resolution(_ range: ResolutionRange) -> PlaylistEdit { resolutionKind(range) }

    private static let resolutionKind = EditKind(
        "resolution",
        .resolutions,
        title: "Resolution",
        summary:
            "Keep variants whose RESOLUTION is in WxH...WxH; without a lower bound, also variants without a resolution.",
        examples: ["640x360...1280x720", "...1920x1080", "1280x720..."],
        multivariant: { (playlist, range, _) throws(PlaylistEditError) in try playlist.limited(to: range) }
    )

    /// Removes the variants whose video height in pixels exceeds a maximum; variants without a resolution remain.
    public static func maxHeight(_ height: Int) -> PlaylistEdit { maxHeightKind(height) }

    private static let maxHeightKind = EditKind(
        "max-height",
        .integer(in: 1...65_535, unit: "px", placeholder: "PIXELS", form: "a height in pixels"),
        title: "Maximum height",
        summary: "Keep variants whose video is at most this many pixels high, and variants without a resolution.",
        examples: ["720"],
        multivariant: { (playlist, height, _) throws(PlaylistEditError) in try playlist.limited(toHeight: height) }
    )

    /// Removes the variants whose frame rate, in frames per second, is outside a range; variants without a frame rate remain
    /// if the range has no lower bound.
    public static func frameRate(_ range: PartialRange<MediaTime>) -> PlaylistEdit { frameRateKind(range) }

    private static let frameRateKind = EditKind(
        "frame-rate",
        .frameRates,
        title: "Frame rate",
        summary:
            "Keep variants whose FRAME-RATE is in LOW...HIGH; without a lower bound, also variants without a frame rate.",
        examples: ["...30", "50...60", "29.97..."],
        multivariant: { (playlist, range, _) throws(PlaylistEditError) in try playlist.limited(toFrameRates: range) }
    )

    /// Removes the variants of other dynamic ranges; video without `VIDEO-RANGE` counts as SDR.
    public static func videoRange(_ ranges: [VideoRange]) -> PlaylistEdit { videoRangeKind(ranges.map(\.rawValue)) }

    private static let videoRangeKind = EditKind(
        "video-range",
        .list(placeholder: "RANGES", form: "a list of SDR, HLG and PQ") { word in
            let range = VideoRange(rawValue: word.uppercased())
            return [.sdr, .hlg, .pq].contains(range) ? range.rawValue : nil
        },
        title: "Dynamic range",
        summary: "Keep variants whose VIDEO-RANGE is in the list, such as SDR,HLG; undeclared video is SDR.",
        examples: ["SDR", "PQ,HLG"],
        multivariant: { (playlist, names, _) throws(PlaylistEditError) in
            try playlist.limited(to: names.map { VideoRange(rawValue: $0) })
        }
    )

    /// Removes the variants that have other codecs; each codec is compared with the prefixes of its media type.
    public static func codecs(_ prefixes: [String]) -> PlaylistEdit { codecsKind(prefixes) }

    private static let codecsKind = EditKind(
        "codecs",
        codecPrefixes,
        title: "Codecs",
        summary:
            "Keep variants whose video, audio and subtitle CODECS begin with one of these, for each type in the list.",
        examples: ["avc1,mp4a", "hvc1"],
        multivariant: { (playlist, prefixes, _) throws(PlaylistEditError) in try playlist.limited(toCodecs: prefixes) }
    )

    /// Removes the variants that have a codec with one of the prefixes.
    public static func dropCodecs(_ prefixes: [String]) -> PlaylistEdit { dropCodecsKind(prefixes) }

    private static let dropCodecsKind = EditKind(
        "drop-codecs",
        codecPrefixes,
        title: "Remove codecs",
        summary: "Remove variants that have a codec that begins with one of these, such as hvc1,ec-3.",
        examples: ["hvc1,hev1", "ec-3"],
        multivariant: { (playlist, prefixes, _) throws(PlaylistEditError) in try playlist.dropping(codecs: prefixes) }
    )

    private static var codecPrefixes: EditValueType<[String]> {
        .list(placeholder: "CODECS", form: "a list of codecs or their beginnings, such as avc1,mp4a.40") { word in
            word.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
                ? word : nil
        }
    }

    /// Removes the audio renditions of other languages.
    public static func audioLanguages(_ languages: [String]) -> PlaylistEdit { audioLanguagesKind(languages) }

    private static let audioLanguagesKind = EditKind(
        "audio-languages",
        languageRanges,
        title: "Audio languages",
        summary: "Keep audio renditions of these languages, such as en,ko; und stands for those without a language.",
        examples: ["en,ko", "fr-CA"],
        multivariant: { (playlist, languages, _) throws(PlaylistEditError) in
            try playlist.limited(toAudioLanguages: languages)
        }
    )

    /// Removes the subtitles of other languages.
    public static func subtitleLanguages(_ languages: [String]) -> PlaylistEdit { subtitleLanguagesKind(languages) }

    private static let subtitleLanguagesKind = EditKind(
        "subtitle-languages",
        languageRanges,
        title: "Subtitle languages",
        summary: "Keep subtitles of these languages, such as en,ko; und stands for those without a language.",
        examples: ["en,ko", "fr-CA"],
        multivariant: { (playlist, languages, _) throws(PlaylistEditError) in
            try playlist.limited(toSubtitleLanguages: languages)
        }
    )

    private static var languageRanges: EditValueType<[String]> {
        .list(placeholder: "LANGUAGES", form: "a list of language tags, such as en,pt-BR") { word in
            word == "*" || word.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") } ? word : nil
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    /// Removes the subtitle renditions.
    public static let noSubtitles = noSubtitlesKind(())

    private static let noSubtitlesKind = EditKind(
        "no-subtitles",
        .none,
        title: "Remove subtitles",
        summary: "Remove subtitle renditions; closed captions in the video remain.",
        multivariant: { (playlist, _, _) throws(PlaylistEditError) in try playlist.withoutSubtitles() }
    )

    /// Removes the I-frame variants.
    public static let noIFrames = noIFramesKind(())

    private static let noIFramesKind = EditKind(
        "no-i-frames",
        .none,
        title: "Remove I-frame variants",
        summary: "Remove I-frame variants.",
        multivariant: { (playlist, _, _) throws(PlaylistEditError) in try playlist.withoutIFrameVariants() }
    )

    // MARK: Media playlists

    /// Removes the segments before the one that contains a time.
    public static func start(_ time: MediaTime) -> PlaylistEdit { startKind(time) }

    private static let startKind = EditKind(
        "start",
        .time,
        title: "Start",
        summary: "Remove the segments before the one that contains this time.",
        examples: ["12.5", "00:01:30"],
        alignment: .start,
        media: { (playlist, time, context) throws(PlaylistEditError) in
            try playlist.dropped(before: time, limits: context.limits)
        }
    )

    /// Removes segments at the end, so that the total duration does not exceed a maximum.
    public static func duration(_ time: MediaTime) -> PlaylistEdit { durationKind(time) }

    private static let durationKind = EditKind(
        "duration",
        .duration,
        title: "Duration",
        summary: "Keep whole segments from the start, up to this total duration.",
        examples: ["30", "00:01:30"],
        alignment: .duration,
        media: { (playlist, time, context) throws(PlaylistEditError) in
            try playlist.limited(to: time, limits: context.limits)
        }
    )

    /// Appends another playlist, with a discontinuity at the transition.
    public static func append(_ source: String) -> PlaylistEdit { appendKind(source) }

    private static let appendKind = EditKind(
        "append",
        .source,
        title: "Append",
        summary: "Append another playlist, separated by a discontinuity.",
        examples: ["https://example.com/advertisement.m3u8"],
        media: { (playlist, source, context) throws(PlaylistEditError) in
            try playlist.appending(try context.insertedPlaylist(source), limits: context.limits)
        }
    )

    /// Prepends another playlist, with a discontinuity at the transition.
    public static func prepend(_ source: String) -> PlaylistEdit { prependKind(source) }

    private static let prependKind = EditKind(
        "prepend",
        .source,
        title: "Prepend",
        summary: "Prepend another playlist, separated by a discontinuity.",
        examples: ["https://example.com/advertisement.m3u8"],
        media: { (playlist, source, context) throws(PlaylistEditError) in
            try playlist.prepending(try context.insertedPlaylist(source), limits: context.limits)
        }
    )

    /// Inserts another playlist at the segment boundary nearest to a time.
    public static func insert(_ source: String, at time: MediaTime) -> PlaylistEdit {
        insertKind(SourceAtTime(source: source, time: time))
    }

    private static let insertKind = EditKind(
        "insert",
        .sourceAtTime,
        title: "Insert",
        summary: "Insert another playlist at the segment boundary nearest to a time.",
        examples: ["https://example.com/advertisement.m3u8@30"],
        alignment: .insert,
        media: { (playlist, value, context) throws(PlaylistEditError) in
            try playlist.inserting(
                try context.insertedPlaylist(value.source),
                at: value.time,
                limits: context.limits
            )
        }
    )

    /// Plays another playlist in the breaks of a playlist, with a discontinuity at each transition.
    ///
    /// In a live playlist, the segments of a break are replaced as they are published, for the duration of the other playlist at
    /// most, so that the distance to the live edge remains. In a complete playlist, breaks by the clock and those without a
    /// duration are positions at which the other playlist is inserted.
    public static func replaceBreaks(with source: String, at rule: BreakRule) -> PlaylistEdit {
        replaceBreaksKind(SourceAtBreaks(source: source, rule: rule))
    }

    private static let replaceBreaksKind = EditKind(
        "replace-breaks",
        .sourceAtBreaks,
        title: "Replace breaks",
        summary: "Play another playlist in breaks, also of live playlists: cues, class=NAME or every=SECONDS.",
        examples: ["https://example.com/advertisement.m3u8@cues", "https://example.com/advertisement.m3u8@every=600"],
        continuesTimeline: true,
        media: { (playlist, value, context) throws(PlaylistEditError) in
            let edit = "\(value.source)@\(value.rule)"
            var timeline = context.breaks?[edit] ?? BreakTimeline()
            let isContinued = playlist.isLive || timeline.next != nil
            let result = try playlist.replacingBreaks(
                value.rule,
                with: isContinued
                    ? try? context.insertedPlaylist(value.source) : try context.insertedPlaylist(value.source),
                &timeline,
                limits: context.limits
            )
            if isContinued { context.breaks?[edit] = timeline }
            return result
        }
    )

    /// Writes a date range for each break of a playlist, with which players play another playlist as an interstitial.
    public static func interstitials(_ address: String, at rule: BreakRule) -> PlaylistEdit {
        interstitialsKind(SourceAtBreaks(source: address, rule: rule))
    }

    private static let interstitialsKind = EditKind(
        "interstitials",
        .addressAtBreaks,
        title: "Interstitials in breaks",
        summary: "Let players play another playlist in breaks as an interstitial: cues, class=NAME or every=SECONDS.",
        examples: ["https://example.com/advertisement.m3u8@cues", "https://example.com/advertisement.m3u8@every=600"],
        media: { (playlist, value, context) throws(PlaylistEditError) in
            try playlist.writingInterstitials(value.rule, playing: value.source, limits: context.limits)
        }
    )

    /// Removes the segments that are entirely inside a time range.
    public static func dropRange(_ range: MediaTimeRange) -> PlaylistEdit { dropRangeKind(range) }

    private static let dropRangeKind = EditKind(
        "drop-range",
        .timeRange,
        title: "Remove range",
        summary: "Remove the segments that are completely within START...END.",
        examples: ["10...20", "60..."],
        alignment: .dropRange,
        media: { (playlist, range, context) throws(PlaylistEditError) in
            try playlist.dropping(range, limits: context.limits)
        }
    )

    /// Keeps the segments between the boundaries that are nearest to the ends of a time range.
    public static func trim(_ range: MediaTimeRange) -> PlaylistEdit { trimKind(range) }

    private static let trimKind = EditKind(
        "trim",
        .timeRange,
        title: "Trim",
        summary: "Keep the segments between the segment boundaries nearest to START and END.",
        examples: ["10...20", "60..."],
        alignment: .trim,
        media: { (playlist, range, context) throws(PlaylistEditError) in
            try playlist.trimmed(toBoundariesNear: range, limits: context.limits)
        }
    )

    /// Removes the segments between the boundaries that are nearest to the ends of a time range.
    public static func cut(_ range: MediaTimeRange) -> PlaylistEdit { cutKind(range) }

    private static let cutKind = EditKind(
        "cut",
        .timeRange,
        title: "Cut",
        summary: "Remove the segments between the segment boundaries nearest to START and END.",
        examples: ["10...20", "60..."],
        alignment: .cut,
        media: { (playlist, range, context) throws(PlaylistEditError) in
            try playlist.cutting(betweenBoundariesNear: range, limits: context.limits)
        }
    )

    /// Repeats the playlist, with a discontinuity at each transition.
    public static func `repeat`(_ count: Int) -> PlaylistEdit { repeatKind(count) }

    private static let repeatKind = EditKind(
        "repeat",
        .integer(in: 1...1_000, unit: "times", placeholder: "COUNT", form: "a number of repetitions"),
        title: "Repeat",
        summary: "Play the presentation this many times, separated by discontinuities.",
        examples: ["3"],
        media: { (playlist, count, context) throws(PlaylistEditError) in
            try playlist.repeated(count, limits: context.limits)
        }
    )

    /// Simulates a live channel with the segments of the presentation.
    public static func live(_ channel: SimulatedChannel) -> PlaylistEdit { liveKind(channel) }

    private static let liveKind = EditKind(
        "live",
        .channel,
        title: "Simulated live channel",
        summary: "Simulate a live channel: loop, or once with a start, then start=DATE and window=SECONDS.",
        examples: ["loop", "loop,window=120", "once,start=2026-01-01T12:00:00Z"],
        alignment: .channel,
        dependsOnDate: true,
        media: { (playlist, channel, context) throws(PlaylistEditError) in
            guard let date = context.date else {
                throw .cannotStitch(reason: "a channel is simulated at a date, and there is none")
            }
            return try playlist.simulated(channel, at: date, limits: context.limits)
        }
    )

    // MARK: Both

    /// Removes the tags of the given names.
    public static func stripTags(_ names: [String]) -> PlaylistEdit { stripTagsKind(names) }

    private static let stripTagsKind = EditKind(
        "strip-tags",
        .list(
            placeholder: "NAMES",
            form:
                "a list of tags, such as EXT-X-DATERANGE,EXT-X-CUE-OUT, other than \(TagNames.indispensableNames.joined(separator: ", "))"
        ) { TagNames.removable($0) },
        title: "Remove tags",
        summary: "Remove the tags of these names, such as EXT-X-DATERANGE,EXT-X-CUE-OUT.",
        examples: ["EXT-X-DATERANGE,EXT-X-CUE-OUT"],
        multivariant: { (playlist, names, context) throws(PlaylistEditError) in
            try Playlist.multivariant(playlist).removingTags(names, limits: context.limits)
                .asMultivariant(after: "strip-tags")
        },
        media: { (playlist, names, context) throws(PlaylistEditError) in
            try Playlist.media(playlist).removingTags(names, limits: context.limits).asMedia(after: "strip-tags")
        }
    )

    /// Sets a tag that applies to the entire playlist.
    public static func setTag(_ assignment: TagAssignment) -> PlaylistEdit { setTagKind(assignment) }

    private static let setTagKind = EditKind(
        "set-tag",
        .tagAssignment,
        title: "Set tag",
        summary: "Set a tag of the entire playlist, such as EXT-X-START=TIME-OFFSET=10; it is added if it is missing.",
        examples: ["EXT-X-START=TIME-OFFSET=10", "EXT-X-INDEPENDENT-SEGMENTS"],
        multivariant: { (playlist, assignment, context) throws(PlaylistEditError) in
            try Playlist.multivariant(playlist).settingTag(assignment, limits: context.limits)
                .asMultivariant(after: "set-tag")
        },
        media: { (playlist, assignment, context) throws(PlaylistEditError) in
            try Playlist.media(playlist).settingTag(assignment, limits: context.limits).asMedia(after: "set-tag")
        }
    )

    /// Makes every URI absolute.
    public static let absolute = absoluteKind(())

    private static let absoluteKind = EditKind(
        "absolute",
        .none,
        title: "Absolute URLs",
        summary: "Write every URL as an absolute URL.",
        multivariant: { (playlist, _, context) throws(PlaylistEditError) in
            try Playlist.multivariant(playlist).withAbsoluteAddresses(limits: context.limits)
                .asMultivariant(after: "absolute")
        },
        media: { (playlist, _, context) throws(PlaylistEditError) in
            try playlist.withAbsoluteAddresses(limits: context.limits)
        }
    )

    /// Converts the playlist to its canonical form.
    public static let canonical = canonicalKind(())

    private static let canonicalKind = EditKind(
        "canonical",
        .none,
        title: "Canonical form",
        summary: "Write the canonical form: one order of tags and attributes, no comments, no superfluous white space.",
        multivariant: { (playlist, _, context) throws(PlaylistEditError) in
            try Playlist.multivariant(playlist).canonicalized(limits: context.limits).asMultivariant(after: "canonical")
        },
        media: { (playlist, _, context) throws(PlaylistEditError) in
            try Playlist.media(playlist).canonicalized(limits: context.limits).asMedia(after: "canonical")
        }
    )
}
