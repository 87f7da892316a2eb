import Foundation

/// The rate of a link over time; the trace repeats when it ends.
struct BandwidthTrace: Sendable {
    struct Period: Sendable {
        let seconds: Double
        let bitsPerSecond: Double
        let latency: Double
    }

    private struct Entry: Decodable {
        let milliseconds: Double
        let kilobitsPerSecond: Double
        let latencyMilliseconds: Double

        enum CodingKeys: String, CodingKey {
            case milliseconds = "duration_ms"
            case kilobitsPerSecond = "bandwidth_kbps"
            case latencyMilliseconds = "latency_ms"
        }
    }

    let periods: [Period]

    init(_ periods: [Period]) { self.periods = periods.filter { $0.seconds > 0 } }

    init(_ url: URL) throws {
        self.init(
            try JSONDecoder().decode([Entry].self, from: Data(contentsOf: url)).map {
                Period(
                    seconds: $0.milliseconds / 1_000,
                    bitsPerSecond: $0.kilobitsPerSecond * 1_000,
                    latency: $0.latencyMilliseconds / 1_000
                )
            }
        )
    }

    /// Returns a trace with a constant rate.
    static func constant(_ bitsPerSecond: Double, latency: Double = 0.05) -> BandwidthTrace {
        BandwidthTrace([Period(seconds: 3_600, bitsPerSecond: bitsPerSecond, latency: latency)])
    }

    /// Returns a trace with a sequence of rates and their durations.
    static func steps(_ steps: [(seconds: Double, bitsPerSecond: Double)], latency: Double = 0.05) -> BandwidthTrace {
        BandwidthTrace(steps.map { Period(seconds: $0.seconds, bitsPerSecond: $0.bitsPerSecond, latency: latency) })
    }

    var length: Double { periods.reduce(0) { $0 + $1.seconds } }
}

/// A position in a trace.
struct TraceCursor {
    private let periods: [BandwidthTrace.Period]
    private var index = 0
    private var left: Double
    private(set) var now = 0.0

    init(_ trace: BandwidthTrace, from offset: Double = 0) {
        periods = trace.periods
        left = periods[0].seconds
        wait(offset)
        now = 0
    }

    var latency: Double { periods[index].latency }

    mutating func wait(_ seconds: Double) {
        var seconds = seconds
        while seconds > 0 {
            let step = min(left, seconds)
            pass(step)
            seconds -= step
        }
    }

    /// Transfers bits until all have arrived or the time is over, and returns the number of transferred bits.
    mutating func load(_ bits: Double, atMost seconds: Double) -> Double {
        var loaded = 0.0
        var seconds = seconds
        while bits - loaded > 1e-3, seconds > 1e-9 {
            let rate = periods[index].bitsPerSecond
            var step = min(left, seconds)
            if rate > 0 { step = min(step, (bits - loaded) / rate) }
            loaded += step * rate
            seconds -= step
            pass(step)
        }
        return bits - loaded <= 1e-3 ? bits : loaded
    }

    private mutating func pass(_ seconds: Double) {
        now += seconds
        left -= seconds
        if left < 1e-9 {
            index = (index + 1) % periods.count
            left = periods[index].seconds
        }
    }
}
