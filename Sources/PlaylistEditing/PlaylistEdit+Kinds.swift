import HLSPlaylist
public import MediaTiming

// The table of edits. An edit is declared here once; the command line, the server, the web console and the documentation
// are derived from its declaration.

extension PlaylistEdit {
    /// All kinds of edits, in the order in which help and documentation list them and the web console applies them.
    static let kinds: [any AnyEditKind] = filterKinds + otherKinds

    /// The kinds of edits that change media playlists, in the same order.
    private static let otherKinds: [any AnyEditKind] = [
        startKind,
        durationKind,
        appendKind,
        prependKind,
        insertKind,
        replaceBreaksKind,
        interstitialsKind,
        dropRangeKind,
        trimKind,
        cutKind,
        excludeKind,
        keyKind,
        splitKind,
        repeatKind,
        liveKind,
        stripTagsKind,
        setTagKind,
        carryQueryKind,
        absoluteKind,
        canonicalKind,
    ]

    /// The names of edits of media playlists that leave all segments at their times.
    static let namesWithoutMoves = [interstitialsKind.definition.name, splitKind.definition.name]

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
        cutTimes: { [$0, MediaTimeRange.unbounded.end] },
        media: { (playlist, time, context) throws(PlaylistEditError) in
            try playlist.dropped(before: time, limits: context.limits)
        }
    )

    /// Removes segments at the end, so that the total duration does not exceed a maximum.
    ///
    /// A live playlist remains live: the duration is that from its first segment at each reload. One of the type `EVENT` ends once
    /// all segments within the duration are published.
    public static func duration(_ time: MediaTime) -> PlaylistEdit { durationKind(time) }

    private static let durationKind = EditKind(
        "duration",
        .duration,
        title: "Duration",
        summary: "Keep whole segments from the start, up to this total duration; live playlists remain live.",
        examples: ["30", "00:01:30"],
        alignment: .duration,
        cutTimes: { [$0] },
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

    /// Inserts another playlist at the place that corresponds to its place in the reference track.
    static func insert(_ source: String, at seam: TrackSeam) -> PlaylistEdit {
        insertKind(SourceAtTime(source: source, time: seam.range.start, seam: seam))
    }

    private static let insertKind = EditKind(
        "insert",
        .sourceAtTime,
        title: "Insert",
        summary: "Insert another playlist at the segment boundary nearest to a time.",
        examples: ["https://example.com/advertisement.m3u8@30"],
        alignment: .insert,
        cutTimes: { [$0.time] },
        media: { (playlist, value, context) throws(PlaylistEditError) in
            let other = try context.insertedPlaylist(value.source)
            guard let seam = value.seam else {
                return try playlist.inserting(other, at: value.time, limits: context.limits)
            }
            return try playlist.inserting(other, at: seam, limits: context.limits)
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
        summary:
            "Replace breaks, also in live playlists, with another playlist. RULE is cues (EXT-X-CUE-OUT or SCTE-35), class=NAME (date ranges of that CLASS) or every=SECONDS.",
        examples: ["https://example.com/advertisement.m3u8@cues", "https://example.com/advertisement.m3u8@every=600"],
        alignment: .breaks,
        continuesTimeline: true,
        cutTimes: { $0.rule.locations.flatMap(\.ends) },
        media: { (playlist, value, context) throws(PlaylistEditError) in
            let edit = "\(value.source)@\(value.rule)"
            var timeline = context.breaks?[edit] ?? BreakTimeline()
            let isContinued = playlist.isLive || timeline.next != nil
            let result = try playlist.replacingBreaks(
                value.rule,
                with: isContinued
                    ? try? context.insertedPlaylist(value.source) : try context.insertedPlaylist(value.source),
                &timeline,
                following: context.breaks?.sibling(of: value.rule),
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
        summary: "Insert another playlist as an interstitial at each break; RULE as for --replace-breaks.",
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
        summary:
            "Remove the segments that are entirely within the time range START...END. Segments that are only partly in the range remain.",
        examples: ["10...20", "60..."],
        alignment: .dropRange,
        cutTimes: \.ends,
        media: { (playlist, range, context) throws(PlaylistEditError) in
            try playlist.dropping(range, limits: context.limits)
        }
    )

    /// Keeps the segments between the boundaries that are nearest to the ends of a time range.
    ///
    /// A live playlist remains live as with ``duration(_:)``.
    public static func trim(_ range: MediaTimeRange) -> PlaylistEdit { trimKind(range) }

    private static let trimKind = EditKind(
        "trim",
        .timeRange,
        title: "Trim",
        summary:
            "Keep only the time range START...END. Each end of the range is moved to the nearest segment boundary. Live playlists remain live.",
        examples: ["10...20", "60..."],
        alignment: .trim,
        cutTimes: \.ends,
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
        summary:
            "Remove the time range START...END. Each end of the range is moved to the nearest segment boundary.",
        examples: ["10...20", "60..."],
        alignment: .cut,
        cutTimes: \.ends,
        media: { (playlist, range, context) throws(PlaylistEditError) in
            try playlist.cutting(betweenBoundariesNear: range, limits: context.limits)
        }
    )

    /// Removes the segments that a rule determines, such as those of breaks, from complete playlists.
    public static func exclude(_ rule: SegmentRule) -> PlaylistEdit { excludeKind(rule) }

    private static let excludeKind = EditKind(
        "exclude",
        .segmentRule,
        title: "Exclude segments",
        summary:
            "Remove the segments that RULE selects. RULE is cues (breaks by EXT-X-CUE-OUT or SCTE-35), class=NAME (date ranges of that CLASS), address=TEXT (segments with this text in their URL), or a list of time ranges. The playlist must be complete.",
        examples: ["cues", "class=com.example.advertisement", "address=/ads/", "10...20,60..."],
        alignment: .exclude,
        cutTimes: { $0.locations.flatMap(\.ends) },
        media: { (playlist, rule, context) throws(PlaylistEditError) in
            try rule.removingSegments(from: playlist, limits: context.limits)
        }
    )

    /// Sets the AES-128 key of the encrypted segments.
    public static func key(_ key: SegmentKey) -> PlaylistEdit { keyKind(key) }

    private static let keyKind = EditKind(
        "key",
        .segmentKey,
        title: "Key",
        summary: "Decrypt with this AES-128 key instead of those that the playlist names: 32 hexadecimal digits.",
        examples: [
            "00112233445566778899aabbccddeeff", "00112233445566778899aabbccddeeff,iv=0123456789abcdef0123456789abcdef",
        ],
        multivariant: { (playlist, key, context) throws(PlaylistEditError) in
            try Playlist.multivariant(playlist).settingKey(key, limits: context.limits).asMultivariant(after: "key")
        },
        media: { (playlist, key, context) throws(PlaylistEditError) in
            try Playlist.media(playlist).settingKey(key, limits: context.limits).asMedia(after: "key")
        }
    )

    /// Divides a WebVTT file that is the only segment of a playlist, so that later edits cut it at these times.
    public static func split(_ times: [MediaTime]) -> PlaylistEdit { splitKind(times.map(\.description)) }

    static let splitKind = EditKind(
        "split",
        .list(placeholder: "TIMES", form: "a list of times in seconds, such as 12.5,30") { word in
            MediaTime(decimal: word).flatMap { $0 < .zero ? nil : $0.description }
        },
        title: "Divide subtitles",
        summary:
            "Divide the WebVTT file of a playlist with a single segment at these times, in seconds. Later edits can then cut the subtitles there.",
        examples: ["12.5,30"],
        media: { (playlist, times, context) throws(PlaylistEditError) in
            try SubtitleDivision(of: playlist).divided(
                at: times.compactMap { MediaTime(decimal: $0) },
                limits: context.limits
            )
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

    /// The channel that the edit simulates; `nil` for any other edit.
    package var channel: SimulatedChannel? {
        definition.name == Self.liveKind.definition.name ? SimulatedChannel(value) : nil
    }

    private static let liveKind = EditKind(
        "live",
        .channel,
        title: "Simulated live channel",
        summary:
            "Simulate a live stream: loop, or once,start=DATE; optionally followed by ,window=SECONDS and ,part=SECONDS.",
        examples: ["loop", "loop,window=120", "loop,part=0.5", "once,start=2026-01-01T12:00:00Z"],
        alignment: .channel,
        dependsOnDate: true,
        media: { (playlist, channel, context) throws(PlaylistEditError) in
            guard let date = context.date else {
                throw .cannotStitch(reason: "a channel is simulated at a date, and there is none")
            }
            return try channel.playlist(of: playlist, at: date, delivery: context.parts, limits: context.limits)
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
            try Playlist.multivariant(playlist).removingTags(names, edit: "strip-tags", limits: context.limits)
                .asMultivariant(after: "strip-tags")
        },
        media: { (playlist, names, context) throws(PlaylistEditError) in
            try Playlist.media(playlist).removingTags(names, edit: "strip-tags", limits: context.limits)
                .asMedia(after: "strip-tags")
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

    /// A Boolean value that indicates whether the edit sets the start position (RFC 8216bis §4.4.2.2).
    var setsStart: Bool {
        definition.name == Self.setTagKind.definition.name && TagAssignment(value)?.name == TagName.start.name
    }

    /// Adds parameters of the URL of the playlist to the URLs of the same origin in it; `*` stands for all parameters.
    public static func carryQuery(_ names: [String]) -> PlaylistEdit { carryQueryKind(names) }

    private static let carryQueryKind = EditKind(
        "carry-query",
        .list(placeholder: "NAMES", form: "a list of names of parameters, or *") { word in
            word.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"&=#?".utf8.contains($0) } ? word : nil
        },
        title: "Pass on query",
        summary:
            "Add these query parameters of the playlist's URL to the URLs in it that have the same origin; * for all parameters.",
        examples: ["token,expires", "*"],
        multivariant: { (playlist, names, context) throws(PlaylistEditError) in
            try Playlist.multivariant(playlist).carryingQuery(names, limits: context.limits)
                .asMultivariant(after: "carry-query")
        },
        media: { (playlist, names, context) throws(PlaylistEditError) in
            try Playlist.media(playlist).carryingQuery(names, limits: context.limits).asMedia(after: "carry-query")
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
