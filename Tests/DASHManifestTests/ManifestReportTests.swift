import DASHManifest
import Foundation
import ReportFormat
import SharedCorpus
import Testing

struct ManifestReportTests {
    @Test func reportHasTheContractsFieldsAndTheWholeDocument() throws {
        let presentation = try parsePeriod(
            """
            <AdaptationSet id="1" contentType="video" mimeType="video/mp4" lang="en" segmentAlignment="true">
            <Role schemeIdUri="urn:mpeg:dash:role:2011" value="main"/>
            <SegmentTemplate timescale="10" media="$Number$" initialization="i"><SegmentTimeline><S t="0" d="50" r="1"/>
            </SegmentTimeline></SegmentTemplate>
            <Representation id="v" bandwidth="100" codecs="avc1.64001f,mp4a.40.2" width="2" height="1" frameRate="25"/>
            </AdaptationSet>
            """
        )
        #expect(
            presentation.report.json == #"{"kind":"dash","url":"https://example.test/a/manifest.mpd?token=1","#
                + #""type":"static","duration":10,"profiles":["urn:mpeg:dash:profile:isoff-live:2011"],"periods":["#
                + #"{"id":"p","start":0,"duration":10,"adaptationSets":[{"id":"1","contentType":"video","#
                + #""mimeType":"video/mp4","language":"en","roles":["main"],"representations":[{"id":"v","#
                + #""bandwidth":100,"mimeType":"video/mp4","codecs":"avc1.64001f,mp4a.40.2","width":2,"height":1,"#
                + #""frameRate":25,"segmentCount":2,"initialization":{"url":"https://example.test/a/i"},"segments":["#
                + #"{"number":1,"time":0,"start":0,"duration":5,"url":"https://example.test/a/1"},"#
                + #"{"number":2,"time":50,"start":5,"duration":5,"url":"https://example.test/a/2"}]}]}]}],"#
                + #""document":{"name":"MPD","line":2,"attributes":{"profiles":["urn:mpeg:dash:profile:isoff-live:2011"],"#
                + #""minBufferTime":2,"type":"static","mediaPresentationDuration":10},"children":["#
                + #"{"name":"Period","line":3,"attributes":{"id":"p"},"children":[{"name":"AdaptationSet","line":3,"#
                + #""attributes":{"id":"1","contentType":"video","mimeType":"video/mp4","lang":"en","segmentAlignment":true},"#
                + #""children":[{"name":"Role","line":4,"attributes":{"schemeIdUri":"urn:mpeg:dash:role:2011","value":"main"}},"#
                + #"{"name":"SegmentTemplate","line":5,"attributes":{"timescale":10,"media":"$Number$","initialization":"i"},"#
                + #""children":[{"name":"SegmentTimeline","line":5,"timeline":[{"t":0,"d":50,"r":1}]}]},"#
                + #"{"name":"Representation","line":7,"attributes":{"id":"v","bandwidth":100,"#
                + #""codecs":["avc1.64001f","mp4a.40.2"],"width":2,"height":1,"frameRate":"25"}}]}]}]},"diagnostics":[]}"#
        )
    }

    @Test func segmentsOfOneReportAreBounded() throws {
        let sets = String(
            repeating: #"<AdaptationSet><Representation id="v" bandwidth="1"/></AdaptationSet>"#,
            count: 3
        )
        let presentation = try parsePeriod(
            #"<SegmentTemplate media="$Number$" timescale="1000000" duration="1"/>"# + sets,
            attributes: #"mediaPresentationDuration="P1Y""#
        )
        guard case .object(let fields) = presentation.report else {
            Issue.record("the report is no object")
            return
        }
        #expect(fields.contains { $0.name == "periods" })
        var lists: [Int] = []
        func visit(_ value: ReportValue) {
            switch value {
            case .object(let fields):
                for field in fields {
                    if field.name == "segments", case .sequence(let segments) = field.value {
                        lists.append(segments.count)
                    }
                    visit(field.value)
                }
            case .array(let values): values.forEach(visit)
            case .string, .number, .bool, .sequence: break
            }
        }
        visit(presentation.report)
        #expect(lists == [250_000, 0, 0])
    }

    @Test(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
    func reportsOfTheCorpusAreValidJSON() throws {
        var count = 0
        for file in try SharedCorpus.files(below: "corpus/dash", extensions: ["mpd"]) {
            guard let presentation = try? parseManifest(at: file) else { continue }
            // Some manifests of a kilobyte describe a day of segments.
            guard let bytes = try? presentation.report.json(limit: 1 << 20) else { continue }
            #expect(throws: Never.self, "\(file.path)") { try JSONSerialization.jsonObject(with: Data(bytes)) }
            count += 1
        }
        #expect(count >= 430)
    }
}
