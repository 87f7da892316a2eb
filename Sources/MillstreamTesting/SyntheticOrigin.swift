public import MediaTiming
public import MediaTransport
import NIOCore
import ResourceAddressing
import Synchronization

/// A transport that serves texts as playlists, and zeros of a given size as media, for streams that are not decoded.
///
/// All media shares one buffer, so that hours of it need little memory.
public final class SyntheticOrigin: Transport {
    /// The resource at an address.
    public enum Resource: Sendable {
        /// A playlist or another text.
        case text(String)
        /// Zeros with the size of the media, limited to ``SyntheticOrigin/maximumMediaSize``.
        case media(ByteCount)
        /// Bytes with content.
        case bytes([UInt8])
        /// A request that fails with this error.
        case failure(TransportError)
    }

    private let resource: @Sendable (_ address: String, _ now: Duration) -> Resource?
    private let time: any TimeSource
    private let state = Mutex(State())

    private struct State {
        var zeros = ByteBuffer()
        var requestCount = 0
    }

    /// The maximum size of a media resource.
    public static let maximumMediaSize = ByteCount(256 << 20)

    /// Creates an origin whose resources can change over time, as those of a live stream do.
    ///
    /// - Parameters:
    ///   - time: The clock for the measurement of transfers.
    ///   - resource: Returns the resource at an address at a time; `nil` responds with 404.
    public init(
        time: any TimeSource,
        resource: @escaping @Sendable (_ address: String, _ now: Duration) -> Resource?
    ) {
        self.time = time
        self.resource = resource
    }

    /// Creates an origin of a stream on demand; the response for any other address is 404.
    ///
    /// - Parameters:
    ///   - texts: Playlists and other texts by address.
    ///   - sizes: The sizes of media resources by address.
    ///   - time: The clock for the measurement of transfers.
    public convenience init(texts: [String: String], sizes: [String: ByteCount], time: any TimeSource) {
        self.init(time: time) { address, _ in
            texts[address].map { .text($0) } ?? sizes[address].map { .media($0) }
        }
    }

    /// The number of requests so far.
    public var requestCount: Int { state.withLock { $0.requestCount } }

    /// Sends a request; see `Transport`.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        state.withLock { $0.requestCount += 1 }
        var body: ByteBuffer
        switch resource(request.address.text, time.now) {
        case .text(let text): body = ByteBuffer(string: text)
        case .bytes(let bytes): body = ByteBuffer(bytes: bytes)
        case .media(let size): body = zeros(Int(min(max(size, .zero), Self.maximumMediaSize).bytes))
        case .failure(let error): throw error
        case nil:
            throw TransportError(.status, "the server answered 404 Not Found", address: request.address, status: 404)
        }
        let range = request.byteRange
        if let range {
            guard range.end <= Int64(body.readableBytes),
                let part = body.getSlice(at: Int(range.start), length: Int(range.length))
            else {
                throw TransportError(.status, "the server answered 416", address: request.address, status: 416)
            }
            body = part
        }
        let record = TransferRecord(TransferMeasurement(requestStart: time.now))
        record.update { $0.timeToFirstByte = .zero }
        let whole = body
        let (stream, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
        if whole.readableBytes > 0 { continuation.yield(whole) }
        continuation.finish()
        return TransportResponse(
            status: range == nil ? 200 : 206,
            headers: [],
            address: request.address,
            expectedLength: Int64(whole.readableBytes),
            body: TransportBody(stream).measured(by: record, time),
            record: record
        )
    }

    private func zeros(_ count: Int) -> ByteBuffer {
        state.withLock { state in
            let missing = count - state.zeros.readableBytes
            if missing > 0 { state.zeros.writeRepeatingByte(0, count: missing) }
            return state.zeros.getSlice(at: state.zeros.readerIndex, length: count) ?? ByteBuffer()
        }
    }
}
