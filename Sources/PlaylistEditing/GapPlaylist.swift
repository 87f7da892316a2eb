public import HLSPlaylist
public import MediaTiming
import ResourceAddressing

/// A playlist that consists of gaps (`EXT-X-GAP`).
///
/// It fills a rendition while a stitched playlist that has no matching rendition is played.
public enum GapPlaylist {
    /// The private URI scheme of gap playlists: `gap:20.5` has a duration of 20.5 seconds in segments of 10 seconds,
    /// `gap:20.5/4` in segments of 4 seconds.
    public static let scheme = "gap"

    /// The maximum duration of a gap playlist: two hours, which is about 700 segments.
    public static let maximumDuration = MediaTime(seconds: 7_200)

    /// The duration of segments for which no other is given, in seconds.
    private static let defaultTarget: Int64 = 10

    /// The permitted durations of segments, in seconds.
    private static let targets: ClosedRange<Int64> = 1...600

    /// Returns the address of a gap playlist with the given duration.
    ///
    /// - Parameters:
    ///   - duration: The total duration.
    ///   - target: The target duration of the playlist in whose place the gap is, which all playlists of a presentation share
    ///     (RFC 8216bis §6.2.4); `nil` for 10 seconds.
    /// - Returns: The address.
    /// - Throws: ``PlaylistEditError/cannotStitch(reason:)`` if the duration is not positive or exceeds
    ///   ``maximumDuration``.
    public static func address(
        of duration: MediaTime,
        target: MediaTime? = nil
    ) throws(PlaylistEditError) -> String {
        guard duration > .zero, duration <= maximumDuration else {
            throw .cannotStitch(
                reason:
                    "a rendition without a match would need a gap of \(duration) s; the maximum is \(maximumDuration) s"
            )
        }
        guard let target = target?.roundedUpSeconds, targets.contains(target), target != defaultTarget else {
            return "\(scheme):\(duration)"
        }
        return "\(scheme):\(duration)/\(target)"
    }

    /// Returns the gap playlist for an address, with `EXT-X-GAP` segments (RFC 8216bis §4.4.4.7) of exactly its
    /// duration.
    ///
    /// - Returns: The playlist, or `nil` if the address has another scheme or an invalid duration.
    public static func playlist(at address: String) -> MediaPlaylist? {
        guard address.hasPrefix("\(scheme):") else { return nil }
        let parts = address.dropFirst(scheme.count + 1)
            .split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let total = parts.first.flatMap({ MediaTime(decimal: $0) }), total > .zero, total <= maximumDuration,
            let target = parts.count > 1 ? Int64(parts[1]) : defaultTarget, targets.contains(target)
        else { return nil }
        let longest = MediaTime(seconds: target)
        var text = "#EXTM3U\n#EXT-X-VERSION:8\n#EXT-X-TARGETDURATION:\(target)\n#EXT-X-PLAYLIST-TYPE:VOD\n"
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
