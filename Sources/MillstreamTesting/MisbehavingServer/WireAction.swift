import MediaTiming
import NIOCore

/// An action on a connection; a response is a list of actions.
enum WireAction: Sendable {
    case wait(Duration)
    case send([UInt8], Pace)
    case sendForever([UInt8], Pace)
    case stall
    case close
    case reset
    case keepOpen(IdleRule)
}

/// The rule for a connection between two requests.
enum IdleRule: Sendable {
    case stay
    case closeOnNextRequest
    case resetOnNextRequest
    case close(after: Duration)

    /// The action that replaces the response to the next request; `nil` for a normal response.
    var actionOnNextRequest: WireAction? {
        switch self {
        case .closeOnNextRequest: .close
        case .resetOnNextRequest: .reset
        case .stay, .close: nil
        }
    }
}

/// The speed at which bytes are sent.
enum Pace: Sendable {
    case immediate
    case steady(bytesPerSecond: Int)
    case single(every: Duration)
}

/// Bytes to send, split into pieces with their times.
struct PacedSending {
    private var rest: ByteBuffer
    private let repeatedBytes: ByteBuffer?
    private let pace: Pace
    private let start: NIODeadline
    private var sent = 0

    init(_ bytes: [UInt8], _ pace: Pace, repeats: Bool) {
        var bytes = bytes
        if repeats, !bytes.isEmpty {
            // Repeated in larger blocks, since small pieces are inefficient.
            while bytes.count < 16_384 { bytes += bytes }
        }
        rest = ByteBuffer(bytes: bytes)
        repeatedBytes = repeats ? rest : nil
        self.pace = pace
        start = .now()
    }

    /// Returns the next piece and its time; `nil` when all bytes have been returned.
    ///
    /// Times are relative to the start, so that a late timer does not delay later pieces.
    mutating func next() -> (piece: ByteBuffer, due: NIODeadline)? {
        if rest.readableBytes == 0, let repeatedBytes { rest = repeatedBytes }
        let size: Int
        let offset: Duration
        switch pace {
        case .immediate:
            (size, offset) = (rest.readableBytes, .zero)
        case .steady(let rate):
            // Pieces of 1/50 second are smooth enough and need few timers.
            size = min(max(1, rate / 50), rest.readableBytes)
            offset = .seconds(Double(sent + size) / Double(rate))
        case .single(let interval):
            (size, offset) = (1, interval * sent)
        }
        guard size > 0, let chunk = rest.readSlice(length: size) else { return nil }
        sent += size
        return (chunk, start + TimeAmount(offset))
    }
}
