import HLSPlaylist
import MediaTiming
import StreamingEngine
import Testing

@Suite struct ReloadScheduleTests {
    private typealias Action = ReloadSchedule.Action

    private static func at(_ milliseconds: Int, _ directives: DeliveryDirectives = .none) -> ReloadSchedule.Reload {
        ReloadSchedule.Reload(time: .milliseconds(milliseconds), directives: directives)
    }

    private static func ms(_ milliseconds: Int) -> Duration { .milliseconds(milliseconds) }

    @Test func aChangedPlaylistIsDueOneTargetDurationAfterItsLoadBegan() throws {
        var schedule = ReloadSchedule()
        var action = schedule.loaded(try LiveWindowText().playlist, began: Self.ms(1_000), at: Self.ms(1_300))
        #expect(action == .reload(Self.at(5_000)))
        // An unchanged playlist is due after half the duration.
        action = schedule.loaded(try LiveWindowText().playlist, began: Self.ms(5_000), at: Self.ms(5_100))
        #expect(action == .reload(Self.at(7_000)))
        action = schedule.loaded(try LiveWindowText(first: 1).playlist, began: Self.ms(7_000), at: Self.ms(7_100))
        #expect(action == .reload(Self.at(11_000)))
    }

    @Test func aReloadIsDueAtOnceAfterASlowLoad() throws {
        var schedule = ReloadSchedule()
        let action = schedule.loaded(try LiveWindowText().playlist, began: .zero, at: Self.ms(9_000))
        #expect(action == .reload(Self.at(9_000)))
    }

    @Test(arguments: [["#EXT-X-ENDLIST"], []])
    func anEndedPlaylistIsNotReloaded(tail: [String]) throws {
        let head = tail.isEmpty ? ["#EXT-X-PLAYLIST-TYPE:VOD"] : []
        var schedule = ReloadSchedule()
        #expect(
            schedule.loaded(try LiveWindowText(head: head, tail: tail).playlist, began: .zero, at: .zero) == .finish
        )
    }

    @Test(
        arguments: [("0", 1_000, 1_500), ("1", 1_000, 1_500), (nil, 4_000, 6_000), ("86400000", 120_000, 180_000)]
            as [(String?, Int, Int)]
    )
    func reloadDelaysOfExtremeTargetDurationsAreClamped(target: String?, first: Int, second: Int) throws {
        let playlist = try LiveWindowText(targetDuration: target).playlist
        var schedule = ReloadSchedule()
        #expect(schedule.loaded(playlist, began: .zero, at: .zero) == .reload(Self.at(first)))
        #expect(schedule.loaded(playlist, began: Self.ms(first), at: Self.ms(first)) == .reload(Self.at(second)))
    }

    @Test func aStuckPlaylistIsReplacedAndFinallyAbandoned() throws {
        let playlist = try LiveWindowText().playlist
        var schedule = ReloadSchedule()
        var action = schedule.loaded(playlist, began: .zero, at: .zero)
        var transcript: [String] = []
        while true {
            let reload: ReloadSchedule.Reload
            switch action {
            case .reload(let next): reload = next
            case .stuck(let next): (reload, _) = (next, transcript.append("stuck at \(next.time)"))
            case .finish: reload = Self.at(0)
            case .abandon(let reason):
                #expect(reason == .notUpdated(since: .zero))
                transcript.append("given up")
                reload = Self.at(-1)
            }
            guard reload.time > .zero, transcript.count < 100 else { break }
            action = schedule.loaded(playlist, began: reload.time, at: reload.time)
        }
        // New segments were due at 4 s: 1.5 target durations later the playlist is stuck, and 10 target durations later
        // it is abandoned.
        #expect(transcript.first == "stuck at 12.0 seconds" && transcript.last == "given up")
        #expect(transcript.count == 18)
    }

    @Test func anUpdateRecoversAStuckPlaylist() throws {
        var schedule = ReloadSchedule()
        _ = schedule.loaded(try LiveWindowText().playlist, began: .zero, at: .zero)
        #expect(schedule.updateDeadline == Self.ms(10_000))
        let stuck = schedule.loaded(try LiveWindowText().playlist, began: Self.ms(10_000), at: Self.ms(10_000))
        #expect(stuck == .stuck(Self.at(12_000)))
        let healed = schedule.loaded(try LiveWindowText(first: 1).playlist, began: Self.ms(12_000), at: Self.ms(12_000))
        #expect(healed == .reload(Self.at(16_000)))
    }

    @Test func anOlderCopyIsNoUpdateButAnEncoderRestartIs() throws {
        var schedule = ReloadSchedule()
        _ = schedule.loaded(try LiveWindowText(first: 10).playlist, began: .zero, at: .zero)
        let older = try LiveWindowText(first: 9).playlist
        #expect(schedule.loaded(older, began: Self.ms(4_000), at: Self.ms(4_000)) == .reload(Self.at(6_000)))
        let anew = try LiveWindowText(first: 0, count: 1).playlist
        let action = schedule.loaded(anew, began: Self.ms(6_000), at: Self.ms(6_000), hasRestarted: true)
        #expect(action == .reload(Self.at(10_000)))
        let next = schedule.loaded(
            try LiveWindowText(first: 0, count: 2).playlist,
            began: Self.ms(10_000),
            at: Self.ms(10_000)
        )
        #expect(next == .reload(Self.at(14_000)))
    }

    @Test func failedReloadsAreRepeatedWithBackoff() throws {
        var schedule = ReloadSchedule()
        _ = schedule.loaded(try LiveWindowText().playlist, began: .zero, at: .zero)
        #expect(schedule.failed(began: Self.ms(4_000), at: Self.ms(4_100)) == .reload(Self.at(6_100)))
        #expect(schedule.failed(began: Self.ms(6_100), at: Self.ms(6_200)) == .reload(Self.at(10_200)))
        #expect(schedule.failed(began: Self.ms(10_200), at: Self.ms(10_300)) == .stuck(Self.at(18_300)))
        #expect(schedule.failed(began: Self.ms(18_300), at: Self.ms(18_400)) == .stuck(Self.at(26_400)))
        #expect(schedule.failed(began: Self.ms(50_000), at: Self.ms(50_000)) == .abandon(.unreachable(since: .zero)))
    }

    @Test func aSuccessResetsTheFailureCount() throws {
        var schedule = ReloadSchedule()
        _ = schedule.loaded(try LiveWindowText().playlist, began: .zero, at: .zero)
        _ = schedule.failed(began: Self.ms(4_000), at: Self.ms(4_000))
        _ = schedule.loaded(try LiveWindowText(first: 1).playlist, began: Self.ms(6_000), at: Self.ms(6_000))
        #expect(schedule.failed(began: Self.ms(10_000), at: Self.ms(10_000)) == .reload(Self.at(12_000)))
    }

    @Test(arguments: [(10, 14_000), (1, 6_000), (100_000, 304_000), (-5, 6_000)])
    func theRetryAfterOfTheServerIsUsed(seconds: Int, next: Int) throws {
        var schedule = ReloadSchedule()
        _ = schedule.loaded(try LiveWindowText().playlist, began: .zero, at: .zero)
        let action = schedule.failed(began: Self.ms(4_000), at: Self.ms(4_000), serverDelay: .seconds(seconds))
        #expect(action == .reload(Self.at(next)))
    }

    @Test func aPlaylistThatWasNeverLoadedIsAbandoned() {
        var schedule = ReloadSchedule()
        #expect(schedule.failed(began: .zero, at: Self.ms(100)) == .reload(Self.at(1_100)))
        let action = schedule.failed(began: Self.ms(31_000), at: Self.ms(31_000))
        #expect(action == .abandon(.unreachable(since: .zero)))
    }

    // MARK: Low latency

    /// A schedule of a player that fetches partial segments.
    private var lowLatencySchedule: ReloadSchedule {
        var options = ReloadSchedule.Options()
        options.isLowLatency = true
        return ReloadSchedule(options: options)
    }

    /// Returns a playlist of a low-latency server with some parts of the next segment.
    private func lowLatency(_ first: Int, parts: Int, control: String = "CAN-BLOCK-RELOAD=YES") throws -> MediaPlaylist
    {
        try LiveWindowText(
            first: first,
            head: ["#EXT-X-PART-INF:PART-TARGET=1", "#EXT-X-SERVER-CONTROL:\(control),PART-HOLD-BACK=3"],
            tail: (0..<parts).map { "#EXT-X-PART:DURATION=1,URI=\"\($0)\"" }
        ).playlist
    }

    @Test func theNextPartIsRequestedAtOnce() throws {
        var schedule = lowLatencySchedule
        let first = schedule.loaded(try lowLatency(0, parts: 2), began: .zero, at: Self.ms(50))
        #expect(first == .reload(Self.at(100, DeliveryDirectives(mediaSequence: 6, part: 2))))
        let second = schedule.loaded(try lowLatency(0, parts: 3), began: Self.ms(100), at: Self.ms(1_000))
        #expect(second == .reload(Self.at(1_000, DeliveryDirectives(mediaSequence: 6, part: 3))))
        let third = schedule.loaded(try lowLatency(1, parts: 0), began: Self.ms(1_000), at: Self.ms(2_000))
        #expect(third == .reload(Self.at(2_000, DeliveryDirectives(mediaSequence: 7, part: 0))))
    }

    @Test func aPlaylistWithPartsIsReloadedOncePerTargetDurationIfPartsAreNotFetched() throws {
        var schedule = ReloadSchedule()
        let first = schedule.loaded(try lowLatency(0, parts: 2), began: .zero, at: Self.ms(50))
        #expect(first == .reload(Self.at(4_000, DeliveryDirectives(mediaSequence: 6))))
        // The server holds the request until the segment is available.
        let second = schedule.loaded(try lowLatency(1, parts: 0), began: Self.ms(4_000), at: Self.ms(6_000))
        #expect(second == .reload(Self.at(8_000, DeliveryDirectives(mediaSequence: 7))))
        // A response without a new segment is followed by a request after half of the duration.
        let third = schedule.loaded(try lowLatency(1, parts: 0), began: Self.ms(8_000), at: Self.ms(8_100))
        #expect(third == .reload(Self.at(10_000, DeliveryDirectives(mediaSequence: 7))))
    }

    @Test func partsDoNotShortenTheIntervalOfReloadsWithoutBlockingIfPartsAreNotFetched() throws {
        let control = "CAN-BLOCK-RELOAD=NO"
        var schedule = ReloadSchedule()
        let first = schedule.loaded(try lowLatency(0, parts: 2, control: control), began: .zero, at: .zero)
        #expect(first == .reload(Self.at(4_000)))
        // A new part is an update, and no reason to reload sooner.
        let playlist = try lowLatency(0, parts: 3, control: control)
        let second = schedule.loaded(playlist, began: Self.ms(4_000), at: Self.ms(4_000))
        #expect(second == .reload(Self.at(8_000)))
    }

    @Test func segmentsThatAreShorterThanTheTargetDurationCostNoMoreBlockingReloads() throws {
        let playlist = try LiveWindowText(head: ["#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES"]).playlist
        var schedule = ReloadSchedule()
        let action = schedule.loaded(playlist, began: .zero, at: .zero)
        #expect(action == .reload(Self.at(4_000, DeliveryDirectives(mediaSequence: 6))))
    }

    @Test func partsArePolledWithoutBlockingReloads() throws {
        var schedule = lowLatencySchedule
        let control = "CAN-BLOCK-RELOAD=NO"
        let first = schedule.loaded(try lowLatency(0, parts: 2, control: control), began: .zero, at: .zero)
        #expect(first == .reload(Self.at(1_000)))
        let same = schedule.loaded(
            try lowLatency(0, parts: 2, control: control),
            began: Self.ms(1_000),
            at: Self.ms(1_000)
        )
        #expect(same == .reload(Self.at(1_500)))
    }

    @Test func aServerThatDoesNotBlockReloadsIsNotPolledInALoop() throws {
        let playlist = try lowLatency(0, parts: 2)
        var schedule = lowLatencySchedule
        var action = schedule.loaded(playlist, began: .zero, at: .zero)
        var times: [Duration] = []
        var held = 0
        while case .reload(let reload) = action, times.count < 50 {
            times.append(reload.time)
            if reload.directives.isBlocking { held += 1 }
            action = schedule.loaded(playlist, began: reload.time, at: reload.time)
        }
        #expect(times.prefix(4) == [Self.ms(100), Self.ms(600), Self.ms(2_600), Self.ms(4_600)])
        #expect(held == 2)
        // After an update, the playlist is no longer stuck.
        let last = try #require(times.last)
        let news = schedule.loaded(try lowLatency(0, parts: 3), began: last, at: last)
        #expect(
            news == .reload(.init(time: last + Self.ms(100), directives: .init(mediaSequence: 6, part: 3)))
        )
    }

    @Test func reloadsAreThrottledIfTheServerAlwaysHasUpdates() throws {
        var schedule = lowLatencySchedule
        var now = Duration.zero
        for first in 0..<20 {
            guard case .reload(let reload) = schedule.loaded(try lowLatency(first, parts: 0), began: now, at: now)
            else {
                Issue.record("no reload")
                return
            }
            #expect(reload.time - now >= Self.ms(100))
            now = reload.time
        }
    }

    @Test(arguments: [("CAN-SKIP-UNTIL=24", "YES"), ("CAN-SKIP-UNTIL=24,CAN-SKIP-DATERANGES=YES", "v2")])
    func aDeltaUpdateIsRequestedForARecentCopy(control: String, value: String) throws {
        let playlist = try LiveWindowText(head: ["#EXT-X-SERVER-CONTROL:\(control)"]).playlist
        var schedule = ReloadSchedule()
        guard case .reload(let reload) = schedule.loaded(playlist, began: .zero, at: .zero) else {
            Issue.record("no reload")
            return
        }
        #expect(reload.directives.skip?.rawValue == value)
        // After such a slow load, the copy is too old for a delta update: older than half of the skip boundary.
        var late = ReloadSchedule()
        guard case .reload(let old) = late.loaded(playlist, began: .zero, at: Self.ms(12_001)) else {
            Issue.record("no reload")
            return
        }
        #expect(old.directives.skip == nil)
    }

    @Test func aMismatchedDeltaUpdateIsFollowedByAFullReload() throws {
        var schedule = lowLatencySchedule
        let playlist = try lowLatency(0, parts: 1, control: "CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=24")
        _ = schedule.loaded(playlist, began: .zero, at: .zero)
        #expect(schedule.deltaUpdateFailed(began: Self.ms(100), at: Self.ms(200)) == .reload(Self.at(600)))
        let next = schedule.loaded(playlist, began: Self.ms(600), at: Self.ms(700))
        guard case .reload(let reload) = next else {
            Issue.record("no reload")
            return
        }
        #expect(reload.directives.skip == .segments && reload.directives.isBlocking)
    }

    @Test func aFailedBlockingReloadIsFollowedByAPlainOne() throws {
        var schedule = lowLatencySchedule
        _ = schedule.loaded(try lowLatency(0, parts: 1), began: .zero, at: .zero)
        #expect(schedule.failed(began: Self.ms(100), at: Self.ms(1_000)) == .reload(Self.at(3_000)))
    }

    @Test func clocksThatStopOrRunBackwardDoNotTrap() throws {
        var schedule = lowLatencySchedule
        let playlist = try LiveWindowText().playlist
        _ = schedule.loaded(playlist, began: .seconds(100), at: .zero)
        guard case .reload(let reload) = schedule.loaded(playlist, began: .seconds(-50), at: .seconds(-100)) else {
            Issue.record("no reload")
            return
        }
        #expect(reload.time >= .seconds(-100))
    }
}
