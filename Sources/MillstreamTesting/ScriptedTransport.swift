public import MediaTiming
public import MediaTransport
public import ResourceAddressing
import Synchronization

/// A transport whose answers are written down beforehand, and which writes down what it was asked.
///
/// An address can have several answers: each request takes the next one, and the last one stays.
public final class ScriptedTransport: Transport {
    /// What is answered.
    public enum Answer: Sendable {
        /// Bytes, with a media type; a byte range is cut out of them as a server would.
        case bytes([UInt8], contentType: String? = nil)
        /// An error.
        case failure(TransportError)
        /// Fewer bytes than announced.
        case truncated([UInt8], announced: Int64)
        /// Bytes found at another address, behind a redirect.
        case redirected(to: ResourceAddress, [UInt8])

        /// Text, as its bytes.
        public static func text(_ text: String) -> Answer { .bytes(Array(text.utf8)) }
    }

    private struct State {
        var answers: [String: [Answer]]
        var requests: [TransportRequest] = []
    }

    private let state: Mutex<State>
    private let time: any TimeSource

    /// Makes a transport; whatever has no answer is answered with 404.
    public init(_ answers: [String: [Answer]] = [:], time: any TimeSource = SystemTimeSource()) {
        state = Mutex(State(answers: answers))
        self.time = time
    }

    /// Makes a transport of playlists and other text, one answer for each address.
    public convenience init(texts: [String: String]) {
        self.init(texts.mapValues { [.text($0)] })
    }

    /// What was asked so far, in order.
    public var requests: [TransportRequest] { state.withLock { $0.requests } }

    /// The addresses that were asked for so far, in order.
    public var requestedAddresses: [String] { requests.map(\.address.text) }

    /// Gives an address other answers from now on.
    public func answer(_ address: String, with answers: Answer...) {
        state.withLock { $0.answers[address] = answers }
    }

    /// Answers as the script says.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let answer: Answer? = state.withLock { state in
            state.requests.append(request)
            guard var answers = state.answers[request.address.text], !answers.isEmpty else { return nil }
            let next = answers.count > 1 ? answers.removeFirst() : answers[0]
            state.answers[request.address.text] = answers
            return next
        }
        switch answer {
        case .bytes(let bytes, let contentType):
            return try response(bytes, request, contentType)
        case .truncated(let bytes, let announced):
            return TransportResponse(
                status: 200,
                headers: [],
                address: request.address,
                expectedLength: announced,
                body: TransportBody(bytes)
            )
        case .redirected(let address, let bytes):
            return TransportResponse(
                status: 200,
                headers: [],
                address: address,
                expectedLength: Int64(bytes.count),
                body: TransportBody(bytes)
            )
        case .failure(let error): throw error
        case nil:
            throw TransportError(
                .status,
                "the server answered 404 Not Found",
                address: request.address,
                status: 404
            )
        }
    }

    private func response(
        _ bytes: [UInt8],
        _ request: TransportRequest,
        _ contentType: String?
    ) throws -> TransportResponse {
        let range = request.byteRange ?? ByteRange(start: 0, length: Int64(bytes.count))
        let offset = request.resumption?.offset ?? 0
        guard let range, range.end <= bytes.count, offset <= range.length else {
            throw TransportError(
                .wrongContent,
                "the resource has \(bytes.count) bytes, and \(request.byteRange?.end ?? 0) of them were counted on",
                address: request.address
            )
        }
        let piece = bytes[Int(range.start +| offset)..<Int(range.end)]
        let record = TransferRecord(TransferMeasurement(sent: time.now))
        record.update { $0.firstByte = .zero }
        return TransportResponse(
            status: request.byteRange == nil && offset == 0 ? 200 : 206,
            headers: contentType.map { [HeaderField("Content-Type", $0)] } ?? [],
            address: request.address,
            expectedLength: Int64(piece.count),
            body: TransportBody(piece).measured(by: record, time),
            record: record
        )
    }
}
