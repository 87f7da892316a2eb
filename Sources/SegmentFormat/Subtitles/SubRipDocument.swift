import MediaTiming

/// A SubRip file, `.srt`.
///
/// There is no standard for the format. The parser accepts common variations: any line terminator, a byte order mark,
/// missing or incorrect cue numbers, a point instead of a comma, missing hours, empty lines within a text, tags for
/// italics, bold, underline and color, and a position such as `{\an8}`.
package struct SubRipDocument: Sendable, Hashable {
    /// The cues, in the order of the file; ``SubtitleCue/id`` is the cue number.
    package let cues: [SubtitleCue]

    /// The maximum number of cues that are read.
    package static let maximumCueCount = 100_000
    /// The maximum number of lines of a cue; each further line replaces the last one.
    static let maximumLineCount = 100

    /// Creates a document from bytes in UTF-8, in UTF-16 with a byte order mark, or else in Latin-1.
    ///
    /// Throws ``MediaFormatError/missing(_:)`` if there is no cue, unless the file consists of white space only.
    package init(_ bytes: Span<UInt8>) throws(MediaFormatError) {
        let text = SubRipText.decoded(bytes)
        var reading = Parser()
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            guard reading.cues.count < Self.maximumCueCount else { break }
            reading.processLine(line)
        }
        reading.finish()
        guard !reading.cues.isEmpty || text.allSatisfy(\.isWhitespace) else { throw .missing("SubRip cue") }
        cues = reading.cues
    }

    /// A line buffer for a cue; only the next timing line shows whether a number before it is text or the next cue
    /// number.
    private struct Parser {
        var cues: [SubtitleCue] = []
        private var id = ""
        private var range: MediaTimeRange?
        private var lines: [Substring] = []

        mutating func processLine(_ line: Substring) {
            if let times = SubRipText.times(line) {
                var next = ""
                if let last = lines.last.map(Self.trimmed), !last.isEmpty, last.utf8.count <= 10,
                    last.utf8.allSatisfy({ (0x30...0x39).contains($0) })
                {
                    // A number is part of the text if neither an empty line precedes it nor its value is the next cue
                    // number.
                    let before = lines.dropLast().last.map(Self.trimmed) ?? ""
                    if range == nil || before.isEmpty || Int(last) == Int(id).map({ $0 + 1 }) {
                        next = String(last)
                        lines.removeLast()
                    }
                }
                finish()
                range = times
                id = next
            } else if range != nil {
                if lines.count < SubRipDocument.maximumLineCount {
                    lines.append(line)
                } else {
                    lines[lines.count - 1] = line
                }
            } else {
                lines = [line]
            }
        }

        mutating func finish() {
            defer { lines.removeAll() }
            guard let range else { return }
            self.range = nil
            while let last = lines.last, Self.trimmed(last).isEmpty { lines.removeLast() }
            var text = SubRipText()
            let cue = text.cue(lines, id: id, range: range)
            if let cue { cues.append(cue) }
        }

        private static func trimmed(_ text: Substring) -> Substring {
            var rest = text.drop(while: \.isWhitespace)
            while rest.last?.isWhitespace == true { rest.removeLast() }
            return rest
        }
    }
}
