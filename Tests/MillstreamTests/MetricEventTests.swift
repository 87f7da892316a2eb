import MediaTiming
import PlaybackReporting
import Testing

@testable import Millstream

@Suite struct MetricEventTests {
    private static let session = PlaybackSession(id: "s", start: .seconds(10), startDate: .seconds(1_000))
    private static let summary = PlaybackSummary(
        errorEvent: nil,
        recoverableErrorCount: 0,
        stallCount: 1,
        variantSwitchCount: 0,
        playbackDuration: .seconds(4),
        mediaResourceRequestCount: 0,
        timeSpentRecoveringFromStall: .zero,
        timeSpentInInitialStartup: .zero,
        timeWeightedAverageBitrate: BitRate(bitsPerSecond: 0),
        timeWeightedPeakBitrate: BitRate(bitsPerSecond: 0)
    )

    private func metric(_ kind: PlaybackEvent.Kind, at time: Duration = .seconds(12)) -> MetricEvent? {
        let event = PlaybackEvent(time: time, mediaTime: MediaTime(seconds: 3), kind: kind)
        return MetricEvent(event, session: Self.session, summary: Self.summary)
    }

    @Test func aMeasurementHasTheDateAndTheSessionOfItsEvent() throws {
        let measured = try #require(metric(.stalled))
        #expect(measured.date == .seconds(1_002))
        #expect(measured.mediaTime == MediaTime(seconds: 3))
        #expect(measured.sessionID == "s" && measured.kind == .stall)
    }

    @Test(arguments: ResourceRequest.Kind.allCases)
    func requestsAreMeasuredByTheKindOfTheResource(kind: ResourceRequest.Kind) {
        let request = ResourceRequest(
            kind: kind,
            address: "a",
            requestStart: .zero,
            responseStart: nil,
            responseEnd: .seconds(1),
            bytes: ByteCount(0)
        )
        let expected: MetricEvent.Kind =
            switch kind {
            case .multivariantPlaylist, .mediaPlaylist: .playlistRequest(request)
            case .mediaSegment, .initialization: .mediaSegmentRequest(request)
            case .contentKey: .contentKeyRequest(request)
            case .other: .resourceRequest(request)
            }
        #expect(metric(.resourceRequest(request))?.kind == expected)
    }

    @Test func changesOfPlaybackAreMeasured() {
        let rate = RateChange(rate: 1, previousRate: 0, reason: .setRateCalled)
        #expect(metric(.rateChanged(rate))?.kind == .rateChange(rate))
        let target = MediaTime(seconds: 7)
        #expect(metric(.seekStarted(to: target))?.kind == .seek(to: target))
        let seek = SeekRecord(target: target, landed: nil, didSeekInBuffer: true)
        #expect(metric(.seekEnded(seek))?.kind == .seekDidComplete(seek))
        let change = VariantSwitch(
            from: nil,
            to: VariantDescription(id: "v", address: "v", peakBitRate: BitRate(bitsPerSecond: 1)),
            cause: "start",
            evidence: VariantSwitch.Evidence(throughput: nil, bufferLevel: .zero)
        )
        #expect(metric(.variantSwitchStarted(change))?.kind == .variantSwitchStart(change))
        for didSucceed in [true, false] {
            #expect(
                metric(.variantSwitched(change, succeeded: didSucceed))?.kind
                    == .variantSwitch(change, didSucceed: didSucceed)
            )
        }
        let ready = LikelyToKeepUpReport(isInitial: true, variant: nil, timeTaken: .zero, loadedTimeRanges: [])
        #expect(metric(.likelyToKeepUp(ready))?.kind == .likelyToKeepUp(ready))
        let error = PlaybackErrorRecord(statusCode: 404, domain: "d", comment: "c", didRecover: true)
        #expect(metric(.error(error))?.kind == .error(error))
    }

    @Test func theEndOfTheSessionIsMeasuredByItsSummary() {
        #expect(metric(.ended)?.kind == .playbackSummary(Self.summary))
        let error = PlaybackErrorRecord(statusCode: 404, domain: "d", comment: "c", didRecover: false)
        // The error was reported before.
        #expect(metric(.failedToPlayToEnd(error)) == nil)
        #expect(metric(.playedToEnd) == nil && metric(.tracksChanged([])) == nil)
    }

    @Test func measurementsOfSeveralItemsAreInTheOrderOfTheirDates() async throws {
        let hubs = [Hub<Int, MetricEvent>(0), Hub<Int, MetricEvent>(0)]
        let sources = hubs.map { EventUpdates<MetricEvent>($0, dropped: { _ in nil }, { $0 }) }
        let merged = sources[0].chronologicalMerge(with: sources[1])
        for (index, second) in [(0, 11), (0, 14), (1, 12), (1, 13)] {
            let event = try #require(metric(.stalled, at: .seconds(second)))
            hubs[index].update { _, events in events.append(event) }
        }
        for hub in hubs { hub.finish() }
        var dates: [Duration] = []
        for await event in merged { dates.append(event.date) }
        #expect(dates == [1_001, 1_002, 1_003, 1_004].map { Duration.seconds($0) })
    }
}
