import MediaTiming

/// Writes cues as SubRip, with tags for italics, bold and underline.
package enum SubRipWriter {
    /// Returns a file with cues in the order of their start times.
    package static func document(_ cues: [SubtitleCue]) -> String {
        var text = ""
        var number = 0
        for cue in cues {
            let lines = self.text(of: [cue])
            guard !lines.isEmpty else { continue }
            number += 1
            text += "\(number)\n\(timestamp(cue.timeRange.start)) --> \(timestamp(cue.timeRange.end))\n\(lines)\n\n"
        }
        return text
    }

    /// Returns the text of cues that are shown at the same time; empty lines, which end a cue, are left out.
    package static func text(of cues: [SubtitleCue]) -> String {
        cues.flatMap(\.lines).map(text(of:)).filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private static func text(of line: SubtitleLine) -> String {
        guard !line.plainText.allSatisfy(\.isWhitespace) else { return "" }
        return line.spans.map { span in
            var text = span.text.replacing(/\r\n|[\r\n]/, with: " ")
            if span.style.isUnderlined { text = "<u>\(text)</u>" }
            if span.style.isItalic { text = "<i>\(text)</i>" }
            if span.style.isBold { text = "<b>\(text)</b>" }
            return text
        }.joined()
    }

    /// Returns a time as hours, minutes, seconds and milliseconds; negative times become zero.
    private static func timestamp(_ time: MediaTime) -> String {
        let milliseconds = Int64(saturating: (max(0, time.seconds) * 1_000).rounded())
        let (seconds, rest) = (milliseconds / 1_000, milliseconds % 1_000)
        let parts = [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }
        return parts.joined(separator: ":") + "," + padded(rest, 3)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
