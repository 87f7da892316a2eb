import MediaTiming
import PlaybackReporting

/// A playback session as a list of events with wall clock time and media time.
struct Transcript {
    let session = PlaybackSession(
        id: "2D5C8F04-9F34-40F2-AA06-758CE4EC3643",
        start: .seconds(100),
        startDate: .seconds(1_776_266_006) + .milliseconds(26),
        address: "https://example.com/multivariant.m3u8"
    )
    private(set) var events: [PlaybackEvent] = []

    /// Appends an event.
    ///
    /// Times are in seconds: `time` since the start of the session, `media` on the media timeline.
    mutating func at(_ time: Double, _ media: Double?, _ kind: PlaybackEvent.Kind) {
        let mediaTime = media.flatMap(MediaTime.init(approximating:))
        events.append(PlaybackEvent(time: clock(time), mediaTime: mediaTime, kind: kind))
    }

    /// Appends an event without a media time.
    mutating func at(_ time: Double, _ kind: PlaybackEvent.Kind) { at(time, nil, kind) }

    /// Returns the clock time a number of seconds after the start of the session, rounded to milliseconds.
    func clock(_ seconds: Double) -> Duration { session.start + .milliseconds(Int64((seconds * 1_000).rounded())) }

    /// The access log of all events.
    var accessLog: AccessLog { recorded().log }

    func recorded(maximumEventCount: Int = 10_000) -> AccessLogRecorder {
        var recorder = AccessLogRecorder(session: session, options: .init(maximumEventCount: maximumEventCount))
        for event in events { _ = recorder.add(event) }
        return recorder
    }

    func measured() -> PlaybackMetricsRecorder {
        var recorder = PlaybackMetricsRecorder(creation: session.start)
        for event in events { recorder.add(event) }
        return recorder
    }

    /// Returns the event of a request for a media segment.
    func segment(
        _ start: Double,
        _ end: Double,
        bytes: Int64,
        seconds: Int64 = 6,
        server: String? = "192.0.2.1",
        isCached: Bool = false,
        kind: ResourceRequest.Kind = .mediaSegment
    ) -> PlaybackEvent.Kind {
        var request = ResourceRequest(
            kind: kind,
            address: "https://example.com/1.m4s",
            requestStart: clock(start),
            responseStart: clock(start),
            responseEnd: clock(end),
            bytes: ByteCount(bytes),
            wasReadFromCache: isCached
        )
        request.serverAddress = server
        request.segmentDuration = MediaTime(seconds: seconds)
        return .resourceRequest(request)
    }

    static func rate(_ rate: Double, from previous: Double = 0) -> PlaybackEvent.Kind {
        .rateChanged(RateChange(rate: rate, previousRate: previous, reason: .setRateCalled))
    }

    static func switched(_ old: VariantDescription?, _ new: VariantDescription) -> PlaybackEvent.Kind {
        .variantSwitched(change(old, new), succeeded: true)
    }

    static func change(_ old: VariantDescription?, _ new: VariantDescription) -> VariantSwitch {
        VariantSwitch(
            from: old,
            to: new,
            cause: "throughput",
            evidence: .init(throughput: BitRate(bitsPerSecond: 5_000_000), bufferLevel: .seconds(12))
        )
    }

    static func landed(_ target: Int64) -> PlaybackEvent.Kind {
        let time = MediaTime(seconds: target)
        return .seekEnded(SeekRecord(target: time, landed: time, didSeekInBuffer: false))
    }

    static func failure(
        _ status: Int = 404,
        _ domain: String = "HTTP",
        _ comment: String = "Not found",
        recovered: Bool = true
    ) -> PlaybackErrorRecord {
        PlaybackErrorRecord(statusCode: status, domain: domain, comment: comment, didRecover: recovered)
    }
}

extension VariantDescription {
    static let low = VariantDescription(
        id: "low",
        address: "https://example.com/low.m3u8",
        peakBitRate: BitRate(bitsPerSecond: 800_000),
        averageBitRate: BitRate(bitsPerSecond: 600_000)
    )
    static let middle = VariantDescription(
        id: "middle",
        address: "https://example.com/middle.m3u8",
        peakBitRate: BitRate(bitsPerSecond: 2_000_000)
    )
    static let high = VariantDescription(
        id: "high",
        address: "https://example.com/high.m3u8",
        peakBitRate: BitRate(bitsPerSecond: 4_000_000),
        averageBitRate: BitRate(bitsPerSecond: 3_000_000),
        width: 1_920,
        height: 1_080
    )
}
