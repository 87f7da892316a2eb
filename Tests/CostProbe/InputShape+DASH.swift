import CostOperations

extension InputShape {
    /// The shapes of DASH manifests, which are inspected, validated, translated, and translated again later.
    static var manifests: [InputShape] {
        [
            dash("timeline-entries", size: 100) { count in
                set(template("<SegmentTimeline>\(repeated(count) { "<S d=\"\(2 + $0 % 2)\"/>" })</SegmentTimeline>"))
            },
            dash("repeated-timeline-entry", size: 100) { count in
                set(template("<SegmentTimeline><S d=\"2\" r=\"\(8 * count)\"/></SegmentTimeline>"))
            },
            dash("holes-of-a-timeline", size: 100) { count in
                set(
                    template("<SegmentTimeline>\(repeated(count) { "<S t=\"\(4 * $0)\" d=\"2\"/>" })</SegmentTimeline>")
                )
            },
            dash("urls-of-a-list", size: 100) { count in
                let urls = repeated(count) { "<SegmentURL media=\"\($0).m4s\"/>" }
                return set("<SegmentList duration=\"2\" startNumber=\"1\">\(urls)</SegmentList>")
            },
            dash("representations", size: 4) { count in
                set(
                    template("<SegmentTimeline><S d=\"2\" r=\"9\"/></SegmentTimeline>"),
                    repeated(count) { representation("\($0)", bandwidth: 1_000 * ($0 + 1)) }
                )
            },
            dash("representations-beyond-the-limit", size: 40) { count in
                set(
                    template("<SegmentTimeline><S d=\"2\" r=\"9\"/></SegmentTimeline>"),
                    repeated(count) { representation("\($0)", bandwidth: 1_000 * ($0 + 1)) }
                )
            },
            dash("adaptation-sets", size: 4) { count in
                repeated(count) { set(template("<SegmentTimeline><S d=\"2\"/></SegmentTimeline>"), id: "\($0)") }
            },
            InputShape("dash", "periods", size: 20) { count in
                manifest(
                    repeated(count) { number in
                        "<Period id=\"\(number)\" duration=\"PT2S\">\(set(template("<SegmentTimeline><S d=\"2\"/></SegmentTimeline>")))</Period>"
                    }
                )
            },
            dash("long-inherited-template", size: 20) { count in
                set(
                    "<SegmentTemplate media=\"\(String(repeating: "x", count: 64 * count))$Number$\" duration=\"2\"/>",
                    repeated(8) { representation("\($0)", bandwidth: 1_000 * ($0 + 1)) }
                )
            },
            dash("long-inherited-attribute", size: 40) { count in
                let codecs = repeated(16 * count) { _ in "a," }
                let representations = repeated(count) { "<Representation id=\"\($0)\" bandwidth=\"1\"/>" }
                let contents = template("") + representations
                return "<AdaptationSet mimeType=\"video/mp4\" codecs=\"\(codecs)\">\(contents)</AdaptationSet>"
            },
            dash("long-descriptor-of-a-set", size: 40) { count in
                let value = repeated(16 * count) { _ in "x;" }
                let descriptor = "<Accessibility schemeIdUri=\"urn:scte:dash:cc:cea-608:2015\" value=\"\(value)\"/>"
                let representations = repeated(count) { representation("\($0)", bandwidth: 1_000 * ($0 + 1)) }
                return set(descriptor + template(""), representations)
            },
            dash("events", size: 40) { count in
                "<EventStream schemeIdUri=\"urn:x\" timescale=\"1\">"
                    + repeated(count) {
                        "<Event id=\"\($0)\" presentationTime=\"\($0 % 8)\" duration=\"1\">text</Event>"
                    }
                    + "</EventStream>" + set(template("<SegmentTimeline><S d=\"2\" r=\"9\"/></SegmentTimeline>"))
            },
            dash("events-with-a-long-value", size: 40) { count in
                let value = String(repeating: "v", count: 32 * count)
                let events = repeated(count) { "<Event id=\"\($0)\"/>" }
                let stream = "<EventStream schemeIdUri=\"urn:x\" value=\"\(value)\">\(events)</EventStream>"
                return stream + set(template(""))
            },
            InputShape("dash", "base-addresses", size: 40) { count in
                manifest(repeated(count) { "<BaseURL>https://h\($0)/a/../b/</BaseURL>" } + period(set(template(""))))
            },
            dash("descriptors", size: 40) { count in
                set(
                    repeated(count) { "<SupplementalProperty schemeIdUri=\"urn:\($0)\" value=\"\($0)\"/>" }
                        + template("")
                )
            },
            dash("unknown-elements", size: 40) { count in
                repeated(count) { "<x:e\($0) xmlns:x=\"urn:x\" a=\"1\">text</x:e\($0)>" } + set(template(""))
            },
            dash("long-text", size: 40) { count in
                "<Label>\(String(repeating: "&amp;", count: 16 * count))</Label>" + set(template(""))
            },
            dash("segments-without-an-end", size: 40) { count in
                set("<SegmentTemplate media=\"$Number$\" duration=\"1\" timescale=\"\(count)\"/>")
            },
        ]
    }

    /// Returns a shape of the contents of one period.
    private static func dash(_ name: String, size: Int, _ text: @escaping (Int) -> String) -> InputShape {
        InputShape("dash", name, size: size) { manifest(period(text($0))) }
    }

    private static func manifest(_ text: String) -> String {
        "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\" mediaPresentationDuration=\"PT20S\">\(text)</MPD>"
    }

    private static func period(_ text: String) -> String { "<Period>\(text)</Period>" }

    private static func set(
        _ addressing: String,
        _ representations: String = representation("v", bandwidth: 1_000),
        id: String = "1"
    ) -> String {
        "<AdaptationSet id=\"\(id)\" mimeType=\"video/mp4\">\(addressing)\(representations)</AdaptationSet>"
    }

    private static func representation(_ id: String, bandwidth: Int) -> String {
        "<Representation id=\"\(id)\" bandwidth=\"\(bandwidth)\" codecs=\"avc1.42c00d\"/>"
    }

    private static func template(_ timeline: String) -> String {
        timeline.isEmpty
            ? "<SegmentTemplate media=\"$Number$.m4s\" duration=\"2\"/>"
            : "<SegmentTemplate media=\"$Number$.m4s\">\(timeline)</SegmentTemplate>"
    }
}
