public import MediaTiming
public import MediaTransport
import NIOCore
import ResourceAddressing
import Synchronization

/// An origin whose playlists are texts and whose media is so many zeros: what a stream needs that nobody decodes.
///
/// All media shares one piece of memory, so that hours of it cost nothing.
public final class SyntheticOrigin: Transport {
    private let texts: [String: String]
    private let sizes: [String: ByteCount]
    private let time: any TimeSource
    private let zeros = Mutex(ByteBuffer())

    /// No resource may be larger.
    public static let largestSize = ByteCount(256 << 20)

    /// Makes an origin; whatever it does not have is answered with 404.
    ///
    /// - Parameters:
    ///   - texts: Playlists and other texts by their addresses.
    ///   - sizes: The sizes of media by its addresses, at most ``largestSize``.
    ///   - time: The clock that transfers are measured by.
    public init(texts: [String: String], sizes: [String: ByteCount], time: any TimeSource) {
        self.texts = texts
        self.sizes = sizes
        self.time = time
    }

    /// Asks for a resource; see `Transport`.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let address = request.address.text
        var body: ByteBuffer
        if let text = texts[address] {
            body = ByteBuffer(string: text)
        } else if let size = sizes[address], size <= Self.largestSize {
            body = zeros(Int(size.bytes))
        } else {
            throw TransportError(.status, "the server answered 404 Not Found", address: request.address, status: 404)
        }
        let range = request.byteRange
        if let range {
            guard range.end <= Int64(body.readableBytes), let part = body.getSlice(at: Int(range.start), length: Int(range.length))
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
        zeros.withLock { zeros in
            if zeros.readableBytes < count { zeros.writeRepeatingByte(0, count: count - zeros.readableBytes) }
            return zeros.getSlice(at: zeros.readerIndex, length: count) ?? ByteBuffer()
        }
    }
}
