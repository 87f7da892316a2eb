import HLSPlaylist
import MediaTiming
import Testing

@testable import PlaylistEditing

/// Tests the tags of live playlists that edits leave out or preserve.
@Suite struct LiveFaultTests {
    private func media(_ lines: String) throws -> MediaPlaylist {
        try MediaPlaylist(parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(lines)".utf8))
    }

    // MARK: Bit rates

    /// A bit rate would apply to segments that are published later (RFC 8216bis §4.4.4.8).
    @Test(arguments: [0, 1, 5]) func bitRatesOfLivePlaylistsAreLeftOut(position: Int) throws {
        let stream = BreakStream(count: 8, [position: "#EXT-X-BITRATE:100\n", 3: "#EXT-X-CUE-OUT:6\n"])
        let advertisement = try MediaPlaylist.advertisement(["6"], tags: [0: "#EXT-X-BITRATE:900\n"])
        var editor = BreakEditor()
        let result = try editor.edit(stream.version(endingAt: 6), advertisement)
        #expect(result.segmentNames == "0 1 2 |a0 |4 5" && !result.editedText.contains("BITRATE"))
    }

    /// A bit rate in the middle of a presentation would apply to its start in the next cycle.
    @Test(arguments: [(0, 8, 1), (0, 14, 2), (1, 8, 1), (1, 10, 1), (1, 14, 0)] as [(Int, Int64, Int)])
    func bitRatesOfAChannelDoNotApplyToItsNextCycle(position: Int, seconds: Int64, count: Int) throws {
        let durations = ["4", "4", "2"]
        let lines = durations.enumerated().map { number, duration in
            (number == position ? "#EXT-X-BITRATE:100\n" : "") + "#EXTINF:\(duration),\n\(number).ts\n"
        }
        let start = SimulatedChannel.defaultStart
        let live = try media(lines.joined() + "#EXT-X-ENDLIST\n")
            .simulated(SimulatedChannel(), at: start.advanced(by: MediaTime(seconds: seconds)))
        #expect(live.editedText.ranges(of: "#EXT-X-BITRATE:100").count == count)
    }

    // MARK: Windows

    /// Playlists that are not changed keep the tags of low latency.
    @Test func deltaUpdateAndEmptyPlaylistAreUnchanged() throws {
        let delta = try media(
            "#EXT-X-VERSION:9\n#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24\n#EXT-X-SKIP:SKIPPED-SEGMENTS=1\n"
                + "#EXTINF:4,\na\n#EXTINF:4,\nb\n"
        )
        #expect(delta.isLive && delta.skippedSegmentCount == 1)
        #expect(try delta.limited(to: MediaTime(seconds: 100)).bytes == delta.bytes)
        let empty = try media("#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES\n")
        let range = MediaTimeRange(start: .zero, end: MediaTime(seconds: 4))
        #expect(try empty.trimmed(toBoundariesNear: range).bytes == empty.bytes)
    }
}
