import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import MillstreamServer

/// Tests how the media sequence numbers of segments are learned, without a network.
@Suite struct FaultInjectionDetailTests {
    private static let head = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:7\n"
    private static let segments = "#EXTINF:4,\na.ts\n#EXTINF:4,\nb.ts\n"

    private func context() -> ServerRequestContext {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return ServerRequestContext(source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: logger))
    }

    private func settings(_ fault: String) throws -> FaultSettings {
        FaultSettings([try #require(ResponseFault(fault))], time: ManualTime())
    }

    /// The numbers are known before the last bytes are sent, and not before the playlist is.
    @Test(arguments: [(HTTPResponse.Status.ok, true), (.notFound, false)])
    func numbersAreThoseOfThePlaylistsThatWereSent(status: HTTPResponse.Status, isKnown: Bool) async throws {
        let settings = try settings("sequence=8&status=503")
        let response = try await FaultInjection(settings).handle(.get("/v/list.m3u8"), context: context()) { _, _ in
            let body = ResponseBody { writer in
                for piece in [Self.head, Self.segments] { try await writer.write(ByteBuffer(string: piece)) }
                try await writer.finish(nil)
            }
            return Response(status: status, body: body)
        }
        #expect(response.status == status)
        let isEarly = settings.fault(forRequestOf: "/v/b.ts") != nil
        #expect(!isEarly)
        let body = try await response.body.recorded()
        #expect(body.text == Self.head + Self.segments && body.isFinished)
        #expect(body.chunkSizes == [Self.head.utf8.count, Self.segments.utf8.count])
        let (first, second) = (settings.fault(forRequestOf: "/v/a.ts"), settings.fault(forRequestOf: "/v/b.ts"))
        #expect(first == nil && (second != nil) == isKnown)
    }

    /// A part of a playlist, or a compressed one, could not be read.
    @Test(
        arguments: [
            ("sequence=8&status=503", "/v/list.m3u8", false), ("sequence=8&status=503", "/v/a.ts", true),
            ("path=/x&status=503", "/v/list.m3u8", true),
        ]
    )
    func playlistIsRequestedAsAWhole(fault: String, path: String, isUnchanged: Bool) async throws {
        let fields: [(HTTPField.Name, String)] = [
            (.acceptEncoding, "gzip"), (.ifNoneMatch, "\"x\""), (.ifModifiedSince, "Wed, 01 Jan 2025 00:00:00 GMT"),
            (.range, "bytes=0-1"),
        ]
        let request = Request.get(path, fields: fields + [(.userAgent, "x")])
        let response = try await FaultInjection(try settings(fault)).handle(request, context: context()) { request, _ in
            // The response has the fields of the request that was received.
            Response(status: .ok, headers: request.headers)
        }
        for (name, value) in fields {
            #expect(response.headers[name] == (isUnchanged ? value : nil), "\(name)")
        }
        #expect(response.headers[.userAgent] == "x")
    }
}
