import DASHManifest
import MediaTiming
import ReportFormat
import ResourceAddressing
import Testing

/// The sizes of manifests: limits, estimates, and what a report leaves out.
struct ManifestSizeTests {
    private static let namespace = #"xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="" minBufferTime="PT2S""#

    @Test func attributesOfAllElementsAreLimited() {
        let contents = String(repeating: #"<Period id="a" start="PT0S"/>"#, count: 4)
        let text = "<MPD \(Self.namespace)>\(contents)</MPD>"
        // The root has two attributes besides the declaration of the namespace.
        guard case .tooLarge(let message, _) = parsingError(text, limits: ManifestLimits(attributeCount: 9)) else {
            Issue.record("the limit was not enforced")
            return
        }
        #expect(message == "there are more than 9 attributes")
        #expect(parsingError(text, limits: ManifestLimits(attributeCount: 10)) == nil)
    }

    @Test(arguments: [
        "<BaseURL>%</BaseURL>", "<Location>%</Location>", "<PatchLocation>%</PatchLocation>",
        #"<Period><SegmentTemplate media="%"/></Period>"#,
        #"<Period><SegmentTemplate initialization="%"/></Period>"#,
        #"<Period><AdaptationSet codecs="%"/></Period>"#,
        #"<Period><SegmentList><SegmentURL media="%"/></SegmentList></Period>"#,
        #"<Period><SegmentBase><Initialization sourceURL="%"/></SegmentBase></Period>"#,
    ])
    func longAddressesAndAttributesAreRefused(_ contents: String) {
        func error(_ length: Int) -> ManifestParsingError? {
            let address = String(repeating: "a", count: length)
            return parsingError("<MPD \(Self.namespace)>\(contents.replacing("%", with: address))</MPD>")
        }
        #expect(error(65_536) == nil)
        guard case .tooLarge(let message, _) = error(65_537) else {
            Issue.record("the limit was not enforced")
            return
        }
        #expect(message.hasSuffix("has 65537 bytes, more than 65536"))
    }

    @Test func valuesThatContainDataMayBeLong() {
        let data = String(repeating: "a", count: 100_000)
        let event = "<Period><EventStream schemeIdUri=\"a\"><Event messageData=\"\(data)\"/></EventStream></Period>"
        #expect(parsingError("<MPD \(Self.namespace)>\(event)</MPD>") == nil)
        #expect(parsingError("<MPD \(Self.namespace)><x a=\"\(data)\"/></MPD>") == nil)
    }

    /// The estimate decides when a manifest is removed from memory.
    @Test func estimatedMemoryIsLinearInElementsAttributesAndText() throws {
        func size(_ contents: String) throws -> Int {
            try parseManifest("<MPD \(Self.namespace)>\(contents)</MPD>").memorySize
        }
        let base = try size("")
        let element = try size("<x/>") - base
        #expect(element > 100)
        #expect(try size(String(repeating: "<x/>", count: 1_000)) - base == 1_000 * element)
        #expect(try size(#"<x a="" b=""/>"#) - base - element >= 64)
        #expect(try size("<x>\(String(repeating: "a", count: 10_000))</x>") - base - element == 10_000)
        #expect(try size("<x a=\"\(String(repeating: "a", count: 10_000))\"/>") - base - element > 10_000)
        let entries = "<SegmentTimeline>\(String(repeating: #"<S d="1"/>"#, count: 1_000))</SegmentTimeline>"
        #expect(try size(entries) - base - element >= 1_000 * 40)
    }

    @Test func manifestWithoutContentsTellsWhereAndWhenTheNextOneIsLoaded() throws {
        let periods = String(repeating: "<Period/>", count: 1_000)
        let presentation = try parseManifest(
            "<MPD \(Self.namespace) type=\"dynamic\" minimumUpdatePeriod=\"PT8S\"><Location>a</Location>\(periods)</MPD>",
            address: "https://example.test/manifest.mpd"
        )
        let rest = presentation.withoutContents
        #expect(rest.kind == .dynamic && rest.minimumUpdatePeriod == presentation.minimumUpdatePeriod)
        #expect(rest.locations == ["a"] && rest.address == presentation.address)
        #expect(rest.periods.isEmpty && rest.memorySize < 1_000 && presentation.memorySize > 100_000)
    }

    // MARK: Reports

    /// Returns the values of a field in all objects of a report, in order.
    private static func values(_ name: String, in report: ReportValue) -> [ReportValue] {
        switch report {
        case .object(let fields):
            fields.flatMap { field in (field.name == name ? [field.value] : []) + values(name, in: field.value) }
        case .array(let items): items.flatMap { values(name, in: $0) }
        case .string, .number, .bool, .sequence: []
        }
    }

    private static func numbers(_ name: String, in report: ReportValue) -> [String] {
        values(name, in: report).compactMap { value in
            guard case .number(let text) = value else { return nil }
            return text
        }
    }

    @Test func segmentsThatAReportOmitsAreCounted() throws {
        let sets = String(
            repeating: #"<AdaptationSet><Representation id="v" bandwidth="1"/></AdaptationSet>"#,
            count: 2
        )
        let presentation = try parsePeriod(
            #"<SegmentTemplate media="$Number$" duration="1"/>"# + sets,
            attributes: #"mediaPresentationDuration="PT300000S""#
        )
        let report = presentation.report
        #expect(Self.numbers("segmentCount", in: report) == ["300000", "300000"])
        #expect(Self.numbers("segmentsOmitted", in: report) == ["50000", "300000"])
        #expect(Self.values("fault", in: report).isEmpty)
    }

    @Test func segmentsThatAreNotCountedAreAFault() throws {
        let segments = String(repeating: #"<SegmentURL media="a"/>"#, count: 5_000)
        let presentation = try parsePeriod(
            """
            <BaseURL>\(String(repeating: "a", count: 60_000))/</BaseURL><AdaptationSet>
            <SegmentList duration="1">\(segments)</SegmentList><Representation id="v" bandwidth="1"/></AdaptationSet>
            """
        )
        let faults = Self.values("fault", in: presentation.report).compactMap { value -> String? in
            guard case .string(let text) = value else { return nil }
            return text
        }
        #expect(faults == ["too-many-segments"])
    }
}
