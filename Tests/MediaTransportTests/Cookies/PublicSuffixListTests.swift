import ResourceAddressing
import Testing

@testable import MediaTransport

@Suite struct PublicSuffixListTests {
    @Test func publicSuffixListIsAvailable() {
        #expect(PublicSuffixList.isAvailable)
    }

    @Test(
        arguments: [
            ("com", nil), ("co.uk", nil), ("cloudfront.net", nil), ("github.io", nil), ("unlisted", nil),
            ("a.b.co.uk", "b.co.uk"), ("x.d1.cloudfront.net", "d1.cloudfront.net"), ("www.example.com", "example.com"),
            ("a.city.kawasaki.jp", "city.kawasaki.jp"), ("a.b.c.kawasaki.jp", "b.c.kawasaki.jp"),
            ("a.b.unlisted", "b.unlisted"),
        ] as [(String, String?)]
    )
    func registrableDomainIsAPublicSuffixPlusOneLabel(host: String, domain: String?) {
        #expect(PublicSuffixList.registrableDomain(of: host) == domain)
        #expect(PublicSuffixList.contains(host) == (domain == nil))
    }

    @Test(arguments: [
        ("https://h/a", "http://h:8080/b", true), ("https://example.com/", "https://cdn.example.com/", true),
        ("https://a.example.com/", "https://b.example.com/", true),
        ("https://a.cdn.example.com/", "https://example.com/", true),
        ("https://www.bbc.co.uk/", "https://live.bbc.co.uk/", true),
        ("https://b\u{FC}cher.example/", "https://www.xn--bcher-kva.example/", true),
        ("https://d1.cloudfront.net/", "https://d2.cloudfront.net/", false),
        ("https://a.github.io/", "https://b.github.io/", false), ("https://a.github.io/", "https://github.io/", false),
        ("https://example.com/", "https://other.com/", false), ("https://a.co.uk/", "https://b.co.uk/", false),
        ("https://a.com.au/", "https://b.com.au/", false), ("http://10.0.0.1/", "http://9.0.0.1/", false),
        ("http://127.0.0.1/", "http://127.0.0.2/", false), ("http://a.0.0.1/", "http://b.0.0.1/", false),
        ("http://[::1]/", "http://[::2]/", false), ("https://com/", "https://example.com/", false),
        ("https://example.com./", "https://example.com/", false),
        ("https://www.example.com./", "https://x.example.com./", false),
        ("https://example.com.evil.org/", "https://example.com/", false), ("data:,a", "data:,a", false),
    ])
    func hostsUnderOneRegistrableDomainAreSameSite(first: String, second: String, areOne: Bool) {
        #expect(ResourceAddress(first).isSameSite(as: ResourceAddress(second)) == areOne)
        #expect(ResourceAddress(second).isSameSite(as: ResourceAddress(first)) == areOne)
    }
}
