import MediaTiming
import PlaybackReporting

// The code of the landing page of PlaybackReporting and of the articles "Reading the logs" and "Playback indicators".

let (sessionID, now, date) = (
    "2D5C8F04-9F34-40F2-AA06-758CE4EC3643", Duration.seconds(5), Duration.seconds(1_776_266_006)
)
let variant = VariantDescription(
    id: "low",
    address: "https://example.com/low.m3u8",
    peakBitRate: BitRate(bitsPerSecond: 800_000)
)
let start = RateChange(rate: 1, previousRate: 0, reason: .setRateCalled, variant: variant)
let events = [
    PlaybackEvent(time: .seconds(6), mediaTime: .zero, kind: .rateChanged(start)),
    PlaybackEvent(time: .seconds(16), mediaTime: MediaTime(seconds: 10), kind: .playedToEnd),
]

let session = PlaybackSession(id: sessionID, start: now, startDate: date)
var accessLog = AccessLogRecorder(session: session)
var errorLog = ErrorLogRecorder(session: session)
var indicators = PlaybackMetricsRecorder(creation: session.start)
let lines = PlaybackEventWriter(session: session)

for event in events {
    for case .newEntry(let entry) in accessLog.add(event) { print("now playing \(entry.uri ?? "-")") }
    _ = errorLog.add(event)
    if let notice = indicators.add(event) { print(notice) }
    print(lines.line(event))
}
print(indicators.metrics.json)

let changes = accessLog.add(PlaybackEvent(time: .seconds(17), mediaTime: nil, kind: .ended))
let writer = ExtendedLogWriter()
var file = writer.accessLogHeader(startingAt: session.startDate)
for case .finished(let entry) in changes { file += writer.line(entry) }

let (clock, log) = (SystemTimeSource(), accessLog.log)
var recorder = PlaybackMetricsRecorder(creation: clock.now)
recorder.rateChanged(rate: 1, at: clock.now)
recorder.playbackStalled(at: clock.now)
recorder.playbackStallEnded(at: clock.now)
recorder.playbackEnded(at: clock.now)
let metrics = recorder.metrics(with: log)

precondition(file == ExtendedLogWriter(startDate: session.startDate).text(of: log))
precondition(metrics.watchedDuration == .seconds(10) && metrics.startupTime != nil)
