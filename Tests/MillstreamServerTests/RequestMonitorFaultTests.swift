import HTTPTypes
import MediaTiming
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import MillstreamServer

/// Tests the events that a request monitor passes on, and the deadlines of requests that begin before a response.
@Suite struct RequestMonitorFaultTests {
    /// The next handler of the pipeline, which counts events.
    private final class Recorder: ChannelInboundHandler {
        typealias InboundIn = Any

        private(set) var openings = 0
        private(set) var closings = 0

        func channelActive(context: ChannelHandlerContext) {
            openings += 1
            context.fireChannelActive()
        }

        func channelInactive(context: ChannelHandlerContext) {
            closings += 1
            context.fireChannelInactive()
        }
    }

    private let time = ManualTime()
    private let monitor: RequestMonitor
    private let recorder = Recorder()
    private let channel: EmbeddedChannel

    init() throws {
        let limits = ConnectionLimits(
            headTimeout: .seconds(4),
            bodyTimeout: .seconds(6),
            keepAliveTimeout: .seconds(10),
            writeTimeout: .seconds(4)
        )
        monitor = RequestMonitor(limits, time: time)
        let handlers: [any ChannelHandler] = [monitor, recorder]
        channel = EmbeddedChannel(handlers: handlers)
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 4_711)).wait()
    }

    private func advance(by duration: Duration) {
        var rest = duration
        while rest > .zero {
            let part = min(rest, .milliseconds(10))
            time.advance(by: part)
            channel.embeddedEventLoop.advanceTime(by: TimeAmount(limiting: part))
            rest -= part
        }
    }

    @Test func nextHandlerLearnsOfTheBeginningAndTheEnd() throws {
        #expect(recorder.openings == 1 && recorder.closings == 0)
        _ = try channel.finish(acceptAlreadyClosed: true)
        #expect(recorder.openings == 1 && recorder.closings == 1)
    }

    /// No deadline is scheduled while the server responds, until the first byte of the next request.
    @Test func nextRequestBeginsItsTimeDuringAResponse() throws {
        let head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1", path: "/")
        monitor.receiveBytes()
        try channel.writeInbound(HTTPRequestPart.head(head))
        try channel.writeInbound(HTTPRequestPart.end(nil))
        advance(by: .seconds(60))
        #expect(channel.isActive)
        monitor.receiveBytes()
        advance(by: .milliseconds(3_990))
        #expect(channel.isActive)
        advance(by: .milliseconds(10))
        #expect(!channel.isActive)
    }
}
