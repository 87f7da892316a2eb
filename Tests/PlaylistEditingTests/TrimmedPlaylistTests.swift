import HLSPlaylist
import MediaTiming
import PlaylistEditing
import Testing

/// Tests of the reduction of a playlist to a time range.
@Suite struct TrimmedPlaylistTests {
    /// A playlist of five segments of 4 seconds.
    private func playlist() throws -> MediaPlaylist {
        let segments = (0..<5).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
        return try MediaPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(segments)#EXT-X-ENDLIST\n".utf8)
        )
    }

    @Test(
        arguments: [
            ("0...4", 0..<1), ("4...8", 1..<2), ("3.9...8.1", 0..<3), ("...8", 0..<2), ("12...", 3..<5),
            ("0...20", 0..<5), ("5...5", 1..<2), ("19...100", 4..<5), ("8...8", 2..<3),
        ]
    )
    func wholeSegmentsThatOverlapRemain(_ range: String, _ positions: Range<Int>) throws {
        let range = try #require(PartialRange<MediaTime>(range))
        let playlist = try playlist()
        #expect(playlist.positions(overlapping: range) == positions)
        let trimmed = try playlist.trimmed(to: range)
        #expect(trimmed.segments.map(\.uri) == positions.map { "\($0).ts" })
        #expect(trimmed.mediaSequence == Int64(positions.lowerBound))
        #expect(trimmed.hasEndMarker)
    }

    @Test(arguments: ["20...", "21...30"]) func rangesAfterTheEndAreRefused(_ range: String) throws {
        let range = try #require(PartialRange<MediaTime>(range))
        let playlist = try playlist()
        #expect(throws: PlaylistEditError.self) { try playlist.trimmed(to: range) }
    }
}
