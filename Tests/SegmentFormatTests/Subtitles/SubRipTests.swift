import MediaTiming
import SegmentFormat
import Testing

@Suite struct SubRipTests {
    @Test(arguments: ["\n", "\r\n", "\r"])
    func cuesAreParsedWithAnyLineEnding(_ end: String) throws {
        let text = [
            "\u{FEFF}1", "00:00:01,000 --> 00:00:02,500", "One", "two", "", "2", "00:01:00,000 --> 01:00:00,000 X1:1",
            "x",
        ]
        let cues = try Subtitles.subRip(text.joined(separator: end))
        #expect(cues.map(Subtitles.line) == ["1-2.5 One|two", "60-3600 x"])
        #expect(cues.map(\.id) == ["1", "2"])
    }

    @Test func cueNumbersAreOptionalAndTextMayContainEmptyLines() throws {
        let cues = try Subtitles.subRip(
            "00:01.5 --> 0:00:02.5\na\n\nb\n\n00:00:03,000-->00:00:04,000\nc\n4\n00:00:04,000 --> 00:00:05,000\nd\n2020\n"
        )
        #expect(cues.map(Subtitles.line) == ["1.5-2.5 a||b".replacing("||", with: "|"), "3-4 c|4", "4-5 d|2020"])
    }

    @Test func cueNumberWithoutEmptyLineStartsNextCue() throws {
        let cues = try Subtitles.subRip("1\n00:00:01,000 --> 00:00:02,000\na\n2\n00:00:02,000 --> 00:00:03,000\nb")
        #expect(cues.map(Subtitles.line) == ["1-2 a", "2-3 b"])
    }

    @Test func tagsBecomeStyles() throws {
        let cues = try Subtitles.subRip(
            "1\n00:00:01,000 --> 00:00:02,000\n{\\an8}<i>a<b>b</i>c <font color=\"#ff0000\">d</font> 1 < 2 <x> {y}\n<FONT COLOR=lime>e"
        )
        let cue = try #require(cues.first)
        #expect(cue.plainText == "abc d 1 < 2 <x> {y}\ne")
        let spans = cue.lines[0].spans
        #expect(spans.map(\.text) == ["a", "b", "c ", "d", " 1 < 2 <x> {y}"])
        #expect(spans.map(\.style.isItalic) == [true, true, false, false, false])
        #expect(spans.map(\.style.isBold) == [false, true, false, false, false])
        #expect(spans[3].style.color == SubtitleColor(red: 255, green: 0, blue: 0))
        #expect(cue.lines[1].spans[0].style.color == SubtitleColor(red: 0, green: 255, blue: 0))
        #expect(cue.placement.verticalAnchor == .top)
        #expect(cue.placement.alignment == .center)
    }

    @Test func utf16AndLatin1AreDecoded() throws {
        let text = "1\n00:00:01,000 --> 00:00:02,000\né"
        let wide = [UInt8]([0xFF, 0xFE]) + text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        #expect(try SubRipDocument(wide.span).cues.first?.plainText == "é")
        let narrow = text.unicodeScalars.map { UInt8($0.value) }
        #expect(try SubRipDocument(narrow.span).cues.first?.plainText == "é")
    }

    @Test func invalidUTF8IsDecodedAsWindows1252() throws {
        let head = Array("1\n00:00:01,000 --> 00:00:02,000\n".utf8)
        let bytes = head + [0x80, 0x85, 0x8A, 0x8E, 0x91, 0x92, 0x93, 0x94, 0x96, 0x97, 0x99, 0x9C, 0x9F, 0xA0, 0xFF]
        #expect(try SubRipDocument(bytes.span).cues.first?.plainText == "€…ŠŽ‘’“”–—™œŸ\u{A0}ÿ")
        let undefined = head + [0x81, 0x8D, 0x8F, 0x90, 0x9D, 0xE9]
        #expect(try SubRipDocument(undefined.span).cues.first?.plainText == "\u{81}\u{8D}\u{8F}\u{90}\u{9D}é")
    }

    @Test func fileWithoutCuesIsRejected() throws {
        #expect(try Subtitles.subRip(" \n").isEmpty)
        #expect(throws: MediaFormatError.missing("SubRip cue")) { try Subtitles.subRip("hello") }
    }
}
