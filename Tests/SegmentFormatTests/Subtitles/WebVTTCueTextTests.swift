import MediaTiming
import SegmentFormat
import Testing

@Suite struct WebVTTCueTextTests {
    private func text(_ lines: [SubtitleLine]) -> String {
        WebVTTCueText.text(of: SubtitleCue(timeRange: MediaTimeRange(start: .zero, duration: .zero), lines: lines))
    }

    @Test func textIsEscapedAndEmptyLinesAreLeftOut() {
        let lines = ["a < b & c > d", "  ", "--> x\r\ny"].map { SubtitleLine([SubtitleSpan($0)]) }
        #expect(text(lines) == "a &lt; b &amp; c &gt; d\n--&gt; x y")
    }

    @Test func stylesBecomeTags() {
        var style = SubtitleStyle()
        style.isBold = true
        style.isItalic = true
        style.isUnderlined = true
        style.color = SubtitleColor(red: 255, green: 255, blue: 0)
        #expect(text([SubtitleLine([SubtitleSpan("x", style: style)])]) == "<c.yellow><b><i><u>x</u></i></b></c>")
        style = SubtitleStyle()
        style.color = SubtitleColor(red: 1, green: 2, blue: 3)
        #expect(text([SubtitleLine([SubtitleSpan("x", style: style), SubtitleSpan("y")])]) == "xy")
    }

    @Test func boxesOfCuesAreMeasuredFromTheTopLeft() {
        var cue = SubtitleCue(
            timeRange: MediaTimeRange(start: .zero, duration: .zero),
            lines: [SubtitleLine([SubtitleSpan("a")])]
        )
        #expect(cue.boxTopLeft.left == 5)
        #expect(abs(cue.boxTopLeft.top - (95 - SubtitleLayout.lineHeight)) < 1e-9)
        cue.placement.verticalAnchor = .top
        cue.placement.verticalPosition = 10
        #expect(cue.boxTopLeft.top == 10)
    }
}
