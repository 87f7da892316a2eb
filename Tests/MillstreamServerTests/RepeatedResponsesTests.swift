import MillstreamTesting
import Testing

@testable import MillstreamServer

/// A connection on which several requests are sent.
private struct Client {
    let connection: RawConnection
    let port: Int

    init(_ stage: ServerStage) throws {
        connection = try RawConnection(port: stage.port)
        port = stage.port
    }

    func send(_ target: String, _ fields: String...) {
        let lines = ["GET \(target) HTTP/1.1", "Host: 127.0.0.1:\(port)"] + fields
        connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
    }

    /// Sends a request, and returns the response.
    ///
    /// - Parameters:
    ///   - target: The target.
    ///   - end: The end of the response.
    ///   - field: A header field.
    /// - Returns: The response.
    /// - Throws: ``RawConnection/Failure`` if it does not arrive.
    func ask(
        _ target: String,
        until end: String = "#EXT-X-ENDLIST\n",
        _ field: String = "Accept: */*"
    ) async throws -> RawResponse {
        send(target, field)
        return RawResponse(try await connection.read(until: end))
    }
}

/// Tests responses that are sent again, on a running server.
@Suite struct RepeatedResponsesTests {
    private static let playlist =
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n%\n#EXTINF:4,\nb.ts\n#EXT-X-ENDLIST\n"

    private func source(_ name: String = "a.ts", _ fields: (String, String)...) -> MisbehavingServer.Resource {
        var resource = MisbehavingServer.Resource.text(
            Self.playlist.replacing("%", with: name),
            contentType: "application/vnd.apple.mpegurl"
        )
        resource.fields += fields.map { MisbehavingServer.Field($0.0, $0.1) }
        return resource
    }

    private func target(_ stage: ServerStage) -> String {
        "/play.m3u8?url=\(stage.origin.address("/private.m3u8"))&duration=4"
    }

    private func count(_ stage: ServerStage) -> Int { stage.requests.count { $0.path.hasSuffix("/private.m3u8") } }

    /// Returns the head without the time, which differs.
    private func head(_ response: RawResponse) -> [Substring] {
        response.head.split(separator: "\r\n").filter { !$0.lowercased().hasPrefix("date:") }.sorted()
    }

    @Test(arguments: [("max-age=600", 1), ("no-cache", 4)])
    func responsesAreEqual(freshness: String, requests: Int) async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.origin.set("/private.m3u8", source("a.ts", ("Cache-Control", freshness)))
            let client = try Client(stage)
            let first = try await client.ask(target(stage))
            try #require(first.status == 200 && first.body.contains("EXTINF") && !first.body.contains("b.ts"))
            for _ in 0..<3 {
                let again = try await client.ask(target(stage))
                #expect(again.body == first.body && head(again) == head(first))
                #expect(again.field("Date")?.hasSuffix(" GMT") == true && again.field("Server") == "Millstream")
            }
            #expect(count(stage) == requests)
            let metrics = try await stage.ask("/metrics").body
            let state = requests == 1 ? "fresh" : "validated"
            #expect(metrics.contains("millstream_edited_playlists_total{sources=\"\(state)\"} 3"))
            #expect(metrics.contains("millstream_requests_total{area=\"play.m3u8\",status=\"200\"} 4"))
        }
    }

    @Test func clientValidatesItsPlaylist() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.origin.set("/private.m3u8", source("a.ts", ("Cache-Control", "max-age=600")))
            let client = try Client(stage)
            let tag = try #require(try await client.ask(target(stage)).field("ETag"))
            for _ in 0..<3 {
                let response = try await client.ask(target(stage), until: "\r\n\r\n", "If-None-Match: \(tag)")
                #expect(response.status == 304 && response.body == "" && response.field("ETag") == tag)
            }
            #expect(try await client.ask(target(stage)).status == 200)
        }
    }

    /// The changed source is requested once: the confirmation loads what the edit needs.
    @Test func changedSourceIsEditedAfterOneRequest() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.origin.set("/private.m3u8", source())
            let client = try Client(stage)
            for name in ["a.ts", "a.ts", "c.ts", "c.ts", "d.ts"] {
                let before = count(stage)
                stage.origin.set("/private.m3u8", source(name))
                #expect(try await client.ask(target(stage)).body.contains(name))
                #expect(count(stage) == before + 1)
            }
        }
    }

    /// Clients that wait for the same sources have one changed playlist, which is edited once.
    @Test func changedSourceIsEditedOnceForAllThatWait() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.origin.set("/private.m3u8", source())
            let clients = try (0..<8).map { _ in try Client(stage) }
            for client in clients { #expect(try await client.ask(target(stage)).status == 200) }
            stage.origin.set("/private.m3u8", source("c.ts"))
            stage.origin.behave("/private.m3u8", .delay(.milliseconds(700)))
            let before = count(stage)
            for client in clients { client.send(target(stage), "Accept: */*") }
            for client in clients {
                let response = RawResponse(try await client.connection.read(until: "#EXT-X-ENDLIST\n"))
                #expect(response.status == 200 && response.body.contains("c.ts"), "\(response.head)")
            }
            #expect(count(stage) == before + 1)
            let metrics = try await stage.ask("/metrics").body
            #expect(metrics.contains("millstream_edited_playlists_total{sources=\"edited\"} 2"), "\(metrics)")
        }
    }

    @Test func failedSourceIsReportedAfterOneRequest() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.origin.set("/private.m3u8", source())
            let client = try Client(stage)
            for _ in 0..<2 { #expect(try await client.ask(target(stage)).status == 200) }
            stage.origin.behave("/private.m3u8", .status(503))
            let before = count(stage)
            let failed = try await client.ask(target(stage), until: "}}")
            #expect(failed.status == 502 && count(stage) == before + 1)
            let metrics = try await stage.ask("/metrics").body
            #expect(metrics.contains("millstream_source_errors_total{code=\"http-status\"} 1"))
            stage.origin.behave("/private.m3u8", .proper)
            #expect(try await client.ask(target(stage)).status == 200)
        }
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.origin.set("/private.m3u8", source())
            let client = try Client(stage)
            for _ in 0..<2 { #expect(try await client.ask(target(stage)).status == 200) }
            client.send(target(stage), "Accept: */*")
            client.send("/health")
            client.send(target(stage), "Accept: */*")
            client.send("/nowhere", "Connection: close")
            let responses = try await client.connection.readToEnd()
            let order = responses.matches(of: /#EXT-X-ENDLIST|"status":"ok"|404 Not Found/).map { String($0.0) }
            #expect(
                order == ["#EXT-X-ENDLIST", "\"status\":\"ok\"", "#EXT-X-ENDLIST", "404 Not Found"],
                "\(responses)"
            )
        }
    }

    /// Pages of other sites have other sources than players.
    @Test func otherClientsDoNotGetTheResponsesOfPlayers() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.origin.set("/private.m3u8", source("a.ts", ("Cache-Control", "max-age=600")))
            let client = try Client(stage)
            for _ in 0..<2 { #expect(try await client.ask(target(stage)).status == 200) }
            let foreign = try await client.ask(target(stage), until: "}}", "Origin: https://other.example")
            #expect(foreign.status == 403 && foreign.errorCode == "address-refused", "\(foreign.head)")
            #expect(count(stage) == 1)
        }
    }

    /// A shutdown waits for requests whose sources are being confirmed.
    @Test func shutdownDrainsConfirmations() async throws {
        var response: Task<String, any Error>?
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.origin.set("/private.m3u8", source())
            let client = try Client(stage)
            for _ in 0..<2 { #expect(try await client.ask(target(stage)).status == 200) }
            stage.origin.behave("/private.m3u8", .delay(.milliseconds(700)))
            let before = count(stage)
            client.send(target(stage), "Accept: */*")
            response = Task { try await client.connection.readToEnd() }
            while count(stage) == before { try await Task.sleep(for: .milliseconds(10)) }
        }
        #expect(RawResponse(try #require(try await response?.value)).body.hasSuffix("#EXT-X-ENDLIST\n"))
    }
}
