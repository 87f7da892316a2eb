import HTTPTypes
import MediaTransport
import Testing

@testable import MillstreamServer

@Suite struct RequestInitiatorTests {
    private func classify(
        _ fields: [(String, String)],
        host: String? = "127.0.0.1:8080",
        isForwarded: Bool = false
    ) throws -> RequestInitiator {
        var head = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/play.m3u8")
        for (name, value) in fields {
            head.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        return RequestInitiator(head, names: ServerNames(["media.example", "0.0.0.0"]), isForwarded: isForwarded)
    }

    @Test(arguments: [
        [], [("User-Agent", "AppleCoreMedia/1.0.0.21A329 (iPhone; U; CPU OS 17_0)")],
        [("User-Agent", "VLC/3.0.20 LibVLC")],
        [("User-Agent", "Lavf/60.3.100")], [("User-Agent", "curl/8.5.0")], [("Sec-Fetch-Site", "none")],
        // A URL that a user entered into a browser.
        [("Sec-Fetch-Site", "none"), ("User-Agent", "Mozilla/5.0"), ("Sec-Fetch-Mode", "navigate")], [("Referer", "")],
    ])
    func clientsWithoutAPageArePlayers(fields: [(String, String)]) throws {
        #expect(try classify(fields) == .player)
    }

    @Test(arguments: [
        [("Origin", "http://127.0.0.1:8080")], [("Sec-Fetch-Site", "same-origin")],
        [("Referer", "http://127.0.0.1:8080/")],
        [("Referer", "http://127.0.0.1:8080/"), ("User-Agent", "Mozilla/5.0")],
        [("Origin", "http://127.0.0.1:8080"), ("Sec-Fetch-Site", "same-origin"), ("User-Agent", "Mozilla/5.0")],
    ])
    func ownPageIsRecognized(fields: [(String, String)]) throws {
        #expect(try classify(fields) == .ownPage)
    }

    @Test(arguments: [
        [("Origin", "https://evil.example")], [("Origin", "null")], [("Origin", "")],
        [("Origin", "http://127.0.0.1:8081")],
        [("Origin", "http://127.0.0.1")], [("Origin", "http://localhost:8080")], [("Origin", "https://127.0.0.1:8080")],
        [("Origin", "http://127.0.0.1:8080.evil.example")], [("Origin", "127.0.0.1:8080")], [("Origin", "file://")],
        [("Origin", "http://127.0.0.1:8080"), ("Origin", "https://evil.example")],
        [("Origin", "http://127.0.0.1:8080"), ("Sec-Fetch-Site", "cross-site")],
        [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "same-origin")],
        [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "none")],
        [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "same-site")], [("Sec-Fetch-Site", "CROSS-SITE")],
        [("Sec-Fetch-Site", "something-new")], [("Sec-Fetch-Site", "")],
        [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "cross-site")],
        [("Sec-Fetch-Site", "cross-site"), ("Referer", "http://127.0.0.1:8080/")],
        [("Referer", "https://evil.example/page")], [("Referer", "http://127.0.0.1:9000/")],
        [("Referer", "about:blank")],
        // A browser that sends neither the site nor the referrer, for example for an image on a page with
        // `no-referrer`.
        [("User-Agent", "Mozilla/5.0 (X11; Linux x86_64)")],
    ])
    func otherPagesAreForeign(fields: [(String, String)]) throws {
        #expect(try classify(fields) == .foreignPage)
    }

    @Test(arguments: [
        "evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "media.example.evil",
        "127.0.0.1@evil.example", "evil.example@127.0.0.1", "local-host", "xn--localhost",
    ])
    func otherHostNamesAreForeign(host: String) throws {
        #expect(try classify([], host: host) == .foreignHost)
        // For a browser, a page with that host name is same-origin.
        #expect(try classify([("Sec-Fetch-Site", "same-origin")], host: host) == .foreignHost)
        #expect(try classify([("Origin", "http://\(host)")], host: host) == .foreignHost)
    }

    @Test(arguments: [
        "127.0.0.1", "127.0.0.1:8080", "[::1]:8080", "192.168.1.5:80", "localhost", "LOCALHOST:8080", "localhost.",
        "media.example", "Media.Example.:8080", "[2001:db8::1]",
    ])
    func ownHostNamesAreRecognized(host: String) throws {
        #expect(try classify([], host: host) == .player)
        #expect(try classify([("Origin", "http://\(host.lowercased())")], host: host) == .ownPage)
    }

    @Test func trustedProxyMayTerminateTLS() throws {
        let fields = [("Origin", "https://media.example")]
        #expect(try classify(fields, host: "media.example", isForwarded: true) == .ownPage)
        #expect(try classify(fields, host: "media.example") == .foreignPage)
        #expect(
            try classify([("Origin", "https://evil.example")], host: "media.example", isForwarded: true) == .foreignPage
        )
        #expect(
            try classify([("Origin", "https://media.example:444")], host: "media.example", isForwarded: true)
                == .foreignPage
        )
    }

    @Test func requestWithoutAHostIsFromAPlayer() throws {
        #expect(try classify([], host: nil) == .player)
        #expect(try classify([("Origin", "http://127.0.0.1:8080")], host: nil) == .foreignPage)
    }
}

@Suite struct TargetGuardTests {
    @Test(arguments: [
        "/", "/api/library", "/offline/0123/video/1.m4s", "/segment/a%20b.ts", "/segment/...", "/segment/a%2Eb",
        "/x/.well-known",
    ])
    func unambiguousPathsAreAccepted(path: String) {
        #expect(RequestParsing.isUnambiguous(path: path))
    }

    @Test(arguments: [
        "//", "//api/library", "/api//library", "/api/library/", "/./api", "/api/.", "/api/..", "/x/../api/library",
        "/%2e/api", "/x/%2E%2e/api", "/x/.%2e/api", "/api%2flibrary", "/api%2Flibrary", "/api\\library",
        "/api%5clibrary",
        "/api%00", "/api/%0a", "/%7f", "/%ff", "", "///",
    ])
    func ambiguousPathsAreRejected(path: String) {
        #expect(!RequestParsing.isUnambiguous(path: path))
    }
}

@Suite struct TrustedProxyTests {
    private func proxies(_ texts: String...) throws -> [TrustedProxy] {
        try texts.map { try #require(TrustedProxy($0)) }
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("192.0.2.1", "192.0.2.1", true),
        ("192.0.2.1", "192.0.2.2", false), ("192.0.2.128/25", "192.0.2.129", true),
        ("192.0.2.128/25", "192.0.2.127", false),
        ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
        ("0.0.0.0/0", "8.8.8.8", true),
        ("0.0.0.0/0", "::1", false), ("::1", "::1", true), ("192.0.2.0/32", "192.0.2.0", true),
    ])
    func networksContainTheirAddresses(network: String, address: String, expected: Bool) throws {
        #expect(try #require(TrustedProxy(network)).contains(try #require(HostAddress(numeric: address))) == expected)
    }

    @Test(arguments: [
        "", "proxy.example", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.0/", "::/129", "10.1",
    ])
    func invalidNetworksAreRejected(text: String) {
        #expect(TrustedProxy(text) == nil)
    }

    @Test(
        arguments: [
            ("198.51.100.7", nil, "198.51.100.7"), ("6.6.6.6, 198.51.100.7", nil, "198.51.100.7"),
            ("6.6.6.6, 198.51.100.7, 10.0.0.2", nil, "198.51.100.7"), ("198.51.100.7:4711", nil, "198.51.100.7"),
            ("[2001:db8::7]:4711", nil, "2001:db8::7"), ("2001:db8::7", nil, "2001:db8::7"),
            ("::ffff:198.51.100.7", nil, "198.51.100.7"),
            (nil, "for=198.51.100.7;proto=https", "198.51.100.7"), (nil, "For=\"[2001:db8::7]:80\"", "2001:db8::7"),
            (nil, "for=6.6.6.6, for=198.51.100.7, for=10.0.0.2", "198.51.100.7"),
            ("198.51.100.7", "for=198.51.100.7", "198.51.100.7"),
            // Unknown, hidden, forged or contradictory addresses.
            ("", nil, nil), ("unknown", nil, nil), ("6.6.6.6, unknown", nil, nil), ("10.0.0.3, 10.0.0.2", nil, nil),
            (nil, "for=_hidden", nil), (nil, "proto=https", nil), (nil, "for=1.1.1.1;for=2.2.2.2", nil),
            ("198.51.100.7", "for=6.6.6.6", nil), ("6.6.6.6,", nil, nil), (nil, nil, nil),
        ] as [(String?, String?, String?)]
    )
    func lastUntrustedAddressIsTheClient(forwardedFor: String?, forwarded: String?, expected: String?) throws {
        let client = try proxies("10.0.0.0/8").client(forwardedFor: forwardedFor, forwarded: forwarded)
        #expect(client?.description == expected)
    }
}
