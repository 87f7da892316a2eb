import CostOperations
import MediaTiming
import PlaybackReporting

extension CostOperation {
    /// The operations that create the logs and the metrics of a session from many events.
    static var recorders: [CostOperation] {
        let operations: [[CostOperation]] = [
            recorded("stalls") { _ in [.stalled, .stallEnded(after: .milliseconds(200))] },
            recorded("seeks") { number in
                let target = MediaTime(seconds: Int64(number))
                let record = SeekRecord(target: target, landed: target, didSeekInBuffer: false)
                return [.seekStarted(to: target), .seekEnded(record)]
            },
            recorded("changes-of-the-rate") { number in
                let (rate, previous): (Double, Double) = number.isMultiple(of: 2) ? (1, 0) : (0, 1)
                return [.rateChanged(RateChange(rate: rate, previousRate: previous, reason: .setRateCalled))]
            },
            // Each request lasts until as many others have begun as before it.
            recorded("requests-at-the-same-time") { number in
                let request = ResourceRequest(
                    kind: .other,
                    address: "https://h/\(number)",
                    requestStart: .seconds(number),
                    responseStart: nil,
                    responseEnd: .seconds(2 * number + 1),
                    bytes: ByteCount(1_000)
                )
                return [.resourceRequest(request)]
            },
        ]
        return operations.flatMap(\.self)
    }

    /// Returns the operations that add the events of many entries to the recorders.
    ///
    /// - Parameters:
    ///   - name: The name of the events.
    ///   - kinds: A closure that returns the kinds of the events of an entry, which begins after as many seconds.
    /// - Returns: The operations with a long log, and with one whose oldest entries are merged again and again.
    private static func recorded(
        _ name: String,
        _ kinds: @escaping (Int) -> [PlaybackEvent.Kind]
    ) -> [CostOperation] {
        [("", 10_000), ("-in-a-short-log", 40)].map { suffix, limit in
            CostOperation("engine/recorded/\(name)\(suffix)") { count in
                let session = PlaybackSession(id: "cost", start: .zero, startDate: .zero)
                var events: [PlaybackEvent] = []
                for number in 0..<count {
                    let mediaTime = MediaTime(seconds: Int64(number))
                    events += kinds(number).map { kind in
                        PlaybackEvent(time: .seconds(number), mediaTime: mediaTime, kind: kind)
                    }
                }
                let all = events
                return {
                    var log = AccessLogRecorder(session: session, options: .init(maximumEventCount: limit))
                    var errors = ErrorLogRecorder(session: session)
                    var metrics = PlaybackMetricsRecorder(creation: .zero)
                    for event in all {
                        _ = log.add(event)
                        _ = errors.add(event)
                        _ = metrics.add(event)
                    }
                    precondition(log.log.events.count <= limit + 1 && errors.log.events.isEmpty)
                    precondition(!metrics.metrics.json.isEmpty)
                }
            }
        }
    }
}
