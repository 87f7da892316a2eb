/// Text in the picture, in the language of Advanced SubStation scripts.
public struct SubtitleText: Sendable, Hashable {
    /// The script up to its events: `[Script Info]` with the size that positions refer to, and the styles.
    ///
    /// Empty for a plain style named `Default`, on a picture of 1280 by 720.
    public var header: String
    /// The lines that are seen at this moment.
    ///
    /// Each begins with `Dialogue:`. Their times are not looked at.
    public var lines: [String]

    /// Makes text; without lines nothing is seen.
    public init(header: String = "", lines: [String] = []) {
        self.header = header
        self.lines = lines
    }

    /// A script in which every line is seen all the time.
    var script: String {
        let header = header.isEmpty ? Self.plainHeader : header
        // What follows the events' head in a header would be read as events.
        let head = header.firstRange(of: "[Events]").map { String(header[..<$0.lowerBound]) } ?? header
        return head + "\n\n" + OverlayScript.eventsHead + lines.compactMap(Self.timeless).joined(separator: "\n") + "\n"
    }

    /// A dialogue line from the beginning to the end of time; `nil` for anything else.
    static func timeless(_ line: String) -> String? {
        guard line.hasPrefix("Dialogue:"), !line.contains(where: \.isNewline) else { return nil }
        let fields = line.dropFirst("Dialogue:".count).split(
            separator: ",",
            maxSplits: 3,
            omittingEmptySubsequences: false
        )
        guard fields.count == 4 else { return nil }
        return "Dialogue:\(fields[0]),\(OverlayScript.always),\(fields[3])"
    }

    private static let plainHeader =
        OverlayScript.header(PixelSize(1280, 720)) + """
            Style: Default,DejaVu Sans,46,&H00FFFFFF,&H00FFFFFF,&H20000000,&H80000000,\
            0,0,0,0,100,100,0,0,1,2.4,1,2,60,60,42,1

            """
}
