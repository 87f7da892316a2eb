import DASHManifest
import ResourceAddressing
import Testing

struct RemoteElementsTests {
    private static let onLoad = #"xlink:actuate="onLoad""#

    private func remote(_ contents: String) throws -> RemoteElements {
        let manifest = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:xlink="http://www.w3.org/1999/xlink">\(contents)</MPD>
            """
        return try RemoteElements(
            in: Array(manifest.utf8).span,
            address: ResourceAddress("https://example.test/a/manifest.mpd")
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

    @Test func elementThatResolvesToZeroIsRemoved() throws {
        let manifest = try remote(
            #"<Period id="1"><EventStream xlink:href="urn:mpeg:dash:resolve-to-zero:2013" \#(Self.onLoad)/></Period>"#
                + #"<Period xlink:href="urn:mpeg:dash:resolve-to-zero:2013" \#(Self.onLoad)/>"#
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

    @Test func onlyLinksToTheNetworkThatAreLoadedAtOnceAreFollowed() throws {
        let manifest = try remote(
            #"<Period xlink:href="p"/><Period xlink:href="p" xlink:actuate="onRequest"/>"#
                + #"<Period xlink:href="file:///etc/passwd" \#(Self.onLoad)/>"#
        )
        #expect(manifest.references.isEmpty)
        #expect(try elements(manifest).map { $0[.linkReference] } == ["p", "p", nil])
    }

    @Test func theNumberOfLinksIsBounded() throws {
        let links = String(repeating: #"<Period xlink:href="p" \#(Self.onLoad)/>"#, count: 2_100)
        #expect(try remote(links).references.count == 2_000)
    }

    @Test func manifestsWithoutLinksAreRecognized() {
        #expect(!RemoteElements.areUsed(in: Array("<MPD><Period/></MPD>".utf8)))
        #expect(RemoteElements.areUsed(in: Array(#"<MPD><Period xlink:actuate="onLoad"/></MPD>"#.utf8)))
    }
}
