import HLSPlaylist
import MediaTiming
import StreamingEngine
import Testing

@Suite struct LiveWindowTests {
    private static let parts = [
        #"#EXT-X-PART:DURATION=1,URI="p0",INDEPENDENT=YES"#, #"#EXT-X-PART:DURATION=1,URI="p1""#,
        #"#EXT-X-PART:DURATION=1,URI="p2",INDEPENDENT=YES"#,
    ]

    @Test(arguments: [
        ([], "12"),
        (["#EXT-X-SERVER-CONTROL:HOLD-BACK=14.5"], "14.5"),
        (["#EXT-X-SERVER-CONTROL:HOLD-BACK=0.001"], "4"),
        (["#EXT-X-SERVER-CONTROL:HOLD-BACK=86400"], "40"),
        (["#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=3"], "12"),
    ])
    func theHoldBackLimitsTheSeekableRange(control: [String], holdBack: String) throws {
        let window = PresentationTimeline(try LiveWindowText(count: 6, head: control).playlist).liveWindow
        #expect(window.range == MediaTimeRange(start: .zero, duration: MediaTime(seconds: 24)))
        #expect(window.holdBack == seconds(holdBack))
        #expect(window.seekable.end == max(.zero, MediaTime(seconds: 24) - seconds(holdBack)))
    }

    @Test(arguments: [("3", "3"), ("0.5", "2"), (nil, "3")] as [(String?, String)])
    func thePartHoldBackIsUsedForLowLatency(written: String?, holdBack: String) throws {
        var head = ["#EXT-X-PART-INF:PART-TARGET=1"]
        if let written { head.append("#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=\(written)") }
        let timeline = PresentationTimeline(try LiveWindowText(head: head, tail: Self.parts).playlist)
        let window = LiveWindow(timeline, isLowLatency: true)
        #expect(window.edge == MediaTime(seconds: 27) && window.holdBack == seconds(holdBack))
        #expect(LiveWindow(timeline).edge == MediaTime(seconds: 24))
    }

    @Test func aWindowShorterThanTheHoldBackHasNothingToSeek() throws {
        let window = PresentationTimeline(try LiveWindowText(count: 2).playlist, start: MediaTime(seconds: 5))
            .liveWindow
        #expect(window.seekable == MediaTimeRange(start: MediaTime(seconds: 5), duration: .zero))
    }

    @Test func theWindowMovesWithThePlaylist() throws {
        var timeline = PresentationTimeline(try LiveWindowText(count: 6).playlist)
        _ = try timeline.update(try LiveWindowText(first: 2, count: 6).playlist)
        let expected = MediaTimeRange(start: MediaTime(seconds: 8), end: MediaTime(seconds: 20))
        #expect(timeline.liveWindow.seekable == expected)
    }

    @Test(arguments: [
        ([], "12", "12", false, StartPosition.Reason.liveEdge),
        (["#EXT-X-START:TIME-OFFSET=-13"], "8", "11", false, .playlist),
        (["#EXT-X-START:TIME-OFFSET=-13,PRECISE=YES"], "11", "11", true, .playlist),
        (["#EXT-X-START:TIME-OFFSET=-2,PRECISE=YES"], "12", "12", true, .playlist),
        (["#EXT-X-START:TIME-OFFSET=-200"], "0", "0", false, .playlist),
        (["#EXT-X-START:TIME-OFFSET=9.5"], "8", "9.5", false, .playlist),
        (["#EXT-X-SERVER-CONTROL:HOLD-BACK=13"], "8", "11", false, .liveEdge),
    ])
    func livePlaybackStartsAtItsStartPosition(
        head: [String],
        time: String,
        inside: String,
        isPrecise: Bool,
        reason: StartPosition.Reason
    ) throws {
        let timeline = PresentationTimeline(try LiveWindowText(head: head).playlist)
        let start = StartPosition(in: timeline)
        #expect(start.time == seconds(time) && start.isPrecise == isPrecise && start.reason == reason)
        #expect(timeline.segment(at: seconds(inside))?.start == timeline.segment(at: start.time)?.start)
    }

    @Test(arguments: [("20", "4"), ("15", "8"), ("1", "12"), ("1000", "0"), ("-5", "12")])
    func aConfiguredOffsetIsClampedToTheWindow(offset: String, time: String) throws {
        let timeline = PresentationTimeline(try LiveWindowText().playlist)
        let start = StartPosition(in: timeline, liveOffset: seconds(offset))
        #expect(start.time == seconds(time) && start.reason == .configuredOffset)
    }

    @Test func lowLatencyPlaybackStartsAtAnIndependentPart() throws {
        let head = ["#EXT-X-PART-INF:PART-TARGET=1", "#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=2"]
        let timeline = PresentationTimeline(try LiveWindowText(head: head, tail: Self.parts).playlist)
        #expect(StartPosition(in: timeline, isLowLatency: true).time == MediaTime(seconds: 24))
        #expect(StartPosition(in: timeline).time == MediaTime(seconds: 12))
    }

    @Test(
        arguments: [
            (nil, "0", StartPosition.Reason.beginning),
            ("5", "4", .playlist), ("-5", "16", .playlist), ("-500", "0", .playlist), ("500", "20", .playlist),
            ("5,PRECISE=YES", "5", .playlist), ("500,PRECISE=YES", "24", .playlist),
        ] as [(String?, String, StartPosition.Reason)]
    )
    func playbackOnDemandStartsAtItsStartPosition(offset: String?, time: String, reason: StartPosition.Reason) throws {
        let head = offset.map { ["#EXT-X-START:TIME-OFFSET=\($0)"] } ?? []
        let timeline = PresentationTimeline(try LiveWindowText(head: head, tail: ["#EXT-X-ENDLIST"]).playlist)
        let start = StartPosition(in: timeline, liveOffset: MediaTime(seconds: 15))
        #expect(start.time == seconds(time) && start.reason == reason)
    }

    @Test func theStartOfTheMultivariantPlaylistTakesPrecedence() throws {
        let own = ["#EXT-X-START:TIME-OFFSET=1"]
        let timeline = PresentationTimeline(try LiveWindowText(head: own, tail: ["#EXT-X-ENDLIST"]).playlist)
        let declared = try multivariant("#EXTM3U\n#EXT-X-START:TIME-OFFSET=9\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n").start
        #expect(StartPosition(in: timeline, declared: declared).time == MediaTime(seconds: 8))
    }
}
