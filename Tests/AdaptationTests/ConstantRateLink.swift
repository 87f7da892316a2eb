import Adaptation
import MediaTiming

/// A simulated link with a constant rate that concurrent transfers share equally.
struct ConstantRateLink {
    /// A request of a worker, which sends its next request when this one ends.
    struct Request {
        /// The idle time before the request, in seconds.
        let gap: Double
        /// The time to the first byte, in seconds.
        let latency: Double
        let bytes: Int64
    }

    private struct Transfer {
        let worker: Int
        let request: Request
        let start: Double
        var bitsLeft: Double
    }

    let bitsPerSecond: Double

    /// Returns the samples that concurrent workers measure, in the order in which their transfers end.
    func samples(of workers: [[Request]]) -> [ThroughputSample] {
        var queues = workers.map { $0[...] }
        var waiting: [Transfer] = []
        var running: [Transfer] = []
        var samples: [ThroughputSample] = []
        var now = 0.0
        for worker in queues.indices { send(&queues, worker, at: now, into: &waiting) }
        while !running.isEmpty || !waiting.isEmpty {
            let share = bitsPerSecond / Double(max(1, running.count))
            let nextStart = waiting.map(\.start).min() ?? .infinity
            let nextEnd = running.map { now + $0.bitsLeft / share }.min() ?? .infinity
            let next = min(nextStart, nextEnd)
            for index in running.indices { running[index].bitsLeft -= (next - now) * share }
            now = next
            running += waiting.filter { $0.start <= now }
            waiting.removeAll { $0.start <= now }
            // A remainder of less than 0.001 bit is a rounding error.
            for ended in running.filter({ $0.bitsLeft < 0.001 }) {
                samples.append(sample(of: ended, end: now))
                send(&queues, ended.worker, at: now, into: &waiting)
            }
            running.removeAll { $0.bitsLeft < 0.001 }
        }
        return samples
    }

    private func send(
        _ queues: inout [ArraySlice<Request>],
        _ worker: Int,
        at now: Double,
        into waiting: inout [Transfer]
    ) {
        guard let request = queues[worker].popFirst() else { return }
        let start = now + request.gap + request.latency
        waiting.append(
            Transfer(worker: worker, request: request, start: start, bitsLeft: Double(request.bytes) * 8)
        )
    }

    private func sample(of transfer: Transfer, end: Double) -> ThroughputSample {
        ThroughputSample(
            start: .seconds(transfer.start),
            end: .seconds(end),
            bytes: ByteCount(transfer.request.bytes),
            latency: .seconds(transfer.request.latency)
        )
    }
}

extension ThroughputEstimator {
    /// The estimate, in Mbit/s.
    var megabits: Double? { estimate.map { Double($0.bitsPerSecond) / 1_000_000 } }

    /// Adds samples in order.
    mutating func add(_ samples: some Sequence<ThroughputSample>) {
        for sample in samples { add(sample) }
    }
}

extension ThroughputSample {
    /// Creates a sample from times in seconds.
    init(_ start: Double, _ end: Double, bytes: Int64, latency: Double = 0, isCached: Bool = false) {
        self.init(
            start: .seconds(start),
            end: .seconds(end),
            bytes: ByteCount(bytes),
            latency: .seconds(latency),
            isCached: isCached
        )
    }
}
