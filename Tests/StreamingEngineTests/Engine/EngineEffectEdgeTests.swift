import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import SegmentFormat
import Testing

@testable import StreamingEngine

/// Tests of the effects of events, of the options, and of what is sent to the pipeline.
@Suite struct EngineEffectEdgeTests {
    // MARK: Reports

    private func request(wasReadFromCache: Bool = false) -> ResourceRequest {
        ResourceRequest(
            kind: .contentKey,
            address: "https://example.com/key",
            requestStart: .zero,
            responseStart: nil,
            responseEnd: .zero,
            bytes: .zero,
            wasReadFromCache: wasReadFromCache
        )
    }

    @Test(
        arguments: [(nil, false, nil), ([.cellular], true, nil), ([.cellular], false, true), ([], false, false)]
            as [(NetworkCost?, Bool, Bool?)]
    )
    func onlyRequestsOverAKnownNetworkHaveItsKind(cost: NetworkCost?, isCached: Bool, isCellular: Bool?) {
        var sink = EffectSink(now: .zero)
        sink.networkCost = cost
        sink.report(.resourceRequest(request(wasReadFromCache: isCached)))
        var expected = request(wasReadFromCache: isCached)
        expected.usedCellularNetwork = isCellular
        #expect(sink.takeStartRequests() == [expected])
        guard case .report(let event) = sink.takeEffects(with: nil).first else {
            Issue.record("no report")
            return
        }
        #expect(event.kind == .resourceRequest(expected))
    }

    @Test func aReportHasTheTimeOfItsEvent() {
        var sink = EffectSink(now: .seconds(1))
        sink.report(.stalled)
        sink.begin(at: .seconds(2))
        sink.mediaTime = seconds("3")
        sink.reportRecovered(StreamingError(.damaged, "no"))
        let events = sink.takeEffects(with: nil).compactMap { effect -> PlaybackEvent? in
            if case .report(let event) = effect { event } else { nil }
        }
        #expect(events.map(\.time) == [.seconds(1), .seconds(2)])
        #expect(events.map(\.mediaTime) == [nil, seconds("3")])
        guard case .error(let record) = events.last?.kind else {
            Issue.record("no error")
            return
        }
        #expect(record.didRecover && record.comment == "no" && record.domain == "Media")
        #expect(sink.takeStartRequests() == [])
    }

    @Test func requestsAreNumberedAndChangesAreRecordedOnce() {
        var sink = EffectSink(now: .zero)
        let numbers = [sink.nextRequest(), sink.nextRequest(), sink.nextRequest()]
        #expect(numbers == [1, 2, 3])
        let before = sink.takeChange()
        sink.noteChange()
        let (after, again) = (sink.takeChange(), sink.takeChange())
        #expect(!before && after && !again)
    }

    @Test func withoutASnapshotNothingIsInserted() {
        var sink = EffectSink(now: .zero)
        sink.requestSnapshot()
        sink.add(.finish)
        let effects = sink.takeEffects(with: nil)
        #expect(effects.count == 1 && !sink.isSnapshotRequested)
        let none = sink.takeEffects(with: PlaybackSnapshot())
        #expect(none.isEmpty)
    }

    @Test func anErrorRecordHasTheResponse() {
        var cause = TransportError(
            .status,
            "status 404",
            address: ResourceAddress("https://user:secret@example.com/key"),
            status: 404
        )
        cause.serverAddress = "192.0.2.1:443"
        cause.headerFields = ["Server": "x"]
        let record = PlaybackErrorRecord(StreamingError(cause, "a key"), didRecover: false)
        #expect(record.statusCode == 404 && record.domain == "HTTP" && !record.didRecover)
        #expect(record.address == "https://example.com/key" && record.serverAddress == "192.0.2.1")
        #expect(record.responseHeaders == ["Server": "x"])
        #expect(record.comment == "a key could not be loaded: status 404")
        let other = PlaybackErrorRecord(StreamingError(.stuck, "no news"), didRecover: true)
        #expect(other.statusCode == -11_866 && other.domain == "Playlist" && other.didRecover)
        #expect(other.address == nil && other.serverAddress == nil && other.responseHeaders == [:])
    }

    // MARK: Pipeline

    private func count(_ effects: [EngineEffect]) -> Int {
        effects.count { if case .begin(.pipeline) = $0 { true } else { false } }
    }

    @Test func commandsThatWereNotPerformedAreForgotten() {
        var sink = EffectSink(now: .zero)
        #expect(sink.isPipelineIdle)
        sink.command(.setRate(1, at: nil))
        sink.command(.setRate(2, at: nil))
        #expect(!sink.isPipelineIdle)
        sink.forgetCommands()
        #expect(sink.isPipelineIdle && count(sink.takeEffects(with: nil)) == 1)
        sink.pipelineFinished()
        #expect(sink.isPipelineIdle && count(sink.takeEffects(with: nil)) == 0)
        sink.command(.setRate(3, at: nil))
        sink.command(.setRate(4, at: nil))
        sink.command(.setRate(5, at: nil))
        sink.pipelineFinished()
        sink.pipelineFinished()
        #expect(!sink.isPipelineIdle)
        let rates = sink.takeEffects(with: nil).compactMap { effect -> Double? in
            if case .begin(.pipeline(.setRate(let rate, _))) = effect { rate } else { nil }
        }
        #expect(rates == [3, 4, 5])
    }

    @Test func discardedRangesHaveAFixedOrder() {
        let range = MediaTimeRange(start: .zero, end: seconds("1"))
        let ranges = DiscardedRange.ranges([.muxed: range, .audio: range, .video: range, .subtitles: range])
        #expect(ranges.map(\.type) == [.video, .audio, .subtitles, .muxed])
        #expect(DiscardedRange.ranges([.audio: range]) == [DiscardedRange(type: .audio, range: range)])
        let all = DiscardedRange.allSubtitles
        #expect(all.type == .subtitles)
        #expect(all.range.start == MediaTime(seconds: -4_294_967_296))
        #expect(all.range.end == MediaTime(seconds: 4_294_967_296))
    }

    @Test func captionsAreSelectedByTheirChannel() throws {
        let presentation = Presentation(
            try multivariant(
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="g",NAME="C",INSTREAM-ID="CC3"
                #EXT-X-STREAM-INF:BANDWIDTH=1,CLOSED-CAPTIONS="g"
                v.m3u8
                """
            )
        )
        var output = OutputSettings()
        let options = StreamingOptions()
        var selection = MediaSelection()
        _ = output.changes(options, selection)
        selection[.closedCaptions] = presentation.group(.closedCaptions)?.options.first
        #expect(output.changes(options, selection) == [.selectCaptions("CC3")])
        #expect(output.changes(options, selection) == [])
        selection[.closedCaptions] = nil
        #expect(output.changes(options, selection) == [.selectCaptions(nil)])
        #expect(output.changes(options, selection) == [])
    }

    // MARK: Options

    @Test func optionsHaveDefaults() {
        let options = StreamingOptions()
        #expect(options.backBufferDuration == .seconds(600) && options.patience == .seconds(60))
        #expect(options.backBufferByteLimit == ByteCount(67_108_864))
        #expect(options.bufferByteLimit == ByteCount(268_435_456))
        #expect(options.preferredForwardBufferDuration == .zero && options.pinning == .nextSegment)
        #expect(options.waitsToMinimizeStalls && options.usesNetworkWhilePaused && options.pausesAtEnd)
        #expect(!options.startsOnFirstEligibleVariant && !options.preservesTimeOffsetFromLive && !options.isHeld)
        #expect(options.variantPreferences.isEmpty)
        #expect(VariantPreferences.scalabilityToLosslessAudio.rawValue == 1)
    }

    @Test func theLimitsAreThoseOfTheOptions() {
        var options = StreamingOptions()
        options.forwardPlaybackEndTime = seconds("7")
        options.reversePlaybackEndTime = seconds("2")
        options.preferredForwardBufferDuration = .seconds(12)
        options.bufferByteLimit = ByteCount(99)
        options.patience = .seconds(5)
        options.timeOffsetFromLive = seconds("20")
        options.pinning = .afterBuffer
        let limits = PlaybackMoment.Limits(options)
        #expect(limits.forwardEnd == seconds("7") && limits.reverseEnd == seconds("2"))
        #expect(limits.bufferDuration == seconds("12") && limits.bufferBytes == 99)
        #expect(limits.patience == .seconds(5) && limits.liveOffset == seconds("20") && limits.pinning == .afterBuffer)
    }

    // MARK: Errors

    @Test func aPlaylistWithoutVariantsNamesNothing() throws {
        let address = ResourceAddress("https://example.com/main.m3u8")
        let presentation = Presentation(try LiveWindowText(head: ["#EXT-X-I-FRAMES-ONLY"]).playlist)
        let error = StreamingError.nothingPlayable(presentation, at: address)
        #expect(error.code == .unreadablePlaylist && error.address == address)
        #expect(error.message == "the playlist names nothing that could be played")
        #expect(error.description == error.message)
    }

    @Test(arguments: [
        (StreamingError.Code.needsTranslation, "Playlist"), (.unreadablePlaylist, "Playlist"), (.unsupported, "Media"),
        (.keyNotLoaded, "Media"), (.unreadableFile, "Media"), (.invalidFile, "Media"), (.damaged, "Media"),
        (StreamingError.Code(rawValue: "other"), "Millstream"),
    ])
    func otherErrorsBelongToADomain(code: StreamingError.Code, domain: String) {
        #expect(StreamingError(code, "it failed").domain == domain)
    }

    @Test func theAddressOfTheCauseIsPreferred() {
        let own = TransportError(.timedOut, "slow", address: ResourceAddress("https://a.example/x"))
        let error = StreamingError(own, "a key", at: "https://b.example/y")
        #expect(error.address?.text == "https://a.example/x" && error.status == nil)
        #expect(StreamingError(TransportError(.timedOut, "slow"), "a key").address == nil)
    }

    @Test func theFailureOfASegmentHasAnAddressAndACause() throws {
        let segment = PresentationTimeline(try LiveWindowText().playlist).segments[0]
        let key = ResourceAddress("https://example.com/key")
        let status = TransportError(.status, "status 403", address: key, status: 403)
        let refused = SegmentFailure(SegmentLoader.Failure.transport(status, .contentKey), of: segment)
        #expect(refused.error.address == key && refused.error.cause is TransportError && refused.reason == .notLoaded)
        #expect(refused.error.message == "the server refused the key: status 403")
        let causes: [any Error] = [
            MediaPipelineError(.notDecodable, "noise"), MediaPipelineError(.unsupported, "noise"), CancellationError(),
        ]
        for cause in causes {
            let failure = SegmentFailure(cause, of: segment)
            #expect(failure.error.address == segment.address && failure.error.cause != nil)
            #expect(failure.error.code == .damaged && failure.reason == .notDecodable)
        }
        let protected = SegmentFailure(SegmentLoader.Failure.unsupportedProtection(.missingKeyAddress), of: segment)
        #expect(protected.error.address == segment.address)
        #expect(protected.error.message.hasPrefix("the media is encrypted and cannot be played: "))
    }

    private func undecodable(_ tracks: [(MediaTrack.MediaType, String)]) -> StreamingError? {
        let tracks = tracks.map { MediaTrack(id: 1, mediaType: $0.0, codec: $0.1) }
        return StreamingError.undecodable(tracks, at: ResourceAddress("a.ts")) { $0 == "mp4a.40.2" }
    }

    @Test func theCodecsOfAudioAndVideoAreNamed() {
        let both = undecodable([(.audio, "ac-4"), (.video, "hvc1.1"), (.subtitles, "stpp")])
        let reasons = "the codec ac-4 cannot be decoded; the codec hvc1.1 cannot be decoded"
        #expect(both?.message == "none of the tracks can be played: " + reasons)
        #expect(undecodable([(.video, "hvc1.1")])?.code == .unsupported)
        #expect(undecodable([(.video, "hvc1.1"), (.audio, "mp4a.40.2")])?.code == nil)
        #expect(undecodable([(.subtitles, "stpp")])?.code == nil)
    }

    @Test(arguments: [
        (StreamingError.Code.notRecognized, -11_828), (.needsTranslation, -11_850), (.unreadablePlaylist, -11_853),
        (.unsupported, -11_833), (.protected, -11_831), (.notLoaded, -11_849), (.unreachable, -11_863),
        (.keyNotLoaded, -11_835), (.stuck, -11_866), (.unreadableFile, -11_829), (.invalidFile, -11_822),
        (.incompleteFile, -11_829), (.damaged, -11_821), (.pipelineLost, -11_819),
        (StreamingError.Code(rawValue: "other"), -11_800),
    ])
    func anErrorHasTheNumberOfAVFoundation(code: StreamingError.Code, number: Int) {
        #expect(StreamingError(code, "it failed").number == number)
    }
}
