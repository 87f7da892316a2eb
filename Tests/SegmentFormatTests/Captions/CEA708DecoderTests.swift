import MediaTiming
import SeededRandomness
import SegmentFormat
import Testing

@Suite struct CEA708DecoderTests {
    /// A sender of caption channel packets with service blocks.
    struct Sender {
        var decoder = CEA708Decoder()
        var frame = 0
        var cues: [SubtitleCue] = []

        mutating func send(_ block: [UInt8], service: Int = 1) {
            let header: [UInt8] = service < 7 ? u8(service << 5 | block.count) : u8(7 << 5 | block.count) + u8(service)
            var packet = header + block
            let code = (packet.count + 2) / 2
            packet = u8(code) + packet + zeros(code * 2 - packet.count - 1)
            var triplets: [CaptionTriplet] = []
            for index in stride(from: 0, to: packet.count, by: 2) {
                let kind = index == 0 ? CaptionTriplet.Kind.packetStart : .packetData
                triplets.append(CaptionTriplet(kind: kind, first: packet[index], second: packet[index + 1]))
            }
            send(triplets)
        }

        mutating func send(_ triplets: [CaptionTriplet]) {
            cues += decoder.decode(triplets, at: LineTwentyOne.time(frame))
            frame += 1
        }

        /// Returns all cues; those still shown end at the next frame.
        mutating func finish() -> [SubtitleCue] { cues + decoder.finish(at: LineTwentyOne.time(frame)) }
    }

    /// Returns the DefineWindow command for a window of 32 columns, by default with two rows and its anchor at the
    /// bottom center.
    static func window(
        _ index: Int = 0,
        isVisible: Bool = true,
        rows: Int = 2,
        vertical: Int = 0x80 | 90,
        horizontal: Int = 50,
        point: Int = 7,
        style: Int = 3 << 3 | 1
    ) -> [UInt8] {
        u8(0x98 + index) + u8(isVisible ? 0x20 : 0) + u8(vertical) + u8(horizontal) + u8(point << 4 | rows - 1) + u8(31)
            + u8(style)
    }

    private func lines(_ cues: [SubtitleCue]) -> [String] { cues.map(LineTwentyOne.line) }

    @Test func windowIsShownAndHidden() throws {
        var sender = Sender()
        sender.send(Self.window(isVisible: false) + ascii("Hello\u{D}you"))
        sender.send([0x89, 0x01])
        sender.send([0x8A, 0x01])
        sender.send([0x8B, 0x01])
        sender.send([0x8C, 0xFF])
        let cues = sender.finish()
        #expect(lines(cues) == ["1-2 Hello|you", "3-4 Hello|you"])
        let placement = try #require(cues.first).placement
        #expect(placement.alignment == .center && abs(placement.horizontalPosition - 50) < 0.001)
        #expect(abs(placement.verticalPosition - (82 - 2 * 80.0 / 15)) < 0.001)
    }

    @Test func carriageReturnScrollsWindow() {
        var sender = Sender()
        sender.send(Self.window() + ascii("a"))
        sender.send(ascii("\u{D}b"))
        sender.send(ascii("\u{D}c"))
        sender.send([0x0C])
        #expect(lines(sender.finish()) == ["0-1 a", "1-2 a|b", "2-3 b|c"])
    }

    @Test func penAttributesAndColorsStyleText() throws {
        var sender = Sender()
        let pen: [UInt8] = [0x90, 0x06, 0xC0, 0x91, 0x30, 0x80, 0x00]
        sender.send(Self.window(style: 0) + ascii("a") + pen + ascii("b") + [0x92, 0x01, 0x02] + ascii("cd") + [0x08])
        let cue = try #require(sender.finish().first)
        #expect(cue.plainText == "ab\n\u{A0}\u{A0}\u{A0}\u{A0}c")
        let span = cue.lines[0].spans[1]
        #expect(span.style.isItalic && span.style.isUnderlined && span.style.relativeSize == 1.25)
        #expect(span.style.color == SubtitleColor(red: 255, green: 0, blue: 0))
        #expect(span.style.background == SubtitleColor(red: 0, green: 0, blue: 0, alpha: 128))
        #expect(cue.lines[0].spans[0].style.color == SubtitleColor(red: 255, green: 255, blue: 255))
    }

    struct Anchor: Sendable {
        let point: Int
        let vertical: Int
        let horizontal: Int
        let left: Double
        let top: Double
    }

    @Test(arguments: [
        Anchor(point: 0, vertical: 0, horizontal: 0, left: 10, top: 10),
        Anchor(point: 8, vertical: 228, horizontal: 100, left: 29.047619, top: 79.333333),
        Anchor(point: 0, vertical: 75, horizontal: 105, left: 50, top: 90),
    ])
    func anchorDeterminesWindowPosition(_ anchor: Anchor) throws {
        var sender = Sender()
        let window = Self.window(
            vertical: anchor.vertical,
            horizontal: anchor.horizontal,
            point: anchor.point,
            style: 0
        )
        sender.send(window + ascii("a"))
        let placement = try #require(sender.finish().first).placement
        #expect(abs(placement.left - anchor.left) < 0.001)
        #expect(abs(placement.verticalPosition - anchor.top) < 0.001)
    }

    @Test func otherServicesAreIgnoredAndAllCharacterSetsAreDecoded() {
        var sender = Sender()
        sender.send(Self.window() + ascii("no"), service: 2)
        sender.send(Self.window() + ascii("no"), service: 8)
        sender.send(
            Self.window() + [0x7F, 0xE9, 0x10, 0x39, 0x10, 0x41, 0x18, 0x4E, 0x2D, 0x10, 0x90, 0x02, 1, 2, 0x7A]
        )
        #expect(lines(sender.finish()) == ["2-3 ♪é™_中z"])
        var other = Sender()
        other.decoder = CEA708Decoder(service: 8)
        other.send(Self.window() + ascii("yes"), service: 8)
        #expect(lines(other.finish()) == ["0-1 yes"])
    }

    @Test func truncatedPacketIsIgnored() {
        var sender = Sender()
        sender.send([
            CaptionTriplet(kind: .packetData, first: 0x61, second: 0x61),
            CaptionTriplet(kind: .packetStart, first: 0x0A, second: 0x21),
            .init(kind: .packetData, first: 0x61, second: 0),
        ])
        sender.send(Self.window() + ascii("b"))
        #expect(lines(sender.finish()) == ["1-2 b"])
    }

    @Test func randomBytesDecodeToValidCEA708Cues() {
        var random = SeededGenerator(seed: 708)
        var sender = Sender()
        for _ in 0..<5_000 {
            var block = Self.window(Int.random(in: 0..<8, using: &random)) + ascii("text")
            block += (0..<12).map { _ in UInt8.random(in: 0...255, using: &random) }
            block[Int.random(in: 0..<block.count, using: &random)] = .random(in: 0...255, using: &random)
            sender.send(Array(block.prefix(31)))
            sender.send([CaptionTriplet(kind: .packetStart, first: .random(in: 0...255, using: &random), second: 0xFF)])
        }
        #expect(!sender.finish().contains { $0.timeRange.isEmpty })
    }
}
