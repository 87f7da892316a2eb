import HLSPlaylist
public import MediaTiming

// The table of edits. An edit is declared here once; the command line, the server, the web console and the documentation
// are derived from its declaration.

extension PlaylistEdit {
    /// All kinds of edits, in the order in which help and documentation list them and the web console applies them.
    static let kinds: [any AnyEditKind] = [
        bandwidthKind, maxHeightKind, noIFramesKind, startKind, durationKind, appendKind, prependKind, insertKind,
        dropRangeKind, absoluteKind, canonicalKind,
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
        media: { (playlist, value, context) throws(PlaylistEditError) in
            try playlist.inserting(
                try context.insertedPlaylist(value.source),
                at: value.time,
                limits: context.limits
            )
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
        media: { (playlist, range, context) throws(PlaylistEditError) in
            try playlist.dropping(range, limits: context.limits)
        }
    )

    // MARK: Both

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
