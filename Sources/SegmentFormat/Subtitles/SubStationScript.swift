import MediaTiming

/// A writer that converts cues to an Advanced SubStation Alpha script, the input format of libass.
///
/// The text of cues is escaped, so that it cannot contain override tags.
package struct SubStationScript: Sendable, Hashable {
    /// The height of the script's coordinate system, in script units; positions are rounded to units.
    package static let height = 1_080
    /// The width of the script's coordinate system, in script units.
    package let width: Int
    /// The name of the requested font.
    package let fontName: String

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - aspectRatio: The display aspect ratio of the video, width divided by height; 16/9 by default, limited to
    ///     0.25 to 8.
    ///   - fontName: The font name, from which commas and line terminators are removed; `sans-serif` by default.
    package init(aspectRatio: Double = 16.0 / 9, fontName: String = "sans-serif") {
        let ratio = aspectRatio.isFinite ? min(max(aspectRatio, 0.25), 8) : 16.0 / 9
        width = Int(saturating: (Double(Self.height) * ratio).rounded())
        self.fontName = String(fontName.unicodeScalars.filter { $0.value >= 0x20 && $0 != "," }.map(Character.init))
    }

    /// The names of the two styles: text with an outline and text on boxes.
    static let outlined = "Outlined"
    static let boxed = "Boxed"

    /// The part of the script before the first event, as expected by `ass_process_codec_private`.
    package var header: String {
        let size = Self.fontSize
        let colors = "&H00FFFFFF,&H00FFFFFF,&H00000000,&H80000000"
        // Fields: bold, italic, underline, strikeout, scales, spacing, angle; border style, outline, shadow; alignment,
        // margins.
        // Encoding -1 enables detection of the text direction.
        let outlined = "\(colors),0,0,0,0,100,100,0,0,1,3,1,2,0,0,0,-1"
        let boxed = "\(colors),0,0,0,0,100,100,0,0,3,6,0,2,0,0,0,-1"
        return """
            [Script Info]
            ScriptType: v4.00+
            PlayResX: \(width)
            PlayResY: \(Self.height)
            WrapStyle: 0
            ScaledBorderAndShadow: yes

            [V4+ Styles]
            Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, \
            Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, \
            MarginR, MarginV, Encoding
            Style: \(Self.outlined),\(fontName),\(size),\(outlined)
            Style: \(Self.boxed),\(fontName),\(size),\(boxed)

            [Events]
            Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text

            """
    }

    /// The font size for a ``SubtitleStyle/relativeSize`` of 1, in script units.
    static let fontSize = 57.6

    /// Returns a complete script with all cues, arranged without overlaps.
    package func text(of timeline: SubtitleTimeline) -> String {
        var text = header
        for event in events(of: timeline) { text += event.dialogueLine + "\n" }
        return text
    }

    /// Returns the events of a timeline; a cue whose position changes while it is shown results in several events.
    package func events(of timeline: SubtitleTimeline) -> [SubStationEvent] {
        guard var time = timeline.firstStart else { return [] }
        var events: [SubStationEvent] = []
        var open: [SubtitleCue: MediaTime] = [:]
        var arrangement = SubtitlePositioner()
        while true {
            let shown = arrangement.position(timeline.cues(at: time))
            let kept = Set(shown)
            for (cue, start) in open where !kept.contains(cue) {
                events += self.events(for: cue, in: MediaTimeRange(start: start, end: time))
                open[cue] = nil
            }
            for cue in shown where open[cue] == nil { open[cue] = time }
            guard let next = timeline.nextChange(after: time) else { break }
            time = next
        }
        return events.sorted { ($0.timeRange.start, $0.layer, $0.text) < ($1.timeRange.start, $1.layer, $1.text) }
    }

    private func events(for cue: SubtitleCue, in range: MediaTimeRange) -> [SubStationEvent] {
        var cue = cue
        cue.timeRange = range
        return events(for: cue)
    }
}
