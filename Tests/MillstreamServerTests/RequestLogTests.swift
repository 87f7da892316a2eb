import HTTPTypes
import Logging
import MediaTiming
import MillstreamTesting
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import MillstreamServer

/// Tests the log of answered requests, on a running server.
@Suite struct RequestLogTests {
    private let lines = RecordingLogHandler.Lines()

    private var logger: Logger {
        let lines = lines
        return Logger(label: "requests") { _ in RecordingLogHandler(lines) }
    }

    /// The lines without durations, which differ.
    private var stableLines: [String] {
        lines.all.map { $0.replacing(#/ microseconds=[0-9]+/#, with: "") }
    }

    /// Waits until a number of lines was written, because a client can have its response before the line is written.
    private func wait(forCount count: Int) async throws {
        for _ in 0..<3_000 where lines.all.count < count {
            try await SystemTimeSource().sleep(for: .milliseconds(10))
        }
    }

    /// The second response is sent without the router, and is in the log and in the metrics as well.
    @Test func everyResponseIsLogged() async throws {
        let logger = logger
        try await ServerStage.run(configure: { options, _ in options.requestLogger = logger }) {
            (stage: ServerStage) async throws in
            var resource = MisbehavingServer.Resource.text(
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nprivate.ts\n#EXT-X-ENDLIST\n",
                contentType: "application/vnd.apple.mpegurl"
            )
            resource.fields.append(MisbehavingServer.Field("Cache-Control", "max-age=600"))
            stage.origin.set("/private.m3u8", resource)
            let connection = try RawConnection(port: stage.port)
            func ask(_ method: String, _ target: String, until end: String) async throws -> RawResponse {
                connection.send("\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(stage.port)\r\n\r\n")
                return RawResponse(try await connection.read(until: end))
            }
            let target = "/play.m3u8?url=\(stage.privateSource)&segments=proxy"
            let first = try await ask("GET", target, until: "#EXT-X-ENDLIST\n")
            try #require(first.status == 200)
            let again = try await ask("GET", target, until: "#EXT-X-ENDLIST\n")
            #expect(again.body == first.body)
            let segment = try #require(first.body.split(separator: "\n").first { $0.hasPrefix("/segment/") })
            #expect(try await ask("GET", String(segment), until: "\r\n\r\nsegment").body == "segment")
            #expect(try await ask("GET", "/play.m3u8?token=of-the-owner", until: "}}").status == 400)
            #expect(try await ask("HEAD", "/health", until: "\r\n\r\n").status == 200)
            try await wait(forCount: 5)
            let size = first.body.utf8.count
            let found = stableLines
            try #require(found.count == 5, "\(found)")
            for (line, cache) in zip(found, ["edited", "fresh"]) {
                #expect(line.hasPrefix("info: request bytes=\(size) cache=\(cache) method=GET path=/play.m3u8?url="))
                #expect(line.hasSuffix("&segments=proxy status=200") && !line.contains("private.m3u8"), "\(line)")
            }
            #expect(found[2].hasPrefix("info: request bytes=7 cache=loaded method=GET path=/segment/"), "\(found[2])")
            #expect(found[3].hasSuffix(" path=/play.m3u8?token=of-… status=400") && !found[3].contains("cache="))
            #expect(found[4] == "info: request bytes=0 method=HEAD path=/health status=200")
            let metrics = try await stage.ask("/metrics").body
            #expect(metrics.contains("millstream_requests_total{area=\"play.m3u8\",status=\"200\"} 2"))
        }
    }

    /// Runs a handler on a channel without a network.
    private func withChannel(_ body: (EmbeddedChannel, ManualTime) throws -> Void) throws {
        let time = ManualTime()
        let channel = EmbeddedChannel(handlers: [RequestLogHandler(logger, time: time)])
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 4_711)).wait()
        try body(channel, time)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    private func receive(
        _ path: String,
        _ channel: EmbeddedChannel,
        method: HTTPRequest.Method = .get
    ) throws {
        let head = HTTPRequest(method: method, scheme: "http", authority: "media.example", path: path)
        try channel.writeInbound(HTTPRequestPart.head(head))
        try channel.writeInbound(HTTPRequestPart.end(nil))
    }

    @Test func pipelinedRequestsAreLoggedInTheirOrder() throws {
        try withChannel { channel, _ in
            try receive("/a", channel)
            try receive("/b", channel)
            try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .continue)))
            try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
            for text in ["one", "four"] {
                try channel.writeOutbound(HTTPResponsePart.body(ByteBuffer(string: text)))
            }
            #expect(lines.all.isEmpty)
            try channel.writeOutbound(HTTPResponsePart.end(nil))
            try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .notFound)))
            try channel.writeOutbound(HTTPResponsePart.end(nil))
        }
        #expect(
            stableLines == [
                "info: request bytes=7 method=GET path=/a status=200",
                "info: request bytes=0 method=GET path=/b status=404",
            ]
        )
    }

    /// The console asks for the network conditions again and again.
    @Test func repeatedRequestsOfTheConsoleHaveALowerLevel() throws {
        try withChannel { channel, _ in
            for status: HTTPResponse.Status in [.ok, .forbidden] {
                try receive("/api/conditions", channel)
                try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: status)))
                try channel.writeOutbound(HTTPResponsePart.end(nil))
            }
        }
        #expect(
            stableLines == [
                "debug: request bytes=0 method=GET path=/api/conditions status=200",
                "info: request bytes=0 method=GET path=/api/conditions status=403",
            ]
        )
    }

    @Test func changesOfTheConsoleHaveTheUsualLevel() throws {
        try withChannel { channel, _ in
            for (method, path) in [(.put, "/api/conditions"), (.get, "/api/faults")] as [(HTTPRequest.Method, String)] {
                try receive(path, channel, method: method)
                try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
                try channel.writeOutbound(HTTPResponsePart.end(nil))
            }
        }
        #expect(stableLines.allSatisfy { $0.hasPrefix("info: ") } && stableLines.count == 2)
    }

    /// A request that takes too long to arrive is answered before it is known.
    @Test func responseWithoutARequestIsNotLogged() throws {
        try withChannel { channel, _ in
            try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .requestTimeout)))
            try channel.writeOutbound(HTTPResponsePart.body(ByteBuffer(string: "late")))
            try channel.writeOutbound(HTTPResponsePart.end(nil))
            let encoded = EncodedResponse(HTTPResponse(status: .ok), body: ByteBuffer(string: "none"))
            channel.triggerUserOutboundEvent(encoded, promise: nil)
        }
        #expect(lines.all.isEmpty)
    }

    @Test func durationIsThatOfTheWholeResponse() throws {
        try withChannel { channel, time in
            try receive("/a", channel)
            time.advance(by: .milliseconds(2))
            try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
            time.advance(by: .milliseconds(3))
            try channel.writeOutbound(HTTPResponsePart.end(nil))
        }
        #expect(lines.all == ["info: request bytes=0 method=GET microseconds=5000 path=/a status=200"])
    }

    /// A request without a response is not an answered one.
    @Test func responseThatTheConnectionEndsIsLogged() throws {
        try withChannel { channel, _ in
            try receive("/a", channel)
            try receive("/b", channel)
            try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
            try channel.close().wait()
            channel.embeddedEventLoop.run()
        }
        #expect(stableLines == ["info: request bytes=0 ended=early method=GET path=/a status=200"])
    }
}
