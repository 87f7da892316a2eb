import CostOperations

extension EditCase {
    /// The cases of all edits of multivariant playlists.
    ///
    /// `prune-session-keys` depends on the media playlists; its operations are in `stream-cost-probe`.
    static var multivariantCases: [EditCase] { removals + filters + editsOfBothKinds }

    private static var tracks: [PlaylistShape] {
        [PlaylistShape.tracksOfOneGroup, PlaylistShape.tracksWithGroupsOfTheirOwn]
    }

    private static func named(_ name: String) -> PlaylistShape { shape(name, among: PlaylistShape.multivariant) }

    /// Returns the cases of an edit that changes the playlists of several shapes.
    private static func each(
        _ edit: String,
        _ shapes: [PlaylistShape],
        _ value: @escaping (Int) -> String
    ) -> [EditCase] {
        shapes.map { shape in
            ofMultivariant(edit, shape) { count in value(count) }
        }
    }

    /// The cases of filters that remove variants by their properties.
    private static var removals: [EditCase] {
        let variants = named("variants")
        let others = [named("variants-of-one-group"), named("variants-and-renditions-of-one-group")]
        let all = [variants] + others + tracks
        let changing: [[EditCase]] = [
            each("bandwidth", all) { "...\(500_000 + 1_000 * ($0 / 2))" },
            each("resolution", all) { "...\(640 + $0 / 2)x720" },
            each("max-height", all) { _ in "361" },
            each("score", [variants] + tracks) { "\($0 / 2)" },
            each("frame-rate", tracks) { _ in "...30" },
            each("video-range", tracks) { _ in "SDR" },
            each("codecs", tracks) { _ in "avc1,mp4a" },
            each("drop-codecs", tracks) { _ in "hvc1,hev1" },
            each("no-i-frames", [variants] + tracks) { _ in "" },
            each("filter-video", [variants] + tracks) { _ in "max-height(361),codecs(avc1)" },
        ]
        let other: [EditCase] = [
            ofMultivariant("score", named("variants-of-one-group"), .refuses) { _ in "1" },
            ofMultivariant("codecs", variants, .refuses) { _ in "hvc1" },
            ofMultivariant("codecs", variants, .leaves) { _ in "avc1,mp4a" },
            ofMultivariant("frame-rate", variants, .leaves) { _ in "...30" },
            ofMultivariant("video-range", variants, .leaves) { _ in "SDR" },
            ofMultivariant("no-i-frames", named("i-frame-variants"), .refuses) { _ in "" },
        ]
        return changing.flatMap(\.self) + other
    }

    /// The cases of filters that remove renditions.
    private static var filters: [EditCase] {
        let unnamed = named("variants-and-renditions-of-one-group")
        let changing: [[EditCase]] = [
            each("audio-languages", tracks) { _ in "en,ko" },
            each("subtitle-languages", tracks) { _ in "en,ko" },
            each("no-subtitles", tracks) { _ in "" },
            each("caption-types", tracks) { _ in "subtitles,sdh" },
            each("content-types", tracks) { _ in "video,audio" },
            each("filter-audio", tracks) { _ in "languages(en),channels(...2)" },
            each("filter-subtitles", tracks) { _ in "types(sdh),languages(en)" },
            tracks.map { shape in
                ofMultivariant("content-types", shape, suffix: "-only-audio") { _ in "audio" }
            },
        ]
        let other: [EditCase] = [
            ofMultivariant("audio-languages", unnamed, .refuses) { _ in "en,ko" },
            ofMultivariant("filter-audio", unnamed, .refuses) { _ in "languages(en)" },
            ofMultivariant("subtitle-languages", named("renditions-of-one-language"), .refuses) { _ in "ko" },
            ofMultivariant("caption-types", PlaylistShape.tracksOfOneGroup, .refuses) { _ in "forced" },
            ofMultivariant("subtitle-languages", unnamed, .leaves) { _ in "en,ko" },
        ]
        return changing.flatMap(\.self) + other
    }

    /// The cases of edits that change media playlists as well.
    private static var editsOfBothKinds: [EditCase] {
        let variants = named("variants")
        let all =
            [variants, named("variants-and-renditions-of-one-group"), named("i-frame-variants")] + tracks
        let changing: [[EditCase]] = [
            each("key", [named("session-keys-alike")] + tracks) { _ in "00112233445566778899aabbccddeeff" },
            each("strip-tags", [variants] + tracks) { _ in "EXT-X-SESSION-KEY,EXT-X-I-FRAME-STREAM-INF" },
            each("set-tag", all) { _ in "EXT-X-START=TIME-OFFSET=10" },
            each("carry-query", all) { _ in "*" },
            each("absolute", all) { _ in "" },
            each("canonical", tracks) { _ in "" },
        ]
        let other: [EditCase] = [
            ofMultivariant("canonical", variants, .applies) { _ in "" },
            ofMultivariant("key", variants, .leaves) { _ in "00112233445566778899aabbccddeeff" },
        ]
        return changing.flatMap(\.self) + other
    }
}
