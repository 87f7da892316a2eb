import DASHManifest
import MediaTiming
import ResourceAddressing
import Testing

struct ResolvedTemplateTests {
    private static let bases = [
        "https://example.test/a/manifest.mpd?token=1", "https://example.test", "/b/c.mpd", "file:///m.mpd", "",
    ]

    private func addressing(_ media: String, base: String, id: String = "v") throws -> SegmentAddressing {
        try firstAddressing(
            parsePeriod(
                """
                <AdaptationSet><Representation id="\(id)" bandwidth="2000"><SegmentTemplate media="\(media)" \
                startNumber="7" timescale="10"><SegmentTimeline><S t="5" d="10" r="3" k="2"/><S d="15" r="2"/>\
                <S t="95" d="1"/></SegmentTimeline></SegmentTemplate></Representation></AdaptationSet>
                """,
                address: base
            )
        )
    }

    @Test(
        arguments: [
            "$Number$.m4s", "$Time$", "x/$RepresentationID$-$Time$_$SubNumber$.m4s?b=$Bandwidth$#f", "../$Number%05d$",
            "$Number%04X$/$Time%3o$", "/root/$Time%x$.mp4", "//host$Number$/a", "..$Time$", "?n=$Number$", "#$Time$",
            "a.b/./../$Time$é.m4s", "$$x$$$Number%012d$", "https://other.test/$Number$", "$Number$\u{301}/.b",
            "a$Number$:b/$Time$", "$Number$/../$Time$.m4s", "$Number%1x$:a",
        ],
        bases
    )
    func resolvedTemplatesGiveTheAddressesOfTheSegments(media: String, base: String) throws {
        for id in ["v", "../v", "1:2", ".", ""] {
            let addressing = try addressing(media, base: base, id: id)
            let times = try #require(addressing.times)
            #expect(addressing.count > 5)
            guard var template = addressing.resolvedTemplate(encode: { text, _ in text }) else {
                // Text that changes the structure of a URL is resolved for each segment.
                #expect(media.contains("/") || media.contains(":") || media.contains("RepresentationID"))
                continue
            }
            var position = SegmentTimes.Position()
            for index in 0..<addressing.count {
                var text: [UInt8] = []
                template.append(try #require(times.entry(at: index, near: &position)), to: &text)
                let expected = try #require(addressing.segment(at: index)).resource.address.text
                #expect(text == Array(expected.utf8), "\(media) \(base) \(id)")
            }
        }
    }

    @Test func commonTemplatesAreResolvedOnce() throws {
        for media in ["$Number$.m4s", "$RepresentationID$/$Time$.m4s", "v/$Number%05d$_$Bandwidth$.m4s?a=b"] {
            let addressing = try addressing(media, base: "https://example.test/a/b.mpd")
            #expect(addressing.resolvedTemplate(encode: { text, _ in text }) != nil, "\(media)")
        }
    }

    @Test func searchesNearAnyPositionFindTheSameSegment() throws {
        let times = try #require(try addressing("$Time$", base: "").times)
        var outside = SegmentTimes.Position()
        #expect(times.entry(at: -1, near: &outside) == nil && times.entry(at: times.count, near: &outside) == nil)
        for index in 0..<times.count {
            for start in 0..<times.count {
                var position = SegmentTimes.Position()
                _ = times.entry(at: start, near: &position)
                #expect(times.entry(at: index, near: &position) == times.entry(at: index))
            }
        }
    }
}
