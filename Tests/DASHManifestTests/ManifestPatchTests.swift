import DASHManifest
import Foundation
import MediaTiming
import ResourceAddressing
import SharedCorpus
import Testing

struct ManifestPatchTests {
    private static let base = """
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" id="m" publishTime="2024-01-01T00:00:00Z" type="dynamic"><BaseURL>a/</BaseURL>\
        <Period id="1"><AdaptationSet id="v" lang="en"/></Period><Period id="2"><AdaptationSet id="v"/><AdaptationSet id="w"/>\
        </Period></MPD>
        """

    private static func patch(
        _ operations: String,
        id: String = "m",
        from time: String = "2024-01-01T00:00:00Z"
    ) -> String {
        """
        <Patch xmlns="urn:mpeg:dash:schema:mpd-patch:2020" mpdId="\(id)" originalPublishTime="\(time)"
          publishTime="2024-01-01T00:00:02Z">\(operations)</Patch>
        """
    }

    private func apply(_ patch: String, to manifest: String = base) throws(ManifestPatchError) -> String {
        let bytes = try ManifestPatch(parsing: Array(patch.utf8).span).applied(to: Array(manifest.utf8).span)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a manifest in the form in which patched manifests are written.
    private func normalized(_ manifest: [UInt8]) throws -> String {
        String(decoding: try RemoteElements(in: manifest.span, address: nil).bytes, as: UTF8.self)
    }

    /// Operations, the text that they replace in the manifest, and the text that replaces it.
    private static let operations: [(patch: String, old: String, new: String)] = [
        (#"<replace sel="/MPD/@publishTime">2024-01-01T00:00:02Z</replace>"#, "00:00:00Z", "00:00:02Z"),
        (#"<replace sel="/MPD/BaseURL/text()">b&amp;c/</replace>"#, "a/", "b&amp;c/"),
        (#"<replace sel="/MPD/BaseURL[1]"><BaseURL>b/</BaseURL></replace>"#, "a/", "b/"),
        (#"<remove sel="/MPD/BaseURL"/>"#, "<BaseURL>a/</BaseURL>", ""),
        (#"<remove sel="/MPD/Period[@id='1']/AdaptationSet/@lang"/>"#, #" lang="en""#, ""),
        (#"<remove sel='/MPD/Period[@id="2"]/AdaptationSet[2]'/>"#, #"<AdaptationSet id="w"/>"#, ""),
        (#"<remove sel="/MPD/Period[last()]/*[@id='w']"/>"#, #"<AdaptationSet id="w"/>"#, ""),
        (#"<remove sel="/MPD/Period[@id=2]/AdaptationSet[@id='w'][1]"/>"#, #"<AdaptationSet id="w"/>"#, ""),
        (#"<add sel="/MPD/Period[2]/AdaptationSet[1]" type="@lang">fr</add>"#, #"id="v"/><"#, #"id="v" lang="fr"/><"#),
        (#"<add sel="/MPD"><Period id="3"/></add>"#, "</MPD>", #"<Period id="3"/></MPD>"#),
        (#"<add sel="/MPD" pos="prepend"><BaseURL/></add>"#, "<BaseURL>", "<BaseURL/><BaseURL>"),
        (#"<add sel="/MPD/BaseURL" pos="before"><BaseURL/></add>"#, "<BaseURL>", "<BaseURL/><BaseURL>"),
        (#"<add sel="/MPD/BaseURL" pos="after"><BaseURL/></add>"#, "</BaseURL>", "</BaseURL><BaseURL/>"),
        (
            #"<add sel="/MPD/Period[1]" pos="after"><Period id="a"/><Period id="b"/></add>"#, #"<Period id="2">"#,
            #"<Period id="a"/><Period id="b"/><Period id="2">"#
        ),
        (#"<add xmlns:p="urn:mpeg:dash:schema:mpd:2011" sel="/p:MPD"><p:Period/></add>"#, "</MPD>", "<Period/></MPD>"),
        (
            #"<remove sel="/MPD/Period[1]"/><remove sel="/MPD/Period[1]/AdaptationSet[2]"/>"#,
            #"<Period id="1"><AdaptationSet id="v" lang="en"/></Period>"#, ""
        ),
    ]

    @Test(arguments: operations.indices)
    func operationsChangeTheManifest(_ index: Int) throws {
        let (patch, old, new) = Self.operations[index]
        var expected = Self.base.replacing(old, with: new)
        if index == Self.operations.count - 1 { expected = expected.replacing(#"<AdaptationSet id="w"/>"#, with: "") }
        #expect(expected != Self.base)
        #expect(try apply(Self.patch(patch)) == normalized(Array(expected.utf8)))
    }

    @Test(arguments: [
        (#"<remove sel="/MPD/Period"/>"#, 2), (#"<remove sel="/MPD/Period[3]"/>"#, 0),
        (#"<remove sel="/MPD/Period[@id='x']"/>"#, 0), (#"<remove sel="/MPD/Period[1]/@start"/>"#, 0),
        (#"<replace sel="/Period"><Period/></replace>"#, 0),
    ])
    func selectorMustSelectOneNode(_ operation: String, _ count: Int) throws {
        let error = #expect(throws: ManifestPatchError.self) { try apply(Self.patch(operation)) }
        guard case .notSelected(_, let found) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(found == count)
    }

    @Test(arguments: [
        #"<remove sel="MPD/Period[1]"/>"#, #"<remove sel="//Period[1]"/>"#, #"<remove sel="/MPD"/>"#, "<remove/>",
        #"<remove sel="/MPD/Period[position()=1]"/>"#, #"<remove sel="/MPD/Period[1"/>"#,
        #"<move sel="/MPD/Period[1]"/>"#,
        #"<add sel="/MPD/Period[1]/@id"><a/></add>"#, #"<add sel="/MPD" type="namespace::a">b</add>"#,
        #"<add sel="/MPD" pos="before"><a/></add>"#, #"<add sel="/MPD" pos="inside"><a/></add>"#,
        #"<replace sel="/MPD/BaseURL"/>"#, #"<replace sel="/MPD/BaseURL"><a/><b/></replace>"#,
        // Attributes that could not be written, or would declare a namespace.
        #"<add sel="/MPD" type="@">b</add>"#, #"<add sel="/MPD" type="@a b">c</add>"#,
        #"<add sel="/MPD" type="@1a">b</add>"#, #"<add sel="/MPD" type="@a:b:c">d</add>"#,
        #"<add sel="/MPD" type="@:a">b</add>"#, #"<add sel="/MPD" type="@a='b' c">d</add>"#,
        #"<add sel="/MPD" type="@xmlns">b</add>"#, #"<add sel="/MPD" type="@xmlns:a">b</add>"#,
    ])
    func otherOperationsAreRefused(_ operation: String) throws {
        let error = #expect(throws: ManifestPatchError.self) { try apply(Self.patch(operation)) }
        guard case .unsupported = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func addedLanguageReplacesTheLanguage() throws {
        let manifest = Self.base.replacing("<MPD ", with: #"<MPD xml:lang="en" "#)
        let expected = Self.base.replacing("<MPD ", with: #"<MPD xml:lang="fr" "#)
        let result = try apply(Self.patch(#"<add sel="/MPD" type="@xml:lang">fr</add>"#), to: manifest)
        #expect(try result == normalized(Array(expected.utf8)))
    }

    @Test func patchOfAnotherVersionIsRefused() throws {
        let change = #"<remove sel="/MPD/BaseURL"/>"#
        for patch in [Self.patch(change, id: "n"), Self.patch(change, from: "2024-01-01T00:00:01Z")] {
            let error = #expect(throws: ManifestPatchError.self) { try apply(patch) }
            guard case .differentVersion = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        // The same time may be written in another time zone.
        #expect(try !apply(Self.patch(change, from: "2024-01-01T01:00:00+01:00")).contains("BaseURL"))
    }

    @Test func otherDocumentsAreNoPatches() {
        #expect(throws: ManifestPatchError.notAPatch(root: "MPD")) { try apply(Self.base) }
        #expect(throws: ManifestPatchError.self) { try apply("<!DOCTYPE a [<!ENTITY b 'c'>]><Patch>&b;</Patch>") }
    }

    @Test func operationsCannotNestElementsWithoutEnd() throws {
        let chain = String(repeating: "<a>", count: 50) + String(repeating: "</a>", count: 50)
        let path = String(repeating: "/a", count: 50)
        let operations = (0..<20).map { index in
            #"<add sel="/MPD\#(String(repeating: path, count: index))">\#(chain)</add>"#
        }
        let error = #expect(throws: ManifestPatchError.self) { try apply(Self.patch(operations.joined())) }
        guard case .tooLarge = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func operationsCannotVisitElementsWithoutEnd() throws {
        let entries = String(repeating: #"<S d="1"/>"#, count: 20_000)
        let manifest = Self.base.replacing("<BaseURL>a/</BaseURL>", with: "<X>\(entries)</X>")
        let operations = String(repeating: #"<replace sel="/MPD/X/S[20000]/@d">2</replace>"#, count: 10_000)
        let error = #expect(throws: ManifestPatchError.self) { try apply(Self.patch(operations), to: manifest) }
        guard case .tooLarge = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func patchIsAvailableForALimitedTime() throws {
        let manifest = try parseManifest(
            Self.base.replacing("<BaseURL>", with: #"<PatchLocation ttl="60">p.mpp?t=1</PatchLocation><BaseURL>"#),
            address: "https://example.test/live/manifest.mpd"
        )
        let published = MediaTime(seconds: 1_704_067_200)
        #expect(manifest.patchAddress(at: published)?.text == "https://example.test/live/p.mpp?t=1")
        #expect(manifest.patchAddress(at: published + 60) != nil)
        #expect(manifest.patchAddress(at: published + 61) == nil)
        #expect(try parseManifest(Self.base).patchAddress(at: published) == nil)
    }

    /// The patch that livesim2 made of two versions of its manifest changes the first one to the second one.
    @Test(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
    func patchOfTheCorpusMakesTheNextVersion() throws {
        let folder = "corpus/dash/Dash-Industry-Forum__livesim2/pkg/patch/testdata"
        let change = try SharedCorpus.bytes("\(folder)/multiperiod_patch.mpp")
        let first = try SharedCorpus.bytes("\(folder)/multiperiod_1.mpd")
        let patch = try ManifestPatch(parsing: change.span)
        #expect(patch.presentationID == "base")
        let patched = try patch.applied(to: first.span)
        #expect(try normalized(patched) == normalized(SharedCorpus.bytes("\(folder)/multiperiod_2.mpd")))
        let error = #expect(throws: ManifestPatchError.self) { try patch.applied(to: patched.span) }
        guard case .differentVersion = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    /// Every manifest of the corpus has the same contents after it was written.
    @Test(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
    func writtenManifestsHaveTheSameContents() throws {
        var count = 0
        for file in try SharedCorpus.files(below: "corpus/dash", extensions: ["mpd"]) {
            guard let first = try? parseManifest(at: file) else { continue }
            let bytes = try SharedCorpus.bytes(file.path.components(separatedBy: "/shared/").last ?? "")
            // Links without a base URL are removed.
            guard !RemoteElements.areUsed(in: bytes) else { continue }
            let second = try parseManifest(normalized(bytes))
            let (left, right) = (names(first.element), names(second.element))
            #expect(left.count == right.count, "\(file.path)")
            #expect(zip(left, right).first { $0 != $1 } == nil, "\(file.path)")
            #expect(first.diagnostics.map(\.code) == second.diagnostics.map(\.code), "\(file.path)")
            count += 1
        }
        #expect(count >= 430)
    }

    /// Returns the names, attributes, texts and timelines of an element and those within it.
    private func names(_ element: ManifestElement) -> [String] {
        let attributes = element.attributes.map { "\($0)" }
        return ["\(element.name)", element.trimmedText] + attributes + element.timeline.map { "\($0)" }
            + element.children.flatMap { names($0) }
    }
}
