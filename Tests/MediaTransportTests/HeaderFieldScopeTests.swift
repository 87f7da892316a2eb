import MediaTransport
import ResourceAddressing
import Testing

@Suite struct HeaderFieldScopeTests {
    @Test(arguments: [
        ("https://a.example/x", true), ("https://a.example:443/y?z", true), ("https://A.EXAMPLE/", true),
        ("https://user:pw@a.example/", true), ("http://a.example/", false), ("http://a.example:443/", false),
        ("https://a.example:8443/", false), ("https://b.a.example/", false), ("https://example/", false),
        ("https://a.example.evil.test/", false), ("https://a.example@evil.test/", false),
        ("https://a.example./", false),
        ("file:///etc/passwd", false), ("data:,a", false), ("x.ts", false),
    ])
    func originScopeMatchesSchemeHostAndPort(address: String, isContained: Bool) throws {
        let scope = try #require(HeaderFieldScope(originOf: ResourceAddress("https://a.example/main.m3u8")))
        #expect(scope.contains(ResourceAddress(address)) == isContained)
    }

    @Test func hostsUnderAPublicSuffixAreDifferentOrigins() throws {
        let scope = try #require(HeaderFieldScope(originOf: ResourceAddress("https://d1.cloudfront.net/a")))
        #expect(!scope.contains(ResourceAddress("https://d2.cloudfront.net/a")))
    }

    @Test(arguments: [
        // A host without a port matches every port; a host without a scheme matches only https.
        ("b.example", "https://b.example/", true), ("b.example", "https://b.example:8443/", true),
        ("b.example", "http://b.example/", false), ("b.example", "https://a.b.example/", false),
        ("B.Example", "https://b.example/", true), ("b.example:8443", "https://b.example:8443/", true),
        ("b.example:8443", "https://b.example/", false), ("b.example:80", "http://b.example/", false),
        // A scheme restricts the scope to one origin.
        ("http://b.example", "http://b.example/", true), ("http://b.example", "http://b.example:8080/", false),
        ("http://b.example:8080", "http://b.example:8080/", true), ("http://b.example", "https://b.example/", false),
        ("https://b.example", "https://b.example/", true), ("https://127.0.0.1", "http://127.0.0.1/", false),
        // Loopback addresses match without TLS, since the data does not cross a network.
        ("127.0.0.2", "http://127.0.0.2:8080/", true), ("127.0.0.2", "http://127.0.0.1:8080/", false),
        ("localhost:8080", "http://localhost:8080/", true), ("localhost:8080", "http://localhost:8081/", false),
        ("[::1]:8080", "http://[::1]:8080/", true), ("::1", "http://[::1]:8080/", true),
        ("127.0.0.1.evil.test", "http://127.0.0.1.evil.test/", false),
        ("localhost.evil.test", "http://localhost.evil.test/", false),
        // Wildcards that match every host.
        ("*", "https://b.example:8443/", true), ("*", "http://127.0.0.3/", true), ("*", "http://b.example/", false),
        ("http://*", "http://b.example:8080/", true), ("http://*", "https://b.example/", false),
        ("*", "file:///a", false),
        ("*:8443", "https://b.example:8443/", true), ("*:8443", "https://b.example/", false),
        ("b\u{FC}cher.example", "https://xn--bcher-kva.example/", true),
    ])
    func textScopeMatchesTheHostsItNames(text: String, address: String, isContained: Bool) throws {
        let scope = try #require(HeaderFieldScope(text))
        #expect(scope.contains(ResourceAddress(address)) == isContained)
        #expect(HeaderFieldScope(scope.description) == scope)
    }

    @Test func httpIsIncludedOnlyIfAllowed() throws {
        for text in ["b.example", "b.example:80", "*"] {
            let scope = try #require(HeaderFieldScope(text, allowsHTTP: true))
            #expect(scope.contains(ResourceAddress("http://b.example/")))
        }
        #expect(
            HeaderFieldScope("https://b.example", allowsHTTP: true)?.contains(ResourceAddress("http://b.example/"))
                == false
        )
    }

    @Test(arguments: [
        "", " ", "*.example", "a b", "a/b", "a.example/", "u@a.example", "ftp://a.example", "a.example:0",
        "a.example:65536",
        "a.example:x", "a.example:", ":80", "[::1", "[a]", "a\\b", "a,b", "http://", "https://:80", "a%41",
    ])
    func invalidScopesAreRejected(text: String) {
        #expect(HeaderFieldScope(text) == nil)
    }

    @Test func scopedFieldIsParsedFromALine() throws {
        let field = try #require(ScopedHeaderField(line: "b.example:81 X-Token:  a b: c"))
        #expect(field.field == HeaderField("X-Token", "a b: c") && field.scope == HeaderFieldScope("b.example:81"))
        for line in [
            "X-Token: a", "b.example", "b.example X-Token", "b.example : a", "* X\u{7}: a", "* X: a\r\nY: b",
            "a b X: c",
        ] {
            #expect(ScopedHeaderField(line: line) == nil, "\(line)")
        }
    }

    @Test func fieldsForOneHostComeAfterThoseForEveryHost() throws {
        let fields = try ["b.example X: b", "* X: all", "* Y: all"].map { try #require(ScopedHeaderField(line: $0)) }
        #expect(
            fields.fields(for: ResourceAddress("https://b.example/")) == [
                HeaderField("X", "all"), HeaderField("Y", "all"), HeaderField("X", "b"),
            ]
        )
        #expect(fields.fields(for: ResourceAddress("https://c.example/")).map(\.value) == ["all", "all"])
    }
}
