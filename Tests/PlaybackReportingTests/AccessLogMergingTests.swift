import MediaTiming
import PlaybackReporting
import Testing

@Suite struct AccessLogMergingTests {
    /// Returns a long session with many variant switches, segments and dropped frames.
    private func longSession(periods: Int) -> Transcript {
        var transcript = Transcript()
        transcript.at(0, 0, .variantSwitchStarted(Transcript.change(nil, .low)))
        transcript.at(0, 0, Transcript.rate(1))
        let variants = [VariantDescription.low, .middle, .high]
        for index in 0..<periods {
            let time = Double(index * 9 + 9)
            transcript.at(time - 1, time - 1, transcript.segment(time - 3, time - 2, bytes: Int64(index + 1) * 1_000))
            transcript.at(time - 1, time - 1, .frames(FrameCounts(decoded: 225, dropped: index % 3)))
            transcript.at(time, time, Transcript.switched(variants[index % 3], variants[(index + 1) % 3]))
        }
        return transcript
    }

    @Test func mergingBoundsMemoryAndKeepsTotals() throws {
        let transcript = longSession(periods: 1_000)
        let whole = transcript.recorded()
        let short = transcript.recorded(maximumEventCount: 50)
        #expect(whole.log.events.count == 1_001 && whole.mergedPeriodCount == 0)
        #expect((45...50).contains(short.log.events.count))
        #expect(short.mergedPeriodCount + short.log.events.count == 1_001)
        let (left, right) = (whole.log.totals, short.log.totals)
        #expect(left.durationWatched == .seconds(9_000) && right.durationWatched == .seconds(9_000))
        #expect(left.numberOfBytesTransferred == right.numberOfBytesTransferred)
        #expect(left.numberOfMediaRequests == 1_000 && right.numberOfMediaRequests == 1_000)
        #expect(left.numberOfDroppedVideoFrames == 999 && right.numberOfDroppedVideoFrames == 999)
        #expect(left.transferDuration == right.transferDuration)
        #expect(left.segmentsDownloadedDuration == right.segmentsDownloadedDuration)
        let rates = try [left, right].map { Double(try #require($0.timeWeightedIndicatedBitrate).bitsPerSecond) }
        #expect(abs(rates[0] - rates[1]) < 2)
        #expect(short.log.events.last == whole.log.events.last)
    }

    @Test func mergedEventKeepsOnlyCommonValues() throws {
        let first = try #require(longSession(periods: 100).recorded(maximumEventCount: 40).log.events.first)
        #expect(first.uri == nil && first.switchBitrate == nil && first.observedBitrateStandardDeviation == nil)
        #expect(first.playbackStartOffset == .zero && first.observedMinBitrate?.bitsPerSecond == 8_000)
    }

    @Test(arguments: [1, 41, 100, 300])
    func periodsWithoutBitRateAreNotMerged(maximumEventCount: Int) throws {
        let silent = VariantDescription(id: "silent", address: "a.m3u8", peakBitRate: BitRate(bitsPerSecond: 0))
        var transcript = Transcript()
        transcript.at(0, 0, Transcript.rate(1))
        for index in 1...600 {
            let time = Double(index)
            let variant = [.high, silent, .low][index % 3]
            transcript.at(time, time, Transcript.switched(nil, variant))
        }
        let recorder = transcript.recorded(maximumEventCount: maximumEventCount)
        #expect(recorder.log.events.count <= max(40, maximumEventCount))
        let (whole, short) = (transcript.accessLog.totals, recorder.log.totals)
        #expect(whole.durationWatched == .seconds(600) && short.durationWatched == .seconds(600))
        // 199 s with the high variant and 200 s with the low one.
        #expect(whole.timeWeightedIndicatedBitrate?.bitsPerSecond == 2_395_990)
        for rate in [\AccessLog.Totals.timeWeightedIndicatedBitrate, \.timeWeightedIndicatedBitrateIncludingUnknown] {
            let rates = try [whole, short].map { try #require($0[keyPath: rate]).bitsPerSecond }
            #expect(abs(rates[0] - rates[1]) <= 2)
        }
    }
}
