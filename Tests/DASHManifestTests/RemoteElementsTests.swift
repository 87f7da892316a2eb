import DASHManifest
import MediaTiming
import ResourceAddressing
import Testing

struct RemoteElementsTests {
    private static let onLoad = #"xlink:actuate="onLoad""#

    private func remote(
        _ contents: String,
        attributes: String = "",
        at date: MediaTime? = nil
    ) throws -> RemoteElements {
        let manifest = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:xlink="http://www.w3.org/1999/xlink" \(attributes)>
            \(contents)</MPD>
            """
        return try RemoteElements(
            in: Array(manifest.utf8).span,
            address: ResourceAddress("https://example.test/a/manifest.mpd"),
            at: date
        )
    }

    private func elements(_ remote: RemoteElements) throws -> [ManifestElement] {
        try MediaPresentation(parsing: remote.bytes.span).element.children
    }

    @Test func elementIsReplacedByThoseOfTheDocument() throws {
        var manifest = try remote(
            #"<Period id="1"/><Period xlink:href="p?q=1" \#(Self.onLoad) id="old"/><Period id="4"/>"#
        )
        let reference = try #require(manifest.references.first)
        #expect(manifest.references.count == 1)
        #expect(reference.address.text == "https://example.test/a/p?q=1")
        let document = """
            <?xml version="1.0" encoding="UTF-8"?>
            <Period xmlns="urn:mpeg:dash:schema:mpd:2011" id="2"/><Period id="3"><AdaptationSet/></Period>
            """
        let isReplaced = manifest.resolve(reference, with: Array(document.utf8))
        #expect(isReplaced && manifest.references.isEmpty)
        let periods = try elements(manifest)
        #expect(periods.map { $0[.id] } == ["1", "2", "3", "4"])
        #expect(periods.allSatisfy { $0.kind == .period })
        #expect(periods[2].children.first?.kind == .adaptationSet)
    }

    @Test(arguments: [true, false]) func useInManifestsInUTF16IsAssumed(_ hasMark: Bool) {
        let text = (hasMark ? "\u{FEFF}" : "") + "<MPD/>"
        let bytes = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        #expect(RemoteElements.areUsed(in: bytes))
        #expect(!RemoteElements.areUsed(in: Array("<MPD/>".utf8)))
    }

    @Test(arguments: [onLoad, #"xlink:actuate="onRequest""#, ""])
    func elementThatResolvesToZeroIsRemoved(_ actuate: String) throws {
        let manifest = try remote(
            #"<Period id="1"><EventStream xlink:href="urn:mpeg:dash:resolve-to-zero:2013" \#(actuate)/></Period>"#
                + #"<Period start="PT1H" xlink:href="urn:mpeg:dash:resolve-to-zero:2013" \#(actuate)/>"#,
            attributes: #"type="dynamic" availabilityStartTime="1970-01-01T00:00:00Z""#,
            at: 0
        )
        #expect(manifest.references.isEmpty)
        let periods = try elements(manifest)
        #expect(periods.map { $0[.id] } == ["1"])
        #expect(periods.first?.children == [])
    }

    @Test(arguments: [
        "", "no XML", "<Period>", #"<AdaptationSet id="2"/>"#, "<!DOCTYPE a [<!ENTITY b 'c'>]><Period>&b;</Period>",
        "</remote><Period/>",
    ])
    func elementStaysWithoutItsLinkIfTheDocumentIsInvalid(_ document: String) throws {
        var manifest = try remote(#"<Period xlink:href="p" \#(Self.onLoad) id="1"/>"#)
        let reference = try #require(manifest.references.first)
        let isReplaced = manifest.resolve(reference, with: Array(document.utf8))
        #expect(!isReplaced && manifest.references.isEmpty)
        let periods = try elements(manifest)
        #expect(periods.map { $0[.id] } == ["1"])
        #expect(periods.first?[.linkReference] == nil && periods.first?[.linkActuate] == nil)
    }

    @Test func linksWithinRemoteElementsAreRelativeToThemAndBounded() throws {
        var manifest = try remote(#"<Period xlink:href="b/p" \#(Self.onLoad)/>"#)
        let document = #"<Period xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="c/p" \#(Self.onLoad)/>"#
        var addresses: [String] = []
        while let reference = manifest.references.first {
            addresses.append(reference.address.text)
            manifest.resolve(reference, with: Array(document.utf8))
        }
        #expect(
            addresses == [
                "https://example.test/a/b/p", "https://example.test/a/b/c/p", "https://example.test/a/b/c/c/p",
                "https://example.test/a/b/c/c/c/p",
            ]
        )
        #expect(try elements(manifest).count == 1)
    }

    /// Segments are not resolved against the base URL of a segment list, nor against one of another namespace.
    @Test(arguments: [
        ("", "<BaseURL>https://e.test/</BaseURL>", false),
        (#"<x:BaseURL xmlns:x="urn:x">https://e.test/</x:BaseURL>"#, "", false),
        (#"<x:BaseURL xmlns:x="urn:x">file:///b/</x:BaseURL><BaseURL>https://e.test/</BaseURL>"#, "", true),
        (#"<BaseURL xmlns="">https://e.test/</BaseURL>"#, "", true),
    ])
    func onlyBaseURLsOfSegmentsCountInALocalManifest(_ outer: String, _ inner: String, isInserted: Bool) throws {
        let manifest = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:xlink="http://www.w3.org/1999/xlink">
            <Period><AdaptationSet>\(outer)
            <SegmentList xlink:href="https://example.test/list" \(Self.onLoad)/></AdaptationSet></Period></MPD>
            """
        var elements = try RemoteElements(
            in: Array(manifest.utf8).span,
            address: ResourceAddress("file:///a/manifest")
        )
        let reference = try #require(elements.references.first)
        let list = #"<SegmentList>\#(inner)<SegmentURL media="../home/u/x"/></SegmentList>"#
        let wasInserted = elements.resolve(reference, with: Array(list.utf8))
        #expect(wasInserted == isInserted)
        #expect(elements.localReferences == (isInserted ? [] : [reference.address]))
    }

    @Test func onlyLinksToTheNetworkAreFollowed() throws {
        let manifest = try remote(
            #"<Period xlink:href="p"/><Period xlink:href="q" xlink:actuate="onRequest"/>"#
                + #"<Period xlink:href="file:///etc/passwd" \#(Self.onLoad)/>"#
        )
        let addresses = manifest.references.map(\.address.text)
        #expect(addresses == ["https://example.test/a/p", "https://example.test/a/q"])
        #expect(try elements(manifest).map { $0[.linkReference] } == ["p", "q", nil])
    }

    /// Elements without `xlink:actuate` are loaded on request, ten seconds before their period begins.
    @Test func elementsOfLaterPeriodsAreNotNeededYet() throws {
        let contents = """
            <Period id="1" start="PT0S"><AdaptationSet xlink:href="1"/></Period>
            <Period id="2" start="PT1H" xlink:href="2" \(Self.onLoad)/>
            <Period id="3" start="PT40S" xlink:href="3"/>
            <Period id="4" start="PT20S"><AdaptationSet xlink:href="4" xlink:actuate="onRequest"/></Period>
            <Period id="5" xlink:href="5"/>
            """
        let attributes = #"type="dynamic" availabilityStartTime="1970-01-01T00:01:00Z""#
        func names(_ date: MediaTime?, _ attributes: String = attributes) throws -> [String] {
            try remote(contents, attributes: attributes, at: date).references.map(\.address.lastPathComponent)
        }
        #expect(try names(69) == ["1", "2", "5"])
        #expect(try names(70) == ["1", "2", "4", "5"])
        #expect(try names(90) == ["1", "2", "3", "4", "5"])
        #expect(try names(nil) == ["1", "2", "3", "4", "5"])
        #expect(try names(0, "") == ["1", "2", "3", "4", "5"])
        #expect(try names(0, #"type="dynamic""#) == ["1", "2", "3", "4", "5"])
        #expect(try remote(contents, attributes: attributes, at: 69).nextDate == 70)
        #expect(try remote(contents, attributes: attributes, at: 70).nextDate == 90)
        #expect(try remote(contents, attributes: attributes, at: 90).nextDate == nil)
        let kept = try elements(remote(contents, attributes: attributes, at: 69))
        #expect(kept[2][.linkReference] == "3")
    }

    @Test func theNumberOfLinksIsBounded() throws {
        let links = String(repeating: #"<Period xlink:href="p" \#(Self.onLoad)/>"#, count: 2_100)
        #expect(try remote(links).references.count == 2_000)
    }

    @Test func manifestsWithoutLinksAreRecognized() {
        #expect(!RemoteElements.areUsed(in: Array("<MPD><Period/></MPD>".utf8)))
        #expect(RemoteElements.areUsed(in: Array(#"<MPD><Period xlink:href="p"/></MPD>"#.utf8)))
        #expect(RemoteElements.areUsed(in: Array(":href".utf8)) && !RemoteElements.areUsed(in: Array("::hre".utf8)))
    }
}
