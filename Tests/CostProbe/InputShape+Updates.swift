import CostOperations

extension InputShape {
    /// The shapes of patches of manifests, and of what replaces their remote elements.
    static var manifestUpdates: [InputShape] {
        let timeline = "/MPD/Period[1]/AdaptationSet[1]/SegmentTemplate/SegmentTimeline"
        return [
            patch("operations", size: 60) { count in
                repeated(count) { _ in "<add sel=\"\(timeline)\"><S d=\"4\"/></add>" }
            },
            patch("operations-on-one-attribute", size: 60) { count in
                repeated(count) { "<replace sel=\"/MPD/@publishTime\">\($0)</replace>" }
            },
            patch("elements-of-one-operation", size: 60) { count in
                "<add sel=\"\(timeline)\">" + repeated(count) { _ in "<S d=\"4\"/>" } + "</add>"
            },
            patch("long-selector", size: 60) { count in
                "<remove sel=\"/MPD" + repeated(4 * count) { "/Period[\($0)]" } + "\"/>"
            },
            patch("long-value", size: 60) { count in
                "<replace sel=\"/MPD/BaseURL/text()\">" + repeated(8 * count) { _ in "a&amp;" } + "</replace>"
            },
            InputShape("manifest-patches", "remote-periods", size: 40) { count in
                repeated(count) { "<Period id=\"\($0)\" duration=\"PT2S\"/>" }
            },
            InputShape("manifest-patches", "remote-representations", size: 40) { count in
                "<AdaptationSet id=\"a\" mimeType=\"video/mp4\">"
                    + repeated(count) { "<Representation id=\"\($0)\" bandwidth=\"1\"/>" } + "</AdaptationSet>"
            },
        ]
    }

    /// Returns a shape of the operations of a patch.
    private static func patch(_ name: String, size: Int, _ operations: @escaping (Int) -> String) -> InputShape {
        InputShape("manifest-patches", name, size: size) { count in
            "<Patch xmlns=\"urn:mpeg:dash:schema:mpd-patch:2020\" mpdId=\"m\" "
                + "originalPublishTime=\"2024-01-01T00:00:00Z\" publishTime=\"2024-01-01T00:00:02Z\">"
                + operations(count) + "</Patch>"
        }
    }

    /// The shapes of programs of edits, and of what a server stores about live presentations.
    static var storedTexts: [InputShape] {
        [
            InputShape("edit-programs", "edits", size: 4) { count in
                "[" + repeated(count - 1) { _ in "{\"name\":\"absolute\"}," } + "{\"name\":\"absolute\"}]"
            },
            InputShape("edit-programs", "edits-beyond-the-limit") { count in
                "[" + repeated(count) { _ in "{\"name\":\"append\",\"value\":\"gap:5\"}," }
                    + "{\"name\":\"absolute\"}]"
            },
            InputShape("edit-programs", "long-value") { count in
                "[{\"name\":\"append\",\"value\":\"" + String(repeating: "x", count: 64 * count) + "\"}]"
            },
            InputShape("edit-programs", "other-members") { count in
                "[{\"name\":\"absolute\"" + repeated(count) { ",\"x\($0)\":[\($0)]" } + "}]"
            },
            InputShape("stored-timelines", "breaks", size: 60) { count in
                let item = { (number: Int) -> String in
                    "{\"id\":\"b\(number)\",\"start\":\(number),\"advertisement\":0,\"discontinuity\":1,"
                        + "\"hasDiscontinuity\":true,\"target\":6000000,\"elapsed\":6000000,\"replaced\":[6000000],"
                        + "\"end\":{\"count\":1,\"discontinuityShift\":1}}"
                }
                return timelines("\"breaks\":[" + repeated(count) { item($0) + "," } + item(count) + "],\"handled\":[]")
            },
            InputShape("stored-timelines", "identifiers", size: 60) { count in
                timelines("\"breaks\":[],\"handled\":[" + repeated(count) { "\"h\($0)\"," } + "\"h\"]")
            },
            InputShape("stored-timelines", "timelines", size: 60) { count in
                "{\"timelines\":{" + repeated(count) { "\"o\($0)@cues\":{\(timeline)\"breaks\":[],\"handled\":[]}," }
                    + "\"o@cues\":{\(timeline)\"breaks\":[],\"handled\":[]}}}"
            },
            InputShape("stored-timelines", "other-members") { count in
                "{\"timelines\":{}" + repeated(count) { ",\"x\($0)\":[\($0)]" } + "}"
            },
        ]
    }

    /// The members of a timeline, without its breaks and the identifiers of its cues.
    private static let timeline =
        "\"next\":13,\"shift\":1,\"discontinuityShift\":2,\"targetDuration\":6,\"version\":1,\"advertisements\":["
        + "\"#EXTM3U\\n#EXT-X-TARGETDURATION:6\\n#EXTINF:6,\\nhttps://h/a.ts\\n#EXT-X-ENDLIST\\n\"],"

    /// Returns the timeline of the only edit of a playlist.
    private static func timelines(_ members: String) -> String {
        "{\"timelines\":{\"ad.m3u8@cues\":{\(timeline)\(members)}}}"
    }
}
