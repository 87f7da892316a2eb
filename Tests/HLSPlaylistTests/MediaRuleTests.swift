import Testing

@testable import HLSPlaylist

/// The rules for media playlists, with playlists that just obey them and playlists that just break them.
@Suite struct MediaRuleTests {
    private static let date = "#EXT-X-PROGRAM-DATE-TIME:2030-01-01T00:00:00.000Z"

    /// Returns segments of six seconds.
    private static func segments(_ count: Int) -> String {
        String(repeating: "#EXTINF:6,\na.ts\n", count: count)
    }

    /// Returns a playlist without an end, whose first line after the header has the target duration.
    private static func live(_ lines: String, target: Int = 6, segments count: Int = 4) -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:\(target)\n\(lines)\n\(segments(count))"
    }

    @Test(
        arguments: [
            ("#EXTM3U\n", ["0 missing-target-duration"]),
            ("#EXTM3U\n#EXT-X-VERSION:1\n", ["0 missing-target-duration"]),
            ("#EXTM3U\n#EXT-X-INDEPENDENT-SEGMENTS\n#EXT-MINE\n", ["0 missing-target-duration"]),
            ("#EXTM3U\na.ts\n", ["2 address-without-extinf"]),
            ("#EXTM3U\n#EXT-X-ENDLIST\n", ["0 missing-target-duration"]),
            ("#EXTM3U\n#EXT-X-GAP\n", ["0 missing-target-duration"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:0\n", ["2 target-duration-zero"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:1\n", []),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:x\n", ["2 not-an-integer"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:EVENT\n", []),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n", ["3 vod-without-endlist"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-ENDLIST\n", []),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:event\n", ["3 unknown-playlist-type"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:\n", ["3 missing-value"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-ENDLIST\n#EXT-X-ENDLIST\n", ["4 repeated-tag"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-ENDLIST\n#EXT-X-TARGETDURATION:6\n", ["4 repeated-tag"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-VERSION:1\n#EXT-X-VERSION:1\n", ["4 repeated-version"]),
            ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-BITRATE:1\n#EXT-X-BITRATE:1\n", []),
            (
                "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-START:TIME-OFFSET=0\n#EXT-X-START:TIME-OFFSET=0\n",
                ["4 repeated-start"]
            ),
            (
                "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-INDEPENDENT-SEGMENTS\n#EXT-X-INDEPENDENT-SEGMENTS\n"
                    + "#EXT-X-INDEPENDENT-SEGMENTS\n",
                ["4 repeated-independent-segments", "5 repeated-independent-segments"]
            ),
        ] as [(String, [String])]
    )
    func tagsOfWholePlaylists(text: String, found: [String]) throws {
        #expect(try RuleFindings.lines(text) == found)
    }

    /// A playlist without tags of one kind is empty, whatever kind it was to have.
    @Test(
        arguments: [
            ("", " (and a multivariant playlist EXT-X-STREAM-INF)."), ("#EXT-X-ENDLIST\n", "."),
        ]
    )
    func emptyPlaylistsNameWhatIsMissing(lines: String, end: String) throws {
        let found = try RuleFindings.diagnostics("#EXTM3U\n\(lines)")
        #expect(found.map(\.message) == ["A media playlist must have EXT-X-TARGETDURATION\(end)"])
        #expect(found.first?.severity == .error && found.first?.section == "4.4.3.1")
    }

    @Test(
        arguments: [
            ("12", true, ""), ("12.001", true, "start-beyond-end"), ("-12", true, ""),
            ("-12.001", true, "start-beyond-end"),
            ("0", true, ""), ("-0.001", true, ""), ("12", false, "start-near-live-edge"),
            ("-12", false, "start-near-live-edge"),
            ("-12.001", false, "start-beyond-end"), ("13", false, "start-beyond-end"),
        ]
    )
    func startsAreWithinThePlaylist(offset: String, isEnded: Bool, codes: String) throws {
        let text = Self.live("#EXT-X-START:TIME-OFFSET=\(offset)", segments: 2) + (isEnded ? "#EXT-X-ENDLIST\n" : "")
        #expect(try RuleFindings.codes(text) == codes)
    }

    @Test(
        arguments: [
            ("6", ""), ("6.001", "start-near-live-edge"), ("-18", ""), ("-17.999", "start-near-live-edge"), ("-24", ""),
            ("0", ""), ("-24.1", "start-beyond-end"), ("24", "start-near-live-edge"),
        ]
    )
    func startsOfLivePlaylistsAreThreeTargetDurationsFromTheEnd(offset: String, codes: String) throws {
        #expect(try RuleFindings.codes(Self.live("#EXT-X-START:TIME-OFFSET=\(offset)")) == codes)
    }

    @Test func startsAreNotCheckedWithoutKnownDurations() throws {
        let skip = "#EXT-X-VERSION:9\n#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=36\n#EXT-X-SKIP:SKIPPED-SEGMENTS=1\n"
        #expect(try RuleFindings.codes(Self.live(skip + "#EXT-X-START:TIME-OFFSET=99", segments: 6)) == "")
        #expect(try RuleFindings.codes(Self.live("#EXT-X-START:TIME-OFFSET=9", segments: 0)) == "")
        // Parts after the last segment belong to the duration.
        let parts = "#EXT-X-PART-INF:PART-TARGET=2\n#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=6\n\(Self.date)\n"
        func low(_ offset: String) throws -> String {
            try RuleFindings.codes(
                Self.live(parts + "#EXT-X-START:TIME-OFFSET=\(offset)") + "#EXT-X-PART:DURATION=2,URI=\"p\"\n"
                    + "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"q\"\n"
            )
        }
        #expect(try low("8") == "" && low("8.001") == "start-near-live-edge")
        #expect(try low("-26") == "" && low("-26.001") == "start-beyond-end")
    }

    @Test(
        arguments: [
            ("CAN-SKIP-UNTIL=36", ""), ("CAN-SKIP-UNTIL=35.999", "skip-boundary-too-short"), ("HOLD-BACK=18", ""),
            ("HOLD-BACK=17.999", "hold-back-too-short"),
            ("CAN-SKIP-DATERANGES=YES", "skip-date-ranges-without-boundary"),
            ("CAN-SKIP-DATERANGES=NO", ""), ("CAN-SKIP-UNTIL=36,CAN-SKIP-DATERANGES=YES", ""), ("PART-HOLD-BACK=0", ""),
            ("HOLD-BACK=x", "not-a-decimal"), ("CAN-BLOCK-RELOAD=YES", ""),
        ]
    )
    func serverControlsHaveMinimumDistances(attributes: String, codes: String) throws {
        #expect(try RuleFindings.codes(RuleFindings.media("#EXT-X-SERVER-CONTROL:\(attributes)")) == codes)
    }

    @Test func serverControlsAreCheckedForShortTargetDurations() throws {
        func codes(_ target: Int, _ attributes: String) throws -> String {
            let head = "#EXTM3U\n#EXT-X-TARGETDURATION:\(target)\n#EXT-X-SERVER-CONTROL:\(attributes)\n"
            return try RuleFindings.codes(head + "#EXTINF:0.4,\na.ts\n#EXT-X-ENDLIST\n#EXT-X-VERSION:3\n")
        }
        #expect(try codes(1, "HOLD-BACK=3") == "" && codes(1, "HOLD-BACK=2.9") == "hold-back-too-short")
        #expect(try codes(1, "CAN-SKIP-UNTIL=6") == "" && codes(1, "CAN-SKIP-UNTIL=5.9") == "skip-boundary-too-short")
        #expect(try codes(0, "HOLD-BACK=0,CAN-SKIP-UNTIL=0") == "target-duration-zero")
    }

    @Test(
        arguments: [
            ("PART-HOLD-BACK=3", ""), ("PART-HOLD-BACK=2.999", "part-hold-back-short"),
            ("PART-HOLD-BACK=2", "part-hold-back-short"), ("PART-HOLD-BACK=1.999", "part-hold-back-too-short"),
            ("CAN-BLOCK-RELOAD=YES", "missing-part-hold-back"), ("", "missing-part-hold-back"),
            ("PART-HOLD-BACK=x", "not-a-decimal"),
        ]
    )
    func playlistsWithPartsHaveAHoldBack(attributes: String, codes: String) throws {
        let control = attributes.isEmpty ? "" : "\n#EXT-X-SERVER-CONTROL:\(attributes)"
        #expect(try RuleFindings.codes(RuleFindings.media("#EXT-X-PART-INF:PART-TARGET=1\(control)")) == codes)
    }

    @Test(
        arguments: [
            ("29.5", ""), ("29.499", "skip-too-much"),
        ]
    )
    func updatesHaveTheSegmentsThatMustNotBeSkipped(duration: String, codes: String) throws {
        let text =
            "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:6\n#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=36\n"
            + "#EXT-X-SKIP:SKIPPED-SEGMENTS=1\n\(Self.segments(4))#EXTINF:\(duration == "29.5" ? "5.5" : "5.499"),\na.ts\n"
        #expect(try RuleFindings.codes(text) == codes)
    }

    @Test func updatesBelongToPlaylistsThatOfferThem() throws {
        let head = "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:6\n"
        let skip = "#EXT-X-SKIP:SKIPPED-SEGMENTS=1\n"
        #expect(try RuleFindings.lines(head + skip + Self.segments(1)) == ["4 skip-without-server-control"])
        let other = "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES\n"
        #expect(try RuleFindings.lines(head + other + skip + Self.segments(1)) == ["5 skip-without-server-control"])
        let offer = "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=36\n"
        #expect(
            try RuleFindings.lines(head + offer + skip + Self.segments(6) + "#EXT-X-ENDLIST\n") == [
                "5 skip-with-endlist"
            ]
        )
        #expect(
            try RuleFindings.lines(head + offer + Self.segments(5) + skip + Self.segments(1)) == [
                "15 skip-after-segment"
            ]
        )
        #expect(try RuleFindings.lines(head + offer + skip + skip + Self.segments(5)) == ["6 repeated-skip"])
    }

    @Test(
        arguments: [
            ("#EXT-X-MEDIA-SEQUENCE:1", "4", "live-playlist-short"), ("#EXT-X-MEDIA-SEQUENCE:1", "4.5", ""),
            ("#EXT-X-MEDIA-SEQUENCE:1", "4.499", "live-playlist-short"), ("#EXT-X-MEDIA-SEQUENCE:0", "1", ""),
            ("#EXT-X-MEDIA-SEQUENCE:x", "1", "not-an-integer"), ("#EXT-X-BITRATE:1", "1", ""),
            ("#EXT-X-MEDIA-SEQUENCE:1\n#EXT-X-PLAYLIST-TYPE:EVENT", "1", ""),
            ("#EXT-X-MEDIA-SEQUENCE:1\n#EXT-X-ENDLIST", "1", ""),
            ("#EXT-X-MEDIA-SEQUENCE:1\n#EXT-X-DISCONTINUITY", "6", "discontinuity-without-sequence"),
            ("#EXT-X-MEDIA-SEQUENCE:0\n#EXT-X-DISCONTINUITY", "6", ""),
            ("#EXT-X-MEDIA-SEQUENCE:1\n#EXT-X-DISCONTINUITY-SEQUENCE:0\n#EXT-X-DISCONTINUITY", "6", ""),
        ]
    )
    func livePlaylistsHaveThreeTargetDurations(lines: String, last: String, codes: String) throws {
        let version = last.contains(".") ? "#EXT-X-VERSION:3\n" : ""
        let text = Self.live("\(version)\(lines)", segments: 2) + "#EXTINF:\(last),\na.ts\n"
        #expect(try RuleFindings.codes(text) == codes)
    }

    // MARK: Segments

    @Test(
        arguments: [
            ("6,", ""), ("6,title", ""), ("6 ,", ""), ("6  ,", ""), (",", "bad-duration"),
            (" ,", "space-in-tag bad-duration"),
            ("6", "extinf-without-comma"), ("-1,", "bad-duration"), ("x,", "bad-duration"), ("6.4999,", ""),
            ("6.5,", "longer-than-target"), ("6,6,", ""), ("0,", ""), ("1e1,", "bad-duration"), ("", "missing-value"),
            ("x", "extinf-without-comma bad-duration"), ("7", "extinf-without-comma longer-than-target"),
        ]
    )
    func segmentsHaveADuration(value: String, codes: String) throws {
        let text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:6\n#EXTINF:\(value)\na.ts\n#EXT-X-ENDLIST\n"
        let found = try RuleFindings.diagnostics(text).map(\.code).filter { $0 != "version-too-high" }
        #expect(found.joined(separator: " ") == codes)
    }

    @Test(
        arguments: [
            ("#EXTINF:6,\n#EXTINF:6,\na.ts", ["3 extinf-without-address"]), ("a.ts", ["3 address-without-extinf"]),
            ("#EXTINF:6,\na.ts\nb.ts", ["5 address-without-extinf"]),
            ("#EXTINF:6,\na.ts\n#EXTINF:6,", ["5 extinf-without-address"]),
            ("#EXTINF:6,\na.ts\n#EXT-X-MEDIA-SEQUENCE:0", ["5 media-sequence-after-segment"]),
            ("#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:6,\na.ts", []),
            ("#EXTINF:6,\na.ts\n#EXT-X-DISCONTINUITY-SEQUENCE:0", ["5 discontinuity-sequence-after-segment"]),
            ("#EXT-X-DISCONTINUITY-SEQUENCE:0\n#EXT-X-DISCONTINUITY\n#EXTINF:6,\na.ts", []),
            (
                "#EXT-X-DISCONTINUITY\n#EXT-X-DISCONTINUITY-SEQUENCE:0\n#EXTINF:6,\na.ts",
                ["4 discontinuity-sequence-after-discontinuity"]
            ),
            (
                "#EXTINF:6,\na.ts\n#EXT-X-DISCONTINUITY\n#EXT-X-DISCONTINUITY-SEQUENCE:0\n#EXTINF:6,\na.ts",
                ["6 discontinuity-sequence-after-segment"]
            ),
        ] as [(String, [String])]
    )
    func tagsAreInOrder(lines: String, found: [String]) throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(lines)\n#EXT-X-ENDLIST\n"
        #expect(try RuleFindings.lines(text) == found)
    }

    @Test(
        arguments: [
            ("#EXT-X-BYTERANGE:5@0\n#EXTINF:6,\na.ts\n#EXT-X-BYTERANGE:5\n#EXTINF:6,\na.ts", []),
            (
                "#EXT-X-BYTERANGE:5@0\n#EXTINF:6,\na.ts\n#EXT-X-BYTERANGE:5\n#EXTINF:6,\nb.ts",
                ["7 byte-range-without-offset"]
            ),
            ("#EXT-X-BYTERANGE:5\n#EXTINF:6,\na.ts", ["4 byte-range-without-offset"]),
            ("#EXTINF:6,\na.ts\n#EXT-X-BYTERANGE:5\n#EXTINF:6,\na.ts", ["6 byte-range-without-offset"]),
            ("#EXTINF:6,\na.ts\n#EXT-X-BYTERANGE:5@5\n#EXTINF:6,\na.ts", []),
            ("#EXT-X-BYTERANGE:x\n#EXTINF:6,\na.ts", ["4 bad-byte-range"]),
            ("#EXT-X-BYTERANGE:\n#EXTINF:6,\na.ts", ["4 missing-value"]),
            ("#EXT-X-BYTERANGE:x\n#EXTINF:6,\na.ts\n#EXT-X-BYTERANGE:5\n#EXTINF:6,\na.ts", ["4 bad-byte-range"]),
            ("#EXTINF:6,\n#EXT-X-BYTERANGE:5@0\na.ts", []),
        ] as [(String, [String])]
    )
    func byteRangesWithoutAnOffsetFollowOthers(lines: String, found: [String]) throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-VERSION:4\n\(lines)\n#EXT-X-ENDLIST\n"
        #expect(try RuleFindings.lines(text) == found)
    }

    /// The range of a skipped segment is not known.
    @Test func byteRangesMayFollowSkippedSegments() throws {
        let text =
            "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:6\n#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=36\n"
            + "#EXT-X-SKIP:SKIPPED-SEGMENTS=1\n#EXT-X-BYTERANGE:5\n#EXTINF:6,\na.ts\n#EXTINF:6,\nb.ts\n#EXT-X-BYTERANGE:5\n"
            + Self.segments(5)
        #expect(try RuleFindings.lines(text) == ["11 byte-range-without-offset"])
    }

    @Test(
        arguments: [
            ("METHOD=NONE", ""), ("METHOD=NONE,URI=\"u\"", "none-key-with-attributes"),
            ("METHOD=AES-128", "key-without-uri"),
            ("METHOD=AES-128,URI=\"u\"", ""), ("METHOD=SAMPLE-AES-CTR,URI=\"u\"", ""),
            ("METHOD=AES-256-GCM,URI=\"u\"", ""),
            ("METHOD=SAMPLE-AES-CTR,URI=\"u\",IV=0x0", "ctr-key-with-iv"),
            ("METHOD=AES-256-GCM,URI=\"u\",IV=0x0", "gcm-key-with-iv"), ("METHOD=AES-128,URI=\"u\",IV=0x0", ""),
            ("METHOD=SAMPLE-AES,URI=\"u\",IV=0x0", ""), ("URI=\"u\"", "key-without-method"),
            ("METHOD=x", "unknown-key-method"),
            ("METHOD=AES-128,URI=\"u\",KEYFORMATVERSIONS=\"1\"", ""),
            ("METHOD=AES-128,URI=\"u\",KEYFORMATVERSIONS=\"1/20\"", ""),
            ("METHOD=AES-128,URI=\"u\",KEYFORMATVERSIONS=\"0\"", "bad-key-format-versions"),
            ("METHOD=AES-128,URI=\"u\",KEYFORMATVERSIONS=\"1/\"", "bad-key-format-versions"),
            ("METHOD=AES-128,URI=\"u\",KEYFORMATVERSIONS=\"1/00\"", "bad-key-format-versions"),
            ("METHOD=AES-128,URI=\"u\",KEYFORMATVERSIONS=\"01\"", ""),
            ("METHOD=AES-128,URI=\"u\",KEYFORMATVERSIONS=\"\"", "empty-string"),
            ("METHOD=AES-128,URI=\"u\",KEYFORMATVERSIONS=\"x\"", "bad-key-format-versions"),
            ("METHOD=AES-128,X", "attribute-without-value"),
        ]
    )
    func keysHaveTheAttributesOfTheirMethod(attributes: String, codes: String) throws {
        let found = try RuleFindings.diagnostics(RuleFindings.media("#EXT-X-VERSION:5\n#EXT-X-KEY:\(attributes)")).map(
            \.code
        )
        #expect(found.filter { $0 != "version-too-high" }.joined(separator: " ") == codes)
        guard attributes != "METHOD=NONE", !codes.hasPrefix("none-key") else { return }
        #expect(try RuleFindings.codes(RuleFindings.multivariant("#EXT-X-SESSION-KEY:\(attributes)")) == codes)
    }

    @Test(
        arguments: [
            ("#EXT-X-KEY:METHOD=AES-128,URI=\"u\"\n#EXT-X-MAP:URI=\"m\"", ["6 map-key-without-iv"]),
            ("#EXT-X-KEY:METHOD=AES-128,URI=\"u\",IV=0x0\n#EXT-X-MAP:URI=\"m\"", []),
            ("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"u\"\n#EXT-X-MAP:URI=\"m\"", []),
            ("#EXT-X-KEY:METHOD=AES-128,URI=\"u\"\n#EXT-X-KEY:METHOD=NONE\n#EXT-X-MAP:URI=\"m\"", []),
            ("#EXT-X-MAP:URI=\"m\"\n#EXT-X-KEY:METHOD=AES-128,URI=\"u\"", []),
            (
                "#EXT-X-MAP:URI=\"m\"\n#EXT-X-KEY:METHOD=AES-128,URI=\"u\"\n#EXT-X-KEY:METHOD=AES-128,URI=\"u\",IV=0x0\n#EXT-X-MAP:URI=\"m\"",
                []
            ),
            (
                "#EXT-X-KEY:METHOD=AES-128,URI=\"u\"\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"u\",KEYFORMAT=\"f\"\n#EXTINF:6,\na.ts\n"
                    + "#EXTINF:6,\na.ts\n#EXT-X-MAP:URI=\"m\"",
                ["6 key-methods-differ", "11 map-key-without-iv"]
            ),
            (
                "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"u\"\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"u\",KEYFORMAT=\"f\"\n"
                    + "#EXT-X-MAP:URI=\"m\"",
                []
            ),
            (
                "#EXT-X-KEY:METHOD=AES-128,URI=\"u\"\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"u\",KEYFORMAT=\"identity\"\n"
                    + "#EXT-X-MAP:URI=\"m\"",
                []
            ),
        ] as [(String, [String])]
    )
    func keysApplyToMapsAndSegments(lines: String, found: [String]) throws {
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-VERSION:6\n#EXT-X-BITRATE:1\n\(lines)\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n"
        #expect(try RuleFindings.lines(text) == found)
    }

    /// At most 16 keys of different formats are in force.
    @Test func sixteenKeysAreInForce() throws {
        func codes(_ count: Int) throws -> String {
            let keys = (0..<count).map { number in
                "#EXT-X-KEY:METHOD=\(number == 0 ? "AES-128" : "SAMPLE-AES"),URI=\"u\",KEYFORMAT=\"f\(number)\"\n"
            }
            return try RuleFindings.codes(RuleFindings.media("#EXT-X-VERSION:5\n\(keys.joined())#EXT-X-BITRATE:1"))
        }
        #expect(try codes(16) == "key-methods-differ" && codes(17) == "")
    }

    @Test(
        arguments: [
            ("a.m4s", true), ("a.M4S", true), ("a.cmfv", true), ("a.cmfa", true), ("a.cmft", true), ("a.m4s?b", true),
            ("a?b.m4s", false), ("a.mp4", false), ("am4s", false), ("a.m4s/b", false), ("{$a}.m4s", false),
        ]
    )
    func fragmentedSegmentsHaveAMap(address: String, needsMap: Bool) throws {
        func codes(_ lines: String) throws -> [String] {
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(lines)#EXTINF:6,\n\(address)\n#EXT-X-ENDLIST\n"
            return try RuleFindings.diagnostics(text).map(\.code).filter { $0 != "undefined-variable" }
        }
        #expect(try codes("") == (needsMap ? ["fmp4-without-map"] : []))
        #expect(try codes("#EXT-X-GAP\n") == [])
        #expect(try codes("#EXT-X-VERSION:6\n#EXT-X-MAP:URI=\"m\"\n") == [])
        // The map of a delta update may be among the skipped tags.
        #expect(try !codes("#EXT-X-SKIP:SKIPPED-SEGMENTS=1\n").contains("fmp4-without-map"))
    }

    @Test(
        arguments: [
            ("05.001", ""), ("05.000", "date-time-overlap"), ("04.999", "date-time-overlap"), ("06.000", ""),
            ("16.000", ""),
        ]
    )
    func datesDoNotOverlap(second: String, codes: String) throws {
        let text = "\(Self.date)\n#EXTINF:6,\na.ts\n#EXT-X-PROGRAM-DATE-TIME:2030-01-01T00:00:\(second)Z"
        #expect(try RuleFindings.codes(RuleFindings.media(text)) == codes)
        let later =
            "\(Self.date)\n#EXTINF:3,\na.ts\n#EXTINF:3,\na.ts\n#EXT-X-PROGRAM-DATE-TIME:2030-01-01T00:00:\(second)Z"
        #expect(try RuleFindings.codes(RuleFindings.media(later)) == codes)
    }

    @Test(
        arguments: [
            ("\(date)\n#EXTINF:6,\na.ts\n#EXT-X-DISCONTINUITY", ["8 discontinuity-without-date"]),
            (
                "\(date)\n#EXTINF:6,\na.ts\n#EXT-X-DISCONTINUITY\n\(date.replacing("00Z", with: "06Z"))",
                ["7 date-time-overlap"]
            ),
            ("#EXTINF:6,\na.ts\n#EXT-X-DISCONTINUITY", []), ("\(date)\n#EXTINF:6,\na.ts", []),
            ("#EXT-X-DISCONTINUITY\n#EXTINF:6,\na.ts\n\(date)", ["5 discontinuity-without-date"]),
        ] as [(String, [String])]
    )
    func discontinuitiesHaveADate(lines: String, found: [String]) throws {
        #expect(try RuleFindings.lines(RuleFindings.media(lines)) == found)
    }

    // MARK: Partial segments

    /// Returns a playlist with parts of one second at most.
    private static func low(_ parts: String, end: String = "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"q\"\n") -> String {
        live("#EXT-X-PART-INF:PART-TARGET=1\n#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=3\n\(date)") + parts + end
    }

    @Test(
        arguments: [
            ("#EXT-X-PART:DURATION=1,URI=\"p\"\n", []),
            ("#EXT-X-PART:DURATION=1.001,URI=\"p\"\n", ["14 part-longer-than-target"]),
            ("#EXT-X-PART:DURATION=0.1,URI=\"p\"\n", []),
            ("#EXT-X-PART:DURATION=0.85,URI=\"p\"\n#EXT-X-PART:DURATION=0.1,URI=\"p\"\n", []),
            ("#EXT-X-PART:DURATION=0.849,URI=\"p\"\n#EXT-X-PART:DURATION=0.1,URI=\"p\"\n", ["14 part-too-short"]),
            ("#EXT-X-PART:DURATION=0.849,URI=\"p\",INDEPENDENT=YES\n#EXT-X-PART:DURATION=0.1,URI=\"p\"\n", []),
            (
                "#EXT-X-PART:DURATION=0.849,URI=\"p\",INDEPENDENT=NO\n#EXT-X-PART:DURATION=0.1,URI=\"p\"\n",
                ["14 part-too-short"]
            ),
            ("#EXT-X-PART:DURATION=0.849,URI=\"p\",GAP=YES\n#EXT-X-PART:DURATION=0.1,URI=\"p\"\n", []),
            ("#EXT-X-PART:DURATION=0.849,URI=\"p\"\n#EXT-X-PART:DURATION=0.1,URI=\"p\",GAP=YES\n", []),
            (
                "#EXT-X-PART:DURATION=0.849,URI=\"p\"\n#EXT-X-PART:DURATION=0.1,URI=\"p\",GAP=NO\n",
                ["14 part-too-short"]
            ),
            ("#EXT-X-PART:DURATION=x,URI=\"p\"\n", ["14 not-a-decimal"]),
            ("#EXT-X-PART:DURATION=1,URI=\"p\",BYTERANGE=\"5\"\n", ["14 part-byte-range-without-offset"]),
            (
                "#EXT-X-PART:DURATION=1,URI=\"p\",BYTERANGE=\"5@0\"\n#EXT-X-PART:DURATION=1,URI=\"p\",BYTERANGE=\"5\"\n",
                []
            ),
            (
                "#EXT-X-PART:DURATION=1,URI=\"p\",BYTERANGE=\"5@0\"\n#EXT-X-PART:DURATION=1,URI=\"q\",BYTERANGE=\"5\"\n",
                ["15 part-byte-range-without-offset"]
            ),
            (
                "#EXT-X-PART:DURATION=1,URI=\"p\"\n#EXT-X-PART:DURATION=1,URI=\"p\",BYTERANGE=\"5\"\n",
                ["15 part-byte-range-without-offset"]
            ),
            ("#EXT-X-PART:DURATION=1,URI=\"p\"\n#EXT-X-DISCONTINUITY\n", ["15 tag-after-part"]),
            ("#EXT-X-DISCONTINUITY\n#EXT-X-PART:DURATION=1,URI=\"p\"\n", []),
            ("#EXT-X-PART:DURATION=1,URI=\"p\"\n#EXT-X-KEY:METHOD=NONE\n", ["15 tag-after-part"]),
            (
                "#EXT-X-PART:DURATION=1,URI=\"p\"\n#EXT-X-PROGRAM-DATE-TIME:2030-01-01T00:00:30.000Z\n",
                ["15 tag-after-part"]
            ),
            ("#EXT-X-PART:DURATION=1,URI=\"p\"\n#EXT-X-GAP\n", []),
            ("#EXT-X-PART:DURATION=1,URI=\"p\"\n#EXTINF:1,\na.ts\n#EXT-X-KEY:METHOD=NONE\n", []),
            // Parts may be longer than their segment by a tenth of its duration, and at least a tenth of a second.
            (String(repeating: "#EXT-X-PART:DURATION=1,URI=\"p\"\n", count: 4) + "#EXTINF:3.637,\na.ts\n", []),
            (
                String(repeating: "#EXT-X-PART:DURATION=1,URI=\"p\"\n", count: 4) + "#EXTINF:3.636,\na.ts\n",
                ["19 parts-longer-than-segment"]
            ),
            ("#EXT-X-PART:DURATION=0.6,URI=\"p\"\n#EXTINF:0.5,\na.ts\n", []),
            ("#EXT-X-PART:DURATION=0.6,URI=\"p\"\n#EXTINF:0.499,\na.ts\n", ["16 parts-longer-than-segment"]),
        ] as [(String, [String])]
    )
    func partsHaveTheirDurationAndRange(parts: String, found: [String]) throws {
        let lines = try RuleFindings.lines(Self.low(parts)).filter {
            $0 != "0 missing-version" && !$0.contains("missing-version")
        }
        #expect(lines == found)
    }

    @Test(
        arguments: [
            ("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"q\"\n", []), ("", ["14 part-without-preload-hint"]),
            ("#EXT-X-PRELOAD-HINT:TYPE=MAP,URI=\"q\"\n", ["14 part-without-preload-hint"]),
            ("#EXT-X-PRELOAD-HINT:TYPE=x,URI=\"q\"\n", ["15 unknown-preload-hint-type"]),
            ("#EXT-X-PRELOAD-HINT:URI=\"q\"\n", ["15 preload-hint-without-type"]),
            ("#EXT-X-ENDLIST\n", []),
            ("#EXT-X-ENDLIST\n#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"q\"\n", ["16 preload-hint-after-end"]),
            (
                "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"q\"\n#EXT-X-PRELOAD-HINT:TYPE=MAP,URI=\"q\"\n"
                    + "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"r\"\n",
                ["17 repeated-preload-hint"]
            ),
        ] as [(String, [String])]
    )
    func partsAreFollowedByAHint(end: String, found: [String]) throws {
        #expect(try RuleFindings.lines(Self.low("#EXT-X-PART:DURATION=1,URI=\"p\"\n", end: end)) == found)
    }

    @Test func playlistsWithPartsHaveDatesAndTargets() throws {
        let part = "#EXT-X-PART:DURATION=1,URI=\"p\"\n#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"q\"\n"
        let target = "#EXT-X-PART-INF:PART-TARGET=1\n#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=3"
        #expect(try RuleFindings.lines(Self.live(target) + part) == ["13 part-without-date"])
        #expect(try RuleFindings.lines(Self.live(Self.date) + part) == ["12 missing-part-inf"])
        let frames = Self.live("#EXT-X-VERSION:4\n#EXT-X-I-FRAMES-ONLY\n\(Self.date)\n\(target)") + part
        #expect(try RuleFindings.lines(frames) == ["16 parts-in-i-frames-only"])
        let skip = "\(target),CAN-SKIP-UNTIL=36\n#EXT-X-VERSION:9\n#EXT-X-SKIP:SKIPPED-SEGMENTS=1"
        #expect(try RuleFindings.lines(Self.live(skip, segments: 5) + part) == [])
    }

    /// Parts that begin more than four target durations before the end should have been removed.
    @Test(
        arguments: [
            (6, "24", []), (6, "24.001", ["6 parts-too-old"]), (1, "4", []), (1, "4.001", ["6 parts-too-old"]),
            (0, "9", ["2 target-duration-zero"]),
        ] as [(Int, String, [String])]
    )
    func oldPartsAreRemoved(target: Int, distance: String, found: [String]) throws {
        let head =
            "#EXTM3U\n#EXT-X-TARGETDURATION:\(target)\n#EXT-X-PART-INF:PART-TARGET=1\n"
            + "#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=3\n\(Self.date)\n"
        let parts = "#EXT-X-PART:DURATION=1,URI=\"p\"\n#EXTINF:1,\na.ts\n#EXTINF:\(distance),\nb.ts\n"
        let end = "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"q\"\n"
        let rules = ["parts-too-old", "target-duration-zero", "part-too-short"]
        func lines(_ text: String) throws -> [String] {
            try RuleFindings.lines(text).filter { line in rules.contains { line.hasSuffix($0) } }
        }
        #expect(try lines(head + parts + end) == found)
        #expect(try lines(head + parts + "#EXT-X-ENDLIST\n") == found.filter { $0.hasSuffix("zero") })
        // Parts at the end count, as do several old ones, of which the first is reported.
        let trailing = distance == "9" ? "0" : "1"
        let less =
            distance.hasSuffix(".001")
            ? "\((Int(distance.prefix { $0 != "." }) ?? 0) - 1).001" : "\((Int(distance) ?? 0) - 1)"
        let older =
            "#EXT-X-PART:DURATION=1,URI=\"p\"\n#EXTINF:1,\na.ts\n#EXTINF:\(less),\nb.ts\n#EXT-X-PART:DURATION=\(trailing),URI=\"p\"\n"
        #expect(try lines(head + older + end) == found)
        #expect(
            try lines(head + "#EXT-X-PART:DURATION=1,URI=\"o\"\n#EXTINF:1,\no.ts\n" + parts + end).first
                == (target == 0 ? "2 target-duration-zero" : "6 parts-too-old")
        )
    }

    @Test(
        arguments: [
            ("#EXT-X-RENDITION-REPORT:URI=\"b\"", ""), ("#EXT-X-RENDITION-REPORT:URI=\"/b\"", ""),
            ("#EXT-X-RENDITION-REPORT:URI=\"https://a/b\"", "absolute-rendition-report"),
            ("#EXT-X-RENDITION-REPORT:LAST-MSN=1", "rendition-report-without-uri"),
            ("#EXT-X-RENDITION-REPORT:URI=\"b\",LAST-MSN=x", "not-an-integer"),
            ("#EXT-X-RENDITION-REPORT:URI=\"b\",LAST-PART=-1", "not-an-integer"),
        ]
    )
    func renditionReportsAreRelative(line: String, codes: String) throws {
        #expect(try RuleFindings.codes(RuleFindings.media(line)) == codes)
    }

    // MARK: Versions

    @Test(
        arguments: [
            (2, "#EXT-X-KEY:METHOD=AES-128,URI=\"u\",IV=0x0", "iv"), (3, "#EXTINF:6.0,\nb.ts", "decimal-duration"),
            (3, "#EXTINF:6.,6\nb.ts", "decimal-duration"), (1, "#EXTINF:6,6.0\nb.ts", ""),
            (4, "#EXT-X-BYTERANGE:1@0", "byte-range"), (4, "#EXT-X-I-FRAMES-ONLY", "i-frames-only"),
            (5, "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"u\"", "sample-aes"),
            (5, "#EXT-X-KEY:METHOD=AES-128,URI=\"u\",KEYFORMAT=\"f\"", "key-format"),
            (5, "#EXT-X-KEY:METHOD=AES-128,URI=\"u\",KEYFORMATVERSIONS=\"1\"", "key-format"),
            (5, "#EXT-X-MAP:URI=\"m\"\n#EXT-X-I-FRAMES-ONLY", "i-frame-map"), (6, "#EXT-X-MAP:URI=\"m\"", "map"),
            (8, "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"", "variables"),
            (11, "#EXT-X-DEFINE:QUERYPARAM=\"a\"", "query-parameter"),
            (1, "#EXT-X-GAP", ""), (1, "#EXT-X-KEY:METHOD=AES-128,URI=\"u\"", ""),
        ]
    )
    func featuresOfMediaPlaylistsRequireAVersion(version: Int, lines: String, feature: String) throws {
        func found(_ version: Int) throws -> [String] {
            let rules = ["version-for-", "version-too-high", "missing-version"]
            return try RuleFindings.diagnostics(RuleFindings.media("#EXT-X-VERSION:\(version)\n\(lines)")).map(\.code)
                .filter { code in rules.contains { code.hasPrefix($0) } }
        }
        #expect(try found(version) == [])
        #expect(try found(version + 1) == ["version-too-high"])
        let text = RuleFindings.media(lines)
        #expect(try Playlist.parse(Array(text.utf8)).minimumVersion == version)
        #expect(try RuleFindings.codes(text) == (version > 1 ? "missing-version" : ""))
        guard version > 1 else { return }
        #expect(
            try found(version - 1).first
                == (feature == "i-frame-map" ? "version-for-i-frame-map" : "version-for-\(feature)")
        )
    }

    @Test(
        arguments: [
            (9, "#EXT-X-SKIP:SKIPPED-SEGMENTS=1", "version-for-skip"),
            (10, "#EXT-X-SKIP:SKIPPED-SEGMENTS=1,RECENTLY-REMOVED-DATERANGES=\"\"", "version-for-skipped-date-ranges"),
        ]
    )
    func updatesRequireAVersion(version: Int, line: String, rule: String) throws {
        let control = "\n#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=36"
        func codes(_ version: Int) throws -> String {
            try RuleFindings.codes(Self.live("#EXT-X-VERSION:\(version)\n\(line)\(control)", segments: 6))
        }
        #expect(try codes(version) == "" && codes(version - 1) == rule && codes(version + 1) == "version-too-high")
    }

    /// Some features are compatible with lower versions but meant for higher ones.
    @Test(
        arguments: [
            ("#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=36", 9),
            ("#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=36,CAN-SKIP-DATERANGES=YES", 10),
            ("#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES", 1), ("#EXTINF:6.4,\nb.ts", 6), ("#EXTINF:6.0,\nb.ts", 3),
        ]
    )
    func versionsAreNotHigherThanNeeded(lines: String, highest: Int) throws {
        func codes(_ version: Int) throws -> String {
            try RuleFindings.codes(RuleFindings.media("#EXT-X-VERSION:\(version)\n\(lines)"))
        }
        #expect(try codes(highest) == "" && codes(highest + 1) == "version-too-high")
        let found = try RuleFindings.diagnostics(RuleFindings.media("#EXT-X-VERSION:\(highest + 1)\n\(lines)"))
        #expect(found.first?.message.hasSuffix("(it is \(highest + 1), \(highest) is enough).") == true)
        #expect(found.map(\.line) == [3])
    }

    @Test func eachFeatureIsReportedOnceAndAtItsFirstLine() throws {
        let text = "#EXT-X-BITRATE:1\n#EXT-X-BYTERANGE:1@0\n#EXTINF:6.0,\nb.ts\n#EXT-X-BYTERANGE:1@0"
        #expect(try RuleFindings.lines(RuleFindings.media(text)) == ["4 missing-version"])
        #expect(
            try RuleFindings.lines(RuleFindings.media("#EXT-X-VERSION:1\n\(text)"))
                == ["5 version-for-byte-range", "6 version-for-decimal-duration"]
        )
        #expect(try RuleFindings.lines(RuleFindings.media("#EXT-X-VERSION:x\n\(text)")) == ["3 not-an-integer"])
    }

    @Test(arguments: [(5, ""), (6, "removed-program-id"), (7, "removed-program-id")])
    func programIdentifiersWereRemoved(version: Int, code: String) throws {
        let id =
            "#EXTM3U\n#EXT-X-VERSION:\(version)\n#EXT-X-STREAM-INF:BANDWIDTH=9,CODECS=\"a\",AUDIO=\"g\",PROGRAM-ID=1\nv.m3u8\n"
            + "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"n\",CHANNELS=\"2\"\n"
            + "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=9,URI=\"i\",PROGRAM-ID=1\n"
        #expect(
            try RuleFindings.lines(id).filter { $0.contains("removed") }
                == (code.isEmpty ? [] : ["3 \(code)", "6 \(code)"])
        )
    }

    @Test(arguments: [(6, false), (7, true), (8, true)])
    func cachingTagsWereRemoved(version: Int, isRemoved: Bool) throws {
        let lines =
            "#EXT-X-VERSION:\(version)\n#EXT-X-ALLOW-CACHE:YES\n#EXT-X-ALLOW-CACHES:YES\n#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=36"
        #expect(try RuleFindings.lines(RuleFindings.media(lines)) == (isRemoved ? ["4 removed-allow-cache"] : []))
    }

    // MARK: Date ranges

    @Test(
        arguments: [
            ("END-DATE=\"2030-01-01T00:00:00.000Z\"", ""),
            ("END-DATE=\"2029-12-31T23:59:59.999Z\"", "date-range-ends-before-start"),
            ("END-DATE=\"2030-01-01T00:00:10.000Z\",DURATION=10", ""),
            ("END-DATE=\"2030-01-01T00:00:10.000Z\",DURATION=10.001", ""),
            ("END-DATE=\"2030-01-01T00:00:10.000Z\",DURATION=9.999", ""),
            ("END-DATE=\"2030-01-01T00:00:10.000Z\",DURATION=10.0011", "date-range-end-differs"),
            ("END-DATE=\"2030-01-01T00:00:10.000Z\",DURATION=9.9989", "date-range-end-differs"),
            ("CLASS=\"c\",END-ON-NEXT=YES", ""), ("END-ON-NEXT=YES", "end-on-next-without-class"),
            ("CLASS=\"c\",END-ON-NEXT=YES,DURATION=1", "end-on-next-with-end"),
            ("CLASS=\"c\",END-ON-NEXT=YES,END-DATE=\"2030-01-01T00:00:10.000Z\"", "end-on-next-with-end"),
            ("CLASS=\"c\",END-ON-NEXT=YES,PLANNED-DURATION=1", ""),
        ]
    )
    func dateRangesHaveConsistentEnds(attributes: String, codes: String) throws {
        #expect(try RuleFindings.codes(RuleFindings.dateRange(attributes)) == codes)
    }

    private static let splice = "0xFC0102030405060708090A"

    @Test(
        arguments: [
            ("#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2030-01-01T00:00:00.000Z\"", []),
            ("#EXT-X-DATERANGE:ID=\"a\"", ["5 date-range-without-start"]),
            ("#EXT-X-DATERANGE:START-DATE=\"2030-01-01T00:00:00.000Z\"", ["5 date-range-without-id"]),
            (
                "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2030-01-01T00:00:00.000Z\"\n#EXT-X-DATERANGE:ID=\"a\",DURATION=1",
                []
            ),
            ("#EXT-X-DATERANGE:ID=\"a\",X", ["5 attribute-without-value"]),
            (
                "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2030-01-01T00:00:00.000Z\",X-A=1\n#EXT-X-DATERANGE:ID=\"a\",X-A=1,X-B=2\n"
                    + "#EXT-X-DATERANGE:ID=\"a\",X-A=2,X-B=2",
                ["7 date-range-attribute-differs"]
            ),
            (
                "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2030-01-01T00:00:00.000Z\",X-A=b\n#EXT-X-DATERANGE:ID=\"a\",X-A=1",
                ["5 bad-extension-attribute"]
            ),
            (
                "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2030-01-01T00:00:00.000Z\",X-A=1\n#EXT-X-DATERANGE:ID=\"a\",X-A=b",
                ["6 bad-extension-attribute"]
            ),
            (
                "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2030-01-01T00:00:00.000Z\",SCTE35-OUT=\(splice)\n"
                    + "#EXT-X-DATERANGE:ID=\"a\",SCTE35-IN=\(splice)",
                ["6 splice-without-end"]
            ),
            (
                "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2030-01-01T00:00:00.000Z\",SCTE35-OUT=\(splice)\n"
                    + "#EXT-X-DATERANGE:ID=\"a\",SCTE35-IN=\(splice),DURATION=1",
                []
            ),
            (
                "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2030-01-01T00:00:00.000Z\",SCTE35-OUT=\(splice),SCTE35-IN=\(splice)",
                []
            ),
            (
                "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2030-01-01T00:00:00.000Z\",SCTE35-OUT=\(splice)\n#EXT-X-DATERANGE:ID=\"b\",START-DATE=\"2030-01-01T00:00:00.000Z\",SCTE35-IN=\(splice)",
                []
            ),
            (
                "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2030-01-01T00:00:00.000Z\"\n#EXT-X-DATERANGE:ID=\"a\",END-ON-NEXT=YES",
                ["6 end-on-next-without-class"]
            ),
            (
                "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2030-01-01T00:00:00.000Z\"\n"
                    + "#EXT-X-DATERANGE:ID=\"a\",END-DATE=\"2029-01-01T00:00:00.000Z\"",
                ["6 date-range-ends-before-start"]
            ),
        ] as [(String, [String])]
    )
    func dateRangesAreMergedById(lines: String, found: [String]) throws {
        #expect(try RuleFindings.lines(RuleFindings.media("\(Self.date)\n#EXT-X-BITRATE:1\n\(lines)")) == found)
    }

    @Test func dateRangesRequireDates() throws {
        let range = "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2030-01-01T00:00:00.000Z\""
        #expect(
            try RuleFindings.lines(RuleFindings.media("\(range)\n\(range)")) == ["3 date-range-without-program-date"]
        )
        let skip = "#EXT-X-VERSION:9\n#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=36\n#EXT-X-SKIP:SKIPPED-SEGMENTS=1\n"
        #expect(try RuleFindings.lines(Self.live("\(skip)#EXT-X-DATERANGE:ID=\"a\"", segments: 6)) == [])
    }

    @Test(
        arguments: [
            // The start and the duration of each range in seconds, and whether the class has END-ON-NEXT.
            ([("00", "5"), ("05", "5")], true, []), ([("00", "5.001"), ("05", "5")], true, ["5"]),
            ([("00", "9"), ("05", "5")], false, []),
            ([("05", "5"), ("00", "5.001")], true, ["4"]), ([("00", "9"), ("05", "0")], true, ["5"]),
            ([("00", "9"), ("00", "0")], true, []),
            ([("00", "9"), ("00", "1")], true, ["5"]), ([("00", "9"), ("01", "1"), ("05", "1")], true, ["5", "6"]),
            ([("00", "9"), ("01", "9"), ("09", "5")], true, ["5", "6"]), ([("00", "9"), ("09", "")], true, []),
            ([("00", "9"), ("08", "")], true, ["5"]), ([("00", ""), ("08", "1")], true, []),
            ([("00", "9"), ("00", "")], true, ["5"]),
        ] as [([(String, String)], Bool, [String])]
    )
    func dateRangesOfAClassDoNotOverlap(ranges: [(String, String)], hasNext: Bool, found: [String]) throws {
        let lines = ranges.enumerated().map { position, range in
            "#EXT-X-DATERANGE:ID=\"\(position)\",CLASS=\"c\",START-DATE=\"2030-01-01T00:00:\(range.0).000Z\""
                + (range.1.isEmpty ? "" : ",DURATION=\(range.1)") + "\n"
        }
        let last =
            "#EXT-X-DATERANGE:ID=\"z\",CLASS=\"c\",START-DATE=\"2030-01-01T00:00:50.000Z\""
            + (hasNext ? ",END-ON-NEXT=YES" : "")
        let other = "#EXT-X-DATERANGE:ID=\"o\",CLASS=\"d\",START-DATE=\"2030-01-01T00:00:00.000Z\",DURATION=99\n"
        let text = RuleFindings.media("\(Self.date)\n\(lines.joined())\(other)\(last)")
        #expect(try RuleFindings.lines(text) == found.map { "\($0) date-ranges-overlap" })
        let end = text.replacing(",DURATION=9\n", with: ",END-DATE=\"2030-01-01T00:00:09.000Z\"\n")
        if ranges[0] == ("00", "9") {
            #expect(try RuleFindings.lines(end).first == found.first.map { "\($0) date-ranges-overlap" })
        }
    }

    @Test(
        arguments: [
            ("X-ASSET-URI=\"https://a/b?_HLS_interstitial_id=a\"", ""),
            ("X-ASSET-LIST=\"b?_HLS_interstitial_id=a\"", ""),
            ("X-A=1", "interstitial-without-asset"),
            (
                "X-ASSET-URI=\"https://a/b?_HLS_interstitial_id=a\",X-ASSET-LIST=\"b?_HLS_interstitial_id=a\"",
                "interstitial-with-two-assets"
            ),
            ("X-ASSET-URI=\"b?_HLS_interstitial_id=a\"", "relative-asset-uri"), ("X-ASSET-URI=\"\"", "empty-string"),
            ("X-ASSET-URI=\"https://a/b\"", "interstitial-without-query-id"),
            ("X-ASSET-LIST=\"b?_HLS_interstitial_id=b\"", "interstitial-without-query-id"),
            ("X-ASSET-URI=\"data:b\"", ""), ("X-ASSET-LIST=\"\"", "empty-string"),
            ("X-ASSET-LIST=\"data:b\",X-SNAP=1", "unquoted-string"),
            ("X-ASSET-URI=\"https://a/b?_HLS_interstitial_id=a&_HLS_primary_id=1&_HLS_start_offset=2\"", ""),
            ("X-ASSET-URI=\"https://a/b?_HLS_interstitial_id=a&_HLS_other=1\"", "reserved-query-parameter"),
            ("X-ASSET-URI=\"https://a/b?_HLS_interstitial_id=a&_HLS_other\"", "reserved-query-parameter"),
            ("X-ASSET-URI=\"https://a/b?_HLS_interstitial_id=a&HLS_other=_HLS_x\"", ""),
            ("X-ASSET-URI=\"data:b\",X-SNAP=\"OUT,IN\"", ""), ("X-ASSET-URI=\"data:b\",X-SNAP=\"ON\"", "unknown-snap"),
            ("X-ASSET-URI=\"data:b\",X-RESTRICT=\"SKIP,JUMP\"", ""),
            ("X-ASSET-URI=\"data:b\",X-RESTRICT=\"SEEK\"", "unknown-restriction"),
            ("X-ASSET-URI=\"data:b\",X-CONTENT-MAY-VARY=\"YES\"", ""),
            ("X-ASSET-URI=\"data:b\",X-CONTENT-MAY-VARY=\"NO\"", ""),
            ("X-ASSET-URI=\"data:b\",X-CONTENT-MAY-VARY=\"x\"", "unknown-content-may-vary"),
            ("X-ASSET-URI=\"data:b\",X-CONTENT-MAY-VARY=\"\"", "empty-string"),
            ("X-ASSET-URI=\"data:b\",X-TIMELINE-OCCUPIES=\"POINT\"", ""),
            ("X-ASSET-URI=\"data:b\",X-TIMELINE-OCCUPIES=\"RANGE\"", ""),
            ("X-ASSET-URI=\"data:b\",X-TIMELINE-OCCUPIES=\"x\"", "unknown-timeline-occupies"),
            ("X-ASSET-URI=\"data:b\",X-TIMELINE-STYLE=\"PRIMARY\"", ""),
            ("X-ASSET-URI=\"data:b\",X-TIMELINE-STYLE=\"HIGHLIGHT\"", ""),
            ("X-ASSET-URI=\"data:b\",X-TIMELINE-STYLE=\"x\"", "unknown-timeline-style"),
            ("X-ASSET-URI=\"data:b\",X-SKIP-CONTROL-LABEL-ID=\"azAZ-_\"", ""),
            ("X-ASSET-URI=\"data:b\",X-SKIP-CONTROL-LABEL-ID=\"a1\"", "bad-skip-label"),
            ("X-ASSET-URI=\"data:b\",X-SKIP-CONTROL-LABEL-ID=\"@\"", "bad-skip-label"),
            ("X-ASSET-URI=\"data:b\",X-SKIP-CONTROL-LABEL-ID=\"[\"", "bad-skip-label"),
            ("X-ASSET-URI=\"data:b\",X-SKIP-CONTROL-LABEL-ID=\"`\"", "bad-skip-label"),
            ("X-ASSET-URI=\"data:b\",X-SKIP-CONTROL-LABEL-ID=\"{\"", "bad-skip-label"),
            ("X-ASSET-URI=\"data:b\",X-SKIP-CONTROL-LABEL-ID=\".\"", "bad-skip-label"),
            ("X-ASSET-URI=\"data:b\",X-SKIP-CONTROL-LABEL-ID=\"\"", "empty-string"),
            ("X-ASSET-URI=\"data:b\",X-RESUME-OFFSET=-1.5", ""),
            ("X-ASSET-URI=\"data:b\",X-RESUME-OFFSET=0x1", "not-a-signed-decimal"),
            ("X-ASSET-URI=\"data:b\",X-PLAYOUT-LIMIT=1.5", ""),
            ("X-ASSET-URI=\"data:b\",X-PLAYOUT-LIMIT=-1", "negative-duration"),
            ("X-ASSET-URI=\"data:b\",X-SKIP-CONTROL-OFFSET=1", ""),
            ("X-ASSET-URI=\"data:b\",X-SKIP-CONTROL-OFFSET=1.5", "not-an-integer"),
            ("X-ASSET-URI=\"data:b\",X-SKIP-CONTROL-DURATION=x", "bad-extension-attribute"),
        ]
    )
    func interstitialsHaveAssetsAndKnownWords(attributes: String, codes: String) throws {
        #expect(
            try RuleFindings.codes(RuleFindings.dateRange("CLASS=\"com.apple.hls.interstitial\",\(attributes)"))
                == codes
        )
        let other = try RuleFindings.codes(RuleFindings.dateRange("CLASS=\"other\",\(attributes)"))
        #expect(other == (codes == "bad-extension-attribute" ? codes : ""))
    }

    @Test(
        arguments: [
            ("X-URI=\"u\",X-TARGET-ID=\"t\",X-TARGET-CLASS=\"c\",DURATION=1", ""),
            ("X-TARGET-ID=\"t\",X-TARGET-CLASS=\"c\",DURATION=1", "preload-without-uri"),
            ("X-URI=\"u\",X-TARGET-CLASS=\"c\",DURATION=1", "preload-without-target-id"),
            ("X-URI=\"u\",X-TARGET-ID=\"t\",DURATION=1", "preload-without-target-class"),
            ("X-URI=\"u\",X-TARGET-ID=\"t\",X-TARGET-CLASS=\"c\"", "preload-without-end"),
            ("X-URI=\"u\",X-TARGET-ID=\"t\",X-TARGET-CLASS=\"c\",END-DATE=\"2030-01-01T00:00:10.000Z\"", ""),
            ("X-URI=\"u\",X-TARGET-ID=\"t\",X-TARGET-CLASS=\"c\",DURATION=1,CUE=\"PRE\"", "preload-with-trigger"),
            (
                "X-URI=\"u\",X-TARGET-ID=\"t\",X-TARGET-CLASS=\"c\",DURATION=1,END-ON-NEXT=NO",
                "end-on-next-not-yes preload-with-trigger"
            ),
            ("X-URI=\"u\",X-TARGET-ID=\"t\",X-TARGET-CLASS=\"d\",DURATION=1", "preload-target-class-differs"),
            ("X-URI=\"u\",X-TARGET-ID=\"other\",X-TARGET-CLASS=\"d\",DURATION=1", ""),
            ("X-URI=\"\",X-TARGET-ID=\"t\",X-TARGET-CLASS=\"c\",DURATION=1", "empty-string"),
            ("X-URI=1,X-TARGET-ID=\"t\",X-TARGET-CLASS=\"c\",DURATION=1", "unquoted-string"),
        ]
    )
    func preloadsNameTheirTarget(attributes: String, codes: String) throws {
        let target = "\n#EXT-X-DATERANGE:ID=\"t\",CLASS=\"c\",START-DATE=\"2030-01-01T00:00:00.000Z\""
        let text = RuleFindings.dateRange("CLASS=\"com.apple.hls.preload\",\(attributes)\(target)")
        #expect(try RuleFindings.codes(text) == codes)
    }
}
