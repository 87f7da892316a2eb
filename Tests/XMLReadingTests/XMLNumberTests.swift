import Testing
import XMLReading

/// Series of elements whose attributes are numbers.
@Suite struct XMLNumberTests {
    /// A handler that records elements as lines, those of a series as if each of them was handled in the usual way.
    private struct Transcript: XMLEventHandler {
        static let names: [Unicode.Scalar] = ["t", "d", "r"]
        static let numberElement: XMLNumberElement? = XMLNumberElement("S", attributes: names)

        var lines: [String] = []
        var seriesLengths: [Int] = []
        /// The name whose series are not taken.
        var refusedNamespace = "urn:refused"

        mutating func startElement(_ name: XMLName, attributes: XMLAttributes, line: Int) {
            // Numbers are compared by value and in one order, everything else by its text.
            let sorted = attributes.attributes.sorted { Self.rank($0) < Self.rank($1) }
            let list = sorted.map { " \($0.name.local)=\(Int64($0.value).map(String.init) ?? "“\($0.value)”")" }
                .joined()
            let isNumbered = name.local == "S" || name.local.hasSuffix(":S")
            lines.append("\(isNumbered ? "" : "\(line) ")<\(name.namespace)|\(name.local)\(list)>")
        }

        private static func rank(_ attribute: XMLAttributes.Attribute) -> Int {
            names.firstIndex { String($0) == attribute.name.local } ?? names.count
        }

        mutating func endElement(_ name: XMLName) { lines.append("</\(name.local)>") }
        mutating func handleText(_ text: String) { lines.append("text “\(text)”") }

        mutating func handleNumbers(_ table: XMLNumberTable, of name: XMLName, line: Int) -> Bool {
            guard name.namespace != refusedNamespace else { return false }
            seriesLengths.append(table.count)
            for row in 0..<table.count {
                let list = Self.names.enumerated().compactMap { column, letter -> String? in
                    let value = table.values[row * table.columnCount + column]
                    return value == XMLNumberTable.missing ? nil : " \(letter)=\(value)"
                }
                lines.append("<\(name.namespace)|\(name.local)\(list.joined())>")
                lines.append("</\(name.local)>")
            }
            return true
        }
    }

    /// A handler that records the same lines, and takes no series.
    private struct PlainTranscript: XMLEventHandler {
        var base = Transcript()
        mutating func startElement(_ name: XMLName, attributes: XMLAttributes, line: Int) {
            base.startElement(name, attributes: attributes, line: line)
        }
        mutating func endElement(_ name: XMLName) { base.endElement(name) }
        mutating func handleText(_ text: String) { base.handleText(text) }
    }

    /// The lines, the lengths of the series and the error of a document.
    private static func read(
        _ text: String,
        limits: XMLDocumentParser.Limits = .init()
    ) -> (lines: [String], lengths: [Int], error: XMLReadingError?) {
        var transcript = Transcript()
        do throws(XMLReadingError) {
            try XMLDocumentParser.parse(
                Array(text.utf8).span,
                limits: limits,
                textFilter: .nonWhitespace,
                into: &transcript
            )
            return (transcript.lines, transcript.seriesLengths, nil)
        } catch {
            return (transcript.lines, transcript.seriesLengths, error)
        }
    }

    private static func expected(_ text: String) -> (lines: [String], error: XMLReadingError?) {
        var transcript = PlainTranscript()
        do throws(XMLReadingError) {
            try XMLDocumentParser.parse(Array(text.utf8).span, textFilter: .nonWhitespace, into: &transcript)
            return (transcript.base.lines, nil)
        } catch {
            return (transcript.base.lines, error)
        }
    }

    @Test(arguments: [
        ("<a><S t='1' d=\"2\"/><S d='3' r='-1'/></a>", [2]),
        ("<a>\n <S\n t = '1'\td\n=\n'007' />\r\n<S/>\n\n<b/>\n<S d='999999999999999999'></S>\n<c/></a>", [2, 1]),
        ("<x:a xmlns:x='urn:x'><x:S d='1'/><x:S d='2'></x:S><S d='3'/></x:a>", [2, 1]),
        ("<x:a><x:S d='1'/></x:a>", [1]),
        ("<?xml version='1.0' encoding='UTF-8'?><a><S d='1'/></a>", [1]),
        ("\u{FEFF}<a><S d='1'/>text</a>", [1]),
        // What is no element stays what it is.
        ("<a><!-- <S d='1'/> --><S d='2'/><!----><S d='3'/></a>", [1, 1]),
        ("<a><?p <S d='1'/> ?><![CDATA[<S d='1'/>]]><S d='2'/></a>", [1]),
        ("<a b='&lt;S d=&quot;1&quot;/>'><S d='2'/></a>", [1]),
        // Elements that are not only numbers end a series.
        ("<a><S d='1'/><S d='x'/><S d='2'/></a>", [1, 1]),
        ("<a><S d=''/><S d='-'/><S d='+1'/><S d=' 1'/><S d='1000000000000000000'/><S D='1'/><S dd='1'/></a>", []),
        (
            "<a><S d='1' x='2'/><S b:d='1'/><S d='&#49;'/><S xmlns='urn:b' d='1'/><S d='1'>x</S><S d='1'><S d='2'/></S></a>",
            [1]
        ),
        ("<a><Sd='1'/></a>", []),
        ("<a><T d='1'/><aS d='1'/></a>", []),
        ("<S d='1'/>", [1]),
        // Documents in other encodings, or with a document type, have no series.
        ("<?xml version='1.0' encoding='ISO-8859-1'?><a><S d='1'/></a>", []),
        ("<!DOCTYPE a><a><S d='1'/></a>", []),
    ])
    func seriesEqualTheirElements(_ text: String, _ lengths: [Int]) {
        let (lines, found, error) = Self.read(text)
        let expected = Self.expected(text)
        #expect(lines == expected.lines)
        #expect(error?.code == expected.error?.code)
        #expect(error?.line == expected.error?.line)
        if expected.error == nil { #expect(found == lengths) }
    }

    /// A document whose handler does not take a series is read without any, from its beginning.
    @Test func seriesThatAreRefusedAreReadInTheUsualWay() {
        let text = "<a><S d='1'/><b xmlns='urn:refused'><S d='2'/></b></a>"
        let (lines, lengths, error) = Self.read(text)
        #expect(error == nil)
        #expect(lengths.isEmpty)
        #expect(lines == Self.expected(text).lines)
    }

    @Test(arguments: [
        "<a>\n<S d='1'/>\n<S d='2'/>\n<S d='3' d='4'/></a>", "<a>\n<S d='1'/>\n\n<S d='2'/>\n</b>",
        "<S d='1'/><S d='2'/>",
        "<a b='\n<S d=\"1\"/>'/>", "<a>\n<S d='1'/><S d='2'", "<a><!-- <S d='1'/>",
    ])
    func errorsKeepTheirLines(_ text: String) throws {
        let error = try #require(Self.read(text).error)
        #expect(error.code == .malformed)
        #expect(error.line == Self.expected(text).error?.line)
    }

    @Test(arguments: [(5, true), (4, false)])
    func elementsOfSeriesAreCounted(_ count: Int, _ isRead: Bool) {
        let limits = XMLDocumentParser.Limits(maximumElementCount: count)
        let error = Self.read("<a><S d='1'/><S d='2'/><b/><S d='3'/></a>", limits: limits).error
        #expect((error == nil) == isRead)
        if !isRead { #expect(error?.code == .tooLarge) }
    }

    /// Documents of random fragments give the same elements, or the same error.
    @Test func randomDocumentsAreReadAlike() {
        let fragments = [
            "<S d='1'/>", "<S t='5' d='2' r='3'/>", "<S\nd='4'\n/>", "<S d='1'></S>", "\n", " ", "x", "<b>", "</b>",
            "<b/>",
            "<!-- <S d='1'/>\n -->", "<S d='x'/>", "<S d='1' e='2'/>", "<![CDATA[<S/>]]>", "<S d='1'>", "</S>",
            "<p:S d='3'/>",
            "&amp;", "<?p?>", "<S", "'", "<S d='-7'/>",
        ]
        var generator = Generator(state: 20_261_125)
        var seriesCount = 0
        for _ in 0..<5_000 {
            var text = "<a>"
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                text += fragments.randomElement(using: &generator) ?? ""
            }
            text += "</a>"
            let (lines, lengths, error) = Self.read(text)
            let expected = Self.expected(text)
            #expect(error?.code == expected.error?.code, "\(text)")
            #expect(error?.line == expected.error?.line, "\(text)")
            if expected.error == nil { #expect(lines == expected.lines, "\(text)") }
            seriesCount += lengths.count
        }
        #expect(seriesCount > 1_000)
    }

    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }
}
