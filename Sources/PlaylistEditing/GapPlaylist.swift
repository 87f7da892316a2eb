public import HLSPlaylist
public import MediaTiming
import ResourceAddressing

/// A stretch of a timeline without media, for a rendition that has nothing to say while another playlist is stitched in.
public enum GapPlaylist {
    /// The scheme of its addresses: `gap:20.5` is 20.5 seconds of nothing.
    public static let scheme = "gap"

    /// The longest gap: two hours, some 700 segments.
    public static let longestDuration = MediaTime(seconds: 7_200)

    /// The address of a gap.
    ///
    /// - Throws: ``PlaylistEditError/cannotStitch(reason:)`` where it would be empty or longer than
    ///   ``longestDuration``.
    public static func address(of duration: MediaTime) throws(PlaylistEditError) -> String {
        guard duration > .zero, duration <= longestDuration else {
            throw .cannotStitch(
                reason: "a rendition without a match needs a gap of \(duration) s; it may have \(longestDuration) s"
            )
        }
        return "\(scheme):\(duration)"
    }

    /// The playlist of a gap: `EXT-X-GAP` segments (RFC 8216bis §4.4.4.7) that together last exactly as long as asked.
    ///
    /// - Returns: `nil` where the address is no gap's or it lasts longer than two hours.
    public static func playlist(at address: String) -> MediaPlaylist? {
        guard address.hasPrefix("\(scheme):"), let total = MediaTime(decimal: address.dropFirst(scheme.count + 1)),
            total > .zero, total <= longestDuration
        else { return nil }
        let longest = MediaTime(seconds: 10)
        var text = "#EXTM3U\n#EXT-X-VERSION:8\n#EXT-X-TARGETDURATION:10\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        var rest = total
        while rest > .zero {
            let piece = min(rest, longest)
            text += "#EXT-X-GAP\n#EXTINF:\(piece),\ngap.vtt\n"
            rest -= piece
        }
        text += "#EXT-X-ENDLIST\n"
        return try? MediaPlaylist(parsing: Array(text.utf8))
    }
}
