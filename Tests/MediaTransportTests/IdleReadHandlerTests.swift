import AsyncHTTPClient
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import MediaTransport

/// A connection without a network on which a request was sent, with a time limit of 20 seconds.
private final class RequestedConnection {
    let channel: EmbeddedChannel

    init() throws {
        let decoder = HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .forward)
        channel = EmbeddedChannel(handlers: [
            ByteToMessageHandler(decoder), IdleReadHandler(limit: .seconds(20)),
        ])
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 80)).wait()
        try request()
    }

    /// Sends a request.
    func request() throws {
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/a")
        try channel.writeOutbound(HTTPClientRequestPart.head(head))
        try channel.writeOutbound(HTTPClientRequestPart.end(nil))
    }

    deinit { _ = try? channel.finish() }

    /// Receives bytes, and reads on.
    func receive(_ text: String) throws {
        try channel.writeInbound(ByteBuffer(string: text))
        channel.read()
    }

    /// Receives a text again and again, until the exchange fails or 100 of them were received.
    ///
    /// - Returns: The number of seconds and the error; `nil` if the exchange does not fail.
    func failure(repeating text: String, everySeconds interval: Int64) -> (seconds: Int64, error: any Error)? {
        var elapsed: Int64 = 0
        do {
            for _ in 0..<100 {
                channel.embeddedEventLoop.advanceTime(by: .seconds(interval))
                elapsed += interval
                try channel.throwIfErrorCaught()
                try receive(text)
            }
            return nil
        } catch {
            return (elapsed, error)
        }
    }
}

/// Tests the limits of time for responses whose head or end never comes.
@Suite struct IdleReadHandlerTests {
    private static let chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test func headThatNeverEndsTimesOut() throws {
        let connection = try RequestedConnection()
        try connection.receive("HTTP/1.1 200 OK\r\n")
        let failure = try #require(connection.failure(repeating: "X: a\r\n", everySeconds: 1))
        #expect(failure.seconds == 20 && failure.error as? HTTPClientError == .deadlineExceeded)
        #expect(!connection.channel.isActive)
    }

    @Test func informationalResponsesDoNotExtendTheTime() throws {
        let connection = try RequestedConnection()
        let hint = "HTTP/1.1 103 Early Hints\r\n\r\n"
        let failure = try #require(connection.failure(repeating: hint, everySeconds: 4))
        #expect(failure.seconds == 20 && failure.error as? HTTPClientError == .deadlineExceeded)
    }

    @Test func informationalResponsesAreLimited() throws {
        let hint = "HTTP/1.1 103 Early Hints\r\n\r\n"
        let accepted = try RequestedConnection()
        try accepted.receive(String(repeating: hint, count: 16))
        try accepted.receive("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")
        #expect(accepted.channel.isActive)
        let refused = try RequestedConnection()
        #expect(throws: TooManyInformationalResponses.self) {
            try refused.receive(String(repeating: hint, count: 1_000))
        }
        #expect(!refused.channel.isActive)
        let first = try RequestedConnection()
        #expect(throws: TooManyInformationalResponses.self) { try first.receive(String(repeating: hint, count: 17)) }
    }

    @Test func trailersThatNeverEndTimeOut() throws {
        let connection = try RequestedConnection()
        try connection.receive(Self.chunkedHead + "1\r\na\r\n0\r\n")
        let failure = try #require(connection.failure(repeating: "X: a\r\n", everySeconds: 1))
        #expect(failure.seconds == 20 && failure.error as? HTTPClientError == .deadlineExceeded)
        #expect(!connection.channel.isActive)
    }

    @Test func silenceTimesOut() throws {
        let connection = try RequestedConnection()
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(20))
        #expect(throws: HTTPClientError.readTimeout) { try connection.channel.throwIfErrorCaught() }
    }

    @Test func bodyExtendsTheTime() throws {
        let connection = try RequestedConnection()
        try connection.receive(Self.chunkedHead)
        let failure = connection.failure(repeating: "1\r\na\r\n", everySeconds: 19)
        #expect(failure?.seconds == nil)
    }

    @Test func eachRequestHasTheWholeTime() throws {
        let connection = try RequestedConnection()
        try connection.receive(Self.chunkedHead + "1\r\na\r\n")
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(15))
        // The end of the body is no progress.
        try connection.receive("0\r\n\r\n")
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(100))
        try connection.request()
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(19))
        try connection.channel.throwIfErrorCaught()
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(throws: HTTPClientError.readTimeout) { try connection.channel.throwIfErrorCaught() }
        #expect(!connection.channel.isActive)
    }

    @Test func pauseOfTheReaderIsNotCounted() throws {
        let connection = try RequestedConnection()
        try connection.channel.writeInbound(ByteBuffer(string: Self.chunkedHead + "1\r\na\r\n"))
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(100))
        try connection.channel.throwIfErrorCaught()
        connection.channel.read()
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(19))
        try connection.receive("0\r\n\r\n")
        // The exchange has ended.
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(100))
        try connection.channel.throwIfErrorCaught()
        #expect(connection.channel.isActive)
    }
}
