import Testing

@testable import XMLReading

/// Tests that the scan of bytes, which passes over most of them, gives the results of the scan of single characters,
/// which reads documents in UTF-16.
struct XMLTagScanTests {
    /// The parts that random documents consist of.
    private static let parts: [String] = [
        "<", ">", "\"", "'", "=", "!", "?", "-", "[", "]", "/", " ", "a", "?>", "-->", "]]>", "<!--", "<![CDATA[",
        "<?x", "<a b=\"c\"", " b='>'", "<a>", "</a>", "=\"", "é", "𝄞", "\n",
    ]

    @Test func bytesAndCharactersGiveTheSameResult() {
        var state: UInt64 = 1
        var counts = [false: 0, true: 0]
        for _ in 0..<20_000 {
            var text = "<"
            // A linear congruential generator (Knuth), whose high bits are used.
            for _ in 0..<24 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text += Self.parts[Int(state >> 33) % Self.parts.count]
            }
            let bytes = Array(text.utf8)
            let units = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
            for limit in [0, 1, 3] {
                let result = Self.hasElement(withMoreAttributesThan: limit, in: bytes)
                #expect(result == Self.hasElement(withMoreAttributesThan: limit, in: [0xFF, 0xFE] + units), "\(text)")
                counts[result, default: 0] += 1
            }
        }
        #expect(counts.values.allSatisfy { $0 > 1_000 })
    }

    @Test(arguments: ["", "a", "<", "<a", "<a b=", "<a b='", "<a b='c", "<a b='c'", "<!", "<!-", "<!--", "<?", "<a>"])
    func documentMayEndAnywhere(text: String) {
        #expect(!Self.hasElement(withMoreAttributesThan: 1, in: Array(text.utf8)))
        #expect(Self.hasElement(withMoreAttributesThan: 0, in: Array(text.utf8)) == text.contains("="))
    }

    private static func hasElement(withMoreAttributesThan limit: Int, in bytes: [UInt8]) -> Bool {
        XMLTagScan.hasElement(withMoreAttributesThan: limit, in: bytes.span)
    }
}
