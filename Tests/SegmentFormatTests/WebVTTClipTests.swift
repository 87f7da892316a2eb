import MediaTiming
import SegmentFormat
import Testing

/// Tests parts of WebVTT files.
@Suite struct WebVTTClipTests {
    private static let text = """
        WEBVTT - film
        X-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000

        STYLE
        ::cue { color: red }

        NOTE a remark

        1
        00:01.000 --> 00:05.000
        first

        2
        00:09.000 --> 00:12.500 line:0 align:start
        second
        with two lines

        00:00:20.000 --> 00:00:25.000
        third <00:00:22.000>word

        """

    private func clip(_ text: String, _ start: Int64, _ end: Int64) -> String {
        let range = MediaTimeRange(start: MediaTime(seconds: start), end: MediaTime(seconds: end))
        return String(decoding: WebVTTDocument.clipping(Array(text.utf8), to: range), as: UTF8.self)
    }

    @Test func cuesOutsideAreRemovedAndThoseAtTheEndsShortened() {
        let header = String(Self.text.prefix(upTo: Self.text.firstRange(of: "1\n00")?.lowerBound ?? Self.text.endIndex))
        #expect(
            clip(Self.text, 0, 10) == header + """
                1
                00:01.000 --> 00:05.000
                first

                2
                00:00:09.000 --> 00:00:10.000 line:0 align:start
                second
                with two lines


                """
        )
        #expect(
            clip(Self.text, 10, 1_000) == header + """
                2
                00:00:10.000 --> 00:00:12.500 line:0 align:start
                second
                with two lines

                00:00:20.000 --> 00:00:25.000
                third <00:00:22.000>word

                """
        )
        // Ends at cue boundaries belong to one side only.
        #expect(clip(Self.text, 5, 9) == header)
        #expect(clip(Self.text, 0, 1_000_000) == Self.text)
    }

    @Test func linesMayEndInAnyWay() throws {
        for ending in ["\r\n", "\r"] {
            let text = Self.text.replacing("\n", with: ending)
            #expect(clip(text, 0, 10) == clip(Self.text, 0, 10).replacing("\n", with: ending))
        }
        // The last line of a file may have no end.
        #expect(clip("WEBVTT\n\n00:01.000 --> 00:02.000\na", 0, 5) == "WEBVTT\n\n00:01.000 --> 00:02.000\na")
        #expect(clip("WEBVTT\n\n00:01.000 --> 00:02.000\na", 3, 5) == "WEBVTT\n\n")
    }

    @Test func blankLinesMayBeMissing() {
        let text =
            "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:9,LOCAL:00:00.000\n00:01.000 --> 00:02.000\na\n00:11.000 --> 00:12.000\nb\n"
        let header = "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:9,LOCAL:00:00.000\n"
        #expect(clip(text, 0, 10) == header + "00:01.000 --> 00:02.000\na\n")
        #expect(clip(text, 10, 20) == header + "00:11.000 --> 00:12.000\nb\n")
        #expect(clip(text, 30, 40) == header)
        #expect(clip("WEBVTT", 0, 1) == "WEBVTT" && clip("WEBVTT\nKind: captions", 0, 1) == "WEBVTT\nKind: captions")
    }

    @Test(arguments: ["", "<tt/>", "1\n00:00:01,000 --> 00:00:02,000\na\n", "WEBVTTX\n\n00:01.000 --> 00:02.000\na\n"])
    func otherFilesAreUnchanged(text: String) {
        #expect(clip(text, 10, 20) == text)
    }

    @Test func partsHaveAllCuesOnce() throws {
        let first = try WebVTTDocument(Array(clip(Self.text, 0, 10).utf8).span)
        let second = try WebVTTDocument(Array(clip(Self.text, 10, 1_000).utf8).span)
        let all = try WebVTTDocument(Array(Self.text.utf8).span)
        #expect(first.cues.count == 2 && second.cues.count == 2 && all.cues.count == 3)
        #expect(first.timestampMap == all.timestampMap && second.timestampMap == all.timestampMap)
        #expect(first.styleSheets == all.styleSheets && second.cues.last == all.cues.last)
    }
}
