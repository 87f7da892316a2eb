import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Testing

/// Tests that each attempt at a request is reported when it ends, with its own start.
@Suite struct AttemptTimeTests {
    private static let busy = SyntheticOrigin.Resource.failure(
        TransportError(.status, "the server answered 503", status: 503)
    )

    @Test(arguments: ["main.m3u8", "-media.m3u8", "-2.ts"])
    func attemptsAreReportedWhenTheyEnd(_ suffix: String) async throws {
        try await verifyAttempts(of: .muxed) { $0.hasSuffix(suffix) }
    }

    @Test func attemptsAtKeysAreReportedWhenTheyEnd() async throws {
        try await verifyAttempts(of: .encrypted) { $0.contains("-key") }
    }

    /// Plays a stream some of whose resources are never delivered.
    private func verifyAttempts(
        of shape: StreamShape,
        failing isFailing: @escaping @Sendable (String) -> Bool
    ) async throws {
        let stream = OriginPlayback { path, now in isFailing(path) ? Self.busy : shape.resource(path, now) }
        #expect(try await stream.playOut(within: .seconds(300)))
        var attempts: [String: [ResourceRequest]] = [:]
        for event in stream.events.all {
            guard case .resourceRequest(let request) = event.kind, request.status == 503 else { continue }
            #expect(event.time == request.responseEnd, "reported late: \(request.address)")
            attempts[request.address, default: []].append(request)
        }
        #expect(attempts.values.contains { $0.count >= 4 })
        for requests in attempts.values {
            for (former, latter) in zip(requests, requests.dropFirst()) {
                #expect(former.responseEnd <= latter.requestStart, "attempts overlap: \(latter.address)")
            }
        }
    }

    @Test func theErrorLogHasTheTimeOfEachAttempt() async throws {
        let stream = OriginPlayback { path, now in
            path.hasSuffix("-2.ts") ? Self.busy : StreamShape.muxed.resource(path, now)
        }
        #expect(try await stream.playOut(within: .seconds(300)))
        var log = ErrorLogRecorder(session: stream.session)
        for event in stream.events.all { _ = log.add(event) }
        let dates = log.log.events.prefix(4).map(\.date)
        #expect(dates.count == 4)
        #expect(Set(dates).count == 4)
    }
}
