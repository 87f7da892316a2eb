import Testing

@testable import MediaOutput

@Suite(.serialized) struct TextRendererTests {
    private let size = PixelSize(320, 180)

    @Test func shapeIsDrawnAtItsPositionInItsColor() throws {
        var script = OverlayScript(size)
        script.add(
            Shape.rectangle(width: 40, height: 20),
            x: 100,
            y: 50,
            color: OverlayScript.Color(red: 200, green: 100, blue: 50, opacity: 128)
        )
        let bitmap = try #require(try TextRenderer().draw(script.text, size))
        #expect(abs(bitmap.rect.x - 100) <= 1 && abs(bitmap.rect.y - 50) <= 1)
        #expect(bitmap.rect.height == 20)
        let middle = (10 * bitmap.rect.width + 20) * 4
        let columns = (0..<bitmap.rect.width).filter { bitmap.bytes[(10 * bitmap.rect.width + $0) * 4 + 3] != 0 }
        #expect((40...42).contains(columns.count))
        let pixel = bitmap.bytes[middle..<middle + 4].map(Int.init)
        for (value, expected) in zip(pixel, [50, 100, 200, 128]) { #expect(abs(value - expected) <= 2) }
    }

    @Test func shapesAreBlendedByTheirOpacity() throws {
        var script = OverlayScript(size)
        let square = Shape.rectangle(width: 20, height: 20)
        script.add(square, x: 10, y: 10, color: OverlayScript.Color(red: 255, green: 0, blue: 0))
        script.add(square, x: 10, y: 10, color: OverlayScript.Color(red: 0, green: 0, blue: 255, opacity: 128))
        let bitmap = try #require(try TextRenderer().draw(script.text, size))
        let middle = (10 * bitmap.rect.width + 10) * 4
        let pixel = bitmap.bytes[middle..<middle + 4].map(Int.init)
        for (value, expected) in zip(pixel, [128, 0, 127, 255]) { #expect(abs(value - expected) <= 2) }
    }

    @Test func textIsDrawnWithLiteralBraces() throws {
        let renderer = try TextRenderer()
        func width(_ text: String) throws -> Int {
            var script = OverlayScript(size)
            script.add(text, x: 10, y: 90, fontSize: 20, anchor: .left)
            return try #require(renderer.draw(script.text, size)).rect.width
        }
        #expect(try width("mmmm") > width("mm"))
        // A command would be removed from the text instead of being drawn.
        #expect(try width("m{\\fs40}m") > width("mm") + 40)
    }

    @Test func subtitlesAreAtTheLowerEdgeIndependentOfTheirTimes() throws {
        let text = SubtitleScript(lines: ["Dialogue: 0,7:00:00.00,7:00:01.00,Default,,0,0,0,,Hello"])
        let bitmap = try #require(try TextRenderer().draw(text.script, size))
        #expect(bitmap.rect.y > 120 && bitmap.rect.y + bitmap.rect.height < 180)
        #expect(abs(bitmap.rect.x * 2 + bitmap.rect.width - 320) < 32)
    }

    @Test(arguments: ["", "[Script Info]\n", "\u{0}", "Dialogue: 0,0:00:00.00,9:00:00.00,x,,0,0,0,,y"])
    func invalidScriptDrawsNothing(script: String) throws {
        #expect(try TextRenderer().draw(script, size) == nil)
        #expect(try TextRenderer().draw(script, PixelSize(0, 0)) == nil)
    }

    @Test func scriptWithoutAFontIsReportedOnce() throws {
        let renderer = try TextRenderer()
        func missing(_ text: String) -> [OutputError.Code] {
            let script = SubtitleScript(lines: ["Dialogue: 0,0:00:00.00,9:00:00.00,Default,,0,0,0,,\(text)"])
            _ = renderer.draw(script.script, size)
            return renderer.takeMissingFonts().map(\.code)
        }
        #expect(missing("Hello") == [])
        // No character has this value, in the block of Hangul.
        #expect(missing("a\u{D7FF}\u{D7FE}b") == [.missingFont])
        #expect(missing("c\u{D7FF}") == [])
    }

    @Test(arguments: [
        (UInt32(0xAC00), "No installed font has Korean characters", "fonts-noto-cjk"),
        (0x3042, "No installed font has Japanese characters", "fonts-noto-cjk"),
        (0x4E2D, "No installed font has Chinese characters", "fonts-noto-cjk"),
        (0x0628, "No installed font has Arabic characters", "fonts-noto-core"),
        (0x10A0, "No installed font has some characters", "fonts-noto-core"),
    ])
    func errorNamesTheScriptAndAPackage(character: UInt32, start: String, font: String) throws {
        let error = try #require(WritingSystem(ofCharacter: character)).missingFont
        #expect(error.code == .missingFont)
        #expect(error.message.hasPrefix(start) && error.message.contains(font))
    }
}
