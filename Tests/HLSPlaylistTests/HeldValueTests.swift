import HLSPlaylist
import MediaTiming
import ReportFormat
import ResourceAddressing
import Testing

/// Tests of values that a segment inherits from lines before its own.
@Suite struct HeldValueTests {
    private func media(_ lines: String...) throws -> MediaPlaylist {
        try MediaPlaylist(parsing: Array(("#EXTM3U\n" + lines.joined(separator: "\n") + "\n").utf8))
    }

    private func starts(_ playlist: MediaPlaylist) -> [[Int64?]] {
        playlist.segments.map { $0.parts.map { $0.byteRange?.start } }
            + [playlist.trailingParts.map { $0.byteRange?.start }]
    }

    @Test func impliedByteRangeOfPartContinuesOnlyWithinSameResource() throws {
        let playlist = try media(
            "#EXT-X-PART:DURATION=1,URI=\"a\",BYTERANGE=\"10@5\"",
            "#EXT-X-PART:DURATION=1,URI=\"a\",BYTERANGE=\"10\"",
            "#EXT-X-PART:DURATION=1,URI=\"b\",BYTERANGE=\"10\"",
            "#EXT-X-PART:DURATION=1,URI=\"b\",BYTERANGE=\"7\"",
            "#EXT-X-PART:DURATION=1,URI=\"b\"",
            "#EXT-X-PART:DURATION=1,URI=\"b\",BYTERANGE=\"10\"",
            "#EXTINF:4,",
            "s",
            "#EXT-X-PART:DURATION=1,URI=\"b\",BYTERANGE=\"1\"",
            "#EXTINF:4,",
            "t",
            "#EXT-X-PART:DURATION=1,URI=\"b\",BYTERANGE=\"1\""
        )
        #expect(starts(playlist) == [[5, 15, 0, 10, nil, 0], [10], [11]])
        // The result does not depend on the order of access.
        #expect(starts(playlist) == [[5, 15, 0, 10, nil, 0], [10], [11]])
        #expect(playlist.trailingParts.first?.byteRange == ByteRange(start: 11, length: 1))
    }

    @Test func longChainOfImpliedPartOffsetsIsResolved() throws {
        let lines = (0..<1_000).map { _ in "#EXT-X-PART:DURATION=1,URI=\"a\",BYTERANGE=\"2\"\n#EXTINF:1,\ns" }
        let playlist = try media(lines.joined(separator: "\n"))
        #expect(playlist.segments[999].parts.first?.byteRange?.start == 1_998)
    }

    @Test func invalidMapEndsPreviousMap() throws {
        let playlist = try media("#EXT-X-MAP:URI=\"m\"", "#EXTINF:4,", "a", "#EXT-X-MAP:X=1", "#EXTINF:4,", "b")
        for _ in 0..<2 { #expect(playlist.segments.map { $0.map?.uri } == ["m", nil]) }
    }

    @Test func inheritedDatesAndBitRatesDoNotDependOnAccessOrder() throws {
        let playlist = try media(
            "#EXTINF:4,",
            "a",
            "#EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:00:00Z",
            "#EXT-X-BITRATE:1",
            "#EXTINF:4,",
            "b",
            "#EXTINF:4,",
            "c",
            "#EXT-X-PROGRAM-DATE-TIME:2025-01-01T00:00:00Z",
            "#EXT-X-BITRATE:2",
            "#EXTINF:4,",
            "d"
        )
        let dates = [nil, "2024-01-01T00:00:00.000Z", "2024-01-01T00:00:04.000Z", "2025-01-01T00:00:00.000Z"]
        for order in [[0, 1, 2, 3], [3, 0, 2, 1], [2, 2, 1, 3]] {
            for position in order {
                #expect(playlist.segments[position].programDateTime?.description == dates[position])
                let rates: [Int64?] = [nil, 1_000, 1_000, 2_000]
                #expect(playlist.segments[position].bitRate?.bitsPerSecond == rates[position])
            }
        }
    }

    @Test func relativeReferencesResolveAgainstPlaylistURL() throws {
        let context = PlaylistContext(address: ResourceAddress("https://h/v/list.m3u8?a=1/2#f/g"))
        let playlist = try MediaPlaylist(
            parsing: Array(
                "#EXTM3U\n#EXTINF:1,\nx.ts\n#EXTINF:1,\n?b=2\n#EXT-X-KEY:METHOD=AES-128,URI=\"\"\n#EXTINF:1,\n/y\n".utf8
            ),
            context: context
        )
        #expect(
            playlist.segments.map(\.address.text) == ["https://h/v/x.ts", "https://h/v/list.m3u8?b=2", "https://h/y"]
        )
        #expect(playlist.segments[2].keys.first?.address?.text == "https://h/v/list.m3u8?a=1/2")
        var moved = context
        moved.address = ResourceAddress("https://other/w/list.m3u8")
        let elsewhere = try MediaPlaylist(parsing: playlist.bytes, context: moved)
        #expect(elsewhere.segments[0].address.text == "https://other/w/x.ts")
    }

    @Test func firstQueryParameterDefinesVariable() throws {
        let playlist = try MediaPlaylist(
            parsing: Array(
                "#EXTM3U\n#EXT-X-DEFINE:QUERYPARAM=\"a b\"\n#EXT-X-DEFINE:QUERYPARAM=\"c\"\n#EXTINF:1,\nx\n".utf8
            ),
            context: PlaylistContext(address: ResourceAddress("https://h/l.m3u8?c&a%20b=1%2B1&a%20b=2&c=3"))
        )
        #expect(playlist.variables == ["a b": "1+1", "c": "3"])
    }

    @Test func renditionsAreGroupedByTypeAndGroupID() throws {
        let playlist = try MultivariantPlaylist(
            parsing: Array(
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="1"
                #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="a",NAME="2"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="3"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="4"
                #EXT-X-MEDIA:TYPE=AUDIO,NAME="5"

                """.utf8
            )
        )
        #expect(playlist.renditions(.audio, in: "a").map(\.name) == ["1", "4"])
        #expect(playlist.renditions(.video, in: "a").map(\.name) == ["2"])
        #expect(playlist.renditions(.audio, in: "b").map(\.name) == ["3"])
        #expect(playlist.renditions(.audio, in: "").map(\.name) == ["5"])
        #expect(playlist.renditions(.subtitles, in: "a").isEmpty)
    }
}

/// Tests of the size limits on reports of hostile playlists.
@Suite struct ReportLimitTests {
    private func longKey(_ segments: Int) throws -> Playlist {
        let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"\(String(repeating: "k", count: 10_000))\"\n"
        let lines = String(repeating: "#EXTINF:4,\na.ts\n", count: segments)
        return try Playlist.parse(Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(key)\(lines)#EXT-X-ENDLIST\n".utf8))
    }

    @Test func reportThatRepeatsLongLineStopsAtByteLimit() throws {
        let report = try longKey(1_000).report
        #expect(throws: ReportLimitError(limit: 100_000)) { try report.json(limit: 100_000) }
        var written = 0
        #expect(throws: ReportLimitError.self) {
            try report.write { (piece) throws(ReportLimitError) in
                written += piece.utf8.count
                guard written <= 100_000 else { throw ReportLimitError(limit: 100_000) }
            }
        }
        #expect(written < 200_000, "nothing beyond the limit is made")
    }

    @Test func reportPiecesConcatenateToWholeText() throws {
        let report = try longKey(20).report
        var pieces: [String] = []
        report.write { pieces.append($0) }
        #expect(pieces.count > 5 && pieces.joined() == report.json)
        #expect(try report.json(limit: report.json.utf8.count) == Array(report.json.utf8))
        #expect(throws: ReportLimitError.self) { try report.json(limit: report.json.utf8.count - 1) }
    }

    @Test func sequenceIsSerializedAsArray() {
        let sequence = ReportSequence(count: 3) { .integer($0) }
        #expect(ReportValue.sequence(sequence).json == "[0,1,2]" && sequence.values.count == 3)
        #expect(sequence == ReportSequence(count: 3) { .integer($0) })
        #expect(sequence != ReportSequence(count: 2) { .integer($0) })
        #expect(ReportValue.sequence(ReportSequence(count: 0) { _ in .bool(true) }).json == "[]")
        #expect(sequence.hashValue == ReportSequence(count: 3) { .integer($0) }.hashValue)
    }

    @Test func diagnosticMessageTruncatesLongValue() throws {
        let name = String(repeating: "n", count: 100_000)
        let line = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"\(name)\",CHANNELS=\"2\"\n"
        let playlist = try Playlist.parse(Array("#EXTM3U\n\(line)\(line)".utf8))
        let finding = try #require(playlist.validated().first { $0.code == "repeated-name" })
        #expect(finding.message.utf8.count < 1_000 && finding.message.contains("nnn…"))
    }
}

/// Tests of rules that compare the renditions of one group or the tags of one kind.
@Suite struct GroupRuleTests {
    private func codes(_ text: String, _ sets: Set<RuleSet> = [.rfc, .apple]) throws -> [String] {
        try Playlist.parse(Array(("#EXTM3U\n" + text).utf8)).validated(against: sets).map(\.code)
    }

    private func rendition(_ group: String, _ name: String, _ more: String) -> String {
        "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"\(group)\",NAME=\"\(name)\",CHANNELS=\"2\",URI=\"\(group)\(name)\",\(more)\n"
    }

    @Test func renditionOrderIsCheckedPerGroup() throws {
        let special = "LANGUAGE=\"en\",CHARACTERISTICS=\"public.x\""
        let common = "LANGUAGE=\"en\""
        #expect(try codes(rendition("a", "1", special) + rendition("a", "2", common)).contains("apple-rendition-order"))
        #expect(
            try !codes(rendition("a", "1", special) + rendition("b", "2", common)).contains("apple-rendition-order")
        )
        #expect(
            try !codes(rendition("a", "1", common) + rendition("a", "2", special)).contains("apple-rendition-order")
        )
        let german = "LANGUAGE=\"de\""
        #expect(
            try !codes(rendition("a", "1", special) + rendition("a", "2", german)).contains("apple-rendition-order")
        )
    }

    @Test func autoselectAmbiguityIsCheckedPerGroup() throws {
        let choice = "LANGUAGE=\"en\",AUTOSELECT=YES"
        #expect(try codes(rendition("a", "1", choice) + rendition("a", "2", choice)).contains("autoselect-ambiguous"))
        #expect(try !codes(rendition("a", "1", choice) + rendition("b", "1", choice)).contains("autoselect-ambiguous"))
        #expect(
            try !codes(rendition("a", "1", choice) + rendition("a", "2", "LANGUAGE=\"de\",AUTOSELECT=YES"))
                .contains("autoselect-ambiguous")
        )
    }

    @Test func nameAndDefaultUniquenessIsCheckedPerGroup() throws {
        let found = try codes(rendition("a", "1", "DEFAULT=YES") + rendition("a", "1", "DEFAULT=YES"))
        #expect(found.contains("repeated-name") && found.contains("repeated-default"))
        let other = try codes(rendition("a", "1", "DEFAULT=YES") + rendition("b", "1", "DEFAULT=YES"))
        #expect(!other.contains("repeated-name") && !other.contains("repeated-default"))
    }

    @Test func partDurationsAreCheckedAgainstPartTarget() throws {
        let parts = "#EXT-X-PART:DURATION=2,URI=\"p\"\n#EXT-X-PART:DURATION=0.1,URI=\"q\"\n"
        let segments = String(repeating: parts + "#EXTINF:4,\ns\n", count: 3)
        let without = try codes("#EXT-X-TARGETDURATION:4\n" + segments, [.rfc])
        #expect(without.filter { $0 == "missing-part-inf" }.count == 1 && !without.contains("part-longer-than-target"))
        let with = try codes("#EXT-X-TARGETDURATION:4\n#EXT-X-PART-INF:PART-TARGET=1\n" + segments, [.rfc])
        #expect(with.filter { $0 == "part-longer-than-target" }.count == 3 && !with.contains("missing-part-inf"))
    }

    @Test func encryptedMapRequiresExplicitInitializationVector() throws {
        func found(_ keys: String) throws -> Bool {
            try codes("#EXT-X-TARGETDURATION:4\n\(keys)#EXT-X-MAP:URI=\"m\"\n#EXTINF:4,\na.mp4\n", [.rfc])
                .contains("map-key-without-iv")
        }
        #expect(try found("#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n"))
        #expect(try !found("#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x1\n"))
        #expect(try !found("#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXT-X-KEY:METHOD=NONE\n"))
        #expect(try !found("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n"))
        #expect(try !found("#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x1\n"))
        #expect(
            try found(
                "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXT-X-KEY:METHOD=AES-128,URI=\"l\",KEYFORMAT=\"f\",IV=0x1\n"
            )
        )
    }
}
