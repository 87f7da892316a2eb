import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

/// Returns a media playlist from its text, with the given address.
func media(_ text: String, at address: String = "https://example.com/live/video.m3u8") throws -> MediaPlaylist {
    try MediaPlaylist(parsing: Array(text.utf8), context: PlaylistContext(address: ResourceAddress(address)))
}

/// Returns a multivariant playlist from its text, with the given address.
func multivariant(
    _ text: String,
    at address: String = "https://example.com/main.m3u8"
) throws -> MultivariantPlaylist {
    try MultivariantPlaylist(parsing: Array(text.utf8), context: PlaylistContext(address: ResourceAddress(address)))
}

/// Returns a time from decimal digits.
func seconds(_ text: String) -> MediaTime {
    guard let time = MediaTime(decimal: text) else {
        Issue.record("\(text) is no time")
        return .zero
    }
    return time
}

/// The text of a live media playlist: a window of numbered segments.
struct LiveWindowText {
    /// The number of the first segment.
    var first = 0
    var count = 6
    var duration = "4"
    var targetDuration: String? = "4"
    /// The part of the names of segments before the number.
    var name = "segment"
    /// The date of the segment with the number 0, in seconds since midnight; `nil` for a playlist without dates.
    var dateOfZero: Int?
    /// The numbers of the segments that follow a discontinuity.
    var discontinuities: Set<Int> = []
    /// The discontinuity sequence number; `nil` if the playlist declares none.
    var discontinuitySequence: Int?
    /// The lines before the first segment.
    var head: [String] = []
    /// The lines after the last segment.
    var tail: [String] = []

    var text: String {
        var lines = ["#EXTM3U", "#EXT-X-VERSION:9", "#EXT-X-MEDIA-SEQUENCE:\(first)"]
        if let targetDuration { lines.append("#EXT-X-TARGETDURATION:\(targetDuration)") }
        if let discontinuitySequence { lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuitySequence)") }
        lines += head
        for number in first..<(first + count) {
            if discontinuities.contains(number) { lines.append("#EXT-X-DISCONTINUITY") }
            if let dateOfZero { lines.append("#EXT-X-PROGRAM-DATE-TIME:\(Self.date(dateOfZero + number * 4))") }
            lines += ["#EXTINF:\(duration),", "\(name)\(number).ts"]
        }
        return (lines + tail).joined(separator: "\n") + "\n"
    }

    var playlist: MediaPlaylist { get throws { try media(text) } }

    /// Returns the date of a second of the day, as text.
    static func date(_ second: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "2026-03-01T\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))Z"
    }
}

/// Returns the date of a second of the day that ``LiveWindowText`` uses.
func date(_ second: Int) throws -> ProgramDateTime {
    try #require(ProgramDateTime(LiveWindowText.date(second)))
}
