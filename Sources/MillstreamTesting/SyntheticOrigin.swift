public import MediaTiming
public import MediaTransport
import NIOCore
import ResourceAddressing
import Synchronization

/// An origin whose playlists are texts and whose media is so many zeros: what a stream needs that nobody decodes.
///
/// All media shares one piece of memory, so that hours of it cost nothing.
public final class SyntheticOrigin: Transport {
    /// What an address leads to.
    public enum Resource: Sendable {
        /// A playlist, or anything else that is written.
        case text(String)
        /// Media that is only as large as it would be, at most ``SyntheticOrigin/largestSize``.
        case media(ByteCount)
        /// Bytes that somebody reads.
        case bytes([UInt8])
        /// It fails.
        case failure(TransportError)
    }

    private let resource: @Sendable (_ address: String, _ now: Duration) -> Resource?
    private let time: any TimeSource
    private let state = Mutex(State())

    private struct State {
        var zeros = ByteBuffer()
        var requestCount = 0
    }

    /// No media may be larger.
    public static let largestSize = ByteCount(256 << 20)

    /// Makes an origin whose answers may change with time, as those of a live stream do.
    ///
    /// - Parameters:
    ///   - time: The clock that transfers are measured by.
    ///   - resource: What is found at an address at a time; `nil` is answered with 404.
    public init(
        time: any TimeSource,
        resource: @escaping @Sendable (_ address: String, _ now: Duration) -> Resource?
    ) {
        self.time = time
        self.resource = resource
    }

    /// Makes an origin of a stream on demand; whatever it does not have is answered with 404.
    ///
    /// - Parameters:
    ///   - texts: Playlists and other texts by their addresses.
    ///   - sizes: The sizes of media by its addresses.
    ///   - time: The clock that transfers are measured by.
    public convenience init(texts: [String: String], sizes: [String: ByteCount], time: any TimeSource) {
        self.init(time: time) { address, _ in
            texts[address].map { .text($0) } ?? sizes[address].map { .media($0) }
        }
    }

    /// How often something was asked for.
    public var requestCount: Int { state.withLock { $0.requestCount } }

    /// Asks for a resource; see `Transport`.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        state.withLock { $0.requestCount += 1 }
        var body: ByteBuffer
        switch resource(request.address.text, time.now) {
        case .text(let text): body = ByteBuffer(string: text)
        case .bytes(let bytes): body = ByteBuffer(bytes: bytes)
        case .media(let size): body = zeros(Int(min(max(size, .zero), Self.largestSize).bytes))
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
        let record = TransferRecord(TransferMeasurement(sent: time.now))
        record.update { $0.firstByte = .zero }
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
