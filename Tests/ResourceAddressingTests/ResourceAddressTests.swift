import ResourceAddressing
import Testing

@Suite struct ResourceAddressTests {
    /// The normal and abnormal examples of RFC 3986 §5.4.
    @Test(arguments: [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"),
        ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/../y", "http://a/b/c/y"), ("g?y/../x", "http://a/b/c/g?y/../x"),
    ])
    func referencesResolveAsInRFC3986(reference: String, expected: String) {
        #expect(ResourceAddress("http://a/b/c/d;p?q").resolving(reference).text == expected)
    }

    @Test(arguments: [
        "https://cdn.example/a.m3u8?sig=a%2Fb%2f==&x=|%7C&t={1}", "data:text/plain;base64,AAAA//8=", "skd://key?a=b",
        "https://example.com/a b.ts", "http://[::1]:8080/a.ts",
    ])
    func absoluteReferencesAreUnchanged(text: String) {
        #expect(ResourceAddress("https://other.example/x/y.m3u8").resolving(text).text == text)
    }

    /// A document that was loaded over HTTP must not name local files.
    @Test(
        arguments: ["https://h/a.m3u8", "HTTP://h/a.mpd", "data:text/plain,a"],
        ["file:///etc/passwd", "FILE:/etc/passwd", "file://localhost/a", "file://@/a", "file:a"]
    )
    func filesOfRemoteDocumentsAreRefused(base: String, file: String) {
        let address = ResourceAddress(base).resolving(file)
        #expect(address.isRefusedFile && address.filePath == nil && address.normalizedScheme != "file")
        #expect(address.withoutUserInformation.isRefusedFile)
        #expect(address.withoutRefusal.text == "file:" + file.dropFirst(5))
        // A path below it is refused too.
        #expect(address.resolving("b").isRefusedFile)
    }

    @Test(arguments: ["file:///a/b.m3u8", "b.m3u8", "custom://h/b.m3u8"])
    func filesOfOtherDocumentsAreNot(base: String) {
        let address = ResourceAddress(base).resolving("file:///etc/passwd")
        #expect(address.text == "file:///etc/passwd" && !address.isRefusedFile && address.withoutRefusal == address)
    }

    @Test func queriesOfReferencesAreUnchanged() {
        let base = ResourceAddress("https://example.com/live/list.m3u8?token=a/b?c")
        #expect(base.resolving("seg%201.ts?s=%2f+%2F../x").text == "https://example.com/live/seg%201.ts?s=%2f+%2F../x")
        #expect(base.resolving("720p/list.m3u8").text == "https://example.com/live/720p/list.m3u8")
    }

    @Test func urlComponentsAreParsed() {
        let address = ResourceAddress("HTTPS://user:pw@Example.COM:8443/a/b.ts?x=1#y")
        #expect(address.normalizedScheme == "https" && address.host == "example.com" && address.port == 8443)
        #expect(address.path == "/a/b.ts" && address.query == "x=1" && address.fragment == "y")
        #expect(address.lastPathComponent == "b.ts")
        #expect(ResourceAddress("http://[fe80::1]:90/x").host == "fe80::1")
        #expect(ResourceAddress("http://[fe80::1]:90/x").port == 90)
        #expect(ResourceAddress("http://h").port == 80)
    }

    @Test(arguments: ["http://[::1]x", "http://[::1]80", "http://[::1"])
    func invalidTextAfterIPv6BracketMakesHostInvalid(_ address: String) {
        #expect(ResourceAddress(address).host == nil)
        #expect(!ResourceAddress(address).isHTTP)
    }

    @Test(
        arguments: [
            ("http://h:", 80), ("https://h:/x", 443), ("http://h:0", 0), ("http://h:70000", 70_000),
            ("http://h:080", 80),
            ("http://h:x", nil), ("http://h:+80", nil), ("http://h:-1", nil), ("http://h:80:80", nil),
            ("http://h:８０", nil),
            ("http://h:99999999999999999999", nil), ("http://[::1]:", 80), ("http://[::1]:x", nil),
            ("http://u:p@h:8", 8), ("tag:x", nil),
        ] as [(String, Int?)]
    )
    func portIsADecimalNumberOrTheDefaultOfTheScheme(_ address: String, port: Int?) {
        #expect(ResourceAddress(address).port == port)
        #expect(ResourceAddress(address).isHTTP == (port != nil))
    }

    @Test func nonHTTPAddressesAreNotHTTP() {
        for text in ["file:///etc/passwd", "http:", "http:///x", "list.m3u8", "//host/x", "ftp://h/x", ""] {
            #expect(!ResourceAddress(text).isHTTP)
        }
    }

    @Test func filePathsRoundTrip() {
        let path = "/tmp/a b/ü#?%41.m3u8"
        #expect(ResourceAddress(filePath: path).filePath == path)
        #expect(ResourceAddress("file://host/x").filePath == nil)
    }

    @Test func combiningMarksDoNotHideSlashes() {
        let base = ResourceAddress("http://h/a/b")
        #expect(base.resolving("x/\u{301}y/../z").text == "http://h/a/x/z")
    }

    @Test func percentEncodingRoundTrips() {
        let text = "https://h/a?b=c&d=ü ~"
        #expect(PercentEncoding.decode(PercentEncoding.encode(text)) == text)
        #expect(PercentEncoding.decode("100%") == "100%" && PercentEncoding.decode("%zz%4") == "%zz%4")
        #expect(PercentEncoding.decode("%ff") == nil)
        // A sign is no hexadecimal digit.
        #expect(PercentEncoding.decode("%-0%+1%1-") == "%-0%+1%1-")
    }
}
