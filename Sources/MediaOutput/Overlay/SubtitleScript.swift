/// Subtitles in the Advanced SubStation Alpha (ASS) format.
public struct SubtitleScript: Sendable, Hashable {
    /// The script before its events: `[Script Info]` with the resolution of coordinates, and the styles.
    ///
    /// If empty, there is one style named `Default` at a resolution of 1280 by 720.
    public var header: String
    /// The events to show now.
    ///
    /// Each line begins with `Dialogue:`. The times of the events are ignored.
    public var lines: [String]

    /// Creates subtitles; without lines, nothing is shown.
    public init(header: String = "", lines: [String] = []) {
        self.header = header
        self.lines = lines
    }

    /// A script in which all lines are visible at any time.
    var script: String {
        let header = header.isEmpty ? Self.plainHeader : header
        // Lines of the header after `[Events]` would be parsed as events.
        let head = header.firstRange(of: "[Events]").map { String(header[..<$0.lowerBound]) } ?? header
        return head + "\n\n" + OverlayScript.eventsHead
            + lines.compactMap(Self.withUnlimitedTimes).joined(separator: "\n") + "\n"
    }

    /// Returns a dialogue line that is visible at any time; `nil` if the line is not a dialogue line.
    static func withUnlimitedTimes(_ line: String) -> String? {
        guard line.hasPrefix("Dialogue:"), !line.contains(where: \.isNewline) else { return nil }
        let fields = line.dropFirst("Dialogue:".count).split(
            separator: ",",
            maxSplits: 3,
            omittingEmptySubsequences: false
        )
        guard fields.count == 4 else { return nil }
        return "Dialogue:\(fields[0]),\(OverlayScript.unlimitedTimes),\(fields[3])"
    }

    private static let plainHeader =
        OverlayScript.header(PixelSize(1280, 720)) + """
            Style: Default,DejaVu Sans,46,&H00FFFFFF,&H00FFFFFF,&H20000000,&H80000000,\
            0,0,0,0,100,100,0,0,1,2.4,1,2,60,60,42,1

            """
}
