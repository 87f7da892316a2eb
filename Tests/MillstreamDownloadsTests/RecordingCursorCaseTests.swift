import HLSPlaylist
import ResourceAddressing
import Testing

@testable import AssetStorage
@testable import MillstreamDownloads

/// Tests names of segments that another segment of a live playlist had before.
@Suite struct RecordingCursorCaseTests {
    /// Returns the text of a live playlist with segments of the given names.
    private static func playlist(from first: Int64, _ names: String...) throws -> MediaPlaylist {
        let segments = names.map { "#EXTINF:4,\n\($0).ts\n" }.joined()
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:\(first)\n\(segments)"
        return try MediaPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: ResourceAddress("https://live.example/live.m3u8"))
        )
    }

    private static func last(_ number: Int64) -> RecordingWriter.Last {
        RecordingWriter.Last(sequence: number, uri: "s\(number).ts", endDate: nil)
    }

    /// One segment was replaced by a slate; that the same slate takes the place of all others can be a restart.
    @Test func nameOfAReplacedSegmentDoesNotExcuseAnother() throws {
        var cursor = RecordingCursor()
        let steps = [
            cursor.step(to: try Self.playlist(from: 5, "s5", "s6", "s7", "s8"), after: Self.last(7), startingAt: 0),
            cursor.step(to: try Self.playlist(from: 6, "s6", "s7", "slate", "s9"), after: Self.last(8), startingAt: 0),
            cursor.step(to: try Self.playlist(from: 7, "s7", "slate", "s9", "s10"), after: Self.last(9), startingAt: 0),
            cursor.step(to: try Self.playlist(from: 9, "slate", "slate", "slate"), after: Self.last(10), startingAt: 0),
        ]
        #expect(steps.map(\.positions) == [3..<4, 3..<4, 3..<4, 3..<3])
        let next = cursor.step(
            to: try Self.playlist(from: 10, "slate", "slate", "slate"),
            after: Self.last(10),
            startingAt: 0
        )
        #expect(next == RecordingCursor.Step(positions: 0..<3, hasDiscontinuity: true))
    }
}
