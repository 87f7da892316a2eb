import HLSPlaylist
import MediaTiming
import Testing

@testable import StreamingEngine

@Suite struct SegmentSchedulerTests {
    private static func timeline(
        _ durations: [Double] = Array(repeating: 6, count: 20),
        isLive: Bool = false,
        gaps: Set<Int> = []
    ) throws -> PresentationTimeline {
        let segments = durations.enumerated().map { index, duration in
            (gaps.contains(index) ? "#EXT-X-GAP\n" : "") + "#EXTINF:\(duration),\ns\(index).ts\n"
        }
        let end = isLive ? "" : "#EXT-X-ENDLIST\n"
        return PresentationTimeline(
            try media("#EXTM3U\n#EXT-X-TARGETDURATION:60\n" + segments.joined() + end)
        )
    }

    private static func range(_ start: Double, _ end: Double) -> MediaTimeRange {
        MediaTimeRange(start: time(start), end: time(end))
    }

    private static func time(_ seconds: Double) -> MediaTime { MediaTime(approximating: seconds) ?? .zero }

    private static func scheduler(
        at position: Double,
        loaded: [(Double, Double)] = [],
        capacity: Double = 30
    ) -> SegmentScheduler {
        SegmentScheduler(
            position: time(position),
            loaded: MediaTimeRangeSet(loaded.map { range($0.0, $0.1) }),
            capacity: time(capacity)
        )
    }

    /// Returns the text of a step, with the number of its segment.
    private static func name(_ step: SegmentScheduler.Step) -> String {
        switch step {
        case .fetch(let segment): "fetch \(segment.sequence)"
        case .skip(let segment): "pass \(segment.sequence)"
        case .gap(let range): "hole \(range.start.seconds) \(range.end.seconds)"
        case .wait(let time): "wait \(time.seconds)"
        case .awaitPlaylist: "await"
        case .complete: "complete"
        }
    }

    typealias Case = (position: Double, loaded: [(Double, Double)], step: String)

    private static let forward: [Case] = [
        (0, [], "fetch 0"), (7, [], "fetch 1"), (0, [(0, 6)], "fetch 1"), (0, [(0.2, 6)], "fetch 1"),
        (0, [(0.3, 6)], "fetch 0"), (0, [(0, 24)], "fetch 4"), (0, [(0, 30)], "wait 6.0"), (1, [(0, 30)], "wait 6.0"),
        (6, [(0, 30)], "fetch 5"), (0, [(0, 120)], "complete"), (100, [(96, 119.95)], "complete"),
        (119.95, [], "fetch 19"), (120, [], "complete"), (0, [(0, 5.95)], "fetch 1"), (0, [(0, 5.85)], "fetch 0"),
    ]

    @Test(arguments: forward)
    func theNextSegmentForwardIsFetched(_ example: Case) throws {
        let scheduler = Self.scheduler(at: example.position, loaded: example.loaded)
        #expect(Self.name(scheduler.nextStep(in: try Self.timeline())) == example.step)
    }

    private static let backward: [Case] = [
        (60, [], "fetch 9"), (60, [(54, 60)], "fetch 8"), (60, [(30, 60)], "wait 54.0"),
        (54, [(30, 60)], "fetch 4"), (0, [], "complete"), (6, [(0, 6)], "complete"), (0.05, [], "complete"),
        (130, [], "fetch 19"),
    ]

    @Test(arguments: backward)
    func theNextSegmentBackwardIsFetched(_ example: Case) throws {
        var scheduler = Self.scheduler(at: example.position, loaded: example.loaded)
        scheduler.isReverse = true
        #expect(Self.name(scheduler.nextStep(in: try Self.timeline())) == example.step)
    }

    /// The rest of a segment is not loaded from another variant, but a short segment is media of its own.
    @Test func shortSegmentsAtBothEndsAreFetched() throws {
        let short = try Self.timeline([6, 0.05])
        #expect(Self.name(Self.scheduler(at: 0, loaded: [(0, 6)]).nextStep(in: short)) == "fetch 1")
        #expect(Self.name(Self.scheduler(at: 0, loaded: [(0, 5.9995)]).nextStep(in: short)) == "fetch 1")
        #expect(Self.name(Self.scheduler(at: 0, loaded: [(0, 5.98)]).nextStep(in: short)) == "fetch 1")
        #expect(Self.name(Self.scheduler(at: 0, loaded: [(0, 6.0005)]).nextStep(in: short)) == "fetch 1")
        #expect(Self.name(Self.scheduler(at: 0, loaded: [(0, 6.01)]).nextStep(in: short)) == "complete")
        #expect(Self.name(Self.scheduler(at: 0, loaded: [(0, 6.05)]).nextStep(in: short)) == "complete")
        let live = try Self.timeline([6, 0.05], isLive: true)
        #expect(Self.name(Self.scheduler(at: 0, loaded: [(0, 6)]).nextStep(in: live)) == "fetch 1")
        #expect(Self.name(Self.scheduler(at: 0, loaded: [(0, 6.05)]).nextStep(in: live)) == "await")
        var limited = Self.scheduler(at: 0, loaded: [(0, 5.95)])
        limited.end = MediaTime(seconds: 6)
        #expect(Self.name(limited.nextStep(in: short)) == "complete")
        var backward = Self.scheduler(at: 6.05, loaded: [(0.05, 6.05)])
        backward.isReverse = true
        #expect(Self.name(backward.nextStep(in: try Self.timeline([0.05, 6]))) == "fetch 0")
        #expect(Self.name(backward.nextStep(in: try Self.timeline([6, 0.05]))) == "complete")
    }

    @Test func aLivePlaylistIsAwaitedAtItsEnd() throws {
        let timeline = try Self.timeline(isLive: true)
        #expect(Self.scheduler(at: 100, loaded: [(96, 120)]).nextStep(in: timeline) == .awaitPlaylist)
        var limited = Self.scheduler(at: 100, loaded: [(96, 110)])
        limited.end = MediaTime(seconds: 110)
        #expect(limited.nextStep(in: timeline) == .complete)
        limited.end = MediaTime(seconds: 115)
        #expect(Self.name(limited.nextStep(in: timeline)) == "fetch 18")
    }

    @Test func gapsAreSkipped() throws {
        let timeline = try Self.timeline(gaps: [1, 9])
        #expect(Self.name(Self.scheduler(at: 0, loaded: [(0, 6)]).nextStep(in: timeline)) == "pass 1")
        var backward = Self.scheduler(at: 60)
        backward.isReverse = true
        #expect(Self.name(backward.nextStep(in: timeline)) == "pass 9")
    }

    @Test func segmentsWithoutADurationAreNotLoadedAgainAndAgain() throws {
        let timeline = try Self.timeline([6, 0, 6, 0, 0], gaps: [1, 4])
        #expect(Self.name(Self.scheduler(at: 0, loaded: [(0, 6)]).nextStep(in: timeline)) == "fetch 2")
        // What is loaded ends shortly before the end of a segment, where the next one has no duration.
        #expect(Self.name(Self.scheduler(at: 0, loaded: [(0, 5.95)]).nextStep(in: timeline)) == "fetch 2")
        #expect(Self.name(Self.scheduler(at: 11.95).nextStep(in: timeline)) == "fetch 2")
        #expect(Self.name(Self.scheduler(at: 0, loaded: [(0, 12)]).nextStep(in: timeline)) == "complete")
        // The playhead is shortly before segments of which none has a duration.
        let empty = try Self.timeline([6, 0, 0], gaps: [2])
        #expect(Self.name(Self.scheduler(at: 5.999, loaded: [(0, 5.999)]).nextStep(in: empty)) == "fetch 0")
        #expect(Self.name(Self.scheduler(at: 5.5, loaded: [(0, 5.999)]).nextStep(in: empty)) == "complete")
        #expect(Self.name(Self.scheduler(at: -0.1).nextStep(in: try Self.timeline([0, 0], isLive: true))) == "await")
        var backward = Self.scheduler(at: 12)
        backward.isReverse = true
        #expect(Self.name(backward.nextStep(in: timeline)) == "fetch 2")
        backward = Self.scheduler(at: 12, loaded: [(6.2, 12)])
        backward.isReverse = true
        #expect(Self.name(backward.nextStep(in: try Self.timeline([6, 0, 6]))) == "fetch 2")
        backward = Self.scheduler(at: 12, loaded: [(6, 12)])
        backward.isReverse = true
        #expect(Self.name(backward.nextStep(in: timeline)) == "fetch 0")
        #expect(Self.name(backward.nextStep(in: try Self.timeline([0, 0, 12]))) == "fetch 2")
        backward = Self.scheduler(at: 12, loaded: [(0.05, 12)])
        backward.isReverse = true
        #expect(Self.name(backward.nextStep(in: try Self.timeline([0, 12]))) == "complete")
    }

    @Test func fullMemoryAllowsOnlyUrgentSegments() throws {
        let timeline = try Self.timeline()
        var scheduler = Self.scheduler(at: 0, loaded: [(0, 6)])
        scheduler.isByteLimitReached = true
        #expect(Self.name(scheduler.nextStep(in: timeline)) == "wait -18.0")
        scheduler = Self.scheduler(at: 4.5, loaded: [(0, 6)])
        scheduler.isByteLimitReached = true
        #expect(Self.name(scheduler.nextStep(in: timeline)) == "fetch 1")
        scheduler = Self.scheduler(at: 4, loaded: [(0, 6)])
        scheduler.isByteLimitReached = true
        #expect(Self.name(scheduler.nextStep(in: timeline)) == "wait -18.0")
    }

    @Test func twoSegmentsAreLoadedRegardlessOfTheirDuration() throws {
        let timeline = try Self.timeline([20, 20, 20, 20])
        #expect(Self.name(Self.scheduler(at: 0, loaded: [(0, 20)]).nextStep(in: timeline)) == "fetch 1")
        #expect(Self.name(Self.scheduler(at: 0, loaded: [(0, 40)]).nextStep(in: timeline)) == "wait 20.0")
    }

    @Test func theBufferIsFullWithTwoSegmentsOrItsCapacity() throws {
        let long = try Self.timeline([20, 20, 20, 20])
        #expect(!Self.scheduler(at: 0, loaded: [(0, 20)]).isFull(in: long))
        #expect(!Self.scheduler(at: 1, loaded: [(0, 20)]).isFull(in: long))
        #expect(Self.scheduler(at: 0, loaded: [(0, 40)]).isFull(in: long))
        let usual = try Self.timeline()
        #expect(!Self.scheduler(at: 0, loaded: [(0, 24)]).isFull(in: usual))
        #expect(Self.scheduler(at: 0, loaded: [(0, 30)]).isFull(in: usual))
        #expect(!Self.scheduler(at: 0, loaded: [(0, 120)]).isFull(in: usual))
        #expect(!Self.scheduler(at: 0).isFull(in: usual))
        var limited = Self.scheduler(at: 0, loaded: [(0, 36)])
        limited.end = MediaTime(seconds: 36)
        #expect(!limited.isFull(in: usual))
    }

    @Test func theBufferIsFullInReverse() throws {
        let timeline = try Self.timeline()
        var scheduler = Self.scheduler(at: 60, loaded: [(30, 60)])
        scheduler.isReverse = true
        #expect(scheduler.isFull(in: timeline))
        scheduler.loaded = MediaTimeRangeSet([Self.range(36, 60)])
        #expect(!scheduler.isFull(in: timeline))
        var long = Self.scheduler(at: 80, loaded: [(60, 80)])
        long.isReverse = true
        #expect(!long.isFull(in: try Self.timeline([20, 20, 20, 20])))
    }

    @Test func aMissingExactPositionIsFetchedBeforeALaterBuffer() throws {
        let timeline = try Self.timeline()
        var scheduler = Self.scheduler(at: 11.9, loaded: [(12, 30)])
        #expect(Self.name(scheduler.nextStep(in: timeline)) == "fetch 5")
        scheduler.requiresExactFrame = true
        #expect(Self.name(scheduler.nextStep(in: timeline)) == "fetch 1")
    }

    @Test func aGapInThePlaylistIsReported() throws {
        var timeline = try Self.timeline([6, 6], isLive: true)
        _ = try timeline.update(
            try media(
                "#EXTM3U\n#EXT-X-TARGETDURATION:60\n#EXT-X-MEDIA-SEQUENCE:4\n#EXTINF:6,\ns4.ts\n#EXTINF:6,\ns5.ts\n"
            )
        )
        let start = timeline.range.start.seconds
        #expect(start == 24)
        #expect(Self.name(Self.scheduler(at: 6, loaded: [(6, 12)]).nextStep(in: timeline)) == "hole 12.0 24.0")
        #expect(Self.name(Self.scheduler(at: 6, loaded: [(6, 23.8)]).nextStep(in: timeline)) == "fetch 4")
    }

    @Test func theEndOfTheLoadedRangeToleratesAQuarterOfASecond() {
        let loaded = MediaTimeRangeSet([Self.range(10, 20)])
        #expect(SegmentScheduler.loadedEnd(from: Self.time(9.76), in: loaded) == Self.time(20))
        #expect(SegmentScheduler.loadedEnd(from: Self.time(9.7), in: loaded) == Self.time(9.7))
        #expect(SegmentScheduler.loadedEnd(from: Self.time(20), in: loaded) == Self.time(20))
        #expect(SegmentScheduler.loadedStart(from: Self.time(20), in: loaded) == Self.time(10))
        #expect(SegmentScheduler.loadedStart(from: Self.time(20.24), in: loaded) == Self.time(10))
        #expect(SegmentScheduler.loadedStart(from: Self.time(20.3), in: loaded) == Self.time(20.3))
        #expect(SegmentScheduler.loadedStart(from: Self.time(10), in: loaded) == Self.time(10))
    }
}
