import Adaptation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Synchronization
import Testing

/// Tests that playback ends after any failure of any request, reports the error, and plays the media that is available.
@Suite struct PlaybackFaultTests {
    enum Target: String, CaseIterable, Sendable {
        case multivariant, media, audioPlaylist, subtitlePlaylist, initialization, key, segment, audioSegment,
            subtitleSegment, everySegment

        var shape: StreamShape { self == .key ? .encrypted : .separate }

        func matches(_ path: String) -> Bool {
            switch self {
            case .multivariant: path == "main.m3u8"
            case .media: ["0-media.m3u8", "1-media.m3u8", "2-media.m3u8"].contains(path)
            case .audioPlaylist: path == "7-media.m3u8"
            case .subtitlePlaylist: path == "9-media.m3u8"
            case .initialization: path.hasSuffix("-init.mp4") && !path.hasPrefix("7") && !path.hasPrefix("9")
            case .key: path.contains("-key3")
            case .segment: ["0-5.m4s", "1-5.m4s", "2-5.m4s"].contains(path)
            case .audioSegment: path == "7-5.m4s"
            case .subtitleSegment: path == "9-5.m4s"
            case .everySegment: path.hasSuffix(".m4s") && ["0", "1", "2"].contains(path.prefix(1))
            }
        }
    }

    enum Fault: String, CaseIterable, Sendable {
        case missing, forbidden, broken, unreachable, slow, page, empty

        func resource(for address: String) -> SyntheticOrigin.Resource? {
            switch self {
            case .missing: nil
            case .forbidden: .failure(TransportError(.status, "the server answered 403", status: 403))
            case .broken: .failure(TransportError(.connectionLost, "the connection broke"))
            case .unreachable: .failure(TransportError(.cannotConnect, "nobody is there"))
            case .slow: .failure(TransportError(.timedOut, "nothing came"))
            case .page: .text("<!DOCTYPE html><html><body>Log in</body></html>")
            case .empty: .text("")
            }
        }
    }

    @Test(arguments: Target.allCases, Fault.allCases)
    func aPermanentFailureEndsPlaybackWithTheExpectedOutcome(target: Target, fault: Fault) async throws {
        let stream = OriginPlayback { path, now in
            target.matches(path) ? fault.resource(for: path) : target.shape.resource(path, now)
        }
        #expect(try await stream.playOut(within: .seconds(900)), "it neither ends nor fails")
        let snapshot = stream.engine.snapshot
        let outcome = Self.outcome(of: stream)
        #expect(outcome == Self.lastingOutcomes[target]?[fault], "\(target) \(fault): \(outcome)")
        if snapshot.hasPlayedToEnd { #expect(stream.position == MediaTime(seconds: 60)) }
        // The requests were not repeated without end.
        #expect(stream.origin.requestCount < 600)
    }

    /// Plays a stream of which the first request for each address of a target fails.
    private static func playedWithAFailure(of target: Target, _ fault: Fault) async throws -> OriginPlayback {
        let failed = Mutex<Set<String>>([])
        let stream = OriginPlayback { path, now in
            if target.matches(path), failed.withLock({ $0.insert(path).inserted }) {
                return fault.resource(for: path)
            }
            return target.shape.resource(path, now)
        }
        #expect(try await stream.playOut(within: .seconds(900)))
        return stream
    }

    @Test(arguments: Target.allCases, [Fault.broken, .unreachable, .slow])
    func aRequestWithoutResponseIsRepeated(target: Target, fault: Fault) async throws {
        let stream = try await Self.playedWithAFailure(of: target, fault)
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        #expect(stream.skipped.isEmpty)
        #expect(stream.engine.snapshot.selection[.audio] != nil || target.shape != .separate)
    }

    /// A response with wrong content is not requested again from the same location.
    ///
    /// Where access is denied, the addresses are renewed, because they may have expired.
    @Test(arguments: Target.allCases, [Fault.missing, .forbidden, .page, .empty])
    func aSingleWrongResponseHasTheExpectedOutcome(target: Target, fault: Fault) async throws {
        let stream = try await Self.playedWithAFailure(of: target, fault)
        let outcome = Self.outcome(of: stream)
        #expect(outcome == Self.outcomes[target]?[fault], "\(target) \(fault): \(outcome)")
    }

    /// Returns the end of playback or the code of the error, followed by the number of skipped segments of each media
    /// type, and the media types that were disabled.
    private static func outcome(of stream: OriginPlayback) -> String {
        let snapshot = stream.engine.snapshot
        var words = [snapshot.hasPlayedToEnd ? "end" : snapshot.error?.code.rawValue ?? "nothing"]
        for type in [MediaType.video, .audio, .subtitles, .muxed] {
            let count = stream.skipped.count { $0.mediaType == type }
            if count > 0 { words.append("\(type.rawValue) -\(count)") }
        }
        if snapshot.presentation?.group(.audio) != nil, snapshot.selection[.audio] == nil { words.append("no audio") }
        if snapshot.presentation?.group(.subtitles) != nil, snapshot.selection[.subtitles] == nil {
            words.append("no subtitles")
        }
        return words.joined(separator: ", ")
    }

    private static let lastingOutcomes: [Target: [Fault: String]] = [
        .multivariant: [
            .missing: "not-loaded", .forbidden: "not-loaded", .broken: "unreachable", .unreachable: "unreachable",
            .slow: "unreachable", .page: "not-recognized", .empty: "not-recognized",
        ],
        .media: [
            .missing: "not-loaded", .forbidden: "not-loaded", .broken: "unreachable", .unreachable: "unreachable",
            .slow: "unreachable", .page: "unreadable-playlist", .empty: "unreadable-playlist",
        ],
        .audioPlaylist: [
            .missing: "end, no audio", .forbidden: "end, no audio", .broken: "end, no audio",
            .unreachable: "end, no audio", .slow: "end, no audio", .page: "end, no audio", .empty: "end, no audio",
        ],
        .subtitlePlaylist: [
            .missing: "end, no subtitles", .forbidden: "end, no subtitles", .broken: "end, no subtitles",
            .unreachable: "end, no subtitles", .slow: "end, no subtitles", .page: "end, no subtitles",
            .empty: "end, no subtitles",
        ],
        .initialization: [
            .missing: "not-loaded, video -4", .forbidden: "not-loaded, video -4", .broken: "unreachable",
            .unreachable: "unreachable", .slow: "unreachable", .page: "not-loaded, video -4", .empty: "end",
        ],
        .key: [
            .missing: "end, muxed -3", .forbidden: "key-not-loaded", .broken: "unreachable",
            .unreachable: "unreachable", .slow: "unreachable", .page: "end, muxed -3", .empty: "end, muxed -3",
        ],
        .segment: [
            .missing: "end, video -1", .forbidden: "end, video -1", .broken: "unreachable", .unreachable: "unreachable",
            .slow: "unreachable", .page: "end, video -1", .empty: "end",
        ],
        .audioSegment: [
            .missing: "end, audio -1", .forbidden: "end, audio -1", .broken: "end, no audio",
            .unreachable: "end, no audio", .slow: "end, no audio", .page: "end, audio -1", .empty: "end",
        ],
        .subtitleSegment: [
            .missing: "end, subtitles -1", .forbidden: "end, subtitles -1", .broken: "end", .unreachable: "end",
            .slow: "end", .page: "end, subtitles -1", .empty: "end",
        ],
        .everySegment: [
            .missing: "not-loaded, video -4", .forbidden: "not-loaded, video -4", .broken: "unreachable",
            .unreachable: "unreachable", .slow: "unreachable", .page: "not-loaded, video -4", .empty: "end",
        ],
    ]

    private static let outcomes: [Target: [Fault: String]] = [
        .multivariant: [
            .missing: "not-loaded", .forbidden: "not-loaded", .page: "not-recognized", .empty: "not-recognized",
        ],
        .media: [
            .missing: "not-loaded", .forbidden: "end", .page: "unreadable-playlist",
            .empty: "unreadable-playlist",
        ],
        .audioPlaylist: [
            .missing: "end, no audio", .forbidden: "end", .page: "end, no audio", .empty: "end, no audio",
        ],
        .subtitlePlaylist: [
            .missing: "end, no subtitles", .forbidden: "end", .page: "end, no subtitles",
            .empty: "end, no subtitles",
        ],
        .initialization: [.missing: "end, video -1", .forbidden: "end", .page: "end", .empty: "end"],
        .key: [.missing: "end, muxed -1", .forbidden: "end", .page: "end", .empty: "end, muxed -1"],
        .segment: [.missing: "end, video -1", .forbidden: "end", .page: "end", .empty: "end"],
        .audioSegment: [.missing: "end, audio -1", .forbidden: "end", .page: "end", .empty: "end"],
        .subtitleSegment: [
            .missing: "end, subtitles -1", .forbidden: "end", .page: "end", .empty: "end",
        ],
        .everySegment: [
            .missing: "not-loaded, video -4", .forbidden: "end", .page: "end", .empty: "end",
        ],
    ]

    @Test func aSegmentThatOneVariantLacksIsFetchedFromAnother() async throws {
        var options = StreamingOptions()
        options.variantSelection = VariantSelection(.fixedHighest)
        let stream = OriginPlayback(options: options) { path, now in
            path == "2-5.ts" ? nil : StreamShape.muxed.resource(path, now)
        }
        #expect(try await stream.playOut(within: .seconds(300)))
        #expect(stream.engine.snapshot.hasPlayedToEnd && stream.skipped.isEmpty)
    }

    @Test func aForbiddenKeyFailsWithItsStatus() async throws {
        let stream = OriginPlayback { path, now in
            if path.contains("key") { return Fault.forbidden.resource(for: path) }
            return StreamShape.encrypted.resource(path, now)
        }
        #expect(try await stream.playOut(within: .seconds(300)))
        #expect(stream.engine.snapshot.error?.code == .keyNotLoaded)
        #expect(stream.engine.snapshot.error?.status == 403)
    }

    @Test func aKeyIsRequestedOnce() async throws {
        var options = StreamingOptions()
        options.variantSelection = VariantSelection(.fixedLowest)
        let stream = OriginPlayback(options: options) { path, now in StreamShape.encrypted.resource(path, now) }
        #expect(try await stream.playOut(within: .seconds(300)))
        let keys = stream.events.all.compactMap { event -> String? in
            guard case .resourceRequest(let request) = event.kind, request.kind == .contentKey else { return nil }
            return request.address
        }
        #expect(keys.count == 4 && Set(keys).count == 4)
    }

    @Test func anOutageWithinTheTimeLimitIsSurvived() async throws {
        let stream = OriginPlayback { path, now in
            if now > .seconds(5), now < .seconds(45) { return Fault.unreachable.resource(for: path) }
            return StreamShape.muxed.resource(path, now)
        }
        #expect(try await stream.playOut(within: .seconds(400)))
        #expect(stream.engine.snapshot.hasPlayedToEnd && stream.skipped.isEmpty)
    }

    private static let busy = SyntheticOrigin.Resource.failure(
        TransportError(.status, "the server answered 503", status: 503)
    )

    @Test func playbackWaitsForABusyServer() async throws {
        let stream = OriginPlayback { path, now in
            if path.hasSuffix(".ts"), now > .seconds(3), now < .seconds(18) { return Self.busy }
            return StreamShape.muxed.resource(path, now)
        }
        #expect(try await stream.playOut(within: .seconds(300)))
        #expect(stream.engine.snapshot.hasPlayedToEnd && stream.skipped.isEmpty)
    }

    @Test func aSegmentForWhichTheServerIsAlwaysBusyIsSkipped() async throws {
        let stream = OriginPlayback { path, now in
            path.hasSuffix("-5.ts") ? Self.busy : StreamShape.muxed.resource(path, now)
        }
        #expect(try await stream.playOut(within: .seconds(300)))
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        #expect(stream.skipped.count == 1)
        #expect(stream.simulation.now < .seconds(120))
    }

    @Test func aPermanentlyBusyServerEndsPlayback() async throws {
        let stream = OriginPlayback { path, now in
            if path.hasSuffix(".ts"), now > .seconds(3) { return Self.busy }
            return StreamShape.muxed.resource(path, now)
        }
        #expect(try await stream.playOut(within: .seconds(300)))
        #expect(stream.engine.snapshot.error?.status == 503)
        #expect(stream.simulation.now < .seconds(150))
    }

    @Test func failedAttemptsAreReportedAndNotCountedAsTransferTime() async throws {
        let tries = Mutex(0)
        let stream = OriginPlayback { path, now in
            if path.hasSuffix("-2.ts"),
                tries.withLock({
                    $0 += 1; return $0 <= 2
                })
            {
                return Self.busy
            }
            return StreamShape.muxed.resource(path, now)
        }
        #expect(try await stream.playOut(within: .seconds(300)))
        var errors = ErrorLogRecorder(session: stream.session)
        for event in stream.events.all { _ = errors.add(event) }
        #expect(errors.log.events.map(\.errorStatusCode) == [503, 503])
        #expect(errors.log.events.allSatisfy { $0.uri?.hasSuffix("-2.ts") == true && $0.errorDomain == "HTTP" })
        let requests = stream.events.all.compactMap { event -> ResourceRequest? in
            guard case .resourceRequest(let request) = event.kind, request.address.hasSuffix("-2.ts") else {
                return nil
            }
            return request
        }
        #expect(requests.map { $0.status ?? 0 } == [503, 503, 200])
        let times = requests.map { $0.requestStart }
        #expect(times == times.sorted() && Set(times).count == 3)
        #expect(requests.last.map { $0.responseEnd - $0.requestStart < .milliseconds(100) } == true)
    }
}
