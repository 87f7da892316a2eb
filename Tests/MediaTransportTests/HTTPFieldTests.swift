import AsyncHTTPClient
import Foundation
import MediaTiming
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import ResourceAddressing
import Testing

@testable import MediaTransport

/// Tests the parsing and writing of header fields and addresses.
@Suite struct HTTPFieldTests {
    // MARK: Content-Range

    @Test(
        arguments: [
            ("bytes 0-99/200", 0, 100, 200), ("BYTES\t5-5/*", 5, 6, nil), (" bytes  0-0/1 ", 0, 1, 1),
            ("bytes 0-9223372036854775806/*", 0, .max, nil), ("bytes 3-7/8", 3, 8, 8),
        ] as [(String, Int64, Int64, Int64?)]
    )
    func contentRangeIsParsed(text: String, start: Int64, end: Int64, total: Int64?) throws {
        let range = try #require(ContentRange(text))
        #expect(range.start == start && range.end == end && range.total == total)
        #expect(ResponseHeaderParsing.byteRange(contentRange: text) == ByteRange(start: start, length: end - start))
    }

    @Test(arguments: [
        "", "bytes", "0-99/200", "items 0-99/200", "bytes 0-99", "bytes 0-99/", "bytes 0-99/x", "bytes 0-99/99",
        "bytes 0-99/200/300", "bytes 99/200", "bytes 0-1-2/200", "bytes 5-4/200", "bytes -4/200", "bytes 0-/200",
        "bytes */200", "bytes 0-9223372036854775807/*", "bytes 0-99/200 x", "bytes +0-99/200", "bytes 0-99/-1",
        "bytes /0-:/200", "bytes 0-99/**",
    ])
    func invalidContentRangeIsRejected(text: String) {
        #expect(ContentRange(text) == nil && ResponseHeaderParsing.byteRange(contentRange: text) == nil)
    }

    // MARK: Retry-After

    private static let noon = "Mon, 02 Mar 2026 12:00:00 GMT"

    @Test(
        arguments: [
            ("0", nil, 0), ("7", nil, 7), (" 7 ", nil, 7), ("-1", nil, nil), ("", nil, nil), (" ", nil, nil),
            (nil, noon, nil),
            ("soon", nil, nil), ("31536000", nil, 31_536_000), ("31536001", nil, 31_536_000),
            ("9223372036854775807", nil, 31_536_000), ("Mon, 02 Mar 2026 12:00:30 GMT", noon, 30), (noon, noon, 0),
            ("Mon, 02 Mar 2026 11:00:00 GMT", noon, 0), ("Tue, 02 Mar 2027 12:00:00 GMT", noon, 31_536_000),
            ("Wed, 03 Mar 2027 12:00:00 GMT", noon, 31_536_000), ("Mon, 01 Mar 2027 12:00:00 GMT", noon, 31_449_600),
            ("1 Jan 1970 00:00:00", nil, 0), ("1 Jan 1970 00:00:00", "never", 0),
            ("31 Dec 9999 00:00:00", "never", 31_536_000),
        ] as [(String?, String?, Int64?)]
    )
    func retryAfterIsParsedAsSecondsOrDate(value: String?, date: String?, seconds: Int64?) {
        #expect(RetryAfter.duration(value, date: date) == seconds.map { .seconds($0) })
        if let value {
            #expect(ResponseHeaderParsing.delay(retryAfter: value, date: date) == seconds.map { .seconds($0) })
        }
    }

    // MARK: Hosts

    @Test(
        arguments: [
            ("a.example", "a.example"), ("b\u{FC}cher.example", "xn--bcher-kva.example"), ("!~", "!~"), ("a_b", "a_b"),
            ("a b", nil), ("a/b", nil), ("a\\b", nil), ("a\u{7F}", nil), ("a\u{1F}", nil),
        ] as [(String, String?)]
    )
    func hostNamesAreConvertedToASCII(host: String, ascii: String?) {
        #expect(HostName.ascii(host) == ascii)
    }

    @Test(arguments: [
        ("localhost", true), ("a.localhost", true), ("::1", true), ("127.0.0.1", true), ("127.255.255.255", true),
        ("127.0.0.256", false), ("127.0.0", false), ("127.0.0.1.1", false), ("128.0.0.1", false), ("127.0..1", false),
        ("127.0.0.0001", false), ("127.0.0.001", true), ("127.0.0.x", false), ("127.0.0.+1", false),
        ("localhost.", false),
        ("alocalhost", false), ("::2", false), ("", false),
    ])
    func loopbackHostsAreRecognized(host: String, isLoopback: Bool) {
        #expect(HostName.isLoopback(host) == isLoopback)
    }

    @Test(
        arguments: [
            ("192.0.2.1", [192, 0, 2, 1]), ("2001:db8::1", [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
            ("127.1", nil), ("192.0.2.256", nil), ("a", nil), ("", nil), ("192.0.2.1\u{0}", nil),
            ("::ffff:255.255.255.255\u{0}", nil), ("0000:0000:0000:0000:0000:ffff:255.255.255.2555", nil),
        ] as [(String, [UInt8]?)]
    )
    func numericAddressIsParsed(text: String, octets: [UInt8]?) {
        let address = HostAddress(numeric: text)
        #expect(address?.octets == octets && address?.description == octets.map { _ in text })
    }

    @Test func addressHasFourOrSixteenBytes() {
        for count in [0, 3, 5, 15, 17] { #expect(HostAddress([UInt8](repeating: 1, count: count)) == nil) }
        #expect(HostAddress([1, 2, 3, 4])?.description == "1.2.3.4")
        #expect(
            HostAddress([UInt8](repeating: 0xAB, count: 16))?.description == "abab:abab:abab:abab:abab:abab:abab:abab"
        )
    }

    @Test func lookupReturnsEachAddressOnce() {
        let addresses = HostAddress.lookUp("localhost")
        #expect(!addresses.isEmpty && Set(addresses).count == addresses.count)
        #expect(HostAddress.lookUp("127.0.0.1").map(\.description) == ["127.0.0.1"])
        #expect(HostAddress.lookUp("127.1").map(\.description) == ["127.0.0.1"])
        #expect(HostAddress.lookUp("::1").map(\.description) == ["::1"])
    }

    @Test func eachAddressOfAHostIsUsedOnce() {
        let octets: [[UInt8]] = [[192, 0, 2, 1], [192, 0, 2, 2], [], [192, 0, 2, 1], [192, 0, 2, 3]]
        #expect(HostAddress.addresses(octets).map(\.description) == ["192.0.2.1", "192.0.2.2", "192.0.2.3"])
    }

    // MARK: Requests

    private static let sites =
        [
            ("http://h", "h", "http://h:80/", "h", nil), ("https://h:443", "h", "https://h:443/", "h", nil),
            ("http://h:443", "h", "http://h:443/", "h:443", nil), ("https://h:80", "h", "https://h:80/", "h:80", nil),
            ("http://H:8080", "h", "http://h:8080/", "h:8080", nil),
            ("https://[::1]", "::1", "https://[::1]:443/", "[::1]", nil),
            ("http://[::1]:1", "::1", "http://[::1]:1/", "[::1]:1", nil),
            ("http://h:65535", "h", "http://h:65535/", "h:65535", nil),
            ("http://me:pw@h", "h", "http://h:80/", "h", "Basic bWU6cHc="),
            ("http://me@h", "h", "http://h:80/", "h", "Basic bWU6"),
            ("http://m%65:p%3A:w@h", "h", "http://h:80/", "h", "Basic bWU6cDo6dw=="),
            ("http://:pw@h", "h", "http://h:80/", "h", nil),
            ("http://@h", "h", "http://h:80/", "h", nil),
            ("http://a@b:pw@h", "h", "http://h:80/", "h", "Basic YUBiOnB3"),
        ] as [(String, String, String, String, String?)]

    @Test(arguments: sites)
    func siteIsParsedFromAnAddress(
        text: String,
        host: String,
        address: String,
        field: String,
        authorization: String?
    ) throws {
        let site = try #require(RequestEndpoint(ResourceAddress(text)))
        #expect(site.host == host && site.address == address && site.hostField == field)
        #expect(site.authorization == authorization)
    }

    @Test(arguments: ["ftp://h", "h", "http://h:0", "http://h:65536", "http://", "file:///a"])
    func invalidSiteIsRejected(text: String) {
        #expect(RequestEndpoint(ResourceAddress(text)) == nil)
        #expect(RequestTarget(ResourceAddress(text + "/a"), RequestEndpointCache()) == nil)
    }

    @Test(arguments: [
        ("http://h", "/"), ("http://h/", "/"), ("http://h/a?b=c#d", "/a?b=c"), ("http://h?b", "/?b"),
        ("http://h#d", "/"),
        ("http://h/#d?e", "/"), ("http://h/a%20b\u{FC} \u{7F}\u{1}~!", "/a%20b%C3%BC%20%7F%01~!"),
        ("http://h//a/../b", "//a/../b"),
        ("http://h/a\u{10}b", "/a%10b"), ("http://h/a\u{F}b", "/a%0Fb"),
    ])
    func requestTargetPreservesPathAndQuery(address: String, text: String) throws {
        let target = try #require(RequestTarget(ResourceAddress(address), RequestEndpointCache()))
        #expect(target.text == text && target.endpoint.hostField == "h")
    }

    @Test func sitesAreCachedWithTheirUserInformation() throws {
        let sites = RequestEndpointCache()
        for number in 0..<200 {
            let site = try #require(sites.endpoint(forPrefix: "http://me:\(number)@h\(number)"))
            #expect(site.host == "h\(number)")
            #expect(sites.endpoint(forPrefix: "http://me:\(number)@h\(number)")?.authorization == site.authorization)
        }
        #expect(sites.endpoint(forPrefix: "ftp://h") == nil)
    }

    @Test func atMost64SitesAreCached() {
        let sites = RequestEndpointCache()
        for number in 1...64 {
            #expect(sites.endpoint(forPrefix: "http://h\(number)") != nil && sites.count == number)
        }
        #expect(sites.endpoint(forPrefix: "http://h1") != nil && sites.count == 64)
        #expect(sites.endpoint(forPrefix: "http://another") != nil && sites.count == 1)
    }

    // MARK: HTTP client errors

    @Test(arguments: [
        (
            HTTPClientError.connectTimeout, TransportError.Code.cannotConnect,
            "the connection could not be established before the timeout"
        ),
        (
            .getConnectionFromPoolTimeout, .cannotConnect,
            "no connection to the server became available before the timeout"
        ),
        (.readTimeout, .timedOut, "no data was received before the timeout"),
        (.deadlineExceeded, .timedOut, "the response did not continue before the timeout"),
        (.invalidURL, .addressRefused, "the URL is invalid"),
        (.emptyHost, .addressRefused, "the URL is invalid"),
        (.emptyScheme, .addressRefused, "the URL is invalid"),
        (.tlsHandshakeTimeout, .insecure, "the TLS handshake timed out"),
        (.remoteConnectionClosed, .connectionLost, "the server closed the connection"),
        (.uncleanShutdown, .connectionLost, "the server closed the connection"),
    ])
    func clientErrorsAreTranslated(error: HTTPClientError, code: TransportError.Code, message: String) {
        let address = ResourceAddress("http://h/a")
        let translated = TransportError.convertingErrors(error, address: address) as? TransportError
        #expect(translated?.code == code && translated?.message == message && translated?.address == address)
    }

    /// A failure of the connection to a proxy is not one of the server.
    @Test(arguments: [
        (HTTPClientError.proxyAuthenticationRequired, "the proxy p:3128 requires authentication"),
        (.invalidProxyResponse, "the proxy p:3128 refused the connection to the server"),
        (.httpProxyHandshakeTimeout, "the proxy p:3128 did not answer before the timeout"),
        (.connectTimeout, "the proxy p:3128 could not be reached"),
    ])
    func failureOfAProxyNamesTheProxy(error: HTTPClientError, message: String) {
        let address = ResourceAddress("http://h/a")
        let proxy = (host: "p", port: 3_128)
        let found = TransportError.convertingErrors(error, address: address, proxy: proxy) as? TransportError
        #expect(found?.code == .cannotConnect && found?.message == message && found?.address == address)
        #expect(found?.cause as? HTTPClientError == error)
        let late = TransportError.convertingErrors(HTTPClientError.readTimeout, address: address, proxy: proxy)
        #expect((late as? TransportError)?.message == "no data was received before the timeout")
    }

    @Test(arguments: [
        (NIOHTTPDecompression.DecompressionError.limit, TransportError.Code.tooLarge),
        (.inflationError(-3), .wrongContent),
        (.initializationError(-2), .wrongContent),
    ])
    func damagedCompressedBodyIsNotTooLarge(_ cause: NIOHTTPDecompression.DecompressionError, code: TransportError.Code)
    {
        let error = TransportError.convertingErrors(cause, address: ResourceAddress("http://h/a")) as? TransportError
        #expect(error?.code == code)
    }

    @Test(arguments: [
        (ECONNREFUSED, true), (EHOSTUNREACH, true), (ENETUNREACH, true), (ETIMEDOUT, true), (EADDRNOTAVAIL, true),
        (EACCES, true), (EPERM, true), (ECONNRESET, false), (EPIPE, false),
    ])
    func systemErrorsAreTranslatedToConnectionErrors(number: CInt, isRefusal: Bool) {
        let error = IOError(errnoCode: number, reason: "read")
        let translated = TransportError.convertingErrors(error, address: ResourceAddress("a")) as? TransportError
        #expect(translated?.code == (isRefusal ? .cannotConnect : .connectionLost))
        #expect(
            translated?.message.hasPrefix(
                isRefusal ? "the connection could not be established" : "the connection was lost ("
            ) == true
        )
    }

    @Test func otherErrorsAreTranslatedToo() {
        let address = ResourceAddress("http://h/a")
        func translated(_ error: any Error) -> TransportError? {
            TransportError.convertingErrors(error, address: address) as? TransportError
        }
        #expect(TransportError.convertingErrors(CancellationError(), address: address) is CancellationError)
        #expect(TransportError.convertingErrors(HTTPClientError.cancelled, address: address) is CancellationError)
        let own = TransportError(.tooLarge, "own")
        #expect(translated(own)?.code == .tooLarge && translated(own)?.address == nil)
        #expect(translated(HTTPParserError.invalidEOFState)?.code == .connectionLost)
        #expect(
            translated(HTTPParserError.invalidEOFState)?.message
                == "the server closed the connection before the end of the body"
        )
        #expect(translated(HTTPParserError.invalidVersion)?.code == .wrongContent)
        #expect(translated(ChannelError.eof)?.code == .connectionLost)
        #expect(translated(ChannelError.eof)?.message == "the connection was lost")
        struct Unknown: Error {}
        #expect(
            translated(Unknown())?.message == "the request failed"
                && translated(Unknown())?.code == .connectionLost
        )
        #expect(translated(HTTPClientError.bodyLengthMismatch)?.code == .connectionLost)
        #expect(translated(HTTPClientError.bodyLengthMismatch)?.message == "the request failed")
    }

    // MARK: Options

    @Test func optionsHaveTheDocumentedDefaults() {
        let options = HTTPTransport.Options()
        #expect(options.userAgent == "Millstream/0.1" && options.headers.isEmpty && options.cookies == nil)
        #expect(options.connectTimeout == .seconds(10) && options.idleTimeout == .seconds(20))
        #expect(options.readSize == 65_536)
        #expect(!options.acceptsAnyCertificate && options.proxy == nil && options.redirectLimit == 10)
        #expect(options.allowsLoading(ResourceAddress("a"), []) && options.usesCookies(ResourceAddress("a")))
        let limits = HostLookupQueue.Limits()
        #expect(limits.concurrentLookups == 16 && limits.pendingNames == 256 && limits.pendingRequests == 4_096)
        #expect(limits.timeLimit == .seconds(15))
    }

    @Test func withoutSecretsRemovesOnlyHeadersAndCookies() throws {
        var options = HTTPTransport.Options(
            userAgent: "A",
            headers: [try #require(ScopedHeaderField(line: "* X: y"))],
            cookies: CookieJar(),
            connectTimeout: .seconds(1),
            idleTimeout: .seconds(2),
            acceptsAnyCertificate: true,
            proxy: (host: "p", port: 3),
            redirectLimit: 4,
            allowsLoading: { _, _ in false }
        )
        options.usesCookies = { _ in false }
        options.lookups = HostLookupQueue()
        options.readSize = 5
        let other = options.withoutSecrets
        #expect(other.userAgent == "A" && other.headers.isEmpty && other.cookies == nil)
        #expect(other.connectTimeout == .seconds(1) && other.idleTimeout == .seconds(2) && other.acceptsAnyCertificate)
        #expect(other.proxy?.host == "p" && other.proxy?.port == 3 && other.redirectLimit == 4)
        #expect(!other.allowsLoading(ResourceAddress("a"), []) && other.lookups === options.lookups)
        #expect(other.readSize == 5)
    }

    @Test(
        arguments: [
            (Duration.zero, 0), (.seconds(-1), 0), (.seconds(2), 2_000_000_000), (.milliseconds(1_500), 1_500_000_000),
            (.nanoseconds(7), 7), (.seconds(31_536_000), 31_536_000_000_000_000),
            (.seconds(31_536_001), 31_536_000_000_000_000),
        ] as [(Duration, Int64)]
    )
    func clientTimeoutsAreLimitedToOneYear(duration: Duration, nanoseconds: Int64) {
        #expect(TimeAmount(limited: duration) == .nanoseconds(nanoseconds))
    }

    // MARK: Scopes

    @Test(arguments: [
        ("h", "h"), ("H:81", "h:81"), ("http://h", "http://h:80"), ("https://h:81", "https://h:81"), ("*", "*"),
        ("*:81", "*:81"),
        ("http://*", "http://*"), ("::1", "[::1]"), ("[::1]:81", "[::1]:81"), ("h:1", "h:1"), ("h:65535", "h:65535"),
    ])
    func scopeHasACanonicalDescription(text: String, description: String) {
        #expect(HeaderFieldScope(text)?.description == description)
    }

    @Test func eachFieldIsScopedToTheOriginOfEachAddress() {
        let fields = [HeaderField("A", "1"), HeaderField("B", "2")]
        let addresses = ["https://h/a", "file:///x", "http://i:81/b"].map { ResourceAddress($0) }
        let scoped = [ScopedHeaderField](fields, forOriginsOf: addresses)
        #expect(
            scoped.map { "\($0.scope) \($0.field.name)" } == [
                "https://h:443 A", "https://h:443 B", "http://i:81 A", "http://i:81 B",
            ]
        )
        let spaced = ScopedHeaderField(line: "  h   A:  b")
        #expect(spaced?.field == HeaderField("A", "b") && spaced?.scope == HeaderFieldScope("h"))
        #expect(ScopedHeaderField(line: "h A: b", allowsHTTP: true)?.scope == HeaderFieldScope("h", allowsHTTP: true))
    }
}
