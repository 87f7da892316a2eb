import AsyncHTTPClient
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import MediaTransport

/// A handler that records what a connection delivers, in order.
private final class DeliveryRecorder: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private(set) var events: [String] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): events.append("\(head.status.code)")
        case .body(let buffer): events.append("\(buffer.readableBytes) bytes")
        case .end: events.append("end")
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { events.append("error") }
}

/// Tests the sizes at which parts of a body are combined, and the order in which a connection delivers them.
@Suite struct IdleReadEdgeTests {
    private static let chunkedHead = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)

    private func chunk(_ count: Int) -> [UInt8] {
        Array("\(String(count, radix: 16))\r\n".utf8) + [UInt8](repeating: 0x61, count: count) + Array("\r\n".utf8)
    }

    /// Returns the events of a connection on which a request was sent, with a time limit of 20 seconds.
    private func events(_ reads: [[UInt8]]) throws -> [String] {
        let recorder = DeliveryRecorder()
        let decoder = HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .forward)
        let channel = EmbeddedChannel(handlers: [
            ByteToMessageHandler(decoder), IdleReadHandler(limit: .seconds(20)), recorder,
        ])
        defer { _ = try? channel.finish() }
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 80)).wait()
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/a")
        try channel.writeOutbound(HTTPClientRequestPart.head(head))
        try channel.writeOutbound(HTTPClientRequestPart.end(nil))
        for read in reads {
            _ = try channel.writeInbound(ByteBuffer(bytes: read))
            channel.read()
        }
        return recorder.events
    }

    @Test(arguments: [
        ([4_095, 1], ["4096 bytes"]), ([4_096, 1], ["4096 bytes", "1 bytes"]),
        ([1, 4_096], ["1 bytes", "4096 bytes"]), ([4_095, 4_095], ["8190 bytes"]),
    ])
    func partOf4KiBIsDeliveredByItself(counts: [Int], expected: [String]) throws {
        let events = try events([Self.chunkedHead, counts.flatMap { chunk($0) }])
        #expect(events == ["200"] + expected)
    }

    @Test func combinedPartsAreDeliveredAt64KiB() throws {
        let parts = [Int](repeating: 4_095, count: 16)
        let full = try events([Self.chunkedHead, (parts + [16, 1]).flatMap { chunk($0) }])
        #expect(full == ["200", "65536 bytes", "1 bytes"])
        let less = try events([Self.chunkedHead, (parts + [15]).flatMap { chunk($0) } + chunk(1)])
        #expect(less == ["200", "65536 bytes"])
        let short = try events([Self.chunkedHead, (parts + [14]).flatMap { chunk($0) } + chunk(1)])
        #expect(short == ["200", "65535 bytes"])
    }

    @Test func partBeforeAnErrorIsDeliveredBeforeIt() throws {
        let events = try events([Self.chunkedHead, chunk(1) + Array("zz\r\n".utf8)])
        #expect(events == ["200", "1 bytes", "error"])
    }

    @Test(arguments: [100, 103, 199]) func informationalResponsesAreForwarded(status: Int) throws {
        let hint = Array("HTTP/1.1 \(status) X\r\n\r\n".utf8)
        let response = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
        let hints = try events([hint, hint, response])
        #expect(hints == ["\(status)", "\(status)", "200", "end"])
        // The limit of their number is the same for all of them.
        let many = try events([[[UInt8]](repeating: hint, count: 17).flatMap(\.self)])
        #expect(many.contains("error") && many.filter { $0 == "\(status)" }.count == 16)
    }
}
