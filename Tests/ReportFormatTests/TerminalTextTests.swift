import ReportFormat
import Testing

@Suite struct TerminalTextTests {
    /// Characters that control a terminal, reorder text or are invisible, with their escaped spelling.
    static let hidden: [(Unicode.Scalar, String)] = [
        ("\u{0}", #"\u{0}"#), ("\u{7}", #"\u{7}"#), ("\u{8}", #"\u{8}"#), ("\t", #"\t"#), ("\n", #"\n"#),
        ("\u{B}", #"\u{B}"#), ("\u{C}", #"\u{C}"#), ("\r", #"\r"#), ("\u{1B}", #"\u{1B}"#), ("\u{1F}", #"\u{1F}"#),
        ("\u{7F}", #"\u{7F}"#), ("\u{80}", #"\u{80}"#), ("\u{85}", #"\u{85}"#), ("\u{90}", #"\u{90}"#),
        ("\u{9B}", #"\u{9B}"#), ("\u{9F}", #"\u{9F}"#), ("\u{AD}", #"\u{AD}"#), ("\u{34F}", #"\u{34F}"#),
        ("\u{61C}", #"\u{61C}"#), ("\u{115F}", #"\u{115F}"#), ("\u{180E}", #"\u{180E}"#), ("\u{200B}", #"\u{200B}"#),
        ("\u{200D}", #"\u{200D}"#), ("\u{200E}", #"\u{200E}"#), ("\u{200F}", #"\u{200F}"#), ("\u{2028}", #"\u{2028}"#),
        ("\u{2029}", #"\u{2029}"#), ("\u{202A}", #"\u{202A}"#), ("\u{202E}", #"\u{202E}"#), ("\u{2060}", #"\u{2060}"#),
        ("\u{2066}", #"\u{2066}"#), ("\u{2069}", #"\u{2069}"#), ("\u{FE0F}", #"\u{FE0F}"#), ("\u{FEFF}", #"\u{FEFF}"#),
        ("\u{FFF9}", #"\u{FFF9}"#), ("\u{FFFE}", #"\u{FFFE}"#), ("\u{378}", #"\u{378}"#), ("\u{1D173}", #"\u{1D173}"#),
        ("\u{E0001}", #"\u{E0001}"#), ("\u{E0041}", #"\u{E0041}"#), ("\u{10FFFF}", #"\u{10FFFF}"#),
    ]

    @Test(arguments: hidden) func hiddenCharacterIsEscapedForTerminal(scalar: Unicode.Scalar, spelling: String) {
        let value = "a\(scalar)b"
        #expect(("\(value)" as TerminalText).description == "a\(spelling)b")
        #expect(TerminalText(escaping: value).description == "a\(spelling)b")
    }

    @Test func controlCharactersAreEscapedAndVisibleOnesAreKept() {
        for number in UInt8.min...UInt8.max {
            let scalar = Unicode.Scalar(number)
            let isVisible = (0x20...0x7E).contains(number) || number > 0x9F && number != 0xAD
            #expect((String(scalar).escapedForTerminal == String(scalar)) == isVisible, "\(number)")
        }
    }

    @Test(arguments: ["", "Ärger über Öl", "日本語の字幕", "العربية", "😀", "e\u{301}", "a\u{A0}b", "\\u{1B}", "\u{FFFD}"])
    func visibleTextIsUnchanged(text: String) {
        #expect(text.escapedForTerminal == text)
    }

    @Test func literalsAndInterpolatedTerminalTextAreNotEscaped() {
        let inner: TerminalText = "\u{1B}[1m\("x\u{1B}y")"
        #expect(("\r\(inner)\n" as TerminalText).description == "\r\u{1B}[1mx\\u{1B}y\n")
        #expect((inner + "\n").description == "\u{1B}[1mx\\u{1B}y\n")
        #expect([inner, "z"].joined(separator: "\t").description == "\u{1B}[1mx\\u{1B}y\tz")
    }

    @Test func valuesOfEveryTypeAreEscaped() {
        struct Named: CustomStringConvertible { let description: String }
        let text: TerminalText = "\(Named(description: "\u{9B}")) \(["\n"].first ?? "") \(Substring("\u{7}")) \(1)"
        #expect(text.description == #"\u{9B} \n \u{7} 1"#)
    }

    @Test func lineFeedsAreKeptWhenLinesAreEscaped() {
        #expect(TerminalText(escapingLines: "a\r\nb\rc\n\n\u{1B}d\n").description == "a\nb\\rc\n\n\\u{1B}d\n")
    }

    @Test func widthIncludesEscapes() {
        let cell = TerminalText(escaping: "\u{1B}a")
        #expect(cell.width == 7 && cell.padded(to: 9).description == #"\u{1B}a  "# && cell.padded(to: 3) == cell)
        #expect(cell.padded(to: 9).trimmingTrailingSpaces() == cell)
    }
}
