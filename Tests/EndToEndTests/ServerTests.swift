import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSamples
import Testing

/// Tests the responses of the server byte for byte.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct ServerTests {
    private struct ServerResponse {
        let status: Int
        let headers: HTTPHeaders
        let body: [UInt8]
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    private struct Stage {
        let origin: RecordingOrigin
        let server: RunningProgram
        let address: String

        func ask(
            _ path: String,
            method: HTTPMethod = .GET,
            headers: HTTPHeaders = [:],
            body: String? = nil
        ) async throws -> ServerResponse {
            var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
            configuration.timeout.read = .seconds(20)
            let client = HTTPClient(configuration: configuration)
            var request = HTTPClientRequest(url: path.hasPrefix("http") ? path : address + path.dropFirst())
            request.method = method
            request.headers = headers
            if let body { request.body = .bytes(ByteBuffer(string: body)) }
            do {
                let response = try await client.execute(request, timeout: .seconds(30))
                let bytes = try await response.body.collect(upTo: 64 << 20)
                try await client.shutdown()
                return ServerResponse(
                    status: Int(response.status.code),
                    headers: response.headers,
                    body: Array(bytes.readableBytesView)
                )
            } catch {
                try await client.shutdown()
                throw error
            }
        }
    }

    private func onStage(_ act: (Stage) async throws -> Void) async throws {
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let library = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        defer { try? FileManager.default.removeItem(at: library) }
        let server = try RunningProgram([
            "serve", "--port", "0", "--library", library.path, "--catalog", origin.address("Streams.plist"),
        ])
        let stage = Stage(origin: origin, server: server, address: try await server.match("(http://[0-9.:]+/)"))
        try await act(stage)
        server.send(SIGTERM)
        #expect(try await server.finish() == 0)
        await origin.stop()
    }

    @Test(.timeLimit(.minutes(10))) func segmentsAreRedirectedOrProxied() async throws {
        try await onStage { stage in
            let source = stage.origin.address("ts/180p/media.m3u8")
            let playlist = try await stage.ask("/play.m3u8?url=\(source)")
            #expect(
                playlist.status == 200
                    && playlist.headers.first(name: "Content-Type") == "application/vnd.apple.mpegurl"
            )
            #expect(playlist.headers.first(name: "Access-Control-Allow-Origin") == "*")
            #expect(playlist.headers.first(name: "Content-Security-Policy")?.hasPrefix("sandbox") == true)
            let segment = try #require(playlist.text.split(separator: "\n").first { !$0.hasPrefix("#") })
            let redirect = try await stage.ask(String(segment))
            #expect(redirect.status == 302)
            #expect(redirect.headers.first(name: "Location") == stage.origin.address("ts/180p/0.ts"))
            #expect(redirect.headers.first(name: "Access-Control-Allow-Origin") == "*")

            // The playlist determines the delivery of a segment.
            #expect(try await stage.ask(segment + "&segments=proxy").status == 403)
            let proxiedPlaylist = try await stage.ask("/play.m3u8?url=\(source)&segments=proxy")
            let proxiedSegment = String(
                try #require(proxiedPlaylist.text.split(separator: "\n").first { !$0.hasPrefix("#") })
            )
            let proxied = try await stage.ask(proxiedSegment)
            let directory = try #require(Samples.directory)
            let original = [UInt8](try Data(contentsOf: directory.appendingPathComponent("ts/180p/0.ts")))
            #expect(proxied.status == 200 && proxied.body == original)
            let range = try await stage.ask(proxiedSegment, headers: ["Range": "bytes=188-375"])
            #expect(range.status == 206 && range.body == Array(original[188..<376]))
            #expect(range.headers.first(name: "Content-Range") == "bytes 188-375/\(original.count)")
        }
    }

    /// The conditions of a stream apply to all its segments, which share one link, and can be changed during playback.
    @Test(.timeLimit(.minutes(10))) func conditionsApplyToAllRequestsOfAStream() async throws {
        try await onStage { stage in
            let source = stage.origin.address("ts/multivariant.m3u8")
            func clocked(_ path: String) async throws -> (ServerResponse, Duration) {
                let started = ContinuousClock.now
                let response = try await stage.ask(path)
                return (response, ContinuousClock.now - started)
            }
            let (top, topTime) = try await clocked("/play.m3u8?url=\(source)&conditions=EDGE&max-height=200")
            #expect(top.status == 200 && topTime >= .milliseconds(840))
            let child = try #require(top.text.split(separator: "\n").first { !$0.hasPrefix("#") })
            let link = try #require(child.firstMatch(of: /conditions=EDGE&link=([0-9a-z]+)/)?.output.1)
            let (media, mediaTime) = try await clocked(String(child))
            #expect(media.status == 200 && mediaTime >= .milliseconds(840))
            let segments = media.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            #expect(!segments.isEmpty && segments.allSatisfy { $0.hasSuffix("conditions=EDGE&link=\(link)") })
            let segment = String(try #require(segments.first))
            let (slow, slowTime) = try await clocked(segment)
            let least = 0.84 + Double(slow.body.count) * 8 / 240_000 * 0.95
            #expect(slow.status == 200 && slowTime / .seconds(1) >= least)

            let host = String(stage.address.dropFirst("http://".count).dropLast())
            let headers: HTTPHeaders = ["Content-Type": "application/json", "Origin": "http://\(host)"]
            let order = #"{"url":"\#(source)","named":"EDGE","conditions":"Off"}"#
            let changed = try await stage.ask("/api/conditions", method: .PUT, headers: headers, body: order)
            #expect(changed.status == 200 && changed.text.contains(#""named":"EDGE","conditions":"Off""#))
            let (fast, fastTime) = try await clocked(segment)
            #expect(fast.body == slow.body && fastTime < .milliseconds(840))

            let unknown = try await stage.ask("/play.m3u8?url=\(source)&conditions=6G")
            #expect(unknown.status == 400 && unknown.text.contains("unknown-conditions"))
            let nobody = order.replacing("EDGE", with: "3G")
            let missing = try await stage.ask("/api/conditions", method: .PUT, headers: headers, body: nobody)
            #expect(missing.status == 404)
            let foreign = ["Content-Type": "application/json", "Origin": "http://example.com"] as HTTPHeaders
            let refused = try await stage.ask("/api/conditions", method: .PUT, headers: foreign, body: order)
            #expect(refused.status == 403)
        }
    }

    /// A saved playlist must refer to this server with absolute addresses.
    @Test(.timeLimit(.minutes(10))) func savedPlaylistHasAbsoluteAddresses() async throws {
        try await onStage { stage in
            let source = stage.origin.address("ts/multivariant.m3u8")
            let top = try await stage.ask("/play.m3u8?url=\(source)&max-height=200&duration=30&absolute=1")
            let child = try #require(top.text.split(separator: "\n").first { !$0.hasPrefix("#") })
            #expect(child.hasPrefix(stage.address + "play.m3u8?"))
            let media = try await stage.ask(String(child))
            let segments = media.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            #expect(!segments.isEmpty && segments.allSatisfy { $0.hasPrefix(stage.address + "segment/") })
            let segment = try await stage.ask(String(try #require(segments.first)))
            #expect(segment.status == 302)
        }
    }

    @Test(.timeLimit(.minutes(10))) func privateAddressesAreNeitherFetchedNorRedirectedTo() async throws {
        try await onStage { stage in
            for (path, status) in [
                ("/play.m3u8?url=http://127.0.0.1:1/x", 403), ("/play.m3u8?url=file:///etc/passwd", 400),
                ("/segment/x?url=http://169.254.169.254/", 403),
                ("/segment/x?url=http://localhost:1/&segments=proxy", 403),
                ("/api/inspect?url=http://10.0.0.1/", 403),
            ] {
                let response = try await stage.ask(path)
                #expect(response.status == status, "\(path): \(response.status)")
                #expect(response.text.contains("\"error\"") && response.headers.first(name: "Location") == nil)
            }
            let order = #"{"url":"http://127.0.0.1:1/x.m3u8"}"#
            let refused = try await stage.ask(
                "/api/downloads",
                method: .POST,
                headers: ["Content-Type": "application/json"],
                body: order
            )
            #expect(refused.status == 403 && refused.text.contains("allow-host"))
        }
    }

    @Test(.timeLimit(.minutes(10))) func otherSitesCannotChangeAnything() async throws {
        try await onStage { stage in
            let order = "{\"url\":\"\(stage.origin.address("ts/multivariant.m3u8"))\"}"
            let foreign = try await stage.ask(
                "/api/downloads",
                method: .POST,
                headers: ["Content-Type": "application/json", "Origin": "https://evil.example"],
                body: order
            )
            #expect(foreign.status == 403)
            let plain = try await stage.ask(
                "/api/downloads",
                method: .POST,
                headers: ["Content-Type": "text/plain"],
                body: order
            )
            #expect(plain.status == 415)
            let rebound = try await stage.ask(
                "/api/library/x",
                method: .DELETE,
                headers: ["Host": "evil.example"]
            )
            #expect(rebound.status == 403)
            // A request with a foreign host name must not read the library either.
            for path in ["/api/library", "/api/streams", "/offline/x/multivariant.m3u8"] {
                let read = try await stage.ask(path, headers: ["Host": "evil.example:8080"])
                #expect(read.status == 403 && read.text.contains("foreign-host"), "\(path)")
            }
            #expect(try await stage.ask("/api/library").text == #"{"assets":[]}"#)
        }
    }

    @Test(.timeLimit(.minutes(10))) func healthMetricsAndOtherRoutesRespond() async throws {
        try await onStage { stage in
            #expect(try await stage.ask("/health").text == #"{"status":"ok"}"#)
            _ = try await stage.ask("/nowhere")
            let metrics = try await stage.ask("/metrics").text
            #expect(metrics.contains("millstream_requests_total{area=\"health\",status=\"200\"} 1"))
            for path in [
                "/nowhere", "/console/../Package.swift", "/console/..%2f..%2fx", "/offline/x/y",
                "/api/streams/x/poster",
            ] {
                #expect(try await stage.ask(path).status == 404, "\(path)")
            }
            let head = try await stage.ask("/", method: .HEAD)
            #expect(head.status == 200 && head.headers.first(name: "Content-Security-Policy") != nil)
            let options = try await stage.ask("/play.m3u8?url=x", method: .OPTIONS)
            #expect(options.status == 204 && options.headers.first(name: "Access-Control-Allow-Headers") == "Range")
        }
    }
}
