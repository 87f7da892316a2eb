import HLSPlaylist
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests the limits of the metadata of a recording, and the keys of its segments.
@Suite struct RecordedTagEdgeTests {
    private static func playlist(_ lines: String...) throws -> MediaPlaylist {
        let text = (["#EXTM3U", "#EXT-X-TARGETDURATION:4"] + lines + ["#EXTINF:4,", "s.ts", ""]).joined(separator: "\n")
        return try MediaPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: ResourceAddress("https://h/live.m3u8"))
        )
    }

    private static func range(_ attributes: String) -> String {
        "#EXT-X-DATERANGE:ID=\"0\",START-DATE=\"2026-01-01T00:00:00Z\",\(attributes)"
    }

    private static func long(_ count: Int) -> String { String(repeating: "y", count: count) }

    // MARK: Metadata

    @Test func attributesThatAreLeftOutStay() throws {
        let budget = MetadataBudget()
        var metadata = RecordedMetadata(budget)
        let first = try Self.playlist(Self.range("X-A=1,X-B=2"))
        _ = try metadata.newDateRanges(of: first, from: first.segments[0], at: 0)
        let size = budget.size
        let changes = try metadata.changedDateRanges(of: Self.playlist(Self.range("X-A=1")))
        #expect(changes.isEmpty && metadata.mergeCount == 1 && budget.size == size && !budget.takeOmission())
    }

    /// The attributes of all versions of a date range have a limit together.
    @Test(arguments: [0, 1]) func mergedDateRangeHasALimitedSize(excess: Int) throws {
        let budget = MetadataBudget()
        var metadata = RecordedMetadata(budget)
        let text = Self.range("X-A=\"\(Self.long(8_000))\"")
        let first = try Self.playlist(text)
        _ = try metadata.newDateRanges(of: first, from: first.segments[0], at: 3)
        let added = RecordedMetadata.maximumSize + excess - text.utf8.count - ",X-B=\"\"".utf8.count
        let second = try Self.playlist(Self.range("X-B=\"\(Self.long(added))\""))
        let changes = try metadata.changedDateRanges(of: second)
        #expect(changes.map(\.text.utf8.count) == (excess == 0 ? [RecordedMetadata.maximumSize] : []))
        #expect(budget.size == (excess == 0 ? RecordedMetadata.maximumSize : text.utf8.count))
        #expect(budget.takeOmission() == (excess > 0))
    }

    @Test func changeThatIsTooLongIsOmitted() throws {
        let budget = MetadataBudget()
        var metadata = RecordedMetadata(budget)
        let first = try Self.playlist(Self.range("X-A=1"))
        _ = try metadata.newDateRanges(of: first, from: first.segments[0], at: 0)
        let long = try Self.playlist(Self.range("X-A=\"\(Self.long(RecordedMetadata.maximumSize))\""))
        let changes = try metadata.changedDateRanges(of: long)
        #expect(changes.isEmpty && metadata.mergeCount == 0 && budget.takeOmission())
    }

    @Test func changeBeyondTheBudgetIsOmitted() throws {
        let text = Self.range("X-A=1")
        for (limit, isChanged) in [(text.utf8.count + 1, false), (text.utf8.count + 2, true)] {
            let budget = MetadataBudget(limit: limit)
            var metadata = RecordedMetadata(budget)
            let first = try Self.playlist(text)
            _ = try metadata.newDateRanges(of: first, from: first.segments[0], at: 0)
            let changes = try metadata.changedDateRanges(of: Self.playlist(Self.range("X-A=123")))
            #expect(changes.isEmpty != isChanged && budget.takeOmission() != isChanged)
        }
    }

    @Test func firstTagOfALaterSegmentIsItsOwn() throws {
        let metadata = RecordedMetadata(MetadataBudget())
        let playlist = try Self.playlist("#EXTINF:4,", "r.ts", "#EXT-X-B:1", "#EXT-X-C")
        #expect(metadata.unknownTags(ofSegment: 1, in: playlist) == ["#EXT-X-B:1", "#EXT-X-C"])
    }

    // MARK: Keys

    /// Returns the local key tags of each segment.
    private func keys(_ playlist: MediaPlaylist, _ state: RecordedTagState = RecordedTagState()) -> [[String]] {
        var state = state
        let plan = PackagePlan(folder: "media", role: .variant, playlist: playlist)
        return playlist.segments.map { segment in
            var lines = RecordedLines()
            state.addTags(of: segment, plan, to: &lines)
            return lines.local.split(separator: "\n").map { String($0).replacing("#EXT-X-KEY:METHOD=", with: "") }
        }
    }

    private static let key = #"SAMPLE-AES,URI="key",IV=0x01"#
    private static let other = #"SAMPLE-AES,URI="other",IV=0x01"#
    private static let system = #"SAMPLE-AES,URI="skd://drm",KEYFORMAT="system",KEYFORMATVERSIONS="1/2""#

    /// Without an end, a key of a format that is not in force any more would stay in force.
    @Test func keysEndIfThereAreFewer() throws {
        func tag(_ key: String) -> String { "#EXT-X-KEY:METHOD=" + key }
        let playlist = try TemporaryLibrary.media(
            tag(Self.key),
            tag(Self.system),
            "#EXTINF:4,\n0.ts",
            "#EXT-X-KEY:METHOD=NONE",
            tag(Self.key),
            "#EXTINF:4,\n1.ts",
            tag(Self.system),
            "#EXTINF:4,\n2.ts",
            "#EXT-X-KEY:METHOD=NONE",
            tag(Self.other),
            "#EXTINF:4,\n3.ts",
            tag(Self.key),
            "#EXTINF:4,\n4.ts"
        )
        let key = Self.key.replacing("\"key\"", with: "\"key-9f521ab0ec29d751f6cd7f04fad35df8.key\"")
        let lines = keys(playlist)
        #expect(lines[0] == [key, Self.system])
        #expect(lines[1] == ["NONE", key])
        #expect(lines[2] == [key, Self.system])
        #expect(lines[3].count == 2 && lines[3].first == "NONE")
        #expect(lines[4] == [key])
        // The keys of an earlier run end before the first one.
        #expect(keys(playlist, RecordedTagState(hasFormerKeys: true))[0] == ["NONE", key, Self.system])
    }

    @Test(
        arguments: [
            (#"AES-128,URI="key""#, #"AES-128,URI="key-9f521ab0ec29d751f6cd7f04fad35df8.key",IV=0x"#, true),
            (#"AES-256-GCM,URI="key""#, #"AES-256-GCM,URI="key-9f521ab0ec29d751f6cd7f04fad35df8-256.key""#, false),
            (
                #"SAMPLE-AES,URI="skd://drm",KEYFORMAT="system""#,
                #"SAMPLE-AES,URI="skd://drm",KEYFORMAT="system",KEYFORMATVERSIONS="1""#, false
            ),
        ]
    )
    func keyWithoutAVectorHasThatOfItsSegment(tag: String, expected: String, hasVector: Bool) throws {
        let playlist = try TemporaryLibrary.media(
            "#EXT-X-MEDIA-SEQUENCE:255",
            "#EXT-X-KEY:METHOD=" + tag,
            "#EXTINF:4,",
            "0.ts"
        )
        let vector = String(repeating: "0", count: 30) + "FF"
        #expect(keys(playlist) == [[expected + (hasVector ? vector : "")]])
    }
}
