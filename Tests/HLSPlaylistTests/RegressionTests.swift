import HLSPlaylist
import MediaTiming
import ReportFormat
import Testing

/// Regression tests of fixed defects.
@Suite struct RegressionTests {
    private func media(_ lines: String...) throws -> MediaPlaylist {
        try MediaPlaylist(
            parsing: Array((["#EXTM3U", "#EXT-X-TARGETDURATION:6"] + lines).map { $0 + "\n" }.joined().utf8)
        )
    }

    private func diagnostics(_ text: String) throws -> [Diagnostic] {
        try Playlist.parse(Array(text.utf8)).diagnostics
    }

    /// The title is found by the prefix `#EXTINF:`, the duration by the whole tag.
    @Test func unknownTagWithExtinfPrefixIsNotADuration() throws {
        let segment = try #require(try media("#EXTINF:5,one", "#EXTINFX:9,", "a.ts").segments.first)
        #expect(segment.timeRange.start == .zero)
        #expect(segment.duration == MediaTime(seconds: 5) && segment.title == "one")
    }

    /// The URI of a variant starts a new block; the segment tags before it must not be lost.
    @Test func streamInfInsideSegmentKeepsSegmentTags() throws {
        let playlist = try media(
            "#EXTINF:5,one",
            "#EXT-X-BYTERANGE:5@3",
            "#EXT-X-STREAM-INF:BANDWIDTH=1",
            "v.m3u8",
            "a.ts"
        )
        let segment = try #require(playlist.segments.first)
        #expect(segment.uri == "a.ts" && playlist.duration == MediaTime(seconds: 5))
        #expect(segment.duration == MediaTime(seconds: 5) && segment.title == "one")
        #expect(segment.byteRange == ByteRange(start: 3, length: 5))
        #expect(!Playlist.media(playlist).diagnostics.contains { $0.code == "address-without-extinf" })
    }

    @Test func extinfInMultivariantPlaylistIsReportedOnlyAsMixedKinds() throws {
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n#EXTINF:4,\na.ts\n"
        let codes = try diagnostics(text).filter { $0.line == 4 }.map(\.code)
        #expect(codes == ["mixed-kinds"])
    }

    @Test func streamInfInMediaPlaylistIsReportedOnlyAsMixedKinds() throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:4,\na.ts\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"
        let codes = try diagnostics(text).map(\.code)
        #expect(codes == ["mixed-kinds"])
    }

    @Test func unknownTagsHaveLineNumbersWithAnyLineEnding() throws {
        let text = "#EXTM3U\r#EXT-X-TARGETDURATION:6\r#EXT-FOO\r#EXTINF:4,\ra.ts\r"
        let playlist = try MediaPlaylist(parsing: Array(text.utf8))
        #expect(try diagnostics(text).filter { $0.code == "unknown-tag" }.map(\.line) == [3])
        #expect(playlist.unknownTags.map(\.line) == [3])
    }

    @Test func diagnosticsAreSortedByLine() throws {
        let lines = try diagnostics("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:4,\n#EXT-FOO\n#EXTINF:4,\na.ts\n")
            .compactMap(\.line)
        #expect(lines == lines.sorted())
    }

    @Test(arguments: ["-5", "+5"])
    func signedBitRateIsIgnored(text: String) throws {
        let segment = try #require(try media("#EXT-X-BITRATE:\(text)", "#EXTINF:4,", "a.ts").segments.first)
        #expect(segment.bitRate == nil)
    }

    @Test func whitespaceBeforeBitRateIsAccepted() throws {
        let segment = try #require(try media("#EXT-X-BITRATE: 1500", "#EXTINF:4,", "a.ts").segments.first)
        #expect(segment.bitRate?.bitsPerSecond == 1_500_000)
    }

    /// A decimal integer has no sign (RFC 8216bis §4.2).
    @Test func signedIntegerIsReported() throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:+5\n#EXTINF:4,\na.ts\n"
        let codes = try diagnostics(text).map(\.code)
        #expect(codes == ["not-an-integer"])
    }

    @Test func negativeVersionIsIgnored() throws {
        let playlist = try media("#EXT-X-VERSION:-3", "#EXTINF:4,", "a.ts")
        #expect(playlist.declaredVersion == nil)
    }

    /// Nanoseconds since 1970 fit in 64 bits; finer units do not.
    @Test(arguments: [
        ("2024-01-01T00:00:00.1234567891Z", 1_704_067_200), ("2024-01-01T00:00:00.123456789012Z", 1_704_067_200),
    ])
    func dateWithManyFractionalDigitsKeepsItsSecond(text: String, seconds: Int64) throws {
        let date = try #require(ProgramDateTime(text))
        #expect(date.sinceEpoch >= MediaTime(seconds: seconds))
        #expect(date.sinceEpoch < MediaTime(seconds: seconds + 1))
    }

    /// Rewriting replaces the range of the value; an attribute without an equals sign has no such range.
    @Test(arguments: ["#EXT-X-MAP:URI", "#EXT-X-KEY:METHOD=AES-128,URI", "#EXT-X-MAP:URI,BYTERANGE=\"5@0\""])
    func uriAttributeWithoutValueIsNotAnAddress(line: String) throws {
        let playlist = Playlist.media(try media(line, "#EXTINF:4,", "a.ts"))
        #expect(playlist.addresses.map(\.uri) == ["a.ts"])
    }

    /// A part without an offset follows the previous part, even one of the previous segment (RFC 8216bis §4.4.4.9).
    @Test func impliedPartOffsetFollowsLastPartOfPreviousSegment() throws {
        let playlist = try media(
            "#EXT-X-PART:DURATION=2,URI=\"all.mp4\",BYTERANGE=\"10@0\"",
            "#EXT-X-PART:DURATION=2,URI=\"all.mp4\",BYTERANGE=\"20\"",
            "#EXTINF:4,",
            "#EXT-X-BYTERANGE:30@0",
            "all.mp4",
            "#EXT-X-PART:DURATION=2,URI=\"all.mp4\",BYTERANGE=\"5\""
        )
        #expect(playlist.segments.first?.parts.map(\.byteRange?.description) == ["10@0", "20@10"])
        #expect(playlist.trailingParts.map(\.byteRange?.description) == ["5@30"])
    }

    /// Variables are allowed in every quoted string and hexadecimal sequence, not only in URIs and names (RFC 8216bis
    /// §4.3).
    @Test func variablesAreSubstitutedInEveryQuotedString() throws {
        let text = """
            #EXTM3U
            #EXT-X-DEFINE:NAME="codec",VALUE="avc1.4d401e"
            #EXT-X-DEFINE:NAME="language",VALUE="en"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio-{$language}",NAME="{$language}",LANGUAGE="{$language}"
            #EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="{$codec}",AUDIO="audio-en"
            v.m3u8

            """
        let playlist = try MultivariantPlaylist(parsing: Array(text.utf8))
        let variant = try #require(playlist.variants.first)
        #expect(playlist.renditions.map(\.name) == ["en"])
        #expect(playlist.renditions.map(\.language) == ["en"])
        #expect(playlist.renditions(.audio, in: "audio-en").count == 1)
        #expect(variant.codecs == ["avc1.4d401e"])
    }

    @Test func variablesAreSubstitutedInKeysAndDateRanges() throws {
        let playlist = try media(
            "#EXT-X-DEFINE:NAME=\"iv\",VALUE=\"0011223344556677\"",
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x{$iv}{$iv}",
            "#EXTINF:4,",
            "a.ts",
            "#EXT-X-DATERANGE:ID=\"{$iv}\",X-COM=\"{$iv}\""
        )
        #expect(
            playlist.segments.first?.keys.map(\.initializationVector) == ["0x00112233445566770011223344556677"]
        )
        #expect(playlist.dateRanges.map(\.id) == ["0011223344556677"])
    }

    /// An empty KEYFORMAT is equivalent to the default one, both when the key is parsed and when it replaces another
    /// key.
    @Test func keyWithEmptyFormatIsReplacedByKeyWithoutFormat() throws {
        let playlist = try media(
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k1\",KEYFORMAT=\"\"",
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k2\"",
            "#EXTINF:4,",
            "a.ts"
        )
        #expect(playlist.segments.first?.keys.map(\.uri) == ["k2"])
    }

    @Test func byteLimitDoesNotExceed32BitOffsets() {
        var limits = PlaylistLimits()
        limits.byteCount = .max
        #expect(limits.byteCount <= Int(UInt32.max))
    }

    @Test func unclosedVariableReferencesAreLiteralText() throws {
        let openings = String(repeating: "{$", count: 300)
        let playlist = try media("#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"", "#EXTINF:4,", openings + "{$a}")
        #expect(playlist.segments.first?.uri == openings + "b")
    }

    /// An invalid date or bit rate is ignored and does not end the previous value.
    @Test func invalidDateOrBitRateKeepsPreviousValue() throws {
        let playlist = try media(
            "#EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:00:00Z",
            "#EXT-X-BITRATE:800",
            "#EXTINF:4,",
            "a.ts",
            "#EXT-X-PROGRAM-DATE-TIME:now",
            "#EXT-X-BITRATE:fast",
            "#EXTINF:4,",
            "b.ts"
        )
        #expect(playlist.segments[1].programDateTime?.description == "2024-01-01T00:00:04.000Z")
        #expect(playlist.segments[1].bitRate == BitRate(bitsPerSecond: 800_000))
    }

    /// The canonical form must keep exactly the values that parsing accepts.
    @Test(arguments: [
        "#EXT-X-VERSION:+7", "#EXT-X-MEDIA-SEQUENCE:+5",
        "#EXT-X-MEDIA-SEQUENCE:9223372036854775807\n#EXT-X-MEDIA-SEQUENCE:1",
        "#EXT-X-START:FOO=1\n#EXT-X-START:TIME-OFFSET=3", "#EXT-X-PART-INF:X=1\n#EXT-X-PART-INF:PART-TARGET=1",
        "#EXT-X-BITRATE:+100", "#EXT-X-BITRATE:100\n#EXT-X-BITRATE:x",
        "#EXT-X-SKIP:X=1\n#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n#EXT-X-SKIP:SKIPPED-SEGMENTS=4",
    ])
    func canonicalFormParsesToSameValues(lines: String) throws {
        let playlist = try media(lines, "#EXTINF:4,", "a.ts")
        guard case .media(let canonical) = try Playlist.media(playlist).canonical() else {
            Issue.record("the canonical spelling is not one of a media playlist")
            return
        }
        #expect(canonical.declaredVersion == playlist.declaredVersion && canonical.start == playlist.start)
        #expect(canonical.segments[0].sequence == playlist.segments[0].sequence)
        #expect(canonical.partTargetDuration == playlist.partTargetDuration)
        #expect(canonical.segments[0].bitRate == playlist.segments[0].bitRate)
        #expect(canonical.skippedSegmentCount == playlist.skippedSegmentCount)
    }
}

@Suite struct HostileInputTests {
    /// A long variable that every segment references expands to no more than a few times the size of the playlist.
    @Test func variableExpansionHasByteBudget() throws {
        let segments = String(repeating: "#EXTINF:1,\n{$a}\n", count: 100_000)
        let text = "#EXTM3U\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"\(String(repeating: "v", count: 8_000))\"\n\(segments)"
        let playlist = try Playlist.parse(Array(text.utf8))
        #expect(playlist.addresses.reduce(0) { $0 + $1.uri.utf8.count } < (256 << 20) + 4 * text.utf8.count)
        let short = text.replacing(String(repeating: "v", count: 8_000), with: String(repeating: "v", count: 500))
        #expect(try Playlist.parse(Array(short.utf8)).addresses.last?.uri.utf8.count == 500)
    }

    @Test func longKeysOfSeveralFormatsApplyToEverySegment() throws {
        let long = String(repeating: "k", count: 10_000)
        let keys = (0..<8).map { "#EXT-X-KEY:METHOD=SAMPLE-AES,KEYFORMAT=\"f\($0)\",URI=\"\(long)\"\n" }.joined()
        let segments = String(
            repeating: "#EXT-X-KEY:METHOD=SAMPLE-AES,KEYFORMAT=\"own\",URI=\"k\"\n#EXTINF:1,\na\n",
            count: 40
        )
        let playlist = try MediaPlaylist(parsing: Array("#EXTM3U\n\(keys)#EXT-X-MAP:URI=\"\(long)\"\n\(segments)".utf8))
        #expect(playlist.segments.count == 40)
        #expect(playlist.segments.allSatisfy { $0.keys.count == 9 && $0.map?.keys.count == 8 })
    }
}
