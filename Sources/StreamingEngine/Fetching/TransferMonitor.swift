import MediaTiming
import MediaTransport
import Synchronization

/// The observer of a transfer, which counts its bytes.
final class TransferMonitor: Sendable {
    private struct State {
        var record: TransferRecord?
        var expected: Int64?
    }

    private let state = Mutex(State())

    /// Records the start of the response.
    func responseReceived(_ response: TransportResponse) {
        state.withLock { state in
            state.record = response.record
            state.expected = response.expectedLength
        }
    }

    /// The progress of the transfer.
    var progress: TransferProgress {
        let (record, expected) = state.withLock { ($0.record, $0.expected) }
        return TransferProgress(measurement: record?.measurement, expectedBytes: expected)
    }
}
