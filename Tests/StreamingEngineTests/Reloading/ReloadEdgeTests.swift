import HLSPlaylist
import MediaTiming
import ResourceAddressing
import StreamingEngine
import Testing

/// Tests of reloads after failures, with clocks that run backward, and of the directives of the first request.
@Suite struct ReloadEdgeTests {
    private static let blocking = "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES"

    private func reload(_ action: ReloadSchedule.Action) -> ReloadSchedule.Reload? {
        switch action {
        case .reload(let reload), .stuck(let reload): reload
        case .finish, .abandon: nil
        }
    }

    // MARK: Schedule

    @Test func aRequestThatBeganInTheFutureCountsFromNow() throws {
        var schedule = ReloadSchedule()
        let control = "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=7"
        let playlist = try LiveWindowText(head: [control]).playlist
        // The playlist is older than half of the skip boundary by then.
        let action = schedule.loaded(playlist, began: .seconds(100), at: .zero)
        #expect(action == .reload(.init(time: .seconds(4), directives: .none)))
        var failing = ReloadSchedule()
        _ = failing.deltaUpdateFailed(began: .seconds(100), at: .zero)
        #expect(failing.updateDeadline == .seconds(5))
    }

    @Test func anAnswerToAPlainRequestDoesNotShowThatTheServerDoesNotBlock() throws {
        let playlist = try LiveWindowText(head: [Self.blocking]).playlist
        var schedule = ReloadSchedule()
        _ = schedule.loaded(playlist, began: .zero, at: .zero)
        let unchanged = reload(schedule.loaded(playlist, began: .seconds(1), at: .seconds(1)))
        #expect(unchanged?.directives.isBlocking == true)
        let plain = reload(schedule.failed(began: .seconds(2), at: .seconds(2)))
        #expect(plain?.directives.isBlocking == false)
        let again = reload(schedule.loaded(playlist, began: .seconds(3), at: .seconds(3)))
        #expect(again?.directives.isBlocking == true)
        let last = reload(schedule.loaded(playlist, began: .seconds(4), at: .seconds(4)))
        #expect(last?.directives.isBlocking == false)
    }

    @Test func afterAFailureTheCompletePlaylistIsRequested() throws {
        let control = "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=36"
        let playlist = try LiveWindowText(head: [control]).playlist
        var schedule = ReloadSchedule()
        let first = reload(schedule.loaded(playlist, began: .zero, at: .zero))
        #expect(first?.directives == DeliveryDirectives(mediaSequence: 6, skip: .segments))
        let failed = reload(schedule.failed(began: .seconds(1), at: .seconds(1)))
        #expect(failed?.directives == DeliveryDirectives.none)
        let mismatched = reload(schedule.deltaUpdateFailed(began: .seconds(2), at: .seconds(2)))
        #expect(mismatched?.directives == DeliveryDirectives.none)
        let next = reload(schedule.loaded(playlist, began: .seconds(3), at: .seconds(3)))
        #expect(next?.directives == DeliveryDirectives(mediaSequence: 6, skip: .segments))
    }

    /// The update was due at 4 s, and is late by 1.5 target durations at 10 s.
    @Test func aFailureDoesNotCountAsAnUpdate() throws {
        var schedule = ReloadSchedule()
        _ = schedule.loaded(try LiveWindowText().playlist, began: .zero, at: .zero)
        #expect(schedule.updateDeadline == .seconds(10))
        _ = schedule.failed(began: .seconds(5), at: .seconds(6))
        _ = schedule.deltaUpdateFailed(began: .seconds(7), at: .seconds(8))
        #expect(schedule.updateDeadline == .seconds(10))
        guard case .stuck = schedule.deltaUpdateFailed(began: .seconds(9), at: .seconds(10)) else {
            Issue.record("not stuck")
            return
        }
    }

    // MARK: Directives

    @Test(arguments: [
        ("v?_HLS_skip=YES&a=b", "v?a=b&_HLS_msn=1&_HLS_part=0&_HLS_skip=YES"),
        ("v?a=b&_HLS_skip=v2", "v?a=b&_HLS_msn=1&_HLS_part=0&_HLS_skip=YES"),
        ("v#f?_HLS_msn=9", "v?_HLS_msn=1&_HLS_part=0&_HLS_skip=YES#f?_HLS_msn=9"),
        ("v?_HLS_report=1", "v?_HLS_report=1&_HLS_msn=1&_HLS_part=0&_HLS_skip=YES"),
    ])
    func formerDirectivesAreReplaced(address: String, expected: String) {
        let directives = DeliveryDirectives(mediaSequence: 1, part: 0, skip: .segments)
        #expect(directives.applied(to: ResourceAddress(address)).text == expected)
    }

    @Test func formerDirectivesAreRemovedWithTheirQuery() {
        let address = ResourceAddress("v?_HLS_msn=1&_HLS_part=2&_HLS_skip=YES")
        #expect(DeliveryDirectives.none.applied(to: address).text == "v")
    }

    private func firstSequence(of address: String, _ head: [String]) throws -> Int64? {
        let reports = [
            #"#EXT-X-RENDITION-REPORT:URI="en.m3u8?t=1",LAST-MSN=41"#,
            #"#EXT-X-RENDITION-REPORT:URI="en.m3u8?t=2",LAST-MSN=50"#,
        ]
        let directives = DeliveryDirectives.firstRequest(
            for: ResourceAddress("https://example.com/live/\(address)"),
            reportedBy: try LiveWindowText(head: head, tail: reports).playlist,
            isLowLatency: false
        )
        return directives.mediaSequence
    }

    @Test func theReportOfTheExactAddressIsPreferred() throws {
        #expect(try firstSequence(of: "en.m3u8?t=1", [Self.blocking]) == 41)
        #expect(try firstSequence(of: "en.m3u8?t=2", [Self.blocking]) == 50)
        #expect(try firstSequence(of: "en.m3u8?t=3", [Self.blocking]) == 41)
        #expect(try firstSequence(of: "en.m3u8#t", [Self.blocking]) == 41)
        #expect(try firstSequence(of: "en.m3u8?t=1", []) == nil)
    }
}
