import HLSPlaylist
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests of the date ranges and unknown tags of a recording, and of their limits.
struct RecordedMetadataTests {
    private static func playlist(_ tags: String) throws -> MediaPlaylist {
        try MediaPlaylist(
            parsing: Array(("#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + tags + "#EXTINF:4,\ns.ts\n").utf8),
            context: PlaylistContext(address: ResourceAddress("https://h/live.m3u8"))
        )
    }

    private static func range(_ id: Int, _ attributes: String) -> String {
        "#EXT-X-DATERANGE:ID=\"\(id)\",START-DATE=\"2026-01-01T00:00:00Z\",\(attributes)\n"
    }

    /// Returns a playlist with date ranges of about 460 bytes.
    private static func ranges(_ numbers: Range<Int>) throws -> MediaPlaylist {
        let text = String(repeating: "y", count: 400)
        return try playlist(numbers.map { range($0, "X-A=\"\(text)\"") }.joined())
    }

    @Test func dateRangesBeyondTheBudgetAreOmitted() throws {
        let budget = MetadataBudget(limit: 1_000)
        var metadata = RecordedMetadata(budget)
        let playlist = try Self.ranges(0..<3)
        let lines = try metadata.newDateRanges(of: playlist, from: playlist.segments[0], at: 0).lines
        #expect(lines.count == 2)
        #expect(budget.size == lines.reduce(0) { $0 + $1.text.utf8.count } && budget.size <= 1_000)
        #expect(budget.takeOmission())
        #expect(!budget.takeOmission())
        // All renditions share the budget, and what is recorded is not counted again.
        var other = RecordedMetadata(budget)
        let further = try other.newDateRanges(of: playlist, from: playlist.segments[0], at: 0).lines
        #expect(further.isEmpty)
        let size = budget.size
        let again = try metadata.newDateRanges(of: playlist, from: playlist.segments[0], at: 1)
        #expect(again.lines.isEmpty && again.changes.isEmpty)
        #expect(budget.size == size && !budget.takeOmission())
    }

    @Test func wholeRecordingHasTheBudgetOfAPlayer() {
        let budget = MetadataBudget()
        #expect(budget.add(32 << 20) && !budget.add(1) && budget.add(-1) && budget.add(1))
    }

    @Test func tagsThatAreTooLongAreOmitted() throws {
        let long = String(repeating: "y", count: RecordedMetadata.maximumSize)
        let budget = MetadataBudget()
        var metadata = RecordedMetadata(budget)
        let playlist = try Self.playlist(Self.range(0, "X-A=\"\(long)\"") + "#EXT-X-CUE-OUT:\(long)\n")
        let lines = try metadata.newDateRanges(of: playlist, from: playlist.segments[0], at: 0).lines
        #expect(lines.isEmpty && budget.takeOmission())
        #expect(metadata.unknownTags(ofSegment: 0, in: playlist).isEmpty && budget.size == 0)
        let short = try Self.playlist("#EXT-X-CUE-OUT:4\n#EXT-X-\u{1}KEY:METHOD=NONE\n")
        #expect(metadata.unknownTags(ofSegment: 0, in: short) == ["#EXT-X-CUE-OUT:4"])
        #expect(budget.size == "#EXT-X-CUE-OUT:4".utf8.count)
    }

    @Test func onlyChangedDateRangesAreMerged() throws {
        var metadata = RecordedMetadata(MetadataBudget())
        let first = try Self.playlist(Self.range(0, "X-A=\"a\",X-B=1") + Self.range(1, "X-A=\"a\""))
        _ = try metadata.newDateRanges(of: first, from: first.segments[0], at: 7)
        let unchanged = try metadata.changedDateRanges(of: first)
        #expect(unchanged.isEmpty && metadata.mergeCount == 0)
        let second = try Self.playlist(Self.range(0, "X-B=2,DURATION=8") + Self.range(1, "X-A=\"a\""))
        let changes = try metadata.changedDateRanges(of: second)
        #expect(metadata.mergeCount == 1)
        #expect(changes.map { $0.text + "\n" } == [Self.range(0, "X-A=\"a\",X-B=2,DURATION=8")])
        #expect(changes.map(\.position) == [7])
        // The recorded tag has other attributes, but the tag at the origin is the same.
        let again = try metadata.changedDateRanges(of: second)
        #expect(again.isEmpty && metadata.mergeCount == 1)
    }

    @Test func cancellationIsCheckedBeforeEachDateRange() throws {
        var metadata = RecordedMetadata(MetadataBudget())
        let playlist = try Self.ranges(0..<10)
        var count = 0
        do {
            _ = try metadata.newDateRanges(of: playlist, from: playlist.segments[0], at: 0) {
                count += 1
                if count == 3 { throw CancellationError() }
            }
            Issue.record("the operation was not canceled")
        } catch is CancellationError {
            #expect(count == 3)
        }
        count = 0
        _ = try metadata.changedDateRanges(of: playlist) { count += 1 }
        #expect(count == 10)
    }

    /// Date ranges that ended before the first segment are not recorded.
    @Test func dateRangesBeforeTheRecordingAreLeftOut() throws {
        var metadata = RecordedMetadata(MetadataBudget())
        func range(_ id: String, _ attributes: String) -> String {
            "#EXT-X-DATERANGE:ID=\"\(id)\",START-DATE=\"2026-01-01T00:00:00Z\"\(attributes)\n"
        }
        let playlist = try Self.playlist(
            range("ended", ",END-DATE=\"2026-01-01T00:00:59Z\"") + range("end", ",END-DATE=\"2026-01-01T00:01:00Z\"")
                + range("short", ",DURATION=59") + range("long", ",DURATION=60") + range("open", "")
                + "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:01:00Z\n"
        )
        let lines = try metadata.newDateRanges(of: playlist, from: playlist.segments[0], at: 0).lines
        let identifiers = lines.map { $0.text.split(separator: "\"")[1] }
        #expect(identifiers == ["end", "long", "open"])
        #expect(lines.map(\.isInterstitial) == [false, false, false])
    }

    @Test func interstitialHasTheURLOfItsMedia() throws {
        var metadata = RecordedMetadata(MetadataBudget())
        let playlist = try Self.playlist(
            Self.range(0, "X-ASSET-URI=\"ad.m3u8\"") + Self.range(1, "X-ASSET-LIST=\"/ads.json\"")
                + Self.range(2, "X-OTHER=\"ad.m3u8\"")
        )
        let lines = try metadata.newDateRanges(of: playlist, from: playlist.segments[0], at: 0).lines
        #expect(lines.map(\.isInterstitial) == [true, true, false])
        #expect(
            lines.map { $0.text + "\n" } == [
                Self.range(0, "X-ASSET-URI=\"https://h/ad.m3u8\""),
                Self.range(1, "X-ASSET-LIST=\"https://h/ads.json\""), Self.range(2, "X-OTHER=\"ad.m3u8\""),
            ]
        )
    }

    /// Another break may have the same identifier later.
    @Test func dateRangeOfAnotherDateReplacesTheFormer() throws {
        var metadata = RecordedMetadata(MetadataBudget())
        let first = try Self.playlist(Self.range(0, "X-A=1"))
        _ = try metadata.newDateRanges(of: first, from: first.segments[0], at: 3)
        let other = "#EXT-X-DATERANGE:ID=\"0\",START-DATE=\"2026-01-02T00:00:00Z\",X-B=2"
        let changes = try metadata.changedDateRanges(of: Self.playlist(other + "\n"))
        #expect(changes.map(\.text) == [other] && changes.map(\.position) == [3])
        #expect(changes.map { $0.former + "\n" } == [Self.range(0, "X-A=1")])
        // A date range that is not recorded has no change.
        let unknown = try metadata.changedDateRanges(of: Self.playlist(Self.range(7, "X-A=1")))
        #expect(unknown.isEmpty)
    }

    @Test func changeThatIsLongerIsCountedTwice() {
        #expect(RecordedMetadata.Change(former: "abc", text: "abcdef", position: 0).addedByteCount == 6)
        #expect(RecordedMetadata.Change(former: "abc", text: "ab", position: 0).addedByteCount == 0)
    }

    /// Tags before the last one of the header concern the playlist.
    @Test func unknownTagsOfTheHeaderAreNotThoseOfASegment() throws {
        let metadata = RecordedMetadata(MetadataBudget())
        let playlist = try Self.playlist(
            "#EXT-X-A:1\n#EXT-X-MEDIA-SEQUENCE:5\n#EXT-X-CUE-OUT:4\n# a comment\n#EXT-X-DISCONTINUITY\n#EXT-X-B\n"
        )
        #expect(metadata.unknownTags(ofSegment: 0, in: playlist) == ["#EXT-X-CUE-OUT:4", "#EXT-X-B"])
    }

    @Test func tagsOfTheMaximumSizeAreRecorded() throws {
        #expect(RecordedMetadata.maximumSize == 16_384)
        for (excess, isRecorded) in [(0, true), (1, false)] {
            let budget = MetadataBudget()
            var metadata = RecordedMetadata(budget)
            let tag = "#EXT-X-CUE-OUT:"
            let value = String(repeating: "y", count: RecordedMetadata.maximumSize + excess - tag.utf8.count)
            let playlist = try Self.playlist(tag + value + "\n")
            #expect(metadata.unknownTags(ofSegment: 0, in: playlist).count == (isRecorded ? 1 : 0))
            #expect(budget.takeOmission() != isRecorded)
            let empty = "#EXT-X-DATERANGE:ID=\"0\",START-DATE=\"2026-01-01T00:00:00Z\",X-A=\"\""
            let text = String(repeating: "y", count: RecordedMetadata.maximumSize + excess - empty.utf8.count)
            let ranges = try Self.playlist(Self.range(0, "X-A=\"\(text)\""))
            let lines = try metadata.newDateRanges(of: ranges, from: ranges.segments[0], at: 0).lines
            #expect(lines.count == (isRecorded ? 1 : 0))
        }
    }

    @Test func gapIsMarkedBeforeTheTagOfTheSegment() {
        let tag = "#EXT-X-DATERANGE:ID=\"a\",X-A=\"#EXTINF:9,\",X-B=\"#EXT-X-GAP\"\n"
        let marked = RecordedSegment.withGap(tag + "#EXTINF:4,\ns.ts\n")
        #expect(marked == tag + "#EXT-X-GAP\n#EXTINF:4,\ns.ts\n")
        #expect(RecordedSegment.withGap(marked) == marked)
    }
}
