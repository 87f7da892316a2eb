public import HLSPlaylist
public import MediaTiming
import ResourceAddressing

/// A playlist that consists of gaps (`EXT-X-GAP`).
///
/// It fills a rendition while a stitched playlist that has no matching rendition is played.
public enum GapPlaylist {
    /// The private URI scheme of gap playlists: `gap:20.5` has a duration of 20.5 seconds.
    public static let scheme = "gap"

    /// The maximum duration of a gap playlist: two hours, which is about 700 segments.
    public static let maximumDuration = MediaTime(seconds: 7_200)

    /// Returns the address of a gap playlist with the given duration.
    ///
    /// - Throws: ``PlaylistEditError/cannotStitch(reason:)`` if the duration is not positive or exceeds
    ///   ``maximumDuration``.
    public static func address(of duration: MediaTime) throws(PlaylistEditError) -> String {
        guard duration > .zero, duration <= maximumDuration else {
            throw .cannotStitch(
                reason:
                    "a rendition without a match would need a gap of \(duration) s; the maximum is \(maximumDuration) s"
            )
        }
        return "\(scheme):\(duration)"
    }

    /// Returns the gap playlist for an address, with `EXT-X-GAP` segments (RFC 8216bis §4.4.4.7) of exactly its
    /// duration.
    ///
    /// - Returns: The playlist, or `nil` if the address has another scheme or an invalid duration.
    public static func playlist(at address: String) -> MediaPlaylist? {
        guard address.hasPrefix("\(scheme):"), let total = MediaTime(decimal: address.dropFirst(scheme.count + 1)),
            total > .zero, total <= maximumDuration
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
