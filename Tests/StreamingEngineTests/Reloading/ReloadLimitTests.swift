import HLSPlaylist
import MediaTiming
import ResourceAddressing
import StreamingEngine
import Testing

/// Tests of the limits and options of the schedule of reloads.
@Suite struct ReloadLimitTests {
    private static func ms(_ milliseconds: Int) -> Duration { .milliseconds(milliseconds) }

    /// Returns the action after a playlist was loaded at 0 and again, unchanged, at another time.
    private func action(_ targetDuration: String, unchangedAt milliseconds: Int) throws -> ReloadSchedule.Action {
        let playlist = try LiveWindowText(targetDuration: targetDuration).playlist
        var schedule = ReloadSchedule()
        _ = schedule.loaded(playlist, began: .zero, at: .zero)
        return schedule.loaded(playlist, began: Self.ms(milliseconds), at: Self.ms(milliseconds))
    }

    /// The update was due after a target duration, and is late by ten of them; but by 30 s at least since the last one.
    @Test(arguments: [("4", 44_000), ("1", 30_000), ("2", 30_000), ("3", 33_000)])
    func aPlaylistIsAbandonedAfterTenTargetDurations(targetDuration: String, milliseconds: Int) throws {
        guard case .stuck = try action(targetDuration, unchangedAt: milliseconds - 1) else {
            Issue.record("not stuck")
            return
        }
        #expect(try action(targetDuration, unchangedAt: milliseconds) == .abandon(.notUpdated(since: .zero)))
    }

    @Test func aPlaylistIsStuckAfterTwoAndAHalfTargetDurations() throws {
        guard case .reload = try action("4", unchangedAt: 9_999), case .stuck = try action("4", unchangedAt: 10_000)
        else {
            Issue.record("the limit is another one")
            return
        }
    }

    private func directives(
        _ control: String,
        loadedAt milliseconds: Int = 0,
        _ change: (inout ReloadSchedule.Options) -> Void = { _ in }
    ) throws -> DeliveryDirectives? {
        var options = ReloadSchedule.Options()
        change(&options)
        var schedule = ReloadSchedule(options: options)
        let playlist = try LiveWindowText(head: ["#EXT-X-SERVER-CONTROL:\(control)"]).playlist
        let action = schedule.loaded(playlist, began: .zero, at: Self.ms(milliseconds))
        guard case .reload(let reload) = action else { return nil }
        return reload.directives
    }

    /// Half of the skip boundary is 4.5 s.
    @Test func aDeltaUpdateIsRequestedUpToHalfOfTheSkipBoundary() throws {
        let control = "CAN-SKIP-UNTIL=9"
        #expect(try directives(control, loadedAt: 4_500)?.skip == .segments)
        #expect(try directives(control, loadedAt: 4_501) == DeliveryDirectives.none)
        #expect(try directives("CAN-SKIP-UNTIL=0") == DeliveryDirectives.none)
        #expect(try directives(control) { $0.usesDeltaUpdates = false } == DeliveryDirectives.none)
    }

    @Test func blockingReloadsCanBeTurnedOff() throws {
        let control = "CAN-BLOCK-RELOAD=YES"
        #expect(try directives(control)?.mediaSequence == 6)
        #expect(try directives(control) { $0.usesBlockingReloads = false } == DeliveryDirectives.none)
    }

    @Test func aServerThatDoesNotBlockIsAskedTwice() throws {
        let playlist = try LiveWindowText(head: ["#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES"]).playlist
        var schedule = ReloadSchedule()
        var isBlocking: [Bool] = []
        for second in 0..<4 {
            guard case .reload(let reload) = schedule.loaded(playlist, began: .seconds(second), at: .seconds(second))
            else {
                continue
            }
            isBlocking.append(reload.directives.isBlocking)
        }
        #expect(isBlocking == [true, true, false, false])
    }

    @Test func aDeltaUpdateThatFailsBeforeAnyPlaylistCountsFromItsRequest() {
        var schedule = ReloadSchedule()
        #expect(schedule.updateDeadline == nil)
        _ = schedule.deltaUpdateFailed(began: .seconds(3), at: .seconds(4))
        #expect(schedule.updateDeadline == .seconds(8))
        var failing = ReloadSchedule()
        _ = failing.failed(began: .seconds(3), at: .seconds(4))
        #expect(failing.updateDeadline == .seconds(8))
    }

    @Test func anEndedPlaylistNamesNoBlockingRequest() throws {
        let report = #"#EXT-X-RENDITION-REPORT:URI="de.m3u8",LAST-MSN=42"#
        func directives(_ tail: [String]) throws -> DeliveryDirectives {
            let head = ["#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES"]
            return DeliveryDirectives.firstRequest(
                for: ResourceAddress("https://example.com/live/de.m3u8"),
                reportedBy: try LiveWindowText(head: head, tail: tail).playlist,
                isLowLatency: false
            )
        }
        #expect(try directives([report]).mediaSequence == 42)
        #expect(try directives([report, "#EXT-X-ENDLIST"]) == .none)
    }
}
