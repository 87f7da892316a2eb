import HLSPlaylist
import MediaTiming
import Testing

@testable import PlaylistEditing

/// Computes the listed segments of a simulated channel by period, for manifests of other formats.
struct ChannelWindowTests {
    private static let start = ProgramDateTime("2026-01-01T00:00:00Z") ?? SimulatedChannel.defaultStart
    /// A presentation of 10 seconds with a discontinuity after 8 seconds.
    private static let source = """
        #EXTM3U
        #EXT-X-TARGETDURATION:4
        #EXTINF:4,
        0.m4s
        #EXTINF:4,
        1.m4s
        #EXT-X-DISCONTINUITY
        #EXTINF:2,
        2.m4s
        #EXT-X-ENDLIST

        """

    private func window(
        after seconds: Int64,
        repeats: Bool = true,
        of source: String = source
    ) throws -> ChannelWindow {
        try ChannelWindow(
            SimulatedChannel(repeats: repeats, start: Self.start, window: MediaTime(seconds: 30)),
            of: MediaPlaylist(parsing: Array(source.utf8)),
            at: Self.start.advanced(by: MediaTime(seconds: seconds)),
            limits: PlaylistLimits()
        )
    }

    private func text(_ window: ChannelWindow) -> [String] {
        window.runs.map { "\($0.number) at \($0.start) from \($0.firstPosition): \($0.positions)" }
    }

    @Test func runsAreThePeriodsOfTheWindow() throws {
        #expect(
            try text(window(after: 34)) == [
                "0 at 0 from 0: 1..<2", "1 at 8 from 2: 2..<3", "2 at 10 from 0: 0..<2", "3 at 18 from 2: 2..<3",
                "4 at 20 from 0: 0..<2", "5 at 28 from 2: 2..<3", "6 at 30 from 0: 0..<1",
            ]
        )
        #expect(try text(window(after: 4)) == ["0 at 0 from 0: 0..<1"])
    }

    /// A run has the same number and start in all windows, also when its first segments are no longer listed.
    @Test func numbersAndStartsRemain() throws {
        var starts: [Int64: MediaTime] = [:]
        for second in Int64(4)...80 {
            for run in try window(after: second).runs {
                let known = starts.updateValue(run.start, forKey: run.number)
                #expect(known ?? run.start == run.start && !run.positions.isEmpty)
                #expect(run.firstPosition <= run.positions.lowerBound)
            }
        }
        #expect(starts.count == 16 && starts[15] == MediaTime(seconds: 78))
    }

    @Test(arguments: [(4, 4), (7, 4), (8, 8), (10, 10), (34, 34), (35, 34), (37, 34), (38, 38), (39, 38)])
    func lastChangeIsThatOfTheSegments(second: Int64, expected: Int64) throws {
        #expect(try window(after: second).lastChange == MediaTime(seconds: expected))
    }

    @Test func channelWithoutALoopEnds() throws {
        #expect(try !window(after: 9, repeats: false).isEnded)
        let ended = try window(after: 500, repeats: false)
        #expect(ended.isEnded && ended.duration == MediaTime(seconds: 10) && ended.depth == MediaTime(seconds: 30))
        #expect(text(ended) == ["0 at 0 from 0: 0..<2", "1 at 8 from 2: 2..<3"])
    }

    @Test func channelThatHasNotStartedAndALivePlaylistAreRefused() {
        #expect(throws: PlaylistEditError.self) { try window(after: 3) }
        let live = Self.source.replacing("#EXT-X-ENDLIST\n", with: "")
        #expect(throws: PlaylistEditError.self) { try window(after: 34, of: live) }
    }

    @Test func editsBeforeTheChannelAreThoseOfItsSource() throws {
        let live = try PlaylistEdit(name: "live", value: "loop")
        let start = try PlaylistEdit(name: "start", value: "8")
        #expect(EditPlan([start, live]).beforeChannel == EditPlan([start]))
        #expect(EditPlan([live, .absolute]).beforeChannel == EditPlan([]))
        #expect(EditPlan([live, start]).beforeChannel == nil)
        #expect(EditPlan([start]).beforeChannel == nil)
    }
}
