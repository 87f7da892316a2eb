import AsyncHTTPClient
import MediaTiming
import MillstreamTesting
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression
import ResourceAddressing
import Synchronization
import Testing

@testable import MediaTransport

/// Tests bodies that arrive without an end, but contain nothing or next to nothing.
@Suite struct EmptyBodyTests {
    private static let compressedHead =
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    /// The beginning of a member of a gzip file.
    private static let gzipHead: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
    /// Stored blocks without bytes, none of which is the last one.
    private static let emptyBlocks = [[UInt8]](repeating: [0, 0, 0, 0xFF, 0xFF], count: 1_000).flatMap(\.self)

    /// Returns a connection on which a request was sent, with a time limit of 20 seconds.
    private func requestedConnection() throws -> EmbeddedChannel {
        let decoder = HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .forward)
        let channel = EmbeddedChannel(handlers: [
            ByteToMessageHandler(decoder), NIOHTTPResponseDecompressor(limit: .ratio(250)),
            IdleReadHandler(limit: .seconds(20)),
        ])
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 80)).wait()
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/a")
        try channel.writeOutbound(HTTPClientRequestPart.head(head))
        try channel.writeOutbound(HTTPClientRequestPart.end(nil))
        return channel
    }

    private func receive(_ bytes: some Sequence<UInt8>, on channel: EmbeddedChannel) throws {
        try channel.writeInbound(ByteBuffer(bytes: bytes))
        channel.read()
    }

    private func chunk(_ bytes: [UInt8]) -> [UInt8] {
        Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
    }

    /// Returns the sizes of the delivered parts of the body.
    private func bodySizes(_ channel: EmbeddedChannel) throws -> [Int] {
        var sizes: [Int] = []
        while let part = try channel.readInbound(as: HTTPClientResponsePart.self) {
            if case .body(let buffer) = part { sizes.append(buffer.readableBytes) }
        }
        return sizes
    }

    @Test func compressedBodyThatExpandsToNothingTimesOut() throws {
        let channel = try requestedConnection()
        defer { _ = try? channel.finish() }
        try receive(Self.compressedHead.utf8, on: channel)
        try receive(chunk(Self.gzipHead), on: channel)
        var seconds = 0
        let error = #expect(throws: HTTPClientError.self) {
            for _ in 0..<100 {
                channel.embeddedEventLoop.advanceTime(by: .seconds(1))
                seconds += 1
                try channel.throwIfErrorCaught()
                try receive(chunk(Self.emptyBlocks), on: channel)
            }
        }
        #expect(error == .deadlineExceeded && seconds == 20)
        #expect(!channel.isActive)
        #expect(try bodySizes(channel).isEmpty)
    }

    @Test func smallChunksAreCombined() throws {
        let channel = try requestedConnection()
        defer { _ = try? channel.finish() }
        try receive("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8, on: channel)
        try receive(String(repeating: "1\r\na\r\n", count: 1_000).utf8, on: channel)
        #expect(try bodySizes(channel) == [1_000])
        // A large chunk is delivered by itself, after the small one that precedes it.
        let large = [UInt8](repeating: 0x61, count: 5_000)
        try receive(chunk([0x61]) + chunk(large) + chunk([0x61]) + chunk([0x61]), on: channel)
        #expect(try bodySizes(channel) == [1, 5_000, 2])
        try receive(chunk([0x61]) + Array("0\r\n\r\n".utf8), on: channel)
        #expect(try bodySizes(channel) == [1])
        try channel.throwIfErrorCaught()
    }

    // MARK: Bodies of any transport

    private final class Clock: TimeSource {
        private let time = Mutex(Duration.zero)

        var now: Duration { time.withLock { $0 } }
        func advance(by duration: Duration) { time.withLock { $0 += duration } }
        func sleep(for duration: Duration) async throws { advance(by: duration) }
    }

    /// A transport whose bodies have a buffer for each second.
    private struct EmptyingTransport: Transport {
        let time: Clock
        /// The sizes of the buffers; `nil` for empty ones without an end.
        let sizes: [Int]?

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            let rest = Mutex(sizes)
            let time = time
            let body = AsyncThrowingStream<ByteBuffer, any Error> {
                time.advance(by: .seconds(1))
                let size: Int? = rest.withLock { rest in
                    guard let sizes = rest else { return 0 }
                    rest = Array(sizes.dropFirst())
                    return sizes.first
                }
                return size.map { ByteBuffer(repeating: 7, count: $0) }
            }
            return TransportResponse(to: request, body: TransportBody(body))
        }
    }

    @Test func emptyBuffersAreNotDelivered() async throws {
        let time = Clock()
        let loader = ResourceLoader(
            EmptyingTransport(time: time, sizes: [0, 1, 0, 0, 2, 0]),
            policy: RecoveryPolicy(retries: 0),
            time: time
        )
        let request = TransportRequest(ResourceAddress("https://h/a"), kind: .playlist)
        let sizes = try await loader.send(request) { response in
            var sizes: [Int] = []
            for try await buffer in response.body { sizes.append(buffer.readableBytes) }
            return sizes
        }
        #expect(sizes == [1, 2])
    }

    @Test func bodyOfEmptyBuffersTimesOut() async throws {
        let time = Clock()
        let loader = ResourceLoader(
            EmptyingTransport(time: time, sizes: nil),
            policy: RecoveryPolicy(retries: 0),
            time: time
        )
        let error = await #expect(throws: TransportError.self) {
            _ = try await loader.load(TransportRequest(ResourceAddress("https://h/a"), kind: .playlist))
        }
        #expect(error?.code == .timedOut && error?.message == "only 0 bytes were received in 20 seconds")
        #expect(time.now == .seconds(20))
    }
}
