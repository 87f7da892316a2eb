import MediaTiming
import StreamingEngine
import Testing

@testable import Millstream

/// Tests of the difference between continuous playback and jumps of the playhead.
@Suite struct InterstitialPlayheadTests {
    private static func time(_ seconds: Double) -> MediaTime { MediaTime(approximating: seconds) ?? .zero }

    private static func timebase(_ media: Double, at seconds: Double, rate: Double = 1) -> Timebase {
        Timebase(mediaTime: time(media), time: .seconds(seconds), rate: rate)
    }

    /// Returns a playhead that moves from 10 s on, since 5 s.
    private func moving(_ rate: Double = 1) -> InterstitialPlayhead {
        var playhead = InterstitialPlayhead()
        _ = playhead.follow(Self.timebase(10, at: 5, rate: rate), at: .seconds(5))
        return playhead
    }

    // MARK: Following

    @Test func theFirstPositionIsThatOfARecentStart() {
        var playhead = InterstitialPlayhead()
        #expect(playhead.position(at: .seconds(5)) == nil)
        #expect(playhead.follow(Self.timebase(10, at: 5), at: .seconds(6)) == [.began(at: Self.time(10))])
        var late = InterstitialPlayhead()
        #expect(late.follow(Self.timebase(10, at: 5), at: .seconds(6.5)) == [.began(at: Self.time(11.5))])
        #expect(late.position(at: .seconds(8)) == Self.time(13))
    }

    @Test func continuousPlaybackIsNoChange() {
        var playhead = moving()
        #expect(playhead.follow(Self.timebase(10, at: 5), at: .seconds(8)) == [])
        #expect(playhead.follow(Self.timebase(13, at: 8, rate: 2), at: .seconds(8)) == [])
        #expect(playhead.follow(Self.timebase(15, at: 9, rate: 0), at: .seconds(9)) == [])
    }

    @Test func aJumpStartsWhereThePlayheadWas() {
        var playhead = moving()
        let changes = playhead.follow(Self.timebase(50, at: 9), at: .seconds(9.5))
        #expect(changes == [.jumped(from: Self.time(14), to: Self.time(50))])
    }

    @Test func reversePlaybackEndsWithTheNextObservation() {
        var playhead = moving(-1)
        #expect(playhead.follow(Self.timebase(7, at: 8), at: .seconds(8)) == [.rewound(to: Self.time(7))])
        #expect(playhead.follow(Self.timebase(7, at: 8), at: .seconds(9)) == [])
        playhead = moving(-1)
        let changes = playhead.follow(Self.timebase(50, at: 8), at: .seconds(8))
        #expect(changes == [.rewound(to: Self.time(50)), .jumped(from: Self.time(7), to: Self.time(50))])
    }

    @Test func aSeekStopsThePlayhead() {
        var playhead = moving()
        #expect(playhead.stop(at: .seconds(7)) == [])
        #expect(playhead.position(at: .seconds(20)) == Self.time(12))
        #expect(playhead.stop(at: .seconds(9)) == [] && playhead.position(at: .seconds(20)) == Self.time(12))
        // The time at which it stopped stays the first one.
        #expect(playhead.follow(Self.timebase(12, at: 7.5), at: .seconds(9.5)) == [])
        var reverse = moving(-2)
        #expect(reverse.stop(at: .seconds(7)) == [.rewound(to: Self.time(6))])
        #expect(reverse.position(at: .seconds(20)) == Self.time(6))
        var unknown = InterstitialPlayhead()
        #expect(unknown.stop(at: .seconds(7)) == [] && unknown.motion == nil)
        unknown.stop(at: Self.time(30))
        #expect(unknown.position(at: .seconds(99)) == Self.time(30))
    }

    // MARK: Resumption

    @Test(arguments: [(31.0, true), (29.0, true), (31.01, false), (28.99, false)])
    func theArrivalAtTheResumptionPositionIsNoJump(landed: Double, isArrival: Bool) {
        var playhead = moving()
        playhead.resume(at: Self.time(30), hasJumped: true, Self.timebase(14, at: 9, rate: 0))
        let changes = playhead.follow(Self.timebase(landed, at: 12), at: .seconds(12))
        #expect(changes.isEmpty == isArrival)
        // A later jump to the same position is one of the viewer.
        #expect(playhead.follow(Self.timebase(60, at: 13), at: .seconds(13)).count == 1)
        #expect(playhead.follow(Self.timebase(30, at: 14), at: .seconds(14)).count == 1)
    }

    @Test func aPlayheadThatHasArrivedAwaitsNoJump() {
        var playhead = moving()
        playhead.resume(at: Self.time(30), hasJumped: true, Self.timebase(30.05, at: 9, rate: 0))
        #expect(playhead.position(at: .seconds(9)) == Self.time(30.05))
        #expect(playhead.follow(Self.timebase(30.5, at: 12), at: .seconds(12)).count == 1)
    }

    @Test func aPlayheadThatIsElsewhereKeepsItsMotion() {
        var playhead = moving()
        playhead.resume(at: Self.time(30), hasJumped: false, Self.timebase(40, at: 9, rate: 0))
        #expect(playhead.position(at: .seconds(9)) == Self.time(14))
        playhead.resume(at: Self.time(30), hasJumped: false, Self.timebase(30, at: 9, rate: 1))
        #expect(playhead.position(at: .seconds(9)) == Self.time(14))
        playhead.resume(at: Self.time(30), hasJumped: false, Self.timebase(30, at: 9, rate: 0))
        #expect(playhead.position(at: .seconds(9)) == Self.time(30))
    }

    // MARK: Suspension

    private func hasMoved(
        _ position: inout SuspendedPosition,
        to seconds: Double,
        playerRate: Double = 1,
        rate: Double = 0,
        isSeeking: Bool = false
    ) -> Bool {
        var primary = InterstitialObservation.Primary()
        primary.rate = playerRate
        primary.playback.timebase = Self.timebase(seconds, at: 0, rate: rate)
        primary.playback.isSeeking = isSeeking
        return position.hasMoved(primary)
    }

    @Test(arguments: [
        (1.0, 11.0, 11.01), (2.5, 13, 13.01), (0, 11, 11.01), (-4, 11, 11.01), (100, 42, 42.01), (1, 9, 8.99),
    ])
    func anItemThatStopsMovesOnALittle(playerRate: Double, near: Double, far: Double) {
        var position = SuspendedPosition.stopping(near: Self.time(10))
        #expect(!hasMoved(&position, to: near, playerRate: playerRate))
        #expect(position == .stopped(at: Self.time(near)) && position.time == Self.time(near))
        position = .stopping(near: Self.time(10))
        #expect(hasMoved(&position, to: far, playerRate: playerRate))
        #expect(position == .stopping(near: Self.time(10)))
    }

    @Test(arguments: [(10.25, false), (10.26, true), (9.75, false), (9.74, true)])
    func anItemThatHasStoppedDoesNotMove(seconds: Double, isMove: Bool) {
        var position = SuspendedPosition.stopped(at: Self.time(10))
        #expect(hasMoved(&position, to: seconds, playerRate: 8) == isMove)
    }

    @Test func aPositionIsKnownOnlyAtRest() {
        for start in [SuspendedPosition.stopping(near: Self.time(10)), .stopped(at: Self.time(10))] {
            var position = start
            #expect(!hasMoved(&position, to: 50, rate: 1) && !hasMoved(&position, to: 50, isSeeking: true))
            #expect(position == start)
            #expect(hasMoved(&position, to: 50))
        }
    }

    @Test(arguments: [(1.05, true), (1.06, false), (0.95, true), (0.94, false)])
    func timesWithinTheToleranceAreNear(seconds: Double, isNear: Bool) {
        #expect(Self.time(seconds).isNear(Self.time(1), within: .interstitialTolerance) == isNear)
    }

    // MARK: Motion

    @Test(arguments: [(1.04, Motion.Change.none), (1.041, .jumped), (0.96, .none), (0.959, .jumped)])
    func aSmallDifferenceDuringPlaybackIsNoJump(media: Double, change: Motion.Change) {
        let old = Motion(timebase: Self.timebase(0, at: 0))
        #expect(Motion(timebase: Self.timebase(media, at: 1)).change(from: old, at: .seconds(1)) == change)
    }

    @Test func aPausedPlayheadHasNoDrift() {
        let old = Motion(timebase: Self.timebase(1, at: 0, rate: 0))
        func change(_ media: Double, _ rate: Double) -> Motion.Change {
            Motion(timebase: Self.timebase(media, at: 3, rate: rate)).change(from: old, at: .seconds(3))
        }
        #expect(change(1, 0) == .none && change(1.001, 0) == .jumped && change(0.999, 0) == .jumped)
        #expect(change(1, 1) == .startedOrStopped && change(1.03, 1) == .startedOrStopped && change(1.05, 1) == .jumped)
    }
}
