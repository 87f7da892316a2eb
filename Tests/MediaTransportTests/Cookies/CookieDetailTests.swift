import ResourceAddressing
import Testing

@testable import MediaTransport

/// 2026-01-01T00:00:00Z.
private let newYear = UnixSeconds(1_767_225_600)

/// Tests the limits and the rare forms of cookies, their dates, and their files.
@Suite struct CookieDetailTests {
    private func store(_ jar: CookieJar, _ field: String, from address: String, after seconds: Int64 = 0) {
        jar.store(setCookie: field, from: ResourceAddress(address), now: newYear.adding(seconds: seconds))
    }

    private func sent(_ jar: CookieJar, _ address: String, after seconds: Int64 = 0) -> String? {
        jar.header(for: ResourceAddress(address), now: newYear.adding(seconds: seconds))
    }

    private func line(_ expiry: String) -> String { "a.example\tFALSE\t/\tFALSE\t\(expiry)\ta\t1" }

    // MARK: Characters

    @Test func charactersAreClassified() {
        for byte in UInt8.min...UInt8.max {
            let scalar = Unicode.Scalar(byte)
            let isUppercase = ("A"..."Z").contains(scalar)
            #expect(byte.asciiLowercased == (isUppercase ? byte + 32 : byte), "\(byte)")
            #expect(byte.isASCIIDigit == ("0"..."9").contains(scalar), "\(byte)")
            #expect(byte.isASCIIControl == (byte < 32 || byte == 127), "\(byte)")
        }
    }

    // MARK: Dates

    @Test(arguments: [
        ("1 Jan 2024 0:0:0:5", 1_704_067_200), ("1 Jan 99 0:0:0", 915_148_800), ("1 Jan 2024 00:00:00x", 1_704_067_200),
    ])
    func rareDatesAreParsed(text: String, seconds: Int64) {
        #expect(CookieDate.parse(text.utf8) == UnixSeconds(seconds))
    }

    @Test(arguments: [
        "1 Jan 2024 0:0x:0", "1 Jan 2024 0x:0:0", "1 Jan 2024 00:000:00", "1 Jan 2024 00:00:000", "1 Jan 100 0:0:0",
        "1 Jan 2024 :0:0", "1 Jan 2024 0::0",
    ])
    func malformedDatesAreRejected(text: String) {
        #expect(CookieDate.parse(text.utf8) == nil)
    }

    // MARK: Fields

    @Test func shortestLifetimeIsOneSecond() {
        let jar = CookieJar()
        store(jar, "a=1; Max-Age=1", from: "https://a.example/")
        #expect(sent(jar, "https://a.example/") == "a=1" && sent(jar, "https://a.example/", after: 1) == nil)
    }

    /// A domain that is the host itself because it is a public suffix is an attribute nevertheless.
    @Test(arguments: [("", 1), ("; Domain=localhost", 0)])
    func hostPrefixRequiresThatThereIsNoDomain(attribute: String, count: Int) {
        let jar = CookieJar()
        store(jar, "__Host-a=1; Secure; Path=/\(attribute)", from: "https://localhost/")
        #expect(jar.count == count)
    }

    @Test(arguments: [(65_533, true), (65_534, false)]) func fieldsHaveAtMost64KiB(count: Int, isValid: Bool) {
        #expect((SetCookieField("a=1" + String(repeating: ";", count: count)) != nil) == isValid)
    }

    @Test(arguments: [(1_024, 5), (1_025, nil)] as [(Int, Int64?)])
    func longAttributesAreIgnored(count: Int, seconds: Int64?) {
        let number = String(repeating: "0", count: count - 1) + "5"
        #expect(SetCookieField("a=1; Max-Age=\(number)")?.maxAge == seconds)
        let path = "/" + String(repeating: "x", count: 1_024)
        #expect(SetCookieField("a=1; Path=/x; Path=\(path)")?.path == "/x")
    }

    // MARK: Jar

    @Test func cookiesExpireInTheirOrder() {
        let jar = CookieJar()
        for (name, seconds) in [("b", 10), ("a", 5), ("c", 20)] {
            store(jar, "\(name)=1; Max-Age=\(seconds)", from: "https://a.example/")
        }
        for (seconds, cookies) in [(4, "b=1; a=1; c=1"), (5, "b=1; c=1"), (10, "c=1")] as [(Int64, String)] {
            #expect(sent(jar, "https://a.example/", after: seconds) == cookies, "after \(seconds) s")
        }
        #expect(sent(jar, "https://a.example/", after: 20) == nil)
        #expect(jar.count == 0)
    }

    @Test func expiredSecureCookieProtectsNothing() {
        let jar = CookieJar()
        store(jar, "a=1; Secure; Max-Age=5", from: "https://a.example/")
        store(jar, "a=2", from: "http://a.example/", after: 4)
        #expect(sent(jar, "https://a.example/", after: 4) == "a=1")
        store(jar, "a=3", from: "http://a.example/", after: 5)
        #expect(sent(jar, "https://a.example/", after: 5) == "a=3")
    }

    @Test func secureCookieOfADomainCannotBeShadowedByItsHosts() {
        let jar = CookieJar()
        store(jar, "a=1; Secure; Domain=example.com; Path=/", from: "https://www.example.com/")
        store(jar, "a=2", from: "http://www.example.com/")
        store(jar, "b=2", from: "http://www.example.com/")
        #expect(sent(jar, "https://www.example.com/") == "a=1; b=2")
    }

    @Test func cookieOfAFileRemovesExpiredCookiesFirst() {
        let jar = CookieJar()
        store(jar, "first=1", from: "https://a.example/")
        for number in 0..<179 { store(jar, "n\(number)=1; Max-Age=5", from: "https://a.example/") }
        jar.add(NetscapeCookieFile(line("0").utf8), now: newYear.adding(seconds: 5))
        #expect(jar.count == 2 && sent(jar, "https://a.example/", after: 5) == "first=1; a=1")
    }

    // MARK: Files

    @Test(arguments: [
        ("", 0, false), ("\t", 0, false), (" \t \n\t\t\r\n", 0, false), ("\u{B}\n", 1, true), ("!\n", 1, true),
        ("x\ny\n", 2, true), ("# HTTP Cookie File\nx\n", 1, false), ("# Netscape HTTP Cookie File\nx", 1, false),
        ("# comment\n", 0, false),
    ])
    func linesOfSpacesAndTabsAreNotInvalid(text: String, count: Int, isOtherFormat: Bool) {
        let file = NetscapeCookieFile(text.utf8)
        #expect(file.cookies.isEmpty && file.invalidLineCount == count && file.isOtherFormat == isOtherFormat)
    }

    @Test(arguments: [(65_536, 1), (65_537, 0)]) func linesHaveAtMost64KiB(length: Int, count: Int) {
        let text = line(String(repeating: "0", count: length - line("").utf8.count))
        let file = NetscapeCookieFile(text.utf8)
        #expect(text.utf8.count == length && file.cookies.count == count && file.invalidLineCount == 1 - count)
    }

    // MARK: Sites

    @Test func addressesWithoutAHostAreNoSite() {
        for text in ["http:///a", "/a", "file:///a"] {
            #expect(!ResourceAddress(text).isSameSite(as: ResourceAddress(text)), "\(text)")
        }
    }
}
