import MediaTiming
import PlaybackReporting
import Testing

@Suite struct AccessLogRecorderTests {
    /// Returns a session that starts with the low variant, switches up, seeks, stalls and ends.
    private func session() -> Transcript {
        var transcript = Transcript()
        transcript.at(0.1, .playbackTypeKnown(.vod))
        transcript.at(0.1, .variantSwitchStarted(Transcript.change(nil, .low)))
        transcript.at(0.5, transcript.segment(0.1, 0.5, bytes: 450_000))
        transcript.at(0.6, 0, .statusChanged(.readyToPlay))
        transcript.at(0.7, 0, .variantSwitched(Transcript.change(nil, .low), succeeded: true))
        transcript.at(0.7, 0, Transcript.rate(1))
        transcript.at(2, 1.3, .variantSwitchStarted(Transcript.change(.low, .high)))
        transcript.at(4, 3.3, transcript.segment(2, 4, bytes: 2_250_000))
        transcript.at(6.7, 6, Transcript.switched(.low, .high))
        transcript.at(10.7, 10, .seekStarted(to: MediaTime(seconds: 60)))
        transcript.at(11, 60, transcript.segment(10.7, 11, bytes: 2_250_000))
        transcript.at(11.2, 60, Transcript.landed(60))
        transcript.at(17.2, 66, .stalled)
        transcript.at(17.2, 66, Transcript.rate(0, from: 1))
        transcript.at(19.2, 66, Transcript.rate(1))
        transcript.at(19.2, 66, .stallEnded(after: .seconds(2)))
        transcript.at(23.2, 70, .playedToEnd)
        transcript.at(23.2, 70, Transcript.rate(0, from: 1))
        transcript.at(23.3, 70, .ended)
        return transcript
    }

    @Test func uninterruptedPeriodIsOneEvent() throws {
        let events = session().accessLog.events
        try #require(events.count == 4)
        #expect(events.map(\.uri) == ["low", "high", "high", "high"].map { "https://example.com/\($0).m3u8" })
        #expect(events.map(\.durationWatched) == [6, 4, 6, 4].map { .seconds($0) })
        #expect(events.map(\.playbackStartOffset) == [0, 6, 60, 66].map { .seconds($0) })
        #expect(events.map(\.numberOfStalls) == [0, 0, 1, 0])
        #expect(events.map(\.numberOfMediaRequests) == [2, 0, 1, 0])
        #expect(events.map(\.startupTime) == [.milliseconds(600), nil, nil, nil])
        #expect(events.map(\.switchBitrate?.bitsPerSecond) == [nil, 5_000_000, nil, nil])
        #expect(events.map(\.indicatedBitrate?.bitsPerSecond) == [800_000, 4_000_000, 4_000_000, 4_000_000])
        #expect(events.map(\.indicatedAverageBitrate?.bitsPerSecond) == [600_000, 3_000_000, 3_000_000, 3_000_000])
        let start = Duration.seconds(1_776_266_006)
        let starts = [726, 6_726, 11_226, 19_226].map { start + .milliseconds($0) }
        #expect(events.map(\.playbackStartDate) == starts)
        #expect(events.allSatisfy { $0.playbackType == .vod && $0.playbackSessionID == session().session.id })
    }

    @Test func changesReproduceTheLog() {
        let transcript = session()
        var recorder = AccessLogRecorder(session: transcript.session)
        var story: [String] = []
        var mirror: [AccessLog.Event] = []
        for event in transcript.events {
            for change in recorder.add(event) {
                switch change {
                case .newEntry(let entry):
                    story.append("new")
                    mirror.append(entry)
                case .updated(let entry):
                    if story.last != "updated" { story.append("updated") }
                    mirror[mirror.count - 1] = entry
                case .finished(let entry):
                    story.append("finished")
                    mirror[mirror.count - 1] = entry
                }
            }
            #expect(mirror == recorder.log.events)
        }
        #expect(
            story == [
                "new", "updated", "finished", "new", "finished", "new", "updated", "finished", "new", "updated",
                "finished",
            ]
        )
    }

    @Test func eventsAfterSessionEndAreIgnored() {
        let transcript = session()
        var recorder = transcript.recorded()
        let log = recorder.log
        let late = PlaybackEvent(time: .seconds(200), mediaTime: nil, kind: transcript.segment(23, 24, bytes: 1))
        #expect(recorder.add(late).isEmpty && recorder.advance(to: .seconds(300), mediaTime: nil).isEmpty)
        #expect(recorder.log == log)
    }

    @Test func pauseDoesNotEndEvent() {
        var transcript = Transcript()
        transcript.at(1, 0, Transcript.rate(1))
        transcript.at(5, 4, Transcript.rate(0, from: 1))
        transcript.at(5, 4, .timeControlChanged(.paused))
        transcript.at(3_605, 4, Transcript.rate(1))
        transcript.at(3_611, 10, .frames(FrameCounts(decoded: 10, dropped: 1)))
        let events = transcript.accessLog.events
        #expect(events.map(\.durationWatched) == [.seconds(10)])
        #expect(events.map(\.numberOfDroppedVideoFrames) == [1])
    }

    @Test func repeatedSeeksProduceOneEvent() throws {
        var transcript = Transcript()
        transcript.at(1, 0, Transcript.rate(1))
        for step in 0..<20 {
            let time = 2 + Double(step) / 10
            transcript.at(time, 1, .seekStarted(to: MediaTime(seconds: 100)))
            let target = MediaTime(seconds: 100)
            transcript.at(
                time + 0.1,
                1,
                .seekEnded(SeekRecord(target: target, landed: nil, didSeekInBuffer: false))
            )
        }
        transcript.at(5, 1, .seekStarted(to: MediaTime(seconds: 200)))
        transcript.at(6, 200, Transcript.landed(200))
        transcript.at(8, 202, .playedToEnd)
        let events = transcript.accessLog.events
        #expect(events.map(\.durationWatched) == [.seconds(1), .seconds(2)])
        #expect(events.last?.playbackStartOffset == .seconds(200))
    }

    @Test func cachedSegmentsDoNotCountAsNetworkRequests() throws {
        var transcript = Transcript()
        transcript.at(1, transcript.segment(0, 1, bytes: 1_000_000, server: nil, isCached: true))
        let cached = try #require(transcript.accessLog.events.first)
        #expect(cached.numberOfMediaRequests == 0 && cached.numberOfBytesTransferred == .zero)
        #expect(cached.observedBitrate == nil && cached.segmentsDownloadedDuration == .zero)
        #expect(cached.transferDuration == .zero && cached.serverAddress == nil)
        transcript.at(3, transcript.segment(1, 3, bytes: 1_000_000))
        let event = try #require(transcript.accessLog.events.first)
        #expect(event.observedBitrate == BitRate(bitsPerSecond: 4_000_000))
    }

    @Test func serverAddressChangeCountsInEventWhereItHappens() {
        var transcript = Transcript()
        transcript.at(0, 0, Transcript.rate(1))
        transcript.at(1, 1, transcript.segment(0, 1, bytes: 1, server: "192.0.2.1"))
        // A change of the port is not a change of the server.
        transcript.at(2, 2, transcript.segment(1, 2, bytes: 1, server: "192.0.2.1:8080"))
        transcript.at(3, 3, transcript.segment(2, 3, bytes: 1, server: "[2001:db8::1]:443"))
        transcript.at(4, 4, .seekStarted(to: .zero))
        #expect(transcript.accessLog.events.last?.numberOfServerAddressChanges == nil)
        transcript.at(5, 0, transcript.segment(4, 5, bytes: 1, server: "192.0.2.1"))
        let events = transcript.accessLog.events
        #expect(events.map(\.serverAddress) == ["2001:db8::1", "192.0.2.1"])
        #expect(events.map(\.numberOfServerAddressChanges) == [1, 1])
    }

    @Test func observedBitRateIsMeasuredFromMediaSegments() throws {
        var transcript = Transcript()
        // Two concurrent transfers, each at 4 Mbit/s, and a slow one.
        transcript.at(2, transcript.segment(1, 2, bytes: 500_000))
        transcript.at(2, transcript.segment(1, 2, bytes: 500_000))
        transcript.at(6, transcript.segment(4, 6, bytes: 250_000))
        transcript.at(6, transcript.segment(6, 6.5, bytes: 1_000, kind: .mediaPlaylist))
        let event = try #require(transcript.accessLog.events.first)
        #expect(event.observedBitrate?.bitsPerSecond == 3_333_333)
        #expect(event.observedMaxBitrate?.bitsPerSecond == 4_000_000)
        #expect(event.observedMinBitrate?.bitsPerSecond == 1_000_000)
        // The standard deviation: the square root of the mean of the squares of 1, 1 and 2, in Mbit/s.
        #expect(event.observedBitrateStandardDeviation?.bitsPerSecond == 1_414_214)
        #expect(event.numberOfMediaRequests == 3 && event.numberOfSegmentsDownloaded == 3)
        #expect(event.numberOfBytesTransferred == ByteCount(1_251_000))
        #expect(event.transferDuration == .milliseconds(3_500))
        #expect(event.segmentsDownloadedDuration == .seconds(18))
    }

    private func request(_ kind: PlaybackEvent.Kind) throws -> ResourceRequest {
        guard case .resourceRequest(let request) = kind else { throw UnexpectedKind() }
        return request
    }

    /// An error that indicates an event of an unexpected kind.
    private struct UnexpectedKind: Error {}

    @Test func failedAndAbandonedRequestsCountBytesOnly() throws {
        let transcript = Transcript()
        var recorder = AccessLogRecorder(session: transcript.session)
        var request = try request(transcript.segment(1, 2, bytes: 125_000))
        request.wasAbandoned = true
        _ = recorder.add(PlaybackEvent(time: .seconds(102), mediaTime: nil, kind: .resourceRequest(request)))
        request.wasAbandoned = false
        request.failure = "reset"
        request.bytes = .zero
        request.responseStart = nil
        _ = recorder.add(PlaybackEvent(time: .seconds(103), mediaTime: nil, kind: .resourceRequest(request)))
        let event = try #require(recorder.log.events.first)
        #expect(event.numberOfMediaRequests == 0 && event.numberOfBytesTransferred == ByteCount(125_000))
        #expect(event.observedBitrate == BitRate(bitsPerSecond: 1_000_000) && event.observedMaxBitrate == nil)
    }

    @Test func trackBitRatesDescribePlayedSegments() throws {
        var transcript = Transcript()
        func loaded(
            _ type: MediaType,
            _ variant: VariantDescription?,
            bytes: Int64,
            overdue: Bool = false
        )
            -> PlaybackEvent.Kind
        {
            .segmentLoaded(
                LoadedSegment(
                    address: "https://example.com/1.m4s",
                    mediaType: type,
                    variant: variant,
                    range: MediaTimeRange(start: .zero, duration: MediaTime(seconds: 8)),
                    bytes: ByteCount(bytes),
                    transferDuration: .seconds(1),
                    isOverdue: overdue
                )
            )
        }
        transcript.at(0, 0, .variantSwitchStarted(Transcript.change(nil, .low)))
        transcript.at(0, 0, loaded(.video, .low, bytes: 500_000))
        transcript.at(0, 0, loaded(.audio, nil, bytes: 64_000))
        transcript.at(0, 0, Transcript.rate(1))
        transcript.at(2, 2, loaded(.video, .high, bytes: 3_000_000, overdue: true))
        transcript.at(8, 8, Transcript.switched(.low, .high))
        transcript.at(9, 9, loaded(.audio, nil, bytes: 66_000))
        let events = transcript.accessLog.events
        #expect(events.map(\.averageVideoBitrate?.bitsPerSecond) == [500_000, 3_000_000])
        #expect(events.map(\.averageAudioBitrate?.bitsPerSecond) == [64_000, 65_000])
        #expect(events.map(\.downloadOverdue) == [1, 0])
        transcript.at(10, 10, .selectionChanged(SelectionChange(mediaType: .audio, option: "de", isExplicit: true)))
        transcript.at(11, 11, loaded(.audio, nil, bytes: 128_000))
        #expect(transcript.accessLog.events.last?.averageAudioBitrate?.bitsPerSecond == 128_000)
    }

    @Test func muxedAudioHasNoSeparateBitRate() throws {
        var transcript = Transcript()
        let range = MediaTimeRange(start: .zero, duration: MediaTime(seconds: 4))
        transcript.at(
            0,
            .segmentLoaded(
                LoadedSegment(
                    address: "1.ts",
                    mediaType: .muxed,
                    variant: nil,
                    range: range,
                    bytes: ByteCount(500_000),
                    transferDuration: .seconds(1),
                    isOverdue: false
                )
            )
        )
        let event = try #require(transcript.accessLog.events.first)
        #expect(event.averageVideoBitrate?.bitsPerSecond == 1_000_000 && event.averageAudioBitrate == nil)
        #expect(event.uri == "https://example.com/multivariant.m3u8")
    }

    @Test func durationWatchedExcludesTimeJumps() {
        var transcript = Transcript()
        transcript.at(0, .playbackTypeKnown(.live))
        transcript.at(1, 1_000, Transcript.rate(1))
        transcript.at(11, 1_040, .timeJumped(from: MediaTime(seconds: 1_010), to: MediaTime(seconds: 1_040)))
        transcript.at(16, 1_045, .seekableRangeChanged(nil))
        let events = transcript.accessLog.events
        #expect(events.map(\.durationWatched) == [.seconds(15)])
        #expect(events.map(\.playbackType) == [.live])
        #expect(events.map(\.playbackStartOffset) == [.seconds(1_000)])
    }

    @Test func timeJumpAfterSeekIsNotCountedTwice() {
        var transcript = Transcript()
        transcript.at(1, 0, Transcript.rate(1))
        transcript.at(101, 100, .seekStarted(to: MediaTime(seconds: 10)))
        transcript.at(102, 10, Transcript.landed(10))
        transcript.at(102, 10, .timeJumped(from: MediaTime(seconds: 100), to: MediaTime(seconds: 10)))
        transcript.at(104, 12, .playedToEnd)
        #expect(transcript.accessLog.totals.durationWatched == .seconds(102))
    }

    @Test(arguments: [(2.0, 20.0), (0.5, 5.0), (-1.0, -10.0)])
    func durationWatchedIsMediaTimeAtAnyRate(rate: Double, moved: Double) {
        var transcript = Transcript()
        transcript.at(1, 100, Transcript.rate(rate))
        transcript.at(11, 100 + moved, .playedToEnd)
        #expect(transcript.accessLog.totals.durationWatched == .seconds(moved.magnitude))
    }

    @Test func durationWatchedUsesElapsedTimeWhenMediaTimeIsUnknown() {
        var transcript = Transcript()
        transcript.at(1, Transcript.rate(2))
        transcript.at(11, .playedToEnd)
        #expect(transcript.accessLog.totals.durationWatched == .seconds(20))
    }

    @Test func eventsWithoutMediaTimeDoNotCountTwice() {
        var transcript = Transcript()
        transcript.at(1, 0, Transcript.rate(1))
        transcript.at(5, transcript.segment(4, 5, bytes: 1))
        transcript.at(7, 6, transcript.segment(5, 6, bytes: 1))
        transcript.at(9, transcript.segment(4, 5, bytes: 1))
        #expect(transcript.accessLog.totals.durationWatched == .seconds(6))
        transcript.at(11, .timeJumped(from: nil, to: MediaTime(seconds: 50)))
        transcript.at(12, 51, .playedToEnd)
        transcript.at(13, .ended)
        #expect(transcript.accessLog.totals.durationWatched == .seconds(11))
    }

    @Test func snapshotIncludesTimeUpToNow() {
        var transcript = Transcript()
        transcript.at(1, 0, Transcript.rate(1))
        var recorder = transcript.recorded()
        let changes = recorder.advance(to: .seconds(111), mediaTime: MediaTime(seconds: 10))
        #expect(recorder.log.totals.durationWatched == .seconds(10))
        #expect(changes == recorder.log.events.map { .updated($0) })
        #expect(recorder.advance(to: .seconds(111), mediaTime: MediaTime(seconds: 10)).isEmpty)
    }

    @Test func failedVariantSwitchIsIgnored() {
        var transcript = Transcript()
        transcript.at(0, 0, .variantSwitchStarted(Transcript.change(nil, .low)))
        transcript.at(1, 0, Transcript.rate(1))
        transcript.at(5, 4, .variantSwitched(Transcript.change(.low, .high), succeeded: false))
        transcript.at(6, 5, .playedToEnd)
        #expect(transcript.accessLog.events.map(\.uri) == [VariantDescription.low.address])
        #expect(transcript.measured().metrics.variantSwitches == 0)
    }

    @Test func cellularRequestsAreCountedWhenReported() throws {
        let transcript = Transcript()
        var recorder = AccessLogRecorder(session: transcript.session)
        var request = try request(transcript.segment(1, 2, bytes: 1))
        for isCellular in [nil, false, true, true] as [Bool?] {
            request.usedCellularNetwork = isCellular
            _ = recorder.add(PlaybackEvent(time: .seconds(102), mediaTime: nil, kind: .resourceRequest(request)))
        }
        #expect(recorder.log.events.first?.mediaRequestsWWAN == 2)
    }

    @Test func hostileDurationsDoNotTrap() throws {
        let transcript = Transcript()
        var recorder = AccessLogRecorder(session: transcript.session)
        var request = try request(transcript.segment(1, 2, bytes: .max))
        request.segmentDuration = MediaTime(seconds: .max)
        request.serverAddress = String(repeating: "ü", count: 100_000)
        for index in 0..<1_000 {
            let mediaTime = MediaTime(seconds: index % 2 == 0 ? .max : .min)
            _ = recorder.add(PlaybackEvent(time: .seconds(102), mediaTime: mediaTime, kind: .resourceRequest(request)))
            _ = recorder.add(PlaybackEvent(time: .seconds(102), mediaTime: mediaTime, kind: Transcript.rate(1)))
            _ = recorder.add(PlaybackEvent(time: .seconds(102), mediaTime: mediaTime, kind: Transcript.rate(.nan)))
            _ = recorder.add(PlaybackEvent(time: .seconds(102), mediaTime: nil, kind: Transcript.rate(.infinity)))
            _ = recorder.add(PlaybackEvent(time: .seconds(102), mediaTime: nil, kind: Transcript.rate(-1e300)))
        }
        let event = try #require(recorder.log.events.first)
        #expect(event.numberOfMediaRequests == 1_000)
        #expect(try #require(event.serverAddress).utf8.count == 8_192)
        #expect(try #require(event.segmentsDownloadedDuration) == .seconds(1_000_000_000_000_000))
    }
}
