import MediaTiming
import SegmentFormat
import Testing

@Suite struct WebVTTSubtitleTests {
    private func cue(_ settings: String, _ text: String = "x", head: String = "") throws -> SubtitleCue {
        try #require(try Subtitles.webVTT("WEBVTT\n\n\(head)00:01.000 --> 00:02.000 \(settings)\n\(text)").first)
    }

    @Test func cueWithoutSettingsIsPlacedAtBottomCenter() throws {
        #expect(try cue("").placement == SubtitlePlacement())
    }

    @Test(arguments: [
        ("align:left", 5.0, 90.0, SubtitlePlacement.HorizontalAnchor.left),
        ("align:end", 5, 90, .right),
        ("position:20%", 0, 40, .center),
        ("position:80% size:30%", 65, 30, .center),
        ("position:10%,line-left align:left size:35%", 10, 35, .left),
        ("position:10%,line-left", 10, 90, .center),
        ("position:90%,line-right align:right size:100%", 0, 90, .right),
        ("size:50%", 25, 50, .center),
    ])
    func positionAndSizeDetermineCueBox(
        _ settings: String,
        _ left: Double,
        _ width: Double,
        _ alignment: SubtitlePlacement.HorizontalAnchor
    ) throws {
        let placement = try cue(settings).placement
        #expect(placement.left == left)
        #expect(placement.boxSize == width)
        #expect(placement.alignment == alignment)
    }

    @Test func lineNumbersCountFromTopOrBottom() throws {
        let line = SubtitleLayout.lineHeight
        let top = try cue("line:0").placement
        #expect(top.verticalAnchor == .top && top.verticalPosition == 5)
        #expect(try abs(cue("line:2").placement.verticalPosition - (5 + 2 * line)) < 0.001)
        #expect(try cue("line:-1").placement.verticalPosition == 95)
        #expect(try abs(cue("line:-3").placement.verticalPosition - (95 - 2 * line)) < 0.001)
        // A cue of two lines that would begin on the last line is moved up.
        #expect(try cue("line:-1", "a\nb").placement.verticalPosition == 95)
        #expect(try abs(cue("line:99").placement.verticalPosition - (95 - line)) < 0.001)
        #expect(try abs(cue("line:-99", "a\nb").placement.verticalPosition - (5 + 2 * line)) < 0.001)
    }

    @Test(arguments: [
        ("line:30%", SubtitlePlacement.VerticalAnchor.top), ("line:30%,center", .middle), ("line:30%,end", .bottom),
    ])
    func linePercentagesArePositions(_ settings: String, _ anchor: SubtitlePlacement.VerticalAnchor) throws {
        let placement = try cue(settings).placement
        #expect(placement.verticalPosition == 30)
        #expect(placement.verticalAnchor == anchor)
    }

    @Test func startAlignmentIsRightForRightToLeftText() throws {
        #expect(try cue("align:start", "- שלום").placement.alignment == .right)
        #expect(try cue("align:start", "- hello שלום").placement.alignment == .left)
    }

    @Test func regionDeterminesPlacementOfItsCues() throws {
        let head = "REGION\nid:a\nwidth:40%\nlines:3\nregionanchor:0%,100%\nviewportanchor:10%,90%\n\n"
        let placement = try cue("region:a position:50% align:center", head: head).placement
        #expect(placement.overlapHandling == .stackInRegion(region: "WebVTT a"))
        #expect(placement.left == 10)
        #expect(placement.boxSize == 40)
        #expect(abs(placement.verticalPosition - 90) < 0.001)
    }

    @Test func verticalCuesArePlacedAtSide() throws {
        let right = try cue("vertical:rl line:0 position:0% align:start").placement
        #expect(right.writingDirection == .verticalGrowingLeft)
        #expect(right.horizontalAnchor == .right && right.horizontalPosition == 95)
        #expect(right.verticalAnchor == .top && right.verticalPosition == 0)
        let left = try cue("vertical:lr line:0").placement
        #expect(left.horizontalAnchor == .left && left.horizontalPosition == 5)
        #expect(left.verticalAnchor == .middle)
    }

    @Test func tagsAndClassesBecomeStyles() throws {
        let text = "<v Ann>a<b>b<i>c</i></b><u>d</u><c.yellow.bg_blue>e</c><ruby>漢<rt>kan</rt></ruby>"
        let spans = try cue("", text).lines[0].spans
        #expect(spans.map(\.text) == ["a", "b", "c", "d", "e", "漢(kan)"])
        #expect(spans[1].style.isBold && !spans[1].style.isItalic)
        #expect(spans[2].style.isBold && spans[2].style.isItalic)
        #expect(spans[3].style.isUnderlined)
        #expect(spans[4].style.color == SubtitleColor(red: 255, green: 255, blue: 0))
        #expect(spans[4].style.background == SubtitleColor(red: 0, green: 0, blue: 255))
    }

    @Test func styleSheetsApplyToMatchingSelectors() throws {
        let head = """
            STYLE
            ::cue { color: #0f0; } /* all } */
            ::cue(.loud), ::cue(b) { font-weight: bold; background: rgba(0,0,0,0.5) }
            ::cue(v[voice="Ann"]) { color: red; font-style: italic }
            ::cue(#one) { text-decoration: underline }
            ::cue(c:past) { color: blue }


            """
        let cues = try Subtitles.webVTT(
            "WEBVTT\n\n\(head)one\n00:01.000 --> 00:02.000\na<c.loud>b</c><v Ann>c</v><v Bob>d</v>\n\n00:03.000 --> 00:04.000\ne"
        )
        let spans = try #require(cues.first).lines[0].spans
        #expect(spans.map(\.text) == ["a", "b", "c", "d"])
        #expect(spans.map(\.style.color?.green) == [255, 255, 0, 255])
        #expect(spans[1].style.isBold)
        #expect(spans[1].style.background?.alpha == 128)
        #expect(spans[2].style.isItalic && spans[2].style.color?.red == 255)
        #expect(!spans.contains { !$0.style.isUnderlined })
        #expect(cues[1].lines[0].spans[0].style.isUnderlined == false)
    }

    @Test func cuesAreMappedToMediaTimeline() throws {
        let bytes = Array(
            "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000\n\n00:01.000 --> 00:02.000\nx\n\n00:02.000 --> 00:03.000\n\n"
                .utf8
        )
        let cues = try WebVTTDocument(bytes.span).subtitles(near: MediaTime(seconds: 10))
        #expect(cues.map(Subtitles.line) == ["11-12 x"])
    }
}
