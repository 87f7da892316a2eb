import Foundation
import MediaTiming
import SeededRandomness
import Testing

@testable import PlaybackReporting

/// Tests of each metric with its edge cases: nothing played, playback never started, unknown bit rates, stalls that do
/// not end.
@Suite struct PlaybackMetricsTests {
    @Test func startupEndsAtTheFirstRateOtherThanZero() {
        var recorder = PlaybackMetricsRecorder(creation: .seconds(100))
        #expect(recorder.metrics.startupTime == nil)
        recorder.rateChanged(rate: 0, at: .seconds(101))
        recorder.rateChanged(rate: .nan, at: .seconds(101))
        #expect(recorder.metrics.startupTime == nil && recorder.summary.timeSpentInInitialStartup == nil)
        #expect(recorder.rateChanged(rate: 1, at: .seconds(102)) == .started(after: .seconds(2)))
        #expect(recorder.rateChanged(rate: 1, at: .seconds(103)) == nil)
        #expect(recorder.metrics.startupTime == .seconds(2))
    }

    @Test func reversePlaybackEndsStartupAndStalls() {
        var transcript = Transcript()
        transcript.at(2, 30, Transcript.rate(-1))
        transcript.at(6, 26, .stalled)
        transcript.at(6, 26, Transcript.rate(0, from: -1))
        transcript.at(9, 26, Transcript.rate(-1))
        transcript.at(13, 22, Transcript.rate(0, from: -1))
        let metrics = transcript.measured().metrics
        #expect(metrics.startupTime == .seconds(2))
        #expect(metrics.stallCount == 1 && metrics.stallDuration == .seconds(3))
        #expect(metrics.watchedDuration == .seconds(8))
        #expect(transcript.accessLog.totals.durationWatched == .seconds(8))
    }

    private static func skipped(_ type: MediaType, _ start: Int64, _ end: Int64) -> PlaybackEvent.Kind {
        let range = MediaTimeRange(start: MediaTime(seconds: start), end: MediaTime(seconds: end))
        return .segmentSkipped(SkippedSegment(address: "1.ts", mediaType: type, range: range, reason: .notLoaded))
    }

    private static func loaded(_ type: MediaType, _ start: Int64, _ end: Int64) -> PlaybackEvent.Kind {
        .segmentLoaded(
            LoadedSegment(
                address: "1.ts",
                mediaType: type,
                variant: .low,
                range: MediaTimeRange(start: MediaTime(seconds: start), end: MediaTime(seconds: end)),
                bytes: ByteCount(1),
                transferDuration: .seconds(1),
                isOverdue: false
            )
        )
    }

    /// Skipped segments of each case, and the time that is watched and skipped in 16 s of playback.
    @Test(arguments: [
        ([loaded(.muxed, 0, 8), skipped(.muxed, 8, 16)], 8, 8),
        ([skipped(.muxed, 0, 4), skipped(.muxed, 4, 8), skipped(.muxed, 8, 16)], 0, 16),
        // Without video, but with audio.
        ([loaded(.audio, 0, 16), loaded(.video, 0, 6), skipped(.video, 6, 16)], 6, 10),
        // Without both for four seconds.
        ([skipped(.audio, 2, 8), skipped(.video, 4, 10)], 8, 8),
        // Loaded by a second attempt.
        ([skipped(.video, 4, 8), loaded(.video, 4, 8)], 16, 0),
        ([skipped(.audio, 0, 8), loaded(.audio, 8, 16)], 8, 8),
        ([loaded(.muxed, 0, 16), skipped(.subtitles, 0, 16)], 16, 0),
        // Media after the end of playback.
        ([skipped(.muxed, 15, 100)], 15, 1),
        // The most extreme ranges that a playlist can have.
        ([skipped(.video, 0, .max), skipped(.video, .max, .max)], 0, 16),
    ])
    func timeWithoutMediaIsSkippedAndNotWatched(_ events: [PlaybackEvent.Kind], watched: Int, skipped: Int) {
        var transcript = Transcript()
        for event in events { transcript.at(0.5, 0, event) }
        transcript.at(1, 0, Transcript.rate(1))
        for second in 1...16 { transcript.at(Double(second + 1), Double(second), .frames(FrameCounts(decoded: 1))) }
        transcript.at(17, 16, Transcript.rate(0, from: 1))
        let metrics = transcript.measured().metrics
        #expect(metrics.watchedDuration == .seconds(watched))
        #expect(metrics.skippedDuration == .seconds(skipped))
        let skippedSegments = events.count { if case .segmentSkipped = $0 { true } else { false } }
        #expect(metrics.skippedSegments == skippedSegments)
        #expect(transcript.accessLog.totals.durationWatched == .seconds(watched))
    }

    /// Damage is found in media of which a part was passed already, by a distance that depends on the rate.
    @Test(arguments: [1, 2, 3, 5, 8, 16])
    func damageThatIsReportedLateIsSkippedAndNotWatched(step: Int) {
        var transcript = Transcript()
        transcript.at(0, 0, .variantSwitchStarted(Transcript.change(nil, .low)))
        transcript.at(1, 0, Transcript.rate(1))
        for second in stride(from: step, through: 16, by: step) {
            transcript.at(Double(second + 1), Double(second), .frames(FrameCounts(decoded: 1)))
        }
        transcript.at(17, 16, Self.skipped(.muxed, 4, 8))
        transcript.at(17, 16, Self.skipped(.audio, 6, 10))
        transcript.at(17, 16, Self.skipped(.video, 15, 20))
        transcript.at(19, 18, Transcript.rate(0, from: 1))
        let metrics = transcript.measured().metrics
        #expect(metrics.watchedDuration == .seconds(9) && metrics.skippedDuration == .seconds(9))
        #expect(metrics.timeWeightedBitrateIncludingUnknown == VariantDescription.low.peakBitRate)
        #expect(transcript.accessLog.totals.durationWatched == .seconds(9))
    }

    /// The time belongs to an event of the access log that is complete.
    @Test func damageOfMediaBeforeAStallOrASeekChangesNothing() {
        for event in [PlaybackEvent.Kind.stalled, .seekStarted(to: MediaTime(seconds: 8))] {
            var transcript = Transcript()
            transcript.at(0, 0, Transcript.rate(1))
            transcript.at(8, 8, event)
            transcript.at(8, 8, Self.skipped(.muxed, 2, 4))
            #expect(transcript.measured().metrics.watchedDuration == .seconds(8))
            #expect(transcript.accessLog.totals.durationWatched == .seconds(8))
        }
    }

    @Test func skippedTimeCountsInReverseAndUpToAJump() {
        var transcript = Transcript()
        transcript.at(0, 20, Self.skipped(.muxed, 10, 16))
        transcript.at(0, 20, Transcript.rate(-2))
        transcript.at(4, 12, .frames(FrameCounts(decoded: 1)))
        #expect(transcript.measured().metrics.watchedDuration == .seconds(4))
        #expect(transcript.measured().metrics.skippedDuration == .seconds(4))
        transcript.at(5, nil, .timeJumped(from: MediaTime(seconds: 10), to: MediaTime(seconds: 100)))
        #expect(transcript.measured().metrics.watchedDuration == .seconds(4))
        #expect(transcript.measured().metrics.skippedDuration == .seconds(6))
    }

    /// A stream that skips every other segment for days uses bounded memory, and the figures stay right.
    @Test func manySkippedSegmentsAreCounted() {
        var recorder = PlaybackMetricsRecorder(creation: .zero)
        let rate = PlaybackEvent(time: .zero, mediaTime: .zero, kind: Transcript.rate(1))
        recorder.add(rate)
        for number in 0..<5_000 as Range<Int64> {
            let start = number * 4
            let event = Self.skipped(.muxed, start, start + 2)
            recorder.add(PlaybackEvent(time: .seconds(start), mediaTime: MediaTime(seconds: start), kind: event))
        }
        recorder.advance(to: .seconds(20_000), mediaTime: MediaTime(seconds: 20_000))
        #expect(recorder.metrics.watchedDuration == .seconds(10_000))
        #expect(recorder.metrics.skippedDuration == .seconds(10_000))
    }

    @Test func startupTimeIsNotNegative() {
        var recorder = PlaybackMetricsRecorder(creation: .seconds(100))
        recorder.rateChanged(rate: 1, at: .seconds(99))
        #expect(recorder.metrics.startupTime == .zero)
    }

    @Test func watchedDurationIsSumOfLogEvents() {
        var events = [3, 0, 4].map { seconds in
            var event = AccessLog.Event()
            event.durationWatched = .seconds(seconds)
            return event
        }
        events.append(AccessLog.Event())
        events[1].durationWatched = .seconds(-5)
        let metrics = PlaybackMetricsRecorder(creation: .zero).metrics(with: AccessLog(events: events))
        #expect(metrics.watchedDuration == .seconds(7))
    }

    @Test func unknownBitRatesCountInOneAverageOnly() {
        let figures: [(Int64?, Double)] = [(1_000_000, 30), (3_000_000, 10), (nil, 40), (0, 20), (9_000_000, 0)]
        let events = figures.map { rate, seconds in
            var event = AccessLog.Event()
            event.durationWatched = .seconds(seconds)
            event.indicatedBitrate = rate.map(BitRate.init(bitsPerSecond:))
            return event
        }
        let metrics = PlaybackMetricsRecorder(creation: .zero).metrics(with: AccessLog(events: events))
        #expect(metrics.timeWeightedBitrate?.bitsPerSecond == 1_500_000)
        #expect(metrics.timeWeightedBitrateIncludingUnknown?.bitsPerSecond == 600_000)
    }

    @Test func averagesAreNilWithoutPlayback() {
        var event = AccessLog.Event()
        event.numberOfStalls = 3
        event.indicatedBitrate = BitRate(bitsPerSecond: 1)
        for events in [[], [event]] {
            var recorder = PlaybackMetricsRecorder(creation: .zero)
            recorder.playbackStalled(at: .seconds(1))
            recorder.playbackStallEnded(at: .seconds(4))
            let metrics = recorder.metrics(with: AccessLog(events: events))
            #expect(metrics.stallsPerHour == nil && metrics.stallRatio == nil)
            #expect(metrics.timeWeightedBitrate == nil && metrics.timeWeightedBitrateIncludingUnknown == nil)
            #expect(metrics.stallDuration == .seconds(3))
            #expect(metrics.lines.isEmpty)
        }
    }

    @Test func stallsAreCountedPerHourOfPlayback() {
        var event = AccessLog.Event()
        event.numberOfStalls = 3
        event.durationWatched = .seconds(1_800)
        var recorder = PlaybackMetricsRecorder(creation: .zero)
        recorder.rateChanged(rate: 1, at: .seconds(1))
        recorder.playbackStalled(at: .seconds(2))
        recorder.rateChanged(rate: 1, at: .seconds(20))
        let metrics = recorder.metrics(with: AccessLog(events: [event]))
        #expect(metrics.stallsPerHour == 6 && metrics.stallRatio == 0.01)
    }

    @Test func stallEndsAtNextPositiveRate() {
        var recorder = PlaybackMetricsRecorder(creation: .zero)
        recorder.rateChanged(rate: 1, at: .seconds(1))
        #expect(recorder.playbackStalled(at: .seconds(10)) == .stalled)
        recorder.rateChanged(rate: 0, at: .seconds(10))
        #expect(recorder.playbackStalled(at: .seconds(11)) == nil)
        #expect(recorder.metrics.stallDuration == .zero)
        #expect(recorder.metrics(at: .seconds(12)).stallDuration == .seconds(2))
        #expect(recorder.rateChanged(rate: 1, at: .seconds(13)) == .resumed(after: .seconds(3)))
        #expect(recorder.playbackStallEnded(at: .seconds(14)) == nil)
        recorder.playbackStalled(at: .seconds(20))
        #expect(recorder.playbackStallEnded(at: .seconds(21)) == .resumed(after: .seconds(1)))
        recorder.rateChanged(rate: 1, at: .seconds(22))
        #expect(recorder.metrics.stallDuration == .seconds(4) && recorder.metrics.stallCount == 2)
    }

    @Test func openStallEndsWithSession() {
        var recorder = PlaybackMetricsRecorder(creation: .zero)
        recorder.rateChanged(rate: 1, at: .seconds(1))
        recorder.playbackStalled(at: .seconds(10))
        #expect(recorder.playbackEnded(at: .seconds(15)) == .ended)
        #expect(recorder.metrics.stallDuration == .seconds(5))
        #expect(recorder.playbackEnded(at: .seconds(16)) == nil)
        #expect(recorder.playbackStalled(at: .seconds(17)) == nil)
        #expect(recorder.rateChanged(rate: 1, at: .seconds(18)) == nil)
        #expect(recorder.metrics(at: .seconds(99)).stallDuration == .seconds(5))
    }

    @Test func sessionThatNeverPlayedHasNoNoticeOfItsEnd() {
        var recorder = PlaybackMetricsRecorder(creation: .zero)
        recorder.playbackStalled(at: .seconds(1))
        #expect(recorder.playbackEnded(at: .seconds(2)) == nil)
        #expect(recorder.rateChanged(rate: 1, at: .seconds(3)) == nil)
    }

    @Test func stallBeforePlaybackStartCountsAsStartup() {
        var recorder = PlaybackMetricsRecorder(creation: .zero)
        recorder.playbackStalled(at: .seconds(1))
        recorder.rateChanged(rate: 1, at: .seconds(5))
        #expect(recorder.metrics.stallDuration == .zero && recorder.metrics.startupTime == .seconds(5))
    }

    @Test func pauseEndsStall() {
        var transcript = Transcript()
        transcript.at(1, 0, Transcript.rate(1))
        transcript.at(11, 10, .stalled)
        transcript.at(11, 10, Transcript.rate(0, from: 1))
        transcript.at(13, 10, .timeControlChanged(.paused))
        transcript.at(3_613, 10, Transcript.rate(1))
        transcript.at(3_623, 20, .ended)
        let metrics = transcript.measured().metrics
        #expect(metrics.stallDuration == .seconds(2) && metrics.watchedDuration == .seconds(20))
        #expect(metrics.stallRatio == 0.1 && metrics.stallsPerHour == 180)
    }

    @Test func stallThatEndsWithTheSessionHasNoResumption() {
        var transcript = Transcript()
        transcript.at(1, 0, Transcript.rate(1))
        transcript.at(11, 10, .stalled)
        transcript.at(11, 10, Transcript.rate(0, from: 1))
        transcript.at(21, 10, .stallEnded(after: .seconds(10)))
        transcript.at(21, 10, .ended)
        var recorder = PlaybackMetricsRecorder(creation: transcript.session.start)
        #expect(transcript.events.compactMap { recorder.add($0) } == [.started(after: .seconds(1)), .stalled, .ended])
        #expect(recorder.metrics.stallDuration == .seconds(10))
    }

    @Test func resumptionIsReportedWhenThePlayheadMoves() {
        var transcript = Transcript()
        transcript.at(1, 0, Transcript.rate(1))
        transcript.at(11, 10, .stalled)
        transcript.at(11, 10, Transcript.rate(0, from: 1))
        transcript.at(13, 10, .stallEnded(after: .seconds(2)))
        transcript.at(13, 10, Transcript.rate(1, from: 0))
        var recorder = PlaybackMetricsRecorder(creation: transcript.session.start)
        #expect(transcript.events.compactMap { recorder.add($0) }.last == .resumed(after: .seconds(2)))
    }

    @Test func noticesHaveStableWording() {
        var transcript = Transcript()
        transcript.at(0, .variantSwitchStarted(Transcript.change(nil, .low)))
        transcript.at(1.234, 0, Transcript.rate(1))
        transcript.at(11.234, 10, .stalled)
        transcript.at(11.734, 10, Transcript.rate(1))
        transcript.at(41.734, 40, .ended)
        var recorder = PlaybackMetricsRecorder(creation: transcript.session.start)
        let notices = transcript.events.compactMap { recorder.add($0)?.description }
        #expect(
            notices == [
                "Playback started in 1.23 seconds", "Playback stalled", "Playback resumed in 0.50 seconds",
                "Playback ended",
            ]
        )
        #expect(
            recorder.metrics.lines == [
                "Time-weighted Indicated Bitrate: 0.80Mbps", "Stall rate: 90.00 stalls/hour", "Stall wait ratio: 0.01",
            ]
        )
    }

    @Test func jsonHasEveryKeyInOrder() {
        #expect(
            PlaybackMetrics().json == """
                {"startupTime":null,"watchedDuration":0,"skippedDuration":0,"skippedSegments":0,"stallCount":0,"stallDuration":0,\
                "stallsPerHour":null,"stallRatio":null,"timeWeightedBitrate":null,"timeWeightedBitrateOfAll":null,"variantSwitches":0,\
                "oscillations":0,"droppedFrames":null,"decodedFrames":null,"discardedFrames":null,"bytes":0,\
                "mediaRequests":0,"errors":0,"liveLatency":null,"programDateTime":null}
                """
        )
        var transcript = Transcript()
        transcript.at(0.5, transcript.segment(0, 0.5, bytes: 1_000))
        transcript.at(0.5, transcript.segment(0, 0.5, bytes: 300, kind: .mediaPlaylist))
        transcript.at(0.6, 0, .variantSwitchStarted(Transcript.change(nil, .low)))
        transcript.at(0.7, 0, Transcript.rate(1))
        transcript.at(10.7, 10, Transcript.switched(.low, .high))
        transcript.at(40.7, 40, .stalled)
        transcript.at(41.9, 40, .stallEnded(after: .milliseconds(1_200)))
        transcript.at(41.9, 40, .frames(FrameCounts(decoded: 1_000, dropped: 2, discarded: 3)))
        transcript.at(41.9, 40, .error(Transcript.failure()))
        #expect(
            transcript.measured().metrics.json == """
                {"startupTime":0.7,"watchedDuration":40,"skippedDuration":0,"skippedSegments":0,"stallCount":1,"stallDuration":1.2,\
                "stallsPerHour":90,"stallRatio":0.03,"timeWeightedBitrate":3200000,"timeWeightedBitrateOfAll":3200000,\
                "variantSwitches":1,"oscillations":0,"droppedFrames":2,"decodedFrames":1000,"discardedFrames":3,"bytes":1300,\
                "mediaRequests":1,"errors":1,"liveLatency":null,"programDateTime":null}
                """
        )
    }

    @Test func hundredthsEqualPrintf() {
        var generator = SeededGenerator(seed: 1)
        var numbers = [0, 0.125, 0.375, 1.005, 2.675, 0.995, 0.999, 99.995, 1e10, 0.005, 0.015]
        for _ in 0..<10_000 { numbers.append(.random(in: 0...1_000, using: &generator)) }
        for _ in 0..<10_000 { numbers.append(Double(Int.random(in: 0...1_000_000, using: &generator)) / 1_000) }
        #expect(numbers.filter { $0.hundredths != String(format: "%.2f", $0) } == [])
        #expect([Double.nan, -1, .infinity].map(\.hundredths) == ["0.00", "0.00", "inf"])
    }

    @Test(arguments: [
        (["low", "high", "low"], [10.0, 40.0], 1),
        (["low", "high", "low"], [10, 40.001], 0),
        (["high", "low", "high"], [10, 20], 0),
        (["low", "middle", "high", "low"], [10, 20, 50], 1),
        (["low", "high", "low", "high", "low"], [10, 20, 30, 40], 2),
        (["low", "high", "middle", "low"], [10, 20, 25], 1),
        (["low", "low"], [10], 0),
    ])
    func quicklyRevertedSwitchUpIsAnOscillation(ids: [String], at times: [Double], count: Int) {
        let variants = ids.map { id in
            [VariantDescription.low, .middle, .high].first { $0.id == id } ?? .low
        }
        var transcript = Transcript()
        transcript.at(0, 0, .variantSwitched(Transcript.change(nil, variants[0]), succeeded: true))
        transcript.at(0, 0, Transcript.rate(1))
        for (index, time) in times.enumerated() {
            // A pause does not count towards the time between switches.
            transcript.at(time + Double(index) * 100, time, Transcript.rate(0, from: 1))
            transcript.at(time + Double(index) * 100 + 50, time, Transcript.rate(1))
            let change = Transcript.switched(variants[index], variants[index + 1])
            transcript.at(time + Double(index) * 100 + 50, time, change)
        }
        let metrics = transcript.measured().metrics
        #expect(metrics.oscillations == count)
        #expect(metrics.variantSwitches == (ids == ["low", "low"] ? 0 : times.count))
    }

    @Test func summaryHasTheValuesOfTheSession() {
        var transcript = Transcript()
        transcript.at(0.5, transcript.segment(0, 0.5, bytes: 1_000))
        transcript.at(0.5, transcript.segment(0, 0.5, bytes: 300, kind: .mediaPlaylist))
        transcript.at(0.5, transcript.segment(0, 0.5, bytes: 16, isCached: true, kind: .contentKey))
        transcript.at(0.6, 0, .variantSwitchStarted(Transcript.change(nil, .low)))
        transcript.at(0.7, 0, Transcript.rate(1))
        transcript.at(10.7, 10, Transcript.switched(.low, .high))
        transcript.at(15, 14.3, .error(Transcript.failure()))
        transcript.at(40.7, 40, .stalled)
        let fatal = Transcript.failure(500, recovered: false)
        transcript.at(50.7, 40, .error(fatal))
        transcript.at(50.7, 40, .failedToPlayToEnd(fatal))
        transcript.at(51, 40, .ended)
        let summary = PlaybackSummary(
            errorEvent: fatal,
            recoverableErrorCount: 1,
            stallCount: 1,
            variantSwitchCount: 1,
            playbackDuration: .seconds(40),
            mediaResourceRequestCount: 3,
            timeSpentRecoveringFromStall: .seconds(10),
            timeSpentInInitialStartup: .milliseconds(700),
            timeWeightedAverageBitrate: BitRate(bitsPerSecond: 2_400_000),
            timeWeightedPeakBitrate: BitRate(bitsPerSecond: 3_200_000)
        )
        #expect(transcript.measured().summary == summary)
        #expect(transcript.measured().metrics.errors == 2)
    }

    @Test func metricsSnapshotIncludesTimeUpToNow() {
        var transcript = Transcript()
        transcript.at(1, 0, Transcript.rate(1))
        var recorder = transcript.measured()
        recorder.advance(to: transcript.clock(11), mediaTime: MediaTime(seconds: 10))
        #expect(recorder.metrics.watchedDuration == .seconds(10))
    }
}
