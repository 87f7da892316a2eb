import MediaTiming
import MediaTransport
import Synchronization

/// Looks on while a segment is transferred: how much came, and since when.
final class TransferWatch: Sendable {
    private struct State {
        var record: TransferRecord?
        var expected: Int64?
    }

    private let state = Mutex(State())
    /// When the request was made.
    let began: Duration

    init(began: Duration) { self.began = began }

    /// An answer began.
    func answered(_ response: TransportResponse) {
        state.withLock { state in
            state.record = response.record
            state.expected = response.expectedLength
        }
    }

    /// What came so far.
    var measurement: TransferMeasurement? { state.withLock { $0.record }?.measurement }

    /// How many bytes there will be, where the server said so.
    var expectedBytes: Int64? { state.withLock { $0.expected } }
}
