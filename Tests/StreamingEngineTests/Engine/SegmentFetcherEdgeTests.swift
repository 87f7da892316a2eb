import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the reports of transfers that failed or are no longer needed, and of the measurements of transfers.
///
/// The time is 10 s, and the segment from 4 s to 8 s is transferred.
@Suite struct SegmentFetcherEdgeTests {
    private struct Stage {
        var plan = FetchPlan(policy: RecoveryPolicy(), chooser: VariantChooser(StreamingOptions()))
        var sink = EffectSink(now: .seconds(10))
        var fetcher = SegmentFetcher()
        let low: StreamSource
        let high: StreamSource
        let segment: SegmentReference

        init() throws {
            let presentation = Presentation(
                try multivariant(
                    """
                    #EXTM3U
                    #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360
                    low.m3u8
                    #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720
                    high.m3u8
                    """
                )
            )
            let sources = presentation.variants.map { StreamSource($0, location: 0, address: $0.address) }
            try #require(sources.count == 2)
            let timeline = PresentationTimeline(try LiveWindowText(tail: ["#EXT-X-ENDLIST"]).playlist)
            low = sources[0]
            high = sources[1]
            segment = timeline.segments[1]
            plan.catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
            plan.tracks.main.source = sources[1]
            plan.tracks.main.playlist = LoadedPlaylist(
                source: sources[1],
                timeline: timeline,
                requestStart: .zero,
                lastUpdate: .zero
            )
        }

        /// Begins the transfer of the segment.
        mutating func transfer(_ source: StreamSource, began: Int = 9, isSubstitute: Bool = false) {
            plan.tracks.main.fetch = .transferring(
                FetchJob(
                    request: 5,
                    segment: segment,
                    source: source,
                    began: .seconds(began),
                    isSubstitute: isSubstitute
                )
            )
        }

        var moment: PlaybackMoment {
            PlaybackMoment(
                now: .seconds(10),
                position: .zero,
                isPositioned: true,
                seek: nil,
                desiredRate: 1,
                isPausedAtStart: false,
                rate: 1,
                timebase: Timebase(),
                limits: PlaybackMoment.Limits(StreamingOptions())
            )
        }

        /// Ends the transfer with an error.
        mutating func fail(_ error: any Error, _ progress: TransferProgress, request: Int = 5) {
            let moment = moment
            let consequence = fetcher.receive(.failure(error), progress, for: request, &plan, moment, &sink)
            if case .some = consequence { Issue.record("the failure has a consequence") }
        }

        /// The reports of requests.
        mutating func requests() -> [ResourceRequest] {
            sink.takeEffects(with: nil).compactMap { effect in
                guard case .report(let event) = effect, case .resourceRequest(let request) = event.kind else {
                    return nil
                }
                return request
            }
        }

        /// The numbers of the transfers that are to be measured.
        mutating func measured() -> [Int] {
            fetcher.measureTransfer(&plan, &sink)
            return sink.takeEffects(with: nil).compactMap { effect in
                if case .measureTransfer(let request) = effect { request } else { nil }
            }
        }
    }

    private static func transport(_ status: Int, _ kind: ResourceRequest.Kind) -> SegmentLoader.Failure {
        .transport(TransportError(.status, "status \(status)", status: status), kind)
    }

    private static let nothing = TransferProgress(measurement: nil, expectedBytes: nil)

    // MARK: Reports

    @Test func aFailedTransferIsReportedWithItsMeasurement() throws {
        var measurement = TransferMeasurement(requestStart: .seconds(9), isFromCache: true)
        measurement.timeToFirstByte = .milliseconds(250)
        measurement.bytes = ByteCount(7)
        measurement.serverAddress = "192.0.2.1:443"
        let progress = TransferProgress(measurement: measurement, expectedBytes: 9, attemptStart: .milliseconds(8_500))
        var stage = try Stage()
        stage.transfer(stage.high)
        stage.fail(Self.transport(404, .mediaSegment), progress)
        let requests = stage.requests()
        let request = try #require(requests.first)
        #expect(requests.count == 1 && request.kind == .mediaSegment && request.status == 404)
        #expect(request.address == "https://example.com/live/segment1.ts" && request.failure == "status 404")
        #expect(request.requestStart == .milliseconds(8_500) && request.responseEnd == .seconds(10))
        #expect(request.responseStart == .milliseconds(9_250) && request.bytes == ByteCount(7))
        #expect(request.serverAddress == "192.0.2.1:443" && request.wasReadFromCache && !request.wasAbandoned)
        #expect(request.mediaType == .muxed && request.segmentDuration == seconds("4"))
        #expect(request.indexAddress == "https://example.com/high.m3u8")
        #expect(request.variant?.id == stage.high.variantID?.text)
    }

    @Test func aFailureBeforeTheResponseCountsFromTheStartOfTheTransfer() throws {
        var stage = try Stage()
        stage.transfer(stage.high)
        stage.fail(Self.transport(503, .mediaSegment), Self.nothing)
        let request = try #require(stage.requests().first)
        #expect(request.requestStart == .seconds(9) && request.responseStart == nil && request.bytes == .zero)
        #expect(request.serverAddress == nil && !request.wasReadFromCache)
    }

    @Test(arguments: [ResourceRequest.Kind.contentKey, .initialization])
    func otherResourcesOfASegmentAreReportedElsewhere(kind: ResourceRequest.Kind) throws {
        var stage = try Stage()
        stage.transfer(stage.high)
        stage.fail(Self.transport(503, kind), Self.nothing)
        #expect(stage.requests().isEmpty && stage.plan.tracks.main.job == nil)
    }

    @Test func aCancelledTransferIsReportedAsAbandoned() throws {
        var stage = try Stage()
        stage.transfer(stage.high)
        stage.plan.tracks.main.isVariantDecided = true
        stage.plan.tracks.main.nextReviewTime = .seconds(11)
        stage.fail(CancellationError(), Self.nothing)
        #expect(stage.requests().map(\.wasAbandoned) == [true])
        #expect(!stage.plan.tracks.main.isFetching && !stage.plan.tracks.main.isVariantDecided)
        #expect(stage.plan.tracks.main.nextReviewTime == nil && stage.plan.tracks.main.failures.tried.isEmpty)
    }

    @Test func theResponseToAnotherRequestChangesNothing() throws {
        var stage = try Stage()
        stage.transfer(stage.high)
        stage.fail(Self.transport(404, .mediaSegment), Self.nothing, request: 6)
        #expect(stage.plan.tracks.main.job?.request == 5 && stage.requests().isEmpty)
    }

    /// Media is not needed during trick play.
    @Test func aFailureOfMediaThatIsNotNeededIsNoFailure() throws {
        var stage = try Stage()
        stage.plan.tracks.trickPlay = .on(TrickPlay.Return(source: stage.high, timeline: nil))
        stage.transfer(stage.high)
        stage.fail(Self.transport(404, .mediaSegment), Self.nothing)
        let requests = stage.requests()
        #expect(requests.map(\.wasAbandoned) == [true] && requests.map(\.failure) == [nil])
        #expect(stage.plan.tracks.main.failures.tried.isEmpty && !stage.plan.tracks.main.isFetching)
    }

    @Test func aTransferEndsOnceItIsCancelled() throws {
        var stage = try Stage()
        stage.transfer(stage.high)
        let job = try #require(stage.plan.tracks.main.job)
        stage.plan.tracks.main.fetch = .cancelling(job)
        stage.fetcher.cancelled(4, Self.nothing, &stage.plan, &stage.sink)
        let isIgnored = !stage.sink.takeChange()
        #expect(isIgnored && stage.plan.tracks.main.isFetching && stage.requests().isEmpty)
        stage.fetcher.cancelled(5, Self.nothing, &stage.plan, &stage.sink)
        let isChanged = stage.sink.takeChange()
        #expect(isChanged && !stage.plan.tracks.main.isFetching)
        #expect(stage.requests().map(\.wasAbandoned) == [true])
    }

    // MARK: Measurements

    @Test func aTransferIsMeasuredTwiceASecondIfThereIsALowerVariant() throws {
        var stage = try Stage()
        stage.transfer(stage.high)
        #expect(stage.measured() == [5])
        #expect(stage.plan.tracks.main.nextReviewTime == .milliseconds(10_500))
        // Nothing has arrived at its beginning.
        stage.transfer(stage.high, began: 10)
        #expect(stage.measured() == [])
        #expect(stage.plan.tracks.main.nextReviewTime == .milliseconds(10_500))
        stage.transfer(stage.high, isSubstitute: true)
        #expect(stage.measured() == [] && stage.plan.tracks.main.nextReviewTime == nil)
        stage.transfer(stage.low)
        #expect(stage.measured() == [] && stage.plan.tracks.main.nextReviewTime == nil)
    }

    // MARK: Appends

    @Test func theResultOfAnotherAppendChangesNothing() throws {
        var stage = try Stage()
        let range = MediaTimeRange(start: seconds("4"), end: seconds("8"))
        stage.plan.tracks.main.fetch = .appendingGap(
            GapAppend(
                request: 5,
                range: range,
                segment: nil,
                type: .muxed,
                reason: .notLoaded,
                isTrickPlay: false,
                error: StreamingError(.notLoaded, "no")
            )
        )
        let moment = stage.moment
        func accept(_ request: Int, _ stage: inout Stage) -> Bool {
            let result = stage.fetcher.appended(.success(range), for: request, &stage.plan, moment, &stage.sink)
            return result.consequence == nil && result.discarded == nil
        }
        let other = accept(4, &stage)
        #expect(other && stage.plan.tracks.main.isFetching && stage.plan.tracks.main.buffer.entries.isEmpty)
        // Other segments may follow, so that playback does not fail.
        let own = accept(5, &stage)
        #expect(own && !stage.plan.tracks.main.isFetching && stage.plan.tracks.main.buffer.entries.count == 1)
    }
}
