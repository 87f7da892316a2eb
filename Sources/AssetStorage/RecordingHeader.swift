import Foundation
import GRDB
import HLSPlaylist
import MediaTiming

/// The header of the playlist of a recording, possibly followed by segments.
struct RecordingHeader {
    private(set) var text: String

    init(_ text: String) { self.text = text }

    /// Creates the header for a recording of a playlist.
    init(of playlist: MediaPlaylist) {
        let target = playlist.segments.reduce(playlist.targetDuration?.roundedSeconds ?? 1) {
            max($0, $1.duration.roundedSeconds)
        }
        // Version 8 has variables, gaps and initialization sections (RFC 8216bis §8).
        text = "#EXTM3U\n#EXT-X-VERSION:\(max(8, min(playlist.version, 12)))\n\(Self.target)\(max(1, target))\n"
        text += Self.event + (playlist.hasIndependentSegments ? "#EXT-X-INDEPENDENT-SEGMENTS\n" : "")
    }

    private static let event = "#EXT-X-PLAYLIST-TYPE:EVENT\n"
    private static let onDemand = "#EXT-X-PLAYLIST-TYPE:VOD\n"
    private static let target = "#EXT-X-TARGETDURATION:"
    /// The maximum size of a header in bytes, above that of each header, so that no playlist of a download is read in search of one.
    static let maximumSize = 4_096
    /// The line that ends the playlist of a recording that has ended.
    static let endMarker = "#EXT-X-ENDLIST\n"

    /// A Boolean value that indicates whether the text is the header of a recording, without segments, and not the playlist
    /// of a download.
    var isRecording: Bool { !text.contains("#EXTINF:") && (text.contains(Self.event) || hasEnded) }

    /// A Boolean value that indicates whether the recording has ended, so that the playlist has `EXT-X-ENDLIST`.
    var hasEnded: Bool {
        get { text.contains(Self.onDemand) }
        set {
            text = text.replacing(
                newValue ? Self.event : Self.onDemand,
                with: newValue ? Self.onDemand : Self.event,
                maxReplacements: 1
            )
        }
    }

    /// The target duration in seconds.
    var targetDuration: Int64 {
        get {
            guard let start = text.firstRange(of: Self.target)?.upperBound else { return 1 }
            return Int64(text[start...].prefix { $0.isNumber }) ?? 1
        }
        set {
            text = text.replacing(
                "\(Self.target)\(targetDuration)\n",
                with: "\(Self.target)\(newValue)\n",
                maxReplacements: 1
            )
        }
    }

    /// Changes the header of a rendition in the catalog.
    static func change(of id: Int64, _ database: Database, _ body: (inout RecordingHeader) -> Void) throws {
        guard let bytes = try PlaylistColumn.media.bytes(ofRow: id, database) else { return }
        var header = RecordingHeader(String(decoding: bytes, as: UTF8.self))
        body(&header)
        try PlaylistColumn.media.store(Array(header.text.utf8), inRow: id, database)
    }
}
