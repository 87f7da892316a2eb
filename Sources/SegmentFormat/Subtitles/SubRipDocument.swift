import MediaTiming

/// A SubRip file, `.srt`.
///
/// There is no standard. What is written by people is taken: any line ends, a byte-order mark, numbers that are missing or
/// wrong, a point instead of a comma, hours that are missing, empty lines inside of a text, tags for italic, bold, underline
/// and colour, and a place as `{\an8}`.
public struct SubRipDocument: Sendable, Hashable {
    /// Its cues, in the order of the file; ``SubtitleCue/id`` is the number.
    public let cues: [SubtitleCue]

    /// Further cues of a file are not read.
    public static let mostCues = 100_000
    /// Further lines of a cue are not read.
    static let mostLines = 100

    /// Reads a file in UTF-8, UTF-16 with a byte-order mark, or else Latin-1.
    ///
    /// Throws ``MediaFormatError/missing(_:)`` where there is not a single cue and something else than white space.
    public init(_ bytes: Span<UInt8>) throws(MediaFormatError) {
        let text = SubRipText.decoded(bytes)
        var reading = Reading()
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            guard reading.cues.count < Self.mostCues else { break }
            reading.take(line)
        }
        reading.finish()
        guard !reading.cues.isEmpty || text.allSatisfy(\.isWhitespace) else { throw .missing("SubRip cue") }
        cues = reading.cues
    }

    /// Gathers lines until the times of the next cue show that the number in front of them is not text.
    private struct Reading {
        var cues: [SubtitleCue] = []
        private var id = ""
        private var range: MediaTimeRange?
        private var lines: [Substring] = []

        mutating func take(_ line: Substring) {
            if let times = SubRipText.times(line) {
                var next = ""
                if let last = lines.last.map(Self.trimmed), !last.isEmpty, last.utf8.count <= 10,
                    last.utf8.allSatisfy({ (0x30...0x39).contains($0) })
                {
                    // A number with neither an empty line in front nor the right value is the end of a text.
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
                if lines.count < SubRipDocument.mostLines { lines.append(line) } else { lines[lines.count - 1] = line }
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
