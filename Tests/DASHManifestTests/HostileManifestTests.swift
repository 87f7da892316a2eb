import DASHManifest
import MediaTiming
import SharedCorpus
import Testing

/// Manifests that try to make a reader expand, recurse or trap.
struct HostileManifestTests {
    private static let namespace = #"xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="" minBufferTime="PT2S""#

    @Test(arguments: [
        #"<!DOCTYPE MPD [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><MPD \#(namespace)>&b;</MPD>"#,
        #"<!DOCTYPE MPD [<!ENTITY a SYSTEM "file:///etc/passwd">]><MPD \#(namespace)><BaseURL>&a;</BaseURL></MPD>"#,
        #"<!DOCTYPE MPD [<!ENTITY % a SYSTEM "http://example.test/a.dtd"> %a;]><MPD \#(namespace)/>"#,
        #"<!DOCTYPE MPD [<!ATTLIST MPD type CDATA "dynamic">]><MPD \#(namespace)/>"#,
    ])
    func declarationsAreRejected(_ text: String) {
        #expect(throws: ManifestParsingError.self) { try parseManifest(text) }
        guard case .hasDeclarations = parsingError(text) else {
            Issue.record("rejected for another reason")
            return
        }
    }

    @Test func limitsOfSizeDepthAndCountsAreEnforced() {
        let deep = String(repeating: "<x>", count: 70) + String(repeating: "</x>", count: 70)
        let entries = String(repeating: #"<S d="1"/>"#, count: 11)
        let timeline =
            "<Period><AdaptationSet><SegmentTemplate><SegmentTimeline>\(entries)</SegmentTimeline></SegmentTemplate>"
            + "</AdaptationSet></Period>"
        let cases: [(String, ManifestLimits)] = [
            (deep, ManifestLimits()), (timeline, ManifestLimits(timelineEntryCount: 10)),
            (timeline, ManifestLimits(elementCount: 4)), (timeline, ManifestLimits(byteCount: 100)),
        ]
        for (contents, limits) in cases {
            guard case .tooLarge = parsingError("<MPD \(Self.namespace)>\(contents)</MPD>", limits: limits) else {
                Issue.record("\(limits) was not enforced")
                continue
            }
        }
        #expect(throws: Never.self) {
            try parseManifest(
                "<MPD \(Self.namespace)>\(timeline)</MPD>",
                limits: ManifestLimits(timelineEntryCount: 11, elementCount: 5)
            )
        }
    }

    @Test func diagnosticsAreBounded() throws {
        let periods = String(repeating: #"<Period start="x"/>"#, count: 50)
        let presentation = try parseManifest(
            "<MPD \(Self.namespace)>\(periods)</MPD>",
            limits: ManifestLimits(diagnosticCount: 10)
        )
        #expect(presentation.diagnostics.count == 11)
        #expect(presentation.diagnostics.last?.code == .omittedDiagnostics)
        #expect(presentation.diagnostics.last?.message == "40 further diagnostics are omitted")
    }

    @Test func valuesInMessagesAreShortened() throws {
        let long = String(repeating: "x", count: 10_000)
        let presentation = try parseManifest(#"<MPD \#(Self.namespace) maxSegmentDuration="\#(long)" \#(long)="1"/>"#)
        #expect(presentation.diagnostics.count == 3)
        for diagnostic in presentation.diagnostics { #expect(diagnostic.message.utf8.count < 300) }
    }

    @Test func otherDocumentsAreRefusedWithTheirRoot() {
        let cases: [(String, ManifestParsingError)] = [
            ("<SmoothStreamingMedia/>", .notAManifest(root: "SmoothStreamingMedia")),
            ("<html><MPD/></html>", .notAManifest(root: "html")),
        ]
        for (text, expected) in cases {
            #expect(throws: expected) { try parseManifest(text) }
        }
        for text in ["", "#EXTM3U\n", "<MPD", "<MPD></Period></MPD>", "{}"] {
            guard case .invalidXML = parsingError(text) else {
                Issue.record("\(text) was not refused as XML")
                continue
            }
        }
    }

    @Test func entriesWithUnusualContentsAreBounded() throws {
        let presentation = try parsePeriod(
            """
            <SegmentTemplate><SegmentTimeline><S d="1" r="99999999999999999999"><S d="2"><x/></S></S><S/>
            <S t="-1" d="-5" r="-7" k="0"/></SegmentTimeline></SegmentTemplate>
            """
        )
        let timeline = presentation.periods[0].element.element(.segmentTemplate)?.element(.segmentTimeline)?.timeline
        #expect(
            timeline == [
                TimelineEntry(duration: 1, repeatCount: .max), TimelineEntry(duration: 0),
                TimelineEntry(time: -1, duration: 0, repeatCount: -7),
            ]
        )
    }

    /// A document cut at any byte is refused, and neither it nor one with a byte changed makes the reader trap.
    @Test(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
    func damagedManifestsDoNotTrap() throws {
        let bytes = try SharedCorpus.bytes("corpus/dash/seed/bbb_30fps.mpd")
        let end = try #require(bytes.lastIndex(of: UInt8(ascii: ">")))
        for count in stride(from: 0, to: end, by: 7) {
            #expect(throws: ManifestParsingError.self) { try MediaPresentation(parsing: Array(bytes[..<count]).span) }
        }
        var refused = 0
        var random = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            var damaged = bytes
            damaged[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            if (try? MediaPresentation(parsing: damaged.span)) == nil { refused += 1 }
        }
        #expect(refused > 0)
    }

    @Test func parsingAManifestEndsWhenItIsCanceled() {
        let elements = String(repeating: "<BaseURL>a</BaseURL>", count: 5_000)
        let text = "<MPD \(Self.namespace)>\(elements)</MPD>"
        #expect(parsingError(text) == nil)
        let error = CancelableWork.perform(canceledIf: { true }) { parsingError(text) }
        #expect(error == .canceled)
    }
}

/// A generator whose numbers depend on its seed only.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
