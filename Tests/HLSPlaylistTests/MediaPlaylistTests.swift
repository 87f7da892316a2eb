import MediaTiming
import ResourceAddressing
import Testing

@testable import HLSPlaylist

@Suite struct MediaPlaylistTests {
    private let playlist: MediaPlaylist

    init() throws {
        playlist = try MediaPlaylist(
            parsing: Array(Fixtures.everything.utf8),
            context: PlaylistContext(address: ResourceAddress("https://origin.example/live/720p/list.m3u8?t=1"))
        )
    }

    @Test func headerTagsAreParsed() throws {
        #expect(playlist.declaredVersion == 9 && playlist.targetDuration == MediaTime(seconds: 6))
        #expect(playlist.mediaSequence == 100 && playlist.discontinuitySequence == 7)
        #expect(playlist.isLive && !playlist.hasEndMarker && playlist.playlistType == nil)
        #expect(playlist.serverControl?.canSkipUntil == MediaTime(seconds: 36))
        #expect(playlist.partTargetDuration == MediaTime(decimal: "0.334"))
        #expect(playlist.variables == ["host": "https://cdn.example"])
    }

    @Test func durationsAddUpExactly() {
        #expect(playlist.segments.map(\.duration.description) == ["5.005", "5.005", "4", "1.002"])
        #expect(playlist.segments.map(\.start.description) == ["0", "5.005", "10.01", "14.01"])
        #expect(playlist.duration.description == "15.012")
        #expect(playlist.segments[0].title == "First, with a comma" && playlist.segments[1].title == nil)
    }

    @Test func sequenceNumbersIncrement() {
        #expect(playlist.segments.map(\.sequence) == [100, 101, 102, 103])
        #expect(playlist.segments.map(\.discontinuitySequence) == [7, 7, 8, 8])
        #expect(playlist.segments.map(\.hasDiscontinuity) == [false, false, true, false])
    }

    @Test func byteRangeWithoutOffsetFollowsPreviousByteRange() {
        #expect(playlist.segments[0].byteRange == ByteRange(start: 720, length: 1000))
        #expect(playlist.segments[1].byteRange == ByteRange(start: 1720, length: 500))
        #expect(playlist.segments[2].byteRange == nil)
    }

    @Test func byteRangeWithoutOffsetOrPredecessorStartsAtZero() throws {
        let text = "#EXTM3U\n#EXT-X-BYTERANGE:5@0\n#EXTINF:1,\na\n#EXT-X-BYTERANGE:5\n#EXTINF:1,\nb\n"
        let playlist = try MediaPlaylist(parsing: Array(text.utf8))
        #expect(playlist.segments[0].byteRange == ByteRange(start: 0, length: 5))
        #expect(playlist.segments[1].byteRange == ByteRange(start: 0, length: 5))
        let codes = Playlist.media(playlist).diagnostics.map(\.code)
        #expect(codes.contains("byte-range-without-offset"))
    }

    @Test func keyAppliesUntilNextKey() throws {
        let key = try #require(playlist.segments[1].keys.first)
        #expect(key.method == .aes128 && key.uri == "https://cdn.example/key?id=1" && key.isIdentity)
        #expect(key.initializationVector == "0x00000000000000000000000000000001")
        #expect(playlist.segments[2].keys.isEmpty && playlist.segments[3].keys.isEmpty)
    }

    /// The index stores only some of the implied offsets; this chain spans several of them.
    @Test func longChainOfImpliedByteRangesIsResolved() throws {
        var text = "#EXTM3U\n"
        var expected: [ByteRange?] = []
        var start: Int64 = 40
        for number in 0..<100 {
            let length = Int64(number + 1)
            if number == 50 { start = 9_000 }
            text += "#EXT-X-BYTERANGE:\(length)\(number == 0 || number == 50 ? "@\(start)" : "")\n#EXTINF:1,\nall.ts\n"
            expected.append(ByteRange(start: start, length: length))
            start += length
        }
        let segments = try MediaPlaylist(parsing: Array(text.utf8)).segments
        #expect(segments.map(\.byteRange) == expected)
        #expect(segments.reversed().map(\.byteRange) == expected.reversed())
    }

    /// A playlist may mix CR, LF and CRLF line endings.
    @Test(arguments: ["\n", "\r\n", "\r"], ["\n", "\r\n", "\r"])
    func lineEndingsMayBeMixed(first: String, second: String) throws {
        let text = [
            "#EXTM3U", "#EXT-X-TARGETDURATION:4", "#EXTINF:3,t", "a.ts", "", "#EXTINF:4", "b.ts", "#EXT-X-ENDLIST",
        ]
        .enumerated().map { $1 + ($0.isMultiple(of: 2) ? first : second) }.joined()
        let playlist = try MediaPlaylist(parsing: Array(text.utf8))
        #expect(playlist.segments.map(\.uri) == ["a.ts", "b.ts"] && playlist.hasEndMarker)
        #expect(playlist.segments.map(\.title) == ["t", nil] && playlist.duration == MediaTime(seconds: 7))
        #expect(playlist.bytes == Array(text.utf8))
    }

    /// Spellings that the parser recognizes by their first bytes, and similar ones.
    @Test(arguments: [
        ("#EXTINF:5", "5"), ("#EXTINF: 5.25 ,x", "5.25"), ("#EXTINF:5.", "5"), ("#EXTINF:.5,", "0.5"),
        ("#EXTINF:+5,", "5"),
        ("#EXTINF:00000000000000000005,", "5"), ("#EXTINF:1.000000000000000000001,", "1"), ("#EXTINF:-5,", "0"),
        ("#EXTINF:", "0"), ("#EXTINF", "0"), ("#EXTINF:1e3,", "0"), ("#EXTINF:nan,", "0"), ("#EXTINF:1.2.3,", "0"),
        ("#EXTINF:99999999999999999999,", "0"), ("  #EXTINF:7,  ", "7"), ("\t#EXTINF:7\t", "7"),
    ])
    func extinfSpellingsAreParsed(line: String, seconds: String) throws {
        let playlist = try MediaPlaylist(parsing: Array("#EXTM3U\n\(line)\na.ts\n".utf8))
        #expect(playlist.segments.map { $0.duration.description } == [seconds])
        #expect(playlist.duration.description == seconds)
    }

    @Test func everyStandardTagIsRecognizedByName() {
        for tag in TagName.allCases {
            let name = Array(tag.name.utf8)
            #expect(TagName(name.span, in: 0..<name.count) == tag)
            #expect(TagName(name.span, in: 0..<(name.count - 1)) != tag)
            let lower = Array(tag.name.lowercased().utf8)
            #expect(TagName(lower.span, in: 0..<lower.count) == nil)
        }
    }

    /// A key replaces only the key with the same key format; `METHOD=NONE` removes all keys.
    @Test func keysOfDifferentFormatsApplyTogether() throws {
        let text = """
            #EXTM3U
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://a",KEYFORMAT="com.apple.streamingkeydelivery"
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="k1"
            #EXTINF:1,
            a
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="k2"
            #EXTINF:1,
            b
            #EXT-X-KEY:METHOD=NONE
            #EXTINF:1,
            c
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="k3"
            #EXTINF:1,
            d

            """
        let keys = try MediaPlaylist(parsing: Array(text.utf8)).segments.map { $0.keys.map(\.uri) }
        #expect(keys == [["skd://a", "k1"], ["skd://a", "k2"], [], ["k3"]])
    }

    /// Sums of sequence numbers do not overflow 64 bits.
    @Test func hugeSequenceNumbersDoNotOverflow() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA-SEQUENCE:9223372036854775807
            #EXT-X-DISCONTINUITY-SEQUENCE:9223372036854775807
            #EXT-X-SKIP:SKIPPED-SEGMENTS=9223372036854775807
            #EXT-X-DISCONTINUITY
            #EXTINF:1,
            a
            #EXTINF:1,
            b

            """
        let playlist = try MediaPlaylist(parsing: Array(text.utf8))
        #expect(playlist.segments.count == 2)
        #expect(playlist.segments.allSatisfy { $0.sequence >= 0 && $0.discontinuitySequence >= 0 })
    }

    /// Each value is twice as long as the previous one; fully expanded, the last would have more than 100 million
    /// bytes.
    @Test func nestedVariableExpansionIsLimited() throws {
        var text = "#EXTM3U\n#EXT-X-DEFINE:NAME=\"v0\",VALUE=\"0123456789\"\n"
        for number in 1...24 {
            text += "#EXT-X-DEFINE:NAME=\"v\(number)\",VALUE=\"{$v\(number - 1)}{$v\(number - 1)}\"\n"
        }
        text += "#EXTINF:1,\n{$v24}\n#EXTINF:1,\n{$v3}\n"
        let playlist = try MediaPlaylist(parsing: Array(text.utf8))
        #expect(playlist.segments[0].uri.utf8.count <= 64 << 10)
        #expect(playlist.segments[1].uri.utf8.count == 80)
    }

    @Test func mapAppliesToSegmentsWithItsByteRange() throws {
        for segment in playlist.segments {
            let map = try #require(segment.map)
            #expect(map.byteRange == ByteRange(start: 0, length: 720))
            #expect(map.address.text == "https://origin.example/live/720p/init.mp4")
            #expect(map.keys.isEmpty, "the key stands behind the map")
        }
    }

    @Test func programDateTimeIsExtrapolated() {
        #expect(
            playlist.segments.map { $0.programDateTime?.description } == [
                "2024-02-29T23:59:58.500Z", "2024-03-01T00:00:03.505Z", "2024-03-01T00:00:08.510Z",
                "2024-03-01T02:00:20.000+02:00",
            ]
        )
        #expect(playlist.segments.map(\.hasOwnProgramDateTime) == [true, false, false, true])
    }

    @Test func gapAppliesToOneSegmentAndBitRateToFollowingSegments() {
        #expect(playlist.segments.map(\.isGap) == [false, false, true, false])
        #expect(playlist.segments.map { $0.bitRate?.bitsPerSecond } == [nil, nil, 1_500_000, 1_500_000])
    }

    @Test(arguments: [("0.5", "0.5"), ("0", "0"), ("-0.5", "0"), ("-9223372036854775808", "0"), ("x", "0")])
    func negativePartDurationIsZero(_ written: String, duration: String) throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-PART:DURATION=\(written),URI="part.mp4"

            """
        let playlist = try MediaPlaylist(parsing: Array(text.utf8))
        #expect(playlist.trailingParts.map(\.duration.description) == [duration])
    }

    @Test(arguments: [("2.5", "2.5"), ("0", "0"), ("-0.001", nil), ("x", nil)] as [(String, String?)])
    func negativeDateRangeDurationIsNil(_ written: String, duration: String?) throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-DATERANGE:ID="a",CLASS="com.apple.hls.interstitial",START-DATE="2026-01-01T00:00:00Z",\
            DURATION=\(written),PLANNED-DURATION=\(written),X-ASSET-URI="a.m3u8",X-PLAYOUT-LIMIT=\(written),\
            X-RESUME-OFFSET=\(written)
            """
        let playlist = try MediaPlaylist(parsing: Array(text.utf8))
        let range = try #require(playlist.dateRanges.first)
        #expect(range.duration?.description == duration && range.plannedDuration?.description == duration)
        #expect(range.interstitial?.playoutLimit?.description == duration)
        // An offset may be negative (RFC 8216bis appendix D.2).
        #expect(range.interstitial?.resumeOffset?.description == (written == "-0.001" ? written : duration))
    }

    @Test func partsBelongToFollowingSegment() {
        #expect(playlist.segments[3].parts.map(\.uri) == ["p1.mp4", "p2.mp4", "p2.mp4"])
        #expect(playlist.segments[3].parts[2].byteRange == ByteRange(start: 105, length: 50))
        #expect(playlist.trailingParts.map(\.isGap) == [true])
        #expect(playlist.preloadHints.first?.uri == "p4.mp4")
        #expect(playlist.renditionReports.first?.lastMediaSequence == 104)
        #expect(playlist.renditionReports.first?.address.text == "https://origin.example/live/audio.m3u8")
    }

    @Test func dateRangeTagsWithSameIDFormOneDateRange() throws {
        #expect(playlist.dateRanges.count == 1)
        let range = try #require(playlist.dateRanges.first)
        #expect(range.duration == MediaTime(decimal: "15.5") && range["X-COM"] == "y")
        #expect(range.endDate?.description == "2024-03-01T00:00:25.500Z")
    }

    @Test func unknownTagsAreAccessible() throws {
        let tag = try #require(playlist.unknownTags.first)
        #expect(tag.name == "EXT-X-CUE-OUT" && tag.attributes["DURATION"] == "15" && tag.line == 26)
    }

    @Test func segmentsAreFoundByTime() {
        #expect(playlist.segments.position(at: .zero) == 0)
        #expect(playlist.segments.position(at: MediaTime(decimal: "10.01") ?? .zero) == 2)
        #expect(playlist.segments.position(at: MediaTime(decimal: "15.0119") ?? .zero) == 3)
        #expect(playlist.segments.position(at: playlist.duration) == nil)
    }

    @Test func addressesAreListedInPlaylistOrder() {
        #expect(
            Playlist.media(playlist).addresses.map(\.uri) == [
                "init.mp4", "https://cdn.example/key?id=1", "media.mp4", "media.mp4", "https://cdn.example/gap.mp4",
                "p1.mp4", "p2.mp4", "p2.mp4", "last.mp4", "p3.mp4", "p4.mp4", "../audio.m3u8",
            ]
        )
    }

    @Test func uriWithoutExtinfIsNotASegment() throws {
        let playlist = try MediaPlaylist(parsing: Array("#EXTM3U\nstray.ts\n#EXTINF:2,\na.ts\n".utf8))
        #expect(playlist.segments.map(\.uri) == ["a.ts"])
        #expect(Playlist.media(playlist).diagnostics.contains { $0.code == "address-without-extinf" && $0.line == 2 })
    }

    @Test(arguments: ["-1", "abc", "1e5", "NaN", "", "99999999999999999999999"])
    func invalidDurationIsZero(text: String) throws {
        let playlist = try MediaPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:\(text),\na.ts\n#EXTINF:2.5,\nb.ts\n".utf8)
        )
        #expect(playlist.segments.map(\.duration.description) == ["0", "2.5"])
        #expect(Playlist.media(playlist).diagnostics.contains { $0.code == "bad-duration" && $0.line == 3 })
    }

    @Test func hugeDurationsDoNotTrap() throws {
        let line = "#EXTINF:999999999999999999.5,\na.ts\n"
        let playlist = try MediaPlaylist(
            parsing: Array(("#EXTM3U\n#EXTINF:0.000000001,\nz.ts\n" + String(repeating: line, count: 50)).utf8)
        )
        #expect(playlist.segments.count == 51 && playlist.duration > .zero)
    }

    @Test func nonPlaylistContentIsRejected() {
        let packets = String(repeating: "G" + String(repeating: "\u{0}", count: 187), count: 3)
        let texts: [(String, UnexpectedContent?)] = [
            ("", .empty), (" \r\n", .empty), ("\n<HTML lang=en></html>", .webPage), ("<!doctype html>", .webPage),
            ("<?xml version=\"1.0\"?>\n<MPD>", .dashManifest), ("\u{0}\u{0}\u{0}\u{18}ftypmp42", .mp4),
            (packets, .transportStream), ("hello\nworld\n", nil), ("{\"a\":1}", nil), ("G", nil),
        ]
        for (text, content) in texts {
            #expect(throws: PlaylistParsingError.notAPlaylist(content: content)) {
                try Playlist.parse(Array(text.utf8))
            }
        }
    }

    @Test func parsingLimitsAreEnforced() {
        let text = "#EXTM3U\n" + String(repeating: "#EXTINF:1,\na.ts\n", count: 100)
        #expect(throws: PlaylistParsingError.limitExceeded(.entryCount(50), line: 101)) {
            try Playlist.parse(Array(text.utf8), limits: PlaylistLimits(entryCount: 50))
        }
        #expect(throws: PlaylistParsingError.limitExceeded(.byteCount(100), line: 1)) {
            try Playlist.parse(Array(text.utf8), limits: PlaylistLimits(byteCount: 100))
        }
        #expect(throws: PlaylistParsingError.limitExceeded(.lineLength(9), line: 2)) {
            try Playlist.parse(Array(text.utf8), limits: PlaylistLimits(lineLength: 9))
        }
    }
}
