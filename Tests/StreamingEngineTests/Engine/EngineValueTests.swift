import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the values from which the engine decides, apart from complete sessions.
@Suite struct EngineValueTests {
    private static func variant(_ bitRate: Int) throws -> Presentation.Variant {
        let presentation = Presentation(try multivariant("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=\(bitRate)\nv.m3u8\n"))
        return try #require(presentation.variants.first)
    }

    private static func source(_ bitRate: Int) throws -> StreamSource {
        let variant = try variant(bitRate)
        return StreamSource(variant, location: 0, address: variant.address)
    }

    // MARK: Frames

    @Test func framesOfARateAboveNormalAreNotAllShown() {
        var reporter = FrameReporter()
        func counts(_ number: Int) -> FrameCounts { FrameCounts(decoded: number, dropped: number / 2, discarded: 1) }
        let skipping = reporter.report(counts(10), rate: 1.001, isFinal: false, at: .seconds(1))
        #expect(skipping?.frames == counts(10) && skipping?.areAllShown == false)
        // The frames since then include those before the rate changed.
        let mixed = reporter.report(counts(30), rate: 1, isFinal: false, at: .seconds(2))
        #expect(mixed?.frames == FrameCounts(decoded: 20, dropped: 10, discarded: 0) && mixed?.areAllShown == false)
        let usual = reporter.report(counts(40), rate: 0, isFinal: false, at: .seconds(3))
        #expect(usual?.frames == FrameCounts(decoded: 10, dropped: 5, discarded: 0) && usual?.areAllShown == true)
        let reverse = reporter.report(counts(50), rate: -0.5, isFinal: false, at: .seconds(4))
        #expect(reverse?.areAllShown == false)
    }

    // MARK: Live window

    private static func loaded(_ window: LiveWindowText, start: Int64 = 0) throws -> LoadedPlaylist {
        LoadedPlaylist(
            source: try source(1),
            timeline: PresentationTimeline(try window.playlist, start: MediaTime(seconds: start)),
            requestStart: .seconds(100),
            lastUpdate: .seconds(100)
        )
    }

    /// The window is from 5 s to 17 s, and the playlist ends at 29 s.
    @Test(
        arguments: [
            (100, 99, 17), (102, 99, 19), (104, 99, 21), (110, 99, 21), (98, 99, 17), (100, 4, 5), (100, 5, 5),
            (100, 9, 9),
        ] as [(Int, Int64, Int64)]
    )
    func aTargetIsLimitedToTheWindowWhichAdvancesUntilTheNextReload(now: Int, target: Int64, time: Int64) throws {
        let playlist = try Self.loaded(LiveWindowText(), start: 5)
        var sink = EffectSink(now: .zero)
        var live = LiveState()
        live.update(playlist.timeline, &sink)
        let found = live.clamped(MediaTime(seconds: target), in: playlist, endOfPlayback: nil, at: .seconds(now))
        #expect(found == MediaTime(seconds: time))
    }

    @Test(arguments: [(nil, 99, 24), (10, 99, 10), (10, 9, 9), (-1, 3, 0), (nil, -1, 0)] as [(Int64?, Int64, Int64)])
    func aTargetIsLimitedToTheEndOfPlayback(end: Int64?, target: Int64, time: Int64) throws {
        let playlist = try Self.loaded(LiveWindowText(tail: ["#EXT-X-ENDLIST"]))
        let end = end.map { MediaTime(seconds: $0) }
        let found = LiveState()
            .clamped(MediaTime(seconds: target), in: playlist, endOfPlayback: end, at: .seconds(500))
        #expect(found == MediaTime(seconds: time))
    }

    @Test func withoutAPlaylistATargetIsNotNegative() {
        let live = LiveState()
        let negative = live.clamped(MediaTime(seconds: -3), in: nil, endOfPlayback: nil, at: .zero)
        let positive = live.clamped(MediaTime(seconds: 3), in: nil, endOfPlayback: nil, at: .zero)
        #expect(negative == .zero && positive == MediaTime(seconds: 3))
    }

    @Test func aChangeOfTheSeekableRangeIsReportedOnce() throws {
        var sink = EffectSink(now: .zero)
        var live = LiveState()
        let timeline = PresentationTimeline(try LiveWindowText().playlist)
        live.update(nil, &sink)
        live.update(timeline, &sink)
        live.update(timeline, &sink)
        #expect(sink.takeEffects(with: nil).count == 1)
        #expect(live.recommendedOffset == MediaTime(seconds: 12))
        live.update(PresentationTimeline(try LiveWindowText(tail: ["#EXT-X-ENDLIST"]).playlist), &sink)
        #expect(sink.takeEffects(with: nil).count == 1 && live.recommendedOffset == nil)
        live.update(PresentationTimeline(try LiveWindowText(count: 0).playlist), &sink)
        #expect(live.seekableRange == nil)
    }

    @Test func theLiveEdgeAdvancesFromTheRequest() throws {
        let expected = Timebase(mediaTime: MediaTime(seconds: 24), time: .seconds(100), rate: 1)
        #expect(LiveState.edge(of: try Self.loaded(LiveWindowText())) == expected)
        #expect(LiveState.edge(of: try Self.loaded(LiveWindowText(tail: ["#EXT-X-ENDLIST"]))) == nil)
        #expect(LiveState.edge(of: nil) == nil)
    }

    @Test func theRequestedOffsetIsNotBelowTheRecommendedOne() throws {
        var sink = EffectSink(now: .zero)
        var live = LiveState()
        live.update(PresentationTimeline(try LiveWindowText().playlist), &sink)
        func factor(_ offset: String?, _ asked: Int64? = nil) -> Double {
            live.rateFactor(
                offset: offset.map { seconds($0) },
                asked: asked.map { MediaTime(seconds: $0) },
                ahead: .seconds(20),
                segment: .seconds(4)
            )
        }
        #expect(factor("12.6") == 1.05)
        // A correction that was interrupted begins anew.
        #expect(factor(nil) == 1 && factor("12.3") == 1)
        #expect(factor("12.6", 5) == 1.05 && factor("11.4", 5) == 0.95)
        #expect(factor("19.4", 20) == 0.95 && factor("20.6", 20) == 1.05)
    }

    // MARK: Effects

    private static let request = ResourceRequest(
        .contentKey,
        TransportRequest(ResourceAddress("https://example.com/key"), kind: .key),
        began: .zero,
        now: .zero,
        nil
    )

    @Test func theReportOfTheStartHasSixtyFourRequestsOnce() {
        var sink = EffectSink(now: .zero)
        for _ in 0..<70 { sink.report(.resourceRequest(Self.request)) }
        #expect(sink.takeStartRequests().count == 64)
        sink.report(.resourceRequest(Self.request))
        #expect(sink.takeStartRequests().isEmpty)
        #expect(sink.takeEffects(with: nil).count == 71 && sink.takeEffects(with: nil).isEmpty)
    }

    @Test func aRequestIsReportedWithTheNetworkItUsed() {
        func usesCellular(_ cost: NetworkCost?) -> Bool? {
            var sink = EffectSink(now: .zero)
            sink.networkCost = cost
            sink.report(.resourceRequest(Self.request))
            guard case .report(let event) = sink.takeEffects(with: nil).first,
                case .resourceRequest(let request) = event.kind
            else { return nil }
            return request.usedCellularNetwork
        }
        #expect(usesCellular([.cellular, .expensive]) == true && usesCellular([.expensive]) == false)
    }

    @Test func aSnapshotIsInsertedWhereItWasFirstRequested() {
        var sink = EffectSink(now: .zero)
        sink.add(.finish)
        #expect(!sink.isSnapshotRequested)
        sink.requestSnapshot()
        sink.add(.finish)
        sink.requestSnapshot()
        #expect(sink.isSnapshotRequested)
        let isSnapshot = sink.takeEffects(with: PlaybackSnapshot()).map { effect in
            if case .publish = effect { true } else { false }
        }
        #expect(isSnapshot == [false, true, false] && !sink.isSnapshotRequested)
    }

    // MARK: Renewal

    private static func begin(
        _ renewal: inout AddressRenewal,
        _ source: StreamSource,
        status: Int? = 403,
        request: Int
    ) -> AddressRenewal.Beginning? {
        renewal.begin(after: status, of: .segment, from: source, nextRequest: { request })
    }

    @Test func aRenewalThatDoesNotHelpIsNotRepeatedForTheSameResource() throws {
        var renewal = AddressRenewal()
        let sources = try (1...3).map { try Self.source($0) }
        #expect(Self.begin(&renewal, sources[0], request: 1) == nil)
        renewal.enable()
        for status in [nil, 404, 500] as [Int?] {
            #expect(Self.begin(&renewal, sources[0], status: status, request: 1) == nil)
        }
        #expect(Self.begin(&renewal, sources[0], request: 1) == .begun(request: 1))
        #expect(renewal.isLoading && renewal.isAwaited(by: sources[0]) && !renewal.isAwaited(by: sources[1]))
        #expect(Self.begin(&renewal, sources[1], status: 410, request: 2) == .joined)
        #expect(renewal.isAwaited(by: sources[1]))
        #expect(!renewal.end(2, with: nil) && renewal.isLoading)
        #expect(renewal.end(1, with: nil) && !renewal.isLoading && renewal.count == 0)
        #expect(
            Self.begin(&renewal, sources[0], request: 2) == nil && Self.begin(&renewal, sources[1], request: 2) == nil
        )
    }

    @Test func threeRenewalsWithoutALoadAreTheLast() throws {
        var renewal = AddressRenewal()
        renewal.enable()
        let sources = try (1...5).map { try Self.source($0) }
        for request in 0..<3 {
            #expect(Self.begin(&renewal, sources[request], request: request) == .begun(request: request))
            let isEnded = renewal.end(request, with: nil)
            #expect(isEnded)
        }
        #expect(Self.begin(&renewal, sources[3], request: 3) == nil)
        renewal.loaded(.segment, from: sources[0])
        #expect(Self.begin(&renewal, sources[3], request: 3) == .begun(request: 3))
        let isEnded = renewal.end(3, with: nil)
        #expect(isEnded)
        // What was loaded may lead to another renewal; what was not loaded may not.
        #expect(Self.begin(&renewal, sources[1], request: 4) == nil)
        #expect(Self.begin(&renewal, sources[0], request: 4) == .begun(request: 4))
    }

    @Test func aRequestBeforeTheRenewalNeedsNoOther() throws {
        var renewal = AddressRenewal()
        renewal.enable()
        var source = try Self.source(1)
        #expect(Self.begin(&renewal, source, request: 1) == .begun(request: 1))
        let presentation = Presentation(try multivariant("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nw.m3u8\n"))
        #expect(renewal.end(1, with: presentation) && renewal.count == 1)
        #expect(renewal.locations(of: try Self.variant(1)).map(\.address.lastPathComponent) == ["w.m3u8"])
        #expect(renewal.locations(of: try Self.variant(2)).map(\.address.lastPathComponent) == ["v.m3u8"])
        #expect(Self.begin(&renewal, source, request: 2) == .isDone)
        // A load from the former address does not show that the new one is valid.
        renewal.loaded(.segment, from: source)
        source.renewal = 1
        #expect(Self.begin(&renewal, source, request: 2) == nil)
        renewal.loaded(.segment, from: source)
        #expect(Self.begin(&renewal, source, request: 2) == .begun(request: 2))
    }

    @Test func theLocationsOfTheFirstVersionAreRenewedByTheirPathways() throws {
        func presentation(_ locations: [(String, String)]) throws -> Presentation {
            let lines = locations.map { "#EXT-X-STREAM-INF:BANDWIDTH=1,PATHWAY-ID=\"\($0.0)\"\n\($0.1)\n" }
            return Presentation(try multivariant("#EXTM3U\n" + lines.joined()))
        }
        let variant = try #require(try presentation([("a", "a1"), ("b", "b1")]).variants.first)
        func renewed(_ locations: [(String, String)]) throws -> [String] {
            var renewal = AddressRenewal()
            renewal.enable()
            _ = Self.begin(&renewal, try Self.source(1), request: 1)
            _ = renewal.end(1, with: try presentation(locations))
            return renewal.locations(of: variant).map(\.address.lastPathComponent)
        }
        #expect(try renewed([("a", "a2"), ("b", "b2")]) == ["a2", "b2"])
        #expect(try renewed([("b", "b2"), ("a", "a2")]) == ["a2", "b2"])
        #expect(try renewed([("b", "b2")]) == ["a1", "b2"])
        #expect(try renewed([("a", "a2"), ("a", "a3"), ("b", "b2")]) == ["a2", "b2"])
    }

    // MARK: Trick play

    @Test(
        arguments: [
            (8, 10_000_000, 870_000), (-8, 10_000_000, 870_000), (4, 10_000_000, 1_700_000), (100, 10_000_000, 870_000),
            (8, 1_000_000, 100_000), (8, nil, 100_000),
        ] as [(Double, Int64?, Int64)]
    )
    func theIFramesFitIntoTheThroughput(rate: Double, throughput: Int64?, bitRate: Int64) throws {
        let variants = try [870_000, 100_000, 1_700_000].map { try Self.variant($0) }
        let found = TrickPlay.variant(
            of: variants,
            rate: rate,
            throughput: throughput.map { BitRate(bitsPerSecond: $0) }
        )
        #expect(found?.peakBitRate?.bitsPerSecond == bitRate)
    }

    @Test func anIFrameVariantWithoutBitRateIsTheSmallest() throws {
        let known = try Self.variant(1)
        let unknown = try #require(Presentation(try LiveWindowText().playlist).variants.first)
        let found = TrickPlay.variant(of: [known, unknown], rate: 8, throughput: nil)
        let none = TrickPlay.variant(of: [], rate: 8, throughput: nil)
        #expect(found?.id == unknown.id && none?.id == nil)
    }

    @Test func fourSecondsOfTheClockAreBufferedForTrickPlay() {
        #expect(TrickPlay.capacity(rate: 2) == MediaTime(seconds: 8))
        #expect(TrickPlay.capacity(rate: -16) == MediaTime(seconds: 64))
    }

    /// Twenty I-frames of a second each; at a rate of 32, each fourth is needed.
    @Test(
        arguments: [
            (3, 32, nil, 3, 7), (3, 8, nil, 3, 4), (3, 9, nil, 3, 5), (18, 32, nil, 18, 20), (3, 32, 5, 3, 5),
            (10, -32, nil, 7, 11), (10, -8, nil, 10, 11), (1, -32, nil, 0, 2), (10, -32, 8, 9, 11),
            (14, -32, nil, 12, 15),
        ] as [(Int, Double, Int64?, Int64, Int64)]
    )
    func anIFrameLastsUntilTheNextThatIsNeeded(
        index: Int,
        rate: Double,
        loaded: Int64?,
        start: Int64,
        end: Int64
    ) throws {
        let window = LiveWindowText(count: 20, duration: "1", targetDuration: "1", tail: ["#EXT-X-ENDLIST"])
        let text = window.text.replacing("#EXTINF:1,\nsegment11.ts", with: "#EXT-X-GAP\n#EXTINF:1,\nsegment11.ts")
        let timeline = PresentationTimeline(try media(text))
        let ranges = loaded.map { [MediaTimeRange(start: MediaTime(seconds: $0), duration: MediaTime(seconds: 1))] }
        let frame = TrickPlay.frame(
            timeline.segments[index],
            in: timeline,
            MediaTimeRangeSet(ranges ?? []),
            rate: rate,
            isBackward: rate < 0
        )
        #expect(frame.range == MediaTimeRange(start: MediaTime(seconds: start), end: MediaTime(seconds: end)))
        #expect(frame.sequence == start)
    }

    // MARK: Failures

    private static func statusError(_ status: Int) -> TransportError {
        TransportError(
            .status,
            "status \(status)",
            address: ResourceAddress("https://example.com/a"),
            status: status
        )
    }

    private func failure(_ cause: any Error) throws -> SegmentFailure {
        let timeline = PresentationTimeline(try LiveWindowText().playlist)
        return SegmentFailure(cause, of: timeline.segments[0])
    }

    @Test func theFailureOfASegmentTellsItsCause() throws {
        let refused = try failure(SegmentLoader.Failure.transport(Self.statusError(403), .contentKey))
        #expect(refused.failure.category == .denied && refused.error.code == .keyNotLoaded)
        #expect(refused.error.status == 403 && refused.error.message.contains("refused"))
        let missing = try failure(SegmentLoader.Failure.transport(Self.statusError(404), .mediaSegment))
        #expect(missing.failure.category == .missing && missing.error.code == .notLoaded)
        #expect(missing.reason == .notLoaded && missing.error.message.hasPrefix("a segment could not"))
        let initialization = try failure(SegmentLoader.Failure.transport(Self.statusError(404), .initialization))
        #expect(initialization.error.message.hasPrefix("an initialization could not"))
        let key = try failure(SegmentLoader.Failure.transport(Self.statusError(503), .contentKey))
        #expect(key.failure.category == .busy && key.error.message.hasPrefix("a key could not"))
        let unreachable = try failure(
            SegmentLoader.Failure.transport(TransportError(.cannotConnect, "no connection"), .mediaSegment)
        )
        #expect(unreachable.failure.category == .unreachable && unreachable.error.code == .unreachable)
    }

    @Test func theFailureToDecryptOrDecodeTellsItsCause() throws {
        let address = ResourceAddress("https://example.com/key")
        let undecryptable = try failure(SegmentLoader.Failure.decryption("no key", address))
        #expect(undecryptable.failure.category == .damaged && undecryptable.error.address == address)
        let protected = try failure(SegmentLoader.Failure.unsupportedProtection(.missingKeyAddress))
        #expect(protected.failure.category == .denied && protected.error.code == .protected)
        #expect(protected.reason == .notLoaded)
        let lost = try failure(MediaPipelineError(.deviceLost, "gone"))
        #expect(lost.failure.category == .deviceLost && lost.error.code == .pipelineLost)
        let damaged = try failure(MediaPipelineError(.notDecodable, "noise"))
        #expect(damaged.failure.category == .damaged && damaged.error.code == .damaged)
        #expect(damaged.reason == .notDecodable)
        #expect(try failure(CancellationError()).error.code == .damaged)
    }

    @Test func theFailureOfAPlaylistTellsItsCause() {
        func category(_ error: StreamingError) -> FailureCategory {
            RecoveryPolicy.Failure(ofPlaylist: error).category
        }
        #expect(category(StreamingError(.stuck, "no news")) == .stale)
        #expect(category(StreamingError(.unreadablePlaylist, "noise")) == .damaged)
        #expect(category(StreamingError(Self.statusError(404), "a playlist")) == .missing)
    }

    @Test(arguments: [
        (TransportError.Code.unreadableManifest, StreamingError.Code.unreadablePlaylist),
        (.untranslatable, .unsupported), (.timedOut, .unreachable), (.tooLarge, .notLoaded),
    ])
    func aFailureOfTheTransportHasACode(code: TransportError.Code, expected: StreamingError.Code) {
        let error = StreamingError(TransportError(code, "it failed"), "a key", at: "https://example.com/k")
        #expect(error.code == expected && error.message == "a key could not be loaded: it failed")
        #expect(error.address?.text == "https://example.com/k")
    }

    @Test(arguments: [
        (StreamingError.Code.notLoaded, "Network"), (.unreachable, "Network"), (.stuck, "Playlist"),
        (.notRecognized, "Playlist"), (.protected, "Media"), (.incompleteFile, "Media"), (.pipelineLost, "Millstream"),
    ])
    func anErrorBelongsToADomain(code: StreamingError.Code, domain: String) {
        #expect(StreamingError(code, "it failed").domain == domain)
        #expect(StreamingError(code, "it failed", status: 404).domain == "HTTP")
    }

    @Test func theReasonsWhyNothingCanBePlayedAreToldOnce() throws {
        func error(_ attributes: String) throws -> StreamingError {
            let lines = (1...2).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0)\(attributes)\nv\($0).m3u8\n" }
            let presentation = Presentation(
                try multivariant("#EXTM3U\n" + lines.joined()),
                capabilities: PlaybackCapabilities { _ in false }
            )
            return .nothingPlayable(presentation, at: ResourceAddress("https://example.com/main.m3u8"))
        }
        let codec = try error(",CODECS=\"xxxx.1\"")
        #expect(codec.message == "none of the variants can be played: the codec xxxx.1 cannot be decoded")
        #expect(codec.code == .unsupported)
        #expect(try error(",ALLOWED-CPC=\"com.example.drm:A\"").code == .protected)
    }
}
