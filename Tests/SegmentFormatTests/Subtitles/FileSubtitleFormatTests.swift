import MediaTiming
import SegmentFormat
import Testing

@Suite struct FileSubtitleFormatTests {
    private let range = MediaTimeRange(start: MediaTime(seconds: 1), end: MediaTime(seconds: 2))

    private func text(_ format: FileSubtitleFormat, _ bytes: [UInt8]) -> String? {
        format.cues(bytes.span, range: range).first?.plainText
    }

    private func text(_ format: FileSubtitleFormat, _ sample: String) -> String? { text(format, Array(sample.utf8)) }

    private static let formats: [(codec: String, container: MediaContainer, format: FileSubtitleFormat?)] = [
        ("S_TEXT/UTF8", .matroska, .subRip), ("S_TEXT/ASS", .matroska, .subStation), ("wvtt", .webM, .webVTT),
        ("tx3g", .isoBaseMedia, .timedText), ("tx3g", .matroska, nil), ("S_HDMV/PGS", .matroska, nil),
        ("S_TEXT/UTF8", .isoBaseMedia, nil), ("dvbsub", .transportStream, nil),
        ("wvtt", .isoBaseMedia, .webVTTBoxes), ("stpp.ttml.im1t", .isoBaseMedia, .documents),
        ("stpp", .isoBaseMedia, .documents), ("stpp", .matroska, nil), ("stppx", .isoBaseMedia, nil),
        ("c608", .isoBaseMedia, nil),
    ]

    @Test(arguments: formats)
    func textFormatsAreKnownByTheirContainer(codec: String, container: MediaContainer, format: FileSubtitleFormat?) {
        let track = MediaTrack(id: 3, mediaType: .subtitles, codec: codec)
        #expect(FileSubtitleFormat(track, in: container) == format)
        #expect(FileSubtitleFormat(MediaTrack(id: 3, mediaType: .audio, codec: codec), in: container) == nil)
    }

    @Test func cueHasTheTimeRangeOfItsSample() throws {
        let sample = Array("One\n<i>two</i>".utf8)
        let made = FileSubtitleFormat.subRip.cues(sample.span, range: range)
        let cue = try #require(made.first)
        #expect(cue.timeRange == range && cue.plainText == "One\ntwo")
        #expect(cue.lines.last?.spans.first?.style.isItalic == true)
    }

    @Test func samplesAreConvertedToText() {
        #expect(text(.webVTT, "<b>Hello</b> &amp; bye") == "Hello & bye")
        #expect(text(.subStation, "0,0,Default,,0,0,0,,{\\i1}Yes{\\i0}, no\\Nmaybe\\hso") == "Yes, no\nmaybe so")
        #expect(text(.timedText, [0, 5] + Array("a\nbcd".utf8) + [0, 0, 0, 12] + Array("styl".utf8)) == "a\nbcd")
    }

    @Test func sampleOfBoxesHasSeveralCues() {
        let one = box("vttc", box("payl", ascii("<b>One</b>")))
        let sample = one + box("vttc", box("payl", ascii("two"))) + box("vtte")
        let cues = FileSubtitleFormat.webVTTBoxes.cues(sample.span, range: range)
        #expect(cues.map(\.plainText) == ["One", "two"] && cues.allSatisfy { $0.timeRange == range })
        let text = ascii("text without boxes")
        let damaged = FileSubtitleFormat.webVTTBoxes.cues(text.span, range: range)
        #expect(damaged.isEmpty)
    }

    /// The times of a document are those of its track, limited to the sample.
    @Test func sampleWithADocumentHasItsCues() {
        let document = """
            <tt xmlns="http://www.w3.org/ns/ttml"><body><div><p begin="0s" end="1.5s">One</p>
            <p begin="1.5s" end="9s">two</p><p begin="5s" end="6s">later</p></div></body></tt>
            """
        let bytes = Array(document.utf8)
        let cues = FileSubtitleFormat.documents.cues(bytes.span, range: range)
        #expect(cues.map(\.plainText) == ["One", "two"])
        let middle = MediaTime(value: 3, timescale: 2)
        #expect(
            cues.map(\.timeRange) == [
                MediaTimeRange(start: range.start, end: middle), MediaTimeRange(start: middle, end: range.end),
            ]
        )
        let cut = Array(bytes.prefix(20))
        let damaged = FileSubtitleFormat.documents.cues(cut.span, range: range)
        #expect(damaged.isEmpty)
    }

    @Test func samplesWithoutTextHaveNoCue() {
        #expect(text(.subRip, "  ") == nil)
        #expect(text(.subStation, "0,0,Default") == nil)
        #expect(text(.subStation, "0,0,Default,,0,0,0,,{\\p1}m 0 0 l 9 9") == nil)
        #expect(text(.timedText, [0, 0]) == nil)
        #expect(text(.timedText, [7]) == nil)
        // The length exceeds the sample.
        #expect(text(.timedText, [255, 255, 0x61]) == "a")
        #expect(text(.subRip, Array(repeating: 0x61, count: 1 << 20)) == nil)
    }
}
