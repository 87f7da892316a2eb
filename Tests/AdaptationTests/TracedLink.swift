import Adaptation
import Foundation
import MediaTiming

/// A simulated link whose rate follows a trace that repeats.
struct TracedLink {
    private struct Period: Decodable {
        let milliseconds: Double
        let kilobitsPerSecond: Double
        let latencyMilliseconds: Double

        enum CodingKeys: String, CodingKey {
            case milliseconds = "duration_ms"
            case kilobitsPerSecond = "bandwidth_kbps"
            case latencyMilliseconds = "latency_ms"
        }
    }

    private let periods: [Period]
    private var index = 0
    /// The remaining time of the current period, in milliseconds.
    private var left: Double
    /// The time since the beginning of the trace, in seconds.
    private(set) var now = 0.0
    /// The duration of the trace, in seconds.
    let length: Double

    init(_ url: URL) throws {
        periods = try JSONDecoder().decode([Period].self, from: Data(contentsOf: url)).filter { $0.milliseconds > 0 }
        left = periods.first?.milliseconds ?? 1
        length = periods.reduce(0) { $0 + $1.milliseconds } / 1_000
    }

    /// Advances the time.
    mutating func wait(until moment: Double) {
        while now < moment { pass(min(left, (moment - now) * 1_000 + 0.001)) }
    }

    /// Downloads bytes after one latency.
    mutating func download(bytes: Int64) -> ThroughputSample {
        let sent = now
        wait(until: now + periods[index].latencyMilliseconds / 1_000)
        let start = now
        var bits = Double(bytes) * 8
        while bits > 0.001 {
            // Kilobits per second equal bits per millisecond.
            let rate = periods[index].kilobitsPerSecond
            let step = min(left, rate > 0 ? bits / rate : .infinity)
            bits -= step * rate
            pass(step)
        }
        return ThroughputSample(start, now, bytes: bytes, latency: start - sent)
    }

    private mutating func pass(_ milliseconds: Double) {
        now += milliseconds / 1_000
        left -= milliseconds
        if left < 0.000_001 {
            index = (index + 1) % periods.count
            left = periods[index].milliseconds
        }
    }
}
