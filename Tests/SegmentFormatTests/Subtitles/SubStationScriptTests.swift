import MediaTiming
import SeededRandomness
import Testing

@testable import SegmentFormat

@Suite struct SubStationScriptTests {
    private typealias S = Subtitles

    private func text(_ cue: SubtitleCue) throws -> String {
        try #require(SubStationScript().events(for: cue).first).text
    }

    @Test func dialogueLineHasTimesMarginsAndPosition() throws {
        let event = try #require(SubStationScript().events(for: S.cue("Hello", 1_234, 3_726_500)).first)
        #expect(
            event.dialogueLine.hasPrefix("Dialogue: 0,0:00:01.23,1:02:06.50,Outlined,,96,96,0,,{\\an2\\pos(960,1026)}")
        )
        #expect(event.dialogueLine.hasSuffix("}Hello"))
        #expect(event.chunk(readOrder: 7).hasPrefix("7,0,Outlined,,96,96,0,,{"))
    }

    @Test(arguments: [
        ("{\\an8}", "\\{\\\u{2060}an8\\}"), ("a\\Nb", "a\\\u{2060}Nb"), ("a\r\tb\u{2028}", "a  b "),
        ("  x", "\u{A0}\u{A0}x"), ("\\", "\\\u{2060}"), ("}{", "\\}\\{"),
    ])
    func textIsEscapedSoItIsNeverATag(_ plain: String, _ expected: String) {
        #expect(SubStationScript.escaped(plain, isStart: true) == expected)
    }

    @Test func randomTextNeverOpensTags() throws {
        var random = SeededGenerator(seed: 3)
        let letters: [Character] = ["{", "}", "\\", "N", "a", "p", "\n", " ", "1", "\u{A0}"]
        var faults: [String] = []
        for _ in 0..<2_000 {
            let plain = String((0..<12).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] })
            let escaped = SubStationScript.escaped(plain, isStart: true)
            var previous: Unicode.Scalar = " "
            for scalar in escaped.unicodeScalars {
                let isTag = "{}".unicodeScalars.contains(scalar) && previous != "\\"
                let isCode = "Nnh".unicodeScalars.contains(scalar) && previous == "\\"
                if isTag || isCode || scalar == "\n" { faults.append(plain) }
                previous = scalar
            }
        }
        #expect(faults == [])
    }

    @Test func stylesAreWrittenCompletely() throws {
        var style = SubtitleStyle()
        style.isBold = true
        style.isUnderlined = true
        style.color = SubtitleColor(red: 0x12, green: 0x34, blue: 0x56, alpha: 0xFF)
        style.background = SubtitleColor(red: 0, green: 0, blue: 0, alpha: 0x80)
        style.relativeSize = 1.5
        let cue = SubtitleCue(
            timeRange: S.range(0, 1_000),
            lines: [SubtitleLine([SubtitleSpan("a", style: style), SubtitleSpan("b")])]
        )
        let text = try text(cue)
        #expect(text.contains("{\\b1\\i0\\u1\\fs86.4\\1c&H563412&\\1a&HFF&\\3c&H000000&\\3a&H7F&}a"))
        #expect(text.contains("\\3a&HFF&}b"))
        let events = SubStationScript().events(for: cue)
        #expect(events.map(\.style) == ["Boxed", "Outlined"])
        #expect(events.map(\.layer) == [0, 1])
        #expect(events[1].text.contains("{\\b1\\i0\\u1\\fs86.4\\1c&H563412&\\1a&H00&\\3a&H00&}a"))
        let whole = SubtitleCue(timeRange: S.range(0, 1_000), lines: [SubtitleLine([SubtitleSpan("a", style: style)])])
        #expect(SubStationScript().events(for: whole).map(\.style) == ["Boxed"])
    }

    @Test(arguments: [(2.0, 2_160), (Double.nan, 1_920), (1_000, 8_640)])
    func scriptWidthFollowsAspectRatio(_ ratio: Double, _ width: Int) {
        #expect(SubStationScript(aspectRatio: ratio).width == width)
        #expect(SubStationScript(aspectRatio: ratio).header.contains("PlayResX: \(width)\n"))
    }

    @Test func fontNameCannotAddLines() {
        #expect(SubStationScript(fontName: "a,b\nStyle: x").fontName == "abStyle: x")
    }

    @Test func verticalWritingHasAnEventForEachColumn() {
        var cue = S.cue("ab\nc", 0, 1_000)
        cue.placement.writingDirection = .verticalGrowingLeft
        cue.placement.horizontalAnchor = .right
        cue.placement.horizontalPosition = 95
        cue.placement.verticalAnchor = .top
        cue.placement.verticalPosition = 5
        let events = SubStationScript().events(for: cue)
        #expect(events.count == 2)
        #expect(events.map { $0.text.prefix { $0 != ")" } } == ["{\\an8\\pos(1738,54", "{\\an8\\pos(1795,54"])
        #expect(events.last?.text.hasSuffix("a\\Nb") == true)
    }

    @Test func cuesOfTimelineKeepTheirPositions() {
        var timeline = SubtitleTimeline()
        timeline.insert([S.cue("low", 0, 2_000), S.cue("high", 1_000, 4_000), S.cue("new", 3_000, 5_000)])
        let events = SubStationScript().events(of: timeline)
        let lines = events.map { event in
            "\(event.timeRange.start)-\(event.timeRange.end) \(event.text.split(separator: "}").last ?? "")"
        }
        #expect(lines == ["0-2 low", "1-4 high", "3-5 new"])
        let script = SubStationScript().text(of: timeline)
        #expect(script.hasPrefix("[Script Info]\n"))
        #expect(script.split(separator: "\n").count { $0.hasPrefix("Dialogue:") } == 3)
    }

    @Test func cueMovedWithinRegionHasSeveralEvents() {
        var first = S.cue("first", 0, 3_000)
        first.placement.overlapHandling = .stackInRegion(region: "r")
        var second = S.cue("second", 1_000, 2_000)
        second.placement.overlapHandling = .stackInRegion(region: "r")
        var timeline = SubtitleTimeline()
        timeline.insert([first, second])
        let events = SubStationScript().events(of: timeline)
        #expect(events.map { "\($0.timeRange)" } == ["0...1", "1...2", "1...2", "2...3"])
    }
}
