import CostOperations
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import StreamingEngine

extension CostOperation {
    /// The operations on timelines of the playback engine: creating them from playlists, looking up segments, aligning
    /// and reloading them.
    static var timelines: [CostOperation] {
        placed + reloaded + aligned
    }

    private static let address = ResourceAddress("https://h/v/list.m3u8")

    private static func media(_ text: String) throws -> MediaPlaylist {
        try MediaPlaylist(parsing: Array(("#EXTM3U\n" + text).utf8), context: PlaylistContext(address: address))
    }

    /// The names of the playlist shapes for which timelines are created and queried.
    private static let shapes: Set<String> = [
        "segments", "everything-on-demand", "one-key-without-vector", "one-long-key-and-many-short-ones",
        "one-long-map",
        "long-date", "dates-that-cannot-be-read", "dates-of-one-segment", "keys-of-one-segment",
        "byte-ranges-without-offset", "parts-without-part-inf", "parts-without-offset", "parts-of-one-segment",
        "parts-behind-the-end", "hints-and-reports", "date-ranges-of-one-id", "date-ranges-of-one-class",
        "gaps-and-discontinuities", "header-tags-repeated",
    ]

    private static var placed: [CostOperation] {
        PlaylistShape.media.filter { shapes.contains($0.name) }.map { shape in
            CostOperation("timeline/placed/\(shape.name)") { count in
                let playlist = try MediaPlaylist(
                    parsing: shape.bytes(count),
                    context: PlaylistContext(address: address)
                )
                return {
                    let timeline = PresentationTimeline(playlist)
                    var found = 0
                    for segment in timeline.segments {
                        if timeline.segment(at: segment.start)?.sequence == segment.sequence { found += 1 }
                        if timeline.segment(atOrAfter: segment.end) != nil { found += 1 }
                        if let date = segment.programDate, timeline.date(at: segment.start) != nil { _ = date }
                    }
                    for (domain, range) in timeline.domains { precondition(range.duration >= .zero, "\(domain)") }
                    _ = (timeline.pendingSegment, timeline.preloads, timeline.liveWindow, timeline.edge)
                    precondition(found >= 0)
                }
            }
        } + [
            CostOperation("timeline/positions-of-dates", size: 60) { count in
                let timeline = PresentationTimeline(
                    try media(
                        PlaylistShape.header
                            + repeated(count) {
                                "#EXT-X-DISCONTINUITY\n#EXT-X-PROGRAM-DATE-TIME:\(PlaylistShape.date($0 * 7 % 1_000))\n"
                                    + PlaylistShape.segment($0)
                            } + PlaylistShape.end
                    )
                )
                let date = try required(timeline.date(at: MediaTime(seconds: 9)))
                return { precondition(timeline.position(of: date) != nil) }
            }
        ]
    }

    private struct Missing: Error {}

    private static func required<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Missing() }
        return value
    }

    /// Returns a window of a live playlist.
    private static func window(
        _ first: Int,
        _ count: Int,
        _ header: String = "",
        _ more: (Int) -> String = { _ in "" }
    ) -> String {
        PlaylistShape.header + "#EXT-X-MEDIA-SEQUENCE:\(first)\n" + header
            + repeated(count) { more(first + $0) + PlaylistShape.segment(first + $0) }
    }

    private static var reloaded: [CostOperation] {
        let dated: (Int) -> String = { "#EXT-X-PROGRAM-DATE-TIME:\(PlaylistShape.date($0))\n" }
        let encrypted: (Int) -> String = { "#EXT-X-DISCONTINUITY\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\($0)\"\n" }
        let plain: (Int) -> String = { _ in "" }
        let kinds: [(String, (Int) -> String)] = [("plain", plain), ("dated", dated), ("encrypted", encrypted)]
        return kinds.flatMap { name, more in
            [
                // A growing playlist is reloaded with one additional segment.
                CostOperation("timeline/reloaded/growing/\(name)") { count in
                    let timeline = PresentationTimeline(
                        try media(window(0, count, "#EXT-X-PLAYLIST-TYPE:EVENT\n", more))
                    )
                    let bytes = Array(("#EXTM3U\n" + window(0, count + 1, "#EXT-X-PLAYLIST-TYPE:EVENT\n", more)).utf8)
                    return {
                        var timeline = timeline
                        let context = PlaylistContext(address: address)
                        let playlist = try MediaPlaylist(parsing: bytes, after: timeline.playlist, context: context)
                        let update = try timeline.update(playlist)
                        precondition(update.added.count == 1)
                    }
                },
                // A window of a few segments is reloaded as many times as there are entries.
                CostOperation("timeline/reloaded/window/\(name)", size: 40) { count in
                    let first = try media(window(0, 6, "", more))
                    let later = (1...count).map { Array(("#EXTM3U\n" + window($0, 6, "", more)).utf8) }
                    return {
                        var timeline = PresentationTimeline(first)
                        for bytes in later {
                            let context = PlaylistContext(address: address)
                            let playlist = try MediaPlaylist(parsing: bytes, after: timeline.playlist, context: context)
                            _ = try timeline.update(playlist)
                        }
                        precondition(timeline.segments.count == 6)
                    }
                },
                // All segments are replaced by others.
                CostOperation("timeline/reloaded/restarted/\(name)") { count in
                    let timeline = PresentationTimeline(try media(window(1_000_000, count, "", more)))
                    let other = try media(window(0, count, "", more))
                    return {
                        var timeline = timeline
                        _ = try timeline.update(other)
                        precondition(timeline.segments.count == count)
                    }
                },
                // Earlier segments are inserted at the start.
                CostOperation("timeline/reloaded/earlier-segments/\(name)") { count in
                    let timeline = PresentationTimeline(try media(window(count, count, "", more)))
                    let other = try media(window(0, 2 * count, "", more))
                    return {
                        var timeline = timeline
                        _ = try timeline.update(other)
                        precondition(timeline.segments.count >= count)
                    }
                },
            ]
        } + [
            CostOperation("timeline/reloaded/delta-update") { count in
                let timeline = PresentationTimeline(try media(window(0, count)))
                let update = try media(
                    PlaylistShape.header + "#EXT-X-MEDIA-SEQUENCE:1\n#EXT-X-SKIP:SKIPPED-SEGMENTS=\(count - 2)\n"
                        + repeated(2) { PlaylistShape.segment(count - 1 + $0) }
                )
                return {
                    var timeline = timeline
                    let result = try timeline.update(update)
                    precondition(result.added.count == 1)
                }
            },
            CostOperation("timeline/reloaded/parts-of-one-segment") { count in
                func playlist(_ parts: Int) throws -> MediaPlaylist {
                    try media(
                        PlaylistShape.header + "#EXT-X-PART-INF:PART-TARGET=1\n" + PlaylistShape.segment(0)
                            + repeated(parts) { "#EXT-X-PART:DURATION=1,URI=\"p\($0)\"\n" }
                    )
                }
                let timeline = PresentationTimeline(try playlist(count))
                let next = try playlist(count + 1)
                return {
                    var timeline = timeline
                    _ = try timeline.update(next)
                    precondition(timeline.pendingSegment?.parts.count == count + 1)
                }
            },
        ]
    }

    private static var aligned: [CostOperation] {
        let kinds: [(String, (Int) -> String)] = [
            ("plain", { _ in "" }),
            ("dated", { "#EXT-X-PROGRAM-DATE-TIME:\(PlaylistShape.date($0))\n" }),
            ("with-discontinuities", { _ in "#EXT-X-DISCONTINUITY\n" }),
            (
                "dated-with-discontinuities",
                {
                    "#EXT-X-DISCONTINUITY\n#EXT-X-PROGRAM-DATE-TIME:\(PlaylistShape.date($0))\n"
                }
            ),
            (
                "dated-with-discontinuities-and-jumps",
                {
                    "#EXT-X-DISCONTINUITY\n#EXT-X-PROGRAM-DATE-TIME:\(PlaylistShape.date($0 * 7 % 1_000))\n"
                }
            ),
            ("of-one-date", { _ in "#EXT-X-DISCONTINUITY\n#EXT-X-PROGRAM-DATE-TIME:\(PlaylistShape.date(1))\n" }),
        ]
        return kinds.flatMap { name, more in
            [
                CostOperation("timeline/aligned/\(name)", size: 100) { count in
                    let reference = PresentationTimeline(try media(window(0, count, "", more)))
                    let other = try media(window(count / 4, count, "", more))
                    return {
                        let (timeline, _) = PresentationTimeline.aligned(other, to: reference)
                        precondition(timeline.segments.count == count)
                    }
                },
                CostOperation("timeline/aligned-far-away/\(name)", size: 100) { count in
                    let reference = PresentationTimeline(try media(window(0, count, "", more)))
                    let other = try media(window(50 * count, count, "", more))
                    return {
                        let (timeline, _) = PresentationTimeline.aligned(other, to: reference)
                        precondition(timeline.segments.count == count)
                    }
                },
            ]
        }
    }

    /// The operations that create a presentation from a multivariant playlist, and select its variants and renditions.
    static var presentationModels: [CostOperation] {
        PlaylistShape.multivariant.map { shape in
            CostOperation("model/\(shape.name)", size: 60) { count in
                let playlist = try Playlist.parse(shape.bytes(count), context: PlaylistContext(address: address))
                return {
                    let presentation = Presentation(playlist)
                    var rules = MediaSelectionRules(audioLanguages: ["de", "en"], subtitleLanguages: ["en-GB"])
                    rules.subtitleMode = .always
                    for rules in [rules, MediaSelectionRules()] {
                        let selection = rules.selection(for: presentation)
                        _ = presentation.variants(for: selection)
                        for variant in presentation.variants {
                            for option in selection.all { _ = variant.location.encoding(of: option) }
                        }
                    }
                    precondition(presentation.pathways.count <= playlist.bytes.count)
                }
            }
        }
    }
}
