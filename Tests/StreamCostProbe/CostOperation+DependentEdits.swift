import CostOperations
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamServer
import PlaylistEditing
import ResourceAddressing

extension CostOperation {
    private static let base = "https://h/v/"

    /// The operations of edits that depend on more than the edited playlist: on the media playlists of a presentation,
    /// or on earlier versions of a live playlist.
    static var dependentEdits: [CostOperation] { [sessionKeys, liveBreaks("cues"), liveBreaks("every=32")] }

    // MARK: Session keys

    /// The operation that loads all media playlists of a presentation, of which every second one uses the key of the
    /// one before it.
    private static var sessionKeys: CostOperation {
        CostOperation("edited/prune-session-keys/variants", size: 40) { count in
            let keys = repeated(count) { "#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"k\($0)\"\n" }
            var texts = [base + "top.m3u8": ["#EXTM3U\n" + keys + repeated(count, PlaylistShape.variant)]]
            for number in 0..<count {
                let key = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\(number - number % 2)\"\n"
                let segments = key + PlaylistShape.segment(0) + PlaylistShape.end
                texts[base + "v\(number).m3u8"] = ["#EXTM3U\n" + PlaylistShape.header + segments]
            }
            let origin = MemoryOrigin(texts)
            let plan = EditPlan([try PlaylistEdit(name: "prune-session-keys", value: "")])
            let address = EditedTransport.address(of: ResourceAddress(base + "top.m3u8"), plan)
            return {
                let text = try wait {
                    let transport = EditedTransport(origin, policy: RecoveryPolicy(retries: 0))
                    let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
                    let request = TransportRequest(address, kind: .playlist)
                    let bytes = try await loader.load(request, limit: ByteCount(1 << 30)).bytes
                    return String(decoding: bytes, as: UTF8.self)
                }
                let remaining = text.split(separator: "\n").count { $0.hasPrefix("#EXT-X-SESSION-KEY") }
                precondition(remaining == (count + 1) / 2, "\(remaining) of \(count) session keys remain")
            }
        }
    }

    // MARK: Live breaks

    /// A loader of one playlist.
    private struct OnePlaylist: PlaylistLoader {
        let playlist: MediaPlaylist

        func loadPlaylist(
            at source: String,
            variables: [String: String],
            budget: EditBudget
        ) async throws -> Playlist {
            .media(playlist)
        }
    }

    /// Returns the operation that replaces the breaks of a live playlist, which is reloaded as many times as there are
    /// entries.
    private static func liveBreaks(_ rule: String) -> CostOperation {
        CostOperation("edited/live-breaks/\(rule)", size: 40) { count in
            let edit = try PlaylistEdit(name: "replace-breaks", value: "o@\(rule)")
            let segments = PlaylistShape.segment(0) + PlaylistShape.segment(1) + PlaylistShape.end
            let advertisement = try media("#EXTM3U\n" + PlaylistShape.header + segments, "o.m3u8")
            let editor = try PresentationEditor(EditPlan([edit]), loader: OnePlaylist(playlist: advertisement))
            let versions = try (0..<count).map { try media(window($0), "list.m3u8") }
            let edits = try wait {
                var prepared: [PreparedEdit] = []
                for version in versions { prepared.append(try await editor.prepare(.media(version))) }
                return prepared
            }
            return {
                var timelines = BreakTimelines()
                var changed = 0
                for (version, edit) in zip(versions, edits) {
                    let edited = try edit.apply(continuing: &timelines)
                    if edited.playlist.bytes != version.bytes { changed += 1 }
                }
                precondition(changed > 0, "no break is replaced")
            }
        }
    }

    private static func media(_ text: String, _ name: String) throws -> MediaPlaylist {
        try MediaPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: ResourceAddress(base + name))
        )
    }

    /// Returns a version of a live playlist with breaks of two segments.
    private static func window(_ first: Int) -> String {
        let cues = ["", "#EXT-X-CUE-OUT:8\n", "", "#EXT-X-CUE-IN\n", "", "", "", ""]
        let segments = repeated(6) { index in
            let number = first + index
            let date = "#EXT-X-PROGRAM-DATE-TIME:\(PlaylistShape.date(number))\n"
            return cues[number % 8] + date + PlaylistShape.segment(number)
        }
        return "#EXTM3U\n" + PlaylistShape.header + "#EXT-X-MEDIA-SEQUENCE:\(first)\n" + segments
    }
}
