import MediaTiming
import NIOCore

/// One thing that is done on a connection; an answer is a list of them.
enum WireAction: Sendable {
    case wait(Duration)
    case send([UInt8], Pace)
    case sendForever([UInt8], Pace)
    case stall
    case close
    case reset
    case keepOpen(IdleRule)
}

/// What happens to a connection between two requests.
enum IdleRule: Sendable {
    case stay
    case closeOnNextRequest
    case resetOnNextRequest
    case close(after: Duration)

    /// What is done to the next request instead of answering it.
    var actionOnNextRequest: WireAction? {
        switch self {
        case .closeOnNextRequest: .close
        case .resetOnNextRequest: .reset
        case .stay, .close: nil
        }
    }
}

/// How fast bytes are sent.
enum Pace: Sendable {
    case atOnce
    case steady(bytesPerSecond: Int)
    case single(every: Duration)
}

/// Bytes on their way out: which come next, and when.
struct PacedSending {
    private var rest: ByteBuffer
    private let again: ByteBuffer?
    private let pace: Pace
    private let start: NIODeadline
    private var sent = 0

    init(_ bytes: [UInt8], _ pace: Pace, repeats: Bool) {
        var bytes = bytes
        if repeats, !bytes.isEmpty {
            // Small pieces would cost more than they carry.
            while bytes.count < 16_384 { bytes += bytes }
        }
        rest = ByteBuffer(bytes: bytes)
        again = repeats ? rest : nil
        self.pace = pace
        start = .now()
    }

    /// The next piece and when it is due; `nil` when all is sent.
    ///
    /// Times count from the start, so that a late timer does not slow down what follows.
    mutating func next() -> (piece: ByteBuffer, due: NIODeadline)? {
        if rest.readableBytes == 0, let again { rest = again }
        let size: Int
        let offset: Duration
        switch pace {
        case .atOnce:
            (size, offset) = (rest.readableBytes, .zero)
        case .steady(let rate):
            // A fiftieth of a second at a time is smooth enough, and few timers.
            size = min(max(1, rate / 50), rest.readableBytes)
            offset = .seconds(Double(sent + size) / Double(rate))
        case .single(let interval):
            (size, offset) = (1, interval * sent)
        }
        guard size > 0, let piece = rest.readSlice(length: size) else { return nil }
        sent += size
        return (piece, start + TimeAmount(offset))
    }
}
