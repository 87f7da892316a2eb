import MediaTiming
import MediaTransport
import Synchronization

/// The observer of a transfer, which counts its bytes.
final class TransferMonitor: Sendable {
    private struct State {
        var attemptStart: Duration?
        var record: TransferRecord?
        var expected: Int64?
    }

    private let state = Mutex(State())

    /// Records the start of an attempt, which has received nothing yet.
    func attemptStarted(at time: Duration) { state.withLock { $0 = State(attemptStart: time) } }

    /// Records the start of the response.
    func responseReceived(_ response: TransportResponse) {
        state.withLock { state in
            state.record = response.record
            state.expected = response.expectedLength
        }
    }

    /// The progress of the transfer.
    var progress: TransferProgress {
        let state = state.withLock { $0 }
        return TransferProgress(
            measurement: state.record?.measurement,
            expectedBytes: state.expected,
            attemptStart: state.attemptStart
        )
    }
}
