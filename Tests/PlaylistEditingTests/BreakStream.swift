import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import PlaylistEditing

/// A live stream, of which each version shows some segments.
struct BreakStream {
    var segments: [(duration: MediaTime, tags: String)] = []
    var window = 6
    var type = ""
    var hasDates = true

    static let start = ProgramDateTime("2026-01-01T00:00:00Z")

    /// Returns the version whose last segment is before a number.
    func version(endingAt end: Int, ended: Bool = false) throws -> MediaPlaylist {
        let first = type == "EVENT" ? 0 : max(0, end - window)
        var date = try #require(Self.start)
        for segment in segments.prefix(first) { date = date.advanced(by: segment.duration) }
        let discontinuities = segments.prefix(first).count { $0.tags.contains("EXT-X-DISCONTINUITY") }
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
        if discontinuities > 0 { text += "#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuities)\n" }
        if !type.isEmpty { text += "#EXT-X-PLAYLIST-TYPE:\(type)\n" }
        for (number, segment) in segments.enumerated().prefix(end).dropFirst(first) {
            text += segment.tags
            if hasDates, number == first || segment.tags.contains("DISCONTINUITY") {
                text += "#EXT-X-PROGRAM-DATE-TIME:\(date)\n"
            }
            date = date.advanced(by: segment.duration)
            text += "#EXTINF:\(segment.duration),\n\(number).ts\n"
        }
        if ended { text += "#EXT-X-ENDLIST\n" }
        let address = PlaylistContext(address: ResourceAddress("https://a.example/live.m3u8"))
        return try MediaPlaylist(parsing: Array(text.utf8), context: address)
    }
}

extension BreakStream {
    /// Creates a stream of segments of one duration, with tags before some of them.
    init(count: Int, _ tags: [Int: String] = [:], seconds: Int64 = 6) {
        self.init(segments: (0..<count).map { (MediaTime(seconds: seconds), tags[$0] ?? "") })
    }
}

/// The edit of one live playlist that replaces its breaks, version after version.
struct BreakEditor {
    let rule: BreakRule
    private(set) var timelines: BreakTimelines

    init(_ rule: BreakRule = .cues, continuing timelines: BreakTimelines = BreakTimelines()) {
        self.rule = rule
        self.timelines = timelines
    }

    /// The breaks of the versions so far.
    var timeline: BreakTimeline { timelines.timelines.values.first ?? BreakTimeline() }

    /// Returns the edited version of a playlist, with an advertisement or without one.
    mutating func edit(_ version: MediaPlaylist, _ advertisement: MediaPlaylist?) throws -> MediaPlaylist {
        let source = "ad.m3u8"
        var sources: [String: MediaPlaylist] = [:]
        sources[source] = advertisement
        let edit = PreparedEdit(
            plan: EditPlan([.replaceBreaks(with: source, at: rule)]),
            input: .media(version, sources: sources),
            limits: PlaylistLimits(),
            date: nil
        )
        guard case .media(let playlist) = try edit.apply(continuing: &timelines) else { throw CancellationError() }
        return playlist
    }

    /// Returns the edited versions of a playlist whose advertisement does not change.
    static func edited(
        _ versions: [MediaPlaylist],
        at rule: BreakRule = .cues,
        _ advertisement: MediaPlaylist?
    ) throws -> [MediaPlaylist] {
        var editor = BreakEditor(rule)
        return try versions.map { try editor.edit($0, advertisement) }
    }
}

extension MediaPlaylist {
    /// Returns an advertisement whose segments have the given durations and are named by a letter and a number.
    static func advertisement(
        _ durations: [String],
        name: String = "a",
        tags: [Int: String] = [:],
        header: String = "#EXT-X-TARGETDURATION:8\n",
        isComplete: Bool = true
    ) throws -> MediaPlaylist {
        var text = "#EXTM3U\n" + header
        for (number, duration) in durations.enumerated() {
            text += "\(tags[number] ?? "")#EXTINF:\(duration),\n\(name)\(number).ts\n"
        }
        if isComplete { text += "#EXT-X-ENDLIST\n" }
        let context = PlaylistContext(address: ResourceAddress("https://ads.example/ad.m3u8"))
        return try MediaPlaylist(parsing: Array(text.utf8), context: context)
    }

    /// The names of the segments, with a vertical bar before those after a discontinuity.
    var segmentNames: String {
        segments.map { segment in
            let name = String(segment.uri.split(separator: "/").last ?? "").replacing(".ts", with: "")
            return (segment.hasDiscontinuity ? "|" : "") + name
        }
        .joined(separator: " ")
    }

    /// The text of the playlist.
    var editedText: String { String(decoding: bytes, as: UTF8.self) }
}
