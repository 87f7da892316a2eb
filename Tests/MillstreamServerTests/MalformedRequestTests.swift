import MillstreamTesting
import Testing

@testable import MillstreamServer

/// Tests requests that are not valid HTTP, on real sockets.
@Suite(.serialized, .timeLimit(.minutes(10))) struct MalformedRequestTests {
    @Test(arguments: ["-1\r\n\r\n", "FFFFFFFFFFFFFFFFF\r\n", "xyz\r\n", "3\r\n{\"a\"\r\n"])
    func invalidChunkIsAnErrorOfTheClient(body: String) async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let connection = try RawConnection(port: stage.port)
            connection.send(
                "PUT /api/conditions HTTP/1.1\r\nHost: 127.0.0.1:\(stage.port)\r\nContent-Type: application/json\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n\(body)"
            )
            let response = RawResponse(try await connection.readToEnd())
            #expect(response.status == 400 && response.errorCode == "malformed-request", "\(response.head)")
        }
    }

    @Test(arguments: [("1.1", "", 400), ("1.1", "Host: 127.0.0.1\r\n", 200), ("1.0", "", 200)])
    func hostIsRequiredSinceVersion1Dot1(version: String, field: String, status: Int) async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let connection = try RawConnection(port: stage.port)
            connection.send("GET /health HTTP/\(version)\r\n\(field)Connection: close\r\n\r\n")
            let response = RawResponse(try await connection.readToEnd())
            #expect(response.status == status, "\(response.head)")
            if status == 400 { #expect(response.body.contains("the request has no Host field"), "\(response.body)") }
        }
    }
}
