import HLSPlaylist
import Testing

@testable import AssetStorage

/// Tests the keys and initialization sections with which the segments of a recording are recorded.
@Suite struct RecordedTagStateTests {
    private static let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"key\",IV=0x01"
    private static let end = "#EXT-X-KEY:METHOD=NONE"

    /// Adds the tags of a segment to the state, and returns its lines.
    private func lines(_ position: Int, of playlist: MediaPlaylist, _ state: inout RecordedTagState) -> RecordedLines {
        var lines = RecordedLines()
        let plan = PackagePlan(folder: "media", role: .variant, playlist: playlist)
        state.addTags(of: playlist.segments[position], plan, to: &lines)
        return lines
    }

    @Test func keyIsRecordedWhereItChanges() throws {
        let playlist = try TemporaryLibrary.media(
            Self.key,
            "#EXTINF:4,",
            "0.ts",
            "#EXTINF:4,",
            "1.ts",
            Self.end,
            "#EXTINF:4,",
            "2.ts",
            "#EXTINF:4,",
            "3.ts"
        )
        var state = RecordedTagState()
        let first = lines(0, of: playlist, &state)
        #expect(first.origin.hasPrefix("#EXT-X-KEY:METHOD=AES-128,URI=\"https://origin.example/key\""))
        #expect(first.local.hasPrefix("#EXT-X-KEY:METHOD=AES-128,URI=\"key-"))
        let second = lines(1, of: playlist, &state)
        #expect(second.origin.isEmpty && second.local.isEmpty)
        let third = lines(2, of: playlist, &state)
        #expect(third.origin == Self.end + "\n" && third.local == third.origin)
        let fourth = lines(3, of: playlist, &state)
        #expect(fourth.origin.isEmpty)
    }

    @Test func keysOfAnEarlierRunEndOnce() throws {
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "0.ts", "#EXTINF:4,", "1.ts")
        var state = RecordedTagState(hasFormerKeys: true)
        let first = lines(0, of: playlist, &state)
        #expect(first.origin == Self.end + "\n")
        let second = lines(1, of: playlist, &state)
        #expect(second.origin.isEmpty)
    }

    @Test func initializationSectionIsRecordedOnce() throws {
        let playlist = try TemporaryLibrary.media(
            "#EXT-X-MAP:URI=\"i.mp4\"",
            "#EXTINF:4,",
            "0.m4s",
            "#EXTINF:4,",
            "1.m4s"
        )
        var state = RecordedTagState()
        #expect(!state.hasMap)
        let first = lines(0, of: playlist, &state)
        #expect(first.origin == "#EXT-X-MAP:URI=\"https://origin.example/i.mp4\"\n")
        #expect(first.local.hasPrefix("#EXT-X-MAP:URI=\"init-") && state.hasMap)
        let second = lines(1, of: playlist, &state)
        #expect(second.origin.isEmpty)
    }
}
