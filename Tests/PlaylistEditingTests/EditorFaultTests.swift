import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import PlaylistEditing

/// Tests which errors of loaded playlists an editor reports, and the edits of tracks that follow from edits that fail.
@Suite struct EditorFaultTests {
    private static func media(_ count: Int, of seconds: Int, isEvent: Bool = false) -> String {
        let segments = (0..<count).map { "#EXTINF:\(seconds),\n\($0)\n" }.joined()
        let (type, end) = isEvent ? ("#EXT-X-PLAYLIST-TYPE:EVENT\n", "") : ("", "#EXT-X-ENDLIST\n")
        return "#EXTM3U\n#EXT-X-TARGETDURATION:\(seconds)\n\(type)\(segments)\(end)"
    }

    private static let film = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",URI="s"
        #EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=640x360,SUBTITLES="s"
        v

        """

    /// Returns the edits of the subtitles of the film, whose video has a duration of 60 seconds.
    private func subtitles(
        _ edits: [PlaylistEdit],
        isEvent: Bool = false,
        _ others: [String: String] = [:]
    ) async throws -> [String] {
        let texts = others.merging(["https://h/v": Self.media(10, of: 6, isEvent: isEvent)]) { $1 }
        let film = try Playlist.parse(
            Array(Self.film.utf8),
            context: PlaylistContext(address: ResourceAddress("https://h/film"))
        )
        let editor = try PresentationEditor(EditPlan(edits), loader: EditedTracks.Loader(texts: texts))
        guard case .multivariant(let edited) = try await editor.prepare(film).apply() else { return [] }
        let rendition = try #require(edited.playlist.renditions.first)
        return edited.plan(for: .rendition(rendition))?.edits.map { "\($0.definition.name)=\($0.value)" } ?? []
    }

    private func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: MediaTime(seconds: start), end: MediaTime(seconds: end))
    }

    /// The last aligned edit is not applied to the video, so that its failure is reported when the variant is edited.
    @Test func lastEditMayFail() async throws {
        let start = PlaylistEdit.start(MediaTime(seconds: 60))
        #expect(try await subtitles([start]) == ["split=60", "start=60"])
        let duration = PlaylistEdit.duration(MediaTime(seconds: 30))
        #expect(try await subtitles([duration, start]) == ["split=30", "trim=0...30", "split=60", "start=60"])
        // Without the times of the video, each track is edited by itself.
        #expect(try await subtitles([start, duration]) == ["start=60", "duration=30"])
    }

    /// The segments of the tracks of an event are not all known, so successive removals remain edits of their own.
    @Test func removalsOfAnEventAreNotCombined() async throws {
        let cut = PlaylistEdit.cut(range(12, 18))
        #expect(try await subtitles([cut, cut]) == ["split=12,24", "exclude=seams=12...24/0/0"])
        let (first, second) = ("exclude=seams=12...18/0/0", "exclude=seams=12...18/0/1")
        #expect(try await subtitles([cut, cut], isEvent: true) == ["split=12,18", first, "split=12,18", second])
    }

    /// A playlist that is inserted before another edit is needed; one of the last edit is reported with its variant.
    @Test func missingInsertedPlaylistIsReportedWhereItIsNeeded() async throws {
        let source = "https://ads/ad"
        let advertisement =
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=640x360\nhigh\n"
            + "#EXT-X-STREAM-INF:BANDWIDTH=10,RESOLUTION=320x180\nlow\n"
        let others = [source: advertisement, "https://ads/low": Self.media(1, of: 5)]
        let breaks = PlaylistEdit.replaceBreaks(with: source, at: .every(MediaTime(seconds: 35)))
        let edits = try await subtitles([breaks], others)
        #expect(edits.count == 2 && edits.last?.hasSuffix("@every=35") == true)
        let insert = PlaylistEdit.insert(source, at: MediaTime(seconds: 12))
        let duration = PlaylistEdit.duration(MediaTime(seconds: 30))
        await #expect(throws: EditedTracks.Loader.Missing.self) { try await subtitles([insert, duration], others) }
        let complete = others.merging(["https://ads/high": Self.media(1, of: 5)]) { $1 }
        #expect(try await subtitles([insert, duration], complete).contains("trim=0...29"))
    }
}
