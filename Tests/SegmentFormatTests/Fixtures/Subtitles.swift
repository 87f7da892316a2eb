import MediaTiming
import SegmentFormat

/// Cues and documents that several tests of subtitles use.
enum Subtitles {
    static func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: time(start), end: time(end))
    }

    /// Returns a time from milliseconds.
    static func time(_ milliseconds: Int64) -> MediaTime { MediaTime(value: milliseconds, timescale: 1_000) }

    static func cue(_ text: String, _ start: Int64, _ end: Int64, id: String = "") -> SubtitleCue {
        let lines = text.split(separator: "\n").map { SubtitleLine([SubtitleSpan(String($0))]) }
        return SubtitleCue(id: id, timeRange: range(start, end), lines: lines)
    }

    /// Returns a cue as one line of text.
    static func line(_ cue: SubtitleCue) -> String {
        "\(cue.timeRange.start)-\(cue.timeRange.end) \(cue.plainText.split(separator: "\n").joined(separator: "|"))"
    }

    static func webVTT(_ text: String) throws -> [SubtitleCue] {
        let bytes = Array(text.utf8)
        return try WebVTTDocument(bytes.span).subtitles
    }

    static func timedText(_ text: String) throws -> TimedTextDocument {
        let bytes = Array(text.utf8)
        return try TimedTextDocument(bytes.span)
    }

    static func subRip(_ text: String) throws -> [SubtitleCue] {
        let bytes = Array(text.utf8)
        return try SubRipDocument(bytes.span).cues
    }

    /// Returns a TTML document with the given body.
    static func tt(_ body: String, root: String = "", head: String = "") -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <tt xmlns="http://www.w3.org/ns/ttml" xmlns:tts="http://www.w3.org/ns/ttml#styling"
            xmlns:ttp="http://www.w3.org/ns/ttml#parameter" xmlns:itts="http://www.w3.org/ns/ttml/profile/imsc1#styling"
            xml:lang="en" \(root)><head>\(head)</head>\(body)</tt>
        """
    }
}
