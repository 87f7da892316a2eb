import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore

/// A transport for simulated playback of real resources: it sends requests in real time, and the clock of the
/// simulation advances by the time that they take.
struct RealTimeTransport: Transport {
    private let base: any Transport
    private let simulation: Simulation

    init(_ base: any Transport, _ simulation: Simulation) {
        self.base = base
        self.simulation = simulation
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let sent = simulation.now
        let response = try await simulation.withRealTime { try await base.send(request) }
        // The times are converted to the clock of the simulation.
        var measurement = response.record.measurement
        measurement.requestStart = sent
        let record = TransferRecord(measurement)
        let buffers = Buffers(response: response, record: record, sent: sent, simulation: simulation)
        return response.replacingBody(with: TransportBody(buffers), record: record)
    }

    private struct Buffers: AsyncSequence, Sendable {
        typealias Element = ByteBuffer

        let response: TransportResponse
        let record: TransferRecord
        let sent: Duration
        let simulation: Simulation

        func makeAsyncIterator() -> Iterator { Iterator(buffers: self, source: response.body.makeAsyncIterator()) }

        struct Iterator: AsyncIteratorProtocol {
            let buffers: Buffers
            var source: TransportBody.AsyncIterator

            mutating func next() async throws -> ByteBuffer? {
                let buffer = try await buffers.simulation.withRealTime { try await source.next() }
                let measured = buffers.response.record.measurement
                let sinceSent = buffers.simulation.now - buffers.sent
                buffers.record.update { measurement in
                    measurement.bytes = measured.bytes
                    measurement.timeToFirstByte = measured.timeToFirstByte ?? measurement.timeToFirstByte
                    if buffer == nil { measurement.timeToLastByte = sinceSent }
                }
                return buffer
            }
        }
    }
}
