import HLSPlaylist
import ResourceAddressing
import StreamingEngine
import Testing

@Suite struct DeliveryDirectivesTests {
    private static let all = DeliveryDirectives(mediaSequence: 273, part: 2, skip: .segmentsAndDateRanges)

    @Test(arguments: [
        ("https://a.example/v.m3u8", "https://a.example/v.m3u8?_HLS_msn=273&_HLS_part=2&_HLS_skip=v2"),
        (
            "https://a.example/v.m3u8?t=%2F+b&&x",
            "https://a.example/v.m3u8?t=%2F+b&&x&_HLS_msn=273&_HLS_part=2&_HLS_skip=v2"
        ),
        ("https://a.example/v.m3u8?#f?g", "https://a.example/v.m3u8?&_HLS_msn=273&_HLS_part=2&_HLS_skip=v2#f?g"),
        ("v.m3u8?_HLS_msn=1&a=b&_HLS_part=9", "v.m3u8?a=b&_HLS_msn=273&_HLS_part=2&_HLS_skip=v2"),
        ("v?x_HLS_msn=1", "v?x_HLS_msn=1&_HLS_msn=273&_HLS_part=2&_HLS_skip=v2"),
    ])
    func directivesAreAppendedToTheQuery(address: String, expected: String) {
        #expect(Self.all.applied(to: ResourceAddress(address)).text == expected)
    }

    @Test(arguments: ["https://a.example/v.m3u8?a=%zz", "v.m3u8?", "https://a.example/é?q#f", ""])
    func theAddressIsUnchangedWithoutDirectives(address: String) {
        #expect(DeliveryDirectives.none.applied(to: ResourceAddress(address)).text == address)
    }

    @Test func aPartWithoutASegmentIsIgnored() {
        let directives = DeliveryDirectives(part: 3, skip: .segments)
        #expect(directives.applied(to: ResourceAddress("v")).text == "v?_HLS_skip=YES")
        #expect(!directives.isBlocking)
    }

    private func playlist(_ control: String, tail: [String]) throws -> MediaPlaylist {
        try LiveWindowText(head: ["#EXT-X-SERVER-CONTROL:\(control)"], tail: tail).playlist
    }

    private static let reports = [
        #"#EXT-X-RENDITION-REPORT:URI="../audio/en.m3u8?t=1",LAST-MSN=41,LAST-PART=3"#,
        #"#EXT-X-RENDITION-REPORT:URI="../audio/de.m3u8",LAST-MSN=42"#,
        #"#EXT-X-RENDITION-REPORT:URI="../audio/fr.m3u8""#,
    ]

    @Test(arguments: [
        ("audio/en.m3u8?t=1", true, DeliveryDirectives(mediaSequence: 41, part: 3)),
        ("audio/en.m3u8?t=1", false, DeliveryDirectives(mediaSequence: 41)),
        ("audio/en.m3u8?t=2", true, DeliveryDirectives(mediaSequence: 41, part: 3)),
        ("audio/de.m3u8", true, DeliveryDirectives(mediaSequence: 42)),
        ("audio/fr.m3u8", true, .none),
        ("audio/it.m3u8", true, .none),
    ])
    func aReportNamesTheFirstRequestOfAnotherRendition(
        address: String,
        isLowLatency: Bool,
        expected: DeliveryDirectives
    ) throws {
        let directives = DeliveryDirectives.firstRequest(
            for: ResourceAddress("https://example.com/\(address)"),
            reportedBy: try playlist("CAN-BLOCK-RELOAD=YES", tail: Self.reports),
            isLowLatency: isLowLatency
        )
        #expect(directives == expected)
    }

    @Test func noBlockingReloadIsRequestedWithoutSupport() throws {
        let directives = DeliveryDirectives.firstRequest(
            for: ResourceAddress("https://example.com/audio/de.m3u8"),
            reportedBy: try playlist("CAN-BLOCK-RELOAD=NO", tail: Self.reports),
            isLowLatency: true
        )
        #expect(directives == .none)
    }
}
