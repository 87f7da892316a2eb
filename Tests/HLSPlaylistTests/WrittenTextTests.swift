import HLSPlaylist
import Testing

/// Tests of the form in which text from outside is written to a playlist.
struct WrittenTextTests {
    @Test(arguments: [
        ("", ""), ("a b", "a b"), ("\u{E9}\u{1F600}", "\u{E9}\u{1F600}"), ("a\nb", "a b"), ("a\r\nb", "a  b"),
        ("\u{0}\t\u{1F}\u{7F}", "    "), ("\u{80}\u{9F}\u{A0}", "  \u{A0}"), ("\u{2028}\u{2029}", "  "),
    ])
    func linesHaveNoControlCharacters(text: String, written: String) {
        #expect(WrittenText.line(text) == written)
        #expect(WrittenText.quoted(text) == written)
    }

    @Test func quotationMarksAreReplaced() {
        #expect(WrittenText.quoted("a\"\n#EXTINF:1,\"") == "a' #EXTINF:1,'")
        #expect(WrittenText.line("a\"b") == "a\"b")
        #expect(WrittenText.token("1,\"A\" b\n") == "1__A__b_")
        #expect(WrittenText.token("0xFC00") == "0xFC00")
    }

    @Test(arguments: [
        ("", ""), ("a b", "a b"), ("a\nb", "a%0Ab"), ("a\"b\u{7F}", "a%22b%7F"), (" ", "%20"), (" a ", "%20a%20"),
        ("\u{E9}?q={$a}", "\u{E9}?q={$a}"),
    ])
    func urisAreEncoded(text: String, written: String) {
        #expect(WrittenText.uri(text) == written)
        #expect(WrittenText.uri(written) == written)
    }

    @Test func attributesHaveAName() {
        #expect(WrittenText.attribute("X-A", "a\"b", isQuoted: true) == "X-A=\"a'b\"")
        #expect(WrittenText.attribute("X-A", "a,b", isQuoted: false) == "X-A=a_b")
        for name in ["", "X A", "X\"", "X\n", "X=", "X,", "\u{C4}"] {
            #expect(WrittenText.attribute(name, "1", isQuoted: false) == nil)
        }
    }
}
