import MediaTiming
import PlaybackReporting
import Testing

@Suite struct ErrorLogRecorderTests {
    private let session = Transcript().session

    private func event(_ time: Int64, _ kind: PlaybackEvent.Kind) -> PlaybackEvent {
        PlaybackEvent(time: .seconds(time), mediaTime: nil, kind: kind)
    }

    @Test func failuresAreKeptInOrder() throws {
        var recorder = ErrorLogRecorder(session: session)
        let record = PlaybackErrorRecord(
            statusCode: -12_889,
            domain: "Network",
            comment: "No response for media file in 9.9767s",
            address: "https://example.com/1.ts",
            serverAddress: "192.0.2.1",
            responseHeaders: ["Retry-After": "10"],
            didRecover: true
        )
        let entry = recorder.add(event(101, .error(record)))
        let first = try #require(entry)
        #expect(recorder.add(event(102, .stalled)) == nil)
        _ = recorder.add(event(103, .error(Transcript.failure())))
        #expect(recorder.log.events.count == 2 && recorder.log.events.first == first)
        #expect(first.date == session.startDate + .seconds(1))
        #expect(first.playbackSessionID == session.id && first.errorStatusCode == -12_889)
        #expect(first.uri == record.address && first.serverAddress == "192.0.2.1")
        #expect(first.errorComment == record.comment && first.errorDomain == "Network")
        #expect(first.allHTTPResponseHeaderFields == ["Retry-After": "10"])
    }

    /// The time of a repeated request is computed, to attoseconds.
    @Test func datesHaveWholeNanoseconds() throws {
        var recorder = ErrorLogRecorder(session: session)
        let time = Duration(secondsComponent: 101, attosecondsComponent: 642_176_873_291_876_401)
        let added = recorder.add(PlaybackEvent(time: time, mediaTime: nil, kind: .error(Transcript.failure())))
        let entry = try #require(added)
        let offset = Duration(secondsComponent: 1, attosecondsComponent: 642_176_873_000_000_000)
        #expect(entry.date == session.startDate + offset)
    }

    @Test func terminalFailureCountsOnce() {
        var recorder = ErrorLogRecorder(session: session)
        let fatal = Transcript.failure(recovered: false)
        let kinds: [PlaybackEvent.Kind] = [
            .error(fatal), .failedToPlayToEnd(fatal), .failedToPlayToEnd(Transcript.failure(500)), .error(fatal),
            .error(fatal),
        ]
        #expect(kinds.map { recorder.add(event(101, $0)) != nil } == [true, false, true, true, true])
        #expect(recorder.log.events.count == 4)
    }

    @Test func oldestFailuresAreDroppedBeyondLimit() {
        var recorder = ErrorLogRecorder(session: session, options: .init(maximumEventCount: 100))
        for index in 0..<1_000 { _ = recorder.add(event(101, .error(Transcript.failure(index)))) }
        #expect((90...100).contains(recorder.log.events.count))
        #expect(recorder.droppedEventCount + recorder.log.events.count == 1_000)
        #expect(recorder.log.events.last?.errorStatusCode == 999)
    }

    @Test func longResponseValuesAreTruncated() throws {
        var recorder = ErrorLogRecorder(session: session)
        let long = String(repeating: "x", count: 1_000_000)
        let record = PlaybackErrorRecord(
            statusCode: 500,
            domain: "HTTP",
            comment: long,
            address: long,
            responseHeaders: ["A": "1", "Server": long, "X-Long": "2"],
            didRecover: true
        )
        let added = recorder.add(event(101, .error(record)))
        let entry = try #require(added)
        #expect(entry.uri?.utf8.count == 8_192 && entry.errorComment?.utf8.count == 8_192)
        #expect(entry.allHTTPResponseHeaderFields == ["A": "1"])
    }
}
