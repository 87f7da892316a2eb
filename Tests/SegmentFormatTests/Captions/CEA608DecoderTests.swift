import MediaTiming
import SeededRandomness
import SegmentFormat
import Testing

@Suite struct CEA608DecoderTests {
    private func lines(_ cues: [SubtitleCue]) -> [String] { cues.map(LineTwentyOne.line) }

    @Test func popOnCaptionIsShownAtOnce() {
        var line = LineTwentyOne()
        line.command(0x20)
        line.command(0x2E)
        line.row(14, indent: 1)
        line.text("Hello ")
        line.row(15, indent: 2)
        line.text("you")
        line.command(0x2F)
        line.wait(10)
        line.command(0x2C)
        line.wait(3)
        let cues = line.decoded()
        #expect(lines(cues) == ["13-25 Hello|\u{A0}\u{A0}\u{A0}\u{A0}\u{A0}\u{A0}\u{A0}\u{A0}you"])
        let placement = cues[0].placement
        #expect(placement.horizontalAnchor == .left && placement.horizontalPosition == 20)
        #expect(placement.verticalAnchor == .top)
        #expect(abs(placement.verticalPosition - (10 + 13 * 80.0 / 15)) < 0.001)
        #expect(cues[0].lines[0].spans[0].style.background == SubtitleColor(red: 0, green: 0, blue: 0))
    }

    @Test func nextPopOnCaptionEndsPreviousOne() {
        var line = LineTwentyOne()
        for text in ["one", "two"] {
            line.command(0x20)
            line.command(0x2E)
            line.row(15)
            line.text(text)
            line.command(0x2F)
        }
        #expect(lines(line.decoded()) == ["8-18 one", "18-20 two"])
    }

    @Test func rollUpCaptionsMoveUpAndKeepTheirRows() {
        var line = LineTwentyOne()
        line.command(0x25)
        line.command(0x2D)
        line.row(15)
        line.text("ab")
        for text in ["cd", "ef"] {
            line.command(0x2D)
            line.text(text)
        }
        #expect(lines(line.decoded()) == ["6-7 ab", "7-9 ab", "9-10 ab|cd", "10-12 cd", "12-13 cd|ef"])
        #expect(lines(line.decoded(growth: .perLine)) == ["6-7 ab", "7-10 ab|cd", "10-13 cd|ef"])
    }

    @Test(arguments: [(UInt8(0x25), 2), (0x26, 3), (0x27, 4)])
    func rollUpKeepsRequestedNumberOfRows(_ command: UInt8, _ depth: Int) throws {
        var line = LineTwentyOne()
        line.command(command)
        line.row(15)
        for index in 0..<6 {
            line.text("\(index)x")
            if index < 5 { line.command(0x2D) }
        }
        let last = try #require(line.decoded().last)
        #expect(last.lines.map(\.plainText) == (6 - depth..<6).map { "\($0)x" })
        #expect(abs(last.placement.verticalPosition - (10 + Double(15 - depth) * 80 / 15)) < 0.001)
    }

    @Test func preambleAddressCodeMovesRollUpCaptions() throws {
        var line = LineTwentyOne()
        line.command(0x25)
        line.row(15)
        line.text("ab")
        line.row(5)
        line.wait(1)
        let last = try #require(line.decoded().last)
        #expect(abs(last.placement.verticalPosition - (10 + 4 * 80.0 / 15)) < 0.001)
    }

    @Test func paintOnCaptionsAreShownImmediately() {
        var line = LineTwentyOne()
        line.command(0x29)
        line.row(1)
        line.text("abcd")
        line.command(0x24)
        line.command(0x21)
        #expect(lines(line.decoded()) == ["4-5 ab", "5-8 abcd", "8-10 abc"])
    }

    @Test func everyRowHasItsVerticalPosition() throws {
        for row in 1...15 {
            var line = LineTwentyOne()
            line.command(0x29)
            line.row(row, indent: 7)
            line.text("xy")
            let cue = try #require(line.decoded().last)
            #expect(abs(cue.placement.verticalPosition - (10 + Double(row - 1) * 80 / 15)) < 0.001)
            #expect(cue.placement.left == 80)
        }
    }

    @Test func colorsStylesAndTabOffsetsAreApplied() throws {
        var line = LineTwentyOne()
        line.command(0x29)
        line.row(3, look: 0x0B)
        line.control(0x17, 0x23)
        line.text("ab")
        line.control(0x11, 0x2F)
        line.text("cd")
        line.control(0x11, 0x22)
        line.text("ef")
        line.control(0x10, 0x29)
        line.text("g")
        let cue = try #require(line.decoded().last)
        #expect(cue.plainText == "ab cd ef g".replacing("ef g", with: "e g"))
        #expect(cue.placement.left == 10 + 3 * 2.5)
        let spans = cue.lines[0].spans
        let yellow = SubtitleColor(red: 255, green: 255, blue: 0)
        #expect(spans[0].style.color == yellow && spans[0].style.isUnderlined && !spans[0].style.isItalic)
        #expect(spans[1].text == "cd " && spans[1].style.color == yellow && spans[1].style.isItalic)
        #expect(spans[2].text == "e" && spans[2].style.color == SubtitleColor(red: 0, green: 255, blue: 0))
        #expect(!spans[2].style.isItalic && !spans[2].style.isUnderlined)
        #expect(spans[3].style.background == SubtitleColor(red: 255, green: 0, blue: 0, alpha: 128))
    }

    @Test func specialAndExtendedCharactersAreDecoded() {
        var line = LineTwentyOne()
        line.command(0x29)
        line.row(1)
        line.text("*\\")
        line.control(0x11, 0x37)
        line.text("e")
        line.control(0x12, 0x36)
        line.text("A")
        line.control(0x13, 0x30)
        line.control(0x11, 0x39)
        line.text("z")
        #expect(line.decoded().last?.plainText == "áé♪ëÄ z")
    }

    @Test func centeredRowsHaveCenterAlignment() throws {
        var line = LineTwentyOne()
        line.command(0x29)
        line.row(14, indent: 3)
        line.text("abcdefgh")
        line.row(15, indent: 2)
        line.control(0x17, 0x22)
        line.text("abcdefghijkl")
        let cue = try #require(line.decoded().last)
        #expect(cue.placement.alignment == .center)
        #expect(cue.placement.horizontalPosition == 50)
    }

    @Test func repeatedControlCodeCountsAgainAfterOtherData() {
        var line = LineTwentyOne()
        line.command(0x29)
        line.row(1)
        line.text("abcd")
        line.command(0x21)
        line.command(0x21)
        line.pair(0x14, 0x21)
        #expect(line.decoded().last?.plainText == "a")
        line.wait(1)
        line.pair(0x14, 0x21)
        line.text("z")
        #expect(line.decoded().last?.plainText == "z")
    }

    @Test func characterWithBadParityIsReplacedAndControlCodeIsIgnored() {
        var line = LineTwentyOne()
        line.command(0x29)
        line.row(1)
        line.pairs.append((LineTwentyOne.parity(0x61), LineTwentyOne.parity(0x62) ^ 0x80))
        line.pairs.append((LineTwentyOne.parity(0x14), LineTwentyOne.parity(0x2C) ^ 0x80))
        line.pairs.append((LineTwentyOne.parity(0x14) ^ 0x80, LineTwentyOne.parity(0x2C)))
        line.text("c")
        #expect(line.decoded().last?.plainText == "a\u{2588}c")
    }

    @Test func repetitionWithBadParityIsIgnored() {
        var line = LineTwentyOne()
        line.command(0x29)
        line.row(1)
        line.text("abc")
        line.pair(0x14, 0x21)
        line.pairs.append((LineTwentyOne.parity(0x14) ^ 0x80, LineTwentyOne.parity(0x21)))
        line.text("d")
        #expect(line.decoded().last?.plainText == "abd")
    }

    @Test func channelsAndFieldsAreDistinguished() {
        var line = LineTwentyOne()
        line.command(0x29)
        line.row(1)
        line.text("one")
        line.channel = 8
        line.command(0x29)
        line.row(1)
        line.text("two")
        #expect(line.decoded(.cc1).last?.plainText == "one")
        #expect(line.decoded(.cc2).last?.plainText == "two")
        #expect(line.decoded(.cc3).isEmpty)
        line.kind = .secondField
        #expect(line.decoded(.cc3).last?.plainText == "one")
        #expect(line.decoded(.cc4).last?.plainText == "two")
        #expect(line.decoded(.cc1).isEmpty)
    }

    @Test func extendedDataServicesAndTextModeAreNotShown() {
        var line = LineTwentyOne()
        line.kind = .secondField
        line.command(0x29)
        line.row(1)
        line.text("ab")
        line.pair(0x01, 0x03)
        line.text("Title")
        line.pair(0x0F, 0x10)
        line.command(0x2A)
        line.text("text")
        line.command(0x29)
        line.text("cd")
        #expect(line.decoded(.cc3).last?.plainText == "abcd")
    }

    @Test func distantRowsAreSeparateCues() {
        var line = LineTwentyOne()
        line.command(0x20)
        line.row(1)
        line.text("top")
        line.row(15)
        line.text("low")
        line.command(0x2F)
        line.wait(2)
        let cues = line.decoded()
        #expect(lines(cues) == ["10-14 top", "10-14 low"])
    }

    @Test func fullRowIsLimitedTo32Columns() {
        var line = LineTwentyOne()
        line.command(0x29)
        line.row(1)
        line.text(String(repeating: "a", count: 40) + "zb")
        #expect(line.decoded().last?.plainText == String(repeating: "a", count: 31) + "b")
    }

    @Test func shownCuesAreAvailableWhileDecoding() {
        var line = LineTwentyOne()
        line.command(0x29)
        line.row(1)
        line.text("ab")
        var decoder = CEA608Decoder()
        for (frame, pair) in line.pairs.enumerated() {
            let triplet = CaptionTriplet(kind: .firstField, first: pair.0, second: pair.1)
            _ = decoder.decode([triplet], at: LineTwentyOne.time(frame))
        }
        _ = decoder.decode([], at: LineTwentyOne.time(30))
        #expect(lines(decoder.currentCues) == ["4-30 ab"])
        #expect(lines(decoder.finish(at: LineTwentyOne.time(40))) == ["4-40 ab"])
        #expect(decoder.currentCues.isEmpty)
    }

    @Test func randomBytesDecodeToValidCEA608Cues() {
        var random = SeededGenerator(seed: 608)
        for channel in CEA608Decoder.Channel.allCases {
            var decoder = CEA608Decoder(channel: channel, granularity: channel.rawValue % 2 == 0 ? .perLine : .perFrame)
            for frame in 0..<20_000 {
                let triplet = CaptionTriplet(
                    kind: frame % 2 == 0 ? .firstField : .secondField,
                    first: LineTwentyOne.parity(.random(in: 0..<(frame % 3 == 0 ? 0x20 : 0x80), using: &random)),
                    second: LineTwentyOne.parity(.random(in: 0..<0x80, using: &random))
                )
                for cue in decoder.decode([triplet], at: LineTwentyOne.time(frame)) {
                    if cue.timeRange.isEmpty || cue.lines.count > 15 { Issue.record("an impossible cue") }
                }
            }
        }
    }
}
