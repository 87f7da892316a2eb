import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

/// Tests decisions of the ladder of actions in unusual circumstances.
@Suite struct RecoveryFaultTests {
    @Test func trickPlayWaitsForAServer() {
        var session = RecoveryTranscript(timeout: .seconds(10)) { $0.isTrickPlay = true }
        for now in [0.0, 1, 10] { session.fail(now, .segment(0), .unreachable) }
        #expect(
            session.lines == [
                "0 segment 0 unreachable: retry after 1",
                "1 segment 0 unreachable: retry after 2",
                "10 segment 0 unreachable: useNormalPlayback, excluded a",
            ]
        )
    }

    @Test func trickPlayOfAVariantThatIsNotUpdatedExcludesIt() {
        var session = RecoveryTranscript { $0.isTrickPlay = true }
        session.fail(0, .reload(isOverdue: false), .stale)
        #expect(session.lines == ["0 reload stale: useNormalPlayback, excluded a"])
    }

    @Test func anInconsistentSegmentIsTreatedAsMissing() {
        var live = RecoveryTranscript { $0.isLive = true }
        live.fail(0, .segment(0), .inconsistent)
        #expect(live.lines == ["0 segment 0 inconsistent: retry after 1"])
        var audio = RecoveryTranscript(.audio) { $0.hasOtherSource = true }
        audio.fail(0, .segment(0), .inconsistent)
        #expect(audio.lines == ["0 segment 0 inconsistent: other source or skip, excluded a"])
    }

    @Test(arguments: [FailureCategory.stale, .busy, .unreachable])
    func onlyAMissingSegmentReplacesARendition(category: FailureCategory) {
        var session = RecoveryTranscript(.audio) { $0.hasOtherSource = true }
        session.fail(0, .segment(0), category)
        #expect(session.lines == ["0 segment 0 \(category): \(category == .stale ? "skip" : "retry after 1")"])
    }

    @Test func subtitlesOfAnUnreachableServerAreRetried() {
        var session = RecoveryTranscript(.subtitles)
        session.fail(0, .segment(0), .unreachable)
        #expect(session.lines == ["0 segment 0 unreachable: retry after 1"])
    }

    @Test(arguments: [FailureCategory.unreachable, .busy])
    func anotherSourceIsAlsoUsedWithExplicitRetries(category: FailureCategory) {
        var session = RecoveryTranscript(policy: RecoveryPolicy(retries: 2)) { $0.hasOtherSource = true }
        for number in 0..<6 { session.fail(Double(number), .segment(Int64(number)), category) }
        #expect(session.lines == (0..<6).map { "\($0) segment \($0) \(category): other source or skip" })
    }

    @Test(arguments: [(TrackKind.audio, "fail"), (.subtitles, "dropTrack")])
    func aLostDeviceIsNotReplacedByAnotherSource(track: TrackKind, action: String) {
        var session = RecoveryTranscript(track) {
            $0.hasOtherSource = true
            $0.hasMedia = true
        }
        session.fail(0, .segment(0), .deviceLost)
        #expect(session.lines == ["0 segment 0 deviceLost: \(action)"])
    }

    @Test func theNumberOfMissingSegmentsRestartsAfterAnExclusion() {
        var session = RecoveryTranscript { $0.hasOtherSource = true }
        for now in [0, 1, 70, 71] { session.fail(Double(now), .segment(Int64(now)), .missing) }
        #expect(
            session.lines == [
                "0 segment 0 missing: other source or skip",
                "1 segment 1 missing: other source or skip, excluded a",
                "70 segment 70 missing: other source or skip",
                "71 segment 71 missing: other source or skip, excluded a",
            ]
        )
    }

    @Test func theDelayOfAPlaylistDoesNotDependOnAttemptsForSegments() {
        var session = RecoveryTranscript()
        session.fail(0, .segment(6), .unreachable)
        session.fail(1, .segment(6), .unreachable)
        session.fail(2, .playlist, .unreachable)
        session.fail(3, .playlist, .unreachable)
        #expect(
            session.lines == [
                "0 segment 6 unreachable: retry after 1",
                "1 segment 6 unreachable: retry after 2",
                "2 playlist unreachable: retry after 1, excluded a",
                "3 playlist unreachable: retry after 2, excluded a",
            ]
        )
    }

    @Test func theAttemptsOfTheNextSegmentOfALiveStreamAreCountedAgain() {
        var session = RecoveryTranscript { $0.isLive = true }
        for now in 0..<3 { session.fail(Double(now), .segment(0), .missing) }
        for now in 3..<6 { session.fail(Double(now), .segment(6), .missing) }
        #expect(
            session.lines.suffix(3) == [
                "3 segment 6 missing: retry after 1",
                "4 segment 6 missing: retry after 1",
                "5 segment 6 missing: skip",
            ]
        )
    }

    @Test func aTokenThatIsNotAvailableIsRequestedAgain() {
        let error = TransportError(.tokenUnavailable, "no")
        for kind in TransportRequest.Kind.allCases { #expect(error.category(of: kind) == .busy) }
    }

    @Test(arguments: [401, 403, 410]) func theseStatusesCanBeThoseOfExpiredCredentials(status: Int) {
        #expect(FailureCategory.mayIndicateExpiry(status: status))
        #expect(!FailureCategory.mayIndicateExpiry(status: status - 1))
        #expect(!FailureCategory.mayIndicateExpiry(status: status + 1))
    }

    @Test func theSourceOfAMissingResourceDoesNotBecomeTheLast() async throws {
        let folders = ["https://a/x", "https://b/x", "https://c/x"]
        func failure(_ status: Int) -> ScriptedTransport.Response {
            .failure(TransportError(.status, "no", status: status))
        }
        let script = ScriptedTransport([
            folders[0]: [failure(503), .text("a")], folders[1]: [.text("b"), failure(410)], folders[2]: [failure(404)],
        ])
        let transport = AlternateTransport(script, groups: [folders.map { ResourceAddress($0) }], time: CacheClock())
        let request = TransportRequest(ResourceAddress(folders[0]), kind: .segment)
        _ = try await transport.send(request)
        #expect(transport.preferredAddress(for: request.address).text == folders[1])
        // Both other origins lack the resource, and the first one responds again.
        _ = try await transport.send(request)
        #expect(script.requestedAddresses == [folders[0], folders[1], folders[1], folders[2], folders[0]])
        #expect(transport.preferredAddress(for: request.address).text == folders[0])
    }
}
