import MediaTiming
import PlaybackReporting
import SeededRandomness
import Testing

/// Tests that the access log, the metrics and the events are consistent for any order of events.
@Suite struct ConsistencyTests {
    private static let variants: [VariantDescription] = [.low, .middle, .high]

    /// Returns events in random order, including orders that no player produces.
    private func session(seed: UInt64) -> Transcript {
        var generator = SeededGenerator(seed: seed)
        var transcript = Transcript()
        var time = 0.0
        var media = 0.0
        var rate = 0.0
        var variant: VariantDescription?
        for _ in 0..<600 {
            let step = Double(Int.random(in: 0...4_000, using: &generator)) / 1_000
            time += step
            media += step * rate
            switch Int.random(in: 0..<14, using: &generator) {
            case 0:
                let next: Double = [0, 1, 1, 1, 2, -1].randomElement(using: &generator) ?? 0
                transcript.at(time, media, Transcript.rate(next, from: rate))
                rate = next
            case 1, 2:
                let start = max(0, time - Double.random(in: 0...6, using: &generator))
                let kind: ResourceRequest.Kind =
                    [.mediaSegment, .mediaPlaylist, .contentKey]
                    .randomElement(using: &generator) ?? .other
                let isCached = Int.random(in: 0..<4, using: &generator) == 0
                let server = ["192.0.2.1", "192.0.2.2", nil].randomElement(using: &generator) ?? nil
                let bytes = Int64.random(in: 0...5_000_000, using: &generator)
                let request = transcript.segment(
                    start,
                    time,
                    bytes: bytes,
                    server: server,
                    isCached: isCached,
                    kind: kind
                )
                transcript.at(time, media, request)
            case 3:
                let next = Self.variants.randomElement(using: &generator) ?? .low
                let didSucceed = Int.random(in: 0..<5, using: &generator) > 0
                transcript.at(time, media, .variantSwitched(Transcript.change(variant, next), succeeded: didSucceed))
                if didSucceed { variant = next }
            case 4: transcript.at(time, media, .stalled)
            case 5: transcript.at(time, media, .stallEnded(after: .seconds(1)))
            case 6: transcript.at(time, media, .seekStarted(to: MediaTime(seconds: 50)))
            case 7:
                let landing = MediaTime(seconds: 50)
                let landed = Bool.random(using: &generator) ? landing : nil
                if landed != nil { media = 50 }
                let outcome = SeekRecord(target: landing, landed: landed, didSeekInBuffer: true)
                transcript.at(time, media, .seekEnded(outcome))
            case 8:
                transcript.at(
                    time,
                    media,
                    .frames(FrameCounts(decoded: 50, dropped: .random(in: 0...3, using: &generator)))
                )
            case 9: transcript.at(time, media, .timeControlChanged(Bool.random(using: &generator) ? .paused : .playing))
            case 10:
                transcript.at(time, media + 5, .timeJumped(from: nil, to: MediaTime(seconds: Int64(media) + 5)))
                media = Double(Int64(media) + 5)
            case 11: transcript.at(time, media, .playedToEnd)
            case 12:
                let start = Int64(media) + Int64.random(in: -5...20, using: &generator)
                let range = MediaTimeRange(start: MediaTime(seconds: start), duration: MediaTime(seconds: 6))
                let type: MediaType = [.video, .audio, .muxed].randomElement(using: &generator) ?? .muxed
                let skipped = SkippedSegment(address: "1.m4s", mediaType: type, range: range, reason: .gap)
                transcript.at(time, media, .segmentSkipped(skipped))
            default:
                transcript.at(time, media, .error(Transcript.failure(recovered: Bool.random(using: &generator))))
            }
        }
        transcript.at(time + 1, media + rate, .ended)
        return transcript
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func logTotalsEqualSessionMetrics(seed: UInt64) throws {
        let transcript = session(seed: seed)
        let log = transcript.accessLog
        let totals = log.totals
        let recorder = transcript.measured()
        let metrics = recorder.metrics
        var requests: [ResourceRequest] = []
        for event in transcript.events {
            if case .resourceRequest(let request) = event.kind { requests.append(request) }
        }
        let network = requests.filter { !$0.wasReadFromCache }
        #expect(totals.numberOfBytesTransferred.bytes == network.reduce(0) { $0 + $1.bytes.bytes })
        #expect(totals.numberOfMediaRequests == network.count { $0.kind == .mediaSegment })
        #expect(metrics.bytes == totals.numberOfBytesTransferred)
        #expect(metrics.mediaRequests == totals.numberOfMediaRequests)
        #expect(metrics.watchedDuration == totals.durationWatched)
        #expect(metrics.stallCount == totals.numberOfStalls)
        #expect(metrics.droppedFrames == totals.numberOfDroppedVideoFrames)
        #expect(recorder.summary.mediaResourceRequestCount == requests.count)
        let rates = [metrics.timeWeightedBitrate, totals.timeWeightedIndicatedBitrate].map { $0?.bitsPerSecond ?? -1 }
        #expect(abs(rates[0] - rates[1]) <= 1)
        #expect(metrics.stallsPerHour == recorder.metrics(with: log).stallsPerHour)
        #expect(metrics.stallRatio == recorder.metrics(with: log).stallRatio)
        let failures = ErrorCount(transcript)
        #expect(metrics.errors == failures.count && recorder.summary.recoverableErrorCount == failures.recovered)
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func sessionLogRoundTripsThroughExtendedLogFormat(seed: UInt64) throws {
        let log = session(seed: seed).accessLog
        #expect(try AccessLog(extendedLogData: log.extendedLogData.span) == log)
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func mergedLogHasSameTotals(seed: UInt64) throws {
        let transcript = session(seed: seed)
        let (whole, short) = (transcript.accessLog.totals, transcript.recorded(maximumEventCount: 40).log.totals)
        #expect(whole.durationWatched == short.durationWatched)
        #expect(whole.numberOfStalls == short.numberOfStalls)
        #expect(whole.numberOfBytesTransferred == short.numberOfBytesTransferred)
        #expect(whole.numberOfServerAddressChanges == short.numberOfServerAddressChanges)
        let rates = [whole, short].map { $0.timeWeightedIndicatedBitrate?.bitsPerSecond ?? -1 }
        #expect(abs(rates[0] - rates[1]) <= 3)
    }
}

private struct ErrorCount {
    var count = 0
    var recovered = 0

    init(_ transcript: Transcript) {
        for event in transcript.events {
            guard case .error(let record) = event.kind else { continue }
            count += 1
            if record.didRecover { recovered += 1 }
        }
    }
}
