import HLSPlaylist
import MediaTiming
import Testing

@testable import PlaylistEditing

/// Writes date ranges of interstitials for the breaks of playlists.
struct InterstitialTests {
    private static let address = "https://ads.example/main.m3u8"

    private func written(_ playlist: MediaPlaylist, _ rule: BreakRule = .cues) throws -> String {
        try playlist.writingInterstitials(rule, playing: Self.address, limits: PlaylistLimits()).editedText
    }

    /// Returns the line of the date range of a break.
    private func line(_ milliseconds: String, _ date: String, _ attributes: String) -> String {
        "#EXT-X-DATERANGE:ID=\"break-\(milliseconds)\",CLASS=\"com.apple.hls.interstitial\",START-DATE=\"\(date)\","
            + "\(attributes)X-ASSET-URI=\"\(Self.address)?_HLS_interstitial_id=break-\(milliseconds)\"\n"
    }

    private static let limits = "DURATION=18,X-RESUME-OFFSET=18,X-PLAYOUT-LIMIT=18,"

    /// The date range is the only change; the dates of the playlist are its own.
    @Test(arguments: [false, true]) func dateRangeIsTheOnlyChange(isComplete: Bool) throws {
        let stream = BreakStream(count: 8, [5: "#EXT-X-CUE-OUT:18\n"])
        let source = try stream.version(endingAt: 7, ended: isComplete)
        let range = line("1767225630000", "2026-01-01T00:00:30.000Z", Self.limits)
        let expected = source.editedText.replacing("#EXTINF:6,\n5.ts", with: "\(range)#EXTINF:6,\n5.ts")
        #expect(expected.contains("#EXT-X-CUE-OUT:18\n\(range)"))
        #expect(try written(source) == expected)
    }

    /// The resumption of a live program is at the time of the break, that of a complete one at the position.
    @Test(arguments: [("", ""), (":0", ""), ("", "X-RESUME-OFFSET=0,"), (":0", "X-RESUME-OFFSET=0,")])
    func breakWithoutADurationDelaysACompleteProgram(duration: String, attributes: String) throws {
        let stream = BreakStream(count: 8, [5: "#EXT-X-CUE-OUT\(duration)\n"])
        let source = try stream.version(endingAt: 7, ended: !attributes.isEmpty)
        let range = line("1767225630000", "2026-01-01T00:00:30.000Z", attributes)
        #expect(
            try written(source) == source.editedText.replacing("#EXTINF:6,\n5.ts", with: "\(range)#EXTINF:6,\n5.ts")
        )
    }

    @Test func completePlaylistWithoutDatesGetsThem() throws {
        var stream = BreakStream(count: 6, [3: "#EXT-X-CUE-OUT:18\n"])
        stream.hasDates = false
        let source = try stream.version(endingAt: 6, ended: true)
        let cue = line("18000", "1970-01-01T00:00:18.000Z", Self.limits)
        let date = "#EXT-X-PROGRAM-DATE-TIME:1970-01-01T00:00:00.000Z\n"
        let expected = source.editedText.replacing("#EXTINF:6,\n3.ts", with: "\(cue)#EXTINF:6,\n3.ts")
            .replacing("#EXTINF:6,\n0.ts", with: "\(date)#EXTINF:6,\n0.ts")
        #expect(try written(source) == expected)
        // A break at the first segment follows the date.
        stream.segments[3].tags = ""
        stream.segments[0].tags = "#EXT-X-CUE-OUT:18\n"
        let first = try stream.version(endingAt: 6, ended: true)
        let start = line("0", "1970-01-01T00:00:00.000Z", Self.limits)
        #expect(
            try written(first)
                == first.editedText.replacing("#EXTINF:6,\n0.ts", with: "\(date)\(start)#EXTINF:6,\n0.ts")
        )
        let live = try stream.version(endingAt: 6)
        let reason = "interstitials require a live playlist with EXT-X-PROGRAM-DATE-TIME"
        #expect(throws: PlaylistEditError.cannotStitch(reason: reason)) { try written(live) }
    }

    /// The date range of a break has the date that the playlist announces, between the boundaries of segments.
    @Test func dateOfADateRangeIsThatOfTheBreak() throws {
        let range =
            "#EXT-X-DATERANGE:ID=\"x\",CLASS=\"ad\",START-DATE=\"2026-01-01T00:00:32.500Z\",PLANNED-DURATION=18\n"
        let source = try BreakStream(count: 8, [2: range]).version(endingAt: 7)
        let expected = line("1767225632500", "2026-01-01T00:00:32.500Z", Self.limits)
        let result = try written(source, .dateRanges(classIdentifier: "ad"))
        #expect(result == source.editedText.replacing("#EXTINF:6,\n5.ts", with: "\(expected)#EXTINF:6,\n5.ts"))
    }

    /// Interstitials that are the breaks are replaced, other date ranges are not.
    @Test func interstitialsOfThePlaylistAreReplaced() throws {
        let name = "com.apple.hls.interstitial"
        let own =
            "#EXT-X-DATERANGE:ID=\"x\",CLASS=\"\(name)\",START-DATE=\"2026-01-01T00:00:30Z\",DURATION=18,"
            + "X-ASSET-URI=\"https://b.example/old.m3u8\"\n"
        let source = try BreakStream(count: 8, [2: own]).version(endingAt: 7)
        let expected = line("1767225630000", "2026-01-01T00:00:30.000Z", Self.limits)
        let result = try written(source, .dateRanges(classIdentifier: name))
        #expect(
            result
                == source.editedText.replacing(own, with: "")
                .replacing("#EXTINF:6,\n5.ts", with: "\(expected)#EXTINF:6,\n5.ts")
        )
        let clock = try written(source, .every(MediaTime(seconds: 30)))
        #expect(clock.contains(own) && clock.contains(line("1767225630000", "2026-01-01T00:00:30.000Z", "")))
    }

    @Test func playlistWithoutBreaksIsUnchanged() throws {
        for tag in ["", "#EXT-X-CUE-IN\n", "#EXT-X-CUE-OUT-CONT:6/30\n"] {
            var stream = BreakStream(count: 8, [1: tag])
            stream.hasDates = false
            let source = try stream.version(endingAt: 7)
            #expect(try written(source) == source.editedText)
        }
    }

    /// A break at the start of the playlist is announced, one that began before it is not.
    @Test func breaksThatBeganEarlierHaveNoDateRange() throws {
        let source = try BreakStream(count: 8, [1: "#EXT-X-CUE-OUT-CONT:6/30\n", 4: "#EXT-X-CUE-OUT:18\n"])
            .version(endingAt: 7)
        let range = line("1767225624000", "2026-01-01T00:00:24.000Z", Self.limits)
        #expect(
            try written(source) == source.editedText.replacing("#EXTINF:6,\n4.ts", with: "\(range)#EXTINF:6,\n4.ts")
        )
        let start = try BreakStream(count: 8, [1: "#EXT-X-CUE-OUT-CONT:0/18\n"]).version(endingAt: 7)
        let first = line("1767225606000", "2026-01-01T00:00:06.000Z", Self.limits)
        #expect(try written(start) == start.editedText.replacing("#EXTINF:6,\n1.ts", with: "\(first)#EXTINF:6,\n1.ts"))
    }

    @Test func addressIsAValueOfAnAttribute() throws {
        let source = try BreakStream(count: 8, [5: "#EXT-X-CUE-OUT:18\n"]).version(endingAt: 7)
        for address in ["a\"b", "a\u{1F}b", "a\nb", "\u{0}"] {
            #expect(throws: PlaylistEditError.unwritableAddress(address)) {
                try source.writingInterstitials(.cues, playing: address, limits: PlaylistLimits())
            }
        }
        let result = try source.writingInterstitials(.cues, playing: "a b'ü", limits: PlaylistLimits())
        #expect(result.editedText.contains(",X-ASSET-URI=\"a b'ü\"\n"))
    }

    /// The server of the asset learns for which interstitial it is (RFC 8216bis §D.4).
    @Test(arguments: [
        ("https://h/ad.m3u8?a=1", "https://h/ad.m3u8?a=1&_HLS_interstitial_id=break-1767225630000"),
        ("http://h/ad.m3u8#t", "http://h/ad.m3u8?_HLS_interstitial_id=break-1767225630000#t"),
        ("https://h/ad.m3u8?_HLS_interstitial_id=x", "https://h/ad.m3u8?_HLS_interstitial_id=x"),
        ("file:///ad.m3u8", "file:///ad.m3u8"), ("data:x", "data:x"),
    ])
    func assetHasTheIDOfItsInterstitial(address: String, expected: String) throws {
        let source = try BreakStream(count: 8, [5: "#EXT-X-CUE-OUT:18\n"]).version(endingAt: 7)
        let result = try source.writingInterstitials(.cues, playing: address, limits: PlaylistLimits())
        #expect(result.editedText.contains("X-ASSET-URI=\"\(expected)\"\n"))
    }

    @Test func writtenInterstitialsHaveNoWarnings() throws {
        let source = try BreakStream(count: 8).version(endingAt: 6, ended: true)
        let rule = BreakRule.every(MediaTime(seconds: 20))
        let result = try source.writingInterstitials(rule, playing: Self.address, limits: PlaylistLimits())
        #expect(result.dateRanges.contains { $0.interstitial != nil })
        #expect(!Playlist.media(result).validated().contains { $0.message.contains("_HLS_interstitial_id") })
    }
}
