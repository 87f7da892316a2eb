import CostOperations

extension EditCase {
    /// The cases of all edits of media playlists.
    static var mediaCases: [EditCase] { cuts + insertions + breaks + rewritings + otherShapes }

    private static func named(_ name: String) -> PlaylistShape { shape(name, among: PlaylistShape.media) }

    /// The shapes with a number of 4 s segments to which all edits are applied.
    private static var usualShapes: [PlaylistShape] {
        [
            named("everything-on-demand"), named("one-key-without-vector"), named("byte-ranges-without-offset"),
        ]
    }

    /// Returns the cases of an edit that changes the playlists of several shapes.
    private static func each(
        _ edit: String,
        _ shapes: [PlaylistShape],
        _ value: @escaping (Int) -> String
    ) -> [EditCase] {
        shapes.map { shape in
            ofMedia(edit, shape) { count in value(count) }
        }
    }

    /// The cases of edits that remove segments.
    private static var cuts: [EditCase] {
        let cases: [[EditCase]] = [
            each("start", usualShapes) { "\(2 * $0)" },
            each("duration", usualShapes) { "\(2 * $0)" },
            each("drop-range", usualShapes) { "\($0)...\(3 * $0)" },
            each("trim", usualShapes) { "\($0)...\(3 * $0)" },
            each("cut", usualShapes) { "\($0)...\(3 * $0)" },
            each("exclude", usualShapes) { exclusions($0) },
        ]
        return cases.flatMap(\.self)
    }

    /// Returns up to 64 ranges, each of which has one segment; at least as many segments are in no range.
    private static func exclusions(_ count: Int) -> String {
        let number = min(64, count / 2)
        let distance = 4 * (count / number)
        return (0..<number).map { "\(distance * $0)...\(distance * $0 + 4)" }.joined(separator: ",")
    }

    /// The cases of edits that add segments, other than those in breaks.
    private static var insertions: [EditCase] {
        let cases: [[EditCase]] = [
            each("append", usualShapes) { _ in "o" },
            each("prepend", usualShapes) { _ in "o" },
            each("insert", usualShapes) { "o@\(2 * $0)" },
            // Another number of repetitions would only multiply the cost.
            each("repeat", usualShapes) { _ in "2" },
            each("live", usualShapes) { "loop,window=\(4 * $0)" },
        ]
        return cases.flatMap(\.self)
    }

    /// The cases of edits of breaks.
    private static var breaks: [EditCase] {
        let rules = [
            (PlaylistShape.breaksOfCues, "cues"), (PlaylistShape.breaksOfCommands, "cues"),
            (PlaylistShape.breaksOfOneClass, "class=c"),
        ]
        let announced = rules.map { shape, rule -> [EditCase] in
            [
                ofMedia("exclude", shape, size: 100) { _ in rule },
                ofMedia("replace-breaks", shape, size: 100, inserting: (PlaylistShape.twoSegments, 2)) { _ in
                    "o@\(rule)"
                },
                ofMedia("interstitials", shape, size: 100) { _ in "o@\(rule)" },
            ]
        }
        let other: [[EditCase]] = [
            // The playlist is inserted into itself, about eight times.
            usualShapes.map { shape in
                ofMedia("replace-breaks", shape, size: 60) { "o@every=\(max(8, $0 / 2))" }
            },
            each("interstitials", usualShapes) { "o@every=\(max(8, $0 / 2))" },
            [
                ofMedia("exclude", PlaylistShape.oneCommandOfManyDescriptors, size: 40) { _ in "cues" },
                ofMedia("exclude", named("everything-on-demand"), .leaves) { _ in "cues" },
            ],
        ]
        return (announced + other).flatMap(\.self)
    }

    /// The cases of edits of tags and addresses, and of those that divide a file.
    private static var rewritings: [EditCase] {
        let changing: [[EditCase]] = [
            each("key", usualShapes) { _ in "00112233445566778899aabbccddeeff" },
            each("set-tag", usualShapes) { _ in "EXT-X-START=TIME-OFFSET=10" },
            each("carry-query", usualShapes) { _ in "*" },
            each("absolute", usualShapes) { _ in "" },
            usualShapes.map { shape in ofMedia("canonical", shape, .applies) { _ in "" } },
        ]
        let other: [EditCase] = [
            ofMedia("strip-tags", named("everything-on-demand")) { _ in "EXT-X-DATERANGE,EXT-X-CUE-OUT" },
            ofMedia("strip-tags", named("one-key-without-vector"), .leaves) { _ in "EXT-X-DATERANGE" },
            ofMedia("canonical", named("comments-and-blank-lines")) { _ in "" },
            ofLongQuery("carry-query", PlaylistShape.eightSegments, "*"),
            // An edit divides at up to 32 times.
            ofMedia("split", PlaylistShape.oneSubtitleFile, size: 8) { count in divisions(count) },
            ofMedia("split", named("one-key-without-vector"), .leaves) { _ in "13,30" },
        ]
        return changing.flatMap(\.self) + other
    }

    /// Returns the times between entries that last 4 s.
    private static func divisions(_ count: Int) -> String {
        (1..<count).map { "\(4 * $0)" }.joined(separator: ",")
    }

    /// The cases of date ranges, gaps, tags of breaks, and live playlists with low latency.
    private static var otherShapes: [EditCase] {
        let ranges = [PlaylistShape.dateRangesOfOneID, PlaylistShape.dateRangesOfOneClass]
        let complete = ranges + [named("gaps-and-discontinuities"), PlaylistShape.breaksOfCues]
        let live = [PlaylistShape.lowLatency]
        let cases: [[EditCase]] = [
            each("start", complete + live) { "\(2 * $0)" },
            each("trim", complete + live) { "\($0)...\(3 * $0)" },
            each("duration", live) { "\(2 * $0)" },
            each("cut", complete) { "\($0)...\(3 * $0)" },
            each("append", complete) { _ in "o" },
            each("repeat", complete) { _ in "2" },
            each("live", complete) { "loop,window=\(4 * $0)" },
            each("strip-tags", ranges + live) { _ in "EXT-X-DATERANGE,EXT-X-PART" },
            each("absolute", live) { _ in "" },
            each("carry-query", live) { _ in "*" },
        ]
        return cases.flatMap(\.self)
    }
}
