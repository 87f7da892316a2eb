import MediaTiming
import PlaybackReporting
import Testing

@testable import StreamingEngine

/// Tests of the times at which the state of the engine continues by itself.
@Suite struct EngineStateFaultTests {
    /// The steering manifest is not loaded again during a pause and after the end.
    @Test func theSteeringManifestIsLoadedAgainOnlyDuringPlayback() {
        var options = StreamingOptions()
        options.pausesAtEnd = false
        var session = EngineSession(options)
        session.playSteered([EngineSession.manifest(["one"], ttl: 900)], segments: 1, until: 5)
        func nextLoad() -> Duration? { session.state.control.plan.catalog.steering.nextLoad }
        let isPlaying = session.state.nextDeadline != nil
        session.setRate(0)
        session.run(until: 5)
        #expect(isPlaying && nextLoad() != nil && session.state.nextDeadline == nil)
        session.setRate(1)
        session.run(until: 30)
        let machine = session.state.control.playhead.machine
        #expect(machine.hasEnded && machine.desiredRate == 1)
        #expect(nextLoad() != nil && session.state.nextDeadline == nil)
    }

    /// Playlists are reloaded until the item is ready, although it is paused and must not use the network then.
    @Test(arguments: [(30, true), (1, false)] as [(Double, Bool)])
    func aLivePlaylistIsReloadedUntilTheItemIsReady(transferTime: Double, isReloaded: Bool) {
        var options = StreamingOptions()
        options.usesNetworkWhilePaused = false
        var session = EngineSession(options)
        session.transferTimes["v"] = transferTime
        session.transferTimes["v.m3u8"] = 0.5
        session.playlists["v.m3u8"] = (0..<9).map { EngineSession.live("v", $0) }
        session.start("v.m3u8")
        session.run(until: 25)
        let loads = session.lines.count { $0.hasPrefix("    load ") }
        #expect((loads > 1) == isReloaded)
    }

    @Test func onlyAnItemThatWasReadyFailsToPlayToItsEnd() {
        func reports(_ seconds: Double) -> [String] {
            var session = EngineSession()
            session.playlists["v.m3u8"] = [EngineSession.vod("v")]
            session.start("v.m3u8")
            session.run(until: seconds)
            let former = session.lines.count
            session.report(.failed("the device is gone"))
            session.report(.failed("the device is gone"))
            return session.lines.dropFirst(former).filter { $0.hasPrefix("    report failed") }
        }
        #expect(reports(1.5).isEmpty && reports(4).count == 1)
    }
}
