import MediaTiming
import Testing
import XMLReading

@Suite struct XMLDocumentParserTests {
    /// An event handler that records the events as lines.
    struct Transcript: XMLEventHandler {
        var lines: [String] = []
        var maximumLineCount = Int.max
        var isFinished: Bool { lines.count >= maximumLineCount }

        mutating func startElement(_ name: XMLName, attributes: XMLAttributes, line: Int) {
            let list = attributes.attributes.map { " \($0.name.namespace)|\($0.name.local)=\($0.value)" }.joined()
            lines.append("\(line) <\(name.namespace)|\(name.local)\(list)>")
        }

        mutating func endElement(_ name: XMLName) { lines.append("</\(name.local)>") }
        mutating func handleText(_ text: String) { lines.append(text) }
    }

    static func read(
        _ text: String,
        limits: XMLDocumentParser.Limits = .init(),
        filter: XMLDocumentParser.TextFilter = .all,
        into transcript: Transcript = Transcript()
    ) -> (lines: [String], error: XMLReadingError?) {
        var transcript = transcript
        let bytes = Array(text.utf8)
        do throws(XMLReadingError) {
            try XMLDocumentParser.parse(bytes.span, limits: limits, textFilter: filter, into: &transcript)
            return (transcript.lines, nil)
        } catch {
            return (transcript.lines, error)
        }
    }

    @Test func namesAreReportedWithNamespaces() {
        let result = Self.read(
            "<?xml version='1.0'?>\n<a xmlns='urn:a' xmlns:b='urn:b'>\n<b:c d='1' b:d='&lt;&#65;'>x&amp;<![CDATA[<y>]]></b:c></a>"
        )
        #expect(result.error == nil)
        #expect(
            result.lines == ["2 <urn:a|a>", "\n", "3 <urn:b|c |d=1 urn:b|d=<A>", "x&<y>", "</c>", "</a>"]
        )
    }

    @Test func ampersandsInAttributesAreResolvedOnce() {
        struct ValueHandler: XMLEventHandler {
            var values: [String] = []
            mutating func startElement(_ name: XMLName, attributes: XMLAttributes, line: Int) {
                values += attributes.attributes.map(\.value) + [name.namespace]
            }
            mutating func endElement(_ name: XMLName) {}
        }
        var handler = ValueHandler()
        let text = "<a xmlns='urn:a?b&amp;c' d='?e=1&amp;f=2&#38;g&#x26;h' i='&amp;amp;&amp;#38;&#38;lt;'/>"
        #expect(throws: Never.self) { try XMLDocumentParser.parse(Array(text.utf8).span, into: &handler) }
        #expect(handler.values == ["?e=1&f=2&g&h", "&amp;&#38;&lt;", "urn:a?b&c"])
    }

    @Test func blankTextCanBeFilteredOut() {
        let result = Self.read("<a>\n  <b> x </b>\n</a>", filter: .nonWhitespace)
        #expect(result.lines == ["1 <|a>", "2 <|b>", " x ", "</b>", "</a>"])
    }

    /// libxml2 passes text on in several parts, among others before and after an entity.
    @Test func blankPartOfTextIsPassedOn() {
        let result = Self.read("<a>\n &amp; b<![CDATA[ ]]><c> &#32; </c></a>", filter: .nonWhitespace)
        #expect(result.lines == ["1 <|a>", "\n & b ", "2 <|c>", "</c>", "</a>"])
    }

    @Test func attributesAreFoundByName() throws {
        struct First: XMLEventHandler {
            var found: [String?] = []
            mutating func startElement(_ name: XMLName, attributes: XMLAttributes, line: Int) {
                found = [
                    attributes["id"], attributes["id", in: "http://www.w3.org/XML/1998/namespace"], attributes["x"],
                ]
            }
            mutating func endElement(_ name: XMLName) {}
        }
        var handler = First()
        let bytes = Array("<a xml:id='2' id='1'/>".utf8)
        try XMLDocumentParser.parse(bytes.span, into: &handler)
        #expect(handler.found == ["1", "2", nil])
    }

    @Test(arguments: [
        ("<a>\n<b></a>", 2), ("<a>\n\n&unknown;</a>", 3), ("<a b='1' b='2'/>", 1), ("", 0), ("no", 1), ("<a/><b/>", 1),
    ])
    func errorsReportTheirLine(_ text: String, _ line: Int) throws {
        let error = try #require(Self.read(text).error)
        #expect(error.code == .malformed)
        #expect(error.line == line)
        #expect(!error.message.isEmpty)
    }

    @Test func undeclaredPrefixIsAccepted() {
        #expect(Self.read("<x:a y:b='c'/>").lines == ["1 <|x:a |y:b=c>", "</x:a>"])
    }

    @Test(arguments: [
        "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
        "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
        "<!DOCTYPE a [<!ENTITY % b 'c'> %b;]><a/>",
        "<!DOCTYPE a [<!ATTLIST a b CDATA 'c'>]><a/>",
    ])
    func documentTypeDeclarationsAreRejected(_ text: String) {
        let result = Self.read(text)
        #expect(result.error?.code == .hasDeclarations)
        #expect(result.lines.isEmpty)
    }

    @Test func entitiesAreNotExpanded() {
        var text = "<!DOCTYPE a [<!ENTITY x0 'ha'>"
        for level in 1..<30 { text += "<!ENTITY x\(level) '&x\(level - 1);&x\(level - 1);'>" }
        #expect(Self.read(text + "]><a>&x29;</a>").error?.code == .hasDeclarations)
    }

    @Test func documentTypeWithoutDeclarationsIsAccepted() {
        #expect(Self.read("<!DOCTYPE a SYSTEM 'http://127.0.0.1:1/none.dtd'><a/>").lines == ["1 <|a>", "</a>"])
    }

    @Test(arguments: [(256, true), (257, false)])
    func depthIsLimited(_ depth: Int, _ isRead: Bool) {
        let text = String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        let error = Self.read(text).error
        #expect((error == nil) == isRead)
        if !isRead { #expect(error?.code == .tooLarge) }
    }

    @Test func sizeElementsAndAttributesAreLimited() {
        #expect(Self.read("<a><b><c/></b></a>", limits: .init(maximumDepth: 2)).error?.code == .tooLarge)
        #expect(Self.read("<a/>", limits: .init(maximumSize: 3)).error?.code == .tooLarge)
        #expect(Self.read("<a><b/><b/></a>", limits: .init(maximumElementCount: 2)).error?.code == .tooLarge)
        #expect(Self.read("<a b='' c=''/>", limits: .init(maximumAttributeCount: 1)).error?.code == .tooLarge)
    }

    /// Documents with more equals signs than allowed attributes, none of which belongs to an attribute.
    @Test(arguments: [
        "<!-- <a b='1' c='2' d='3'> ---><r/>", "<r><![CDATA[<a b='1' c='2' d='3'>]]]></r>",
        "<?p <a b='1' c='2' d='3'??><r/>",
        "<r><!----><!-- <a -- b=1 c=2 --></r>", "<!DOCTYPE r><r b='1'>c=d=e=</r>",
    ])
    func textWithEqualsSignsDoesNotExceedAttributeLimit(_ text: String) {
        #expect(Self.read(text, limits: .init(maximumAttributeCount: 1)).error?.code != .tooLarge)
    }

    /// Text that resembles the start of a comment or another section, but is not parsed as one.
    @Test(arguments: [
        "<!DOCTYPE r [<!ENTITY e '<!--'>]><r b='1' c='2'/>", "<!DOCTYPE r [<!ENTITY e '<![CDATA['>]><r b='1' c='2'/>",
        "<!DOCTYPE r [<!ENTITY e '<?p'>]><r b='1' c='2'/>", "<r a='<!--'><s b='1' c='2'/></r>",
        "<!-><r b='1' c='2'/>", "<![CDAT[ ><r b='1' c='2'/>", "<!-- --><r b='1' c='2'/>",
        "<r><![CDATA[ ]]]><s b='1' c='2'/></r>",
        "<?p ?><r b='1' c='2'/>", "<?p ??><r b='1' c='2'/>", "<!-- ---><r b='1' c='2'/>", "<!----><r b='1' c='2'/>",
    ])
    func attributesAreCountedAfterTextThatResemblesComment(_ text: String) {
        #expect(Self.read(text, limits: .init(maximumAttributeCount: 1)).error?.code == .tooLarge)
    }

    @Test func tooManyAttributesAreRejectedBeforeParsing() {
        for encoded in [false, true] {
            let names = (0..<300).map { " a\($0)='\($0 % 7 == 0 ? ">" : "=")'" }.joined()
            let text = "<?xml version='1.0'?><!-- \(String(repeating: "=", count: 500)) --><a><b\(names)/></a>"
            let bytes = encoded ? text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } : Array(text.utf8)
            var transcript = Transcript()
            let error = #expect(throws: XMLReadingError.self) {
                try XMLDocumentParser.parse(bytes.span, into: &transcript)
            }
            #expect(error?.code == .tooLarge)
            // The document is rejected before parsing.
            #expect(transcript.lines.isEmpty)
        }
    }

    @Test func equalsSignsOutsideTagsAreNotCountedAsAttributes() {
        let signs = String(repeating: "=", count: 500)
        let text =
            "<?xml version='1.0'?><!-- \(signs) --><a b='\(signs)' c=\"'\(signs)\">\(signs)<![CDATA[\(signs)]]></a>"
        #expect(Self.read(text).error == nil)
        let names = (0..<256).map { " a\($0)=''" }.joined()
        #expect(Self.read("<a\(names)/>").error == nil)
    }

    @Test func nestedNamespacesAreLimited() {
        func nested(_ count: Int) -> String {
            (0..<count).map { "<a xmlns:n\($0)='urn:\($0)' xmlns:m\($0)='urn:\($0)'>" }.joined()
                + String(repeating: "</a>", count: count)
        }
        #expect(Self.read(nested(128)).error == nil)
        #expect(Self.read(nested(129)).error?.code == .tooLarge)
        let siblings = (0..<400).map { "<b xmlns:n='urn:\($0)'/>" }.joined()
        #expect(Self.read("<a>\(siblings)</a>").error == nil)
    }

    @Test func namespaceNameLengthIsLimited() {
        func document(_ length: Int) -> String {
            "<a xmlns='\(String(repeating: "u", count: length))'/>"
        }
        #expect(Self.read(document(1_024)).error == nil)
        #expect(Self.read(document(1_025)).error?.code == .tooLarge)
        // The limit also applies to namespaces that only an attribute uses.
        let long = String(repeating: "u", count: 1_025)
        #expect(Self.read("<a xmlns:x='\(long)' x:b=''/>").error?.code == .tooLarge)
    }

    @Test(arguments: [
        ("UTF-8", true), ("utf-16", false), ("ISO-8859-1", true), ("windows-1252", true), ("UTF-7", false),
        ("ISO-2022-JP", false), ("EBCDIC-CP-US", false), ("HZ-GB-2312", false),
    ])
    func encodingsNotCompatibleWithASCIIAreRejected(_ encoding: String, _ isRead: Bool) {
        let result = Self.read("<?xml version=\"1.0\" encoding=\"\(encoding)\"?><a/>")
        if isRead { #expect(result.error == nil) }
        // A single-byte document that declares UTF-16 is left to the parser.
        if !isRead, encoding != "utf-16" {
            #expect(result.error?.message == "the encoding is not supported" && result.lines.isEmpty)
        }
    }

    @Test func readingStopsWhenHandlerRequestsIt() {
        let result = Self.read("<a><b/></c>", into: Transcript(maximumLineCount: 2))
        #expect(result.error == nil)
        #expect(result.lines == ["1 <|a>", "1 <|b>"])
    }

    // MARK: Cancellation

    private static func elements(_ count: Int) -> String {
        "<a>" + String(repeating: "<b/>", count: count - 1) + "</a>"
    }

    /// Parsing is canceled by the task that waits for it.
    @Test(arguments: [(4_095, false), (4_096, true), (20_000, true)])
    func parsingEndsWhenItIsCanceled(count: Int, isCanceled: Bool) {
        let text = Self.elements(count)
        let result = CancelableWork.perform(canceledIf: { true }) { Self.read(text) }
        let expected: XMLReadingError.Code? = isCanceled ? .canceled : nil
        #expect(result.error?.code == expected)
        #expect(result.lines.count == (isCanceled ? 4_095 * 2 - 1 : count * 2))
        #expect(Self.read(text).error == nil, "the next document is read")
    }

    @Test func textEndsWhenItIsCanceled() {
        let text = "<a>\(String(repeating: "x", count: 3 << 20))</a>"
        let result = CancelableWork.perform(canceledIf: { true }) { Self.read(text) }
        #expect(result.error?.code == .canceled && result.lines == ["1 <|a>"])
        let whole = CancelableWork.perform(canceledIf: { false }) { Self.read(text) }
        #expect(whole.error == nil && whole.lines.count == 3)
    }

    @Test func parsingEndsInACanceledTask() async {
        let text = Self.elements(10_000)
        let task = Task { () -> XMLReadingError.Code? in
            while !Task.isCancelled { await Task.yield() }
            return Self.read(text).error?.code
        }
        task.cancel()
        #expect(await task.value == .canceled)
    }

    @Test func mutatedDocumentsDoNotTrap() {
        let fixture = Array(
            "<?xml version='1.0' encoding='UTF-8'?><!DOCTYPE a><a xmlns:b='urn:b'><b:c d='&#x41;'>x<![CDATA[y]]></b:c></a>"
                .utf8
        )
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            var bytes = fixture
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            var transcript = Transcript()
            try? XMLDocumentParser.parse(bytes.span, into: &transcript)
            #expect(transcript.lines.count < 100)
        }
    }
}
