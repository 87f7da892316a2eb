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

    /// The maximum number of segments of a gap playlist: those of 27 hours with the default duration.
    public static let maximumSegmentCount: Int64 = 10_000

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
    /// - Throws: ``PlaylistEditError/cannotStitch(reason:)`` if the duration is not positive, or would need more than
    ///   ``maximumSegmentCount`` segments.
    public static func address(
        of duration: MediaTime,
        target: MediaTime? = nil
    ) throws(PlaylistEditError) -> String {
        let known = target?.roundedUpSeconds
        let target = if let known, targets.contains(known) { known } else { defaultTarget }
        let maximum = maximumDuration(target)
        guard duration > .zero, duration <= maximum else {
            throw .cannotStitch(
                reason: "a rendition without a match would need a gap of \(ClockText.seconds(duration)); "
                    + "the maximum is \(ClockText.seconds(maximum))"
            )
        }
        return target == defaultTarget ? "\(scheme):\(duration)" : "\(scheme):\(duration)/\(target)"
    }

    private static func maximumDuration(_ target: Int64) -> MediaTime {
        MediaTime(seconds: maximumSegmentCount *| target)
    }

    /// Returns the gap playlist for an address, with `EXT-X-GAP` segments (RFC 8216bis §4.4.4.7) of exactly its
    /// duration.
    ///
    /// - Returns: The playlist, or `nil` if the address has another scheme or an invalid duration.
    public static func playlist(at address: String) -> MediaPlaylist? {
        guard address.hasPrefix("\(scheme):") else { return nil }
        let parts = address.dropFirst(scheme.count + 1)
            .split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let total = parts.first.flatMap({ MediaTime(decimal: $0) }), total > .zero,
            let target = parts.count > 1 ? Int64(parts[1]) : defaultTarget, targets.contains(target),
            total <= maximumDuration(target)
        else { return nil }
        let longest = MediaTime(seconds: target)
        var segments = ""
        var rest = total
        while rest > .zero {
            let piece = min(rest, longest)
            segments += "#EXT-X-GAP\n#EXTINF:\(piece),\ngap.vtt\n"
            rest -= piece
        }
        // Gaps need no version, durations that are no whole seconds need version 3 (RFC 8216bis §8).
        let version = total.description.contains(".") ? "#EXT-X-VERSION:3\n" : ""
        let header = "#EXTM3U\n\(version)#EXT-X-TARGETDURATION:\(target)\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        return try? MediaPlaylist(parsing: Array("\(header)\(segments)#EXT-X-ENDLIST\n".utf8))
    }
}
