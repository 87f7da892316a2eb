import MediaTiming
import Testing

@testable import SegmentFormat

@Suite struct TimedTextTests {
    private typealias S = Subtitles

    private func lines(_ body: String, root: String = "", head: String = "") throws -> [String] {
        try S.timedText(S.tt(body, root: root, head: head)).cues.map(Subtitles.line)
    }

    private func cue(_ body: String, root: String = "", head: String = "") throws -> SubtitleCue {
        try #require(try S.timedText(S.tt(body, root: root, head: head)).cues.first)
    }

    @Test(arguments: [
        ("00:00:01.5", "", "1.5"), ("01:00:00", "", "3600"), ("00:00:01:15", "", "1.5"),
        ("00:00:01:12", "ttp:frameRate='24'", "1.5"), ("1.5h", "", "5400"), ("2m", "", "120"), ("12.25s", "", "12.25"),
        ("1500ms", "", "1.5"), ("45f", "", "1.5"), ("50f", "ttp:frameRate='25'", "2"), ("7t", "", "7"),
        ("15000000t", "ttp:tickRate='10000000'", "1.5"), ("50t", "ttp:frameRate='25'", "2"),
        ("30f", "ttp:frameRate='30' ttp:frameRateMultiplier='1000 1001'", "1.001"),
        ("30f", "ttp:frameRate='30' ttp:frameRateMultiplier='1000:1001'", "1.001"),
        ("00:00:01:00", "ttp:timeBase='smpte' ttp:frameRate='30' ttp:frameRateMultiplier='1000 1001'", "1.001"),
        (
            "00:01:00:02",
            "ttp:timeBase='smpte' ttp:dropMode='dropNTSC' ttp:frameRate='30' ttp:frameRateMultiplier='1000 1001'",
            "60.06"
        ),
        ("00:00:01:10.1", "ttp:frameRate='20' ttp:subFrameRate='2'", "1.525"),
    ])
    func allTimeExpressionsAreParsed(_ time: String, _ root: String, _ expected: String) throws {
        let cue = try cue("<body><div><p begin='\(time)' end='99h'>x</p></div></body>", root: root)
        #expect(cue.timeRange.start.description == expected)
    }

    @Test(arguments: ["", "x", "1", "1x", "1:2", "-1s", "1.s", "00:00:00:xx", "1e3s", "9999999999999999999s"])
    func invalidTimeExpressionIsIgnored(_ time: String) throws {
        #expect(TimedTextTiming().time(time) == nil)
        #expect(try lines("<body><div><p begin='\(time)' dur='1s'>x</p></div></body>") == ["0-1 x"])
    }

    @Test func timesOfChildrenAreRelativeToParent() throws {
        let body = """
            <body begin='10s'><div begin='1s' end='6s'>
            <p begin='1s' end='2s'>a</p><p begin='3s' dur='1s'>b</p><p begin='4s'>c</p>
            <p begin='1s' end='9s' dur='2s'>d</p><p begin='7s' end='8s'>never</p></div></body>
            """
        #expect(try lines(body) == ["12-13 a", "14-15 b", "15-16 c", "12-14 d"])
    }

    @Test func sequentialContainerPlacesChildrenInSequence() throws {
        let body = """
            <body><div timeContainer='seq' begin='5s'><p dur='1s'>a</p><p begin='1s' dur='2s'>b</p><p>none</p>
            <p end='1s'>c</p></div></body>
            """
        #expect(try lines(body) == ["5-6 a", "7-9 b", "9-400000 none", "9-10 c"])
    }

    @Test func sequentialContainerUsesImplicitDurations() throws {
        let body = """
            <body timeContainer='seq'><div><p begin='1s' end='3s'>a</p></div><div><p begin='1s' end='2s'>b</p></div></body>
            """
        #expect(try lines(body) == ["1-3 a", "4-5 b"])
    }

    @Test func timedSpansSplitCueIntoStates() throws {
        let body = """
            <body><div><p begin='10s' end='20s'>a<span begin='2s'> b</span><span begin='4s' end='6s'> c</span></p></div></body>
            """
        #expect(try lines(body) == ["10-12 a", "12-14 a b", "14-16 a b c", "16-20 a b"])
    }

    @Test func timedWordsInSequenceBecomeCues() throws {
        let body =
            "<body><div><p timeContainer='seq' begin='1s'><span dur='1s'>a</span><span dur='2s'>b</span></p></div></body>"
        #expect(try lines(body).prefix(2) == ["1-2 a", "2-4 b"])
    }

    @Test func whiteSpaceCollapsesUnlessPreserved() throws {
        let body = """
            <body><div><p end='1s'>
               one
               <span> two </span>  three <br/>
               four
            </p><p xml:space='preserve' end='1s'> a  b
             c </p></div></body>
            """
        let cues = try S.timedText(S.tt(body)).cues
        #expect(cues.map(\.plainText) == ["one two three\nfour", " a  b\n c"])
    }

    @Test func stylesAreReferencedInheritedAndOverridden() throws {
        let head = """
            <styling>
            <initial tts:fontWeight='bold'/>
            <style xml:id='base' tts:color='yellow' tts:fontStyle='italic'/>
            <style xml:id='red' style='base' tts:color='#FF0000'/>
            <style xml:id='loop' style='loop red'/>
            </styling>
            """
        let body = """
            <body style='base'><div><p end='1s'>a<span style='red'>b</span><span style='loop' tts:fontStyle='normal'>c</span>\
            <span tts:textDecoration='underline' tts:color='rgba(1,2,3,128)' tts:backgroundColor='black'>d</span></p></div></body>
            """
        let spans = try cue(body, head: head).lines[0].spans
        #expect(spans.map(\.text) == ["a", "b", "c", "d"])
        #expect(!spans.contains { !$0.style.isBold })
        #expect(spans.map(\.style.isItalic) == [true, true, false, true])
        #expect(spans[0].style.color == SubtitleColor(red: 255, green: 255, blue: 0))
        #expect(spans[1].style.color == SubtitleColor(red: 255, green: 0, blue: 0))
        #expect(spans[2].style.color == SubtitleColor(red: 255, green: 0, blue: 0))
        #expect(spans[3].style.color == SubtitleColor(red: 1, green: 2, blue: 3, alpha: 128))
        #expect(spans[3].style.isUnderlined)
        #expect(spans[3].style.background == .black)
    }

    @Test(arguments: [
        ("", 1.25), ("tts:fontSize='80%'", 1), ("tts:fontSize='1c'", 1.25), ("tts:fontSize='2em'", 2.5),
        ("tts:fontSize='10px 57.6px'", 1), ("tts:fontSize='5.333333rh'", 1), ("tts:fontSize='0px'", 1.25),
    ])
    func fontSizesAreRelativeToLineHeight(_ attribute: String, _ size: Double) throws {
        let cue = try cue("<body><div><p end='1s' \(attribute)>x</p></div></body>", root: "tts:extent='1920px 1080px'")
        #expect(abs(cue.lines[0].spans[0].style.relativeSize - size) < 0.001)
    }

    @Test func regionsDeterminePlacement() throws {
        let head = """
            <layout>
            <region xml:id='low' tts:origin='10% 80%' tts:extent='80% 15%' tts:displayAlign='after' tts:textAlign='center'/>
            <region xml:id='high'><style tts:origin='4c 3c'/><style tts:extent='320px 72px'/></region>
            <region xml:id='new' tts:extent='50% 20%' tts:position='right 10% bottom 5%' tts:padding='1% 2%'/>
            </layout>
            """
        let body = """
            <body region='low'><div><p end='1s'>a</p><p region='high' end='1s'>b</p><p region='new' tts:textAlign='end' end='1s'>c</p>\
            <p region='unknown' end='1s'>d</p></div></body>
            """
        let cues = try S.timedText(S.tt(body, root: "tts:extent='1280px 720px'", head: head)).cues
        let low = cues[0].placement
        #expect(low.horizontalAnchor == .center && low.horizontalPosition == 50 && low.boxSize == 80)
        #expect(low.verticalAnchor == .bottom && low.verticalPosition == 95)
        #expect(low.overlapHandling == .stackInRegion(region: "TTML low"))
        let high = cues[1].placement
        #expect(high.alignment == .left && high.horizontalPosition == 12.5 && high.boxSize == 25)
        #expect(high.verticalAnchor == .top && high.verticalPosition == 20)
        let new = cues[2].placement
        #expect(new.alignment == .right)
        #expect(abs(new.left - 46) < 0.001)
        #expect(abs(new.boxSize - 48) < 0.001)
        #expect(abs(new.verticalPosition - 76.2) < 0.001)
        #expect(cues[3].placement == SubtitlePlacement())
    }

    /// FFmpeg writes the region at a span, the size of the script as the cell resolution, and font sizes in cells.
    @Test func regionOfASpanDeterminesFontSizeAndPlacement() throws {
        let head = """
            <layout><region xml:id="Default" tts:origin="3% 0%" tts:extent="94% 97%" tts:displayAlign="after" \
            tts:textAlign="center" tts:fontSize="16c" tts:fontFamily="Arial" tts:overflow="visible" /></layout>
            """
        let body = """
            <body><div><p begin="1s" end="2s"><span region="Default">a<br/>b</span></p></div></body>
            """
        let cues = try S.timedText(S.tt(body, root: "ttp:cellResolution='384 288'", head: head)).cues
        let cue = try #require(cues.first)
        #expect(cues.count == 1 && cue.plainText == "a\nb")
        // 16 of 288 rows are 5.56 % of the height; a relative size of 1 is 5.33 %.
        let sizes = cue.lines.flatMap(\.spans).map(\.style.relativeSize)
        #expect(sizes.count == 2 && sizes.allSatisfy { abs($0 - 16.0 / 288 / (0.8 / 15)) < 0.001 }, "\(sizes)")
        #expect(cue.placement.verticalAnchor == .bottom && cue.placement.verticalPosition == 97)
        #expect(cue.placement.horizontalAnchor == .center && cue.placement.horizontalPosition == 50)
        #expect(SubStationScript().events(for: cue).first?.text.contains("\\fs60.0") == true)
    }

    @Test func spansOfAParagraphAreShownInTheirRegions() throws {
        let head = """
            <layout><region xml:id='high' tts:displayAlign='before' tts:extent='100% 50%'/>
            <region xml:id='low' tts:displayAlign='after' tts:extent='100% 90%' tts:fontSize='200%'/></layout>
            """
        let body = """
            <body><div><p end='1s'><span region='high'>a</span><br/><span region='low'>b<span>c</span></span>\
            <span region='unknown'>d</span></p><p end='1s' region='high'><span region='low'>e</span></p></div></body>
            """
        let cues = try S.timedText(S.tt(body, head: head)).cues
        #expect(cues.map(\.plainText) == ["d", "a", "bc", "e"])
        #expect(cues[0].placement == SubtitlePlacement())
        #expect(cues[1].placement.verticalAnchor == .top && cues[3].placement == cues[1].placement)
        #expect(cues[2].placement.verticalPosition == 90)
        #expect(cues.map { ($0.lines[0].spans[0].style.relativeSize * 100).rounded() } == [125, 125, 250, 125])
    }

    @Test func lengthsOfRegionsAreRelativeToTheirFontSize() throws {
        let head = """
            <layout><region xml:id='r' tts:fontSize='2c' tts:origin='0% 0%' tts:extent='50% 50%' tts:padding='1em 0%'/></layout>
            """
        let cue = try cue("<body region='r'><div><p end='1s'>x</p></div></body>", head: head)
        #expect(abs(cue.placement.verticalPosition - 200.0 / 15) < 0.001)
    }

    @Test func textWithoutRegionIsPlacedAtBottom() throws {
        let cues = try S.timedText(
            S.tt("<body><div><p end='1s'>a</p><p end='1s' tts:textAlign='left'>b</p></div></body>")
        ).cues
        #expect(cues[0].placement == SubtitlePlacement())
        #expect(cues[1].placement.left == 5)
    }

    @Test func hiddenTextIsIgnoredAndForcedTextIsMarked() throws {
        let body = """
            <body><div><p end='1s'>a<span tts:visibility='hidden'>b</span><span tts:display='none'>c</span></p>\
            <p end='1s' tts:display='none'>d</p><p end='1s' itts:forcedDisplay='true'>e</p></div></body>
            """
        let cues = try S.timedText(S.tt(body)).cues
        #expect(cues.map(\.plainText) == ["a", "e"])
        #expect(cues.map(\.isForced) == [false, true])
    }

    @Test func metadataIsIgnoredAndRubyIsInParentheses() throws {
        let body = """
            <body><metadata>no</metadata><div><p end='1s'><metadata xmlns='urn:x'><p>no</p></metadata>\
            <span tts:ruby='container'><span tts:ruby='base'>漢</span><span tts:ruby='text'>kan</span></span></p></div></body>
            """
        #expect(try lines(body) == ["0-1 漢(kan)"])
    }

    @Test func verticalRegionsHaveVerticalWriting() throws {
        let head =
            "<layout><region xml:id='v' tts:origin='80% 10%' tts:extent='10% 80%' tts:writingMode='tbrl'/></layout>"
        let placement = try cue("<body region='v'><div><p end='1s'>x</p></div></body>", head: head).placement
        #expect(placement.writingDirection == .verticalGrowingLeft)
        #expect(placement.horizontalAnchor == .right && abs(placement.horizontalPosition - 90) < 0.001)
        #expect(placement.verticalAnchor == .top && placement.verticalPosition == 10)
    }

    @Test func draftNamespacesAndMissingDeclarationsAreAccepted() throws {
        let draft = """
            <tt xmlns="http://www.w3.org/2006/10/ttaf1" xmlns:s="http://www.w3.org/2006/10/ttaf1#style"><body><div>
            <p begin="1s" end="2s" s:color="red">x</p></div></body></tt>
            """
        #expect(try S.timedText(draft).cues.first?.lines[0].spans[0].style.color?.red == 255)
        let bare = "<tt><body><div><p begin='1s' end='2s' tts:color='red'>x</p></div></body></tt>"
        #expect(try S.timedText(bare).cues.first?.lines[0].spans[0].style.color?.red == 255)
    }

    @Test func xmlErrorsReportTheirLine() throws {
        #expect(throws: MediaFormatError.missing("tt element")) { try S.timedText("<html/>") }
        do {
            _ = try S.timedText("<tt>\n<body>\n</tt>")
            Issue.record("it was read")
        } catch let error as MediaFormatError {
            #expect(error.description.contains("line 3"))
        }
    }

    @Test func cuesAreClampedToSampleRange() throws {
        let document = try S.timedText(
            S.tt("<body><div><p begin='1s'>a</p><p begin='3s' end='5s'>b</p><p begin='9s'>c</p></div></body>")
                + "\u{0}PNG"
        )
        #expect(document.cues(within: S.range(2_000, 4_000)).map(Subtitles.line) == ["2-4 a", "3-4 b"])
        #expect(document.language == "en")
    }

    @Test func numberOfStatesIsLimited() throws {
        let spans = (0..<2_000).map { "<span begin='\($0)s' end='\($0 + 1)s'>abcdefghij</span>" }.joined()
        let cues = try S.timedText(S.tt("<body><div><p end='3000s'>\(spans)</p></div></body>")).cues
        #expect(cues.count <= 130)
    }
}
