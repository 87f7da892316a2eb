import ResourceAddressing
import Testing

@testable import MediaTransport

/// 2026-01-01T00:00:00Z, the current time of every test that gives no other time.
private let newYear = UnixSeconds(1_767_225_600)
private let day: Int64 = 86_400

extension CookieJar {
    /// Creates a jar with cookies that were set by responses from one address.
    fileprivate convenience init(_ fields: String..., from address: String) {
        self.init()
        for field in fields { store(setCookie: field, from: ResourceAddress(address), now: newYear) }
    }

    fileprivate func store(_ field: String, from address: String, at now: UnixSeconds = newYear) {
        store(setCookie: field, from: ResourceAddress(address), now: now)
    }

    fileprivate func sent(to address: String, at now: UnixSeconds = newYear) -> String? {
        header(for: ResourceAddress(address), now: now)
    }
}

@Suite struct CookieJarTests {
    @Test func cookiesAreSentBackToTheServerThatSetThem() {
        let jar = CookieJar("id=42; Path=/; HttpOnly", "lang=de", from: "https://example.com/")
        #expect(jar.sent(to: "https://example.com/live/list.m3u8") == "id=42; lang=de")
        #expect(jar.count == 2)
    }

    @Test func emptyJarSendsNoCookies() {
        #expect(CookieJar().sent(to: "https://example.com/") == nil && CookieJar().count == 0)
    }

    @Test func removeAllRemovesAllCookies() {
        let jar = CookieJar("a=1", from: "https://example.com/")
        jar.removeAll()
        #expect(jar.count == 0 && jar.sent(to: "https://example.com/") == nil)
    }

    @Test(arguments: ["file:///etc/passwd", "data:text/plain,x", "list.m3u8", "", "https://", "skd://example.com/"])
    func onlyHTTPAddressesHaveCookies(address: String) {
        let jar = CookieJar("a=1", from: address)
        #expect(jar.count == 0 && jar.sent(to: address) == nil)
    }

    @Test func newValueReplacesTheOldValue() {
        let jar = CookieJar("a=1", "b=2", "a=3", from: "https://example.com/")
        #expect(jar.count == 2 && jar.sent(to: "https://example.com/") == "a=3; b=2")
    }

    @Test func namesAreComparedByteByByte() {
        let jar = CookieJar("\u{E9}=1", "e\u{301}=2", "A=3", "a=4", from: "https://example.com/")
        #expect(jar.count == 4)
    }

    // MARK: Order

    @Test func longerPathsComeFirstThenEarlierCookies() {
        let jar = CookieJar(
            "late=1; Path=/",
            "deep=2; Path=/a/b",
            "middle=3; Path=/a",
            "deeper=4; Path=/a/b/",
            "last=5; Path=/",
            from: "https://example.com/a/b/c"
        )
        #expect(jar.sent(to: "https://example.com/a/b/c") == "deeper=4; deep=2; middle=3; late=1; last=5")
    }

    @Test func cookiesWithTheSameNameAndDifferentPathsAreDistinct() {
        let jar = CookieJar("a=root; Path=/", "a=deep; Path=/x", from: "https://example.com/")
        #expect(jar.sent(to: "https://example.com/x") == "a=deep; a=root")
    }

    @Test func hostCookieAndDomainCookieOfTheSameNameAreDistinct() {
        let jar = CookieJar("a=own", "a=shared; Domain=example.com", from: "https://example.com/")
        #expect(jar.sent(to: "https://example.com/") == "a=own; a=shared")
        #expect(jar.sent(to: "https://www.example.com/") == "a=shared")
    }

    // MARK: Paths

    @Test(arguments: [
        ("/foo", "/foo", true), ("/foo", "/foo/", true), ("/foo", "/foo/bar", true), ("/foo", "/foobar", false),
        ("/foo", "/fo", false), ("/foo", "/", false), ("/foo/", "/foo", false), ("/foo/", "/foo/bar", true),
        ("/", "/anything", true), ("/foo", "/FOO", false), ("/foo", "/foo%2Fbar", false), ("/foo", "/foo?x=/", true),
    ])
    func cookieIsSentForItsPathAndSubpaths(path: String, requested: String, isSent: Bool) {
        let jar = CookieJar("a=1; Path=\(path)", from: "https://example.com/elsewhere")
        #expect((jar.sent(to: "https://example.com" + requested) != nil) == isSent)
    }

    @Test(arguments: [
        ("", "/"), ("/", "/"), ("/list", "/"), ("/live/", "/live"), ("/live/list", "/live"), ("/a/b/c?d=/e", "/a/b"),
        ("?q=/x/y", "/"), ("/a#/b/c", "/"),
    ])
    func defaultPathIsTheDirectoryOfTheResource(resource: String, folder: String) {
        let jar = CookieJar("a=1", from: "https://example.com" + resource)
        #expect(jar.netscapeText(now: newYear).contains("\tFALSE\t\(folder)\tFALSE\t"))
    }

    @Test(arguments: ["", "Path", "Path=", "Path=x", "Path=x/y", "Path=\"/x\"", "Path=/x; Path="])
    func invalidPathCountsAsMissing(attribute: String) {
        let jar = CookieJar("a=1; \(attribute)", from: "https://example.com/live/list")
        #expect(jar.netscapeText(now: newYear).contains("\t/live\t"))
    }

    // MARK: Domains

    @Test func cookieWithoutDomainIsHostOnly() {
        let jar = CookieJar("a=1", "b=2; Domain=", "c=3; Domain=example.com; Domain=", from: "https://example.com/")
        #expect(jar.sent(to: "https://EXAMPLE.com/") == "a=1; b=2; c=3")
        #expect(jar.sent(to: "https://www.example.com/") == nil)
    }

    @Test(arguments: ["example.com", ".example.com", "EXAMPLE.Com", " example.com ", "a.b.test; Domain=example.com"])
    func cookieWithDomainIsSentToSubdomains(domain: String) {
        let jar = CookieJar("a=1; Domain=\(domain)", from: "https://www.example.com/")
        for host in ["example.com", "www.example.com", "a.b.example.com"] {
            #expect(jar.sent(to: "https://\(host)/") == "a=1")
        }
        for host in ["notexample.com", "com", "example.org", "example.com.evil.test"] {
            #expect(jar.sent(to: "https://\(host)/") == nil)
        }
    }

    @Test(arguments: [
        // Unrelated domains, sibling domains and subdomains of the host.
        ("evil.test", "example.com"), ("evil.test", "www.evil.test"), ("example.com", "www.example.com"),
        ("notexample.com", "example.com"), ("example.com.evil.test", "example.com"),
        // Public suffixes.
        ("example.com", "com"), ("example.com", ".com"), ("a.co.uk", "co.uk"), ("a.github.io", "github.io"),
        ("a.localhost", "localhost"), ("d1.cloudfront.net", "cloudfront.net"),
        // Public suffixes that only the Public Suffix List contains: a sibling of an exception, a wildcard, one of four
        // labels.
        ("a.b.kawasaki.jp", "b.kawasaki.jp"),
        ("a.s3.dualstack.eu-west-1.amazonaws.com", "s3.dualstack.eu-west-1.amazonaws.com"),
        ("a.herokuapp.com", "herokuapp.com"),
        ("a.xn--55qx5d.cn", "xn--55qx5d.cn"), ("a.co.uk.", "co.uk."), ("a.co.uk.", "co.uk"),
        // Invalid host names.
        ("www.example.com", "..example.com"), ("www.example.com", "example.com."), ("www.example.com", "example..com"),
        ("www.example.com", "ex\u{E4}mple.com"), ("www.kite.test", "\u{212A}ite.test"), ("www.example.com", "*"),
        ("www.example.com", "example.com:443"), ("www.example.com", "example.com/"),
        // IP addresses.
        ("127.0.0.1", "0.0.1"), ("127.0.0.1", "1"), ("10.127.0.0.1", "127.0.0.1"), ("127.0.0.1", "127.0.0.2"),
        ("[::1]", "1"), ("[::1]", "[::1]"), ("a.0x7f.1", "0x7f.1"),
    ])
    func hostCannotSetCookiesForOtherDomains(host: String, domain: String) {
        let jar = CookieJar("a=1; Domain=\(domain)", from: "https://\(host)/")
        #expect(jar.count == 0)
    }

    @Test func exceptionInThePublicSuffixListIsNotAPublicSuffix() {
        let jar = CookieJar("a=1; Domain=city.kawasaki.jp", from: "https://www.city.kawasaki.jp/")
        #expect(jar.sent(to: "https://live.city.kawasaki.jp/") == "a=1")
    }

    @Test func internationalizedNameMatchesItsPunycodeForm() {
        let jar = CookieJar("a=1; Domain=xn--bcher-kva.example", from: "https://www.B\u{FC}cher.example/")
        #expect(jar.sent(to: "https://xn--bcher-kva.example/") == "a=1")
        #expect(jar.sent(to: "https://cdn.b\u{FC}cher.example/") == "a=1")
        #expect(jar.sent(to: "https://bucher.example/") == nil)
        jar.store("b=1; Domain=b\u{FC}cher.example", from: "https://b\u{FC}cher.example/")
        #expect(jar.count == 1)
    }

    @Test(arguments: ["localhost", "com", "co.uk", "github.io", "127.0.0.1"])
    func domainAttributeMayNameThePublicSuffixOrIPAddressItself(host: String) {
        let jar = CookieJar("a=1; Domain=\(host)", from: "https://\(host)/")
        #expect(jar.sent(to: "https://\(host)/") == "a=1")
        #expect(jar.sent(to: "https://x.\(host)/") == nil)
    }

    @Test(arguments: [
        "evil.test%00.example.com", "evil.test%2f.example.com", "evil.test\\.example.com", "ex ample.com",
        ".example.com", "a\t.example.com", "a\n.example.com", "(example.com)",
    ])
    func ambiguousHostNamesHaveNoCookies(host: String) {
        let jar = CookieJar("a=1; Domain=example.com", from: "https://example.com/")
        #expect(jar.sent(to: "https://\(host)/") == nil)
        jar.store("b=2", from: "https://\(host)/")
        #expect(jar.count == 1)
    }

    @Test func portsAndUserInformationAreIgnored() {
        let jar = CookieJar("a=1", from: "https://user:pw@example.com:8443/")
        #expect(jar.sent(to: "https://example.com:9000/") == "a=1")
        #expect(jar.sent(to: "https://example.com@evil.test/") == nil)
    }

    @Test func hostsWithIPv6AddressesHaveCookies() {
        let jar = CookieJar("a=1", from: "http://[fe80::1]:8080/")
        #expect(jar.sent(to: "http://[FE80::1]/") == "a=1" && jar.sent(to: "http://[fe80::2]/") == nil)
    }

    // MARK: Secure attribute and name prefixes

    @Test(arguments: ["example.com", "localhost", "127.0.0.1"])
    func secureCookiesAreSentAndSetOnlyOverHTTPS(host: String) {
        let jar = CookieJar("a=1; Secure", "b=2", from: "https://\(host)/")
        #expect(jar.sent(to: "https://\(host)/") == "a=1; b=2")
        #expect(jar.sent(to: "http://\(host)/") == "b=2")
        jar.store("c=3; secure=false", from: "http://\(host)/")
        #expect(jar.count == 2)
    }

    @Test(arguments: [
        "a=2", "a=2; Domain=example.com", "a=; Max-Age=0", "a=2; Path=/live/x",
    ])
    func secureCookieCannotBeReplacedOverHTTP(field: String) {
        let jar = CookieJar("a=1; Secure; Path=/live", from: "https://www.example.com/")
        jar.store(field, from: "http://www.example.com/live/list")
        #expect(jar.sent(to: "https://www.example.com/live/x") == "a=1" && jar.count == 1)
    }

    @Test func otherCookiesCanBeSetOverHTTPBesideASecureCookie() {
        let jar = CookieJar("a=1; Secure; Path=/live", from: "https://www.example.com/")
        jar.store("b=2", from: "http://www.example.com/live/list")
        jar.store("a=3; Path=/", from: "http://www.example.com/")
        jar.store("a=4", from: "http://example.org/live/list")
        #expect(jar.count == 4)
    }

    @Test(arguments: [
        ("__Secure-a=1", false), ("__Secure-a=1; Secure", true), ("__SECURE-a=1", false),
        ("__Host-a=1; Secure; Path=/", true), ("__Host-a=1; Secure", false), ("__Host-a=1; Path=/", false),
        ("__Host-a=1; Secure; Path=/live", false), ("__host-a=1; Secure; Path=/; Domain=example.com", false),
        ("__Host-a=1; Secure; Path=/; Domain=", true), ("=__Host-a=1; Secure; Path=/", false),
        ("__Secure-a", false), ("__Hosta=1", true),
    ])
    func namePrefixesAreEnforced(field: String, isKept: Bool) {
        let jar = CookieJar(field, from: "https://example.com/")
        #expect((jar.count == 1) == isKept)
    }

    // MARK: Time

    @Test func cookieExpiresAfterItsMaxAge() {
        let jar = CookieJar("a=1; Max-Age=60", "b=2", from: "https://example.com/")
        #expect(jar.sent(to: "https://example.com/", at: newYear.adding(seconds: 59)) == "a=1; b=2")
        #expect(jar.sent(to: "https://example.com/", at: newYear.adding(seconds: 60)) == "b=2")
        #expect(jar.count == 1)
    }

    @Test(arguments: [
        "Max-Age=0", "Max-Age=-1", "Max-Age=-99999999999999999999", "Expires=Thu, 01 Jan 1970 00:00:00 GMT",
    ])
    func expiredCookieDeletesTheStoredCookie(attribute: String) {
        let jar = CookieJar("a=1", "a=; \(attribute)", from: "https://example.com/")
        #expect(jar.count == 0)
    }

    @Test(arguments: [
        ("Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT", 10),
        ("Expires=Fri, 02 Jan 2026 00:00:00; Max-Age=10", 10),
        ("Max-Age=10; Max-Age=20", 20), ("Max-Age=20; Max-Age=x", 20), ("Max-Age=x; Expires=2 Jan 2026 00:00:00", day),
        ("Expires=2 Jan 2026 00:00:00; Expires=never", day), ("max-AGE = 7 ", 7),
        // The maximum lifetime is 400 days.
        ("Max-Age=99999999999999999999", 400 * day), ("Expires=Fri, 31 Dec 9999 23:59:59 GMT", 400 * day),
        ("Max-Age=9223372036854775807", 400 * day),
    ])
    func lifetimeFollowsMaxAgeThenExpiresUpTo400Days(attributes: String, seconds: Int64) {
        let jar = CookieJar("a=1; \(attributes)", from: "https://example.com/")
        #expect(jar.netscapeText(now: newYear).contains("\t\(newYear.rawValue + seconds)\ta\t1\n"))
    }

    @Test(arguments: ["Max-Age=", "Max-Age", "Max-Age=+5", "Max-Age=5.0", "Max-Age=-", "Expires=soon", "Expires="])
    func invalidTimesMakeASessionCookie(attribute: String) {
        let jar = CookieJar("a=1; \(attribute)", from: "https://example.com/")
        #expect(jar.netscapeText(now: newYear).contains("\t0\ta\t1\n"))
    }

    @Test func extremeClockValuesAreHandled() {
        let jar = CookieJar()
        for now in [Int64.min, -1, 0, .max] {
            jar.store("a=1; Max-Age=9223372036854775807", from: "https://example.com/", at: UnixSeconds(now))
            // At the maximum time every cookie is expired.
            let expected = now == .max ? nil : "a=1"
            #expect(jar.sent(to: "https://example.com/", at: UnixSeconds(now)) == expected, "\(now)")
        }
    }

    // MARK: Names and values

    @Test(arguments: [
        ("a=1", "a=1"), (" a = 1 ", "a=1"), ("a=1=2==", "a=1=2=="), ("a=", "a="), ("a", "a"), ("=a", "a"),
        ("\ta\t=\t1\t;\tPath=/", "a=1"), ("a=\"1 2\"", "a=\"1 2\""), ("a b=1,2", "a b=1,2"), ("a=\u{FC}", "a=\u{FC}"),
        ("a=1;;; ;=;Secure=;Unknown=x", "a=1"), ("a=1; SameSite=Strict; Partitioned", "a=1"), ("=a=b", "a=b"),
    ])
    func namesAndValuesArePreserved(field: String, sent: String) {
        let jar = CookieJar(field, from: "https://example.com/")
        #expect(jar.sent(to: "https://example.com/") == sent)
    }

    @Test(arguments: [
        "", ";", "=", " = ", "; Path=/", "a=1\r\nSet-Cookie: b=2", "a=1\n", "a=\0", "a=\u{7F}", "a\u{1B}=1", "a=1\t2",
        "a\tb=1", "a=1; Path=/\u{1}",
    ])
    func emptyCookiesAndControlCharactersAreRejected(field: String) {
        #expect(CookieJar(field, from: "https://example.com/").count == 0)
    }

    // MARK: Limits

    @Test(arguments: [(4096, true), (4097, false), (1_000_000, false)])
    func nameAndValueAreLimitedTo4096Bytes(size: Int, isKept: Bool) {
        let jar = CookieJar("name=" + String(repeating: "x", count: size - 4), from: "https://example.com/")
        #expect((jar.count == 1) == isKept)
    }

    @Test func attributesOfMoreThan1024BytesAreIgnored() {
        let long = "/" + String(repeating: "x", count: 1023)
        let jar = CookieJar("a=1; Path=\(long)", "b=1; Path=\(long)x", from: "https://example.com/y/")
        let text = jar.netscapeText(now: newYear)
        #expect(text.contains("\t\(long)\t") && text.contains("\t/y\tFALSE\t0\tb\t"))
    }

    @Test(arguments: [
        "a=1" + String(repeating: ";", count: 60_000), "a=1; Path=/" + String(repeating: "; Path=/", count: 5000),
        "a=1; " + String(repeating: "x", count: 60_000), "a=1; Domain=" + String(repeating: "a.", count: 30_000),
        "a=1; Expires=" + String(repeating: "1:1:1 ", count: 10_000),
    ])
    func longFieldsAreParsedInLinearTime(field: String) {
        #expect(CookieJar(field, from: "https://example.com/").sent(to: "https://example.com/") == "a=1")
    }

    @Test func fieldsOfMoreThan64KiBAreRejected() {
        let field = "a=1" + String(repeating: ";", count: 65_536)
        #expect(CookieJar(field, from: "https://example.com/").count == 0)
    }

    @Test func longHostsHaveNoCookiesAndLongPathsBecomeTheRoot() {
        let host = String(repeating: "a.", count: 200) + "example.com"
        #expect(CookieJar("a=1", from: "https://\(host)/").count == 0)
        let folder = String(repeating: "/x", count: 1000)
        let jar = CookieJar("a=1", "b=1; Path=/\u{FC}", from: "https://example.com\(folder)/y")
        #expect(jar.sent(to: "https://example.com/") == "a=1")
    }

    @Test func leastRecentlyUsedCookiesAreRemovedAbove180PerDomain() {
        let jar = CookieJar("login=1; Path=/login", from: "https://example.com/")
        for number in 0..<400 {
            jar.store("n\(number)=1; Path=/n", from: "https://example.com/")
            #expect(jar.sent(to: "https://example.com/login") == "login=1")
        }
        #expect(jar.count == 180)
        #expect(jar.sent(to: "https://example.com/n")?.hasPrefix("n221=1; n222=1;") == true)
    }

    @Test func settingACookieCountsAsAUse() {
        let jar = CookieJar()
        for number in 0..<180 { jar.store("n\(number)=1", from: "https://example.com/") }
        _ = jar.sent(to: "https://example.com/")
        jar.store("n0=2", from: "https://example.com/")
        jar.store("new=1", from: "https://example.com/")
        // The cookies that were used together are removed in the order of their creation.
        let sent = jar.sent(to: "https://example.com/")
        #expect(jar.count == 180 && sent?.hasPrefix("n0=2; n2=1;") == true && sent?.hasSuffix("; new=1") == true)
    }

    @Test func jarRemovesTheLeastRecentlyUsedCookieOfAllDomains() {
        let jar = CookieJar()
        for number in 0..<3_000 { jar.store("a=1", from: "https://h\(number).example.com/") }
        #expect(jar.sent(to: "https://h0.example.com/") == "a=1")
        jar.store("a=1", from: "https://new.example.com/")
        #expect(jar.count == 3_000 && jar.sent(to: "https://h1.example.com/") == nil)
        for host in ["h0", "h2", "new"] { #expect(jar.sent(to: "https://\(host).example.com/") == "a=1") }
    }

    @Test func secureCookiesAreNotEvictedByCookiesSetOverHTTP() {
        let jar = CookieJar("login=1; Secure", from: "https://example.com/")
        for number in 0..<400 { jar.store("n\(number)=1", from: "http://example.com/") }
        #expect(jar.count == 180 && jar.sent(to: "https://example.com/")?.hasPrefix("login=1;") == true)
    }

    @Test func expiredCookiesAreEvictedFirst() {
        let jar = CookieJar("first=1", from: "https://example.com/")
        for number in 0..<179 { jar.store("n\(number)=1; Max-Age=5", from: "https://example.com/") }
        jar.store("last=1", from: "https://example.com/", at: newYear.adding(seconds: 5))
        #expect(jar.sent(to: "https://example.com/") == "first=1; last=1")
    }

    @Test func jarIsLimitedTo3000Cookies() {
        let jar = CookieJar()
        for number in 0..<3500 { jar.store("a=1", from: "https://h\(number).example.com/") }
        #expect(jar.count == 3000)
        #expect(jar.sent(to: "https://h499.example.com/") == nil)
        #expect(jar.sent(to: "https://h500.example.com/") == "a=1")
    }

    @Test func cookieHeaderIsLimitedTo8190Bytes() throws {
        let jar = CookieJar()
        for number in 0..<20 {
            jar.store("n\(number)=" + String(repeating: "x", count: 1000), from: "https://example.com/")
        }
        let sent = try #require(jar.sent(to: "https://example.com/"))
        #expect((7000...8190).contains(sent.utf8.count) && sent.hasPrefix("n0=") && sent.hasSuffix("x"))
    }

    @Test(arguments: [(4_092, true), (4_093, false)])
    func cookieHeaderMayReachItsExactLimit(count: Int, isSent: Bool) {
        let first = "a=" + String(repeating: "x", count: 4_092)
        let second = "b=" + String(repeating: "y", count: count)
        let jar = CookieJar(first, second, from: "https://example.com/")
        #expect(jar.count == 2)
        #expect(jar.sent(to: "https://example.com/") == (isSent ? first + "; " + second : first))
    }

    @Test(arguments: [
        ("a", true), ("z0-9_.:", true), ("", false), (".a", false), ("a.", true), ("A", false), ("`", false),
        ("{", false),
        ("/", false), (";", false), ("a b", false), ("\u{E9}", false), ("%", false),
    ])
    func plainHostsContainOnlyUnambiguousCharacters(host: String, isPlain: Bool) {
        #expect(CookieDomain.isUnambiguous(host) == isPlain)
    }

    @Test func hostNamesAreLimitedTo255Bytes() {
        #expect(CookieDomain.isUnambiguous(String(repeating: "a", count: 255)))
        #expect(!CookieDomain.isUnambiguous(String(repeating: "a", count: 256)))
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("::1", true), ("0x7f.0x1", true), ("127.1", true), ("a.9b", true), ("9a", true),
        ("9.a", false),
        ("a", false), ("a.", false), ("1.", true), ("", false),
    ])
    func hostsWhoseLastLabelIsANumberAreNumeric(host: String, isNumeric: Bool) {
        #expect(CookieDomain.isNumeric(host) == isNumeric)
        let candidates = CookieDomain.domains(matching: "x." + host)
        #expect((candidates.count > 1) == !CookieDomain.isNumeric("x." + host))
    }

    @Test func candidateDomainsAreTheHostAndItsParentDomains() {
        #expect(CookieDomain.domains(matching: "a.b.c") == ["a.b.c", "b.c", "c"])
        #expect(CookieDomain.domains(matching: "c") == ["c"] && CookieDomain.domains(matching: "1.2") == ["1.2"])
    }

    @Test func timeArithmeticSaturates() {
        #expect(UnixSeconds(5).adding(seconds: 7) == UnixSeconds(12))
        #expect(UnixSeconds(.max).adding(seconds: 1) == UnixSeconds(.max))
        #expect(UnixSeconds(.min).adding(seconds: -1) == UnixSeconds(.min))
        #expect(UnixSeconds(1) < UnixSeconds(2) && !(UnixSeconds(2) < UnixSeconds(2)))
    }

    @Test(arguments: [(1_023, true), (1_024, true), (1_025, false)])
    func pathsAreLimitedTo1024Bytes(count: Int, isKept: Bool) {
        let path = "/" + String(repeating: "x", count: count - 1)
        #expect(CookiePath.isValid(path) == isKept)
        #expect(CookiePath.defaultPath(for: path + "/y") == (isKept ? path : "/"))
        #expect(!CookiePath.isValid("x") && !CookiePath.isValid("") && !CookiePath.isValid("/\u{7F}"))
    }

    // MARK: Random input

    @Test func randomInputIsHandled() {
        var bytes = ByteSource(seed: 20_260_101)
        let jar = CookieJar()
        for _ in 0..<2000 {
            jar.store(bytes.text(), from: "http\(bytes.next() % 2 == 0 ? "s" : "")://example.com/" + bytes.text())
            jar.store("a=b;" + bytes.text(), from: bytes.text())
            _ = jar.sent(to: "https://example.com/" + bytes.text())
            _ = CookieJar(netscapeFile: bytes.text(), now: newYear).count
        }
        // All stored cookies round-trip through a file, and the header that is sent contains no control characters.
        let text = jar.netscapeText(now: newYear)
        #expect(jar.count > 0 && jar.count <= 180)
        #expect(CookieJar(netscapeFile: text, now: newYear).netscapeText(now: newYear) == text)
        let sent = jar.sent(to: "https://example.com/") ?? ""
        #expect(!sent.utf8.contains { $0 < 0x20 || $0 == 0x7F })
    }
}

/// A deterministic source of random text that resembles cookies and dates.
private struct ByteSource {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }

    mutating func text() -> String {
        let pieces = [
            ";", "=", "\t", "\n", ".", "/", ":", " ", "#", "0", "99999999999999999999", "-1", "Domain", "Path",
            "Expires",
            "Max-Age", "Secure", "HttpOnly", "__Host-", "example.com", "Jan", "12:00:00", "2030", "TRUE", "FALSE",
            "\r\n",
            "#HttpOnly_", "\u{301}", "\u{212A}", "\0",
        ]
        var result = ""
        for _ in 0..<(next() % 24) {
            let isByte = next() % 3 == 0
            // Half of the byte values are invalid UTF-8, which decodes to a replacement character.
            result += isByte ? String(decoding: [UInt8(next() % 256)], as: UTF8.self) : pieces[Int(next() % 30)]
        }
        return result
    }
}
