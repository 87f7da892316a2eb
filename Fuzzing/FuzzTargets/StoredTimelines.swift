import DASHManifest
import DASHTranslation
import Foundation
import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing
import Synchronization

/// Reads what a server stores about live presentations, and continues with it.
@Sendable func readStoredTimelines(_ bytes: [UInt8]) {
    readTranslationState(Data(bytes))
    readBreakTimelines(Data(bytes))
}

/// Reads the state of a translation, and translates the next versions of a manifest.
private func readTranslationState(_ data: Data) {
    guard let state = try? JSONDecoder().decode(TranslationState.self, from: data) else { return }
    let written = try? JSONEncoder().encode(state)
    let again = written.flatMap { try? JSONDecoder().decode(TranslationState.self, from: $0) }
    check(again == state, "a state is written as another")
    let manifest = liveManifest
    guard let presentation = try? MediaPresentation(parsing: manifest.span, address: ResourceAddress(base + "live.mpd"))
    else { return check(false, "the manifest of the target cannot be read") }
    let limits = TranslationLimits(
        playlistCount: 20,
        segmentCount: 5_000,
        byteCount: 4 << 20,
        eventCount: 100,
        lossCount: 100
    )
    var translator = PresentationTranslator(state: state, limits: limits)
    for seconds in [1_704_067_230, 1_704_067_260] as [Int64] {
        guard let result = try? translator.translate(presentation, at: MediaTime(seconds: seconds)) else { continue }
        check(result.playlists.count <= limits.playlistCount, "there are more playlists than allowed")
        let size = result.playlists.reduce(0) { $0 + $1.bytes.count }
        check(size <= limits.byteCount, "the playlists are larger than allowed")
    }
}

/// Reads the breaks of a live playlist, and edits the next version of the playlist.
private func readBreakTimelines(_ data: Data) {
    guard let stored = try? JSONDecoder().decode(BreakTimelines.self, from: data) else { return }
    let written = try? JSONEncoder().encode(stored)
    let again = written.flatMap { try? JSONDecoder().decode(BreakTimelines.self, from: $0) }
    check(again == stored, "breaks are written as others")
    check(!stored.isLater(than: stored), "a version is later than itself")
    guard let edit = preparedBreaks else { return check(false, "the edit of the target cannot be prepared") }
    var timelines = stored
    guard let result = try? edit.apply(continuing: &timelines) else {
        return check(timelines == stored, "an edit that fails changes the breaks")
    }
    checkEdited(result.playlist)
}

private let base = "https://origin.example/live/"

/// An edit that replaces the breaks of a live playlist.
private let preparedBreaks: PreparedEdit? = {
    guard let edit = try? PlaylistEdit(name: "replace-breaks", value: "ad.m3u8@cues"),
        let editor = try? PresentationEditor(EditPlan([edit]), loader: AdvertisementLoader()),
        let playlist = try? MediaPlaylist(
            parsing: Array(livePlaylist.utf8),
            context: PlaylistContext(address: ResourceAddress(base + "0.m3u8"))
        )
    else { return nil }
    let result = PreparationResult()
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        let prepared = try? await editor.prepare(.media(playlist))
        result.edit.withLock { $0 = prepared }
        done.signal()
    }
    done.wait()
    return result.edit.withLock { $0 }
}()

/// The result of a task.
private final class PreparationResult: Sendable {
    let edit = Mutex<PreparedEdit?>(nil)
}

/// A loader of one advertisement.
private struct AdvertisementLoader: PlaylistLoader {
    func loadPlaylist(at source: String, variables: [String: String], budget: EditBudget) async throws -> Playlist {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXTINF:6,
            a0.ts
            #EXTINF:5,
            a1.ts
            #EXT-X-ENDLIST

            """
        return try Playlist.parse(
            Array(text.utf8),
            context: PlaylistContext(address: ResourceAddress("https://ads.example/ad.m3u8"))
        )
    }
}

private let livePlaylist = """
    #EXTM3U
    #EXT-X-TARGETDURATION:6
    #EXT-X-MEDIA-SEQUENCE:10
    #EXT-X-DISCONTINUITY-SEQUENCE:2
    #EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:00:00Z
    #EXTINF:6,
    10.ts
    #EXT-X-CUE-OUT:12
    #EXTINF:6,
    11.ts
    #EXTINF:6,
    12.ts
    #EXT-X-CUE-IN
    #EXTINF:6,
    13.ts
    #EXT-X-CUE-OUT:18
    #EXTINF:6,
    14.ts

    """

private let liveManifest = Array(
    """
    <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic" availabilityStartTime="2024-01-01T00:00:00Z"
      minimumUpdatePeriod="PT2S" timeShiftBufferDepth="PT30S"><Period id="1" start="PT0S">
    <AdaptationSet mimeType="video/mp4" codecs="avc1.42c01e"><SegmentTemplate timescale="1" initialization="i"
      media="$Time$.m4s"><SegmentTimeline><S t="0" d="4" r="-1"/></SegmentTimeline></SegmentTemplate>
    <Representation id="v" bandwidth="500000"/></AdaptationSet></Period></MPD>
    """.utf8
)
