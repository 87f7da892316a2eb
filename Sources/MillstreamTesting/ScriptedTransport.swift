public import MediaTiming
public import MediaTransport
public import ResourceAddressing
import Synchronization

/// A transport with predefined responses, which records the requests.
///
/// An address can have several responses: each request gets the next one, and the last one is repeated.
public final class ScriptedTransport: Transport {
    /// A predefined response.
    public enum Response: Sendable {
        /// A resource with these bytes and a media type; range requests return the requested bytes.
        case bytes([UInt8], contentType: String? = nil)
        /// A request that fails with this error.
        case failure(TransportError)
        /// A body with fewer bytes than the announced length.
        case truncated([UInt8], announced: Int64)
        /// Bytes from another address, as after a redirect.
        case redirected(to: ResourceAddress, [UInt8])

        /// Returns a response with the UTF-8 bytes of a text.
        public static func text(_ text: String) -> Response { .bytes(Array(text.utf8)) }
    }

    private struct State {
        var responses: [String: [Response]]
        var requests: [TransportRequest] = []
    }

    private let state: Mutex<State>
    private let time: any TimeSource

    /// Creates a transport; the response for any other address is 404.
    public init(_ responses: [String: [Response]] = [:], time: any TimeSource = SystemTimeSource()) {
        state = Mutex(State(responses: responses))
        self.time = time
    }

    /// Creates a transport with one text response for each address.
    public convenience init(texts: [String: String]) {
        self.init(texts.mapValues { [.text($0)] })
    }

    /// The requests so far, in order.
    public var requests: [TransportRequest] { state.withLock { $0.requests } }

    /// The addresses of the requests so far, in order.
    public var requestedAddresses: [String] { requests.map(\.address.text) }

    /// Sets the responses of an address, replacing earlier ones.
    public func setResponses(for address: String, _ responses: Response...) {
        state.withLock { $0.responses[address] = responses }
    }

    /// Returns the next predefined response.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let scripted: Response? = state.withLock { state in
            state.requests.append(request)
            guard var responses = state.responses[request.address.text], !responses.isEmpty else { return nil }
            let next = responses.count > 1 ? responses.removeFirst() : responses[0]
            state.responses[request.address.text] = responses
            return next
        }
        switch scripted {
        case .bytes(let bytes, let contentType):
            return try response(bytes, request, contentType)
        case .truncated(let bytes, let announced):
            return TransportResponse(to: request, expectedLength: announced, body: TransportBody(bytes))
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
                "the resource has \(bytes.count) bytes, but the request needs \(request.byteRange?.end ?? 0)",
                address: request.address
            )
        }
        let chunk = bytes[Int(range.start +| offset)..<Int(range.end)]
        let record = TransferRecord(TransferMeasurement(requestStart: time.now))
        record.update { $0.timeToFirstByte = .zero }
        return TransportResponse(
            status: request.byteRange == nil && offset == 0 ? 200 : 206,
            headers: contentType.map { [HeaderField("Content-Type", $0)] } ?? [],
            address: request.address,
            expectedLength: Int64(chunk.count),
            body: TransportBody(chunk).measured(by: record, time),
            record: record
        )
    }
}
